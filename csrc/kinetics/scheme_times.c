/* scheme_times.c: the population of a state of a kinetic scheme at eight times, and its derivatives.
 * Built for each instruction set. */
#include "kinetics/scheme.h"
#include "math/vmath.h"

static void mix(const double *coefficients, int n, double (*differences)[L], double *out)
{
    FOR_LANES out[l] = 0.0;
    for (int j = n - 1; j >= 0; j--)
        FOR_LANES out[l] += coefficients[j] * differences[j][l];
}

/* The scheme left to itself, from `s` = 0 on. `out` holds the derivative by each parameter; that by the
 * height, the first, is the value at height 1. */
static void go_on(prepared_scheme *p, const double *s, double (*out)[L])
{
    if (p->by_stretches) {
        pyspec_circle_go_on(p, s, out);
        return;
    }
    const int under = (int)scheme_head(p->program)->under, onset = p->n_params - 1 - under;
    double differences[MAX_TWICE][L];
    JOIN(pyspec_exp_differences, ISA_SUFFIX, )(p->x, p->n, s, differences);
    mix(p->value, p->n, differences, out[0]);
    if (!p->slopes)
        return;
    mix(p->motion, p->n, differences, out[onset]);
    FOR_LANES out[onset][l] = -out[onset][l];
    if (under)
        mix(p->spread, p->n, differences, out[onset + 1]);
    for (int k = 1; k < onset; k++)
        mix(p->by[k], p->n, differences, out[k]);
    for (int k = 0, source = -1; k < p->n_terms; k++) {
        const scheme_term *term = &p->terms[k];
        const int count = p->n_nodes[term->source];
        double part[L];
        if (term->source != source)
            JOIN(pyspec_exp_differences, ISA_SUFFIX, )(p->nodes[term->source], count, s, differences);
        source = term->source;
        mix(term->by, count, differences, part);
        FOR_LANES out[term->param][l] += part[l];
    }
}

/* What the instrument sees at times u near the onset. */
static void see(const prepared_scheme *p, const double *u, double (*out)[L])
{
    const int onset = p->n_params - 2;
    for (int k = 0; k < (p->slopes ? p->n_params : 1); k++)
        FOR_LANES out[k][l] = 0.0;
    for (int q = 0; q < p->n_points; q++) {
        double away[L], seen[L];
        FOR_LANES away[l] = v_clamp((u[l] - p->at[q]) / p->width, 1e150);
        FOR_LANES seen[l] = v_exp(-0.5 * (away[l] * away[l]));
        FOR_LANES out[0][l] += p->seen[q] * seen[l];
        if (!p->slopes)
            continue;
        for (int k = 1; k < onset; k++)
            FOR_LANES out[k][l] += p->change[k][q] * seen[l];
        FOR_LANES out[onset][l] += p->seen[q] * (away[l] * seen[l]);
        FOR_LANES out[onset + 1][l] += p->seen[q] * ((away[l] * away[l] - 1.0) * seen[l]);
    }
    if (!p->slopes)
        return;
    const double per_width = p->fastest / p->width;
    FOR_LANES out[onset][l] *= per_width;
    FOR_LANES out[onset + 1][l] *= per_width;
}

/* Derivatives by all parameters, at height 1, of eight times after the onset. */
void JOIN(pyspec_scheme_times, ISA_SUFFIX, )(prepared_scheme *p, const double *u, double (*out)[L])
{
    const int under = (int)scheme_head(p->program)->under;
    const int n_out = p->slopes ? p->n_params : 1;
    if (p->has_pairs) {
        pyspec_flow_times(p, u, out);
        return;
    }
    double s[L], near[MAX_PARAMS][L];
    int is_early[L], n_early = 0;
    FOR_LANES is_early[l] = under ? u[l] * p->fastest < p->late : u[l] < 0.0;
    FOR_LANES n_early += is_early[l];
    const int n_late = L - n_early;
    FOR_LANES s[l] = is_early[l] ? 0.0 : u[l] * p->fastest - p->late;
    if (n_late)
        go_on(p, s, out);
    if (!n_early)
        return;
    FOR_LANES s[l] = u[l] * p->fastest;
    if (under)
        see(p, s, near);
    for (int k = 0; k < n_out; k++)
        FOR_LANES {
            const double before = under ? near[k][l] : 0.0, after = n_late ? out[k][l] : 0.0;
            out[k][l] = is_early[l] ? before : after;
        }
}
