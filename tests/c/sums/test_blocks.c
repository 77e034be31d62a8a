/* test_blocks.c: lanes become rows and rows lanes, whatever their number; nothing else is written. */
#include "isa/kernel.h"
#include "support/plans.h"
#include "support/unit.h"

enum { MORE = 3, STRIDE = BLOCK + MORE };
static const double untouched = -7.0;

static void set_all(double *values, int64_t n, double value)
{
    for (int64_t i = 0; i < n; i++)
        values[i] = value;
}

TEST_ALL(lanes_become_rows)
{
    double value[BLOCK * L], rows[L * STRIDE];
    for (int64_t i = 0; i < BLOCK * L; i++)
        value[i] = (double)i;
    for (int64_t n = 0; n <= BLOCK; n++)
        for (int64_t n_lanes = 0; n_lanes <= L; n_lanes++) {
            set_all(rows, L * STRIDE, untouched);
            pyspec_block_table[test_isa].turn(rows, STRIDE, value, n, n_lanes);
            for (int64_t l = 0; l < L; l++)
                for (int64_t i = 0; i < STRIDE; i++)
                    CHECK(rows[l * STRIDE + i] ==
                          (l < n_lanes && i < n ? value[i * L + l] : untouched));
        }
}

TEST_ALL(rows_become_lanes)
{
    double value[(BLOCK + MORE) * L], rows[L * STRIDE];
    for (int64_t i = 0; i < L * STRIDE; i++)
        rows[i] = (double)i;
    for (int64_t n = 0; n <= BLOCK; n++) {
        set_all(value, (BLOCK + MORE) * L, untouched);
        pyspec_block_table[test_isa].interleave(value, rows, STRIDE, n);
        for (int64_t i = 0; i < BLOCK + MORE; i++)
            for (int64_t l = 0; l < L; l++)
                CHECK(value[i * L + l] == (i < n ? rows[l * STRIDE + i] : untouched));
    }
}

UNIT_MAIN
