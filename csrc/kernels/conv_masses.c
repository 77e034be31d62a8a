/* conv_masses.c: the mass of a kernel by formula beyond the ends of the axis. It has its own
 * formula, or is the integral of the shape. The integral uses panels that double in length from the
 * middle outwards. A panel is halved if two rules differ. */
#include "kernels/convolution.h"

#include <float.h>

/* The first panel, in lengths of the axis, and how often it may double; of the mass in a panel 1e-18 of
 * the largest is nothing. */
static const double SHORTEST = 0x1p-60;
enum { N_DOUBLINGS = 2 * CONV_LAGS };
static const double NOTHING = 1e-18;

/* The two rules may differ by this share of the mass; the error of the better one is far smaller. */
static const double TOLERANCE = 1e-15;

/* The reach that is found goes so much beyond: a sample may lie on the edge of the kernel. */
static const double MARGIN = 1.001;

/* Halvings of one panel, and panels of one integral: what is not smooth ends there. */
enum { MOST_HALVINGS = 50, MOST_PANELS = 50000 };

/* Samples along a panel within the axis: a kernel far from its middle must not fall between the
 * points of a rule. */
enum { PANEL_SAMPLES = 8 };

/* Lobatto's rule of 15 points, which include both ends: an edge could lie only between two of them.
 * DIFFERENCE is the difference to the rule of degree 13 without the point in the middle. None of its
 * partial sums from an end is 0: every edge is seen. */
enum { N_POINTS = 15 };
static const double POINTS[8] = {1.0,
                                 0.965245926503838572795851,
                                 0.885082044222976298825402,
                                 0.763519689951815200704118,
                                 0.60625320546984571112353,
                                 0.420638054713672480921897,
                                 0.215353955363794238225679,
                                 0.0};
static const double WEIGHTS[8] = {0.00952380952380952380952381, 0.0580298930286012490968806,
                                  0.101660070325718067603666,   0.140511699802428109460447,
                                  0.172789647253600949052077,   0.1969872359646133560925,
                                  0.21197358592682092012743,    0.21704811634881564951495};
static const double DIFFERENCE[8] = {-0.0454656454656454656454656, 0.112228690510854531932997,
                                     -0.148543349807674784310264,  0.174636192603616027227945,
                                     -0.193658636422366645878358,  0.20677453545076338114913,
                                     -0.214495845043954869233458,  0.21704811634881564951495};

/* Integrals along one side: of the shape, or of its slopes by all parameters. */
typedef struct integral {
    const convolution *c;
    int side;
    int slopes;                 /* which of the two                    */
    int64_t count;              /* how many there are                  */
    double largest[MAX_PARAMS]; /* of their size so far, about         */
    double sum[MAX_PARAMS];     /* from the last sample to the work    */
    double *out;                /* of each sample, c->stride apart     */
    int64_t sample;             /* the next one, from the end on       */
    int64_t n_panels;
    double end;                 /* of the last panel that holds a mass */
} integral;

/* One panel. */
typedef struct panel {
    double value[MAX_PARAMS], error[MAX_PARAMS], size[MAX_PARAMS];
} panel;

static double length_of(const convolution *c)
{
    return c->n > 1 ? c->t[c->n - 1] - c->t[0] : 1.0;
}

/* How far the first panel reaches: never so little that twice of it is no more. */
static double first_panel(const convolution *c)
{
    const double length = SHORTEST * length_of(c);
    return length > DBL_MIN ? length : DBL_MIN;
}

static int64_t index_of(const integral *s, int64_t sample)
{
    return s->side == PYSPEC_SIDE_LEFT ? sample : s->c->n - 1 - sample;
}

/* Of a sample from the end of the axis. */
static double distance_of(const integral *s, int64_t sample)
{
    const double *t = s->c->t;
    const int64_t i = index_of(s, sample);
    return s->side == PYSPEC_SIDE_LEFT ? t[i] - t[0] : t[s->c->n - 1] - t[i];
}

/* What is integrated at n <= CONV_LAGS distances, CONV_LAGS apart. */
static void sample_shape(const integral *s, const double *distance, int64_t n, double *out)
{
    double lag[CONV_LAGS], g[CONV_LAGS];
    const int64_t *shape = conv_formula_part(s->c->program, CONV_SHAPE);
    for (int64_t k = 0; k < n; k++)
        lag[k] = s->side == PYSPEC_SIDE_LEFT ? distance[k] : -distance[k];
    if (s->slopes)
        pyspec_conv_shape(s->c, shape, lag, n, g, out);
    else
        pyspec_conv_shape(s->c, shape, lag, n, out, NULL);
}

static void integrate_panel(const integral *s, double low, double high, panel *p)
{
    double at[N_POINTS], y[MAX_PARAMS * CONV_LAGS];
    const double half = 0.5 * (high - low), middle = low + half;
    for (int k = 0; k < 7; k++) {
        at[k] = middle - half * POINTS[k];
        at[N_POINTS - 1 - k] = middle + half * POINTS[k];
    }
    at[0] = low;
    at[7] = middle;
    at[N_POINTS - 1] = high;
    sample_shape(s, at, N_POINTS, y);
    for (int64_t m = 0; m < s->count; m++) {
        const double *own = y + m * CONV_LAGS;
        double value = WEIGHTS[7] * own[7], error = DIFFERENCE[7] * own[7];
        double size = WEIGHTS[7] * fabs(own[7]);
        for (int k = 0; k < 7; k++) {
            const double left = own[k], right = own[N_POINTS - 1 - k];
            value += WEIGHTS[k] * (left + right);
            error += DIFFERENCE[k] * (left + right);
            size += WEIGHTS[k] * (fabs(left) + fabs(right));
        }
        p->value[m] = half * value;
        p->error[m] = half * fabs(error);
        p->size[m] = half * size;
    }
}

/* Whether the rules agree, of every integral. What is NaN does not become better. */
static int agree(integral *s, const panel *p)
{
    int good = 1;
    for (int64_t m = 0; m < s->count; m++) {
        s->largest[m] = p->size[m] > s->largest[m] ? p->size[m] : s->largest[m];
        good &= !(p->error[m] > TOLERANCE * s->largest[m]);
    }
    return good;
}

static int is_empty(const integral *s, const panel *p)
{
    for (int64_t m = 0; m < s->count; m++)
        if (p->size[m] != 0.0)
            return 0;
    return 1;
}

/* Adds a finished panel. Each sample in it gets the integral from the sample before, or from 0. Each
 * piece is integrated separately: a small integral is not the difference of large ones. */
static void finish_panel(integral *s, double low, double high, const panel *p)
{
    const int64_t n = s->c->n;
    const int empty = is_empty(s, p);
    panel part = *p;
    double from = low;
    for (; s->sample < n && distance_of(s, s->sample) < high; s->sample++) {
        const double at = distance_of(s, s->sample);
        if (at > from && !empty)
            integrate_panel(s, from, at, &part);
        for (int64_t m = 0; m < s->count; m++) {
            const double own = at > from ? part.value[m] : 0.0;
            s->out[m * s->c->stride + index_of(s, s->sample)] = s->sum[m] + own;
            s->sum[m] = 0.0;
        }
        from = at > from ? at : from;
    }
    part = *p;
    if (from > low && !empty)
        integrate_panel(s, from, high, &part);
    for (int64_t m = 0; m < s->count; m++)
        s->sum[m] += part.value[m];
    if (p->size[0] > NOTHING * s->largest[0])
        s->end = high;
}

/* One panel, in halves where that is needed, from low to high. */
static void add_panel(integral *s, double low, double high)
{
    double ends[MOST_HALVINGS + 1] = {high};
    int depth = 0;
    while (depth >= 0) {
        panel p;
        const double end = ends[depth], middle = low + 0.5 * (end - low);
        integrate_panel(s, low, end, &p);
        s->n_panels++;
        if (!agree(s, &p) && depth < MOST_HALVINGS && s->n_panels < MOST_PANELS && middle > low &&
            middle < end) {
            ends[++depth] = middle;
            continue;
        }
        finish_panel(s, low, end, &p);
        low = end;
        depth--;
    }
}

static void set_doublings(const convolution *c, double *distance)
{
    distance[0] = first_panel(c);
    for (int k = 1; k < N_DOUBLINGS; k++)
        distance[k] = 2.0 * distance[k - 1];
}

/* Looks at distances that double: first for how large each integral is, about, then for the distance
 * from which on all are nothing. */
static double look_far(integral *s)
{
    double distance[N_DOUBLINGS], y[MAX_PARAMS * CONV_LAGS], end = length_of(s->c);
    set_doublings(s->c, distance);
    for (int look = 0; look < 2; look++)
        for (int from = 0; from < N_DOUBLINGS; from += CONV_LAGS) {
            sample_shape(s, distance + from, CONV_LAGS, y);
            for (int64_t k = 0; k < s->count * CONV_LAGS; k++) {
                const int64_t m = k / CONV_LAGS;
                const double at = distance[from + k % CONV_LAGS], size = fabs(y[k]) * at;
                if (look == 0 && size > s->largest[m])
                    s->largest[m] = size;
                else if (look && size > NOTHING * s->largest[m] && 2.0 * at > end)
                    end = 2.0 * at;
            }
        }
    return end;
}

static void fill_rows(const convolution *c, double *out, int64_t count, double value)
{
    for (int64_t m = 0; m < count; m++)
        fill(out + m * c->stride, value, c->n);
}

/* Whether what is integrated grows beyond all bounds. */
static int overflows(const integral *s)
{
    for (int64_t m = 0; m < s->count; m++)
        if (isinf(s->largest[m]))
            return 1;
    return 0;
}

/* The integrals beyond each sample, of the shape or of its slopes, up to `reach`. */
static double integrate(const convolution *c, int side, int slopes, double reach, double *out)
{
    integral s = {.c = c, .side = side, .slopes = slopes, .count = slopes ? c->n_params : 1,
                  .out = out};
    const double length = length_of(c), far = look_far(&s), end = reach < far ? reach : far;
    const double widest = c->n > 1 ? (double)PANEL_SAMPLES * length / (double)(c->n - 1) : length;
    double low = 0.0, high = first_panel(c);
    if (overflows(&s)) {
        fill_rows(c, out, s.count, NAN);
        return 0.0;
    }
    while (low < end) {
        high = high < end ? high : end;
        add_panel(&s, low, high);
        low = high;
        high = low < length && low > widest ? low + widest : 2.0 * low;
    }
    for (; s.sample < c->n; s.sample++)
        for (int64_t m = 0; m < s.count; m++) {
            out[m * c->stride + index_of(&s, s.sample)] = s.sum[m];
            s.sum[m] = 0.0;
        }
    for (int64_t m = 0; m < s.count; m++)
        for (int64_t k = c->n; k-- > 0;) { /* from the far end, where they are small */
            double *own = out + m * c->stride + index_of(&s, k);
            const double between = *own;
            *own = s.sum[m];
            s.sum[m] += between;
        }
    return MARGIN * s.end;
}

/* The masses, and unless NULL their slopes, from the formula of the tail. */
static void tails(const convolution *c, int side, const int64_t *tail, double *mass, double *slopes)
{
    double distance[CONV_LAGS], y[CONV_LAGS], by[MAX_PARAMS * CONV_LAGS];
    const integral s = {.c = c, .side = side};
    for (int64_t from = 0; from < c->n; from += CONV_LAGS) {
        const int64_t n = c->n - from < CONV_LAGS ? c->n - from : CONV_LAGS;
        for (int64_t k = 0; k < n; k++)
            distance[k] = distance_of(&s, from + k);
        pyspec_conv_shape(c, tail, distance, n, y, slopes ? by : NULL);
        for (int64_t k = 0; k < n; k++) {
            const int64_t i = index_of(&s, from + k);
            mass[i] = y[k];
            for (int64_t m = 0; slopes && m < c->n_params; m++)
                slopes[m * c->stride + i] = by[m * CONV_LAGS + k];
        }
    }
}

/* Beyond which distance the formula of the tail leaves nothing. */
static double reach_of_tail(const convolution *c, const int64_t *tail)
{
    double distance[N_DOUBLINGS], y[N_DOUBLINGS], largest = 0.0, reach = 0.0;
    set_doublings(c, distance);
    for (int from = 0; from < N_DOUBLINGS; from += CONV_LAGS)
        pyspec_conv_shape(c, tail, distance + from, CONV_LAGS, y + from, NULL);
    for (int k = 0; k < N_DOUBLINGS; k++)
        largest = fabs(y[k]) > largest ? fabs(y[k]) : largest;
    for (int k = 0; k < N_DOUBLINGS; k++)
        if (fabs(y[k]) > NOTHING * largest)
            reach = k + 1 < N_DOUBLINGS ? distance[k + 1] : INFINITY;
    return reach;
}

double pyspec_conv_masses(const convolution *c, int side, double *mass, double *slopes)
{
    const int64_t *given = conv_formula_part(c->program, CONV_REACH + side);
    const int64_t *tail = conv_formula_part(c->program, CONV_TAIL + side);
    double reach = INFINITY, lag[L] = {0.0}, y[L];
    if (given) {
        pyspec_conv_shape(c, given, lag, 1, y, NULL);
        reach = y[0];
    }
    if (!(reach >= 0.0)) { /* no number, so that nothing is */
        fill_rows(c, mass, 1, NAN);
        fill_rows(c, slopes, slopes ? c->n_params : 0, NAN);
        return 0.0;
    }
    if (tail) {
        tails(c, side, tail, mass, slopes);
        return given ? reach : reach_of_tail(c, tail);
    }
    const double end = integrate(c, side, 0, reach, mass);
    if (slopes)
        integrate(c, side, 1, reach, slopes);
    return end < reach ? end : reach;
}
