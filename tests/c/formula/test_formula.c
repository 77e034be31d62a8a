/* test_formula.c: the checker and the machine of formulas. Random programs, most of them sound, and
 * mutations of them: what the checker accepts runs in memory of exactly the size it asks for. */
#include "support/plans.h"
#include "random/random_formula.h"
#include "support/unit.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = MOST_FORMULA_WORDS, N_PARAMS = 3 };

static rng state = {1};

static void test_random_programs(int64_t count)
{
    int64_t n_accepted = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t *program = zeros(ROOM, sizeof *program), at = -1;
        const int64_t n = random_formula(&state, program, N_PARAMS, (int)below(&state, 4), 0);
        const int mutated = below(&state, 2) == 0;
        CHECK(n <= ROOM);
        CHECK(pyspec_formula_is_sound(program, n, N_PARAMS, &at));
        for (int64_t k = mutated ? 1 + below(&state, 3) : 0; k > 0; k--)
            mutate_formula(&state, program, n);
        int64_t *own = exact(n, sizeof *own);
        memcpy(own, program, (size_t)n * sizeof *own);
        if (pyspec_formula_is_sound(own, n, N_PARAMS, &at)) {
            n_accepted++;
            int64_t isa = below(&state, N_ISA);
            isa = pyspec_isa_supported(isa) ? isa : PYSPEC_ISA_BASELINE;
            const int same = run_formula(&state, own, pyspec_formula_kernels[isa]);
            CHECK(same || mutated);
        } else {
            CHECK(at >= -1 && at < n);
        }
        free_owned(0);
    }
    CHECK(n_accepted * 2 > count);
}

/* Each of these makes a sound program unsound, and the word is named. */
TEST(test_refusals)
{
    int64_t program[ROOM], copy[ROOM], at;
    const int64_t n = random_formula(&state, program, N_PARAMS, 2, 0);
    const formula *f = formula_head(program);
    const int64_t code = formula_code(program) - program;
    const struct {
        int64_t word, value;
    } faults[] = {
        {0, n + 1},                                   /* longer than its room          */
        {1, N_PARAMS + 1},                            /* parameters of another node    */
        {2, -1},                                      /* a negative count              */
        {3, f->n_params - 1},                         /* no room for parameters        */
        {4, 0},                                       /* no register for the abscissa  */
        {4, 2},                                       /* nor for the second input      */
        {9, -1},                                      /* fewer inputs than none        */
        {9, PYSPEC_MAX_INPUTS + 1},                   /* more than there may be        */
        {5, f->n_row_code + 1},                       /* a prefix beyond the code      */
        {7, f->n_code + 1},
        {code, RPN_CONST},                            /* reads an operand of its own   */
        {code, RPN_W_RE},                             /* replaced by FORMULA_W         */
        {code, N_FORMULA_CODES},
        {code + 1, 0},                                /* writes a parameter            */
        {code + 1, -1},
        {code + 2, -1},                               /* reads before the registers    */
        {code + 2, MAX_REGISTERS},                    /* reads behind them             */
        {10, 48},                                     /* a chunk of no known size      */
        {code + 5, 1},                                /* a row takes nothing           */
        {n - FORMULA_WORDS + 5, 8},                   /* takes what there is not       */
        {n - FORMULA_WORDS + 5, FORMULA_PASSES},      /* a partial is not written      */
        {n - FORMULA_WORDS + 1, f->n_rows},           /* writes the abscissa           */
        {n - FORMULA_WORDS + 1, program[n - 2 * FORMULA_WORDS + 1]}, /* a partial lacks */
    };
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        memcpy(copy, program, sizeof copy);
        copy[faults[k].word] = faults[k].value;
        CHECK(!pyspec_formula_is_sound(copy, n, N_PARAMS, &at));
    }
    CHECK(!pyspec_formula_is_sound(program, FORMULA_HEAD - 1, N_PARAMS, &at));
}

/* A program of `n_params` parameters, `n_rows` and `n_vectors` registers, and no code but that of its
 * outputs: the value and every partial are the abscissa. */
static int64_t copies(int64_t *program, int64_t n_params, int64_t n_rows, int64_t n_vectors)
{
    const int64_t n_code = 1 + n_params, n = FORMULA_HEAD + n_code * FORMULA_WORDS;
    const int64_t head[FORMULA_HEAD] = {n, n_params, 0, n_rows, n_vectors, 0, 0, 1, n_code, 0, FORMULA_SHORT};
    memcpy(program, head, sizeof head);
    for (int64_t k = 0; k < n_code; k++) {
        const int64_t word[FORMULA_WORDS] = {FORMULA_COPY, n_rows + n_vectors + k, n_rows};
        memcpy(program + FORMULA_HEAD + k * FORMULA_WORDS, word, sizeof word);
    }
    return n;
}

/* Each count alone may be too large, and all together: the machine has one set of registers. */
TEST(test_too_many_registers)
{
    enum { MOST = FORMULA_HEAD + (MAX_PARAMS + 2) * FORMULA_WORDS };
    const struct {
        int64_t n_params, n_rows, n_vectors;
        int is_sound;
    } cases[] = {{2, 2, 1, 1},
                 {MAX_PARAMS, MAX_PARAMS, 1, 1},
                 {MAX_PARAMS + 1, MAX_PARAMS + 1, 1, 0},
                 {2, MAX_REGISTERS - 4, 1, 1},
                 {2, MAX_REGISTERS - 3, 1, 0},
                 {2, MAX_REGISTERS + 1, 1, 0},
                 {2, 2, MAX_REGISTERS - 5, 1},
                 {2, 2, MAX_REGISTERS - 4, 0},
                 {2, 2, MAX_REGISTERS + 1, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        int64_t program[MOST > MAX_REGISTERS + 8 ? MOST : MAX_REGISTERS + 8] = {0}, at;
        const int64_t n = copies(program, cases[k].n_params, cases[k].n_rows, cases[k].n_vectors);
        /* Counts are at most the room, of which the program need not use all. */
        const int64_t room = (int64_t)(sizeof program / sizeof *program);
        CHECK(n <= room);
        CHECK_INT(pyspec_formula_is_sound(program, room, cases[k].n_params, &at), cases[k].is_sound);
    }
}

/* Outputs are registers too: what was written there may be read, the value and the partials alike. */
TEST(test_outputs_are_read)
{
    int64_t program[ROOM], at;
    const int64_t n = copies(program, 2, 2, 1), first = FORMULA_HEAD;
    program[first + FORMULA_WORDS] = program[first + 2 * FORMULA_WORDS] = RPN_NEG;
    program[first + FORMULA_WORDS + 2] = 3;     /* the value         */
    program[first + 2 * FORMULA_WORDS + 2] = 4; /* the first partial */
    CHECK(pyspec_formula_is_sound(program, n, 2, &at));
    for (int isa = 0; isa < N_ISA; isa++) {
        enum { VECTORS = FORMULA_SHORT + 3 };
        double x[VECTORS * L], params[2 * L] = {0}, value[VECTORS * L], by[2][VECTORS * L];
        double registers[(2 + 3 * FORMULA_SHORT) * L + FORMULA_KEPT + 3 * FORMULA_READY], *const partials[] = {by[0], by[1]};
        for (int i = 0; i < VECTORS * L; i++)
            x[i] = 0.5 * i - 3.0;
        const pyspec_block b = {.n = VECTORS, .n_valid = VECTORS * L, .across = 1, .x = x,
                                .program = program, .registers = registers};
        if (!pyspec_isa_supported(isa))
            continue;
        CHECK(formula_registers(program) <= (int64_t)(sizeof registers / sizeof *registers));
        pyspec_formula_kernels[isa](&b, params, value, partials);
        for (int i = 0; i < VECTORS * L; i++)
            CHECK(value[i] == x[i] && by[0][i] == -x[i] && by[1][i] == x[i]);
    }
}

/* Rows of parameters in one call have the bits of a call each; all memory is of the size asked for. */
TEST(test_calls)
{
    enum { ROWS = L + 3, POINTS = 2 * L + 5, SIZE = ROWS * POINTS };
    for (int round = 0; round < 300; round++) {
        int64_t program[ROOM];
        const int64_t n = random_formula(&state, program, N_PARAMS, round % 4, 0);
        double inputs[3 * POINTS];
        const int64_t size = pyspec_formula_size(program, n);
        CHECK_INT(size, formula_registers(program) * (int64_t)sizeof(double));
        double *registers = exact(size, 1), x[POINTS], params[N_PARAMS * ROWS], one[N_PARAMS];
        double all[1 + N_PARAMS][SIZE], row[1 + N_PARAMS][POINTS], alone[SIZE];
        double *const all_to[N_PARAMS] = {all[1], NULL, all[3]};
        double *const row_to[N_PARAMS] = {row[1], NULL, row[3]};
        for (int i = 0; i < POINTS; i++)
            x[i] = random_number(&state);
        for (int i = 0; i < 3 * POINTS; i++)
            inputs[i] = random_number(&state);
        for (int i = 0; i < N_PARAMS * ROWS; i++)
            params[i] = random_number(&state);
        CHECK_INT(pyspec_formula(program, n, 0, ROWS, POINTS, x, params, inputs, registers, alone, NULL), STATUS_OK);
        CHECK_INT(pyspec_formula(program, n, 0, ROWS, POINTS, x, params, inputs, registers, all[0], all_to),
                  STATUS_OK);
        for (int r = 0; r < ROWS; r++) {
            for (int k = 0; k < N_PARAMS; k++)
                one[k] = params[k * ROWS + r];
            CHECK_INT(pyspec_formula(program, n, 0, 1, POINTS, x, one, inputs, registers, row[0], row_to), STATUS_OK);
            for (int i = 0; i < POINTS; i++)
                for (int k = 0; k <= N_PARAMS; k++)
                    CHECK(k == 2 || all_same(&all[k][r * POINTS + i], &row[k][i], 1));
        }
        CHECK(all_same(alone, all[0], SIZE));
    }
}

/* 2 * first input + second input, over a block with padding; the value of another abscissa changes none
 * of it, and without inputs such a program is refused. */
TEST(test_inputs)
{
    enum { POINTS = 2 * L + 3 };
    const formula f = {.n_words = FORMULA_HEAD + 1 + 2 * FORMULA_WORDS, .n_constants = 1, .n_rows = 1,
                       .n_vectors = 4, .n_value = 2, .n_code = 2, .n_inputs = 2,
                       .chunk = FORMULA_SHORT};
    int64_t program[FORMULA_HEAD + 1 + 2 * FORMULA_WORDS], at;
    const int64_t code[] = {RPN_MUL, 4, 0, 2, 0, FORMULA_PASSES, RPN_ADD, 5, 4, 3, 0, 1};
    memcpy(program, &f, sizeof f);
    program[FORMULA_HEAD] = bits_of(2.0);
    memcpy(program + FORMULA_HEAD + 1, code, sizeof code);
    CHECK(pyspec_formula_is_sound(program, f.n_words, 0, &at));
    program[FORMULA_HEAD + 2] = 3; /* writes to an input */
    CHECK(!pyspec_formula_is_sound(program, f.n_words, 0, &at));
    CHECK_INT(at, FORMULA_HEAD + 1);
    program[FORMULA_HEAD + 2] = 4;
    double *inputs = exact(2 * POINTS, sizeof *inputs), x[POINTS] = {0}, value[POINTS], none[1];
    double *registers = exact(pyspec_formula_size(program, f.n_words), 1);
    for (int i = 0; i < 2 * POINTS; i++)
        inputs[i] = random_number(&state);
    for (int64_t isa = 0; isa < N_ISA; isa++) {
        if (!pyspec_isa_supported(isa))
            continue;
        CHECK_INT(pyspec_formula(program, f.n_words, isa, 1, POINTS, x, none, inputs, registers, value, NULL),
                  STATUS_OK);
        for (int i = 0; i < POINTS; i++) {
            const double want = 2.0 * inputs[i] + inputs[POINTS + i];
            CHECK(all_same(&value[i], &want, 1));
        }
    }
    CHECK_INT(pyspec_formula(program, f.n_words, 0, 1, POINTS, x, none, NULL, registers, value, NULL),
              STATUS_NULL_POINTER);
}

TEST(test_calls_that_are_refused)
{
    int64_t program[ROOM];
    const int64_t n = random_formula(&state, program, N_PARAMS, 0, 0);
    const double x[2] = {0.0, 1.0}, params[N_PARAMS] = {1.0, 2.0, 3.0};
    double *registers = exact(pyspec_formula_size(program, n), 1), value[2];
    CHECK_INT(pyspec_formula(program, n, 0, 1, 2, x, params, NULL, registers, value, NULL), STATUS_OK);
    CHECK_INT(pyspec_formula(NULL, n, 0, 1, 2, x, params, NULL, registers, value, NULL), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_formula(program, n, 0, 1, 2, NULL, params, NULL, registers, value, NULL),
              STATUS_NULL_POINTER);
    CHECK_INT(pyspec_formula(program, n, 0, 1, 2, x, NULL, NULL, registers, value, NULL), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_formula(program, n, 0, 1, 2, x, params, NULL, NULL, value, NULL), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_formula(program, n, 0, 1, 2, x, params, NULL, registers, NULL, NULL), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_formula(program, n, -1, 1, 2, x, params, NULL, registers, value, NULL), STATUS_ISA);
    CHECK_INT(pyspec_formula(program, n, N_ISA, 1, 2, x, params, NULL, registers, value, NULL), STATUS_ISA);
    CHECK_INT(pyspec_formula(program, n, 0, 0, 2, x, params, NULL, registers, value, NULL), STATUS_SIZE);
    CHECK_INT(pyspec_formula(program, n, 0, 1, 0, x, params, NULL, registers, value, NULL), STATUS_SIZE);
    CHECK_INT(pyspec_formula(program, n - 1, 0, 1, 2, x, params, NULL, registers, value, NULL), STATUS_PROGRAM);
    CHECK_INT(pyspec_formula_size(NULL, n), -1);
    CHECK_INT(pyspec_formula_size(program, FORMULA_HEAD - 1), -1);
    CHECK_INT(pyspec_formula_size(program, n - 1), -1);
}

int main(int argc, char **argv)
{
    unit_test = "random programs";
    test_random_programs(argc > 1 ? atol(argv[1]) : 6000);
    return run_cases();
}
