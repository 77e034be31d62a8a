/* square_lines.c: squares of a line of measured data. Built for each instruction set, like the energy
 * kernels. */
#include "kernel.h"
#include "vector.h"

/* How numbers are weighted; a number, not a variable, so that each way has a loop of its own. */
enum { NO_WEIGHT, ONE_WEIGHT, EACH_WEIGHT };

static ALWAYS_INLINE double weighted(double x, const double *weight, int64_t i, const int way)
{
    if (way == NO_WEIGHT)
        return x;
    if (way == ONE_WEIGHT)
        return x * weight[0];
    return weight[i] == 0.0 ? 0.0 : x * weight[i];
}

static ALWAYS_INLINE void add_squares(double *lanes, const double *x, int64_t n,
                                      const double *weight, const int way)
{
    double own[SQUARE_LANES];
    int64_t i = 0;
    memcpy(own, lanes, sizeof own);
    for (; i + SQUARE_LANES <= n; i += SQUARE_LANES)
        for (int k = 0; k < SQUARE_LANES; k++) {
            const double value = weighted(x[i + k], weight, i + k, way);
            own[k] += value * value;
        }
    for (; i < n; i++) {
        const double value = weighted(x[i], weight, i, way);
        own[i % SQUARE_LANES] += value * value;
    }
    memcpy(lanes, own, sizeof own);
}

/* Adds to SQUARE_LANES lanes, in turn, the squares of n numbers, each times its own weight (each), which
 * may be 0 where a number is not finite, or times one; NULL: none. */
void BLOCK_OP(squares)(double *lanes, const double *x, int64_t n, const double *weight, int each)
{
    if (!weight)
        add_squares(lanes, x, n, NULL, NO_WEIGHT);
    else if (each)
        add_squares(lanes, x, n, weight, EACH_WEIGHT);
    else
        add_squares(lanes, x, n, weight, ONE_WEIGHT);
}
