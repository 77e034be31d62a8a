/* execute.c: the dispatch loop. Runs a checked plan: first the nodes that resolve the
 * parameters over all rows, then, tile by tile, the nodes that build spectra. A tile is
 * PYSPEC_LANES rows; its energies are walked in blocks from high to low index, so that each
 * Shirley carries one running sum per lane. Allocates nothing and keeps no state. */
#include "memory.h"

#include <math.h>
#include <string.h>

enum {
#define STATUS(name, code, message) STATUS_##name = (code),
#include "status.def"
#undef STATUS
};

typedef struct run {
    const pyspec_call *call;
    const pyspec_plan *plan;
    const pyspec_problem *problem;
    const pyspec_node *nodes;
    const int64_t *words;
    work_parts work;
    int residual;
} run;

/* The lanes of a tile, and the block of abscissae at hand. */
typedef struct tile {
    int64_t row; /* first row                                            */
    int across;  /* one row, lanes are abscissae                         */
    int64_t x0;  /* first abscissa of the block                          */
    pyspec_block block;
} tile;

/* ---- parameters ------------------------------------------------------------------- */

static void fill(double *out, double value, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = value;
}

/* Parameters of a node for a tile; a parameter left out is 0. */
static void gather(const run *r, const pyspec_node *node, const tile *t, double *params)
{
    for (int k = 0; k < node->n_params; k++) {
        int64_t row = r->words[node->params + k];
        const double *trace = r->work.traces + (row < 0 ? 0 : row) * r->work.stride + t->row;
        if (t->across || row < 0)
            fill(params + k * L, row < 0 ? 0.0 : *trace, L);
        else
            memcpy(params + k * L, trace, L * sizeof(double));
    }
}

static int holds(int64_t comparison, double a, double b)
{
    switch (comparison) {
    case PYSPEC_GUARD_GT:
        return a > b;
    case PYSPEC_GUARD_GE:
        return a >= b;
    case PYSPEC_GUARD_LT:
        return a < b;
    default:
        return a <= b;
    }
}

/* Bit l is set where lane l lies outside of the op's domain. */
static unsigned outside(const run *r, const pyspec_node *node, const double *params)
{
    unsigned bad = 0;
    for (int g = 0; g < node->n_guards; g++) {
        const int64_t *guard = r->words + node->guards + 4 * g;
        double constant;
        memcpy(&constant, &guard[3], sizeof constant);
        FOR_LANES {
            double other = guard[2] < 0 ? constant : params[guard[2] * L + l];
            bad |= (unsigned)!holds(guard[1], params[guard[0] * L + l], other) << l;
        }
    }
    return bad;
}

static void poison(double *value, int64_t n, unsigned bad)
{
    for (int64_t i = 0; bad && i < n; i++)
        FOR_LANES value[AT] = bad >> l & 1 ? NAN : value[AT];
}

/* Copies n abscissae to the aligned, padded block buffer. */
static void load_abscissae(double *out, const double *x, int64_t n)
{
    memcpy(out, x, (size_t)n * sizeof *x);
    fill(out + n, x[n - 1], round_up(n, L) - n);
}

static void run_law(const run *r, const pyspec_node *node)
{
    const int64_t n_rows = r->problem->n_rows;
    const double *axis = node->axis == 0
                             ? r->problem->time
                             : r->problem->axes + (int64_t)(node->axis - 1) * n_rows;
    const uint8_t *mask = node->mask < 0 ? NULL : r->problem->masks + node->mask * n_rows;
    double *target = r->work.traces + node->target * r->work.stride;
    double params[MAX_PARAMS * L], *value = r->work.value;
    tile t = {.across = 1};
    gather(r, node, &t, params);
    unsigned bad = outside(r, node, params);
    for (int64_t begin = 0; begin < n_rows; begin += BLOCK * L) {
        int64_t n = n_rows - begin < BLOCK * L ? n_rows - begin : BLOCK * L;
        load_abscissae(r->work.x, axis + begin, n);
        pyspec_block b = {.n = round_up(n, L) / L, .n_valid = n, .across = 1, .x = r->work.x};
        pyspec_op_table[node->op].kernels[r->call->isa](&b, params, value, NULL);
        poison(value, b.n, bad);
        for (int64_t i = 0; mask && i < n; i++)
            value[i] = mask[begin + i] ? value[i] : 0.0;
        for (int64_t i = 0; i < b.n * L; i++)
            target[begin + i] =
                node->flags & PYSPEC_FLAG_STORE ? value[i] : target[begin + i] + value[i];
    }
    fill(target + n_rows, target[n_rows - 1], r->work.stride - n_rows);
}

static void resolve(const run *r)
{
    const work_parts *w = &r->work;
    const pyspec_plan *plan = r->plan;
    for (int64_t k = 0; k < plan->n_theta; k++)
        fill(w->traces + k * w->stride, r->call->theta[k], w->stride);
    for (int64_t k = 0; k < plan->n_fixed; k++)
        fill(w->traces + (plan->n_theta + k) * w->stride, r->problem->fixed[k], w->stride);
    for (int64_t k = 0; k < plan->n_resolve; k++) {
        const pyspec_node *node = &r->nodes[k];
        double *target = w->traces + node->target * w->stride;
        if (node->step == PYSPEC_STEP_LAW) {
            run_law(r, node);
        } else if (node->step == PYSPEC_STEP_BASE) {
            const double *base = w->traces + node->source * w->stride;
            for (int64_t i = 0; i < w->stride; i++)
                target[i] = base[i] + target[i];
        } else {
            int64_t n = node->flags & PYSPEC_FLAG_STATIC ? 1 : w->stride;
            pyspec_run_program(r->words + node->code, node->n_code, w->traces, w->stride, n,
                               w->stack, target);
            if (n == 1)
                fill(target, target[0], w->stride);
        }
    }
}

/* ---- spectra ---------------------------------------------------------------------- */

/* Evaluates one component over a block into value. */
static void run_component(const run *r, const pyspec_node *node, const tile *t, double *value)
{
    double params[MAX_PARAMS * L];
    gather(r, node, t, params);
    pyspec_block b = t->block;
    b.carry = r->work.carry + (node - r->nodes - r->plan->n_resolve) * MAX_SCRATCH * L;
    b.spectrum = node->source < 0 ? r->work.zeros : r->work.slots + node->source * BLOCK * L;
    pyspec_op_table[node->op].kernels[r->call->isa](&b, params, value, NULL);
    poison(value, b.n, outside(r, node, params));
}

static double *static_values(const run *r, const pyspec_node *node)
{
    int64_t index = node - r->nodes - r->plan->n_resolve;
    return r->work.statics + index * round_up(r->problem->n_x, L);
}

/* In 2D, a component that does not move in time is evaluated once, over the axis, with the
 * parameters of row 0: the window has no say. */
static int is_static(const run *r, const pyspec_node *node)
{
    return r->plan->dimension == 2 && (node->flags & PYSPEC_FLAG_STATIC) &&
           node->step == PYSPEC_STEP_COMPONENT;
}

static void run_statics(const run *r, int64_t x_end)
{
    for (int64_t k = r->plan->n_resolve; k < r->plan->n_nodes; k++) {
        const pyspec_node *node = &r->nodes[k];
        double *out = static_values(r, node);
        if (!is_static(r, node))
            continue;
        for (int64_t x0 = r->problem->x_begin; x0 < x_end; x0 += BLOCK * L) {
            int64_t n = x_end - x0 < BLOCK * L ? x_end - x0 : BLOCK * L;
            load_abscissae(r->work.x, r->problem->x + x0, n);
            tile t = {.across = 1, .x0 = x0};
            t.block = (pyspec_block){
                .n = round_up(n, L) / L, .n_valid = n, .across = 1, .x = r->work.x};
            run_component(r, node, &t, r->work.value);
            memcpy(out + x0, r->work.value, (size_t)n * sizeof(double));
        }
    }
}

static void run_block(const run *r, const tile *t)
{
    const block_ops *ops = &pyspec_block_table[r->call->isa];
    const int64_t n = t->block.n;
    for (int64_t k = r->plan->n_resolve; k < r->plan->n_nodes; k++) {
        const pyspec_node *node = &r->nodes[k];
        double *target = r->work.slots + node->target * BLOCK * L;
        int store = node->flags & PYSPEC_FLAG_STORE;
        if (is_static(r, node)) {
            ops->spread(target, static_values(r, node) + t->x0, n, store);
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

/* ---- output ----------------------------------------------------------------------- */

static double datum(const pyspec_problem *q, int64_t row, int64_t i)
{
    const char *at = (const char *)q->data + row * q->data_row + i * q->data_x;
    switch (q->data_type) {
    case PYSPEC_TYPE_F32: {
        float value;
        memcpy(&value, at, sizeof value);
        return (double)value;
    }
    case PYSPEC_TYPE_U16: {
        uint16_t value;
        memcpy(&value, at, sizeof value);
        return (double)value;
    }
    default: {
        double value;
        memcpy(&value, at, sizeof value);
        return value;
    }
    }
}

/* Turns model values out[i] of one row, abscissae from `begin` on, into residuals. */
static void subtract(const run *r, int64_t row, int64_t begin, int64_t n, double *out)
{
    const pyspec_problem *q = r->problem;
    const char *at = (const char *)q->data + row * q->data_row + begin * q->data_x;
    if (q->data_type == PYSPEC_TYPE_F64 && q->data_x == (int64_t)sizeof(double) &&
        (uintptr_t)at % sizeof(double) == 0)
        pyspec_block_table[r->call->isa].subtract(out, (const double *)at, n);
    else
        for (int64_t i = 0; i < n; i++)
            out[i] = datum(q, row, begin + i) - out[i];
    for (int64_t i = 0; q->weight && i < n; i++) {
        double weight;
        memcpy(&weight, (const char *)q->weight + row * q->weight_row + (begin + i) * q->weight_x,
               sizeof weight);
        out[i] *= weight;
    }
    for (int64_t i = 0; q->keep && i < n; i++)
        out[i] = q->keep[row * q->keep_row + (begin + i) * q->keep_x] ? out[i] : 0.0;
}

/* Writes what of a block lies in the window. */
static void write_block(const run *r, const tile *t)
{
    const pyspec_problem *q = r->problem;
    const double *slot = r->work.slots + r->plan->result * BLOCK * L;
    int64_t n_block = t->across ? t->block.n_valid : t->block.n;
    int64_t n = t->x0 + n_block < q->x_end ? n_block : q->x_end - t->x0;
    int64_t width = q->x_end - q->x_begin;
    int64_t n_lanes = t->across ? 1 : q->row_end - t->row < L ? q->row_end - t->row : L;
    double *out = r->call->out + (t->row - q->row_begin) * width + (t->x0 - q->x_begin);
    if (n <= 0)
        return;
    if (t->across)
        memcpy(out, slot, (size_t)n * sizeof *out);
    else
        pyspec_block_table[r->call->isa].turn(out, width, slot, n, n_lanes);
    for (int64_t l = 0; r->residual && l < n_lanes; l++)
        subtract(r, t->row + l, t->x0, n, out + l * width);
}

static void run_tile(const run *r, int64_t row, int across, int64_t x_end)
{
    const int64_t step = across ? BLOCK * L : BLOCK;
    const int64_t x_begin = r->problem->x_begin;
    const int64_t n_components = r->plan->n_nodes - r->plan->n_resolve;
    memset(r->work.carry, 0, (size_t)(n_components * MAX_SCRATCH * L) * sizeof(double));
    /* Without components a spectrum is zero. */
    if (n_components == 0)
        memset(r->work.slots, 0, (size_t)(r->plan->n_slots * BLOCK * L) * sizeof(double));
    for (int64_t k = (x_end - x_begin - 1) / step; k >= 0; k--) {
        int64_t x0 = x_begin + k * step;
        int64_t n = x_end - x0 < step ? x_end - x0 : step;
        tile t = {.row = row, .across = across, .x0 = x0};
        t.block = (pyspec_block){.n = n, .n_valid = n, .across = across};
        t.block.x = r->problem->x + x0;
        if (across) {
            load_abscissae(r->work.x, r->problem->x + x0, n);
            t.block.x = r->work.x;
            t.block.n = round_up(n, L) / L;
        }
        run_block(r, &t);
        write_block(r, &t);
    }
}

/* ---- entries ---------------------------------------------------------------------- */

static int begin_run(run *r, const pyspec_call *call, int64_t n_out)
{
    if (!call || !call->plan || !call->problem || !call->work || !call->out ||
        (!call->theta && call->plan->n_theta))
        return STATUS_NULL_POINTER;
    r->call = call;
    r->plan = call->plan;
    r->problem = call->problem;
    r->nodes = plan_nodes(call->plan);
    r->words = plan_words(call->plan);
    r->work = divide_work(call->plan, call->problem, call->work);
    if (!pyspec_isa_supported(call->isa))
        return STATUS_ISA;
    if (call->work_size < r->work.size)
        return STATUS_WORK;
    return call->n_out < n_out ? STATUS_OUTPUT : STATUS_OK;
}

/* A spectrum-fed op needs every energy above the window; nothing else is evaluated there. */
static int64_t last_abscissa(const run *r)
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
    int status = begin_run(r, call, (q->row_end - q->row_begin) * (q->x_end - q->x_begin));
    if (status)
        return status;
    if (residual && !q->data)
        return STATUS_DATA;
    r->residual = residual;
    resolve(r);
    int64_t x_end = last_abscissa(r);
    fill(r->work.zeros, 0.0, BLOCK * L);
    run_statics(r, x_end);
    int across = r->plan->dimension == 1;
    for (int64_t row = q->row_begin; row < q->row_end; row += across ? 1 : L)
        run_tile(r, row, across, x_end);
    return STATUS_OK;
}

int64_t pyspec_work_size(const pyspec_plan *plan, const pyspec_problem *problem)
{
    return plan && problem ? divide_work(plan, problem, NULL).size : 0;
}

int pyspec_evaluate(const pyspec_call *call)
{
    return run_spectra(call, 0);
}

int pyspec_residual(const pyspec_call *call)
{
    return run_spectra(call, 1);
}

int pyspec_traces(const pyspec_call *call)
{
    run state, *r = &state;
    if (!call || !call->plan || !call->problem)
        return STATUS_NULL_POINTER;
    int64_t n_rows = call->problem->n_rows;
    int status = begin_run(r, call, call->plan->n_traces * n_rows);
    if (status)
        return status;
    fill(r->work.traces, NAN, r->plan->n_traces * r->work.stride);
    resolve(r);
    for (int64_t k = 0; k < r->plan->n_traces; k++)
        memcpy(call->out + k * n_rows, r->work.traces + k * r->work.stride,
               (size_t)n_rows * sizeof(double));
    return STATUS_OK;
}
