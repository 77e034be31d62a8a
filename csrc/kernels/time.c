/* time.c: laws of motion over the time axis. Compiled without contraction to FMA for each
 * instruction set. The order of operations is that of pyspec/functions/time.py: an onset falls
 * between the same two samples in every executor. t = t0 belongs to the response.
 *
 * Parameters are read before a select, not in it: a conditional read keeps a loop over lanes from
 * becoming vector code. */
#include "isa/kernel.h"
#include "math/vmath.h"

KERNEL(none)
{
    (void)p;
    (void)d;
    (void)across;
    (void)want;
    FOR_VALUES y[AT] = 0.0;
}

KERNEL(stepFun)
{
    FOR_VALUES {
        double on = X < P(1) ? 0.0 : 1.0, height = P(0) + P(2);
        y[AT] = on > 0.0 ? height : 0.0;
        if (want) {
            d[0][AT] = on;
            d[1][AT] = 0.0;
            d[2][AT] = on;
        }
    }
}

KERNEL(linFun)
{
    FOR_VALUES {
        double t = X, m = P(0), t0 = P(1), y0 = P(2);
        double on = t < t0 ? 0.0 : 1.0;
        double s = t < t0 ? 0.0 : t - t0;
        y[AT] = t < t0 ? 0.0 : m * s + y0;
        if (want) {
            d[0][AT] = s;
            d[1][AT] = t < t0 ? 0.0 : -m;
            d[2][AT] = on;
        }
    }
}

KERNEL(expFun)
{
    FOR_VALUES {
        double t = X, A = P(0), tau = P(1), t0 = P(2), y0 = P(3);
        double on = t < t0 ? 0.0 : 1.0;
        double s = t < t0 ? 0.0 : t - t0;
        double u = -s / tau;
        double e = v_exp(u);
        double f = A * e;
        y[AT] = t < t0 ? 0.0 : f + y0;
        if (want) {
            double by_t0 = f / tau;
            d[0][AT] = t < t0 ? 0.0 : e;
            d[1][AT] = t < t0 ? 0.0 : -(f * v_clamp(u, 1e300)) / tau;
            d[2][AT] = t < t0 ? 0.0 : by_t0;
            d[3][AT] = on;
        }
    }
}

KERNEL(sinFun)
{
    FOR_VECTORS {
        double on[L], s[L], phase[L], sine[L], cosine[L];
        FOR_LANES {
            double t = X, t0 = P(3);
            on[l] = t < t0 ? 0.0 : 1.0;
            s[l] = t < t0 ? 0.0 : t - t0;
            phase[l] = PYSPEC_TWO_PI * P(1) * s[l] + P(2);
        }
        v_sincos_lanes(phase, sine, cosine);
        FOR_LANES {
            double f = P(0) * sine[l] + P(4);
            y[AT] = on[l] > 0.0 ? f : 0.0;
            if (want) {
                double slope = P(0) * cosine[l];
                slope = on[l] > 0.0 ? slope : 0.0;
                d[0][AT] = on[l] > 0.0 ? sine[l] : 0.0;
                d[1][AT] = slope * PYSPEC_TWO_PI * s[l];
                d[2][AT] = slope;
                double by_t0 = -slope * PYSPEC_TWO_PI * P(1);
                d[3][AT] = on[l] > 0.0 ? by_t0 : 0.0; /* before the onset f may be NaN */
                d[4][AT] = on[l];
            }
        }
    }
}

KERNEL(dampedSinFun)
{
    FOR_VECTORS {
        double on[L], s[L], phase[L], sine[L], cosine[L];
        FOR_LANES {
            double t = X, t0 = P(4);
            on[l] = t < t0 ? 0.0 : 1.0;
            s[l] = t < t0 ? 0.0 : t - t0;
            phase[l] = PYSPEC_TWO_PI * P(1) * s[l] + P(2);
        }
        v_sincos_lanes(phase, sine, cosine);
        IN_LANES {
            uint64_t mask = mask_of(on[l] > 0.0);
            double tau = P(3), u = -s[l] / tau, e = v_exp(u);
            double height = P(0) * e, swing = height * sine[l];
            y[AT] = keep(mask, swing + P(5));
            if (want) {
                double slope = keep(mask, height * cosine[l]);
                double turns = slope * PYSPEC_TWO_PI * P(1); /* it may be infinite, as the other */
                d[0][AT] = keep(mask, e * sine[l]);
                d[1][AT] = slope * PYSPEC_TWO_PI * s[l];
                d[2][AT] = slope;
                d[3][AT] = keep(mask, -(swing * v_clamp(u, 1e300)) / tau);
                d[4][AT] = keep(mask, v_clamp(swing / tau, 8e307) - v_clamp(turns, 8e307));
                d[5][AT] = on[l];
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
    double difference = (cosine - shape) / u;
    return q < 1.0 ? u * series : difference;
}

KERNEL(sinDivX)
{
    FOR_VECTORS {
        double on[L], s[L], phase[L], sine[L], cosine[L];
        FOR_LANES {
            double t = X, t0 = P(2);
            on[l] = t < t0 ? 0.0 : 1.0;
            s[l] = t < t0 ? 0.0 : t - t0;
            phase[l] = PYSPEC_TWO_PI * P(1) * s[l];
        }
        v_sincos_lanes(phase, sine, cosine);
        FOR_LANES {
            double u = phase[l], ratio = sine[l] / u;
            double shape = u == 0.0 ? 1.0 : ratio;
            double f = P(0) * shape + P(3);
            y[AT] = on[l] > 0.0 ? f : 0.0;
            if (want) {
                double slope = P(0) * sinc_slope(u, shape, cosine[l]) * PYSPEC_TWO_PI;
                slope = on[l] > 0.0 ? slope : 0.0;
                d[0][AT] = on[l] > 0.0 ? shape : 0.0;
                d[1][AT] = slope * s[l];
                double by_t0 = -slope * P(1);
                d[2][AT] = on[l] > 0.0 ? by_t0 : 0.0;
                d[3][AT] = on[l];
            }
        }
    }
}

KERNEL(erfFun)
{
    FOR_VALUES {
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
    FOR_VALUES {
        double s = X - P(1);
        double root = sqrt(0.0 > s ? 0.0 : s), slope = -0.5 * P(0) / root;
        y[AT] = P(0) * root + P(2);
        if (want) {
            d[0][AT] = root;
            d[1][AT] = s > 0.0 ? slope : 0.0;
            d[2][AT] = 1.0;
        }
    }
}

KERNEL(constFun)
{
    (void)across;
    FOR_VALUES {
        y[AT] = P(0);
        if (want)
            d[0][AT] = 1.0;
    }
}

/* u exp(-u^2 / 2) and its like are 0 far out, where u^2 overflows. */
static ALWAYS_INLINE double far_clamp(double u)
{
    return v_clamp(u, 1e75);
}

KERNEL(gaussFun)
{
    FOR_VALUES {
        double u = far_clamp((X - P(2)) / P(1)), g = v_exp(-0.5 * (u * u));
        y[AT] = P(0) * g;
        if (want) {
            double slope = P(0) * (u * g);
            d[0][AT] = g;
            d[1][AT] = slope * u / P(1);
            d[2][AT] = slope / P(1);
        }
    }
}

KERNEL(gaussD1Fun)
{
    FOR_VALUES {
        double u = far_clamp((X - P(2)) / P(1)), g = v_exp(-0.5 * (u * u));
        y[AT] = P(0) * (-u * g);
        if (want) {
            double slope = P(0) * ((1.0 - u * u) * g);
            d[0][AT] = -u * g;
            d[1][AT] = slope * u / P(1);
            d[2][AT] = slope / P(1);
        }
    }
}

KERNEL(gaussD2Fun)
{
    FOR_VALUES {
        double u = far_clamp((X - P(2)) / P(1)), g = v_exp(-0.5 * (u * u)), q = u * u;
        y[AT] = P(0) * ((q - 1.0) * g);
        if (want) {
            double slope = P(0) * (u * (q - 3.0) * g);
            d[0][AT] = (q - 1.0) * g;
            d[1][AT] = slope * u / P(1);
            d[2][AT] = slope / P(1);
        }
    }
}
