/* jacobian.c: derivatives of the model by theta, tile by tile: a component's partials times the
 * derivatives of its parameters; a spectrum-fed op is linear in what it reads, so it runs once
 * more on every column of it. */
#include "run.h"

static double *column(const run *r, int64_t slot, int64_t theta)
{
    return r->work.columns + (slot * r->plan->n_theta + theta) * BLOCK * L;
}

/* column += weight * partial * change, change a value for each lane. */
static void add_product(double *restrict to, const double *restrict partial,
                        const double *restrict change, double weight, int64_t n)
{
    double scaled[L];
    FOR_LANES scaled[l] = weight * change[l];
    FOR_BLOCK FOR_LANES to[AT] += partial[AT] * scaled[l];
}

/* Derivatives through the parameters, at one auxiliary point, onto columns that lie one behind
 * the other. */
static void add_partials(const run *r, const pyspec_node *node, const tile *t, double weight,
                         double *const *partials, double *columns)
{
    for (int p = 0; p < node->n_params; p++) {
        int64_t row = r->words[node->params + p], count;
        if (row < 0)
            continue;
        const int64_t *list = depends(r, row >= r->plan->samples ? row + t->aux : row, &count);
        for (int64_t j = 0; j < count; j++) {
            const double *slope = pyspec_slope_row(r, row, t->aux, list[j]);
            double change[L];
            FOR_LANES change[l] = slope[t->across ? 0 : t->row + l];
            add_product(columns + list[j] * BLOCK * L, partials[p], change, weight, t->block.n);
        }
    }
}

/* Derivatives through the spectrum that an op reads, at one auxiliary point. `first` holds the
 * sums of the block before, which every point starts from. */
static void add_fed(const run *r, const pyspec_node *node, const tile *t, double weight,
                    const double *params, unsigned bad, const double *first)
{
    pyspec_block b = t->block;
    const int64_t index = node - r->nodes - r->plan->n_resolve, n_theta = r->plan->n_theta;
    for (int64_t k = 0; k < n_theta; k++) {
        double *carry = r->work.carries + (index * n_theta + k) * MAX_SCRATCH * L;
        memcpy(carry, first + k * MAX_SCRATCH * L, MAX_SCRATCH * L * sizeof *carry);
        b.carry = carry;
        b.spectrum = column(r, node->source, k);
        pyspec_op_table[node->op].kernels[r->call->isa](&b, params, r->work.value, NULL);
        pyspec_poison(r->work.value, b.n, bad);
        double *to = r->work.fed + k * BLOCK * L;
        for (int64_t i = 0; i < b.n * L; i++)
            to[i] += weight * r->work.value[i];
    }
}

static void component_columns(const run *r, const pyspec_node *node, const tile *t, double *value)
{
    const int64_t index = node - r->nodes - r->plan->n_resolve, n_theta = r->plan->n_theta;
    const int fed = node->source >= 0;
    const size_t size = MAX_SCRATCH * L * sizeof(double);
    double params[MAX_PARAMS * L], carried[MAX_SCRATCH * L], *partials[MAX_PARAMS];
    double *carries = r->work.carries + index * n_theta * MAX_SCRATCH * L;
    tile at = *t;
    pyspec_block b = t->block;
    b.carry = pyspec_carry(r, node);
    b.spectrum = fed ? r->work.slots + node->source * BLOCK * L : r->work.zeros;
    memcpy(carried, b.carry, size);
    if (fed) {
        memcpy(r->work.first, carries, (size_t)n_theta * size);
        fill(r->work.fed, 0.0, n_theta * BLOCK * L);
    }
    for (int k = 0; k < MAX_PARAMS; k++)
        partials[k] = r->work.partials + k * BLOCK * L;
    fill(value, 0.0, b.n * L);
    for (at.aux = 0; at.aux < node->repeat; at.aux++) {
        double weight = node->repeat > 1 ? r->problem->aux_weight[at.aux] : 1.0;
        double *out = r->work.point;
        pyspec_gather(r, node, &at, params);
        unsigned bad = pyspec_outside(r, node, params);
        memcpy(b.carry, carried, size);
        pyspec_op_table[node->op].kernels[r->call->isa](&b, params, out, partials);
        pyspec_poison(out, b.n, bad);
        for (int k = 0; k < node->n_params; k++)
            pyspec_poison(partials[k], b.n, bad);
        if (fed)
            add_fed(r, node, &at, weight, params, bad, r->work.first);
        for (int64_t i = 0; i < b.n * L; i++)
            value[i] += weight * out[i];
        /* What an op reads must stay as it is until it has run at every point. */
        add_partials(r, node, &at, weight, partials,
                     fed ? r->work.fed : column(r, node->target, 0));
    }
    for (int64_t k = 0; fed && k < n_theta; k++) {
        double *to = column(r, node->target, k), *from = r->work.fed + k * BLOCK * L;
        for (int64_t i = 0; i < b.n * L; i++)
            to[i] += from[i];
    }
}

static void block_columns(const run *r, const tile *t)
{
    const int64_t n = t->block.n, n_theta = r->plan->n_theta;
    for (int64_t k = r->plan->n_resolve; k < r->plan->n_nodes; k++) {
        const pyspec_node *node = &r->nodes[k];
        double *target = r->work.slots + node->target * BLOCK * L;
        int store = node->flags & PYSPEC_FLAG_STORE;
        if (store) {
            fill(target, 0.0, n * L);
            fill(column(r, node->target, 0), 0.0, n_theta * BLOCK * L);
        }
        double *value = r->work.sample;
        if (node->step == PYSPEC_STEP_ADD) {
            const double *source = r->work.slots + node->source * BLOCK * L;
            for (int64_t i = 0; i < n * L; i++)
                target[i] += source[i];
            for (int64_t i = 0; i < n_theta * BLOCK * L; i++)
                column(r, node->target, 0)[i] += column(r, node->source, 0)[i];
            continue;
        }
        if (node->step == PYSPEC_STEP_COMPONENT)
            component_columns(r, node, t, value);
        else /* what comes from outside is constant */
            pyspec_load_external(r, node, t, value);
        for (int64_t i = 0; i < n * L; i++)
            target[i] += value[i];
    }
}

/* Writes the columns of the result over the window. */
static void write_columns(const run *r, const tile *t)
{
    const pyspec_problem *q = r->problem;
    int64_t n_block = t->across ? t->block.n_valid : t->block.n;
    int64_t n = t->x0 + n_block < q->x_end ? n_block : q->x_end - t->x0;
    int64_t width = q->x_end - q->x_begin, size = (q->row_end - q->row_begin) * width;
    int64_t n_lanes = t->across ? 1 : q->row_end - t->row < L ? q->row_end - t->row : L;
    for (int64_t k = 0; n > 0 && k < r->plan->n_theta; k++) {
        const double *from = column(r, r->plan->result, k);
        double *out = r->call->out + k * size + (t->row - q->row_begin) * width +
                      (t->x0 - q->x_begin);
        if (t->across)
            memcpy(out, from, (size_t)n * sizeof *out);
        else
            pyspec_block_table[r->call->isa].turn(out, width, from, n, n_lanes);
    }
}

static void trace_columns(const run *r)
{
    const pyspec_problem *q = r->problem;
    const int64_t n = q->row_end - q->row_begin;
    for (int64_t k = 0; k < r->plan->n_theta; k++) {
        const double *slope = pyspec_slope_row(r, r->plan->trace, 0, k);
        double *out = r->call->out + k * n;
        if (slope)
            memcpy(out, slope + q->row_begin, (size_t)n * sizeof *out);
        else
            fill(out, 0.0, n);
    }
}

int64_t pyspec_jacobian_work_size(const pyspec_plan *plan, const pyspec_problem *problem)
{
    return plan && problem && plan->depends >= 0 ? divide_work(plan, problem, NULL, 1).size : 0;
}

int pyspec_jacobian(const pyspec_call *call)
{
    run state = {0}, *r = &state;
    if (!call || !call->plan || !call->problem)
        return STATUS_NULL_POINTER;
    if (call->plan->depends < 0)
        return STATUS_OFFSET;
    const pyspec_problem *q = call->problem;
    const int64_t n_theta = call->plan->n_theta;
    const int64_t size = (q->row_end - q->row_begin) * (q->x_end - q->x_begin);
    int status = pyspec_begin_run(r, call, n_theta * size, 1);
    if (status)
        return status;
    pyspec_resolve_slopes(r);
    if (r->plan->trace >= 0) {
        trace_columns(r);
        return STATUS_OK;
    }
    const int64_t x_end = pyspec_last_abscissa(r), n_components = r->plan->n_nodes - r->plan->n_resolve;
    const int across = r->plan->dimension == 1;
    fill(r->work.zeros, 0.0, BLOCK * L);
    if (n_components == 0)
        fill(call->out, 0.0, n_theta * size);
    for (int64_t row = q->row_begin; n_components && row < q->row_end; row += across ? 1 : L) {
        tile t = {.row = row, .across = across};
        fill(r->work.carry, 0.0, n_components * MAX_SCRATCH * L);
        fill(r->work.carries, 0.0, n_components * n_theta * MAX_SCRATCH * L);
        for (int64_t k = pyspec_tile_block(r, &t, 0, x_end) - 1; k >= 0; k--) {
            pyspec_tile_block(r, &t, k, x_end);
            block_columns(r, &t);
            write_columns(r, &t);
        }
    }
    return STATUS_OK;
}
