/* square.c: the sum of the squares of measured data, which rounding of chi^2 is measured by. */
#include "isa/lanes.h"

#include <math.h>
#include <string.h>

/* Value i of a line times one weight or one for each value; 0 where it is not kept. */
static ALWAYS_INLINE double weighted(double x, int64_t i, const double *weight, const int each,
                                     const uint8_t *keep)
{
    const double value = weight ? x * (each ? weight[i] : weight[0]) : x;
    return keep && !keep[i] ? 0.0 : value;
}

/* The squares of a line, each in its lane. */
static ALWAYS_INLINE void add_line(const double *x, int64_t n, const double *weight, const int each,
                                   const uint8_t *keep, double *lanes)
{
    int64_t i = 0;
    for (; i + L <= n; i += L)
        for (int k = 0; k < L; k++) {
            const double value = weighted(x[i + k], i + k, weight, each, keep);
            lanes[k] += value * value;
        }
    for (; i < n; i++) {
        const double value = weighted(x[i], i, weight, each, keep);
        lanes[i % L] += value * value;
    }
}

/* The same where numbers lie further apart, in bytes. */
static void add_apart(const double *x, int64_t n, const double *weight, int64_t weight_x,
                      const uint8_t *keep, int64_t keep_x, double *lanes)
{
    for (int64_t i = 0; i < n; i++) {
        double one = 1.0;
        if (weight)
            memcpy(&one, (const char *)weight + i * weight_x, sizeof one);
        const double value = keep && !keep[i * keep_x] ? 0.0 : weight ? x[i] * one : x[i];
        lanes[i % L] += value * value;
    }
}

static const void *behind(const void *place, int64_t bytes)
{
    return place ? (const char *)place + bytes : NULL;
}

double pyspec_square(const double *values, int64_t n_rows, int64_t n_columns, int64_t row,
                     const double *weight, int64_t weight_row, int64_t weight_x, const uint8_t *keep,
                     int64_t keep_row, int64_t keep_x)
{
    const int apart = (weight && weight_x != 0 && weight_x != (int64_t)sizeof *weight) ||
                      (keep && keep_x != 0 && keep_x != 1);
    double lanes[L] = {0.0}, sum = 0.0;
    if (!values && n_rows > 0 && n_columns > 0)
        return NAN;
    for (int64_t j = 0; j < n_rows; j++) {
        const double *x = behind(values, j * row), *w = behind(weight, j * weight_row);
        const uint8_t *kept = behind(keep, j * keep_row);
        if (kept && keep_x == 0) {
            if (!*kept)
                continue;
            kept = NULL;
        }
        if (apart)
            add_apart(x, n_columns, w, weight_x, kept, keep_x, lanes);
        else if (!w && !kept)
            add_line(x, n_columns, NULL, 0, NULL, lanes);
        else if (!kept && weight_x == 0)
            add_line(x, n_columns, w, 0, NULL, lanes);
        else if (!kept)
            add_line(x, n_columns, w, 1, NULL, lanes);
        else if (!w)
            add_line(x, n_columns, NULL, 0, kept, lanes);
        else
            add_line(x, n_columns, w, weight_x != 0, kept, lanes);
    }
    for (int k = 0; k < L; k++)
        sum += lanes[k];
    return sum;
}
