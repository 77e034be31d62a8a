/* faddeeva.h: w(z) = exp(-z^2) erfc(-iz), z = x + iy, y >= 0, for PYSPEC_LANES points side by side.
 * It gives the real part V with the derivatives V_x, V_y, V_xx and the imaginary part.
 *
 * Near 0, |z| < 8: the integral (i/pi) int exp(-t^2) / (z - t) dt by the trapezoidal rule of step
 * 1/2 and its pole term. Nodes are k/2 or (k + 1/2)/2. A lane takes those that keep off x, which
 * makes the pole term harmless (D. B. Hunter & T. Regan, Math. Comp. 26, 539 (1972); M. Al Azah &
 * S. N. Chandler-Wilde, SIAM J. Numer. Anal. 59, 2346 (2021)). The real part is a sum of positive
 * terms: its relative error stays small if V is far below Im w.
 *
 * Far out, |z| >= 8: the asymptotic series in v = 1/z^2. Let S = sum_k c_k v^k = 1 + v T and
 * T = 1/2 + v T2. Then w = i S / (sqrt(pi) z), w' = -2 i v T / sqrt(pi) and
 * w'' = 2 i v (2 T2 - T) / (sqrt(pi) z). Nothing cancels, however far out.
 *
 * V has the same bits whether the derivatives are wanted or not: v_sum_of_products.
 *
 * Relative error of V <= 3e-14 for |x| <= 1e3, 0 <= y <= 1e300 (tests/functions/test_vmath.py).
 */
#ifndef PYSPEC_FADDEEVA_H
#define PYSPEC_FADDEEVA_H

#include "math/vmath.h"

typedef struct w_lanes {
    double v[L], im[L], dx[L], dy[L], dxx[L];
} w_lanes;

/* Squared nodes and their weights exp(-t^2) (half of it for t = 0), t = (k + 1/2)/2 and k/2. */
#define W_NODES(NODE)                                                                              \
    NODE(0.0625, 0.9394130628134758, 0.0, 0.5)                                                     \
    NODE(0.5625, 0.569782824730923, 0.25, 0.7788007830714049)                                      \
    NODE(1.5625, 0.2096113871510978, 1.0, 0.36787944117144233)                                     \
    NODE(3.0625, 0.04677062238395898, 2.25, 0.10539922456186433)                                   \
    NODE(5.0625, 0.006329715427485747, 4.0, 0.01831563888873418)                                   \
    NODE(7.5625, 0.0005195746821548384, 6.25, 0.0019304541362277093)                               \
    NODE(10.5625, 2.586810022265412e-05, 9.0, 0.00012340980408667956)                              \
    NODE(14.0625, 7.811489408304491e-07, 12.25, 4.785117392129009e-06)                             \
    NODE(18.0625, 1.4307241918567688e-08, 16.0, 1.1253517471925912e-07)                            \
    NODE(22.5625, 1.5893910094516368e-10, 20.25, 1.6052280551856116e-09)                           \
    NODE(27.5625, 1.0709232382508077e-12, 25.0, 1.3887943864964021e-11)                            \
    NODE(33.0625, 4.37661850287085e-15, 30.25, 7.287724095819692e-14)                              \
    NODE(39.0625, 1.0848552640429378e-17, 36.0, 2.3195228302435696e-16)

/* Coefficients c_k = (2k - 1)!! / 2^k of the asymptotic series: k = 14 and 15 down to 2, 3. */
#define W_SERIES(TERM)                                                                             \
    TERM(13028445231.742859, 188912455860.27145)                                                   \
    TERM(77205601.37329102, 965070017.1661377)                                                     \
    TERM(639383.8623046875, 6713530.554199219)                                                     \
    TERM(7918.06640625, 67303.564453125)                                                           \
    TERM(162.421875, 1055.7421875)                                                                 \
    TERM(6.5625, 29.53125)                                                                         \
    TERM(0.75, 1.875)

/* Real and imaginary part of w for |z| < 8; garbage, but no trap, elsewhere. p = exp(-4 pi y). */
static ALWAYS_INLINE void w_near(double x, double y, double p, int want, double *re, double *im)
{
    double z = 4.0 * x + ROUNDING_SHIFT;
    double r = 2.0 * x - 0.5 * (z - ROUNDING_SHIFT); /* |r| <= 1/4, from the nearest half step */
    uint64_t whole = 0u - (bits_of(z) & 1u);         /* the nodes k/2 keep off x */
    double sx = x * x, sy = y * y;
    double X2 = sx - sy, fourfold_sx = 4.0 * sx;
    double twice_sx = 2.0 * sx, twice_sy = 2.0 * sy; /* |z|^2 + t^2 = 2 x^2 - e */
    double up = 0.0, up_im = 0.0, down = 1.0;
#define W_TERM(half_t2, half_weight, whole_t2, whole_weight)                                       \
    {                                                                                              \
        double t2 = pick(whole, half_t2, whole_t2);                                                \
        double weight = pick(whole, half_weight, whole_weight) * down;                             \
        double e = X2 - t2;                                                                        \
        double D = v_sum_of_products(e, e, fourfold_sx, sy);                                       \
        up = v_sum_of_products(up, D, weight, twice_sx - e);                                       \
        if (want)                                                                                  \
            up_im = v_sum_of_products(up_im, D, weight, twice_sy + e);                             \
        down = down * D;                                                                           \
    }
    W_NODES(W_TERM)
#undef W_TERM
    double scale = (1.0 / PYSPEC_PI) / down; /* 2 h / pi with the step h = 1/2 */
    double s, c, sine, cosine;
    v_sincos_reduced(PYSPEC_PI * r, &s, &c);
    double s2 = 2.0 * s * c, c2 = 1.0 - 2.0 * s * s; /* of 2 pi r, c2 >= 0 */
    v_sincos_near(2.0 * x * y, &sine, &cosine);
    double pole = 2.0 * v_exp_inside((sy - sx) - 4.0 * PYSPEC_PI * y) / (1.0 + p * (p + 2.0 * c2));
    pole = keep(mask_of(y < 2.0 * PYSPEC_PI), pole);
    double turn = v_sum_of_products(p + c2, cosine, s2, sine);
    *re = v_sum_of_products(scale * y, up, pole, turn);
    if (want) {
        double turn_im = v_sum_of_products(s2, cosine, -(p + c2), sine);
        *im = v_sum_of_products(scale * x, up_im, pole, turn_im);
    }
}

/* The lanes of `to` for |z| >= 8. gauss = exp(-x^2) where y < 1, else 0. */
static ALWAYS_INLINE void w_far(double x, double y, double gauss, int want, int l, w_lanes *to)
{
    double inverse = 1.0 / v_square_sum(x, y);
    double a = x * inverse, b = -y * inverse; /* 1/z */
    double vr = v_sum_of_products(a, a, -b, b), vi = 2.0 * a * b;
    /* T2 = A(v^2) + v B(v^2), with real coefficients: each the remainder (a - ur a') + i ui a'
     * of the division by the quadratic (u - v^2)(u - conj v^2). */
    double ur = v_sum_of_products(vr, vr, -vi, vi), ui = 2.0 * vr * vi;
    double twice = 2.0 * ur, square = v_square_sum(ur, ui);
    double a1 = 0.0, a2 = 0.0, b1 = 0.0, b2 = 0.0;
#define W_TERM(even, odd)                                                                          \
    {                                                                                              \
        double a0 = ((even) - square * a2) + twice * a1;                                           \
        double b0 = ((odd) - square * b2) + twice * b1;                                            \
        a2 = a1, a1 = a0, b2 = b1, b1 = b0;                                                        \
    }
    W_SERIES(W_TERM)
#undef W_TERM
    double br = b1 - ur * b2, bi = ui * b2;
    double t2r = (a1 - ur * a2) + v_sum_of_products(vr, br, -vi, bi);
    double t2i = ui * a2 + v_sum_of_products(vr, bi, vi, br);
    double tr = 0.5 + v_sum_of_products(vr, t2r, -vi, t2i);
    double ti = v_sum_of_products(vr, t2i, vi, t2r);
    double pr = v_sum_of_products(vr, tr, -vi, ti); /* v T */
    double pi = v_sum_of_products(vr, ti, vi, tr);
    const double k = 1.0 / PYSPEC_SQRT_PI;
    to->v[l] = gauss - k * v_sum_of_products(a, pi, b, 1.0 + pr);
    if (want) {
        to->im[l] = k * v_sum_of_products(a, 1.0 + pr, -b, pi);
        double gr = 2.0 * t2r - tr, gi = 2.0 * t2i - ti;
        double qr = v_sum_of_products(vr, gr, -vi, gi);
        double qi = v_sum_of_products(vr, gi, vi, gr);
        to->dx[l] = v_sum_of_products(2.0 * k, pi, -2.0 * x, gauss);
        to->dy[l] = 2.0 * k * pr;
        to->dxx[l] = (4.0 * x * x - 2.0) * gauss - 2.0 * k * v_sum_of_products(a, qi, b, qr);
    }
}

/* V of L points, |x| <= 1e150 and 0 <= y <= 1e150; with `want` also Im w, V_x, V_y, V_xx. NaN gives
 * NaN. p = exp(-4 pi y). What no lane needs is left out: no lane's bits depend on it. */
static ALWAYS_INLINE void w_vector(const double *x, const double *y, const double *p, int want,
                                   w_lanes *to)
{
    uint64_t far[L], any_near = 0, any_far = 0, any_gauss = 0;
    double gauss[L] = {0};
    IN_LANES {
        double R = v_square_sum(x[l], y[l]);
        far[l] = ~mask_of(R < 64.0);
        any_near |= ~far[l];
        any_far |= far[l];
        any_gauss |= far[l] & mask_of(y[l] < 1.0) & mask_of(R < 720.0);
    }
    if (any_gauss)
        IN_LANES gauss[l] = keep(mask_of(y[l] < 1.0), v_exp(-(x[l] * x[l])));
    if (any_far)
        IN_LANES w_far(x[l], y[l], gauss[l], want, l, to);
    else
        *to = (w_lanes){0};
    if (any_near)
        IN_LANES {
            double re, im;
            w_near(x[l], y[l], p[l], want, &re, &im);
            to->v[l] = pick(far[l], re, to->v[l]);
            if (want) {
                /* w' = 2 i / sqrt(pi) - 2 z w, w'' = -2 w - 2 z w' */
                double dx = 2.0 * v_sum_of_products(y[l], im, -x[l], re);
                double dy = 2.0 * v_sum_of_products(x[l], im, y[l], re);
                dy -= 2.0 / PYSPEC_SQRT_PI;
                double dxx = -2.0 * (re + x[l] * dx + y[l] * dy);
                to->im[l] = pick(far[l], im, to->im[l]);
                to->dx[l] = pick(far[l], dx, to->dx[l]);
                to->dy[l] = pick(far[l], dy, to->dy[l]);
                to->dxx[l] = pick(far[l], dxx, to->dxx[l]);
            }
        }
}

/* w below the real axis, by w(z) = 2 exp(-z^2) - w(-z), from what stands there for (x, -y). */
static inline void w_below(double x, double y, int want, int l, w_lanes *to)
{
    const double e = 2.0 * exp((y - x) * (y + x)), cosine = cos(2.0 * x * y);
    to->v[l] = v_sum_of_products(e, cosine, -1.0, to->v[l]);
    if (want) {
        const double s = e * sin(2.0 * x * y), c = e * cosine;
        to->im[l] = to->im[l] - s;
        to->dx[l] = -2.0 * (x * c + y * s) - to->dx[l];
        to->dy[l] = 2.0 * (y * c - x * s) + to->dy[l];
    }
}

/* What L imaginary parts of any sign bring along, which many points may share. */
typedef struct w_heights {
    double y[L], up[L], p[L];
    uint64_t any_below;
} w_heights;

static ALWAYS_INLINE void w_raise(const double *y, w_heights *to)
{
    to->any_below = 0;
    IN_LANES {
        to->y[l] = y[l];
        to->up[l] = v_clamp(fabs(y[l]), 1e150);
        to->p[l] = v_exp(-4.0 * PYSPEC_PI * to->up[l]);
        to->any_below |= mask_of(y[l] < 0.0);
    }
}

/* V of any L points; with `want` also Im w, V_x and V_y. */
static ALWAYS_INLINE void w_anywhere(const double *x, const w_heights *h, int want, w_lanes *to)
{
    double across[L];
    FOR_LANES across[l] = v_clamp(x[l], 1e150);
    w_vector(across, h->up, h->p, want, to);
    for (int l = 0; h->any_below && l < L; l++)
        if (h->y[l] < 0.0)
            w_below(x[l], h->y[l], want, l, to);
}

#endif
