/* block.c: what the dispatch loop does to whole blocks besides running kernels. Built for each
 * instruction set, like the energy kernels. */
#include "kernel.h"

#define BLOCK_OP(name) JOIN(pyspec_block_, name, ISA_SUFFIX)

/* target[n][L] = or += value[n][L] */
void BLOCK_OP(add)(double *restrict target, const double *restrict value, int64_t n, int store)
{
    if (store)
        for (int64_t i = 0; i < n * L; i++)
            target[i] = value[i];
    else
        for (int64_t i = 0; i < n * L; i++)
            target[i] = target[i] + value[i];
}

/* target[n][L] = or += line[n] in every lane */
void BLOCK_OP(spread)(double *restrict target, const double *restrict line, int64_t n, int store)
{
    if (store)
        FOR_BLOCK FOR_LANES target[AT] = line[i];
    else
        FOR_BLOCK FOR_LANES target[AT] = target[AT] + line[i];
}

/* rows[l][n] = value[n][L], rows `stride` doubles apart */
void BLOCK_OP(turn)(double *restrict rows, int64_t stride, const double *restrict value, int64_t n,
                    int64_t n_lanes)
{
    for (int64_t l = 0; l < n_lanes; l++)
        for (int64_t i = 0; i < n; i++)
            rows[l * stride + i] = value[AT];
}

/* out[n] = data[n] - out[n] */
void BLOCK_OP(subtract)(double *restrict out, const double *restrict data, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = data[i] - out[i];
}
