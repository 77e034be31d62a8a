/* scheme_value.c: populations of schemes that go by stretches (scheme_circle.c), without derivatives.
 *
 * A population is row exp(K s) start. The row of the target moves by whole units of time. From there the
 * population is a series in the rest t < 1 of the time,
 *
 *     exp(-t) sum of row (K + 1)^k start / k! t^k .
 *
 * Its coefficients serve all times in that unit. K + 1 has no negative number: nothing cancels.
 *
 * A measured response a + b v feeds the row e of the target over a time w. It adds a L(w) + b R(w):
 *
 *     L(w) = int_0^w e exp(K v) dv,   R(w) = int_0^w L(v) dv.
 *
 * If the response falls, v counts from its end, and F(w) = int_0^w v e exp(K v) dv takes the place of
 * R(w). Series of L and R have sums of the coefficients above. */
#include "kinetics/scheme_stretch.h"
#include "math/vmath.h"

#include <math.h>
#include <string.h>

/* ---- before a time is known -------------------------------------------------------------------- */

void pyspec_prepare_values(prepared_scheme *p)
{
    scheme_circle *c = &p->circle;
    double column[MAX_STATES];
    memset(c->ahead, 0, sizeof c->ahead);
    memcpy(column, c->start, sizeof column);
    for (int k = 0; k < VALUE_TERMS; k++) {
        double next[MAX_STATES] = {0.0};
        for (int i = 0; i < p->n; i++) {
            c->ahead[i][k] = column[i];
            for (int j = 0; j < p->n; j++)
                next[i] += c->one[i][j] * column[j];
            next[i] /= k + 1;
        }
        memcpy(column, next, sizeof next);
    }
}

/* The series of L and R as rows, and as of the start. */
void pyspec_prepare_fed(prepared_scheme *p, scheme_fed *f)
{
    const int target = (int)scheme_head(p->program)->target;
    double own[MAX_STATES] = {0.0}, level[MAX_STATES] = {0.0}, rise[MAX_STATES] = {0.0};
    double factorial = 1.0;
    f->n_levels = 0;
    own[target] = 1.0;
    for (int k = 0; k < VALUE_TERMS; k++, factorial *= k) {
        f->level_of_start[k] = f->rise_of_start[k] = 0.0;
        for (int j = 0; j < MAX_STATES; j++) {
            f->level_rows[k][j] = level[j] / factorial;
            f->rise_rows[k][j] = rise[j] / factorial;
            f->level_of_start[k] += f->level_rows[k][j] * p->circle.start[j];
            f->rise_of_start[k] += f->rise_rows[k][j] * p->circle.start[j];
        }
        add_row(rise, 1.0, level);
        add_row(level, 1.0, own);
        pyspec_move_row(p->n, own, p->circle.one, own);
    }
}

/* L, R and F over a unit of time, where R is at most half of L, and over twice as long each. */
static void need_fed(prepared_scheme *p, scheme_fed *f, int level)
{
    for (; f->n_levels <= level; f->n_levels++) {
        double(*own)[MAX_STATES] = f->of_level[f->n_levels], later[MAX_STATES];
        memset(own, 0, sizeof *f->of_level);
        if (!f->n_levels) {
            const double fade = exp(-1.0);
            for (int k = VALUE_TERMS - 1; k >= 0; k--) {
                add_row(own[FED_LEVEL], fade, f->level_rows[k]);
                add_row(own[FED_RISE], fade, f->rise_rows[k]);
            }
            for (int j = 0; j < MAX_STATES; j++)
                own[FED_FALL][j] = own[FED_LEVEL][j] - own[FED_RISE][j];
            continue;
        }
        double(*half)[MAX_STATES] = f->of_level[f->n_levels - 1];
        double(*stretch)[MAX_STATES] = pyspec_level(p, f->n_levels - 1)->e;
        const double length = (double)((int64_t)1 << (f->n_levels - 1));
        memcpy(own, half, sizeof *f->of_level);
        for (int k = 0; k < 3; k++) {
            pyspec_move_row(p->n, half[k], stretch, later);
            add_row(own[k], 1.0, later);
            if (k == FED_LEVEL)
                add_row(own[FED_FALL], length, later);
        }
        add_row(own[FED_RISE], length, half[FED_LEVEL]);
    }
}

/* ---- whole units of time ----------------------------------------------------------------------- */

/* What the row is after a stretch of a level, which begins a time `since` after the way did. */
static void go_on(prepared_scheme *p, scheme_trail *t, int level, double since, const double *from,
                  double *to)
{
    double row[MAX_STATES];
    pyspec_move_row(p->n, from, pyspec_level(p, level)->e, row);
    if (t->fed) {
        const double begin = t->begin + t->slope * since, length = (double)((int64_t)1 << level);
        need_fed(p, t->fed, level);
        double(*own)[MAX_STATES] = t->fed->of_level[level];
        if (t->slope < 0.0) {
            add_row(row, begin + t->slope * length, own[FED_LEVEL]);
            add_row(row, -t->slope, own[FED_FALL]);
        } else {
            add_row(row, begin, own[FED_LEVEL]);
            add_row(row, t->slope, own[FED_RISE]);
        }
    }
    memcpy(to, row, sizeof row);
}

static void take_series(const prepared_scheme *p, scheme_trail *t)
{
    const scheme_circle *c = &p->circle;
    double sum[VALUE_TERMS] = {0.0};
    for (int i = 0; i < p->n; i++)
        for (int k = 0; k < VALUE_TERMS; k++)
            sum[k] += t->rows[0][i] * c->ahead[i][k];
    if (t->fed) {
        const double begin = t->begin + t->slope * (double)t->units;
        for (int k = 0; k < VALUE_TERMS; k++)
            sum[k] += begin * t->fed->level_of_start[k] + t->slope * t->fed->rise_of_start[k];
    }
    memcpy(t->series, sum, sizeof sum);
    t->has_series = 1;
}

void pyspec_begin_trail(scheme_trail *t, const double *row, scheme_fed *fed, double begin, double slope)
{
    t->units = 0;
    t->n_digits = t->n_powers = t->has_series = 0;
    t->fed = begin == 0.0 && slope == 0.0 ? NULL : fed;
    t->begin = begin;
    t->slope = slope;
    memcpy(t->rows[0], row, sizeof t->rows[0]);
}

/* On to the whole units of a time; returns what is left, NaN of NaN. The binary digits of the units from the
 * highest on that differs from those of the time before are gone again. Where all rates are 0 populations
 * stand still exactly. */
static double go_to(prepared_scheme *p, scheme_trail *t, double s)
{
    if (isnan(s))
        return s;
    const double time = p->circle.stands && !t->fed ? 0.0 : countable(s);
    const int64_t units = (int64_t)time, other = units ^ t->units;
    if (!other)
        return time - (double)units;
    int level = 0;
    while (other >> level)
        level++;
    for (; t->n_digits < level; t->n_digits++)
        memcpy(t->rows[t->n_digits + 1], t->rows[t->n_digits], sizeof t->rows[0]);
    for (level--; level >= 0; level--) {
        const int64_t since = units >> level >> 1 << 1 << level;
        if (units >> level & 1)
            go_on(p, t, level, (double)since, t->rows[level + 1], t->rows[level]);
        else
            memcpy(t->rows[level], t->rows[level + 1], sizeof t->rows[0]);
    }
    t->units = units;
    t->n_powers = t->has_series = 0;
    return time - (double)units;
}

/* ---- a time ------------------------------------------------------------------------------------- */

/* Rows of the series that are needed for a rest t < 1 of the time. The first n + 1 may be 0, in R as well;
 * where t < 1 / 8, twelve behind them are left: (1 / 8)^12 / 12! is 3e-20. */
static int count_rows(const prepared_scheme *p, double rest)
{
    return rest < 0.125 ? p->n + 14 : VALUE_TERMS;
}

/* Those of the unit that the row is in, where they are not there yet. */
static ALWAYS_INLINE void take_rows(int width, prepared_scheme *p, scheme_trail *t, int count)
{
    if (!t->n_powers)
        memcpy(t->powers[t->n_powers++], t->rows[0], sizeof t->rows[0]);
    for (; t->n_powers < count; t->n_powers++) {
        double *own = t->powers[t->n_powers];
        row_of_product(width, p->n, t->powers[t->n_powers - 1], p->circle.one, own);
        for (int j = 0; j < width; j++)
            own[j] *= 1.0 / t->n_powers;
    }
}

/* The row where factors are exp(-t) t^k. */
static ALWAYS_INLINE void sum_rows(int width, const scheme_trail *t, int count, const double *factors,
                                   double *row)
{
    const double begin = t->begin + t->slope * (double)t->units;
    double sum[MAX_STATES] = {0.0};
    for (int k = 0; k < count; k++)
        for (int j = 0; j < width; j++)
            sum[j] += factors[k] * t->powers[k][j];
    for (int k = 0; t->fed && k < count; k++)
        for (int j = 0; j < width; j++) {
            const double own = begin * t->fed->level_rows[k][j] + t->slope * t->fed->rise_rows[k][j];
            sum[j] += factors[k] * own;
        }
    memcpy(row, sum, sizeof sum);
}

void pyspec_trail_row(prepared_scheme *p, scheme_trail *t, double s, double *row)
{
    const double rest = go_to(p, t, s);
    const int count = count_rows(p, rest);
    double factors[VALUE_TERMS] = {v_exp(-rest)};
    for (int k = 1; k < count; k++)
        factors[k] = factors[k - 1] * rest;
    BY_WIDTH(p->n, take_rows, p, t, count);
    BY_WIDTH(p->n, sum_rows, t, count, factors, row);
}

void pyspec_trail_values(prepared_scheme *p, scheme_trail *t, const double *s, double *out)
{
    double series[VALUE_TERMS][L], rest[L], fade[L], sum[L] = {0.0};
    FOR_LANES
    {
        rest[l] = go_to(p, t, s[l]);
        if (!t->has_series)
            take_series(p, t);
        for (int k = 0; k < VALUE_TERMS; k++)
            series[k][l] = t->series[k];
    }
    FOR_LANES fade[l] = v_exp(-rest[l]);
    for (int k = VALUE_TERMS - 1; k >= 0; k--)
        FOR_LANES sum[l] = sum[l] * rest[l] + series[k][l];
    FOR_LANES out[l] = fade[l] * sum[l];
}
