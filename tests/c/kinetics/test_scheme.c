/* test_scheme.c: programs of kinetic schemes. What the check refuses, word by word; populations
 * against the rate equations, solved in small steps; slopes against differences; and that whatever
 * the check accepts runs within its memory (with the sanitizers). */
#include "support/scheme_programs.h"

#include <stdlib.h>

static int is_sound(const program *p, int64_t room, int64_t n_params, int64_t *at)
{
    return pyspec_scheme_is_sound(p->words, room, n_params, at);
}

/* Room and parameters are those of the program, word `k` is another one. */
static int refused_at(int64_t under, int64_t k, int64_t other)
{
    program p = branched(0, under);
    int64_t at = -1;
    CHECK(is_sound(&p, p.words[0], p.words[1], &at));
    p.words[k] = other;
    return is_sound(&p, branched(0, under).words[0], branched(0, under).words[1], &at) ? -1 : (int)at;
}

static void test_heads(void)
{
    for (int64_t under = 0; under < 2; under++) {
        program p = branched(2, under);
        int64_t at = -1;
        const int64_t n = p.words[0], n_params = p.words[1];
        CHECK(is_sound(&p, n, n_params, &at));
        CHECK(is_sound(&p, n + 1, n_params, &at));
        CHECK(!is_sound(&p, n - 1, n_params, &at));
        CHECK_INT(at, 0);
        CHECK(!is_sound(&p, SCHEME_HEAD - 1, n_params, &at));
        CHECK(!is_sound(&p, n, n_params + 1, &at));
        CHECK(!is_sound(&p, n, n_params - 1, &at));
        for (int64_t k = 0; k < SCHEME_HEAD; k++) {
            CHECK(k == 3 || refused_at(under, k, -1) == 0);
            CHECK_INT(refused_at(under, k, k == 0 ? n + 1 : p.words[k] + 9), 0);
        }
        CHECK_INT(refused_at(under, 0, n - 1), 0);
        CHECK_INT(refused_at(under, 0, SCHEME_HEAD - 1), 0);
        CHECK_INT(refused_at(under, 3, -1), 0);
        CHECK_INT(refused_at(under, 3, 0), -1);
        CHECK_INT(refused_at(under, 3, 2), -1);
        CHECK_INT(refused_at(under, 3, 3), 0);
        CHECK_INT(refused_at(under, 4, 2), 0);
    }
}

static void test_bodies(void)
{
    enum { STEP = SCHEME_HEAD, START = STEP + 15, SIZES = START + 6 };
    for (int64_t under = 0; under < 2; under++) {
        /* from, to, rate */
        CHECK_INT(refused_at(under, STEP, -1), STEP);
        CHECK_INT(refused_at(under, STEP, 3), STEP);
        CHECK_INT(refused_at(under, STEP, 2), -1);
        CHECK_INT(refused_at(under, STEP, 1), STEP); /* to itself */
        CHECK_INT(refused_at(under, STEP + 7, -2), STEP + 6);
        CHECK_INT(refused_at(under, STEP + 7, -1), -1);
        CHECK_INT(refused_at(under, STEP + 7, 0), -1);
        CHECK_INT(refused_at(under, STEP + 7, 3), STEP + 6);
        for (int64_t k = 0; k < 5; k++) {
            CHECK_INT(refused_at(under, STEP + 3 * k + 2, 0), STEP + 3 * k);
            CHECK_INT(refused_at(under, STEP + 3 * k + 2, 1), -1);
            CHECK_INT(refused_at(under, STEP + 3 * k + 2, 4), -1);
            CHECK_INT(refused_at(under, STEP + 3 * k + 2, 5), STEP + 3 * k); /* the onset */
        }
        /* state, parameter, number */
        CHECK_INT(refused_at(under, START, -1), START);
        CHECK_INT(refused_at(under, START, 2), -1);
        CHECK_INT(refused_at(under, START + 3, 3), START + 3);
        CHECK_INT(refused_at(under, START + 1, -2), START);
        CHECK_INT(refused_at(under, START + 1, -1), -1);
        CHECK_INT(refused_at(under, START + 1, 0), START);
        CHECK_INT(refused_at(under, START + 1, 1), -1);
        CHECK_INT(refused_at(under, START + 4, 5), START + 3);
        CHECK_INT(refused_at(under, START + 5, word_of(NAN)), -1);
        /* lengths of blocks */
        CHECK_INT(refused_at(under, SIZES, 0), SIZES);
        CHECK_INT(refused_at(under, SIZES, 4), SIZES);
        CHECK_INT(refused_at(under, SIZES, 3), SIZES + 1); /* four states in all */
        CHECK_INT(refused_at(under, SIZES + 1, 2), SIZES + 1);
        CHECK_INT(refused_at(under, SIZES + 1, 4), SIZES + 1);
    }
}

/* One state more than there may be, and no more steps, starts and blocks than there may be. */
static void test_most(void)
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

static void test_populations(void)
{
    double times[TIMES], value[TIMES];
    times_from(-0.5, 0.4, times);
    for (int64_t target = 0; target < 3; target++) {
        const program p = branched(target, 0);
        CHECK_INT(run_program(&p, p.words[0], times, value, NULL), STATUS_OK);
        check_populations(&p, times, value);
    }
}

/* A Gaussian instrument, by the rule of the trapezium over 20 widths. */
static void test_instrument(void)
{
    double times[TIMES], value[TIMES];
    times_from(-0.4, 0.19, times);
    for (int64_t target = 0; target < 3; target++) {
        const program p = branched(target, 1);
        const double width = p.params[6];
        CHECK_INT(run_program(&p, p.words[0], times, value, NULL), STATUS_OK);
        for (int i = 0; i < TIMES; i += 3) {
            const double to = times[i] - p.params[5], end = to + 10.0 * width;
            const int n = 200; /* from the onset on: Simpson, as the integrand begins with a step */
            double sum = 0.0;
            for (int k = 0; k <= n && end > 0.0; k++) {
                const double s = end * k / n, away = (to - s) / width;
                const double weight = k == 0 || k == n ? 1.0 : k % 2 ? 4.0 : 2.0;
                sum += weight * exp(-0.5 * away * away) * solved(&p, s, 300);
            }
            sum *= end / (3.0 * n) * 0.39894228040143268 / width;
            CHECK(fabs(value[i] - (end > 0.0 ? sum : 0.0)) <= 1e-5 * p.params[0]);
        }
    }
}

static void test_slopes(void)
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
static void test_coinciding_rates(void)
{
    const int64_t body[] = {0, 1, 1, 1, -1, 2, 0, -1, word_of(1.0), 1, 1};
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
static void test_standing_populations(void)
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

/* Rows that stand in lanes, of which some share their rates with the one before: each has the bits
 * that it has alone, also where the lanes hold times of one row or every lane parameters of its
 * own. */
static void test_lanes(void)
{
    static double x[TIMES * L], value[TIMES * L], slopes[MAX_PARAMS][TIMES * L];
    static double rows[L * TIMES], row_slopes[MAX_PARAMS][L * TIMES], own_slopes[MAX_PARAMS][TIMES];
    double params[MAX_PARAMS * L], times[TIMES], own[TIMES], *to[MAX_PARAMS], *row_to[MAX_PARAMS];
    times_from(-0.5, 0.4, times);
    for (int k = 0; k < MAX_PARAMS; k++) {
        to[k] = slopes[k];
        row_to[k] = row_slopes[k];
    }
    for (int64_t under = 0; under < 2; under++)
        for (int across = 0; across < 2; across++) {
            const program p = branched(1, under);
            const int64_t n_params = p.words[1];
            for (int64_t k = 0; k < n_params; k++)
                for (int64_t l = 0; l < L; l++)
                    params[k * L + l] = p.params[k] * (k == 0 || k == 5 ? 1.0 + 0.1 * (double)l
                                                       : k == 1         ? 1.0 + 0.2 * (double)(l / 3)
                                                                        : 1.0);
            for (int64_t i = 0; i < TIMES * L; i++)
                x[i] = times[across ? i / L : i % TIMES];
            const pyspec_block b = {.n = TIMES, .n_valid = TIMES * L, .across = across, .x = x,
                                    .program = p.words};
            pyspec_run_scheme(&b, PYSPEC_ISA_BASELINE, params, value, to);
            CHECK_INT(pyspec_scheme(p.words, p.words[0], PYSPEC_ISA_BASELINE, L, TIMES, times,
                                    params, rows, row_to),
                      STATUS_OK);
            for (int64_t l = 0; l < L; l++) {
                program alone = p;
                for (int64_t k = 0; k < n_params; k++)
                    alone.params[k] = params[k * L + l];
                CHECK_INT(run_program(&alone, p.words[0], times, own, own_slopes), STATUS_OK);
                CHECK(!memcmp(own, rows + l * TIMES, sizeof own));
                for (int64_t i = 0; i < TIMES; i++) {
                    CHECK(own[i] == value[i * L + l]);
                    for (int64_t k = 0; k < n_params; k++)
                        CHECK(own_slopes[k][i] == slopes[k][i * L + l] &&
                              own_slopes[k][i] == row_slopes[k][l * TIMES + i]);
                }
            }
        }
}

/* Times of one row in all lanes: those whose onset, height or rates differ from the first are told apart. */
static void test_lanes_of_a_row(void)
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

/* Derivatives that nobody wants are left out, and change none of the others. */
static void test_some_slopes(void)
{
    static double all[MAX_PARAMS][TIMES], some[MAX_PARAMS][TIMES];
    double times[TIMES], value[TIMES], *to[MAX_PARAMS] = {NULL};
    const program p = branched(1, 1);
    times_from(-0.5, 0.4, times);
    CHECK_INT(run_program(&p, p.words[0], times, value, all), STATUS_OK);
    for (int64_t k = 0; k < p.words[1]; k += 2)
        to[k] = some[k];
    CHECK_INT(pyspec_scheme(p.words, p.words[0], PYSPEC_ISA_BASELINE, 1, TIMES, times, p.params,
                            value, to),
              STATUS_OK);
    for (int64_t k = 0; k < p.words[1]; k++)
        for (int i = 0; i < TIMES; i++)
            CHECK(some[k][i] == (k % 2 ? 0.0 : all[k][i]));
}

/* The builds of all instruction sets differ by rounding alone, and begin at the same time. */
static void test_builds(void)
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

static void test_refusals(void)
{
    double times[TIMES] = {0}, value[TIMES];
    const program p = branched(0, 0);
    const int64_t *w = p.words, n = w[0];
    CHECK_INT(pyspec_scheme(NULL, n, PYSPEC_ISA_BASELINE, 1, 1, times, p.params, value, NULL),
              STATUS_NULL_POINTER);
    CHECK_INT(pyspec_scheme(w, n, PYSPEC_ISA_BASELINE, 1, 1, NULL, p.params, value, NULL),
              STATUS_NULL_POINTER);
    CHECK_INT(pyspec_scheme(w, n, PYSPEC_ISA_BASELINE, 1, 1, times, NULL, value, NULL),
              STATUS_NULL_POINTER);
    CHECK_INT(pyspec_scheme(w, n, PYSPEC_ISA_BASELINE, 1, 1, times, p.params, NULL, NULL),
              STATUS_NULL_POINTER);
    CHECK_INT(pyspec_scheme(w, SCHEME_HEAD - 1, PYSPEC_ISA_BASELINE, 1, 1, times, p.params,
                            value, NULL),
              STATUS_PROGRAM);
    CHECK_INT(pyspec_scheme(w, n - 1, PYSPEC_ISA_BASELINE, 1, 1, times, p.params, value, NULL),
              STATUS_PROGRAM);
    CHECK_INT(pyspec_scheme(w, n, -1, 1, 1, times, p.params, value, NULL), STATUS_ISA);
    CHECK_INT(pyspec_scheme(w, n, N_ISA, 1, 1, times, p.params, value, NULL), STATUS_ISA);
    CHECK_INT(pyspec_scheme(w, n, PYSPEC_ISA_BASELINE, 0, 1, times, p.params, value, NULL),
              STATUS_SIZE);
    CHECK_INT(pyspec_scheme(w, n, PYSPEC_ISA_BASELINE, 1, 0, times, p.params, value, NULL),
              STATUS_SIZE);
}

/* ---- whatever is accepted --------------------------------------------------------------------- */

static uint64_t drawn = 1;

static int64_t below(int64_t n)
{
    drawn = drawn * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((drawn >> 33) % (uint64_t)n);
}

static void test_random_programs(void)
{
    static const double odd[] = {0.0, -1.0, 1e300, 1e-300, 1.0, 2.0, 1e-320, -0.5};
    double times[TIMES], value[TIMES], own[2];
    static double partials[MAX_PARAMS][TIMES];
    int accepted = 0;
    times_from(-3.0, 1.1, times);
    for (int round = 0; round < 6000; round++) {
        program p = below(2) ? ring(below(4), below(2), below(2)) : branched(below(3), below(2));
        for (int64_t change = 1 + below(4); change > 0; change--)
            p.words[below(p.words[0] < WORDS ? SCHEME_HEAD + 29 : 1)] = below(8) - 1;
        if (below(2))
            p.words[0] = SCHEME_HEAD + 3 * p.words[5] + 3 * p.words[6] + p.words[7];
        for (int k = 0; k < MAX_PARAMS; k++) {
            own[0] = 0.01 * (double)below(300);
            own[1] = below(10) ? own[0] : below(8) ? odd[below(8)] : below(2) ? NAN : INFINITY;
            p.params[k] = own[below(2)];
        }
        accepted += run_program(&p, WORDS, times, value, below(2) ? partials : NULL) == STATUS_OK;
    }
    CHECK(accepted > 600);
}

int main(void)
{
    RUN(test_heads);
    RUN(test_bodies);
    RUN(test_most);
    RUN(test_populations);
    RUN(test_instrument);
    RUN(test_slopes);
    RUN(test_coinciding_rates);
    RUN(test_standing_populations);
    RUN(test_lanes);
    RUN(test_lanes_of_a_row);
    RUN(test_some_slopes);
    RUN(test_builds);
    RUN(test_refusals);
    RUN(test_random_programs);
    return REPORT;
}
