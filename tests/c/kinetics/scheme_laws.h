/* scheme_laws.h: the laws of laws.h are states of kinetic schemes. */
#ifndef SCHEME_LAWS_H
#define SCHEME_LAWS_H

#include "support/laws.h"

static int run_law(const int64_t *words, int64_t n_words, int64_t n_rows, int64_t n_times, const double *times,
                   const double *params, double *value, double *const *slopes)
{
    return pyspec_scheme(words, n_words, PYSPEC_ISA_BASELINE, n_rows, n_times, times, params, value, slopes);
}

static void run_lanes(const pyspec_block *b, const double *params, double *value, double *const *slopes)
{
    pyspec_run_scheme(b, PYSPEC_ISA_BASELINE, params, value, slopes);
}

static int is_sound(const int64_t *words, int64_t n_words, int64_t n_params, int64_t *at)
{
    return pyspec_scheme_is_sound(words, n_words, n_params, at);
}

/* Populations under a Gaussian instrument, by the rule of Simpson from the onset on, over what is seen. */
static inline void check_instrument(const program *p, double tolerance)
{
    enum { N = 200 };
    double times[TIMES], value[TIMES];
    const double width = p->params[6];
    times_from(-0.4, 0.19, times);
    CHECK_INT(run_program(p, p->words[0], times, value, NULL), STATUS_OK);
    for (int i = 0; i < TIMES; i += 3) {
        const double to = times[i] - p->params[5], begin = fmax(to - 8.0 * width, 0.0);
        const double end = fmax(to + 8.0 * width, begin);
        double sum = 0.0;
        for (int k = 0; k <= N && end > begin; k++) {
            const double s = begin + (end - begin) * k / N, away = (to - s) / width;
            sum += simpson(k, N, (end - begin) / N) * exp(-0.5 * away * away) * solved(p, s, 300);
        }
        CHECK(fabs(value[i] - sum * 0.39894228040143268 / width) <= tolerance);
    }
}

#endif
