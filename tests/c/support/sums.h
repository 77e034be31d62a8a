/* sums.h: sums over rows in exactly sized memories, and the same from the stored derivatives and
 * residuals, one number at a time. */
#ifndef SUMS_H
#define SUMS_H

#include "support/plans.h"

/* Empty sums for n_theta parameters, to be collected into triangles of the order `into` at most;
 * the memories are filled with NaN. */
void make_sums(pyspec_normal *s, int form, int64_t n_theta, int64_t capacity, int64_t into);

/* pyspec_accumulate with an exactly sized work memory, filled with NaN, on test_isa. */
int accumulate(const pyspec_plan *plan, const pyspec_problem *problem, const double *theta,
               pyspec_normal *s, int64_t row_begin, int64_t row_end);

/* The sums in a new triangle of their own order. */
double *collected(const pyspec_normal *s);

/* All rows of the window in one call; NULL unless the status is OK. */
double *summed(const pyspec_plan *plan, const pyspec_problem *problem, const double *theta,
               int form, int *status);

/* Columns of [J r], J minus the derivative of the residual or, for FISHER, the derivative of the
 * model times the root of the expected curvature: [n_theta + 1][points of the window]. */
double *explicit_columns(const pyspec_plan *plan, const pyspec_problem *problem,
                         const double *theta, int form);

/* Their Gram matrix as an upper triangle. */
double *gram_of_columns(const double *columns, int64_t n_columns, int64_t n);
double *explicit_gram(const pyspec_plan *plan, const pyspec_problem *problem, const double *theta, int form);

/* The Gram matrix that a factor stands for. */
double *gram_of_factor(const double *factor, int64_t order);

/* Every entry of two Gram matrices agrees to `tolerance` of the norms of its two columns. */
int gram_close(const double *a, const double *b, int64_t order, double tolerance);

#endif
