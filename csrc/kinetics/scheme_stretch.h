/* scheme_stretch.h: exp(K s) of a scheme over stretches of time. */
#ifndef PYSPEC_SCHEME_STRETCH_H
#define PYSPEC_SCHEME_STRETCH_H

#include "kinetics/scheme.h"

#include <string.h>

/* Rows as wide as the states need: vectors of 2, 4, 6 or 8 numbers, of which the rest are 0. */
#define BY_WIDTH(n, run, ...)                                                                      \
    do {                                                                                           \
        if ((n) <= 2)                                                                              \
            run(2, __VA_ARGS__);                                                                   \
        else if ((n) <= 4)                                                                         \
            run(4, __VA_ARGS__);                                                                   \
        else if ((n) <= 6)                                                                         \
            run(6, __VA_ARGS__);                                                                   \
        else                                                                                       \
            run(MAX_STATES, __VA_ARGS__);                                                          \
    } while (0)

/* out = row b */
static ALWAYS_INLINE void row_of_product(int width, int n, const double *row, double (*b)[MAX_STATES],
                                         double *out)
{
    double sum[MAX_STATES] = {0.0};
    for (int k = 0; k < n; k++)
        for (int j = 0; j < width; j++)
            sum[j] += row[k] * b[k][j];
    memcpy(out, sum, sizeof sum);
}

/* sum += factor row */
static inline void add_row(double *sum, double factor, const double *row)
{
    for (int j = 0; j < MAX_STATES; j++)
        sum[j] += factor * row[j];
}

/* out = row b, of the width that n states need. */
void pyspec_move_row(int n, const double *row, double (*b)[MAX_STATES], double *out);

/* Before any other. */
void pyspec_begin_stretches(prepared_scheme *p, const scheme_rates *r);

/* A stretch of 0 <= length <= 1; pyspec_level in scheme.h is one of 2^level. */
void pyspec_short_stretch(const scheme_circle *c, int n, int slopes, double length, scheme_stretch *out);

/* out = the sum over k of factors[k] times row i of e of powers[k]. */
void pyspec_sum_row(const scheme_circle *c, int n, int i, const double *factors, double *out);

/* e and x = the sum over k of factors[k] powers[k]. One of them may be NULL. The second function
 * scales the columns of e to the sum `total`. */
void pyspec_sum_powers(const scheme_circle *c, int n, const double *factors,
                       double (*e)[MAX_STATES], double (*x)[MAX_STATES]);
void pyspec_sum_columns_to(int n, double total, double (*e)[MAX_STATES]);

/* out = columns of the sum `total` as differences of states of a block; out = a b; out = a b + c d. */
void pyspec_take_differences(const scheme_circle *c, int n, double (*e)[MAX_STATES], double total,
                             double (*out)[MAX_STATES]);
void pyspec_product(int n, double (*a)[MAX_STATES], double (*b)[MAX_STATES], double (*out)[MAX_STATES]);
void pyspec_two_products(int n, double (*a)[MAX_STATES], double (*b)[MAX_STATES],
                         double (*c)[MAX_STATES], double (*d)[MAX_STATES],
                         double (*out)[MAX_STATES]);

#endif
