/* test_measured.c: programs of measured instruments, over laws and over states of kinetic schemes. What the check
 * refuses, word by word; values against Simpson's rule; slopes against differences; rows and lanes that stand side by
 * side; and that whatever the check accepts runs within its memory (with the sanitizers). */
#include "kinetics/measured.h"
#include "support/laws.h"

#include <float.h>

enum { SAMPLES = 5, LENGTH = MEASURED_HEAD + 2 * SAMPLES };

static int run_law(const int64_t *words, int64_t n_words, int64_t n_rows, int64_t n_times, const double *times,
                   const double *params, double *value, double *const *slopes)
{
    return pyspec_measured(words, n_words, n_rows, n_times, times, params, value, slopes);
}

static void run_lanes(const pyspec_block *b, const double *params, double *value, double *const *slopes)
{
    k_measured(b, params, value, slopes);
}

static int is_sound(const int64_t *words, int64_t n_words, int64_t n_params, int64_t *at)
{
    return pyspec_measured_is_sound(words, n_words, n_params, at);
}

/* Uneven samples with a jump at either end, of area 1. */
static program made(int64_t law)
{
    static const double samples[2 * SAMPLES] = {-0.4, -0.1, 0.0, 0.2, 0.6, 0.5, 1.5, 2.0, 1.0, 0.25};
    static const double params[LAW_STATE + 1][6] = {{1.5, 0.25, 0.3},
                                                    {1.5, 0.25, 0.3},
                                                    {1.5, 0.4, 0.25, 0.3},
                                                    {1.5, 0.8, 0.7, 0.25, 0.3},
                                                    {1.5, 0.8, 0.7, 0.4, 0.25, 0.3}};
    program p = {.words = {LENGTH, law == LAW_STATE ? 0 : measured_params(law), law, SAMPLES}};
    memcpy(p.words + MEASURED_HEAD, samples, sizeof samples);
    memcpy(p.params, params[law], sizeof params[law]);
    return p;
}

/* A state behind the instrument. */
static program behind(program state)
{
    program p = made(LAW_STATE);
    p.words[0] += state.words[0];
    p.words[1] = state.words[1];
    memcpy(p.words + LENGTH, state.words, (WORDS - LENGTH) * sizeof *p.words);
    memcpy(p.params, state.params, sizeof p.params);
    return p;
}

/* Each law, then the states of two schemes: branched, and with a circle. */
enum { N_CASES = LAW_STATE + 6 };

static program case_of(int64_t k)
{
    const int64_t state = k - LAW_STATE;
    return state < 0 ? made(k) : behind(state < 3 ? branched(state, 0) : ring(state - 3, 0, 0));
}

TEST(test_heads)
{
    for (int64_t law = 0; law < LAW_STATE; law++) {
        const program p = made(law);
        int64_t at = -1;
        const int64_t n_params = p.words[1];
        CHECK(is_sound(p.words, LENGTH + 1, n_params, &at));
        CHECK(!is_sound(p.words, LENGTH - 1, n_params, &at));
        CHECK_INT(at, 0);
        CHECK(!is_sound(p.words, MEASURED_HEAD - 1, n_params, &at));
        CHECK(!is_sound(p.words, LENGTH, n_params + 1, &at));
        for (int64_t k = 0; k < MEASURED_HEAD; k++) {
            CHECK_INT(refused_at(p, k, -1), 0);
            CHECK_INT(refused_at(p, k, p.words[k] + 9), 0);
            CHECK_INT(refused_at(p, k, INT64_MAX), 0); /* nothing is computed from such a count */
            CHECK_INT(refused_at(p, k, INT64_MIN), 0);
        }
        CHECK_INT(refused_at(p, 0, LENGTH - 1), 0);
        CHECK_INT(refused_at(p, 0, MEASURED_HEAD), 0);
        CHECK_INT(refused_at(p, 1, n_params - 1), 0);
        CHECK_INT(refused_at(p, 2, N_MEASURED), 0);
        CHECK_INT(refused_at(p, 2, law == LAW_STEP ? LAW_LINE : LAW_STEP),
                  law == LAW_STEP || law == LAW_LINE ? -1 : 0);
        CHECK_INT(refused_at(p, 3, SAMPLES - 1), 0);
    }
}

TEST(test_samples)
{
    enum { TIME = MEASURED_HEAD, VALUE = TIME + SAMPLES };
    const program p = made(LAW_DECAY);
    for (int k = 0; k < 2 * SAMPLES; k++) {
        CHECK_INT(refused_at(p, TIME + k, bits_of(NAN)), TIME + k);
        CHECK_INT(refused_at(p, TIME + k, bits_of(INFINITY)), TIME + k);
        CHECK_INT(refused_at(p, TIME + k, bits_of(-INFINITY)), TIME + k);
    }
    CHECK_INT(refused_at(p, TIME, bits_of(-DBL_MAX)), -1);
    CHECK_INT(refused_at(p, VALUE, bits_of(DBL_MAX)), -1);
    CHECK_INT(refused_at(p, TIME, bits_of(-0.1)), TIME + 1); /* twice the same */
    CHECK_INT(refused_at(p, TIME + 2, bits_of(-0.2)), TIME + 2);
    CHECK_INT(refused_at(p, TIME + 4, bits_of(0.2)), TIME + 4);
    CHECK_INT(refused_at(p, VALUE, bits_of(-3.0)), -1);
    CHECK_INT(refused_at(p, VALUE + 4, bits_of(0.0)), -1);
    /* What stands behind a program is not read. */
    int64_t longer[2 * LENGTH], at;
    for (int k = 0; k < 2 * LENGTH; k++)
        longer[k] = bits_of(NAN);
    memcpy(longer, p.words, LENGTH * sizeof *longer);
    CHECK(is_sound(longer, 2 * LENGTH, 4, &at));
}

/* As few and as many samples as there may be, and one more or less. */
TEST(test_counts)
{
    static int64_t words[MEASURED_HEAD + 2 * (MAX_SAMPLES + 1)];
    const int64_t counts[] = {1, 2, MAX_SAMPLES, MAX_SAMPLES + 1};
    int64_t at;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const int64_t n = counts[i], head[] = {MEASURED_HEAD + 2 * n, 4, LAW_DECAY, n};
        memcpy(words, head, sizeof head);
        for (int64_t k = 0; k < n; k++) {
            words[MEASURED_HEAD + k] = bits_of((double)k);
            words[MEASURED_HEAD + n + k] = bits_of(1.0);
        }
        CHECK_INT(is_sound(words, words[0], 4, &at), n > 1 && n <= MAX_SAMPLES);
    }
    words[0] -= 2, words[3]--;
    memmove(words + MEASURED_HEAD + MAX_SAMPLES, words + MEASURED_HEAD + MAX_SAMPLES + 1,
            MAX_SAMPLES * sizeof *words);
    double x[] = {-0.5, 0.5, 998.75, 999.0, 1005.0}, params[] = {1.0, 1e5, 0.0, 0.0}, value[5];
    CHECK_INT(pyspec_measured(words, words[0], 1, 5, x, params, value, NULL), STATUS_OK);
    CHECK(value[0] == 0.0 && value[1] > 0.0 && value[2] > 900.0 && value[3] > value[2] &&
          value[4] < value[3]);
}

/* A state of a scheme behind the instrument. */
TEST(test_checks_of_states)
{
    enum { N_PARAMS = 6 };
    const program p = behind(branched(1, 0));
    int64_t at = -1;
    const int64_t n = p.words[0];
    CHECK(is_sound(p.words, n + 1, N_PARAMS, &at));
    CHECK(!is_sound(p.words, n - 1, N_PARAMS, &at));
    CHECK_INT(at, 0);
    CHECK(!is_sound(p.words, n, N_PARAMS - 1, &at));
    const struct {
        int64_t word, other;
        int at;
    } cases[] = {{0, n - 1, LENGTH},
                 {0, LENGTH, 0},
                 {0, LENGTH + SCHEME_HEAD - 1, 0},
                 {0, LENGTH + SCHEME_HEAD, LENGTH},
                 {1, N_PARAMS - 1, 0},
                 {2, LAW_DECAY, 0},
                 {MEASURED_HEAD + 1, bits_of(-0.4), MEASURED_HEAD + 1},
                 {LENGTH, n - LENGTH - 1, LENGTH},
                 {LENGTH + 1, N_PARAMS + 1, LENGTH},
                 {LENGTH + 3, 2, -1}, /* another state */
                 {LENGTH + SCHEME_HEAD, 3, LENGTH + SCHEME_HEAD}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        CHECK_INT(refused_at(p, cases[k].word, cases[k].other), cases[k].at);
    /* A scheme that ends before the program does. */
    program longer = p;
    longer.words[0]++;
    CHECK(!is_sound(longer.words, longer.words[0], N_PARAMS, &at));
    CHECK_INT(at, LENGTH);
}

/* With an instrument of its own and the parameters that this takes, and with steps of two states; a circle
 * has one. */
TEST(test_what_has_no_response)
{
    const int64_t own[SCHEME_HEAD + 1] = {SCHEME_HEAD + 1, 3, 1, 0, 1, 0, 0, 1, 1};
    program p = behind(branched(0, 0));
    int64_t at;
    p.words[0] = LENGTH + SCHEME_HEAD + 1;
    p.words[1] = 3;
    memcpy(p.words + LENGTH, own, sizeof own);
    CHECK(pyspec_scheme_is_sound(p.words + LENGTH, SCHEME_HEAD + 1, 3, &at));
    CHECK(!is_sound(p.words, p.words[0], 3, &at));
    p.words[LENGTH + 4] = 0;
    CHECK(is_sound(p.words, p.words[0], 3, &at));
    const program meeting = behind(pairs(2, 0));
    CHECK(pyspec_scheme_is_sound(meeting.words + LENGTH, meeting.words[LENGTH], 6, &at));
    CHECK(!is_sound(meeting.words, meeting.words[0], 6, &at));
    CHECK_INT(at, LENGTH);
}

/* ---- values ------------------------------------------------------------------------------------ */

/* A law without an instrument, at times `s` before t. */
static void law_before(const program *p, double t, int n, const double *s, double *f)
{
    const double *q = p->params, onset = q[p->words[1] - (p->words[2] == LAW_STATE ? 1 : 2)];
    double x[256];
    for (int i = 0; i < n; i++) {
        const double u = t - onset - s[i], wave = sin(6.28318530717958648 * q[1] * u + q[2]);
        x[i] = t - s[i] + 1e-13; /* not before the onset */
        f[i] = p->words[2] == LAW_STEP    ? q[0] + q[2]
               : p->words[2] == LAW_LINE  ? q[0] * u + q[2]
               : p->words[2] == LAW_DECAY ? q[0] * exp(-u / q[1]) + q[3]
               : p->words[2] == LAW_SINE  ? q[0] * wave + q[4]
                                          : q[0] * exp(-u / q[3]) * wave + q[5];
    }
    if (p->words[2] == LAW_STATE)
        CHECK_INT(pyspec_scheme(p->words + LENGTH, p->words[LENGTH], PYSPEC_ISA_BASELINE, 1, n, x, q, f, NULL),
                  STATUS_OK);
}

/* int r(s) f(t - s) ds by Simpson's rule on each piece. */
static double seen(const program *p, double t)
{
    enum { N = 200 };
    double sum = 0.0, s[N + 1], f[N + 1];
    const double u = t - p->params[p->words[1] - (p->words[2] == LAW_STATE ? 1 : 2)];
    for (int k = 0; k + 1 < SAMPLES; k++) {
        const double a = measured_time(p->words, k), b = measured_time(p->words, k + 1);
        const double from = measured_value(p->words, k), to = measured_value(p->words, k + 1);
        const double h = ((u < b ? u : b) - a) / N;
        for (int i = 0; i <= N; i++)
            s[i] = a + h * i;
        if (u > a)
            law_before(p, t, N + 1, s, f);
        for (int i = 0; i <= N && u > a; i++)
            sum += simpson(i, N, h) * (from + (to - from) * (s[i] - a) / (b - a)) * f[i];
    }
    return sum;
}

TEST(test_laws)
{
    static const double own[] = {1.0, 0.02, 30.0}; /* as it is, far faster, far slower */
    double times[TIMES], value[TIMES];
    times_from(-0.5, 0.15, times);
    for (int64_t law = 0; law < LAW_STATE; law++)
        for (size_t k = 0; k < (law < LAW_DECAY ? 1 : sizeof own / sizeof *own); k++) {
            program p = made(law);
            if (law >= LAW_DECAY)
                p.params[1] *= law == LAW_DECAY ? own[k] : 1.0 / own[k];
            CHECK_INT(run_program(&p, LENGTH, times, value, NULL), STATUS_OK);
            for (int i = 0; i < TIMES; i++)
                CHECK(fabs(value[i] - seen(&p, times[i])) <= (k == 1 ? 2e-3 : 1e-8));
        }
}

TEST(test_populations)
{
    double times[TIMES], value[TIMES];
    times_from(-0.5, 0.17, times);
    for (int64_t k = LAW_STATE; k < N_CASES; k++)
        for (int close = 0; close < 2; close++) {
            program p = case_of(k);
            if (close) /* coinciding eigenvalues */
                p.params[1] = p.params[2] = p.params[3] = 0.5;
            CHECK_INT(run_program(&p, WORDS, times, value, NULL), STATUS_OK);
            for (int i = 0; i < TIMES; i++)
                CHECK(fabs(value[i] - seen(&p, times[i])) <= 1e-8);
            CHECK(value[0] == 0.0 && value[TIMES - 1] > 0.05);
        }
}

TEST(test_slopes)
{
    double times[TIMES], value[TIMES];
    times_from(-0.53, 0.1713, times);
    for (int64_t k = 0; k < N_CASES; k++) {
        const program p = case_of(k);
        check_slopes(&p, times, value);
    }
}

/* At a sample, and at the jumps of a response, the derivative by the onset is that from behind. */
TEST(test_slopes_at_jumps)
{
    double times[TIMES], value[TIMES];
    static double partials[MAX_PARAMS][TIMES];
    program p = made(LAW_STEP);
    times_from(0.0, 1.0, times);
    p.params[1] = 0.0;
    for (int k = 0; k < SAMPLES; k++)
        times[k] = measured_time(p.words, k);
    CHECK_INT(run_program(&p, LENGTH, times, value, partials), STATUS_OK);
    for (int k = 0; k < SAMPLES; k++)
        CHECK(fabs(partials[1][k] + (k + 1 < SAMPLES ? 1.8 * measured_value(p.words, k) : 0.0)) <=
              1e-14);
    CHECK(value[0] == 0.0);
    program late = made(LAW_DECAY);
    late.params[2] = 0.0;
    CHECK_INT(run_program(&late, LENGTH, times, value, partials), STATUS_OK);
    const double end = value[SAMPLES - 1] - late.params[3] * partials[3][SAMPLES - 1];
    CHECK(fabs(partials[2][SAMPLES - 1] - end / late.params[1]) <= 1e-13);
}

/* Phases beyond what is reduced quickly, and laws that are over at once. */
TEST(test_extremes)
{
    double times[TIMES], value[TIMES];
    static double partials[MAX_PARAMS][TIMES];
    times_from(-0.5, 0.13, times);
    for (int64_t law = LAW_DECAY; law < LAW_STATE; law++)
        for (int k = -300; k <= 300; k += 20) {
            program p = made(law);
            p.params[1] = pow(10.0, k);
            CHECK_INT(run_program(&p, LENGTH, times, value, partials), STATUS_OK);
            for (int i = 0; i < TIMES; i++)
                CHECK(law >= LAW_SINE && k > 100 ? 1 : fabs(value[i]) < 2.0);
            for (int i = 0; i < TIMES; i++)
                CHECK(law >= LAW_SINE || fabs(partials[1][i]) < 1e3);
        }
}

/* ---- side by side ------------------------------------------------------------------------------ */

TEST(test_side_by_side)
{
    double times[TIMES];
    times_from(-0.5, 0.17, times); /* some lie on different pieces in neighbouring rows */
    for (int64_t k = 0; k < N_CASES; k++) {
        const program p = case_of(k);
        check_lanes(&p, k < LAW_STATE ? ~0u : 1u << 0 | 1u << 5, times);
        check_some_slopes(&p, times);
    }
}

TEST(test_refusals)
{
    const program p = made(LAW_DECAY);
    check_refusals(&p, MEASURED_HEAD);
}

/* Whatever the check accepts runs within its memory. */
TEST(test_random_programs)
{
    rng r = {12345};
    double times[TIMES];
    int accepted = 0;
    times_from(-1.0, 0.2, times);
    for (int trial = 0; trial < 4000; trial++) {
        program p = case_of(below(&r, N_CASES));
        for (int64_t edits = below(&r, 4); edits > 0; edits--) {
            const int64_t at = below(&r, p.words[0] < WORDS && p.words[0] > 0 ? p.words[0] : WORDS);
            const double number = chance(&r, 50) ? hostile_double(&r) : 0.01 * (double)below(&r, 200) - 1.0;
            p.words[at] = at >= MEASURED_HEAD && at < LENGTH ? bits_of(number) : below(&r, 10) - 1;
        }
        accepted += runs_hostile(&r, p, times);
    }
    CHECK(accepted > 400);
}

UNIT_MAIN
