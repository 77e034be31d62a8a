/* residual_sums.h: what a residual says of its noise; see pyspec.h for how entries are called. */
#ifndef PYSPEC_RESIDUAL_SUMS_H
#define PYSPEC_RESIDUAL_SUMS_H

#include "pyspec.h"

/* Sums over a residual (n_rows, n_columns). Points where keep is 0 do not count; keep may be NULL.
 *
 * The 12 doubles of `sums`:
 *   - 0-3: number of points, sum of squares, largest size |r|, sum of fourth powers.
 *   - 4-5: number of sizes below parts[0] and below parts[1] of the largest. Here points that are not kept count too.
 *   - 6-8: neighbours in a column: pairs, sum of products, sum of squared products.
 *   - 9-11: the same in a row.
 *
 * The arrays `rows` and `columns`, [3][lines], have a line for every two rows or columns, or for a single one. They
 * hold differences d of neighbours, scaled to the variance of a point: their number, the sum of sqrt |d|, the sum of
 * |d|. */
PYSPEC_API int pyspec_residual_sums(const double *residual, const uint8_t *keep, int64_t n_rows,
                                    int64_t n_columns, const double *parts, double *sums, double *rows,
                                    double *columns);

#endif
