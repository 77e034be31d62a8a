/* separable.h: sums of a plan whose spectra are a few shapes times traces. */
#ifndef PYSPEC_SEPARABLE_H
#define PYSPEC_SEPARABLE_H

#include "sums/sum_tree.h"

/* Whether shapes and traces give the sums of a problem: the plan says so, and weights and mask are
 * the same for all rows or for all abscissae. The second function also asks whether data are
 * present. */
int pyspec_may_separate(const pyspec_call *call, int64_t form);
int pyspec_is_separable(const pyspec_call *call, int64_t form);

/* Whether strips of the rows are whole, but for those that the window cuts. */
int pyspec_is_whole(const pyspec_problem *q, int64_t begin, int64_t end);

/* Whether pyspec_prepare has left the shapes behind. */
int pyspec_has_shapes(const pyspec_call *call);

/* The shapes along the energies, behind pyspec_prepare into the same memory. */
int pyspec_prepare_shapes(const pyspec_call *call, int64_t form);

/* What pyspec_accumulate does. The range begins and ends at multiples of STRIP rows, or where the
 * window does. Sums that are not finite may be so by the order of operations alone. */
int pyspec_accumulate_shapes(const pyspec_call *call, pyspec_normal *normal, int64_t row_begin,
                             int64_t row_end);

#endif
