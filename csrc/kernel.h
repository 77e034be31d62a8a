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

/* block.c, for each instruction set. */
typedef struct block_ops {
    void (*add)(double *target, const double *value, int64_t n, int store);
    void (*spread)(double *target, const double *line, int64_t n, int store);
    void (*turn)(double *rows, int64_t stride, const double *value, int64_t n, int64_t n_lanes);
    void (*subtract)(double *out, const double *data, int64_t n);
} block_ops;

#define BLOCK_OPS(suffix)                                                                          \
    void pyspec_block_add##suffix(double *target, const double *value, int64_t n, int store);      \
    void pyspec_block_spread##suffix(double *target, const double *line, int64_t n, int store);    \
    void pyspec_block_turn##suffix(double *rows, int64_t stride, const double *value, int64_t n,   \
                                   int64_t n_lanes);                                               \
    void pyspec_block_subtract##suffix(double *out, const double *data, int64_t n);
BLOCK_OPS()
BLOCK_OPS(_avx2)
BLOCK_OPS(_avx512)
#undef BLOCK_OPS

extern const block_ops pyspec_block_table[N_ISA];

/* Parameters of an op, and how many of them cannot be left out. */
int pyspec_count_params(const op_row *op, int *n_required);

/* Values of an expression stack that are computed at a time. */
enum { RPN_CHUNK = 64 };

/* Rows of scratch that a convolution needs. */
enum { CONVOLVE_ROWS = 4 };

enum {
#define RPN(name, arity, symbol, value) RPN_##name,
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
