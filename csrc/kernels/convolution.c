/* convolution.c: convolution of traces with a normalised kernel on any increasing axis.
 *
 *     y'_i = (sum_j g(t_i - t_j) w_j y_j + M_L(i) y_0 + M_R(i) y_last) / (the same with y = 1)
 *
 * w are trapezoid weights; M_L and M_R are the masses of the kernel beyond the ends, where the signal
 * keeps its edge values. A constant is preserved exactly. The op table or a formula defines g, its
 * slopes, its masses and its reach. A side on which g(a + b) = g(a) g(b) runs in one sweep. Any other
 * side runs over the band of samples within its reach. Kernels of the op table that have an edge are
 * those of conv_lines.c. */
#include "kernels/convolution.h"
#include "isa/vector.h"
#include "math/vmath.h"

/* The slope of the sum of g w by a parameter. */
static double *norm_slope(const convolution *c, int64_t param)
{
    return conv_row(c, CONV_SLOPES + param);
}

/* Of a side the mass of g beyond the end of the axis, and its slope by a parameter. */
static double *outer_mass(const convolution *c, int side)
{
    return conv_row(c, side == PYSPEC_SIDE_LEFT ? CONV_LEFT : CONV_RIGHT);
}

static double *outer_slope(const convolution *c, int side, int64_t param)
{
    return conv_row(c, CONV_SLOPES + (1 + side) * c->n_params + param);
}

/* Values of g, k = 0, or of its slope by parameter k - 1. Entry [m + n - 1] belongs to two samples
 * that are m steps apart, the second after the first. */
static double *table(const convolution *c, int64_t k)
{
    return conv_row(c, CONV_SLOPES + 3 * c->n_params + 2 * k);
}

/* signal = w signal; its ends are kept behind its result. */
static void weigh(const convolution *c, double *signal, double *out)
{
    const double *w = conv_row(c, CONV_WEIGHTS);
    fill(out, 0.0, c->n);
    out[c->n] = signal[0];
    out[c->n + 1] = signal[c->n - 1];
    for (int64_t i = 0; i < c->n; i++)
        signal[i] *= w[i];
}

static int multiplies(const convolution *c, int side)
{
    return c->op && conv_side_of(c, side)->multiplies;
}

static void shape(const convolution *c, double *lag, int64_t n, double *g, double *slopes)
{
    pyspec_conv_shape(c, c->op ? NULL : conv_formula_part(c->program, CONV_SHAPE), lag, n, g, slopes);
}

static void trapezoid_weights(const convolution *c, double *w)
{
    const double *t = c->t;
    const int64_t n = c->n;
    for (int64_t j = 0; j < n; j++)
        w[j] = ((j + 1 < n ? t[j + 1] : t[j]) - (j > 0 ? t[j - 1] : t[j])) / 2.0;
}

/* The samples begin ... end - 1 within reach of sample i, from those of the sample before. */
static void widen(const convolution *c, int64_t i, int64_t *begin, int64_t *end)
{
    const double before = c->reach[PYSPEC_SIDE_LEFT], after = c->reach[PYSPEC_SIDE_RIGHT];
    while (*begin < i && c->t[i] - c->t[*begin] > before)
        ++*begin;
    *end = *end > i ? *end : i + 1;
    while (*end < c->n && c->t[*end] - c->t[i] <= after)
        ++*end;
}

/* g at the samples of a band, and its slopes by the parameters, `apart` doubles from one to the next. */
typedef struct band {
    const double *g, *slopes;
    int64_t apart;
} band;

/* Room for a computed kernel. A row of the op table needs a block of time differences, with the slope by its
 * parameter. A kernel by formula needs CONV_LAGS of them, with all slopes that it may have. */
_Static_assert(CONV_LAGS <= BLOCK * L, "time differences of a kernel by formula fit a block");
_Static_assert(BLOCK * L <= MAX_PARAMS * CONV_LAGS, "a slope of a whole block fits those of a formula");
typedef struct band_room {
    double lag[BLOCK * L], g[BLOCK * L], slopes[MAX_PARAMS * CONV_LAGS];
} band_room;

static band find_band(const convolution *c, int64_t i, int64_t from, int64_t n, int want,
                      band_room *room)
{
    for (int64_t j = 0; j < n; j++)
        room->lag[j] = c->t[i] - c->t[from + j];
    shape(c, room->lag, n, room->g, want ? room->slopes : NULL);
    return (band){room->g, room->slopes, conv_chunk(c)};
}

/* Adds the samples from `from` on to the sums of sample i. `by` has a place for the slopes of the first
 * result by each parameter, and NULL for slopes that are not wanted. `by` itself is NULL if no slopes
 * are wanted. */
static void add_band(const convolution *c, const band *b, int64_t i, int64_t from, int64_t n,
                     double *const *signals, int64_t count, double *const *by)
{
    const block_ops *ops = &pyspec_block_table[c->isa];
    const double *others[MOST_DOTS] = {conv_row(c, CONV_WEIGHTS) + from};
    double *to[MOST_DOTS] = {conv_row(c, CONV_NORM) + i};
    int64_t n_dots = 1;
    for (int64_t k = 0; k < count; k++) {
        others[n_dots] = signals[k] + from;
        to[n_dots++] = conv_result(c, k) + i;
        if (n_dots == MOST_DOTS || k + 1 == count) {
            ops->dots(to, b->g, others, n_dots, n);
            n_dots = 0;
        }
    }
    for (int64_t k = 0; by && k < c->n_params; k++)
        if (by[k]) {
            const double *pair[] = {conv_row(c, CONV_WEIGHTS) + from, signals[0] + from};
            double *sums[] = {norm_slope(c, k) + i, by[k] + i};
            ops->dots(sums, b->slopes + k * b->apart, pair, 2, n);
        }
}

/* ---- even steps ------------------------------------------------------------------------------ */

/* Samples may be off even steps by this share of the width of the kernel: rounding of the axis, which
 * changes g by less than 1e-13 of its peak. */
static const double EVEN = 0x1p-43;

static double step_of(const convolution *c)
{
    return (c->t[c->n - 1] - c->t[0]) / (double)(c->n - 1);
}

/* Whether g of two samples follows from the number of steps between them. A kernel by formula, which may
 * have an edge, asks for each difference by itself. */
static int is_even(const convolution *c)
{
    if (!c->op || c->n < 2)
        return 0;
    const double step = step_of(c), most = EVEN * c->params[0];
    int even = 1;
    for (int64_t i = 0; i < c->n; i++)
        even &= fabs(c->t[i] - (c->t[0] + (double)i * step)) <= most;
    return even;
}

/* The steps that a side reaches. */
static int64_t steps_of(const convolution *c, int side)
{
    const double steps = c->reach[side] / step_of(c) + 1.0, most = (double)(c->n - 1);
    return steps > 0.0 ? (int64_t)(steps < most ? steps : most) : 0;
}

static void fill_tables(const convolution *c, int want, band_room *room)
{
    const int64_t end = steps_of(c, PYSPEC_SIDE_RIGHT) + 1;
    for (int64_t from = -steps_of(c, PYSPEC_SIDE_LEFT); from < end; from += conv_chunk(c)) {
        const int64_t n = end - from < conv_chunk(c) ? end - from : conv_chunk(c);
        const size_t size = (size_t)n * sizeof(double);
        for (int64_t j = 0; j < n; j++)
            room->lag[j] = (double)-(from + j) * step_of(c);
        shape(c, room->lag, n, room->g, want ? room->slopes : NULL);
        memcpy(table(c, 0) + from + c->n - 1, room->g, size);
        for (int64_t k = 0; want && k < c->n_params; k++)
            memcpy(table(c, 1 + k) + from + c->n - 1, room->slopes + k * conv_chunk(c), size);
    }
}

static band take_band(const convolution *c, int64_t i, int64_t from)
{
    const int64_t at = from - i + c->n - 1;
    return (band){table(c, 0) + at, table(c, 1) + at, 2 * c->stride};
}

/* The sums over the band of each sample. Between sweeps that is the sample itself, where g is 1. */
static void run_bands(const convolution *c, double *const *signals, int64_t count,
                      double *const *by)
{
    const double *w = conv_row(c, CONV_WEIGHTS);
    if (c->op && c->reach[PYSPEC_SIDE_LEFT] == 0.0 && c->reach[PYSPEC_SIDE_RIGHT] == 0.0) {
        memcpy(conv_row(c, CONV_NORM), w, (size_t)c->n * sizeof *w);
        for (int64_t k = 0; k < count; k++)
            memcpy(conv_result(c, k), signals[k], (size_t)c->n * sizeof *w);
        return;
    }
    band_room room;
    const int even = is_even(c), want = by != NULL;
    if (even)
        fill_tables(c, want, &room);
    for (int64_t i = 0, begin = 0, end = 0; i < c->n; i++) {
        widen(c, i, &begin, &end);
        for (int64_t from = begin; from < end; from += conv_chunk(c)) {
            const int64_t n = end - from < conv_chunk(c) ? end - from : conv_chunk(c);
            const band b = even ? take_band(c, i, from) : find_band(c, i, from, n, want, &room);
            add_band(c, &b, i, from, n, signals, count, by);
        }
    }
}

/* Adds to the sums of every sample those over all samples on one side of it, from neighbour to
 * neighbour, of a weighted signal. */
static void sweep(const convolution *c, int side, const double *signal, double *sum, double *slope)
{
    const double *decay = conv_row(c, CONV_DECAY), *by_width = conv_row(c, CONV_DECAY_SLOPE);
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
    pyspec_conv_decays(c, side, by_width != NULL);
    sweep(c, side, conv_row(c, CONV_WEIGHTS), conv_row(c, CONV_NORM), by_width ? norm_slope(c, 0) : NULL);
    for (int64_t k = 0; k < count; k++)
        sweep(c, side, signals[k], conv_result(c, k), k == 0 ? by_width : NULL);
}

/* The masses of a kernel of the op table beyond an end of the axis, and their slopes. g depends on
 * d / width only. The slopes are therefore mass / width + distance / width g(distance). */
static void weigh_outside(const convolution *c, int side, int slopes)
{
    const conv_side *s = conv_side_of(c, side);
    const double width = c->params[0], end = c->t[side == PYSPEC_SIDE_LEFT ? 0 : c->n - 1];
    const double most = s->reach > 0.0 ? s->reach * width : INFINITY; /* beyond it neither counts */
    double lag[BLOCK * L], g[BLOCK * L], *mass = outer_mass(c, side), *slope = outer_slope(c, side, 0);
    for (int64_t from = 0; from < c->n; from += BLOCK * L) {
        const int64_t n = c->n - from < BLOCK * L ? c->n - from : BLOCK * L;
        for (int64_t j = 0; j < n; j++)
            lag[j] = c->t[from + j] - end;
        if (slopes && s->mass)
            shape(c, lag, n, g, NULL);
        for (int64_t j = 0; j < n; j++) {
            const double distance = fabs(lag[j]);
            const int counts = s->mass && distance <= most;
            const double value = counts ? s->mass(distance, width) : 0.0;
            const double u = v_clamp(distance / width, 1e300); /* 0 times infinity is NaN */
            mass[from + j] = value;
            if (slopes)
                slope[from + j] = counts ? value / width + u * g[j] : 0.0;
        }
    }
}

/* Adds the masses beyond the ends and divides by the norm. */
static void normalise(const convolution *c, int64_t count, double *const *by)
{
    const double *left = outer_mass(c, PYSPEC_SIDE_LEFT), *right = outer_mass(c, PYSPEC_SIDE_RIGHT);
    const double *ends = conv_result(c, 0) + c->n;
    double *norm = conv_row(c, CONV_NORM);
    for (int64_t i = 0; i < c->n; i++)
        norm[i] = norm[i] + left[i] + right[i];
    for (int64_t k = 0; k < count; k++) {
        double *out = conv_result(c, k);
        for (int64_t i = 0; i < c->n; i++)
            out[i] = (out[i] + left[i] * out[c->n] + right[i] * out[c->n + 1]) / norm[i];
    }
    for (int64_t k = 0; by && k < c->n_params; k++) {
        const double *before = outer_slope(c, PYSPEC_SIDE_LEFT, k);
        const double *after = outer_slope(c, PYSPEC_SIDE_RIGHT, k), *slope = norm_slope(c, k);
        for (int64_t i = 0; by[k] && i < c->n; i++)
            by[k][i] = (by[k][i] + before[i] * ends[0] + after[i] * ends[1] -
                        conv_result(c, 0)[i] * (slope[i] + before[i] + after[i])) /
                       norm[i];
    }
}

/* What jumps over the samples with a parameter has no derivative but the change over about a step. */
static void change_over_a_step(const convolution *c, int64_t param, const double *y, double *by)
{
    const size_t size = (size_t)c->n * sizeof *y;
    const double step = c->n > 1 ? (c->t[c->n - 1] - c->t[0]) / (double)(c->n - 1) : 1.0;
    const double at = c->params[param], h = step > 1e-3 * fabs(at) ? step : 1e-3 * fabs(at);
    double *narrower = conv_row(c, CONV_COPY), given[MAX_PARAMS];
    convolution other = *c;
    memcpy(given, c->params, (size_t)c->n_params * sizeof *given);
    other.params = given;
    const double high = at + h, low = at > 0.0 && at - h <= 0.5 * at ? 0.5 * at : at - h;
    given[param] = high;
    memcpy(by, y, size);
    pyspec_convolve(&other, &by, 1, NULL);
    given[param] = low;
    memcpy(narrower, y, size);
    pyspec_convolve(&other, &narrower, 1, NULL);
    for (int64_t i = 0; i < c->n; i++)
        by[i] = (by[i] - narrower[i]) / (high - low);
}

static int jumps(const convolution *c, int64_t param)
{
    return !c->op && (conv_formula_head(c->program)->jumps >> param & 1);
}

/* The parameters by which there are derivatives: `smooth`, or NULL where there is none. The others
 * are done here. */
static double *const *smooth_ones(const convolution *c, const double *y, double *const *by,
                                  double **smooth)
{
    int any = 0;
    for (int64_t k = 0; by && k < c->n_params; k++) {
        smooth[k] = by[k] && !jumps(c, k) ? by[k] : NULL;
        any |= smooth[k] != NULL;
        if (by[k] && !smooth[k])
            change_over_a_step(c, k, y, by[k]);
    }
    return any ? smooth : NULL;
}

/* Reach and masses, which do not depend on the signal. */
static void look_outside(convolution *c, int slopes)
{
    for (int side = 0; side < 2; side++)
        if (c->op) {
            c->reach[side] = conv_side_of(c, side)->reach * c->params[0];
            weigh_outside(c, side, slopes);
        } else
            c->reach[side] = pyspec_conv_masses(c, side, outer_mass(c, side),
                                                slopes ? outer_slope(c, side, 0) : NULL);
}

/* The sums over the samples, each times its weight. */
static void sum_samples(const convolution *c, double *const *signals, int64_t count, double *const *by)
{
    trapezoid_weights(c, conv_row(c, CONV_WEIGHTS));
    fill(conv_row(c, CONV_NORM), 0.0, c->n);
    for (int64_t k = 0; k < count; k++)
        weigh(c, signals[k], conv_result(c, k));
    for (int64_t k = 0; by && k < c->n_params; k++) {
        fill(norm_slope(c, k), 0.0, c->n);
        if (by[k])
            fill(by[k], 0.0, c->n);
    }
    run_bands(c, signals, count, by);
    for (int side = 0; side < 2; side++)
        if (multiplies(c, side))
            run_sweeps(c, side, signals, count, by ? by[0] : NULL);
    normalise(c, count, by);
}

void pyspec_convolve(const convolution *given, double *const *signals, int64_t count,
                     double *const *slopes)
{
    convolution own = *given;
    const convolution *c = &own;
    const int64_t n = c->n;
    double *smooth[MAX_PARAMS];
    double *const *by = smooth_ones(c, signals[0], slopes, smooth);
    if (pyspec_reads_lines(c)) {
        pyspec_conv_lines(c, signals, count, by ? by[0] : NULL);
    } else {
        look_outside(&own, by != NULL);
        sum_samples(c, signals, count, by);
    }
    /* Every sum reads every sample, if only times 0. */
    for (int64_t k = 0; by && has_nan(signals[0], n) && k < c->n_params; k++)
        if (by[k])
            fill(by[k], NAN, n);
    for (int64_t k = 0; k < count; k++)
        if (has_nan(signals[k], n))
            fill(signals[k], NAN, n);
        else
            memcpy(signals[k], conv_result(c, k), (size_t)n * sizeof(double));
}
