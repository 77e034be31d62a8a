/* solver.h: what the state machine of the solver and its steps share. */
#ifndef PYSPEC_SOLVER_H
#define PYSPEC_SOLVER_H

#include "walk/run.h"

#include <float.h>

/* From this condition of the scaled JtJ on, steps come from a QR factor of J. */
static const double CONDITION_LIMIT = 1e8;

/* Columns have length 1. The data may not determine a combination of them whose singular value is below this share of
 * the largest. Above it, columns made orthogonal one by one are so to 1e-12. */
static const double WEAK = 1e-4;

/* A combination whose singular value is below this share of the largest has no effect: the rest is rounding. */
static const double LOST = 1e-12;

/* A parameter is not determined if more than this of it, in length, lies in directions that are lost. */
static const double SHARE_LOST = 1e-5;

/* A shorter column is none: the variance of its parameter is too large for a double. */
static const double LEAST_LENGTH = 1e-150;

/* Nearer than this, in standard errors, the undamped step is tried first. */
static const double NEAR_OPTIMUM = 0.5;

/* A step with the learnt curvature is taken if its promised decrease is 1 / BENT_RATIO to BENT_RATIO times that of the
 * undamped step. The smallest pivot of its scaled curvature must exceed BENT_PIVOT. */
static const double BENT_RATIO = 10.0, BENT_PIVOT = 1e-8;

/* A first step with BOLD_DAMPING is not tried if it is BOLD_LENGTH times as long as that with the first damping. */
static const double BOLD_LENGTH = 2.5;

/* The largest norms of the columns decay by this factor a step. In a long valley the norms change
 * by decades: those at its beginning must not shorten the steps at its end. */
static const double FADING = 0.5;

/* An update of what was learnt whose divisor is this much smaller than its parts says more than was seen. */
static const double LEAST_DIVISOR = 1e-2;

/* What the next step does. */
enum {
    PYSPEC_PHASE_START,
    PYSPEC_PHASE_FIRST,
    PYSPEC_PHASE_BOLD,
    PYSPEC_PHASE_TRIAL,
    PYSPEC_PHASE_UNDAMPED,
    PYSPEC_PHASE_NORMAL
};

/* The step that a solver waits for: its damping, its largest share of the way to a bound, its promised decrease of
 * chi^2, and the smallest pivot (see pyspec_find_step). USUAL and BOLD are compared for the first trial point. BENT is
 * the step of pyspec_bent_step. TAKE makes the answer the best point. The ends of the last four become trial points. */
enum { STEP_UNDAMPED, STEP_LIGHT, STEP_USUAL, STEP_BOLD, STEP_DAMPED, STEP_BENT, STEP_TAKE };

typedef struct wanted_step {
    int64_t kind;
    double damping, share, value; /* what is asked; value: chi^2 of an answer that becomes the best point */
    double promised, pivot;
    int64_t moves;       /* whether the trial point at its end is another than the best one */
    int64_t is_modest;   /* of a bold one: whether it is short beside that with the first damping */
    int64_t has_columns; /* whether every parameter has an effect at the best point */
} wanted_step;

/* Parts of the work memory. */
typedef struct solver_work {
    double *wanted;  /* a wanted_step                           */
    double *largest; /* [n] largest norm of each column lately  */
    double *norm;    /* [n] norms of the columns                */
    double *gradient; /* [n] Jtr: the direction of steepest descent */
    double *curvature; /* [n][n] JtJ                            */
    double *undamped; /* [n] the undamped step                  */
    double *step;    /* [n] the step at hand                    */
    double *last;    /* [n] the step to the best point          */
    double *change;  /* [n] by how much the gradient fell on it */
    double *bend;    /* [n][n] what chi^2 bends more than JtJ says */
    double *bent;    /* [n][n] JtJ with that                    */
    double *length;  /* [n] the roots of its diagonal           */
    double *solution; /* [n]                                    */
    double *order;   /* [n] numbers of the parameters in turn, as int64_t */
    double *held;    /* [n] 1 where the step is prescribed      */
    double *start;   /* [n] where the fit began                 */
    double *matrix;  /* [n + 1][n + 1]                          */
    double *rows;    /* [n + 1][2 n + 1]                        */
    int64_t size;    /* doubles                                 */
} solver_work;

static inline solver_work divide(int64_t n, double *base)
{
    solver_work w = {0};
    int64_t used = 0;
#define TAKE(part, count) (w.part = take_part(base, &used, count))
    TAKE(wanted, (int64_t)(sizeof(wanted_step) / sizeof(double)));
    TAKE(largest, n);
    TAKE(norm, n);
    TAKE(gradient, n);
    TAKE(curvature, n * n);
    TAKE(undamped, n);
    TAKE(step, n);
    TAKE(last, n);
    TAKE(change, n);
    TAKE(bend, n * n);
    TAKE(bent, n * n);
    TAKE(length, n);
    TAKE(solution, n);
    TAKE(order, n);
    TAKE(held, n);
    TAKE(start, n);
    TAKE(matrix, (n + 1) * (n + 1));
    TAKE(rows, (n + 1) * (2 * n + 1));
#undef TAKE
    w.size = used;
    return w;
}

/* Entry j, k of a triangle. */
static inline double at(const double *triangle, int64_t order, int64_t j, int64_t k)
{
    return triangle[triangle_at(order, j, k)];
}

/* The step that a solver waits for, and its place. */
static inline wanted_step *wanted_by(const pyspec_solver *s)
{
    return (wanted_step *)(void *)s->work; /* its first part */
}

static inline double *place_of_step(const solver_work *w)
{
    const int64_t kind = ((const wanted_step *)(const void *)w->wanted)->kind;
    return kind == STEP_UNDAMPED || kind == STEP_LIGHT ? w->undamped : kind == STEP_USUAL ? w->last : w->step;
}

/* The Gram matrix of the best point is a factor. */
static inline int has_factor(const pyspec_solver *s)
{
    return s->needs_factor == 2;
}

/* Whether only a part of the rows is asked for. */
static inline int is_part(const pyspec_solver *s)
{
    return s->every > 1;
}

/* chi^2 a degree of freedom. */
static inline double variance(const pyspec_solver *s)
{
    const int64_t n_points = is_part(s) ? s->n_points / s->every : s->n_points;
    return s->chisqr / (double)(n_points > s->n ? n_points - s->n : 1);
}

/* What rounding may do to chi^2. */
static inline double rounding(const pyspec_solver *s)
{
    /* Two roots: a product of two squares may be beyond the range. */
    return 8.0 * DBL_EPSILON * (s->chisqr + sqrt(s->chisqr) * sqrt(s->data_square));
}

/* lm_step.c: solves (JtJ + damping) step = Jtr over the parameters that are free, by Cholesky's method
 * on columns of norm 1. Returns the smallest pivot, 0 if the matrix is not positive. */
double pyspec_solve_gram(const pyspec_solver *s, const solver_work *w, double damping, double *step);

/* lm_step.c: the step within the bounds: what would leave them stops at `share` of the way there, one
 * parameter after the other. Returns the decrease of chi^2 that it promises, NaN if there is none;
 * `pivot` is the smallest of the solutions on the way. */
double pyspec_find_step(const pyspec_solver *s, double damping, double share, double *step,
                        double *pivot);

/* lm_point.c: chi^2 of an answer, NaN if any required number is not finite. The second function makes the answer, at
 * the trial point, the best point. */
double pyspec_answer_value(const pyspec_solver *s);
void pyspec_take_answer(pyspec_solver *s, double value);

/* lm_bend.c: for large residuals, J^T J misses a part of the curvature of chi^2. Undamped steps
 * then overshoot or fall short by the same share each time. The missing part is learnt from the
 * last steps, as the change of the gradient beyond J^T J times the step. */
void pyspec_learn_bend(const pyspec_solver *s);

/* The step with what was learnt, the undamped one where that does not help. Returns what it promises. */
double pyspec_bent_step(const pyspec_solver *s, double *step);

/* lm_solve.c: pyspec_fit_step in parts. The first begins with chi^2 of the answer. The first two return the same as
 * pyspec_fit_step, or FIT_WANTS_STEP if the solver waits for a step. The third finds it; find_steps of lane_steps.h
 * finds several. The last does both until the solver waits no more. */
enum { FIT_WANTS_STEP = PYSPEC_FIT_NEED_NORMAL + 1 };
int pyspec_fit_begin(pyspec_solver *s, double value);
int pyspec_fit_go_on(pyspec_solver *s);
void pyspec_find_wanted(pyspec_solver *s);
int pyspec_fit_answer(pyspec_solver *s, int answer);

/* fit.c: the sums of form FISHER at a point; and chi^2 at a point. Return a status. */
int pyspec_information_at(const pyspec_part *parts, int64_t n_parts, const double *theta, int64_t n, double *sums);
int pyspec_chisqr_at(const pyspec_part *parts, int64_t n_parts, const double *theta, pyspec_team *team,
                     double *chisqr);

/* fit.c: the first step of a solver; and the answer to what it asks for. Return PYSPEC_FIT_*, and a status. */
int pyspec_fit_first(pyspec_solver *s, const pyspec_part *parts, int64_t n_parts);
int pyspec_answer(pyspec_solver *s, const pyspec_part *parts, int64_t n_parts, pyspec_team *team);

/* lm_end.c: the standard deviation of a point, of data without noise that of their rounding. */
double pyspec_spread(const pyspec_solver *s, const pyspec_end *end);

/* lm_end.c: the factor of [J r], also of columns that can replace each other: what rounding leaves of a direction
 * without length is 0. Work: order (2 order + 1) doubles. */
void pyspec_root(const double *triangle, int64_t order, int is_factor, double *factor, double *work);

/* lm_end.c: whether the data may say nothing of a combination of all parameters that are not held (NULL: none is). Work
 * as for pyspec_root, of order n + 1. lm_ways.c: whether that is so of a fit that has ended, and not for a limit. */
int pyspec_is_weak(const pyspec_solver *s, const int64_t *held, double *work);
int pyspec_is_in_doubt(const pyspec_solver *s, double *work);

/* lm_ways.c: whether a search has come back to the optimum where it began. The ending found there is then right. */
struct pyspec_search;
int pyspec_search_is_back(const struct pyspec_search *search);

/* lm_judge.c: what pyspec_judge does with an ending that pyspec_end_of has found. */
int pyspec_look_closer(const pyspec_solver *s, pyspec_end *end, const double *sizes, const pyspec_part *parts,
                       int64_t n_parts, pyspec_team *team);

/* lm_singular.c: of n columns of m numbers each the combinations, rows of v, that are orthogonal, and their lengths.
 * The columns become these. Those of pyspec_singular are the singular vectors, the longest first. */
void pyspec_singular(double *a, int64_t m, int64_t n, double *v, double *value);

/* Takes off each column, of length 1, what lies along those before it. If nothing is left of it, its length is 0.
 * Returns what the smallest singular value of the others is at least, beside the largest. */
double pyspec_take_off_earlier(double *a, int64_t m, int64_t n, double *v, double *value);
void pyspec_put_longest_first(double *a, int64_t m, int64_t n, double *v, double *value);
void pyspec_swap(double *a, double *b, int64_t n);

#endif
