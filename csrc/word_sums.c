/* word_sums.c: what a checksum of measured data is taken of, in one pass over them. */
#include <string.h>

#include "pyspec.h"

/* Lines that are read at a time: the sums of columns are touched once for all of them. */
enum { TOGETHER = 4 };

static uint64_t word_at(const char *bytes, int64_t i)
{
    uint64_t word; /* bytes may begin anywhere */
    memcpy(&word, bytes + i * (int64_t)sizeof word, sizeof word);
    return word;
}

static void add_line(const char *bytes, int64_t line, uint64_t *columns, uint64_t *total)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < line; i++) {
        const uint64_t word = word_at(bytes, i);
        sum += word;
        columns[i] += word;
    }
    *total = sum;
}

static void add_lines(const char *bytes, int64_t line, uint64_t *columns, uint64_t *totals)
{
    const int64_t apart = line * (int64_t)sizeof(uint64_t);
    uint64_t sum[TOGETHER] = {0};
    for (int64_t i = 0; i < line; i++) {
        uint64_t column = columns[i];
        for (int k = 0; k < TOGETHER; k++) {
            const uint64_t word = word_at(bytes + k * apart, i);
            sum[k] += word;
            column += word;
        }
        columns[i] = column;
    }
    memcpy(totals, sum, sizeof sum);
}

int64_t pyspec_word_sums(const void *bytes, int64_t n_lines, int64_t line, int64_t most,
                         uint64_t *sums)
{
    const int64_t apart = line * (int64_t)sizeof(uint64_t);
    const char *next = bytes;
    uint64_t *end = sums;
    while (n_lines > 0) {
        const int64_t n = n_lines < most ? n_lines : most;
        uint64_t *columns = end + n;
        int64_t j = 0;
        for (int64_t i = 0; i < line; i++)
            columns[i] = 0;
        for (; j + TOGETHER <= n; j += TOGETHER)
            add_lines(next + j * apart, line, columns, end + j);
        for (; j < n; j++)
            add_line(next + j * apart, line, columns, end + j);
        next += n * apart;
        end = columns + line;
        n_lines -= n;
    }
    return end - sums;
}
