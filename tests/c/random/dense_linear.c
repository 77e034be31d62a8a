#include "random/dense_linear.h"
#include "random/random_problem.h"
#include "support/sums.h"

#include <math.h>
#include <string.h>

enum { MOST = 8 };

/* Numbers beyond this, columns shorter than that, and those of which a share between the last two is left beside others
 * decide nothing. */
static const double LARGE = 1e50, SMALL = 1e-100, LOST = 1e-13, DETERMINED = 1e-7;

/* What the results agree to, in products of the lengths of columns. */
static const double TOLERANCE = 1e-8;

/* One group: weighted basis functions, weighted data without offset, derivatives of the model, and products. */
typedef struct group {
    int64_t n;
    double *phi[MOST], *y, *weight, *r, *column, *q[MOST];
    double rest; /* the least share of a column that was left beside others, if not LOST */
} group;

static double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void take(double *to, const double *from, double factor, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] -= factor * from[i];
}

static int all_small(const double *values, int64_t n)
{
    for (int64_t i = 0; values && i < n; i++)
        if (!(fabs(values[i]) < LARGE))
            return 0;
    return 1;
}

static int has_small_numbers(const pyspec_linear *q)
{
    const int64_t points = (q->n_groups + L - 1) / L * q->n_x * L;
    int small = all_small(q->data, points) && all_small(q->weight, points);
    for (int64_t g = 0; g < q->n_groups; g++) {
        for (int64_t k = 0; k < q->n_basis; k++)
            small &= all_small(q->basis + k * q->basis_column + g * q->basis_group, q->n_x);
        for (int64_t s = 0; s < q->n_slopes; s++)
            small &= all_small(q->slopes + s * q->slopes_column + g * q->slopes_group, q->n_x);
        for (int64_t k = 0; q->offset && k < q->n_offsets; k++)
            small &= all_small(q->offset + k * q->offset_column + g * q->offset_group, q->n_x);
        small &= all_small(q->n_entries ? q->factors + g * q->factors_group : NULL, q->n_entries);
    }
    return small;
}

static double lane_of(const double *tiles, const pyspec_linear *q, int64_t g, int64_t i)
{
    return tiles ? tiles[(g / L * q->n_x + i) * L + g % L] : 1.0;
}

static void load(group *w, const pyspec_linear *q, int64_t g)
{
    for (int64_t i = 0; i < q->n_x; i++) {
        const double weight = w->weight[i] = lane_of(q->weight, q, g, i);
        w->y[i] = lane_of(q->data, q, g, i);
        for (int64_t k = 0; q->offset && k < q->n_offsets; k++)
            w->y[i] -= weight * q->offset[k * q->offset_column + g * q->offset_group + i];
        for (int64_t k = 0; k < q->n_basis; k++)
            w->phi[k][i] = weight * q->basis[k * q->basis_column + g * q->basis_group + i];
    }
}

/* Orthonormal columns for the basis functions of a set; those that are combinations of others are 0. The residual
 * of the data, and the amplitudes. */
static void solve_set(group *w, int64_t n_basis, unsigned set, double *c)
{
    double r[MOST][MOST] = {{0.0}}, along[MOST];
    memcpy(w->r, w->y, (size_t)w->n * sizeof *w->r);
    for (int64_t k = 0; k < n_basis; k++) {
        double *own = w->q[k];
        memcpy(own, w->phi[k], (size_t)w->n * sizeof *own);
        const double before = set >> k & 1u ? sqrt(dot(own, own, w->n)) : 0.0;
        for (int pass = 0; pass < 3; pass++)
            for (int64_t j = 0; j < k; j++) {
                const double sum = dot(w->q[j], own, w->n);
                take(own, w->q[j], sum, w->n);
                r[j][k] += sum;
            }
        const double after = sqrt(dot(own, own, w->n)), share = before > 0.0 ? after / before : 0.0;
        r[k][k] = share < LOST ? 0.0 : after;
        w->rest = share < LOST || share > w->rest ? w->rest : share;
        w->rest = before > 0.0 && before < SMALL ? 0.0 : w->rest;
        for (int64_t i = 0; i < w->n; i++)
            own[i] = r[k][k] > 0.0 ? own[i] / r[k][k] : 0.0;
        along[k] = dot(own, w->r, w->n);
        take(w->r, own, along[k], w->n);
    }
    for (int64_t k = n_basis - 1; k >= 0; k--) {
        c[k] = along[k];
        for (int64_t j = k + 1; j < n_basis; j++)
            c[k] -= r[k][j] * c[j];
        c[k] = r[k][k] > 0.0 ? c[k] / r[k][k] : 0.0;
    }
}

/* The least chi^2 of all sets whose amplitudes are within their bounds. */
static double least_square(group *w, const pyspec_linear *q, int64_t g)
{
    double least = dot(w->y, w->y, w->n), c[MOST];
    for (unsigned set = 1; set < 1u << q->n_basis; set++) {
        int within = 1;
        for (int64_t k = 0; k < q->n_basis; k++)
            within &= !(set >> k & 1u) || !q->allowed || q->allowed[g * q->n_basis + k];
        if (!within)
            continue;
        solve_set(w, q->n_basis, set, c);
        for (int64_t k = 0; k < q->n_basis; k++)
            within &= !q->bounded || !q->bounded[k] || c[k] >= 0.0;
        const double square = dot(w->r, w->r, w->n);
        least = within && square < least ? square : least;
    }
    return least;
}

/* Derivatives of the model of a group by each parameter at amplitudes c, [n_theta][n]. */
static void find_columns(const group *w, const pyspec_linear *q, int64_t g, const double *c, double *columns)
{
    memset(columns, 0, (size_t)(q->n_theta * w->n) * sizeof *columns);
    for (int64_t e = 0; e < q->n_entries; e++) {
        const int64_t s = q->entry_slope[e], k = q->slope_basis[s];
        const double share = q->factors[g * q->factors_group + e] * (k < 0 ? 1.0 : c[k]);
        for (int64_t i = 0; i < w->n; i++)
            columns[q->entry_theta[e] * w->n + i] +=
                share * w->weight[i] * q->slopes[s * q->slopes_column + g * q->slopes_group + i];
    }
}

/* Adds the products of a group to a Gram matrix, and to `lengths` the squares of the columns before the projection.
 * Returns whether its amplitudes are not those of least squares. */
static int add_group(group *w, const pyspec_linear *q, int64_t g, double *columns, double *gram, double *lengths)
{
    const int64_t order = q->n_theta + 1;
    const double *c = q->amplitudes + g * q->n_basis, least = least_square(w, q, g);
    double own[MOST];
    unsigned on = 0;
    int wrong = 0;
    for (int64_t k = 0; k < q->n_basis; k++) {
        on |= (unsigned)(q->determined[g * q->n_basis + k] != 0) << k;
        wrong |= q->bounded && q->bounded[k] && !(c[k] >= 0.0);
        wrong |= q->allowed && !q->allowed[g * q->n_basis + k] && c[k] != 0.0;
    }
    solve_set(w, q->n_basis, on, own); /* Q of those that take part */
    memcpy(w->r, w->y, (size_t)w->n * sizeof *w->r);
    for (int64_t k = 0; k < q->n_basis; k++)
        take(w->r, w->phi[k], c[k], w->n);
    const double square = dot(w->y, w->y, w->n);
    wrong |= !(fabs(dot(w->r, w->r, w->n) - least) <= TOLERANCE * square);
    find_columns(w, q, g, c, columns);
    memcpy(columns + q->n_theta * w->n, w->r, (size_t)w->n * sizeof *columns);
    for (int64_t p = 0; p < order; p++) {
        double *column = columns + p * w->n;
        lengths[p] += p < q->n_theta ? dot(column, column, w->n) : square;
        for (int64_t k = 0; p < q->n_theta && k < q->n_basis; k++)
            take(column, w->q[k], dot(w->q[k], column, w->n), w->n);
    }
    for (int64_t p = 0; p < order; p++)
        for (int64_t m = p; m < order; m++)
            gram[triangle_at(order, p, m)] += dot(columns + p * w->n, columns + m * w->n, w->n);
    return wrong;
}

/* What a triangle differs in; of J of Golub and Pereyra only the products with the residual are compared. */
static int differs(const pyspec_linear *q, int64_t form, const double *triangle, const double *gram,
                   const double *lengths)
{
    const int64_t order = q->n_theta + 1, last = triangle_size(order) - 1;
    if (form == PYSPEC_FORM_VALUE)
        return !(fabs(triangle[0] - gram[last]) <= TOLERANCE * lengths[q->n_theta]);
    double *own = form == PYSPEC_FORM_FACTOR ? gram_of_factor(triangle, order) : NULL;
    int wrong = 0;
    for (int64_t p = 0; p < order; p++)
        for (int64_t m = q->full ? q->n_theta : p; m < order; m++) {
            const int64_t at = triangle_at(order, p, m);
            wrong |= !(fabs((own ? own : triangle)[at] - gram[at]) <= TOLERANCE * sqrt(lengths[p]) * sqrt(lengths[m]) + SMALL);
        }
    return wrong;
}

/* ---- counts ------------------------------------------------------------------------------ */

/* The deviance of a group at amplitudes c; NaN where an expected count is next to none or what is left of much larger
 * terms, or a count is negative or next to none. */
static double deviance(const pyspec_linear *q, int64_t g, const double *c)
{
    double sum = 0.0;
    for (int64_t i = 0; i < q->n_x; i++) {
        const double weight = lane_of(q->weight, q, g, i), count = q->scale * lane_of(q->data, q, g, i);
        double model = 0.0, terms = 0.0;
        for (int64_t k = 0; q->offset && k < q->n_offsets; k++)
            model += q->offset[k * q->offset_column + g * q->offset_group + i];
        for (int64_t k = 0; k < q->n_basis; k++) {
            const double term = c[k] * q->basis[k * q->basis_column + g * q->basis_group + i];
            model += term;
            terms += fabs(term);
        }
        model *= q->scale;
        if (weight == 0.0)
            continue;
        if (!(model > 1e-2) || model < DETERMINED * terms || count < 0.0 || (count > 0.0 && count < SMALL))
            return NAN;
        sum += weight * weight * 2.0 * (model - count + (count > 0.0 ? count * log(count / model) : 0.0));
    }
    return sum;
}

/* The deviance of the amplitudes of a group; whether a step of one of them lowers it. */
static double try_steps(const pyspec_linear *q, int64_t g, int *wrong)
{
    double c[MOST];
    memcpy(c, q->amplitudes + g * q->n_basis, (size_t)q->n_basis * sizeof *c);
    const double at = deviance(q, g, c);
    for (int64_t k = 0; k < q->n_basis; k++)
        for (int side = -1; side <= 1 && isfinite(at); side += 2) {
            const double before = c[k], step = side * 1e-4 * (1.0 + fabs(before));
            c[k] = before + step;
            const int within = (!q->bounded || !q->bounded[k] || c[k] >= 0.0) &&
                               (!q->allowed || q->allowed[g * q->n_basis + k]);
            *wrong |= within && deviance(q, g, c) < at - TOLERANCE * (1.0 + at);
            c[k] = before;
        }
    return at;
}

static int compare_counts(const pyspec_linear *q, int64_t form, const double *triangle)
{
    const int64_t order = form == PYSPEC_FORM_VALUE ? 1 : q->n_theta + 1;
    double sum = 0.0;
    int wrong = 0;
    for (int64_t g = 0; g < q->n_groups; g++)
        sum += try_steps(q, g, &wrong);
    if (wrong)
        return DENSE_DIFFERENT;
    if (!isfinite(sum))
        return DENSE_UNDECIDED;
    double *own = form == PYSPEC_FORM_FACTOR ? gram_of_factor(triangle, order) : NULL;
    wrong = !(fabs((own ? own : triangle)[triangle_size(order) - 1] - sum) <= TOLERANCE * (1.0 + sum));
    return wrong ? DENSE_DIFFERENT : DENSE_EQUAL;
}

int dense_compare(const pyspec_linear *q, int64_t form, const double *triangle)
{
    if (!has_small_numbers(q) || !all_small(q->amplitudes, q->n_groups * q->n_basis))
        return DENSE_UNDECIDED;
    if (q->scale > 0.0)
        return compare_counts(q, form, triangle);
    const int64_t n = q->n_x, order = q->n_theta + 1;
    group w = {.n = n, .rest = 1.0};
    double *lines = exact((2 * q->n_basis + 3) * n, sizeof *lines);
    double *columns = exact(order * n, sizeof *columns);
    double *gram = zeros(triangle_size(order), sizeof *gram);
    double *lengths = zeros(order, sizeof *lengths);
    for (int64_t k = 0; k < q->n_basis; k++) {
        w.phi[k] = lines + k * n;
        w.q[k] = lines + (q->n_basis + k) * n;
    }
    w.y = lines + 2 * q->n_basis * n;
    w.weight = w.y + n;
    w.r = w.weight + n;
    int wrong = 0;
    for (int64_t g = 0; g < q->n_groups; g++) {
        load(&w, q, g);
        wrong |= add_group(&w, q, g, columns, gram, lengths);
    }
    wrong |= differs(q, form, triangle, gram, lengths);
    return w.rest < DETERMINED ? DENSE_UNDECIDED : wrong ? DENSE_DIFFERENT : DENSE_EQUAL;
}
