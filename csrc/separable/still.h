/* still.h: columns of J that are the same in every row. */
#ifndef PYSPEC_STILL_H
#define PYSPEC_STILL_H

#include "walk/run.h"

/* Finds them for sums of J^T J without weights, behind pyspec_fill_prepared into the same memory. */
void pyspec_prepare_still(run *r);

/* How many there are; and the rest of a basis. */
int64_t pyspec_count_still(const run *r);
basis pyspec_moving_basis(const run *r, const basis *all);

/* Adds their products with other columns of a block, n abscissae, to the sums of a tile. The first `scalar`
 * columns of the list belong to parameters that are the same in every row. The residual is among them.
 * `scalar` is 0 if the rows of the tile must not be added up. */
void pyspec_add_still(const run *r, const tile *t, const double **columns, const int64_t *list,
                      int64_t count, int64_t scalar, int64_t n, double *sums);

#endif
