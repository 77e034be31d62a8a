/* scheme_stretch.c: exp(K s) of a scheme over stretches of time, see scheme_circle.c: short ones by a series,
 * and a unit of time doubled as often as is needed. */
#include "scheme_stretch.h"

#include <math.h>
#include <string.h>

/* out = the columns of e, each of the sum `total`, as differences: of a state that is not the first of its
 * block, to that first; a change within a block is written by the states behind its first, and what the
 * whole block gains by the first. */
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

/* out = a b + c d */
void pyspec_two_products(int n, double (*a)[MAX_STATES], double (*b)[MAX_STATES],
                         double (*c)[MAX_STATES], double (*d)[MAX_STATES],
                         double (*out)[MAX_STATES])
{
    for (int i = 0; i < n; i++) {
        double sum[MAX_STATES] = {0.0};
        for (int k = 0; k < n; k++)
            for (int j = 0; j < MAX_STATES; j++)
                sum[j] += a[i][k] * b[k][j] + c[i][k] * d[k][j];
        memcpy(out[i], sum, sizeof sum);
    }
}

void pyspec_sum_columns_to(int n, double total, double (*e)[MAX_STATES])
{
    double factor[MAX_STATES];
    memcpy(factor, e[OUT], sizeof factor);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < MAX_STATES; j++)
            factor[j] += e[i][j];
    for (int j = 0; j < MAX_STATES; j++)
        factor[j] = total / (j < n ? factor[j] : 1.0);
    for (int i = 0; i <= OUT; i = i + 1 == n ? OUT : i + 1)
        for (int j = 0; j < MAX_STATES; j++)
            e[i][j] *= factor[j];
}

/* e, and with slopes x, = the sum over k of factors[k] powers[k]. */
void pyspec_sum_powers(const scheme_circle *c, int n, int slopes, const double *factors,
                       double (*e)[MAX_STATES], double (*x)[MAX_STATES])
{
    for (int i = 0; i <= OUT; i = i + 1 == n ? OUT : i + 1) {
        double sum[MAX_STATES] = {0.0}, of_x[MAX_STATES] = {0.0};
        for (int k = 0; k < CIRCLE_TERMS; k++)
            for (int j = 0; j < MAX_STATES; j++)
                sum[j] += factors[k] * c->powers[k].e[i][j];
        memcpy(e[i], sum, sizeof sum);
        if (!slopes || i == OUT)
            continue;
        for (int k = 0; k < CIRCLE_TERMS; k++)
            for (int j = 0; j < MAX_STATES; j++)
                of_x[j] += factors[k] * c->powers[k].x[i][j];
        memcpy(x[i], of_x, sizeof of_x);
    }
}

static void next_power(const scheme_circle *c, int n, int slopes, int target, int k,
                       const scheme_stretch *own, scheme_stretch *next)
{
    const double(*one)[MAX_STATES] = c->one;
    memset(next, 0, sizeof *next);
    for (int i = 0; i <= OUT; i = i + 1 == n ? OUT : i + 1)
        for (int j = 0; j < n; j++) {
            double sum = i == OUT ? own->e[OUT][j] : 0.0;
            for (int a = 0; a < n; a++)
                sum += one[i][a] * own->e[a][j];
            next->e[i][j] = sum / (k + 1);
        }
    for (int i = 0; slopes && i < n; i++)
        for (int j = 0; j < n; j++) {
            const double *row = own->e[target];
            double sum = c->start[i] * (j == c->first[j] ? row[j] : row[j] - row[c->first[j]]);
            for (int a = 0; a < n; a++)
                sum += one[i][a] * own->x[a][j];
            next->x[i][j] = sum / (k + 1);
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
    memset(out, 0, sizeof *out);
    pyspec_sum_powers(c, n, slopes, factors, out->e, out->x);
    pyspec_sum_columns_to(n, 1.0, out->e);
}

/* Twice the length. */
static void double_stretch(const scheme_circle *c, int n, int slopes, scheme_stretch *s,
                           scheme_stretch *out)
{
    double differences[MAX_STATES][MAX_STATES] = {{0.0}};
    memset(out, 0, sizeof *out);
    if (slopes) {
        pyspec_take_differences(c, n, s->e, 1.0, differences);
        pyspec_two_products(n, s->e, s->x, s->x, differences, out->x);
    }
    for (int i = 0; i <= OUT; i = i + 1 == n ? OUT : i + 1)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                out->e[i][j] += s->e[i][k] * s->e[k][j];
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
        if (c->n_levels)
            double_stretch(c, p->n, p->slopes, own - 1, own);
        else
            pyspec_short_stretch(c, p->n, p->slopes, 1.0, own);
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
