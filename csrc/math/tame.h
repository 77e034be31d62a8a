/* tame.h: how far the abscissae of a block are from a line. If no value comes near the ends of double, a
 * kernel leaves out its guards, a sixth to a fifth of its instructions. The bits are the same. */
#ifndef PYSPEC_TAME_H
#define PYSPEC_TAME_H

#include "isa/vector.h"

#include <math.h>

/* The least and the largest abscissa of a block, and how far the farther one is from a place. */
typedef struct x_range {
    double low, high;
} x_range;

static ALWAYS_INLINE x_range range_of(const pyspec_block *b, const int across)
{
    const int64_t n = b->n * (across ? L : 1);
    vector low = same_in_all(b->x[0]), high = low;
    double lows[WIDTH], highs[WIDTH];
    int64_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH) {
        low = lesser(load_vector(b->x + i), low);
        high = greater(load_vector(b->x + i), high);
    }
    put_vector(lows, low, 1);
    put_vector(highs, high, 1);
    x_range found = {lows[0], highs[0]};
    for (int l = 1; l < WIDTH; l++) {
        found.low = lows[l] < found.low ? lows[l] : found.low;
        found.high = highs[l] > found.high ? highs[l] : found.high;
    }
    for (; i < n; i++) {
        found.low = b->x[i] < found.low ? b->x[i] : found.low;
        found.high = b->x[i] > found.high ? b->x[i] : found.high;
    }
    return found;
}

/* Whether no lane says 0. */
static ALWAYS_INLINE int all_lanes(const double *say)
{
    double product = 1.0;
    FOR_LANES product *= say[l];
    return product != 0.0;
}

static ALWAYS_INLINE double farthest(x_range range, double place)
{
    const double below = fabs(range.low - place), above = fabs(range.high - place);
    return below > above ? below : above;
}

#endif
