/* fuzz_sums.h: sums over rows and fits of random plans, for the fuzzer. */
#ifndef FUZZ_SUMS_H
#define FUZZ_SUMS_H

#include "random/random_plan.h"

/* How sums turned out: not the same bits for another division of the rows, a number where chi^2 is
 * NaN, or a status that is not OK; compared with the stored derivatives or not; different from what those give. */
enum { SUMS_FAILED = 1, SUMS_COMPARED = 2, SUMS_DIFFERENT = 4 };

/* Sums of a random form over random chunks; `compare`: with the stored derivatives as well, where
 * these are finite. */
int fuzz_sums(rng *r, const pyspec_plan *plan, const pyspec_problem *problem, const double *theta,
              int compare);

/* A fit of a few evaluations within random bounds. Returns NULL or what is wrong with its end. */
const char *fuzz_fit(rng *r, const pyspec_plan *plan, const pyspec_problem *problem,
                     const double *theta);

/* How a projection turned out: a status, or other bits the second time; compared with its definition or not;
 * different from that; with basis functions for each group; of counts. */
enum { LINEAR_FAILED = 1, LINEAR_COMPARED = 2, LINEAR_DIFFERENT = 4, LINEAR_TURNED = 8, LINEAR_COUNTS = 16 };

/* The plan as basis functions of free amplitudes, projected from random data in a part of a fit. */
int fuzz_linear(rng *r, const pyspec_plan *plan, const pyspec_problem *problem, const double *theta);

#endif
