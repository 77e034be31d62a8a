/* residual_sums.c: what a residual says of its noise: how large it is, how alike neighbours are, and how much they
 * differ along each axis. Points that are not kept are 0: they add nothing to sums of products. */
#include "sums/residual_sums.h"

#include "isa/lanes.h"
#include "tables/status.h"

#include <math.h>

/* BODY(i, k) for each of n values, in lane k. */
#define EACH(n, BODY)                                                                              \
    do {                                                                                           \
        int64_t at = 0;                                                                            \
        for (; at + L <= (n); at += L)                                                             \
            for (int k = 0; k < L; k++)                                                            \
                BODY(at + k, k)                                                                    \
        for (; at < (n); at++)                                                                     \
            BODY(at, 0)                                                                            \
    } while (0)

static double sum_of(const double *lanes)
{
    double sum = 0.0;
    for (int k = 0; k < L; k++)
        sum += lanes[k];
    return sum;
}

/* Squares, their squares, and the largest size. */
static void add_powers(const double *r, int64_t n, double *sums)
{
    double squares[L] = {0.0}, fourth[L] = {0.0}, largest[L] = {0.0};
#define POWERS(i, k)                                                                               \
    {                                                                                              \
        const double size = fabs(r[i]), square = size * size;                                      \
        squares[k] += square;                                                                      \
        fourth[k] += square * square;                                                              \
        largest[k] = size > largest[k] ? size : largest[k];                                        \
    }
    EACH(n, POWERS);
    sums[1] += sum_of(squares);
    sums[3] += sum_of(fourth);
    for (int k = 0; k < L; k++)
        sums[2] = largest[k] > sums[2] ? largest[k] : sums[2];
}

/* How many sizes are smaller than two. */
static void add_smaller(const double *r, int64_t n, double first, double second, double *sums)
{
    double below[L] = {0.0}, more[L] = {0.0};
#define SMALLER(i, k)                                                                              \
    {                                                                                              \
        below[k] += fabs(r[i]) < first ? 1.0 : 0.0;                                                \
        more[k] += fabs(r[i]) < second ? 1.0 : 0.0;                                                \
    }
    EACH(n, SMALLER);
    sums[4] += sum_of(below);
    sums[5] += sum_of(more);
}

/* n pairs of neighbours: their products, and the squares of these. */
static void add_pairs(const double *a, const double *b, int64_t n, double *sums)
{
    double products[L] = {0.0}, squares[L] = {0.0};
#define PAIRS(i, k)                                                                                \
    {                                                                                              \
        const double product = a[i] * b[i];                                                        \
        products[k] += product;                                                                    \
        squares[k] += product * product;                                                           \
    }
    EACH(n, PAIRS);
    sums[1] += sum_of(products);
    sums[2] += sum_of(squares);
}

static double count_pairs(const uint8_t *a, const uint8_t *b, int64_t n)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += a[i] && b[i];
    return (double)count;
}

/* Differences of squares of four points that do not overlap, along a line of them. With a single row or column,
 * `below` or `right` is 0, and pairs take the place of squares. */
static void add_differences(const double *r, const uint8_t *keep, int64_t below, int64_t right, int64_t n,
                            double *row, int64_t n_rows, double *column)
{
    const double one = below ? 1.0 : 0.0, two = right ? 1.0 : 0.0;
    const double share = below && right ? 0.5 : below || right ? sqrt(0.5) : 1.0;
    for (int64_t i = 0; i < n; i++) {
        const double *p = r + 2 * i;
        const uint8_t *kept = keep ? keep + 2 * i : NULL;
        if (kept && !(kept[0] && kept[below] && kept[right] && kept[below + right]))
            continue;
        const double d = p[0] - one * p[below] - two * p[right] + one * two * p[below + right];
        const double size = fabs(d) * share, root = sqrt(size);
        row[0] += 1.0;
        row[n_rows] += root;
        row[2 * n_rows] += size;
        column[i] += 1.0;
        column[n + i] += root;
        column[2 * n + i] += size;
    }
}

int pyspec_residual_sums(const double *residual, const uint8_t *keep, int64_t n_rows, int64_t n_columns,
                         const double *parts, double *sums, double *rows, double *columns)
{
    if (!residual || !parts || !sums || !rows || !columns)
        return -STATUS_NULL_POINTER;
    if (n_rows < 1 || n_columns < 1)
        return -STATUS_SIZE;
    const int64_t below = n_rows > 1 ? n_columns : 0, right = n_columns > 1;
    const int64_t n_j = below ? n_rows / 2 : 1, n_i = right ? n_columns / 2 : 1;
    for (int k = 0; k < 12; k++)
        sums[k] = 0.0;
    for (int64_t k = 0; k < 3 * n_j; k++)
        rows[k] = 0.0;
    for (int64_t k = 0; k < 3 * n_i; k++)
        columns[k] = 0.0;
    for (int64_t j = 0; j < n_rows; j++) {
        const double *r = residual + j * n_columns;
        const uint8_t *kept = keep ? keep + j * n_columns : NULL;
        add_powers(r, n_columns, sums);
        sums[0] += kept ? count_pairs(kept, kept, n_columns) : (double)n_columns;
        if (j + 1 < n_rows) {
            add_pairs(r, r + n_columns, n_columns, sums + 6);
            sums[6] += kept ? count_pairs(kept, kept + n_columns, n_columns) : (double)n_columns;
        }
        add_pairs(r, r + right, n_columns - 1, sums + 9);
        sums[9] += kept ? count_pairs(kept, kept + right, n_columns - 1) : (double)(n_columns - 1);
        if (j % 2 == 0 && j / 2 < n_j)
            add_differences(r, kept, below, right, n_i, rows + j / 2, n_j, columns);
    }
    add_smaller(residual, n_rows * n_columns, parts[0] * sums[2], parts[1] * sums[2], sums);
    return STATUS_OK;
}
