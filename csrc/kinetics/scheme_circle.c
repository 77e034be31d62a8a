/* scheme_circle.c: schemes with a circle, A -> B -> C -> A, whose populations may oscillate. Their
 * eigenvalues may be complex and coincide: interpolation at real ones fails. All schemes but the simplest
 * use this method too. Interpolation has terms that cancel if several steps or starts lead to a state, or
 * three states exchange. The loss grows with the ratio of the rates: derivatives by rates that differ by
 * 1e4 had no digit.
 *
 * The matrix exp(K s) is a product of stretches. There is one for each binary digit of s in units of the
 * fastest state. Each is the square of the one before. One more covers the rest. K includes the state out
 * of sight and loses nothing: every column of exp(K s) sums to 1. All numbers are positive, and columns
 * are made to sum to 1 after each squaring. Slow rates beside fast ones then keep their digits, as they do
 * in W. K. Grassmann, M. I. Taksar and D. P. Heyman, Oper. Res. 33, 1107 (1985). From one time to the next
 * the product of the digits that did not change is kept.
 *
 * The derivative by the rate of a step from i to a is the integral over s' of (l_a - l_i)(s - s') c_i(s').
 * Here c_i are the populations. l_a is the population of the target a time after all was in a. Within a
 * block, l is stored as the difference to the first state. Nearly equal large numbers are therefore not
 * subtracted. */
#include "kinetics/scheme_stretch.h"
#include "math/vmath.h"

#include <math.h>
#include <string.h>

/* ---- ways --------------------------------------------------------------------------------------- */

/* What follows a way by a stretch: `apart` is that as differences, or NULL where nobody goes on. */
static void add_stretch(int n, scheme_way *from, scheme_stretch *s, double (*apart)[MAX_STATES],
                        scheme_way *to)
{
    pyspec_move_row(n, from->row, s->e, to->row);
    pyspec_move_row(n, from->rise, s->e, to->rise);
    pyspec_two_products(n, s->e, from->x, s->x, from->differences, to->x);
    if (apart)
        pyspec_product(n, from->differences, apart, to->differences);
}

static void add_way(int n, const scheme_way *way, double factor, scheme_way *sum)
{
    add_row(sum->row, factor, way->row);
    for (int i = 0; i < n; i++) {
        add_row(sum->differences[i], factor, way->differences[i]);
        add_row(sum->x[i], factor, way->x[i]);
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
    const int64_t *start = scheme_starts(p->program);
    for (int k = 1; k < p->n_params; k++)
        out[k] = 0.0;
    for (int64_t k = 0; k < scheme_head(p->program)->n_starts; k++, start += 3)
        if (start[1] > 0)
            out[start[1]] += way->row[start[0]];
    add_steps(p, way, out);
}

/* ---- what comes in bit by bit ------------------------------------------------------------------- */

/* out[m] = int_0^length exp(-w) w^m dw, m < count, length <= 1, which is m! times the sum of
 * exp(-length) length^j / j! over all j > m. */
static void fading_powers(double length, int count, double *out)
{
    enum { MORE = 16 }; /* 1 / (24 25 ... 39) is 1e-24 */
    double terms[CIRCLE_TERMS + 2], sum = 0.0, factorial = 1.0;
    terms[0] = exp(-length);
    for (int j = 1; j <= count; j++)
        terms[j] = terms[j - 1] * (length / j);
    double term = terms[count];
    for (int j = count + 1; j < count + MORE && term > 0x1p-60 * terms[count]; j++)
        sum += term *= length / j;
    for (int m = count - 1; m >= 0; m--)
        out[m] = sum += terms[m + 1];
    for (int m = 1; m < count; m++)
        out[m] *= factorial *= m;
}

/* The integral of a way of w over a length, or of w times it; `powers` are those of exp(-w) w^k or of
 * exp(-w) w^(k + 1), `total` that of 1 or w. */
static void integrate(const prepared_scheme *p, const double *powers, double total, scheme_way *out)
{
    const int n = p->n, target = (int)scheme_head(p->program)->target;
    double e[MAX_STATES + 1][MAX_STATES];
    memset(out, 0, sizeof *out);
    pyspec_sum_powers(&p->circle, n, powers, e, out->x);
    pyspec_sum_columns_to(n, total, e);
    memcpy(out->row, e[target], sizeof out->row);
    pyspec_take_differences(&p->circle, n, e, total, out->differences);
}

/* Over a unit of time, and over twice as long each. */
static void need_moments(prepared_scheme *p, scheme_moments *m, int level)
{
    for (; m->n_levels <= level; m->n_levels++) {
        const int before = m->n_levels - 1;
        scheme_way *own = m->of_level[m->n_levels];
        if (before < 0) {
            double powers[CIRCLE_TERMS + 1];
            fading_powers(1.0, CIRCLE_TERMS + 1, powers);
            integrate(p, powers, 1.0, &own[0]);
            integrate(p, powers + 1, 0.5, &own[1]);
            continue;
        }
        scheme_stretch *stretch = pyspec_level(p, before);
        scheme_way *half = m->of_level[before];
        for (int order = 0; order < 2; order++)
            add_stretch(p->n, &half[order], stretch, p->circle.apart[before], &own[order]);
        add_way(p->n, &own[0], (double)((uint64_t)1 << before), &own[1]);
        for (int order = 0; order < 2; order++)
            add_way(p->n, &half[order], 1.0, &own[order]);
    }
}

/* What a response that ends at `end` brings in over a level. */
static void feed_level(prepared_scheme *p, const scheme_track *t, int level, double end, scheme_way *way)
{
    need_moments(p, t->fed, level);
    const scheme_way *own = t->fed->of_level[level];
    add_way(p->n, &own[0], end, way);
    add_way(p->n, &own[1], -t->slope, way);
    add_row(way->rise, t->slope, own[0].row);
}

/* The same over a time 0 < length <= 1; `is_last`: nobody goes on, and differences are left out. */
static void feed_short(const prepared_scheme *p, const scheme_track *t, double length, double end,
                       int is_last, scheme_way *way)
{
    const int n = p->n, target = (int)scheme_head(p->program)->target;
    double powers[CIRCLE_TERMS + 1], factors[CIRCLE_TERMS];
    double e[MAX_STATES + 1][MAX_STATES], differences[MAX_STATES][MAX_STATES], x[MAX_STATES][MAX_STATES];
    double row[MAX_STATES];
    fading_powers(length, CIRCLE_TERMS + 1, powers);
    for (int k = 0; k < CIRCLE_TERMS; k++)
        factors[k] = end * powers[k] - t->slope * powers[k + 1];
    pyspec_sum_row(&p->circle, n, target, factors, row);
    add_row(way->row, 1.0, row);
    pyspec_sum_row(&p->circle, n, target, powers, row);
    add_row(way->rise, t->slope, row);
    pyspec_sum_powers(&p->circle, n, factors, is_last ? NULL : e, x);
    for (int i = 0; i < n; i++)
        add_row(way->x[i], 1.0, x[i]);
    if (is_last)
        return;
    memset(differences, 0, sizeof differences);
    pyspec_take_differences(&p->circle, n, e, length * (end - 0.5 * t->slope * length), differences);
    for (int i = 0; i < n; i++)
        add_row(way->differences[i], 1.0, differences[i]);
}

/* ---- a time ------------------------------------------------------------------------------------- */

void pyspec_begin_track(prepared_scheme *p, const scheme_way *way, scheme_moments *fed, double begin,
                        double slope)
{
    scheme_track *t = &p->circle.track;
    t->units = 0;
    t->n_digits = 0;
    t->fed = begin == 0.0 && slope == 0.0 ? NULL : fed;
    t->begin = begin;
    t->slope = slope;
    t->at[0] = CIRCLE_LEVELS;
    t->ways[CIRCLE_LEVELS] = *way;
}

/* On to the whole units of a time. The binary digits of the units from the highest on that differs from those
 * of the time before are gone again. */
static scheme_way *go_to(prepared_scheme *p, int64_t units)
{
    scheme_track *t = &p->circle.track;
    const int64_t other = units ^ t->units;
    int level = 0;
    while (other >> level)
        level++;
    for (; t->n_digits < level; t->n_digits++)
        t->at[t->n_digits + 1] = CIRCLE_LEVELS;
    for (level--; level >= 0; level--) {
        t->at[level] = t->at[level + 1];
        if (!(units >> level & 1))
            continue;
        scheme_way *own = &t->ways[level];
        add_stretch(p->n, &t->ways[t->at[level]], pyspec_level(p, level), p->circle.apart[level], own);
        if (t->fed)
            feed_level(p, t, level, t->begin + t->slope * (double)(units >> level << level), own);
        t->at[level] = level;
    }
    t->units = units;
    return &t->ways[t->at[0]];
}

/* The way a time later; `is_last`: nobody goes on from there, and differences are left out. */
static void go_on(prepared_scheme *p, double s, int is_last, scheme_way *way)
{
    const scheme_track *t = &p->circle.track;
    const double time = countable(s);
    const int64_t units = (int64_t)time;
    const double rest = time - (double)units;
    scheme_way *from = go_to(p, units);
    if (!(rest > 0.0)) {
        *way = *from;
        return;
    }
    scheme_stretch stretch;
    double apart[MAX_STATES][MAX_STATES] = {{0.0}};
    pyspec_short_stretch(&p->circle, p->n, 1, rest, &stretch);
    if (!is_last)
        pyspec_take_differences(&p->circle, p->n, stretch.e, 1.0, apart);
    add_stretch(p->n, from, &stretch, is_last ? NULL : apart, way);
    if (t->fed)
        feed_short(p, t, rest, t->begin + t->slope * time, is_last, way);
}

void pyspec_track_way(prepared_scheme *p, double s, scheme_way *way)
{
    go_on(p, s, 0, way);
}

void pyspec_fed_slopes(prepared_scheme *p, double s, double *out)
{
    scheme_way way;
    go_on(p, s, 1, &way);
    read_way(p, &way, out);
    out[p->n_params - 1] = -p->fastest * dot(way.rise, p->circle.start);
}

void pyspec_circle_go_on(prepared_scheme *p, const double *s, double (*out)[L])
{
    scheme_circle *c = &p->circle;
    const int under = (int)scheme_head(p->program)->under, onset = p->n_params - 1 - under;
    pyspec_trail_values(p, &c->trail, s, out[0]);
    for (int l = 0; p->slopes && l < L; l++) {
        double own[MAX_PARAMS];
        scheme_way way;
        for (int k = 1; k < p->n_params; k++)
            out[k][l] = NAN;
        if (isnan(out[0][l]))
            continue;
        go_on(p, s[l], 1, &way);
        read_way(p, &way, own);
        for (int k = 1; k < onset; k++)
            out[k][l] = own[k];
        out[onset][l] = -p->fastest * dot(way.row, c->motion);
        if (under) /* a response G obeys dG/dSD = SD d2G/dt2 */
            out[onset + 1][l] = p->width * p->fastest * dot(way.row, c->spread);
    }
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
    scheme_way way;
    stand(p, &way);
    pyspec_prepare_values(p);
    pyspec_begin_trail(&c->trail, way.row, NULL, 0.0, 0.0);
    if (p->slopes)
        pyspec_begin_track(p, &way, NULL, 0.0, 0.0);
}

/* What the instrument reads at the points of the integral, and has seen at `late`. */
void pyspec_see_circle(prepared_scheme *p, const double *weight)
{
    scheme_circle *c = &p->circle;
    const double norm = PYSPEC_SQRT1_2PI / p->width;
    double seen[MAX_STATES] = {0.0}, row[MAX_STATES], own[MAX_PARAMS];
    scheme_way way, seen_way;
    memset(&seen_way, 0, sizeof seen_way);
    for (int q = 0; q < p->n_points; q++) {
        const double away = (p->late - p->at[q]) / p->width, share = norm * weight[q];
        const double factor = v_exp(-0.5 * away * away) * share;
        pyspec_trail_row(p, &c->trail, p->at[q], row);
        p->seen[q] = share * dot(row, c->start);
        add_row(seen, factor, row);
        if (!p->slopes)
            continue;
        pyspec_track_way(p, p->at[q], &way);
        read_way(p, &way, own);
        for (int k = 1; k < p->n_params - 2; k++)
            p->change[k][q] = share * own[k];
        add_way(p->n, &way, factor, &seen_way);
    }
    pyspec_begin_trail(&c->trail, seen, NULL, 0.0, 0.0);
    if (p->slopes)
        pyspec_begin_track(p, &seen_way, NULL, 0.0, 0.0);
}
