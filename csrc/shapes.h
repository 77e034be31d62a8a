/* shapes.h: what the preparation of shapes (shapes.c) and the sums over them (separable.c) share. */
#ifndef PYSPEC_SHAPES_H
#define PYSPEC_SHAPES_H

#include "separable.h"

/* A shape of which J is made: the derivative of S_height by one of theta; theta = -1: S itself. The
 * first n_traces shapes are the S_k. */
typedef struct shape {
    int64_t theta, height;
} shape;

static inline const int64_t *moving_rows(const run *r)
{
    return r->words + r->plan->separable + 1;
}

static inline shape *shape_list(const run *r)
{
    return (shape *)(void *)r->prepared.shape_list;
}

/* Along which axis the weights of a problem differ. */
static inline int weight_by_row(const pyspec_problem *q)
{
    return q->weight && q->weight_row != 0;
}

static inline int keep_by_row(const pyspec_problem *q)
{
    return q->keep && q->keep_row != 0;
}

static inline int is_weighted_along(const pyspec_problem *q, int by_row)
{
    return (q->weight && weight_by_row(q) == by_row) || (q->keep && keep_by_row(q) == by_row);
}

/* n numbers along the window's abscissae times v(E); 0 where that is, be they what they may. */
static inline void weigh_line(const run *r, double *line, int64_t n)
{
    const double *v = r->prepared.shape_weight;
    const int64_t whole = n / L * L;
    pyspec_block_table[r->call->isa].weigh(line, v, n / L);
    for (int64_t i = whole; i < n; i++)
        line[i] = v[i] == 0.0 ? 0.0 : line[i] * v[i];
}

/* u(t) of one row, or v(E) of one abscissa. */
static inline double weight_of(const pyspec_problem *q, int by_row, int64_t row, int64_t x)
{
    double weight = 1.0;
    const int64_t at = row - q->first_row;
    if (q->weight && weight_by_row(q) == by_row)
        memcpy(&weight, (const char *)q->weight + at * q->weight_row + x * q->weight_x,
               sizeof weight);
    if (q->keep && keep_by_row(q) == by_row && !q->keep[at * q->keep_row + x * q->keep_x])
        weight = 0.0;
    return weight;
}

#endif
