/* scheme_stretch.h: exp(K s) of a scheme over stretches of time. */
#ifndef PYSPEC_SCHEME_STRETCH_H
#define PYSPEC_SCHEME_STRETCH_H

#include "scheme.h"

/* Before any other. */
void pyspec_begin_stretches(prepared_scheme *p, const scheme_rates *r);

/* A stretch of 0 <= length <= 1; pyspec_level in scheme.h is one of 2^level. */
void pyspec_short_stretch(const scheme_circle *c, int n, int slopes, double length, scheme_stretch *out);

/* e, and with slopes x, = the sum over k of factors[k] powers[k]; and e with columns of that sum. */
void pyspec_sum_powers(const scheme_circle *c, int n, int slopes, const double *factors,
                       double (*e)[MAX_STATES], double (*x)[MAX_STATES]);
void pyspec_sum_columns_to(int n, double total, double (*e)[MAX_STATES]);

/* out = columns of the sum `total` as differences of states of a block; out = a b + c d. */
void pyspec_take_differences(const scheme_circle *c, int n, double (*e)[MAX_STATES], double total,
                             double (*out)[MAX_STATES]);
void pyspec_two_products(int n, double (*a)[MAX_STATES], double (*b)[MAX_STATES],
                         double (*c)[MAX_STATES], double (*d)[MAX_STATES],
                         double (*out)[MAX_STATES]);

#endif
