/* energy.c: kernels over the energy axis, value and partial derivatives together. The
 * formulas stand in ops.def, the living definitions in pyspec/functions/energy.py. */
#include "math/bell.h"
#include "isa/kernel.h"
#include "isa/vector.h"
#include "math/voigt.h"

/* 1 / width, finite for a denormal one: 0 times infinity is NaN. */
static ALWAYS_INLINE double inverse_of(double width)
{
    double inverse = 1.0 / width, finite = v_clamp(inverse, 1e300);
    return width == 0.0 ? inverse : finite;
}

static ALWAYS_INLINE void gauss_values(const pyspec_block *b, const double *restrict p,
                                       const double *width, const bell_lanes *by, double *restrict y,
                                       double *const *d, const int across, const int want,
                                       const int way)
{
    const int tame = way == BELL_TAME || way == BELL_SHORT || way == BELL_LONG;
    bell_state now = bell_idle();
    FOR_VECTORS {
        double u[L], e[L];
        IN_LANES u[l] = (X - P(1)) * width[l];
        bell_values(by, u, i, across, way, &now, e);
        IN_LANES {
            y[AT] = P(0) * e[l];
            if (want) {
                double near = tame ? u[l] : v_clamp(u[l], 1e300); /* 0 times infinity is NaN */
                d[0][AT] = e[l];
                d[1][AT] = P(0) * e[l] * near * width[l];
                d[2][AT] = P(0) * e[l] * near * near * width[l];
            }
        }
    }
}

KERNEL(Gauss)
{
    const x_range range = range_of(b, across);
    double width[L], slope[L], tame[L];
    bell_lanes by;
    FOR_LANES width[l] = inverse_of(P(2));
    FOR_LANES slope[l] = -0.5;
    FOR_LANES tame[l] = farthest(range, P(1)) * fabs(width[l]) < 37.0 ? 1.0 : 0.0; /* no denormals */
    BY_BELL_WAY(bell_begin(b, width, slope, tame, across, &by), gauss_values, b, p, width, &by, y, d,
                across, want)
}

/* A and SD on the left, SD ratio on the right; x0 itself belongs to the right. */
KERNEL(GaussAsym)
{
    double left[L], right[L];
    FOR_LANES {
        left[l] = inverse_of(P(2));
        right[l] = inverse_of(P(2) * P(3));
    }
    FOR_VECTORS {
        double from[L], width[L], e[L];
        IN_LANES {
            double near = left[l], far = right[l];
            from[l] = X - P(1); /* below 0 just where x < x0 */
            width[l] = from[l] < 0.0 ? near : far;
            double u = from[l] * width[l];
            e[l] = -0.5 * (u * u);
        }
        exp_lanes(e, 0);
        IN_LANES {
            y[AT] = P(0) * e[l];
            if (want) {
                double u = v_clamp(from[l] * width[l], 1e300);
                double by_log = P(0) * e[l] * u * u;
                d[0][AT] = e[l];
                d[1][AT] = P(0) * e[l] * u * v_clamp(width[l], 1e300);
                d[2][AT] = by_log * left[l];
                double by_ratio = by_log / P(3);
                d[3][AT] = from[l] < 0.0 ? 0.0 : by_ratio;
            }
        }
    }
}

/* log(1 + z) / z and its derivative. Near 0 by 2 / (2 + z) times the series of atanh(s) / s,
 * s = z / (2 + z), which knows no cancellation. */
static ALWAYS_INLINE void log_ratio(double z, double *ratio, double *slope)
{
    double half = 1.0 / (2.0 + z);
    double s = z * half;
    double q = s * s;
    double sum = 1.0 / 17, by_q = 8.0 / 17;
#define TERM(k) (sum = sum * q + 1.0 / (2 * (k) + 1), by_q = by_q * q + (double)(k) / (2 * (k) + 1))
    TERM(7), TERM(6), TERM(5), TERM(4), TERM(3), TERM(2), TERM(1);
#undef TERM
    sum = sum * q + 1.0;
    double far = v_log(1.0 + z) / z;
    int is_near = fabs(z) < 0.2;
    double near_slope = 2.0 * half * half * (4.0 * half * s * by_q - sum);
    *ratio = is_near ? 2.0 * half * sum : far;
    *slope = is_near ? near_slope : (1.0 / (1.0 + z) - far) / z;
}

/* With z = 2 b u and q = u log(1 + z) / z: A exp(-4 ln2 q^2). Where 1 + z <= 0 nothing is left,
 * with all derivatives, however fast exp falls there. */
KERNEL(SkewGauss)
{
    const double ln16 = 4.0 * PYSPEC_LN2;
    double width[L];
    FOR_LANES width[l] = inverse_of(P(2));
    FOR_VALUES {
        double u = v_clamp((X - P(1)) / P(2), 1e150); /* 0 times infinity is NaN */
        double z = v_clamp(2.0 * P(3) * u, 1e300);
        double inside = 1.0 + z <= 0.0 ? 0.0 : 1.0; /* 1 for NaN, which stays NaN */
        z = inside > 0.0 ? z : 0.0;
        double ratio, slope;
        log_ratio(z, &ratio, &slope);
        double q = u * ratio;
        double shape = v_exp(-ln16 * (q * q));
        shape = inside > 0.0 ? shape : 0.0;
        y[AT] = P(0) * shape;
        if (want) {
            double by_q = -2.0 * ln16 * (P(0) * shape * q);
            double by_u = by_q / (1.0 + z);
            d[0][AT] = shape;
            d[1][AT] = -by_u * width[l];
            d[2][AT] = -(by_u * u) * width[l];
            d[3][AT] = 2.0 * by_q * (u * (u * slope));
        }
    }
}

/* u is kept finite: a partial must not become 0 times infinity far outside of the peak. */
KERNEL(Lorentz)
{
    double width[L];
    FOR_LANES width[l] = inverse_of(P(2));
    FOR_VECTORS {
        double u[L], shape[L];
        IN_LANES u[l] = (X - P(1)) * width[l];
        clamp_lanes(u, 1e300);
        IN_LANES {
            shape[l] = 1.0 / (1.0 + 4.0 * u[l] * u[l]);
            y[AT] = P(0) * shape[l];
        }
        if (want) {
            double slope[L];
            IN_LANES slope[l] = 8.0 * shape[l] * (shape[l] * u[l]) * P(0);
            if (READS(0))
                IN_LANES d[0][AT] = shape[l];
            if (READS(1))
                IN_LANES d[1][AT] = slope[l] * width[l];
            if (READS(2))
                IN_LANES d[2][AT] = slope[l] * u[l] * width[l];
        }
    }
}

static ALWAYS_INLINE void gls_values(const pyspec_block *b, const double *restrict p,
                                     const double *width, const bell_lanes *by, double *restrict y,
                                     double *const *d, const int across, const int want,
                                     const int way)
{
    const double ln16 = 4.0 * PYSPEC_LN2;
    bell_state now = bell_idle();
    FOR_VECTORS {
        double from[L], gauss[L];
        IN_LANES from[l] = (X - P(1)) * width[l];
        bell_values(by, from, i, across, way, &now, gauss);
        IN_LANES {
            double u = from[l];
            double lorentz = 1.0 / (1.0 + 4.0 * (u * u));
            double shape = v_sum_of_products(1.0 - P(3), gauss[l], P(3), lorentz);
            y[AT] = P(0) * shape;
            if (want) {
                u = v_clamp(u, 1e300);
                double by_u = (1.0 - P(3)) * (2.0 * ln16 * (gauss[l] * u)) +
                              P(3) * (8.0 * lorentz * (lorentz * u));
                d[0][AT] = shape;
                d[1][AT] = P(0) * by_u * width[l];
                d[2][AT] = P(0) * by_u * u * width[l];
                d[3][AT] = P(0) * (lorentz - gauss[l]);
            }
        }
    }
}

KERNEL(GLS)
{
    const x_range range = range_of(b, across);
    double width[L], slope[L], tame[L];
    bell_lanes by;
    FOR_LANES width[l] = inverse_of(P(2));
    FOR_LANES slope[l] = -4.0 * PYSPEC_LN2;
    FOR_LANES tame[l] = farthest(range, P(1)) * fabs(width[l]) < 15.8 ? 1.0 : 0.0; /* no denormals */
    BY_BELL_WAY(bell_begin(b, width, slope, tame, across, &by), gls_values, b, p, width, &by, y, d,
                across, want)
}

static ALWAYS_INLINE void glp_values(const pyspec_block *b, const double *restrict p,
                                     const double *width, const double *tail, const bell_lanes *by,
                                     double *restrict y, double *const *d, const int across,
                                     const int want, const int way)
{
    const int tame = way == BELL_TAME || way == BELL_SHORT || way == BELL_LONG;
    bell_state now = bell_idle();
    FOR_VECTORS {
        double u[L], shape[L], inverse[L], by_u[L], scaled[L], by_x0[L];
        IN_LANES u[l] = (X - P(1)) * width[l];
        if (!tame)
            clamp_lanes(u, 1e150); /* 0 times infinity is NaN */
        bell_values(by, u, i, across, way, &now, shape);
        IN_LANES {
            inverse[l] = 1.0 / (1.0 + tail[l] * (u[l] * u[l]));
            shape[l] *= inverse[l];
            scaled[l] = tame ? P(0) * shape[l] : v_scaled(P(0), shape[l]);
            y[AT] = scaled[l];
            by_u[l] = by->slope[l] - tail[l] * inverse[l];
        }
        if (!want)
            continue;
        if (!tame)
            clamp_lanes(by_u, 1e150);
        IN_LANES by_x0[l] = scaled[l] * (by_u[l] * u[l]) * (-2.0 * width[l]);
        if (READS(0))
            IN_LANES d[0][AT] = shape[l];
        if (READS(1))
            IN_LANES d[1][AT] = by_x0[l];
        if (READS(2))
            IN_LANES d[2][AT] = by_x0[l] * u[l];
        if (READS(3))
            IN_LANES d[3][AT] =
                scaled[l] * (u[l] * u[l]) * (4.0 * PYSPEC_LN2 - 4.0 * inverse[l]);
    }
}

KERNEL(GLP)
{
    const x_range range = range_of(b, across);
    double width[L], slope[L], tail[L], tame[L];
    bell_lanes by;
    FOR_LANES width[l] = inverse_of(P(2));
    FOR_LANES {
        slope[l] = -4.0 * PYSPEC_LN2 * (1.0 - P(3));
        tail[l] = 4.0 * P(3);
        const double u = farthest(range, P(1)) * fabs(width[l]);
        const int is_mixture = (P(3) >= 0.0) & (P(3) <= 1.0);
        const int is_near = (u < 1e100) & (-slope[l] * (u * u) < 700.0);
        tame[l] = (is_mixture & is_near) ? 1.0 : 0.0;
    }
    BY_BELL_WAY(bell_begin(b, width, slope, tame, across, &by), glp_values, b, p, width, tail, &by, y,
                d, across, want)
}

/* w, the Faddeeva function, of L points for y of either sign: w(z) = 2 exp(-z^2) - conj w(x + iy)
 * where z = x - iy. */
static ALWAYS_INLINE void w_signed(const double *x, const double *y, const double *p, int want,
                                   w_lanes *to)
{
    double height[L];
    uint64_t any_negative = 0;
    FOR_LANES {
        height[l] = fabs(y[l]);
        any_negative |= bits_of(y[l] < 0.0 ? 1.0 : 0.0);
    }
    w_vector(x, height, p, want, to);
    if (any_negative)
        IN_LANES {
            double s, c, re = x[l], im = y[l];
            double e = 2.0 * v_exp((im - re) * (im + re));
            v_sincos(-2.0 * re * im, &s, &c); /* 2 exp(-z^2) = e (c + i s) */
            double gr = e * c, gi = e * s;
            double dr = -2.0 * (re * gr - im * gi), di = -2.0 * (re * gi + im * gr);
            to->v[l] = im < 0.0 ? v_sum_of_products(e, c, -1.0, to->v[l]) : to->v[l];
            if (want) {
                to->dx[l] = im < 0.0 ? dr - to->dx[l] : to->dx[l];
                to->dy[l] = im < 0.0 ? -di + to->dy[l] : to->dy[l];
                to->dxx[l] =
                    im < 0.0 ? -2.0 * (gr + re * dr - im * di) - to->dxx[l] : to->dxx[l];
            }
        }
}

static ALWAYS_INLINE void line_off_tables(const double *x, const void *tables, int want, w_lanes *to)
{
    const voigt_tables *t = tables;
    w_signed(x, t->y, t->p, want, to);
}

static int line_value(const double *x, voigt_tables *t, const uint64_t *found, const double *node,
                      const double *rest, int64_t n, w_lanes *to)
{
    return voigt_line(x, t, found, node, rest, n, 0, line_off_tables, t, to);
}

static int line_partials(const double *x, voigt_tables *t, const uint64_t *found,
                         const double *node, const double *rest, int64_t n, w_lanes *to)
{
    return voigt_line(x, t, found, node, rest, n, 1, line_off_tables, t, to);
}

/* With V = Re w(x + iy), x = (E - x0) s, y = W s / 2, s = 1 / (sqrt(2) SD): A V / V(0, y). The
 * heat equation gives V + x V_x + y V_y = -V_xx / 2, so the derivative by SD is a difference
 * of two curvatures and stays accurate where the line is nearly a Lorentzian. */
KERNEL(Voigt)
{
    double s[L], height[L], top[L], by_y[L], by_xx[L], by_sd[L];
    double x[BLOCK * L], node[BLOCK * L], rest[BLOCK * L];
    uint64_t found[BLOCK];
    w_lanes w[VOIGT_ABREAST];
    voigt_tables tables;
    FOR_LANES {
        double tiny = 1e-12 * P(3); /* a narrower SD changes no digit, but would overflow */
        double sd = (P(2) > 0.0 ? P(2) : tiny) < tiny ? tiny : P(2);
        s[l] = PYSPEC_SQRT1_2 / sd;
        by_sd[l] = v_clamp(P(2), 1e300) / sd / sd; /* 0 at SD = 0, and where SD is infinite */
        height[l] = v_clamp(0.5 * P(3) * s[l], 1e150);
    }
    voigt_begin(height, &tables);
    FOR_LANES x[l] = 0.0;
    found[0] = voigt_find(x, &tables, node, rest);
    if (want)
        line_partials(x, &tables, found, node, rest, 1, w);
    else
        line_value(x, &tables, found, node, rest, 1, w);
    FOR_LANES {
        top[l] = 1.0 / w->v[l];
        by_y[l] = want ? w->dy[l] * top[l] : 0.0;
        by_xx[l] = want ? w->dxx[l] * top[l] : 0.0;
    }
    FOR_VECTORS {
        IN_LANES x[AT] = v_clamp((X - P(1)) * s[l], 1e150);
        found[i] = voigt_find(x + i * L, &tables, node + i * L, rest + i * L);
    }
    for (int64_t begin = 0, count; begin < b->n; begin += count) {
        const int64_t at = begin * L;
        if (want)
            count = line_partials(x + at, &tables, found + begin, node + at, rest + at,
                                  b->n - begin, w);
        else
            count = line_value(x + at, &tables, found + begin, node + at, rest + at,
                               b->n - begin, w);
        for (int64_t i = begin; i < begin + count; i++) {
            const w_lanes *own = w + (i - begin);
            IN_LANES {
                double scale = P(0) * top[l];
                y[AT] = scale * own->v[l];
                if (want) {
                    d[0][AT] = own->v[l] * top[l];
                    d[1][AT] = -scale * own->dx[l] * s[l];
                    d[2][AT] = 0.5 * scale * (own->dxx[l] - own->v[l] * by_xx[l]) * by_sd[l];
                    d[3][AT] = 0.5 * scale * (own->dy[l] - own->v[l] * by_y[l]) * s[l];
                }
            }
        }
    }
}

KERNEL(Offset)
{
    (void)across;
    FOR_VALUES {
        y[AT] = P(0);
        if (want)
            d[0][AT] = 1.0;
    }
}

KERNEL(LinBack)
{
    FOR_VALUES {
        double x = X;
        double below = x < P(2) ? 1.0 : 0.0;
        double above = x > P(3) ? 1.0 : 0.0;
        double run = (x < P(2) ? P(2) : x > P(3) ? P(3) : x) - P(2);
        y[AT] = P(0) * run + P(1);
        if (want) {
            d[0][AT] = run;
            d[1][AT] = 1.0;
            d[2][AT] = (below - 1.0) * P(0);
            d[3][AT] = above * P(0);
        }
    }
}

/* Blocks arrive from high to low index; carry[0] is the sum of what lies above. What the spectrum is
 * added to, where it is, is written to its place. From the first of several spectra on, so many abreast:
 * each sum waits for the one before. Spectrum 0 is the block's own, with the slope by the factor, NULL where
 * nobody reads it; the others are `more`. Where it `weighs`, points count by their shares. Products
 * are rounded before they are added, so that all orders of the lanes give the same bits. */
static ALWAYS_INLINE void shirley_rows(const pyspec_block *b, const double *p, int64_t first, double *y,
                                       double *slope, const int count, const int adds, const int weighs)
{
    enum { PARTS = L / WIDTH, MOST = 4 };
    const double *spectrum[MOST];
    double *to[MOST], *carry[MOST];
    vector factor[PARTS], running[MOST][PARTS];
    for (int k = 0; k < PARTS; k++)
        factor[k] = load_vector(p + k * WIDTH);
    for (int c = 0; c < count; c++) {
        const int64_t other = first + c - 1;
        spectrum[c] = other < 0 ? b->spectrum : b->more[other];
        to[c] = other < 0 ? y : b->images[other];
        carry[c] = other < 0 ? b->carry : b->carries[other];
        for (int k = 0; k < PARTS; k++)
            running[c][k] = load_vector(carry[c] + k * WIDTH);
    }
    for (int64_t i = b->n - 1; i >= 0; i--) {
        for (int c = 0; c < count; c++)
            for (int k = 0; k < PARTS; k++) {
                const int64_t at = i * L + k * WIDTH;
                const vector own = load_vector(spectrum[c] + at);
                vector from_here = running[c][k];
                if (weighs) {
                    vector below = same_in_all(b->shares[2 * i]) * own;
                    vector here = same_in_all(b->shares[2 * i + 1]) * own;
                    IN_REGISTER(below);
                    IN_REGISTER(here);
                    from_here += here;
                    running[c][k] += below;
                } else {
                    running[c][k] = from_here += own;
                }
                vector value = factor[k] * from_here;
                IN_REGISTER(value);
                put_vector(to[c] + at, adds ? own + value : value, 1);
                if (c == 0 && slope)
                    put_vector(slope + at, from_here, 1);
            }
    }
    for (int c = 0; c < count; c++)
        for (int k = 0; k < PARTS; k++)
            put_vector(carry[c] + k * WIDTH, running[c][k], 1);
}

static ALWAYS_INLINE void shirley_all(const pyspec_block *b, const double *p, double *y, double *slope,
                                      const int adds, const int weighs)
{
    const int64_t n = b->n_more + 1;
    int64_t k = 0;
    for (; k + 4 <= n; k += 4)
        shirley_rows(b, p, k, y, k == 0 ? slope : NULL, 4, adds, weighs);
    for (; k + 2 <= n; k += 2)
        shirley_rows(b, p, k, y, k == 0 ? slope : NULL, 2, adds, weighs);
    if (k < n)
        shirley_rows(b, p, k, y, k == 0 ? slope : NULL, 1, adds, weighs);
}

/* One row: the lanes are abscissae. The slope by the factor is the sum itself, NULL where not asked for. */
static ALWAYS_INLINE void shirley_across(const pyspec_block *b, double factor, const double *spectrum,
                                         double *carry, double *y, double *slope)
{
    double total = carry[0];
    for (int64_t j = b->n * L - 1; j >= 0; j--) {
        const double own = j < b->n_valid ? spectrum[j] : 0.0;
        double sum = total;
        double below = own, here = own;
        if (b->shares && j < b->n_valid) {
            below *= b->shares[2 * j];
            here *= b->shares[2 * j + 1];
            IN_REGISTER(below);
            IN_REGISTER(here);
        }
        sum += here;
        total += below;
        double value = factor * sum;
        IN_REGISTER(value);
        y[j] = b->adds ? own + value : value;
        if (slope)
            slope[j] = sum;
    }
    carry[0] = total;
}

KERNEL(Shirley)
{
    double *slope = want && READS(0) ? d[0] : NULL;
    if (across) {
        for (int64_t k = 0; k < b->n_more; k++)
            shirley_across(b, p[0], b->more[k], b->carries[k], b->images[k], NULL);
        shirley_across(b, p[0], b->spectrum, b->carry, y, slope);
    } else if (b->shares) {
        if (b->adds)
            shirley_all(b, p, y, slope, 1, 1);
        else
            shirley_all(b, p, y, slope, 0, 1);
    } else if (b->adds) {
        shirley_all(b, p, y, slope, 1, 0);
    } else {
        shirley_all(b, p, y, slope, 0, 0);
    }
}
