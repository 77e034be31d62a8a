/* measured.h: the response of a law of time to a measured instrument, as the library runs it: a program
 * in 64-bit words of the plan.
 *
 *   head     MEASURED_HEAD words, see `measured`
 *   times    n_samples words, the bits of doubles: times of the samples, ascending
 *   values   n_samples words, the bits of doubles: the response at these times, of area 1
 *
 * Between two samples the response is a straight line, before the first and behind the last it is 0.
 * Parameters are those of the law, in their order; y0, the last, may be left out. */
#ifndef PYSPEC_MEASURED_H
#define PYSPEC_MEASURED_H

#include "kernel.h"

#include <string.h>

enum { MEASURED_HEAD = PYSPEC_MEASURED_HEAD, MAX_SAMPLES = PYSPEC_MEASURED_SAMPLES };

/* Laws of which the response is known: stepFun, linFun, expFun, sinFun. */
enum { LAW_STEP, LAW_LINE, LAW_DECAY, LAW_SINE, N_MEASURED };

typedef struct measured {
    int64_t n_words; /* of the whole program */
    int64_t n_params;
    int64_t law;
    int64_t n_samples;
} measured;

static inline const measured *measured_head(const int64_t *program)
{
    return (const measured *)(const void *)program;
}

/* Time k of the samples, and value k. */
static inline double measured_time(const int64_t *program, int64_t k)
{
    double time;
    memcpy(&time, program + MEASURED_HEAD + k, sizeof time);
    return time;
}

static inline double measured_value(const int64_t *program, int64_t k)
{
    return measured_time(program, measured_head(program)->n_samples + k);
}

static inline int64_t measured_params(int64_t law)
{
    static const int64_t counts[N_MEASURED] = {3, 3, 4, 5};
    return counts[law];
}

/* measured_check.c: whether a program of at most `room` words, with n_params parameters, stays inside
 * of itself, and its times ascend. Of a fault, `at` is the word. */
int pyspec_measured_is_sound(const int64_t *program, int64_t room, int64_t n_params, int64_t *at);

/* measured.c: runs a checked program, which the block names. */
pyspec_kernel k_measured;

#endif
