/* scheme_rates.c: the rate matrix of a kinetic scheme at its parameters, and what it starts from. */
#include "math/legendre.h"
#include "kinetics/scheme.h"

#include <string.h>

_Static_assert(POINTS == 2 * LEGENDRE_HALF, "the rule has as many points as a panel");

static int block_of_state(const int64_t *program, int64_t state)
{
    const int64_t *blocks = scheme_blocks(program);
    int block = 0;
    for (int64_t end = blocks[0]; state >= end; end += blocks[block])
        block++;
    return block;
}

/* In units of `fastest`, the largest sum of rates out of a state. */
void pyspec_load_rates(scheme_rates *r, const int64_t *program, const double *params, int64_t stride,
                       double *fastest)
{
    const scheme *s = scheme_head(program);
    const int64_t *step = scheme_steps(program), *start = scheme_starts(program);
    memset(r, 0, sizeof *r);
    r->n = (int)s->n_states;
    *fastest = 0.0;
    for (int64_t k = 0; k < s->n_steps; k++)
        r->k[step[3 * k]][step[3 * k]] -= params[step[3 * k + 2] * stride];
    for (int i = 0; i < r->n; i++)
        *fastest = -r->k[i][i] > *fastest ? -r->k[i][i] : *fastest;
    if (!(*fastest > 0.0))
        *fastest = 1.0;
    for (int i = 0; i < r->n; i++)
        r->k[i][i] /= *fastest;
    for (int64_t k = 0; k < s->n_steps; k++, step += 3) {
        const double rate = params[step[2] * stride] / *fastest;
        if (step[1] >= 0)
            r->k[step[1]][step[0]] += rate;
        else
            r->lost[step[0]] += rate;
        if (step[1] < 0 || block_of_state(program, step[1]) != block_of_state(program, step[0]))
            r->leaves[step[0]] += rate;
    }
    for (int64_t k = 0; k < s->n_starts; k++, start += 3) {
        double number;
        memcpy(&number, &start[2], sizeof number);
        r->start[start[0]] += start[1] < 0 ? number : params[start[1] * stride];
    }
}

/* d / d parameter of the start. */
void pyspec_start_change(const int64_t *program, int param, double *out)
{
    const scheme *s = scheme_head(program);
    const int64_t *start = scheme_starts(program);
    memset(out, 0, MAX_STATES * sizeof *out);
    for (int64_t k = 0; k < s->n_starts; k++, start += 3)
        if (start[1] == param)
            out[start[0]] += 1.0;
}

/* out = (K - x) v */
void pyspec_scheme_shifted(const scheme_rates *r, double x, const double *v, double *out)
{
    for (int i = 0; i < r->n; i++) {
        double sum = (r->k[i][i] - x) * v[i];
        for (int j = 0; j < r->n; j++)
            if (j != i)
                sum += r->k[i][j] * v[j];
        out[i] = sum;
    }
}

double pyspec_legendre(int k, double *weight)
{
    const int own = k < POINTS / 2 ? POINTS / 2 - 1 - k : k - POINTS / 2;
    *weight = legendre_weight[own];
    return k < POINTS / 2 ? -legendre_point[own] : legendre_point[own];
}
