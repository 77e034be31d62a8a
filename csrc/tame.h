/* tame.h: how far the abscissae of a block are from a line. Where nothing comes near the ends of double, a
 * kernel leaves out what guards them, a fifth of its instructions; the bits are the same. */
#ifndef PYSPEC_TAME_H
#define PYSPEC_TAME_H

#include "lanes.h"

#include <math.h>

/* The least and the largest abscissa of a block, and how far the farther one is from a place. */
typedef struct x_range {
    double low, high;
} x_range;

static ALWAYS_INLINE x_range range_of(const pyspec_block *b, const int across)
{
    const int64_t n = b->n * (across ? L : 1);
    x_range found = {HUGE_VAL, -HUGE_VAL};
    for (int64_t i = 0; i < n; i++) {
        found.low = b->x[i] < found.low ? b->x[i] : found.low;
        found.high = b->x[i] > found.high ? b->x[i] : found.high;
    }
    return found;
}

static ALWAYS_INLINE double farthest(x_range range, double place)
{
    const double below = fabs(range.low - place), above = fabs(range.high - place);
    return below > above ? below : above;
}

#endif
