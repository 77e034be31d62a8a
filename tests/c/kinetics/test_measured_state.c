/* test_measured_state.c: states of kinetic schemes under a measured instrument. What the check refuses of
 * their programs; values against Simpson's rule over pyspec_scheme; slopes against differences; rows and
 * lanes that stand side by side; and that whatever the check accepts runs within its memory. */
#include "kinetics/measured.h"
#include "support/scheme_programs.h"

enum { SAMPLES = 5, OWN = MEASURED_HEAD + 2 * SAMPLES, N_PARAMS = 6 };

/* A state behind the instrument. */
static program behind(program state)
{
    static const double samples[2 * SAMPLES] = {-0.4, -0.1, 0.0, 0.2, 0.6, 0.5, 1.5, 2.0, 1.0, 0.25};
    program p = state;
    const int64_t head[MEASURED_HEAD] = {OWN + state.words[0], state.words[1], LAW_STATE, SAMPLES};
    memcpy(p.words, head, sizeof head);
    memcpy(p.words + MEASURED_HEAD, samples, sizeof samples);
    memcpy(p.words + OWN, state.words, (WORDS - OWN) * sizeof *p.words);
    return p;
}

static program made(int64_t target)
{
    return behind(branched(target, 0));
}

/* The states of both schemes: branched, and with a circle. */
enum { N_CASES = 6 };

static program case_of(int64_t k)
{
    return k < 3 ? made(k) : behind(ring(k - 3, 0, 0));
}

static int refused_at(int64_t k, int64_t other)
{
    program p = made(1);
    const int64_t n = p.words[0];
    int64_t at = -1;
    CHECK(pyspec_measured_is_sound(p.words, n, N_PARAMS, &at));
    p.words[k] = other;
    return pyspec_measured_is_sound(p.words, n, N_PARAMS, &at) ? -1 : (int)at;
}

static void test_checks(void)
{
    const program p = made(2);
    int64_t at = -1;
    const int64_t n = p.words[0];
    CHECK(pyspec_measured_is_sound(p.words, n + 1, N_PARAMS, &at));
    CHECK(!pyspec_measured_is_sound(p.words, n - 1, N_PARAMS, &at));
    CHECK_INT(at, 0);
    CHECK(!pyspec_measured_is_sound(p.words, n, N_PARAMS - 1, &at));
    CHECK_INT(refused_at(0, n - 1), OWN);
    CHECK_INT(refused_at(0, OWN), 0);
    CHECK_INT(refused_at(0, OWN + SCHEME_HEAD - 1), 0);
    CHECK_INT(refused_at(0, OWN + SCHEME_HEAD), OWN);
    CHECK_INT(refused_at(1, N_PARAMS - 1), 0);
    CHECK_INT(refused_at(2, LAW_DECAY), 0);
    CHECK_INT(refused_at(MEASURED_HEAD + 1, word_of(-0.4)), MEASURED_HEAD + 1);
    CHECK_INT(refused_at(OWN, n - OWN - 1), OWN);
    CHECK_INT(refused_at(OWN + 1, N_PARAMS + 1), OWN);
    CHECK_INT(refused_at(OWN + 3, 2), -1); /* another state */
    CHECK_INT(refused_at(OWN + SCHEME_HEAD, 3), OWN + SCHEME_HEAD);
    /* A scheme that ends before the program does. */
    program longer = made(0);
    longer.words[0]++;
    CHECK(!pyspec_measured_is_sound(longer.words, longer.words[0], N_PARAMS, &at));
    CHECK_INT(at, OWN);
}

/* With an instrument of its own and the parameters that this takes, and with steps of two states; a circle
 * has one. */
static void test_what_has_no_response(void)
{
    const int64_t own[SCHEME_HEAD + 1] = {SCHEME_HEAD + 1, 3, 1, 0, 1, 0, 0, 1, 1};
    program p = made(0);
    int64_t at;
    p.words[0] = OWN + SCHEME_HEAD + 1;
    p.words[1] = 3;
    memcpy(p.words + OWN, own, sizeof own);
    CHECK(pyspec_scheme_is_sound(p.words + OWN, SCHEME_HEAD + 1, 3, &at));
    CHECK(!pyspec_measured_is_sound(p.words, p.words[0], 3, &at));
    p.words[OWN + 4] = 0;
    CHECK(pyspec_measured_is_sound(p.words, p.words[0], 3, &at));
    const program ringed = behind(ring(2, 0, 0));
    CHECK(pyspec_measured_is_sound(ringed.words, ringed.words[0], N_PARAMS, &at));
    const program meeting = behind(pairs(2, 0));
    CHECK(pyspec_scheme_is_sound(meeting.words + OWN, meeting.words[OWN], N_PARAMS, &at));
    CHECK(!pyspec_measured_is_sound(meeting.words, meeting.words[0], N_PARAMS, &at));
    CHECK_INT(at, OWN);
}

/* ---- populations ------------------------------------------------------------------------------- */

static int run_measured(const program *p, const double *times, double *value, double (*partials)[TIMES])
{
    double *to[MAX_PARAMS];
    for (int k = 0; k < MAX_PARAMS; k++)
        to[k] = partials ? partials[k] : NULL;
    return pyspec_measured(p->words, WORDS, 1, TIMES, times, p->params, value, partials ? to : NULL);
}

/* int r(s) f(t - s) ds, f the state without an instrument, by Simpson's rule on each piece. */
static double seen(const program *p, double t)
{
    enum { N = 100 };
    double sum = 0.0, s[N + 1], x[N + 1], f[N + 1];
    const double u = t - p->params[N_PARAMS - 1];
    for (int k = 0; k + 1 < SAMPLES; k++) {
        const double a = measured_time(p->words, k), b = measured_time(p->words, k + 1);
        const double from = measured_value(p->words, k), to = measured_value(p->words, k + 1);
        const double h = ((u < b ? u : b) - a) / N;
        if (!(u > a))
            continue;
        for (int i = 0; i <= N; i++) {
            s[i] = a + h * i;
            x[i] = t - s[i] + 1e-13; /* not before the onset */
        }
        pyspec_scheme(p->words + OWN, p->words[OWN], PYSPEC_ISA_BASELINE, 1, N + 1, x, p->params,
                      f, NULL);
        for (int i = 0; i <= N; i++) {
            const double weight = i == 0 || i == N ? 1.0 : i % 2 ? 4.0 : 2.0;
            sum += h / 3.0 * weight * (from + (to - from) * (s[i] - a) / (b - a)) * f[i];
        }
    }
    return sum;
}

static void test_populations(void)
{
    double times[TIMES], value[TIMES];
    times_from(-0.5, 0.17, times);
    for (int64_t k = 0; k < N_CASES; k++)
        for (int close = 0; close < 2; close++) {
            program p = case_of(k);
            if (close) /* coinciding eigenvalues */
                p.params[1] = p.params[2] = p.params[3] = 0.5;
            CHECK_INT(run_measured(&p, times, value, NULL), STATUS_OK);
            for (int i = 0; i < TIMES; i++)
                CHECK(fabs(value[i] - seen(&p, times[i])) <= 1e-8);
            CHECK(value[0] == 0.0 && value[TIMES - 1] > 0.05);
        }
}

static void test_slopes(void)
{
    double times[TIMES], value[TIMES], up[TIMES], down[TIMES];
    static double partials[MAX_PARAMS][TIMES];
    times_from(-0.53, 0.1713, times);
    for (int64_t own = 0; own < N_CASES; own++) {
        program p = case_of(own);
        CHECK_INT(run_measured(&p, times, value, partials), STATUS_OK);
        CHECK_INT(run_measured(&p, times, up, NULL), STATUS_OK);
        CHECK(!memcmp(value, up, sizeof up));
        for (int64_t k = 0; k < N_PARAMS; k++) {
            const double given = p.params[k], h = 1e-5;
            p.params[k] = given + h;
            run_measured(&p, times, up, NULL);
            p.params[k] = given - h;
            run_measured(&p, times, down, NULL);
            p.params[k] = given;
            for (int i = 0; i < TIMES; i++)
                CHECK(fabs(partials[k][i] - (up[i] - down[i]) / (2.0 * h)) <= 1e-7);
        }
    }
}

/* ---- side by side ------------------------------------------------------------------------------ */

/* Rows that share their rates, and rows that do not: each has the bits that it has alone, also where the
 * lanes hold times of one row. */
static void test_lanes(void)
{
    static double x[TIMES * L], value[TIMES * L], slopes[MAX_PARAMS][TIMES * L];
    static double rows[L * TIMES], row_slopes[MAX_PARAMS][L * TIMES], own_slopes[MAX_PARAMS][TIMES];
    double params[MAX_PARAMS * L], times[TIMES], own[TIMES], *to[MAX_PARAMS], *row_to[MAX_PARAMS];
    const program p = made(1);
    times_from(-0.5, 0.17, times);
    for (int k = 0; k < MAX_PARAMS; k++) {
        to[k] = k == 2 ? NULL : slopes[k];
        row_to[k] = row_slopes[k];
    }
    for (int across = 0; across < 2; across++) {
        for (int64_t k = 0; k < N_PARAMS; k++)
            for (int64_t l = 0; l < L; l++)
                params[k * L + l] = p.params[k] * (k == 0 || k == 5 ? 1.0 + 0.1 * (double)l
                                                   : k == 1         ? 1.0 + 0.2 * (double)(l / 3)
                                                                    : 1.0);
        for (int64_t i = 0; i < TIMES * L; i++)
            x[i] = times[across ? i / L : i % TIMES];
        const pyspec_block b = {.n = TIMES, .n_valid = TIMES * L, .across = across, .x = x,
                                .program = p.words};
        k_measured(&b, params, value, to);
        CHECK_INT(pyspec_measured(p.words, WORDS, L, TIMES, times, params, rows, row_to), STATUS_OK);
        for (int64_t l = 0; l < L; l++) {
            program alone = p;
            for (int64_t k = 0; k < N_PARAMS; k++)
                alone.params[k] = params[k * L + l];
            CHECK_INT(run_measured(&alone, times, own, own_slopes), STATUS_OK);
            CHECK(!memcmp(own, rows + l * TIMES, sizeof own));
            for (int64_t i = 0; i < TIMES; i++) {
                CHECK(own[i] == value[i * L + l]);
                for (int64_t k = 0; k < N_PARAMS; k++)
                    CHECK((k == 2 || own_slopes[k][i] == slopes[k][i * L + l]) &&
                          own_slopes[k][i] == row_slopes[k][l * TIMES + i]);
            }
        }
    }
}

/* ---- whatever is accepted ---------------------------------------------------------------------- */

static uint64_t random_state = 777;

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
    for (int trial = 0; trial < 6000; trial++) {
        program p = made((int64_t)below(3));
        for (uint64_t edits = below(4); edits > 0; edits--) {
            const uint64_t at = below(OWN + SCHEME_HEAD + 23);
            p.words[at] = at >= MEASURED_HEAD && at < OWN
                              ? word_of(below(2) ? odd[below(8)] : 0.01 * (double)below(200) - 1.0)
                              : (int64_t)below(10) - 1;
        }
        for (int k = 0; k < MAX_PARAMS; k++)
            p.params[k] = below(8) ? 0.01 * (double)below(300) : odd[below(8)];
        accepted += run_measured(&p, times, value, below(2) ? partials : NULL) == STATUS_OK;
    }
    CHECK(accepted > 1500);
}

int main(void)
{
    RUN(test_checks);
    RUN(test_what_has_no_response);
    RUN(test_populations);
    RUN(test_slopes);
    RUN(test_lanes);
    RUN(test_random_programs);
    return REPORT;
}
