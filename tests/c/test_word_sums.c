/* test_word_sums.c: sums of lines and columns, block by block. */
#include <string.h>

#include "pyspec.h"
#include "unit.h"

enum { LINE = 5, MOST = 6, LINES = 16, BLOCKS = 3 };

static uint64_t word(int64_t j, int64_t i)
{
    return UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)(1 + j * LINE + i); /* sums overflow */
}

static void each_block_has_its_lines_and_columns(void)
{
    char bytes[LINES * LINE * 8 + 1];
    for (int64_t n_lines = 0; n_lines <= LINES; n_lines++)
        for (int64_t shift = 0; shift <= 1; shift++) {
            for (int64_t j = 0; j < n_lines; j++)
                for (int64_t i = 0; i < LINE; i++) {
                    uint64_t value = word(j, i);
                    memcpy(bytes + shift + 8 * (j * LINE + i), &value, 8);
                }
            uint64_t found[LINES + BLOCKS * LINE + 1], *next = found;
            memset(found, 0x55, sizeof found);
            const uint64_t untouched = found[0];
            int64_t n = pyspec_word_sums(bytes + shift, n_lines, LINE, MOST, found);
            for (int64_t begin = 0; begin < n_lines; begin += MOST) {
                int64_t end = begin + MOST < n_lines ? begin + MOST : n_lines;
                for (int64_t j = begin; j < end; j++) {
                    uint64_t sum = 0;
                    for (int64_t i = 0; i < LINE; i++)
                        sum += word(j, i);
                    CHECK(*next++ == sum);
                }
                for (int64_t i = 0; i < LINE; i++) {
                    uint64_t sum = 0;
                    for (int64_t j = begin; j < end; j++)
                        sum += word(j, i);
                    CHECK(*next++ == sum);
                }
            }
            CHECK(n == next - found);
            CHECK(*next == untouched);
        }
}

int main(void)
{
    RUN(each_block_has_its_lines_and_columns);
    return REPORT;
}
