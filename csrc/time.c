/* time.c: laws of motion over the time axis. Compiled without contraction to FMA, and in
 * the order of operations of pyspec/functions/time.py: an onset falls between the same two
 * samples in every executor. t = t0 belongs to the response. */
#include "kernel.h"
#include "vmath.h"

KERNEL(expFun)
{
    FOR_VECTORS FOR_LANES {
        double on = X < P(2) ? 0.0 : 1.0;
        double s = on > 0.0 ? X - P(2) : 0.0;
        double e = v_exp(-s / P(1));
        double f = P(0) * e;
        y[AT] = on > 0.0 ? f + P(3) : 0.0;
        if (want) {
            d[0][AT] = on > 0.0 ? e : 0.0;
            d[1][AT] = on > 0.0 ? f * s / (P(1) * P(1)) : 0.0;
            d[2][AT] = on > 0.0 ? f / P(1) : 0.0;
            d[3][AT] = on;
        }
    }
}

KERNEL(sinFun)
{
    FOR_VECTORS FOR_LANES {
        double on = X < P(3) ? 0.0 : 1.0;
        double s = on > 0.0 ? X - P(3) : 0.0;
        double phase = PYSPEC_TWO_PI * P(1) * s + P(2);
        y[AT] = on > 0.0 ? P(0) * sin(phase) + P(4) : 0.0;
        if (want) {
            double slope = P(0) * cos(phase);
            d[0][AT] = on > 0.0 ? sin(phase) : 0.0;
            d[1][AT] = on > 0.0 ? slope * PYSPEC_TWO_PI * s : 0.0;
            d[2][AT] = on > 0.0 ? slope : 0.0;
            d[3][AT] = on > 0.0 ? -slope * PYSPEC_TWO_PI * P(1) : 0.0;
            d[4][AT] = on;
        }
    }
}
