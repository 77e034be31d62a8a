/* exp_lanes.h: the exponentials of all lanes side by side. A table of eight, which no loop over lanes
 * can read in vectors, shortens the polynomial of v_exp from degree 13 to 7. */
#ifndef PYSPEC_EXP_LANES_H
#define PYSPEC_EXP_LANES_H

#include "isa/vector.h"
#include "math/vmath.h"

/* The bits of 2^(j/8), and the same less j << 49: with k << 49 added, these are the bits of 2^(k/8) for all k
 * that leave j when divided by 8. */
static const uint64_t eighths[8] = {0x3ff0000000000000u, 0x3ff172b83c7d517bu, 0x3ff306fe0a31b715u,
                                    0x3ff4bfdad5362a27u, 0x3ff6a09e667f3bcdu, 0x3ff8ace5422aa0dbu,
                                    0x3ffae89f995ad3adu, 0x3ffd5818dcfba487u};
static const uint64_t bases[8] = {0x3ff0000000000000u, 0x3fef72b83c7d517bu, 0x3fef06fe0a31b715u,
                                  0x3feebfdad5362a27u, 0x3feea09e667f3bcdu, 0x3feeace5422aa0dbu,
                                  0x3feee89f995ad3adu, 0x3fef5818dcfba487u};

#if defined(__GNUC__)
typedef uint64_t bits_vector __attribute__((vector_size(WIDTH * sizeof(uint64_t))));

/* The entry of a table for the last three bits of each lane. */
static ALWAYS_INLINE bits_vector entry_of(const uint64_t *table, bits_vector j)
{
#if defined(__AVX512F__)
    return (bits_vector)_mm512_permutexvar_epi64((__m512i)j, _mm512_loadu_si512(table));
#elif defined(__AVX2__)
    const bits_vector pair = {0, 0, 0, 0}, odd = pair + ((uint64_t)1 << 32);
    /* Words 2 j and 2 j + 1 of either half of the table; bit 2 of j says which. */
    __m256i words = _mm256_shuffle_epi32((__m256i)(j << 1), 0xa0);
    words = _mm256_or_si256(words, (__m256i)odd);
    const __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)table);
    const __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(table + 4));
    return (bits_vector)_mm256_blendv_pd((__m256d)_mm256_permutevar8x32_epi32(low, words),
                                         (__m256d)_mm256_permutevar8x32_epi32(high, words),
                                         (__m256d)(j << 61));
#else
    bits_vector value = {0};
    for (int l = 0; l < WIDTH; l++)
        value[l] = table[j[l] & 7];
    return value;
#endif
}

/* exp(r) - 1 for what k ln2 / 8, k in the last bits of z, leaves of x. */
static ALWAYS_INLINE vector rise_of_rest(vector x, vector z)
{
    const vector k = z - ROUNDING_SHIFT;
    vector r = x - k * 0.08664339756069239;
    r = r - k * 9.300771387515496e-12;
    const vector r2 = r * r;
    const vector high = (0.0416666666175068 + r * 0.008333333327871156) +
                        r2 * (0.0013889587247893672 + r * 0.0001984204579240919);
    const vector q = (0.5000000000000051 + r * 0.16666666666666724) + r2 * high;
    return r + r2 * q;
}

/* 2^(k/8) where that is a double, and twice that is. */
static ALWAYS_INLINE vector power_of(vector z)
{
    return (vector)(entry_of(bases, (bits_vector)z) + ((bits_vector)z << 49));
}

/* exp(x) in each lane for -708 <= x <= 709.782, at most 1 ulp; nonsense elsewhere, and NaN for NaN. If
 * all lanes are `moderate`, x <= 709, fewer steps give the same bits.
 *
 * The reduction is x = k ln2 / 8 + r. It splits ln2 / 8: k times its leading part is exact. The last bits
 * of z hold k. A table of eight and the exponent give 2^(k/8). If all are `moderate`, they do so at once.
 * Otherwise k may round up to a power that is no double: an addition to the exponent of the result
 * follows instead. The remainder gives exp(r) - 1 = r + r^2 q(r). Here q is an interpolant of degree 5 at
 * Chebyshev points, to 1e-17. */
static ALWAYS_INLINE vector exp_inside(vector x, const int moderate)
{
    const vector z = x * 11.541560327111707 + ROUNDING_SHIFT;
    const vector rise = rise_of_rest(x, z);
    if (moderate) {
        const vector power = power_of(z);
        return power + power * rise;
    }
    const vector start = (vector)entry_of(eighths, (bits_vector)z);
    return (vector)((bits_vector)(start + start * rise) + (((bits_vector)z >> 3) << 52));
}

/* exp(x) - 1 where exp_inside is moderate: near 0 as exact as there. */
static ALWAYS_INLINE vector rise_inside(vector x)
{
    const vector z = x * 11.541560327111707 + ROUNDING_SHIFT;
    const vector power = power_of(z);
    return (power - 1.0) + power * rise_of_rest(x, z);
}
#endif

/* v_clamp in L lanes, in two instructions a vector: NaN stays NaN. gcc finds compares and blends. */
static ALWAYS_INLINE void clamp_lanes(double *x, double limit)
{
    const vector most = same_in_all(limit), least = same_in_all(-limit);
    FOR_WIDTHS put_vector(x + at, greater(least, lesser(most, load_vector(x + at))), 1);
}

/* x = exp(x) in L lanes, at most 1 ulp, with the ends of v_exp, unless all of them are known to be
 * `inside`, at most 709. */
static ALWAYS_INLINE void exp_lanes(double *x, const int inside)
{
#if defined(__GNUC__)
    double value[L];
    FOR_WIDTHS put_vector(inside ? x + at : value + at, exp_inside(load_vector(x + at), inside), 1);
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
