/* convolution.h: convolution of traces, and kernels that a user wrote as formulas.
 *
 * Such a kernel lies in 64-bit words of the plan:
 *
 *   - head: CONV_HEAD words, see `conv_formula`
 *   - programs: as in formula.h, each over all parameters of the kernel. The first is the shape g(d). Optional ones
 *     give, for each side, the reach of g and the mass of g beyond d >= 0 */
#ifndef PYSPEC_CONVOLUTION_H
#define PYSPEC_CONVOLUTION_H

#include "formula/formula.h"
#include "walk/run.h"

/* Time differences of a kernel by formula that are taken at once. */
enum { CONV_LAGS = 16 * L };

/* A kernel on an increasing axis; scratch is convolve_rows(n_params) x stride, kept is
 * (count - 1) x stride for the results of `count` signals. */
typedef struct convolution {
    const op_row *op;       /* NULL for a kernel by formula, which `program` is */
    int64_t isa;
    const double *params;
    int64_t n_params;
    int64_t n;
    const double *t;
    double *scratch;
    double *kept;
    int64_t stride;
    const int64_t *program;
    double *registers;
    double reach[2];        /* how far g is not 0 on each side; found by pyspec_convolve */
} convolution;

/* How many time differences are taken at once; the slopes of a shape stand so far apart. */
static inline int64_t conv_chunk(const convolution *c)
{
    return c->op ? BLOCK * L : CONV_LAGS;
}

/* A row of the scratch. */
static inline double *conv_row(const convolution *c, int64_t which)
{
    return c->scratch + which * c->stride;
}

/* Where the result of signal k is collected while the signals are still read. There is room for two more
 * numbers behind it. */
static inline double *conv_result(const convolution *c, int64_t k)
{
    return k == 0 ? conv_row(c, CONV_RESULT) : c->kept + (k - 1) * c->stride;
}

static inline const conv_side *conv_side_of(const convolution *c, int side)
{
    return &c->op->conv[c->isa]->sides[side];
}

/* convolution.c: replaces each signal y by kernel * y and gives, unless NULL, the slopes of the
 * first result by the kernel's parameters; NULL for one that is not wanted. */
void pyspec_convolve(const convolution *c, double *const *signals, int64_t count,
                     double *const *slopes);

/* conv_shape.c: on a side on which g(a + b) = g(a) g(b), g between neighbours and its slope, unless not
 * wanted, into CONV_DECAY and CONV_DECAY_SLOPE. */
void pyspec_conv_decays(const convolution *c, int side, int slopes);

/* conv_lines.c: whether a kernel has an edge, and the convolution of the straight lines between samples with
 * such a one. The results are left at conv_result; the last number of each signal says whether it has a
 * value. `by` are slopes of the first result by the width, or NULL. */
int pyspec_reads_lines(const convolution *c);
void pyspec_conv_lines(const convolution *c, double *const *signals, int64_t count, double *by);

/* conv_shape.c: a program, or the shape of a row of the op table, at n time differences. The memory
 * has room for whole vectors. Also gives its slopes, unless NULL. */
void pyspec_conv_shape(const convolution *c, const int64_t *program, double *lag, int64_t n,
                       double *g, double *slopes);

/* conv_masses.c: the masses of a kernel by formula beyond the end of the axis on one side, seen from
 * each sample. Also gives their slopes, c->stride apart, unless NULL. Returns the reach. */
double pyspec_conv_masses(const convolution *c, int side, double *mass, double *slopes);

#endif
