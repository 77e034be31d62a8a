/* energy_mahan.c: Mahan's line under a Gaussian, value and partial derivatives. The formula stands in
 * ops.def, the living definition in pyspec/functions/mahan.py.
 *
 * Let z be the distance into the tail over SD, r = SD / |xi| and w = z - r. The line is A / SD
 * r^alpha exp(-z^2 / 2) / sqrt(2 pi) U(w). Here U(w) = exp(w^2 / 4) D_-alpha(-w) with the parabolic
 * cylinder function D (DLMF 12.5.1), and U'' = w U' + alpha U.
 *
 *   - w < -14: asymptotic series in 1 / w^2 (DLMF 12.9.1).
 *   - |w| <= 14: Taylor's series from the nearest of points 1/4 apart. U, U' and their slopes by
 *     alpha follow from point to point. The series gives the first point. Relative to U, errors
 *     shrink towards higher w. Points above 0 store them times exp(-w^2 / 2).
 *   - w > 14: the other asymptotic series (DLMF 12.9.3), scaled to the last point.
 *
 * A point costs no more than such a series, and a block one walk over the points. */
#include "isa/kernel.h"
#include "math/vmath.h"

enum { MAHAN_POINTS = 113, MAHAN_WALK = 30, MAHAN_TERMS = 22 };

#define MAHAN_END 14.0
#define MAHAN_STEP 0.25
/* Beyond, the line has no value: more than the series are good for, and than any metal has. */
#define MAHAN_LEAST -0.5
#define MAHAN_MOST 4.0

/* U, U' and their slopes by alpha. */
typedef struct mahan_point {
    double value[L], slope[L], value_by_alpha[L], slope_by_alpha[L];
} mahan_point;

/* What a row holds. The height of the right series is `top`. */
typedef struct mahan_row {
    double sign[L], ratio[L], log_ratio[L], alpha[L], inverse[L], scale[L];
    double top[L], top_by_alpha[L];
    int reached, has_top;
    mahan_point points[MAHAN_POINTS];
} mahan_row;

/* At a place: the line over A / SD, its first two derivatives by z, and the slope by alpha. The
 * last one is r alpha (line of alpha - line of alpha + 1), the slope by ln r that remains at
 * xi = 0. */
typedef struct mahan_lanes {
    double m[L], m1[L], m2[L], by_alpha[L], by_xi[L];
} mahan_lanes;

/* Within low ... high, low where it is NaN. */
static ALWAYS_INLINE double mahan_within(double value, double low, double high)
{
    value = value > low ? value : low;
    return value < high ? value : high;
}

/* sum_k (a)_2k / k! q^k, and its slope by a. */
static ALWAYS_INLINE double mahan_series(double a, double q, double *by_a)
{
    double sum = 1.0, slope = 0.0;
    for (int k = MAHAN_TERMS - 1; k >= 0; k--) {
        double at = a + 2 * k, share = q * (1.0 / (k + 1));
        double step = share * (at * (at + 1.0));
        slope = v_sum_of_products(step, slope, share * (2.0 * at + 1.0), sum);
        sum = 1.0 + step * sum;
    }
    *by_a = slope;
    return sum;
}

/* One step of Taylor's series at w, for the term k of U and of U', times powers of `run`. */
static ALWAYS_INLINE void mahan_term(int k, double w, double alpha, double run, mahan_point *term,
                                     int l, int want)
{
    double share = run * (1.0 / (k + 1)), index = alpha + k;
    double value = term->value[l], slope = term->slope[l];
    term->value[l] = share * slope;
    term->slope[l] = share * v_sum_of_products(w, slope, index, value);
    if (want) {
        double by_alpha = term->value_by_alpha[l];
        double grown = v_sum_of_products(w, term->slope_by_alpha[l], index, by_alpha);
        term->value_by_alpha[l] = share * term->slope_by_alpha[l];
        term->slope_by_alpha[l] = share * (grown + value);
    }
}

static ALWAYS_INLINE void mahan_add(const mahan_point *term, mahan_point *sum, int l, int want)
{
    sum->value[l] += term->value[l];
    sum->slope[l] += term->slope[l];
    if (want) {
        sum->value_by_alpha[l] += term->value_by_alpha[l];
        sum->slope_by_alpha[l] += term->slope_by_alpha[l];
    }
}

static void mahan_prepare(const double *p, mahan_row *row)
{
    mahan_point *first = &row->points[0];
    row->reached = row->has_top = 0;
    FOR_LANES {
        double xi = P(4), size = fabs(xi);
        double inverse = v_clamp(1.0 / P(2), 1e300), ratio = v_clamp(P(2) / size, 1e150);
        row->sign[l] = xi < 0.0 ? -1.0 : 1.0;
        row->inverse[l] = inverse;
        row->scale[l] = v_clamp(P(0) * inverse, 1e300);
        row->ratio[l] = ratio < 1e-300 ? 1e-300 : ratio;
        row->log_ratio[l] = v_log(row->ratio[l]);
        double alpha = row->alpha[l] = mahan_within(P(3), MAHAN_LEAST, MAHAN_MOST);
        double q = -0.5 / (MAHAN_END * MAHAN_END), by_0, by_1;
        double sum = mahan_series(alpha, q, &by_0), next = mahan_series(alpha + 1.0, q, &by_1);
        double log_end = v_log(MAHAN_END), power = v_exp(-alpha * log_end);
        double slope = power / MAHAN_END;
        first->value[l] = power * sum;
        first->slope[l] = alpha * slope * next;
        first->value_by_alpha[l] = power * (by_0 - log_end * sum);
        first->slope_by_alpha[l] = slope * (next + alpha * (by_1 - log_end * next));
    }
}

/* Fills the points up to `last`. */
static void mahan_walk(mahan_row *row, int last)
{
    for (; row->reached < last; row->reached++) {
        const double w = row->reached * MAHAN_STEP - MAHAN_END;
        const double shrink = w < 0.0 ? 1.0 : v_exp(-MAHAN_STEP * (w + 0.5 * MAHAN_STEP));
        mahan_point term = row->points[row->reached], sum = term;
        for (int k = 0; k < MAHAN_WALK; k++)
            FOR_LANES {
                mahan_term(k, w, row->alpha[l], MAHAN_STEP, &term, l, 1);
                mahan_add(&term, &sum, l, 1);
            }
        FOR_LANES {
            sum.value[l] *= shrink;
            sum.slope[l] *= shrink;
            sum.value_by_alpha[l] *= shrink;
            sum.slope_by_alpha[l] *= shrink;
        }
        row->points[row->reached + 1] = sum;
    }
}

/* The height of the right series, which the last point gives. */
static void mahan_end(mahan_row *row)
{
    if (row->has_top)
        return;
    row->has_top = 1;
    mahan_walk(row, MAHAN_POINTS - 1);
    const mahan_point *last = &row->points[MAHAN_POINTS - 1];
    FOR_LANES {
        double by_b, log_end = v_log(MAHAN_END);
        double sum = mahan_series(1.0 - row->alpha[l], 0.5 / (MAHAN_END * MAHAN_END), &by_b);
        double power = v_exp((1.0 - row->alpha[l]) * log_end) / sum, value = last->value[l];
        row->top[l] = value * power;
        row->top_by_alpha[l] = (last->value_by_alpha[l] - value * (log_end - by_b / sum)) * power;
    }
}

/* ln(r / (r - z)), z < r, which is small where r is large. */
static ALWAYS_INLINE double mahan_log_part(double z, double r)
{
    double beside = v_clamp(-z / r, 1e300), sum = 1.0 + beside;
    double lost = fabs(beside) < 1.0 ? beside - (sum - 1.0) : 0.0;
    return sum > 1e-300 ? -(v_log(sum) + lost / sum) : 0.0;
}

/* w < -14: U = |w|^-alpha S(alpha), and its derivatives are alpha |w|^-(alpha + 1) S(alpha + 1) ... */
static ALWAYS_INLINE void mahan_left(const mahan_row *row, const double *z, const double *w,
                                     int want, mahan_lanes *to)
{
    FOR_LANES {
        double away = w[l] < -MAHAN_END ? -w[l] : MAHAN_END, inverse = 1.0 / away;
        double alpha = row->alpha[l], r = row->ratio[l], q = -0.5 * inverse * inverse;
        double part = r / away, by_0, by_1, by_2, log_part = mahan_log_part(z[l], r);
        double size = PYSPEC_SQRT1_2PI * v_exp(alpha * log_part - 0.5 * (z[l] * z[l]));
        double m = to->m[l] = size * mahan_series(alpha, q, &by_0);
        if (want) {
            double next = alpha * mahan_series(alpha + 1.0, q, &by_1);
            double third = alpha * (alpha + 1.0) * mahan_series(alpha + 2.0, q, &by_2);
            double slope = to->m1[l] = size * inverse * next - z[l] * m;
            to->m2[l] = (alpha - 1.0) * m - z[l] * slope - size * part * next;
            to->by_alpha[l] = m * log_part + size * by_0;
            to->by_xi[l] = size * part * (inverse * third - z[l] * next);
        }
    }
}

static ALWAYS_INLINE void mahan_middle(const mahan_row *row, const double *z, const double *w,
                                       int want, mahan_lanes *to)
{
    mahan_point sum, term;
    double centre[L], run[L];
    FOR_LANES {
        double place = mahan_within(w[l], -MAHAN_END, MAHAN_END) + MAHAN_END;
        int at = (int)(place / MAHAN_STEP + 0.5);
        at = at < row->reached ? at : row->reached;
        centre[l] = at * MAHAN_STEP - MAHAN_END;
        run[l] = v_clamp((z[l] - centre[l]) - row->ratio[l], 0.5 * MAHAN_STEP);
        term.value[l] = row->points[at].value[l];
        term.slope[l] = row->points[at].slope[l];
        term.value_by_alpha[l] = row->points[at].value_by_alpha[l];
        term.slope_by_alpha[l] = row->points[at].slope_by_alpha[l];
    }
    sum = term;
    for (int k = 0; k < MAHAN_TERMS; k++)
        FOR_LANES {
            mahan_term(k, centre[l], row->alpha[l], run[l], &term, l, want);
            mahan_add(&term, &sum, l, want);
        }
    FOR_LANES {
        double alpha = row->alpha[l], r = row->ratio[l], at = z[l];
        double held = centre[l] > 0.0 ? centre[l] : 0.0;
        double power = -0.5 * ((at - held) * (at + held));
        double size = PYSPEC_SQRT1_2PI * v_exp(alpha * row->log_ratio[l] + power);
        double m = to->m[l] = size * sum.value[l];
        if (want) {
            double next = size * sum.slope[l];
            double slope = to->m1[l] = next - at * m;
            to->m2[l] = (alpha - 1.0) * m - at * slope - r * next;
            to->by_alpha[l] = m * row->log_ratio[l] + size * sum.value_by_alpha[l];
            to->by_xi[l] = r * (alpha * m - r * next);
        }
    }
}

/* w > 14: V = U exp(-w^2 / 2) = top w^(alpha - 1) R(alpha), its derivatives are those of alpha - 1
 * and of alpha - 2. */
static ALWAYS_INLINE void mahan_right(const mahan_row *row, const double *z, const double *w,
                                      int want, mahan_lanes *to)
{
    FOR_LANES {
        double at = w[l] > MAHAN_END ? w[l] : MAHAN_END, inverse = 1.0 / at;
        double b = 1.0 - row->alpha[l], r = row->ratio[l], q = 0.5 * inverse * inverse;
        double log_part = v_log(r * at), by_0, by_1, by_2, by_3;
        double decay = row->alpha[l] * log_part - r * (z[l] - 0.5 * r);
        double size = PYSPEC_SQRT1_2PI * v_exp(decay), height = size * row->top[l];
        double shape = inverse * mahan_series(b, q, &by_0);
        double m = to->m[l] = height * shape;
        if (want) {
            double lower = -b * height * inverse * inverse * mahan_series(b + 1.0, q, &by_1);
            double third = -(b + 1.0) * inverse * mahan_series(b + 2.0, q, &by_2);
            double upper = height * mahan_series(b - 1.0, q, &by_3);
            third *= -b * height * inverse * inverse;
            to->m1[l] = lower - r * m;
            to->m2[l] = (third - 2.0 * r * lower) + r * (r * m);
            to->by_alpha[l] = m * log_part + size * row->top_by_alpha[l] * shape -
                              height * inverse * by_0;
            to->by_xi[l] = r * (row->alpha[l] * m - r * upper);
        }
    }
}

/* Takes the lanes of `mask` from `from`. */
static ALWAYS_INLINE void mahan_take(const uint64_t *mask, int want, const mahan_lanes *from,
                                     mahan_lanes *to)
{
    FOR_LANES {
        to->m[l] = pick(mask[l], to->m[l], from->m[l]);
        if (want) {
            to->m1[l] = pick(mask[l], to->m1[l], from->m1[l]);
            to->m2[l] = pick(mask[l], to->m2[l], from->m2[l]);
            to->by_alpha[l] = pick(mask[l], to->by_alpha[l], from->by_alpha[l]);
            to->by_xi[l] = pick(mask[l], to->by_xi[l], from->by_xi[l]);
        }
    }
}

/* The line at z. What no lane needs is left out: no lane's bits depend on it. */
static ALWAYS_INLINE void mahan_vector(mahan_row *row, const double *z, int want, mahan_lanes *to)
{
    mahan_lanes other;
    double w[L];
    uint64_t left[L], right[L], any_left = 0, any_right = 0, any_middle = 0;
    int last = 0;
    FOR_LANES {
        w[l] = z[l] - row->ratio[l];
        left[l] = mask_of(w[l] < -MAHAN_END);
        right[l] = mask_of(w[l] > MAHAN_END);
        any_left |= left[l];
        any_right |= right[l];
        any_middle |= ~(left[l] | right[l]);
        double place = mahan_within(w[l], -MAHAN_END, MAHAN_END) + MAHAN_END;
        int at = (int)(place / MAHAN_STEP + 0.5);
        last = at > last ? at : last;
    }
    *to = (mahan_lanes){0};
    if (any_middle) {
        mahan_walk(row, last);
        mahan_middle(row, z, w, want, to);
    }
    if (any_left) {
        mahan_left(row, z, w, want, &other);
        mahan_take(left, want, &other, to);
    }
    if (any_right) {
        mahan_end(row);
        mahan_right(row, z, w, want, &other);
        mahan_take(right, want, &other, to);
    }
}

/* A Gaussian blurs every function by its second derivative: by SD there is one curvature. */
KERNEL(Mahan)
{
    mahan_row row;
    mahan_prepare(p, &row);
    FOR_VECTORS {
        double z[L];
        mahan_lanes line;
        FOR_LANES z[l] = v_clamp(row.sign[l] * (P(1) - X) * row.inverse[l], 1e150);
        mahan_vector(&row, z, want, &line);
        FOR_LANES {
            int is_out = P(3) < MAHAN_LEAST || P(3) > MAHAN_MOST || P(3) != P(3);
            double none = is_out ? NAN : 0.0, scale = row.scale[l];
            y[AT] = scale * line.m[l] + none;
            if (want) {
                double steep = v_clamp(scale * row.inverse[l], 1e300);
                d[0][AT] = row.inverse[l] * line.m[l] + none;
                d[1][AT] = v_clamp(row.sign[l] * (steep * line.m1[l]), 1e300) + none;
                d[2][AT] = v_clamp(steep * line.m2[l], 1e300) + none;
                d[3][AT] = scale * line.by_alpha[l] + none;
                d[4][AT] = v_clamp(-row.sign[l] * (steep * line.by_xi[l]), 1e300) + none;
            }
        }
    }
}
