/* test_residual_sums.c: sums over a residual, against the formulas written out. */
#include "sums/residual_sums.h"
#include "support/unit.h"

enum { ROWS = 5, WIDTH = 19 };

static double point(int64_t j, int64_t i)
{
    return (double)((7 * j + 5 * i) % 11) - 4.75;
}

static int is_near(double found, double expected)
{
    return fabs(found - expected) <= 1e-13 * (1.0 + fabs(expected));
}

/* The difference of neighbours that a square of points has, or a pair, or one point alone; NaN if one is not kept. */
static double difference(const double *r, int64_t n_rows, int64_t n_columns, int64_t j, int64_t i)
{
    double d = 0.0, n = 0.0;
    for (int64_t b = 0; b < (n_rows > 1 ? 2 : 1); b++)
        for (int64_t a = 0; a < (n_columns > 1 ? 2 : 1); a++, n += 1.0)
            d += ((a + b) % 2 ? -1.0 : 1.0) * r[(2 * j + b) * n_columns + 2 * i + a];
    return d / sqrt(n);
}

/* r has NaN where a point is not kept. */
static void check(const double *r, int64_t n_rows, int64_t n_columns, int with_mask)
{
    double values[ROWS * WIDTH], expected[12] = {0.0}, sums[12], rows[3 * ROWS], columns[3 * WIDTH];
    uint8_t keep[ROWS * WIDTH];
    const double parts[2] = {0.3, 0.8};
    const int64_t n = n_rows * n_columns;
    for (int64_t k = 0; k < n; k++) {
        keep[k] = r[k] == r[k];
        values[k] = keep[k] ? r[k] : 0.0;
        expected[0] += keep[k];
        expected[1] += values[k] * values[k];
        expected[2] = fmax(expected[2], fabs(values[k]));
        expected[3] += pow(values[k], 4.0);
    }
    for (int64_t k = 0; k < n; k++) {
        expected[4] += fabs(values[k]) < 0.3 * expected[2];
        expected[5] += fabs(values[k]) < 0.8 * expected[2];
        for (int axis = 0; axis < 2; axis++) {
            const int64_t next = axis ? k + 1 : k + n_columns;
            if ((axis ? next % n_columns == 0 : next >= n) || !keep[k] || !keep[next])
                continue;
            expected[6 + 3 * axis] += 1.0;
            expected[7 + 3 * axis] += r[k] * r[next];
            expected[8 + 3 * axis] += r[k] * r[next] * r[k] * r[next];
        }
    }
    CHECK(pyspec_residual_sums(values, with_mask ? keep : NULL, n_rows, n_columns, parts, sums, rows,
                               columns) == 0);
    for (int k = 0; k < 12; k++)
        CHECK(is_near(sums[k], expected[k]));
    const int64_t n_j = n_rows > 1 ? n_rows / 2 : 1, n_i = n_columns > 1 ? n_columns / 2 : 1;
    for (int axis = 0; axis < 2; axis++)
        for (int64_t line = 0; line < (axis ? n_i : n_j); line++) {
            double of_line[3] = {0.0, 0.0, 0.0};
            for (int64_t k = 0; k < (axis ? n_j : n_i); k++) {
                const double d = axis ? difference(r, n_rows, n_columns, k, line)
                                      : difference(r, n_rows, n_columns, line, k);
                if (d != d)
                    continue;
                of_line[0] += 1.0;
                of_line[1] += sqrt(fabs(d));
                of_line[2] += fabs(d);
            }
            for (int k = 0; k < 3; k++)
                CHECK(is_near((axis ? columns + k * n_i : rows + k * n_j)[line], of_line[k]));
        }
}

TEST(they_are_those_of_the_formulas)
{
    for (int64_t n_rows = 1; n_rows <= ROWS; n_rows++)
        for (int64_t n_columns = 1; n_columns <= WIDTH; n_columns++) {
            double whole[ROWS * WIDTH], masked[ROWS * WIDTH];
            for (int64_t k = 0; k < n_rows * n_columns; k++) {
                whole[k] = point(k / n_columns, k % n_columns);
                masked[k] = k % 13 == 3 || k == 0 ? (double)NAN : whole[k];
            }
            check(whole, n_rows, n_columns, 0);
            check(whole, n_rows, n_columns, 1);
            check(masked, n_rows, n_columns, 1);
        }
}

TEST(nothing_is_refused)
{
    double one[12] = {0.0};
    CHECK(pyspec_residual_sums(NULL, NULL, 1, 1, one, one, one, one) < 0);
    CHECK(pyspec_residual_sums(one, NULL, 0, 1, one, one, one, one) < 0);
    CHECK(pyspec_residual_sums(one, NULL, 1, 0, one, one, one, one) < 0);
    CHECK(pyspec_residual_sums(one, NULL, 1, 1, one, NULL, one, one) < 0);
}

UNIT_MAIN
