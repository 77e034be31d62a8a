/* vector_ops.c: what the dispatch loop does to whole blocks besides running kernels. Built for each
 * instruction set, like the energy kernels. */
#include "kernel.h"
#include "vector.h"
#include "vmath.h"

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

/* The dot products, lane by lane, of up to GRAM_TILE columns with as many others over a block: their
 * sums are kept in registers. Every sum runs over the block in order, so that the size of a tile
 * changes no bits. */
#if defined(__AVX512F__)
#define GRAM_TILE 4
#else
#define GRAM_TILE 3
#endif

typedef struct gram_tile {
    const double *a[GRAM_TILE], *b[GRAM_TILE];
    double *to[GRAM_TILE][GRAM_TILE];
} gram_tile;

/* n_a and n_b are numbers, not variables, so that no sum is computed that is not needed; on the
 * diagonal, where the columns are the same, those with j > k are not. Still columns `a` have one value
 * for all lanes. */
static ALWAYS_INLINE void fill_tile(const gram_tile *t, const int n_a, const int n_b,
                                    const int diagonal, const int still, int64_t n)
{
    FOR_WIDTHS {
        vector sum[GRAM_TILE][GRAM_TILE];
        for (int j = 0; j < n_a; j++)
            for (int k = 0; k < n_b; k++)
                sum[j][k] = NOTHING;
        for (int64_t i = 0; i < n; i++) {
            vector b[GRAM_TILE];
            for (int k = 0; k < n_b; k++) {
                b[k] = load_vector(t->b[k] + i * L + at);
                IN_REGISTER(b[k]);
            }
            for (int j = 0; j < n_a; j++) {
                vector a = still      ? same_in_all(t->a[j][i])
                           : diagonal ? b[j]
                                      : load_vector(t->a[j] + i * L + at);
                if (!diagonal)
                    IN_REGISTER(a);
                for (int k = 0; k < n_b; k++)
                    if (!diagonal || k >= j)
                        sum[j][k] += a * b[k];
            }
        }
        for (int j = 0; j < n_a; j++)
            for (int k = diagonal ? j : 0; k < n_b; k++)
                put_vector(t->to[j][k] + at, sum[j][k], 0);
    }
}

static ALWAYS_INLINE void run_columns(const gram_tile *t, const int n_a, int n_b, const int still,
                                      int64_t n)
{
    switch (n_b) {
    case 1: fill_tile(t, n_a, 1, 0, still, n); return;
    case 2: fill_tile(t, n_a, 2, 0, still, n); return;
    case 3: fill_tile(t, n_a, 3, 0, still, n); return;
    default: fill_tile(t, n_a, GRAM_TILE, 0, still, n);
    }
}

static ALWAYS_INLINE void run_any_tile(const gram_tile *t, int n_a, int n_b, const int still, int64_t n)
{
    switch (n_a) {
    case 1: run_columns(t, 1, n_b, still, n); return;
    case 2: run_columns(t, 2, n_b, still, n); return;
    case 3: run_columns(t, 3, n_b, still, n); return;
    default: run_columns(t, GRAM_TILE, n_b, still, n);
    }
}

static void run_still_tile(const gram_tile *t, int n_a, int n_b, int64_t n)
{
    run_any_tile(t, n_a, n_b, 1, n);
}

static void run_tile(const gram_tile *t, int n_a, int n_b, int diagonal, int64_t n)
{
    if (!diagonal) {
        run_any_tile(t, n_a, n_b, 0, n);
        return;
    }
    switch (n_a) {
    case 1: fill_tile(t, 1, 1, 1, 0, n); return;
    case 2: fill_tile(t, 2, 2, 1, 0, n); return;
    case 3: fill_tile(t, 3, 3, 1, 0, n); return;
    default: fill_tile(t, GRAM_TILE, GRAM_TILE, 1, 0, n);
    }
}

/* Columns are divided among tiles of about equal size: a tile of few sums waits for each of them. */
static int64_t count_tiles(int64_t count)
{
    return (count + GRAM_TILE - 1) / GRAM_TILE;
}

static int64_t tile_begin(int64_t tile, int64_t count)
{
    return tile * count / count_tiles(count);
}

/* triangle[j, k][L] += the sum over the block of columns[j] * columns[k], for the `count` columns
 * in the list, which rises; a triangle of that order. */
void BLOCK_OP(gram)(double *triangle, const double *const *columns, const int64_t *list,
                    int64_t count, int64_t order, int64_t n)
{
    const int64_t n_tiles = count_tiles(count);
    for (int64_t of_j = 0; of_j < n_tiles; of_j++)
        for (int64_t of_k = of_j; of_k < n_tiles; of_k++) {
            const int64_t j0 = tile_begin(of_j, count), k0 = tile_begin(of_k, count);
            const int n_a = (int)(tile_begin(of_j + 1, count) - j0);
            const int n_b = (int)(tile_begin(of_k + 1, count) - k0);
            gram_tile t;
            memset(&t, 0, sizeof t);
            for (int j = 0; j < n_a; j++)
                t.a[j] = columns[list[j0 + j]];
            for (int k = 0; k < n_b; k++)
                t.b[k] = columns[list[k0 + k]];
            for (int j = 0; j < n_a; j++)
                for (int k = j0 == k0 ? j : 0; k < n_b; k++)
                    t.to[j][k] =
                        triangle + L * triangle_at(order, list[j0 + j], list[k0 + k]);
            run_tile(&t, n_a, n_b, j0 == k0, n);
        }
}

/* The same for products of still columns with those of the list. */
void BLOCK_OP(cross)(double *triangle, const still_columns *still, const double *const *columns,
                     const int64_t *list, int64_t count, int64_t order, int64_t n)
{
    for (int64_t of_j = 0; of_j < count_tiles(still->n); of_j++)
        for (int64_t of_k = 0; of_k < count_tiles(count); of_k++) {
            const int64_t j0 = tile_begin(of_j, still->n), k0 = tile_begin(of_k, count);
            const int n_a = (int)(tile_begin(of_j + 1, still->n) - j0);
            const int n_b = (int)(tile_begin(of_k + 1, count) - k0);
            gram_tile t;
            memset(&t, 0, sizeof t);
            for (int k = 0; k < n_b; k++)
                t.b[k] = columns[list[k0 + k]];
            for (int j = 0; j < n_a; j++) {
                const int64_t own = still->list[j0 + j];
                t.a[j] = still->lines + (j0 + j) * still->stride;
                for (int k = 0; k < n_b; k++) {
                    const int64_t other = list[k0 + k];
                    const int64_t at = own < other ? triangle_at(order, own, other)
                                                   : triangle_at(order, other, own);
                    t.to[j][k] = triangle + L * at;
                }
            }
            run_still_tile(&t, n_a, n_b, n);
        }
}

/* to += from * change */
static ALWAYS_INLINE void add_change(double *to, const double *from, const double *change)
{
    FOR_WIDTHS put_vector(to + at, times_vector(load_vector(from + at), load_vector(change + at)), 0);
}

/* From n columns to theta: half = C^T sums, then out = C^T of that, where C is d column / d theta, lane
 * by lane, with 1 for the residual, which is the last column. */
void BLOCK_OP(chain)(double *restrict out, double *restrict half, const double *restrict sums,
                     const theta_column *columns, int64_t n, int64_t n_theta)
{
    const int64_t order = n + 1, width = n_theta + 1;
    memset(half, 0, (size_t)(order * width * L) * sizeof *half);
    memset(out, 0, (size_t)(triangle_size(width) * L) * sizeof *out);
    for (int64_t j = 0; j < order; j++) {
        double *to = half + j * width * L;
        memcpy(to + n_theta * L, sums + triangle_at(order, j, n) * L, L * sizeof *to);
        for (int64_t k = 0; k < n; k++) {
            const int64_t from = j < k ? triangle_at(order, j, k) : triangle_at(order, k, j);
            for (int64_t c = 0; c < columns[k].n; c++)
                add_change(to + columns[k].theta[c] * L, sums + from * L,
                           columns[k].slopes + c * columns[k].step);
        }
    }
    for (int64_t j = 0; j < n; j++)
        for (int64_t c = 0; c < columns[j].n; c++) {
            const int64_t own = columns[j].theta[c];
            for (int64_t k = own; k <= n_theta; k++)
                add_change(out + triangle_at(width, own, k) * L, half + (j * width + k) * L,
                           columns[j].slopes + c * columns[j].step);
        }
    memcpy(out + triangle_at(width, n_theta, n_theta) * L, sums + triangle_at(order, n, n) * L,
           L * sizeof *out);
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
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define SHUFFLE __builtin_shufflevector
#endif
#endif

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

/* to[j][i] = from[i][j] for i, j < 4, minus what stands in `less`, if it is not NULL, where it goes. */
static ALWAYS_INLINE void turn_fours(double *restrict to, int64_t to_row,
                                     const double *restrict from, int64_t from_row,
                                     const double *restrict less)
{
#if defined(SHUFFLE) && defined(__AVX__)
    typedef double quad __attribute__((vector_size(4 * sizeof(double))));
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
