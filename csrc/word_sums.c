/* word_sums.c: what a checksum of measured data is taken of, in one pass over them. */
#include <string.h>

#include "pyspec.h"

int64_t pyspec_word_sums(const void *bytes, int64_t n_lines, int64_t line, int64_t most,
                         uint64_t *sums)
{
    const char *next = bytes;
    uint64_t *end = sums;
    while (n_lines > 0) {
        const int64_t n = n_lines < most ? n_lines : most;
        uint64_t *columns = end + n;
        for (int64_t i = 0; i < line; i++)
            columns[i] = 0;
        for (int64_t j = 0; j < n; j++, next += line * (int64_t)sizeof(uint64_t)) {
            uint64_t total = 0;
            for (int64_t i = 0; i < line; i++) {
                uint64_t word; /* bytes may begin anywhere */
                memcpy(&word, next + i * (int64_t)sizeof word, sizeof word);
                total += word;
                columns[i] += word;
            }
            end[j] = total;
        }
        end = columns + line;
        n_lines -= n;
    }
    return end - sums;
}
