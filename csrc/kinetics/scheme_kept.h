/* scheme_kept.h: a scheme at its parameters, kept from one block of a walk to the next. */
#ifndef PYSPEC_SCHEME_KEPT_H
#define PYSPEC_SCHEME_KEPT_H

#include "kinetics/scheme.h"

/* A scheme at the parameters of the block before, where `is_known`. */
typedef struct kept_scheme {
    int64_t is_known;
    double params[MAX_PARAMS];
    prepared_scheme at;
} kept_scheme;

/* scheme.c: pyspec_run_scheme with what belongs to the program and serves calls that all want slopes or all
 * do not; NULL: nothing is kept. */
void pyspec_run_kept_scheme(const pyspec_block *b, int64_t isa, const double *params, double *value,
                            double *const *partials, kept_scheme *kept);

#endif
