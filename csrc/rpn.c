/* rpn.c: the stack machine of expressions, chunk by chunk over the rows. The order of
 * operations is the formula's own and nothing is contracted. */
#include "run.h"

int pyspec_rpn_arity(int64_t instruction)
{
    static const int arity[N_RPN] = {
#define RPN(name, arity, symbol, value, slope) arity,
#include "rpn.def"
#undef RPN
    };
    return instruction >= 0 && instruction < N_RPN ? arity[instruction] : -1;
}

/* One arithmetic instruction on the top of the stack: b is the topmost operand, except for
 * instructions of one operand, where that is a. */
static void apply(int64_t instruction, double *top, int64_t n)
{
    double *below = top - RPN_CHUNK;
    switch (instruction) {
#define APPLY_0(value)
#define APPLY_1(value)                                                                             \
    for (int64_t i = 0; i < n; i++) {                                                              \
        double a = top[i];                                                                         \
        top[i] = (value);                                                                          \
    }
#define APPLY_2(value)                                                                             \
    for (int64_t i = 0; i < n; i++) {                                                              \
        double a = below[i], b = top[i];                                                           \
        below[i] = (value);                                                                        \
    }
#define RPN(name, arity, symbol, value, slope)                                                            \
    case RPN_##name:                                                                               \
        APPLY_##arity(value) break;
#include "rpn.def"
#undef RPN
    default:
        break;
    }
}

void pyspec_run_program(const int64_t *code, int64_t n_code, const run *r, int64_t aux,
                        int64_t n_rows, double *out)
{
    double *stack = r->work.stack;
    for (int64_t begin = 0; begin < n_rows; begin += RPN_CHUNK) {
        int64_t n = n_rows - begin < RPN_CHUNK ? n_rows - begin : RPN_CHUNK;
        double *top = stack - RPN_CHUNK;
        for (int64_t k = 0; k < n_code; k++) {
            int64_t instruction = code[2 * k], operand = code[2 * k + 1];
            if (instruction == RPN_CONST) {
                double constant;
                memcpy(&constant, &operand, sizeof constant);
                top += RPN_CHUNK;
                for (int64_t i = 0; i < n; i++)
                    top[i] = constant;
            } else if (instruction == RPN_PARAM) {
                top += RPN_CHUNK;
                memcpy(top, trace_row(r, operand, aux) + begin, (size_t)n * sizeof *top);
            } else {
                apply(instruction, top, n);
                top -= (pyspec_rpn_arity(instruction) - 1) * RPN_CHUNK;
            }
        }
        memcpy(out + begin, top, (size_t)n * sizeof *top);
    }
}

#define SLOPE(factor, change) ((change) == 0.0 ? 0.0 : times_change(factor, change))

/* apply() for values and slopes together. */
static void apply_slope(int64_t instruction, double *top, double *slope, int64_t n)
{
    double *below = top - RPN_CHUNK, *slope_below = slope - RPN_CHUNK;
    switch (instruction) {
#define SLOPE_0(value, slope_of)
#define SLOPE_1(value, slope_of)                                                                   \
    for (int64_t i = 0; i < n; i++) {                                                              \
        double a = top[i], da = slope[i], v = (value);                                             \
        top[i] = v;                                                                                \
        slope[i] = (slope_of);                                                                     \
    }
#define SLOPE_2(value, slope_of)                                                                   \
    for (int64_t i = 0; i < n; i++) {                                                              \
        double a = below[i], b = top[i], da = slope_below[i], db = slope[i], v = (value);          \
        below[i] = v;                                                                              \
        slope_below[i] = (slope_of);                                                               \
    }
#define RPN(name, arity, symbol, value, slope)                                                     \
    case RPN_##name:                                                                               \
        SLOPE_##arity(value, slope) break;
#include "rpn.def"
#undef RPN
    default:
        break;
    }
}

void pyspec_run_program_slope(const int64_t *code, int64_t n_code, const run *r, int64_t aux,
                              int64_t theta, int64_t n_rows, double *out)
{
    double *stack = r->work.stack, *slopes = r->work.slopes;
    for (int64_t begin = 0; begin < n_rows; begin += RPN_CHUNK) {
        int64_t n = n_rows - begin < RPN_CHUNK ? n_rows - begin : RPN_CHUNK;
        double *top = stack - RPN_CHUNK, *slope = slopes - RPN_CHUNK;
        for (int64_t k = 0; k < n_code; k++) {
            int64_t instruction = code[2 * k], operand = code[2 * k + 1];
            if (instruction == RPN_CONST || instruction == RPN_PARAM) {
                double constant;
                memcpy(&constant, &operand, sizeof constant);
                const double *change = NULL;
                top += RPN_CHUNK;
                slope += RPN_CHUNK;
                if (instruction == RPN_CONST) {
                    fill(top, constant, n);
                } else {
                    memcpy(top, trace_row(r, operand, aux) + begin, (size_t)n * sizeof *top);
                    change = pyspec_slope_row(r, operand, aux, theta);
                }
                if (change)
                    memcpy(slope, change + begin, (size_t)n * sizeof *slope);
                else
                    fill(slope, 0.0, n);
            } else {
                int64_t drop = (pyspec_rpn_arity(instruction) - 1) * RPN_CHUNK;
                apply_slope(instruction, top, slope, n);
                top -= drop;
                slope -= drop;
            }
        }
        memcpy(out + begin, slope, (size_t)n * sizeof *slope);
    }
}
