/* kernel.h: the op table as the C side uses it. */
#ifndef PYSPEC_KERNEL_H
#define PYSPEC_KERNEL_H

#include "lanes.h"

enum { KIND_PEAK, KIND_BACKGROUND, KIND_SPECTRUM_FED, KIND_DYNAMICS, KIND_PROFILE, KIND_KERNEL };
enum { DOMAIN_ENERGY, DOMAIN_TIME, DOMAIN_AUX };

/* Most parameters that an op may have. */
enum { MAX_PARAMS = 8 };

/* Most doubles per lane that an op may carry from block to block. */
enum { MAX_SCRATCH = 4 };

typedef struct op_row {
    const char *name;
    pyspec_kernel *kernel;
    int kind;
    int domain;
    const char *params;
    int scratch;
} op_row;

#define OP(name, kind, domain, params, linear, scratch, inplace, tolerance, formula)               \
    pyspec_kernel k_##name;
#include "ops.def"
#undef OP

enum {
#define OP(name, kind, domain, params, linear, scratch, inplace, tolerance, formula) OP_##name,
#include "ops.def"
#undef OP
    N_OPS
};

extern const op_row pyspec_op_table[N_OPS];

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

#endif
