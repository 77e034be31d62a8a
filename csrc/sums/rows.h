/* rows.h: what is done with rows of a residual, for walks and for the elimination of amplitudes. */
#ifndef PYSPEC_ROWS_H
#define PYSPEC_ROWS_H

#include <stdint.h>

/* qr_update.c: turns n more rows into R, an upper triangle of that order. The rows are `columns` of
 * n doubles each, and are lost. The new RᵀR is the old one plus their Gram matrix. */
void pyspec_absorb(double *triangle, int64_t order, double *columns, int64_t n);

/* residual.c: the signed root of the deviance of a count, and minus its derivative by the model. */
double pyspec_deviance(double d, double m, double scale);
double pyspec_deviance_fall(double d, double m, double scale);

#endif
