/* sum_tree.c: sums over rows combine in a tree over the row number. Siblings merge as soon as both
 * are there: the bits do not depend on how the rows were divided. */
#include "sums/sum_tree.h"

/* Numbers of a node. */
static int64_t node_size(const pyspec_normal *s)
{
    return s->form == PYSPEC_FORM_DATA ? s->order : triangle_size(s->order);
}

static double *node_of(const pyspec_normal *s, int64_t k)
{
    return s->nodes + k * node_size(s);
}

/* Only factors need scratch, to become part of one of that order. */
int pyspec_has_scratch(const pyspec_normal *s, int64_t order)
{
    return s->form != PYSPEC_FORM_FACTOR || (s->scratch && s->n_scratch >= s->order * order);
}

/* One entry summed over the nodes, the small ones at the end first. */
static double total(const pyspec_normal *s, int64_t place)
{
    double sum = node_of(s, s->n_nodes - 1)[place];
    for (int64_t k = s->n_nodes - 2; k >= 0; k--)
        sum = node_of(s, k)[place] + sum;
    return sum;
}

/* Turns the rows of one factor into another. */
static void absorb_triangle(const pyspec_normal *s, double *into, int64_t order,
                            const int64_t *gather, const double *from)
{
    const int64_t n = s->order;
    fill(s->scratch, 0.0, n * order);
    for (int64_t j = 0; j < n; j++)
        for (int64_t k = j; k < n; k++) {
            int64_t column = k == n - 1 ? order - 1 : gather ? gather[k] : k;
            s->scratch[column * n + j] = from[triangle_at(n, j, k)];
        }
    pyspec_absorb(into, order, s->scratch, n);
}

void pyspec_merge_sums(const pyspec_normal *s, double *into, const double *from)
{
    if (s->form == PYSPEC_FORM_FACTOR) {
        absorb_triangle(s, into, s->order, NULL, from);
        return;
    }
    for (int64_t k = 0; k < node_size(s); k++)
        into[k] += from[k];
}

/* Appends the sums of the rows index 2^level ... (index + 1) 2^level - 1. */
int pyspec_push_sums(pyspec_normal *s, int64_t level, int64_t index, const double *triangle)
{
    const size_t size = (size_t)node_size(s) * sizeof(double);
    if (s->n_nodes) {
        const int64_t *last = s->places + 2 * (s->n_nodes - 1);
        if ((last[1] + 1) << last[0] > index << level)
            return STATUS_ORDER;
    }
    if (s->n_nodes == s->capacity)
        return STATUS_OUTPUT;
    memcpy(node_of(s, s->n_nodes), triangle, size);
    s->places[2 * s->n_nodes] = level;
    s->places[2 * s->n_nodes + 1] = index;
    s->n_nodes++;
    while (s->n_nodes > 1) {
        int64_t *left = s->places + 2 * (s->n_nodes - 2), *right = left + 2;
        if (left[0] != right[0] || left[1] % 2 != 0 || left[1] + 1 != right[1])
            break;
        pyspec_merge_sums(s, node_of(s, s->n_nodes - 2), node_of(s, s->n_nodes - 1));
        left[0]++;
        left[1] /= 2;
        s->n_nodes--;
    }
    return STATUS_OK;
}

int pyspec_join(pyspec_normal *normal, const pyspec_normal *more)
{
    int status = STATUS_OK;
    if (!normal || !more)
        return STATUS_NULL_POINTER;
    if (!normal->places || !normal->nodes || !more->places || !more->nodes)
        return STATUS_NULL_POINTER;
    if (normal->form != more->form || normal->order != more->order)
        return STATUS_ORDER;
    if (!pyspec_has_scratch(normal, normal->order))
        return STATUS_WORK;
    for (int64_t k = 0; !status && k < more->n_nodes; k++)
        status = pyspec_push_sums(normal, more->places[2 * k], more->places[2 * k + 1], node_of(more, k));
    return status;
}

/* Whether every entry stays where it is. */
static int stays(const pyspec_normal *s, const int64_t *gather, int64_t order)
{
    int found = order == s->order;
    for (int64_t k = 0; found && gather && k < order - 1; k++)
        found = gather[k] == k;
    return found;
}

/* The same as `total` for all entries, added in place. */
static void add_totals(const pyspec_normal *s, double *restrict triangle)
{
    double sum[64];
    const int64_t size = node_size(s);
    for (int64_t at = 0; at < size; at += 64) {
        const int64_t n = size - at < 64 ? size - at : 64;
        memcpy(sum, node_of(s, s->n_nodes - 1) + at, (size_t)n * sizeof *sum);
        for (int64_t k = s->n_nodes - 2; k >= 0; k--)
            for (int64_t i = 0; i < n; i++)
                sum[i] += node_of(s, k)[at + i];
        for (int64_t i = 0; i < n; i++)
            triangle[at + i] += sum[i];
    }
}

int pyspec_collect(const pyspec_normal *normal, const int64_t *gather, int64_t order,
                   double *triangle)
{
    const pyspec_normal *s = normal;
    if (!s || !triangle || !s->nodes || !s->places)
        return STATUS_NULL_POINTER;
    if (s->n_nodes < 1 || s->order < 1 || order < s->order)
        return STATUS_ORDER;
    if (!pyspec_has_scratch(s, order))
        return STATUS_WORK;
    if (s->form == PYSPEC_FORM_FACTOR) {
        for (int64_t k = s->n_nodes - 1; k >= 0; k--)
            absorb_triangle(s, triangle, order, gather, node_of(s, k));
        return STATUS_OK;
    }
    if (s->form == PYSPEC_FORM_DATA && order != s->order)
        return STATUS_ORDER;
    if (s->form == PYSPEC_FORM_DATA || stays(s, gather, order)) {
        add_totals(s, triangle);
        return STATUS_OK;
    }
    for (int64_t j = 0; j < s->order; j++)
        for (int64_t k = j; k < s->order; k++) {
            int64_t row = j == s->order - 1 ? order - 1 : gather ? gather[j] : j;
            int64_t column = k == s->order - 1 ? order - 1 : gather ? gather[k] : k;
            int64_t low = row < column ? row : column, high = row < column ? column : row;
            triangle[triangle_at(order, low, high)] += total(s, triangle_at(s->order, j, k));
        }
    return STATUS_OK;
}
