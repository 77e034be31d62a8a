/* random_scheme.h: sound programs of kinetic schemes. */
#ifndef RANDOM_SCHEME_H
#define RANDOM_SCHEME_H

#include "random/random_plan.h"
#include "kinetics/scheme.h"

enum {
    MOST_SCHEME_STEPS = 12,
    MOST_SCHEME_WORDS = SCHEME_HEAD + 3 * MOST_SCHEME_STEPS + 4 * MAX_STATES,
    MOST_SCHEME_RATES = 5
};

/* A program with so many rates, at most MOST_SCHEME_RATES; its parameters are the height, the
 * rates, the onset and, if `under`, the width of an instrument. Returns its length. */
int64_t random_scheme(rng *r, int64_t *program, int n_rates, int under);

#endif
