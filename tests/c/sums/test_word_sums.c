/* test_word_sums.c: sums of lines and columns, block by block, and of the squares. */
#include <string.h>

#include "isa/kernel.h"
#include "support/plans.h"
#include "support/unit.h"

enum { LINE = 21, MOST = 6, LINES = 16, BLOCKS = 3 };

static double number(int64_t j, int64_t i)
{
    return (double)(j - 7) + 0.25 * (double)i; /* squares are exact */
}

static uint64_t word(int64_t j, int64_t i)
{
    const double value = number(j, i);
    uint64_t found; /* a few of them overflow together */
    memcpy(&found, &value, sizeof found);
    return found;
}

/* The sums of n_lines lines against plain loops; returns how many there are. */
static int64_t check_words(const uint64_t *found, int64_t n_lines)
{
    const uint64_t *next = found;
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
    return next - found;
}

TEST_ALL(each_block_has_its_lines_and_columns)
{
    char bytes[LINES * LINE * 8 + 1];
    for (int64_t n_lines = 0; n_lines <= LINES; n_lines++)
        for (int64_t shift = 0; shift <= 1; shift++) {
            double expected = 0.0;
            for (int64_t j = 0; j < n_lines; j++)
                for (int64_t i = 0; i < LINE; i++) {
                    uint64_t value = word(j, i);
                    memcpy(bytes + shift + 8 * (j * LINE + i), &value, 8);
                    expected += number(j, i) * number(j, i);
                }
            for (int squares = 0; squares < 2; squares++) {
                uint64_t found[LINES + BLOCKS * LINE + 1];
                double square = -1.0;
                memset(found, 0x55, sizeof found);
                const uint64_t untouched = found[0];
                int64_t n = pyspec_word_sums(test_isa, bytes + shift, n_lines, LINE, MOST, found,
                                             squares ? &square : NULL);
                CHECK_INT(n, check_words(found, n_lines));
                CHECK(found[n] == untouched);
                CHECK(square == (squares ? expected : -1.0));
            }
        }
}

TEST(an_unknown_instruction_set_is_refused)
{
    uint64_t sums[2] = {5, 5};
    CHECK_INT(pyspec_word_sums(N_ISA, "12345678", 1, 1, 1, sums, NULL), -STATUS_ISA);
    CHECK(sums[0] == 5);
}

/* Blocks of no line never come to an end. */
TEST(what_makes_no_sense_is_refused)
{
    uint64_t sums[2] = {5, 5};
    CHECK_INT(pyspec_word_sums(0, "12345678", 1, 1, 0, sums, NULL), -STATUS_SIZE);
    CHECK_INT(pyspec_word_sums(0, "12345678", 1, 1, -1, sums, NULL), -STATUS_SIZE);
    CHECK_INT(pyspec_word_sums(0, "12345678", -1, 1, 1, sums, NULL), -STATUS_SIZE);
    CHECK_INT(pyspec_word_sums(0, "12345678", 1, -1, 1, sums, NULL), -STATUS_SIZE);
    CHECK_INT(pyspec_word_sums(0, NULL, 1, 1, 1, sums, NULL), -STATUS_NULL_POINTER);
    CHECK_INT(pyspec_word_sums(0, "12345678", 1, 1, 1, NULL, NULL), -STATUS_NULL_POINTER);
    CHECK_INT(pyspec_word_sums(0, NULL, 0, 1, 1, NULL, NULL), 0);
    CHECK(sums[0] == 5);
}

UNIT_MAIN
