/* plans.h: builds plans and problems for the C tests. Every memory has exactly the size that
 * the library asks for, so that the address sanitizer sees the first byte too many. */
#ifndef PLANS_H
#define PLANS_H

#include "isa/kernel.h"
#include "support/owned.h"
#include "walk/memory.h"

enum { MAX_TEST_NODES = 48, MAX_TEST_WORDS = 8192 };

/* A plan under construction; `head` is completed by finish. */
typedef struct plan_builder {
    pyspec_plan head;
    pyspec_node nodes[MAX_TEST_NODES];
    int64_t words[MAX_TEST_WORDS];
} plan_builder;

/* Starts a plan of n_traces rows and n_slots slots whose result is slot 0. */
void start(plan_builder *b, int dimension, int n_theta, int n_fixed, int n_traces, int n_slots);

/* Adds n_blocks blocks of n_aux rows behind the rows of start. Returns the first row of the
 * first block; the others follow at distances of n_aux. */
int add_blocks(plan_builder *b, int n_aux, int n_blocks);

int64_t add_word(plan_builder *b, int64_t word);

/* Whether a step resolves parameters. Those nodes must all be added before the others. */
int resolves(int step);

/* Trace rows as the number of parameters and where they stand; instructions likewise, of two words each. */
#define ROWS_OF(...) (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)), (const int[]){__VA_ARGS__}
#define CODE(...) (int)(sizeof((const int64_t[]){__VA_ARGS__}) / 16), (const int64_t[]){__VA_ARGS__}

/* Adds a node that calls an op with the trace rows given, and the bounds of its table row. A
 * component that reads a block runs over the auxiliary points, a node that writes one too. */
pyspec_node *add_call(plan_builder *b, int step, int op, int flags, int target, int n_params,
                      const int *rows);
/* The same with a function that is a formula: n_code words. */
pyspec_node *add_formula(plan_builder *b, int step, int flags, int target, int n_params,
                         const int *rows, int n_code, const int64_t *program);
pyspec_node *add_step(plan_builder *b, int step, int flags, int source, int target);
pyspec_node *add_expression(plan_builder *b, int flags, int target, int n_code,
                            const int64_t *code);
int64_t bits_of(double value);
double value_of(int64_t bits);

/* States which parameters of theta (64 at most) each row depends on, as the nodes say. */
void add_dependencies(plan_builder *b);

/* Columns of the plan's own: these trace rows, in this order. */
void add_columns(plan_builder *b, int n, const int *rows);

/* States that the spectra are shapes that stand still times the heights of the components that are
 * flagged as such. */
void add_moving_heights(plan_builder *b);

/* Whether a trace row depends on the row of the axis, as the nodes added so far say. */
int row_moves(const plan_builder *b, int64_t row);

/* The plan in an exactly sized memory of its own, with the stage of each node. */
pyspec_plan *finish(const plan_builder *b);

/* A problem with its own exactly sized arrays: x rises from 0 in steps of 0.1, time from -1
 * in steps of 0.25; extra axes are shifted times; masks drop every (k + 3)-rd row; the
 * auxiliary axis rises from 0.1 in steps of 0.2, with unequal weights of sum 1. */
typedef struct grid {
    pyspec_problem problem;
    double *x, *time, *axes, *fixed, *aux, *aux_weight, *external, *spectra, *shares;
    uint8_t *masks;
} grid;
/* Where the number of abscissae is odd, a Shirley weighs them by shares. */
void make_grid(grid *g, const pyspec_plan *plan, int64_t n_rows, int64_t n_x);
/* Moves abscissae out of their even steps: no line goes from each value to the next (csrc/math/bell.h), where it
 * begins anew at other places in a window. */
void make_uneven(grid *g, int64_t n_x);
/* Data of all points, row by row. */
void set_data(pyspec_problem *q, const double *data);

enum { RUN_EVALUATE, RUN_RESIDUAL, RUN_TRACES, RUN_JACOBIAN };

/* The build of the kernels that calls ask for. */
extern int test_isa;

/* A call whose memories have exactly the sizes asked for, with room for PYSPEC_PREPARE_* `what`. */
pyspec_call make_call(const pyspec_plan *plan, const pyspec_problem *problem, const double *theta,
                      int64_t what);

/* A solver with memories of its own, at its start within bounds: -inf and inf without. */
pyspec_solver make_solver(int64_t n, const double *start, const double *lower, const double *upper);

/* The output of an entry that runs with an exactly sized work memory, filled with NaN. NULL unless the status
 * is OK. */
double *run_entry(int entry, const pyspec_plan *plan, const pyspec_problem *problem,
                  const double *theta, int *status);

/* Same bits, or both NaN. */
int same(double a, double b);
int all_same(const double *a, const double *b, int64_t n);

/* max|a - b| <= tolerance max|b|, and NaN at the same places. */
int close_to(const double *a, const double *b, int64_t n, double tolerance);

/* naive.c: a plan evaluated one number at a time with the C library's functions, over the full
 * grid: out[n_rows][n_x], and traces[n_traces][n_rows] unless NULL; 0 in a row of a trace that
 * no node resolves. */
void naive_evaluate(const pyspec_plan *plan, const pyspec_problem *problem, const double *theta,
                    double *traces, double *out);

/* The double sum that defines a convolution, over n samples. */
void naive_convolve(int op, double width, int64_t n, const double *t, double *y);

/* Whether naive.c has a reading of every function of the plan. */
int naive_knows(const pyspec_plan *plan);

#endif
