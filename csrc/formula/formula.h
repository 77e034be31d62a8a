/* formula.h: a function that a user wrote as a formula, as the library runs it: a program over
 * registers, in 64-bit words of the plan. The words are, in this order:
 *
 *   - head: FORMULA_HEAD words, see `formula`.
 *   - constants: n_constants words, the bits of doubles.
 *   - code: n_row_code + n_code instructions of FORMULA_WORDS words.
 *
 * An instruction holds its operation, its target, its operands a, b, c (missing ones are 0), and a last
 * word. The last word tells which results pass from one instruction to the next. The operation is a row
 * of rpn.def or fused.def, or one of those below.
 *
 * Registers are numbered through. The first n_rows registers hold one value for each lane: parameters,
 * then constants, then values that follow from these. The first part of the code computes the latter
 * once for a block. The next n_vectors registers hold a chunk, `chunk` vectors of lanes. The first of
 * them is the abscissa. The next n_inputs are further arrays along its axis, which the problem holds.
 * Last are the value and the partials themselves, in the order of the parameters. The second part of
 * the code runs over chunks.
 *
 * In both parts the instructions for the value come first. Only these run without partials: the bits of
 * the value do not depend on whether slopes are wanted. They may use the registers of partials: spare
 * registers take their place in a run without partials. */
#ifndef PYSPEC_FORMULA_H
#define PYSPEC_FORMULA_H

#include "isa/kernel.h"

enum {
    FORMULA_HEAD = PYSPEC_FORMULA_HEAD,
    FORMULA_WORDS = 6,
    FORMULA_READY = L, /* doubles that an instruction takes whose registers were looked up */
    FORMULA_KEPT = (MAX_PARAMS + 2 + L - 1) / L * L, /* doubles of what else stays from block to block */
    FORMULA_SHORT = PYSPEC_FORMULA_SHORT,
    FORMULA_LONG = PYSPEC_FORMULA_LONG,
    MAX_REGISTERS = PYSPEC_FORMULA_REGISTERS
};

/* Some instructions have several targets, which lie behind one another from `target` on. W is the
 * Faddeeva function: Re w, Im w and the slopes of the real part by x and y. SINCOS is both. */
enum {
    FORMULA_W = N_RPN,
    FORMULA_COPY,
    FORMULA_SINCOS,
#define FUSED(name, arity, value) FORMULA_##name,
#include "tables/fused.def"
#undef FUSED
    N_FORMULA_CODES
};
enum { FORMULA_W_TARGETS = 4 };

_Static_assert(FORMULA_READY % L == 0 && FORMULA_KEPT % L == 0, "what lies behind them stays aligned");

/* Kinds of instructions that run in turn over a few vectors before the next vectors begin. Results
 * then pass on in registers of the processor. Sorted by number of operands. */
#define FORMULA_TILED_1(X) X(RPN_NEG) X(RPN_EXP) X(RPN_ABS) X(FORMULA_COPY)
#define FORMULA_TILED_2(X)                                                                         \
    X(RPN_ADD) X(RPN_SUB) X(RPN_MUL) X(RPN_DIV) X(RPN_MIN) X(RPN_MAX)                              \
    X(RPN_LT) X(RPN_LE) X(RPN_GT) X(RPN_GE) X(RPN_EQ) X(RPN_NE) X(RPN_CHAIN)
#define FORMULA_TILED_3(X)                                                                         \
    X(RPN_WHERE) X(FORMULA_MULADD) X(FORMULA_MULSUB) X(FORMULA_SUBMUL) X(FORMULA_MUL3)             \
    X(FORMULA_CHAIN3) X(FORMULA_CHAINADD) X(FORMULA_POWEXP)
#define FORMULA_TILED(X) FORMULA_TILED_1(X) FORMULA_TILED_2(X) FORMULA_TILED_3(X)

/* The last word of such an instruction. It tells which operand is the result of the instruction before: 1
 * for a, 2 for b, 3 for c, and FORMULA_TAKES_TWICE for both factors of a product. It also tells whether
 * only the next instruction reads the result. */
enum { FORMULA_TAKES = 3, FORMULA_TAKES_TWICE = 3, FORMULA_PASSES = 4 };

static inline int formula_targets(int64_t code)
{
    return code == FORMULA_W ? FORMULA_W_TARGETS : code == FORMULA_SINCOS ? 2 : 1;
}

static inline int formula_is_tiled(int64_t code)
{
    static const unsigned char tiled[N_FORMULA_CODES] = {
#define TILED(code) [code] = 1,
        FORMULA_TILED(TILED)
#undef TILED
    };
    return tiled[code];
}

typedef struct formula {
    int64_t n_words;     /* of the whole program                                 */
    int64_t n_params;
    int64_t n_constants;
    int64_t n_rows;      /* registers of one value for each lane                  */
    int64_t n_vectors;   /* registers of a chunk                                 */
    int64_t n_row_value; /* instructions over rows that the value needs           */
    int64_t n_row_code;  /* instructions over rows                                */
    int64_t n_value;     /* instructions over chunks that the value needs         */
    int64_t n_code;      /* instructions over chunks                              */
    int64_t n_inputs;    /* arrays that are read besides the abscissae            */
    int64_t chunk;       /* vectors that a chunk holds: FORMULA_SHORT so that registers stay in the
                          * first cache, or FORMULA_LONG where an instruction has much to prepare */
} formula;

static inline const formula *formula_head(const int64_t *program)
{
    return (const formula *)(const void *)program;
}

static inline const int64_t *formula_constants(const int64_t *program)
{
    return program + FORMULA_HEAD;
}

static inline const int64_t *formula_code(const int64_t *program)
{
    return program + FORMULA_HEAD + formula_head(program)->n_constants;
}

/* Doubles that the registers of a program need. */
static inline int64_t formula_registers(const int64_t *program)
{
    const formula *f = formula_head(program);
    const int64_t n_vectors = f->n_vectors + f->n_params;
    return (f->n_rows + n_vectors * f->chunk) * L + FORMULA_KEPT + f->n_code * FORMULA_READY;
}

/* The head of a kernel by formula, see convolution.h. The parts are offsets of programs from its first
 * word, 0 for one that was not given. */
enum { CONV_SHAPE, CONV_REACH, CONV_TAIL = CONV_REACH + 2, CONV_PARTS = CONV_TAIL + 2 };
enum { CONV_HEAD = PYSPEC_KERNEL_HEAD };

typedef struct conv_formula {
    int64_t n_words; /* of all                                                   */
    int64_t jumps;   /* bit k: parameter k moves a jump, by it there is no slope */
    int64_t parts[CONV_PARTS];
} conv_formula;

static inline const conv_formula *conv_formula_head(const int64_t *words)
{
    return (const conv_formula *)(const void *)words;
}

static inline const int64_t *conv_formula_part(const int64_t *words, int part)
{
    const int64_t at = conv_formula_head(words)->parts[part];
    return at ? words + at : NULL;
}

/* Doubles that the registers of all its programs need. */
static inline int64_t conv_formula_registers(const int64_t *words)
{
    int64_t most = 0;
    for (int k = 0; k < CONV_PARTS; k++) {
        const int64_t *part = conv_formula_part(words, k);
        const int64_t n = part ? formula_registers(part) : 0;
        most = n > most ? n : most;
    }
    return most;
}

/* formula_check.c: how many operands an instruction has. */
int pyspec_formula_arity(int64_t code);

/* formula_check.c: whether these words are a kernel with n_params parameters. */
int pyspec_conv_formula_is_sound(const int64_t *words, int64_t room, int64_t n_params, int64_t *at);

/* formula_check.c: whether a program of at most `room` words, with n_params parameters, stays inside
 * of its registers and reads only what it has written. Of a fault, `at` is the word. */
int pyspec_formula_is_sound(const int64_t *program, int64_t room, int64_t n_params, int64_t *at);

/* formula.c: runs a checked program, which the block names. */
pyspec_kernel k_formula, k_formula_avx2, k_formula_avx512;

/* describe.c: its builds. */
extern pyspec_kernel *const pyspec_formula_kernels[N_ISA];

#endif
