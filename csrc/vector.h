/* vector.h: the lanes of a row in vectors of the processor, which compilers do not find by themselves.
 * Read once for each instruction set. */
#ifndef PYSPEC_VECTOR_H
#define PYSPEC_VECTOR_H

#include "kernel.h"

#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
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

static ALWAYS_INLINE vector same_in_all(double value)
{
    return value - (vector){0.0}; /* x - 0 is x, -0 too */
}

/* sum + a * b, rounded once where the processor can: compilers decide from loop to loop whether they
 * write such a sum as one instruction. */
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

static ALWAYS_INLINE void put_vector(double *to, vector value, int store)
{
    if (!store)
        value = load_vector(to) + value;
    memcpy(to, &value, sizeof value);
}

/* a * b; 0 where a is, be b what it may: what overflowed must not make a 0 NaN. */
static ALWAYS_INLINE vector times_vector(vector a, vector b)
{
    typedef long long bits __attribute__((vector_size(WIDTH * sizeof(double))));
    return (vector)((bits)(a * b) & (bits)(a != 0.0));
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
typedef double vector;
#define times_vector(a, b) ((a) == 0.0 ? 0.0 : (a) * (b))
#define load_first(from, n) (*(from))
#define keep_first(value, n) (value)
#define load_vector(from) (*(from))
#define IN_REGISTER(value) ((void)(value))
#define same_in_all(value) (value)
#define add_product(sum, a, b) ((sum) + (a) * (b))
#define put_vector(to, value, store) (*(to) = (store) ? (value) : *(to) + (value))
#endif

/* An operation on blocks, by its name, of this instruction set. */
#define BLOCK_OP(name) JOIN(pyspec_block_, name, ISA_SUFFIX)

#define NOTHING ((vector){0.0})

#define FOR_WIDTHS for (int at = 0; at < L; at += WIDTH)

#endif
