#include "support/plans.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int test_isa;

int64_t bits_of(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

double value_of(int64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void start(plan_builder *b, int dimension, int n_theta, int n_fixed, int n_traces, int n_slots)
{
    memset(b, 0, sizeof *b);
    b->head.abi = PYSPEC_ABI;
    b->head.dimension = dimension;
    b->head.n_theta = n_theta;
    b->head.n_fixed = n_fixed;
    b->head.n_traces = n_traces;
    b->head.n_slots = n_slots;
    b->head.samples = n_traces;
    b->head.trace = -1;
    b->head.depends = -1;
    b->head.columns = -1;
    b->head.separable = -1;
}

int add_blocks(plan_builder *b, int n_aux, int n_blocks)
{
    b->head.n_aux = n_aux;
    b->head.n_traces += (int64_t)n_aux * n_blocks;
    return (int)b->head.samples;
}

int64_t add_word(plan_builder *b, int64_t word)
{
    if (b->head.n_words == MAX_TEST_WORDS)
        abort();
    b->words[b->head.n_words] = word;
    return b->head.n_words++;
}

int resolves(int step)
{
    return step <= PYSPEC_STEP_EXPRESSION || step == PYSPEC_STEP_CONVOLVE ||
           step == PYSPEC_STEP_PROFILE;
}

pyspec_node *add_step(plan_builder *b, int step, int flags, int source, int target)
{
    if (b->head.n_nodes == MAX_TEST_NODES)
        abort();
    pyspec_node *node = &b->nodes[b->head.n_nodes++];
    *node = (pyspec_node){.step = step, .op = -1, .flags = flags, .mask = -1};
    node->source = source;
    node->target = target;
    node->repeat = resolves(step) && target >= b->head.samples ? (int32_t)b->head.n_aux : 1;
    b->head.n_resolve += resolves(step);
    return node;
}

/* Position of a parameter among those of a table row, or -1 for a number. */
static int find_param(const char *params, const char *name, size_t length)
{
    int index = 0;
    for (const char *c = params; *c; index++) {
        size_t n = strcspn(c, "<>=,");
        if (n == length && !memcmp(c, name, n))
            return index;
        c += strcspn(c, ",");
        c += strspn(c, ", ");
    }
    return -1;
}

/* The bounds of a table row, "SD>0, xStop>xStart", as guards. */
static void add_guards(plan_builder *b, pyspec_node *node, const char *params)
{
    int index = 0;
    node->guards = b->head.n_words;
    for (const char *c = params; *c; index++) {
        const char *sign = c + strcspn(c, "<>=,");
        if (*sign == '<' || *sign == '>') {
            int closed = sign[1] == '=';
            const char *name = sign + 1 + closed;
            int other = find_param(params, name, strcspn(name, ","));
            int open_code = *sign == '>' ? PYSPEC_GUARD_GT : PYSPEC_GUARD_LT;
            add_word(b, index);
            add_word(b, open_code + closed);
            add_word(b, other);
            add_word(b, other < 0 ? bits_of(strtod(name, NULL)) : 0);
            node->n_guards++;
        }
        c += strcspn(c, ",");
        c += strspn(c, ", ");
    }
}

/* A node that calls a function with these trace rows. */
static pyspec_node *add_function(plan_builder *b, int step, int op, int flags, int target,
                                 int n_params, const int *rows)
{
    pyspec_node *node = add_step(b, step, flags, -1, target);
    node->op = op;
    node->n_params = n_params;
    node->params = b->head.n_words;
    for (int k = 0; k < n_params; k++) {
        add_word(b, rows[k]);
        if (step == PYSPEC_STEP_COMPONENT && rows[k] >= b->head.samples)
            node->repeat = (int32_t)b->head.n_aux;
    }
    return node;
}

pyspec_node *add_formula(plan_builder *b, int step, int flags, int target, int n_params,
                         const int *rows, int n_code, const int64_t *program)
{
    pyspec_node *node = add_function(b, step, PYSPEC_OP_FORMULA, flags, target, n_params, rows);
    node->guards = node->code = b->head.n_words;
    node->n_code = n_code;
    for (int k = 0; k < n_code; k++)
        add_word(b, program[k]);
    return node;
}

pyspec_node *add_call(plan_builder *b, int step, int op, int flags, int target, int n_params,
                      const int *rows)
{
    pyspec_node *node = add_function(b, step, op, flags, target, n_params, rows);
    add_guards(b, node, pyspec_op_table[op].params);
    return node;
}

pyspec_node *add_expression(plan_builder *b, int flags, int target, int n_code,
                            const int64_t *code)
{
    pyspec_node *node = add_step(b, PYSPEC_STEP_EXPRESSION, flags, -1, target);
    int64_t depth = 0;
    node->code = b->head.n_words;
    node->n_code = n_code;
    for (int k = 0; k < n_code; k++) {
        add_word(b, code[2 * k]);
        add_word(b, code[2 * k + 1]);
        depth += 1 - pyspec_rpn_arity(code[2 * k]);
        if (depth > b->head.stack_depth)
            b->head.stack_depth = depth;
    }
    return node;
}

/* What the node makes of the sets of parameters that its inputs depend on, at auxiliary point k. */
static uint64_t combined(const plan_builder *b, const pyspec_node *node, const uint64_t *sets, int k)
{
    uint64_t set = 0;
#define INPUT(row) ((row) < 0 ? 0 : sets[(row) < b->head.samples ? (row) : (row) + k])
    if (node->step == PYSPEC_STEP_BASE)
        return INPUT(node->source);
    for (int i = 0; node->step == PYSPEC_STEP_EXPRESSION && i < node->n_code; i++)
        if (b->words[node->code + 2 * i] == RPN_PARAM)
            set |= INPUT(b->words[node->code + 2 * i + 1]);
    for (int i = 0; node->step != PYSPEC_STEP_EXPRESSION && i < node->n_params; i++)
        set |= INPUT(b->words[node->params + i]);
#undef INPUT
    return set;
}

void add_dependencies(plan_builder *b)
{
    static uint64_t sets[MAX_TEST_WORDS];
    const int64_t n_theta = b->head.n_theta, n_traces = b->head.n_traces;
    int64_t n = 0;
    memset(sets, 0, (size_t)n_traces * sizeof *sets);
    for (int64_t row = 0; row < n_theta; row++)
        sets[row] = (uint64_t)1 << row;
    for (int64_t j = 0; j < b->head.n_resolve; j++)
        for (int k = 0; k < b->nodes[j].repeat; k++)
            sets[b->nodes[j].target + k] |= combined(b, &b->nodes[j], sets, k);
    b->head.depends = add_word(b, 0);
    for (int64_t row = 0; row < n_traces; row++) {
        for (int64_t k = 0; k < n_theta; k++)
            n += (sets[row] >> k & 1) != 0;
        add_word(b, n);
    }
    for (int64_t row = 0; row < n_traces; row++)
        for (int64_t k = 0; k < n_theta; k++)
            if (sets[row] >> k & 1)
                add_word(b, k);
}

void add_columns(plan_builder *b, int n, const int *rows)
{
    b->head.columns = add_word(b, n);
    for (int k = 0; k < n; k++)
        add_word(b, rows[k]);
    const int64_t of_row = b->head.n_words;
    for (int64_t row = 0; row < b->head.n_traces; row++)
        add_word(b, -1);
    for (int k = 0; k < n; k++)
        b->words[of_row + rows[k]] = k;
}

void add_moving_heights(plan_builder *b)
{
    int64_t *count = &b->words[b->head.separable = add_word(b, 0)];
    for (int64_t k = b->head.n_resolve; k < b->head.n_nodes; k++) {
        if (b->nodes[k].step != PYSPEC_STEP_COMPONENT || !(b->nodes[k].flags & PYSPEC_FLAG_SHAPE))
            continue;
        const int64_t row = b->words[b->nodes[k].params];
        int known = 0;
        for (int64_t i = 1; i <= *count; i++)
            known |= count[i] == row;
        if (!known) {
            add_word(b, row);
            ++*count;
        }
    }
}

/* ---- stages ------------------------------------------------------------------------------ */

/* Whether a resolving node reads a row, named by its block's first. */
static int reads_row(const plan_builder *b, const pyspec_node *node, int64_t row)
{
    int found = node->step == PYSPEC_STEP_BASE && node->source == row;
    for (int i = 0; node->step == PYSPEC_STEP_EXPRESSION && i < node->n_code; i++)
        found |= b->words[node->code + 2 * i] == RPN_PARAM &&
                 b->words[node->code + 2 * i + 1] == row;
    for (int i = 0; node->step != PYSPEC_STEP_EXPRESSION && i < node->n_params; i++)
        found |= b->words[node->params + i] == row;
    return found;
}

int row_moves(const plan_builder *b, int64_t row)
{
    const int64_t first = b->head.n_theta + b->head.n_fixed, end = first + b->head.n_external;
    if (row < end)
        return row >= first;
    for (int64_t k = 0; k < b->head.n_resolve; k++) {
        if (b->nodes[k].target != row)
            continue;
        if (b->nodes[k].step == PYSPEC_STEP_LAW || b->nodes[k].step == PYSPEC_STEP_CONVOLVE)
            return 1;
        for (int64_t other = 0; other < row; other++)
            if (reads_row(b, &b->nodes[k], other) && row_moves(b, other))
                return 1;
    }
    return 0;
}

/* Whether a row is convolved, or read by what writes such a row. */
static int along_axis(const plan_builder *b, int64_t row)
{
    for (int64_t k = 0; k < b->head.n_resolve; k++) {
        if (b->nodes[k].target == row && b->nodes[k].step == PYSPEC_STEP_CONVOLVE)
            return 1;
        if (b->nodes[k].target > row && reads_row(b, &b->nodes[k], row) &&
            along_axis(b, b->nodes[k].target))
            return 1;
    }
    return 0;
}

static void set_stages(const plan_builder *b, pyspec_node *nodes)
{
    for (int64_t k = 0; k < b->head.n_resolve; k++)
        nodes[k].stage = !row_moves(b, nodes[k].target)   ? PYSPEC_STAGE_PROBLEM
                         : along_axis(b, nodes[k].target) ? PYSPEC_STAGE_AXIS
                                                          : PYSPEC_STAGE_ROW;
}

pyspec_plan *finish(const plan_builder *b)
{
    pyspec_plan head = b->head;
    size_t n_bytes = (size_t)head.n_nodes * sizeof(pyspec_node);
    head.nodes = sizeof head;
    head.words = head.nodes + (int64_t)n_bytes;
    head.size = head.words + head.n_words * (int64_t)sizeof(int64_t);
    char *memory = exact(head.size, 1);
    memcpy(memory, &head, sizeof head);
    memcpy(memory + head.nodes, b->nodes, n_bytes);
    set_stages(b, (pyspec_node *)(void *)(memory + head.nodes));
    memcpy(memory + head.words, b->words, (size_t)head.n_words * sizeof(int64_t));
    return (pyspec_plan *)memory;
}

void make_grid(grid *g, const pyspec_plan *plan, int64_t n_rows, int64_t n_x)
{
    *g = (grid){.x = exact(n_x, sizeof(double)), .time = exact(n_rows, sizeof(double))};
    g->axes = exact(plan->n_axes * n_rows, sizeof(double));
    g->masks = exact(plan->n_masks * n_rows, 1);
    g->fixed = exact(plan->n_fixed, sizeof(double));
    g->aux = exact(plan->n_aux, sizeof(double));
    g->aux_weight = exact(plan->n_aux, sizeof(double));
    g->external = exact(plan->n_external * n_rows, sizeof(double));
    g->spectra = exact(plan->n_spectra * n_rows * n_x, sizeof(double));
    g->shares = exact(2 * n_x, sizeof(double));
    for (int64_t i = 0; i < 2 * n_x; i++)
        g->shares[i] = 0.75 + 0.125 * (double)(i % 7);
    for (int64_t i = 0; i < n_x; i++)
        g->x[i] = 0.1 * (double)i;
    for (int64_t i = 0; i < n_rows; i++)
        g->time[i] = 0.25 * (double)i - 1.0;
    for (int64_t k = 0; k < plan->n_axes; k++)
        for (int64_t i = 0; i < n_rows; i++)
            g->axes[k * n_rows + i] = g->time[i] + 0.125 * (double)(k + 1);
    for (int64_t k = 0; k < plan->n_masks; k++)
        for (int64_t i = 0; i < n_rows; i++)
            g->masks[k * n_rows + i] = i % (k + 3) != 0;
    for (int64_t k = 0; k < plan->n_fixed; k++)
        g->fixed[k] = 1.0 + 0.5 * (double)k;
    for (int64_t k = 0; k < plan->n_aux; k++) {
        g->aux[k] = 0.2 * (double)k + 0.1;
        g->aux_weight[k] = 2.0 * (double)(k + 1) / (double)(plan->n_aux * (plan->n_aux + 1));
    }
    for (int64_t i = 0; i < plan->n_external * n_rows; i++)
        g->external[i] = 1.0 + 0.125 * (double)(i % 11);
    for (int64_t i = 0; i < plan->n_spectra * n_rows * n_x; i++)
        g->spectra[i] = 0.5 + 0.0625 * (double)(i % 29);
    g->problem = (pyspec_problem){.x = g->x,
                                  .time = g->time,
                                  .axes = g->axes,
                                  .masks = g->masks,
                                  .fixed = g->fixed,
                                  .n_x = n_x,
                                  .n_rows = n_rows,
                                  .chunk_rows = n_rows,
                                  .row_end = n_rows,
                                  .x_end = n_x,
                                  .n_axes = plan->n_axes,
                                  .n_masks = plan->n_masks,
                                  .n_fixed = plan->n_fixed,
                                  .aux = g->aux,
                                  .aux_weight = g->aux_weight,
                                  .n_aux = plan->n_aux,
                                  .external = g->external,
                                  .spectra = g->spectra,
                                  .n_external = plan->n_external + plan->n_spectra,
                                  .shares = n_x % 2 ? g->shares : NULL,
                                  .loss_scale = 1.0};
}

pyspec_call make_call(const pyspec_plan *plan, const pyspec_problem *problem, const double *theta,
                      int64_t what)
{
    const int64_t size = what & PYSPEC_PREPARE_SLOPES ? pyspec_jacobian_work_size(plan, problem)
                                                      : pyspec_work_size(plan, problem);
    const int64_t prepared_size = pyspec_prepared_size(plan, problem, what);
    return (pyspec_call){.plan = plan,
                         .problem = problem,
                         .theta = theta,
                         .work = make_work(size),
                         .work_size = size,
                         .isa = test_isa,
                         .prepared = make_work(prepared_size),
                         .prepared_size = prepared_size};
}

pyspec_solver make_solver(int64_t n, const double *start, const double *lower, const double *upper)
{
    pyspec_solver s = {.n = n, .theta = exact(n, sizeof(double)), .trial = doubles(n, (double)NAN)};
    double *bounds = exact(2 * n, sizeof *bounds);
    for (int64_t k = 0; k < n; k++) {
        s.theta[k] = start[k];
        bounds[k] = lower ? lower[k] : -(double)INFINITY;
        bounds[n + k] = upper ? upper[k] : (double)INFINITY;
    }
    s.lower = bounds;
    s.answer = doubles(triangle_size(n + 1), (double)NAN);
    s.normal = doubles(triangle_size(n + 1), (double)NAN);
    s.work = doubles(pyspec_fit_work_size(n) / (int64_t)sizeof(double), (double)NAN);
    return s;
}

double *run_entry(int entry, const pyspec_plan *plan, const pyspec_problem *problem,
                  const double *theta, int *status)
{
    int (*const entries[])(const pyspec_call *) = {pyspec_evaluate, pyspec_residual,
                                                   pyspec_traces, pyspec_jacobian};
    const int64_t n_points = (problem->row_end - problem->row_begin) * (problem->x_end - problem->x_begin);
    const int64_t n_out = entry == RUN_TRACES     ? plan->n_traces * problem->n_rows
                          : entry == RUN_JACOBIAN ? plan->n_theta * n_points
                                                  : n_points;
    double *out = exact(n_out, sizeof *out);
    const int64_t n_owned = count_owned();
    pyspec_call call = make_call(plan, problem, theta, entry == RUN_JACOBIAN ? PYSPEC_PREPARE_SLOPES : 0);
    call.out = out;
    call.n_out = n_out;
    *status = entries[entry](&call);
    free_owned(n_owned);
    return *status ? NULL : out;
}

int same(double a, double b)
{
    return bits_of(a) == bits_of(b) || (isnan(a) && isnan(b));
}

int all_same(const double *a, const double *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!same(a[i], b[i]))
            return 0;
    return 1;
}

int close_to(const double *a, const double *b, int64_t n, double tolerance)
{
    double scale = 0.0, worst = 0.0;
    for (int64_t i = 0; i < n; i++) {
        if (isnan(a[i]) != isnan(b[i]))
            return 0;
        if (!isnan(b[i]) && fabs(b[i]) > scale)
            scale = fabs(b[i]);
        if (!isnan(b[i]) && fabs(a[i] - b[i]) > worst)
            worst = fabs(a[i] - b[i]);
    }
    return worst <= tolerance * scale;
}

void make_uneven(grid *g, int64_t n_x)
{
    for (int64_t i = 0; i < n_x; i++)
        g->x[i] += 0.01 * (double)(i % 3);
}

void set_data(pyspec_problem *q, const double *data)
{
    q->data = data;
    q->data_row = q->n_x * (int64_t)sizeof *data;
    q->data_x = sizeof *data;
}
