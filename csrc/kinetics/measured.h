/* measured.h: the response of a measured instrument to a law of time, or to a state of a kinetic scheme,
 * as the library runs it: a program in 64-bit words of the plan. The words are, in this order:
 *
 *   - head: MEASURED_HEAD words, see `measured`.
 *   - times: n_samples words, the bits of doubles: times of the samples, ascending.
 *   - values: n_samples words, the bits of doubles: the response at these times, of area 1.
 *   - scheme: for a state only, its program without an instrument, see scheme.h.
 *
 * The response is a straight line between two samples. It is 0 before the first and after the last.
 * Parameters are those of the law, in their order. A law other than a state has y0 last. It may be left
 * out. */
#ifndef PYSPEC_MEASURED_H
#define PYSPEC_MEASURED_H

#include "isa/kernel.h"

#include <string.h>

enum { MEASURED_HEAD = PYSPEC_MEASURED_HEAD, MAX_SAMPLES = PYSPEC_MEASURED_SAMPLES };

/* What the response is known of: stepFun, linFun, expFun, sinFun, dampedSinFun, states of schemes. */
enum { LAW_STEP, LAW_LINE, LAW_DECAY, LAW_SINE, LAW_SWING, LAW_STATE, N_MEASURED };

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

static inline const int64_t *measured_scheme(const int64_t *program)
{
    return program + MEASURED_HEAD + 2 * measured_head(program)->n_samples;
}

/* How many parameters a law has; -1: its program says it. */
static inline int64_t measured_params(int64_t law)
{
    static const int64_t counts[N_MEASURED] = {3, 3, 4, 5, 6, -1};
    return counts[law];
}

/* The last sample at or before u, which is not before the first. */
static inline int64_t measured_sample(const int64_t *program, double u)
{
    int64_t low = 0, high = measured_head(program)->n_samples;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (measured_time(program, middle) <= u)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Rows of parameters, with n times each. Parameter k of row j is params[k * stride + j]. Time i of row j is
 * x[j * x_row + i * x_step]. Its value goes to value[j * to_row + i * to_step], and its derivatives to the same
 * place of partials. `partials` may be NULL or hold NULL. */
typedef struct measured_rows {
    const int64_t *program;
    int64_t n_rows, n;
    const double *x, *params;
    int64_t x_row, x_step, stride, to_row, to_step;
    double *value, *const *partials;
} measured_rows;

/* scheme_measured.c: rows of a state. */
void pyspec_measure_state(const measured_rows *r);

/* measured_check.c: whether a program of at most `room` words, with n_params parameters, stays inside
 * of itself, and its times ascend. Of a fault, `at` is the word. */
int pyspec_measured_is_sound(const int64_t *program, int64_t room, int64_t n_params, int64_t *at);

/* measured.c: runs a checked program, which the block names. */
pyspec_kernel k_measured;

#endif
