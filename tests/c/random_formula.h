/* random_formula.h: sound programs of formulas. */
#ifndef RANDOM_FORMULA_H
#define RANDOM_FORMULA_H

#include "formula.h"
#include "random_plan.h"

enum { MOST_FORMULA_WORDS = 600, MOST_FORMULA_PARAMS = 6 };

/* A program of n_params parameters, MOST_FORMULA_PARAMS at most; returns its length. With `height`
 * its value is the first parameter times what does not depend on it, and so are the slopes. */
int64_t random_formula(rng *r, int64_t *program, int n_params, int height);

#endif
