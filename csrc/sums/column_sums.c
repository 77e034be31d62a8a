/* column_sums.c: sums over a block of products of columns of J, and from columns to theta. Built for each
 * instruction set, like the energy kernels. */
#include "isa/kernel.h"
#include "isa/vector.h"

#include <string.h>

/* ---- products over a block ----------------------------------------------------------------- */

/* The dot products, lane by lane, of up to GRAM_TILE columns with as many others over a block, or of
 * GRAM_OWN columns among themselves: their sums are kept in registers. Every sum runs over the block in
 * order, so that the size of a tile changes no bits. */
#if defined(__AVX512F__)
#define GRAM_TILE 4
#define GRAM_OWN 6
#else
#define GRAM_TILE 3
#define GRAM_OWN 3
#endif

typedef struct gram_tile {
    const double *a[GRAM_OWN], *b[GRAM_OWN];
    double *to[GRAM_OWN][GRAM_OWN];
} gram_tile;

/* n_a and n_b are constants: the compiler leaves out sums that are not needed. On the diagonal, with
 * the same columns on both sides, sums with j > k are left out. Still columns `a` have one value for
 * all lanes. */
static ALWAYS_INLINE void fill_tile(const gram_tile *t, const int n_a, const int n_b,
                                    const int diagonal, const int still, int64_t n)
{
    FOR_WIDTHS {
        vector sum[GRAM_OWN][GRAM_OWN];
        for (int j = 0; j < n_a; j++)
            for (int k = 0; k < n_b; k++)
                sum[j][k] = NOTHING;
        for (int64_t i = 0; i < n; i++) {
            vector b[GRAM_OWN];
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
#if GRAM_OWN > 4
    case 4: fill_tile(t, 4, 4, 1, 0, n); return;
    case 5: fill_tile(t, 5, 5, 1, 0, n); return;
#endif
    default: fill_tile(t, GRAM_OWN, GRAM_OWN, 1, 0, n);
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

/* The sum that belongs to two columns, of which either may have the lower number. */
static double *sum_at(double *triangle, int64_t order, int64_t j, int64_t k)
{
    return triangle + L * (j < k ? triangle_at(order, j, k) : triangle_at(order, k, j));
}

/* triangle[j, k][L] += the sum over the block of columns[j] * columns[k], for the `count` columns
 * in the list; a triangle of that order. */
void BLOCK_OP(gram)(double *triangle, const double *const *columns, const int64_t *list,
                    int64_t count, int64_t order, int64_t n)
{
    const int64_t n_tiles = count > GRAM_OWN ? count_tiles(count) : 1;
    for (int64_t of_j = 0; of_j < n_tiles; of_j++)
        for (int64_t of_k = of_j; of_k < n_tiles; of_k++) {
            const int64_t j0 = of_j * count / n_tiles, k0 = of_k * count / n_tiles;
            const int n_a = (int)((of_j + 1) * count / n_tiles - j0);
            const int n_b = (int)((of_k + 1) * count / n_tiles - k0);
            gram_tile t;
            memset(&t, 0, sizeof t);
            for (int j = 0; j < n_a; j++)
                t.a[j] = columns[list[j0 + j]];
            for (int k = 0; k < n_b; k++)
                t.b[k] = columns[list[k0 + k]];
            for (int j = 0; j < n_a; j++)
                for (int k = j0 == k0 ? j : 0; k < n_b; k++)
                    t.to[j][k] = sum_at(triangle, order, list[j0 + j], list[k0 + k]);
            run_tile(&t, n_a, n_b, j0 == k0, n);
        }
}

/* The same for products of the columns in `a` with those in `b`, none of which is in both. `lines`: those in
 * `a` have one value for all lanes. */
void BLOCK_OP(cross)(double *triangle, const double *const *columns, const int64_t *a, int64_t n_a,
                     const int64_t *b, int64_t n_b, int64_t order, int64_t n, int lines)
{
    for (int64_t of_j = 0; of_j < count_tiles(n_a); of_j++)
        for (int64_t of_k = 0; of_k < count_tiles(n_b); of_k++) {
            const int64_t j0 = tile_begin(of_j, n_a), k0 = tile_begin(of_k, n_b);
            const int n_j = (int)(tile_begin(of_j + 1, n_a) - j0);
            const int n_k = (int)(tile_begin(of_k + 1, n_b) - k0);
            gram_tile t;
            memset(&t, 0, sizeof t);
            for (int k = 0; k < n_k; k++)
                t.b[k] = columns[b[k0 + k]];
            for (int j = 0; j < n_j; j++) {
                t.a[j] = columns[a[j0 + j]];
                for (int k = 0; k < n_k; k++)
                    t.to[j][k] = sum_at(triangle, order, a[j0 + j], b[k0 + k]);
            }
            if (lines)
                run_still_tile(&t, n_j, n_k, n);
            else
                run_tile(&t, n_j, n_k, 0, n);
        }
}

/* ---- sums over the lanes ------------------------------------------------------------------ */

/* The sum of the lanes of one vector of L. */
static ALWAYS_INLINE double fold_one(const double *value)
{
    _Static_assert(L == 8, "a sum of eight");
    return ((value[0] + value[4]) + (value[1] + value[5])) +
           ((value[2] + value[6]) + (value[3] + value[7]));
}

#if HAS_QUADS
static ALWAYS_INLINE quad add_halves(const double *value)
{
    quad a, b;
    memcpy(&a, value, sizeof a);
    memcpy(&b, value + 4, sizeof b);
    return a + b;
}
#endif

/* The same of four vectors. */
static ALWAYS_INLINE void fold_four(double *line, const double *value)
{
#if HAS_QUADS
    const quad a = add_halves(value), b = add_halves(value + L);
    const quad c = add_halves(value + 2 * L), d = add_halves(value + 3 * L);
    const quad ab = SHUFFLE(a, b, 0, 4, 2, 6) + SHUFFLE(a, b, 1, 5, 3, 7);
    const quad cd = SHUFFLE(c, d, 0, 4, 2, 6) + SHUFFLE(c, d, 1, 5, 3, 7);
    const quad sums = SHUFFLE(ab, cd, 0, 1, 4, 5) + SHUFFLE(ab, cd, 2, 3, 6, 7);
    memcpy(line, &sums, sizeof sums);
#else
    for (int i = 0; i < 4; i++)
        line[i] = fold_one(value + i * L);
#endif
}

/* line[n] = the sum of the lanes of value[n][L]; up to a whole number of vectors, 0. */
void BLOCK_OP(fold)(double *restrict line, const double *restrict value, int64_t n)
{
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        fold_four(line + i, value + i * L);
    for (; i < n; i++)
        line[i] = fold_one(value + i * L);
    for (; i % L; i++)
        line[i] = 0.0;
}

/* ---- from columns to theta ---------------------------------------------------------------- */

/* to += from * change */
static ALWAYS_INLINE void add_change(double *to, const double *from, const double *change)
{
    FOR_WIDTHS put_vector(to + at, times_vector(load_vector(from + at), load_vector(change + at)), 0);
}

/* From n columns to theta: half = C^T sums, then out = C^T of that, lane by lane. C is d column / d
 * theta. It is 1 for the residual, the last column. */
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
