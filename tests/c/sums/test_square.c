/* test_square.c: sums of squares of rows that lie apart. */
#include "pyspec.h"
#include "support/unit.h"

TEST(it_is_the_sum_of_squares)
{
    enum { ROWS = 3, WIDTH = 40 };
    double values[ROWS][WIDTH];
    for (int j = 0; j < ROWS; j++)
        for (int i = 0; i < WIDTH; i++)
            values[j][i] = j - 1.5 + 0.25 * i;
    for (int64_t n_columns = 0; n_columns <= WIDTH; n_columns++)
        for (int64_t n_rows = 0; n_rows <= ROWS; n_rows++) {
            double expected = 0.0;
            for (int64_t j = 0; j < n_rows; j++)
                for (int64_t i = 0; i < n_columns; i++)
                    expected += values[j][i] * values[j][i];
            double found = pyspec_square(&values[0][0], n_rows, n_columns, (int64_t)sizeof values[0],
                                         NULL, 0, 0, NULL, 0, 0);
            CHECK(found == expected); /* small multiples of 1/16: no rounding */
        }
}

/* Weights and a mask of each point, of whole rows, of whole columns, or none, in every pair. What is left
 * out may be NaN. */
TEST(weights_and_masks_count)
{
    enum { ROWS = 5, WIDTH = 27 };
    double values[ROWS][WIDTH], weight[ROWS][WIDTH];
    uint8_t keep[ROWS][WIDTH];
    for (int of_weight = 0; of_weight < 4; of_weight++)
        for (int of_keep = 0; of_keep < 4; of_keep++) {
            /* 0: none, 1: of rows, 2: of columns, 3: of points */
            const int64_t size = (int64_t)sizeof(double);
            double expected = 0.0;
            for (int j = 0; j < ROWS; j++)
                for (int i = 0; i < WIDTH; i++) {
                    const int a = of_weight & 1 ? j : 0, b = of_weight & 2 ? i : 0;
                    const int c = of_keep & 1 ? j : 0, d = of_keep & 2 ? i : 0;
                    weight[j][i] = of_weight ? 0.5 + 0.25 * ((3 * a + 5 * b) % 7) : 1.0;
                    keep[j][i] = !of_keep || (c + 2 * d) % 3 != 1;
                    values[j][i] = keep[j][i] ? j - 1.5 + 0.25 * i : (double)NAN;
                    if (keep[j][i])
                        expected += values[j][i] * weight[j][i] * values[j][i] * weight[j][i];
                }
            const int64_t weight_row = of_weight & 1 ? WIDTH * size : 0, weight_x = of_weight & 2 ? size : 0;
            const int64_t keep_row = of_keep & 1 ? WIDTH : 0, keep_x = of_keep & 2 ? 1 : 0;
            const double found = pyspec_square(&values[0][0], ROWS, WIDTH, WIDTH * size,
                                               of_weight ? &weight[0][0] : NULL, weight_row, weight_x,
                                               of_keep ? &keep[0][0] : NULL, keep_row, keep_x);
            CHECK(found == expected); /* small multiples of 1/256: no rounding */
        }
}

/* Steps are bytes, also where they are not those of neighbours. */
TEST(steps_may_be_any)
{
    const double values[] = {1.0, 2.0, 3.0, 4.0}, weight[] = {1.0, 9.0, 2.0, 9.0, 1.0, 9.0, 3.0, 9.0};
    const uint8_t keep[] = {1, 0, 0, 0, 1, 0, 1, 0};
    CHECK(pyspec_square(values, 1, 4, 32, weight, 0, 16, NULL, 0, 0) == 1.0 + 16.0 + 9.0 + 144.0);
    CHECK(pyspec_square(values, 1, 4, 32, NULL, 0, 0, keep, 0, 2) == 1.0 + 9.0 + 16.0);
    CHECK(pyspec_square(values, 1, 4, 32, weight, 0, 16, keep, 0, 2) == 1.0 + 9.0 + 144.0);
    CHECK(pyspec_square(values, 2, 2, 16, weight, 32, 16, keep, 4, 2) == 1.0 + 9.0 + 144.0);
    CHECK(isnan(pyspec_square(NULL, 1, 4, 32, NULL, 0, 0, NULL, 0, 0)));
    CHECK(pyspec_square(NULL, 0, 4, 32, NULL, 0, 0, NULL, 0, 0) == 0.0);
}

TEST(what_is_not_finite_stays_so)
{
    const double values[] = {1.0, (double)NAN, 2.0}, large[] = {1e300, 1.0};
    CHECK(isnan(pyspec_square(values, 1, 3, 24, NULL, 0, 0, NULL, 0, 0)));
    CHECK(isinf(pyspec_square(large, 1, 2, 16, NULL, 0, 0, NULL, 0, 0)));
}

UNIT_MAIN
