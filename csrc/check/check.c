/* check.c: verifies a plan and a problem once, so that the dispatch loop can trust them. */
#include "check/check.h"

#include <float.h>

static const int64_t MAX_AXIS = (int64_t)1 << 28;

int pyspec_fail(const checker *c, int status, int64_t field, int64_t value)
{
    if (c->fault) {
        c->fault->status = status;
        c->fault->node = c->index;
        c->fault->field = field;
        c->fault->value = value;
    }
    return status;
}

/* n items of `size` bytes at byte `offset`, 8-byte aligned, behind the header. */
static int fits(const pyspec_plan *plan, int64_t offset, int64_t n, int64_t size)
{
    return offset >= (int64_t)sizeof *plan && offset % 8 == 0 && offset <= plan->size &&
           n <= (plan->size - offset) / size;
}

static int check_header(const checker *c, int64_t plan_size)
{
    const pyspec_plan *p = c->plan;
    REQUIRE_PLAN(p->abi == PYSPEC_ABI, ABI, abi);
    REQUIRE_PLAN(p->size == plan_size, SIZE, size);
    REQUIRE_PLAN(p->dimension == 1 || p->dimension == 2, SIZE, dimension);
    REQUIRE_PLAN(in_range(p->n_theta, 0, MAX_COUNT), SIZE, n_theta);
    REQUIRE_PLAN(in_range(p->n_fixed, 0, MAX_COUNT), SIZE, n_fixed);
    REQUIRE_PLAN(in_range(p->n_external, 0, MAX_COUNT), SIZE, n_external);
    REQUIRE_PLAN(in_range(p->n_traces, n_inputs(p), MAX_COUNT), SIZE, n_traces);
    REQUIRE_PLAN(in_range(p->n_aux, 0, MAX_COUNT), SIZE, n_aux);
    REQUIRE_PLAN(in_range(p->samples, n_inputs(p), p->n_traces + 1), ROW, samples);
    REQUIRE_PLAN(p->n_aux > 0 || p->samples == p->n_traces, ROW, samples);
    REQUIRE_PLAN(p->n_aux == 0 || (p->n_traces - p->samples) % p->n_aux == 0, ROW, samples);
    REQUIRE_PLAN(in_range(p->n_spectra, 0, MAX_NODES), SIZE, n_spectra);
    REQUIRE_PLAN(in_range(p->trace, -1, p->n_traces), ROW, trace);
    REQUIRE_PLAN(in_range(p->n_nodes, 0, MAX_NODES), SIZE, n_nodes);
    REQUIRE_PLAN(in_range(p->n_resolve, 0, p->n_nodes + 1), SIZE, n_resolve);
    REQUIRE_PLAN(in_range(p->n_slots, 1, MAX_NODES), SIZE, n_slots);
    REQUIRE_PLAN(in_range(p->result, 0, p->n_slots), SLOT, result);
    REQUIRE_PLAN(in_range(p->stack_depth, 0, MAX_NODES), SIZE, stack_depth);
    REQUIRE_PLAN(in_range(p->n_axes, 0, MAX_NODES), SIZE, n_axes);
    REQUIRE_PLAN(in_range(p->n_masks, 0, MAX_NODES), SIZE, n_masks);
    REQUIRE_PLAN(in_range(p->n_x_inputs, 0, MAX_NODES), SIZE, n_x_inputs);
    REQUIRE_PLAN(in_range(p->n_row_inputs, 0, MAX_NODES), SIZE, n_row_inputs);
    REQUIRE_PLAN(in_range(p->n_aux_inputs, 0, MAX_NODES), SIZE, n_aux_inputs);
    REQUIRE_PLAN(in_range(p->n_words, 0, (int64_t)1 << 32), SIZE, n_words);
    REQUIRE_PLAN(fits(p, p->nodes, p->n_nodes, (int64_t)sizeof(pyspec_node)), OFFSET, nodes);
    REQUIRE_PLAN(fits(p, p->words, p->n_words, (int64_t)sizeof(int64_t)), OFFSET, words);
    return STATUS_OK;
}

/* Whether the largest parts of memory for a plan and its problem have sizes that can be counted in bytes.
 * In doubles, which do not overflow: nobody has room for what is refused here. */
static int can_be_counted(const pyspec_plan *p, const pyspec_problem *q)
{
    const double most = 0x1p58 / sizeof(double), n_slots = 1.0 + (double)p->n_slots;
    const double columns = (double)most_columns(p) * (double)buffer_size(p, q);
    const double shapes = (double)count_shapes(p, p->depends >= 0) * (double)shape_stride(q);
    const double of_axis = (double)p->n_resolve * (double)p->n_theta * (double)(q->n_rows + 2 * L);
    return n_slots * columns < most && n_slots * shapes < most && of_axis < most;
}

static int check_problem(const checker *c, const pyspec_problem *q)
{
#define REQUIRE_PROBLEM(condition, status, field, value)                                           \
    REQUIRE(condition, status, pyspec_problem, field, value)
    const pyspec_plan *p = c->plan;
    const pyspec_node *nodes = plan_nodes(p);
    int reads_time = 0;
    for (int64_t k = 0; k < p->n_resolve; k++)
        reads_time |= (nodes[k].step == PYSPEC_STEP_LAW && nodes[k].axis == 0) ||
                      nodes[k].step == PYSPEC_STEP_CONVOLVE;
    REQUIRE_PROBLEM(q->x, NULL_POINTER, x, 0);
    REQUIRE_PROBLEM(q->time || !reads_time, NULL_POINTER, time, 0);
    REQUIRE_PROBLEM(q->fixed || !p->n_fixed, NULL_POINTER, fixed, 0);
    REQUIRE_PROBLEM(q->axes || !p->n_axes, NULL_POINTER, axes, 0);
    REQUIRE_PROBLEM(q->masks || !p->n_masks, NULL_POINTER, masks, 0);
    REQUIRE_PROBLEM(q->n_axes == p->n_axes, AXIS, n_axes, q->n_axes);
    REQUIRE_PROBLEM(q->n_masks == p->n_masks, AXIS, n_masks, q->n_masks);
    REQUIRE_PROBLEM(q->n_fixed == p->n_fixed, SIZE, n_fixed, q->n_fixed);
    REQUIRE_PROBLEM(q->aux || !p->n_aux, NULL_POINTER, aux, 0);
    REQUIRE_PROBLEM(q->aux_weight || !p->n_aux, NULL_POINTER, aux_weight, 0);
    REQUIRE_PROBLEM(q->n_aux == p->n_aux, AXIS, n_aux, q->n_aux);
    REQUIRE_PROBLEM(q->x_inputs || !p->n_x_inputs, NULL_POINTER, x_inputs, 0);
    REQUIRE_PROBLEM(q->row_inputs || !p->n_row_inputs, NULL_POINTER, row_inputs, 0);
    REQUIRE_PROBLEM(q->aux_inputs || !p->n_aux_inputs, NULL_POINTER, aux_inputs, 0);
    REQUIRE_PROBLEM(q->n_x_inputs == p->n_x_inputs, AXIS, n_x_inputs, q->n_x_inputs);
    REQUIRE_PROBLEM(q->n_row_inputs == p->n_row_inputs, AXIS, n_row_inputs, q->n_row_inputs);
    REQUIRE_PROBLEM(q->n_aux_inputs == p->n_aux_inputs, AXIS, n_aux_inputs, q->n_aux_inputs);
    REQUIRE_PROBLEM(q->ends_end >= 0 && q->ends_end <= q->n_x, WINDOW, ends_end, q->ends_end);
    REQUIRE_PROBLEM(!q->ends_end || in_range(q->ends_begin, 0, q->ends_end), WINDOW, ends_begin,
                    q->ends_begin);
    REQUIRE_PROBLEM(q->external || !p->n_external, NULL_POINTER, external, 0);
    REQUIRE_PROBLEM(q->spectra || !p->n_spectra, NULL_POINTER, spectra, 0);
    REQUIRE_PROBLEM(q->n_external == p->n_external + p->n_spectra, SIZE, n_external, q->n_external);
    REQUIRE_PROBLEM(in_range(q->loss, PYSPEC_LOSS_SQUARES, PYSPEC_LOSS_POISSON + 1), DATA, loss,
                    q->loss);
    REQUIRE_PROBLEM(q->loss == PYSPEC_LOSS_SQUARES ||
                        (q->loss_scale > 0.0 && q->loss_scale <= DBL_MAX),
                    DATA, loss_scale, 0);
    REQUIRE_PROBLEM(p->trace < 0 || q->n_x == 1, SIZE, n_x, q->n_x);
    REQUIRE_PROBLEM(in_range(q->n_x, 1, MAX_AXIS), SIZE, n_x, q->n_x);
    REQUIRE_PROBLEM(in_range(q->n_rows, 1, MAX_AXIS), SIZE, n_rows, q->n_rows);
    REQUIRE_PROBLEM(p->dimension == 2 || q->n_rows == 1, ORIENTATION, n_rows, q->n_rows);
    REQUIRE_PROBLEM(in_range(q->row_begin, 0, q->n_rows), WINDOW, row_begin, q->row_begin);
    REQUIRE_PROBLEM(in_range(q->row_end, q->row_begin + 1, q->n_rows + 1), WINDOW, row_end,
                    q->row_end);
    REQUIRE_PROBLEM(in_range(q->chunk_rows, 1, q->n_rows + 1), WINDOW, chunk_rows, q->chunk_rows);
    REQUIRE_PROBLEM(in_range(q->first_row, 0, q->n_rows - q->chunk_rows + 1), WINDOW, first_row,
                    q->first_row);
    REQUIRE_PROBLEM(q->row_begin >= q->first_row, WINDOW, row_begin, q->row_begin);
    REQUIRE_PROBLEM(q->row_end <= q->first_row + q->chunk_rows, WINDOW, row_end, q->row_end);
    REQUIRE_PROBLEM(q->chunk_rows == q->n_rows || !axis_reads_external(p), WINDOW, chunk_rows,
                    q->chunk_rows);
    REQUIRE_PROBLEM(in_range(q->x_begin, 0, q->n_x), WINDOW, x_begin, q->x_begin);
    REQUIRE_PROBLEM(in_range(q->x_end, q->x_begin + 1, q->n_x + 1), WINDOW, x_end, q->x_end);
    REQUIRE_PROBLEM(in_range(q->data_type, PYSPEC_TYPE_F64, PYSPEC_TYPE_U16 + 1), DATA, data_type,
                    q->data_type);
    REQUIRE_PROBLEM(can_be_counted(p, q), SIZE, n_x, q->n_x);
#undef REQUIRE_PROBLEM
    return STATUS_OK;
}

int pyspec_check(const void *plan, int64_t plan_size, const pyspec_problem *problem,
                 pyspec_fault *fault)
{
    uint16_t writers[MAX_NODES];
    checker state = {plan, NULL, -1, fault, writers}, *c = &state;
    if (fault)
        *fault = (pyspec_fault){STATUS_OK, -1, -1, 0};
    if (!plan)
        return pyspec_fail(c, STATUS_NULL_POINTER, -1, 0);
    if (plan_size < (int64_t)sizeof(pyspec_plan) || (uintptr_t)plan % 8)
        return pyspec_fail(c, STATUS_SIZE, FIELD_pyspec_plan_size, plan_size);
    int status = check_header(c, plan_size);
    const pyspec_node *nodes = status ? NULL : plan_nodes(c->plan);
    if (!status)
        pyspec_find_writers(c->plan, writers);
    for (int64_t k = 0; !status && k < c->plan->n_nodes; k++) {
        c->index = k;
        c->node = &nodes[k];
        status = k < c->plan->n_resolve ? pyspec_check_resolve(c) : pyspec_check_component(c);
    }
    if (status)
        return status;
    c->index = -1;
    status = pyspec_check_depends(c);
    status = status ? status : pyspec_check_columns(c);
    status = status ? status : pyspec_check_separable(c);
    if (status)
        return status;
    c->index = c->plan->n_resolve;
    if (c->plan->trace >= 0 && !pyspec_is_resolved(c, c->plan->trace, 1)) {
        c->index = -1;
        return pyspec_fail(c, STATUS_ROW, FIELD_pyspec_plan_trace, c->plan->trace);
    }
    c->index = -1;
    if (c->plan->n_nodes > c->plan->n_resolve && !pyspec_is_written(c, c->plan->result, c->plan->n_nodes))
        return pyspec_fail(c, STATUS_SLOT, FIELD_pyspec_plan_result, c->plan->result);
    return problem ? check_problem(c, problem) : STATUS_OK;
}
