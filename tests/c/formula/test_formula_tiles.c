/* test_formula_tiles.c: instructions that pass on what they leave, over tiles: what the checker refuses of
 * them, products of the chain rule in which a 0 meets an infinity, and registers that stay from block to
 * block. */
#include "random/random_formula.h"
#include "support/unit.h"

#include <fenv.h>
#include <stdlib.h>
#include <string.h>

enum { N_PARAMS = 2, ROOM = MOST_FORMULA_WORDS };

static rng state = {7};

/* Registers: the parameters A and B, a constant, then x and three vectors, then the value and both slopes. */
enum { A, B, CONSTANT, AXIS, U, V, W, VALUE, BY_A, BY_B };
enum { N_ROWS = AXIS, N_VECTORS = VALUE - AXIS };

static int64_t write_program(int64_t *program, const int64_t (*code)[FORMULA_WORDS], int64_t n_value,
                             int64_t n_code, double constant)
{
    const formula f = {.n_words = FORMULA_HEAD + 1 + n_code * FORMULA_WORDS,
                       .n_params = N_PARAMS,
                       .n_constants = 1,
                       .n_rows = N_ROWS,
                       .n_vectors = N_VECTORS,
                       .n_value = n_value,
                       .n_code = n_code,
                       .chunk = FORMULA_SHORT};
    memcpy(program, &f, sizeof f);
    memcpy(program + FORMULA_HEAD, &constant, sizeof constant);
    memcpy(program + FORMULA_HEAD + 1, code, (size_t)(n_code * FORMULA_WORDS) * sizeof *program);
    return f.n_words;
}

enum { PASS = FORMULA_PASSES, TWICE = FORMULA_TAKES_TWICE };

/* A exp(-(x - B)^2) and its slopes, each step passed on as far as it can be. */
static const int64_t gauss[][FORMULA_WORDS] = {
    {RPN_SUB, U, AXIS, B, 0, 0},
    {RPN_MUL, V, U, U, 0, PASS | TWICE},
    {RPN_NEG, W, V, 0, 0, PASS | 1},
    {RPN_EXP, V, W, 0, 0, 1},
    {RPN_MUL, VALUE, V, A, 0, 1},
    {FORMULA_COPY, BY_A, V, 0, 0, 0},
    {FORMULA_CHAIN3, BY_B, VALUE, U, CONSTANT, 0},
};

TEST(test_what_is_passed)
{
    int64_t program[ROOM], copy[ROOM], at;
    const int64_t n = write_program(program, gauss, 5, 7, 2.0), code = FORMULA_HEAD + 1;
    const struct {
        int64_t instruction, word, value;
    } faults[] = {
        {0, 5, 1},                /* takes from nothing                               */
        {1, 5, PASS | 1},         /* one of two, and the other was written: no fault  */
        {1, 5, 8},                /* what there is not                                */
        {1, 5, -1},
        {2, 5, PASS},             /* reads what was passed without taking it          */
        {2, 5, PASS | 2},         /* takes an operand that it lacks                   */
        {2, 0, RPN_SQRT},         /* does not run over tiles                          */
        {3, 5, 2},
        {3, 5, PASS | 1},         /* what is read twice is not written                */
        {4, 5, 2},                /* A is not what the one before has left            */
        {4, 5, PASS | 1},         /* the value is not written                         */
        {5, 5, 1},                /* takes from before the slopes                     */
        {6, 5, PASS},             /* a slope is not written                           */
        {0, 5, PASS},             /* read by more than the next one                   */
    };
    CHECK(pyspec_formula_is_sound(program, n, N_PARAMS, &at));
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        memcpy(copy, program, sizeof copy);
        copy[code + faults[k].instruction * FORMULA_WORDS + faults[k].word] = faults[k].value;
        CHECK_INT(pyspec_formula_is_sound(copy, n, N_PARAMS, &at), k == 1);
    }
}

/* Nothing comes from what is computed once for a row. */
TEST(test_what_a_row_leaves)
{
    enum { ROW, FIRST = ROW + 1, VALUE_AT };
    const formula f = {.n_words = FORMULA_HEAD + 1 + 2 * FORMULA_WORDS,
                       .n_constants = 1,
                       .n_rows = 2,
                       .n_vectors = 1,
                       .n_row_value = 1,
                       .n_row_code = 1,
                       .n_value = 1,
                       .n_code = 1,
                       .chunk = FORMULA_SHORT};
    int64_t program[FORMULA_HEAD + 1 + 2 * FORMULA_WORDS] = {0}, at;
    const int64_t code[] = {RPN_NEG, FIRST, ROW, 0, 0, 0, RPN_NEG, VALUE_AT + 1, FIRST, 0, 0, 0};
    memcpy(program, &f, sizeof f);
    memcpy(program + FORMULA_HEAD + 1, code, sizeof code);
    CHECK(pyspec_formula_is_sound(program, f.n_words, 0, &at));
    program[f.n_words - 1] = 1;
    CHECK(!pyspec_formula_is_sound(program, f.n_words, 0, &at));
    CHECK_INT(at, f.n_words - FORMULA_WORDS);
}

/* What a kernel is called with: blocks of any length, in memory of exactly the size. */
typedef struct call {
    double x[BLOCK], params[N_PARAMS * L], *memory, *value, *by[N_PARAMS];
    pyspec_block block;
} call;

static call start_call(const int64_t *program, int64_t n, double a, double b)
{
    call c = {.memory = exact(formula_registers(program), sizeof(double))};
    c.value = exact(n * L, sizeof(double));
    for (int k = 0; k < N_PARAMS; k++)
        c.by[k] = exact(n * L, sizeof(double));
    for (int l = 0; l < L; l++) {
        c.params[l] = a;
        c.params[L + l] = b + 0.1 * l;
    }
    for (int64_t i = 0; i < n; i++)
        c.x[i] = 0.1 * (double)i - 2.0;
    c.block = (pyspec_block){.n = n, .n_valid = n, .program = program, .registers = c.memory};
    return c;
}

static void run_call(call *c, int64_t isa, int again)
{
    c->block.x = c->x;
    c->block.again = again;
    pyspec_formula_kernels[isa](&c->block, c->params, c->value, c->by);
}

/* Whatever part of a block is a tile: the same bits, near those of the C library. */
TEST(test_lengths)
{
    int64_t program[ROOM];
    write_program(program, gauss, 5, 7, 2.0);
    for (int64_t isa = 0; isa < N_ISA; isa++) {
        if (!pyspec_isa_supported(isa))
            continue;
        call whole = start_call(program, BLOCK, 3.0, 0.5);
        run_call(&whole, isa, 0);
        for (int64_t n = 1; n <= BLOCK; n++) {
            call part = start_call(program, n, 3.0, 0.5);
            run_call(&part, isa, 0);
            CHECK(all_same(part.value, whole.value, n * L));
            for (int k = 0; k < N_PARAMS; k++)
                CHECK(all_same(part.by[k], whole.by[k], n * L));
        }
        for (int64_t i = 0; i < BLOCK * L; i++) {
            const double u = whole.x[i / L] - whole.params[L + i % L], e = exp(-u * u);
            CHECK(fabs(whole.value[i] - 3.0 * e) < 1e-15 * 3.0);
            CHECK(fabs(whole.by[0][i] - e) < 1e-15);
            CHECK(fabs(whole.by[1][i] - 6.0 * u * e) < 1e-14);
        }
    }
}

/* The slopes are A / (x - 1/4) times B, and the same plus A. B is 0 in lane 0, where the other factor may be
 * infinite or NaN: there CHAIN is 0, and no other lane knows. That an operation was invalid is the
 * caller's note, and stays. */
TEST(test_zero_and_infinity)
{
    static const int64_t code[][FORMULA_WORDS] = {
        {FORMULA_COPY, VALUE, AXIS, 0, 0, 0},
        {RPN_SUB, U, AXIS, CONSTANT, 0, PASS},
        {RPN_DIV, V, A, U, 0, 2},
        {RPN_CHAIN, BY_A, V, B, 0, 1},
        {FORMULA_CHAINADD, BY_B, V, B, A, 0},
    };
    int64_t program[ROOM], at;
    const int64_t n = write_program(program, code, 1, 5, 0.25);
    CHECK(pyspec_formula_is_sound(program, n, N_PARAMS, &at));
    for (int64_t isa = 0; isa < N_ISA; isa++)
        for (int noted = 0; noted < 2 && pyspec_isa_supported(isa); noted++) {
            call c = start_call(program, BLOCK, 2.0, 0.0);
            c.x[23] = 0.25; /* A / 0 there */
            feclearexcept(FE_ALL_EXCEPT);
            if (noted)
                feraiseexcept(FE_INVALID);
            const int was_noted = fetestexcept(FE_INVALID) != 0; /* valgrind notes nothing */
            run_call(&c, isa, 0);
            CHECK(!was_noted || fetestexcept(FE_INVALID));
            feclearexcept(FE_ALL_EXCEPT);
            for (int64_t i = 0; i < BLOCK * L; i++) {
                const double steep = 2.0 / (c.x[i / L] - 0.25), by = c.params[L + i % L];
                const double want = by == 0.0 ? 0.0 : steep * by;
                CHECK(c.by[0][i] == want);
                const double sum = want + 2.0, error = fabs(c.by[1][i] - sum);
                CHECK(isinf(sum) ? c.by[1][i] == sum : error <= 4e-16 * (fabs(want) + 2.0));
            }
            c.params[0] = (double)NAN;
            run_call(&c, isa, 0);
            CHECK(c.by[0][0] == 0.0 && c.by[0][1] == 2.0 / (c.x[0] - 0.25) * c.params[L + 1]);
        }
}

/* Registers that stay: other abscissae, or other outputs, at the same parameters. */
TEST(test_again)
{
    for (int round = 0; round < 300; round++) {
        int64_t program[ROOM];
        random_formula(&state, program, N_PARAMS, 0, 0);
        const int64_t isa = round % N_ISA;
        if (!pyspec_isa_supported(isa))
            continue;
        call kept = start_call(program, BLOCK, random_number(&state), random_number(&state));
        call fresh = start_call(program, BLOCK, kept.params[0], kept.params[L] - 0.0);
        memcpy(fresh.params, kept.params, sizeof kept.params);
        run_call(&kept, isa, 0);
        for (int next = 0; next < 3; next++) {
            double *const first = kept.by[0];
            for (int i = 0; i < BLOCK; i++)
                kept.x[i] = fresh.x[i] = random_number(&state);
            if (next == 2) {
                kept.by[0] = kept.by[1];
                kept.by[1] = first;
            }
            run_call(&kept, isa, 1);
            run_call(&fresh, isa, 0);
            CHECK(all_same(kept.value, fresh.value, BLOCK * L));
            for (int k = 0; k < N_PARAMS; k++)
                CHECK(all_same(kept.by[k], fresh.by[k], BLOCK * L));
        }
        free_owned(0);
    }
}

/* Any double, one with an exponent near 0, one just beside a power of two, or one at the ends. */
static double any_double(void)
{
    uint64_t bits = draw(&state);
    double number;
    if (chance(&state, 5))
        return hostile_double(&state);
    if (chance(&state, 50))
        bits = (bits & 0x800fffffffffffffu) | ((uint64_t)(1023 - 8 + below(&state, 16)) << 52);
    if (chance(&state, 20))
        bits = (bits & 0x7ff0000000000000u) + (uint64_t)below(&state, 9) - 4;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* a and b with a / b as near as can be to the middle of two doubles. */
static void almost_a_tie(double *a, double *b)
{
    for (;;) {
        const uint64_t odd = (draw(&state) >> 12) | (UINT64_C(1) << 52) | 1, all = (UINT64_C(1) << 54) - 1;
        uint64_t inverse = odd; /* modulo 2^64 */
        for (int k = 0; k < 6; k++)
            inverse *= 2 - odd * inverse;
        const int above = chance(&state, 50);
        const uint64_t middle = (above ? 0 - inverse : inverse) & all;
        /* odd * middle is 2^54 times an integer, but for 1 */
        const uint64_t high = (odd >> 27) * (middle >> 27), cross = (odd >> 27) * (middle & 0x7ffffff);
        const uint64_t also = (odd & 0x7ffffff) * (middle >> 27);
        const uint64_t low = (odd & 0x7ffffff) * (middle & 0x7ffffff);
        const uint64_t rest = ((cross & 0x7ffffff) << 27) + ((also & 0x7ffffff) << 27) + low;
        const uint64_t product = high + (cross >> 27) + (also >> 27) + (rest >> 54) + (above ? 1 : 0);
        if (middle >> 53 && product >> 51 && !(product >> 53)) {
            *a = (double)product;
            *b = (double)odd;
            return;
        }
    }
}

/* Whether a quotient is the one that C knows, or as near to a / b; of the smallest a, within an ulp. */
static int is_quotient(double found, double a, double b)
{
    const double expected = a / b;
    if (found == expected || (found != found && expected != expected))
        return signbit(found) == signbit(expected) || found != found;
    if (fabs(a) < 0x1p-960)
        return found == nextafter(expected, found);
    return fabs(fma(-found, b, a)) <= fabs(fma(-expected, b, a)) * (1.0 + 1e-15);
}

TEST(test_quotients)
{
    static const int64_t divide[][FORMULA_WORDS] = {{RPN_DIV, U, A, AXIS, 0, 0},
                                                    {FORMULA_COPY, VALUE, U, 0, 0, 1},
                                                    {FORMULA_COPY, BY_A, U, 0, 0, 0},
                                                    {FORMULA_COPY, BY_B, U, 0, 0, 0}};
    int64_t program[ROOM];
    write_program(program, divide, 2, 4, 2.0);
    for (int64_t isa = 0; isa < N_ISA; isa++) {
        if (!pyspec_isa_supported(isa))
            continue;
        call c = start_call(program, BLOCK, 0.0, 0.0);
        for (int round = 0; round < 2000; round++) {
            for (int l = 0; l < L; l++)
                c.params[l] = any_double();
            for (int64_t i = 0; i < BLOCK; i++)
                c.x[i] = any_double();
            for (int l = 0; round % 2 && l < L; l++)
                almost_a_tie(&c.params[l], &c.x[round % 10 * L + l]);
            run_call(&c, isa, 0);
            for (int64_t i = 0; i < BLOCK * L; i++)
                CHECK(is_quotient(c.value[i], c.params[i % L], c.x[i / L]));
        }
    }
}

UNIT_MAIN
