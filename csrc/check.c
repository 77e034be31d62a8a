/* check.c: verifies a plan and a problem once, so that the dispatch loop can trust them. */
#include "memory.h"

#include <float.h>

/* Bounds that keep every product of counts far from overflow. */
enum { MAX_COUNT = 1 << 20, MAX_NODES = 1 << 14 };
static const int64_t MAX_AXIS = (int64_t)1 << 28;

/* Position of a field among all rows of layout.def: FIELD_<struct>_<field>. */
enum {
#define CONSTANT(name, value)
#define STRUCT(type, size)
#define FIELD(type, field, kind, offset, doc) FIELD_##type##_##field,
#include "layout.def"
#undef CONSTANT
#undef STRUCT
#undef FIELD
    N_FIELDS
};

enum {
#define STATUS(name, code, message) STATUS_##name = (code),
#include "status.def"
#undef STATUS
};

typedef struct checker {
    const pyspec_plan *plan;
    const pyspec_node *node;
    int64_t index;
    pyspec_fault *fault;
} checker;

static int fail(const checker *c, int status, int64_t field, int64_t value)
{
    if (c->fault) {
        c->fault->status = status;
        c->fault->node = c->index;
        c->fault->field = field;
        c->fault->value = value;
    }
    return status;
}

#define REQUIRE(condition, status, type, field, value)                                             \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return fail(c, STATUS_##status, FIELD_##type##_##field, (int64_t)(value));             \
    } while (0)
#define REQUIRE_NODE(condition, status, field)                                                     \
    REQUIRE(condition, status, pyspec_node, field, c->node->field)
#define REQUIRE_PLAN(condition, status, field)                                                     \
    REQUIRE(condition, status, pyspec_plan, field, c->plan->field)

static int in_range(int64_t value, int64_t begin, int64_t end)
{
    return value >= begin && value < end;
}

/* n items of `size` bytes at byte `offset`, 8-byte aligned, behind the header. */
static int fits(const pyspec_plan *plan, int64_t offset, int64_t n, int64_t size)
{
    return offset >= (int64_t)sizeof *plan && offset % 8 == 0 && offset <= plan->size &&
           n <= (plan->size - offset) / size;
}

/* Trace rows that are given: theta, fixed values, external traces. */
static int64_t n_inputs(const pyspec_plan *plan)
{
    return plan->n_theta + plan->n_fixed + plan->n_external;
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
    REQUIRE_PLAN(in_range(p->n_words, 0, (int64_t)1 << 32), SIZE, n_words);
    REQUIRE_PLAN(fits(p, p->nodes, p->n_nodes, (int64_t)sizeof(pyspec_node)), OFFSET, nodes);
    REQUIRE_PLAN(fits(p, p->words, p->n_words, (int64_t)sizeof(int64_t)), OFFSET, words);
    return STATUS_OK;
}

/* The first row of the block of n_aux rows that a row belongs to; itself outside of blocks. */
static int64_t block_of(const pyspec_plan *plan, int64_t row)
{
    return row < plan->samples ? row : row - (row - plan->samples) % plan->n_aux;
}

/* A trace row may be read once it is an input or the target of an earlier node. A row of a
 * block is named by the block's first row, and only by nodes that run over the block. */
static int resolved(const checker *c, int64_t row, int64_t repeat)
{
    const pyspec_plan *p = c->plan;
    const pyspec_node *nodes = plan_nodes(p);
    if (in_range(row, 0, n_inputs(p)))
        return 1;
    if (!in_range(row, 0, p->n_traces) || block_of(p, row) != row)
        return 0;
    if (row >= p->samples && repeat != p->n_aux)
        return 0;
    int64_t end = c->index < p->n_resolve ? c->index : p->n_resolve;
    for (int64_t k = 0; k < end; k++)
        if (nodes[k].target == row)
            return 1;
    return 0;
}

/* A spectrum slot may be read once an earlier node has written it. */
static int written(const checker *c, int64_t slot, int64_t end)
{
    const pyspec_node *nodes = plan_nodes(c->plan);
    if (!in_range(slot, 0, c->plan->n_slots))
        return 0;
    for (int64_t k = c->plan->n_resolve; k < end; k++)
        if (nodes[k].target == slot)
            return 1;
    return 0;
}

/* `repeat` is how many auxiliary points the parameters are read at. */
static int check_params(const checker *c, const op_row *op, int64_t repeat)
{
    const pyspec_node *n = c->node;
    const int64_t *words = plan_words(c->plan);
    int n_required, n_params = pyspec_count_params(op, &n_required);
    REQUIRE_NODE(n->n_params == n_params && n_params <= MAX_PARAMS, ARITY, n_params);
    REQUIRE_NODE(in_range(n->params, 0, c->plan->n_words + 1) &&
                     n_params <= c->plan->n_words - n->params,
                 OFFSET, params);
    for (int k = 0; k < n_params; k++) {
        int64_t row = words[n->params + k];
        int left_out = row == -1 && k >= n_required;
        REQUIRE(left_out || resolved(c, row, repeat), ROW, pyspec_node, params, row);
    }
    REQUIRE_NODE(in_range(n->n_guards, 0, 2 * MAX_PARAMS + 1), GUARD, n_guards);
    REQUIRE_NODE(in_range(n->guards, 0, c->plan->n_words + 1) &&
                     4 * (int64_t)n->n_guards <= c->plan->n_words - n->guards,
                 OFFSET, guards);
    for (int k = 0; k < n->n_guards; k++) {
        const int64_t *guard = words + n->guards + 4 * k;
        REQUIRE(in_range(guard[0], 0, n_params), GUARD, pyspec_node, guards, guard[0]);
        REQUIRE(in_range(guard[1], 0, PYSPEC_GUARD_LE + 1), GUARD, pyspec_node, guards, guard[1]);
        REQUIRE(in_range(guard[2], -1, n_params), GUARD, pyspec_node, guards, guard[2]);
    }
    return STATUS_OK;
}

static int check_program(const checker *c)
{
    const pyspec_node *n = c->node;
    REQUIRE_NODE(in_range(n->code, 0, c->plan->n_words + 1), OFFSET, code);
    REQUIRE_NODE(n->n_code > 0 && 2 * (int64_t)n->n_code <= c->plan->n_words - n->code, PROGRAM,
                 n_code);
    const int64_t *code = plan_words(c->plan) + n->code;
    int64_t depth = 0;
    for (int64_t k = 0; k < n->n_code; k++) {
        int64_t instruction = code[2 * k], operand = code[2 * k + 1];
        int arity = pyspec_rpn_arity(instruction);
        REQUIRE(arity >= 0 && arity <= depth, PROGRAM, pyspec_node, code, instruction);
        REQUIRE(instruction != RPN_PARAM || resolved(c, operand, n->repeat), ROW, pyspec_node,
                code, operand);
        depth += 1 - arity;
        REQUIRE(depth <= c->plan->stack_depth, PROGRAM, pyspec_node, code, depth);
    }
    REQUIRE(depth == 1, PROGRAM, pyspec_node, code, depth);
    return STATUS_OK;
}

static int check_resolve(const checker *c)
{
    const pyspec_plan *p = c->plan;
    const pyspec_node *n = c->node;
    const int store = n->flags & PYSPEC_FLAG_STORE;
    const op_row *op = in_range(n->op, 0, N_OPS) ? &pyspec_op_table[n->op] : NULL;
    const int known = in_range(n->step, PYSPEC_STEP_LAW, PYSPEC_STEP_EXPRESSION + 1) ||
                      n->step == PYSPEC_STEP_CONVOLVE || n->step == PYSPEC_STEP_PROFILE;
    REQUIRE_NODE(known, STEP, step);
    REQUIRE_NODE(in_range(n->target, n_inputs(p), p->n_traces), ROW, target);
    REQUIRE_NODE(block_of(p, n->target) == n->target, ROW, target);
    REQUIRE_NODE(n->repeat == (n->target < p->samples ? 1 : p->n_aux), SIZE, repeat);
    switch (n->step) {
    case PYSPEC_STEP_LAW:
        REQUIRE_NODE(op && (op->kind == KIND_DYNAMICS || op->kind == KIND_RESPONSE), OP, op);
        REQUIRE_NODE(in_range(n->axis, 0, p->n_axes + 1), AXIS, axis);
        REQUIRE_NODE(in_range(n->mask, -1, p->n_masks), AXIS, mask);
        REQUIRE_NODE(n->target < p->samples, ROW, target);
        REQUIRE_NODE(store || resolved(c, n->target, 1), ROW, target);
        return check_params(c, op, 1);
    case PYSPEC_STEP_PROFILE:
        REQUIRE_NODE(op && op->kind == KIND_PROFILE, OP, op);
        REQUIRE_NODE(n->target >= p->samples, ROW, target);
        REQUIRE_NODE(store || resolved(c, n->target, n->repeat), ROW, target);
        return check_params(c, op, 1);
    case PYSPEC_STEP_CONVOLVE:
        REQUIRE_NODE(op && op->kind == KIND_KERNEL, OP, op);
        REQUIRE_NODE(n->target < p->samples && resolved(c, n->target, 1), ROW, target);
        return check_params(c, op, 1);
    case PYSPEC_STEP_BASE:
        REQUIRE_NODE(resolved(c, n->target, n->repeat), ROW, target);
        REQUIRE_NODE(resolved(c, n->source, n->repeat), ROW, source);
        return STATUS_OK;
    default:
        return check_program(c);
    }
}

static int check_component(const checker *c)
{
    const pyspec_node *n = c->node;
    int store = n->flags & PYSPEC_FLAG_STORE, add = n->step == PYSPEC_STEP_ADD;
    int external = n->step == PYSPEC_STEP_EXTERNAL;
    REQUIRE_NODE(add || external || n->step == PYSPEC_STEP_COMPONENT, STEP, step);
    REQUIRE_NODE(in_range(n->target, 0, c->plan->n_slots), SLOT, target);
    REQUIRE_NODE(store || written(c, n->target, c->index), SLOT, target);
    if (external) {
        REQUIRE_NODE(in_range(n->source, 0, c->plan->n_spectra), SLOT, source);
        return STATUS_OK;
    }
    REQUIRE_NODE(n->source == -1 || written(c, n->source, c->index), SLOT, source);
    REQUIRE_NODE((!store && !add) || n->source != n->target, SLOT, source);
    if (add) {
        REQUIRE_NODE(n->source >= 0, SLOT, source);
        return STATUS_OK;
    }
    REQUIRE_NODE(in_range(n->op, 0, N_OPS), OP, op);
    const op_row *op = &pyspec_op_table[n->op];
    int fed = op->kind == KIND_SPECTRUM_FED;
    REQUIRE_NODE(op->domain == DOMAIN_ENERGY, OP, op);
    REQUIRE_NODE(fed || n->source == -1, SLOT, source);
    REQUIRE_NODE(!fed || !(n->flags & PYSPEC_FLAG_STATIC), STEP, flags);
    REQUIRE_NODE(!(n->flags & PYSPEC_FLAG_SHAPE) || (pyspec_has_height(op) && n->repeat == 1), STEP,
                 flags);
    REQUIRE_NODE(n->repeat == 1 || (n->repeat == c->plan->n_aux && n->repeat > 1), SIZE, repeat);
    return check_params(c, op, n->repeat);
}

/* For each trace row the parameters of theta that it depends on, rising: the words that say so
 * must lie in the plan, and the rows of theta depend on themselves. */
static int check_depends(const checker *c)
{
    const pyspec_plan *p = c->plan;
    REQUIRE_PLAN(p->depends >= -1 && p->depends <= p->n_words, OFFSET, depends);
    if (p->depends < 0)
        return STATUS_OK;
    REQUIRE_PLAN(p->n_traces + 1 <= p->n_words - p->depends, OFFSET, depends);
    const int64_t *ends = plan_words(p) + p->depends;
    const int64_t room = p->n_words - p->depends - p->n_traces - 1;
    const int64_t *lists = ends + p->n_traces + 1;
    REQUIRE(ends[0] == 0, OFFSET, pyspec_plan, depends, ends[0]);
    for (int64_t row = 0; row < p->n_traces; row++) {
        REQUIRE(in_range(ends[row + 1], ends[row], room + 1), OFFSET, pyspec_plan, depends,
                ends[row + 1]);
        for (int64_t k = ends[row]; k < ends[row + 1]; k++)
            REQUIRE(in_range(lists[k], k > ends[row] ? lists[k - 1] + 1 : 0, p->n_theta), ROW,
                    pyspec_plan, depends, lists[k]);
        REQUIRE(row >= p->n_theta ||
                    (ends[row + 1] == ends[row] + 1 && lists[ends[row]] == row),
                ROW, pyspec_plan, depends, row);
    }
    return STATUS_OK;
}

/* A trace row is a column of its own, or all that it depends on are. */
static int has_columns(const checker *c, int64_t row)
{
    const pyspec_plan *p = c->plan;
    const int64_t *words = plan_words(p), *ends = words + p->depends;
    const int64_t *of_row = words + p->columns + 1 + words[p->columns];
    const int64_t *list = ends + p->n_traces + 1;
    for (int64_t k = ends[row]; of_row[row] < 0 && k < ends[row + 1]; k++)
        if (of_row[list[k]] < 0)
            return 0;
    return 1;
}

/* The columns of the plan's own: distinct trace rows outside of blocks, and every parameter of a
 * component finds its own. */
static int check_columns(checker *c)
{
    const pyspec_plan *p = c->plan;
    const int64_t *words = plan_words(p);
    REQUIRE_PLAN(in_range(p->columns, -1, p->n_words), OFFSET, columns);
    if (p->columns < 0)
        return STATUS_OK;
    REQUIRE_PLAN(p->depends >= 0, OFFSET, columns);
    const int64_t n = words[p->columns], room = p->n_words - p->columns - 1;
    REQUIRE(in_range(n, 0, p->n_traces + 1) && n + p->n_traces <= room, SIZE, pyspec_plan, columns,
            n);
    const int64_t *rows = words + p->columns + 1, *of_row = rows + n;
    for (int64_t k = 0; k < n; k++)
        REQUIRE(in_range(rows[k], 0, p->samples) && of_row[rows[k]] == k, ROW, pyspec_plan, columns,
                rows[k]);
    for (int64_t row = 0; row < p->n_traces; row++)
        REQUIRE(of_row[row] == -1 || (in_range(of_row[row], 0, n) && rows[of_row[row]] == row), ROW,
                pyspec_plan, columns, of_row[row]);
    for (c->index = p->n_resolve; c->index < p->n_nodes; c->index++) {
        c->node = &plan_nodes(p)[c->index];
        for (int k = 0; c->node->step == PYSPEC_STEP_COMPONENT && k < c->node->n_params; k++) {
            int64_t row = words[c->node->params + k];
            for (int64_t j = 0; row >= 0 && j < (row < p->samples ? 1 : p->n_aux); j++)
                REQUIRE(has_columns(c, row + j), ROW, pyspec_node, params, row);
        }
    }
    return STATUS_OK;
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
    REQUIRE_PROBLEM(in_range(q->x_begin, 0, q->n_x), WINDOW, x_begin, q->x_begin);
    REQUIRE_PROBLEM(in_range(q->x_end, q->x_begin + 1, q->n_x + 1), WINDOW, x_end, q->x_end);
    REQUIRE_PROBLEM(in_range(q->data_type, PYSPEC_TYPE_F64, PYSPEC_TYPE_U16 + 1), DATA, data_type,
                    q->data_type);
#undef REQUIRE_PROBLEM
    return STATUS_OK;
}

int pyspec_check(const void *plan, int64_t plan_size, const pyspec_problem *problem,
                 pyspec_fault *fault)
{
    checker state = {plan, NULL, -1, fault}, *c = &state;
    if (fault)
        *fault = (pyspec_fault){STATUS_OK, -1, -1, 0};
    if (!plan)
        return fail(c, STATUS_NULL_POINTER, -1, 0);
    if (plan_size < (int64_t)sizeof(pyspec_plan) || (uintptr_t)plan % 8)
        return fail(c, STATUS_SIZE, FIELD_pyspec_plan_size, plan_size);
    int status = check_header(c, plan_size);
    const pyspec_node *nodes = status ? NULL : plan_nodes(c->plan);
    for (int64_t k = 0; !status && k < c->plan->n_nodes; k++) {
        c->index = k;
        c->node = &nodes[k];
        status = k < c->plan->n_resolve ? check_resolve(c) : check_component(c);
    }
    if (status)
        return status;
    c->index = -1;
    status = check_depends(c);
    status = status ? status : check_columns(c);
    if (status)
        return status;
    c->index = c->plan->n_resolve;
    if (c->plan->trace >= 0 && !resolved(c, c->plan->trace, 1)) {
        c->index = -1;
        return fail(c, STATUS_ROW, FIELD_pyspec_plan_trace, c->plan->trace);
    }
    c->index = -1;
    if (c->plan->n_nodes > c->plan->n_resolve && !written(c, c->plan->result, c->plan->n_nodes))
        return fail(c, STATUS_SLOT, FIELD_pyspec_plan_result, c->plan->result);
    return problem ? check_problem(c, problem) : STATUS_OK;
}
