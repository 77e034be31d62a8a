/* time.c: laws of motion over the time axis. Compiled without contraction to FMA, and in
 * the order of operations of pyspec/functions/time.py: an onset falls between the same two
 * samples in every executor. t = t0 belongs to the response. */
#include "kernel.h"
#include "vmath.h"

KERNEL(none)
{
    (void)p;
    (void)d;
    (void)across;
    (void)want;
    FOR_VECTORS FOR_LANES y[AT] = 0.0;
}

KERNEL(stepFun)
{
    FOR_VECTORS FOR_LANES {
        double on = X < P(1) ? 0.0 : 1.0;
        y[AT] = on > 0.0 ? P(0) + P(2) : 0.0;
        if (want) {
            d[0][AT] = on;
            d[1][AT] = 0.0;
            d[2][AT] = on;
        }
    }
}

KERNEL(linFun)
{
    FOR_VECTORS FOR_LANES {
        double on = X < P(1) ? 0.0 : 1.0;
        double s = on > 0.0 ? X - P(1) : 0.0;
        y[AT] = on > 0.0 ? P(0) * s + P(2) : 0.0;
        if (want) {
            d[0][AT] = s;
            d[1][AT] = on > 0.0 ? -P(0) : 0.0;
            d[2][AT] = on;
        }
    }
}

KERNEL(expFun)
{
    FOR_VECTORS FOR_LANES {
        double on = X < P(2) ? 0.0 : 1.0;
        double s = on > 0.0 ? X - P(2) : 0.0;
        double u = -s / P(1);
        double e = v_exp(u);
        double f = P(0) * e;
        y[AT] = on > 0.0 ? f + P(3) : 0.0;
        if (want) {
            d[0][AT] = on > 0.0 ? e : 0.0;
            d[1][AT] = on > 0.0 ? -(f * v_clamp(u, 1e300)) / P(1) : 0.0;
            d[2][AT] = on > 0.0 ? f / P(1) : 0.0;
            d[3][AT] = on;
        }
    }
}

/* Sine and cosine of L phases; the C library's beyond what v_sincos reduces. */
static ALWAYS_INLINE void sincos_lanes(const double *phase, double *sine, double *cosine)
{
    int any_large = 0;
    FOR_LANES {
        v_sincos(phase[l], &sine[l], &cosine[l]);
        any_large |= fabs(phase[l]) > VMATH_SINCOS_LIMIT;
    }
    for (int l = 0; any_large && l < L; l++)
        if (fabs(phase[l]) > VMATH_SINCOS_LIMIT) {
            sine[l] = sin(phase[l]);
            cosine[l] = cos(phase[l]);
        }
}

KERNEL(sinFun)
{
    FOR_VECTORS {
        double on[L], s[L], phase[L], sine[L], cosine[L];
        FOR_LANES {
            on[l] = X < P(3) ? 0.0 : 1.0;
            s[l] = on[l] > 0.0 ? X - P(3) : 0.0;
            phase[l] = PYSPEC_TWO_PI * P(1) * s[l] + P(2);
        }
        sincos_lanes(phase, sine, cosine);
        FOR_LANES {
            y[AT] = on[l] > 0.0 ? P(0) * sine[l] + P(4) : 0.0;
            if (want) {
                double slope = P(0) * cosine[l];
                d[0][AT] = on[l] > 0.0 ? sine[l] : 0.0;
                d[1][AT] = on[l] > 0.0 ? slope * PYSPEC_TWO_PI * s[l] : 0.0;
                d[2][AT] = on[l] > 0.0 ? slope : 0.0;
                d[3][AT] = on[l] > 0.0 ? -slope * PYSPEC_TWO_PI * P(1) : 0.0;
                d[4][AT] = on[l];
            }
        }
    }
}

/* (u cos u - sin u) / u^2, the derivative of sin(u) / u: by its series for |u| < 1, where the
 * difference cancels. */
static ALWAYS_INLINE double sinc_slope(double u, double shape, double cosine)
{
    double q = u * u;
    double series = -1.0 / 3 + q * (1.0 / 30 + q * (-1.0 / 840 + q * (1.0 / 45360 +
                    q * (-1.0 / 3991680 + q * (1.0 / 518918400 + q * (-1.0 / 93405312000))))));
    double small = q < 1.0 ? 1.0 : 0.0;
    return small > 0.0 ? u * series : (cosine - shape) / u;
}

KERNEL(sinDivX)
{
    FOR_VECTORS {
        double on[L], s[L], phase[L], sine[L], cosine[L];
        FOR_LANES {
            on[l] = X < P(2) ? 0.0 : 1.0;
            s[l] = on[l] > 0.0 ? X - P(2) : 0.0;
            phase[l] = PYSPEC_TWO_PI * P(1) * s[l];
        }
        sincos_lanes(phase, sine, cosine);
        FOR_LANES {
            double u = phase[l];
            double shape = u == 0.0 ? 1.0 : sine[l] / u;
            y[AT] = on[l] > 0.0 ? P(0) * shape + P(3) : 0.0;
            if (want) {
                double slope = P(0) * sinc_slope(u, shape, cosine[l]) * PYSPEC_TWO_PI;
                d[0][AT] = on[l] > 0.0 ? shape : 0.0;
                d[1][AT] = on[l] > 0.0 ? slope * s[l] : 0.0;
                d[2][AT] = on[l] > 0.0 ? -slope * P(1) : 0.0;
                d[3][AT] = on[l];
            }
        }
    }
}

KERNEL(erfFun)
{
    FOR_VECTORS FOR_LANES {
        double u = (X - P(2)) / (P(1) * 1.41421356237309504880);
        double rise = 0.5 * (1.0 + v_erf(u));
        y[AT] = P(0) * rise + P(3);
        if (want) {
            double w = v_clamp(u, 1e300);
            double slope = P(0) * v_exp(-(w * w)) / PYSPEC_SQRT_PI;
            d[0][AT] = rise;
            d[1][AT] = -(slope * w) / P(1);
            d[2][AT] = -(slope * PYSPEC_SQRT1_2) / P(1);
            d[3][AT] = 1.0;
        }
    }
}

/* The slope at t0 is infinite; the partial by t0 is 0 there, as it is before. */
KERNEL(sqrtFun)
{
    FOR_VECTORS FOR_LANES {
        double s = X - P(1);
        double on = s > 0.0 ? 1.0 : 0.0;
        double root = sqrt(0.0 > s ? 0.0 : s);
        y[AT] = P(0) * root + P(2);
        if (want) {
            d[0][AT] = root;
            d[1][AT] = on > 0.0 ? -0.5 * P(0) / root : 0.0;
            d[2][AT] = 1.0;
        }
    }
}
