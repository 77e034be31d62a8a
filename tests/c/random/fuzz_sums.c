#include "random/fuzz_sums.h"
#include "separable/span.h"
#include "support/sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sums of the window in up to five chunks, some of them accumulated apart and then joined. */
static int sum_chunks(rng *r, const pyspec_plan *plan, const pyspec_problem *q,
                      const double *theta, pyspec_normal *s)
{
    int status = 0, left = 4;
    for (int64_t begin = q->row_begin, end; !status && begin < q->row_end; begin = end) {
        pyspec_normal more;
        end = left-- ? begin + 1 + below(r, q->row_end - begin) : q->row_end;
        if (chance(r, 50)) {
            status = accumulate(plan, q, theta, s, begin, end);
            continue;
        }
        make_sums(&more, (int)s->form, plan->n_theta, PYSPEC_NORMAL_NODES, plan->n_theta + 1);
        status = accumulate(plan, q, theta, &more, begin, end);
        status = status ? status : pyspec_join(s, &more);
    }
    return status;
}

static int all_finite(const double *values, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return 0;
    return 1;
}

/* The triangle against the stored derivatives; nothing to say where they, or their products, are
 * not finite. */
static int compare_sums(const pyspec_plan *plan, const pyspec_problem *q, const double *theta,
                        int form, const double *triangle)
{
    const int64_t n = (q->row_end - q->row_begin) * (q->x_end - q->x_begin);
    const int64_t order = plan->n_theta + 1, size = triangle_size(order);
    double *columns = explicit_columns(plan, q, theta, form);
    double *want = gram_of_columns(columns, order, n);
    double *got = form == PYSPEC_FORM_FACTOR ? gram_of_factor(triangle, order) : NULL;
    int result = 0;
    if (all_finite(columns, order * n) && all_finite(want, size)) {
        int equal = form == PYSPEC_FORM_VALUE
                        ? fabs(*triangle - want[size - 1]) <= 1e-8 * want[size - 1]
                        : gram_close(got ? got : triangle, want, order, 1e-8);
        result = SUMS_COMPARED | (equal ? 0 : SUMS_DIFFERENT);
    }
    return result;
}

/* Whether the last number of a triangle is one though chi^2 is not. */
static int hides_nan(const pyspec_plan *plan, const pyspec_problem *q, const double *theta,
                     double last)
{
    int status;
    double *value = summed(plan, q, theta, PYSPEC_FORM_VALUE, &status);
    const int hidden = isnan(*value) && isfinite(last);
    return hidden;
}

/* Over shapes and times apart where the plan allows it; in a fit twice, so that the second sums come from the
 * span of the times. NULL unless the status is OK. */
static double *summed_apart(const pyspec_plan *plan, const pyspec_problem *q, const double *theta,
                            int form, int in_fit)
{
    const int64_t what = form == PYSPEC_FORM_VALUE ? 0 : PYSPEC_PREPARE_SLOPES;
    const pyspec_call call = make_call(plan, q, theta, what);
    pyspec_normal s;
    make_sums(&s, form, plan->n_theta, PYSPEC_NORMAL_NODES, plan->n_theta + 1);
    s.in_strips = 1;
    const int64_t order = s.order;
    const int64_t size = pyspec_span_size(plan, q);
    const pyspec_part part = {.call = &call, .normal = &s, .n_theta = plan->n_theta, .span = make_work(size), .span_size = size};
    double *triangle = doubles(triangle_size(order), (double)NAN);
    pyspec_begin_span(&part);
    int status = STATUS_OK;
    for (int k = 0; !status && k <= in_fit; k++)
        status = in_fit ? pyspec_sum_in_fit(&part, 1, form, order, NULL, 1, triangle)
                        : pyspec_sum_parts(&part, 1, form, order, NULL, triangle);
    if (status) {
        triangle = NULL;
    }
    return triangle;
}

/* The same sums in another way: the same bits where there is no other way, as for all but J^T J of spectra
 * that are not separable. */
static int check_apart(const pyspec_plan *plan, const pyspec_problem *q, const double *theta, int form,
                       const double *triangle, int compare)
{
    const int64_t order = form == PYSPEC_FORM_VALUE ? 1 : plan->n_theta + 1;
    int result = 0;
    for (int in_fit = 0; in_fit < 2; in_fit++) {
        double *apart = summed_apart(plan, q, theta, form, in_fit);
        const int other = plan->separable >= 0 || form == PYSPEC_FORM_GRAM;
        const int same = apart && all_same(apart, triangle, triangle_size(order));
        if (!apart || (!other && !same))
            result |= SUMS_FAILED;
        else if (compare && !same)
            result |= compare_sums(plan, q, theta, form, apart);
    }
    return result;
}

int fuzz_sums(rng *r, const pyspec_plan *plan, const pyspec_problem *problem, const double *theta,
              int compare)
{
    const int form = (int)below(r, PYSPEC_FORM_FISHER + 1);
    pyspec_normal s;
    int status, result = 0;
    make_sums(&s, form, plan->n_theta, PYSPEC_NORMAL_NODES, plan->n_theta + 1);
    status = sum_chunks(r, plan, problem, theta, &s);
    double *triangle = status ? NULL : collected(&s);
    double *whole = summed(plan, problem, theta, form, &status);
    if (!triangle || !whole || !all_same(triangle, whole, triangle_size(s.order)))
        result = SUMS_FAILED;
    else if (hides_nan(plan, problem, theta, triangle[triangle_size(s.order) - 1]))
        result = SUMS_FAILED;
    else if (compare)
        result = compare_sums(plan, problem, theta, form, triangle);
    if (!(result & SUMS_FAILED))
        result |= check_apart(plan, problem, theta, form, triangle, compare);
    return result;
}

/* ---- fits ------------------------------------------------------------------------------------ */

/* Lower bounds, then upper ones; some of them equal, some infinite, none NaN. */
static double *random_bounds(rng *r, int64_t n)
{
    double *bounds = doubles(2 * n, (double)NAN);
    for (int64_t k = 0; k < n; k++) {
        double a = chance(r, 80) ? 0.01 * (double)below(r, 300) : hostile_double(r);
        double b = chance(r, 80) ? a + 0.5 * (double)below(r, 6) : hostile_double(r);
        a = isnan(a) || chance(r, 20) ? -(double)INFINITY : a;
        b = isnan(b) || chance(r, 20) ? (double)INFINITY : b;
        bounds[k] = a < b ? a : b;
        bounds[n + k] = a < b ? b : a;
    }
    return bounds;
}

static const char *judge_end(const pyspec_solver *s)
{
    const int is_fitted = s->end != PYSPEC_END_NOT_FINITE;
    if (s->end <= PYSPEC_END_RUNNING || s->end > PYSPEC_END_SLOW)
        return "the end is unknown";
    if (s->nfev < 1 || s->nfev > s->max_nfev)
        return "more evaluations than allowed";
    if (is_fitted && !(isfinite(s->chisqr) && s->chisqr >= 0.0))
        return "chi^2 is no number";
    for (int64_t k = 0; is_fitted && k < triangle_size(s->n + 1); k++)
        if (!isfinite(s->normal[k]))
            return "the triangle is not finite";
    for (int64_t k = 0; is_fitted && k < s->n; k++)
        if (s->theta[k] < s->lower[k] || s->theta[k] > s->lower[s->n + k])
            return "the best point is out of bounds";
    return NULL;
}

const char *fuzz_fit(rng *r, const pyspec_plan *plan, const pyspec_problem *problem,
                     const double *theta)
{
    const int64_t n = plan->n_theta;
    const pyspec_problem *q = problem;
    double *own = doubles(n, (double)NAN);
    const pyspec_call call = make_call(plan, problem, own, PYSPEC_PREPARE_SLOPES);
    const int64_t max_nfev = 1 + below(r, 6);
    pyspec_normal sums;
    make_sums(&sums, PYSPEC_FORM_FACTOR, n, PYSPEC_NORMAL_NODES, n + 1);
    sums.in_strips = chance(r, 70);
    const double data_square = chance(r, 80) ? 1e3 : fabs(hostile_double(r));
    const double *bounds = random_bounds(r, n);
    pyspec_solver s = make_solver(n, theta, bounds, bounds + n);
    s.max_nfev = max_nfev;
    s.tolerance = 1e-6;
    s.data_square = data_square;
    s.n_points = (q->row_end - q->row_begin) * (q->x_end - q->x_begin);
    const int64_t span_size = pyspec_span_size(plan, q);
    const pyspec_part part = {.call = &call, .theta = own, .normal = &sums, .n_theta = n, .span = make_work(span_size), .span_size = span_size};
    const int64_t budget = 1 + below(r, 4);
    int answer, calls = 0;
    do
        answer = pyspec_fit(&s, &part, 1, NULL, budget);
    while (answer == PYSPEC_FIT_AGAIN && ++calls < 10);
    const char *wrong = answer == PYSPEC_FIT_DONE    ? judge_end(&s)
                        : answer == PYSPEC_FIT_AGAIN ? "the fit goes on"
                                                     : "the fit has a status";
    return wrong;
}
