/* still.h: columns of J that are the same in every row. */
#ifndef PYSPEC_STILL_H
#define PYSPEC_STILL_H

#include "run.h"

/* Finds them for sums of J^T J without weights, behind pyspec_fill_prepared into the same memory. */
void pyspec_prepare_still(run *r);

/* How many there are; and the rest of a basis. */
int64_t pyspec_count_still(const run *r);
basis pyspec_moving_basis(const run *r, const basis *all);

/* Their numbers, rising, and their lines. */
still_columns pyspec_still_columns(const run *r);

#endif
