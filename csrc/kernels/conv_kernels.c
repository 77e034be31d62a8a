/* conv_kernels.c: convolution kernels, functions g(d) of the time difference that are not
 * normalised; g depends on d / width alone. Behind each shape stands what the convolution needs
 * besides. Built for each instruction set, like the energy kernels. The living definitions are in
 * pyspec/functions/convolution.py. */
#include "isa/kernel.h"
#include "math/vmath.h"

/* The integral of g from `away` >= 0 on, seen from the side it lies on. */
static double gauss_mass(double away, double width)
{
    return width * (PYSPEC_SQRT_PI * PYSPEC_SQRT1_2) * v_erfc(away * PYSPEC_SQRT1_2 / width);
}

static double exponential_mass(double away, double width)
{
    return width * v_exp(-away / width);
}

/* width exp(-away / width) (1 - exp(-u)) / u, u = step / width; the series where 1 - exp(-u) would lose
 * digits is cut off below 1e-17. */
static double exponential_mean(double away, double step, double width)
{
    const double u = step / width, mass = exponential_mass(away, width);
    if (u >= 0.5)
        return mass * ((1.0 - v_exp(-u)) / u);
    double sum = 1.0;
    for (int k = 14; k > 1; k--)
        sum = 1.0 - sum * u / (double)k;
    return mass * sum;
}

static double box_mass(double away, double width)
{
    return away < 0.5 * width ? 0.5 * width - away : 0.0;
}

static double box_mean(double away, double step, double width)
{
    const double mass = box_mass(away, width), beyond = box_mass(away + step, width);
    return (step < mass ? 1.0 : mass / step) * (0.5 * (mass + beyond));
}

KERNEL(gaussCONV)
{
    FOR_VALUES {
        /* The inverse of a denormal width overflows, and 0 times infinity is NaN. */
        double inverse = v_clamp(1.0 / P(0), 1e300), u = v_clamp(X * inverse, 1e150);
        double g = v_exp(-0.5 * (u * u));
        y[AT] = g;
        if (want)
            d[0][AT] = g * (u * u) * inverse;
    }
}
/* Beyond 9 SD a Gaussian is below 3e-18 of its peak. */
CONV_KERNEL(gaussCONV, {gauss_mass, 9.0, 0, NULL}, {gauss_mass, 9.0, 0, NULL})

KERNEL(expSymCONV)
{
    FOR_VALUES {
        double u = fabs(X) / P(0);
        double g = v_exp(-u);
        y[AT] = g;
        if (want)
            d[0][AT] = g * v_clamp(u, 1e300) / P(0);
    }
}
CONV_KERNEL(expSymCONV, {exponential_mass, 0.0, 1, NULL}, {exponential_mass, 0.0, 1, NULL})

KERNEL(expDecayCONV)
{
    FOR_VALUES {
        double at = X, u = (at < 0.0 ? 0.0 : at) / P(0);
        double e = v_exp(-u), g = at < 0.0 ? 0.0 : e;
        y[AT] = g;
        if (want)
            d[0][AT] = g * v_clamp(u, 1e300) / P(0);
    }
}
CONV_KERNEL(expDecayCONV, {exponential_mass, 0.0, 1, exponential_mean}, {NULL, 0.0, 0, NULL})

KERNEL(expRiseCONV)
{
    FOR_VALUES {
        double at = X, u = (at > 0.0 ? 0.0 : -at) / P(0);
        double e = v_exp(-u), g = at > 0.0 ? 0.0 : e;
        y[AT] = g;
        if (want)
            d[0][AT] = g * v_clamp(u, 1e300) / P(0);
    }
}
CONV_KERNEL(expRiseCONV, {NULL, 0.0, 0, NULL}, {exponential_mass, 0.0, 1, exponential_mean})

/* The shape jumps with the width and does not change between the jumps. */
KERNEL(boxCONV)
{
    FOR_VALUES {
        y[AT] = fabs(X) <= 0.5 * P(0) ? 1.0 : 0.0;
        if (want)
            d[0][AT] = 0.0;
    }
}
CONV_KERNEL(boxCONV, {box_mass, 0.5, 0, box_mean}, {box_mass, 0.5, 0, box_mean})
