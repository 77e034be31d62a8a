#include "support/sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void make_sums(pyspec_normal *s, int form, int64_t n_theta, int64_t capacity, int64_t into)
{
    const int64_t order = form == PYSPEC_FORM_VALUE ? 1 : n_theta + 1;
    *s = (pyspec_normal){.form = form, .order = order, .capacity = capacity};
    s->n_scratch = form == PYSPEC_FORM_FACTOR ? order * into : 0;
    s->places = exact(2 * capacity, sizeof *s->places);
    s->nodes = doubles(capacity * triangle_size(order), (double)NAN);
    s->scratch = doubles(s->n_scratch, (double)NAN);
}

int accumulate(const pyspec_plan *plan, const pyspec_problem *problem, const double *theta,
               pyspec_normal *s, int64_t row_begin, int64_t row_end)
{
    const int64_t what = s->form == PYSPEC_FORM_VALUE ? 0 : PYSPEC_PREPARE_SLOPES;
    const int64_t n_owned = count_owned();
    const pyspec_call call = make_call(plan, problem, theta, what);
    int status = pyspec_prepare(&call, what);
    status = status ? status : pyspec_accumulate(&call, s, row_begin, row_end);
    free_owned(n_owned);
    return status;
}

double *collected(const pyspec_normal *s)
{
    double *triangle = doubles(triangle_size(s->order), 0.0);
    if (pyspec_collect(s, NULL, s->order, triangle))
        abort();
    return triangle;
}

double *summed(const pyspec_plan *plan, const pyspec_problem *problem, const double *theta,
               int form, int *status)
{
    const int64_t order = form == PYSPEC_FORM_VALUE ? 1 : plan->n_theta + 1;
    double *triangle = doubles(triangle_size(order), 0.0);
    const int64_t n_owned = count_owned();
    pyspec_normal s;
    make_sums(&s, form, plan->n_theta, PYSPEC_NORMAL_NODES, plan->n_theta + 1);
    *status = accumulate(plan, problem, theta, &s, problem->row_begin, problem->row_end);
    *status = *status ? *status : pyspec_collect(&s, NULL, order, triangle);
    free_owned(n_owned);
    return *status ? NULL : triangle;
}

static double datum(const pyspec_problem *q, int64_t row, int64_t i)
{
    const char *at = (const char *)q->data + row * q->data_row + i * q->data_x;
    double wide;
    float narrow;
    uint16_t count;
    if (q->data_type == PYSPEC_TYPE_F32) {
        memcpy(&narrow, at, sizeof narrow);
        return (double)narrow;
    }
    if (q->data_type == PYSPEC_TYPE_U16) {
        memcpy(&count, at, sizeof count);
        return (double)count;
    }
    memcpy(&wide, at, sizeof wide);
    return wide;
}

/* How fast the deviance falls with the model, from its definition, in more than double precision. */
static double deviance_fall(double datum_value, double model, double scale)
{
    const long double d = datum_value, s = scale, floor = 1e-3L / s;
    const long double m = model > floor || d == 0.0L ? model : floor;
    if (d == 0.0L)
        return m <= 0.0L ? 0.0 : (double)sqrtl(s / (2.0L * m));
    if (d == m)
        return (double)sqrtl(s / d);
    const long double root = sqrtl(2.0L * s * (d * logl(d / m) - d + m));
    return (double)(s * (d / m - 1.0L) / (d < m ? -root : root));
}

/* What the derivative of the model counts by at one point of the grid. */
static double factor_at(const pyspec_problem *q, int64_t row, int64_t i, double model, int form)
{
    double factor = 1.0, weight;
    if (q->keep && !q->keep[row * q->keep_row + i * q->keep_x])
        return 0.0;
    if (q->loss == PYSPEC_LOSS_POISSON && form == PYSPEC_FORM_FISHER)
        factor = sqrt(q->loss_scale / fmax(model, 1e-3 / q->loss_scale));
    else if (q->loss == PYSPEC_LOSS_POISSON)
        factor = deviance_fall(datum(q, row, i), model, q->loss_scale);
    if (!q->weight)
        return factor;
    memcpy(&weight, (const char *)q->weight + row * q->weight_row + i * q->weight_x,
           sizeof weight);
    return factor * weight;
}

double *explicit_columns(const pyspec_plan *plan, const pyspec_problem *problem,
                         const double *theta, int form)
{
    const pyspec_problem *q = problem;
    const int64_t width = q->x_end - q->x_begin, n = (q->row_end - q->row_begin) * width;
    int status;
    double *columns = exact((plan->n_theta + 1) * n, sizeof *columns);
    const int64_t n_owned = count_owned();
    double *model = run_entry(RUN_EVALUATE, plan, q, theta, &status);
    double *residual = run_entry(RUN_RESIDUAL, plan, q, theta, &status);
    double *jacobian = run_entry(RUN_JACOBIAN, plan, q, theta, &status);
    if (!model || !residual || !jacobian)
        abort();
    for (int64_t i = 0; i < n; i++) {
        double factor =
            factor_at(q, q->row_begin + i / width, q->x_begin + i % width, model[i], form);
        for (int64_t k = 0; k < plan->n_theta; k++)
            columns[k * n + i] = factor == 0.0 ? 0.0 : factor * jacobian[k * n + i];
        columns[plan->n_theta * n + i] = residual[i];
    }
    free_owned(n_owned);
    return columns;
}

double *gram_of_columns(const double *columns, int64_t n_columns, int64_t n)
{
    double *triangle = doubles(triangle_size(n_columns), 0.0);
    for (int64_t j = 0; j < n_columns; j++)
        for (int64_t k = j; k < n_columns; k++) {
            long double sum = 0.0L;
            for (int64_t i = 0; i < n; i++)
                sum += (long double)columns[j * n + i] * (long double)columns[k * n + i];
            triangle[triangle_at(n_columns, j, k)] = (double)sum;
        }
    return triangle;
}

double *explicit_gram(const pyspec_plan *plan, const pyspec_problem *problem, const double *theta, int form)
{
    const int64_t order = plan->n_theta + 1, n = (problem->row_end - problem->row_begin) *
                                                 (problem->x_end - problem->x_begin);
    double *gram = exact(triangle_size(order), sizeof *gram);
    const int64_t n_owned = count_owned();
    const double *own = gram_of_columns(explicit_columns(plan, problem, theta, form), order, n);
    memcpy(gram, own, (size_t)triangle_size(order) * sizeof *gram);
    free_owned(n_owned);
    return gram;
}

double *gram_of_factor(const double *factor, int64_t order)
{
    double *triangle = doubles(triangle_size(order), 0.0);
    for (int64_t j = 0; j < order; j++)
        for (int64_t k = j; k < order; k++)
            for (int64_t i = 0; i <= j; i++)
                triangle[triangle_at(order, j, k)] +=
                    factor[triangle_at(order, i, j)] * factor[triangle_at(order, i, k)];
    return triangle;
}

/* Not less than what may have a square of 0. */
static double norm_of(const double *gram, int64_t order, int64_t k)
{
    return fmax(sqrt(gram[triangle_at(order, k, k)]), 1e-150);
}

int gram_close(const double *a, const double *b, int64_t order, double tolerance)
{
    for (int64_t j = 0; j < order; j++)
        for (int64_t k = j; k < order; k++) {
            int64_t at = triangle_at(order, j, k);
            double norm = norm_of(b, order, j) * norm_of(b, order, k);
            if (!(fabs(a[at] - b[at]) <= tolerance * norm))
                return 0;
        }
    return 1;
}
