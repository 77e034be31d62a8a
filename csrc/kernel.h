/* kernel.h: the op table as the C side uses it. */
#ifndef PYSPEC_KERNEL_H
#define PYSPEC_KERNEL_H

#include "lanes.h"

enum {
    KIND_PEAK,
    KIND_BACKGROUND,
    KIND_SPECTRUM_FED,
    KIND_DYNAMICS,
    KIND_KERNEL,
    KIND_PROFILE,
    KIND_IRF,
    KIND_RESPONSE
};
enum { DOMAIN_ENERGY, DOMAIN_TIME, DOMAIN_AUX };

/* Most parameters that an op may have. */
enum { MAX_PARAMS = 8 };

/* Most doubles per lane that an op may carry from block to block. */
enum { MAX_SCRATCH = 4 };

/* Instruction sets that energy kernels are built for. Laws of motion have one build only:
 * an onset must fall between the same samples on every machine. */
enum { N_ISA = PYSPEC_ISA_AVX512 + 1 };

#if defined(__x86_64__) && defined(__GNUC__)
#define PYSPEC_X86 1
#else
#define PYSPEC_X86 0
#endif

typedef struct op_row {
    const char *name;
    pyspec_kernel *kernels[N_ISA];
    int kind;
    int domain;
    const char *params;
    const char *linear;
    int scratch;
} op_row;

#define OP(name, kind, domain, params, linear, scratch, inplace, tolerance, formula)               \
    pyspec_kernel k_##name, k_##name##_avx2, k_##name##_avx512;
#include "ops.def"
#undef OP

enum {
#define OP(name, kind, domain, params, linear, scratch, inplace, tolerance, formula) OP_##name,
#include "ops.def"
#undef OP
    N_OPS
};

extern const op_row pyspec_op_table[N_OPS];

/* Place of row j, column k >= j of an upper triangle whose rows lie one behind the other. */
static inline int64_t triangle_at(int64_t order, int64_t j, int64_t k)
{
    return j * order - j * (j - 1) / 2 + (k - j);
}

static inline int64_t triangle_size(int64_t order)
{
    return order * (order + 1) / 2;
}

/* block.c, for each instruction set: result, arguments. */
#define BLOCK_OPS(B)                                                                               \
    B(add, (double *target, const double *value, int64_t n, int store))                            \
    B(spread, (double *target, const double *line, int64_t n, int store))                          \
    B(scale, (double *target, const double *value, const double *factor, int64_t n, int store))    \
    B(spread_scaled,                                                                               \
      (double *target, const double *line, const double *factor, int64_t n, int store))            \
    B(weigh, (double *value, const double *factor, int64_t n))                                     \
    B(gram, (double *triangle, const double *const *columns, const int64_t *list, int64_t count,   \
             int64_t order, int64_t n))                                                            \
    B(turn, (double *rows, int64_t stride, const double *value, int64_t n, int64_t n_lanes))       \
    B(subtract, (double *out, const double *data, int64_t n))                                      \
    B(gauss, (double *g, double *slope, const double *t, const double *w, double at, double scale, \
              int64_t n))                                                                          \
    B(dot, (double *sum, const double *a, const double *b, int64_t n))

typedef struct block_ops {
#define BLOCK_OP_FIELD(name, arguments) void(*name) arguments;
    BLOCK_OPS(BLOCK_OP_FIELD)
#undef BLOCK_OP_FIELD
} block_ops;

#define BLOCK_OP_BUILDS(name, arguments)                                                           \
    void pyspec_block_##name arguments;                                                            \
    void pyspec_block_##name##_avx2 arguments;                                                     \
    void pyspec_block_##name##_avx512 arguments;
BLOCK_OPS(BLOCK_OP_BUILDS)
#undef BLOCK_OP_BUILDS

extern const block_ops pyspec_block_table[N_ISA];

/* Parameters of an op, and how many of them cannot be left out. */
int pyspec_count_params(const op_row *op, int *n_required);

/* Whether the value is proportional to the first parameter. */
int pyspec_has_height(const op_row *op);

/* Values of an expression stack that are computed at a time. */
enum { RPN_CHUNK = 64 };

/* Rows of scratch that a convolution needs. */
enum { CONVOLVE_ROWS = 6 };

enum {
#define RPN(name, arity, symbol, value, slope) RPN_##name,
#include "rpn.def"
#undef RPN
    N_RPN
};
int pyspec_rpn_arity(int64_t instruction);

/* What lies of a convolution kernel outside of the axis: the integral of g over d >= distance
 * (PYSPEC_SIDE_LEFT: distance = t - t_first >= 0) or over d <= distance (PYSPEC_SIDE_RIGHT:
 * distance = t - t_last <= 0). NaN for an op that is no convolution kernel. */
enum { PYSPEC_SIDE_LEFT, PYSPEC_SIDE_RIGHT };
double pyspec_kernel_mass(int64_t op, int side, double distance, double parameter);

#endif
