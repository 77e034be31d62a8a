/* conv_shape.c: a convolution kernel, or another formula that belongs to it, at time differences. */
#include "kernels/convolution.h"

void pyspec_conv_shape(const convolution *c, const int64_t *program, double *lag, int64_t n,
                       double *g, double *slopes)
{
    double params[MAX_PARAMS * L], *partials[MAX_PARAMS];
    const int64_t n_vectors = round_up(n, L) / L;
    pyspec_block b = {.n = n_vectors, .n_valid = n, .across = 1, .x = lag, .program = program,
                      .registers = c->registers};
    fill(lag + n, lag[n - 1], n_vectors * L - n);
    for (int64_t k = 0; k < c->n_params; k++) {
        fill(params + k * L, c->params[k], L);
        partials[k] = slopes ? slopes + k * conv_chunk(c) : NULL;
    }
    if (c->op)
        c->op->kernels[c->isa](&b, params, g, slopes ? partials : NULL);
    else
        pyspec_formula_kernels[c->isa](&b, params, g, slopes ? partials : NULL);
}

void pyspec_conv_decays(const convolution *c, int side, int slopes)
{
    const int64_t next = side == PYSPEC_SIDE_LEFT ? 1 : -1;
    double lag[BLOCK * L];
    for (int64_t from = 0; from < c->n; from += BLOCK * L) {
        const int64_t n = c->n - from < BLOCK * L ? c->n - from : BLOCK * L;
        for (int64_t j = 0; j < n; j++) {
            const int64_t i = from + j, neighbour = i - next;
            lag[j] = neighbour < 0 || neighbour >= c->n ? 0.0 : c->t[i] - c->t[neighbour];
        }
        pyspec_conv_shape(c, NULL, lag, n, conv_row(c, CONV_DECAY) + from,
                          slopes ? conv_row(c, CONV_DECAY_SLOPE) + from : NULL);
    }
}
