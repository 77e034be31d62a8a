/* scheme.c: the population of a state of a kinetic scheme in time, value and partial derivatives
 * together. The definition stands in pyspec/functions/kinetics.py, the way in scheme.h. */
#include "scheme.h"
#include "status.h"
#include "vmath.h"

#include <math.h>
#include <string.h>

/* ---- eight times ------------------------------------------------------------------------------- */

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
    if (p->has_circle) {
        pyspec_circle_go_on(p, s, out);
        return;
    }
    const int under = (int)scheme_head(p->program)->under, onset = p->n_params - 1 - under;
    double differences[MAX_TWICE][L];
    pyspec_exp_differences(p->x, p->n, s, differences);
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
            pyspec_exp_differences(p->nodes[term->source], count, s, differences);
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
static void run_times(prepared_scheme *p, const double *u, double (*out)[L])
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

/* ---- blocks ------------------------------------------------------------------------------------ */

/* Whether two lanes have the same rates, populations and width. */
static int is_alike(const scheme *s, const double *a, const double *b, int64_t stride)
{
    for (int64_t k = 1; k < s->n_params; k++)
        if (k != s->n_params - 1 - s->under && !(a[k * stride] == b[k * stride]))
            return 0;
    return 1;
}

/* Eight results, times the height, into lanes `step` doubles apart. */
static void put(const prepared_scheme *p, double (*own)[L], double height, int64_t at, int64_t step,
                int64_t n, double *value, double *const *partials)
{
    for (int64_t i = 0; i < n; i++)
        value[at + i * step] = height * own[0][i];
    for (int k = 0; p->slopes && k < p->n_params; k++)
        for (int64_t i = 0; partials[k] && i < n; i++)
            partials[k][at + i * step] = k ? height * own[k][i] : own[0][i];
}

/* One row of a block: times `x`, `step` doubles apart. */
static void run_row(prepared_scheme *p, double height, double onset, const double *x,
                    int64_t step, int64_t n, int64_t at, int64_t to_step, double *value,
                    double *const *partials)
{
    double u[L], own[MAX_PARAMS][L];
    for (int64_t i = 0; i < n; i += L) {
        const int64_t count = n - i < L ? n - i : L;
        FOR_LANES
        {
            const double t = x[(i + (l < count ? l : count - 1)) * step];
            u[l] = t - onset;
        }
        run_times(p, u, own);
        put(p, own, height, at + i * to_step, to_step, count, value, partials);
    }
}

void k_scheme(const pyspec_block *b, const double *params, double *value, double *const *partials)
{
    const scheme *s = scheme_head(b->program);
    const int64_t onset = s->n_params - 1 - s->under;
    prepared_scheme p;
    int is_same = b->across != 0;
    for (int l = 1; is_same && l < L; l++)
        is_same = is_alike(s, params, params + l, L) && params[l] == params[0] &&
                  params[onset * L + l] == params[onset * L];
    for (int l = 0; l < (is_same ? 1 : L); l++) {
        if (l == 0 || !is_alike(s, params + l, params + l - 1, L))
            pyspec_prepare_scheme(&p, b->program, params + l, L, partials != NULL);
        const double height = params[l], start = params[onset * L + l];
        if (is_same)
            run_row(&p, height, start, b->x, 1, b->n * L, 0, 1, value, partials);
        else
            run_row(&p, height, start, b->across ? b->x + l : b->x, b->across ? L : 1, b->n, l, L,
                    value, partials);
    }
}

int pyspec_scheme(const int64_t *program, int64_t n_words, int64_t n_rows, int64_t n_x, const double *x,
                  const double *params, double *value, double *const *partials)
{
    int64_t at;
    if (!program || !x || !params || !value)
        return STATUS_NULL_POINTER;
    if (n_words < SCHEME_HEAD ||
        !pyspec_scheme_is_sound(program, n_words, scheme_head(program)->n_params, &at))
        return STATUS_PROGRAM;
    if (n_rows < 1 || n_x < 1)
        return STATUS_SIZE;
    const scheme *s = scheme_head(program);
    const int64_t onset = s->n_params - 1 - s->under;
    prepared_scheme p;
    for (int64_t row = 0; row < n_rows; row++) {
        if (row == 0 || !is_alike(s, params + row, params + row - 1, n_rows))
            pyspec_prepare_scheme(&p, program, params + row, n_rows, partials != NULL);
        run_row(&p, params[row], params[onset * n_rows + row], x, 1, n_x, row * n_x, 1, value,
                partials);
    }
    return STATUS_OK;
}
