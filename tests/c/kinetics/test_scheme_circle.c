/* test_scheme_circle.c: schemes with a circle, whose populations may oscillate: against the rate equations,
 * and derivatives against differences. */
#include "kinetics/scheme_laws.h"

TEST(test_circles)
{
    double times[TIMES], value[TIMES];
    times_from(-0.53, 0.73, times);
    for (int64_t target = 0; target < 4; target++)
        for (int64_t way = 0; way < 4; way++) {
            const program p = ring(target, way / 2, way % 2);
            CHECK(pyspec_has_circle(p.words));
            check_slopes(&p, times, value);
            if (way < 2)
                check_populations(&p, times, value);
        }
}

/* Long after, populations stand where the steps in and out of each state are as many. */
TEST(test_circles_come_to_rest)
{
    double times[TIMES], value[TIMES], total[TIMES] = {0.0};
    for (int i = 0; i < TIMES; i++)
        times[i] = pow(10.0, i);
    for (int64_t target = 0; target < 3; target++) {
        const int64_t body[] = {0, 1, 1, 1, 2, 2, 2, 0, 3, 0, -1, bits_of(1.0), 3};
        program p = {.words = {SCHEME_HEAD + 13, 5, 3, target, 0, 3, 1, 1},
                     .params = {1.0, 2.0, 0.5, 0.25, 0.0}};
        memcpy(p.words + SCHEME_HEAD, body, sizeof body);
        CHECK_INT(run_program(&p, p.words[0], times, value, NULL), STATUS_OK);
        for (int i = 0; i < TIMES; i++) {
            CHECK(i < 3 || fabs(value[i] - (double[]){1.0, 4.0, 8.0}[target] / 13.0) <= 1e-14);
            total[i] += value[i];
        }
    }
    for (int i = 0; i < TIMES; i++)
        CHECK(fabs(total[i] - 1.0) <= 1e-14);
}

/* A way round there is where a block has more pairs than one less than states, or a step leads to an
 * earlier block; whatever the blocks are, the populations are those of the steps. */
TEST(test_blocks_that_are_none)
{
    double times[TIMES], value[TIMES];
    times_from(-0.5, 0.4, times);
    for (int64_t target = 0; target < 3; target++)
        for (int64_t first = 1; first <= 3; first++) {
            program p = branched(target, 0);
            int64_t *sizes = p.words + SCHEME_HEAD + 21, at;
            p.words[7] = first == 2 ? 2 : first == 3 ? 1 : 3;
            p.words[0] = SCHEME_HEAD + 21 + p.words[7];
            sizes[0] = first;
            sizes[1] = sizes[2] = 1;
            CHECK(pyspec_scheme_is_sound(p.words, p.words[0], 6, &at));
            CHECK_INT(pyspec_has_circle(p.words), first == 1);
            CHECK(pyspec_goes_by_stretches(p.words));
            CHECK_INT(run_program(&p, p.words[0], times, value, NULL), STATUS_OK);
            check_populations(&p, times, value);
        }
}

/* Every state becomes every other, and is lost. */
TEST(test_all_steps)
{
    enum { N = MAX_STATES };
    static int64_t words[SCHEME_HEAD + 3 * MAX_STEPS + 4];
    double times[TIMES], value[TIMES];
    const double params[] = {1.0, 0.7, 0.1, 0.0};
    int64_t *word = words + SCHEME_HEAD, at;
    times_from(0.0, 0.4, times);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++, word += 3) {
            word[0] = i;
            word[1] = i == j ? -1 : j;
            word[2] = i == j ? 2 : 1;
        }
    const int64_t start[] = {0, -1, bits_of(1.0), N};
    memcpy(word, start, sizeof start);
    const int64_t n = word + 4 - words;
    const int64_t head[SCHEME_HEAD] = {n, 4, N, 1, 0, N * N, 1, 1};
    memcpy(words, head, sizeof head);
    CHECK(pyspec_scheme_is_sound(words, n, 4, &at));
    CHECK_INT(pyspec_scheme(words, n, PYSPEC_ISA_BASELINE, 1, TIMES, times, params, value, NULL),
              STATUS_OK);
    for (int i = 0; i < TIMES; i++) {
        const double want = exp(-0.1 * times[i]) * (1.0 - exp(-5.6 * times[i])) / N;
        CHECK(fabs(value[i] - want) <= 1e-15);
    }
}

UNIT_MAIN
