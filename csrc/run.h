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

typedef struct run {
    const pyspec_call *call;
    const pyspec_plan *plan;
    const pyspec_problem *problem;
    const pyspec_node *nodes;
    const int64_t *words;
    work_parts work;
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

/* output.c: writes what of a block lies in the window, as model or residual. */
void pyspec_write_block(const run *r, const tile *t);
void pyspec_write_trace(const run *r);

/* operator.c: y = kernel * y on an increasing axis; scratch is CONVOLVE_ROWS x stride. */
void pyspec_convolve(int64_t op, double parameter, int64_t n, const double *t, double *y,
                     double *scratch, int64_t stride);

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

/* rpn.c: one expression program at one auxiliary point, over the first n rows. */
void pyspec_run_program(const int64_t *code, int64_t n_code, const run *r, int64_t aux, int64_t n,
                        double *out);

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
