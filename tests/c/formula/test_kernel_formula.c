/* test_kernel_formula.c: convolution kernels that are formulas: what pyspec_check refuses of them, and that
 * one written as expSymCONV is gives what expSymCONV gives, whether its tail is given or integrated. */
#include "kernels/convolution.h"
#include "random/random_formula.h"
#include "support/refusals.h"

#include <string.h>

enum { LAW, CONVOLVE, GAUSS, MOVED = 3, N_THETA = 3, ROOM = 500, MOST_N = 150 };

/* A program over one parameter w: `n_value` instructions of the value, then those of its slope. */
static int64_t write_part(int64_t *words, int64_t at, const int64_t (*code)[FORMULA_WORDS],
                          int64_t n_value, int64_t n_code, double constant)
{
    const int64_t n = FORMULA_HEAD + 1 + n_code * FORMULA_WORDS;
    const int64_t head[FORMULA_HEAD] = {n, 1, 1, 2, 4, 0, 0, n_value, n_code, 0, FORMULA_SHORT};
    memcpy(words + at, head, sizeof head);
    memcpy(words + at + FORMULA_HEAD, &constant, sizeof constant);
    memcpy(words + at + FORMULA_HEAD + 1, code, (size_t)(n_code * FORMULA_WORDS) * sizeof *words);
    return at + n;
}

/* Registers: w, a constant, then x and three vectors, then value and slope. */
enum { W, CONSTANT, X_AT, U, V, T, VALUE, SLOPE };

/* exp(-|d| / w); with `declared` also its reach and its tail w exp(-d / w). */
static int64_t write_kernel(int64_t *words, int declared)
{
    static const int64_t shape[][FORMULA_WORDS] = {
        {RPN_ABS, U, X_AT, 0, 0},   {RPN_DIV, V, U, W, 0},      {RPN_NEG, T, V, 0, 0},
        {RPN_EXP, VALUE, T, 0, 0},  {RPN_MUL, U, VALUE, V, 0},  {RPN_DIV, SLOPE, U, W, 0}};
    static const int64_t reach[][FORMULA_WORDS] = {{RPN_MUL, VALUE, W, CONSTANT, 0},
                                                   {FORMULA_COPY, SLOPE, CONSTANT, 0, 0}};
    static const int64_t tail[][FORMULA_WORDS] = {
        {RPN_DIV, U, X_AT, W, 0},  {RPN_NEG, V, U, 0, 0},     {RPN_EXP, T, V, 0, 0},
        {RPN_MUL, VALUE, W, T, 0}, {RPN_MUL, V, U, T, 0},     {RPN_ADD, SLOPE, T, V, 0}};
    conv_formula f = {.n_words = CONV_HEAD};
    memset(words, 0, ROOM * sizeof *words);
    f.parts[CONV_SHAPE] = f.n_words;
    f.n_words = write_part(words, f.n_words, shape, 4, 6, 0.0);
    if (declared) {
        f.parts[CONV_REACH] = f.parts[CONV_REACH + 1] = f.n_words;
        f.n_words = write_part(words, f.n_words, reach, 1, 2, 60.0);
        f.parts[CONV_TAIL] = f.parts[CONV_TAIL + 1] = f.n_words;
        f.n_words = write_part(words, f.n_words, tail, 4, 6, 0.0);
    }
    memcpy(words, &f, sizeof f);
    return f.n_words;
}

static pyspec_plan *good_plan(void)
{
    plan_builder b;
    int64_t words[ROOM];
    const int64_t n = write_kernel(words, 1);
    start(&b, 2, N_THETA, 0, MOVED + 1, 1);
    add_call(&b, PYSPEC_STEP_LAW, OP_expFun, PYSPEC_FLAG_STORE, MOVED, ROWS_OF(0, 1, 1, -1));
    add_formula(&b, PYSPEC_STEP_CONVOLVE, 0, MOVED, ROWS_OF(2), (int)n, words);
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_Gauss, PYSPEC_FLAG_STORE, 0, ROWS_OF(MOVED, 0, 1));
    add_dependencies(&b);
    return finish(&b);
}

TEST(refuses_programs)
{
    int64_t words[ROOM];
    write_kernel(words, 1);
    const conv_formula *f = conv_formula_head(words);
    const int64_t shape = f->parts[CONV_SHAPE], tail = f->parts[CONV_TAIL];
    ACCEPT((void)0);
#define KERNEL_WORD (w + n[CONVOLVE].code)
#define BROKEN(edit, at) VALUE(edit, STATUS_PROGRAM, CONVOLVE, FIELD_pyspec_node_code, at)
    ACCEPT(KERNEL_WORD[2 + CONV_TAIL] = 0);
    ACCEPT(KERNEL_WORD[1] = 1);
    BROKEN(KERNEL_WORD[0]++, 0);
    BROKEN(KERNEL_WORD[0] = CONV_HEAD - 1, 0);
    BROKEN(n[CONVOLVE].n_code--, 0);
    BROKEN(n[CONVOLVE].n_code = CONV_HEAD - 1, 0);
    BROKEN(KERNEL_WORD[2 + CONV_SHAPE] = 0, 2 + CONV_SHAPE);
    BROKEN(KERNEL_WORD[2 + CONV_SHAPE] = -1, 2 + CONV_SHAPE);
    BROKEN(KERNEL_WORD[2 + CONV_TAIL] = CONV_HEAD - 1, 2 + CONV_TAIL);
    BROKEN(KERNEL_WORD[2 + CONV_TAIL + 1] = KERNEL_WORD[0], 2 + CONV_TAIL + 1);
    BROKEN(KERNEL_WORD[2 + CONV_REACH] = INT64_MAX, 2 + CONV_REACH);
    BROKEN(KERNEL_WORD[shape] = INT64_MAX, shape);
    BROKEN(KERNEL_WORD[tail + FORMULA_HEAD + 1] = RPN_CONST, tail + FORMULA_HEAD + 1);
    NODE(CONVOLVE, n_params = 0, PROGRAM, code);
    NODE(CONVOLVE, code = -1, OFFSET, code);
    NODE(CONVOLVE, op = PYSPEC_OP_SCHEME, OP, op);
    NODE(CONVOLVE, op = OP_expFun, OP, op);
}

TEST(random_kernels_are_sound)
{
    rng r = {5};
    int64_t words[MOST_KERNEL_WORDS], at;
    for (int k = 0; k < 2000; k++) {
        const int64_t n = random_kernel(&r, words, 2);
        int64_t *own = exact(n, sizeof *own);
        memcpy(own, words, (size_t)n * sizeof *own);
        CHECK(pyspec_conv_formula_is_sound(own, n, 2, &at));
        CHECK(conv_formula_registers(own) > 0);
        mutate_formula(&r, own, n);
        if (pyspec_conv_formula_is_sound(own, n, 2, &at))
            CHECK(conv_formula_registers(own) > 0);
        else
            CHECK(at >= -1 && at < n);
    }
}

/* Value and slope of a signal convolved, in memory without a byte to spare. */
static void run_alone(convolution c, double width, const double *y, double *value, double *slope)
{
    const int64_t stride = round_up(c.n, L) + L;
    double *signal = make_work(stride * (int64_t)sizeof *signal), *by[] = {slope};
    c.scratch = make_work(convolve_rows(1) * stride * (int64_t)sizeof *signal);
    c.stride = stride;
    c.params = &width;
    c.n_params = 1;
    memcpy(signal, y, (size_t)c.n * sizeof *y);
    pyspec_convolve(&c, &signal, 1, by);
    memcpy(value, signal, (size_t)c.n * sizeof *y);
    memcpy(signal, y, (size_t)c.n * sizeof *y);
    pyspec_convolve(&c, &signal, 1, NULL);
    CHECK(all_same(signal, value, c.n));
}

TEST(is_what_the_table_says)
{
    static const double widths[] = {1e-4, 0.03, 0.8, 40.0, 1e6};
    static const int64_t sizes[] = {1, 2, 9, MOST_N};
    int64_t words[ROOM];
    double t[MOST_N], y[MOST_N], value[2][MOST_N], slope[2][MOST_N];
    for (int64_t i = 0; i < MOST_N; i++) {
        t[i] = 0.1 * (double)i - 5.0 + (i > 90 ? 1e-3 * (double)((i - 90) * (i - 90)) : 0.0);
        y[i] = sin(0.3 * (double)i) + (i > 40 ? 2.0 : 0.0);
    }
    for (int isa = 0; isa < N_ISA; isa++)
        for (int k = 0; pyspec_isa_supported(isa) && k < 5; k++)
            for (int s = 0; s < 4; s++)
                for (int declared = 0; declared < 2; declared++) {
                    const int64_t n = sizes[s];
                    write_kernel(words, declared);
                    double *registers = make_work(conv_formula_registers(words) * 8);
                    const convolution row = {.op = &pyspec_op_table[OP_expSymCONV], .isa = isa,
                                             .n = n, .t = t};
                    const convolution own = {.isa = isa, .n = n, .t = t, .program = words,
                                             .registers = registers};
                    run_alone(row, widths[k], y, value[0], slope[0]);
                    run_alone(own, widths[k], y, value[1], slope[1]);
                    for (int64_t i = 0; i < n; i++) {
                        CHECK(fabs(value[0][i] - value[1][i]) <= 1e-12);
                        CHECK(fabs(slope[0][i] - slope[1][i]) * widths[k] <= 1e-12);
                    }
                }
}

/* A sixtieth power of two of the axis is less than any number. */
TEST(comes_to_an_end_on_the_shortest_axes)
{
    static const double lengths[] = {1e-300, 1e-305, 1e-310, 1e-320};
    int64_t words[ROOM];
    double t[9], y[9], value[2][9], slope[2][9];
    write_kernel(words, 0);
    double *registers = make_work(conv_formula_registers(words) * 8);
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 9; i++) {
            t[i] = lengths[k] * i;
            y[i] = i > 4 ? 1.0 : 0.0;
        }
        const convolution row = {.op = &pyspec_op_table[OP_expSymCONV], .n = 9, .t = t};
        const convolution own = {.n = 9, .t = t, .program = words, .registers = registers};
        run_alone(row, 0.8, y, value[0], slope[0]);
        run_alone(own, 0.8, y, value[1], slope[1]);
        for (int i = 0; i < 9; i++)
            CHECK(fabs(value[0][i] - value[1][i]) <= 1e-12);
    }
}

UNIT_MAIN
