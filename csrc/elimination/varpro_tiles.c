/* varpro_tiles.c: variable projection over tiles of groups, lanes are groups. Built for each
 * instruction set.
 *
 * A group has the basis functions Phi, the data y (both weighted) and the amplitudes c of least
 * squares: Q R = Phi by Gram and Schmidt, twice, c = R^-1 Q'y, r = y - Q Q'y. Of the slopes
 * D_p = d Phi / d theta_p the columns of J are (1 - Q Q') D_p c (L. Kaufman, BIT 15, 49 (1975)). The
 * part that they lack, Q R^-T D_p' r (G. H. Golub and V. Pereyra, SIAM J. Numer. Anal. 10, 413
 * (1973)), is orthogonal to them and to r: J'r is the same. */
#include "elimination/linear.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- columns of a tile ------------------------------------------------------------------- */

/* to -= factor * column */
static void take_off(double *restrict to, const double *restrict column,
                     const double *restrict factor, int64_t n)
{
    FOR_BLOCK FOR_LANES to[AT] -= factor[l] * column[AT];
}

/* Rows of an array [groups][n_x] as a column of lanes. */
static void load_groups(const pyspec_linear *q, const double *from, int64_t stride, int64_t tile,
                        double *to)
{
    const int64_t n = q->n_x, last = q->n_groups - 1;
    if (!stride) {
        FOR_BLOCK FOR_LANES to[AT] = from[i];
        return;
    }
    if (tile * L + L <= q->n_groups) {
        pyspec_block_table[q->isa].interleave(to, from + tile * L * stride, stride, n);
        return;
    }
    for (int64_t l = 0; l < L; l++) {
        const int64_t group = tile * L + l < last ? tile * L + l : last;
        const double *own = from + group * stride;
        FOR_BLOCK to[AT] = own[i];
    }
}

/* The same, times the weights; where these are 0 so is the column. */
static void load_weighted(const pyspec_linear *q, const linear_work *w, const double *from, int64_t stride,
                          int64_t tile, double *to)
{
    const int64_t n = q->n_x;
    load_groups(q, from, stride, tile, to);
    const double *weight = w->weight;
    if (!weight)
        return;
    FOR_BLOCK FOR_LANES to[AT] = weight[AT] == 0.0 ? 0.0 : to[AT] * weight[AT];
}

/* ---- the amplitudes of a tile ------------------------------------------------------------ */

/* Q and R of the basis functions that are on. One that is a combination of those before it is
 * switched off; NaN is no such combination and stays. */
static void factorize(const pyspec_linear *q, const linear_work *w, int64_t tile)
{
    const int64_t n = q->n_x, n_basis = q->n_basis;
    double change[L], before[L], after[L];
    memset(w->r, 0, (size_t)(n_basis * n_basis * L) * sizeof *w->r);
    for (int64_t k = 0; k < n_basis; k++) {
        double *own = w->q + k * n * L, *on = w->on + k * L;
        load_weighted(q, w, q->basis + k * q->basis_column, q->basis_group, tile, own);
        dot_columns(before, own, own, n);
        for (int pass = 0; pass < 2; pass++)
            for (int64_t j = 0; j < k; j++) {
                double *r = w->r + (j * n_basis + k) * L;
                dot_columns(change, w->q + j * n * L, own, n);
                take_off(own, w->q + j * n * L, change, n);
                FOR_LANES r[l] += change[l];
            }
        dot_columns(after, own, own, n);
        FOR_LANES {
            const int lost = after[l] <= LINEAR_RANK * LINEAR_RANK * before[l];
            on[l] = lost ? 0.0 : on[l];
            w->r[(k * n_basis + k) * L + l] = on[l] > 0.0 ? sqrt(after[l]) : 1.0;
            after[l] = on[l] > 0.0 ? 1.0 / sqrt(after[l]) : 0.0;
        }
        FOR_BLOCK FOR_LANES own[AT] = on[l] > 0.0 ? own[AT] * after[l] : 0.0;
    }
}

/* r = y - Q b and R c = b. */
static void solve_amplitudes(const pyspec_linear *q, const linear_work *w, int64_t tile)
{
    const int64_t n = q->n_x, n_basis = q->n_basis;
    double *r = w->columns + q->n_theta * n * L;
    memcpy(r, w->data, (size_t)(n * L) * sizeof *r);
    for (int64_t k = 0; k < count_offsets(q); k++) {
        load_weighted(q, w, q->offset + k * q->offset_column, q->offset_group, tile, w->column);
        FOR_BLOCK FOR_LANES r[AT] -= w->column[AT];
    }
    for (int64_t k = 0; k < n_basis; k++) {
        dot_columns(w->b + k * L, w->q + k * n * L, r, n);
        take_off(r, w->q + k * n * L, w->b + k * L, n);
    }
    solve_back(q, w, w->b, w->c);
}

/* Which basis functions take part in these lanes. The others keep theirs: what a group gets must not
 * depend on its neighbours. */
static void choose_active(const pyspec_linear *q, const linear_work *w, int64_t tile, unsigned lanes)
{
    const int64_t last = q->n_groups - 1;
    FOR_LANES {
        const int64_t group = tile * L + l < last ? tile * L + l : last;
        if (lanes >> l & 1u)
            pyspec_choose_lane(q, group, w->r + l, w->b + l, w->on + l);
    }
}

static void find_amplitudes(const pyspec_linear *q, const linear_work *w, int64_t tile)
{
    const int64_t n_basis = q->n_basis, last = q->n_groups - 1;
    memcpy(w->on, w->kept, (size_t)(n_basis * L) * sizeof *w->on);
    factorize(q, w, tile);
    for (int64_t k = 0; k < n_basis * L; k++)
        w->lost[k] = w->kept[k] - w->on[k];
    solve_amplitudes(q, w, tile);
    const unsigned breaks = breaks_bounds(q, w);
    if (breaks) {
        choose_active(q, w, tile, breaks);
        factorize(q, w, tile);
        solve_amplitudes(q, w, tile);
    }
    /* The second solution is rounded otherwise than that which chose: 0 may be a little less there. */
    for (int64_t k = 0; q->bounded && k < n_basis; k++)
        FOR_LANES w->c[k * L + l] = q->bounded[k] && w->c[k * L + l] < 0.0 ? 0.0 : w->c[k * L + l];
    for (int64_t l = 0; l < L && tile * L + l <= last; l++)
        for (int64_t k = 0; k < n_basis; k++) {
            const int64_t at = (tile * L + l) * n_basis + k;
            q->amplitudes[at] = w->c[k * L + l];
            q->determined[at] = w->on[k * L + l] > 0.0;
        }
}

#include "elimination/varpro_counts.h"

/* ---- derivatives of a tile --------------------------------------------------------------- */

/* R' v = D' r for the part that Kaufman leaves out; D'r is in `turned`. */
static void turn_slopes(const pyspec_linear *q, const linear_work *w)
{
    const int64_t n_basis = q->n_basis;
    for (int64_t p = 0; p < q->n_theta; p++) {
        double *v = w->turned + p * n_basis * L;
        for (int64_t k = 0; k < n_basis; k++) {
            for (int64_t j = 0; j < k; j++)
                FOR_LANES v[k * L + l] -= w->r[(j * n_basis + k) * L + l] * v[j * L + l];
            FOR_LANES v[k * L + l] = w->on[k * L + l] > 0.0
                                         ? v[k * L + l] / w->r[(k * n_basis + k) * L + l]
                                         : 0.0;
        }
    }
}

static void find_slopes(const pyspec_linear *q, const linear_work *w, int64_t tile)
{
    const int64_t n = q->n_x, n_theta = q->n_theta;
    const double *r = w->columns + n_theta * n * L;
    const int64_t last = q->n_groups - 1;
    int64_t loaded = -1;
    double factor[L], share[L], sum[L] = {0.0};
    memset(w->columns, 0, (size_t)(n_theta * n * L) * sizeof *w->columns);
    memset(w->turned, 0, (size_t)(n_theta * q->n_basis * L) * sizeof *w->turned);
    for (int64_t e = 0; e < q->n_entries; e++) {
        const int64_t s = q->entry_slope[e], k = q->slope_basis[s], p = q->entry_theta[e];
        if (s != loaded) {
            load_weighted(q, w, q->slopes + s * q->slopes_column, q->slopes_group, tile, w->column);
            if (q->full)
                dot_columns(sum, w->column, r, n);
            loaded = s;
        }
        FOR_LANES {
            const int64_t group = tile * L + l < last ? tile * L + l : last;
            share[l] = q->factors[e + group * q->factors_group];
            factor[l] = k < 0 ? -share[l] : -share[l] * w->c[k * L + l];
        }
        take_off(w->columns + p * n * L, w->column, factor, n);
        if (q->full && k >= 0)
            FOR_LANES w->turned[(p * q->n_basis + k) * L + l] +=
                w->on[k * L + l] * sum[l] * share[l];
    }
    for (int64_t p = 0; p < n_theta; p++)
        for (int64_t k = 0; k < q->n_basis; k++) {
            double *along = w->along + (p * q->n_basis + k) * L;
            dot_columns(along, w->q + k * n * L, w->columns + p * n * L, n);
            take_off(w->columns + p * n * L, w->q + k * n * L, along, n);
        }
    if (q->full)
        turn_slopes(q, w);
}

/* The sums of a tile; of counts the last one is that of the deviances. */
static void add_gram(const pyspec_linear *q, const linear_work *w, int64_t tile)
{
    const int64_t n = q->n_x, order = q->n_theta + 1, n_basis = q->n_basis;
    for (int64_t j = 0; j < order; j++)
        for (int64_t k = j; k < order; k++) {
            double sum[L], *to = w->triangle + triangle_at(order, j, k) * L;
            const double *own = is_counts(q) && j == q->n_theta ? w->column : w->columns + j * n * L;
            dot_columns(sum, own, own == w->column ? own : w->columns + k * n * L, n);
            for (int64_t m = 0; q->full && !is_counts(q) && k < q->n_theta && m < n_basis; m++)
                FOR_LANES sum[l] += w->turned[(j * n_basis + m) * L + l] *
                                    w->turned[(k * n_basis + m) * L + l];
            for (int64_t l = 0; l < L && tile * L + l < q->n_groups; l++)
                to[l] += sum[l];
        }
}

/* Turns the columns of a tile into the factor. */
static void add_factor(const pyspec_linear *q, const linear_work *w, int64_t tile)
{
    const int64_t n = q->n_x, order = q->n_theta + 1, left = q->n_groups - tile * L;
    for (int64_t i = 0; left < L && i < order * n; i++)
        for (int64_t l = left; l < L; l++)
            w->columns[i * L + l] = 0.0;
    pyspec_absorb(q->triangle, order, w->columns, n * L);
}

/* How the amplitudes of a tile follow theta, and the inverse of their normal matrix, R^-1 R^-T. */
static void write_followers(const pyspec_linear *q, const linear_work *w, int64_t tile)
{
    const int64_t n = q->n_basis, n_groups = q->n_groups - tile * L;
    double x[PYSPEC_LINEAR_MOST * L], unit[PYSPEC_LINEAR_MOST * L];
    for (int64_t p = 0; q->follow && p < q->n_theta; p++) {
        solve_back(q, w, w->along + p * n * L, x);
        for (int64_t l = 0; l < L && l < n_groups; l++)
            for (int64_t k = 0; k < n; k++)
                q->follow[((tile * L + l) * n + k) * q->n_theta + p] = x[k * L + l];
    }
    for (int64_t m = 0; q->inverse && m < n; m++) {
        for (int64_t k = 0; k < n; k++)
            FOR_LANES unit[k * L + l] = k == m ? 1.0 : 0.0;
        solve_back(q, w, unit, x);
        for (int64_t l = 0; l < L && l < n_groups; l++)
            for (int64_t j = 0; j < n; j++)
                for (int64_t k = 0; k < n; k++) {
                    double *to = &q->inverse[((tile * L + l) * n + j) * n + k];
                    *to = (m ? *to : 0.0) + x[j * L + l] * x[k * L + l];
                }
    }
}

/* Residuals and their derivatives, which are minus J. */
static void write_tile(const pyspec_linear *q, const linear_work *w, int64_t tile)
{
    const int64_t n = q->n_x, n_tiles = (q->n_groups + L - 1) / L, size = n * L;
    if (q->residual)
        memcpy(q->residual + tile * size, w->columns + q->n_theta * size,
               (size_t)size * sizeof(double));
    for (int64_t p = 0; q->jacobian && p < q->n_theta; p++) {
        double *to = q->jacobian + (p * n_tiles + tile) * size, *own = w->columns + p * size;
        for (int64_t i = 0; i < size; i++)
            to[i] = -own[i];
        for (int64_t k = 0; q->full && !is_counts(q) && k < q->n_basis; k++)
            take_off(to, w->q + k * size, w->turned + (p * q->n_basis + k) * L, n);
    }
}

/* What a tile is solved for, and its amplitudes: its data, or those of the last Newton step for counts. */
static void begin_tile(const pyspec_linear *q, linear_work *w, int64_t tile)
{
    const int64_t at = tile * q->n_x * L, n_basis = q->n_basis, last = q->n_groups - 1;
    w->data = q->data + at;
    w->weight = q->weight ? q->weight + at : NULL;
    for (int64_t k = 0; k < n_basis; k++)
        FOR_LANES {
            const int64_t group = tile * L + l < last ? tile * L + l : last;
            w->kept[k * L + l] = !q->allowed || q->allowed[group * n_basis + k] ? 1.0 : 0.0;
        }
    if (is_counts(q))
        find_counts(q, w, tile);
    else
        find_amplitudes(q, w, tile);
}

void JOIN(pyspec_linear_tiles, ISA_SUFFIX, )(const pyspec_linear *given, const linear_work *work)
{
    pyspec_linear own = *given, *q = &own;
    linear_work memory = *work, *w = &memory;
    const int64_t n_tiles = (q->n_groups + L - 1) / L, order = q->n_theta + 1;
    const int is_factor = q->form == PYSPEC_FORM_FACTOR;
    q->full = q->full || (is_counts(q) && is_exact(q));
    for (int64_t k = 0; is_factor && k < triangle_size(order); k++)
        q->triangle[k] = 0.0;
    for (int64_t tile = 0; tile < n_tiles; tile++) {
        begin_tile(q, w, tile);
        find_slopes(q, w, tile);
        if (is_counts(q))
            end_counts(q, w, tile);
        write_tile(q, w, tile);
        write_followers(q, w, tile);
        if (is_factor)
            add_factor(q, w, tile);
        else
            add_gram(q, w, tile);
    }
    for (int64_t k = 0; !is_factor && k < triangle_size(order); k++)
        q->triangle[k] = sum_lanes(w->triangle + k * L);
}
