/* test_scheme.c: programs of kinetic schemes. What the check refuses, word by word; populations
 * against the rate equations, solved in small steps; slopes against differences; and that whatever
 * the check accepts runs within its memory (with the sanitizers). */
#include "kinetics/scheme_laws.h"

TEST(test_heads)
{
    for (int64_t under = 0; under < 2; under++) {
        const program p = branched(0, under);
        int64_t at = -1;
        const int64_t n = p.words[0], n_params = p.words[1];
        CHECK(is_sound(p.words, n, n_params, &at));
        CHECK(is_sound(p.words, n + 1, n_params, &at));
        CHECK(!is_sound(p.words, n - 1, n_params, &at));
        CHECK_INT(at, 0);
        CHECK(!is_sound(p.words, SCHEME_HEAD - 1, n_params, &at));
        CHECK(!is_sound(p.words, n, n_params + 1, &at));
        CHECK(!is_sound(p.words, n, n_params - 1, &at));
        for (int64_t k = 0; k < SCHEME_HEAD; k++) {
            CHECK(k == 3 || refused_at(p, k, -1) == 0);
            CHECK_INT(refused_at(p, k, k == 0 ? n + 1 : p.words[k] + 9), 0);
        }
        CHECK_INT(refused_at(p, 0, n - 1), 0);
        CHECK_INT(refused_at(p, 0, SCHEME_HEAD - 1), 0);
        CHECK_INT(refused_at(p, 3, -1), 0);
        CHECK_INT(refused_at(p, 3, 0), -1);
        CHECK_INT(refused_at(p, 3, 2), -1);
        CHECK_INT(refused_at(p, 3, 3), 0);
        CHECK_INT(refused_at(p, 4, 2), 0);
    }
}

TEST(test_bodies)
{
    enum { STEP = SCHEME_HEAD, START = STEP + 15, SIZES = START + 6 };
    for (int64_t under = 0; under < 2; under++) {
        const program p = branched(0, under);
        /* from, to, rate */
        CHECK_INT(refused_at(p, STEP, -1), STEP);
        CHECK_INT(refused_at(p, STEP, 3), STEP);
        CHECK_INT(refused_at(p, STEP, 2), -1);
        CHECK_INT(refused_at(p, STEP, 1), STEP); /* to itself */
        CHECK_INT(refused_at(p, STEP + 7, -2), STEP + 6);
        CHECK_INT(refused_at(p, STEP + 7, -1), -1);
        CHECK_INT(refused_at(p, STEP + 7, 0), -1);
        CHECK_INT(refused_at(p, STEP + 7, 3), STEP + 6);
        for (int64_t k = 0; k < 5; k++) {
            CHECK_INT(refused_at(p, STEP + 3 * k + 2, 0), STEP + 3 * k);
            CHECK_INT(refused_at(p, STEP + 3 * k + 2, 1), -1);
            CHECK_INT(refused_at(p, STEP + 3 * k + 2, 4), -1);
            CHECK_INT(refused_at(p, STEP + 3 * k + 2, 5), STEP + 3 * k); /* the onset */
        }
        /* state, parameter, number */
        CHECK_INT(refused_at(p, START, -1), START);
        CHECK_INT(refused_at(p, START, 2), -1);
        CHECK_INT(refused_at(p, START + 3, 3), START + 3);
        CHECK_INT(refused_at(p, START + 1, -2), START);
        CHECK_INT(refused_at(p, START + 1, -1), -1);
        CHECK_INT(refused_at(p, START + 1, 0), START);
        CHECK_INT(refused_at(p, START + 1, 1), -1);
        CHECK_INT(refused_at(p, START + 4, 5), START + 3);
        CHECK_INT(refused_at(p, START + 5, bits_of(NAN)), -1);
        /* lengths of blocks */
        CHECK_INT(refused_at(p, SIZES, 0), SIZES);
        CHECK_INT(refused_at(p, SIZES, 4), SIZES);
        CHECK_INT(refused_at(p, SIZES, 3), SIZES + 1); /* four states in all */
        CHECK_INT(refused_at(p, SIZES + 1, 2), SIZES + 1);
        CHECK_INT(refused_at(p, SIZES + 1, 4), SIZES + 1);
    }
}

/* One state more than there may be, and no more steps, starts and blocks than there may be. */
TEST(test_most)
{
    for (int64_t n = 1; n <= MAX_STATES + 1; n++) {
        for (int64_t n_steps = MAX_STEPS - 1; n_steps <= MAX_STEPS + 1; n_steps++) {
            const int64_t n_starts = n < MAX_STATES ? n : MAX_STATES;
            int64_t words[WORDS * 4] = {0, 3, n, n - 1, 0, n > 1 ? n_steps : 0, n_starts, n}, at;
            int64_t *word = words + SCHEME_HEAD;
            for (int64_t k = 0; k < words[5]; k++, word += 3)
                word[0] = k % (n - 1), word[1] = n - 1, word[2] = 1;
            for (int64_t k = 0; k < n_starts; k++, word += 3)
                word[0] = k, word[1] = -1;
            for (int64_t k = 0; k < n; k++)
                *word++ = 1;
            words[0] = word - words;
            CHECK_INT(pyspec_scheme_is_sound(words, words[0], 3, &at),
                      n <= MAX_STATES && words[5] <= MAX_STEPS);
        }
    }
    /* One state, no step: height and onset alone, or MAX_PARAMS. */
    for (int64_t under = 0; under < 2; under++)
        for (int64_t n_params = 0; n_params < MAX_PARAMS + 3; n_params++) {
            int64_t words[] = {SCHEME_HEAD + 1, n_params, 1, 0, under, 0, 0, 1, 1}, at;
            CHECK_INT(pyspec_scheme_is_sound(words, 9, n_params, &at),
                      n_params >= 2 + under && n_params <= MAX_PARAMS);
        }
    int64_t blocks[] = {SCHEME_HEAD + 2, 2, 1, 0, 0, 0, 0, 2, 1, 1}, which = -1;
    CHECK(!pyspec_scheme_is_sound(blocks, 10, 2, &which)); /* more blocks than states */
    CHECK_INT(which, 0);
    int64_t many[SCHEME_HEAD + 3 * 9 + 1] = {SCHEME_HEAD + 3 * 9 + 1, 2, 1, 0, 0, 0, 9, 1}, at;
    for (int64_t k = 0; k < 9; k++)
        many[SCHEME_HEAD + 3 * k + 1] = -1;
    many[SCHEME_HEAD + 27] = 1;
    CHECK(!pyspec_scheme_is_sound(many, many[0], 2, &at)); /* nine starts */
    CHECK_INT(at, 0);
    many[0] -= 3, many[6] -= 1;
    many[SCHEME_HEAD + 24] = 1;
    CHECK(pyspec_scheme_is_sound(many, many[0], 2, &at));
}

/* ---- populations ------------------------------------------------------------------------------- */

TEST(test_populations)
{
    double times[TIMES], value[TIMES];
    times_from(-0.5, 0.4, times);
    for (int64_t target = 0; target < 3; target++) {
        const program p = branched(target, 0);
        CHECK_INT(run_program(&p, p.words[0], times, value, NULL), STATUS_OK);
        check_populations(&p, times, value);
    }
}

TEST(test_instrument)
{
    for (int64_t target = 0; target < 3; target++) {
        const program p = branched(target, 1);
        check_instrument(&p, 1e-6);
    }
}

TEST(test_slopes)
{
    double times[TIMES], value[TIMES];
    for (int64_t under = 0; under < 2; under++)
        for (int64_t target = 0; target < 3; target++) {
            const program p = branched(target, under);
            times_from(-0.53, 0.37, times);
            check_slopes(&p, times, value);
        }
}

/* A -> B with the rate at which B is lost: both eigenvalues are the same. */
TEST(test_coinciding_rates)
{
    const int64_t body[] = {0, 1, 1, 1, -1, 2, 0, -1, bits_of(1.0), 1, 1};
    program p = {.words = {SCHEME_HEAD + 11, 4, 2, 1, 0, 2, 1, 2}, .params = {1.0, 0.8, 0.8, 0.0}};
    memcpy(p.words + SCHEME_HEAD, body, sizeof body);
    double times[TIMES], value[TIMES];
    times_from(0.0, 0.5, times);
    for (int apart = 0; apart < 3; apart++) {
        p.params[2] = 0.8 + (apart ? pow(10.0, -6.0 * apart) : 0.0);
        CHECK_INT(run_program(&p, p.words[0], times, value, NULL), STATUS_OK);
        for (int i = 0; i < TIMES; i++) {
            const double want = 0.8 * times[i] * exp(-0.8 * times[i]);
            CHECK(fabs(value[i] - want) <= (apart == 1 ? 1e-5 : 1e-11));
        }
    }
}

/* Nothing moves where all rates are 0. */
TEST(test_standing_populations)
{
    double times[TIMES], value[TIMES];
    times_from(-0.5, 0.4, times);
    for (int64_t target = 0; target < 3; target++) {
        program p = branched(target, 0);
        for (int64_t k = 0; k < p.words[5]; k++)
            p.params[p.words[SCHEME_HEAD + 3 * k + 2]] = 0.0;
        CHECK_INT(run_program(&p, p.words[0], times, value, NULL), STATUS_OK);
        for (int i = 0; i < TIMES; i++)
            CHECK(value[i] == (times[i] < p.params[5] ? 0.0 : solved(&p, 1.0, 1)));
    }
}

TEST(test_lanes)
{
    double times[TIMES];
    times_from(-0.5, 0.4, times);
    for (int64_t under = 0; under < 2; under++) {
        const program p = branched(1, under);
        check_lanes(&p, 1u << 0 | 1u << 5, times);
        check_some_slopes(&p, times);
    }
}

/* Times of one row in all lanes: those whose onset, height or rates differ from the first are told apart. */
TEST(test_lanes_of_a_row)
{
    static double x[TIMES * L], value[TIMES * L];
    const int64_t changed[] = {-1, 0, 1, 5}; /* nothing, the height, a rate, the onset */
    double params[MAX_PARAMS * L], times[TIMES], own[TIMES];
    const program p = branched(1, 0);
    times_from(-0.5, 0.4, times);
    for (int64_t i = 0; i < TIMES * L; i++)
        x[i] = times[i / L];
    for (size_t k = 0; k < sizeof changed / sizeof *changed; k++) {
        program other = p;
        if (changed[k] >= 0)
            other.params[changed[k]] *= 1.5;
        for (int64_t j = 0; j < p.words[1]; j++)
            for (int64_t l = 0; l < L; l++)
                params[j * L + l] = (l == L - 2 ? other : p).params[j];
        const pyspec_block b = {.n = TIMES, .n_valid = TIMES * L, .across = 1, .x = x,
                                .program = p.words};
        pyspec_run_scheme(&b, PYSPEC_ISA_BASELINE, params, value, NULL);
        for (int64_t l = 0; l < L; l++) {
            const program *alone = l == L - 2 ? &other : &p;
            CHECK_INT(run_program(alone, p.words[0], times, own, NULL), STATUS_OK);
            for (int i = 0; i < TIMES; i++)
                CHECK(own[i] == value[i * L + l]);
        }
    }
}

/* The builds of all instruction sets differ by rounding alone, and begin at the same time. */
TEST(test_builds)
{
    double times[TIMES], value[TIMES], other[TIMES], by[MAX_PARAMS][TIMES], *to[MAX_PARAMS];
    double slopes[MAX_PARAMS][TIMES], *own[MAX_PARAMS];
    times_from(-0.5, 0.4, times);
    for (int under = 0; under < 2; under++) {
        const program p = branched(1, under);
        for (int k = 0; k < MAX_PARAMS; k++)
            to[k] = by[k], own[k] = slopes[k];
        CHECK_INT(pyspec_scheme(p.words, p.words[0], PYSPEC_ISA_BASELINE, 1, TIMES, times, p.params,
                                value, to),
                  STATUS_OK);
        for (int isa = 1; isa < N_ISA; isa++) {
            const int status = pyspec_scheme(p.words, p.words[0], isa, 1, TIMES, times, p.params,
                                             other, own);
            CHECK_INT(status, pyspec_isa_supported(isa) ? STATUS_OK : STATUS_ISA);
            for (int i = 0; status == STATUS_OK && i < TIMES; i++) {
                CHECK(fabs(other[i] - value[i]) < 1e-14);
                CHECK((other[i] == 0.0) == (value[i] == 0.0));
                for (int64_t k = 0; k < p.words[1]; k++)
                    CHECK(fabs(slopes[k][i] - by[k][i]) < 1e-13);
            }
        }
    }
}

TEST(test_refusals)
{
    const program p = branched(0, 0);
    double times[TIMES] = {0}, value[TIMES];
    check_refusals(&p, SCHEME_HEAD);
    for (int isa = -1; isa <= N_ISA; isa += N_ISA + 1)
        CHECK_INT(pyspec_scheme(p.words, p.words[0], isa, 1, 1, times, p.params, value, NULL), STATUS_ISA);
}

/* Whatever the check accepts runs within its memory. */
TEST(test_random_programs)
{
    rng r = {1};
    double times[TIMES];
    int accepted = 0;
    times_from(-3.0, 1.1, times);
    for (int round = 0; round < 2000; round++) {
        program p = chance(&r, 50) ? ring(below(&r, 4), below(&r, 2), below(&r, 2))
                                   : branched(below(&r, 3), below(&r, 2));
        for (int64_t change = 1 + below(&r, 4); change > 0; change--)
            p.words[below(&r, p.words[0] < WORDS ? SCHEME_HEAD + 29 : 1)] = below(&r, 8) - 1;
        if (chance(&r, 50))
            p.words[0] = SCHEME_HEAD + 3 * p.words[5] + 3 * p.words[6] + p.words[7];
        accepted += runs_hostile(&r, p, times);
    }
    CHECK(accepted > 200);
}

UNIT_MAIN
