/* energy_rows.c: kernels that read the whole row of the spectrum below them. The formulas stand in
 * ops.def, the living definitions in pyspec/functions/inelastic.py. */
#include "kernel.h"
#include "vmath.h"

/* Targets at a time: their weights stay in L1 while they serve all spectra. */
enum { ROW_CHUNK = 64 };

/* Share of the axis that belongs to point j, by the trapezoidal rule. */
static inline double trapezoid_share(const double *x, int64_t n, int64_t j)
{
    int64_t low = j > 0 ? j - 1 : 0, high = j < n - 1 ? j + 1 : n - 1;
    return 0.5 * fabs(x[high] - x[low]);
}

/* What an electron of a loss T contributes, T / den, and how that changes: by C, and by D where
 * there is one. */
typedef struct loss_weights {
    double q[ROW_CHUNK * L], by_c[ROW_CHUNK * L], by_d[ROW_CHUNK * L];
} loss_weights;

static ALWAYS_INLINE void loss_at(double T, double share, double C, double D, int has_d, int want,
                                  double *q, double *by_c, double *by_d)
{
    double square = T * T;
    double root = has_d ? C - square : C + square;
    double inverse = v_clamp(1.0 / (has_d ? root * root + D * square : root * root), 1e300);
    *q = v_clamp(share * (T * inverse), 1e300);
    if (want) {
        *by_c = v_clamp(-2.0 * *q * (root * inverse), 1e300);
        *by_d = v_clamp(-*q * (square * inverse), 1e300);
    }
}

/* Weights of the targets begin ... end - 1 for what comes from j: [end - begin], of L lanes each
 * where lanes are rows. */
static ALWAYS_INLINE void losses(const double *restrict x, double from, double share,
                                 const double *restrict p, int64_t n, int across, int has_d,
                                 int want, loss_weights *restrict w)
{
    double C[L], D[L];
    FOR_LANES {
        C[l] = P(1);
        D[l] = has_d ? P(2) : 0.0;
    }
    for (int64_t i = 0; i < n; i++) {
        double T = v_clamp(fabs(from - x[i]), 1e75);
        if (across)
            loss_at(T, share, C[0], D[0], has_d, want, w->q + i, w->by_c + i, w->by_d + i);
        else
            FOR_LANES loss_at(T, share, C[l], D[l], has_d, want, w->q + AT, w->by_c + AT,
                              w->by_d + AT);
    }
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

/* J = S + K J from the highest index down: when point j is reached, J_j is known, and its losses
 * go to all points below it. The slopes obey the same equation, with K' J in place of S. */
static ALWAYS_INLINE void tougaard(const pyspec_block *b, const double *p, double *y,
                                   double *const *d, int has_d, int across, int want)
{
    const int64_t n = across ? b->n_valid : b->n, lanes = across ? 1 : L;
    const int n_params = has_d ? 3 : 2;
    loss_weights w;
    for (int64_t i = 0; i < n * lanes; i++) {
        y[i] = 0.0;
        for (int k = 0; want && k < n_params; k++)
            d[k][i] = 0.0;
        for (int64_t k = 0; k < b->n_more; k++)
            b->images[k][i] = 0.0;
    }
    for (int64_t j = n - 1; j > 0; j--) {
        const double share = trapezoid_share(b->x, n, j);
        for (int64_t begin = 0; begin < j; begin += ROW_CHUNK) {
            const int64_t end = begin + ROW_CHUNK < j ? begin + ROW_CHUNK : j;
            const int64_t to = begin * lanes, from = j * lanes;
            double whole[L], scaled[L], source[L];
            losses(b->x + begin, b->x[j], share, p, end - begin, across, has_d, want, &w);
            for (int l = 0; l < lanes; l++) {
                whole[l] = b->spectrum[from + l] + y[from + l];
                scaled[l] = P(0) * whole[l];
            }
            scatter(y + to, w.q, scaled, end - begin, across, 0);
            for (int l = 0; l < lanes; l++) {
                whole[l] = v_clamp(whole[l], 1e300);
                scaled[l] = v_clamp(scaled[l], 1e300);
            }
            for (int k = 0; want && k < n_params; k++) {
                const double *slope = k == 0 ? w.q : k == 1 ? w.by_c : w.by_d;
                scatter(d[k] + to, slope, k == 0 ? whole : scaled, end - begin, across, 1);
                for (int l = 0; l < lanes; l++)
                    source[l] = v_clamp(P(0) * d[k][from + l], 1e300);
                scatter(d[k] + to, w.q, source, end - begin, across, 1);
            }
            for (int64_t k = 0; k < b->n_more; k++) {
                for (int l = 0; l < lanes; l++)
                    source[l] =
                        v_clamp(P(0) * (b->more[k][from + l] + b->images[k][from + l]), 1e300);
                scatter(b->images[k] + to, w.q, source, end - begin, across, 1);
            }
        }
    }
}

KERNEL(Tougaard)
{
    tougaard(b, p, y, d, 0, across, want);
}

KERNEL(Tougaard3)
{
    tougaard(b, p, y, d, 1, across, want);
}

/* The share of the area that lies above each point, by the trapezoidal rule: 1 at the lowest
 * index, 0 at the highest. A row without area has a straight line. The share is no linear function
 * of the spectrum: images are its change. `from` and `to` stand at lane l of the first point. */
static ALWAYS_INLINE void area_above(const double *x, const double *from, double *to, int64_t n,
                                     int64_t stride)
{
    double sum = 0.0;
    to[(n - 1) * stride] = 0.0;
    for (int64_t i = n - 2; i >= 0; i--) {
        double step = 0.5 * fabs(x[i + 1] - x[i]);
        sum += step * (from[i * stride] + from[(i + 1) * stride]);
        to[i * stride] = sum;
    }
}

KERNEL(StaticShirley)
{
    const int64_t n = across ? b->n_valid : b->n, stride = across ? 1 : L;
    const double length = fabs(b->x[n - 1] - b->x[0]);
    for (int64_t l = 0; l < stride; l++) {
        const double left = P(0), right = P(1);
        area_above(b->x, b->spectrum + l, y + l, n, stride);
        const double area = y[l], inverse = v_clamp(1.0 / area, 1e300);
        for (int64_t k = 0; k < b->n_more; k++)
            area_above(b->x, b->more[k] + l, b->images[k] + l, n, stride);
        for (int64_t i = n - 1; i >= 0; i--) {
            const int64_t at = i * stride + l;
            double away = length > 0.0 ? fabs(b->x[n - 1] - b->x[i]) / length : 0.0;
            double share = area == 0.0 ? away : y[at] * inverse;
            for (int64_t k = 0; k < b->n_more; k++) {
                double change = (b->images[k][at] - share * b->images[k][l]) * inverse;
                b->images[k][at] = area == 0.0 ? 0.0 : v_clamp((left - right) * change, 1e300);
            }
            y[at] = right + (left - right) * share;
            if (want) {
                d[0][at] = share;
                d[1][at] = 1.0 - share;
            }
        }
    }
}
