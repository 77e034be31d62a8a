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
#include "scheme_stretch.h"
#include "vmath.h"

#include <math.h>
#include <string.h>

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
static void add_stretch(const scheme_circle *c, int n, scheme_stretch *s, scheme_way *way)
{
    double row[MAX_STATES], differences[MAX_STATES][MAX_STATES] = {{0.0}};
    double x[MAX_STATES][MAX_STATES];
    move_row(n, s->e, way->row);
    pyspec_take_differences(c, n, s->e, 1.0, differences);
    pyspec_two_products(n, s->e, way->x, s->x, way->differences, x);
    memcpy(way->x, x, (size_t)n * sizeof *x);
    for (int i = 0; i < n; i++) {
        memset(row, 0, sizeof row);
        for (int k = 0; k < n; k++)
            for (int j = 0; j < MAX_STATES; j++)
                row[j] += way->differences[i][k] * differences[k][j];
        memcpy(way->differences[i], row, sizeof row);
    }
}

/* From a way on by a time 0 <= s, and a row beside it unless NULL. */
static void go_far(prepared_scheme *p, double s, scheme_way *way, double *beside)
{
    const scheme_circle *c = &p->circle;
    const int n = p->n;
    const double time = countable(s);
    uint64_t digits = (uint64_t)time;
    scheme_stretch rest;
    if (time > (double)digits) {
        pyspec_short_stretch(c, n, 1, time - (double)digits, &rest);
        add_stretch(c, n, &rest, way);
        if (beside)
            move_row(n, rest.e, beside);
    }
    for (int level = 0; digits; level++, digits >>= 1) {
        if (!(digits & 1))
            continue;
        scheme_stretch *own = pyspec_level(p, level);
        add_stretch(c, n, own, way);
        if (beside)
            move_row(n, own->e, beside);
    }
}

static void add_way(int n, const scheme_way *way, double factor, scheme_way *sum)
{
    for (int i = 0; i < MAX_STATES; i++)
        sum->row[i] += factor * way->row[i];
    for (int i = 0; i < n; i++) {
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

/* By all parameters but the height, the onset and those of the instrument. */
static void read_way(const prepared_scheme *p, const scheme_way *way, double *out)
{
    const int onset = p->n_params - 1 - (int)scheme_head(p->program)->under;
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
    pyspec_trail_values(p, &c->trail, s, out[0]);
    FOR_LANES
    {
        double own[MAX_PARAMS];
        for (int k = 1; p->slopes && k < p->n_params; k++)
            out[k][l] = NAN;
        if (!p->slopes || isnan(out[0][l]))
            continue;
        const double time = countable(s[l]), units = floor(time);
        if (units != c->units) {
            c->units = units;
            c->whole = c->seen;
            go_far(p, units, &c->whole, NULL);
        }
        scheme_way way = c->whole;
        go_far(p, time - units, &way, NULL);
        read_way(p, &way, own);
        for (int k = 1; k < onset; k++)
            out[k][l] = own[k];
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
        pyspec_sum_powers(c, n, 1, powers + order, e, own->x);
        const double total = order ? 0.5 * length * length : length;
        pyspec_sum_columns_to(n, total, e);
        memcpy(own->row, e[target], sizeof own->row);
        pyspec_take_differences(c, n, e, total, own->differences);
    }
}

/* The same of a way that begins with the stretch of a level, without the stretch itself. */
static void put_off(prepared_scheme *p, int level, scheme_way *moments)
{
    scheme_stretch *own = pyspec_level(p, level);
    add_way(p->n, &moments[0], (double)((uint64_t)1 << level), &moments[1]);
    add_stretch(&p->circle, p->n, own, &moments[0]);
    add_stretch(&p->circle, p->n, own, &moments[1]);
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
            add_way(p->n, &m->of_level[before][order], 1.0, &own[order]);
    }
}

/* Over 0 <= w <= s. */
static void find_moments(prepared_scheme *p, scheme_moments *m, double s, scheme_way *moments)
{
    const double time = countable(s);
    uint64_t digits = (uint64_t)time;
    short_moments(p, time - (double)digits, moments);
    for (int level = 0; digits; level++, digits >>= 1) {
        if (!(digits & 1))
            continue;
        need_moments(p, m, level);
        put_off(p, level, moments);
        for (int order = 0; order < 2; order++)
            add_way(p->n, &m->of_level[level][order], 1.0, &moments[order]);
    }
}

void pyspec_feed_circle(prepared_scheme *p, scheme_moments *m, double s, double end, double slope,
                        scheme_way *seen, double *rise)
{
    scheme_way moments[2];
    go_far(p, s, seen, rise);
    if (end == 0.0 && slope == 0.0)
        return;
    find_moments(p, m, s, moments);
    add_way(p->n, &moments[0], end, seen);
    add_way(p->n, &moments[1], -slope, seen);
    for (int i = 0; i < p->n; i++)
        rise[i] += slope * moments[0].row[i];
}

void pyspec_read_circle(const prepared_scheme *p, const scheme_way *seen, const double *rise, double *out)
{
    read_way(p, seen, out);
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

void pyspec_prepare_circle(prepared_scheme *p, const scheme_rates *r)
{
    scheme_circle *c = &p->circle;
    pyspec_find_blocks(p->program, c->first);
    memcpy(c->start, r->start, sizeof c->start);
    memset(c->motion, 0, sizeof c->motion);
    memset(c->spread, 0, sizeof c->spread);
    pyspec_scheme_shifted(r, 0.0, c->start, c->motion);
    pyspec_scheme_shifted(r, 0.0, c->motion, c->spread);
    pyspec_begin_stretches(p, r);
    c->units = -1.0;
    stand(p, &c->seen);
    pyspec_prepare_values(p);
    pyspec_begin_trail(p, &c->trail, c->seen.row, NULL, 0.0, 0.0);
}

/* What the instrument reads at the points of the integral, and has seen at `late`. */
void pyspec_see_circle(prepared_scheme *p, const double *weight)
{
    scheme_circle *c = &p->circle;
    const double norm = 0.39894228040143267794 / p->width;
    double seen[MAX_STATES] = {0.0}, row[MAX_STATES], own[MAX_PARAMS];
    memset(&c->seen, 0, sizeof c->seen);
    for (int q = 0; q < p->n_points; q++) {
        const double away = (p->late - p->at[q]) / p->width, share = norm * weight[q];
        const double factor = v_exp(-0.5 * away * away) * share;
        pyspec_trail_row(p, &c->trail, p->at[q], row);
        p->seen[q] = share * dot(row, c->start);
        for (int i = 0; i < p->n; i++)
            seen[i] += factor * row[i];
        if (!p->slopes)
            continue;
        scheme_way way;
        stand(p, &way);
        go_far(p, p->at[q], &way, NULL);
        read_way(p, &way, own);
        for (int k = 1; k < p->n_params - 2; k++)
            p->change[k][q] = share * own[k];
        add_way(p->n, &way, factor, &c->seen);
    }
    c->units = -1.0;
    pyspec_begin_trail(p, &c->trail, seen, NULL, 0.0, 0.0);
}
