/* fuzz_linear.c: random plans as basis functions of free amplitudes: their results are projected from random data,
 * as a part of a fit, and compared with the definition of what is projected. */
#include "random/dense_linear.h"
#include "random/fuzz_sums.h"
#include "elimination/linear.h"
#include "support/plans.h"
#include "random/random_problem.h"
#include "walk/results.h"
#include "tables/status.h"
#include "support/sums.h"

#include <string.h>

enum { MOST_RESULTS = 3, MOST_SLOPES = 4 };

/* What a plan writes, and where. */
typedef struct written {
    double *values[MOST_RESULTS], *slopes[MOST_SLOPES];
    int64_t value_at[MOST_RESULTS], slope_at[MOST_SLOPES], slope_by[MOST_SLOPES], basis[MOST_SLOPES];
    int64_t entry[MOST_SLOPES], entry_row[MOST_SLOPES], entry_theta[MOST_SLOPES];
    double *factors;
} written;

static int64_t random_place(rng *r, const pyspec_plan *plan)
{
    const pyspec_node *nodes = (const pyspec_node *)((const char *)plan + plan->nodes);
    const int64_t n_walked = plan->n_nodes - plan->n_resolve;
    if (plan->trace >= 0)
        return chance(r, 50) ? plan->trace : below(r, plan->n_traces);
    return !n_walked || chance(r, 50) ? plan->result : nodes[plan->n_resolve + below(r, n_walked)].target;
}

static double *random_lanes(rng *r, int64_t n, int hostile)
{
    double *lanes = exact(n, sizeof *lanes);
    for (int64_t i = 0; i < n; i++)
        lanes[i] = (double)below(r, 6) + (chance(r, hostile) ? hostile_double(r) : 0.0);
    return lanes;
}

static uint8_t *random_flags(rng *r, int64_t n)
{
    uint8_t *flags = chance(r, 50) ? exact(n, 1) : NULL;
    for (int64_t i = 0; flags && i < n; i++)
        flags[i] = (uint8_t)chance(r, 70);
    return flags;
}

/* Basis functions of a plan whose rows are groups, or, of one whose result is a trace, of all of them. */
static pyspec_results write_to(rng *r, const pyspec_plan *plan, pyspec_linear *q, written *w)
{
    const int64_t rows = q->basis_group ? q->n_groups : 1, size = rows * q->n_x;
    double *values = exact(q->n_basis * size, sizeof *values);
    double *slopes = exact(q->n_slopes * size, sizeof *slopes);
    for (int64_t k = 0; k < q->n_basis; k++) {
        w->values[k] = values + k * size;
        w->value_at[k] = random_place(r, plan);
    }
    for (int64_t s = 0; s < q->n_slopes; s++) {
        w->slopes[s] = slopes + s * size;
        w->basis[s] = q->offset && chance(r, 25) ? -1 : below(r, q->n_basis);
        w->slope_at[s] = w->basis[s] < 0 ? random_place(r, plan) : w->value_at[w->basis[s]];
        w->slope_by[s] = below(r, plan->n_theta);
        w->entry[s] = s;
        w->entry_row[s] = chance(r, 50) ? -1 : below(r, plan->n_traces);
        w->entry_theta[s] = below(r, plan->n_theta);
    }
    q->basis = values;
    q->slopes = slopes;
    q->basis_column = q->slopes_column = size;
    q->factors_group = rows > 1 && chance(r, 50) ? q->n_slopes : 0;
    q->factors = w->factors = exact((q->factors_group ? rows : 1) * q->n_slopes, sizeof *w->factors);
    q->slope_basis = w->basis;
    q->entry_slope = w->entry;
    q->entry_theta = w->entry_theta;
    return (pyspec_results){.n_values = q->n_basis, .values = w->values, .value_at = w->value_at,
                            .n_slopes = q->n_slopes, .slopes = w->slopes, .slope_at = w->slope_at,
                            .slope_by = w->slope_by, .n_entries = q->n_slopes, .entry_row = w->entry_row,
                            .entry_theta = w->entry_theta, .factors = w->factors, .factors_row = q->factors_group};
}

int fuzz_linear(rng *r, const pyspec_plan *plan, const pyspec_problem *p, const double *theta)
{
    written w;
    const int is_trace = plan->trace >= 0, counts = chance(r, 30);
    const int64_t rows = p->row_end - p->row_begin, n = plan->n_theta;
    pyspec_linear q = {.n_x = is_trace ? rows : p->x_end - p->x_begin, .n_groups = is_trace ? 1 + below(r, 20) : rows,
                       .n_basis = 1 + below(r, MOST_RESULTS), .n_slopes = n ? below(r, MOST_SLOPES + 1) : 0,
                       .n_theta = n, .isa = test_isa, .full = chance(r, 20), .scale = counts ? 2.0 : 0.0};
    q.basis_group = q.slopes_group = is_trace || rows == 1 ? 0 : q.n_x;
    q.n_entries = q.n_slopes;
    const int hostile = chance(r, 20) ? 2 : 0;
    if (chance(r, 30)) {
        q.n_offsets = 1 + below(r, 2);
        q.offset_group = chance(r, 50) ? q.n_x : 0;
        q.offset_column = (q.offset_group ? q.n_groups : 1) * q.n_x;
        q.offset = random_lanes(r, q.n_offsets * q.offset_column, hostile);
    }
    pyspec_results results = write_to(r, plan, &q, &w);
    const int64_t points = (q.n_groups + L - 1) / L * q.n_x * L;
    q.data = random_lanes(r, points, hostile);
    q.weight = chance(r, 50) ? random_lanes(r, points, 0) : NULL;
    q.allowed = random_flags(r, q.n_groups * q.n_basis);
    q.bounded = random_flags(r, q.n_basis);
    q.amplitudes = exact(q.n_groups * q.n_basis, sizeof(double));
    q.determined = exact(q.n_groups * q.n_basis, 1);
    double *triangles[2];
    for (int k = 0; k < 2; k++)
        triangles[k] = exact(triangle_size(n + 1), sizeof(double));
    q.triangle = triangles[0];
    q.work_size = pyspec_project_size(&q);
    q.work = make_work(q.work_size);
    double *given = exact(n, sizeof *given), *at = exact(n, sizeof *at);
    memcpy(given, theta, (size_t)n * sizeof *given);
    const pyspec_call call = make_call(plan, p, at, PYSPEC_PREPARE_SLOPES);
    const pyspec_part basis = {.call = &call, .theta = at, .n_theta = n, .results = &results};
    const int64_t form = below(r, 4), order = form == PYSPEC_FORM_VALUE ? 1 : n + 1;
    pyspec_normal sums;
    make_sums(&sums, PYSPEC_FORM_FACTOR, n, PYSPEC_NORMAL_NODES, n + 1);
    const pyspec_part part = {.theta = given, .normal = &sums, .n_theta = n, .linear = &q, .bases = &basis, .n_bases = 1};
    int status = STATUS_OK;
    for (int k = 0; !status && k < 2; k++)
        status = pyspec_sum_parts(&part, 1, form, order, NULL, triangles[k]);
    const int is_other = !status && memcmp(triangles[0], triangles[1], (size_t)triangle_size(order) * sizeof(double));
    int result = is_other || (status != STATUS_OK && status != STATUS_OFFSET) ? LINEAR_FAILED : 0;
    if (!status) {
        const int how = dense_compare(&q, form, triangles[0]);
        result |= how == DENSE_UNDECIDED ? 0 : LINEAR_COMPARED | (how == DENSE_DIFFERENT ? LINEAR_DIFFERENT : 0);
        result |= (q.basis_group ? LINEAR_TURNED : 0) | (counts ? LINEAR_COUNTS : 0);
    }
    return result;
}
