/* run.h: one run of a checked plan, as the parts of the dispatch loop share it. */
#ifndef PYSPEC_RUN_H
#define PYSPEC_RUN_H

#include "sums/rows.h"
#include "walk/memory.h"
#include "tables/status.h"

#include <math.h>
#include <string.h>

/* The basis of derivatives: n columns. A trace row that is a column has the number of the column in
 * of_row. A row with -1 there stands for the parameters of theta that it depends on. of_row NULL: the
 * columns are theta. rows[k] is the trace row of column k. The columns may be some of a larger basis.
 * Then `among` holds their numbers there, and `rows` are those of the larger basis. Rows of the other
 * columns have NOWHERE. The first n_scalar columns belong to parameters that are the same in every
 * row. */
typedef struct basis {
    int64_t n;
    int64_t n_scalar;
    const int64_t *rows;
    const int64_t *of_row;
    const int64_t *among;
} basis;

enum { NOWHERE = -2 };

/* Rows whose traces are resolved together; up to STRIP of them, or the whole axis. */
typedef struct strip {
    int64_t row; /* its first row */
    int64_t n;   /* rows          */
} strip;

/* Fits side by side, one in each lane, with values, data and weights of its own. Arrays lie [..][L]. The data of a
 * spectrum begin at the window's first point, as doubles. Weights are 0 for points that do not count, and NULL if all
 * are 1. Losses that read the data themselves find them by `problems`. */
typedef struct fits_beside {
    double *theta, *fixed, *data, *weight;
    pyspec_problem *problems;
    int64_t size; /* bytes */
} fits_beside;

/* One run of one call. */
typedef struct run {
    const pyspec_call *call;
    const pyspec_plan *plan;
    const pyspec_problem *problem;
    const pyspec_node *nodes;
    const int64_t *words;
    work_parts work;
    prepared_parts prepared;
    basis by;        /* columns that are computed; n = 0: the value alone        */
    basis sums;      /* columns that are summed                                  */
    int slopes;      /* whether traces are resolved with their slopes            */
    int keeps;       /* whether lines of constant components are prepared already        */
    int residual;    /* whether residuals are written, not models                */
    int64_t x_end;   /* past the last abscissa that is evaluated                 */
    int64_t buffer;  /* doubles of a spectrum: those of a block or, with cuts, of a row */
    int64_t cut;     /* first node behind the last that reads whole rows         */
    const fits_beside *beside; /* lanes are fits; NULL: rows or abscissae of one */
    struct kept_scheme *kept; /* of each component that is a state of a scheme, or NULL */
} run;

/* The lanes of a tile, and the block of abscissae at hand. */
typedef struct tile {
    int64_t at;     /* position of the first row in the strip */
    int across;     /* one row, lanes are abscissae           */
    int64_t n_lanes; /* rows that exist; lanes after them repeat the last */
    int64_t aux;    /* auxiliary point                        */
    int64_t x0;     /* first abscissa of the block            */
    int64_t offset; /* of the block in a buffer, in doubles   */
    int64_t row[L]; /* row of each lane                       */
    pyspec_block block;
} tile;

static inline void fill(double *out, double value, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = value;
}

/* slope * change; 0 if the slope is 0, whatever the change. The change may have overflowed on the
 * way to a finite value, or belong to another sub-cycle: it must not make the product NaN. */
static inline double times_change(double slope, double change)
{
    return slope == 0.0 ? 0.0 : slope * change;
}

/* A product of the chain rule of expressions: 0 where either factor is 0, be the other infinite. */
static inline double chain_product(double inner, double outer)
{
    return inner == 0.0 || outer == 0.0 ? 0.0 : inner * outer;
}

/* Copies n abscissae to the aligned, padded block buffer. */
static inline void load_abscissae(double *out, const double *x, int64_t n)
{
    memcpy(out, x, (size_t)n * sizeof *x);
    fill(out + n, x[n - 1], round_up(n, L) - n);
}

/* ---- traces ----------------------------------------------------------------------------- */

/* The trace of a row as an auxiliary point sees it. */
static inline const trace *trace_of(const run *r, int64_t row, int64_t aux)
{
    return &r->work.traces[row >= r->plan->samples ? row + aux : row];
}

/* The parameters of theta that a trace row depends on. */
static inline const int64_t *depends(const run *r, int64_t row, int64_t *n)
{
    const int64_t *ends = r->words + r->plan->depends;
    *n = ends[row + 1] - ends[row];
    return ends + r->plan->n_traces + 1 + ends[row];
}

/* The L values of a trace from position `at` of the strip on. */
static inline const double *values_at(const trace *t, int64_t at)
{
    return t->value + at * t->moves;
}

/* The same of its slope by the c-th parameter that it depends on. */
static inline const double *slopes_at(const trace *t, int64_t c, int64_t at)
{
    return t->slopes + c * t->step + at * t->moves;
}

/* The place of d trace / d theta from the strip's begin on, NULL where it does not depend on it. */
static inline double *slope_by(const run *r, int64_t row, int64_t theta)
{
    int64_t n;
    const int64_t *list = depends(r, row, &n);
    for (int64_t c = 0; c < n; c++)
        if (list[c] == theta)
            return r->work.traces[row].slopes + c * r->work.traces[row].step;
    return NULL;
}

/* The plan's own columns, which may be fewer than theta has. */
static inline basis all_columns(const run *r)
{
    const int64_t *words = r->words + r->plan->columns;
    return (basis){.n = words[0], .rows = words + 1, .of_row = words + 1 + words[0]};
}

/* n values of a trace, or of a slope of it, from position `begin` on. */
static inline void copy_values(double *out, const double *from, int64_t moves, int64_t begin,
                               int64_t n)
{
    if (moves)
        memcpy(out, from + begin, (size_t)n * sizeof *out);
    else
        fill(out, *from, n);
}

/* ---- the parts, each of which uses only those named before it --------------------------- */

/* operands.c: what an op reads before anything is summed, and a column that nothing wrote to. */
extern const double pyspec_zeros[BLOCK * L];

/* operands.c: parameters of a node for a tile; a parameter left out is 0. */
void pyspec_gather(const run *r, const pyspec_node *node, const tile *t, double *params);

/* Bit l is set where lane l lies outside of the op's domain. */
unsigned pyspec_outside(const run *r, const pyspec_node *node, const double *params);

/* The function of a node over a block: a row of the op table, or a program. */
void pyspec_run_kernel(const run *r, const pyspec_node *node, const pyspec_block *b,
                       const double *params, double *value, double *const *partials);

/* A component that the caller supplies; lanes before the first row supplied repeat it. None lies behind
 * the last one: the window ends there at the latest, and lanes behind it repeat a row that exists. */
void pyspec_load_external(const run *r, const pyspec_node *node, const tile *t, double *value);

/* Makes the lanes in `bad` NaN. */
void pyspec_poison(double *value, int64_t n, unsigned bad);

/* rpn.c: the program of an expression node at one auxiliary point, over n <= RPN_CHUNK positions
 * from `begin` on. With `slopes`, the same sweep gives the derivative of the value by the result of
 * each instruction, [n_code][RPN_CHUNK]. Those of PARAM are the derivatives by the inputs of the
 * program. Returns NULL without `slopes`. */
const double *pyspec_run_program(const run *r, const pyspec_node *node, int64_t aux, int64_t begin,
                                 int64_t n, double *value, int slopes);

/* resolve.c: the nodes of one stage over a strip, with slopes where r->slopes asks for them. */
void pyspec_resolve(const run *r, const strip *s, int stage);

/* The expressions of a strip again, after one of its traces was given other values. */
void pyspec_resolve_followers(const run *r, const strip *s, int64_t row);

/* walk.c: the nodes that build spectra: the value, and the r->by.n columns. A tile begins with what
 * lies before the last cut, over all energies; the rest is walked block by block. */
void pyspec_begin_tile(const run *r, tile *t);
void pyspec_walk_block(const run *r, const tile *t);
int64_t pyspec_tile_block(const run *r, tile *t, int64_t k, int64_t x_end);

/* walk.c: the lines of a component that does not move. */
void pyspec_walk_line(const run *r, const pyspec_node *node, int64_t x_end);

/* Where a block of a slot and of its columns stands, and which of its columns are not zero. */
static inline double *slot_at(const run *r, const tile *t, int64_t slot)
{
    return r->work.slots + slot * r->buffer + t->offset;
}

static inline double *column_at(const run *r, const tile *t, int64_t slot, int64_t k)
{
    return r->work.columns + (slot * r->by.n + k) * r->buffer + t->offset;
}

static inline unsigned char *written_at(const run *r, int64_t slot)
{
    return (unsigned char *)r->work.written + slot * r->by.n;
}

/* How many abscissae of a block lie in the window; 0 or less: none. */
static inline int64_t count_in_window(const run *r, const tile *t)
{
    int64_t n = t->across ? t->block.n_valid : t->block.n;
    return t->x0 + n < r->problem->x_end ? n : r->problem->x_end - t->x0;
}

/* prepare.c: fills in a run with room for slopes or without; then either fills the prepared memory
 * of its call, or takes one that was filled for it. */
int pyspec_begin_run(run *r, const pyspec_call *call, int64_t n_out, int slopes);
int pyspec_fill_prepared(run *r, int64_t what);
int pyspec_use_prepared(run *r);

/* A run of fits side by side, each with its own values: no line is the same for all of them. The first function
 * prepares what does not depend on values. The second says whether that is still in the memory of the call, and the
 * third resolves the values. */
int pyspec_begin_beside(run *r, const pyspec_call *call, const fits_beside *beside);
int pyspec_is_begun_beside(const run *r);
void pyspec_resolve_beside(const run *r);

/* accumulate.c: sums over the spectrum of each fit: triangles[..][L], GRAM or FISHER. Uses the memory of the
 * call, of which nothing is prepared afterwards. The run is kept from one time to the next, zeros to begin with. */
int pyspec_sum_beside(run *r, const pyspec_call *call, const fits_beside *beside, int form, const double **triangles);

/* strips.c: traces of a strip are read from the prepared memory or resolved into the strip. */
void pyspec_begin_strips(const run *r);
void pyspec_load_strip(const run *r, const strip *s);
strip pyspec_strip_of(int64_t row, int64_t row_end);
void pyspec_set_tile(const strip *s, tile *t, int64_t at, int across);

/* Walks the tiles of a strip and hands every block to `write`. */
void pyspec_walk_strip(const run *r, const strip *s, void (*write)(const run *, const tile *));

/* residual.c: turns model values of one row, abscissae from `begin` on, into residuals. `weight` is
 * the factor of the derivatives of the model, if it is not 1. It is -d residual / d model. For
 * `fisher` it is the root of the expected second derivative. */
void pyspec_subtract(const pyspec_problem *q, int64_t isa, int64_t row, int64_t begin, int64_t n,
                     double *out);
int pyspec_is_weighted(const pyspec_problem *q);
void pyspec_weigh(const pyspec_problem *q, int64_t row, int64_t begin, int64_t n,
                  const double *model, int fisher, double *weight);

/* residual.c: the data of a row, from the window's first point on, into one lane, and its weights: 0 where a point
 * does not count; NULL: nobody asks for them. */
void pyspec_load_beside(const pyspec_problem *q, int64_t row, double *data, double *weight);

#endif
