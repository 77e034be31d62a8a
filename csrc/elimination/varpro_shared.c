/* varpro_shared.c: variable projection for groups that all have the same basis functions and no
 * weights. One factorization serves all groups in which the same amplitudes take part. It also gives
 * the sums for the normal equations. Built for each instruction set.
 *
 * The notation is that of varpro_tiles.c. The columns of J are (1 - Q Q') D_p c, so that their products
 * are those of the projected slopes times sums of c c over the groups. Amplitudes that a bound or a
 * range holds at 0 are left out of Q: there are few such sets for many groups. */
#include "elimination/linear.h"
#include "isa/vector.h"

#include <math.h>

static double dot_lines(const double *a, const double *b, int64_t n)
{
    double part[L] = {0.0}, sum = 0.0;
    int64_t i = 0;
    for (; i + L <= n; i += L)
        FOR_LANES part[l] += a[i + l] * b[i + l];
    for (; i < n; i++)
        part[0] += a[i] * b[i];
    FOR_LANES sum += part[l];
    return sum;
}

static void take_line(double *restrict to, const double *restrict line, double factor, int64_t n)
{
    FOR_BLOCK to[i] -= factor * line[i];
}

/* Of which basis function a derivative is; the offset comes last. */
static int64_t basis_of(const pyspec_linear *q, int64_t slope)
{
    return q->slope_basis[slope] < 0 ? q->n_basis : q->slope_basis[slope];
}

/* Subtracts from a line its part along the first columns of Q, by Gram and Schmidt, twice. Column k of
 * R, if present, receives the coefficients. */
static void project_line(const linear_work *w, double *own, int64_t n_columns, int64_t n, double *r,
                         int64_t row)
{
    for (int pass = 0; pass < 2; pass++)
        for (int64_t j = 0; j < n_columns; j++) {
            if (w->on[j] == 0.0)
                continue;
            const double change = dot_lines(w->line + j * n, own, n);
            take_line(own, w->line + j * n, change, n);
            if (r)
                r[j * row] += change;
        }
}

/* The slopes of what takes part, projected, and their Gram matrix; others are times amplitudes of 0. */
static void project_slopes(const pyspec_linear *q, const linear_work *w)
{
    const int64_t n = q->n_x, n_basis = q->n_basis;
    memset(w->gram, 0, (size_t)(q->n_slopes * q->n_slopes) * sizeof *w->gram);
    for (int64_t s = 0; s < q->n_slopes; s++) {
        double *own = w->line + (n_basis + s) * n;
        if (basis_of(q, s) < n_basis && w->on[basis_of(q, s)] == 0.0) {
            memset(own, 0, (size_t)n * sizeof *own);
            continue;
        }
        memcpy(own, q->slopes + s * q->slopes_column, (size_t)n * sizeof *own);
        project_line(w, own, n_basis, n, NULL, 0);
        for (int64_t t = 0; t <= s; t++)
            if (basis_of(q, t) == n_basis || w->on[basis_of(q, t)] > 0.0)
                w->gram[s * q->n_slopes + t] = w->gram[t * q->n_slopes + s] =
                    dot_lines(own, w->line + (n_basis + t) * n, n);
    }
}

/* Q, and R in lane 0, for the basis functions of a set. */
static void factorize_lines(const pyspec_linear *q, const linear_work *w, uint64_t set)
{
    const int64_t n = q->n_x, n_basis = q->n_basis;
    memset(w->r, 0, (size_t)(n_basis * n_basis * L) * sizeof *w->r);
    for (int64_t k = 0; k < n_basis; k++) {
        double *own = w->line + k * n;
        memcpy(own, q->basis + k * q->basis_column, (size_t)n * sizeof *own);
        const double before = dot_lines(own, own, n);
        if (set >> k & 1u)
            project_line(w, own, k, n, w->r + k * L, n_basis * L);
        const double after = dot_lines(own, own, n);
        const int lost = after <= LINEAR_RANK * LINEAR_RANK * before || !(set >> k & 1u);
        w->on[k] = lost ? 0.0 : 1.0;
        w->r[(k * n_basis + k) * L] = lost ? 1.0 : sqrt(after);
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
static void interleave(double *restrict to, const double *restrict lines, int64_t n_lines, int64_t n)
{
    for (int64_t k = 0; k < round_up(n_lines, 4); k++)
        FOR_BLOCK to[(k / 4 * n + i) * 4 + k % 4] = k < n_lines ? lines[k * n + i] : 0.0;
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
    for (int64_t k = n_basis - 1; k >= 0; k--) {
        double *c = w->c + k * L;
        FOR_LANES c[l] = w->b[k * L + l];
        for (int64_t j = k + 1; j < n_basis; j++)
            FOR_LANES c[l] -= w->r[(k * n_basis + j) * L] * w->c[j * L + l];
        FOR_LANES c[l] = w->on[k] > 0.0 ? c[l] / w->r[(k * n_basis + k) * L] : 0.0;
    }
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
                q->determined[(tile * L + l) * n_basis + k] = w->on[k] > 0.0;
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

/* Whether an amplitude of a lane that must not be negative is so. */
static int breaks_bound(const pyspec_linear *q, const linear_work *w, int64_t l)
{
    for (int64_t k = 0; q->bounded && k < q->n_basis; k++)
        if (q->bounded[k] && w->c[k * L + l] < 0.0)
            return 1;
    return 0;
}

/* The amplitudes of a lane that take part where those that are bounded are not negative. */
static uint64_t choose_set(const pyspec_linear *q, const linear_work *w, int64_t tile, int64_t l)
{
    uint64_t set = CHOSEN;
    double on[PYSPEC_LINEAR_MOST];
    memcpy(on, w->on, (size_t)q->n_basis * sizeof *on);
    pyspec_choose_lane(q, tile * L + l, w->r, w->b + l, on, 1);
    for (int64_t k = 0; k < q->n_basis; k++)
        set |= (uint64_t)(on[k] > 0.0) << k;
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
    for (int64_t l = 0; l < L; l++) {
        if (!(lanes >> l & 1u))
            continue;
        const int breaks = !(set & CHOSEN) && breaks_bound(q, w, l);
        w->sets[tile * L + l] = breaks ? choose_set(q, w, tile, l) : LINEAR_SOLVED;
        lanes &= ~((unsigned)breaks << l);
    }
    if (lanes)
        add_shared(q, w, tile, lanes, w->columns);
}

void JOIN(pyspec_linear_shared, ISA_SUFFIX, )(const pyspec_linear *q, const linear_work *w)
{
    const int64_t n_tiles = (q->n_groups + L - 1) / L, order = q->n_theta + 1;
    begin_sets(q, w);
    for (int64_t first = 0; first < q->n_groups;) {
        const uint64_t set = w->sets[first];
        if (set == LINEAR_SOLVED) {
            first++;
            continue;
        }
        factorize_lines(q, w, set);
        project_slopes(q, w);
        interleave(w->fours, w->line, q->n_basis, q->n_x);
        interleave(w->fours + round_up(q->n_basis, 4) * q->n_x, w->line + q->n_basis * q->n_x,
                   q->n_slopes, q->n_x);
        for (int64_t tile = first / L; tile < n_tiles; tile++)
            solve_set(q, w, tile, set);
        collect_shared(q, w);
    }
    for (int64_t k = 0; k < triangle_size(order); k++)
        q->triangle[k] = sum_lanes(w->triangle + k * L);
}
