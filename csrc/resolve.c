/* resolve.c: the first part of the dispatch loop, parameters over all rows. One order of
 * operations and no contraction to FMA: an onset falls between the same two samples in every
 * executor. */
#include "run.h"

/* Parameters of a node for a tile; a parameter left out is 0. */
void pyspec_gather(const run *r, const pyspec_node *node, const tile *t, double *params)
{
    for (int k = 0; k < node->n_params; k++) {
        int64_t row = r->words[node->params + k];
        if (row < 0)
            fill(params + k * L, 0.0, L);
        else if (t->across)
            fill(params + k * L, trace_row(r, row, t->aux)[t->row], L);
        else
            memcpy(params + k * L, trace_row(r, row, t->aux) + t->row, L * sizeof(double));
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
unsigned pyspec_outside(const run *r, const pyspec_node *node, const double *params)
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

void pyspec_poison(double *value, int64_t n, unsigned bad)
{
    for (int64_t i = 0; bad && i < n; i++)
        FOR_LANES value[AT] = bad >> l & 1 ? NAN : value[AT];
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
    pyspec_gather(r, node, &t, params);
    unsigned bad = pyspec_outside(r, node, params);
    for (int64_t begin = 0; begin < n_rows; begin += BLOCK * L) {
        int64_t n = n_rows - begin < BLOCK * L ? n_rows - begin : BLOCK * L;
        load_abscissae(r->work.x, axis + begin, n);
        pyspec_block b = {.n = round_up(n, L) / L, .n_valid = n, .across = 1, .x = r->work.x};
        pyspec_op_table[node->op].kernels[r->call->isa](&b, params, value, NULL);
        pyspec_poison(value, b.n, bad);
        for (int64_t i = 0; mask && i < n; i++)
            value[i] = mask[begin + i] ? value[i] : 0.0;
        for (int64_t i = 0; i < b.n * L; i++)
            target[begin + i] =
                node->flags & PYSPEC_FLAG_STORE ? value[i] : target[begin + i] + value[i];
    }
    fill(target + n_rows, target[n_rows - 1], r->work.stride - n_rows);
}

/* Every auxiliary point of a profile: lanes are rows, abscissae are the points. */
static void run_profile(const run *r, const pyspec_node *node)
{
    const int64_t n_rows = r->problem->n_rows, n_aux = r->plan->n_aux;
    double *target = r->work.traces + node->target * r->work.stride;
    double params[MAX_PARAMS * L], *value = r->work.value;
    for (int64_t row = 0; row < n_rows; row += L) {
        tile t = {.row = row};
        pyspec_gather(r, node, &t, params);
        unsigned bad = pyspec_outside(r, node, params);
        for (int64_t begin = 0; begin < n_aux; begin += BLOCK) {
            int64_t n = n_aux - begin < BLOCK ? n_aux - begin : BLOCK;
            pyspec_block b = {.n = n, .n_valid = n, .x = r->problem->aux + begin};
            pyspec_op_table[node->op].kernels[r->call->isa](&b, params, value, NULL);
            pyspec_poison(value, n, bad);
            for (int64_t i = 0; i < n; i++) {
                double *out = target + (begin + i) * r->work.stride + row;
                for (int l = 0; l < L; l++)
                    out[l] = node->flags & PYSPEC_FLAG_STORE ? value[AT] : out[l] + value[AT];
            }
        }
    }
    for (int64_t k = 0; k < n_aux; k++, target += r->work.stride)
        fill(target + n_rows, target[n_rows - 1], r->work.stride - n_rows);
}

static void run_base(const run *r, const pyspec_node *node)
{
    for (int64_t k = 0; k < node->repeat; k++) {
        const double *base = trace_row(r, node->source, k);
        double *target = r->work.traces + (node->target + k) * r->work.stride;
        for (int64_t i = 0; i < r->work.stride; i++)
            target[i] = base[i] + target[i];
    }
}

static void run_expression(const run *r, const pyspec_node *node)
{
    int64_t n = node->flags & PYSPEC_FLAG_STATIC ? 1 : r->work.stride;
    for (int64_t k = 0; k < node->repeat; k++) {
        double *target = r->work.traces + (node->target + k) * r->work.stride;
        pyspec_run_program(r->words + node->code, node->n_code, r, k, n, target);
        if (n == 1)
            fill(target, target[0], r->work.stride);
    }
}

static void run_convolution(const run *r, const pyspec_node *node)
{
    double *target = r->work.traces + node->target * r->work.stride;
    double params[MAX_PARAMS * L];
    const int64_t n_rows = r->problem->n_rows;
    tile t = {.across = 1};
    pyspec_gather(r, node, &t, params);
    const convolution c = convolution_of(r, node, params[0]);
    if (pyspec_outside(r, node, params))
        fill(target, NAN, n_rows);
    else
        pyspec_convolve(&c, target);
    fill(target + n_rows, target[n_rows - 1], r->work.stride - n_rows);
}

void pyspec_resolve_inputs(const run *r)
{
    const work_parts *w = &r->work;
    const pyspec_plan *plan = r->plan;
    double *row = w->traces;
    for (int64_t k = 0; k < plan->n_theta; k++, row += w->stride)
        fill(row, r->call->theta[k], w->stride);
    for (int64_t k = 0; k < plan->n_fixed; k++, row += w->stride)
        fill(row, r->problem->fixed[k], w->stride);
    for (int64_t k = 0; k < plan->n_external; k++, row += w->stride) {
        const int64_t n = r->problem->n_rows;
        memcpy(row, r->problem->external + k * n, (size_t)n * sizeof *row);
        fill(row + n, row[n - 1], w->stride - n);
    }
}

void pyspec_resolve_node(const run *r, const pyspec_node *node)
{
    switch (node->step) {
    case PYSPEC_STEP_LAW:
        run_law(r, node);
        break;
    case PYSPEC_STEP_BASE:
        run_base(r, node);
        break;
    case PYSPEC_STEP_CONVOLVE:
        run_convolution(r, node);
        break;
    case PYSPEC_STEP_PROFILE:
        run_profile(r, node);
        break;
    default:
        run_expression(r, node);
        break;
    }
}

void pyspec_resolve(const run *r)
{
    pyspec_resolve_inputs(r);
    for (int64_t k = 0; k < r->plan->n_resolve; k++)
        pyspec_resolve_node(r, &r->nodes[k]);
}
