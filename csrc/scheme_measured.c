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

/* What has been seen of a scheme at the begin of a piece of the response. */
typedef struct fed_scheme {
    prepared_scheme scheme;
    scheme_moments moments;
    scheme_way seen;
    double rise[MAX_STATES];
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

/* On by a time d from the begin of a piece. */
static void feed(fed_scheme *f, const piece *on, double d, scheme_way *seen, double *rise)
{
    const double fastest = f->scheme.fastest, end = on->is_last ? 0.0 : on->from + on->slope * d;
    pyspec_feed_circle(&f->scheme, &f->moments, d * fastest, end / fastest, on->slope / fastest / fastest,
                       seen, rise);
}

/* The value and the derivatives at u after the onset; 0 before the response begins, NaN at none. */
static void see_fed(fed_scheme *f, const piece *on, double u, double *out)
{
    scheme_way seen;
    double rise[MAX_STATES];
    for (int k = 0; k < f->scheme.n_params; k++)
        out[k] = u == u ? 0.0 : NAN;
    if (!(u >= on->begin))
        return;
    seen = f->seen;
    memcpy(rise, f->rise, sizeof rise);
    feed(f, on, u - on->begin, &seen, rise);
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
            see_fed(f, on, u, own);
            r->value[to] = height * own[0];
            for (int k = 0; r->partials && k < n_params; k++)
                if (r->partials[k])
                    r->partials[k][to] = k == 0 ? own[0] : height * own[k];
        }
    }
}

/* Rows from `first` on that share their rates and populations. */
static void feed_alike(fed_scheme *f, const measured_rows *r, int64_t first, int64_t end)
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
        put_piece(f, &on, r, first, end);
        if (!on.is_last)
            feed(f, &on, on.end - on.begin, &f->seen, f->rise);
    }
}

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
        feed_alike(&f, r, first, end);
    }
}
