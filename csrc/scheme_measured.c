/* scheme_measured.c: the population of a state of a kinetic scheme as a measured instrument sees it, value
 * and partial derivatives together.
 *
 * The response brings the start in bit by bit. From sample to sample, over which it is a straight line, and
 * from a sample to each time the scheme goes by stretches of time (scheme_circle.c): nothing cancels, however
 * far rates are apart. The derivative by time is the same of the derivative of the response, with its jumps
 * at both ends. */
#include "measured.h"
#include "scheme.h"

#include <math.h>

/* Of values, the row of the target at each sample, fed by all of the response before; of derivatives, what
 * has been seen at the begin of a piece of the response. */
typedef struct fed_scheme {
    prepared_scheme scheme;
    scheme_fed fed;
    scheme_trail trail;
    double rows[MAX_SAMPLES][MAX_STATES];
    scheme_moments moments;
    scheme_way seen, whole; /* at the begin, and so many whole units later; -1: not known */
    double rise[MAX_STATES], whole_rise[MAX_STATES], units;
} fed_scheme;

/* A piece of the response, per time; behind the last sample it is 0, for good. */
typedef struct piece {
    int is_first, is_last;
    double begin, end, from, slope;
} piece;

static piece piece_of(const int64_t *program, int64_t k)
{
    const int64_t last = measured_head(program)->n_samples - 1;
    piece out = {.is_first = k == 0, .is_last = k == last, .begin = measured_time(program, k)};
    if (out.is_last)
        return out;
    out.end = measured_time(program, k + 1);
    out.from = measured_value(program, k);
    out.slope = (measured_value(program, k + 1) - out.from) / (out.end - out.begin);
    return out;
}

/* ---- values ------------------------------------------------------------------------------------ */

/* Sets out at the begin of a piece. */
static void begin_piece(fed_scheme *f, int64_t k, const piece *on)
{
    const double fastest = f->scheme.fastest;
    pyspec_begin_trail(&f->scheme, &f->trail, f->rows[k], &f->fed, on->from / fastest,
                       on->slope / fastest / fastest);
}

static void find_rows(fed_scheme *f, const int64_t *program)
{
    pyspec_prepare_fed(&f->scheme, &f->fed);
    memset(f->rows[0], 0, sizeof f->rows[0]);
    for (int64_t k = 0; k + 1 < measured_head(program)->n_samples; k++) {
        const piece on = piece_of(program, k);
        begin_piece(f, k, &on);
        pyspec_trail_row(&f->scheme, &f->trail, (on.end - on.begin) * f->scheme.fastest, f->rows[k + 1]);
    }
}

/* The populations of one row at the times i, ..., at most L of them, that lie on the same piece as the first;
 * returns how many. Before the response begins they are 0, and NaN at none. */
static int64_t see_together(fed_scheme *f, const measured_rows *r, int64_t row, int64_t i, int64_t *piece_now,
                            double *out)
{
    const int64_t *program = r->program;
    const int64_t n = r->n - i < L ? r->n - i : L;
    const double onset = r->params[(f->scheme.n_params - 1) * r->stride + row];
    const double *x = r->x + row * r->x_row + i * r->x_step, u = x[0] - onset;
    double s[L];
    int64_t count = 0;
    if (!(u >= measured_time(program, 0))) {
        out[0] = u == u ? 0.0 : u;
        return 1;
    }
    const int64_t k = measured_sample(program, u);
    const piece on = piece_of(program, k);
    if (k != *piece_now)
        begin_piece(f, *piece_now = k, &on);
    for (; count < n; count++) {
        const double own = x[count * r->x_step] - onset;
        if (!(own >= on.begin) || (!on.is_last && own >= on.end))
            break;
        s[count] = (own - on.begin) * f->scheme.fastest;
    }
    for (int64_t l = count; l < L; l++)
        s[l] = s[count - 1];
    pyspec_trail_values(&f->scheme, &f->trail, s, out);
    return count;
}

static void put_values(fed_scheme *f, const measured_rows *r, int64_t first, int64_t end)
{
    int64_t piece_now = -1;
    double *const by_height = r->partials ? r->partials[0] : NULL;
    find_rows(f, r->program);
    for (int64_t row = first; row < end; row++)
        for (int64_t i = 0, count; i < r->n; i += count) {
            double own[L];
            count = see_together(f, r, row, i, &piece_now, own);
            for (int64_t l = 0; l < count; l++) {
                const int64_t to = row * r->to_row + (i + l) * r->to_step;
                r->value[to] = r->params[row] * own[l];
                if (by_height)
                    by_height[to] = own[l];
            }
        }
}

/* ---- derivatives -------------------------------------------------------------------------------- */

/* On by a time s, in units, up to a time `to` from the begin of a piece. */
static void feed(fed_scheme *f, const piece *on, double s, double to, scheme_way *seen, double *rise)
{
    const double fastest = f->scheme.fastest, slope = on->slope / fastest / fastest;
    pyspec_feed_circle(&f->scheme, &f->moments, s, on->from / fastest + slope * to, slope, seen, rise);
}

/* On by a time s from the begin of a piece. What whole units do serves all times in that unit. */
static void feed_up_to(fed_scheme *f, const piece *on, double s, scheme_way *seen, double *rise)
{
    const double units = floor(s);
    if (units != f->units) {
        f->units = units;
        f->whole = f->seen;
        memcpy(f->whole_rise, f->rise, sizeof f->whole_rise);
        feed(f, on, units, units, &f->whole, f->whole_rise);
    }
    *seen = f->whole;
    memcpy(rise, f->whole_rise, sizeof f->whole_rise);
    feed(f, on, s - units, s, seen, rise);
}

/* Those at u after the onset; 0 before the response begins, NaN at none. */
static void see_slopes(fed_scheme *f, const piece *on, double u, double *out)
{
    scheme_way seen;
    double rise[MAX_STATES];
    for (int k = 1; k < f->scheme.n_params; k++)
        out[k] = u == u ? 0.0 : NAN;
    if (!(u >= on->begin))
        return;
    feed_up_to(f, on, countable((u - on->begin) * f->scheme.fastest), &seen, rise);
    pyspec_read_circle(&f->scheme, &seen, rise, out);
}

/* All times of some rows that lie on a piece. Those before the first one, and NaN, belong to that. */
static void put_piece(fed_scheme *f, const piece *on, const measured_rows *r, int64_t first, int64_t end)
{
    const int n_params = f->scheme.n_params;
    double own[MAX_PARAMS];
    for (int64_t row = first; row < end; row++) {
        const double height = r->params[row], onset = r->params[(n_params - 1) * r->stride + row];
        for (int64_t i = 0; i < r->n; i++) {
            const int64_t to = row * r->to_row + i * r->to_step;
            const double u = r->x[row * r->x_row + i * r->x_step] - onset;
            if ((!on->is_first && !(u >= on->begin)) || (!on->is_last && u >= on->end))
                continue;
            see_slopes(f, on, u, own);
            for (int k = 1; k < n_params; k++)
                if (r->partials[k])
                    r->partials[k][to] = height * own[k];
        }
    }
}

static void put_slopes(fed_scheme *f, const measured_rows *r, int64_t first, int64_t end)
{
    const int64_t target = scheme_head(f->scheme.program)->target;
    const int64_t last = measured_head(r->program)->n_samples - 1;
    f->moments.n_levels = 0;
    memset(&f->seen, 0, sizeof f->seen);
    memset(f->rise, 0, sizeof f->rise);
    f->rise[target] = measured_value(r->program, 0) / f->scheme.fastest;
    for (int64_t k = 0; k <= last; k++) {
        const piece on = piece_of(r->program, k);
        if (on.is_last)
            f->rise[target] -= measured_value(r->program, k) / f->scheme.fastest;
        f->units = -1.0;
        put_piece(f, &on, r, first, end);
        if (!on.is_last)
            feed_up_to(f, &on, countable((on.end - on.begin) * f->scheme.fastest), &f->seen, f->rise);
    }
}

/* ---- rows that share their rates and populations ------------------------------------------------ */

static int is_alike(const measured_rows *r, int64_t a, int64_t b)
{
    const int64_t onset = measured_head(r->program)->n_params - 1;
    for (int64_t k = 1; k < onset; k++)
        if (!(r->params[k * r->stride + a] == r->params[k * r->stride + b]))
            return 0;
    return 1;
}

void pyspec_measure_state(const measured_rows *r)
{
    fed_scheme f;
    for (int64_t first = 0, end; first < r->n_rows; first = end) {
        end = first + 1;
        while (end < r->n_rows && is_alike(r, first, end))
            end++;
        pyspec_prepare_stretches(&f.scheme, measured_scheme(r->program), r->params + first, r->stride,
                                 r->partials != NULL);
        put_values(&f, r, first, end);
        if (r->partials)
            put_slopes(&f, r, first, end);
    }
}
