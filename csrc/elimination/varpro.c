/* varpro.c: variable projection: checks, memory, and the build for this processor. The arithmetic
 * stands in varpro_tiles.c and varpro_shared.c. */
#include "elimination/linear.h"
#include "walk/memory.h"
#include "tables/status.h"

#include <string.h>

/* Bounds that keep products of counts far from overflow, as those of plans do. */
enum { MOST_COLUMNS = 1 << 20, MOST_POINTS = 1 << 28 };

static int has_sizes(const pyspec_linear *q)
{
    return in_range(q->n_groups, 1, MOST_POINTS + 1) && in_range(q->n_x, 1, MOST_POINTS + 1) &&
           in_range(q->n_basis, 1, PYSPEC_LINEAR_MOST + 1) &&
           in_range(q->n_slopes, 0, MOST_COLUMNS + 1) && in_range(q->n_theta, 0, MOST_COLUMNS + 1) &&
           q->n_entries >= 0 &&
           in_range(q->n_offsets, 0, MOST_COLUMNS);
}

static int has_arrays(const pyspec_linear *q)
{
    return q->basis && q->data && q->amplitudes && q->determined && q->triangle && q->work &&
           (!q->n_slopes || (q->slopes && q->slope_basis)) &&
           (!q->n_entries || (q->entry_slope && q->entry_theta && q->factors));
}

/* Whether derivatives are of basis functions that exist, and by parameters that do. */
static int has_places(const pyspec_linear *q)
{
    int all = 1;
    for (int64_t s = 0; s < q->n_slopes; s++)
        all &= in_range(q->slope_basis[s], -1, q->n_basis);
    for (int64_t e = 0; e < q->n_entries; e++)
        all &= in_range(q->entry_slope[e], 0, q->n_slopes) && in_range(q->entry_theta[e], 0, q->n_theta);
    return all;
}

static int check_linear(const pyspec_linear *q)
{
    if (!q)
        return STATUS_NULL_POINTER;
    if (!has_sizes(q))
        return STATUS_SIZE;
    if (!pyspec_isa_supported(q->isa))
        return STATUS_ISA;
    if (!has_arrays(q))
        return STATUS_NULL_POINTER;
    return has_places(q) ? STATUS_OK : STATUS_OFFSET;
}

/* The next `count` doubles of the work memory, each part on a boundary of 64 bytes. */
static double *take(double *work, int64_t *used, int64_t count)
{
    double *part = work ? work + *used : NULL;
    *used += round_up(count, L);
    return part;
}

static int64_t divide(const pyspec_linear *q, double *work, linear_work *w)
{
    const int64_t n = q->n_x, n_basis = q->n_basis, n_theta = q->n_theta;
    int64_t used = 0;
    w->q = take(work, &used, n_basis * n * L);
    w->columns = take(work, &used, (n_theta + 1) * n * L);
    w->column = take(work, &used, n * L);
    w->r = take(work, &used, n_basis * n_basis * L);
    w->b = take(work, &used, round_up(n_basis, 4) * L);
    w->c = take(work, &used, (n_basis + 1) * L);
    w->on = take(work, &used, n_basis * L);
    w->kept = take(work, &used, n_basis * L);
    w->lost = take(work, &used, n_basis * L);
    w->turned = take(work, &used, n_theta * n_basis * L);
    w->along = take(work, &used, n_theta * n_basis * L);
    w->triangle = take(work, &used, triangle_size(n_theta + 1) * L);
    w->line = take(work, &used, (n_basis + q->n_slopes) * round_up(n, L));
    /* Four slopes at least: zeros where there are none. */
    w->fours =
        take(work, &used, (round_up(n_basis, 4) + round_up(q->n_slopes + !q->n_slopes, 4)) * n);
    w->gram = take(work, &used, q->n_slopes * q->n_slopes);
    w->products = take(work, &used, (n_basis + 1) * (n_basis + 1) * L);
    w->turn = take(work, &used, 4 * L);
    w->response = take(work, &used, q->n_slopes * L);
    w->square = take(work, &used, L);
    const int64_t of_counts = q->scale > 0.0 ? n * L : 0;
    w->weighed = take(work, &used, of_counts);
    w->root = take(work, &used, of_counts);
    w->model = take(work, &used, of_counts);
    w->step = take(work, &used, of_counts);
    w->found = take(work, &used, n_basis * L);
    w->sets = (uint64_t *)(void *)take(work, &used, q->n_groups);
    return used;
}

int64_t pyspec_project_size(const pyspec_linear *linear)
{
    linear_work w;
    return linear && has_sizes(linear) ? divide(linear, NULL, &w) * (int64_t)sizeof(double) : 0;
}

#if PYSPEC_X86
static linear_run *const BUILDS[2][N_ISA] = {
    {pyspec_linear_tiles, pyspec_linear_tiles_avx2, pyspec_linear_tiles_avx512},
    {pyspec_linear_shared, pyspec_linear_shared_avx2, pyspec_linear_shared_avx512}};
#else
static linear_run *const BUILDS[2][N_ISA] = {
    {pyspec_linear_tiles, pyspec_linear_tiles, pyspec_linear_tiles},
    {pyspec_linear_shared, pyspec_linear_shared, pyspec_linear_shared}};
#endif

/* Whether one factorization serves all groups in which the same amplitudes take part. */
static int is_shared(const pyspec_linear *q)
{
    return !(q->scale > 0.0) && !q->inverse && !q->follow && !q->basis_group && !q->slopes_group && !q->offset_group && !q->factors_group &&
           !q->weight && !q->full && !q->residual && !q->jacobian && q->form != PYSPEC_FORM_FACTOR;
}

int pyspec_project(const pyspec_linear *linear)
{
    linear_work w;
    int status = check_linear(linear);
    if (status)
        return status;
    if (linear->work_size < pyspec_project_size(linear))
        return STATUS_WORK;
    const int64_t used = divide(linear, linear->work, &w);
    memset(linear->work, 0, (size_t)used * sizeof(double));
    BUILDS[is_shared(linear)][linear->isa](linear, &w);
    return STATUS_OK;
}
