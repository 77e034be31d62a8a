/* test_measured.c: programs of measured instruments. What the check refuses, word by word; laws against
 * Simpson's rule; slopes against differences; rows and lanes that stand side by side; and that whatever
 * the check accepts runs within its memory (with the sanitizers). */
#include "kinetics/measured.h"
#include "support/unit.h"

#include <float.h>

enum { SAMPLES = 5, WORDS = MEASURED_HEAD + 2 * SAMPLES, TIMES = 23 };

/* A program and its parameters. */
typedef struct program {
    int64_t words[WORDS];
    double params[MAX_PARAMS];
} program;

static int64_t word_of(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Uneven samples with a jump at either end, of area 1. */
static program made(int64_t law)
{
    static const double time[SAMPLES] = {-0.4, -0.1, 0.0, 0.2, 0.6};
    static const double value[SAMPLES] = {0.5, 1.5, 2.0, 1.0, 0.25};
    static const double params[LAW_STATE][6] = {{1.5, 0.25, 0.3},
                                                {1.5, 0.25, 0.3},
                                                {1.5, 0.4, 0.25, 0.3},
                                                {1.5, 0.8, 0.7, 0.25, 0.3},
                                                {1.5, 0.8, 0.7, 0.4, 0.25, 0.3}};
    program p = {.words = {WORDS, measured_params(law), law, SAMPLES}};
    for (int k = 0; k < SAMPLES; k++) {
        p.words[MEASURED_HEAD + k] = word_of(time[k]);
        p.words[MEASURED_HEAD + SAMPLES + k] = word_of(value[k]);
    }
    memcpy(p.params, params[law], sizeof params[law]);
    return p;
}

/* Room and parameters are those of the program, word `k` is another one. */
static int refused_at(int64_t law, int64_t k, int64_t other)
{
    program p = made(law);
    int64_t at = -1;
    CHECK(pyspec_measured_is_sound(p.words, WORDS, p.words[1], &at));
    p.words[k] = other;
    return pyspec_measured_is_sound(p.words, WORDS, measured_params(law), &at) ? -1 : (int)at;
}

static void test_heads(void)
{
    for (int64_t law = 0; law < LAW_STATE; law++) {
        const program p = made(law);
        int64_t at = -1;
        const int64_t n_params = p.words[1];
        CHECK(pyspec_measured_is_sound(p.words, WORDS + 1, n_params, &at));
        CHECK(!pyspec_measured_is_sound(p.words, WORDS - 1, n_params, &at));
        CHECK_INT(at, 0);
        CHECK(!pyspec_measured_is_sound(p.words, MEASURED_HEAD - 1, n_params, &at));
        CHECK(!pyspec_measured_is_sound(p.words, WORDS, n_params + 1, &at));
        for (int64_t k = 0; k < MEASURED_HEAD; k++) {
            CHECK_INT(refused_at(law, k, -1), 0);
            CHECK_INT(refused_at(law, k, p.words[k] + 9), 0);
            CHECK_INT(refused_at(law, k, INT64_MAX), 0); /* nothing is computed from such a count */
            CHECK_INT(refused_at(law, k, INT64_MIN), 0);
        }
        CHECK_INT(refused_at(law, 0, WORDS - 1), 0);
        CHECK_INT(refused_at(law, 0, MEASURED_HEAD), 0);
        CHECK_INT(refused_at(law, 1, n_params - 1), 0);
        CHECK_INT(refused_at(law, 2, N_MEASURED), 0);
        CHECK_INT(refused_at(law, 2, law == LAW_STEP ? LAW_LINE : LAW_STEP),
                  law == LAW_STEP || law == LAW_LINE ? -1 : 0);
        CHECK_INT(refused_at(law, 3, SAMPLES - 1), 0);
    }
}

static void test_samples(void)
{
    enum { TIME = MEASURED_HEAD, VALUE = TIME + SAMPLES };
    for (int k = 0; k < 2 * SAMPLES; k++) {
        CHECK_INT(refused_at(LAW_DECAY, TIME + k, word_of(NAN)), TIME + k);
        CHECK_INT(refused_at(LAW_DECAY, TIME + k, word_of(INFINITY)), TIME + k);
        CHECK_INT(refused_at(LAW_DECAY, TIME + k, word_of(-INFINITY)), TIME + k);
    }
    CHECK_INT(refused_at(LAW_DECAY, TIME, word_of(-DBL_MAX)), -1);
    CHECK_INT(refused_at(LAW_DECAY, VALUE, word_of(DBL_MAX)), -1);
    CHECK_INT(refused_at(LAW_DECAY, TIME, word_of(-0.1)), TIME + 1); /* twice the same */
    CHECK_INT(refused_at(LAW_DECAY, TIME + 2, word_of(-0.2)), TIME + 2);
    CHECK_INT(refused_at(LAW_DECAY, TIME + 4, word_of(0.2)), TIME + 4);
    CHECK_INT(refused_at(LAW_DECAY, VALUE, word_of(-3.0)), -1);
    CHECK_INT(refused_at(LAW_DECAY, VALUE + 4, word_of(0.0)), -1);
    /* What stands behind a program is not read. */
    int64_t longer[2 * WORDS], at;
    for (int k = 0; k < 2 * WORDS; k++)
        longer[k] = word_of(NAN);
    memcpy(longer, made(LAW_DECAY).words, sizeof made(LAW_DECAY).words);
    CHECK(pyspec_measured_is_sound(longer, 2 * WORDS, 4, &at));
}

/* As few and as many samples as there may be, and one more or less. */
static void test_counts(void)
{
    static int64_t words[MEASURED_HEAD + 2 * (MAX_SAMPLES + 1)];
    const int64_t counts[] = {1, 2, MAX_SAMPLES, MAX_SAMPLES + 1};
    int64_t at;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const int64_t n = counts[i], head[] = {MEASURED_HEAD + 2 * n, 4, LAW_DECAY, n};
        memcpy(words, head, sizeof head);
        for (int64_t k = 0; k < n; k++) {
            words[MEASURED_HEAD + k] = word_of((double)k);
            words[MEASURED_HEAD + n + k] = word_of(1.0);
        }
        CHECK_INT(pyspec_measured_is_sound(words, words[0], 4, &at), n > 1 && n <= MAX_SAMPLES);
    }
    words[0] -= 2, words[3]--;
    memmove(words + MEASURED_HEAD + MAX_SAMPLES, words + MEASURED_HEAD + MAX_SAMPLES + 1,
            MAX_SAMPLES * sizeof *words);
    double x[] = {-0.5, 0.5, 998.75, 999.0, 1005.0}, params[] = {1.0, 1e5, 0.0, 0.0}, value[5];
    CHECK_INT(pyspec_measured(words, words[0], 1, 5, x, params, value, NULL), STATUS_OK);
    CHECK(value[0] == 0.0 && value[1] > 0.0 && value[2] > 900.0 && value[3] > value[2] &&
          value[4] < value[3]);
}

/* ---- laws -------------------------------------------------------------------------------------- */

static double law_at(const program *p, double s)
{
    const double *q = p->params;
    switch (p->words[2]) {
    case LAW_STEP:
        return q[0] + q[2];
    case LAW_LINE:
        return q[0] * s + q[2];
    case LAW_DECAY:
        return q[0] * exp(-s / q[1]) + q[3];
    case LAW_SINE:
        return q[0] * sin(6.28318530717958648 * q[1] * s + q[2]) + q[4];
    default:
        return q[0] * exp(-s / q[3]) * sin(6.28318530717958648 * q[1] * s + q[2]) + q[5];
    }
}

/* int r(s) f(u - s) ds by Simpson's rule on each piece. */
static double seen(const program *p, double u)
{
    enum { N = 200 };
    double sum = 0.0;
    for (int k = 0; k + 1 < SAMPLES; k++) {
        const double a = measured_time(p->words, k), b = measured_time(p->words, k + 1);
        const double from = measured_value(p->words, k), to = measured_value(p->words, k + 1);
        const double h = ((u < b ? u : b) - a) / N;
        for (int i = 0; i <= N && u > a; i++) {
            const double s = a + h * i, weight = i == 0 || i == N ? 1.0 : i % 2 ? 4.0 : 2.0;
            sum += h / 3.0 * weight * (from + (to - from) * (s - a) / (b - a)) * law_at(p, u - s);
        }
    }
    return sum;
}

static int run_program(const program *p, int64_t n_words, const double *times, double *value,
                       double (*partials)[TIMES])
{
    double *to[MAX_PARAMS];
    for (int k = 0; k < MAX_PARAMS; k++)
        to[k] = partials ? partials[k] : NULL;
    return pyspec_measured(p->words, n_words, 1, TIMES, times, p->params, value, partials ? to : NULL);
}

static void times_from(double first, double step, double *times)
{
    for (int i = 0; i < TIMES; i++)
        times[i] = first + step * i;
}

static void test_laws(void)
{
    static const double own[] = {1.0, 0.02, 30.0}; /* as it is, far faster, far slower */
    double times[TIMES], value[TIMES];
    times_from(-0.5, 0.13, times);
    for (int64_t law = 0; law < LAW_STATE; law++)
        for (size_t k = 0; k < (law < LAW_DECAY ? 1 : sizeof own / sizeof *own); k++) {
            program p = made(law);
            const int64_t onset = p.words[1] - 2;
            if (law >= LAW_DECAY)
                p.params[1] *= law == LAW_DECAY ? own[k] : 1.0 / own[k];
            const int is_fast = k == 1;
            CHECK_INT(run_program(&p, WORDS, times, value, NULL), STATUS_OK);
            for (int i = 0; i < TIMES; i++)
                CHECK(fabs(value[i] - seen(&p, times[i] - p.params[onset])) <=
                      (is_fast ? 2e-3 : 1e-8));
        }
}

static void test_slopes(void)
{
    double times[TIMES], value[TIMES], up[TIMES], down[TIMES];
    static double partials[MAX_PARAMS][TIMES];
    times_from(-0.53, 0.137, times);
    for (int64_t law = 0; law < LAW_STATE; law++) {
        program p = made(law);
        CHECK_INT(run_program(&p, WORDS, times, value, partials), STATUS_OK);
        CHECK_INT(run_program(&p, WORDS, times, up, NULL), STATUS_OK);
        CHECK(!memcmp(value, up, sizeof up));
        for (int64_t k = 0; k < p.words[1]; k++) {
            const double given = p.params[k], h = 1e-5;
            p.params[k] = given + h;
            run_program(&p, WORDS, times, up, NULL);
            p.params[k] = given - h;
            run_program(&p, WORDS, times, down, NULL);
            p.params[k] = given;
            for (int i = 0; i < TIMES; i++)
                CHECK(fabs(partials[k][i] - (up[i] - down[i]) / (2.0 * h)) <= 1e-7);
        }
    }
}

/* At a sample, and at the jumps of a response, the derivative by the onset is that from behind. */
static void test_slopes_at_jumps(void)
{
    double times[TIMES], value[TIMES];
    static double partials[MAX_PARAMS][TIMES];
    program p = made(LAW_STEP);
    times_from(0.0, 1.0, times);
    p.params[1] = 0.0;
    for (int k = 0; k < SAMPLES; k++)
        times[k] = measured_time(p.words, k);
    CHECK_INT(run_program(&p, WORDS, times, value, partials), STATUS_OK);
    for (int k = 0; k < SAMPLES; k++)
        CHECK(fabs(partials[1][k] + (k + 1 < SAMPLES ? 1.8 * measured_value(p.words, k) : 0.0)) <=
              1e-14);
    CHECK(value[0] == 0.0);
    program late = made(LAW_DECAY);
    late.params[2] = 0.0;
    CHECK_INT(run_program(&late, WORDS, times, value, partials), STATUS_OK);
    const double end = value[SAMPLES - 1] - late.params[3] * partials[3][SAMPLES - 1];
    CHECK(fabs(partials[2][SAMPLES - 1] - end / late.params[1]) <= 1e-13);
}

/* Phases beyond what is reduced quickly, and laws that are over at once. */
static void test_extremes(void)
{
    double times[TIMES], value[TIMES];
    static double partials[MAX_PARAMS][TIMES];
    times_from(-0.5, 0.13, times);
    for (int64_t law = LAW_DECAY; law < LAW_STATE; law++)
        for (int k = -300; k <= 300; k += 20) {
            program p = made(law);
            p.params[1] = pow(10.0, k);
            CHECK_INT(run_program(&p, WORDS, times, value, partials), STATUS_OK);
            for (int i = 0; i < TIMES; i++)
                CHECK(law >= LAW_SINE && k > 100 ? 1 : fabs(value[i]) < 2.0);
            for (int i = 0; i < TIMES; i++)
                CHECK(law >= LAW_SINE || fabs(partials[1][i]) < 1e3);
        }
}

/* ---- side by side ------------------------------------------------------------------------------ */

/* Rows in lanes, of which some share their rates with the one before: each has the bits that it has
 * alone, also where the lanes hold times of one row. */
static void test_lanes(void)
{
    static double x[TIMES * L], value[TIMES * L], slopes[MAX_PARAMS][TIMES * L];
    static double rows[L * TIMES], row_slopes[MAX_PARAMS][L * TIMES], own_slopes[MAX_PARAMS][TIMES];
    double params[MAX_PARAMS * L], times[TIMES], own[TIMES], *to[MAX_PARAMS], *row_to[MAX_PARAMS];
    times_from(-0.5, 0.13, times);
    for (int k = 0; k < MAX_PARAMS; k++) {
        to[k] = slopes[k];
        row_to[k] = row_slopes[k];
    }
    for (int64_t law = 0; law < LAW_STATE; law++)
        for (int across = 0; across < 2; across++) {
            const program p = made(law);
            const int64_t n_params = p.words[1];
            for (int64_t k = 0; k < n_params; k++)
                for (int64_t l = 0; l < L; l++)
                    params[k * L + l] = p.params[k] * (1.0 + 0.1 * (double)(k == 1 ? l / 3 : l));
            for (int64_t i = 0; i < TIMES * L; i++)
                x[i] = times[across ? i / L : i % TIMES];
            const pyspec_block b = {.n = TIMES, .n_valid = TIMES * L, .across = across, .x = x,
                                    .program = p.words};
            k_measured(&b, params, value, to);
            CHECK_INT(pyspec_measured(p.words, WORDS, L, TIMES, times, params, rows, row_to), STATUS_OK);
            for (int64_t l = 0; l < L; l++) {
                program alone = p;
                for (int64_t k = 0; k < n_params; k++)
                    alone.params[k] = params[k * L + l];
                CHECK_INT(run_program(&alone, WORDS, times, own, own_slopes), STATUS_OK);
                CHECK(!memcmp(own, rows + l * TIMES, sizeof own));
                for (int64_t i = 0; i < TIMES; i++) {
                    CHECK(own[i] == value[i * L + l]);
                    for (int64_t k = 0; k < n_params; k++)
                        CHECK(own_slopes[k][i] == slopes[k][i * L + l] &&
                              own_slopes[k][i] == row_slopes[k][l * TIMES + i]);
                }
            }
            k_measured(&b, params, own_slopes[0], NULL);
            CHECK(!memcmp(own_slopes[0], value, sizeof value));
        }
}

/* Derivatives that nobody wants are left out, and change none of the others. */
static void test_some_slopes(void)
{
    static double all[MAX_PARAMS][TIMES], some[MAX_PARAMS][TIMES];
    double times[TIMES], value[TIMES], *to[MAX_PARAMS] = {NULL};
    const program p = made(LAW_SINE);
    times_from(-0.5, 0.13, times);
    CHECK_INT(run_program(&p, WORDS, times, value, all), STATUS_OK);
    for (int64_t k = 0; k < p.words[1]; k += 2)
        to[k] = some[k];
    CHECK_INT(pyspec_measured(p.words, WORDS, 1, TIMES, times, p.params, value, to), STATUS_OK);
    for (int64_t k = 0; k < p.words[1]; k++)
        for (int i = 0; i < TIMES; i++)
            CHECK(some[k][i] == (k % 2 ? 0.0 : all[k][i]));
}

static void test_refusals(void)
{
    double times[TIMES], value[TIMES];
    const program p = made(LAW_DECAY);
    const int64_t *w = p.words, n = WORDS;
    times_from(0.0, 1.0, times);
    CHECK_INT(pyspec_measured(NULL, n, 1, 1, times, p.params, value, NULL), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_measured(w, n, 1, 1, NULL, p.params, value, NULL), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_measured(w, n, 1, 1, times, NULL, value, NULL), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_measured(w, n, 1, 1, times, p.params, NULL, NULL), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_measured(w, MEASURED_HEAD - 1, 1, 1, times, p.params, value, NULL),
              STATUS_PROGRAM);
    CHECK_INT(pyspec_measured(w, n - 1, 1, 1, times, p.params, value, NULL), STATUS_PROGRAM);
    CHECK_INT(pyspec_measured(w, n, 0, 1, times, p.params, value, NULL), STATUS_SIZE);
    CHECK_INT(pyspec_measured(w, n, 1, 0, times, p.params, value, NULL), STATUS_SIZE);
}

/* ---- whatever is accepted ---------------------------------------------------------------------- */

static uint64_t random_state = 12345;

static uint64_t below(uint64_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % n;
}

static void test_random_programs(void)
{
    const double odd[] = {0.0, -0.0, 1e-320, 1e300, -1e300, 1e-150, INFINITY, NAN};
    static double partials[MAX_PARAMS][TIMES];
    double times[TIMES], value[TIMES];
    int accepted = 0;
    times_from(-1.0, 0.2, times);
    for (int trial = 0; trial < 20000; trial++) {
        program p = made((int64_t)below(LAW_STATE));
        for (uint64_t edits = below(4); edits > 0; edits--) {
            const uint64_t at = below(WORDS);
            p.words[at] = at < MEASURED_HEAD ? (int64_t)below(20) - 2
                          : below(2)         ? word_of(odd[below(8)])
                                             : word_of(0.01 * (double)below(200) - 1.0);
        }
        for (int k = 0; k < MAX_PARAMS; k++)
            p.params[k] = below(8) ? 0.01 * (double)below(300) : odd[below(8)];
        accepted += run_program(&p, WORDS, times, value, below(2) ? partials : NULL) == STATUS_OK;
    }
    CHECK(accepted > 2000);
}

int main(void)
{
    RUN(test_heads);
    RUN(test_samples);
    RUN(test_counts);
    RUN(test_laws);
    RUN(test_slopes);
    RUN(test_slopes_at_jumps);
    RUN(test_extremes);
    RUN(test_lanes);
    RUN(test_some_slopes);
    RUN(test_refusals);
    RUN(test_random_programs);
    return REPORT;
}
