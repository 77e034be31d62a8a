/* response.c: exact responses of the laws of motion to a Gaussian instrument of width SD, value
 * and partial derivatives. The formulas and their sources stand in
 * pyspec/functions/response.py.
 *
 * u = t - t0, k = 1 / SD, N the normal density of width SD, S its integral up to u. A response
 * G obeys dG/dSD = SD d2G/du2 (the heat equation), which gives all derivatives by the width. */
#include "math/faddeeva.h"
#include "isa/kernel.h"
#include "math/legendre.h"

static ALWAYS_INLINE double density(double u, double width)
{
    double z = u / width;
    return v_exp(-0.5 * (z * z)) * v_clamp(PYSPEC_SQRT1_2PI / width, 1e300); /* 0 times infinity is NaN */
}

static ALWAYS_INLINE double step(double u, double width)
{
    return 0.5 * v_erfc(-u / width * PYSPEC_SQRT1_2);
}

/* u / SD, so that 0 times it is 0. */
static ALWAYS_INLINE double ratio_of(double u, double width)
{
    return v_clamp(u / width, 1e150);
}

/* a + b, where both may be beyond the range with different signs. */
static ALWAYS_INLINE double sum_of(double a, double b)
{
    return v_clamp(a, 8e307) + v_clamp(b, 8e307);
}

/* One Gaussian of an instrument. Its share, P(1), is a factor of the responses. */
KERNEL(gaussIRF)
{
    FOR_VALUES {
        double u = X - P(2), z = ratio_of(u, P(0));
        y[AT] = density(u, P(0));
        if (want) {
            d[0][AT] = y[AT] * (z * z - 1.0) / P(0);
            d[1][AT] = 0.0;
            d[2][AT] = z * v_clamp(y[AT] / P(0), 1e300);
        }
    }
}

KERNEL(stepFun_gaussIRF)
{
    FOR_VALUES {
        double u = X - P(1), s = step(u, P(2)), height = P(0) + P(3);
        y[AT] = height * s;
        if (want) {
            double n = density(u, P(2));
            d[0][AT] = s;
            d[1][AT] = -height * n;
            d[2][AT] = -height * (ratio_of(u, P(2)) * n);
            d[3][AT] = s;
        }
    }
}

KERNEL(linFun_gaussIRF)
{
    FOR_VALUES {
        double u = X - P(1), s = step(u, P(2)), n = density(u, P(2));
        double ramp = v_sum_of_products(u, s, P(2), P(2) * n);
        y[AT] = v_sum_of_products(P(0), ramp, P(3), s);
        if (want) {
            d[0][AT] = ramp;
            d[1][AT] = -sum_of(P(0) * s, P(3) * n);
            d[2][AT] = sum_of(P(0) * (P(2) * n), -P(3) * (ratio_of(u, P(2)) * n));
            d[3][AT] = s;
        }
    }
}

/* 1 / sqrt(pi) - z erfcx(z), z >= 0. From 12 on, where the difference cancels, as a series. */
static ALWAYS_INLINE double erfcx_rest(double z)
{
    double at = z < 12.0 ? 12.0 : z;
    double q = 0.5 / at / at, sum = 0.0;
#define TERM(k) (sum = (2 * (k) - 1) * q * (1.0 - sum))
    TERM(12), TERM(11), TERM(10), TERM(9), TERM(8), TERM(7);
    TERM(6), TERM(5), TERM(4), TERM(3), TERM(2), TERM(1);
#undef TERM
    double near = 1.0 / PYSPEC_SQRT_PI - z * v_erfcx_positive(z);
    double far = sum / PYSPEC_SQRT_PI;
    return z < 12.0 ? near : far;
}

/* Let z = (SD / tau - u / SD) / sqrt2 and early = exp(-(u / SD)^2 / 2). The response to
 * exp(-s / tau) is early erfcx(z) / 2. The response to s exp(-s / tau) is SD early rest / sqrt2,
 * with the rest of erfcx. For z <= 0 both are sums without cancellation. */
KERNEL(expFun_gaussIRF)
{
    FOR_VALUES {
        double rate = v_clamp(1.0 / P(1), 1e300), width = P(3);
        double u = X - P(2), z = (width * rate - u / width) * PYSPEC_SQRT1_2;
        double late = z <= 0.0 ? 1.0 : 0.0;
        double shift = width * rate;
        double decay =
            v_exp(late * v_sum_of_products(0.5 * shift, shift, -u, rate)) * v_erfc(late * z);
        double early = v_exp(-0.5 * (u / width) * (u / width));
        double rise = early * v_erfcx((1.0 - late) * z);
        double e = 0.5 * (late > 0.0 ? decay : rise);
        double s = step(u, width);
        y[AT] = v_sum_of_products(P(0), e, P(4), s);
        if (want) {
            double v = ratio_of(u, width), n = density(u, width), span = width * n;
            double rest = PYSPEC_SQRT1_2 * early * erfcx_rest(late > 0.0 ? 0.0 : z);
            double late_slope = n - e * rate;
            double early_slope = rest / width - v * (e / width);
            double slope = late > 0.0 ? late_slope : early_slope;
            double late_delay = (u - shift * width) * e + width * span;
            double early_delay = width * rest;
            double delay = late > 0.0 ? late_delay : early_delay;
            double late_width = v * n + shift * slope;
            double early_width = v * slope + rest * rate;
            d[0][AT] = e;
            d[1][AT] = P(0) * (delay * rate * rate);
            d[2][AT] = -sum_of(P(0) * slope, P(4) * n);
            d[3][AT] = -sum_of(P(0) * (late > 0.0 ? late_width : early_width), P(4) * (v * n));
            d[4][AT] = s;
        }
    }
}

/* Im w(x + iy), y >= 0, from its real part and derivatives; near 0, where these cancel, by the
 * series sum (iz)^n / Gamma(n / 2 + 1). `is_near` comes from elsewhere: of a condition that stands
 * here gcc makes a branch. */
static ALWAYS_INLINE double w_imaginary(double x, double y, double v, double dx, double dy,
                                        uint64_t is_near)
{
    double cx = keep(is_near, x), cy = keep(is_near, y);
    double re = 0.08597174606442000563, im = 0.0, next;
#define TERM(term) /* + (-y + ix) times the rest */                                                \
    next = (term) - v_sum_of_products(re, cy, im, cx);                                             \
    im = v_sum_of_products(re, cx, -im, cy);                                                       \
    re = next
    TERM(1.0 / 6);
    TERM(0.30090111122547001971);
    TERM(0.5);
    TERM(0.75225277806367504926);
    TERM(1.0);
    TERM(1.12837916709551257390);
    TERM(1.0);
#undef TERM
    double by_dy = v_product_plus(-y, v, 0.5 * dy + 1.0 / PYSPEC_SQRT_PI) / x;
    double by_dx = v_product_plus(x, v, 0.5 * dx) / y;
    double far = pick(mask_of(fabs(x) > y), by_dx, by_dy);
    return pick(is_near, far, im);
}

/* Oscillations of L points: u after the onset, and of each the parameters. */
typedef struct oscillations {
    double height[L], frequency[L], phase[L], rate[L], u[L], width[L], y0[L];
} oscillations;

/* What the instrument makes of them, and its derivatives by all parameters. */
typedef struct seen_oscillations {
    double value[L], by_height[L], by_frequency[L], by_phase[L], by_rate[L], by_onset[L], by_width[L],
        by_y0[L];
} seen_oscillations;

/* Response h of exp(-lambda u), u >= 0, lambda = rate - i omega, with early = exp(-(u / SD)^2 / 2)
 * and
 *
 *     z = (omega SD + i (rate SD - u / SD)) / sqrt2.
 *
 * If Im z >= 0, h = early w(z) / 2. Otherwise h = exp((lambda SD)^2 / 2 - lambda u), the law that
 * goes on, minus the conjugate of early w / 2 with |Im z| = y. No exponent is above 0.
 *
 * Derivatives are written in w' and q = s w - i w' / 2, s = -+ u / (SD sqrt2). Then nothing
 * cancels:
 *
 *     h' = early q / (SD sqrt2),   SD h'' = -(u h' + lambda r) / SD,   r = -i SD early w' / sqrt8.
 *
 * Here r is the response of u exp(-lambda u). */
static ALWAYS_INLINE void see_oscillations(const oscillations *o, int want, seen_oscillations *to)
{
    double x[L], yy[L], decay[L], shift[L], since[L], turned[L];
    double sine[L], cosine[L], phase_sine[L], phase_cosine[L], im[L];
    uint64_t late[L], is_near[L];
    w_lanes w;
    IN_LANES {
        double rate = o->rate[l], width = o->width[l];
        x[l] = v_clamp(PYSPEC_TWO_PI * o->frequency[l] * width * PYSPEC_SQRT1_2, 1e150);
        shift[l] = keep(mask_of(rate != 0.0), v_clamp(rate * width, 1e150));
        double y = (shift[l] - o->u[l] / width) * PYSPEC_SQRT1_2;
        late[l] = mask_of(y < 0.0);
        yy[l] = v_clamp(fabs(y), 1e150);
        is_near[l] = mask_of(v_square_sum(x[l], yy[l]) < 1e-4);
        decay[l] = v_exp(-4.0 * PYSPEC_PI * yy[l]);
        since[l] = keep(late[l], o->u[l] - shift[l] * width);
        turned[l] = PYSPEC_TWO_PI * o->frequency[l] * since[l];
    }
    w_vector(x, yy, decay, 1, &w);
    v_sincos_lanes(turned, sine, cosine);
    v_sincos_lanes(o->phase, phase_sine, phase_cosine);
    IN_LANES im[l] = w_imaginary(x[l], yy[l], w.v[l], w.dx[l], w.dy[l], is_near[l]);
    IN_LANES {
        double u = o->u[l], omega = PYSPEC_TWO_PI * o->frequency[l], width = o->width[l];
        double rate = o->rate[l], a = shift[l];
        double far = v_clamp(u / width * PYSPEC_SQRT1_2, 1e150), early = v_exp(-far * far);
        double after = pick(late[l], 1.0, -1.0);
        double exponent = v_sum_of_products(0.5 * a, a, -u, rate) - x[l] * x[l];
        double damp = keep(late[l], v_exp(exponent));
        double dr = damp * cosine[l], di = damp * sine[l];
        double hr = v_product_plus(after * (0.5 * early), w.v[l], dr);
        double hi = v_product_plus(0.5 * early, im[l], di);
        double c = phase_cosine[l], s = phase_sine[l];
        double onset = step(u, width);
        double turned_im = v_sum_of_products(s, hr, c, hi);
        double turned_re = v_sum_of_products(c, hr, -s, hi);
        double height = o->height[l], y0 = o->y0[l];
        to->value[l] = v_sum_of_products(height, turned_im, y0, onset);
        if (want) {
            double n = density(u, width), side = -after * far;
            double qr = side * w.v[l] - 0.5 * w.dy[l], qi = side * im[l] - 0.5 * w.dx[l];
            double inverse = early * PYSPEC_SQRT1_2 / width;
            double spread = 0.5 * PYSPEC_SQRT1_2 * early * width;
            double turn = PYSPEC_SQRT1_2 * 2.0 * x[l];
            double gr = inverse * qr - omega * di - rate * dr;
            double gi = after * (inverse * qi) + omega * dr - rate * di;
            double rr = since[l] * dr - turn * di * width - spread * w.dy[l];
            double ri = since[l] * di + turn * dr * width - after * (spread * w.dx[l]);
            double half = after * (0.5 * PYSPEC_SQRT1_2 * a);
            double tr = 0.5 * x[l] * w.dx[l] + side * qr + half * w.dy[l];
            double ti = side * qi - 0.5 * x[l] * w.dy[l] + half * w.dx[l];
            double square = (a - turn) * (a + turn), twice = 2.0 * a * turn;
            double cr = after * (early * tr / width) + (square * dr + twice * di) / width;
            double ci = early * ti / width + (square * di - twice * dr) / width;
            to->by_height[l] = turned_im;
            to->by_frequency[l] = PYSPEC_TWO_PI * height * (c * rr - s * ri);
            to->by_phase[l] = height * turned_re;
            to->by_rate[l] = -height * (s * rr + c * ri);
            to->by_onset[l] = -sum_of(height * (s * gr + c * gi), y0 * n);
            to->by_width[l] = sum_of(height * (s * cr + c * ci), -y0 * (ratio_of(u, width) * n));
            to->by_y0[l] = onset;
        }
    }
}

KERNEL(sinFun_gaussIRF)
{
    FOR_VECTORS {
        oscillations o;
        seen_oscillations seen;
        IN_LANES {
            o.height[l] = P(0), o.frequency[l] = P(1), o.phase[l] = P(2), o.rate[l] = 0.0;
            o.u[l] = X - P(3), o.width[l] = P(4), o.y0[l] = P(5);
        }
        see_oscillations(&o, want, &seen);
        IN_LANES {
            y[AT] = seen.value[l];
            if (want) {
                d[0][AT] = seen.by_height[l];
                d[1][AT] = seen.by_frequency[l];
                d[2][AT] = seen.by_phase[l];
                d[3][AT] = seen.by_onset[l];
                d[4][AT] = seen.by_width[l];
                d[5][AT] = seen.by_y0[l];
            }
        }
    }
}

KERNEL(dampedSinFun_gaussIRF)
{
    FOR_VECTORS {
        oscillations o;
        seen_oscillations seen;
        IN_LANES {
            o.height[l] = P(0), o.frequency[l] = P(1), o.phase[l] = P(2);
            o.rate[l] = v_clamp(1.0 / P(3), 1e300);
            o.u[l] = X - P(4), o.width[l] = P(5), o.y0[l] = P(6);
        }
        see_oscillations(&o, want, &seen);
        IN_LANES {
            y[AT] = seen.value[l];
            if (want) {
                d[0][AT] = seen.by_height[l];
                d[1][AT] = seen.by_frequency[l];
                d[2][AT] = seen.by_phase[l];
                d[3][AT] = -(seen.by_rate[l] * o.rate[l] * o.rate[l]);
                d[4][AT] = seen.by_onset[l];
                d[5][AT] = seen.by_width[l];
                d[6][AT] = seen.by_y0[l];
            }
        }
    }
}

KERNEL(erfFun_gaussIRF)
{
    FOR_VALUES {
        double wide = P(1) > P(3) ? P(1) : P(3), narrow = P(1) > P(3) ? P(3) : P(1);
        double share = narrow / wide, root = sqrt(1.0 + share * share), width = wide * root;
        double u = X - P(2), s = step(u, width);
        y[AT] = P(0) * s + P(4);
        if (want) {
            double n = density(u, width), by_width = ratio_of(u, width) * n;
            /* Not P / width: a width may be infinite, where the value is that at the onset. */
            double of_law = (P(1) > P(3) ? 1.0 : share) / root;
            double of_instrument = (P(1) > P(3) ? share : 1.0) / root;
            d[0][AT] = s;
            d[1][AT] = -P(0) * (by_width * of_law);
            d[2][AT] = -P(0) * n;
            d[3][AT] = -P(0) * (by_width * of_instrument);
            d[4][AT] = 1.0;
        }
    }
}

/* Beyond this many widths a Gaussian is below 1e-16 of its peak. */
#define REACH 8.6

/* What a law without a closed form is integrated to: G, SD dG/du, SD^2 d2G/du2, dG/df. */
typedef struct moments {
    double value, slope, curvature, by_frequency;
} moments;

/* The law at s = u + SD v is integrated against the density of v: a narrow instrument far from the
 * onset keeps all digits. Near the onset of sqrt(s) the variable is r = sqrt(s / SD) instead of v.
 * A law that hardly changes within the instrument (`slow`) uses its own derivatives, plus the
 * contribution of its onset. Any other law uses the derivatives of the density. */
typedef struct integrand {
    double u, width, omega;
    int root; /* sqrt(s); otherwise sin(omega s) / (omega s) */
    int near, slow;
} integrand;

/* sin(p) / p and its first and second derivative, by their series for |p| < 1. */
static void cardinal_sine(double p, double *value, double *slope, double *curvature)
{
    if (fabs(p) < 1.0) {
        const double q = p * p;
        double term = 1.0; /* (-1)^k p^2k / (2k + 1)! */
        *value = 1.0;
        *slope = *curvature = 0.0;
        for (int k = 1; k < 10; k++) {
            double below = -term / ((2 * k + 1) * (2 * k)); /* the term over p^2 */
            term = below * q;
            *value += term;
            *slope += 2 * k * below * p;
            *curvature += 2 * k * (2 * k - 1) * below;
        }
        return;
    }
    *value = sin(p) / p;
    *slope = (cos(p) - *value) / p;
    *curvature = -*value - 2.0 * *slope / p;
}

static void sample(const integrand *f, double at, double weight, moments *sum)
{
    double v = f->near ? at * at - f->u / f->width : at;
    double s = f->u + f->width * v, turn = f->omega * f->width;
    double law, slope = 0.0, curvature = 0.0, n = weight * density(v, 1.0);
    if (f->near) {
        law = 2.0 * at * at * sqrt(f->width);
    } else if (f->root) {
        double share = f->width / s;
        law = sqrt(s);
        slope = 0.5 * law * share;
        curvature = -0.5 * slope * share;
    } else {
        cardinal_sine(f->omega * s, &law, &slope, &curvature);
        sum->by_frequency += PYSPEC_TWO_PI * s * slope * n;
        slope *= turn;
        curvature *= turn * turn;
    }
    sum->value += law * n;
    sum->slope += f->slow ? slope * n : law * n * v;
    sum->curvature += f->slow ? curvature * n : law * n * (v * v - 1.0);
}

/* From this omega SD on, sin(omega s) / (omega s) turns too often for quadrature. */
#define FAST 1300.0

/* The integral for large omega, by parts: N / omega (pi/2 + a He1 - a^3 He3 / 3 + a^5 He5 / 5),
 * a = 1 / (omega SD). The Hermite polynomials He_n of z = u / SD are derivatives of the normal
 * density N. */
static moments fast_cardinal_sine(const integrand *f)
{
    const double z = f->u / f->width;
    if (!(fabs(z) < 40.0)) /* N is 0 there */
        return (moments){0.0, 0.0, 0.0, 0.0};
    const double n = density(f->u, f->width), omega = fabs(f->omega);
    const double a = 1.0 / (omega * f->width), b = -a * a * a / 3.0, c = a * a * a * a * a / 5.0;
    const double half_pi = 0.5 * PYSPEC_PI;
    double he[8] = {1.0, z};
    for (int k = 1; k < 7; k++)
        he[k + 1] = z * he[k] - k * he[k - 1];
    moments m;
    m.value = n / omega * (half_pi + a * he[1] + b * he[3] + c * he[5]);
    m.slope = -n / omega * (half_pi * he[1] + a * he[2] + b * he[4] + c * he[6]);
    m.curvature = n / omega * (half_pi * he[2] + a * he[3] + b * he[5] + c * he[7]);
    m.by_frequency = -PYSPEC_TWO_PI * n / omega *
                     (half_pi + 2.0 * a * he[1] + 4.0 * b * he[3] + 6.0 * c * he[5]);
    m.by_frequency = v_clamp(m.by_frequency / f->omega, 1e300); /* 0 times infinity is NaN */
    return m;
}

static moments integrate(integrand *f)
{
    if (!f->root && fabs(f->omega) * f->width > FAST)
        return fast_cardinal_sine(f);
    moments sum = {0.0, 0.0, 0.0, 0.0};
    const double z = f->u / f->width;
    if (z != z || f->omega != f->omega)
        return (moments){NAN, NAN, NAN, NAN};
    if (z < -40.0) /* far before the onset */
        return sum;
    /* As far as what lies before the onset is below 1e-16 of the whole. */
    double low = -z > -REACH ? -z : -REACH;
    double high = low > 0.0 ? sqrt(REACH * REACH + low * low) : REACH;
    double turns = f->root ? 0.0 : fabs(f->omega) * f->width * (high - low) / 6.0;
    /* Of a width below 0, whose results nobody gets, `turns` may be beyond an int. */
    const int panels = 6 + (turns < 4000.0 ? (int)v_clamp(turns, 4000.0) : 4000);
    f->near = f->root && z < 20.0;
    f->slow = f->root ? !f->near : fabs(f->omega) * f->width < 1.0;
    if (f->slow && !f->root) { /* the law rises to 1 */
        sum.slope = density(z, 1.0);
        sum.curvature = -v_clamp(z, 1e150) * sum.slope;
    }
    low = f->near ? sqrt(low + z) : low;
    high = f->near ? sqrt(high + z) : high;
    for (int k = 0; k < panels; k++) {
        double half = (high - low) / panels / 2.0, middle = low + (2 * k + 1) * half;
        for (int q = 0; q < LEGENDRE_HALF; q++) {
            sample(f, middle - half * legendre_point[q], half * legendre_weight[q], &sum);
            sample(f, middle + half * legendre_point[q], half * legendre_weight[q], &sum);
        }
    }
    return sum;
}

KERNEL(sinDivX_gaussIRF)
{
    FOR_VECTORS FOR_LANES {
        double u = X - P(2), s = step(u, P(3));
        integrand f = {.u = u, .width = P(3), .omega = PYSPEC_TWO_PI * P(1)};
        moments m = integrate(&f);
        y[AT] = v_sum_of_products(P(0), m.value, P(4), s);
        if (want) {
            double n = density(u, P(3));
            d[0][AT] = m.value;
            d[1][AT] = P(0) * m.by_frequency;
            d[2][AT] = -sum_of(P(0) * (m.slope / P(3)), P(4) * n);
            d[3][AT] = sum_of(P(0) * (m.curvature / P(3)), -P(4) * (ratio_of(u, P(3)) * n));
            d[4][AT] = s;
        }
    }
}

KERNEL(sqrtFun_gaussIRF)
{
    FOR_VECTORS FOR_LANES {
        integrand f = {.u = X - P(1), .width = P(2), .root = 1};
        moments m = integrate(&f);
        y[AT] = P(0) * m.value + P(3);
        if (want) {
            d[0][AT] = m.value;
            d[1][AT] = -P(0) * (m.slope / P(2));
            d[2][AT] = P(0) * (m.curvature / P(2));
            d[3][AT] = 1.0;
        }
    }
}
