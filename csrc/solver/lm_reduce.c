/* lm_reduce.c: variable projection on the triangle of [J r]: a fit over the parameters that the model is not linear
 * in. At given values of these, least squares within their bounds gives the linear ones, b. The rest is a residual of
 * the nonlinear parameters only (G. H. Golub & V. Pereyra, SIAM J. Numer. Anal. 10 (1973) 413). Its triangle is that
 * of their columns and of r, without the part along the columns of b (L. Kaufman, BIT 15 (1975) 49). For r this holds
 * at any b: a point near the solved b, predicted from the last one, serves as well. After the reduced fit, an ordinary
 * fit of all parameters follows. */
#include "solver/reduce.h"

enum { MOST_ROUNDS = 4 };

/* b of counts is fitted until it is so many standard errors away. */
static const double NEAR_COUNTS = 1e-2;
enum { MOST_COUNTS = 100 };

/* Divides work memory. Returns how many doubles that takes. */
static int64_t divide_reduction(reduction *r, int64_t n, double *base)
{
    const int64_t m = n + 1, size = triangle_size(m), own = divide(n, NULL).size;
    int64_t used = 0;
#define TAKE(part, count) (r->part = take_part(base, &used, count))
    TAKE(theta, n);
    TAKE(start, n);
    TAKE(is_linear, n);
    TAKE(places, n);
    TAKE(slopes, n * n);
    TAKE(columns, m * m);
    TAKE(kept, m * m);
    TAKE(kept_at, n);
    TAKE(basis, m * m);
    TAKE(mix, n * n);
    TAKE(value, n);
    TAKE(part, n);
    TAKE(of, n);
    TAKE(held, n);
    TAKE(size, n);
    TAKE(step_of, n);
    TAKE(limits, 2 * n);
    TAKE(solved, n);
    TAKE(factor, size);
    TAKE(scratch, m * (2 * m + 1));
    TAKE(inner.theta, n);
    TAKE(inner_bounds, 2 * n);
    TAKE(inner.trial, n);
    TAKE(inner.answer, size);
    TAKE(inner.normal, size);
    TAKE(inner.work, own);
    TAKE(step.theta, n);
    TAKE(step_bounds, 2 * n);
    TAKE(step.trial, n);
    TAKE(step.answer, size);
    TAKE(step.normal, size);
    TAKE(step.work, own);
    TAKE(best, size);
#undef TAKE
    return used;
}

int64_t pyspec_reduction_size(int64_t n)
{
    reduction r;
    return divide_reduction(&r, n, NULL);
}

/* The places of b, and behind them those of the others. */
static void split(reduction *r)
{
    int64_t *places = (int64_t *)(void *)r->places;
    r->n_linear = 0;
    for (int turn = 0; turn < 2; turn++)
        for (int64_t k = 0, used = turn ? r->n_linear : 0; k < r->whole->n; k++)
            if ((r->is_linear[k] != 0.0) != turn) {
                places[used++] = k;
                r->n_linear += !turn;
            }
    fill(r->slopes, 0.0, r->whole->n * r->whole->n);
    r->is_kept = 0;
}

/* Asks for [J r] at the point at hand. */
static int ask(reduction *r)
{
    pyspec_solver *s = r->whole;
    if (s->nfev >= s->max_nfev) {
        s->end = PYSPEC_END_LIMIT;
        return PYSPEC_FIT_DONE;
    }
    memcpy(s->trial, r->theta, (size_t)s->n * sizeof(double));
    s->form = r->is_counting ? r->step.form : r->form;
    s->nfev++;
    return PYSPEC_FIT_NEED_NORMAL;
}

int pyspec_reduce_begin(reduction *r, pyspec_solver *whole, double *memory, const double *start,
                        const uint8_t *linear, int64_t most, int is_counts)
{
    const int64_t n = whole->n;
    *r = (reduction){.whole = whole, .most = most, .is_counts = is_counts, .is_first = 1};
    r->form = PYSPEC_FORM_GRAM;
    divide_reduction(r, n, memory);
    for (int64_t k = 0; k < n; k++) {
        r->theta[k] = r->start[k] = within(whole, k, start[k]);
        r->is_linear[k] = linear[k];
    }
    split(r);
    r->left = MOST_ROUNDS - 1;
    whole->end = PYSPEC_END_RUNNING;
    whole->phase = PYSPEC_PHASE_NORMAL;
    return ask(r);
}

/* Gives the fit of b of counts what it asked for. At its end the answer is that at the best point. */
static int count(reduction *r)
{
    pyspec_solver *s = r->whole, *q = &r->step;
    const int64_t m = s->n + 1, order = q->n + 1, *linear = linear_of(r);
    const int is_finite = isfinite(r->chisqr), has_slopes = s->form != PYSPEC_FORM_VALUE;
    fill(q->answer, is_finite ? 0.0 : NAN, triangle_size(order));
    if (is_finite && has_slopes) {
        pyspec_load_columns(r);
        for (int64_t j = 0; j < order; j++)
            memcpy(r->basis + j * m, r->columns + (j < q->n ? linear[j] : s->n) * m,
                   (size_t)m * sizeof(double));
        for (int64_t j = 0; j < order; j++)
            for (int64_t k = j; q->form == PYSPEC_FORM_GRAM && k < order; k++)
                q->answer[triangle_at(order, j, k)] = dot(r->basis + j * m, r->basis + k * m, m);
        if (q->form == PYSPEC_FORM_FACTOR)
            pyspec_absorb(q->answer, order, r->basis, m);
    } else if (is_finite) {
        q->answer[triangle_size(order) - 1] = r->chisqr;
    }
    const int answer = pyspec_fit_step(q);
    int is_best = has_slopes;
    for (int64_t j = 0; j < q->n; j++)
        is_best &= q->theta[j] == r->theta[linear[j]];
    if (is_best) {
        memcpy(r->best, s->answer, (size_t)triangle_size(m) * sizeof(double));
        r->best_form = s->form;
    }
    r->is_counting = answer == PYSPEC_FIT_NEED_NORMAL;
    for (int64_t j = 0; j < r->n_linear; j++)
        r->theta[linear[j]] = r->is_counting ? q->trial[j] : q->theta[j];
    if (!r->is_counting) {
        memcpy(s->answer, r->best, (size_t)triangle_size(m) * sizeof(double));
        s->form = r->best_form;
    }
    return answer;
}

/* b of counts by a fit of its own, with the others held: the weights depend on it. */
static int begin_counting(reduction *r)
{
    pyspec_solver *q = &r->step;
    begin_part(r, q, r->step_bounds, linear_of(r), r->n_linear);
    q->max_nfev = MOST_COUNTS;
    q->tolerance = NEAR_COUNTS;
    r->is_fitted = 1;
    pyspec_fit_step(q);
    return count(r);
}

/* Solves for b with the answer. Returns whether another one is needed first. */
static int needs_more(reduction *r)
{
    const int64_t *linear = linear_of(r);
    pyspec_load_columns(r);
    const double weakest = pyspec_solve_linear(r);
    if (weakest < WEAK && r->form == PYSPEC_FORM_GRAM && r->left > 0) {
        r->form = PYSPEC_FORM_FACTOR;
        r->left--;
        return 1;
    }
    const int rests = r->left == 0 || r->is_fitted || pyspec_is_slight(r);
    if (!rests && r->is_counts)
        return begin_counting(r) == PYSPEC_FIT_NEED_NORMAL || needs_more(r);
    for (int64_t j = 0; j < r->n_linear; j++)
        r->theta[linear[j]] = r->solved[j];
    r->left--;
    if (rests)
        pyspec_take_off_linear(r);
    return !rests;
}

/* If a bound takes a height to 0 at the start, its line has no slope and would stay in place. Such heights are not
 * eliminated and keep their start values. */
static void free_held(reduction *r)
{
    const pyspec_solver *s = r->whole;
    int any = 0;
    for (int64_t k = 0; k < s->n; k++)
        if (r->is_linear[k] != 0.0 && (r->theta[k] <= s->lower[k] || r->theta[k] >= s->lower[s->n + k])) {
            r->is_linear[k] = 0.0;
            r->theta[k] = r->start[k];
            any = 1;
        }
    if (any)
        split(r);
}

/* Begins the fit over the others. */
static int begin_inner(reduction *r)
{
    pyspec_solver *q = &r->inner;
    begin_part(r, q, r->inner_bounds, others_of(r), r->whole->n - r->n_linear);
    q->n_points -= r->n_linear;
    q->max_nfev = r->most;
    q->tolerance = REDUCED_NEAR;
    return pyspec_fit_step(q);
}

/* Gives the fit over the others what it asked for. */
static int feed(reduction *r, int is_finite)
{
    pyspec_solver *q = &r->inner;
    const int64_t m = r->whole->n + 1, order = q->n + 1;
    fill(q->answer, is_finite ? 0.0 : NAN, triangle_size(order));
    for (int64_t j = q->form == PYSPEC_FORM_VALUE ? q->n : 0; is_finite && j < order; j++)
        for (int64_t k = j; q->form != PYSPEC_FORM_FACTOR && k < order; k++)
            q->answer[triangle_at(order, j, k)] = dot(r->kept + j * m, r->kept + k * m, m);
    if (is_finite && q->form == PYSPEC_FORM_FACTOR) {
        memcpy(r->columns, r->kept, (size_t)(order * m) * sizeof(double));
        pyspec_absorb(q->answer, order, r->columns, m);
    }
    return pyspec_fit_step(q);
}

/* The next point, with b as the slopes at the last one have it. */
static void predict(reduction *r)
{
    const pyspec_solver *q = &r->inner;
    const int64_t *linear = linear_of(r), *others = others_of(r);
    for (int64_t j = 0; j < r->n_linear; j++) {
        double change = 0.0;
        for (int64_t k = 0; k < q->n; k++)
            change += r->slopes[j * q->n + k] * (q->trial[k] - r->theta[others[k]]);
        r->theta[linear[j]] = within(r->whole, linear[j], r->theta[linear[j]] + change);
    }
    for (int64_t k = 0; k < q->n; k++)
        r->theta[others[k]] = q->trial[k];
    r->left = MOST_ROUNDS - 1;
    r->is_fitted = 0;
}

/* chi^2 of the answer, NaN where anything of it is not finite; the best point is kept. */
static double take(reduction *r)
{
    pyspec_solver *s = r->whole;
    const int64_t order = s->n + 1, size = triangle_size(order);
    const int is_value = s->form == PYSPEC_FORM_VALUE, is_factor = s->form == PYSPEC_FORM_FACTOR;
    for (int64_t k = is_value ? size - 1 : 0; k < size; k++)
        if (!isfinite(s->answer[k]))
            return NAN;
    double value = is_factor ? 0.0 : s->answer[size - 1];
    for (int64_t i = 0; is_factor && i < order; i++)
        value += at(s->answer, order, i, s->n) * at(s->answer, order, i, s->n);
    if (value < s->chisqr && !is_value) {
        s->chisqr = value;
        s->needs_factor = is_factor ? 2 : 0;
        memcpy(s->theta, r->theta, (size_t)s->n * sizeof(double));
        memcpy(s->normal, s->answer, (size_t)size * sizeof(double));
    }
    return value;
}

/* Answers the questions of the fit over the nonlinear parameters from known values. Then asks the
 * next question. */
static int go_on(reduction *r, int answer)
{
    pyspec_solver *s = r->whole, *q = &r->inner;
    while (answer == PYSPEC_FIT_NEED_NORMAL) {
        if (q->form == PYSPEC_FORM_FACTOR && r->form == PYSPEC_FORM_GRAM) {
            r->form = PYSPEC_FORM_FACTOR;
            r->is_kept = 0;
        }
        if (!r->is_kept || memcmp(r->kept_at, q->trial, (size_t)q->n * sizeof(double))) {
            predict(r);
            const int is_answered = s->form == r->form && !memcmp(r->theta, s->trial, (size_t)s->n * sizeof(double));
            if (!is_answered || needs_more(r))
                return ask(r);
        }
        answer = feed(r, 1);
    }
    s->end = PYSPEC_END_CONVERGED;
    return PYSPEC_FIT_DONE;
}

int pyspec_reduce_step(reduction *r)
{
    pyspec_solver *s = r->whole;
    r->chisqr = take(r);
    if (r->is_counting && count(r) == PYSPEC_FIT_NEED_NORMAL)
        return ask(r);
    const int is_finite = isfinite(r->is_fitted ? r->step.chisqr : r->chisqr);
    if (is_finite && needs_more(r))
        return ask(r);
    if (!r->is_first)
        return go_on(r, feed(r, is_finite));
    r->is_first = 0;
    if (!is_finite) {
        s->end = PYSPEC_END_NOT_FINITE;
        return PYSPEC_FIT_DONE;
    }
    free_held(r);
    r->is_kept &= r->keeps_first;
    return go_on(r, r->n_linear < s->n ? begin_inner(r) : PYSPEC_FIT_DONE);
}
