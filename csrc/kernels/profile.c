/* profile.c: how a parameter depends on an auxiliary axis (depth, position, fluence). The living
 * definitions stand in pyspec/functions/profile.py. */
#include "isa/kernel.h"
#include "math/vmath.h"

KERNEL(pExpDecay)
{
    FOR_VALUES {
        double u = -X / P(1);
        double e = v_exp(u);
        double height = v_scaled(P(0), e);
        y[AT] = height;
        if (want) {
            d[0][AT] = e;
            d[1][AT] = -(height * v_clamp(u, 1e300)) / P(1);
        }
    }
}

KERNEL(pLinear)
{
    FOR_VALUES {
        y[AT] = P(0) * X + P(1);
        if (want) {
            d[0][AT] = X;
            d[1][AT] = 1.0;
        }
    }
}

KERNEL(pGauss)
{
    FOR_VALUES {
        double inverse = 1.0 / P(2), finite = v_clamp(inverse, 1e300);
        double width = P(2) == 0.0 ? inverse : finite;
        double u = (X - P(1)) * width;
        double e = v_exp(-0.5 * (u * u));
        y[AT] = P(0) * e;
        if (want) {
            u = v_clamp(u, 1e300); /* 0 times infinity is NaN */
            d[0][AT] = e;
            d[1][AT] = P(0) * e * u * width;
            d[2][AT] = P(0) * e * u * u * width;
        }
    }
}
