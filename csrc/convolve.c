/* convolve.c: convolution kernels, functions g(d) of the time difference that are not
 * normalised, and what lies of them outside of the axis. The living definitions stand in
 * pyspec/functions/convolution.py. */
#include "kernel.h"
#include "vmath.h"

KERNEL(gaussCONV)
{
    FOR_VECTORS FOR_LANES {
        double u = X / P(0);
        double g = v_exp(-0.5 * (u * u));
        y[AT] = g;
        if (want) {
            u = v_clamp(u, 1e300); /* 0 times infinity is NaN */
            d[0][AT] = g * u * u / P(0);
        }
    }
}

KERNEL(expSymCONV)
{
    FOR_VECTORS FOR_LANES {
        double u = fabs(X) / P(0);
        double g = v_exp(-u);
        y[AT] = g;
        if (want)
            d[0][AT] = g * v_clamp(u, 1e300) / P(0);
    }
}

KERNEL(expDecayCONV)
{
    FOR_VECTORS FOR_LANES {
        double at = X, u = (at < 0.0 ? 0.0 : at) / P(0);
        double e = v_exp(-u), g = at < 0.0 ? 0.0 : e;
        y[AT] = g;
        if (want)
            d[0][AT] = g * v_clamp(u, 1e300) / P(0);
    }
}

KERNEL(expRiseCONV)
{
    FOR_VECTORS FOR_LANES {
        double at = X, u = (at > 0.0 ? 0.0 : -at) / P(0);
        double e = v_exp(-u), g = at > 0.0 ? 0.0 : e;
        y[AT] = g;
        if (want)
            d[0][AT] = g * v_clamp(u, 1e300) / P(0);
    }
}

/* The value jumps with the width and does not change between the jumps. */
KERNEL(boxCONV)
{
    FOR_VECTORS FOR_LANES {
        y[AT] = fabs(X) <= 0.5 * P(0) ? 1.0 : 0.0;
        if (want)
            d[0][AT] = 0.0;
    }
}

double pyspec_kernel_mass(int64_t op, int side, double distance, double parameter)
{
    /* Seen from its own side, each kernel's mass lies beyond `away` >= 0. */
    const double away = side == PYSPEC_SIDE_LEFT ? distance : -distance;
    const double half = 0.5 * parameter - away;
    switch (op) {
    case OP_gaussCONV:
        return parameter * (PYSPEC_SQRT_PI * PYSPEC_SQRT1_2) *
               v_erfc(away * PYSPEC_SQRT1_2 / parameter);
    case OP_expSymCONV:
        return parameter * v_exp(-away / parameter);
    case OP_expDecayCONV:
        return side == PYSPEC_SIDE_LEFT ? parameter * v_exp(-away / parameter) : 0.0;
    case OP_expRiseCONV:
        return side == PYSPEC_SIDE_LEFT ? 0.0 : parameter * v_exp(-away / parameter);
    case OP_boxCONV:
        return half < 0.0 ? 0.0 : half > parameter ? parameter : half;
    default:
        return NAN;
    }
}
