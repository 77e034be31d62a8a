/* lm_point.c: the best point of a fit: chi^2, J^T r and J^T J from the answer there. */
#include "solver/solver.h"

/* Entry j, k of the Gram matrix that a triangle stands for. */
static double product(const double *triangle, int64_t order, int64_t j, int64_t k, int is_factor)
{
    if (!is_factor)
        return at(triangle, order, j, k);
    double sum = 0.0;
    for (int64_t i = 0; i <= j; i++)
        sum += at(triangle, order, i, j) * at(triangle, order, i, k);
    return sum;
}

/* chi^2 of an answer; NaN where anything that it must supply is not finite. */
double pyspec_answer_value(const pyspec_solver *s)
{
    const int64_t order = s->n + 1, size = triangle_size(order);
    const int is_value = s->form == PYSPEC_FORM_VALUE;
    for (int64_t k = is_value ? size - 1 : 0; k < size; k++)
        if (!isfinite(s->answer[k]))
            return NAN;
    return product(s->answer, order, s->n, s->n, s->form == PYSPEC_FORM_FACTOR);
}

/* Makes the answer, at the trial point, the best point. */
void pyspec_take_answer(pyspec_solver *s, double value)
{
    const solver_work w = divide(s->n, s->work);
    const int64_t n = s->n, order = n + 1;
    const int is_factor = s->form == PYSPEC_FORM_FACTOR;
    const int moved = s->n_steps > 0 && memcmp(s->theta, s->trial, (size_t)n * sizeof(double));
    s->chisqr = value;
    for (int64_t j = 0; moved && j < n; j++) {
        w.last[j] = s->trial[j] - s->theta[j];
        w.change[j] = w.gradient[j];
    }
    memcpy(s->theta, s->trial, (size_t)n * sizeof(double));
    memcpy(s->normal, s->answer, (size_t)triangle_size(order) * sizeof(double));
    for (int64_t j = 0; j < n; j++) {
        w.gradient[j] = product(s->normal, order, j, n, is_factor);
        for (int64_t k = j; k < n; k++)
            w.curvature[j * n + k] = w.curvature[k * n + j] =
                product(s->normal, order, j, k, is_factor);
        w.norm[j] = sqrt(w.curvature[j * n + j]);
        w.largest[j] *= FADING;
        w.largest[j] = w.norm[j] > w.largest[j] ? w.norm[j] : w.largest[j];
        if (moved)
            w.change[j] -= w.gradient[j];
    }
    if (moved && s->distance < NEAR_OPTIMUM)
        pyspec_learn_bend(s);
    else
        fill(w.bend, 0.0, n * n);
}
