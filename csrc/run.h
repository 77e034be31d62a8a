/* run.h: one run of a checked plan, as the parts of the dispatch loop share it. */
#ifndef PYSPEC_RUN_H
#define PYSPEC_RUN_H

#include "memory.h"

#include <math.h>
#include <string.h>

enum {
#define STATUS(name, code, message) STATUS_##name = (code),
#include "status.def"
#undef STATUS
};

/* What derivatives are taken by: n columns. A trace row that is a column of its own has its number
 * in of_row; one with -1 there stands for the parameters of theta that it depends on. NULL: the
 * columns are theta. rows[k] is the trace row of column k. */
typedef struct basis {
    int64_t n;
    const int64_t *rows;
    const int64_t *of_row;
} basis;

typedef struct run {
    const pyspec_call *call;
    const pyspec_plan *plan;
    const pyspec_problem *problem;
    const pyspec_node *nodes;
    const int64_t *words;
    work_parts work;
    basis by;
    int residual;
} run;

/* The lanes of a tile, and the block of abscissae at hand. */
typedef struct tile {
    int64_t row; /* first row                    */
    int across;  /* one row, lanes are abscissae */
    int64_t aux; /* auxiliary point              */
    int64_t x0;  /* first abscissa of the block  */
    pyspec_block block;
} tile;

/* resolve.c: every parameter over all rows. */
void pyspec_resolve(const run *r);

/* sensitivity.c: the derivatives of all traces; the one of a row by a parameter, or NULL. */
void pyspec_resolve_slopes(const run *r);
const double *pyspec_slope_row(const run *r, int64_t row, int64_t aux, int64_t theta);

/* The parameters of theta that a trace row depends on. */
static inline const int64_t *depends(const run *r, int64_t row, int64_t *n)
{
    const int64_t *ends = r->words + r->plan->depends;
    *n = ends[row + 1] - ends[row];
    return ends + r->plan->n_traces + 1 + ends[row];
}

/* resolve.c: the node at hand, without those before it. */
void pyspec_resolve_node(const run *r, const pyspec_node *node);
void pyspec_resolve_inputs(const run *r);

/* execute.c: fills in a run; slopes asks for the work of derivatives. */
int pyspec_begin_run(run *r, const pyspec_call *call, int64_t n_out, int slopes);
void pyspec_load_external(const run *r, const pyspec_node *node, const tile *t, double *value);
int64_t pyspec_last_abscissa(const run *r);
double *pyspec_carry(const run *r, const pyspec_node *node);
int64_t pyspec_tile_block(const run *r, tile *t, int64_t k, int64_t x_end);
void pyspec_run_block(const run *r, const tile *t);
void pyspec_clear_carry(const run *r);

/* execute.c: components whose shape does not move are computed once a call, along the axis: a line
 * for the value and, with derivatives, one for each parameter. */
int pyspec_has_lines(const run *r, const pyspec_node *node);
void pyspec_run_lines(const run *r, int64_t x_end);

static inline int64_t pyspec_line_stride(const run *r)
{
    return round_up(r->problem->n_x, L);
}

static inline double *pyspec_lines(const run *r, const pyspec_node *node)
{
    return r->work.lines +
           (node - r->nodes - r->plan->n_resolve) * r->work.n_lines * pyspec_line_stride(r);
}

/* columns.c: value and derivatives of a block; the column of a slot, and which are not zero. */
void pyspec_begin_tile(const run *r);
void pyspec_block_columns(const run *r, const tile *t);
double *pyspec_column(const run *r, int64_t slot, int64_t k);
unsigned char *pyspec_written(const run *r, int64_t slot);

/* How many abscissae of a block lie in the window; 0 or less: none. */
static inline int64_t pyspec_in_window(const run *r, const tile *t)
{
    int64_t n = t->across ? t->block.n_valid : t->block.n;
    return t->x0 + n < r->problem->x_end ? n : r->problem->x_end - t->x0;
}

/* output.c: writes what of a block lies in the window, as model or residual. */
void pyspec_write_block(const run *r, const tile *t);
void pyspec_write_trace(const run *r);

/* output.c: model values of one row, abscissae from `begin` on, become residuals; and where the
 * derivatives of the model count by more or less than 1, `weight` what they are multiplied with,
 * -d residual / d model or, for `fisher`, the root of the expected second derivative. */
void pyspec_subtract(const run *r, int64_t row, int64_t begin, int64_t n, double *out);
int pyspec_is_weighted(const run *r);
void pyspec_weigh(const run *r, int64_t row, int64_t begin, int64_t n, const double *model,
                  int fisher, double *weight);

/* factor.c: R is an upper triangle of that order; n more rows are turned into it, `columns` of
 * n doubles each, which are lost: the new RᵀR is the old one and their Gram matrix. */
void pyspec_absorb(double *triangle, int64_t order, double *columns, int64_t n);

/* A convolution kernel on an increasing axis; scratch is CONVOLVE_ROWS x stride. */
typedef struct convolution {
    int64_t op;
    double parameter;
    int64_t n;
    const double *t;
    const block_ops *ops;
    double *scratch;
    int64_t stride;
} convolution;

/* operator.c: y = kernel * y. */
void pyspec_convolve(const convolution *c, double *y);

/* operator.c: y = kernel * y, the slope of that by the kernel's width, and kernel * slope for
 * several slopes; kept is count x stride. */
void pyspec_convolve_all(const convolution *c, double *y, double *by_width, double *const *slopes,
                         int64_t count, double *kept);

static inline void fill(double *out, double value, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = value;
}

/* A trace row as an auxiliary point sees it. */
static inline const double *trace_row(const run *r, int64_t row, int64_t aux)
{
    return r->work.traces + (row >= r->plan->samples ? row + aux : row) * r->work.stride;
}

/* rpn.c: the derivative of an expression by one parameter of theta. */
void pyspec_run_program_slope(const int64_t *code, int64_t n_code, const run *r, int64_t aux,
                              int64_t theta, int64_t n, double *out);

/* rpn.c: one expression program at one auxiliary point, over the first n rows. */
void pyspec_run_program(const int64_t *code, int64_t n_code, const run *r, int64_t aux, int64_t n,
                        double *out);

/* The convolution of a node by a kernel of that width. */
static inline convolution convolution_of(const run *r, const pyspec_node *node, double width)
{
    return (convolution){node->op, width, r->problem->n_rows, r->problem->time,
                         &pyspec_block_table[r->call->isa], r->work.convolve, r->work.stride};
}

/* slope * change; 0 where the slope is, be the change what it may: what overflowed on the way to a
 * finite value, or belongs to another sub-cycle, must not make it NaN. */
static inline double times_change(double slope, double change)
{
    return slope == 0.0 ? 0.0 : slope * change;
}

/* Copies n abscissae to the aligned, padded block buffer. */
static inline void load_abscissae(double *out, const double *x, int64_t n)
{
    memcpy(out, x, (size_t)n * sizeof *x);
    fill(out + n, x[n - 1], round_up(n, L) - n);
}

/* Parameters of a node for a tile; a parameter left out is 0. */
void pyspec_gather(const run *r, const pyspec_node *node, const tile *t, double *params);

/* Bit l is set where lane l lies outside of the op's domain. */
unsigned pyspec_outside(const run *r, const pyspec_node *node, const double *params);

/* Makes the lanes in `bad` NaN. */
void pyspec_poison(double *value, int64_t n, unsigned bad);

#endif
