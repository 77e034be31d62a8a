/* square.c: the sum of the squares of measured data, which rounding of chi^2 is measured by. */
#include "kernel.h"
#include "status.h"

/* Columns at a time: their weights are put together once where all rows have the same. */
enum { COLUMNS = 512 };

static const void *behind(const void *place, int64_t bytes)
{
    return place ? (const char *)place + bytes : NULL;
}

/* Weights of n columns of a row, 0 where they are not kept. */
static void put_weights(double *out, int64_t n, const double *weight, int64_t weight_x,
                        const uint8_t *keep, int64_t keep_x)
{
    for (int64_t i = 0; i < n; i++) {
        const double *own = behind(weight, i * weight_x);
        out[i] = keep && !keep[i * keep_x] ? 0.0 : own ? *own : 1.0;
    }
}

double pyspec_square(int64_t isa, const double *values, int64_t n_rows, int64_t n_columns,
                     int64_t row, const double *weight, int64_t weight_row, int64_t weight_x,
                     const uint8_t *keep, int64_t keep_row, int64_t keep_x)
{
    double lanes[SQUARE_LANES] = {0.0}, own[COLUMNS], sum = 0.0;
    const int each = (weight && weight_x != 0) || (keep && keep_x != 0);
    const int is_same = (!weight || weight_row == 0) && (!keep || keep_row == 0);
    if (!pyspec_isa_supported(isa))
        return -STATUS_ISA;
    for (int64_t x = 0; x < n_columns; x += COLUMNS)
        for (int64_t j = 0; j < n_rows; j++) {
            const int64_t n = n_columns - x < COLUMNS ? n_columns - x : COLUMNS;
            const double *line = behind(values, j * row);
            const double *w = behind(weight, j * weight_row + x * weight_x);
            const uint8_t *kept = behind(keep, j * keep_row + x * keep_x);
            if (!each && kept && !*kept)
                continue;
            if (each && (j == 0 || !is_same))
                put_weights(own, n, w, weight_x, kept, keep_x);
            pyspec_block_table[isa].squares(lanes, line + x, n, each ? own : w, each);
        }
    for (int k = 0; k < SQUARE_LANES; k++)
        sum += lanes[k];
    return sum;
}
