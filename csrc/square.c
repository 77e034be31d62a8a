/* square.c: the sum of the squares of measured data, which rounding of chi^2 is measured by. */
#include "pyspec.h"

enum { LANES = 8 };

double pyspec_square(const double *values, int64_t n_rows, int64_t n_columns, int64_t row)
{
    double lanes[LANES] = {0.0}, sum = 0.0;
    for (int64_t j = 0; j < n_rows; j++) {
        const double *x = (const double *)(const void *)((const char *)values + j * row);
        int64_t i = 0;
        for (; i + LANES <= n_columns; i += LANES)
            for (int k = 0; k < LANES; k++)
                lanes[k] += x[i + k] * x[i + k];
        for (; i < n_columns; i++)
            lanes[i % LANES] += x[i] * x[i];
    }
    for (int k = 0; k < LANES; k++)
        sum += lanes[k];
    return sum;
}
