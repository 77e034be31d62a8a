/* scheme_stretch.c: exp(K s) of a scheme over stretches of time, see scheme_circle.c. A series gives short ones. A
 * unit of time is doubled as often as needed. */
#include "kinetics/scheme_stretch.h"

#include <math.h>
#include <string.h>

/* out = the columns of e, each of the sum `total`, as differences. The column of a state that is not the
 * first of its block becomes the difference to the column of the first. Within a block, the rows of later
 * states hold their own change. The row of the first holds the change of the whole block. */
void pyspec_take_differences(const scheme_circle *c, int n, double (*e)[MAX_STATES], double total,
                             double (*out)[MAX_STATES])
{
    for (int a = 0; a < n; a++) {
        const int ref = c->first[a];
        for (int j = 0; j < n; j++)
            out[j][a] = a == ref ? e[j][a] : e[j][a] - e[j][ref];
        double gone = a == ref ? e[OUT][a] : e[OUT][a] - e[OUT][ref];
        for (int j = 0; j < n; j++) {
            if (c->first[j] == ref)
                continue;
            gone += out[j][a];
            if (c->first[j] != j)
                out[c->first[j]][a] += out[j][a];
        }
        out[ref][a] = (a == ref ? total : 0.0) - gone;
    }
}

static ALWAYS_INLINE void product(int width, int n, double (*a)[MAX_STATES], double (*b)[MAX_STATES],
                                  double (*out)[MAX_STATES])
{
    for (int i = 0; i < n; i++)
        row_of_product(width, n, a[i], b, out[i]);
}

static ALWAYS_INLINE void two_products(int width, int n, double (*a)[MAX_STATES], double (*b)[MAX_STATES],
                                       double (*c)[MAX_STATES], double (*d)[MAX_STATES],
                                       double (*out)[MAX_STATES])
{
    for (int i = 0; i < n; i++) {
        double sum[MAX_STATES] = {0.0};
        for (int k = 0; k < n; k++)
            for (int j = 0; j < width; j++)
                sum[j] += a[i][k] * b[k][j] + c[i][k] * d[k][j];
        memcpy(out[i], sum, sizeof sum);
    }
}

void pyspec_move_row(int n, const double *row, double (*b)[MAX_STATES], double *out)
{
    BY_WIDTH(n, row_of_product, n, row, b, out);
}

void pyspec_product(int n, double (*a)[MAX_STATES], double (*b)[MAX_STATES], double (*out)[MAX_STATES])
{
    BY_WIDTH(n, product, n, a, b, out);
}

void pyspec_two_products(int n, double (*a)[MAX_STATES], double (*b)[MAX_STATES],
                         double (*c)[MAX_STATES], double (*d)[MAX_STATES],
                         double (*out)[MAX_STATES])
{
    BY_WIDTH(n, two_products, n, a, b, c, d, out);
}

static ALWAYS_INLINE void sum_columns_to(int width, int n, double total, double (*e)[MAX_STATES])
{
    double factor[MAX_STATES];
    memcpy(factor, e[OUT], sizeof factor);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < width; j++)
            factor[j] += e[i][j];
    for (int j = 0; j < width; j++)
        factor[j] = total / (j < n ? factor[j] : 1.0);
    for (int i = 0; i <= OUT; i = i + 1 == n ? OUT : i + 1)
        for (int j = 0; j < width; j++)
            e[i][j] *= factor[j];
}

void pyspec_sum_columns_to(int n, double total, double (*e)[MAX_STATES])
{
    BY_WIDTH(n, sum_columns_to, n, total, e);
}

static ALWAYS_INLINE void sum_row(int width, const scheme_circle *c, int i, const double *factors,
                                  double *out)
{
    double sum[MAX_STATES] = {0.0};
    for (int k = 0; k < CIRCLE_TERMS; k++)
        for (int j = 0; j < width; j++)
            sum[j] += factors[k] * c->powers[k].e[i][j];
    memcpy(out, sum, sizeof sum);
}

static ALWAYS_INLINE void sum_powers(int width, const scheme_circle *c, int n, const double *factors,
                                     double (*e)[MAX_STATES], double (*x)[MAX_STATES])
{
    for (int i = 0; e && i <= OUT; i = i + 1 == n ? OUT : i + 1)
        sum_row(width, c, i, factors, e[i]);
    for (int i = 0; x && i < n; i++) {
        double sum[MAX_STATES] = {0.0};
        for (int k = 0; k < CIRCLE_TERMS; k++)
            for (int j = 0; j < width; j++)
                sum[j] += factors[k] * c->powers[k].x[i][j];
        memcpy(x[i], sum, sizeof sum);
    }
}

void pyspec_sum_row(const scheme_circle *c, int n, int i, const double *factors, double *out)
{
    BY_WIDTH(n, sum_row, c, i, factors, out);
}

void pyspec_sum_powers(const scheme_circle *c, int n, const double *factors,
                       double (*e)[MAX_STATES], double (*x)[MAX_STATES])
{
    BY_WIDTH(n, sum_powers, c, n, factors, e, x);
}

static void next_power(scheme_circle *c, int n, int slopes, int target, int k, scheme_stretch *own,
                       scheme_stretch *next)
{
    double own_target[MAX_STATES] = {0.0};
    pyspec_product(n, c->one, own->e, next->e);
    pyspec_move_row(n, c->one[OUT], own->e, next->e[OUT]);
    for (int j = 0; j < n; j++) {
        next->e[OUT][j] += own->e[OUT][j];
        own_target[j] = own->e[target][j] - (j == c->first[j] ? 0.0 : own->e[target][c->first[j]]);
    }
    if (slopes)
        pyspec_product(n, c->one, own->x, next->x);
    for (int j = 0; j < n; j++)
        next->e[OUT][j] /= k + 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < MAX_STATES; j++) {
            next->e[i][j] /= k + 1;
            if (slopes)
                next->x[i][j] = (next->x[i][j] + c->start[i] * own_target[j]) / (k + 1);
        }
}

/* powers[k] = (K + 1)^k / k!, and the same of what an integral over two such makes, up to `count` of them. */
static void take_powers(prepared_scheme *p, int count)
{
    scheme_circle *c = &p->circle;
    for (; c->n_powers < count; c->n_powers++)
        next_power(c, p->n, p->slopes, (int)scheme_head(p->program)->target, c->n_powers - 1,
                   &c->powers[c->n_powers - 1], &c->powers[c->n_powers]);
}

/* A stretch of 0 <= length <= 1, by Taylor's series of K + 1, which has no negative number. */
void pyspec_short_stretch(const scheme_circle *c, int n, int slopes, double length, scheme_stretch *out)
{
    double factors[CIRCLE_TERMS] = {exp(-length)};
    for (int k = 1; k < CIRCLE_TERMS; k++)
        factors[k] = factors[k - 1] * length;
    pyspec_sum_powers(c, n, factors, out->e, slopes ? out->x : NULL);
    pyspec_sum_columns_to(n, 1.0, out->e);
}

/* Twice the length. */
static void double_stretch(int n, scheme_stretch *s, double (*apart)[MAX_STATES], scheme_stretch *out)
{
    if (apart)
        pyspec_two_products(n, s->e, s->x, s->x, apart, out->x);
    pyspec_product(n, s->e, s->e, out->e);
    pyspec_move_row(n, s->e[OUT], s->e, out->e[OUT]);
    for (int j = 0; j < n; j++)
        out->e[OUT][j] += s->e[OUT][j];
    pyspec_sum_columns_to(n, 1.0, out->e);
}

scheme_stretch *pyspec_level(prepared_scheme *p, int level)
{
    scheme_circle *c = &p->circle;
    if (c->n_powers < CIRCLE_TERMS)
        take_powers(p, CIRCLE_TERMS);
    for (; c->n_levels <= level; c->n_levels++) {
        scheme_stretch *own = &c->levels[c->n_levels];
        double(*apart)[MAX_STATES][MAX_STATES] = &c->apart[c->n_levels];
        if (c->n_levels)
            double_stretch(p->n, own - 1, p->slopes ? apart[-1] : NULL, own);
        else
            pyspec_short_stretch(c, p->n, p->slopes, 1.0, own);
        memset(apart, 0, sizeof *apart);
        if (p->slopes)
            pyspec_take_differences(c, p->n, own->e, 1.0, *apart);
    }
    return &c->levels[level];
}

/* powers[0] = 1; without slopes the others wait for a stretch that is needed. */
void pyspec_begin_stretches(prepared_scheme *p, const scheme_rates *r)
{
    scheme_circle *c = &p->circle;
    memset(&c->one, 0, sizeof c->one);
    memset(&c->powers[0], 0, sizeof c->powers[0]);
    c->stands = 1;
    for (int j = 0; j < p->n; j++) {
        c->stands = c->stands && r->k[j][j] == 0.0;
        for (int i = 0; i < p->n; i++)
            c->one[i][j] = (i == j ? 1.0 : 0.0) + r->k[i][j];
        c->one[OUT][j] = r->lost[j];
        c->powers[0].e[j][j] = 1.0;
    }
    c->n_powers = 1;
    c->n_levels = 0;
    if (p->slopes)
        take_powers(p, CIRCLE_TERMS);
}
