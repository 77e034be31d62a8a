/* random_problem.h: random problems for the plans of the fuzzer, in memories of exactly the sizes
 * that they state. */
#ifndef RANDOM_PROBLEM_H
#define RANDOM_PROBLEM_H

#include "random/random_plan.h"

/* n doubles: rising with small noise, with `hostile` percent of them replaced. */
double *random_doubles(rng *r, int64_t n, int hostile);
/* n values of parameters: most are positive, as most bounds ask. */
double *random_values(rng *r, int64_t n, int hostile);

/* Sizes and window for a plan, at most 6 rows of 12 points if `small`; the pointers are only not
 * NULL yet. */
void random_sizes(rng *r, const pyspec_plan *plan, int small, pyspec_problem *q);
/* Changes one of them, or takes an array away. */
void mutate_sizes(rng *r, pyspec_problem *q);
/* Gives an accepted problem arrays of exactly the sizes that it states. */
void fill_problem(rng *r, const pyspec_plan *plan, pyspec_problem *q, int hostile);

#endif
