/* lane_steps.h: fits with equal numbers of parameters side by side, a fit in each lane: the best points of their solvers,
 * and the steps from there. What each does next is decided by its own solver (lm_solve.c). */
#ifndef PYSPEC_LANE_STEPS_H
#define PYSPEC_LANE_STEPS_H

#include "solver/solver.h"

/* The state of the solvers, as in solver_work. Arrays are [..][L], matrices upper halves. */
typedef struct lane_work {
    double *theta, *trial, *low, *high;           /* [n] */
    double *curvature, *bend;                     /* [n][n] */
    double *gradient, *norm, *largest;            /* [n] */
    double *undamped, *last, *held;               /* [n] */
    double *entry, *matrix;                       /* of the step that is sought: [n][n] */
    double *inverse, *solution, *step;            /* and [n] */
    double *alone;                                /* 1 for a lane whose solver has its state itself */
    double *value;                                /* chi^2 of the answer, NaN if any of it is not finite */
    double *takes, *learns, *noise;               /* of a new best point: 1 if it is one, or near the last; rounding */
    double *seeks, *damping, *slight;             /* of a step: its kind, -1 for none; see `stays` of lm_step.c */
    double *promise;                              /* of the undamped step */
    double *least, *promised, *moves, *is_modest; /* what is found; see wanted_step */
    int64_t size;
} lane_work;

static inline lane_work divide_lanes(int64_t n, double *base)
{
    lane_work w = {0};
    int64_t used = 0;
#define TAKE(part, count) (w.part = take_part(base, &used, (count) * L))
    TAKE(theta, n);
    TAKE(trial, n);
    TAKE(low, n);
    TAKE(high, n);
    TAKE(curvature, n * n);
    TAKE(bend, n * n);
    TAKE(gradient, n);
    TAKE(norm, n);
    TAKE(largest, n);
    TAKE(undamped, n);
    TAKE(last, n);
    TAKE(held, n);
    TAKE(entry, n * n);
    TAKE(matrix, n * n);
    TAKE(inverse, n);
    TAKE(solution, n);
    TAKE(step, n);
    TAKE(alone, 1);
    TAKE(value, 1);
    TAKE(takes, 1);
    TAKE(learns, 1);
    TAKE(noise, 1);
    TAKE(seeks, 1);
    TAKE(damping, 1);
    TAKE(slight, 1);
    TAKE(promise, 1);
    TAKE(least, 1);
    TAKE(promised, 1);
    TAKE(moves, 1);
    TAKE(is_modest, 1);
#undef TAKE
    w.size = used;
    return w;
}

/* Operations on all lanes at a time. Sums are triangles of [J r], [..][L]. */
typedef struct lane_ops {
    void (*find_values)(int64_t n, const lane_work *w, const double *sums);
    /* pyspec_take_answer for lanes that take their answer. */
    void (*take_answers)(int64_t n, const lane_work *w, const double *sums);
    /* The steps that n solvers wait for; NULL: this one does not. */
    void (*find_steps)(pyspec_solver *const *solvers, int64_t n, const lane_work *w);
} lane_ops;

extern const lane_ops pyspec_lane_ops, pyspec_lane_ops_avx2, pyspec_lane_ops_avx512;

/* lanes.c: puts a solver that begins into its lane; gives a solver its state back, or its best point alone. */
void pyspec_enter_lane(const pyspec_solver *s, const lane_work *w, int l);
void pyspec_leave_lane(const pyspec_solver *s, const lane_work *w, int l);
void pyspec_read_point(const pyspec_solver *s, const lane_work *w, int l);

/* lanes.c: the step that a solver waits for, found by pyspec_find_wanted. */
void pyspec_find_alone(pyspec_solver *s, const lane_work *w, int l);

/* lanes.c: goes on with the solvers that are in lanes, whose answers are `sums`. Solvers that are NULL have none.
 * Answers are as of pyspec_fit_step. */
void pyspec_step_lanes(pyspec_solver *const *solvers, const lane_work *w, const lane_ops *ops, const double *sums,
                       int *answers);

#endif
