/* memory.h: addresses inside the plan and the work memory, from one place. */
#ifndef PYSPEC_MEMORY_H
#define PYSPEC_MEMORY_H

#include "kernel.h"

static inline const pyspec_node *plan_nodes(const pyspec_plan *plan)
{
    return (const pyspec_node *)((const char *)plan + plan->nodes);
}

static inline const int64_t *plan_words(const pyspec_plan *plan)
{
    return (const int64_t *)((const char *)plan + plan->words);
}

static inline int64_t round_up(int64_t n, int64_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

/* The work memory. Every part is a multiple of L doubles, so that all stay 64-byte aligned. */
typedef struct work_parts {
    int64_t stride;  /* doubles from trace row to trace row              */
    double *traces;  /* [n_traces][stride]                               */
    double *stack;   /* [stack_depth][RPN_CHUNK]                         */
    double *statics; /* [n_nodes - n_resolve][n_x]: time-independent components */
    double *slots;   /* [n_slots][BLOCK][L]                              */
    double *value;   /* [BLOCK][L]                                       */
    double *zeros;   /* [BLOCK][L], what an op reads before anything is summed */
    double *sample;  /* [BLOCK][L], a component at one auxiliary point   */
    double *x;       /* [BLOCK][L], padded abscissae                     */
    double *carry;   /* [n_nodes - n_resolve][MAX_SCRATCH][L]            */
    double *convolve; /* [CONVOLVE_ROWS][stride], present where a node convolves */
    int64_t size;    /* bytes                                            */
} work_parts;

static inline work_parts divide_work(const pyspec_plan *plan, const pyspec_problem *problem,
                                     double *base)
{
    work_parts w;
    int64_t n_components = plan->n_nodes - plan->n_resolve;
    int64_t buffer = BLOCK * L, used = 0, convolves = 0;
    for (int64_t k = 0; k < plan->n_resolve; k++)
        convolves |= plan_nodes(plan)[k].step == PYSPEC_STEP_CONVOLVE;
    w.stride = round_up(problem->n_rows, L) + L; /* a tile may start at any row */
#define TAKE(part, count) (w.part = base ? base + used : base, used += round_up((count), L))
    TAKE(traces, plan->n_traces * w.stride);
    TAKE(stack, plan->stack_depth * RPN_CHUNK);
    TAKE(statics, n_components * round_up(problem->n_x, L));
    TAKE(slots, plan->n_slots * buffer);
    TAKE(value, buffer);
    TAKE(zeros, buffer);
    TAKE(sample, plan->n_aux ? buffer : 0);
    TAKE(x, buffer);
    TAKE(carry, n_components * MAX_SCRATCH * L);
    TAKE(convolve, convolves ? CONVOLVE_ROWS * w.stride : 0);
#undef TAKE
    w.size = used * (int64_t)sizeof(double);
    return w;
}

#endif
