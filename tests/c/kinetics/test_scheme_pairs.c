/* test_scheme_pairs.c: steps of two states: what the check refuses of them, populations against closed
 * forms and the rate equations solved in small steps, and derivatives against differences. */
#include "kinetics/scheme_laws.h"

static int accepts(int64_t word, int64_t value)
{
    program p = pairs(0, 0);
    int64_t at = -1;
    p.words[word] = value;
    const int is_sound = pyspec_scheme_is_sound(p.words, p.words[0], p.words[1], &at);
    CHECK_INT(at, is_sound ? p.words[0] - 1 : SCHEME_HEAD + (word - SCHEME_HEAD) / 3 * 3);
    return is_sound;
}

TEST(test_sides)
{
    enum { FROM = SCHEME_HEAD + 9, TO = SCHEME_HEAD + 1 };
    for (int64_t word = -2; word <= pair_of_states(MAX_STATES, MAX_STATES); word++) {
        const int64_t a = word % MAX_STATES, b = word / MAX_STATES - 1;
        const int is_side = word >= 0 && a < 3 && b < 3;
        int64_t at = -1;
        program p = pairs(0, 0);
        CHECK_INT(accepts(FROM, word), is_side && word != 2);
        CHECK_INT(accepts(TO, word), (word == -1 || is_side) && word != 0);
        p.words[FROM] = word;
        CHECK_INT(pyspec_scheme_is_sound(p.words, p.words[0], 6, &at), is_side && word != 2);
    }
    program p = pairs(0, 0);
    CHECK(pyspec_has_pairs(p.words));
    const program without = branched(0, 0);
    CHECK(!pyspec_has_pairs(without.words));
}

/* X + X -> X at the rate k leaves a / (1 + a k t) of a, X + X -> lost a / (1 + 2 a k t). */
TEST(test_annihilation)
{
    double times[TIMES], value[TIMES];
    static double by[MAX_PARAMS][TIMES];
    for (int64_t left = 0; left < 2; left++) {
        const int64_t body[] = {pair_of_states(0, 0), left ? 0 : -1, 1, 0, 2, 0, 1};
        program p = {.words = {SCHEME_HEAD + 7, 4, 1, 0, 0, 1, 1, 1}, .params = {1.5, 0.7, 2.0, 0.0}};
        const double k = p.params[1] * (left ? 1.0 : 2.0), a = p.params[2], unit = left ? 1.0 : 2.0;
        memcpy(p.words + SCHEME_HEAD, body, sizeof body);
        for (int i = 0; i < TIMES; i++)
            times[i] = i ? pow(10.0, 0.5 * i - 3.0) : 0.0;
        CHECK_INT(run_program(&p, p.words[0], times, value, by), STATUS_OK);
        for (int i = 0; i < TIMES; i++) {
            const double part = 1.0 / (1.0 + a * k * times[i]);
            CHECK(fabs(value[i] - 1.5 * a * part) <= 1e-13);
            CHECK(fabs(by[0][i] - a * part) <= 1e-13);
            CHECK(fabs(by[1][i] + 1.5 * a * a * unit * times[i] * part * part) <= 1e-12);
            CHECK(fabs(by[2][i] - 1.5 * part * part) <= 1e-12);
            CHECK(fabs(by[3][i] - 1.5 * a * a * k * part * part) <= 3e-11);
        }
    }
}

TEST(test_populations)
{
    double times[TIMES], value[TIMES];
    times_from(-0.5, 0.4, times);
    for (int64_t target = 0; target < 3; target++) {
        const program p = pairs(target, 0);
        CHECK_INT(run_program(&p, p.words[0], times, value, NULL), STATUS_OK);
        check_populations(&p, times, value);
    }
}

TEST(test_instrument)
{
    for (int64_t target = 0; target < 3; target++) {
        const program p = pairs(target, 1);
        check_instrument(&p, 1e-6);
    }
}

TEST(test_slopes)
{
    double times[TIMES], value[TIMES];
    times_from(-0.53, 0.37, times);
    for (int64_t under = 0; under < 2; under++)
        for (int64_t target = 0; target < 3; target++) {
            const program p = pairs(target, under);
            check_slopes(&p, times, value);
        }
}

/* Times in any order, and one alone, have the same bits. */
TEST(test_order_of_times)
{
    double times[TIMES], turned[TIMES], value[TIMES], other[TIMES], alone;
    times_from(-0.5, 7.3, times);
    for (int i = 0; i < TIMES; i++)
        turned[i] = times[TIMES - 1 - i];
    for (int64_t under = 0; under < 2; under++) {
        const program p = pairs(1, under);
        CHECK_INT(run_program(&p, p.words[0], times, value, NULL), STATUS_OK);
        CHECK_INT(run_program(&p, p.words[0], turned, other, NULL), STATUS_OK);
        for (int i = 0; i < TIMES; i++) {
            CHECK(value[i] == other[TIMES - 1 - i]);
            CHECK_INT(pyspec_scheme(p.words, p.words[0], PYSPEC_ISA_BASELINE, 1, 1, times + i,
                                    p.params, &alone, NULL),
                      STATUS_OK);
            CHECK(value[i] == alone);
        }
    }
}

/* Three states that eat each other turn for ever: followed as far as there are panels, then NaN, with all
 * derivatives: under an instrument these used to be 0. */
TEST(test_oscillations_without_end)
{
    static double by[MAX_PARAMS][TIMES];
    double times[TIMES], value[TIMES];
    for (int64_t under = 0; under < 2; under++) {
        const int64_t body[] = {pair_of_states(0, 1), pair_of_states(0, 0), 1,
                                pair_of_states(1, 2), pair_of_states(1, 1), 1,
                                pair_of_states(2, 0), pair_of_states(2, 2), 1,
                                0, -1, bits_of(1.0), 1, -1, bits_of(0.3), 2, -1, bits_of(0.2), 3};
        program p = {.words = {SCHEME_HEAD + 19, 3 + under, 3, 0, under, 3, 3, 1},
                     .params = {1.0, 2.0, 0.0, 0.1}};
        memcpy(p.words + SCHEME_HEAD, body, sizeof body);
        times_from(0.0, 0.5, times);
        CHECK_INT(run_program(&p, p.words[0], times, value, NULL), STATUS_OK);
        for (int i = 0; i < TIMES && !under; i++)
            CHECK(fabs(value[i] - solved(&p, times[i], 8000)) <= 1e-9);
        for (int i = 0; i < TIMES; i++)
            times[i] = i % 2 ? 1e7 : 1.0;
        CHECK_INT(run_program(&p, p.words[0], times, value, by), STATUS_OK);
        for (int i = 0; i < TIMES; i++)
            CHECK(i % 2 ? value[i] != value[i] : value[i] > 0.0);
        for (int i = 0; i < TIMES; i++)
            for (int k = 0; k < p.words[1]; k++)
                CHECK(isnan(by[k][i]) == i % 2);
    }
}

/* Whatever the numbers are, the run ends, within its memory; negative times are 0 where nothing is NaN. */
TEST(test_hostile_numbers)
{
    rng r = {1};
    double times[TIMES];
    int n_ran = 0;
    times_from(-3.0, 1.1, times);
    for (int round = 0; round < 800; round++) {
        program p = pairs(below(&r, 3), below(&r, 2));
        for (int64_t change = below(&r, 4); change > 0; change--)
            p.words[SCHEME_HEAD + below(&r, 18)] = below(&r, 40) - 1;
        n_ran += runs_hostile(&r, p, times);
    }
    CHECK(n_ran > 200);
}

UNIT_MAIN
