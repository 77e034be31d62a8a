/* lane_steps.h: the steps of several solvers at a time. */
#ifndef PYSPEC_LANE_STEPS_H
#define PYSPEC_LANE_STEPS_H

#include "solver/solver.h"

/* Memory for that: arrays are [..][L]. */
typedef struct lane_work {
    double *curvature, *matrix;             /* [n][n] upper halves of JtJ, with what was learnt, and of the factor */
    double *norm, *gradient, *largest;      /* [n] as in solver_work */
    double *theta, *low, *high;             /* [n] */
    double *step, *held, *solution;         /* [n] */
    double *damping, *slight, *least, *promised; /* one number a lane; slight: see `stays` of lm_step.c */
    int64_t size;
} lane_work;

static inline lane_work divide_lanes(int64_t n, double *base)
{
    lane_work w = {0};
    int64_t used = 0;
#define TAKE(part, count) (w.part = take_part(base, &used, (count) * L))
    TAKE(curvature, n * n);
    TAKE(matrix, n * n);
    TAKE(norm, n);
    TAKE(gradient, n);
    TAKE(largest, n);
    TAKE(theta, n);
    TAKE(low, n);
    TAKE(high, n);
    TAKE(step, n);
    TAKE(held, n);
    TAKE(solution, n);
    TAKE(damping, 1);
    TAKE(slight, 1);
    TAKE(least, 1);
    TAKE(promised, 1);
#undef TAKE
    w.size = used;
    return w;
}

/* Finds the steps that 1 to L solvers of as many parameters wait for: the same bits as pyspec_find_wanted. */
typedef void find_lanes(pyspec_solver *const *solvers, int n_solvers, double *memory);
find_lanes pyspec_find_lanes, pyspec_find_lanes_avx2, pyspec_find_lanes_avx512;

#endif
