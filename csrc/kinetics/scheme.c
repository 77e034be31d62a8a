/* scheme.c: the population of a state of a kinetic scheme in time, value and partial derivatives
 * together. The definition stands in pyspec/functions/kinetics.py, the way in scheme.h. */
#include "kinetics/scheme_kept.h"
#include "tables/status.h"

#if PYSPEC_X86
static scheme_times *const BUILDS[N_ISA] = {pyspec_scheme_times, pyspec_scheme_times_avx2,
                                            pyspec_scheme_times_avx512};
#else
static scheme_times *const BUILDS[N_ISA] = {pyspec_scheme_times, pyspec_scheme_times,
                                            pyspec_scheme_times};
#endif

/* ---- blocks ------------------------------------------------------------------------------------ */

/* Whether two lanes have the same rates, populations and width. */
static int is_alike(const scheme *s, const double *a, int64_t a_stride, const double *b, int64_t stride)
{
    for (int64_t k = 1; k < s->n_params; k++)
        if (k != s->n_params - 1 - s->under && !(a[k * a_stride] == b[k * stride]))
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
static void run_row(prepared_scheme *p, int64_t isa, double height, double onset, const double *x,
                    int64_t step, int64_t n, int64_t at, int64_t to_step, double *value,
                    double *const *partials)
{
    scheme_times *const times = BUILDS[isa];
    double u[L], own[MAX_PARAMS][L];
    for (int64_t i = 0; i < n; i += L) {
        const int64_t count = n - i < L ? n - i : L;
        FOR_LANES
        {
            const double t = x[(i + (l < count ? l : count - 1)) * step];
            u[l] = t - onset;
        }
        times(p, u, own);
        put(p, own, height, at + i * to_step, to_step, count, value, partials);
    }
}

/* The scheme at the parameters of a lane; where it is kept, those of the block before may do. */
static void prepare_lane(const pyspec_block *b, const double *params, int slopes, prepared_scheme *p,
                         kept_scheme *kept)
{
    const scheme *s = scheme_head(b->program);
    if (kept && kept->is_known && is_alike(s, kept->params, 1, params, L))
        return;
    pyspec_prepare_scheme(p, b->program, params, L, slopes);
    for (int64_t k = 0; kept && k < s->n_params; k++)
        kept->params[k] = params[k * L];
    if (kept)
        kept->is_known = 1;
}

void pyspec_run_kept_scheme(const pyspec_block *b, int64_t isa, const double *params, double *value,
                            double *const *partials, kept_scheme *kept)
{
    const scheme *s = scheme_head(b->program);
    const int64_t onset = s->n_params - 1 - s->under;
    prepared_scheme own, *p = kept ? &kept->at : &own;
    int is_same = b->across != 0;
    for (int l = 1; is_same && l < L; l++)
        is_same = is_alike(s, params, L, params + l, L) && params[l] == params[0] &&
                  params[onset * L + l] == params[onset * L];
    for (int l = 0; l < (is_same ? 1 : L); l++) {
        if (l == 0 || !is_alike(s, params + l, L, params + l - 1, L))
            prepare_lane(b, params + l, partials != NULL, p, kept);
        const double height = params[l], start = params[onset * L + l];
        if (is_same)
            run_row(p, isa, height, start, b->x, 1, b->n * L, 0, 1, value, partials);
        else
            run_row(p, isa, height, start, b->across ? b->x + l : b->x, b->across ? L : 1, b->n, l, L,
                    value, partials);
    }
}

void pyspec_run_scheme(const pyspec_block *b, int64_t isa, const double *params, double *value,
                       double *const *partials)
{
    pyspec_run_kept_scheme(b, isa, params, value, partials, NULL);
}

int pyspec_scheme(const int64_t *program, int64_t n_words, int64_t isa, int64_t n_rows, int64_t n_x,
                  const double *x, const double *params, double *value, double *const *partials)
{
    int64_t at;
    if (!program || !x || !params || !value)
        return STATUS_NULL_POINTER;
    if (n_words < SCHEME_HEAD ||
        !pyspec_scheme_is_sound(program, n_words, scheme_head(program)->n_params, &at))
        return STATUS_PROGRAM;
    if (!pyspec_isa_supported(isa))
        return STATUS_ISA;
    if (n_rows < 1 || n_x < 1)
        return STATUS_SIZE;
    const scheme *s = scheme_head(program);
    const int64_t onset = s->n_params - 1 - s->under;
    prepared_scheme p;
    for (int64_t row = 0; row < n_rows; row++) {
        if (row == 0 || !is_alike(s, params + row, n_rows, params + row - 1, n_rows))
            pyspec_prepare_scheme(&p, program, params + row, n_rows, partials != NULL);
        run_row(&p, isa, params[row], params[onset * n_rows + row], x, 1, n_x, row * n_x, 1, value,
                partials);
    }
    return STATUS_OK;
}
