/* test_square.c: sums of squares of rows that lie apart. */
#include "pyspec.h"
#include "unit.h"

static void it_is_the_sum_of_squares(void)
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
            double found = pyspec_square(&values[0][0], n_rows, n_columns, (int64_t)sizeof values[0]);
            CHECK(found == expected); /* small multiples of 1/16: no rounding */
        }
}

static void what_is_not_finite_stays_so(void)
{
    const double values[] = {1.0, (double)NAN, 2.0}, large[] = {1e300, 1.0};
    CHECK(isnan(pyspec_square(values, 1, 3, 24)));
    CHECK(isinf(pyspec_square(large, 1, 2, 16)));
}

int main(void)
{
    RUN(it_is_the_sum_of_squares);
    RUN(what_is_not_finite_stays_so);
    return REPORT;
}
