/* reduce.h: a fit over the parameters that the model is not linear in, and what is near a known optimum. */
#ifndef PYSPEC_REDUCE_H
#define PYSPEC_REDUCE_H

#include "solver/solver.h"

/* An optimum with some parameters at their bounds. */
typedef struct way_back {
    int64_t n;
    const double *optimum; /* [n] */
    const double *factor;  /* triangle of order n + 1 of [J r] there */
    const double *held;    /* [n] 1 where a parameter lies at its bound */
    double chisqr, variance; /* chi^2 there, and of a point */
} way_back;

/* lm_back.c: whether a point is at most so many standard errors away from the optimum, and the parameters that lie at
 * their bounds there do so here. */
int pyspec_is_back(const way_back *back, const double *theta, double distance);

/* lm_back.c: whether chi^2, of a point near to the optimum, has risen all the way from there. `gram` is the triangle of
 * the point. */
int pyspec_has_risen(const way_back *back, const double *theta, const double *gram);

/* The reduced fit ends at this distance from its optimum, in standard errors: the ordinary fit takes the last step. */
static const double REDUCED_NEAR = 0.1;

/* One reduced fit; b are the linear parameters. Columns have n + 1 numbers each. */
typedef struct reduction {
    pyspec_solver *whole; /* which asks for [J r], and keeps the best point */
    pyspec_solver inner;  /* the fit over the others */
    pyspec_solver step;   /* the fit of b of counts */
    int64_t n_linear, n_free, n_basis, most, form, left, best_form;
    double chisqr; /* of the answer */
    int is_counts, is_first, is_kept, is_counting, is_fitted;
    int keeps_first; /* whether the first point is not asked for again, with the b found there */
    double *theta;        /* [n] the point at hand */
    double *start;        /* [n] */
    double *is_linear;    /* [n] 1 for b */
    double *places;       /* [n] of b, and behind them of the others, as int64_t */
    double *slopes;       /* [n_linear][n_others] of b by the others, at the last point */
    double *columns;      /* [n + 1] of [J r] */
    double *kept;         /* [n_others + 1] the reduced ones */
    double *kept_at;      /* [n_others] where */
    double *basis;        /* [n_linear] combinations of columns of b, orthogonal */
    double *mix;          /* [n_linear][n_linear] which these are */
    double *value, *part; /* [n_linear] their lengths, and a change of b by them */
    double *of;           /* [n_linear] which of b no bound holds, as int64_t */
    double *held, *size;  /* [n_linear] 1 for the others; lengths of the columns */
    double *step_of, *limits, *solved; /* [n_linear] the step and, twice, its bounds, in these units; where it ends */
    double *best;         /* the answer at the best point of a fit of b */
    double *factor, *scratch, *inner_bounds, *step_bounds;
} reduction;

/* Places of b, and of the others. */
static inline const int64_t *linear_of(const reduction *r)
{
    return (const int64_t *)(const void *)r->places;
}

static inline const int64_t *others_of(const reduction *r)
{
    return linear_of(r) + r->n_linear;
}

static inline double within(const pyspec_solver *s, int64_t k, double value)
{
    return value < s->lower[k] ? s->lower[k] : value > s->lower[s->n + k] ? s->lower[s->n + k] : value;
}

static inline double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0.0;
    for (int64_t k = 0; k < n; k++)
        sum += a[k] * b[k];
    return sum;
}

/* out += factor * a */
static inline void add(double *out, double factor, const double *a, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        out[k] += factor * a[k];
}

/* The solver of some parameters alone, the others being held; it is in the memory that it has. */
static inline void begin_part(const reduction *r, pyspec_solver *q, double *bounds, const int64_t *places, int64_t n)
{
    const pyspec_solver *s = r->whole;
    *q = (pyspec_solver){.n = n,
                         .n_points = s->n_points,
                         .tolerance = s->tolerance,
                         .data_square = s->data_square,
                         .every = 1,
                         .theta = q->theta,
                         .lower = bounds,
                         .trial = q->trial,
                         .answer = q->answer,
                         .normal = q->normal,
                         .work = q->work};
    for (int64_t j = 0; j < n; j++) {
        q->theta[j] = r->theta[places[j]];
        bounds[j] = s->lower[places[j]];
        bounds[n + j] = s->lower[s->n + places[j]];
    }
}

/* lm_project.c: the columns of [J r] that have the Gram matrix of the answer. */
void pyspec_load_columns(reduction *r);

/* The optimum of b within its bounds, `solved`; what it leaves of r is the last column of those that are kept. Returns
 * the smallest singular value of the columns of b, scaled to length 1, beside the largest. */
double pyspec_solve_linear(reduction *r);

/* Whether that changes too little to look at its end: of chi^2, or of the model. */
int pyspec_is_slight(const reduction *r);

/* The reduced columns, and how b follows the others. */
void pyspec_take_off_linear(reduction *r);

/* lm_reduce.c: doubles that a reduced fit takes. */
int64_t pyspec_reduction_size(int64_t n);

/* Begins at `start`, with the parameters that are marked as linear, for at most `most` points. `whole` has the best
 * point so far, and its chi^2. Each step then uses the answer to the question of `whole`, as pyspec_fit_step does. It
 * ends at max_nfev of `whole`. The end of `whole` is LIMIT, CONVERGED, or NOT_FINITE if the first point is not finite. */
int pyspec_reduce_begin(reduction *r, pyspec_solver *whole, double *memory, const double *start,
                        const uint8_t *linear, int64_t most, int is_counts);
int pyspec_reduce_step(reduction *r);

#endif
