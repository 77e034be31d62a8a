/* fitted.h: a separable problem with what a fit needs of it, for tests of its span. */
#ifndef FITTED_H
#define FITTED_H

#include "separable/shapes_world.h"
#include "separable/span.h"
#include "support/sums.h"

enum { SIZE = ORDER * (ORDER + 1) / 2 };

/* A world with what a fit needs of it, in exactly sized memories. */
typedef struct fitted {
    world *w;
    double theta[ORDER - 1];
    pyspec_call call;
    pyspec_normal sums;
    pyspec_part part;
} fitted;

static inline fitted *make_fitted(int weights, int masks)
{
    fitted *f = zeros(1, sizeof *f);
    f->w = make_world(1, weights, masks);
    const pyspec_plan *plan = f->w->plan;
    memcpy(f->theta, true_theta, sizeof f->theta);
    f->call = make_call(plan, &f->w->g.problem, f->theta, PYSPEC_PREPARE_SLOPES);
    make_sums(&f->sums, PYSPEC_FORM_GRAM, plan->n_theta, PYSPEC_NORMAL_NODES, ORDER);
    f->sums.in_strips = 1;
    const int64_t size = pyspec_span_size(plan, &f->w->g.problem);
    CHECK(size > 0);
    f->part = (pyspec_part){.call = &f->call, .theta = f->theta, .normal = &f->sums, .n_theta = plan->n_theta, .span = make_work(size), .span_size = size};
    pyspec_begin_span(&f->part);
    return f;
}

/* The sums of a fit at these values, a triangle or chi^2 alone. */
static inline void sum_at(fitted *f, const double *values, int form, pyspec_team *team, double *triangle)
{
    memcpy(f->theta, values, sizeof f->theta);
    CHECK_INT(pyspec_sum_in_fit(&f->part, 1, form, form ? ORDER : 1, team, 1, triangle), STATUS_OK);
}

/* Theta k of a fit: times and heights come nearer and nearer to their ends, as places do. */
static inline void way(int k, double *values)
{
    memcpy(values, true_theta, sizeof true_theta);
    const double off = 0.3 * pow(0.02, k);
    for (int j = 0; j < ORDER - 1; j++)
        values[j] *= 1.0 + off * (j % 2 ? 1.0 : -1.0);
}

enum { N_WAY = 6 };

static inline void check_against_derivatives(const fitted *f, const double *values, const double *triangle)
{
    const pyspec_problem *q = &f->w->g.problem;
    double *want = explicit_gram(f->w->plan, q, values, PYSPEC_FORM_GRAM);
    CHECK(gram_close(triangle, want, ORDER, 1e-11));
    CHECK(fabs(triangle[SIZE - 1] - want[SIZE - 1]) <= 1e-12 * want[SIZE - 1]);
}

#endif
