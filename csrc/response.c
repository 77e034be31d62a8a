/* response.c: exact responses of the laws of motion to a Gaussian instrument of width SD, value
 * and partial derivatives. The formulas and their sources stand in
 * pyspec/functions/response.py.
 *
 * u = t - t0, k = 1 / SD, N the normal density of width SD, S its integral up to u. A response
 * G obeys dG/dSD = SD d2G/du2 (the heat equation), which gives all derivatives by the width. */
#include "faddeeva.h"
#include "kernel.h"

#define SQRT1_2PI 0.39894228040143267794

static ALWAYS_INLINE double density(double u, double width)
{
    double z = u / width;
    return v_exp(-0.5 * (z * z)) * (SQRT1_2PI / width);
}

static ALWAYS_INLINE double step(double u, double width)
{
    return 0.5 * v_erfc(-u / width * PYSPEC_SQRT1_2);
}

KERNEL(gaussIRF)
{
    FOR_VECTORS FOR_LANES {
        double z = v_clamp(X / P(0), 1e150); /* 0 times infinity is NaN */
        y[AT] = density(X, P(0));
        if (want)
            d[0][AT] = y[AT] * (z * z - 1.0) / P(0);
    }
}

KERNEL(stepFun_gaussIRF)
{
    FOR_VECTORS FOR_LANES {
        double u = X - P(1), s = step(u, P(2)), height = P(0) + P(3);
        y[AT] = height * s;
        if (want) {
            double n = density(u, P(2));
            d[0][AT] = s;
            d[1][AT] = -height * n;
            d[2][AT] = -height * n * v_clamp(u / P(2), 1e150);
            d[3][AT] = s;
        }
    }
}

KERNEL(linFun_gaussIRF)
{
    FOR_VECTORS FOR_LANES {
        double u = X - P(1), s = step(u, P(2)), n = density(u, P(2));
        double ramp = u * s + P(2) * P(2) * n;
        y[AT] = P(0) * ramp + P(3) * s;
        if (want) {
            d[0][AT] = ramp;
            d[1][AT] = -(P(0) * s + P(3) * n);
            d[2][AT] = (P(0) * P(2) - P(3) * v_clamp(u / P(2), 1e150)) * n;
            d[3][AT] = s;
        }
    }
}

KERNEL(expFun_gaussIRF)
{
    FOR_VECTORS FOR_LANES {
        double rate = 1.0 / P(1), width = P(3);
        double u = X - P(2), z = (width * rate - u / width) * PYSPEC_SQRT1_2;
        double late = z <= 0.0 ? 1.0 : 0.0;
        double shift = width * rate;
        double decay = v_exp(late * (0.5 * shift * shift - u * rate)) * v_erfc(late * z);
        double rise = v_exp(-0.5 * (u / width) * (u / width)) * v_erfcx((1.0 - late) * z);
        double e = 0.5 * (late > 0.0 ? decay : rise);
        double s = step(u, width);
        y[AT] = P(0) * e + P(4) * s;
        if (want) {
            double n = density(u, width);
            double slope = n - e * rate;
            d[0][AT] = e;
            d[1][AT] = P(0) * ((u - shift * width) * e + width * width * n) * rate * rate;
            d[2][AT] = -(P(0) * slope + P(4) * n);
            double z_n = v_clamp(u / width, 1e150) * n;
            d[3][AT] = -P(0) * (z_n + shift * slope) - P(4) * z_n;
            d[4][AT] = s;
        }
    }
}

/* Response h of exp(i omega u), u >= 0, and its derivative by u. */
KERNEL(sinFun_gaussIRF)
{
    FOR_VECTORS {
        double x[L], yy[L], decay[L];
        w_lanes w;
        FOR_LANES {
            x[l] = PYSPEC_TWO_PI * P(1) * P(4) * PYSPEC_SQRT1_2;
            yy[l] = fabs(X - P(3)) / P(4) * PYSPEC_SQRT1_2;
            decay[l] = v_exp(-4.0 * PYSPEC_PI * yy[l]);
        }
        w_vector(x, yy, decay, 1, &w);
        FOR_LANES {
            double u = X - P(3), omega = PYSPEC_TWO_PI * P(1), width = P(4);
            double by_dy = (0.5 * w.dy[l] + 1.0 / PYSPEC_SQRT_PI - yy[l] * w.v[l]) / x[l];
            double by_dx = (0.5 * w.dx[l] + x[l] * w.v[l]) / yy[l];
            double im = fabs(x[l]) > yy[l] ? by_dy : yy[l] > 0.0 ? by_dx : 0.0;
            double early = 0.5 * v_exp(-yy[l] * yy[l]);
            double damp = v_exp(-(x[l] * x[l])), phase = omega * u;
            double hr = u > 0.0 ? damp * cos(phase) - early * w.v[l] : early * w.v[l];
            double hi = u > 0.0 ? damp * sin(phase) + early * im : early * im;
            double c = cos(P(2)), s = sin(P(2));
            double onset = step(u, width);
            double turned_im = s * hr + c * hi, turned_re = c * hr - s * hi;
            y[AT] = P(0) * turned_im + P(5) * onset;
            if (want) {
                double n = density(u, width), v = width * width;
                /* h' = i omega h + N, response of s exp(i omega s) = (u + i omega v) h + v N */
                double gr = -omega * hi + n, gi = omega * hr;
                double rr = u * hr - omega * v * hi + v * n, ri = u * hi + omega * v * hr;
                double cr = -omega * gi - u / v * n, ci = omega * gr;
                d[0][AT] = turned_im;
                d[1][AT] = PYSPEC_TWO_PI * P(0) * (c * rr - s * ri);
                d[2][AT] = P(0) * turned_re;
                d[3][AT] = -P(0) * (s * gr + c * gi) - P(5) * n;
                d[4][AT] = width * P(0) * (s * cr + c * ci) - P(5) * (u / width) * n;
                d[5][AT] = onset;
            }
        }
    }
}

KERNEL(erfFun_gaussIRF)
{
    FOR_VECTORS FOR_LANES {
        double u = X - P(2), width = sqrt(P(1) * P(1) + P(3) * P(3));
        double s = step(u, width);
        y[AT] = P(0) * s + P(4);
        if (want) {
            double n = density(u, width), by_width = -P(0) * v_clamp(u / width, 1e150) * n;
            d[0][AT] = s;
            d[1][AT] = by_width * (P(1) / width);
            d[2][AT] = -P(0) * n;
            d[3][AT] = by_width * (P(3) / width);
            d[4][AT] = 1.0;
        }
    }
}

/* Gauss-Legendre nodes and weights on [-1, 1], the positive half of 16. */
static const double NODES[8] = {0.09501250983763744, 0.28160355077925891, 0.45801677765722739,
                                0.61787624440264375, 0.75540440835500303, 0.86563120238783174,
                                0.94457502307323258, 0.98940093499164993};
static const double WEIGHTS[8] = {0.18945061045506850, 0.18260341504492359, 0.16915651939500254,
                                  0.14959598881657673, 0.12462897125553387, 0.09515851168249278,
                                  0.06225352393864789, 0.02715245941175409};

/* Beyond this many widths a Gaussian is below 1e-16 of its peak. */
#define REACH 8.6

/* What a law without a closed form is integrated to: G, dG/du, d2G/du2, dG/df. */
typedef struct moments {
    double value, slope, curvature, by_frequency;
} moments;

/* The law at s = u + SD v is integrated against the density of v: a narrow instrument far from
 * the onset keeps all digits. Near the onset of sqrt(s) in r = sqrt(s / SD) instead of v. */
typedef struct integrand {
    double u, width, omega;
    int root; /* sqrt(s); otherwise sin(omega s) / (omega s) */
    int near;
} integrand;

static void sample(const integrand *f, double at, double weight, moments *sum)
{
    double v = f->near ? at * at - f->u / f->width : at;
    double s = f->u + f->width * v;
    double phase = f->omega * s;
    double law = f->near                ? 2.0 * at * at * sqrt(f->width)
                 : f->root              ? sqrt(s)
                 : fabs(phase) < 1e-4 ? 1.0 - phase * phase / 6.0
                                        : sin(phase) / phase;
    double by_omega = f->root ? 0.0
                      : fabs(phase) < 1e-4 ? -phase * s / 3.0
                                           : (cos(phase) - law) / f->omega;
    double n = weight * density(v, 1.0);
    sum->value += law * n;
    sum->slope += law * n * v / f->width;
    sum->curvature += law * n * (v * v - 1.0) / (f->width * f->width);
    sum->by_frequency += by_omega * PYSPEC_TWO_PI * n;
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
    m.slope = -n * a * (half_pi * he[1] + a * he[2] + b * he[4] + c * he[6]);
    m.curvature = n * a / f->width * (half_pi * he[2] + a * he[3] + b * he[5] + c * he[7]);
    m.by_frequency = -PYSPEC_TWO_PI * n / (omega * f->omega) *
                     (half_pi + 2.0 * a * he[1] + 4.0 * b * he[3] + 6.0 * c * he[5]);
    return m;
}

static moments integrate(integrand *f)
{
    if (!f->root && fabs(f->omega) * f->width > FAST)
        return fast_cardinal_sine(f);
    moments sum = {0.0, 0.0, 0.0, 0.0};
    const double z = f->u / f->width;
    double low = -z > -REACH ? -z : -REACH, high = REACH;
    if (z != z || f->omega != f->omega)
        return (moments){NAN, NAN, NAN, NAN};
    if (!(high > low)) /* far before the onset */
        return sum;
    double turns = f->root ? 0.0 : fabs(f->omega) * f->width * (high - low) / 6.0;
    int panels = turns < 4000.0 ? 6 + (int)turns : 4006;
    f->near = f->root && z < 20.0;
    low = f->near ? sqrt(low + z) : low;
    high = f->near ? sqrt(high + z) : high;
    for (int k = 0; k < panels; k++) {
        double half = (high - low) / panels / 2.0, middle = low + (2 * k + 1) * half;
        for (int q = 0; q < 8; q++) {
            sample(f, middle - half * NODES[q], half * WEIGHTS[q], &sum);
            sample(f, middle + half * NODES[q], half * WEIGHTS[q], &sum);
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
        y[AT] = P(0) * m.value + P(4) * s;
        if (want) {
            double n = density(u, P(3));
            d[0][AT] = m.value;
            d[1][AT] = P(0) * m.by_frequency;
            d[2][AT] = -P(0) * m.slope - P(4) * n;
            d[3][AT] = P(3) * P(0) * m.curvature - P(4) * (u / P(3)) * n;
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
            d[1][AT] = -P(0) * m.slope;
            d[2][AT] = P(2) * P(0) * m.curvature;
            d[3][AT] = 1.0;
        }
    }
}
