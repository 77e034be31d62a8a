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
    double *lines;   /* [n_nodes - n_resolve][n_lines][round_up(n_x, L)]: what does not move */
    double *slots;   /* [n_slots][BLOCK][L]                              */
    double *value;   /* [BLOCK][L]                                       */
    double *zeros;   /* [BLOCK][L], what an op reads before anything is summed */
    double *sample;  /* [BLOCK][L], a component at one auxiliary point   */
    double *x;       /* [BLOCK][L], padded abscissae                     */
    double *carry;   /* [n_nodes - n_resolve][MAX_SCRATCH][L]            */
    double *convolve; /* [CONVOLVE_ROWS][stride], present where a node convolves */
    double *trace_slopes; /* [dependencies][stride], derivatives of the traces             */
    double *convolved; /* [n_theta][stride]                               */
    double *signals;  /* [n_theta] addresses                              */
    double *by_width; /* [stride], derivative by a kernel's width         */
    double *slopes;   /* [stack_depth][RPN_CHUNK]                         */
    double *partials; /* [MAX_PARAMS][BLOCK][L]                           */
    double *columns;  /* [n_slots][n_columns][BLOCK][L]                   */
    double *written;  /* [n_slots][n_columns] bytes: whether a column is not zero */
    double *reads;    /* [n_columns] bytes                                */
    double *fed;      /* [n_columns][BLOCK][L], columns through a spectrum-fed op */
    double *first;    /* [n_columns][MAX_SCRATCH][L]                      */
    double *point;    /* [BLOCK][L], a component at one auxiliary point   */
    double *carries;  /* [n_nodes - n_resolve][n_columns][MAX_SCRATCH][L] */
    double *rows;     /* [2][BLOCK * L], residuals and weights by rows */
    double *residual; /* [BLOCK][L]                                       */
    double *weight;   /* [BLOCK][L]                                       */
    double *triangle; /* [triangle of order n_columns + 1][L]             */
    double *half;     /* [n_columns + 1][n_theta + 1][L]                  */
    double *by_theta; /* [triangle of order n_theta + 1][L]               */
    double *dense;    /* [n_theta + 1][BLOCK]                             */
    double *record;   /* triangle of order n_theta + 1                    */
    double *pointers; /* [n_columns + 1] addresses                        */
    double *list;     /* [n_columns + 1] numbers                          */
    int64_t n_lines; /* value, and with derivatives those by each parameter */
    int64_t size;    /* bytes                                            */
} work_parts;

/* How many columns the plan's own list of columns has; without one, those of theta. */
static inline int64_t most_columns(const pyspec_plan *plan)
{
    int64_t own = plan->columns < 0 ? 0 : plan_words(plan)[plan->columns];
    return own > plan->n_theta ? own : plan->n_theta;
}

/* `slopes` adds what derivatives need. */
static inline work_parts divide_work(const pyspec_plan *plan, const pyspec_problem *problem,
                                     double *base, int slopes)
{
    work_parts w = {0};
    int64_t n_components = plan->n_nodes - plan->n_resolve;
    int64_t buffer = BLOCK * L, used = 0, convolves = 0;
    for (int64_t k = 0; k < plan->n_resolve; k++)
        convolves |= plan_nodes(plan)[k].step == PYSPEC_STEP_CONVOLVE;
    w.n_lines = slopes ? 1 + MAX_PARAMS : 1;
    w.stride = round_up(problem->n_rows, L) + L; /* a tile may start at any row */
#define TAKE(part, count) (w.part = base ? base + used : base, used += round_up((count), L))
    TAKE(traces, plan->n_traces * w.stride);
    TAKE(stack, plan->stack_depth * RPN_CHUNK);
    TAKE(lines, n_components * w.n_lines * round_up(problem->n_x, L));
    TAKE(slots, plan->n_slots * buffer);
    TAKE(value, buffer);
    TAKE(zeros, buffer);
    TAKE(sample, plan->n_aux || slopes ? buffer : 0);
    TAKE(x, buffer);
    TAKE(carry, n_components * MAX_SCRATCH * L);
    TAKE(convolve, convolves ? CONVOLVE_ROWS * w.stride : 0);
    if (slopes) {
        TAKE(trace_slopes, plan_words(plan)[plan->depends + plan->n_traces] * w.stride);
        TAKE(by_width, convolves ? w.stride : 0);
        TAKE(convolved, convolves ? plan->n_theta * w.stride : 0);
        TAKE(signals, plan->n_theta);
        TAKE(slopes, plan->stack_depth * RPN_CHUNK);
        TAKE(partials, MAX_PARAMS * buffer);
        const int64_t n = most_columns(plan), n_theta = plan->n_theta;
        TAKE(columns, plan->n_slots * n * buffer);
        TAKE(written, plan->n_slots * n / 8 + 1);
        TAKE(reads, n / 8 + 1);
        TAKE(fed, n * buffer);
        TAKE(first, n * MAX_SCRATCH * L);
        TAKE(point, buffer);
        TAKE(carries, n_components * n * MAX_SCRATCH * L);
        TAKE(rows, 2 * buffer);
        TAKE(residual, buffer);
        TAKE(weight, buffer);
        TAKE(triangle, triangle_size(n + 1) * L);
        TAKE(half, (n + 1) * (n_theta + 1) * L);
        TAKE(by_theta, triangle_size(n_theta + 1) * L);
        TAKE(dense, (n_theta + 1) * BLOCK);
        TAKE(record, triangle_size(n_theta + 1));
        TAKE(pointers, n + 1);
        TAKE(list, n + 1);
    }
#undef TAKE
    w.size = used * (int64_t)sizeof(double);
    return w;
}

#endif
