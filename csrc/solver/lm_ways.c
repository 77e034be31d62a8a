/* lm_ways.c: a fit in a region where the data do not determine some parameters may sit in a trap. Examples are a rise
 * as sharp as a step between two samples, and a shape at which two parameters mean the same. One of these parameters
 * goes back to its start, the others stay, and the fit continues from there. The first better fit is taken. If none is
 * better, or the fit creeps or stalls, heights that began far off may have sent places and widths astray. The fit then
 * begins once more, with heights eliminated. Both ways end if they come back to the known optimum. A new optimum may sit
 * in a trap, too: the ways out of it are tried next. */
#include "solver/reduce.h"
#include "solver/search.h"

/* Evaluations that a fit away from a trap may take; the best is then fitted to its end. And points of a reduced fit
 * that nothing went before. */
enum { TRIAL_NFEV = 40, MOST_POINTS = 1000 };

/* Where more parameters than these are lost, they go back to their starts together only. */
enum { MOST_SINGLE = 4 };

/* A decrease of chi^2 by less than this, in units of the variance of a point, is none. */
static const double SLIGHT = 1e-6;

/* Next to an optimum is nearer than this, in standard errors. A point 3 times as far away lost one better optimum in
 * 6,500 fits of one to three lines. A whole standard error lost more of them. */
static const double NEXT_TO = 1e-3;

/* What is under way. */
enum { WAY_NONE, WAY_OUT, WAY_OUT_END, WAY_REDUCED, WAY_OTHER, WAY_OTHER_END, WAY_END };

/* Work memory: what was found, and what is looked for. */
typedef struct ways {
    pyspec_solver found;
    reduction reduced;
    way_back back;
    double slight, first; /* first: chi^2 where the search began */
    int64_t n_groups, turn, has_back, is_valley, came_back, has_reduced, is_new;
    double *theta, *normal, *factor; /* of what was found */
    double *group;                   /* [n] the group of each parameter, from 1 on; 0: none */
    double *held;                    /* [n] 1 for all of these */
    double *start;                   /* [n] of a trial */
    double *place, *length;          /* [n] */
    double *share, *rest;            /* [n] of directions without effect; of each column beside those before it */
    double *v;                       /* [n][n] these directions */
    double *scratch, *memory;
} ways;

enum { HEAD = (sizeof(ways) + sizeof(double) - 1) / sizeof(double) };

static int64_t divide_ways(ways *w, int64_t n, double *base)
{
    const int64_t m = n + 1, size = triangle_size(m);
    int64_t used = HEAD;
#define TAKE(part, count) (w->part = take_part(base, &used, count))
    TAKE(theta, n);
    TAKE(normal, size);
    TAKE(factor, size);
    TAKE(group, n);
    TAKE(held, n);
    TAKE(start, n);
    TAKE(place, n);
    TAKE(length, n);
    TAKE(share, n);
    TAKE(rest, n);
    TAKE(v, n * n);
    TAKE(scratch, m * (2 * m + 1));
    TAKE(memory, pyspec_reduction_size(n));
#undef TAKE
    return used;
}

int64_t pyspec_search_work_size(int64_t n)
{
    ways w;
    return divide_ways(&w, n, NULL) * (int64_t)sizeof(double);
}

static ways *ways_of(const pyspec_search *q)
{
    return (ways *)(void *)q->work;
}

/* ---- where a fit has come to -------------------------------------------------------------------------------- */

/* Keeps what the solver has as what was found. */
static void keep(const pyspec_search *q)
{
    ways *w = ways_of(q);
    const pyspec_solver *s = q->solver;
    const int64_t max_nfev = w->found.max_nfev;
    w->found = *s;
    w->found.max_nfev = max_nfev;
    memcpy(w->theta, s->theta, (size_t)s->n * sizeof(double));
    memcpy(w->normal, s->normal, (size_t)triangle_size(s->n + 1) * sizeof(double));
}

/* Gives the solver what was found. */
static void restore(const pyspec_search *q)
{
    const ways *w = ways_of(q);
    pyspec_solver *s = q->solver;
    const int64_t nfev = s->nfev;
    *s = w->found;
    s->nfev = nfev;
    memcpy(s->theta, w->theta, (size_t)s->n * sizeof(double));
    memcpy(s->normal, w->normal, (size_t)triangle_size(s->n + 1) * sizeof(double));
}

/* Ends with what the solver has. */
static int finish(pyspec_search *q)
{
    q->way = WAY_END;
    q->solver->max_nfev = ways_of(q)->found.max_nfev;
    return PYSPEC_FIT_DONE;
}

static int begin_round(pyspec_search *q);

/* Ends with what the solver has, or goes on from there if that is new. */
static int end_round(pyspec_search *q)
{
    return ways_of(q)->is_new ? begin_round(q) : finish(q);
}

/* The same with what was found. */
static int end_with_found(pyspec_search *q)
{
    restore(q);
    return end_round(q);
}

/* Lengths of the columns of what was found, and how much of the directions without effect is along each parameter. Each
 * such direction belongs to a column that is a combination of those before it. They are made orthogonal, of length 1. */
static void find_shares(const ways *w, int64_t n)
{
    int64_t n_lost = 0;
    fill(w->share, 0.0, n);
    for (int64_t k = 0; k < n; k++) {
        double square = 0.0, *v = w->v + n_lost * n;
        for (int64_t i = 0; i <= k; i++)
            square += at(w->factor, n + 1, i, k) * at(w->factor, n + 1, i, k);
        w->length[k] = sqrt(square) > LEAST_LENGTH ? sqrt(square) : 0.0;
        w->rest[k] = w->length[k] > 0.0 ? at(w->factor, n + 1, k, k) / w->length[k] : 0.0;
        if (w->length[k] == 0.0 || fabs(w->rest[k]) > LOST)
            continue;
        fill(v, 0.0, n);
        v[k] = 1.0;
        for (int64_t i = k - 1; i >= 0; i--) {
            double sum = 0.0;
            for (int64_t j = i + 1; j <= k && fabs(w->rest[i]) > LOST; j++)
                sum -= v[j] == 0.0 ? 0.0 : at(w->factor, n + 1, i, j) / w->length[j] * v[j];
            v[i] = sum == 0.0 ? 0.0 : sum / w->rest[i];
        }
        for (int64_t i = 0; i < n_lost; i++)
            add(v, -dot(v, w->v + i * n, n), w->v + i * n, n);
        const double size = dot(v, v, n);
        for (int64_t p = 0; p < n; p++) {
            v[p] /= sqrt(size);
            w->share[p] += v[p] * v[p];
        }
        n_lost++;
    }
}

/* Selects the parameters that go back to their start. Each gets its own group if they are few. Those at a bound come
 * first, because a slope of 0 is no optimum there. */
static void find_groups(const pyspec_search *q)
{
    ways *w = ways_of(q);
    const pyspec_solver *s = q->solver;
    const int64_t n = s->n;
    const double *lower = s->lower, *upper = s->lower + n;
    int64_t n_bound = 0;
    find_shares(w, n);
    for (int64_t k = 0; k < n; k++) {
        const double begin = q->start[k];
        const int is_lost = w->length[k] == 0.0 || sqrt(w->share[k]) > SHARE_LOST;
        const int is_moved = is_lost && begin != s->theta[k] && lower[k] <= begin &&
                             begin <= upper[k];
        w->held[k] = !is_moved ? 0.0 : s->theta[k] == lower[k] || s->theta[k] == upper[k] ? 2.0 : 1.0;
        n_bound += w->held[k] > 1.0;
    }
    w->n_groups = 0;
    for (int64_t k = 0; k < n; k++) {
        w->held[k] = w->held[k] > (n_bound ? 1.0 : 0.0);
        w->n_groups += w->held[k] != 0.0;
        w->group[k] = w->held[k] * (double)w->n_groups;
    }
    for (int64_t k = 0; w->n_groups > MOST_SINGLE && k < n; k++)
        w->group[k] = w->held[k];
    w->n_groups = w->n_groups > MOST_SINGLE ? 1 : w->n_groups;
}

/* Describes the neighbourhood of the known optimum. Needs parameters to go back at bounds, and the others certain. One
 * such parameter that has an effect, which others can replace, makes a valley: all fits from inside go along it. */
static void find_back(const pyspec_search *q)
{
    ways *w = ways_of(q);
    const pyspec_solver *s = q->solver;
    const int64_t n = s->n;
    int64_t n_others = 0, *held = (int64_t *)(void *)w->place;
    w->has_back = w->is_valley = w->n_groups > 0;
    for (int64_t k = 0; k < n; k++) {
        n_others += w->held[k] == 0.0;
        w->is_valley &= w->held[k] == 0.0 || w->length[k] > 0.0;
        w->has_back &= w->held[k] == 0.0 || s->theta[k] == s->lower[k] || s->theta[k] == s->lower[n + k];
    }
    if (!w->has_back)
        return;
    for (int64_t k = 0; k < n; k++)
        held[k] = w->held[k] != 0.0;
    w->has_back = n_others > 0 && !pyspec_is_weak(s, held, w->scratch);
    w->is_valley = w->is_valley && w->has_back && n_others == n - 1;
    w->back = (way_back){.n = n, .optimum = w->theta, .factor = w->factor, .held = w->held};
    w->back.chisqr = s->chisqr;
    w->back.variance = w->slight / SLIGHT;
}

/* ---- one way after the other -------------------------------------------------------------------------------- */

/* The end of what evaluations may be used for, if so many are. */
static int64_t end_of(const pyspec_search *q, int64_t most)
{
    const int64_t end = q->solver->nfev + most;
    return q->limit > 0 && end > q->limit ? q->limit : end;
}

static int is_at_limit(const pyspec_search *q)
{
    return q->limit > 0 && q->solver->nfev >= q->limit;
}

/* Ends with the best point. */
static int end_at_limit(pyspec_search *q)
{
    pyspec_search_stop(q);
    q->solver->end = PYSPEC_END_LIMIT;
    return PYSPEC_FIT_DONE;
}

/* A fit from there. */
static int try_from(pyspec_search *q, int way, const double *start, int64_t most)
{
    pyspec_solver *s = q->solver;
    q->way = way;
    if (is_at_limit(q))
        return end_at_limit(q);
    if (start != s->theta)
        memcpy(s->theta, start, (size_t)s->n * sizeof(double));
    s->max_nfev = end_of(q, most);
    s->phase = PYSPEC_PHASE_START;
    s->end = PYSPEC_END_RUNNING;
    s->every = 1;
    s->n_part = 0;
    return pyspec_fit_step(s);
}

static int is_better(const pyspec_search *q)
{
    const ways *w = ways_of(q);
    const pyspec_solver *s = q->solver;
    return !w->came_back && s->end != PYSPEC_END_NOT_FINITE && s->chisqr < w->found.chisqr - w->slight;
}

int pyspec_is_in_doubt(const pyspec_solver *s, double *work)
{
    const int has_ended = s->end == PYSPEC_END_CONVERGED || s->end == PYSPEC_END_DEGENERATE ||
                          s->end == PYSPEC_END_STALLED || s->end == PYSPEC_END_SLOW;
    return has_ended && pyspec_is_weak(s, NULL, work);
}

/* Whether some parameters may be eliminated. */
static int has_linear(const pyspec_search *q)
{
    for (int64_t k = 0; q->linear && k < q->solver->n; k++)
        if (q->linear[k])
            return 1;
    return 0;
}

static int begin_other_way(pyspec_search *q)
{
    ways *w = ways_of(q);
    pyspec_solver *s = q->solver;
    restore(q);
    w->came_back = 0;
    if (w->has_reduced || !has_linear(q) || !pyspec_is_in_doubt(s, w->scratch))
        return end_round(q);
    w->has_reduced = 1;
    w->slight = SLIGHT * s->chisqr / (double)(s->n_points > s->n ? s->n_points - s->n : 1);
    if (q->reduces == PYSPEC_SEARCH_BACK)
        return try_from(q, WAY_OTHER, q->start, TRIAL_NFEV);
    if (is_at_limit(q))
        return end_at_limit(q);
    q->way = WAY_REDUCED;
    s->max_nfev = q->limit > 0 ? q->limit : INT64_MAX;
    const int answer = pyspec_reduce_begin(&w->reduced, s, w->memory, q->eliminated, q->linear, TRIAL_NFEV,
                                           q->is_counts != 0);
    w->reduced.keeps_first = w->has_back && w->is_valley; /* it hardly ever leads elsewhere */
    return answer;
}

/* The fit with the next group back at its start. */
static int try_next_group(pyspec_search *q)
{
    ways *w = ways_of(q);
    const pyspec_solver *s = q->solver;
    w->came_back = 0;
    if (w->turn == w->n_groups)
        return begin_other_way(q);
    w->turn++;
    for (int64_t k = 0; k < s->n; k++)
        w->start[k] = w->group[k] == (double)w->turn ? q->start[k] : w->theta[k];
    return try_from(q, WAY_OUT, w->start, TRIAL_NFEV);
}

/* The ways out of where the fit has come to. */
static int begin_round(pyspec_search *q)
{
    const pyspec_solver *s = q->solver;
    const int64_t n = s->n;
    ways *w = ways_of(q);
    keep(q);
    w->slight = SLIGHT * s->chisqr / (double)(s->n_points > n ? s->n_points - n : 1);
    w->has_back = w->turn = w->is_new = 0;
    if (s->end != PYSPEC_END_CONVERGED && s->end != PYSPEC_END_DEGENERATE)
        return begin_other_way(q);
    pyspec_root(s->normal, n + 1, s->needs_factor == 2, w->factor, w->scratch);
    find_groups(q);
    find_back(q);
    return try_next_group(q);
}

static int begin(pyspec_search *q)
{
    pyspec_solver *s = q->solver;
    ways *w = ways_of(q);
    *w = (ways){.found.max_nfev = s->max_nfev, .first = s->chisqr};
    divide_ways(w, s->n, q->work);
    if (q->reduces == PYSPEC_SEARCH_REDUCED) {
        q->way = WAY_REDUCED;
        q->best = s->chisqr = HUGE_VAL;
        s->every = 1;
        s->max_nfev = q->limit > 0 ? q->limit : INT64_MAX;
        return pyspec_reduce_begin(&w->reduced, s, w->memory, q->eliminated, q->linear, MOST_POINTS,
                                   q->is_counts != 0);
    }
    q->best = s->chisqr;
    return begin_round(q);
}

/* What comes after a run that has ended. */
static int go_on(pyspec_search *q)
{
    ways *w = ways_of(q);
    pyspec_solver *s = q->solver;
    const int is_trial_limit = s->end == PYSPEC_END_LIMIT && !w->came_back;
    if (is_trial_limit && is_at_limit(q))
        return end_at_limit(q);
    switch (q->way) {
    case WAY_OUT:
        if (!is_better(q))
            return try_next_group(q);
        w->has_back = 0;
        w->is_new = 1;
        if (is_trial_limit)
            return try_from(q, WAY_OUT_END, s->theta, w->found.max_nfev);
        keep(q);
        return begin_other_way(q);
    case WAY_OUT_END:
        keep(q);
        return begin_other_way(q);
    case WAY_REDUCED:
        if (q->reduces == PYSPEC_SEARCH_REDUCED)
            return finish(q);
        if (!(s->chisqr < w->found.chisqr - w->slight))
            return end_with_found(q);
        return try_from(q, WAY_OTHER, s->theta, TRIAL_NFEV);
    case WAY_OTHER:
        if (!is_better(q))
            return end_with_found(q);
        w->has_back = 0;
        w->is_new = 1;
        return is_trial_limit ? try_from(q, WAY_OTHER_END, s->theta, w->found.max_nfev) : end_round(q);
    case WAY_OTHER_END:
        return end_round(q);
    default:
        return finish(q);
    }
}

/* The next step of what is under way. It is done if it comes back to the known optimum. */
static int proceed(pyspec_search *q)
{
    ways *w = ways_of(q);
    pyspec_solver *s = q->solver;
    const int is_reduced = q->way == WAY_REDUCED, is_valley = w->has_back && w->is_valley;
    const pyspec_solver *fit = is_reduced ? &w->reduced.inner : s;
    const double chisqr = s->answer[triangle_size(s->n + 1) - 1];
    if (is_valley && s->form == PYSPEC_FORM_GRAM && chisqr < fit->chisqr &&
        pyspec_has_risen(&w->back, s->trial, s->answer)) {
        w->came_back = 1;
        return PYSPEC_FIT_DONE;
    }
    const int answer = is_reduced ? pyspec_reduce_step(&w->reduced) : pyspec_fit_step(s);
    if (!w->has_back || answer != PYSPEC_FIT_NEED_NORMAL || fit->chisqr < w->found.chisqr - w->slight ||
        !pyspec_is_back(&w->back, s->trial, is_reduced && is_valley ? REDUCED_NEAR : NEXT_TO))
        return answer;
    s->nfev--; /* what was asked for last is not needed */
    w->came_back = 1;
    return PYSPEC_FIT_DONE;
}

int pyspec_search_step(pyspec_search *q)
{
    if (!q || !q->solver || !q->start || !q->work || (q->linear && !q->eliminated) ||
        (q->reduces == PYSPEC_SEARCH_REDUCED && !q->linear))
        return -STATUS_NULL_POINTER;
    pyspec_solver *s = q->solver;
    int answer = PYSPEC_FIT_DONE;
    if (q->way == WAY_NONE)
        answer = begin(q);
    else if (q->way != WAY_END)
        answer = proceed(q);
    while (answer == PYSPEC_FIT_DONE && q->way != WAY_END)
        answer = go_on(q);
    q->best = s->chisqr < q->best ? s->chisqr : q->best;
    return answer;
}

int pyspec_search_is_back(const pyspec_search *q)
{
    return q->way == WAY_END && q->solver->end != PYSPEC_END_LIMIT && q->solver->chisqr == ways_of(q)->first;
}

int pyspec_search_stop(pyspec_search *q)
{
    if (!q || !q->solver || !q->work)
        return -STATUS_NULL_POINTER;
    const ways *w = ways_of(q);
    if (q->way == WAY_NONE || q->way == WAY_END)
        return STATUS_OK;
    if (q->reduces != PYSPEC_SEARCH_REDUCED && !(q->solver->chisqr < w->found.chisqr))
        restore(q);
    finish(q);
    return STATUS_OK;
}
