/* dense_linear.h: free amplitudes by their definition, one group and one number at a time: the reference of the
 * fuzzer. */
#ifndef DENSE_LINEAR_H
#define DENSE_LINEAR_H

#include "elimination/project.h"

/* How what pyspec_project has left behind compares with the definition. */
enum { DENSE_EQUAL, DENSE_DIFFERENT, DENSE_UNDECIDED };

/* The amplitudes of `q` and its triangle, of this form and order. Squares: every set of amplitudes is tried, the
 * best one within the bounds has the same chi^2, and [J r] has the same products. Counts: no step of an amplitude
 * lowers the deviance. UNDECIDED where numbers are not finite or large, where columns are combinations of others but
 * for a small rest, or where expected counts are not positive. */
int dense_compare(const pyspec_linear *q, int64_t form, const double *triangle);

#endif
