/* varpro_shared.c: variable projection for groups that all have the same basis functions and no
 * weights. One factorization serves all groups in which the same amplitudes take part. It also gives
 * the sums for the normal equations. Built for each instruction set.
 *
 * The notation is that of varpro_tiles.c. The columns of J are (1 - Q Q') D_p c, so that their products
 * are those of the projected slopes times sums of c c over the groups. Amplitudes that a bound or a
 * range holds at 0 are left out of Q: there are few such sets for many groups. */
#include "elimination/linear.h"
#include "isa/vector.h"
#include "separable/orthogonal.h"

#include <math.h>

/* Of which basis function a derivative is; the offset comes last. */
static int64_t basis_of(const pyspec_linear *q, int64_t slope)
{
    return q->slope_basis[slope] < 0 ? q->n_basis : q->slope_basis[slope];
}

/* Doubles from one line to the next; zeros behind the last number. */
static int64_t line_stride_of(const pyspec_linear *q)
{
    return round_up(q->n_x, L);
}

static double dot_lines(const pyspec_linear *q, const double *a, const double *b)
{
    double sum;
    pyspec_block_table[q->isa].dot(&sum, a, b, q->n_x);
    return sum;
}

/* A line without its part along the first columns of Q, which are 0 where nothing takes part. By Gram and Schmidt,
 * twice. The parts, [n_columns], are left in `b`. */
static void project_line(const pyspec_linear *q, const linear_work *w, const double *from, double *line,
                         int64_t n_columns)
{
    const int64_t stride = line_stride_of(q);
    memset(line, 0, (size_t)stride * sizeof *line);
    memcpy(line, from, (size_t)q->n_x * sizeof *line);
    memset(w->b, 0, (size_t)n_columns * sizeof *w->b);
    for (int pass = 0; pass < 2; pass++)
        pyspec_take_along(q->isa, line, w->line, stride, n_columns, w->b, w->c);
}

/* The slopes of what takes part, projected, and their Gram matrix; others are times amplitudes of 0. */
static void project_slopes(const pyspec_linear *q, const linear_work *w)
{
    const int64_t stride = line_stride_of(q), n_basis = q->n_basis;
    memset(w->gram, 0, (size_t)(q->n_slopes * q->n_slopes) * sizeof *w->gram);
    for (int64_t s = 0; s < q->n_slopes; s++) {
        double *own = w->line + (n_basis + s) * stride;
        if (basis_of(q, s) < n_basis && w->on[basis_of(q, s) * L] == 0.0) {
            memset(own, 0, (size_t)stride * sizeof *own);
            continue;
        }
        project_line(q, w, q->slopes + s * q->slopes_column, own, n_basis);
        for (int64_t t = 0; t <= s; t++)
            if (basis_of(q, t) == n_basis || w->on[basis_of(q, t) * L] > 0.0)
                w->gram[s * q->n_slopes + t] = w->gram[t * q->n_slopes + s] =
                    dot_lines(q, own, w->line + (n_basis + t) * stride);
    }
}

/* Q and R for the basis functions of a set. */
static void factorize_lines(const pyspec_linear *q, const linear_work *w, uint64_t set)
{
    const int64_t n = q->n_x, n_basis = q->n_basis;
    memset(w->r, 0, (size_t)(n_basis * n_basis * L) * sizeof *w->r);
    for (int64_t k = 0; k < n_basis; k++) {
        double *own = w->line + k * line_stride_of(q);
        const double *from = q->basis + k * q->basis_column, before = dot_lines(q, from, from);
        project_line(q, w, from, own, k);
        const double after = dot_lines(q, own, own);
        const int lost = after <= LINEAR_RANK * LINEAR_RANK * before || !(set >> k & 1u);
        for (int64_t j = 0; j < k; j++)
            FOR_LANES w->r[(j * n_basis + k) * L + l] = w->b[j];
        FOR_LANES w->r[(k * n_basis + k) * L + l] = lost ? 1.0 : sqrt(after);
        FOR_LANES w->on[k * L + l] = lost ? 0.0 : 1.0;
        FOR_BLOCK own[i] = lost ? 0.0 : own[i] / sqrt(after);
    }
}

/* sum += the numbers of four lines at one x times a vector. */
static ALWAYS_INLINE void add_four(vector *sum, const double *four, vector column)
{
    for (int m = 0; m < 4; m++)
        sum[m] += four[m] * column;
}

/* Sums over x of four lines, [n][4], times a column: one pass, in two parts that do not wait for one
 * another. */
static void dot_four(double *sum, const double *four, const double *column, int64_t n)
{
    FOR_WIDTHS
    {
        vector even[4], odd[4];
        memset(even, 0, sizeof even);
        memset(odd, 0, sizeof odd);
        int64_t i = 0;
        for (; i + 2 <= n; i += 2) {
            add_four(even, four + 4 * i, load_vector(column + i * L + at));
            add_four(odd, four + 4 * i + 4, load_vector(column + i * L + L + at));
        }
        if (i < n)
            add_four(even, four + 4 * i, load_vector(column + i * L + at));
        for (int m = 0; m < 4; m++)
            put_vector(sum + m * L + at, even[m] + odd[m], 1);
    }
}

/* to = from - the sum of four lines times b, and the sums over x of four other lines times that. */
static void take_four(double *to, const double *from, const double *four, const double *b,
                      const double *next, double *sum, int64_t n)
{
    FOR_WIDTHS
    {
        vector own[4], part[4];
        memset(part, 0, sizeof part);
        for (int m = 0; m < 4; m++)
            own[m] = load_vector(b + m * L + at);
        FOR_BLOCK
        {
            vector rest = load_vector(from + i * L + at);
            for (int m = 0; m < 4; m++)
                rest -= four[4 * i + m] * own[m];
            put_vector(to + i * L + at, rest, 1);
            add_four(part, next + 4 * i, rest);
        }
        for (int m = 0; m < 4; m++)
            put_vector(sum + m * L + at, part[m], 1);
    }
}

/* Lines in fours, [ ][n][4], zeros behind the last one. */
static void interleave(double *restrict to, const double *restrict lines, int64_t stride, int64_t n_lines, int64_t n)
{
    for (int64_t k = 0; k < round_up(n_lines, 4); k++)
        FOR_BLOCK to[(k / 4 * n + i) * 4 + k % 4] = k < n_lines ? lines[k * stride + i] : 0.0;
}

/* Four columns of Q at a time, each from what those before have left: Q is orthonormal. Each pass
 * makes the sums that the next one needs, at last those of the first four slopes. */
static void solve_shared(const pyspec_linear *q, const linear_work *w, int64_t tile, double *r)
{
    const int64_t n = q->n_x, n_basis = q->n_basis;
    const double *from = q->data + tile * n * L;
    for (int64_t k = 0; k < count_offsets(q); k++, from = r) {
        const double *own = q->offset + k * q->offset_column;
        FOR_BLOCK FOR_LANES r[AT] = from[AT] - own[i];
    }
    dot_four(w->b, w->fours, from, n);
    for (int64_t k = 0; k < n_basis; k += 4, from = r) {
        const double *own = w->fours + k * n;
        double *sum = k + 4 < n_basis ? w->b + (k + 4) * L : w->turn;
        take_four(r, from, own, w->b + k * L, own + 4 * n, sum, n);
    }
    solve_back(q, w, w->b, w->c);
}

/* Sums over the groups of a tile in some lanes; the amplitude of the offset is 1. */
static void add_shared(const pyspec_linear *q, const linear_work *w, int64_t tile, unsigned lanes,
                       const double *r)
{
    const int64_t n = q->n_x, n_basis = q->n_basis, order = n_basis + 1;
    double *c = w->c, *one = w->c + n_basis * L;
    for (int64_t l = 0; l < L; l++) {
        const int counts = (int)(lanes >> l & 1u);
        one[l] = counts ? 1.0 : 0.0;
        for (int64_t k = 0; k < n_basis; k++) {
            c[k * L + l] = counts ? c[k * L + l] : 0.0;
            /* The set was chosen with other rounding: 0 may be a little less. */
            c[k * L + l] = q->bounded && q->bounded[k] && c[k * L + l] < 0.0 ? 0.0 : c[k * L + l];
            if (counts) {
                q->amplitudes[(tile * L + l) * n_basis + k] = c[k * L + l];
                q->determined[(tile * L + l) * n_basis + k] = w->on[k * L + l] > 0.0;
            }
        }
    }
    for (int64_t j = 0; j < order; j++)
        for (int64_t k = 0; k < order; k++)
            FOR_LANES w->products[(j * order + k) * L + l] += c[j * L + l] * c[k * L + l];
    for (int64_t s = 0; s < q->n_slopes; s++) {
        if (s && s % 4 == 0) /* of the first four they are there */
            dot_four(w->turn, w->fours + (round_up(n_basis, 4) + s) * n, r, n);
        const double *own = c + basis_of(q, s) * L;
        FOR_LANES w->response[s * L + l] += own[l] * w->turn[s % 4 * L + l];
    }
    double sum[L];
    dot_columns(sum, r, r, n);
    FOR_LANES w->square[l] += one[l] * sum[l];
}

/* Adds what the groups of a set gave to the triangle, and clears their sums for the next set. */
static void collect_shared(const pyspec_linear *q, const linear_work *w)
{
    const int64_t n_basis = q->n_basis, order = q->n_theta + 1;
    for (int64_t e = 0; e < q->n_entries; e++) {
        const int64_t s = q->entry_slope[e], k = basis_of(q, s), p = q->entry_theta[e];
        w->triangle[triangle_at(order, p, q->n_theta) * L] +=
            q->factors[e] * sum_lanes(w->response + s * L);
        for (int64_t f = 0; f < q->n_entries; f++) {
            const int64_t t = q->entry_slope[f], m = basis_of(q, t);
            if (q->entry_theta[f] < p)
                continue;
            w->triangle[triangle_at(order, p, q->entry_theta[f]) * L] +=
                q->factors[e] * q->factors[f] * w->gram[s * q->n_slopes + t] *
                sum_lanes(w->products + (k * (n_basis + 1) + m) * L);
        }
    }
    w->triangle[triangle_at(order, q->n_theta, q->n_theta) * L] += sum_lanes(w->square);
    memset(w->products, 0, (size_t)((n_basis + 1) * (n_basis + 1) * L) * sizeof(double));
    memset(w->response, 0, (size_t)(q->n_slopes * L) * sizeof(double));
    memset(w->square, 0, L * sizeof(double));
}

/* ---- sets of amplitudes that take part --------------------------------------------------- */

/* Bits of a set: the amplitudes; behind them, that bounds have chosen it. */
#define CHOSEN ((uint64_t)1 << PYSPEC_LINEAR_MOST)

/* Every group begins with what its ranges allow. */
static void begin_sets(const pyspec_linear *q, const linear_work *w)
{
    const int64_t n_basis = q->n_basis;
    for (int64_t group = 0; group < q->n_groups; group++) {
        uint64_t set = 0;
        for (int64_t k = 0; k < n_basis; k++)
            set |= (uint64_t)(!q->allowed || q->allowed[group * n_basis + k]) << k;
        w->sets[group] = set;
    }
}

/* The amplitudes of a lane that take part where those that are bounded are not negative. */
static uint64_t choose_set(const pyspec_linear *q, const linear_work *w, int64_t tile, int64_t l)
{
    uint64_t set = CHOSEN;
    double on[PYSPEC_LINEAR_MOST * L];
    memcpy(on, w->on, (size_t)(q->n_basis * L) * sizeof *on);
    pyspec_choose_lane(q, tile * L + l, w->r + l, w->b + l, on + l);
    for (int64_t k = 0; k < q->n_basis; k++)
        set |= (uint64_t)(on[k * L + l] > 0.0) << k;
    return set;
}

/* Solves for the groups of a tile that have this set; those that break a bound get another one. */
static void solve_set(const pyspec_linear *q, const linear_work *w, int64_t tile, uint64_t set)
{
    unsigned lanes = 0;
    for (int64_t l = 0; l < L && tile * L + l < q->n_groups; l++)
        lanes |= (unsigned)(w->sets[tile * L + l] == set) << l;
    if (!lanes)
        return;
    solve_shared(q, w, tile, w->columns);
    const unsigned breaks = set & CHOSEN ? 0 : breaks_bounds(q, w);
    for (int64_t l = 0; l < L; l++)
        if (lanes >> l & 1u)
            w->sets[tile * L + l] = breaks >> l & 1u ? choose_set(q, w, tile, l) : LINEAR_SOLVED;
    if (lanes & ~breaks)
        add_shared(q, w, tile, lanes & ~breaks, w->columns);
}

void JOIN(pyspec_linear_shared, ISA_SUFFIX, )(const pyspec_linear *q, const linear_work *w)
{
    const int64_t n_tiles = (q->n_groups + L - 1) / L, order = q->n_theta + 1, stride = line_stride_of(q);
    begin_sets(q, w);
    for (int64_t first = 0; first < q->n_groups;) {
        const uint64_t set = w->sets[first];
        if (set == LINEAR_SOLVED) {
            first++;
            continue;
        }
        factorize_lines(q, w, set);
        project_slopes(q, w);
        interleave(w->fours, w->line, stride, q->n_basis, q->n_x);
        interleave(w->fours + round_up(q->n_basis, 4) * q->n_x, w->line + q->n_basis * stride, stride,
                   q->n_slopes, q->n_x);
        for (int64_t tile = first / L; tile < n_tiles; tile++)
            solve_set(q, w, tile, set);
        collect_shared(q, w);
    }
    for (int64_t k = 0; k < triangle_size(order); k++)
        q->triangle[k] = sum_lanes(w->triangle + k * L);
}
