/* strip_ops.c: what sums over a strip of rows are made of where spectra are lines times heights. Built
 * for each instruction set, like the energy kernels. */
#include "walk/guard.h"
#include "isa/kernel.h"
#include "isa/vector.h"

#include <string.h>

/* Vectors of a row that are taken at a time: with their sums by up to five functions of time they stay in
 * registers, and two vectors with their sums by up to MOST_SUMS. */
#if defined(__AVX512F__)
enum { ACROSS = 4, MOST_SUMS = 8 };
#else
enum { ACROSS = 2, MOST_SUMS = 5 };
#endif

/* Data are called up so many rows ahead: rows lie too far apart for the processor to do so by itself. */
enum { AHEAD = 8 };

/* Flags for the use of the residuals. They are constants: the compiler makes a loop for each way. */
enum { BY_X = 1, BY_ROW = 2, KEEPS = 4, OF_DATA = 8, ALONE = 16 };

/* Columns begin ... begin + n_vectors * WIDTH - 1 of a strip, of which the last `beyond` of the last
 * vector do not exist. Vector k of a row is squared into square[k % ACROSS], whatever number of them is
 * taken at a time: chi^2 has the same bits with and without sums. */
static ALWAYS_INLINE void take_columns(const strip_data *s, int64_t begin, vector *square,
                                       const int n_vectors, const int beyond, const int n_sums,
                                       const int what)
{
    const int64_t n_lines = s->n_lines, n_rows = s->n_rows, stride = s->stride;
    const double *data = s->data + begin, *heights = s->heights, *times = s->times;
    double *residuals = s->residuals + (what & KEEPS ? begin : 0);
    vector sum[MOST_SUMS][ACROSS], weight[ACROSS], own_square[ACROSS];
    square += begin / WIDTH % ACROSS;
    for (int v = 0; v < n_vectors; v++)
        own_square[v] = square[v];
    for (int own = 0; own < n_sums; own++)
        for (int v = 0; v < n_vectors; v++)
            sum[own][v] = NOTHING;
    for (int v = 0; what & BY_X && v < n_vectors; v++)
        weight[v] = beyond ? load_first(s->by_x + begin, WIDTH - beyond)
                           : load_vector(s->by_x + begin + v * WIDTH);
    for (int64_t j = 0; j < n_rows; j++, data += s->data_row, times++) {
        const double *line = what & ALONE ? NULL : s->lines + begin;
        vector r[ACROSS], d[ACROSS]; /* d: what is summed over time */
        if (what & BY_ROW && s->by_row[j] == 0.0) {
            for (int v = 0; what & KEEPS && v < n_vectors; v++)
                put_vector(residuals + j * BLOCK + v * WIDTH, NOTHING, 1);
            if (!(what & ALONE)) /* which has no heights */
                heights += n_lines;
            continue;
        }
        for (int v = 0; v < n_vectors; v++)
            d[v] = r[v] = beyond ? load_first(data, WIDTH - beyond) : load_vector(data + v * WIDTH);
        for (int v = 0; j + AHEAD < n_rows && v < n_vectors; v++)
            CALL_UP(data + AHEAD * s->data_row + v * WIDTH);
        for (int64_t k = 0; !(what & ALONE) && k < n_lines; k++, heights++, line += stride) {
            const vector height = same_in_all(*heights);
            for (int v = 0; v < n_vectors; v++)
                r[v] = less_product(r[v], height, load_vector(line + v * WIDTH));
        }
        for (int v = 0; what & BY_X && v < n_vectors; v++) {
            r[v] = times_vector(weight[v], r[v]);
            d[v] = times_vector(weight[v], d[v]);
        }
        for (int v = 0; what & BY_ROW && v < n_vectors; v++) {
            r[v] *= s->by_row[j];
            d[v] *= s->by_row[j];
        }
        for (int v = 0; beyond && v < n_vectors; v++)
            r[v] = keep_first(r[v], WIDTH - beyond);
        for (int v = 0; !(what & OF_DATA) && v < n_vectors; v++)
            d[v] = r[v];
        for (int v = 0; !(what & ALONE) && v < n_vectors; v++)
            own_square[v] = add_product(own_square[v], r[v], r[v]);
        for (int own = 0; own < n_sums; own++)
            for (int v = 0; v < n_vectors; v++)
                sum[own][v] = add_product(sum[own][v], same_in_all(times[own * STRIP]), d[v]);
        for (int v = 0; what & KEEPS && v < n_vectors; v++)
            put_vector(residuals + j * BLOCK + v * WIDTH, d[v], 1);
    }
    for (int v = 0; v < n_vectors; v++)
        square[v] = own_square[v];
    for (int own = 0; own < n_sums; own++)
        for (int v = 0; v < n_vectors; v++)
            put_vector(s->sums + own * stride + begin + v * WIDTH, sum[own][v], 1);
}

static ALWAYS_INLINE void take_strip(const strip_data *s, int64_t n, vector *square,
                                     const int across, const int n_sums, const int what)
{
    int64_t begin = 0;
    for (; begin + across * WIDTH <= n; begin += across * WIDTH)
        take_columns(s, begin, square, across, 0, n_sums, what);
    for (; begin + 2 * WIDTH <= n; begin += 2 * WIDTH)
        take_columns(s, begin, square, 2, 0, n_sums, what);
    for (; begin + WIDTH <= n; begin += WIDTH)
        take_columns(s, begin, square, 1, 0, n_sums, what);
    if (begin < n)
        take_columns(s, begin, square, 1, (int)(begin + WIDTH - n), n_sums, what);
}

static ALWAYS_INLINE void take_weighted(const strip_data *s, int64_t n, vector *square,
                                        const int across, const int n_sums, const int what)
{
    switch ((s->by_x ? BY_X : 0) + (s->by_row ? BY_ROW : 0)) {
    case 0: take_strip(s, n, square, across, n_sums, what); break;
    case BY_X: take_strip(s, n, square, across, n_sums, what + BY_X); break;
    case BY_ROW: take_strip(s, n, square, across, n_sums, what + BY_ROW); break;
    default: take_strip(s, n, square, across, n_sums, what + BY_X + BY_ROW);
    }
}

/* More functions of time than registers: what is summed goes through memory. */
static ALWAYS_INLINE void take_many(const strip_data *s, int64_t n, vector *square, const int what)
{
    const double *times = s->times + CONTRACT_TILE * STRIP;
    take_weighted(s, n, square, ACROSS, CONTRACT_TILE, KEEPS + what);
    for (int64_t k = CONTRACT_TILE; k < s->n_times; k++)
        memset(s->sums + k * s->stride, 0, (size_t)round_up(n, 2 * WIDTH) * sizeof(double));
    for (int64_t j = 0; n < BLOCK && j < s->n_rows; j++)
        memset(s->residuals + j * BLOCK + n, 0, (size_t)(BLOCK - n) * sizeof(double));
    BLOCK_OP(contract)(s->sums + CONTRACT_TILE * s->stride, s->stride, times,
                       s->n_times - CONTRACT_TILE, s->residuals, s->n_rows, n);
}

/* Sums of the residuals. */
static void sum_residuals(const strip_data *s, vector *sum, int64_t n)
{
    switch (s->sums ? s->n_times : 0) {
    case 0: take_weighted(s, n, sum, ACROSS, 0, 0); break;
    case 1:
    case 2:
    case 3: take_weighted(s, n, sum, ACROSS, 3, 0); break;
    case 4: take_weighted(s, n, sum, ACROSS, 4, 0); break;
    case 5: take_weighted(s, n, sum, ACROSS, 5, 0); break;
#if defined(__AVX512F__)
    case 6:
    case 7: take_weighted(s, n, sum, 2, 7, 0); break;
    case 8: take_weighted(s, n, sum, 2, 8, 0); break;
#endif
    default: take_many(s, n, sum, 0);
    }
}

/* Sums of the data. */
static ALWAYS_INLINE void sum_data(const strip_data *s, vector *sum, int64_t n, const int what)
{
    switch (s->n_times) {
    case 1: take_weighted(s, n, sum, ACROSS, 1, what); break;
    case 2: take_weighted(s, n, sum, ACROSS, 2, what); break;
    case 3: take_weighted(s, n, sum, ACROSS, 3, what); break;
    case 4: take_weighted(s, n, sum, ACROSS, 4, what); break;
    default: take_many(s, n, sum, what);
    }
}

static void sum_data_and_squares(const strip_data *s, vector *sum, int64_t n)
{
    sum_data(s, sum, n, OF_DATA);
}

static void sum_data_alone(const strip_data *s, vector *sum, int64_t n)
{
    sum_data(s, sum, n, OF_DATA + ALONE);
}

/* Let r[j][i] = (data[j][i] - sum of heights[j][k] lines[k][i]) times its weight, and 0 where the weight is 0.
 * `square` is the sum of their squares. sums[k][i] = the sum over j of times[k][j] r[j][i]. If of_data, data[j][i]
 * times its weight replaces r[j][i] there, and the sum runs over j in order. If `alone`, only these sums are computed.
 * Sums after n, and of functions up to a whole tile, are undefined. */
void BLOCK_OP(strip)(const strip_data *s, double *square, int64_t n)
{
    vector sum[ACROSS] = {NOTHING};
    double parts[ACROSS * WIDTH];
    if (s->sums && s->alone)
        sum_data_alone(s, sum, n);
    else if (s->sums && s->of_data)
        sum_data_and_squares(s, sum, n);
    else
        sum_residuals(s, sum, n);
    memcpy(parts, sum, sizeof parts);
    *square = 0.0;
    for (int i = 0; i < ACROSS * WIDTH; i++)
        *square += parts[i];
}

/* As many functions as n_sums says, a number, not a variable. */
static ALWAYS_INLINE void add_rows(double *sums, int64_t stride, const double *factors,
                                   const double *rows, int64_t n_rows, int64_t n, const int n_sums)
{
    for (int64_t at = 0; at < n; at += 2 * WIDTH) {
        vector sum[CONTRACT_TILE][2];
        for (int own = 0; own < n_sums; own++)
            sum[own][0] = sum[own][1] = NOTHING;
        for (int64_t j = 0; j < n_rows; j++)
            for (int own = 0; own < n_sums; own++)
                for (int v = 0; v < 2; v++)
                    sum[own][v] +=
                        factors[own * STRIP + j] * load_vector(rows + j * BLOCK + at + v * WIDTH);
        for (int own = 0; own < n_sums; own++)
            for (int v = 0; v < 2; v++)
                put_vector(sums + own * stride + at + v * WIDTH, sum[own][v], 0);
    }
}

/* Rows of a block, one behind the other, end with a whole pair of vectors. */
_Static_assert(BLOCK % (2 * WIDTH) == 0, "a block is no whole pairs of vectors");

/* sums[k][i] += the sum over j of factors[k][j] * rows[j][i], for n up to whole pairs of vectors,
 * where rows are 0. Every sum runs over j in order. */
void BLOCK_OP(contract)(double *sums, int64_t stride, const double *factors, int64_t n_sums,
                        const double *rows, int64_t n_rows, int64_t n)
{
    for (; n_sums > 0; n_sums -= CONTRACT_TILE) {
        switch (n_sums) {
        case 1: add_rows(sums, stride, factors, rows, n_rows, n, 1); break;
        case 2: add_rows(sums, stride, factors, rows, n_rows, n, 2); break;
        case 3: add_rows(sums, stride, factors, rows, n_rows, n, 3); break;
        default: add_rows(sums, stride, factors, rows, n_rows, n, CONTRACT_TILE);
        }
        sums += CONTRACT_TILE * stride;
        factors += CONTRACT_TILE * STRIP;
    }
}

/* A number of vectors that lie one behind the other, not a variable: they stay in registers. */
static ALWAYS_INLINE void add_across(double *out, const double *lines, int64_t stride,
                                     const double *factors, int64_t n_lines, const int n_vectors)
{
    vector sum[4];
    for (int v = 0; v < n_vectors; v++)
        sum[v] = load_vector(out + v * WIDTH);
    for (int64_t k = 0; k < n_lines; k++, lines += stride)
        for (int v = 0; v < n_vectors; v++)
            sum[v] = add_product(sum[v], same_in_all(factors[k]), load_vector(lines + v * WIDTH));
    for (int v = 0; v < n_vectors; v++)
        put_vector(out + v * WIDTH, sum[v], 1);
}

/* out[i] += the sum of the lines, each times its factor, for n up to a whole multiple of L. */
void BLOCK_OP(add_lines)(double *out, const double *lines, int64_t stride, const double *factors,
                         int64_t n_lines, int64_t n)
{
    int64_t at = 0;
    for (; at + 4 * WIDTH <= n; at += 4 * WIDTH)
        add_across(out + at, lines + at, stride, factors, n_lines, 4);
    for (; at < n; at += WIDTH)
        add_across(out + at, lines + at, stride, factors, n_lines, 1);
}
