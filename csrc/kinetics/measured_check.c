/* measured_check.c: verifies the program of a measured response once, so that it can be trusted. */
#include "kinetics/measured.h"
#include "kinetics/scheme.h"

#include <float.h>
#include <math.h>

/* The counts are known to be small before anything is computed from them. */
static int check_head(const measured *m, int64_t room, int64_t n_params)
{
    if (!in_range(m->n_words, MEASURED_HEAD, room + 1) || !in_range(m->law, 0, N_MEASURED) ||
        m->n_params != n_params || !in_range(m->n_samples, 2, MAX_SAMPLES + 1))
        return 0;
    const int64_t rest = m->n_words - MEASURED_HEAD - 2 * m->n_samples;
    return m->law == LAW_STATE ? rest >= SCHEME_HEAD
                               : rest == 0 && n_params == measured_params(m->law);
}

/* The program of a state fills the rest. It has no instrument of its own, and no steps of two states: the
 * response to a sum of starts is the sum of their responses only without such steps. */
static int check_state(const int64_t *program, int64_t *at)
{
    const int64_t *own = measured_scheme(program), begin = own - program;
    const int64_t room = measured_head(program)->n_words - begin;
    const int is_sound = pyspec_scheme_is_sound(own, room, measured_head(program)->n_params, at);
    *at = is_sound ? begin : begin + *at;
    return is_sound && scheme_head(own)->n_words == room && !scheme_head(own)->under &&
           !pyspec_has_pairs(own);
}

int pyspec_measured_is_sound(const int64_t *program, int64_t room, int64_t n_params, int64_t *at)
{
    *at = 0;
    if (room < MEASURED_HEAD || !check_head(measured_head(program), room, n_params))
        return 0;
    const int64_t n = measured_head(program)->n_samples;
    for (int64_t k = 0; k < 2 * n; k++)
        if (*at = MEASURED_HEAD + k, !(fabs(measured_time(program, k)) <= DBL_MAX))
            return 0;
    for (int64_t k = 1; k < n; k++)
        if (*at = MEASURED_HEAD + k, !(measured_time(program, k) > measured_time(program, k - 1)))
            return 0;
    return measured_head(program)->law != LAW_STATE || check_state(program, at);
}
