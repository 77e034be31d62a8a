/* response.c: exact responses of the laws of motion to a Gaussian instrument of width SD, value
 * and partial derivatives. The formulas and their sources stand in
 * pyspec/functions/response.py.
 *
 * u = t - t0, k = 1 / SD, N the normal density of width SD, S its integral up to u. A response
 * G obeys dG/dSD = SD d2G/du2 (the heat equation), which gives all derivatives by the width. */
#include "faddeeva.h"
#include "kernel.h"
#include "legendre.h"

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

/* With z = (SD / tau - u / SD) / sqrt2 and early = exp(-(u / SD)^2 / 2): the response to
 * exp(-s / tau) is early erfcx(z) / 2, the one to s exp(-s / tau) SD early rest / sqrt2, with
 * the rest of erfcx; for z <= 0 both are sums of what does not cancel. */
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
 * series sum (iz)^n / Gamma(n / 2 + 1). */
static ALWAYS_INLINE double w_imaginary(double x, double y, double v, double dx, double dy)
{
    static const double terms[8] = {1.0,
                                    1.12837916709551257390,
                                    1.0,
                                    0.75225277806367504926,
                                    0.5,
                                    0.30090111122547001971,
                                    1.0 / 6,
                                    0.08597174606442000563};
    double re = terms[7], im = 0.0, cx = v_clamp(x, 1.0), cy = v_clamp(y, 1.0);
    for (int k = 6; k >= 0; k--) { /* times iz = -y + ix */
        double next = terms[k] - v_sum_of_products(re, cy, im, cx);
        im = v_sum_of_products(re, cx, -im, cy);
        re = next;
    }
    double by_dy = v_product_plus(-y, v, 0.5 * dy + 1.0 / PYSPEC_SQRT_PI) / x;
    double by_dx = v_product_plus(x, v, 0.5 * dx) / y;
    double far = fabs(x) > y ? by_dy : by_dx;
    return v_square_sum(cx, cy) < 1e-4 ? im : far;
}

/* Response h of exp(i omega u), u >= 0: with z = (omega SD + i |u| / SD) / sqrt2 = x + iy and
 * early = exp(-y^2) it is early w(z) / 2 before the onset, and after it
 * exp(i omega u - (omega SD)^2 / 2) minus the conjugate of that. Derivatives are written in w' and
 * q = y w - i w' / 2, where nothing cancels:
 * h' = early q / (SD sqrt2), SD h'' = early (x w' / 2 + y q) / SD, and the response of
 * s exp(i omega s) is -i SD early w' / sqrt8. */
KERNEL(sinFun_gaussIRF)
{
    FOR_VECTORS {
        double x[L], yy[L], decay[L];
        w_lanes w;
        FOR_LANES {
            x[l] = v_clamp(PYSPEC_TWO_PI * P(1) * P(4) * PYSPEC_SQRT1_2, 1e150);
            yy[l] = v_clamp(fabs(X - P(3)) / P(4) * PYSPEC_SQRT1_2, 1e150);
            decay[l] = v_exp(-4.0 * PYSPEC_PI * yy[l]);
        }
        w_vector(x, yy, decay, 1, &w);
        FOR_LANES {
            double u = X - P(3), omega = PYSPEC_TWO_PI * P(1), width = P(4);
            double im = w_imaginary(x[l], yy[l], w.v[l], w.dx[l], w.dy[l]);
            double early = v_exp(-yy[l] * yy[l]);
            double after = u > 0.0 ? -1.0 : 1.0;
            double damp = u > 0.0 ? v_exp(-(x[l] * x[l])) : 0.0;
            double phase = u > 0.0 ? omega * u : 0.0;
            double dr = damp * cos(phase), di = damp * sin(phase);
            double hr = v_product_plus(after * (0.5 * early), w.v[l], dr);
            double hi = v_product_plus(0.5 * early, im, di);
            double c = cos(P(2)), s = sin(P(2));
            double onset = step(u, width);
            double turned_im = v_sum_of_products(s, hr, c, hi);
            double turned_re = v_sum_of_products(c, hr, -s, hi);
            y[AT] = v_sum_of_products(P(0), turned_im, P(5), onset);
            if (want) {
                double n = density(u, width), a = x[l], height = yy[l];
                double qr = height * w.v[l] - 0.5 * w.dy[l], qi = height * im - 0.5 * w.dx[l];
                double inverse = early * PYSPEC_SQRT1_2 / width;
                double spread = 0.5 * PYSPEC_SQRT1_2 * early * width;
                double turn = PYSPEC_SQRT1_2 * 2.0 * a;
                double gr = inverse * qr - omega * di, gi = after * (inverse * qi) + omega * dr;
                double rr = u * dr - turn * di * width - spread * w.dy[l];
                double ri = u * di + turn * dr * width - after * (spread * w.dx[l]);
                double tr = 0.5 * a * w.dx[l] + height * qr, ti = height * qi - 0.5 * a * w.dy[l];
                double cr = after * (early * tr / width) - turn * (turn * dr) / width;
                double ci = early * ti / width - turn * (turn * di) / width;
                d[0][AT] = turned_im;
                d[1][AT] = PYSPEC_TWO_PI * P(0) * (c * rr - s * ri);
                d[2][AT] = P(0) * turned_re;
                d[3][AT] = -sum_of(P(0) * (s * gr + c * gi), P(5) * n);
                d[4][AT] = sum_of(P(0) * (s * cr + c * ci), -P(5) * (ratio_of(u, width) * n));
                d[5][AT] = onset;
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

/* The law at s = u + SD v is integrated against the density of v: a narrow instrument far from
 * the onset keeps all digits. Near the onset of sqrt(s) in r = sqrt(s / SD) instead of v.
 * Derivatives are those of the law where it hardly changes within the instrument (`slow`), with
 * what its onset adds, else those of the density. */
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
    FOR_VALUES {
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
    FOR_VALUES {
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
