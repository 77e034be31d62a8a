/* vector_ops.c: what the dispatch loop does to whole blocks besides running kernels. Built for each
 * instruction set, like the energy kernels. */
#include "isa/kernel.h"
#include "isa/vector.h"
#include "math/vmath.h"

#include <string.h>

/* target[n][L] = or += value[n][L] */
void BLOCK_OP(add)(double *restrict target, const double *restrict value, int64_t n, int store)
{
    if (store)
        for (int64_t i = 0; i < n * L; i++)
            target[i] = value[i];
    else
        for (int64_t i = 0; i < n * L; i++)
            target[i] = target[i] + value[i];
}

/* target[n][L] = or += line[n] in every lane */
void BLOCK_OP(spread)(double *restrict target, const double *restrict line, int64_t n, int store)
{
    FOR_BLOCK FOR_WIDTHS put_vector(target + i * L + at, same_in_all(line[i]), store);
}

/* target[n][L] = or += value[n][L] * factor[L] */
void BLOCK_OP(scale)(double *restrict target, const double *restrict value,
                     const double *restrict factor, int64_t n, int store)
{
    FOR_BLOCK FOR_WIDTHS put_vector(target + i * L + at,
                                    load_vector(value + i * L + at) * load_vector(factor + at),
                                    store);
}

/* target[n][L] = or += line[n] * factor[L] */
void BLOCK_OP(spread_scaled)(double *restrict target, const double *restrict line,
                             const double *restrict factor, int64_t n, int store)
{
    FOR_BLOCK FOR_WIDTHS put_vector(target + i * L + at, line[i] * load_vector(factor + at), store);
}

/* value[n][L] *= factor[n][L]; where the factor is 0 so is the value, be it what it may */
void BLOCK_OP(weigh)(double *restrict value, const double *restrict factor, int64_t n)
{
    FOR_BLOCK FOR_LANES value[AT] = factor[AT] == 0.0 ? 0.0 : value[AT] * factor[AT];
}

/* out[n] = or += factor * line[n] */
void BLOCK_OP(add_line)(double *restrict out, const double *restrict line, double factor, int64_t n,
                        int store)
{
    if (store)
        FOR_BLOCK out[i] = factor * line[i];
    else
        FOR_BLOCK out[i] = out[i] + factor * line[i];
}

/* out[n] = the sum of the lines, each times its factor */
void BLOCK_OP(mix)(double *restrict out, const double *restrict lines, int64_t stride,
                   const double *restrict factors, int64_t n_lines, int64_t n)
{
    FOR_BLOCK out[i] = factors[0] * lines[i];
    for (int64_t k = 1; k < n_lines; k++)
        FOR_BLOCK out[i] = out[i] + factors[k] * lines[k * stride + i];
}

/* Blocks are turned in vectors that the processor has. Each has a name: compilers keep arrays of them in
 * memory. */
#define LOAD(type, name, from)                                                                     \
    type name;                                                                                     \
    memcpy(&name, from, sizeof name)

/* to[j][i] and what lies behind it = the numbers, minus those in `less` if there are any. */
#define PUT_TURNED(type, j, i, ...)                                                                \
    do {                                                                                           \
        type turned = SHUFFLE(__VA_ARGS__);                                                        \
        if (less) {                                                                                \
            LOAD(type, taken, less + (j) * to_row + (i));                                          \
            turned -= taken;                                                                       \
        }                                                                                          \
        memcpy(to + (j) * to_row + (i), &turned, sizeof turned);                                   \
    } while (0)

/* to[j][i] = from[i][j] for i, j < 4. Subtracts the number in `less` at the target, unless `less` is
 * NULL. */
static ALWAYS_INLINE void turn_fours(double *restrict to, int64_t to_row,
                                     const double *restrict from, int64_t from_row,
                                     const double *restrict less)
{
#if HAS_QUADS
    LOAD(quad, a, from);
    LOAD(quad, b, from + from_row);
    LOAD(quad, c, from + 2 * from_row);
    LOAD(quad, d, from + 3 * from_row);
    const quad even_ab = SHUFFLE(a, b, 0, 4, 2, 6), even_cd = SHUFFLE(c, d, 0, 4, 2, 6);
    const quad odd_ab = SHUFFLE(a, b, 1, 5, 3, 7), odd_cd = SHUFFLE(c, d, 1, 5, 3, 7);
    PUT_TURNED(quad, 0, 0, even_ab, even_cd, 0, 1, 4, 5);
    PUT_TURNED(quad, 1, 0, odd_ab, odd_cd, 0, 1, 4, 5);
    PUT_TURNED(quad, 2, 0, even_ab, even_cd, 2, 3, 6, 7);
    PUT_TURNED(quad, 3, 0, odd_ab, odd_cd, 2, 3, 6, 7);
#elif defined(SHUFFLE)
    typedef double pair __attribute__((vector_size(2 * sizeof(double))));
    for (int i = 0; i < 4; i += 2)
        for (int j = 0; j < 4; j += 2) {
            LOAD(pair, a, from + i * from_row + j);
            LOAD(pair, b, from + (i + 1) * from_row + j);
            PUT_TURNED(pair, j, i, a, b, 0, 2);
            PUT_TURNED(pair, j + 1, i, a, b, 1, 3);
        }
#else
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++)
            to[j * to_row + i] = from[i * from_row + j] - (less ? less[j * to_row + i] : 0.0);
#endif
}

/* rows[l][n] = value[n][L], rows `stride` doubles apart */
void BLOCK_OP(turn)(double *restrict rows, int64_t stride, const double *restrict value, int64_t n,
                    int64_t n_lanes)
{
    const int64_t whole_n = n / 4 * 4, whole_lanes = n_lanes / 4 * 4;
    for (int64_t l = 0; l < whole_lanes; l += 4)
        for (int64_t i = 0; i < whole_n; i += 4)
            turn_fours(rows + l * stride + i, stride, value + i * L + l, L, NULL);
    for (int64_t l = 0; l < n_lanes; l++)
        for (int64_t i = l < whole_lanes ? whole_n : 0; i < n; i++)
            rows[l * stride + i] = value[AT];
}

/* value[n][L] = rows[L][n], rows `stride` doubles apart */
void BLOCK_OP(interleave)(double *restrict value, const double *restrict rows, int64_t stride,
                          int64_t n)
{
    const int64_t whole_n = n / 4 * 4;
    for (int64_t i = 0; i < whole_n; i += 4)
        for (int64_t l = 0; l < L; l += 4)
            turn_fours(value + i * L + l, L, rows + l * stride + i, stride, NULL);
    for (int64_t i = whole_n; i < n; i++)
        FOR_LANES value[AT] = rows[l * stride + i];
}

/* out[n][L] = rows[L][n] - value[n][L], rows `stride` doubles apart */
void BLOCK_OP(differ)(double *restrict out, const double *restrict rows, int64_t stride,
                      const double *restrict value, int64_t n)
{
    const int64_t whole_n = n / 4 * 4;
    for (int64_t i = 0; i < whole_n; i += 4)
        for (int64_t l = 0; l < L; l += 4)
            turn_fours(out + i * L + l, L, rows + l * stride + i, stride, value + i * L + l);
    for (int64_t i = whole_n; i < n; i++)
        FOR_LANES out[AT] = rows[l * stride + i] - value[AT];
}

/* out[n] = data[n] - out[n] */
void BLOCK_OP(subtract)(double *restrict out, const double *restrict data, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = data[i] - out[i];
}

/* sum = a . b, in L parts that do not wait for one another */
void BLOCK_OP(dot)(double *restrict sum, const double *restrict a, const double *restrict b,
                   int64_t n)
{
    double part[L] = {0.0};
    int64_t j = 0;
    for (; j + L <= n; j += L)
        FOR_LANES part[l] += a[j + l] * b[j + l];
    for (; j < n; j++)
        part[0] += a[j] * b[j];
    *sum = 0.0;
    FOR_LANES *sum += part[l];
}

/* Dot products that are taken at a time, as many as registers hold. */
#if defined(__AVX__)
enum { DOTS = MOST_DOTS };
#else
enum { DOTS = 3 };
#endif

/* n_dots is a number, not a variable. */
static ALWAYS_INLINE void add_dots(double *const *to, const double *a, const double *const *b,
                                   const int n_dots, int64_t n)
{
    vector sum[DOTS][L / WIDTH];
    int64_t j = 0;
    for (int k = 0; k < n_dots; k++)
        for (int v = 0; v < L / WIDTH; v++)
            sum[k][v] = NOTHING;
    for (; j + L <= n; j += L)
        for (int v = 0; v < L / WIDTH; v++)
            for (int k = 0; k < n_dots; k++)
                sum[k][v] += load_vector(a + j + v * WIDTH) * load_vector(b[k] + j + v * WIDTH);
    for (int k = 0; k < n_dots; k++) {
        double part[L], total = 0.0;
        memcpy(part, sum[k], sizeof part);
        for (int64_t i = j; i < n; i++)
            part[0] += a[i] * b[k][i];
        FOR_LANES total += part[l];
        *to[k] += total;
    }
}

/* *to[k] += a . b[k]: a is read once for several; with the bits of a dot product alone. */
void BLOCK_OP(dots)(double *const *to, const double *a, const double *const *b, int64_t n_dots,
                    int64_t n)
{
    for (; n_dots > 0; n_dots -= DOTS, to += DOTS, b += DOTS)
        switch (n_dots) {
        case 1: add_dots(to, a, b, 1, n); break;
        case 2: add_dots(to, a, b, 2, n); break;
#if defined(__AVX__)
        case 3: add_dots(to, a, b, 3, n); break;
        case 4: add_dots(to, a, b, 4, n); break;
        case 5: add_dots(to, a, b, 5, n); break;
#endif
        default: add_dots(to, a, b, DOTS, n);
        }
}
