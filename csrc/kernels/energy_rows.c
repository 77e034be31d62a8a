/* energy_rows.c: kernels that read the whole row of the spectrum below them. The formulas stand in
 * ops.def, the living definitions in pyspec/functions/inelastic.py. */
#include "isa/kernel.h"
#include "isa/vector.h"
#include "math/vmath.h"

/* Targets at a time: their weights stay in L1 while they serve all spectra. */
enum { ROW_CHUNK = 64 };

/* Share of the axis that belongs to point j, by the trapezoidal rule. */
static inline double trapezoid_share(const double *x, int64_t n, int64_t j)
{
    int64_t low = j > 0 ? j - 1 : 0, high = j < n - 1 ? j + 1 : n - 1;
    return 0.5 * fabs(x[high] - x[low]);
}

/* The contribution T / den of an electron of a loss T, and its derivatives by C, and by D if there
 * is one. On even axes it also holds the weights between a chunk of sources and a chunk of targets,
 * by falling distance. */
typedef struct loss_weights {
    double q[2 * ROW_CHUNK * L], by_c[2 * ROW_CHUNK * L], by_d[2 * ROW_CHUNK * L];
} loss_weights;

/* What the sums need at hand; C and D of each lane. */
typedef struct loss_sums {
    const pyspec_block *b;
    const double *p;
    double *y;
    double *const *d;
    double C[L], D[L];
} loss_sums;

static ALWAYS_INLINE void loss_at(double T, double share, double C, double D, int has_d, int want,
                                  double *q, double *by_c, double *by_d)
{
    double square = T * T;
    double root = v_sum_of_products(has_d ? -T : T, T, 1.0, C);
    double below = has_d ? v_sum_of_products(root, root, D, square) : root * root;
    double inverse = v_clamp(1.0 / below, 1e300);
    *q = v_clamp(share * (T * inverse), 1e300);
    if (want) {
        *by_c = v_clamp(-2.0 * *q * (root * inverse), 1e300);
        *by_d = v_clamp(-*q * (square * inverse), 1e300);
    }
}

/* Number i of the weights, of L lanes each where lanes are rows. */
static ALWAYS_INLINE void loss_weight(const loss_sums *s, double T, double share, int64_t i,
                                      int across, int has_d, int want, loss_weights *restrict w)
{
    T = v_clamp(T, 1e75);
    if (across)
        loss_at(T, share, s->C[0], s->D[0], has_d, want, w->q + i, w->by_c + i, w->by_d + i);
    else
        FOR_LANES loss_at(T, share, s->C[l], s->D[l], has_d, want, w->q + AT, w->by_c + AT,
                          w->by_d + AT);
}

/* target += weight source, where source is one value for each lane, or one in all. `bounded` keeps
 * what is no value within 1e300: a slope must not become 0 times infinity. */
static ALWAYS_INLINE void scatter(double *restrict target, const double *restrict weight,
                                  const double *restrict source, int64_t n, int across, int bounded)
{
    const int64_t lanes = across ? 1 : L;
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < lanes; l++) {
            double sum = target[i * lanes + l] + weight[i * lanes + l] * source[l];
            target[i * lanes + l] = bounded ? v_clamp(sum, 1e300) : sum;
        }
}

/* The same of two sources at once, bounded. */
static ALWAYS_INLINE void scatter_two(double *restrict target, const double *restrict weight,
                                      const double *restrict source,
                                      const double *restrict other_weight,
                                      const double *restrict other, int64_t n, int across)
{
    const int64_t lanes = across ? 1 : L;
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < lanes; l++) {
            double first = target[i * lanes + l] + weight[i * lanes + l] * source[l];
            double second = other_weight[i * lanes + l] * other[l];
            target[i * lanes + l] = v_clamp(v_clamp(first, 1e300) + second, 1e300);
        }
}

/* Losses of point j, of which all is known, to the n targets from `begin` on. The slopes obey the
 * same equation, with K' J in place of S. The weights begin at number `first`. */
static ALWAYS_INLINE void send_losses(const loss_sums *s, int64_t j, double share, int64_t begin,
                                      int64_t n, const loss_weights *w, int64_t first, int n_params,
                                      int across, int want)
{
    const pyspec_block *b = s->b;
    const double *p = s->p;
    const int64_t lanes = across ? 1 : L, to = begin * lanes, from = j * lanes, at = first * lanes;
    double whole[L], scaled[L], source[L], factor[L];
    for (int l = 0; l < lanes; l++) {
        whole[l] = share * (b->spectrum[from + l] + s->y[from + l]);
        scaled[l] = P(0) * whole[l];
        factor[l] = share * P(0);
    }
    scatter(s->y + to, w->q + at, scaled, n, across, 0);
    for (int l = 0; l < lanes; l++) {
        whole[l] = v_clamp(whole[l], 1e300);
        scaled[l] = v_clamp(scaled[l], 1e300);
    }
    for (int k = 0; want && k < n_params; k++) {
        const double *slope = k == 0 ? w->q : k == 1 ? w->by_c : w->by_d;
        for (int l = 0; l < lanes; l++)
            source[l] = v_clamp(factor[l] * s->d[k][from + l], 1e300);
        scatter_two(s->d[k] + to, slope + at, k == 0 ? whole : scaled, w->q + at, source, n,
                    across);
    }
    for (int64_t k = 0; k < b->n_more; k++) {
        for (int l = 0; l < lanes; l++)
            source[l] = v_clamp(factor[l] * (b->more[k][from + l] + b->images[k][from + l]), 1e300);
        scatter(b->images[k] + to, w->q + at, source, n, across, 1);
    }
}

/* Whether so many numbers stay so far below what is bounded that no sum of products reaches it. */
static ALWAYS_INLINE int is_small(const double *numbers, int64_t n)
{
    int small = 1;
    for (int64_t i = 0; i < n; i++)
        small &= fabs(numbers[i]) < 1e80;
    return small;
}

/* The sum that one target receives from n sources, number by number. The first entry of `weight`
 * belongs to the first source. */
static ALWAYS_INLINE vector sent(vector sum, const double *weight, const double *source,
                                 const double *other_weight, const double *other, int64_t n)
{
    for (int64_t a = 0; a < n; a++) {
        sum += load_vector(weight + a * L) * load_vector(source + a * L);
        if (other)
            sum += load_vector(other_weight + a * L) * load_vector(other + a * L);
    }
    return sum;
}

/* The same of four targets behind one another, which stay in registers. */
static ALWAYS_INLINE void send_to_four(double *target, const double *weight, const double *source,
                                       const double *other_weight, const double *other, int64_t n)
{
    vector a = load_vector(target), b = load_vector(target + L), c = load_vector(target + 2 * L),
           d = load_vector(target + 3 * L);
    for (int64_t k = 0; k < n; k++) {
        const vector from = load_vector(source + k * L);
        const double *w = weight + k * L;
        a += load_vector(w) * from;
        b += load_vector(w + L) * from;
        c += load_vector(w + 2 * L) * from;
        d += load_vector(w + 3 * L) * from;
        if (!other)
            continue;
        const vector also = load_vector(other + k * L);
        w = other_weight + k * L;
        a += load_vector(w) * also;
        b += load_vector(w + L) * also;
        c += load_vector(w + 2 * L) * also;
        d += load_vector(w + 3 * L) * also;
    }
    put_vector(target, a, 1);
    put_vector(target + L, b, 1);
    put_vector(target + 2 * L, c, 1);
    put_vector(target + 3 * L, d, 1);
}

/* Adds the sources of a chunk, the highest first, to n targets below it. Does the same as scatter for
 * each source in turn, or scatter_two for two sources. Lanes are rows, and no value comes near a
 * bound. */
static ALWAYS_INLINE void gather(double *target, const double *weight, const double *source,
                                 const double *other_weight, const double *other, int64_t n,
                                 int64_t n_sources)
{
    FOR_WIDTHS
    {
        int64_t i = 0;
        for (; i + 4 <= n; i += 4)
            send_to_four(target + i * L + at, weight + i * L + at, source + at,
                         other ? other_weight + i * L + at : NULL, other ? other + at : NULL,
                         n_sources);
        for (; i < n; i++) {
            const vector sum = sent(load_vector(target + i * L + at), weight + i * L + at,
                                    source + at, other ? other_weight + i * L + at : NULL,
                                    other ? other + at : NULL, n_sources);
            put_vector(target + i * L + at, sum, 1);
        }
    }
}

/* Adds the losses of all points of a chunk to the n targets from `begin` on. The points must be
 * complete. Does the same as send_losses for each point in turn, from stop - 1 to `start`. Returns
 * whether all numbers are small enough for that; nothing has changed if not. */
static ALWAYS_INLINE int send_chunk(const loss_sums *s, double step, int64_t start, int64_t stop,
                                    int64_t begin, int64_t n, const loss_weights *w, int n_params,
                                    int want)
{
    const pyspec_block *b = s->b;
    const double *p = s->p;
    const int64_t m = stop - start, to = begin * L, n_weights = (n + m - 1) * L;
    double whole[ROW_CHUNK * L], scaled[ROW_CHUNK * L], factor[ROW_CHUNK * L];
    double source[ROW_CHUNK * L];
    for (int64_t i = 0; i < m; i++) {
        const double share = stop - 1 - i == b->n - 1 ? 0.5 * step : step;
        const int64_t from = (stop - 1 - i) * L;
        FOR_LANES {
            whole[AT] = share * (b->spectrum[from + l] + s->y[from + l]);
            scaled[AT] = P(0) * whole[AT];
            factor[AT] = share * P(0);
        }
    }
    int small = is_small(w->q, n_weights) && is_small(whole, m * L) && is_small(scaled, m * L) &&
                is_small(factor, m * L);
    if (want)
        small = small && is_small(w->by_c, n_weights) &&
                (n_params < 3 || is_small(w->by_d, n_weights));
    for (int64_t k = 0; want && k < n_params; k++)
        small = small && is_small(s->d[k] + start * L, m * L);
    for (int64_t k = 0; k < b->n_more; k++)
        small = small && is_small(b->more[k] + start * L, m * L) &&
                is_small(b->images[k] + start * L, m * L);
    if (!small)
        return 0;
    gather(s->y + to, w->q, scaled, NULL, NULL, n, m);
    for (int k = 0; want && k < n_params; k++) {
        const double *slope = k == 0 ? w->q : k == 1 ? w->by_c : w->by_d;
        for (int64_t i = 0; i < m; i++)
            FOR_LANES source[AT] = factor[AT] * s->d[k][(stop - 1 - i) * L + l];
        gather(s->d[k] + to, slope, k == 0 ? whole : scaled, w->q, source, n, m);
    }
    for (int64_t k = 0; k < b->n_more; k++) {
        const double *more = b->more[k], *images = b->images[k];
        for (int64_t i = 0; i < m; i++) {
            const int64_t from = (stop - 1 - i) * L;
            FOR_LANES source[AT] = factor[AT] * (more[from + l] + images[from + l]);
        }
        gather(b->images[k] + to, w->q, source, NULL, NULL, n, m);
    }
    return 1;
}

/* The step of an axis that is even but for the rounding of its numbers, else 0. */
static double even_step(const double *x, int64_t n)
{
    const double step = (x[n - 1] - x[0]) / (double)(n - 1);
    const double rounding = 1e-15 * (fabs(x[0]) + fabs(x[n - 1]));
    if (n < 2 * ROW_CHUNK || !(fabs(step) > 1e6 * rounding))
        return 0.0;
    for (int64_t i = 0; i < n; i++)
        if (!(fabs(x[i] - (x[0] + (double)i * step)) <= rounding))
            return 0.0;
    return fabs(step);
}

/* Of an even axis a weight depends on the distance alone: one for each of two chunks' distances. */
static ALWAYS_INLINE void even_losses(const loss_sums *s, double step, int64_t n, int n_params,
                                      int across, int want)
{
    const int has_d = n_params == 3;
    loss_weights own, w;
    for (int64_t i = 0; i < ROW_CHUNK; i++)
        loss_weight(s, (double)(ROW_CHUNK - i) * step, 1.0, i, across, has_d, want, &own);
    for (int64_t stop = n; stop > 1; stop -= stop < ROW_CHUNK ? stop : ROW_CHUNK) {
        const int64_t start = stop > ROW_CHUNK ? stop - ROW_CHUNK : 0;
        for (int64_t j = stop - 1; j > start; j--)
            send_losses(s, j, j == n - 1 ? 0.5 * step : step, start, j - start, &own,
                        ROW_CHUNK - (j - start), n_params, across, want);
        for (int64_t begin = 0; begin < start; begin += ROW_CHUNK) {
            const int64_t end = begin + ROW_CHUNK < start ? begin + ROW_CHUNK : start;
            for (int64_t i = 0; i < stop - start + end - begin - 1; i++)
                loss_weight(s, (double)(stop - 1 - begin - i) * step, 1.0, i, across, has_d, want,
                            &w);
            if (!across && send_chunk(s, step, start, stop, begin, end - begin, &w, n_params, want))
                continue;
            for (int64_t j = stop - 1; j >= start; j--)
                send_losses(s, j, j == n - 1 ? 0.5 * step : step, begin, end - begin, &w,
                            stop - 1 - j, n_params, across, want);
        }
    }
}

static ALWAYS_INLINE void uneven_losses(const loss_sums *s, const double *x, int64_t n,
                                        int n_params, int across, int want)
{
    loss_weights w;
    for (int64_t j = n - 1; j > 0; j--) {
        const double share = trapezoid_share(x, n, j);
        for (int64_t begin = 0; begin < j; begin += ROW_CHUNK) {
            const int64_t end = begin + ROW_CHUNK < j ? begin + ROW_CHUNK : j;
            for (int64_t i = 0; i < end - begin; i++)
                loss_weight(s, fabs(x[j] - x[begin + i]), share, i, across, n_params == 3, want,
                            &w);
            send_losses(s, j, 1.0, begin, end - begin, &w, 0, n_params, across, want);
        }
    }
}

/* J = S + K J from the highest index down: when point j is reached, J_j is known, and its losses
 * go to all points below it. */
static ALWAYS_INLINE void tougaard(const pyspec_block *b, const double *p, double *y,
                                   double *const *d, int n_params, int across, int want)
{
    const int64_t n = across ? b->n_valid : b->n, lanes = across ? 1 : L;
    loss_sums s = {.b = b, .p = p, .y = y, .d = d};
    FOR_LANES {
        s.C[l] = P(1);
        s.D[l] = n_params == 3 ? P(2) : 0.0;
    }
    for (int64_t i = 0; i < n * lanes; i++) {
        y[i] = 0.0;
        for (int k = 0; want && k < n_params; k++)
            d[k][i] = 0.0;
        for (int64_t k = 0; k < b->n_more; k++)
            b->images[k][i] = 0.0;
    }
    const double step = even_step(b->x, n);
    if (step > 0.0)
        even_losses(&s, step, n, n_params, across, want);
    else
        uneven_losses(&s, b->x, n, n_params, across, want);
}

KERNEL(Tougaard)
{
    tougaard(b, p, y, d, 2, across, want);
}

KERNEL(Tougaard3)
{
    tougaard(b, p, y, d, 3, across, want);
}

/* The share of the area between two points that lies above each, by the trapezoidal rule: 1 at `begin`
 * and below, 0 at the last point before `end` and above. A row without area has a straight line. The share
 * is no linear function of the spectrum: images are its change. `from` and `to` stand at lane l of the first
 * of n points. */
static ALWAYS_INLINE void area_above(const double *x, const double *from, double *to, int64_t n,
                                     int64_t begin, int64_t end, int64_t stride)
{
    double sum = 0.0;
    for (int64_t i = end - 1; i < n; i++)
        to[i * stride] = 0.0;
    for (int64_t i = end - 2; i >= begin; i--) {
        double step = 0.5 * fabs(x[i + 1] - x[i]);
        sum += step * (from[i * stride] + from[(i + 1) * stride]);
        to[i * stride] = sum;
    }
    for (int64_t i = 0; i < begin; i++)
        to[i * stride] = sum;
}

/* The same share where there is no area. */
static ALWAYS_INLINE double line_above(const double *x, int64_t begin, int64_t end, int64_t i)
{
    const double length = fabs(x[end - 1] - x[begin]);
    const int64_t at = i < begin ? begin : i;
    return length > 0.0 && at < end ? fabs(x[end - 1] - x[at]) / length : 0.0;
}

KERNEL(StaticShirley)
{
    const int64_t n = across ? b->n_valid : b->n, stride = across ? 1 : L;
    for (int64_t l = 0; l < stride; l++) {
        const double left = P(0), right = P(1);
        area_above(b->x, b->spectrum + l, y + l, n, b->begin, b->end, stride);
        const double area = y[l];
        for (int64_t k = 0; k < b->n_more; k++)
            area_above(b->x, b->more[k] + l, b->images[k] + l, n, b->begin, b->end, stride);
        for (int64_t i = n - 1; i >= 0; i--) {
            const int64_t at = i * stride + l;
            double share = area == 0.0 ? line_above(b->x, b->begin, b->end, i) : y[at] / area;
            for (int64_t k = 0; k < b->n_more; k++) {
                double change = (b->images[k][at] - share * b->images[k][l]) / area;
                /* An infinite area leaves the right end, whatever moves. */
                b->images[k][at] = area == 0.0 || isinf(area)
                                       ? 0.0
                                       : v_clamp((left - right) * v_clamp(change, 1e300), 1e300);
            }
            y[at] = right + (left - right) * share;
            if (want) {
                d[0][at] = share;
                d[1][at] = 1.0 - share;
            }
        }
    }
}
