/* check_nodes.c: verifies the nodes of a plan one by one: what they read is there in time. */
#include "check/check.h"

/* ---- who writes a row or a slot ---------------------------------------------------------- */

/* Whether node a comes behind node b in the order of targets; those of one target as they run. */
static int comes_behind(const pyspec_node *nodes, int a, int b)
{
    return nodes[a].target != nodes[b].target ? nodes[a].target > nodes[b].target : a > b;
}

static void sift_down(const pyspec_node *nodes, uint16_t *order, int64_t top, int64_t n)
{
    const uint16_t own = order[top];
    for (int64_t next = 2 * top + 1; next < n; next = 2 * top + 1) {
        if (next + 1 < n && comes_behind(nodes, order[next + 1], order[next]))
            next++;
        if (!comes_behind(nodes, order[next], own))
            break;
        order[top] = order[next];
        top = next;
    }
    order[top] = own;
}

/* A heap sort: n log n steps and no memory of its own, whatever the plan holds. */
static void sort_by_target(const pyspec_node *nodes, uint16_t *order, int64_t begin, int64_t end)
{
    const int64_t n = end - begin;
    order += begin;
    for (int64_t k = 0; k < n; k++)
        order[k] = (uint16_t)(begin + k);
    for (int64_t top = n / 2 - 1; top >= 0; top--)
        sift_down(nodes, order, top, n);
    for (int64_t last = n - 1; last > 0; last--) {
        const uint16_t largest = order[0];
        order[0] = order[last];
        order[last] = largest;
        sift_down(nodes, order, 0, last);
    }
}

void pyspec_find_writers(const pyspec_plan *plan, uint16_t *writers)
{
    sort_by_target(plan_nodes(plan), writers, 0, plan->n_resolve);
    sort_by_target(plan_nodes(plan), writers, plan->n_resolve, plan->n_nodes);
}

/* The first of nodes begin ... end - 1, all of one kind, with that target; `end` where there is none. */
static int64_t first_writer(const checker *c, int64_t begin, int64_t end, int64_t target)
{
    const pyspec_node *nodes = plan_nodes(c->plan);
    const int64_t behind = end;
    for (int64_t n = end - begin; n > 0; n = end - begin) {
        const int64_t middle = begin + n / 2;
        if (nodes[c->writers[middle]].target < target)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < behind && nodes[c->writers[begin]].target == target ? c->writers[begin] : behind;
}

/* A trace row may be read once it is an input or the target of an earlier node. A row of a
 * block is named by the block's first row, and only by nodes that run over the block. */
int pyspec_is_resolved(const checker *c, int64_t row, int64_t repeat)
{
    const pyspec_plan *p = c->plan;
    if (in_range(row, 0, n_inputs(p)))
        return 1;
    if (!in_range(row, 0, p->n_traces) || block_of(p, row) != row)
        return 0;
    if (row >= p->samples && repeat != p->n_aux)
        return 0;
    const int64_t end = c->index < p->n_resolve ? c->index : p->n_resolve;
    return first_writer(c, 0, p->n_resolve, row) < end;
}

/* ---- stages ------------------------------------------------------------------------------ */

/* The stage in which a resolved row is written. External traces have the last, but a node of the
 * axis stage may read them where the whole axis is there. */
int pyspec_stage_of(const checker *c, int64_t row)
{
    const pyspec_node *nodes = plan_nodes(c->plan);
    if (row < n_inputs(c->plan))
        return is_external(c->plan, row) ? PYSPEC_STAGE_ROW : PYSPEC_STAGE_PROBLEM;
    const int64_t k = first_writer(c, 0, c->plan->n_resolve, row);
    return k < c->plan->n_resolve ? nodes[k].stage : PYSPEC_STAGE_ROW;
}

/* Whether a node may read a row: not its own, and in time. */
static int in_time(const checker *c, int64_t row)
{
    const pyspec_node *n = c->node;
    if (row == n->target)
        return 0;
    if (n->stage == PYSPEC_STAGE_AXIS && is_external(c->plan, row))
        return 1;
    return pyspec_stage_of(c, row) <= n->stage;
}

/* The nodes that write a row follow each other, and share its stage. */
static int check_stage(const checker *c)
{
    const pyspec_plan *p = c->plan;
    const pyspec_node *n = c->node, *before = c->index ? n - 1 : NULL;
    REQUIRE_NODE(in_range(n->stage, PYSPEC_STAGE_PROBLEM, PYSPEC_STAGE_ROW + 1), STAGE, stage);
    REQUIRE_NODE(n->step != PYSPEC_STEP_LAW || n->stage != PYSPEC_STAGE_PROBLEM, STAGE, stage);
    REQUIRE_NODE(n->step != PYSPEC_STEP_CONVOLVE || n->stage == PYSPEC_STAGE_AXIS, STAGE, stage);
    REQUIRE_NODE(n->stage != PYSPEC_STAGE_AXIS || n->target < p->samples, STAGE, stage);
    if (before && before->target == n->target)
        REQUIRE_NODE(n->stage == before->stage, STAGE, stage);
    else
        REQUIRE_NODE(!pyspec_is_resolved(c, n->target, n->repeat), STAGE, target);
    return STATUS_OK;
}

/* Parameters that a whole axis or a line has in common are the same for all rows. */
static int check_still(const checker *c, int first)
{
    const int64_t *words = plan_words(c->plan) + c->node->params;
    for (int k = first; k < c->node->n_params; k++)
        REQUIRE(words[k] < 0 || pyspec_stage_of(c, words[k]) == PYSPEC_STAGE_PROBLEM, STAGE, pyspec_node,
                params, words[k]);
    return STATUS_OK;
}

/* A spectrum slot may be read once an earlier node has written it. */
int pyspec_is_written(const checker *c, int64_t slot, int64_t end)
{
    if (!in_range(slot, 0, c->plan->n_slots))
        return 0;
    const int64_t k = first_writer(c, c->plan->n_resolve, c->plan->n_nodes, slot);
    return k < end && k < c->plan->n_nodes;
}

/* Whether an op is a law or response with a program of its own. */
static int is_own_law(int64_t op)
{
    return op == PYSPEC_OP_FORMULA || op == PYSPEC_OP_SCHEME || op == PYSPEC_OP_MEASURED;
}

/* Whether an op may run over the abscissae of a spectrum: in a turned plan these are times, and laws do. */
static int is_shape(const op_row *op)
{
    if (op->domain == DOMAIN_ENERGY)
        return op->kind != KIND_RESOLUTION;
    return op->kind == KIND_DYNAMICS || op->kind == KIND_RESPONSE;
}

/* Whether the program of a node is sound; `at` is the word of a fault. */
static int is_sound(const pyspec_node *n, const int64_t *program, int64_t *at)
{
    switch (n->op) {
    case PYSPEC_OP_SCHEME:
        return pyspec_scheme_is_sound(program, n->n_code, n->n_params, at);
    case PYSPEC_OP_MEASURED:
        return pyspec_measured_is_sound(program, n->n_code, n->n_params, at);
    default:
        return n->step == PYSPEC_STEP_CONVOLVE
                   ? pyspec_conv_formula_is_sound(program, n->n_code, n->n_params, at)
                   : pyspec_formula_is_sound(program, n->n_code, n->n_params, at);
    }
}

/* A formula reads inputs of its own axis that the plan has. */
static int check_inputs(const checker *c)
{
    const pyspec_plan *p = c->plan;
    const pyspec_node *n = c->node;
    const int64_t *words = plan_words(p);
    if (n->op != PYSPEC_OP_FORMULA || n->step == PYSPEC_STEP_CONVOLVE)
        return STATUS_OK;
    const int64_t n_inputs = formula_head(words + n->code)->n_inputs;
    const int64_t known = n->step == PYSPEC_STEP_LAW       ? p->n_row_inputs
                          : n->step == PYSPEC_STEP_PROFILE ? p->n_aux_inputs
                                                           : p->n_x_inputs;
    REQUIRE_NODE(in_range(n->inputs, 0, p->n_words + 1) && n_inputs <= p->n_words - n->inputs, OFFSET,
                 inputs);
    for (int64_t k = 0; k < n_inputs; k++)
        REQUIRE(in_range(words[n->inputs + k], 0, known), AXIS, pyspec_node, inputs,
                words[n->inputs + k]);
    return STATUS_OK;
}

static int check_own_program(const checker *c)
{
    const pyspec_node *n = c->node;
    int64_t at;
    REQUIRE_NODE(in_range(n->code, 0, c->plan->n_words + 1), OFFSET, code);
    REQUIRE_NODE(n->n_code >= 0 && n->n_code <= c->plan->n_words - n->code, OFFSET, n_code);
    REQUIRE(is_sound(n, plan_words(c->plan) + n->code, &at), PROGRAM, pyspec_node, code, at);
    return check_inputs(c);
}

/* `repeat` is how many auxiliary points the parameters are read at; `op` is NULL for one with a program. */
static int check_params(const checker *c, const op_row *op, int64_t repeat)
{
    const pyspec_node *n = c->node;
    const int64_t *words = plan_words(c->plan);
    const int status = op ? STATUS_OK : check_own_program(c);
    int n_required = n->n_params, n_params = n->n_params;
    if (status)
        return status;
    if (op)
        n_params = pyspec_count_params(op, &n_required);
    else if (n->op == PYSPEC_OP_MEASURED && measured_head(words + n->code)->law != LAW_STATE)
        n_required--; /* y0 of a law may be left out */
    REQUIRE_NODE(n->n_params == n_params && n_params <= MAX_PARAMS, ARITY, n_params);
    REQUIRE_NODE(in_range(n->params, 0, c->plan->n_words + 1) &&
                     n_params <= c->plan->n_words - n->params,
                 OFFSET, params);
    for (int k = 0; k < n_params; k++) {
        int64_t row = words[n->params + k];
        int left_out = row == -1 && k >= n_required;
        REQUIRE(left_out || pyspec_is_resolved(c, row, repeat), ROW, pyspec_node, params, row);
        REQUIRE(left_out || c->index >= c->plan->n_resolve || in_time(c, row), STAGE, pyspec_node,
                params, row);
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
        REQUIRE(instruction != RPN_PARAM || pyspec_is_resolved(c, operand, n->repeat), ROW, pyspec_node,
                code, operand);
        REQUIRE(instruction != RPN_PARAM || in_time(c, operand), STAGE, pyspec_node, code, operand);
        depth += 1 - arity;
        REQUIRE(depth <= c->plan->stack_depth, PROGRAM, pyspec_node, code, depth);
    }
    REQUIRE(depth == 1, PROGRAM, pyspec_node, code, depth);
    return STATUS_OK;
}

static int check_resolve_step(const checker *c)
{
    const pyspec_plan *p = c->plan;
    const pyspec_node *n = c->node;
    const int store = n->flags & PYSPEC_FLAG_STORE;
    const op_row *op = in_range(n->op, 0, N_OPS) ? &pyspec_op_table[n->op] : NULL;
    const int by_formula = n->op == PYSPEC_OP_FORMULA;
    const int known = in_range(n->step, PYSPEC_STEP_LAW, PYSPEC_STEP_EXPRESSION + 1) ||
                      n->step == PYSPEC_STEP_CONVOLVE || n->step == PYSPEC_STEP_PROFILE;
    REQUIRE_NODE(known, STEP, step);
    REQUIRE_NODE(in_range(n->target, n_inputs(p), p->n_traces), ROW, target);
    REQUIRE_NODE(block_of(p, n->target) == n->target, ROW, target);
    REQUIRE_NODE(n->repeat == (n->target < p->samples ? 1 : p->n_aux), SIZE, repeat);
    int status;
    switch (n->step) {
    case PYSPEC_STEP_LAW:
        REQUIRE_NODE(is_own_law(n->op) ||
                         (op && (op->kind == KIND_DYNAMICS || op->kind == KIND_RESPONSE)),
                     OP, op);
        REQUIRE_NODE(in_range(n->axis, 0, p->n_axes + 1), AXIS, axis);
        REQUIRE_NODE(in_range(n->mask, -1, p->n_masks), AXIS, mask);
        REQUIRE_NODE(n->target < p->samples, ROW, target);
        REQUIRE_NODE(store || pyspec_is_resolved(c, n->target, 1), ROW, target);
        status = check_params(c, op, 1);
        return status ? status : check_still(c, 0);
    case PYSPEC_STEP_PROFILE:
        REQUIRE_NODE(by_formula || (op && op->kind == KIND_PROFILE), OP, op);
        REQUIRE_NODE(n->target >= p->samples, ROW, target);
        REQUIRE_NODE(store || pyspec_is_resolved(c, n->target, n->repeat), ROW, target);
        return check_params(c, op, 1);
    case PYSPEC_STEP_CONVOLVE:
        REQUIRE_NODE(by_formula || (op && op->kind == KIND_KERNEL), OP, op);
        REQUIRE_NODE(n->target < p->samples && pyspec_is_resolved(c, n->target, 1), ROW, target);
        status = check_params(c, op, 1);
        return status ? status : check_still(c, 0);
    case PYSPEC_STEP_BASE:
        REQUIRE_NODE(pyspec_is_resolved(c, n->target, n->repeat), ROW, target);
        REQUIRE_NODE(pyspec_is_resolved(c, n->source, n->repeat), ROW, source);
        REQUIRE_NODE(in_time(c, n->source), STAGE, source);
        return STATUS_OK;
    default:
        return check_program(c);
    }
}

int pyspec_check_resolve(const checker *c)
{
    const int status = check_resolve_step(c);
    return status ? status : check_stage(c);
}

int pyspec_check_component(const checker *c)
{
    const pyspec_node *n = c->node;
    int store = n->flags & PYSPEC_FLAG_STORE, add = n->step == PYSPEC_STEP_ADD;
    int external = n->step == PYSPEC_STEP_EXTERNAL;
    REQUIRE_NODE(add || external || n->step == PYSPEC_STEP_COMPONENT, STEP, step);
    REQUIRE_NODE(n->stage == 0, STAGE, stage);
    REQUIRE_NODE(in_range(n->target, 0, c->plan->n_slots), SLOT, target);
    REQUIRE_NODE(store || pyspec_is_written(c, n->target, c->index), SLOT, target);
    if (external) {
        REQUIRE_NODE(in_range(n->source, 0, c->plan->n_spectra), SLOT, source);
        return STATUS_OK;
    }
    REQUIRE_NODE(n->source == -1 || pyspec_is_written(c, n->source, c->index), SLOT, source);
    REQUIRE_NODE((!store && !add) || n->source != n->target, SLOT, source);
    if (add) {
        REQUIRE_NODE(n->source >= 0, SLOT, source);
        return STATUS_OK;
    }
    REQUIRE_NODE(is_own_law(n->op) || in_range(n->op, 0, N_OPS), OP, op);
    const op_row *op = n->op < 0 ? NULL : &pyspec_op_table[n->op];
    int fed = op_is_fed(n->op);
    REQUIRE_NODE(n->op < 0 || is_shape(op), OP, op);
    REQUIRE_NODE(fed || n->source == -1, SLOT, source);
    REQUIRE_NODE(!fed || !(n->flags & PYSPEC_FLAG_STATIC), STEP, flags);
    const int has_height = op ? pyspec_has_height(op) : n->n_params > 0;
    REQUIRE_NODE(!(n->flags & PYSPEC_FLAG_SHAPE) || (has_height && n->repeat == 1), STEP, flags);
    REQUIRE_NODE(n->repeat == 1 || (n->repeat == c->plan->n_aux && n->repeat > 1), SIZE, repeat);
    int status = check_params(c, op, n->repeat);
    if (!status && n->flags & (PYSPEC_FLAG_STATIC | PYSPEC_FLAG_SHAPE))
        status = check_still(c, n->flags & PYSPEC_FLAG_SHAPE ? 1 : 0);
    return status;
}
