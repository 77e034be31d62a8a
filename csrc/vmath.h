/* vmath.h: elementary functions without branches, calls or tables, so that loops over lanes
 * become vector code.
 */
#ifndef PYSPEC_VMATH_H
#define PYSPEC_VMATH_H

#include "lanes.h"

#include <math.h>
#include <string.h>

#define PYSPEC_LN2 0.69314718055994530942
#define PYSPEC_TWO_PI 6.28318530717958647693

/* exp(x), at most 1.5 ulp (measured against mpmath, tests/functions/test_accuracy.py). Below
 * -708 the result, a denormal, is flushed to 0: denormals cost 20 to 60 times more.
 *
 * x = k ln2 + r, |r| <= ln2 / 2, with ln2 split so that k ln2_hi is exact (Cody & Waite,
 * Software Manual for the Elementary Functions, 1980); Taylor of degree 13 in r; 2^k by
 * exponent, in two factors because k reaches 1024. Beyond the range the steps run on
 * nonsense, which the last two lines replace; NaN stays NaN. */
static ALWAYS_INLINE double v_exp(double x)
{
    const double shift = 6755399441055744.0; /* 1.5 * 2^52 rounds to an integer */
    double z = x * 1.44269504088896340736 + shift;
    double k = z - shift;
    double r = x - k * 6.93147180369123816490e-01;
    r = r - k * 1.90821492927058770002e-10;
    double r2 = r * r;
    double r4 = r2 * r2;
    double a = (1.0 / 6 + r * (1.0 / 24)) + r2 * (1.0 / 120 + r * (1.0 / 720));
    double c = (1.0 / 5040 + r * (1.0 / 40320)) + r2 * (1.0 / 362880 + r * (1.0 / 3628800));
    double e = (1.0 / 39916800 + r * (1.0 / 479001600)) + r2 * (1.0 / 6227020800.0);
    double q = 0.5 + r * (a + r4 * (c + r4 * e));
    double f = 1.0 + (r + r2 * q);
    int64_t bits;
    memcpy(&bits, &z, sizeof bits);
    uint64_t scale_bits = ((uint64_t)bits << 52) + 0x3fe0000000000000u; /* 2^(k - 1) */
    double scale;
    memcpy(&scale, &scale_bits, sizeof scale);
    f = f * scale * 2.0;
    f = x < -708.0 ? 0.0 : f;
    return x > 709.782712893384 ? INFINITY : f;
}

#endif
