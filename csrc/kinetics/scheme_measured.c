/* scheme_measured.c: the population of a state of a kinetic scheme as a measured instrument sees it, value and partial
 * derivatives together.
 *
 * The response feeds the start bit by bit. It is a straight line from sample to sample. The scheme moves over these
 * pieces, and from a sample to each time, by stretches of time (scheme_circle.c): nothing cancels, however far rates
 * are apart. The derivative by time uses the derivative of the response in the same way, with its jumps at
 * both ends. */
#include "kinetics/measured.h"
#include "kinetics/scheme.h"

#include <math.h>

/* `rows` serves values: the row of the target at each sample, fed by all of the response before. `seen`
 * serves derivatives: the way at the begin of a piece of the response. */
typedef struct fed_scheme {
    prepared_scheme scheme;
    scheme_fed fed;
    scheme_trail trail;
    double rows[MAX_SAMPLES][MAX_STATES];
    int64_t begin[MAX_SAMPLES], end[MAX_SAMPLES]; /* of the times, in any row, on a piece */
    scheme_moments moments;
    scheme_way seen;
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
    pyspec_begin_trail(&f->trail, f->rows[k], &f->fed, on->from / fastest,
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

/* Notes that times i, ..., i + count - 1 of a row lie on a piece. */
static int64_t note(fed_scheme *f, int64_t k, int64_t i, int64_t count)
{
    if (i < f->begin[k])
        f->begin[k] = i;
    if (i + count > f->end[k])
        f->end[k] = i + count;
    return count;
}

/* The populations of one row at the times i, ..., at most L of them, on the piece of the first time. Returns how many.
 * They are 0 before the response begins, and NaN at a NaN. Both belong to the first piece. */
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
        return note(f, 0, i, 1);
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
    return note(f, k, i, count);
}

static void put_values(fed_scheme *f, const measured_rows *r, int64_t first, int64_t end)
{
    int64_t piece_now = -1;
    double *const by_height = r->partials ? r->partials[0] : NULL;
    find_rows(f, r->program);
    for (int64_t k = 0; k < measured_head(r->program)->n_samples; k++) {
        f->begin[k] = r->n;
        f->end[k] = 0;
    }
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

/* Those at u after the onset; 0 before the response begins, NaN at none. */
static void see_slopes(fed_scheme *f, const piece *on, double u, double *out)
{
    for (int k = 1; k < f->scheme.n_params; k++)
        out[k] = u == u ? 0.0 : NAN;
    if (u >= on->begin)
        pyspec_fed_slopes(&f->scheme, (u - on->begin) * f->scheme.fastest, out);
}

/* All times of some rows that lie on a piece. Those before the first one, and NaN, belong to that. */
static void put_piece(fed_scheme *f, int64_t k, const piece *on, const measured_rows *r, int64_t first,
                      int64_t end)
{
    const int n_params = f->scheme.n_params;
    double own[MAX_PARAMS];
    for (int64_t row = first; row < end; row++) {
        const double height = r->params[row], onset = r->params[(n_params - 1) * r->stride + row];
        for (int64_t i = f->begin[k]; i < f->end[k]; i++) {
            const int64_t to = row * r->to_row + i * r->to_step;
            const double u = r->x[row * r->x_row + i * r->x_step] - onset;
            if ((!on->is_first && !(u >= on->begin)) || (!on->is_last && u >= on->end))
                continue;
            see_slopes(f, on, u, own);
            for (int by = 1; by < n_params; by++)
                if (r->partials[by])
                    r->partials[by][to] = height * own[by];
        }
    }
}

static void put_slopes(fed_scheme *f, const measured_rows *r, int64_t first, int64_t end)
{
    const double fastest = f->scheme.fastest;
    const int64_t target = scheme_head(f->scheme.program)->target;
    const int64_t last = measured_head(r->program)->n_samples - 1;
    f->moments.n_levels = 0;
    memset(&f->seen, 0, sizeof f->seen);
    f->seen.rise[target] = measured_value(r->program, 0) / fastest;
    for (int64_t k = 0; k <= last; k++) {
        const piece on = piece_of(r->program, k);
        if (on.is_last)
            f->seen.rise[target] -= measured_value(r->program, k) / fastest;
        pyspec_begin_track(&f->scheme, &f->seen, &f->moments, on.from / fastest,
                           on.slope / fastest / fastest);
        put_piece(f, k, &on, r, first, end);
        if (!on.is_last)
            pyspec_track_way(&f->scheme, (on.end - on.begin) * fastest, &f->seen);
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
