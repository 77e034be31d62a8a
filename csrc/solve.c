/* solve.c: Levenberg-Marquardt on chi^2, J^T r and J^T J, as a state machine in the caller's
 * memory. Bounds are an active set in the parameters themselves: a parameter that a step would
 * take out of its bounds stops there, and the step is found anew for the others. Convergence is
 * judged on the undamped step, by the decrease of chi^2 that it promises in units of the variance
 * of a point: the root of that is the distance to the optimum in standard errors.
 *
 * The damping follows the ratio of the decrease seen to that promised (H. B. Nielsen, "Damping
 * parameter in Marquardt's method", IMM-REP-1999-05), in units of the largest column norms lately
 * (J. J. Moré, Lecture Notes in Mathematics 630 (1978) 105). */
#include "run.h"

#include <float.h>

enum { PHASE_START, PHASE_FIRST, PHASE_TRIAL, PHASE_NORMAL };

/* From this condition of the scaled JtJ on, steps come from a QR factor of J. */
static const double CONDITION_LIMIT = 1e8;

/* The largest norms of the columns are forgotten by this factor a step: in a long valley the norms
 * change by decades, and what they were at its beginning must not shorten the steps at its end. */
static const double FADING = 0.5;

/* After a step that did all it promised the damping falls by this. */
static const double LEAST_FACTOR = 0.1;

static const double FIRST_DAMPING = 1.0, LEAST_DAMPING = 1e-15, MOST_DAMPING = 1e30;

/* A direction in which the scaled J is this small is not determined by the data. */
static const double UNDETERMINED = 1e-12;

/* In place of an undamped step where the normal equations have none. */
static const double LIGHT_DAMPING = 1e-10;

/* A decrease of less than this share of what was promised is refused. */
static const double LEAST_GAIN = 1e-4;

/* Nearer than this, in standard errors, the undamped step is tried first. */
static const double NEAR = 0.5;

/* Steps in a row that come no nearer before rounding is taken to be the reason; and how near, in
 * standard errors, that may be called converged. */
enum { MOST_IDLE = 6 };
static const double ROUNDING_DISTANCE = 1e-3;

/* Parts of the work memory. */
typedef struct solver_work {
    double *largest; /* [n] largest norm of each column lately  */
    double *norm;    /* [n] norms of the columns                */
    double *gradient; /* [n] Jtr: the direction of steepest descent */
    double *curvature; /* [n][n] JtJ                            */
    double *undamped; /* [n] the undamped step                  */
    double *step;    /* [n] the step at hand                    */
    double *solution; /* [n]                                    */
    double *held;    /* [n] 1 where the step is prescribed      */
    double *matrix;  /* [n + 1][n + 1]                          */
    double *rows;    /* [n + 1][2 n + 1]                        */
    int64_t size;    /* doubles                                 */
} solver_work;

static solver_work divide(int64_t n, double *base)
{
    solver_work w = {0};
    int64_t used = 0;
#define TAKE(part, count) (w.part = base ? base + used : base, used += (count))
    TAKE(largest, n);
    TAKE(norm, n);
    TAKE(gradient, n);
    TAKE(curvature, n * n);
    TAKE(undamped, n);
    TAKE(step, n);
    TAKE(solution, n);
    TAKE(held, n);
    TAKE(matrix, (n + 1) * (n + 1));
    TAKE(rows, (n + 1) * (2 * n + 1));
#undef TAKE
    w.size = used;
    return w;
}

int64_t pyspec_fit_work_size(int64_t n)
{
    return divide(n, NULL).size * (int64_t)sizeof(double);
}

/* ---- what the normal equations say ---------------------------------------------------------- */

static double at(const double *triangle, int64_t order, int64_t j, int64_t k)
{
    return triangle[triangle_at(order, j, k)];
}

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
static double answer_value(const pyspec_solver *s)
{
    const int64_t order = s->n + 1, size = triangle_size(order);
    const int is_value = s->form == PYSPEC_FORM_VALUE;
    for (int64_t k = is_value ? size - 1 : 0; k < size; k++)
        if (!isfinite(s->answer[k]))
            return NAN;
    return product(s->answer, order, s->n, s->n, s->form == PYSPEC_FORM_FACTOR);
}

/* Makes the answer, at the trial point, the best point. */
static void take(pyspec_solver *s, double value)
{
    const solver_work w = divide(s->n, s->work);
    const int64_t n = s->n, order = n + 1;
    const int is_factor = s->form == PYSPEC_FORM_FACTOR;
    s->chisqr = value;
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
    }
}

/* The Gram matrix of the best point is a factor. */
static int has_factor(const pyspec_solver *s)
{
    return s->needs_factor == 2;
}

/* ---- one step ------------------------------------------------------------------------------- */

/* What the parameters that are held leave of the gradient of another. */
static double remaining_gradient(const solver_work *w, int64_t n, int64_t j, const double *step)
{
    double sum = w->gradient[j];
    for (int64_t k = 0; k < n; k++)
        sum -= w->held[k] != 0.0 ? w->curvature[j * n + k] * step[k] : 0.0;
    return sum;
}

/* Solves (JtJ + damping) step = Jtr over the parameters that are free, by Cholesky's method on
 * columns of norm 1. Returns the smallest pivot, 0 if the matrix is not positive. */
static double solve_gram(const pyspec_solver *s, const solver_work *w, double damping, double *step)
{
    const int64_t n = s->n;
    double least = 1.0, *u = w->matrix, *y = w->solution;
    for (int64_t j = 0; j < n; j++) {
        if (w->held[j] != 0.0)
            continue;
        double share = w->largest[j] / w->norm[j];
        double pivot = 1.0 + damping * share * share, sum;
        for (int64_t i = 0; i < j; i++)
            pivot -= w->held[i] != 0.0 ? 0.0 : u[i * n + j] * u[i * n + j];
        least = pivot < least ? pivot : least;
        if (!(pivot > 0.0))
            return 0.0;
        u[j * n + j] = sqrt(pivot);
        sum = remaining_gradient(w, n, j, step) / w->norm[j];
        for (int64_t i = 0; i < j; i++)
            sum -= w->held[i] != 0.0 ? 0.0 : u[i * n + j] * y[i];
        y[j] = sum / u[j * n + j];
        for (int64_t k = j + 1; k < n; k++) {
            if (w->held[k] != 0.0)
                continue;
            double value = w->curvature[j * n + k] / (w->norm[j] * w->norm[k]);
            for (int64_t i = 0; i < j; i++)
                value -= w->held[i] != 0.0 ? 0.0 : u[i * n + j] * u[i * n + k];
            u[j * n + k] = value / u[j * n + j];
        }
    }
    for (int64_t j = n - 1; j >= 0; j--) {
        if (w->held[j] != 0.0)
            continue;
        for (int64_t k = j + 1; k < n; k++)
            y[j] -= w->held[k] != 0.0 ? 0.0 : u[j * n + k] * y[k];
        y[j] /= u[j * n + j];
        step[j] = y[j] / w->norm[j];
    }
    return least;
}

/* The same by orthogonal transformations of the factor R, with rows of the damping below. A
 * direction that the data do not determine at all gets no step. */
static double solve_factor(const pyspec_solver *s, const solver_work *w, double damping, double *step)
{
    const int64_t n = s->n, order = n + 1;
    int64_t n_free = 0, n_rows = 0, row;
    double least = 1.0, *u = w->matrix, *y = w->solution;
    for (int64_t j = 0; j < n; j++)
        n_free += w->held[j] == 0.0;
    n_rows = order + n_free;
    fill(w->rows, 0.0, (n_free + 1) * n_rows);
    fill(u, 0.0, triangle_size(n_free + 1));
    int64_t free_index = 0;
    for (int64_t j = 0; j < n; j++) {
        if (w->held[j] != 0.0)
            continue;
        double *column = w->rows + free_index * n_rows, share = w->largest[j] / w->norm[j];
        for (row = 0; row <= j; row++)
            column[row] = at(s->normal, order, row, j) / w->norm[j];
        column[order + free_index] = sqrt(damping) * share + UNDETERMINED;
        free_index++;
    }
    for (row = 0; row < order; row++) {
        double *right = w->rows + n_free * n_rows;
        right[row] = at(s->normal, order, row, n);
        for (int64_t k = row; k < n; k++)
            right[row] -= w->held[k] != 0.0 ? at(s->normal, order, row, k) * step[k] : 0.0;
    }
    pyspec_absorb(u, n_free + 1, w->rows, n_rows);
    for (int64_t j = n_free - 1; j >= 0; j--) {
        y[j] = at(u, n_free + 1, j, n_free);
        for (int64_t k = j + 1; k < n_free; k++)
            y[j] -= at(u, n_free + 1, j, k) * y[k];
        double pivot = at(u, n_free + 1, j, j);
        least = pivot * pivot < least ? pivot * pivot : least;
        y[j] /= pivot;
    }
    free_index = 0;
    for (int64_t j = 0; j < n; j++)
        if (w->held[j] == 0.0)
            step[j] = y[free_index++] / w->norm[j];
    return least;
}

static double variance(const pyspec_solver *s)
{
    return s->chisqr / (double)(s->n_points > s->n ? s->n_points - s->n : 1);
}

/* Whether a parameter stays where it is: at a bound that it would leave for no gain worth
 * mentioning, or without a column. */
static int stays(const pyspec_solver *s, const solver_work *w, int64_t j)
{
    const double gradient = w->gradient[j], low = s->lower[j], high = s->lower[s->n + j];
    if (!(w->norm[j] > 0.0))
        return 1;
    const double gain = gradient / w->norm[j];
    const int is_slight = gain * gain <= s->tolerance * s->tolerance * variance(s);
    return (s->theta[j] <= low && (is_slight || !(gradient > 0.0))) ||
           (s->theta[j] >= high && (is_slight || !(gradient < 0.0)));
}

/* The free parameter that a step takes out of its bounds first, and the bound; -1: none, -2: the
 * step is not a number. */
static int64_t first_to_leave(const pyspec_solver *s, const solver_work *w, const double *step,
                              double *bound)
{
    const double *lower = s->lower, *upper = s->lower + s->n;
    int64_t found = -1;
    double share = HUGE_VAL;
    for (int64_t j = 0; j < s->n; j++) {
        double to = s->theta[j] + step[j];
        if (isnan(to))
            return -2;
        if (w->held[j] != 0.0 || (to >= lower[j] && to <= upper[j]))
            continue;
        double limit = to < lower[j] ? lower[j] : upper[j];
        double part = (limit - s->theta[j]) / step[j];
        if (part < share || found < 0) {
            share = part;
            found = j;
            *bound = limit;
        }
    }
    return found;
}

/* The step within the bounds: what would leave them stops there, one parameter after the other.
 * Returns the decrease of chi^2 that it promises, NaN if there is none; `pivot` is the smallest of
 * the solutions on the way. */
static double find_step(const pyspec_solver *s, double damping, double *step, double *pivot)
{
    const solver_work w = divide(s->n, s->work);
    const int64_t n = s->n;
    int64_t leaving = 0;
    double bound = 0.0;
    *pivot = 1.0;
    for (int64_t j = 0; j < n; j++) {
        w.held[j] = stays(s, &w, j) ? 1.0 : 0.0;
        step[j] = 0.0;
    }
    while (leaving >= 0) {
        double least = has_factor(s) ? solve_factor(s, &w, damping, step)
                                     : solve_gram(s, &w, damping, step);
        *pivot = least < *pivot ? least : *pivot;
        leaving = least > 0.0 ? first_to_leave(s, &w, step, &bound) : -2;
        if (leaving >= 0) {
            step[leaving] = bound - s->theta[leaving];
            w.held[leaving] = 1.0;
        }
    }
    if (leaving == -2)
        return NAN;
    double promised = 0.0;
    for (int64_t j = 0; j < n; j++) {
        double slope = 2.0 * w.gradient[j];
        for (int64_t k = 0; k < n; k++)
            slope -= w.curvature[j * n + k] * step[k];
        promised += step[j] * slope;
    }
    return promised;
}

/* theta + step, inside of the bounds to the last bit. Returns whether it is another point. */
static int set_trial(pyspec_solver *s, const double *step)
{
    const double *lower = s->lower, *upper = s->lower + s->n;
    int differs = 0;
    for (int64_t j = 0; j < s->n; j++) {
        double to = s->theta[j] + step[j];
        s->trial[j] = to < lower[j] ? lower[j] : to > upper[j] ? upper[j] : to;
        differs |= s->trial[j] != s->theta[j];
    }
    return differs;
}

/* ---- the state machine ------------------------------------------------------------------------ */

static int finish(pyspec_solver *s, int end)
{
    const solver_work w = divide(s->n, s->work);
    for (int64_t j = 0; j < s->n; j++)
        if (end == PYSPEC_END_CONVERGED && !(w.norm[j] > 0.0))
            end = PYSPEC_END_DEGENERATE;
    s->end = end;
    return PYSPEC_FIT_DONE;
}

static int ask(pyspec_solver *s, int phase, int form)
{
    if (s->nfev >= s->max_nfev)
        return finish(s, PYSPEC_END_LIMIT);
    s->phase = phase;
    s->form = form;
    s->nfev++;
    return PYSPEC_FIT_NEED_NORMAL;
}

static int normal_form(const pyspec_solver *s)
{
    return s->needs_factor ? PYSPEC_FORM_FACTOR : PYSPEC_FORM_GRAM;
}

/* What rounding may do to chi^2. */
static double rounding(const pyspec_solver *s)
{
    return 8.0 * DBL_EPSILON * (s->chisqr + sqrt(s->chisqr * s->data_square));
}

/* The undamped step from the best point, and how far that is in standard errors. Returns whether
 * the normal equations are good enough for it; else it is lightly damped. */
static int measure(pyspec_solver *s)
{
    const solver_work w = divide(s->n, s->work);
    double pivot, other;
    s->promised = find_step(s, 0.0, w.undamped, &pivot);
    s->condition = pivot > 0.0 ? 1.0 / pivot : HUGE_VAL;
    const int is_good = s->condition < CONDITION_LIMIT;
    if ((!is_good && !has_factor(s)) || !(s->promised >= -rounding(s)))
        s->promised = find_step(s, LIGHT_DAMPING, w.undamped, &other);
    if (isnan(s->promised) || s->promised < -rounding(s))
        s->promised = HUGE_VAL;
    else if (s->promised < 0.0)
        s->promised = 0.0;
    s->distance = s->promised == 0.0 ? 0.0 : sqrt(s->promised / variance(s));
    return is_good || has_factor(s);
}

/* Whether the best point is near enough. -1: go on. */
static int judge(pyspec_solver *s)
{
    const double exact = 64.0 * DBL_EPSILON * DBL_EPSILON * s->data_square;
    if (!measure(s) && (s->distance < NEAR || s->promised <= exact)) {
        s->needs_factor = 1;
        memcpy(s->trial, s->theta, (size_t)s->n * sizeof(double));
        return ask(s, PHASE_NORMAL, PYSPEC_FORM_FACTOR);
    }
    if (s->distance <= s->tolerance || s->promised <= exact || s->chisqr <= exact)
        return finish(s, PYSPEC_END_CONVERGED);
    const int is_close = s->distance <= ROUNDING_DISTANCE;
    s->n_idle = !is_close || s->distance < s->nearest ? 0 : s->n_idle + 1;
    s->nearest = s->distance < s->nearest ? s->distance : s->nearest;
    if (s->n_idle >= MOST_IDLE)
        return finish(s, PYSPEC_END_CONVERGED);
    return -1;
}

/* Chooses the next trial point. */
static int propose(pyspec_solver *s)
{
    const solver_work w = divide(s->n, s->work);
    double pivot, *step = w.step;
    const int is_near = s->distance < NEAR && s->n_rejected == 0;
    s->expected = NAN;
    while (!is_near && s->damping < MOST_DAMPING) {
        s->expected = find_step(s, s->damping, step, &pivot);
        if (s->expected >= 0.0)
            break;
        s->damping *= 10.0;
    }
    if (is_near) {
        memcpy(step, w.undamped, (size_t)s->n * sizeof(double));
        s->expected = s->promised;
    }
    if (!(s->damping < MOST_DAMPING) || !set_trial(s, step))
        return finish(s, s->distance <= ROUNDING_DISTANCE ? PYSPEC_END_CONVERGED
                                                           : PYSPEC_END_STALLED);
    return ask(s, PHASE_TRIAL, s->n_rejected ? PYSPEC_FORM_VALUE : normal_form(s));
}

static int refuse(pyspec_solver *s)
{
    if (s->distance >= NEAR || s->n_rejected > 0) {
        s->damping *= s->growth;
        s->growth *= 2.0;
    }
    s->damping = s->damping > LEAST_DAMPING ? s->damping : LEAST_DAMPING;
    s->n_rejected++;
    return propose(s);
}

static int accept(pyspec_solver *s, double value)
{
    s->needs_factor = s->form == PYSPEC_FORM_FACTOR ? 2 : s->needs_factor;
    take(s, value);
    int answer = judge(s);
    return answer >= 0 ? answer : propose(s);
}

/* The answer at the trial point. */
static int compare(pyspec_solver *s)
{
    const double value = answer_value(s), decrease = s->chisqr - value;
    const double gain = decrease / s->expected, noise = rounding(s);
    const int is_rounding = s->expected <= noise && decrease >= -noise;
    if (!(is_rounding || (decrease > 0.0 && gain > LEAST_GAIN)))
        return refuse(s);
    if (!is_rounding && (s->distance >= NEAR || s->n_rejected > 0)) {
        double bend = 2.0 * gain - 1.0, factor = 1.0 - bend * bend * bend;
        s->damping *= factor > LEAST_FACTOR ? factor : LEAST_FACTOR;
        s->damping = s->damping > LEAST_DAMPING ? s->damping : LEAST_DAMPING;
    }
    s->growth = 2.0;
    s->n_rejected = 0;
    s->n_steps++;
    if (s->form == PYSPEC_FORM_VALUE)
        return ask(s, PHASE_NORMAL, normal_form(s));
    return accept(s, value);
}

static int start(pyspec_solver *s)
{
    const solver_work w = divide(s->n, s->work);
    const double *lower = s->lower, *upper = s->lower + s->n;
    fill(w.largest, 0.0, s->n);
    s->damping = FIRST_DAMPING;
    s->growth = 2.0;
    s->nearest = HUGE_VAL;
    s->chisqr = HUGE_VAL;
    for (int64_t j = 0; j < s->n; j++)
        s->trial[j] = s->theta[j] < lower[j]   ? lower[j]
                      : s->theta[j] > upper[j] ? upper[j]
                                               : s->theta[j];
    return ask(s, PHASE_FIRST, PYSPEC_FORM_GRAM);
}

int pyspec_fit_step(pyspec_solver *s)
{
    if (s->end != PYSPEC_END_RUNNING)
        return PYSPEC_FIT_DONE;
    if (s->phase == PHASE_START)
        return start(s);
    if (s->phase == PHASE_TRIAL)
        return compare(s);
    double value = answer_value(s);
    if (isfinite(value))
        return accept(s, value);
    if (s->phase == PHASE_FIRST)
        return finish(s, PYSPEC_END_NOT_FINITE);
    return refuse(s);
}

static int evaluate(pyspec_solver *s, const pyspec_part *parts, int64_t n_parts)
{
    int status = STATUS_OK;
    const int64_t order = s->n + 1;
    fill(s->answer, 0.0, triangle_size(order));
    for (int64_t k = 0; !status && k < n_parts; k++) {
        const pyspec_part *part = &parts[k];
        const pyspec_problem *q = part->call->problem;
        for (int64_t j = 0; j < part->n_theta; j++)
            part->theta[j] = s->trial[part->gather ? part->gather[j] : j];
        part->normal->form = s->form;
        part->normal->order = s->form == PYSPEC_FORM_VALUE ? 1 : part->n_theta + 1;
        part->normal->n_nodes = 0;
        status = pyspec_accumulate(part->call, part->normal, q->row_begin, q->row_end);
        status = status ? status : pyspec_collect(part->normal, part->gather, order, s->answer);
    }
    return status;
}

int pyspec_fit(pyspec_solver *solver, const pyspec_part *parts, int64_t n_parts, int64_t budget)
{
    if (!solver || (n_parts && !parts))
        return -STATUS_NULL_POINTER;
    if (solver->phase == PHASE_START && pyspec_fit_step(solver) == PYSPEC_FIT_DONE)
        return PYSPEC_FIT_DONE;
    for (int64_t used = 0; solver->end == PYSPEC_END_RUNNING; used++) {
        if (used >= budget)
            return PYSPEC_FIT_AGAIN;
        int status = evaluate(solver, parts, n_parts);
        if (status)
            return -status;
        pyspec_fit_step(solver);
    }
    return PYSPEC_FIT_DONE;
}
