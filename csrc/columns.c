/* columns.c: the spectrum of a block together with its derivatives, a column for each. A
 * component's partials times the derivatives of its parameters; a spectrum-fed op is linear in
 * what it reads, so it runs once more on every column of it. Columns that nothing was written to
 * are zero and are never touched. */
#include "run.h"

double *pyspec_column(const run *r, int64_t slot, int64_t k)
{
    return r->work.columns + (slot * r->by.n + k) * BLOCK * L;
}

unsigned char *pyspec_written(const run *r, int64_t slot)
{
    return (unsigned char *)r->work.written + slot * r->by.n;
}

/* The column of a trace row, -1: those of the parameters of theta that it depends on. */
static int64_t column_of(const run *r, int64_t row)
{
    if (!r->by.of_row)
        return row < r->plan->n_theta ? row : -1;
    return r->by.of_row[row];
}

/* column = or += partial * factor, where a factor is not finite. */
static void add_infinite(double *column, const double *partial, const double *factor, int64_t n,
                         int store)
{
    for (int64_t i = 0; i < n; i++)
        FOR_LANES column[AT] = (store ? 0.0 : column[AT]) + times_change(partial[AT], factor[l]);
}

/* column += weight * partial * change, the change of a parameter in each lane. */
static void add_change(const run *r, int64_t slot, int64_t k, const tile *t, const double *partial,
                       const double *change, double weight)
{
    unsigned char *written = pyspec_written(r, slot) + k;
    double factor[L], *column = pyspec_column(r, slot, k), size = 0.0;
    FOR_LANES
    {
        factor[l] = change ? times_change(weight, change[t->across ? 0 : t->row + l]) : weight;
        size += fabs(factor[l]);
    }
    if (isfinite(size))
        pyspec_block_table[r->call->isa].scale(column, partial, factor, t->block.n, !*written);
    else
        add_infinite(column, partial, factor, t->block.n, !*written);
    *written = 1;
}

/* Hands the partial by parameter p at one auxiliary point on to its columns. */
static void spread_partial(const run *r, const pyspec_node *node, int p, const tile *t,
                           const double *partial, double weight)
{
    int64_t row = r->words[node->params + p], count;
    if (row < 0)
        return;
    row = row >= r->plan->samples ? row + t->aux : row;
    if (column_of(r, row) >= 0) {
        add_change(r, node->target, column_of(r, row), t, partial, NULL, weight);
        return;
    }
    const int64_t *list = depends(r, row, &count);
    for (int64_t j = 0; j < count; j++)
        add_change(r, node->target, column_of(r, list[j]), t, partial,
                   pyspec_slope_row(r, row, 0, list[j]), weight);
}

/* The column that a partial may be written to straight away, or NULL: it is the only one, nothing
 * is there yet, and no other parameter of the op has it. */
static double *direct_column(const run *r, const pyspec_node *node, int p)
{
    int64_t row = r->words[node->params + p];
    int64_t k = row < 0 || row >= r->plan->samples ? -1 : column_of(r, row);
    if (k < 0 || node->repeat > 1 || pyspec_written(r, node->target)[k])
        return NULL;
    for (int other = 0; other < p; other++)
        if (r->words[node->params + other] == row)
            return NULL;
    return pyspec_column(r, node->target, k);
}

static double *carry_of(const run *r, const pyspec_node *node, int64_t k)
{
    int64_t index = node - r->nodes - r->plan->n_resolve;
    return r->work.carries + (index * r->by.n + k) * MAX_SCRATCH * L;
}

/* Derivatives through the spectrum that an op reads, at one auxiliary point, into the columns
 * `fed`. Every point starts from the sums of the block before, `first`. */
static void run_fed(const run *r, const pyspec_node *node, const tile *t, double weight,
                    const double *params, unsigned bad)
{
    const block_ops *ops = &pyspec_block_table[r->call->isa];
    const unsigned char *written = pyspec_written(r, node->source);
    pyspec_block b = t->block;
    for (int64_t k = 0; k < r->by.n; k++) {
        double factor[L], *to = r->work.fed + k * BLOCK * L;
        if (!written[k])
            continue;
        b.carry = carry_of(r, node, k);
        b.spectrum = pyspec_column(r, node->source, k);
        if (node->repeat == 1) {
            pyspec_op_table[node->op].kernels[r->call->isa](&b, params, to, NULL);
            pyspec_poison(to, b.n, bad);
            continue;
        }
        memcpy(b.carry, r->work.first + k * MAX_SCRATCH * L, MAX_SCRATCH * L * sizeof(double));
        pyspec_op_table[node->op].kernels[r->call->isa](&b, params, r->work.value, NULL);
        pyspec_poison(r->work.value, b.n, bad);
        fill(factor, weight, L);
        ops->scale(to, r->work.value, factor, b.n, t->aux == 0);
    }
}

/* Adds the columns `fed` to those of the target. */
static void add_fed(const run *r, const pyspec_node *node, const unsigned char *fed, int64_t n)
{
    unsigned char *written = pyspec_written(r, node->target);
    for (int64_t k = 0; k < r->by.n; k++) {
        if (!fed[k])
            continue;
        pyspec_block_table[r->call->isa].add(pyspec_column(r, node->target, k),
                                             r->work.fed + k * BLOCK * L, n, !written[k]);
        written[k] = 1;
    }
}

/* Value and columns of a component at every auxiliary point; the value is their weighted mean. */
static void run_component(const run *r, const pyspec_node *node, const tile *t, double *value)
{
    const int fed = node->source >= 0;
    const size_t size = MAX_SCRATCH * L * sizeof(double);
    double params[MAX_PARAMS * L], carried[MAX_SCRATCH * L], factor[L];
    unsigned char *reads = (unsigned char *)r->work.reads;
    tile at = *t;
    pyspec_block b = t->block;
    b.carry = pyspec_carry(r, node);
    b.spectrum = fed ? r->work.slots + node->source * BLOCK * L : r->work.zeros;
    memcpy(carried, b.carry, size);
    if (fed) {
        memcpy(reads, pyspec_written(r, node->source), (size_t)r->by.n);
        memcpy(r->work.first, carry_of(r, node, 0), (size_t)r->by.n * size);
    }
    /* What an op reads, which may be its target, stays as it is until it has run at every point. */
    for (at.aux = 0; fed && at.aux < node->repeat; at.aux++) {
        pyspec_gather(r, node, &at, params);
        run_fed(r, node, &at, node->repeat > 1 ? r->problem->aux_weight[at.aux] : 1.0, params,
                pyspec_outside(r, node, params));
    }
    for (at.aux = 0; at.aux < node->repeat; at.aux++) {
        double weight = node->repeat > 1 ? r->problem->aux_weight[at.aux] : 1.0;
        double *out = node->repeat > 1 ? r->work.point : value, *partials[MAX_PARAMS];
        double *direct[MAX_PARAMS];
        pyspec_gather(r, node, &at, params);
        unsigned bad = pyspec_outside(r, node, params);
        memcpy(b.carry, carried, size);
        for (int p = 0; p < MAX_PARAMS; p++) {
            direct[p] = p < node->n_params ? direct_column(r, node, p) : NULL;
            partials[p] = direct[p] ? direct[p] : r->work.partials + p * BLOCK * L;
        }
        pyspec_op_table[node->op].kernels[r->call->isa](&b, params, out, partials);
        pyspec_poison(out, b.n, bad);
        for (int p = 0; p < node->n_params; p++) {
            pyspec_poison(partials[p], b.n, bad);
            if (direct[p])
                pyspec_written(r, node->target)[column_of(r, r->words[node->params + p])] = 1;
        }
        for (int p = 0; p < node->n_params; p++)
            if (!direct[p])
                spread_partial(r, node, p, &at, partials[p], weight);
        fill(factor, weight, L);
        if (node->repeat > 1)
            pyspec_block_table[r->call->isa].scale(value, out, factor, b.n, at.aux == 0);
    }
    if (fed)
        add_fed(r, node, reads, b.n);
}

/* A component whose shape does not move: lines along the axis, computed once a call. */
static void run_lines(const run *r, const pyspec_node *node, const tile *t, double *value)
{
    const block_ops *ops = &pyspec_block_table[r->call->isa];
    const int64_t n = t->block.n, stride = pyspec_line_stride(r);
    const double *lines = pyspec_lines(r, node) + t->x0;
    const int moves = (node->flags & PYSPEC_FLAG_SHAPE) != 0;
    double params[MAX_PARAMS * L], *partial = r->work.partials;
    pyspec_gather(r, node, t, params);
    if (moves)
        ops->spread_scaled(value, lines, params, n, 1);
    else
        ops->spread(value, lines, n, 1);
    for (int p = 0; p < node->n_params; p++) {
        const double *line = lines + (p + 1) * stride;
        double *direct = direct_column(r, node, p), *to = direct ? direct : partial;
        if (r->words[node->params + p] < 0)
            continue;
        if (moves && p > 0)
            ops->spread_scaled(to, line, params, n, 1);
        else
            ops->spread(to, line, n, 1);
        if (direct)
            pyspec_written(r, node->target)[column_of(r, r->words[node->params + p])] = 1;
        else
            spread_partial(r, node, p, t, to, 1.0);
    }
}

static void add_columns(const run *r, const pyspec_node *node, int64_t n)
{
    const unsigned char *from = pyspec_written(r, node->source);
    unsigned char *to = pyspec_written(r, node->target);
    for (int64_t k = 0; k < r->by.n; k++) {
        if (!from[k])
            continue;
        pyspec_block_table[r->call->isa].add(pyspec_column(r, node->target, k),
                                             pyspec_column(r, node->source, k), n, !to[k]);
        to[k] = 1;
    }
}

void pyspec_block_columns(const run *r, const tile *t)
{
    const block_ops *ops = &pyspec_block_table[r->call->isa];
    const int64_t n = t->block.n;
    for (int64_t k = r->plan->n_resolve; k < r->plan->n_nodes; k++) {
        const pyspec_node *node = &r->nodes[k];
        double *target = r->work.slots + node->target * BLOCK * L;
        int store = node->flags & PYSPEC_FLAG_STORE;
        double *value = store ? target : r->work.sample;
        if (store)
            memset(pyspec_written(r, node->target), 0, (size_t)r->by.n);
        if (node->step == PYSPEC_STEP_ADD) {
            ops->add(target, r->work.slots + node->source * BLOCK * L, n, store);
            add_columns(r, node, n);
            continue;
        }
        if (node->step == PYSPEC_STEP_EXTERNAL) /* what comes from outside is constant */
            pyspec_load_external(r, node, t, value);
        else if (pyspec_has_lines(r, node))
            run_lines(r, node, t, value);
        else
            run_component(r, node, t, value);
        if (!store)
            ops->add(target, value, n, 0);
    }
}

void pyspec_begin_tile(const run *r)
{
    const int64_t n_components = r->plan->n_nodes - r->plan->n_resolve;
    pyspec_clear_carry(r);
    fill(r->work.carries, 0.0, n_components * r->by.n * MAX_SCRATCH * L);
    if (n_components == 0)
        memset(pyspec_written(r, 0), 0, (size_t)(r->plan->n_slots * r->by.n));
}
