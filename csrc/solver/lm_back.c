/* lm_back.c: whether a fit that began elsewhere comes back to an optimum that is known. It then need not be fitted to its
 * end. */
#include "solver/reduce.h"

/* Near an optimum chi^2 along a line is a cubic. It rises all the way from there if its curvature at the optimum, beyond
 * that of a linear model, is more than this share of the whole rise. Of 590 fits of a GLP that ended at m = 0, seven had a
 * better optimum: they were at -0.002 or below, nine of ten others above 0.03. A part of the fourth order, of a model that
 * bends, makes the share smaller. */
static const double CURVATURE = 0.03;

/* By what chi^2 of a linear model rises from the optimum to a point. */
static double linear_rise(const way_back *b, const double *theta)
{
    double square = 0.0;
    for (int64_t i = 0; i < b->n; i++) {
        double sum = 0.0;
        for (int64_t k = i; k < b->n; k++)
            sum += at(b->factor, b->n + 1, i, k) * (theta[k] - b->optimum[k]);
        square += sum * sum;
    }
    return square;
}

int pyspec_is_back(const way_back *b, const double *theta, double distance)
{
    for (int64_t k = 0; k < b->n; k++)
        if (b->held[k] != 0.0 && theta[k] != b->optimum[k])
            return 0;
    return linear_rise(b, theta) <= distance * distance * b->variance;
}

int pyspec_has_risen(const way_back *b, const double *theta, const double *gram)
{
    const double rise = gram[triangle_size(b->n + 1) - 1] - b->chisqr;
    double slope = 0.0;
    if (!(rise > 0.0 && rise < b->variance))
        return 0;
    for (int64_t k = 0; k < b->n; k++)
        slope -= 2.0 * at(gram, b->n + 1, k, b->n) * (theta[k] - b->optimum[k]);
    return slope > 0.0 && 3.0 * rise - slope - linear_rise(b, theta) > CURVATURE * rise;
}
