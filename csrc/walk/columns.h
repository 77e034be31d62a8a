/* columns.h: how partials of a component become columns of J, for walk.c. */
#ifndef PYSPEC_COLUMNS_H
#define PYSPEC_COLUMNS_H

#include "walk/run.h"

/* The column of a trace row, -1: those of the parameters of theta that it depends on, NOWHERE: none. */
static inline int64_t column_of(const run *r, int64_t row)
{
    if (!r->by.of_row)
        return row < r->plan->n_theta ? row : -1;
    return r->by.of_row[row];
}

/* column = or += partial * factor, where a factor is not finite. */
static inline void add_infinite(double *column, const double *partial, const double *factor, int64_t n,
                                int store)
{
    for (int64_t i = 0; i < n; i++)
        FOR_LANES column[AT] = (store ? 0.0 : column[AT]) + times_change(partial[AT], factor[l]);
}

/* The same of fits side by side: none sees whether the factor of another is finite. */
static inline void add_infinite_beside(const run *r, double *column, const double *partial,
                                       const double *factor, int64_t n, int store)
{
    double finite[L];
    FOR_LANES finite[l] = isfinite(factor[l]) ? factor[l] : 0.0;
    pyspec_block_table[r->call->isa].scale(column, partial, finite, n, store);
    for (int l = 0; l < L; l++)
        for (int64_t i = 0; !isfinite(factor[l]) && i < n; i++)
            column[AT] += times_change(partial[AT], factor[l]);
}

/* column += weight * partial * change, the change of a parameter in each lane. */
static inline void add_change(const run *r, int64_t slot, int64_t k, const tile *t, const double *partial,
                              const double *change, double weight)
{
    unsigned char *written = written_at(r, slot) + k;
    double factor[L], *column = column_at(r, t, slot, k), size = 0.0;
    FOR_LANES {
        factor[l] = change ? times_change(weight, change[t->across ? 0 : l]) : weight;
        size += fabs(factor[l]);
    }
    if (isfinite(size))
        pyspec_block_table[r->call->isa].scale(column, partial, factor, t->block.n, !*written);
    else if (r->beside)
        add_infinite_beside(r, column, partial, factor, t->block.n, !*written);
    else
        add_infinite(column, partial, factor, t->block.n, !*written);
    *written = 1;
}

/* The trace row of parameter p at one auxiliary point, -1 where no column depends on it. */
static inline int64_t read_row(const run *r, const pyspec_node *node, int p, const tile *t)
{
    int64_t row = r->words[node->params + p], count = 0;
    if (row < 0)
        return -1;
    row = row >= r->plan->samples ? row + t->aux : row;
    if (column_of(r, row) != -1)
        return column_of(r, row) == NOWHERE ? -1 : row;
    const int64_t *list = depends(r, row, &count);
    for (int64_t j = 0; j < count; j++)
        if (column_of(r, list[j]) != NOWHERE)
            return row;
    return -1;
}

/* Hands the partial by parameter p at one auxiliary point on to its columns. */
static inline void spread_partial(const run *r, const pyspec_node *node, int p, const tile *t,
                                  const double *partial, double weight)
{
    const int64_t row = read_row(r, node, p, t);
    int64_t count;
    if (row < 0)
        return;
    if (column_of(r, row) >= 0) {
        add_change(r, node->target, column_of(r, row), t, partial, NULL, weight);
        return;
    }
    const int64_t *list = depends(r, row, &count);
    for (int64_t j = 0; j < count; j++)
        if (column_of(r, list[j]) != NOWHERE)
            add_change(r, node->target, column_of(r, list[j]), t, partial,
                       slopes_at(&r->work.traces[row], j, t->at), weight);
}

/* The column that a partial may be written to directly, or NULL. It must be the only column of its
 * parameter, still empty, and no other parameter of the op may have it. */
static inline double *direct_column(const run *r, const pyspec_node *node, const tile *t, int p)
{
    int64_t row = r->words[node->params + p];
    int64_t k = row < 0 || row >= r->plan->samples ? -1 : column_of(r, row);
    if (k < 0 || node->repeat > 1 || written_at(r, node->target)[k])
        return NULL;
    for (int other = 0; other < p; other++)
        if (r->words[node->params + other] == row)
            return NULL;
    return column_at(r, t, node->target, k);
}

static inline void mark_written(const run *r, const pyspec_node *node, int p)
{
    written_at(r, node->target)[column_of(r, r->words[node->params + p])] = 1;
}

#endif
