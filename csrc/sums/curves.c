/* curves.c: chi^2 of rows as polynomials of a trace. A curve costs CURVE_TERMS walks of its tile and is made once as
 * many walks were due without it: the work is at most twice that of walks alone. */
#include "sums/curves.h"

/* A curve reaches so far beyond the values that were met. */
static const double GROWTH = 1.5;

/* The last terms of a curve are at most this share of the least sum: rounding of a sum over many energies. */
static const double ROUNDING = 0x1p-43;
enum { LAST_TERMS = 3 };

/* Walks must cost more than polynomials do. */
enum { LEAST_X = 4 * CURVE_TERMS };

static const double PI = 3.14159265358979323846;

/* ---- which trace --------------------------------------------------------------------------------- */

/* The expression that alone gives a row its values, row by row, among the first n nodes; -1: there is none. */
static int64_t find_expression(const pyspec_plan *plan, int64_t row, int64_t n)
{
    int64_t found = -1, count = 0;
    for (int64_t k = 0; k < plan->n_resolve; k++) {
        const pyspec_node *node = &plan_nodes(plan)[k];
        if (row < node->target || row >= node->target + node->repeat)
            continue;
        count++;
        if (node->step == PYSPEC_STEP_EXPRESSION && node->stage == PYSPEC_STAGE_ROW && node->repeat == 1 && k < n)
            found = k;
    }
    return count == 1 ? found : -1;
}

/* The trace that a row follows from by expressions of no other trace that depends on theta; the row itself, where
 * there is none. Expressions read what the nodes before them have resolved. */
static int64_t root_of(const pyspec_plan *plan, int64_t row, int64_t n)
{
    const int64_t k = find_expression(plan, row, n);
    int64_t root = -1;
    for (int i = 0; k >= 0 && i < plan_nodes(plan)[k].n_code; i++) {
        const int64_t *code = plan_words(plan) + plan_nodes(plan)[k].code + 2 * i;
        if (code[0] != RPN_PARAM || !count_row_slopes(plan, code[1]))
            continue;
        const int64_t own = root_of(plan, code[1], k);
        if (root >= 0 && own != root)
            return row;
        root = own;
    }
    return root < 0 ? row : root;
}

static int moves(const pyspec_plan *plan, int64_t row)
{
    for (int64_t k = 0; k < plan->n_resolve; k++)
        if (plan_nodes(plan)[k].target == row && plan_nodes(plan)[k].stage != PYSPEC_STAGE_PROBLEM)
            return 1;
    return 0;
}

/* The trace through which alone theta changes the spectrum of a row; -1: there is none. */
static int64_t curve_row(const pyspec_plan *plan)
{
    int64_t found = -1;
    if (plan->dimension != 2 || plan->trace >= 0 || plan->depends < 0 || plan->n_external || plan->n_spectra)
        return -1;
    for (int64_t k = plan->n_resolve; k < plan->n_nodes; k++) {
        const pyspec_node *node = &plan_nodes(plan)[k];
        const int64_t *rows = plan_words(plan) + node->params;
        for (int p = 0; node->step == PYSPEC_STEP_COMPONENT && p < node->n_params; p++) {
            if (rows[p] >= plan->samples)
                return -1;
            if (rows[p] < 0 || !count_row_slopes(plan, rows[p]))
                continue;
            const int64_t root = root_of(plan, rows[p], plan->n_resolve);
            if (found >= 0 && root != found)
                return -1;
            found = root;
        }
    }
    return found >= 0 && moves(plan, found) ? found : -1;
}

int64_t pyspec_curves_size(const pyspec_part *part)
{
    const pyspec_problem *q = part->call ? part->call->problem : NULL;
    if (!q || !part->call->plan || q->x_end - q->x_begin < LEAST_X || curve_row(part->call->plan) < 0)
        return 0;
    return ((q->row_end - 1) / L - q->row_begin / L + 1) * (int64_t)sizeof(tile_curve);
}

row_curves pyspec_curves_of(const pyspec_part *part, double *memory)
{
    if (!memory || !pyspec_curves_size(part))
        return (row_curves){.row = -1};
    return (row_curves){.row = curve_row(part->call->plan), .tiles = (tile_curve *)(void *)memory};
}

int pyspec_has_curves(const pyspec_part *part, double *memory)
{
    const row_curves curves = pyspec_curves_of(part, memory);
    const int64_t n = pyspec_curves_size(part) / (int64_t)sizeof(tile_curve);
    for (int64_t k = 0; k < n; k++)
        if (!curves.tiles[k].holds)
            return 0;
    return n > 0;
}

/* ---- polynomials --------------------------------------------------------------------------------- */

int pyspec_read_curve(const tile_curve *c, const double *values, int begin, int end, double *sums)
{
    double x[L], before[L] = {0.0}, last[L] = {0.0};
    int holds = c->holds != 0;
    for (int l = begin; l < end; l++)
        holds &= fabs(values[l] - c->centre[l]) <= c->half[l];
    if (!holds)
        return 0;
    FOR_LANES x[l] = l >= begin && l < end ? 2.0 * ((values[l] - c->centre[l]) / c->half[l]) : 0.0;
    for (int64_t k = CURVE_TERMS - 1; k > 0; k--)
        FOR_LANES
        {
            const double next = x[l] * last[l] - before[l] + c->terms[k][l];
            before[l] = last[l];
            last[l] = next;
        }
    FOR_LANES sums[l] = l >= begin && l < end ? 0.5 * x[l] * last[l] - before[l] + c->terms[0][l] : 0.0;
    return 1;
}

int pyspec_note_walk(tile_curve *c, const double *values, int begin, int end)
{
    if (c->n_walked == 0) {
        fill(c->least, INFINITY, L);
        fill(c->most, -INFINITY, L);
    }
    if (c->n_due == 0)
        c->n_due = CURVE_TERMS;
    for (int l = begin; l < end; l++) {
        c->least[l] = values[l] < c->least[l] ? values[l] : c->least[l];
        c->most[l] = values[l] > c->most[l] ? values[l] : c->most[l];
    }
    return ++c->n_walked >= c->n_due;
}

void pyspec_begin_curve(const tile_curve *c, tile_curve *next, int begin, int end)
{
    *next = (tile_curve){.holds = 1, .n_due = CURVE_TERMS};
    for (int l = begin; l < end; l++) {
        double low = c->least[l], high = c->most[l];
        if (c->holds && c->centre[l] - c->half[l] < low)
            low = c->centre[l] - c->half[l];
        if (c->holds && c->centre[l] + c->half[l] > high)
            high = c->centre[l] + c->half[l];
        const double half = 0.5 * GROWTH * (high - low);
        next->centre[l] = 0.5 * (low + high);
        next->half[l] = half > 0x1p-1000 ? half : 0x1p-1000;
    }
}

static double point(int64_t k)
{
    return cos(PI * ((double)k + 0.5) / CURVE_TERMS);
}

void pyspec_curve_point(const tile_curve *next, int64_t k, int begin, int end, double *values)
{
    for (int l = begin; l < end; l++)
        values[l] = next->centre[l] + point(k) * next->half[l];
}

/* Adds the sums at a point to the terms. */
static void add_point(tile_curve *next, double x, const double *sums)
{
    double before = x, t = 1.0;
    for (int64_t j = 0; j < CURVE_TERMS; j++) {
        const double share = (j ? 2.0 : 1.0) * t / CURVE_TERMS, after = 2.0 * x * t - before;
        FOR_LANES next->terms[j][l] += share * sums[l];
        before = t;
        t = after;
    }
}

void pyspec_end_curve(tile_curve *c, tile_curve *next, double sums[CURVE_TERMS][L], int begin, int end)
{
    for (int64_t k = 0; k < CURVE_TERMS; k++)
        add_point(next, point(k), sums[k]);
    int holds = 1;
    for (int l = begin; l < end; l++) {
        double least = INFINITY, last = 0.0;
        for (int64_t k = 0; k < CURVE_TERMS; k++)
            least = sums[k][l] < least ? sums[k][l] : least;
        for (int64_t j = CURVE_TERMS - LAST_TERMS; j < CURVE_TERMS; j++)
            last += fabs(next->terms[j][l]);
        holds &= last <= ROUNDING * least;
    }
    c->n_walked = 0;
    if (holds)
        *c = *next;
    else
        c->n_due *= 2;
}
