/* linear.h: what the two files of eliminated amplitudes share. */
#ifndef PYSPEC_LINEAR_H
#define PYSPEC_LINEAR_H

#include "guard.h"
#include "kernel.h"

/* A column that keeps less than this of its length beside the others is a combination of them. */
#define LINEAR_RANK 1e-12

/* Work of a tile, or of basis functions that all groups share, in doubles. */
typedef struct linear_work {
    double *q;          /* [n_basis][n_x][L] orthonormal columns                       */
    double *columns;    /* [n_theta + 1][n_x][L] those of [J r]                        */
    double *column;     /* [n_x][L] one that is loaded                                 */
    double *r;          /* [n_basis][n_basis][L] the triangle R                        */
    double *b;          /* [n_basis][L] products of Q and the data                     */
    double *c;          /* [n_basis][L] amplitudes                                     */
    double *on;         /* [n_basis][L] 1 where an amplitude takes part                */
    double *turned;     /* [n_theta][n_basis][L] slopes of the second kind             */
    double *triangle;   /* [order (order + 1) / 2][L]                                  */
    double *line;       /* [n_basis + n_slopes][n_x] shared Q and projected slopes     */
    double *fours;      /* the same in fours, [ ][n_x][4]                               */
    double *gram;       /* [n_slopes][n_slopes] of the latter                          */
    double *products;   /* [n_basis + 1][n_basis + 1][L] sums of c c over groups       */
    double *turn;       /* [4][L] projected slopes times the residuals of a tile        */
    double *response;   /* [n_slopes][L] the same times amplitudes, summed over groups */
    double *square;     /* [L] sum of r r over groups                                  */
} linear_work;

typedef void linear_run(const pyspec_linear *q, const linear_work *w);
linear_run pyspec_linear_tiles, pyspec_linear_tiles_avx2, pyspec_linear_tiles_avx512;

/* Amplitudes of one lane that are not negative: which of the columns of R take part (on). */
void pyspec_nonnegative(int64_t n, const double *r, const double *b, const uint8_t *bounded,
                        double *on);

#endif
