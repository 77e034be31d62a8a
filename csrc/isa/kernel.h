/* kernel.h: the op table as the C side uses it. */
#ifndef PYSPEC_KERNEL_H
#define PYSPEC_KERNEL_H

#include "isa/lanes.h"

enum {
    KIND_PEAK,
    KIND_BACKGROUND,
    KIND_SPECTRUM_FED,
    KIND_ROW_FED,
    KIND_DYNAMICS,
    KIND_KERNEL,
    KIND_PROFILE,
    KIND_IRF,
    KIND_RESPONSE,
    KIND_RESOLUTION,
    KIND_RESOLVED
};
enum { DOMAIN_ENERGY, DOMAIN_TIME, DOMAIN_AUX };

static inline int in_range(int64_t value, int64_t begin, int64_t end)
{
    return value >= begin && value < end;
}

/* Most parameters that an op may have. */
enum { MAX_PARAMS = PYSPEC_MAX_PARAMS };

/* Most doubles per lane that an op may carry from block to block. */
enum { MAX_SCRATCH = 4 };

/* Instruction sets that kernels are built for. Laws of motion and profiles are built without FMA, so that
 * all builds give the same bits: an onset must fall between the same samples on every machine. In a formula
 * nothing that is compared is rounded once in place of twice (pyspec/formula/program/fuse.py). */
enum { N_ISA = PYSPEC_ISA_AVX512 + 1 };

#if defined(__x86_64__) && defined(__GNUC__)
#define PYSPEC_X86 1
#else
#define PYSPEC_X86 0
#endif

/* `conv` is what a KERNEL row has besides its shape, else NULL. */
typedef struct op_row {
    const char *name;
    pyspec_kernel *kernels[N_ISA];
    const conv_kernel *conv[N_ISA];
    int kind;
    int domain;
    const char *params;
    const char *linear;
    const char *jumps;
    const char *reads;
    int scratch;
} op_row;

#define OP(name, kind, domain, params, units, linear, jumps, later, reads, scratch, tolerance,     \
           formula)                                                                                \
    pyspec_kernel k_##name, k_##name##_avx2, k_##name##_avx512;                                    \
    extern const conv_kernel c_##name, c_##name##_avx2, c_##name##_avx512;
#include "tables/ops.def"
#undef OP

enum {
#define OP(name, kind, domain, params, units, linear, jumps, later, reads, scratch, tolerance,     \
           formula)                                                                                \
    OP_##name,
#include "tables/ops.def"
#undef OP
    N_OPS
};

extern const op_row pyspec_op_table[N_OPS];

/* Whether an op reads the spectrum that is summed before it. */
static inline int is_fed(const op_row *op)
{
    return op->kind == KIND_SPECTRUM_FED || op->kind == KIND_ROW_FED;
}

/* The same of the op of a component; a formula, which has no row of the table, reads none. */
static inline int op_is_fed(int64_t op)
{
    return op >= 0 && is_fed(&pyspec_op_table[op]);
}

/* Place of row j, column k >= j of an upper triangle whose rows lie one behind the other. */
static inline int64_t triangle_at(int64_t order, int64_t j, int64_t k)
{
    return j * order - j * (j - 1) / 2 + (k - j);
}

static inline int64_t triangle_size(int64_t order)
{
    return order * (order + 1) / 2;
}

/* A block of a strip of rows: doubles that are contiguous within a row. It holds the parts of the
 * model, the weights, and the factors for sums of residuals. NULL: no weights, or no sums wanted. */
typedef struct strip_data {
    const double *data;
    int64_t data_row, n_rows; /* doubles from row to row                            */
    const double *lines;
    int64_t stride, n_lines; /* doubles from line to line, and from sum to sum      */
    const double *heights;   /* [n_rows][n_lines]                                   */
    const double *times;     /* [n_times, in whole tiles][STRIP]                    */
    int64_t n_times;
    const double *by_row;    /* weights: [n_rows], and times                        */
    const double *by_x;      /* [n]; NULL: 1                                        */
    double *residuals;       /* [n_rows][BLOCK], scratch                            */
    double *sums;            /* [n_times, in whole tiles][stride]                   */
    int of_data;             /* sums of the data, not of the residuals              */
    int alone;               /* of the data, without chi^2: no lines                */
} strip_data;

/* A column of J and the parameters of theta that it stands for: d column / d theta[j] has its lanes at
 * slopes + j * step. */
typedef struct theta_column {
    int64_t n;
    const int64_t *theta;
    const double *slopes;
    int64_t step;
} theta_column;

/* Lines of words that are summed at a time. */
enum { WORD_LINES = 4 };

/* vector_ops.c, column_sums.c, strip_ops.c, word_lines.c and normals.c, for each instruction set: arguments. */
#define BLOCK_OPS(B)                                                                               \
    B(add, (double *target, const double *value, int64_t n, int store))                            \
    B(spread, (double *target, const double *line, int64_t n, int store))                          \
    B(scale, (double *target, const double *value, const double *factor, int64_t n, int store))    \
    B(spread_scaled,                                                                               \
      (double *target, const double *line, const double *factor, int64_t n, int store))            \
    B(weigh, (double *value, const double *factor, int64_t n))                                     \
    B(gram, (double *triangle, const double *const *columns, const int64_t *list, int64_t count,   \
             int64_t order, int64_t n))                                                            \
    B(cross, (double *triangle, const double *const *columns, const int64_t *a, int64_t n_a,       \
              const int64_t *b, int64_t n_b, int64_t order, int64_t n, int lines))                 \
    B(fold, (double *line, const double *value, int64_t n))                                        \
    B(chain, (double *out, double *half, const double *sums, const theta_column *columns,          \
              int64_t n, int64_t n_theta))                                                         \
    B(turn, (double *rows, int64_t stride, const double *value, int64_t n, int64_t n_lanes))       \
    B(interleave, (double *value, const double *rows, int64_t stride, int64_t n))                  \
    B(differ, (double *out, const double *rows, int64_t stride, const double *value, int64_t n))   \
    B(subtract, (double *out, const double *data, int64_t n))                                      \
    B(dot, (double *sum, const double *a, const double *b, int64_t n))                             \
    B(dots, (double *const *to, const double *a, const double *const *b, int64_t n_dots, int64_t n)) \
    B(add_line, (double *out, const double *line, double factor, int64_t n, int store))            \
    B(mix, (double *out, const double *lines, int64_t stride, const double *factors,               \
            int64_t n_lines, int64_t n))                                                           \
    B(add_lines, (double *out, const double *lines, int64_t stride, const double *factors,         \
                  int64_t n_lines, int64_t n))                                                     \
    B(strip, (const strip_data *from, double *square, int64_t n))                                  \
    B(words, (const char *bytes, int64_t n_lines, int64_t n_words, uint64_t *columns,              \
              uint64_t *totals, double *square))                                                   \
    B(normals, (double *restrict out, const double *restrict mean,                                 \
                const double *restrict deviation, int64_t n, uint64_t *state))                     \
    B(contract, (double *sums, int64_t stride, const double *factors, int64_t n_sums,              \
                 const double *rows, int64_t n_rows, int64_t n))

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

/* Whether a fed op of a sum of spectra is the sum of those of each. */
int pyspec_is_linear_in_spectrum(const op_row *op);

/* Rows whose traces are resolved at a time. */
enum { STRIP = PYSPEC_STRIP };

/* Sums over rows that are taken at a time; what holds them has a multiple of that. */
enum { CONTRACT_TILE = 4 };

/* Dot products with one vector that are asked for at a time. */
enum { MOST_DOTS = 6 };

/* Values of an expression stack that are computed at a time. */
enum { RPN_CHUNK = 64 };

/* Rows of scratch for a convolution. In this order: the weights, the sum of g w for each sample, the
 * result for the first signal, and a copy of it. Then g between neighbours for a sweep, with its
 * slope, and the masses beyond both ends. Then the slopes of sum and masses by each parameter. Last
 * are tables of g and its slopes by the number of steps between two samples, two rows each. */
enum {
    CONV_WEIGHTS,
    CONV_NORM,
    CONV_RESULT,
    CONV_COPY,
    CONV_DECAY,
    CONV_DECAY_SLOPE,
    CONV_LEFT,
    CONV_RIGHT,
    CONV_SLOPES
};

static inline int64_t convolve_rows(int64_t n_params)
{
    return CONV_SLOPES + 3 * n_params + 2 * (1 + n_params);
}

enum {
#define RPN(name, arity, symbol, value, by_a, by_b, by_c) RPN_##name,
#include "tables/rpn.def"
#undef RPN
    N_RPN
};
/* Most operands of an instruction. */
enum { MAX_ARITY = 3 };
int pyspec_rpn_arity(int64_t instruction);

#endif
