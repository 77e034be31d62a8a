/* exp_lanes.h: the exponentials of all lanes side by side. A table of eight, which no loop over lanes
 * can read in vectors, shortens the polynomial of v_exp from degree 13 to 7. */
#ifndef PYSPEC_EXP_LANES_H
#define PYSPEC_EXP_LANES_H

#include "vector.h"
#include "vmath.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* 2^(j/8) for j in the last three bits of each lane. */
static const double eighths[8] = {1.0,
                                  1.0905077326652577,
                                  1.189207115002721,
                                  1.2968395546510096,
                                  1.4142135623730951,
                                  1.5422108254079407,
                                  1.681792830507429,
                                  1.8340080864093424};

#if defined(__GNUC__)
typedef uint64_t bits_vector __attribute__((vector_size(WIDTH * sizeof(uint64_t))));

static ALWAYS_INLINE vector eighth_of(bits_vector j)
{
#if defined(__AVX512F__)
    return (vector)_mm512_permutexvar_pd((__m512i)j, _mm512_loadu_pd(eighths));
#elif defined(__AVX2__)
    const bits_vector pair = {0, 0, 0, 0}, odd = pair + ((uint64_t)1 << 32);
    /* Words 2 j and 2 j + 1 of either half of the table; bit 2 of j says which. */
    __m256i words = _mm256_shuffle_epi32((__m256i)(j << 1), 0xa0);
    words = _mm256_or_si256(words, (__m256i)odd);
    const __m256 low = _mm256_castpd_ps(_mm256_loadu_pd(eighths));
    const __m256 high = _mm256_castpd_ps(_mm256_loadu_pd(eighths + 4));
    return (vector)_mm256_blendv_pd(_mm256_castps_pd(_mm256_permutevar8x32_ps(low, words)),
                                    _mm256_castps_pd(_mm256_permutevar8x32_ps(high, words)),
                                    (__m256d)(j << 61));
#else
    vector value = {0};
    for (int l = 0; l < WIDTH; l++)
        value[l] = eighths[j[l] & 7];
    return value;
#endif
}

/* exp(x) in each lane for -708 <= x <= 709.782, at most 1 ulp; nonsense elsewhere, and NaN for NaN.
 *
 * x = k ln2 / 8 + r, with ln2 / 8 split so that k times its leading part is exact; 2^(k/8) by a table
 * of eight and the exponent, which is added to the result: that is normal, as x is in range; exp(r)
 * - 1 = r + r^2 q(r), q an interpolant of degree 5 at Chebyshev points, to 1e-17. */
static ALWAYS_INLINE vector exp_inside(vector x)
{
    const vector z = x * 11.541560327111707 + ROUNDING_SHIFT;
    const vector k = z - ROUNDING_SHIFT;
    vector r = x - k * 0.08664339756069239;
    r = r - k * 9.300771387515496e-12;
    const vector r2 = r * r;
    const vector high = (0.0416666666175068 + r * 0.008333333327871156) +
                        r2 * (0.0013889587247893672 + r * 0.0001984204579240919);
    const vector q = (0.5000000000000051 + r * 0.16666666666666724) + r2 * high;
    const vector rise = r + r2 * q, start = eighth_of((bits_vector)z);
    const vector near_one = start + start * rise;
    return (vector)((bits_vector)near_one + (((bits_vector)z >> 3) << 52));
}
#endif

/* v_clamp in L lanes, in two instructions a vector: NaN stays NaN. gcc finds compares and blends. */
static ALWAYS_INLINE void clamp_lanes(double *x, double limit)
{
#if defined(__AVX512F__)
    const __m512d most = _mm512_set1_pd(limit), least = _mm512_set1_pd(-limit);
    _mm512_storeu_pd(x, _mm512_max_pd(least, _mm512_min_pd(most, _mm512_loadu_pd(x))));
#elif defined(__AVX2__)
    const __m256d most = _mm256_set1_pd(limit), least = _mm256_set1_pd(-limit);
    FOR_WIDTHS
    {
        const __m256d value = _mm256_min_pd(most, _mm256_loadu_pd(x + at));
        _mm256_storeu_pd(x + at, _mm256_max_pd(least, value));
    }
#else
    FOR_LANES x[l] = v_clamp(x[l], limit);
#endif
}

/* x = exp(x) in L lanes, at most 1 ulp, with the ends of v_exp, unless all of them are known to be
 * `inside`. */
static ALWAYS_INLINE void exp_lanes(double *x, const int inside)
{
#if defined(__GNUC__)
    double value[L];
    FOR_WIDTHS put_vector(inside ? x + at : value + at, exp_inside(load_vector(x + at)), 1);
    if (!inside) IN_LANES {
        const double above = x[l] < -708.0 ? 0.0 : value[l];
        x[l] = x[l] > 709.782712893384 ? INFINITY : above;
    }
#else
    (void)inside;
    FOR_LANES x[l] = v_exp(x[l]);
#endif
}

#endif
