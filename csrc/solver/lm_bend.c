/* lm_bend.c: what J^T J misses of the curvature of chi^2, learnt from the last steps: a symmetric
 * update of rank one (C. G. Broyden, Math. Comp. 21 (1967) 368; for a part of the curvature beside
 * J^T J, J. E. Dennis, D. M. Gay & R. E. Welsch, ACM TOMS 7 (1981) 348). It acts near an optimum
 * alone, where chi^2 is a parabola and one step says of the next. */
#include "solver/solver.h"

void pyspec_learn_bend(const pyspec_solver *s)
{
    const solver_work w = divide(s->n, s->work);
    const int64_t n = s->n;
    double length = 0.0, divisor = 0.0, size = 0.0, scaled = 0.0, *rest = w.solution;
    for (int64_t j = 0; j < n; j++) {
        rest[j] = w.change[j];
        double image = 0.0;
        for (int64_t k = 0; k < n; k++) {
            image += w.curvature[j * n + k] * w.last[k];
            rest[j] -= (w.curvature[j * n + k] + w.bend[j * n + k]) * w.last[k];
        }
        length += image * w.last[j];
        divisor += rest[j] * w.last[j];
        size += w.last[j] * w.last[j] * w.norm[j] * w.norm[j];
        scaled += w.norm[j] > 0.0 ? rest[j] * rest[j] / (w.norm[j] * w.norm[j]) : 0.0;
    }
    if (!(length > rounding(s)) || !(fabs(divisor) > LEAST_DIVISOR * sqrt(size) * sqrt(scaled)))
        return;
    for (int64_t j = 0; j < n; j++)
        for (int64_t k = 0; k < n; k++)
            w.bend[j * n + k] += rest[j] * rest[k] / divisor;
}

double pyspec_bent_step(const pyspec_solver *s, double *step)
{
    const solver_work w = divide(s->n, s->work);
    const int64_t n = s->n;
    const double *lower = s->lower, *upper = s->lower + n;
    solver_work bent = w;
    bent.curvature = w.bent;
    bent.norm = w.length;
    int usable = !has_factor(s); /* and no parameter is on its way to a bound, where it then stays */
    for (int64_t j = 0; j < n; j++) {
        for (int64_t k = 0; k < n; k++)
            w.bent[j * n + k] = w.curvature[j * n + k] + w.bend[j * n + k];
        w.length[j] = sqrt(w.bent[j * n + j]);
        usable &= w.held[j] != 0.0 ? w.undamped[j] == 0.0 : w.length[j] > 0.0;
        step[j] = w.undamped[j];
    }
    usable = usable && pyspec_solve_gram(s, &bent, 0.0, step) > BENT_PIVOT;
    double promised = 0.0;
    for (int64_t j = 0; usable && j < n; j++) {
        double slope = 2.0 * w.gradient[j];
        for (int64_t k = 0; k < n; k++)
            slope -= w.bent[j * n + k] * step[k];
        promised += step[j] * slope;
        usable = s->theta[j] + step[j] >= lower[j] && s->theta[j] + step[j] <= upper[j];
    }
    if (usable && promised > s->promised / BENT_RATIO && promised < BENT_RATIO * s->promised)
        return promised;
    memcpy(step, w.undamped, (size_t)n * sizeof(double));
    return s->promised;
}
