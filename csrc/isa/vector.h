/* vector.h: the lanes of a row in vectors of the processor, which compilers do not find by themselves.
 * Read once for each instruction set. */
#ifndef PYSPEC_VECTOR_H
#define PYSPEC_VECTOR_H

#include "isa/kernel.h"

#include <math.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#if defined(__GNUC__)
#if defined(__AVX512F__)
#define WIDTH 8
#elif defined(__AVX__)
#define WIDTH 4
#else
#define WIDTH 2
#endif
typedef double vector __attribute__((vector_size(WIDTH * sizeof(double))));

/* A vector of lanes of two others, by their numbers; some compilers have none. */
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define SHUFFLE __builtin_shufflevector
#endif
#endif

/* Vectors of four doubles, which are turned in fewer steps than wider ones. */
#if defined(SHUFFLE) && defined(__AVX__)
#define HAS_QUADS 1
typedef double quad __attribute__((vector_size(4 * sizeof(double))));
#else
#define HAS_QUADS 0
#endif

static ALWAYS_INLINE vector load_vector(const double *from)
{
    vector value;
    memcpy(&value, from, sizeof value);
    return value;
}

/* A vector that stays in a register, where compilers would read it again for each use. */
#if defined(__x86_64__) || defined(__i386__)
#define IN_REGISTER(value) __asm__("" : "+v"(value))
#else
#define IN_REGISTER(value) ((void)(value))
#endif

/* Asks the processor to fetch what lies there into its caches. */
#define CALL_UP(place) __builtin_prefetch(place)

static ALWAYS_INLINE vector same_in_all(double value)
{
    return value - (vector){0.0}; /* x - 0 is x, -0 too */
}

/* sum + a * b, rounded once if the processor has FMA. Written as a plain sum, the compiler would
 * decide for each loop whether it becomes one instruction. */
static ALWAYS_INLINE vector add_product(vector sum, vector a, vector b)
{
#if defined(__AVX512F__)
    return (vector)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)sum);
#elif defined(__FMA__)
    return (vector)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)sum);
#else
    return sum + a * b;
#endif
}

/* sum - a * b, likewise. */
static ALWAYS_INLINE vector less_product(vector sum, vector a, vector b)
{
#if defined(__AVX512F__)
    return (vector)_mm512_fnmadd_pd((__m512d)a, (__m512d)b, (__m512d)sum);
#elif defined(__FMA__)
    return (vector)_mm256_fnmadd_pd((__m256d)a, (__m256d)b, (__m256d)sum);
#else
    return sum - a * b;
#endif
}

static ALWAYS_INLINE void put_vector(double *to, vector value, int store)
{
    if (!store)
        value = load_vector(to) + value;
    memcpy(to, &value, sizeof value);
}

typedef long long mask_vector __attribute__((vector_size(WIDTH * sizeof(double))));

/* a where a comparison of vectors holds, else b. */
static ALWAYS_INLINE vector choose(mask_vector when, vector a, vector b)
{
    return (vector)(((mask_vector)a & when) | ((mask_vector)b & ~when));
}

static ALWAYS_INLINE vector square_root(vector a)
{
#if defined(__AVX512F__)
    return (vector)_mm512_sqrt_pd((__m512d)a);
#elif defined(__AVX2__)
    return (vector)_mm256_sqrt_pd((__m256d)a);
#elif defined(__SSE2__)
    return (vector)_mm_sqrt_pd((__m128d)a);
#else
    for (int l = 0; l < WIDTH; l++)
        a[l] = sqrt(a[l]);
    return a;
#endif
}

/* a where it is less (greater) than b, else b: the minimum (maximum) of processors. */
static ALWAYS_INLINE vector lesser(vector a, vector b)
{
#if defined(__AVX512F__)
    return (vector)_mm512_min_pd((__m512d)a, (__m512d)b);
#elif defined(__AVX2__)
    return (vector)_mm256_min_pd((__m256d)a, (__m256d)b);
#elif defined(__SSE2__)
    return (vector)_mm_min_pd((__m128d)a, (__m128d)b);
#else
    return choose(a < b, a, b);
#endif
}

static ALWAYS_INLINE vector greater(vector a, vector b)
{
#if defined(__AVX512F__)
    return (vector)_mm512_max_pd((__m512d)a, (__m512d)b);
#elif defined(__AVX2__)
    return (vector)_mm256_max_pd((__m256d)a, (__m256d)b);
#elif defined(__SSE2__)
    return (vector)_mm_max_pd((__m128d)a, (__m128d)b);
#else
    return choose(a > b, a, b);
#endif
}

/* What comparisons of several vectors found, and whether that is anything. */
typedef mask_vector marks;

static ALWAYS_INLINE int any_of(marks seen)
{
#if defined(__AVX512DQ__)
    return _mm512_movepi64_mask((__m512i)seen) != 0;
#elif defined(__AVX2__)
    return _mm256_movemask_pd((__m256d)seen) != 0;
#else
    long long any = 0;
    for (int l = 0; l < WIDTH; l++)
        any |= seen[l];
    return any != 0;
#endif
}

/* a / b in less than half of the time that AVX-512 takes to divide. An inverse of 14 bits is improved
 * twice, and the quotient is corrected by its remainder (P. Markstein, IBM J. Res. Dev. 34, 111 (1990)).
 * It is rounded like a division, except for two doubles that are equally near to 1e-15 of their distance.
 * For |a| < 2^-960 it is right to 1 ulp. Lanes without a normal number are divided. */
static ALWAYS_INLINE vector quotient(vector a, vector b)
{
#if defined(__AVX512DQ__)
    enum { NO_NORMAL_NUMBER = 0xbf };
    const __m512d one = _mm512_set1_pd(1.0), up = (__m512d)a, down = (__m512d)b;
    __m512d inverse = _mm512_rcp14_pd(down);
    inverse = _mm512_fmadd_pd(_mm512_fnmadd_pd(down, inverse, one), inverse, inverse);
    inverse = _mm512_fmadd_pd(_mm512_fnmadd_pd(down, inverse, one), inverse, inverse);
    const __m512d close = _mm512_mul_pd(up, inverse);
    __m512d found = _mm512_fmadd_pd(_mm512_fnmadd_pd(down, close, up), inverse, close);
    const __mmask8 odd = _mm512_fpclass_pd_mask(found, NO_NORMAL_NUMBER);
    if (__builtin_expect(odd != 0, 0))
        found = _mm512_mask_div_pd(found, odd, up, down);
    return (vector)found;
#else
    return a / b;
#endif
}

/* a * b; 0 where a is, be b what it may: what overflowed must not make a 0 NaN. */
static ALWAYS_INLINE vector times_vector(vector a, vector b)
{
    return (vector)((mask_vector)(a * b) & (mask_vector)(a != 0.0));
}

/* The first n numbers, behind which there is nothing: 0 there. */
static ALWAYS_INLINE vector load_first(const double *from, int n)
{
    double first[WIDTH] = {0.0};
    for (int i = 0; i < n; i++)
        first[i] = from[i];
    return load_vector(first);
}

/* The first n numbers of a vector, be the others what they may: 0 there. */
static ALWAYS_INLINE vector keep_first(vector value, int n)
{
    double all[WIDTH];
    memcpy(all, &value, sizeof all);
    return load_first(all, n);
}
#else
#define WIDTH 1
#define HAS_QUADS 0
typedef double vector;
typedef int marks;
#define any_of(seen) (seen)
#define choose(when, a, b) ((when) ? (a) : (b))
#define square_root(a) sqrt(a)
#define lesser(a, b) ((a) < (b) ? (a) : (b))
#define greater(a, b) ((a) > (b) ? (a) : (b))
#define times_vector(a, b) ((a) == 0.0 ? 0.0 : (a) * (b))
#define load_first(from, n) (*(from))
#define keep_first(value, n) (value)
#define load_vector(from) (*(from))
#define IN_REGISTER(value) ((void)(value))
#define CALL_UP(place) ((void)(place))
#define same_in_all(value) (value)
#define add_product(sum, a, b) ((sum) + (a) * (b))
#define less_product(sum, a, b) ((sum) - (a) * (b))
#define quotient(a, b) ((a) / (b))
#define put_vector(to, value, store) (*(to) = (store) ? (value) : *(to) + (value))
#endif

/* An operation on blocks, by its name, of this instruction set. */
#define BLOCK_OP(name) JOIN(pyspec_block_, name, ISA_SUFFIX)

#define NOTHING ((vector){0.0})

#define FOR_WIDTHS for (int at = 0; at < L; at += WIDTH)

/* Whether any of n numbers is NaN. */
static inline int has_nan(const double *numbers, int64_t n)
{
    marks seen = {0};
    int found = 0;
    int64_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH)
        seen |= load_vector(numbers + i) != load_vector(numbers + i);
    for (; i < n; i++)
        found |= numbers[i] != numbers[i];
    return found || any_of(seen);
}

#endif
