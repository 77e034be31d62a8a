/* lm_project.c: least squares of the linear parameters of a reduced fit, b, within their bounds, and what they leave
 * of the columns of the others. The bounds are an active set as that of P. B. Stark & R. L. Parker, Comput. Stat. 10
 * (1995) 129, that begins inside: a parameter that the free solution takes out of its bounds stops there, and goes on
 * once the slope says so. A combination without effect gets no step. */
#include "solver/reduce.h"

/* b rests if another step would lower chi^2 by less than REST, in units of the variance of a point, or change less
 * than SHARE of the model, in squares. The reduced chi^2 is that after the step. Its slopes are those before it. A
 * second step repairs the rounding of a step from afar. The weights of counts depend on b: the prediction of a step
 * reaches less far, and REST_COUNTS applies. */
static const double REST = 1e-2, SHARE = 1e-3, REST_COUNTS = 0.1;

/* Changes of what bounds hold, for each parameter of b, after which the best so far is taken. */
enum { MOST_CHANGES = 10 };

/* A slope at a bound below this share of the residual holds no parameter and frees none. */
static const double NEUTRAL = 1e-12;

/* The columns of [J r], n + 1 numbers each, that have the Gram matrix of the answer. */
void pyspec_load_columns(reduction *r)
{
    const int64_t m = r->whole->n + 1;
    pyspec_root(r->whole->answer, m, r->whole->form == PYSPEC_FORM_FACTOR, r->factor, r->scratch);
    for (int64_t k = 0; k < m; k++)
        for (int64_t i = 0; i < m; i++)
            r->columns[k * m + i] = i <= k ? at(r->factor, m, i, k) : 0.0;
}

/* The columns of b that no bound holds, of length 1 each. */
static void load_basis(reduction *r)
{
    const int64_t m = r->whole->n + 1, *linear = linear_of(r);
    int64_t *of = (int64_t *)(void *)r->of;
    r->n_free = 0;
    for (int64_t j = 0; j < r->n_linear; j++) {
        if (r->held[j] != 0.0)
            continue;
        for (int64_t i = 0; i < m; i++)
            r->basis[r->n_free * m + i] = r->columns[linear[j] * m + i] / r->size[j];
        of[r->n_free++] = j;
    }
}

/* Combinations of the columns of b that no bound holds, orthogonal, and how long they are. Returns how many there are;
 * a combination without effect is none. `weakest`: the smallest singular value beside the largest, or less. */
static int64_t find_basis(reduction *r, double *weakest)
{
    const int64_t m = r->whole->n + 1;
    int64_t n_basis = 0;
    load_basis(r);
    *weakest = r->n_free ? pyspec_take_off_earlier(r->basis, m, r->n_free, r->mix, r->value) : 1.0;
    while (n_basis < r->n_free && r->value[n_basis] > 0.0)
        n_basis++;
    if (n_basis == r->n_free && *weakest >= WEAK)
        return n_basis;
    load_basis(r);
    pyspec_singular(r->basis, m, r->n_free, r->mix, r->value);
    *weakest = r->value[r->n_free - 1] / r->value[0];
    n_basis = 0;
    while (n_basis < r->n_free && r->value[n_basis] > LOST * r->value[0])
        n_basis++;
    return n_basis;
}

/* The change of b that no bound holds to where r has no part along its columns. */
static void find_change(const reduction *r, const double *right, double *change)
{
    const int64_t m = r->whole->n + 1;
    fill(change, 0.0, r->n_free);
    for (int64_t p = 0; p < r->n_basis; p++) {
        const double part = dot(r->basis + p * m, right, m) / (r->value[p] * r->value[p]);
        add(change, part, r->mix + p * r->n_free, r->n_free);
    }
}

/* Moves b, in units of its columns, and r with it. */
static void move(const reduction *r, int64_t j, double by, double *right)
{
    const int64_t m = r->whole->n + 1;
    r->step_of[j] += by;
    add(right, -by / r->size[j], r->columns + linear_of(r)[j] * m, m);
}

/* The parameter that a change takes out of its bounds first, where it stops, and the share of the change; -1: none. */
static int64_t first_to_leave(const reduction *r, const double *change, double *share)
{
    const int64_t *of = (const int64_t *)(const void *)r->of;
    int64_t found = -1;
    *share = HUGE_VAL;
    for (int64_t p = 0; p < r->n_free; p++) {
        const int64_t j = of[p];
        const double to = r->step_of[j] + change[p], low = r->limits[j], high = r->limits[r->n_linear + j];
        if (to >= low && to <= high)
            continue;
        const double part = ((change[p] < 0.0 ? low : high) - r->step_of[j]) / change[p];
        if (found < 0 || part < *share) {
            found = p;
            *share = part;
        }
    }
    *share = *share > 0.0 ? *share : 0.0;
    return found;
}

/* The parameter at a bound whose slope points inside most; -1: none. */
static int64_t first_to_free(const reduction *r, const double *right, double neutral)
{
    const int64_t m = r->whole->n + 1, *linear = linear_of(r);
    int64_t found = -1;
    double most = -1.0;
    for (int64_t j = 0; j < r->n_linear; j++) {
        const double low = r->limits[j], high = r->limits[r->n_linear + j];
        if (r->held[j] == 0.0 || r->size[j] == 0.0 || !(high > low))
            continue;
        const double pull = dot(r->columns + linear[j] * m, right, m) / r->size[j];
        const int is_inward = (r->step_of[j] <= low && pull > neutral) || (r->step_of[j] >= high && pull < -neutral);
        if (is_inward && fabs(pull) > most) {
            most = fabs(pull);
            found = j;
        }
    }
    return found;
}

double pyspec_solve_linear(reduction *r)
{
    const pyspec_solver *s = r->whole;
    const int64_t m = s->n + 1, n = r->n_linear, *linear = linear_of(r), *of = (const int64_t *)(void *)r->of;
    double *right = r->kept + (s->n - n) * m, weakest = 1.0;
    memcpy(right, r->columns + s->n * m, (size_t)m * sizeof(double));
    const double neutral = NEUTRAL * sqrt(dot(right, right, m));
    r->is_kept = 0;
    for (int64_t j = 0; j < n; j++) {
        const double *own = r->columns + linear[j] * m, now = r->theta[linear[j]];
        r->size[j] = sqrt(dot(own, own, m));
        r->held[j] = !(r->size[j] > 0.0);
        r->step_of[j] = 0.0;
        r->limits[j] = (s->lower[linear[j]] - now) * r->size[j];
        r->limits[n + j] = (s->lower[s->n + linear[j]] - now) * r->size[j];
    }
    for (int64_t turn = 0; turn < MOST_CHANGES * (n + 1); turn++) {
        double share, *change = r->part;
        double its;
        r->n_basis = find_basis(r, &its);
        weakest = turn == 0 ? its : weakest;
        find_change(r, right, change);
        const int64_t leaving = first_to_leave(r, change, &share);
        for (int64_t p = 0; p < r->n_free; p++)
            move(r, of[p], leaving < 0 ? change[p] : share * change[p], right);
        if (leaving >= 0) {
            const int64_t j = of[leaving];
            const double limit = r->limits[change[leaving] < 0.0 ? j : n + j];
            move(r, j, limit - r->step_of[j], right);
            r->step_of[j] = limit;
            r->held[j] = 1.0;
            continue;
        }
        const int64_t inward = first_to_free(r, right, neutral);
        if (inward < 0)
            break;
        r->held[inward] = 0.0;
    }
    for (int64_t j = 0; j < n; j++) {
        const double step = r->size[j] > 0.0 ? r->step_of[j] / r->size[j] : 0.0;
        r->solved[j] = within(s, linear[j], r->theta[linear[j]] + step);
    }
    return weakest;
}

int pyspec_is_slight(const reduction *r)
{
    const pyspec_solver *s = r->whole;
    const int64_t m = s->n + 1, *linear = linear_of(r);
    const double *before = r->columns + s->n * m, *after = r->kept + (s->n - r->n_linear) * m;
    const double share = 64.0 * DBL_EPSILON, rounding_of = share * share * s->data_square;
    const double chisqr = dot(before, before, m), promised = chisqr - dot(after, after, m);
    const double variance_of = chisqr / (double)s->n_points;
    double along = 0.0, model = 0.0;
    if (r->is_counts)
        return promised <= REST_COUNTS * variance_of;
    for (int64_t i = 0; i < m; i++) {
        double sum = 0.0;
        for (int64_t j = 0; j < r->n_linear; j++)
            sum += r->columns[linear[j] * m + i] * r->theta[linear[j]];
        along += (before[i] - after[i]) * (before[i] - after[i]);
        model += sum * sum;
    }
    return promised <= REST * variance_of + rounding_of || along <= SHARE * model;
}

void pyspec_take_off_linear(reduction *r)
{
    const int64_t n = r->whole->n, m = n + 1, n_others = n - r->n_linear, *others = others_of(r);
    const int64_t *of = (const int64_t *)(void *)r->of;
    fill(r->slopes, 0.0, r->n_linear * n_others);
    for (int64_t k = 0; k <= n_others; k++) {
        double *own = r->kept + k * m;
        if (k < n_others) {
            memcpy(own, r->columns + others[k] * m, (size_t)m * sizeof(double));
            find_change(r, own, r->part);
            for (int64_t j = 0; j < r->n_free; j++)
                r->slopes[of[j] * n_others + k] = -r->part[j] / r->size[of[j]];
        }
        for (int64_t p = 0; p < r->n_basis; p++) {
            const double *along = r->basis + p * m;
            add(own, -dot(along, own, m) / (r->value[p] * r->value[p]), along, m);
        }
    }
    for (int64_t k = 0; k < n_others; k++)
        r->kept_at[k] = r->theta[others[k]];
    r->is_kept = 1;
}
