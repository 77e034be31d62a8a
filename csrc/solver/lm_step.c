/* lm_step.c: one Levenberg-Marquardt step from the normal equations, or from a factor of J where their
 * condition asks for it, within the bounds. */
#include "solver/solver.h"

/* A parameter is next to a bound within this part of the way between both. */
static const double NEXT_TO = 1e-3;

/* What the parameters that are held leave of the gradient of another. */
static double remaining_gradient(const solver_work *w, int64_t n, int64_t j, const double *step)
{
    double sum = w->gradient[j];
    for (int64_t k = 0; k < n; k++)
        sum -= w->held[k] != 0.0 ? w->curvature[j * n + k] * step[k] : 0.0;
    return sum;
}

/* Lists the free parameters. Those whose columns meet the fewest others come first. In a joint fit the
 * parameters of a file precede shared ones: elimination keeps the zeros between files. Returns how many. */
static int64_t order_free(const solver_work *w, int64_t n, int64_t *order)
{
    int64_t n_free = 0, *met = (int64_t *)(void *)w->solution;
    for (int64_t j = 0; j < n; j++) {
        if (w->held[j] != 0.0)
            continue;
        int64_t own = 0, place = n_free++;
        for (int64_t k = 0; k < n; k++)
            own += w->held[k] == 0.0 && w->curvature[j * n + k] != 0.0;
        for (; place > 0 && met[place - 1] > own; place--) {
            met[place] = met[place - 1];
            order[place] = order[place - 1];
        }
        met[place] = own;
        order[place] = j;
    }
    return n_free;
}

/* The scaled matrix of the free parameters, its upper half, and the right side. */
static void load_gram(const pyspec_solver *s, const solver_work *w, double damping,
                      const double *step, const int64_t *order, int64_t n_free)
{
    const int64_t n = s->n;
    for (int64_t a = 0; a < n_free; a++) {
        const int64_t j = order[a];
        const double share = w->largest[j] / w->norm[j], *from = w->curvature + j * n;
        double *row = w->matrix + a * n_free;
        row[a] = 1.0 + damping * share * share;
        for (int64_t b = a + 1; b < n_free; b++)
            row[b] = from[order[b]] / (w->norm[j] * w->norm[order[b]]);
        w->solution[a] = remaining_gradient(w, n, j, step) / w->norm[j];
    }
}

double pyspec_solve_gram(const pyspec_solver *s, const solver_work *w, double damping, double *step)
{
    double least = 1.0, *y = w->solution;
    int64_t *order = (int64_t *)(void *)w->order;
    const int64_t n_free = order_free(w, s->n, order);
    load_gram(s, w, damping, step, order, n_free);
    for (int64_t a = 0; a < n_free; a++) {
        double *row = w->matrix + a * n_free, pivot = row[a];
        least = pivot < least ? pivot : least;
        if (!(pivot > 0.0))
            return 0.0;
        row[a] = 1.0 / sqrt(pivot);
        y[a] *= row[a];
        for (int64_t b = a + 1; b < n_free; b++)
            row[b] *= row[a];
        for (int64_t b = a + 1; b < n_free; b++) {
            const double factor = row[b];
            double *other = w->matrix + b * n_free;
            if (factor == 0.0)
                continue;
            for (int64_t c = b; c < n_free; c++)
                other[c] -= factor * row[c];
            y[b] -= factor * y[a];
        }
    }
    for (int64_t a = n_free - 1; a >= 0; a--) {
        const double *row = w->matrix + a * n_free;
        for (int64_t b = a + 1; b < n_free; b++)
            y[a] -= row[b] * y[b];
        y[a] *= row[a];
    }
    for (int64_t a = 0; a < n_free; a++)
        step[order[a]] = y[a] / w->norm[order[a]];
    return least;
}

/* The same by orthogonal transformations of the factor R, with rows of the damping below. A
 * direction that the data do not determine at all gets no step. */
static double solve_factor(const pyspec_solver *s, const solver_work *w, double damping,
                           double *step)
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
        column[order + free_index] = sqrt(damping) * share + LOST;
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
        y[j] = pivot > 4.0 * LOST ? y[j] / pivot : 0.0;
    }
    free_index = 0;
    for (int64_t j = 0; j < n; j++)
        if (w->held[j] == 0.0)
            step[j] = y[free_index++] / w->norm[j];
    return least;
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

/* The first free parameter that a step takes out of its bounds, and its stop at `share` of the way
 * there. -1: none, -2: the step is not a number. */
static int64_t first_to_leave(const pyspec_solver *s, const solver_work *w, const double *step,
                              double share, double *stop)
{
    const double *lower = s->lower, *upper = s->lower + s->n;
    int64_t found = -1;
    double least = HUGE_VAL;
    for (int64_t j = 0; j < s->n; j++) {
        double to = s->theta[j] + step[j];
        if (isnan(to))
            return -2;
        if (w->held[j] != 0.0 || (to >= lower[j] && to <= upper[j]))
            continue;
        double limit = to < lower[j] ? lower[j] : upper[j];
        double part = (limit - s->theta[j]) / step[j];
        if (part < least || found < 0) {
            least = part;
            found = j;
            *stop = share < 1.0 ? s->theta[j] + share * (limit - s->theta[j]) : limit;
        }
    }
    return found;
}

/* Whether JtJ of this least pivot is good enough; below it a parameter is what others make of it. */
static int is_good(double pivot)
{
    return pivot * CONDITION_LIMIT > 1.0;
}

/* Whether a parameter lies nearer to its lower bound than to its upper one. */
static int is_low(const pyspec_solver *s, int64_t j)
{
    return s->theta[j] - s->lower[j] < s->lower[s->n + j] - s->theta[j];
}

/* The way of a parameter to a bound at which it lies, or which is too near for the data to tell. The way
 * is then a small part of the interval between the bounds. On it chi^2 changes by less than its variance,
 * even if all others stood still. HUGE_VAL: there is none. */
static double way_to_bound(const pyspec_solver *s, const solver_work *w, int64_t j)
{
    const double down = s->lower[j] - s->theta[j], up = s->lower[s->n + j] - s->theta[j];
    const double way = is_low(s, j) ? down : up;
    const int is_near = fabs(way) <= NEXT_TO * (up - down) && up - down < HUGE_VAL;
    return way == 0.0 || (is_near && w->norm[j] * fabs(way) < sqrt(variance(s))) ? way : HUGE_VAL;
}

/* Whether a step leaves a gradient by a parameter away from the bound next to it, of one that lies at the
 * bound beyond rounding. However small that is beside the column, the gain may be large: what others leave
 * of the column is small, too. */
static int gains_inside(const pyspec_solver *s, const solver_work *w, int64_t j, const double *step)
{
    const double size = step[j] == 0.0 ? sqrt(s->chisqr) + sqrt(s->data_square) : 0.0;
    double left = w->gradient[j];
    for (int64_t k = 0; k < s->n; k++)
        left -= w->curvature[j * s->n + k] * step[k];
    return (is_low(s, j) ? left : -left) > 8.0 * DBL_EPSILON * w->norm[j] * size;
}

/* Holds all parameters that have such a way at its end. Returns how many there are. */
static int hold_at_ends(const pyspec_solver *s, const solver_work *w, double *way, double *step)
{
    int n_ways = 0;
    for (int64_t j = 0; j < s->n; j++) {
        way[j] = w->held[j] == 0.0 ? way_to_bound(s, w, j) : HUGE_VAL;
        if (way[j] == HUGE_VAL)
            continue;
        step[j] = way[j];
        w->held[j] = 1.0;
        n_ways++;
    }
    return n_ways;
}

/* Holds parameters at a bound, or next to it, that others can replace. An example is the mixing m of a GLP at m = 0:
 * its column is parallel to that of the width. Such a parameter goes to the bound, unless chi^2 falls away from there.
 * Returns the smallest pivot of the step, which was `least` before. */
static double hold_replaceable(const pyspec_solver *s, const solver_work *w, double damping, double *step,
                               double least)
{
    const int64_t n = s->n;
    double *way = w->length;
    const int n_ways = hold_at_ends(s, w, way, step);
    if (n_ways == 0)
        return least;
    least = pyspec_solve_gram(s, w, damping, step); /* where the others alone are bad, it is not for these */
    for (int64_t j = 0; n_ways > 1 && is_good(least) && j < n; j++) {
        if (way[j] == HUGE_VAL)
            continue;
        w->held[j] = 0.0;
        least = pyspec_solve_gram(s, w, damping, step);
        if (is_good(least))
            continue;
        step[j] = way[j];
        w->held[j] = 1.0;
        least = pyspec_solve_gram(s, w, damping, step);
    }
    int holds = is_good(least);
    for (int64_t j = 0; holds && j < n; j++)
        holds = way[j] == HUGE_VAL || w->held[j] == 0.0 || !gains_inside(s, w, j, step);
    for (int64_t j = 0; !holds && j < n; j++)
        w->held[j] = way[j] == HUGE_VAL ? w->held[j] : 0.0;
    return holds ? least : pyspec_solve_gram(s, w, damping, step);
}

double pyspec_find_step(const pyspec_solver *s, double damping, double share, double *step,
                        double *pivot)
{
    const solver_work w = divide(s->n, s->work);
    const int64_t n = s->n;
    int64_t leaving;
    double stop = 0.0;
    *pivot = 1.0;
    for (int64_t j = 0; j < n; j++) {
        w.held[j] = stays(s, &w, j) ? 1.0 : 0.0;
        step[j] = 0.0;
    }
    do {
        double least = has_factor(s) ? solve_factor(s, &w, damping, step)
                                     : pyspec_solve_gram(s, &w, damping, step);
        if (!has_factor(s) && !is_good(least))
            least = hold_replaceable(s, &w, damping, step, least);
        *pivot = least < *pivot ? least : *pivot;
        leaving = least > 0.0 ? first_to_leave(s, &w, step, share, &stop) : -2;
        if (leaving >= 0) {
            step[leaving] = stop - s->theta[leaving];
            w.held[leaving] = 1.0;
        }
    } while (leaving >= 0);
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

