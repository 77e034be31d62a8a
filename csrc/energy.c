/* energy.c: kernels over the energy axis, value and partial derivatives together. The
 * formulas stand in ops.def, the living definitions in pyspec/functions/energy.py. */
#include "kernel.h"
#include "vmath.h"

KERNEL(Gauss)
{
    FOR_VECTORS FOR_LANES {
        double width = 1.0 / P(2);
        double u = (X - P(1)) * width;
        double e = v_exp(-0.5 * (u * u));
        y[AT] = P(0) * e;
        if (want) {
            d[0][AT] = e;
            d[1][AT] = P(0) * e * u * width;
            d[2][AT] = P(0) * e * u * u * width;
        }
    }
}

KERNEL(GLP)
{
    const double ln16 = 4.0 * PYSPEC_LN2;
    FOR_VECTORS FOR_LANES {
        double width = 1.0 / P(2);
        double u = (X - P(1)) * width;
        double q = u * u;
        double slope = -ln16 * (1.0 - P(3));
        double inverse = 1.0 / (1.0 + 4.0 * P(3) * q);
        double shape = v_exp(slope * q) * inverse;
        y[AT] = P(0) * shape;
        if (want) {
            double by_q = P(0) * shape * (slope - 4.0 * P(3) * inverse);
            d[0][AT] = shape;
            d[1][AT] = -2.0 * u * width * by_q;
            d[2][AT] = -2.0 * q * width * by_q;
            d[3][AT] = P(0) * shape * q * (ln16 - 4.0 * inverse);
        }
    }
}

/* u is kept finite: a partial must not become 0 times infinity far outside of the peak. */
KERNEL(Lorentz)
{
    FOR_VECTORS FOR_LANES {
        double width = 1.0 / P(2);
        double u = (X - P(1)) * width;
        u = 1e300 < u ? 1e300 : u;
        u = -1e300 > u ? -1e300 : u;
        double shape = 1.0 / (1.0 + 4.0 * u * u);
        y[AT] = P(0) * shape;
        if (want) {
            double slope = 8.0 * P(0) * shape * (shape * u);
            d[0][AT] = shape;
            d[1][AT] = slope * width;
            d[2][AT] = slope * u * width;
        }
    }
}

KERNEL(Offset)
{
    (void)across;
    FOR_VECTORS FOR_LANES {
        y[AT] = P(0);
        if (want)
            d[0][AT] = 1.0;
    }
}

KERNEL(LinBack)
{
    FOR_VECTORS FOR_LANES {
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

/* Blocks arrive from high to low index; carry[0] is the sum of what lies above. */
KERNEL(Shirley)
{
    double *sum = b->carry;
    if (across) {
        double total = sum[0];
        for (int64_t j = b->n * L - 1; j >= 0; j--) {
            total += j < b->n_valid ? b->spectrum[j] : 0.0;
            y[j] = p[0] * total;
            if (want)
                d[0][j] = total;
        }
        sum[0] = total;
        return;
    }
    for (int64_t i = b->n - 1; i >= 0; i--) {
        FOR_LANES {
            sum[l] += b->spectrum[AT];
            y[AT] = P(0) * sum[l];
            if (want)
                d[0][AT] = sum[l];
        }
    }
}
