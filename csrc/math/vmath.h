/* vmath.h: elementary functions without branches, calls or gathers, so that loops over lanes
 * become vector code. The bounds quoted are measured against mpmath
 * (tests/functions/test_vmath.py). Coefficients are interpolants at Chebyshev points, found
 * with 50 digits; the truncation errors lie below 1e-16.
 */
#ifndef PYSPEC_VMATH_H
#define PYSPEC_VMATH_H

#include "isa/lanes.h"

#include <math.h>
#include <string.h>

#define PYSPEC_LN2 0.69314718055994530942
#define PYSPEC_PI 3.14159265358979323846
#define PYSPEC_TWO_PI 6.28318530717958647693
#define PYSPEC_SQRT1_2 0.70710678118654752440
#define PYSPEC_SQRT1_2PI 0.39894228040143267794 /* of the normal density at 0 */
#define PYSPEC_SQRT_PI 1.77245385090551602730

/* 1.5 * 2^52: adding it rounds to an integer, which then stands in the low bits. */
#define ROUNDING_SHIFT 6755399441055744.0

static ALWAYS_INLINE uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static ALWAYS_INLINE double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* a where mask is 0, b where it is all ones. */
static ALWAYS_INLINE double pick(uint64_t mask, double a, double b)
{
    return double_of(bits_of(a) ^ (mask & (bits_of(a) ^ bits_of(b))));
}

/* All ones where the condition, between doubles, holds. Selects on masks stay selects: of several
 * "?:" on one condition the compiler makes a branch, and a loop over lanes is no longer vector
 * code. The mask is chosen as a double, since SSE2 compares no 64-bit integers. */
static ALWAYS_INLINE uint64_t mask_of(int condition)
{
    return bits_of(condition ? double_of(~(uint64_t)0) : 0.0);
}

/* x where mask is all ones, else 0. */
static ALWAYS_INLINE double keep(uint64_t mask, double x)
{
    return double_of(mask & bits_of(x));
}

/* a b + c d. An FMA leaves one of the two products unrounded. A compiler chooses which one anew in
 * each copy of a loop, and the choice depends on the code around it. Here the choice is fixed:
 * neither the place of a lane nor wanted slopes change the bits. */
static ALWAYS_INLINE double v_sum_of_products(double a, double b, double c, double d)
{
#if defined(__FMA__) && defined(__GNUC__)
    return __builtin_fma(a, b, c * d);
#else
    return a * b + c * d;
#endif
}

/* a b + c, likewise: with an FMA rounded once, also where c is a product itself. */
static ALWAYS_INLINE double v_product_plus(double a, double b, double c)
{
    return v_sum_of_products(a, b, c, 1.0);
}

static ALWAYS_INLINE double v_square_sum(double x, double y)
{
    return v_sum_of_products(x, x, y, y);
}

/* |x| <= limit; NaN stays NaN. */
static ALWAYS_INLINE double v_clamp(double x, double limit)
{
    x = limit < x ? limit : x;
    return -limit > x ? -limit : x;
}

/* height times a shape that may grow without end: 0 where the height is 0, also where the shape is
 * infinite; NaN stays NaN. */
static ALWAYS_INLINE double v_scaled(double height, double shape)
{
    const double finite = 1e300 < shape ? 1e300 : shape;
    return height * (height == 0.0 ? finite : shape);
}

/* exp(x) for -708 <= x <= 709.782, at most 1 ulp; nonsense elsewhere.
 *
 * The reduction is x = k ln2 + r, |r| <= ln2 / 2. It splits ln2: k ln2_hi is exact (Cody & Waite,
 * Software Manual for the Elementary Functions, 1980). Taylor of degree 13 in r. The exponent gives
 * 2^k, in two factors because k reaches 1024. */
static ALWAYS_INLINE double v_exp_inside(double x)
{
    double z = x * 1.44269504088896340736 + ROUNDING_SHIFT;
    double k = z - ROUNDING_SHIFT;
    double r = x - k * 6.93147180369123816490e-01;
    r = r - k * 1.90821492927058770002e-10;
    double r2 = r * r;
    double r4 = r2 * r2;
    double a = (1.0 / 6 + r * (1.0 / 24)) + r2 * (1.0 / 120 + r * (1.0 / 720));
    double c = (1.0 / 5040 + r * (1.0 / 40320)) + r2 * (1.0 / 362880 + r * (1.0 / 3628800));
    double e = (1.0 / 39916800 + r * (1.0 / 479001600)) + r2 * (1.0 / 6227020800.0);
    double q = 0.5 + r * (a + r4 * (c + r4 * e));
    double f = 1.0 + (r + r2 * q);
    uint64_t scale = (bits_of(z) << 52) + 0x3fe0000000000000u; /* 2^(k - 1) */
    return f * double_of(scale) * 2.0;
}

/* exp(x), at most 1 ulp. Below -708 the result, a denormal, is flushed to 0: denormals cost
 * 20 to 60 times more. Beyond the range the steps run on nonsense, which the last two lines
 * replace; NaN stays NaN. */
static ALWAYS_INLINE double v_exp(double x)
{
    double f = v_exp_inside(x);
    f = x < -708.0 ? 0.0 : f;
    return x > 709.782712893384 ? INFINITY : f;
}

/* exp(-x^2) (sign = -1) or exp(x^2) (sign = 1), at most 2 ulp: x^2 is taken as the exact square
 * of the leading 26 bits and a rest below 6e-6. */
static ALWAYS_INLINE double v_exp_square(double x, double sign)
{
    double xc = v_clamp(x, 30.0);
    double high = double_of(bits_of(xc) & 0xfffffffff8000000u);
    double rest = sign * ((xc - high) * (xc + high));
    double f = 1.0 + rest * (1.0 + rest * (0.5 + rest * (1.0 / 6)));
    return v_exp(sign * (high * high)) * f;
}

/* log(x), at most 1 ulp for normal x > 0.
 *
 * x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2); with s = f / (2 + f),
 * log(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2)) (fdlibm, e_log.c). */
static ALWAYS_INLINE double v_log_inside(double x)
{
    uint64_t shifted = bits_of(x) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
    double k = double_of((shifted >> 52) | 0x4330000000000000u) - (4503599627370496.0 + 1023.0);
    double f = double_of((shifted & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu) - 1.0;
    double s = f / (2.0 + f);
    double q = s * s;
    double q2 = q * q;
    double even = 0.6666666666666666 + q2 * (0.28571428570799784 +
                  q2 * (0.18181795547521137 + q2 * 0.13268638369266825));
    double odd = 0.40000000000000885 + q2 * (0.22222222392581045 +
                 q2 * (0.15386244737621665 + q2 * 0.13088034850927555));
    double half = 0.5 * f * f;
    double square = v_product_plus(q, even + q * odd, half);
    double rest = v_sum_of_products(s, square, k, 1.90821492927058770002e-10);
    return k * 6.93147180369123816490e-01 - ((half - rest) - f);
}

/* The same for all x: -inf at 0 and for denormals, NaN below 0. */
static ALWAYS_INLINE double v_log(double x)
{
    double y = v_log_inside(x);
    y = x < 2.2250738585072014e-308 ? -INFINITY : y;
    y = x < 0.0 ? NAN : y;
    y = x > 1.7976931348623157e308 ? INFINITY : y;
    return x != x ? x : y;
}

/* Sine and cosine for |r| <= pi/4. */
static ALWAYS_INLINE void v_sincos_reduced(double r, double *sine, double *cosine)
{
    double q = r * r;
    double q2 = q * q;
    double s = (-0.16666666666666666 + q * 0.008333333333333331) +
               q2 * ((-0.0001984126984126457 + q * 2.755731921895673e-06) +
                     q2 * ((-2.5052106100926675e-08 + q * 1.605851097953535e-10) +
                           q2 * -7.58549250782124e-13));
    double c = (0.041666666666666664 + q * -0.0013888888888887241) +
               q2 * ((2.4801587298533456e-05 + q * -2.755731715246704e-07) +
                     q2 * (2.087612165887116e-09 + q * -1.1380876948169717e-11));
    double half = 0.5 * q;
    double head = 1.0 - half;
    *sine = r + r * q * s;
    *cosine = head + (((1.0 - head) - half) + q2 * c);
}

/* Sine s and cosine c of an angle, turned by so many quadrants. */
static ALWAYS_INLINE void v_turned(uint64_t quadrants, double s, double c, double *sine,
                                   double *cosine)
{
    uint64_t swap = 0u - (quadrants & 1u);
    *sine = double_of(bits_of(pick(swap, s, c)) ^ ((quadrants & 2u) << 62));
    *cosine = double_of(bits_of(pick(swap, c, s)) ^ (((quadrants + 1u) & 2u) << 62));
}

/* Sine and cosine of |x| <= VMATH_SINCOS_NEAR, at most 2 ulp: as v_sincos, but r is rounded. */
#define VMATH_SINCOS_NEAR 100.0
static ALWAYS_INLINE void v_sincos_near(double x, double *sine, double *cosine)
{
    double z = x * 0.63661977236758134308 + ROUNDING_SHIFT;
    double k = z - ROUNDING_SHIFT;
    double s, c;
    double r = x - k * 1.57079632673412561417e+00;
    r = r - k * 6.07710050630396597660e-11;
    v_sincos_reduced(r - k * 2.02226624879595063154e-21, &s, &c);
    v_turned(bits_of(z), s, c, sine, cosine);
}

/* sin(x) and cos(x), at most 1.5 ulp for |x| <= VMATH_SINCOS_LIMIT; beyond it the absolute error
 * grows with |x|. The reduction is x = k pi/2 + r. It splits pi/2 into three parts of 33 bits
 * (fdlibm, e_rem_pio2.c): each product with k is exact. */
#define VMATH_SINCOS_LIMIT 1e6
static ALWAYS_INLINE void v_sincos(double x, double *sine, double *cosine)
{
    double z = x * 0.63661977236758134308 + ROUNDING_SHIFT;
    double k = z - ROUNDING_SHIFT;
    double s, c;
    double r = x - k * 1.57079632673412561417e+00;
    double t = k * 6.07710050630396597660e-11;
    double r1 = r - t;
    double low = ((r - r1) - t) - k * 2.02226624879595063154e-21;
    v_sincos_reduced(r1, &s, &c);
    double si = s + low * c, co = c - low * s;
    v_turned(bits_of(z), si, co, sine, cosine);
}

/* Sine and cosine of L phases; the C library's beyond what v_sincos reduces. */
static ALWAYS_INLINE void v_sincos_lanes(const double *phase, double *sine, double *cosine)
{
    uint64_t any_large = 0;
    FOR_LANES {
        v_sincos(phase[l], &sine[l], &cosine[l]);
        any_large |= mask_of(fabs(phase[l]) > VMATH_SINCOS_LIMIT);
    }
    for (int l = 0; any_large && l < L; l++)
        if (fabs(phase[l]) > VMATH_SINCOS_LIMIT) {
            sine[l] = sin(phase[l]);
            cosine[l] = cos(phase[l]);
        }
}

/* The short way up to VMATH_SINCOS_NEAR, the other beyond. Where nothing `may_be_far` that is left out, to
 * the same bits. */
static ALWAYS_INLINE void v_sincos_by_size(double x, const int may_be_far, double *sine,
                                           double *cosine)
{
    double near_sine, near_cosine, far_sine, far_cosine;
    v_sincos_near(x, &near_sine, &near_cosine);
    *sine = near_sine;
    *cosine = near_cosine;
    if (may_be_far) {
        const uint64_t is_far = mask_of(fabs(x) > VMATH_SINCOS_NEAR);
        v_sincos(x, &far_sine, &far_cosine);
        *sine = pick(is_far, near_sine, far_sine);
        *cosine = pick(is_far, near_cosine, far_cosine);
    }
}

static ALWAYS_INLINE double v_sin(double x)
{
    double s, c;
    v_sincos(x, &s, &c);
    return s;
}

static ALWAYS_INLINE double v_cos(double x)
{
    double s, c;
    v_sincos(x, &s, &c);
    return c;
}

/* atan(y / x), at most 2 ulp, with a single division. The angles pi/4 and pi/2 reduce |y / x| to a
 * tangent of at most tan(pi/8). The reduced tangent is `above` / `below`. `base` is the angle to
 * add. */
static ALWAYS_INLINE void v_atan_reduced(double y, double x, double *above, double *below,
                                         double *base)
{
    double a = fabs(y), b = fabs(x);
    int far = a > 2.41421356237309504880 * b, middle = a > 0.41421356237309504880 * b;
    *above = far ? -b : middle ? a - b : a;
    *below = far ? a : middle ? a + b : b;
    *base = far ? 1.57079632679489661923 : middle ? 0.78539816339744830962 : 0.0;
}

/* base + atan(t) for |t| <= tan(pi/8); of pi/4 and pi/2 the same part is beyond a double. */
static ALWAYS_INLINE double v_atan_behind(double base, double t)
{
    double q = t * t;
    double q2 = q * q;
    double even = -0.3333333333333333 + q2 * (-0.14285714285659326 +
                  q2 * (-0.09090908751076636 + q2 * (-0.06666423628069258 +
                  q2 * (-0.052303478730160745 + q2 * -0.034558092551413795))));
    double odd = 0.199999999999998 + q2 * (0.11111111105106705 +
                 q2 * (0.0769229630497447 + q2 * (0.058789145444006215 +
                 q2 * (0.04551108126325172 + q2 * 0.01627194475162406))));
    return base + (t + v_sum_of_products(t * q, even + q * odd, base, 3.89817183251937547e-17));
}

static ALWAYS_INLINE double v_atan_of(double y, double x)
{
    double above, below, base;
    v_atan_reduced(y, x, &above, &below, &base);
    return copysign(v_atan_behind(base, above / below), double_of(bits_of(y) ^ bits_of(x)));
}

static ALWAYS_INLINE double v_atan(double x)
{
    return v_atan_of(x, 1.0);
}

/* exp(a^2) erfc(a) for a >= 0, at most 3 ulp: (1 + 9/8 a) erfcx(a) as a polynomial of degree 24
 * in (a - 3) / (a + 3) (M. M. Shepherd & J. G. Laframboise, Math. Comp. 36, 249 (1981); with
 * 9/8, near 2/sqrt(pi), the polynomial is nearly level at a = 0, so that the rounding of its
 * argument does not count there). */
static ALWAYS_INLINE double v_erfcx_positive(double a)
{
    a = a > 1.7e308 ? 1.7e308 : a; /* (a - 3) / (a + 3) would be NaN */
    double t = (a - 3.0) / (a + 3.0);
    double q = t * t;
    double even = 4.5273033072665254e-10;
    even = even * q + -4.226602169015931e-09;
    even = even * q + 1.973353667447035e-08;
    even = even * q + -5.927073590111843e-08;
    even = even * q + 9.817368823452275e-08;
    even = even * q + 1.364334032327329e-07;
    even = even * q + -7.063279245989281e-07;
    even = even * q + -3.112764823020897e-05;
    even = even * q + 0.0008011737249800443;
    even = even * q + -0.011503167496148471;
    even = even * q + -0.03573763189699392;
    even = even * q + 0.08069787267532863;
    double odd = 6.113721453991769e-10;
    odd = odd * q + -7.850628438105557e-09;
    odd = odd * q + 5.734316762098656e-08;
    odd = odd * q + -3.338301016519683e-07;
    odd = odd * q + 1.8241873654350508e-06;
    odd = odd * q + -1.0378848233752128e-05;
    odd = odd * q + 6.474185083186253e-05;
    odd = odd * q + -0.0004188564465673323;
    odd = odd * q + 0.0017324219619210374;
    odd = odd * q + 0.027751546929182483;
    odd = odd * q + 0.007249679551209165;
    odd = odd * q + -0.21901405471390567;
    return (0.783130036418581 + v_sum_of_products(t, odd, q, even)) / (1.0 + 1.125 * a);
}

/* exp(x^2) erfc(x), at most 4 ulp; inf below -26.6. */
static ALWAYS_INLINE double v_erfcx(double x)
{
    double y = v_erfcx_positive(fabs(x));
    return x < 0.0 ? 2.0 * v_exp_square(x, 1.0) - y : y;
}

/* 1 - erf(x), at most 4 ulp where it exceeds 1e-307; 0 beyond. */
static ALWAYS_INLINE double v_erfc(double x)
{
    double y = v_exp_square(x, -1.0) * v_erfcx_positive(fabs(x));
    return x < 0.0 ? 2.0 - y : y;
}

/* erf(x), at most 2 ulp. */
static ALWAYS_INLINE double v_erf(double x)
{
    double a = fabs(x);
    double q = v_clamp(x, 1.0) * v_clamp(x, 1.0);
    double p = 5.957176147748911e-11;
    p = p * q + -1.1372848856791674e-09;
    p = p * q + 1.4659775274047436e-08;
    p = p * q + -1.6350312701054695e-07;
    p = p * q + 1.6461000484121368e-06;
    p = p * q + -1.4925595266831182e-05;
    p = p * q + 0.0001205533111164271;
    p = p * q + -0.000854832698083379;
    p = p * q + 0.0052239776248180145;
    p = p * q + -0.026866170645076792;
    p = p * q + 0.11283791670954879;
    p = p * q + -0.3761263890318375;
    double near = a + v_sum_of_products(a * q, p, 0.12837916709551257, a);
    double far = 1.0 - v_exp_square(a, -1.0) * v_erfcx_positive(a);
    return copysign(a < 1.0 ? near : far, x);
}

#endif
