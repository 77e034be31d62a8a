/* random_formula.h: sound programs of formulas. */
#ifndef RANDOM_FORMULA_H
#define RANDOM_FORMULA_H

#include "formula/formula.h"
#include "random/random_plan.h"

enum { MOST_FORMULA_WORDS = 700, MOST_FORMULA_PARAMS = 6, MOST_FORMULA_INPUTS = 3 };

/* A number that counts or one that is hard. */
double random_number(rng *r);

/* A program of n_params parameters, MOST_FORMULA_PARAMS at most, that reads n_inputs; returns its length. With `height`
 * its value is the first parameter times what does not depend on it, and so are the slopes. */
int64_t random_formula(rng *r, int64_t *program, int n_params, int n_inputs, int height);

/* A kernel of n_params parameters, with or without the programs of reach and tail. */
enum { MOST_KERNEL_WORDS = CONV_HEAD + CONV_PARTS * MOST_FORMULA_WORDS };
int64_t random_kernel(rng *r, int64_t *words, int n_params);

/* Changes one of its n words. */
void mutate_formula(rng *r, int64_t *program, int64_t n);

/* Runs a sound program at hostile numbers, on a block whose buffers have no byte to spare. Whether the
 * value has the same bits with slopes and without; of a NaN the sign does not count. */
int run_formula(rng *r, const int64_t *program, pyspec_kernel *kernel);

#endif
