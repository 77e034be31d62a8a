/* shapes.h: what the preparation of shapes (shapes.c) and the sums over them (separable.c) share. */
#ifndef PYSPEC_SHAPES_H
#define PYSPEC_SHAPES_H

#include "separable/separable.h"

/* A shape of which J is made: the derivative of S_height by one of theta; theta = -1: S itself. The
 * first n_traces shapes are the S_k. */
typedef struct shape {
    int64_t theta, height;
} shape;

/* A product that is part of a column of J: a shape times a trace or a slope of one. */
typedef struct term {
    int64_t theta, shape, time;
} term;

/* Rows whose weighted residuals, or data, are summed over time with n_times functions; these lie in
 * r->work.times, zeros up to a whole tile. Shapes are read in chi^2 alone. */
typedef struct strip_rows {
    int64_t begin, n;
    const double *heights, *weights; /* [n][traces] g_k(t); [n] u(t)                            */
    const double *shapes, *by_x;     /* [traces][shape_stride] and v(E), from the window's first */
    int64_t n_times;
    int of_data, alone; /* see strip_data */
} strip_rows;

/* The place of trace k among the functions of time; its slopes stand behind it. */
int64_t pyspec_time_of(const run *r, int64_t k);

/* The terms of every column, those of one column behind each other, into r->work.terms; how many. */
int64_t pyspec_list_terms(const run *r);

/* The functions of time in a strip, times u(t), and the values g_k(t) row by row. */
void pyspec_load_times(const run *r, const strip *s);

/* chi^2 of such rows; the sums over time with each function go into r->work.time_sums. */
double pyspec_sum_strip(const run *r, const strip_rows *rows);

/* Keeps functions of time that are equal in n_rows, such as slopes by the start of a trace and 1, once;
 * returns how many differ. Each begins `step` behind the one before; r->work.time_place says where each is. */
int64_t pyspec_join_equal_times(const run *r, double *times, int64_t step, int64_t n_rows);

/* Adds to a triangle what follows from overlaps of shapes and of times, r->work.time_gram, and from
 * r->work.time_sums, which it takes times v(E). */
void pyspec_fill_triangle(const run *r, int64_t n_terms, int64_t n_times, double *triangle);

/* The sums of the strip that a row begins. */
static inline int push_strip(pyspec_normal *normal, int64_t row, const double *record)
{
    int64_t level = 0;
    while (1 << level < STRIP)
        level++;
    return pyspec_push_sums(normal, level, row / STRIP, record);
}

/* Numbers of a line along the abscissae of the window. */
static inline int64_t line_size(const pyspec_problem *q)
{
    return round_up(q->x_end - q->x_begin, L);
}

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

/* v(E) of abscissa i of the window. */
static inline double weight_of_x(const pyspec_problem *q, int64_t i)
{
    return is_weighted_along(q, 0) ? weight_of(q, 0, q->first_row, q->x_begin + i) : 1.0;
}

/* Calls pyspec_use_prepared. The shapes must have been prepared with the weights v(E) of the problem.
 * Only the numbers count, not their place: chunks of rows may hold copies. */
int pyspec_use_shapes(run *r);

#endif
