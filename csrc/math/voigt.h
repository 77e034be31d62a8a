/* voigt.h: w(x + iy) of faddeeva.h along x, for heights y that stay the same from point to point.
 *
 * For 1e-6 <= y and |z| < 8: Taylor series about the nodes |x| = 1/4, 3/4, ... 31/4, of degree 17. Their
 * coefficients follow from the value at the node by w' = 2 i / sqrt(pi) - 2 z w:
 * (n + 1) c[n + 1] = -2 (z c[n] + c[n - 1]). A node is prepared when a point first needs it. V and Im w
 * have real coefficients each; w(-x + iy) = conj w(x + iy).
 *
 * Each lane has its own height, and which way its points take depends on no other lane. Where all
 * heights are equal, as in most models, eight nodes are prepared side by side.
 *
 * Relative error of V <= 2e-13, of w' and w'' 2e-12 and 5e-11 of their moduli where these are smallest,
 * at |x| near 8 (tests/functions/test_vmath.py). */
#ifndef PYSPEC_VOIGT_H
#define PYSPEC_VOIGT_H

#include "math/faddeeva.h"
#include "isa/vector.h"

/* Vectors that are summed side by side. */
enum { VOIGT_ABREAST = 4 };

enum { VOIGT_NODES = 16, VOIGT_TERMS = 18 };

/* Without FMA the value at a node has lost the digits that the table of functions leaves to a sum. */
#if defined(__FMA__)
#define VOIGT_HOLDS (~(uint64_t)0)
#else
#define VOIGT_HOLDS ((uint64_t)0)
#endif

/* Bit j of what is found: some lane is at node j. */
#define VOIGT_ELSEWHERE ((uint64_t)1 << 32)

typedef struct voigt_series {
    double re[VOIGT_TERMS][L], im[VOIGT_TERMS][L];
} voigt_series;

typedef struct voigt_tables {
    double y[L], p[L];        /* p = exp(-4 pi |y|)                                      */
    uint64_t ready;           /* nodes that `at` holds, and behind them halves of `side` */
    int equal;                /* whether all heights are                                 */
    voigt_series at[VOIGT_NODES];
    voigt_series side[VOIGT_NODES / L]; /* lanes are nodes                                 */
} voigt_tables;

static ALWAYS_INLINE void voigt_begin(const double *y, voigt_tables *t)
{
    uint64_t differs = 0;
    IN_LANES {
        t->y[l] = y[l];
        t->p[l] = v_exp(-4.0 * PYSPEC_PI * fabs(y[l]));
        differs |= bits_of(y[l]) ^ bits_of(y[0]);
    }
    t->equal = !differs;
    t->ready = 0;
}

/* The series about L points. Each sum takes one product at a time: no compiler has a choice which of them
 * to leave unrounded. */
static void voigt_expand(const double *x, const double *y, const double *p, voigt_series *to)
{
    IN_LANES w_near(x[l], y[l], p[l], 1, &to->re[0][l], &to->im[0][l]);
    FOR_WIDTHS {
        const vector vx = load_vector(x + at), vy = load_vector(y + at);
        vector re = load_vector(to->re[0] + at), im = load_vector(to->im[0] + at);
        vector re_last = same_in_all(0.0), im_last = same_in_all(-1.0 / PYSPEC_SQRT_PI);
        for (int n = 0; n < VOIGT_TERMS - 1; n++) {
            vector next_re = re_last + vx * re, next_im = im_last + vx * im;
            next_re = next_re - vy * im;
            next_im = next_im + vy * re;
            re_last = re;
            im_last = im;
            re = next_re * (-2.0 / (n + 1));
            im = next_im * (-2.0 / (n + 1));
            put_vector(to->re[n + 1] + at, re, 1);
            put_vector(to->im[n + 1] + at, im, 1);
        }
    }
}

static void voigt_prepare(voigt_tables *t, int node)
{
    double x[L];
    t->ready |= (uint64_t)1 << node;
    if (!t->equal) {
        IN_LANES x[l] = 0.25 + 0.5 * node;
        voigt_expand(x, t->y, t->p, &t->at[node]);
        return;
    }
    const int half = node / L, place = node % L;
    if (!(t->ready >> (VOIGT_NODES + half) & 1)) {
        t->ready |= (uint64_t)1 << (VOIGT_NODES + half);
        IN_LANES x[l] = 0.25 + 0.5 * (half * L + l);
        voigt_expand(x, t->y, t->p, &t->side[half]);
    }
    for (int n = 0; n < VOIGT_TERMS; n++)
        IN_LANES {
            t->at[node].re[n][l] = t->side[half].re[n][place];
            t->at[node].im[n][l] = t->side[half].im[n][place];
        }
}

/* Of L points the node of each, -1 where the tables do not hold, and how far |x| lies from it; the bits
 * of all lanes. */
static ALWAYS_INLINE uint64_t voigt_find(const double *x, const voigt_tables *t, double *node,
                                         double *rest)
{
    uint64_t differs = 0, found = 0;
    double first;
    IN_LANES {
        const double ax = fabs(x[l]), y = t->y[l];
        const double k = ((2.0 * ax - 0.5) + ROUNDING_SHIFT) - ROUNDING_SHIFT;
        const uint64_t near =
            mask_of(v_square_sum(x[l], y) < 64.0) & mask_of(y >= 1e-6) & VOIGT_HOLDS;
        rest[l] = (ax - 0.25) - 0.5 * k;
        node[l] = pick(near, -1.0, fabs(k)); /* fabs: -0 is node 0 */
    }
    first = node[0];
    IN_LANES differs |= mask_of(node[l] != first);
    for (int l = 0; l < (differs ? L : 1); l++)
        found |= node[l] < 0.0 ? VOIGT_ELSEWHERE : (uint64_t)1 << (int)node[l];
    return found;
}

/* The lowest node among bits that are found. */
static ALWAYS_INLINE int voigt_first(uint64_t found)
{
    int j = 0;
    while (!(found >> j & 1))
        j++;
    return j;
}

/* The sum of a series in `count` vectors side by side, even and odd terms apart, so that few steps wait
 * for the one before. */
static ALWAYS_INLINE void voigt_sum(const double terms[VOIGT_TERMS][L], const double *rest,
                                    const int count, double *sum)
{
    FOR_WIDTHS {
        vector even[VOIGT_ABREAST], odd[VOIGT_ABREAST], q[VOIGT_ABREAST];
        for (int i = 0; i < count; i++) {
            const vector h = load_vector(rest + i * L + at);
            q[i] = h * h;
            even[i] = load_vector(terms[VOIGT_TERMS - 2] + at);
            odd[i] = load_vector(terms[VOIGT_TERMS - 1] + at);
        }
        for (int n = VOIGT_TERMS - 4; n >= 0; n -= 2)
            for (int i = 0; i < count; i++) {
                even[i] = even[i] * q[i] + load_vector(terms[n] + at);
                odd[i] = odd[i] * q[i] + load_vector(terms[n + 1] + at);
            }
        for (int i = 0; i < count; i++)
            put_vector(sum + i * L + at, even[i] + odd[i] * load_vector(rest + i * L + at), 1);
    }
}

/* `count` vectors at node j: all of their lanes are there, or some of a single one. */
static ALWAYS_INLINE void voigt_read(const double *x, voigt_tables *t, int j, const double *node,
                                     const double *rest, const int count, int want, w_lanes *to)
{
    double re[VOIGT_ABREAST * L], im[VOIGT_ABREAST * L];
    if (!(t->ready >> j & 1))
        voigt_prepare(t, j);
    voigt_sum(t->at[j].re, rest, count, re);
    if (want)
        voigt_sum(t->at[j].im, rest, count, im);
    for (int i = 0; i < count; i++, to++)
        IN_LANES {
            const uint64_t here = count > 1 ? ~(uint64_t)0 : mask_of(node[AT] == (double)j);
            to->v[l] = pick(here, to->v[l], re[AT]);
            if (want) {
                /* w' = 2 i / sqrt(pi) - 2 z w, w'' = -2 w - 2 z w' */
                const double u = copysign(1.0, x[AT]) * im[AT], y = t->y[l];
                const double dx = 2.0 * v_sum_of_products(y, u, -x[AT], re[AT]);
                const double dy =
                    2.0 * v_sum_of_products(x[AT], u, y, re[AT]) - 2.0 / PYSPEC_SQRT_PI;
                const double dxx = -2.0 * (re[AT] + x[AT] * dx + y * dy);
                to->im[l] = pick(here, to->im[l], u);
                to->dx[l] = pick(here, to->dx[l], dx);
                to->dy[l] = pick(here, to->dy[l], dy);
                to->dxx[l] = pick(here, to->dxx[l], dxx);
            }
        }
}

/* w of L points that no table holds, from what their heights bring along. */
typedef void voigt_off(const double *x, const void *heights, int want, w_lanes *to);

/* w by the tables of these heights, or by `off` if they do not apply. Takes as many vectors, at most
 * `n`, as are at the same node. Takes one vector if its lanes are at several. Returns how many. */
static ALWAYS_INLINE int voigt_line(const double *x, voigt_tables *t, const uint64_t *found,
                                    const double *node, const double *rest, int64_t n, int want,
                                    voigt_off *off, const void *heights, w_lanes *to)
{
    uint64_t left = found[0];
    if (n >= VOIGT_ABREAST && left != VOIGT_ELSEWHERE && !(left & (left - 1)) &&
        found[1] == left && found[2] == left && found[3] == left) {
        voigt_read(x, t, voigt_first(left), node, rest, VOIGT_ABREAST, want, to);
        return VOIGT_ABREAST;
    }
    if (left & VOIGT_ELSEWHERE) {
        double away[L];
        FOR_LANES away[l] = node[l] < 0.0 ? x[l] : 1e9;
        off(away, heights, want, to);
    } else {
        *to = (w_lanes){0};
    }
    for (left &= ~VOIGT_ELSEWHERE; left; left &= left - 1)
        voigt_read(x, t, voigt_first(left), node, rest, 1, want, to);
    return 1;
}

#endif
