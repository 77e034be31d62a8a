/* smear.h: a line or a background under a Gaussian resolution that has no closed form.
 *
 * The integral of f(x') N(x - x'; R) runs over panels around the centre of f, as wide as f allows.
 * The first SMEAR_EVEN panels on each side have the widths `left` and `right`. Further panels grow
 * by `grow`, because poles and tails of f are smoother farther off. The Gaussian limits them to
 * SMEAR_WIDEST of R. A panel has 16 nodes by Gauss and Legendre: f is evaluated there once for all
 * points within reach. A kink of f stands at the centre, between two panels. If f is smooth on the
 * scale of R, 8 nodes by Gauss and Hermite around the point itself suffice. This holds far from the
 * centre or for small R. f is evaluated wherever the Gaussian reaches, beyond the ends of the axis
 * too.
 *
 * Each lane has its own panels, and sums those that its point reaches. Neither neighbours nor the
 * block of a point change its bits. */
#ifndef PYSPEC_SMEAR_H
#define PYSPEC_SMEAR_H

#include "isa/kernel.h"
#include "math/legendre.h"
#include "math/vmath.h"

enum { SMEAR_NODES = 2 * LEGENDRE_HALF, SMEAR_HERMITE = 8, SMEAR_PARAMS = 6 };

/* Panels of the first width on each side. */
#define SMEAR_EVEN 3.0
/* In standard deviations: the widest panel, and how far the Gaussian reaches (e^-36). */
#define SMEAR_WIDEST 3.5
#define SMEAR_REACH 8.5

/* What is smeared: a kernel, whose parameters are those of the result without the last, R. The
 * panels stand around x0 + shift. */
typedef struct smear_line {
    pyspec_kernel *kernel;
    int n_params;
    double shift[L], left[L], right[L], grow[L];
} smear_line;

/* Panels on one side of the centre: SMEAR_EVEN of the width `first`, `growing` ones, then wide ones
 * without end. */
typedef struct smear_side {
    double first[L], wide[L], grow[L], log_grow[L], growing[L], length[L];
} smear_side;

static const double smear_hermite[SMEAR_HERMITE / 2][2] = {
    {0.5390798113513751, 0.37301225767907736},
    {1.636519042435108, 0.11723990766175905},
    {2.8024858612875416, 0.009635220120788258},
    {4.1445471861258945, 0.00011261453837536765},
};

/* Within low ... high, low where it is NaN. */
static ALWAYS_INLINE double smear_within(double value, double low, double high)
{
    value = value > low ? value : low;
    return value < high ? value : high;
}

/* All edges but for rounding: width of `count` growing panels. */
static ALWAYS_INLINE double smear_grown(const smear_side *s, int l, double count)
{
    double power = v_exp(smear_within(count * s->log_grow[l], 0.0, 690.0));
    return s->first[l] * (s->grow[l] * ((power - 1.0) / (s->grow[l] - 1.0)));
}

static inline void smear_prepare(const double *first, const double *grow, const double *R,
                                 smear_side *s)
{
    FOR_LANES {
        s->wide[l] = SMEAR_WIDEST * R[l];
        s->first[l] = smear_within(first[l], 1e-300, s->wide[l]);
        s->grow[l] = smear_within(grow[l], 1.0009765625, 4.0);
        s->log_grow[l] = v_log(s->grow[l]);
        double growing = v_log(s->wide[l] / s->first[l]) / s->log_grow[l];
        growing = (double)(int64_t)smear_within(growing, 0.0, 690.0 / s->log_grow[l]);
        s->growing[l] = growing;
        s->length[l] = smear_grown(s, l, growing);
    }
}

/* Distance from the centre to where panel k begins, k >= 0. */
static ALWAYS_INLINE double smear_edge(const smear_side *s, int l, double k)
{
    double even = smear_within(k, 0.0, SMEAR_EVEN);
    double growing = smear_within(k - SMEAR_EVEN, 0.0, s->growing[l]);
    double wide = smear_within(k - SMEAR_EVEN - s->growing[l], 0.0, 1e15);
    double near = v_product_plus(even, s->first[l], smear_grown(s, l, growing));
    return v_product_plus(wide, s->wide[l], near);
}

/* The panel at a distance from the centre; at an edge one beside it. */
static ALWAYS_INLINE double smear_panel(const smear_side *s, int l, double away)
{
    double rest = away - SMEAR_EVEN * s->first[l], beyond = rest - s->length[l];
    double even = smear_within(away / s->first[l], 0.0, SMEAR_EVEN);
    double relative = smear_within(rest / (s->grow[l] * s->first[l]), 0.0, 1e290);
    double growing = v_log(1.0 + relative * (s->grow[l] - 1.0)) / s->log_grow[l];
    growing = smear_within(growing, 0.0, s->growing[l]);
    double wide = smear_within(beyond / s->wide[l], 0.0, 1e4);
    double k = rest < 0.0 ? even : SMEAR_EVEN + growing + wide;
    return (double)(int64_t)k;
}

/* The nodes of panel k: places from the centre and weights. Panels of negative k stand on the left:
 * -1 is the one beside the centre. */
static ALWAYS_INLINE void smear_nodes(const smear_side *sides, int64_t k, double *place,
                                      double *weight)
{
    const smear_side *s = &sides[k >= 0];
    const double from = (double)(k >= 0 ? k : -k - 1), sign = k >= 0 ? 1.0 : -1.0;
    FOR_LANES {
        double begin = smear_edge(s, l, from), end = smear_edge(s, l, from + 1.0);
        double middle = 0.5 * (begin + end), half = 0.5 * (end - begin);
        for (int q = 0; q < SMEAR_NODES; q++) {
            const int node = q < LEGENDRE_HALF ? LEGENDRE_HALF - 1 - q : q - LEGENDRE_HALF;
            double at = q < LEGENDRE_HALF ? -legendre_point[node] : legendre_point[node];
            place[q * L + l] = sign * v_product_plus(half, at, middle);
            weight[q * L + l] = half * legendre_weight[node];
        }
    }
}

/* The function itself and its partials at n vectors of places, counted from the centre of the
 * panels: rows of [n][L], the value first. */
static inline void smear_evaluate(const smear_line *line, const double *p, const double *place,
                                  int n, int want, double *found)
{
    double params[SMEAR_PARAMS * L], x[SMEAR_NODES * L], *partials[SMEAR_PARAMS];
    for (int k = 0; k < line->n_params; k++) {
        FOR_LANES params[k * L + l] = k == 1 ? 0.0 : P(k);
        partials[k] = found + (k + 1) * n * L;
    }
    for (int64_t i = 0; i < n; i++)
        FOR_LANES x[AT] = place[AT] + line->shift[l];
    const pyspec_block b = {.n = n, .n_valid = n * L, .across = 1, .x = x};
    line->kernel(&b, params, found, want ? partials : NULL);
    for (int i = 0; i < (want ? line->n_params + 1 : 1) * n * L; i++)
        found[i] = v_clamp(found[i], 1e300);
}

/* The terms that a vector of points sums: the panels from `low` to `high` that a lane reaches. A
 * lane that uses the 8 nodes around the point has no panels. */
typedef struct smear_point {
    double away[L];
    int64_t low[L], high[L];
} smear_point;

static ALWAYS_INLINE int64_t smear_signed_panel(const smear_side *sides, int l, double away)
{
    int64_t k = (int64_t)smear_panel(&sides[away >= 0.0], l, fabs(away));
    return away >= 0.0 ? k : -k - 1;
}

/* 8 nodes around the points: into the lanes of y and d that have no panels. */
static inline void smear_around(const smear_line *line, const double *p, const double *R,
                                const smear_point *at, int want, double *y, double *const *d,
                                int64_t i)
{
    double place[SMEAR_HERMITE * L], found[(SMEAR_PARAMS + 1) * SMEAR_HERMITE * L];
    for (int q = 0; q < SMEAR_HERMITE; q++) {
        const double *node = smear_hermite[q < 4 ? 3 - q : q - 4];
        FOR_LANES place[q * L + l] = v_product_plus(q < 4 ? -node[0] : node[0], R[l], at->away[l]);
    }
    smear_evaluate(line, p, place, SMEAR_HERMITE, want, found);
    for (int k = 0; k <= (want ? line->n_params + 1 : 0); k++) {
        const int by_r = k == line->n_params + 1;
        const double *row = found + (by_r ? 0 : k) * SMEAR_HERMITE * L;
        double *to = k == 0 ? y : d[k - 1];
        FOR_LANES {
            double sum = 0.0;
            for (int q = 0; q < SMEAR_HERMITE; q++) {
                const double *node = smear_hermite[q < 4 ? 3 - q : q - 4];
                double factor = by_r ? node[1] * (node[0] * node[0] - 1.0) : node[1];
                sum += factor * row[q * L + l];
            }
            sum = by_r ? v_clamp(sum / R[l], 1e300) : sum;
            to[AT] = at->low[l] > at->high[l] ? sum : to[AT];
        }
    }
}

/* One panel into the lanes of y and d that reach it. */
static inline void smear_add(int n_params, const double *found, const double *place,
                             const double *weight, const double *inverse, const smear_point *at,
                             int64_t panel, int want, double *y, double *const *d, int64_t i)
{
    double share[SMEAR_NODES * L], by_r[SMEAR_NODES * L];
    for (int q = 0; q < SMEAR_NODES; q++)
        FOR_LANES {
            double z = v_clamp((at->away[l] - place[q * L + l]) * inverse[l], 30.0);
            double square = z * z;
            uint64_t is_near = mask_of((at->low[l] <= panel) & (panel <= at->high[l]));
            double e = v_exp_inside(-0.5 * square) * (weight[q * L + l] * PYSPEC_SQRT1_2PI);
            share[q * L + l] = keep(is_near, e * inverse[l]);
            if (want)
                by_r[q * L + l] = share[q * L + l] * (square - 1.0);
        }
    for (int k = 0; k <= (want ? n_params + 1 : 0); k++) {
        const int last = k == n_params + 1;
        const double *row = found + (last ? 0 : k) * SMEAR_NODES * L;
        const double *factor = last ? by_r : share;
        double *to = k == 0 ? y : d[k - 1], sum[L] = {0};
        for (int q = 0; q < SMEAR_NODES; q++)
            FOR_LANES sum[l] = sum[l] + factor[q * L + l] * row[q * L + l];
        FOR_LANES to[AT] += last ? v_clamp(sum[l] * inverse[l], 1e300) : sum[l];
    }
}

static void smear(const pyspec_block *b, const double *p, double *y, double *const *d,
                  const smear_line *line)
{
    const int across = b->across != 0, want = d != NULL, n = line->n_params;
    double R[L], inverse[L];
    double place[SMEAR_NODES * L], weight[SMEAR_NODES * L];
    double found[(SMEAR_PARAMS + 1) * SMEAR_NODES * L];
    smear_side sides[2];
    smear_point points[BLOCK];
    FOR_LANES {
        R[l] = smear_within(P(n), 1e-290, 1e290);
        inverse[l] = 1.0 / R[l];
    }
    smear_prepare(line->left, line->grow, R, &sides[0]);
    smear_prepare(line->right, line->grow, R, &sides[1]);
    for (int64_t begin = 0; begin < b->n; begin += BLOCK) {
        const int64_t end = begin + BLOCK < b->n ? begin + BLOCK : b->n;
        int64_t first = INT64_MAX, last = INT64_MIN;
        for (int64_t i = begin; i < end; i++) {
            smear_point *at = &points[i - begin];
            int any_far = 0;
            FOR_LANES {
                double away = v_clamp((X - P(1)) - line->shift[l], 1e300);
                double size = away < 0.0 ? line->left[l] : line->right[l];
                double reach = SMEAR_REACH * R[l];
                int far = !(fabs(away) <= 32.0 * R[l] + 8.0 * SMEAR_EVEN * size) ||
                          (48.0 * R[l] < size && fabs(away) > reach);
                at->away[l] = away;
                at->low[l] = far ? 0 : smear_signed_panel(sides, l, away - reach);
                at->high[l] = far ? -1 : smear_signed_panel(sides, l, away + reach);
                any_far |= far;
                if (!far) {
                    first = at->low[l] < first ? at->low[l] : first;
                    last = at->high[l] > last ? at->high[l] : last;
                }
                y[AT] = 0.0;
            }
            for (int k = 0; want && k <= n; k++)
                FOR_LANES d[k][AT] = 0.0;
            if (any_far)
                smear_around(line, p, R, at, want, y, d, i);
        }
        for (int64_t panel = first; panel <= last; panel++) {
            int evaluated = 0;
            for (int64_t i = begin; i < end; i++) {
                const smear_point *at = &points[i - begin];
                int is_near = 0;
                FOR_LANES is_near |= (at->low[l] <= panel) & (panel <= at->high[l]);
                if (!is_near)
                    continue;
                if (!evaluated) {
                    smear_nodes(sides, panel, place, weight);
                    smear_evaluate(line, p, place, SMEAR_NODES, want, found);
                    evaluated = 1;
                }
                smear_add(n, found, place, weight, inverse, at, panel, want, y, d, i);
            }
        }
    }
}

#endif
