/* execute.c: the dispatch loop. Runs a checked plan: first the nodes that resolve the
 * parameters over all rows, then, tile by tile, the nodes that build spectra. A tile is
 * PYSPEC_LANES rows; its energies are walked in blocks from high to low index, so that each
 * Shirley carries one running sum per lane. Allocates nothing and keeps no state. */
#include "run.h"

double *pyspec_carry(const run *r, const pyspec_node *node)
{
    return r->work.carry + (node - r->nodes - r->plan->n_resolve) * MAX_SCRATCH * L;
}

static void average(double *restrict sum, const double *restrict value, double weight, int64_t n,
                    int first)
{
    for (int64_t i = 0; i < n; i++)
        sum[i] = first ? weight * value[i] : sum[i] + weight * value[i];
}

/* Evaluates one component over a block into value: the weighted mean over the auxiliary
 * points, where it has any. */
static void run_component(const run *r, const pyspec_node *node, const tile *t, double *value)
{
    double params[MAX_PARAMS * L], carried[MAX_SCRATCH * L];
    tile at = *t;
    pyspec_block b = t->block;
    b.carry = pyspec_carry(r, node);
    b.spectrum = node->source < 0 ? r->work.zeros : r->work.slots + node->source * BLOCK * L;
    memcpy(carried, b.carry, sizeof carried);
    for (int64_t k = 0; k < node->repeat; k++) {
        double *out = node->repeat > 1 ? r->work.sample : value;
        at.aux = k;
        pyspec_gather(r, node, &at, params);
        if (k > 0)
            memcpy(b.carry, carried, sizeof carried);
        pyspec_op_table[node->op].kernels[r->call->isa](&b, params, out, NULL);
        pyspec_poison(out, b.n, pyspec_outside(r, node, params));
        if (node->repeat > 1)
            average(value, out, r->problem->aux_weight[k], b.n * L, k == 0);
    }
}

/* In 2D, a component that does not move in time is evaluated once, over the axis, with the
 * parameters of row 0: the window has no say. One of which the height alone moves is evaluated
 * once at height 1. */
static int is_static(const run *r, const pyspec_node *node)
{
    return r->plan->dimension == 2 && node->step == PYSPEC_STEP_COMPONENT &&
           (node->flags & (PYSPEC_FLAG_STATIC | PYSPEC_FLAG_SHAPE));
}

int pyspec_has_lines(const run *r, const pyspec_node *node)
{
    return is_static(r, node) && node->repeat == 1;
}

/* Lines of a component at one block of abscissae: the value and the partials. */
static void run_line_block(const run *r, const pyspec_node *node, const tile *t)
{
    double params[MAX_PARAMS * L], *partials[MAX_PARAMS], *lines = pyspec_lines(r, node) + t->x0;
    const size_t size = (size_t)t->block.n_valid * sizeof(double);
    for (int p = 0; p < MAX_PARAMS; p++)
        partials[p] = r->work.partials + p * BLOCK * L;
    pyspec_gather(r, node, t, params);
    if (node->flags & PYSPEC_FLAG_SHAPE)
        fill(params, 1.0, L);
    unsigned bad = pyspec_outside(r, node, params);
    pyspec_op_table[node->op].kernels[r->call->isa](&t->block, params, r->work.value,
                                                    r->work.n_lines > 1 ? partials : NULL);
    pyspec_poison(r->work.value, t->block.n, bad);
    memcpy(lines, r->work.value, size);
    for (int p = 0; p < node->n_params && r->work.n_lines > 1; p++) {
        pyspec_poison(partials[p], t->block.n, bad);
        memcpy(lines + (p + 1) * pyspec_line_stride(r), partials[p], size);
    }
}

void pyspec_run_lines(const run *r, int64_t x_end)
{
    for (int64_t k = r->plan->n_resolve; k < r->plan->n_nodes; k++) {
        const pyspec_node *node = &r->nodes[k];
        if (!is_static(r, node) || (r->work.n_lines > 1 && node->repeat > 1))
            continue;
        for (int64_t x0 = r->problem->x_begin; x0 < x_end; x0 += BLOCK * L) {
            int64_t n = x_end - x0 < BLOCK * L ? x_end - x0 : BLOCK * L;
            load_abscissae(r->work.x, r->problem->x + x0, n);
            tile t = {.across = 1, .x0 = x0};
            t.block = (pyspec_block){
                .n = round_up(n, L) / L, .n_valid = n, .across = 1, .x = r->work.x};
            if (node->repeat == 1) {
                run_line_block(r, node, &t);
                continue;
            }
            run_component(r, node, &t, r->work.value);
            memcpy(pyspec_lines(r, node) + x0, r->work.value, (size_t)n * sizeof(double));
        }
    }
}

/* A component that the caller supplies; rows past the last repeat it. */
void pyspec_load_external(const run *r, const pyspec_node *node, const tile *t, double *value)
{
    const int64_t n_x = r->problem->n_x, n_rows = r->problem->n_rows;
    const double *spectra = r->problem->spectra + node->source * n_rows * n_x;
    for (int64_t i = 0; i < t->block.n; i++)
        FOR_LANES
        {
            int64_t row = t->across ? t->row : t->row + l < n_rows ? t->row + l : n_rows - 1;
            int64_t x = t->x0 + (t->across ? AT : i);
            value[AT] = spectra[row * n_x + (x < n_x ? x : n_x - 1)];
        }
}

void pyspec_run_block(const run *r, const tile *t)
{
    const block_ops *ops = &pyspec_block_table[r->call->isa];
    const int64_t n = t->block.n;
    for (int64_t k = r->plan->n_resolve; k < r->plan->n_nodes; k++) {
        const pyspec_node *node = &r->nodes[k];
        double *target = r->work.slots + node->target * BLOCK * L;
        int store = node->flags & PYSPEC_FLAG_STORE;
        if (is_static(r, node) && (node->flags & PYSPEC_FLAG_SHAPE)) {
            double params[MAX_PARAMS * L];
            pyspec_gather(r, node, t, params);
            ops->spread_scaled(target, pyspec_lines(r, node) + t->x0, params, n, store);
        } else if (is_static(r, node)) {
            ops->spread(target, pyspec_lines(r, node) + t->x0, n, store);
        } else if (node->step == PYSPEC_STEP_EXTERNAL) {
            pyspec_load_external(r, node, t, r->work.value);
            ops->add(target, r->work.value, n, store);
        } else if (node->step == PYSPEC_STEP_ADD) {
            ops->add(target, r->work.slots + node->source * BLOCK * L, n, store);
        } else if (store) {
            run_component(r, node, t, target);
        } else {
            run_component(r, node, t, r->work.value);
            ops->add(target, r->work.value, n, 0);
        }
    }
}

/* The k-th block of a tile; returns how many blocks the tile has. Energies are padded where the
 * lanes are abscissae. */
int64_t pyspec_tile_block(const run *r, tile *t, int64_t k, int64_t x_end)
{
    const int64_t step = t->across ? BLOCK * L : BLOCK, x_begin = r->problem->x_begin;
    int64_t n = x_end - (x_begin + k * step);
    n = n < step ? n : step;
    t->x0 = x_begin + k * step;
    t->block = (pyspec_block){.n = n, .n_valid = n, .across = t->across};
    t->block.x = r->problem->x + t->x0;
    if (t->across) {
        load_abscissae(r->work.x, r->problem->x + t->x0, n);
        t->block.x = r->work.x;
        t->block.n = round_up(n, L) / L;
    }
    return (x_end - x_begin - 1) / step + 1;
}

void pyspec_clear_carry(const run *r)
{
    const int64_t n_components = r->plan->n_nodes - r->plan->n_resolve;
    fill(r->work.carry, 0.0, n_components * MAX_SCRATCH * L);
    /* Without components a spectrum is zero. */
    if (n_components == 0)
        fill(r->work.slots, 0.0, r->plan->n_slots * BLOCK * L);
}

static void run_tile(const run *r, int64_t row, int across, int64_t x_end)
{
    tile t = {.row = row, .across = across};
    pyspec_clear_carry(r);
    for (int64_t k = pyspec_tile_block(r, &t, 0, x_end) - 1; k >= 0; k--) {
        pyspec_tile_block(r, &t, k, x_end);
        pyspec_run_block(r, &t);
        pyspec_write_block(r, &t);
    }
}

/* ---- entries ---------------------------------------------------------------------- */

int pyspec_begin_run(run *r, const pyspec_call *call, int64_t n_out, int slopes)
{
    if (!call || !call->plan || !call->problem || !call->work || (!call->out && n_out) ||
        (!call->theta && call->plan->n_theta))
        return STATUS_NULL_POINTER;
    r->call = call;
    r->plan = call->plan;
    r->problem = call->problem;
    r->nodes = plan_nodes(call->plan);
    r->words = plan_words(call->plan);
    r->work = divide_work(call->plan, call->problem, call->work, slopes);
    if (!pyspec_isa_supported(call->isa))
        return STATUS_ISA;
    if (call->work_size < r->work.size)
        return STATUS_WORK;
    return call->n_out < n_out ? STATUS_OUTPUT : STATUS_OK;
}

/* A spectrum-fed op needs every energy above the window; nothing else is evaluated there. */
int64_t pyspec_last_abscissa(const run *r)
{
    for (int64_t k = r->plan->n_resolve; k < r->plan->n_nodes; k++)
        if (r->nodes[k].step == PYSPEC_STEP_COMPONENT &&
            pyspec_op_table[r->nodes[k].op].kind == KIND_SPECTRUM_FED)
            return r->problem->n_x;
    return r->problem->x_end;
}

static int run_spectra(const pyspec_call *call, int residual)
{
    run state, *r = &state;
    if (!call || !call->problem)
        return STATUS_NULL_POINTER;
    const pyspec_problem *q = call->problem;
    int status =
        pyspec_begin_run(r, call, (q->row_end - q->row_begin) * (q->x_end - q->x_begin), 0);
    if (status)
        return status;
    if (residual && !q->data)
        return STATUS_DATA;
    r->residual = residual;
    pyspec_resolve(r);
    if (r->plan->trace >= 0) {
        pyspec_write_trace(r);
        return STATUS_OK;
    }
    int64_t x_end = pyspec_last_abscissa(r);
    fill(r->work.zeros, 0.0, BLOCK * L);
    pyspec_run_lines(r, x_end);
    int across = r->plan->dimension == 1;
    for (int64_t row = q->row_begin; row < q->row_end; row += across ? 1 : L)
        run_tile(r, row, across, x_end);
    return STATUS_OK;
}

int64_t pyspec_work_size(const pyspec_plan *plan, const pyspec_problem *problem)
{
    return plan && problem ? divide_work(plan, problem, NULL, 0).size : 0;
}

int pyspec_evaluate(const pyspec_call *call)
{
    return run_spectra(call, 0);
}

int pyspec_residual(const pyspec_call *call)
{
    return run_spectra(call, 1);
}

int pyspec_residual_all(const pyspec_call *const *calls, int64_t n_calls)
{
    int status = calls || !n_calls ? STATUS_OK : STATUS_NULL_POINTER;
    for (int64_t k = 0; !status && k < n_calls; k++)
        status = pyspec_residual(calls[k]);
    return status;
}

int pyspec_traces(const pyspec_call *call)
{
    run state, *r = &state;
    if (!call || !call->plan || !call->problem)
        return STATUS_NULL_POINTER;
    int64_t n_rows = call->problem->n_rows;
    int status = pyspec_begin_run(r, call, call->plan->n_traces * n_rows, 0);
    if (status)
        return status;
    fill(r->work.traces, NAN, r->plan->n_traces * r->work.stride);
    pyspec_resolve(r);
    for (int64_t k = 0; k < r->plan->n_traces; k++)
        memcpy(call->out + k * n_rows, r->work.traces + k * r->work.stride,
               (size_t)n_rows * sizeof(double));
    return STATUS_OK;
}
