/* random_plan.h: random plans for the fuzzer, and a random change to one of their fields. */
#ifndef RANDOM_PLAN_H
#define RANDOM_PLAN_H

#include "support/plans.h"

typedef struct rng {
    uint64_t state;
} rng;

uint64_t draw(rng *r);
/* A number in [0, n). */
int64_t below(rng *r, int64_t n);
int chance(rng *r, int percent);
/* A number that counts and offsets are likely to get wrong, some of them near `old`. */
int64_t odd_integer(rng *r, int64_t old);
/* NaN, infinities, denormals, numbers that overflow when squared, zeros. */
double hostile_double(rng *r);

/* A well-formed plan; the result of finish() on it passes pyspec_check. */
void random_plan(rng *r, plan_builder *b);

/* Changes one field of the header or of a node, or one word. The size stays. */
void mutate_plan(rng *r, pyspec_plan *plan, int64_t plan_size);

#endif
