/* convolution.c: convolution of traces with a normalised kernel on any increasing axis.
 *
 *     y'_i = (sum_j g(t_i - t_j) w_j y_j + M_L(i) y_0 + M_R(i) y_last) / (the same with y = 1)
 *
 * w are trapezoid weights; M_L and M_R are the masses of the kernel beyond the ends, where the
 * signal keeps its edge values. A constant is preserved exactly. What g is, its slope, its masses
 * and how far it reaches comes from the op table: a side on which g(a + b) = g(a) g(b) runs in
 * one sweep, any other over the band of samples within its reach. */
#include "run.h"
#include "vmath.h"

/* Rows of the scratch: the weights; for each sample the sum of g w and its slope by the width;
 * the result for the first signal; a copy of it; and of a sweep g between neighbours, with its
 * slope. */
enum { WEIGHTS, NORM, NORM_SLOPE, RESULT, COPY, DECAY, DECAY_SLOPE };

static double *row(const convolution *c, int which)
{
    return c->scratch + which * c->stride;
}

/* Where the result of signal k is collected while the signals, times their weights, are still
 * read. Behind it stand the signal's first and last value. */
static double *result(const convolution *c, int64_t k)
{
    return k == 0 ? row(c, RESULT) : c->kept + (k - 1) * c->stride;
}

/* signal = w signal; its ends are kept. */
static void weigh(const convolution *c, double *signal, double *out)
{
    const double *w = row(c, WEIGHTS);
    fill(out, 0.0, c->n);
    out[c->n] = signal[0];
    out[c->n + 1] = signal[c->n - 1];
    for (int64_t i = 0; i < c->n; i++)
        signal[i] *= w[i];
}

static const conv_side *side_of(const convolution *c, int side)
{
    return &c->op->conv[c->isa]->sides[side];
}

/* g at n <= BLOCK * L time differences and, unless NULL, its slope by the width. The differences
 * are padded to whole vectors. */
static void shape(const convolution *c, double *lag, int64_t n, double *g, double *slope)
{
    double width[L], *partials[] = {slope};
    const int64_t n_vectors = round_up(n, L) / L;
    pyspec_block b = {.n = n_vectors, .n_valid = n, .across = 1, .x = lag};
    fill(lag + n, lag[n - 1], n_vectors * L - n);
    fill(width, c->width, L);
    c->op->kernels[c->isa](&b, width, g, slope ? partials : NULL);
}

static void trapezoid_weights(const convolution *c, double *w)
{
    const double *t = c->t;
    const int64_t n = c->n;
    for (int64_t j = 0; j < n; j++)
        w[j] = ((j + 1 < n ? t[j + 1] : t[j]) - (j > 0 ? t[j - 1] : t[j])) / 2.0;
}

static int has_nan(const double *y, int64_t n)
{
    int found = 0;
    for (int64_t i = 0; i < n; i++)
        found |= y[i] != y[i];
    return found;
}

/* The samples begin ... end - 1 within reach of sample i, from those of the sample before. */
static void widen(const convolution *c, int64_t i, int64_t *begin, int64_t *end)
{
    const double before = side_of(c, PYSPEC_SIDE_LEFT)->reach * c->width;
    const double after = side_of(c, PYSPEC_SIDE_RIGHT)->reach * c->width;
    while (*begin < i && c->t[i] - c->t[*begin] > before)
        ++*begin;
    *end = *end > i ? *end : i + 1;
    while (*end < c->n && c->t[*end] - c->t[i] <= after)
        ++*end;
}

static void add_dot(const convolution *c, double *sum, const double *a, const double *b, int64_t n)
{
    double part;
    pyspec_block_table[c->isa].dot(&part, a, b, n);
    *sum += part;
}

/* Adds the samples from `from` on to the sums of sample i: g is computed once for all signals. */
static void add_band(const convolution *c, int64_t i, int64_t from, int64_t n,
                     double *const *signals, int64_t count, double *by_width)
{
    double lag[BLOCK * L], g[BLOCK * L], slope[BLOCK * L];
    const double *w = row(c, WEIGHTS) + from;
    for (int64_t j = 0; j < n; j++)
        lag[j] = c->t[i] - c->t[from + j];
    shape(c, lag, n, g, by_width ? slope : NULL);
    add_dot(c, row(c, NORM) + i, g, w, n);
    for (int64_t k = 0; k < count; k++)
        add_dot(c, result(c, k) + i, g, signals[k] + from, n);
    if (by_width) {
        add_dot(c, row(c, NORM_SLOPE) + i, slope, w, n);
        add_dot(c, by_width + i, slope, signals[0] + from, n);
    }
}

/* The sums over the band of each sample. Without reach that is the sample itself, where g is 1. */
static void run_bands(const convolution *c, double *const *signals, int64_t count,
                      double *by_width)
{
    const double *w = row(c, WEIGHTS);
    if (side_of(c, PYSPEC_SIDE_LEFT)->reach == 0.0 && side_of(c, PYSPEC_SIDE_RIGHT)->reach == 0.0) {
        memcpy(row(c, NORM), w, (size_t)c->n * sizeof *w);
        for (int64_t k = 0; k < count; k++)
            memcpy(result(c, k), signals[k], (size_t)c->n * sizeof *w);
        return;
    }
    for (int64_t i = 0, begin = 0, end = 0; i < c->n; i++) {
        widen(c, i, &begin, &end);
        for (int64_t from = begin; from < end; from += BLOCK * L) {
            const int64_t n = end - from < BLOCK * L ? end - from : BLOCK * L;
            add_band(c, i, from, n, signals, count, by_width);
        }
    }
}

/* Adds to the sums of every sample those over all samples on one side of it, from neighbour to
 * neighbour, of a weighted signal. */
static void sweep(const convolution *c, int side, const double *signal, double *sum, double *slope)
{
    const double *decay = row(c, DECAY), *by_width = row(c, DECAY_SLOPE);
    const int64_t next = side == PYSPEC_SIDE_LEFT ? 1 : -1;
    double s = 0.0, by = 0.0;
    int64_t i = side == PYSPEC_SIDE_LEFT ? 1 : c->n - 2;
    for (int64_t k = 1; k < c->n; k++, i += next) {
        const double before = s + signal[i - next];
        if (slope)
            slope[i] += by = decay[i] * by + by_width[i] * before;
        sum[i] += s = decay[i] * before;
    }
}

static void run_sweeps(const convolution *c, int side, double *const *signals, int64_t count,
                       double *by_width)
{
    const int64_t next = side == PYSPEC_SIDE_LEFT ? 1 : -1;
    double lag[BLOCK * L];
    for (int64_t from = 0; from < c->n; from += BLOCK * L) {
        const int64_t n = c->n - from < BLOCK * L ? c->n - from : BLOCK * L;
        for (int64_t j = 0; j < n; j++) {
            const int64_t i = from + j, neighbour = i - next;
            lag[j] = neighbour < 0 || neighbour >= c->n ? 0.0 : c->t[i] - c->t[neighbour];
        }
        shape(c, lag, n, row(c, DECAY) + from, by_width ? row(c, DECAY_SLOPE) + from : NULL);
    }
    sweep(c, side, row(c, WEIGHTS), row(c, NORM), by_width ? row(c, NORM_SLOPE) : NULL);
    for (int64_t k = 0; k < count; k++)
        sweep(c, side, signals[k], result(c, k), k == 0 ? by_width : NULL);
}

/* The mass of g beyond an end of the axis, and its slope: as g depends on d / width alone, that is
 * mass / width + distance / width g(distance). */
typedef struct outer_mass {
    double value, slope;
} outer_mass;

static outer_mass mass_beyond(const convolution *c, int side, double distance, double g)
{
    const conv_side *s = side_of(c, side);
    const double value = s->mass ? s->mass(fabs(distance), c->width) : 0.0;
    const double u = v_clamp(fabs(distance) / c->width, 1e300); /* 0 times infinity is NaN */
    return (outer_mass){value, s->mass ? value / c->width + u * g : 0.0};
}

/* Adds the masses beyond the ends and divides by the norm, for samples from `from` on. */
static void normalise(const convolution *c, int64_t from, int64_t n, int64_t count,
                      double *by_width)
{
    double lag[BLOCK * L], first[BLOCK * L] = {0.0}, last[BLOCK * L] = {0.0};
    const double *t = c->t, *ends = result(c, 0) + c->n;
    for (int end = 0; by_width && end < 2; end++) {
        for (int64_t j = 0; j < n; j++)
            lag[j] = t[from + j] - t[end == 0 ? 0 : c->n - 1];
        shape(c, lag, n, end == 0 ? first : last, NULL);
    }
    for (int64_t j = 0, i = from; j < n; j++, i++) {
        const outer_mass left = mass_beyond(c, PYSPEC_SIDE_LEFT, t[i] - t[0], first[j]);
        const outer_mass right = mass_beyond(c, PYSPEC_SIDE_RIGHT, t[i] - t[c->n - 1], last[j]);
        const double norm = row(c, NORM)[i] + left.value + right.value;
        for (int64_t k = 0; k < count; k++) {
            double *out = result(c, k);
            out[i] = (out[i] + left.value * out[c->n] + right.value * out[c->n + 1]) / norm;
        }
        if (by_width)
            by_width[i] = (by_width[i] + left.slope * ends[0] + right.slope * ends[1] -
                           result(c, 0)[i] * (row(c, NORM_SLOPE)[i] + left.slope + right.slope)) /
                          norm;
    }
}

/* A kernel that grows sample by sample has no derivative but the change over about a step. */
static void change_over_a_step(const convolution *c, const double *y, double *by_width)
{
    const size_t size = (size_t)c->n * sizeof *y;
    const double step = c->n > 1 ? (c->t[c->n - 1] - c->t[0]) / (double)(c->n - 1) : 1.0;
    const double h = step > 1e-3 * c->width ? step : 1e-3 * c->width;
    double *narrower = row(c, COPY);
    convolution wide = *c, narrow = *c;
    wide.width = c->width + h;
    narrow.width = c->width - h > 0.5 * c->width ? c->width - h : 0.5 * c->width;
    memcpy(by_width, y, size);
    pyspec_convolve(&wide, &by_width, 1, NULL);
    memcpy(narrower, y, size);
    pyspec_convolve(&narrow, &narrower, 1, NULL);
    for (int64_t i = 0; i < c->n; i++)
        by_width[i] = (by_width[i] - narrower[i]) / (wide.width - narrow.width);
}

void pyspec_convolve(const convolution *c, double *const *signals, int64_t count, double *by_width)
{
    const int64_t n = c->n;
    if (by_width && *c->op->jumps) {
        change_over_a_step(c, signals[0], by_width);
        by_width = NULL;
    }
    trapezoid_weights(c, row(c, WEIGHTS));
    fill(row(c, NORM), 0.0, n);
    for (int64_t k = 0; k < count; k++)
        weigh(c, signals[k], result(c, k));
    if (by_width) {
        fill(row(c, NORM_SLOPE), 0.0, n);
        fill(by_width, 0.0, n);
    }
    run_bands(c, signals, count, by_width);
    for (int side = 0; side < 2; side++)
        if (side_of(c, side)->multiplies)
            run_sweeps(c, side, signals, count, by_width);
    for (int64_t from = 0; from < n; from += BLOCK * L)
        normalise(c, from, n - from < BLOCK * L ? n - from : BLOCK * L, count, by_width);
    /* Every sum reads every sample, if only times 0. */
    if (by_width && has_nan(signals[0], n))
        fill(by_width, NAN, n);
    for (int64_t k = 0; k < count; k++)
        if (has_nan(signals[k], n))
            fill(signals[k], NAN, n);
        else
            memcpy(signals[k], result(c, k), (size_t)n * sizeof(double));
}
