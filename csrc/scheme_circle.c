/* scheme_circle.c: schemes with a circle, A -> B -> C -> A, whose populations may oscillate. Their
 * eigenvalues may be complex and coincide, and no interpolation at real ones serves. All schemes but
 * the simplest go the same way: where several steps or starts lead to a state, or three states exchange,
 * interpolation has terms that cancel, the more the further rates are apart, and derivatives by rates that
 * differ by 1e4 had no digit.
 *
 * exp(K s) is a product of stretches: one for each binary digit of s in units of the fastest state, each
 * the square of the one before, and one for the rest. With the state out of sight K loses nothing, so
 * that every column of exp(K s) sums to 1; all numbers are positive, and columns are made to sum to 1
 * after each squaring. Slow rates beside fast ones then keep their digits, as they do in W. K. Grassmann,
 * M. I. Taksar and D. P. Heyman, Oper. Res. 33, 1107 (1985).
 *
 * The derivative by the rate of a step from i to a is the integral over s' of (l_a - l_i)(s - s') c_i(s'),
 * where c_i are the populations and l_a is that of the target a time after all was in a. Of states in
 * one block l is kept as the difference to the first of them, so that what becomes equal is not
 * subtracted when it is large. */
#include "scheme.h"
#include "vmath.h"

#include <math.h>
#include <string.h>

/* ---- stretches ---------------------------------------------------------------------------------- */

/* out = the columns of e, each of the sum `total`, as differences: of a state that is not the first of its
 * block, to that first; a change within a block is written by the states behind its first, and what the
 * whole block gains by the first. */
static void take_differences(const scheme_circle *c, int n, double (*e)[MAX_STATES], double total,
                             double (*out)[MAX_STATES])
{
    for (int a = 0; a < n; a++) {
        const int ref = c->first[a];
        for (int j = 0; j < n; j++)
            out[j][a] = a == ref ? e[j][a] : e[j][a] - e[j][ref];
        double gone = a == ref ? e[OUT][a] : e[OUT][a] - e[OUT][ref];
        for (int j = 0; j < n; j++) {
            if (c->first[j] == ref)
                continue;
            gone += out[j][a];
            if (c->first[j] != j)
                out[c->first[j]][a] += out[j][a];
        }
        out[ref][a] = (a == ref ? total : 0.0) - gone;
    }
}

/* out = a b + c d */
static void two_products(int n, double (*a)[MAX_STATES], double (*b)[MAX_STATES],
                         double (*c)[MAX_STATES], double (*d)[MAX_STATES],
                         double (*out)[MAX_STATES])
{
    for (int i = 0; i < n; i++) {
        double sum[MAX_STATES] = {0.0};
        for (int k = 0; k < n; k++)
            for (int j = 0; j < MAX_STATES; j++)
                sum[j] += a[i][k] * b[k][j] + c[i][k] * d[k][j];
        memcpy(out[i], sum, sizeof sum);
    }
}

static void sum_columns_to(int n, double total, double (*e)[MAX_STATES])
{
    double factor[MAX_STATES];
    memcpy(factor, e[OUT], sizeof factor);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < MAX_STATES; j++)
            factor[j] += e[i][j];
    for (int j = 0; j < MAX_STATES; j++)
        factor[j] = total / (j < n ? factor[j] : 1.0);
    for (int i = 0; i <= OUT; i = i + 1 == n ? OUT : i + 1)
        for (int j = 0; j < MAX_STATES; j++)
            e[i][j] *= factor[j];
}

/* e, and with slopes x, = the sum over k of factors[k] powers[k]. */
static void sum_powers(const scheme_circle *c, int n, int slopes, const double *factors,
                       double (*e)[MAX_STATES], double (*x)[MAX_STATES])
{
    for (int i = 0; i <= OUT; i = i + 1 == n ? OUT : i + 1) {
        double sum[MAX_STATES] = {0.0}, of_x[MAX_STATES] = {0.0};
        for (int k = 0; k < CIRCLE_TERMS; k++)
            for (int j = 0; j < MAX_STATES; j++)
                sum[j] += factors[k] * c->powers[k].e[i][j];
        memcpy(e[i], sum, sizeof sum);
        if (!slopes || i == OUT)
            continue;
        for (int k = 0; k < CIRCLE_TERMS; k++)
            for (int j = 0; j < MAX_STATES; j++)
                of_x[j] += factors[k] * c->powers[k].x[i][j];
        memcpy(x[i], of_x, sizeof of_x);
    }
}

/* A stretch of 0 <= length <= 1, by Taylor's series of K + 1, which has no negative number. */
static void short_stretch(const scheme_circle *c, int n, int slopes, double length, scheme_stretch *out)
{
    double factors[CIRCLE_TERMS] = {exp(-length)};
    for (int k = 1; k < CIRCLE_TERMS; k++)
        factors[k] = factors[k - 1] * length;
    memset(out, 0, sizeof *out);
    sum_powers(c, n, slopes, factors, out->e, out->x);
    sum_columns_to(n, 1.0, out->e);
}

/* Twice the length. */
static void double_stretch(const scheme_circle *c, int n, int slopes, scheme_stretch *s,
                           scheme_stretch *out)
{
    double differences[MAX_STATES][MAX_STATES] = {{0.0}};
    memset(out, 0, sizeof *out);
    if (slopes) {
        take_differences(c, n, s->e, 1.0, differences);
        two_products(n, s->e, s->x, s->x, differences, out->x);
    }
    for (int i = 0; i <= OUT; i = i + 1 == n ? OUT : i + 1)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                out->e[i][j] += s->e[i][k] * s->e[k][j];
    for (int j = 0; j < n; j++)
        out->e[OUT][j] += s->e[OUT][j];
    sum_columns_to(n, 1.0, out->e);
}

/* Levels up to `level`, which are made when a time needs them. */
static void need_level(scheme_circle *c, int n, int slopes, int level)
{
    for (; c->n_levels <= level; c->n_levels++) {
        scheme_stretch *own = &c->levels[c->n_levels];
        if (c->n_levels)
            double_stretch(c, n, slopes, own - 1, own);
        else
            short_stretch(c, n, slopes, 1.0, own);
    }
}

/* ---- a time ------------------------------------------------------------------------------------- */

/* row = row exp(K s) of a stretch */
static void move_row(int n, double (*e)[MAX_STATES], double *row)
{
    double sum[MAX_STATES] = {0.0};
    for (int k = 0; k < n; k++)
        for (int j = 0; j < MAX_STATES; j++)
            sum[j] += row[k] * e[k][j];
    memcpy(row, sum, sizeof sum);
}

/* What follows the way so far by a stretch. */
static void add_stretch(const scheme_circle *c, int n, int slopes, scheme_stretch *s, scheme_way *way)
{
    double row[MAX_STATES], differences[MAX_STATES][MAX_STATES] = {{0.0}};
    double x[MAX_STATES][MAX_STATES];
    move_row(n, s->e, way->row);
    if (!slopes)
        return;
    take_differences(c, n, s->e, 1.0, differences);
    two_products(n, s->e, way->x, s->x, way->differences, x);
    memcpy(way->x, x, (size_t)n * sizeof *x);
    for (int i = 0; i < n; i++) {
        memset(row, 0, sizeof row);
        for (int k = 0; k < n; k++)
            for (int j = 0; j < MAX_STATES; j++)
                row[j] += way->differences[i][k] * differences[k][j];
        memcpy(way->differences[i], row, sizeof row);
    }
}

/* All binary digits that there are levels for. */
static const double MOST_TIME = 9.2e18;

/* From a way on by a time 0 <= s, and a row beside it unless NULL. */
static void go_far(scheme_circle *c, int n, int slopes, double s, scheme_way *way, double *beside)
{
    const double time = s < MOST_TIME ? s : MOST_TIME;
    uint64_t digits = (uint64_t)time;
    scheme_stretch rest;
    short_stretch(c, n, slopes, time - (double)digits, &rest);
    add_stretch(c, n, slopes, &rest, way);
    if (beside)
        move_row(n, rest.e, beside);
    for (int level = 0; digits; level++, digits >>= 1) {
        if (!(digits & 1))
            continue;
        need_level(c, n, slopes, level);
        add_stretch(c, n, slopes, &c->levels[level], way);
        if (beside)
            move_row(n, c->levels[level].e, beside);
    }
}

static void add_way(int n, int slopes, const scheme_way *way, double factor, scheme_way *sum)
{
    for (int i = 0; i < MAX_STATES; i++)
        sum->row[i] += factor * way->row[i];
    for (int i = 0; slopes && i < n; i++) {
        for (int j = 0; j < MAX_STATES; j++) {
            sum->differences[i][j] += factor * way->differences[i][j];
            sum->x[i][j] += factor * way->x[i][j];
        }
    }
}

static double dot(const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < MAX_STATES; i++)
        sum += a[i] * b[i];
    return sum;
}

/* l of a state, of those that row i of x holds. */
static double whole(const scheme_circle *c, const double *x, int64_t state)
{
    if (state < 0)
        return 0.0;
    const int ref = c->first[state];
    return x[ref] + (state == ref ? 0.0 : x[state]);
}

/* The derivative at a way's end by the rate of each step, added to that by its parameter. */
static void add_steps(const prepared_scheme *p, const scheme_way *way, double *by)
{
    const scheme_circle *c = &p->circle;
    const int64_t *step = scheme_steps(p->program);
    for (int64_t k = 0; k < scheme_head(p->program)->n_steps; k++, step += 3) {
        const double *x = way->x[step[0]];
        const int ref = c->first[step[0]];
        double change;
        if (step[1] >= 0 && c->first[step[1]] == ref)
            change = (step[1] == ref ? 0.0 : x[step[1]]) - (step[0] == ref ? 0.0 : x[step[0]]);
        else
            change = whole(c, x, step[1]) - whole(c, x, step[0]);
        by[step[2]] += change / p->fastest;
    }
}

/* By all parameters but those of the instrument and the onset. */
static void read_way(const prepared_scheme *p, const scheme_way *way, double *out)
{
    const scheme_circle *c = &p->circle;
    const int onset = p->n_params - 1 - (int)scheme_head(p->program)->under;
    out[0] = dot(way->row, c->start);
    if (!p->slopes)
        return;
    for (int k = 1; k < onset; k++) {
        double begins[MAX_STATES];
        pyspec_start_change(p->program, k, begins);
        out[k] = dot(way->row, begins);
    }
    add_steps(p, way, out);
}

void pyspec_circle_go_on(prepared_scheme *p, const double *s, double (*out)[L])
{
    scheme_circle *c = &p->circle;
    const int under = (int)scheme_head(p->program)->under, onset = p->n_params - 1 - under;
    FOR_LANES
    {
        scheme_way way = c->seen;
        double own[MAX_PARAMS];
        go_far(c, p->n, p->slopes, s[l], &way, NULL);
        read_way(p, &way, own);
        for (int k = 0; k < (p->slopes ? onset : 1); k++)
            out[k][l] = own[k];
        if (!p->slopes)
            continue;
        out[onset][l] = -p->fastest * dot(way.row, c->motion);
        if (under) /* a response G obeys dG/dSD = SD d2G/dt2 */
            out[onset + 1][l] = p->width * p->fastest * dot(way.row, c->spread);
    }
}

/* ---- what comes in bit by bit ------------------------------------------------------------------- */

/* out[m] = int_0^length exp(-w) w^m dw, m < count, length <= 1: of the last one a series, and each of the
 * others from the one behind it, of positive terms alone. */
static void fading_powers(double length, int count, double *out)
{
    enum { SERIES = 16 }; /* 1 / (24 25 ... 39) is 1e-24 */
    const double fade = exp(-length);
    double powers[CIRCLE_TERMS + 2] = {1.0};
    for (int m = 1; m <= count; m++)
        powers[m] = powers[m - 1] * length;
    double term = powers[count] * fade / count;
    out[count - 1] = term;
    for (int k = 1; k < SERIES; k++)
        out[count - 1] += term *= length / (count + k);
    for (int m = count - 1; m > 0; m--)
        out[m - 1] = (out[m] + powers[m] * fade) / m;
}

/* The integrals of a way of w from its begin on, and of w times it, over 0 <= w <= length <= 1. */
static void short_moments(const prepared_scheme *p, double length, scheme_way *moments)
{
    const scheme_circle *c = &p->circle;
    const int n = p->n, target = (int)scheme_head(p->program)->target;
    double powers[CIRCLE_TERMS + 1];
    memset(moments, 0, 2 * sizeof *moments);
    if (!(length > 0.0) && length == length)
        return;
    fading_powers(length, CIRCLE_TERMS + 1, powers);
    for (int order = 0; order < 2; order++) {
        scheme_way *own = &moments[order];
        double e[MAX_STATES + 1][MAX_STATES] = {{0.0}};
        sum_powers(c, n, p->slopes, powers + order, e, own->x);
        const double total = order ? 0.5 * length * length : length;
        sum_columns_to(n, total, e);
        memcpy(own->row, e[target], sizeof own->row);
        if (p->slopes)
            take_differences(c, n, e, total, own->differences);
    }
}

/* The same of a way that begins with the stretch of a level, without the stretch itself. */
static void put_off(prepared_scheme *p, int level, scheme_way *moments)
{
    scheme_circle *c = &p->circle;
    need_level(c, p->n, p->slopes, level);
    add_way(p->n, p->slopes, &moments[0], (double)((uint64_t)1 << level), &moments[1]);
    add_stretch(c, p->n, p->slopes, &c->levels[level], &moments[0]);
    add_stretch(c, p->n, p->slopes, &c->levels[level], &moments[1]);
}

static void need_moments(prepared_scheme *p, scheme_moments *m, int level)
{
    for (; m->n_levels <= level; m->n_levels++) {
        scheme_way *own = m->of_level[m->n_levels];
        const int before = m->n_levels - 1;
        if (before < 0) {
            short_moments(p, 1.0, own);
            continue;
        }
        memcpy(own, m->of_level[before], sizeof m->of_level[before]);
        put_off(p, before, own);
        for (int order = 0; order < 2; order++)
            add_way(p->n, p->slopes, &m->of_level[before][order], 1.0, &own[order]);
    }
}

/* Over 0 <= w <= s. */
static void find_moments(prepared_scheme *p, scheme_moments *m, double s, scheme_way *moments)
{
    const double time = s < MOST_TIME ? s : MOST_TIME;
    uint64_t digits = (uint64_t)time;
    short_moments(p, time - (double)digits, moments);
    for (int level = 0; digits; level++, digits >>= 1) {
        if (!(digits & 1))
            continue;
        need_moments(p, m, level);
        put_off(p, level, moments);
        for (int order = 0; order < 2; order++)
            add_way(p->n, p->slopes, &m->of_level[level][order], 1.0, &moments[order]);
    }
}

void pyspec_feed_circle(prepared_scheme *p, scheme_moments *m, double s, double end, double slope,
                        scheme_way *seen, double *rise)
{
    scheme_way moments[2];
    go_far(&p->circle, p->n, p->slopes, s, seen, p->slopes ? rise : NULL);
    if (end == 0.0 && slope == 0.0)
        return;
    find_moments(p, m, s, moments);
    add_way(p->n, p->slopes, &moments[0], end, seen);
    add_way(p->n, p->slopes, &moments[1], -slope, seen);
    for (int i = 0; i < p->n; i++)
        rise[i] += slope * moments[0].row[i];
}

void pyspec_read_circle(const prepared_scheme *p, const scheme_way *seen, const double *rise, double *out)
{
    read_way(p, seen, out);
    if (p->slopes)
        out[p->n_params - 1] = -p->fastest * dot(rise, p->circle.start);
}

/* ---- before a time is known -------------------------------------------------------------------- */

/* Nothing has happened yet. */
static void stand(const prepared_scheme *p, scheme_way *way)
{
    memset(way, 0, sizeof *way);
    way->row[scheme_head(p->program)->target] = 1.0;
    for (int i = 0; i < p->n; i++)
        way->differences[i][i] = 1.0;
}

static void next_power(const scheme_circle *c, int n, int slopes, int target, int k,
                       const scheme_stretch *one, const scheme_stretch *own, scheme_stretch *next)
{
    memset(next, 0, sizeof *next);
    for (int i = 0; i <= OUT; i = i + 1 == n ? OUT : i + 1)
        for (int j = 0; j < n; j++) {
            double sum = i == OUT ? own->e[OUT][j] : 0.0;
            for (int a = 0; a < n; a++)
                sum += one->e[i][a] * own->e[a][j];
            next->e[i][j] = sum / (k + 1);
        }
    for (int i = 0; slopes && i < n; i++)
        for (int j = 0; j < n; j++) {
            const double *row = own->e[target];
            double sum = c->start[i] * (j == c->first[j] ? row[j] : row[j] - row[c->first[j]]);
            for (int a = 0; a < n; a++)
                sum += one->e[i][a] * own->x[a][j];
            next->x[i][j] = sum / (k + 1);
        }
}

/* powers[k] = (K + 1)^k / k!, and the same of what an integral over two such makes. */
static void take_powers(prepared_scheme *p, const scheme_rates *r)
{
    scheme_circle *c = &p->circle;
    scheme_stretch one;
    memset(&one, 0, sizeof one);
    memset(&c->powers[0], 0, sizeof c->powers[0]);
    for (int j = 0; j < p->n; j++) {
        for (int i = 0; i < p->n; i++)
            one.e[i][j] = (i == j ? 1.0 : 0.0) + r->k[i][j];
        one.e[OUT][j] = r->lost[j];
        c->powers[0].e[j][j] = 1.0;
    }
    for (int k = 0; k + 1 < CIRCLE_TERMS; k++)
        next_power(c, p->n, p->slopes, (int)scheme_head(p->program)->target, k, &one, &c->powers[k],
                   &c->powers[k + 1]);
}

void pyspec_prepare_circle(prepared_scheme *p, const scheme_rates *r)
{
    scheme_circle *c = &p->circle;
    pyspec_find_blocks(p->program, c->first);
    memcpy(c->start, r->start, sizeof c->start);
    memset(c->motion, 0, sizeof c->motion);
    memset(c->spread, 0, sizeof c->spread);
    pyspec_scheme_shifted(r, 0.0, c->start, c->motion);
    pyspec_scheme_shifted(r, 0.0, c->motion, c->spread);
    c->n_levels = 0;
    take_powers(p, r);
    stand(p, &c->seen);
}

/* What the instrument reads at the points of the integral, and has seen at `late`. */
void pyspec_see_circle(prepared_scheme *p, const double *weight)
{
    scheme_circle *c = &p->circle;
    const double norm = 0.39894228040143267794 / p->width;
    double own[MAX_PARAMS];
    memset(&c->seen, 0, sizeof c->seen);
    for (int q = 0; q < p->n_points; q++) {
        const double away = (p->late - p->at[q]) / p->width, share = norm * weight[q];
        scheme_way way;
        stand(p, &way);
        go_far(c, p->n, p->slopes, p->at[q], &way, NULL);
        read_way(p, &way, own);
        p->seen[q] = share * own[0];
        for (int k = 1; p->slopes && k < p->n_params - 2; k++)
            p->change[k][q] = share * own[k];
        add_way(p->n, p->slopes, &way, exp(-0.5 * away * away) * share, &c->seen);
    }
}
