/* lm_judge.c: judges an ending with a parameter at a bound without a multiplier. An example is the mixing m of a GLP
 * at 0: its slope is parallel to that of the width. The rule and its numbers are those of pyspec.fit.solve.determined.
 * It walks along each direction without information in the derivatives. If chi^2 rises there, the data determine the
 * direction. If it does not rise, or anything is unusual, the ending stays in doubt, and the caller looks closer. */
#include "solver/reduce.h"
#include "solver/search.h"
#include "separable/span.h"

/* One standard error along a determined direction raises chi^2 by the variance; this share of it is demanded. */
static const double RISE = 1e-2;

/* A bound nearer than this share of a step along a weak direction is in its way. */
static const double BLOCKED = 1e-2;

/* Shares of the way from a bound to the other: so many, each three times the one before. A square or fourth power
 * rises by 9 or 81 from one to the next; what rises by more than STEEPEST is flat before. */
enum { N_RUNGS = 13 };
static const double STEEPEST = 100.0;

/* A slope of chi^2 at a bound below so many standard errors neither holds a parameter nor frees it. */
static const double NEUTRAL = 1e-3;

/* One end, and the directions that are looked at. */
typedef struct judged {
    const pyspec_solver *s;
    pyspec_end *end;
    const double *sizes; /* [n] */
    const pyspec_part *parts;
    int64_t n_parts;
    pyspec_team *team;
    double spread;       /* the standard deviation of a point */
    int64_t n, n_free, status;
    int64_t *place;      /* [n] the parameters that nothing holds */
    double *length;      /* [n] lengths of their columns */
    double *slope;       /* [n] J'r over these */
    double *a;           /* [n][n + 1] columns */
    double *v;           /* [n][n] directions */
    double *value;       /* [n] their singular values */
    double *rows;        /* [n][n] directions that stand for others */
    double *shares;      /* [n][n] of those in these */
    double *step;        /* [n] */
    double *to;          /* [n] a point */
    int64_t *columns;    /* [n] */
} judged;

/* The columns of the parameters in `place`, of length 1 each. */
static void load_free(judged *j)
{
    const int64_t n = j->n, order = n + 1;
    for (int64_t p = 0; p < j->n_free; p++) {
        const int64_t k = j->place[p];
        for (int64_t i = 0; i < order; i++)
            j->a[p * order + i] = i <= k ? at(j->end->factor, order, i, k) / j->length[p] : 0.0;
    }
}

/* Their directions: singular vectors where one is weak. */
static void decompose(judged *j)
{
    load_free(j);
    if (pyspec_take_off_earlier(j->a, j->n + 1, j->n_free, j->v, j->value) >= WEAK) {
        pyspec_put_longest_first(j->a, j->n + 1, j->n_free, j->v, j->value);
        return;
    }
    load_free(j);
    pyspec_singular(j->a, j->n + 1, j->n_free, j->v, j->value);
}

/* chi^2 at `to` less that at the end. */
static double rise(judged *j)
{
    if (!memcmp(j->to, j->s->theta, (size_t)j->n * sizeof(double)))
        return 0.0;
    double chisqr = NAN;
    const int status = pyspec_chisqr_at(j->parts, j->n_parts, j->to, j->team, &chisqr);
    j->status = status ? status : j->status;
    return chisqr - j->s->chisqr;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* Whether chi^2 hardly rises one standard error along a direction, or to the bounds, either way. The standard error is
 * infinite for a singular value of 0. The walk then ends if a parameter has changed by the interval of its bounds, or
 * without bounds by its own size. */
static int is_flat(judged *j, const double *direction, double value)
{
    const pyspec_solver *s = j->s;
    const double *lower = s->lower, *upper = s->lower + s->n, *sizes = j->sizes;
    double longest = value > 0.0 ? j->spread / value : HUGE_VAL;
    for (int64_t p = 0; value == 0.0 && p < j->n_free; p++) {
        const int64_t k = j->place[p];
        const double interval = upper[k] - lower[k], own = fabs(s->theta[k]);
        const double size = isfinite(interval) ? interval : own > sizes[k] ? own : sizes[k];
        if (direction[p] != 0.0)
            longest = smaller(longest, size / fabs(direction[p] / j->length[p]));
    }
    for (int sign = 1; sign >= -1; sign -= 2) {
        double room = longest;
        for (int64_t p = 0; p < j->n_free; p++) {
            const int64_t k = j->place[p];
            const double step = sign * direction[p] / j->length[p];
            if (step != 0.0)
                room = smaller(room, ((step > 0.0 ? upper[k] : lower[k]) - s->theta[k]) / step);
        }
        memcpy(j->to, s->theta, (size_t)j->n * sizeof(double));
        for (int64_t p = 0; p < j->n_free; p++) {
            const int64_t k = j->place[p];
            const double there = s->theta[k] + room * (sign * direction[p] / j->length[p]);
            j->to[k] = there < lower[k] ? lower[k] : there > upper[k] ? upper[k] : there;
        }
        if (!(rise(j) < RISE * j->spread * j->spread))
            return 0;
    }
    return 1;
}

/* Mixes directions, those from `first` on, by elimination. As far as possible, each of the columns in `columns` then
 * belongs to one direction only. The last directions have none of these columns. */
static void separate(judged *j, int64_t first, int64_t n_rows, int64_t n_columns)
{
    const int64_t n = j->n_free;
    int64_t done = 0;
    memcpy(j->rows, j->v + first * n, (size_t)(n_rows * n) * sizeof(double));
    fill(j->shares, 0.0, n_rows * n_rows);
    for (int64_t i = 0; i < n_rows; i++)
        j->shares[i * n_rows + i] = 1.0;
    for (; n_rows > 1 && done < n_rows && done < n_columns; done++) {
        int64_t row = done, column = done;
        double most = -1.0;
        for (int64_t i = done; i < n_rows; i++)
            for (int64_t c = done; c < n_columns; c++)
                if (fabs(j->rows[i * n + j->columns[c]]) > most) {
                    most = fabs(j->rows[i * n + j->columns[c]]);
                    row = i;
                    column = c;
                }
        if (!(most > SHARE_LOST))
            return;
        const int64_t k = j->columns[column];
        j->columns[column] = j->columns[done];
        j->columns[done] = k;
        if (row != done) {
            pyspec_swap(j->rows + row * n, j->rows + done * n, n);
            pyspec_swap(j->shares + row * n_rows, j->shares + done * n_rows, n_rows);
        }
        for (int64_t i = 0; i < n_rows; i++) {
            const double factor = j->rows[i * n + k] / j->rows[done * n + k];
            for (int64_t c = 0; i != done && c < n; c++)
                j->rows[i * n + c] -= factor * j->rows[done * n + c];
            for (int64_t c = 0; i != done && c < n_rows; c++)
                j->shares[i * n_rows + c] -= factor * j->shares[done * n_rows + c];
        }
    }
}

/* Whether the data determine all of some directions, those from `first` on. Any mixture of them is as good. A mixture
 * of two parameters at bounds may be blocked both ways, though each parameter is free to move one way. Parameters at
 * or near a bound therefore get a direction each. */
static int are_determined(judged *j, int64_t first, int64_t n_rows, int is_lost)
{
    const pyspec_solver *s = j->s;
    const int64_t n = j->n_free;
    int64_t n_columns = 0;
    for (int64_t p = 0; p < n; p++) {
        const int64_t k = j->place[p];
        const double room = smaller(s->theta[k] - s->lower[k], s->lower[s->n + k] - s->theta[k]);
        int is_near = j->end->side[k] != 0;
        for (int64_t i = first; !is_lost && i < first + n_rows; i++)
            is_near |= room * j->length[p] <
                       BLOCKED * j->spread / j->value[i] * fabs(j->v[i * n + p]);
        if (is_near)
            j->columns[n_columns++] = p;
    }
    separate(j, first, n_rows, n_columns);
    for (int64_t i = 0; i < n_rows; i++) {
        double *row = j->rows + i * n, share = 0.0, size = 0.0;
        const double length = sqrt(dot(row, row, n));
        for (int64_t p = 0; p < n; p++) {
            row[p] /= length;
            row[p] = fabs(row[p]) < LOST ? 0.0 : row[p]; /* rounding, which at a bound would stop the walk */
            if (j->end->side[j->place[p]] && fabs(row[p]) > share)
                share = fabs(row[p]);
        }
        for (int64_t q = 0; q < n_rows; q++) {
            const double part = j->shares[i * n_rows + q] * j->value[first + q];
            size += part * part;
        }
        const double value = sqrt(size) / length;
        const int is_sound = value > LOST * j->value[0];
        if ((!is_sound && !(share > SHARE_LOST)) || is_flat(j, row, is_sound ? value : 0.0))
            return 0;
    }
    return 1;
}

/* The length of the undamped step, in standard errors. Parameters at a bound stay there if the step would push them
 * beyond. The others step without them. -1: a parameter is next to its bound, not at it. */
static double find_distance(judged *j)
{
    const pyspec_solver *s = j->s;
    while (j->n_free) {
        const int64_t n = j->n_free;
        double square = 0.0;
        fill(j->step, 0.0, n);
        for (int64_t i = 0; i < n && j->value[i] > LOST * j->value[0]; i++) {
            double part = 0.0;
            for (int64_t p = 0; p < n; p++)
                part += j->v[i * n + p] * (j->slope[p] / j->length[p]);
            part /= j->value[i];
            square += part * part;
            for (int64_t p = 0; p < n; p++)
                j->step[p] += j->v[i * n + p] * (part / j->value[i]);
        }
        int64_t left = 0;
        for (int64_t p = 0; p < n; p++) {
            const int64_t k = j->place[p];
            const double step = j->step[p], upper = s->lower[s->n + k];
            const double room = step > 0.0   ? upper - s->theta[k]
                                : step < 0.0 ? s->theta[k] - s->lower[k]
                                             : 0.0;
            const double wall = room * j->length[p];
            const int is_inside = step * (double)j->end->side[k] <= 0.0 &&
                                  (fabs(step) <= wall || wall > NEUTRAL * j->spread);
            if (!is_inside && !j->end->side[k])
                return -1.0;
            j->place[left] = k;
            j->length[left] = j->length[p];
            j->slope[left] = j->slope[p];
            left += is_inside;
        }
        if (left == n)
            return sqrt(square) / j->spread;
        j->n_free = left;
        decompose(j);
    }
    return 0.0;
}

/* Whether chi^2 holds a parameter without a slope at its bound. Checks distances up to the other bound, or without one
 * up to the size of the parameter. Chi^2 must not be lower at any of them. It must rise from the bound on, and be
 * higher at the last one. */
static int is_held(judged *j, int64_t k)
{
    const pyspec_solver *s = j->s;
    const double side = (double)j->end->side[k], low = s->lower[k], high = s->lower[s->n + k];
    const double own = fabs(s->theta[k]) > j->sizes[k] ? fabs(s->theta[k]) : j->sizes[k];
    const double room = isfinite(high - low) ? high - low : own, least = RISE * j->spread * j->spread;
    double share = 1.0, higher = 0.0, before = HUGE_VAL;
    if (side == 0.0 || !(j->spread > 0.0))
        return 0;
    for (int i = 1; i < N_RUNGS; i++)
        share /= 3.0;
    for (int i = 0; i < N_RUNGS; i++, share *= 3.0) {
        const double there = s->theta[k] - side * share * room;
        memcpy(j->to, s->theta, (size_t)j->n * sizeof(double));
        j->to[k] = there < low ? low : there > high ? high : there;
        higher = rise(j);
        const double most = STEEPEST * fabs(before);
        if (!(-least <= higher && higher < HUGE_VAL) || higher > (most > least ? most : least))
            return 0;
        before = higher > least ? HUGE_VAL : higher;
    }
    return higher > least;
}

/* Marks parameters whose columns are empty as held, unless chi^2 holds one of them at its bound. Returns whether there
 * are any; other marks are then as they were before the ending was asked for. */
static int mark_lost(judged *j)
{
    const pyspec_end *end = j->end;
    const int64_t n = j->n;
    int is_any = 0;
    for (int64_t k = 0; k < n; k++) {
        int is_empty = !end->held[k] || end->side[k];
        for (int64_t i = 0; i <= k; i++)
            is_empty &= at(end->factor, n + 1, i, k) == 0.0;
        if (is_empty && is_held(j, k))
            return 0;
        j->columns[k] = is_empty;
        is_any |= is_empty;
    }
    for (int64_t k = 0; is_any && k < n; k++)
        end->held[k] = (end->held[k] && !end->side[k]) || j->columns[k];
    return is_any;
}

/* The ending of the others, where some parameters are lost. */
static int end_without_lost(judged *j)
{
    const pyspec_solver *s = j->s;
    pyspec_end *end = j->end;
    if (!mark_lost(j))
        return STATUS_OK;
    const int status = pyspec_end_of(s, end);
    end->flags |= PYSPEC_ENDING_LOST;
    for (int64_t k = 0; k < j->n; k++)
        if (j->columns[k]) {
            end->side[k] = s->theta[k] <= s->lower[k] ? -1 : s->theta[k] >= s->lower[s->n + k];
            end->flags |= end->side[k] ? PYSPEC_ENDING_AT_BOUND : 0;
        }
    return status;
}

static judged begin_judging(const pyspec_solver *s, pyspec_end *end)
{
    const int64_t n = s->n, m = n + 1;
    double *base = end->work + m * (2 * m + 1);
    judged j = {.s = s, .end = end, .n = n, .place = (int64_t *)(void *)base};
    j.columns = j.place + n;
    j.length = base + 2 * n;
    j.slope = j.length + n;
    j.value = j.slope + n;
    j.step = j.value + n;
    j.to = j.step + n;
    j.a = j.to + n;
    j.v = j.a + n * m;
    j.rows = j.v + n * n;
    j.shares = j.rows + n * n;
    return j;
}

/* Lengths of the columns that nothing holds, and slopes by them. */
static void find_columns(judged *j)
{
    const int64_t order = j->n + 1;
    const double *factor = j->end->factor;
    for (int64_t k = 0; k < j->n; k++) {
        double square = 0.0, slope = 0.0;
        for (int64_t i = 0; i <= k; i++) {
            square += at(factor, order, i, k) * at(factor, order, i, k);
            slope += at(factor, order, i, k) * at(factor, order, i, j->n);
        }
        const double length = sqrt(square), pull = slope / (length * j->spread);
        const int64_t side = j->end->side[k];
        if ((j->end->held[k] && !side) || !(length > 0.0) || pull * (double)side > NEUTRAL)
            continue;
        j->place[j->n_free] = k;
        j->length[j->n_free] = length;
        j->slope[j->n_free++] = slope;
    }
}

int pyspec_judge(const pyspec_solver *s, pyspec_end *end, const double *sizes, const pyspec_part *parts,
                 int64_t n_parts, pyspec_team *team)
{
    const int status = pyspec_end_of(s, end);
    return status ? status : pyspec_look_closer(s, end, sizes, parts, n_parts, team);
}

int pyspec_look_closer(const pyspec_solver *s, pyspec_end *end, const double *sizes, const pyspec_part *parts,
                       int64_t n_parts, pyspec_team *team)
{
    const int64_t wanted = PYSPEC_ENDING_CERTAIN | PYSPEC_ENDING_NEUTRAL, other = PYSPEC_ENDING_EXACT;
    int status = STATUS_OK;
    if (end->flags & other || !(end->flags & (PYSPEC_ENDING_WEAK | PYSPEC_ENDING_NEUTRAL)))
        return STATUS_OK;
    if (!sizes || !parts)
        return -STATUS_NULL_POINTER;
    judged j = begin_judging(s, end);
    j.sizes = sizes;
    j.parts = parts;
    j.n_parts = n_parts;
    j.team = team;
    j.spread = pyspec_spread(s, end);
    if (end->flags & PYSPEC_ENDING_WEAK)
        status = end_without_lost(&j);
    if (status || j.status || (end->flags & wanted) != wanted)
        return status ? status : -(int)j.status;
    find_columns(&j);
    decompose(&j);
    int64_t n_sound = j.n_free, n_weak = j.n_free;
    while (n_weak > 0 && j.value[n_weak - 1] <= LOST * j.value[0])
        n_weak--;
    n_sound = n_weak;
    while (n_sound > 0 && j.value[n_sound - 1] <= WEAK * j.value[0])
        n_sound--;
    if (!(j.spread > 0.0) || (j.n_free && !(j.value[0] > 0.0)) ||
        !are_determined(&j, n_weak, j.n_free - n_weak, 1) ||
        !are_determined(&j, n_sound, n_weak - n_sound, 0))
        return -(int)j.status;
    const double distance = find_distance(&j);
    if (distance >= 0.0 && !j.status) {
        end->distance = distance;
        end->flags &= ~(int64_t)PYSPEC_ENDING_NEUTRAL;
    }
    return -(int)j.status;
}
