/* word_sums.c: what a checksum of measured data is taken of, in one pass over them; and data drawn anew. */
#include "isa/kernel.h"
#include "tables/status.h"

int64_t pyspec_word_sums(int64_t isa, const void *bytes, int64_t n_lines, int64_t line, int64_t most,
                         uint64_t *sums, double *square)
{
    if (!pyspec_isa_supported(isa))
        return -STATUS_ISA;
    if (n_lines < 0 || line < 0 || most < 1)
        return -STATUS_SIZE;
    if ((!bytes || !sums) && n_lines)
        return -STATUS_NULL_POINTER;
    const int64_t apart = line * (int64_t)sizeof(uint64_t);
    const char *next = bytes;
    uint64_t *end = sums;
    if (square)
        *square = 0.0;
    while (n_lines > 0) {
        const int64_t n = n_lines < most ? n_lines : most;
        uint64_t *columns = end + n;
        for (int64_t i = 0; i < line; i++)
            columns[i] = 0;
        for (int64_t j = 0, some; j < n; j += some) {
            some = n - j < WORD_LINES ? 1 : WORD_LINES;
            pyspec_block_table[isa].words(next + j * apart, some, line, columns, end + j, square);
        }
        next += n * apart;
        end = columns + line;
        n_lines -= n;
    }
    return end - sums;
}

int pyspec_normals(int64_t isa, double *out, const double *mean, const double *deviation, int64_t n,
                   uint64_t *state)
{
    if (!pyspec_isa_supported(isa))
        return -STATUS_ISA;
    if (n < 0)
        return -STATUS_SIZE;
    if (!out || !mean || !deviation || !state)
        return -STATUS_NULL_POINTER;
    pyspec_block_table[isa].normals(out, mean, deviation, n, state);
    return 0;
}
