/* rpn.c: the stack machine of expressions, RPN_CHUNK rows at a time. The order of operations is
 * the formula's own and nothing is contracted. */
#include "formula/rpn_functions.h"
#include "math/faddeeva.h"
#include "walk/run.h"

double erfcx(double a)
{
    return v_erfcx(a);
}

static w_lanes wofz_at(double x, double y)
{
    double xs[L], ys[L];
    w_lanes w;
    w_heights heights;
    fill(xs, x, L);
    fill(ys, y, L);
    w_raise(ys, &heights);
    w_anywhere(xs, &heights, 1, &w);
    return w;
}

double wofz_real(double x, double y)
{
    return wofz_at(x, y).v[0];
}

double wofz_imag(double x, double y)
{
    return wofz_at(x, y).im[0];
}

double wofz_real_x(double x, double y)
{
    return wofz_at(x, y).dx[0];
}

double wofz_real_y(double x, double y)
{
    return wofz_at(x, y).dy[0];
}

int pyspec_rpn_arity(int64_t instruction)
{
    static const int arity[N_RPN] = {
#define RPN(name, arity, symbol, value, by_a, by_b, by_c) arity,
#include "tables/rpn.def"
#undef RPN
    };
    return instruction >= 0 && instruction < N_RPN ? arity[instruction] : -1;
}

/* One arithmetic instruction on the top of the stack, where its last operand is. The partials go to
 * to[0 ... arity - 1], unless NULL. */
static void apply(int64_t instruction, double *top, int64_t n, double *const to[MAX_ARITY])
{
    double *below = top - RPN_CHUNK, *lowest = below - RPN_CHUNK;
    switch (instruction) {
#define APPLY_0(value, by_a, by_b, by_c)
#define APPLY_1(value, by_a, by_b, by_c)                                                           \
    for (int64_t i = 0; i < n; i++) {                                                              \
        const double a = top[i], v = (value);                                                      \
        if (to[0])                                                                                 \
            to[0][i] = (by_a);                                                                     \
        top[i] = v;                                                                                \
    }
#define APPLY_2(value, by_a, by_b, by_c)                                                           \
    for (int64_t i = 0; i < n; i++) {                                                              \
        const double a = below[i], b = top[i], v = (value);                                        \
        if (to[0])                                                                                 \
            to[0][i] = (by_a);                                                                     \
        if (to[1])                                                                                 \
            to[1][i] = (by_b);                                                                     \
        below[i] = v;                                                                              \
    }
#define APPLY_3(value, by_a, by_b, by_c)                                                           \
    for (int64_t i = 0; i < n; i++) {                                                              \
        const double a = lowest[i], b = below[i], c = top[i], v = (value);                         \
        if (to[0])                                                                                 \
            to[0][i] = (by_a);                                                                     \
        if (to[1])                                                                                 \
            to[1][i] = (by_b);                                                                     \
        if (to[2])                                                                                 \
            to[2][i] = (by_c);                                                                     \
        lowest[i] = v;                                                                             \
    }
#define RPN(name, arity, symbol, value, by_a, by_b, by_c)                                          \
    case RPN_##name:                                                                               \
        APPLY_##arity(value, by_a, by_b, by_c) break;
#include "tables/rpn.def"
#undef RPN
    default:
        break;
    }
}

/* The derivative of the value by what instruction k pushes. */
static double *derivative(const run *r, int64_t k)
{
    return r->work.derivatives + k * RPN_CHUNK;
}

/* Where the partial by the value of instruction k goes; a constant needs none. */
static double *partial_by(const run *r, const int64_t *code, int64_t k)
{
    return code[2 * k] == RPN_CONST ? NULL : derivative(r, k);
}

/* The chain rule from the last instruction to the first. Every instruction but the last is an
 * operand of exactly one later instruction. Its derivative is its partial there times the
 * derivative of the later instruction. */
static void chain(const run *r, const pyspec_node *node, const int64_t *sources, int64_t n)
{
    const int64_t *code = r->words + node->code;
    fill(derivative(r, node->n_code - 1), 1.0, n);
    for (int64_t k = node->n_code - 1; k > 0; k--) {
        const int arity = pyspec_rpn_arity(code[2 * k]);
        const double *outer = derivative(r, k);
        for (int operand = 0; operand < arity; operand++) {
            double *inner = partial_by(r, code, sources[MAX_ARITY * k + operand]);
            for (int64_t i = 0; inner && i < n; i++)
                inner[i] = chain_product(inner[i], outer[i]);
        }
    }
}

const double *pyspec_run_program(const run *r, const pyspec_node *node, int64_t aux, int64_t begin,
                                 int64_t n, double *value, int slopes)
{
    const int64_t *code = r->words + node->code;
    /* The instruction that each value of the stack comes from, and each operand. */
    int64_t *source = (int64_t *)(void *)r->work.sources;
    int64_t *operands = source + r->plan->stack_depth;
    double *top = r->work.stack - RPN_CHUNK;
    for (int64_t k = 0, depth = 0; k < node->n_code; k++) {
        const int64_t instruction = code[2 * k], operand = code[2 * k + 1];
        const int arity = pyspec_rpn_arity(instruction);
        depth -= arity;
        if (instruction == RPN_CONST) {
            double constant;
            memcpy(&constant, &operand, sizeof constant);
            fill(top += RPN_CHUNK, constant, n);
        } else if (instruction == RPN_PARAM) {
            const trace *from = trace_of(r, operand, aux);
            copy_values(top += RPN_CHUNK, from->value, from->moves, begin, n);
        } else if (slopes) {
            double *partials[MAX_ARITY] = {NULL};
            for (int i = 0; i < arity; i++) {
                operands[MAX_ARITY * k + i] = source[depth + i];
                partials[i] = partial_by(r, code, source[depth + i]);
            }
            apply(instruction, top, n, partials);
            top -= (arity - 1) * RPN_CHUNK;
        } else {
            double *const none[MAX_ARITY] = {NULL};
            apply(instruction, top, n, none);
            top -= (arity - 1) * RPN_CHUNK;
        }
        if (slopes)
            source[depth] = k;
        depth++;
    }
    memcpy(value, top, (size_t)n * sizeof *value);
    if (!slopes)
        return NULL;
    chain(r, node, operands, n);
    return r->work.derivatives;
}
