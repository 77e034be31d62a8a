#include "support/layout_fields.h"
#include "random/random_formula.h"
#include "random/random_scheme.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* SplitMix64 (Steele, Lea, Flood 2014). */
uint64_t draw(rng *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int64_t below(rng *r, int64_t n)
{
    return (int64_t)(draw(r) % (uint64_t)n);
}

int chance(rng *r, int percent)
{
    return below(r, 100) < percent;
}

int64_t odd_integer(rng *r, int64_t old)
{
    static const int64_t odd[] = {
        -1, 0, 1, 2, 3, 4, 5, 7, 8, 9, 47, 384, 128, 1 << 14, 1 << 20, INT32_MAX, INT32_MIN,
        INT64_MAX, INT64_MIN, 1 << 28, INT64_C(1) << 32, INT64_C(1) << 61, -8, 16,
    };
    switch (below(r, 4)) {
    case 0:
        return (int64_t)((uint64_t)old + (uint64_t)(below(r, 2) * 2 - 1));
    case 1:
        return old ^ (int64_t)((uint64_t)1 << below(r, 64));
    default:
        return odd[below(r, (int64_t)(sizeof odd / sizeof *odd))];
    }
}

double hostile_double(rng *r)
{
    const double odd[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 1e308, -1e308,
                          5e-324,      -5e-324,          1e-308,            0.0,   -0.0,
                          1e160,       1e-160,           4503599627370497.5, -745.0, 709.78};
    if (chance(r, 10))
        return value_of((int64_t)draw(r));
    return odd[below(r, (int64_t)(sizeof odd / sizeof *odd))];
}

/* An op of the table: one that the step can run. An instrument's response instead of a law is
 * rare, and so is a blurred line, because those without a closed form are slow. */
static int random_op(rng *r, int step)
{
    static const int kinds[] = {[PYSPEC_STEP_CONVOLVE] = KIND_KERNEL,
                                [PYSPEC_STEP_PROFILE] = KIND_PROFILE};
    const int law = chance(r, 10) ? KIND_RESPONSE : KIND_DYNAMICS;
    for (;;) {
        int op = (int)below(r, N_OPS);
        const op_row *row = &pyspec_op_table[op];
        if (row->kind == KIND_RESOLVED && !chance(r, 5))
            continue;
        const int is_shape = row->domain == DOMAIN_ENERGY ? row->kind != KIND_RESOLUTION
                                                          : row->kind == law && chance(r, 10);
        if (step == PYSPEC_STEP_COMPONENT ? is_shape : row->kind == (step ? kinds[step] : law))
            return op;
    }
}

/* What a node may read: the rows below `plain`, and the first `blocks` blocks. */
typedef struct known {
    int plain, blocks;
} known;

static int random_row(rng *r, const plan_builder *b, known k)
{
    if (k.blocks && chance(r, 40))
        return (int)(b->head.samples + below(r, k.blocks) * b->head.n_aux);
    return (int)below(r, k.plain);
}

/* A row that is the same for all rows of the axis. */
static int random_still_row(rng *r, const plan_builder *b, known k)
{
    int row = random_row(r, b, k);
    for (int tries = 0; row_moves(b, row); tries++)
        row = tries < 8 ? random_row(r, b, k) : (int)below(r, b->head.n_theta + b->head.n_fixed);
    return row;
}

/* Whether the parameters of a component from `first` on are the same for all rows. */
static int stands_still(const plan_builder *b, const pyspec_node *node, int first)
{
    for (int k = first; k < node->n_params; k++)
        if (b->words[node->params + k] >= 0 && row_moves(b, b->words[node->params + k]))
            return 0;
    return 1;
}

/* Which parameters of a function may differ from row to row of the axis. */
typedef enum may_move { ANY_MOVES, NONE_MOVES, HEIGHT_MOVES } may_move;

static void random_rows(rng *r, const plan_builder *b, int *rows, int n, int n_required, known k,
                        may_move what)
{
    for (int i = 0; i < n; i++)
        rows[i] = i >= n_required && chance(r, 50)                        ? -1
                  : what == ANY_MOVES || (what == HEIGHT_MOVES && i == 0) ? random_row(r, b, k)
                                                                          : random_still_row(r, b, k);
}

/* A node that calls a formula. Its label says whether the first parameter is a height. */
static pyspec_node *random_formula_call(rng *r, plan_builder *b, int step, int flags, int target,
                                        known k, may_move what)
{
    int64_t program[MOST_FORMULA_WORDS];
    int rows[MAX_PARAMS];
    const int height = step == PYSPEC_STEP_COMPONENT && chance(r, 60);
    const int n = height + (int)below(r, MOST_FORMULA_PARAMS);
    random_rows(r, b, rows, n, n, k, what == HEIGHT_MOVES && !height ? NONE_MOVES : what);
    const int64_t known_inputs = step == PYSPEC_STEP_LAW       ? b->head.n_row_inputs
                                 : step == PYSPEC_STEP_PROFILE ? b->head.n_aux_inputs
                                                               : b->head.n_x_inputs;
    const int n_inputs = known_inputs ? (int)below(r, MOST_FORMULA_INPUTS + 1) : 0;
    const int n_code = (int)random_formula(r, program, n, n_inputs, height);
    pyspec_node *node = add_formula(b, step, flags, target, n, rows, n_code, program);
    node->inputs = b->head.n_words;
    for (int i = 0; i < n_inputs; i++)
        add_word(b, below(r, known_inputs));
    node->label = height;
    return node;
}

/* A kernel that is a formula. */
static pyspec_node *random_kernel_call(rng *r, plan_builder *b, int target, known k)
{
    int64_t words[MOST_KERNEL_WORDS];
    int rows[MAX_PARAMS];
    const int n = 1 + (int)below(r, 2);
    random_rows(r, b, rows, n, n, k, NONE_MOVES);
    const int n_code = (int)random_kernel(r, words, n);
    return add_formula(b, PYSPEC_STEP_CONVOLVE, 0, target, n, rows, n_code, words);
}

/* A law that is the population of a state of a kinetic scheme. */
static pyspec_node *random_scheme_call(rng *r, plan_builder *b, int flags, int target, known k)
{
    int64_t program[MOST_SCHEME_WORDS];
    int rows[MAX_PARAMS];
    const int n_rates = (int)below(r, MOST_SCHEME_RATES + 1), under = chance(r, 30);
    const int n = 2 + n_rates + under;
    random_rows(r, b, rows, n, n, k, NONE_MOVES);
    const int n_code = (int)random_scheme(r, program, n_rates, under);
    pyspec_node *node =
        add_formula(b, PYSPEC_STEP_LAW, flags, target, n, rows, n_code, program);
    node->op = PYSPEC_OP_SCHEME;
    return node;
}

/* A node that calls a function with random rows; one that may be left out often is. */
static pyspec_node *random_call(rng *r, plan_builder *b, int step, int flags, int target, known k,
                                may_move what)
{
    int rows[MAX_PARAMS], n_required, op = random_op(r, step);
    int n = pyspec_count_params(&pyspec_op_table[op], &n_required);
    if (step == PYSPEC_STEP_LAW && chance(r, 10))
        return random_scheme_call(r, b, flags, target, k);
    if (step == PYSPEC_STEP_CONVOLVE && chance(r, 10))
        return random_kernel_call(r, b, target, k);
    if (step != PYSPEC_STEP_CONVOLVE && chance(r, 10))
        return random_formula_call(r, b, step, flags, target, k, what);
    if (what == HEIGHT_MOVES && !pyspec_has_height(&pyspec_op_table[op]))
        what = NONE_MOVES;
    random_rows(r, b, rows, n, n_required, k, what);
    pyspec_node *node = add_call(b, step, op, flags, target, n, rows);
    if (n && chance(r, step == PYSPEC_STEP_CONVOLVE ? 2 : 20)) {
        node->n_guards = (int32_t)below(r, 4);
        node->guards = b->head.n_words;
        for (int i = 0; i < node->n_guards; i++) {
            add_word(b, below(r, n));
            add_word(b, below(r, 4));
            add_word(b, below(r, n + 1) - 1);
            add_word(b, bits_of(chance(r, 70) ? 0.5 : hostile_double(r)));
        }
    }
    return node;
}

static void random_law_group(rng *r, plan_builder *b, int target)
{
    const int64_t n = 1 + below(r, 3);
    const known k = {target, 0};
    for (int64_t i = 0; i < n; i++) {
        int flags = i == 0 || chance(r, 10) ? PYSPEC_FLAG_STORE : 0;
        pyspec_node *law = random_call(r, b, PYSPEC_STEP_LAW, flags, target, k, NONE_MOVES);
        law->axis = (int32_t)below(r, b->head.n_axes + 1);
        law->mask = (int32_t)below(r, b->head.n_masks + 1) - 1;
        if (chance(r, 25))
            random_call(r, b, PYSPEC_STEP_CONVOLVE, 0, target, k, NONE_MOVES);
    }
    add_step(b, PYSPEC_STEP_BASE, 0, (int)below(r, target), target);
}

static void random_profile_group(rng *r, plan_builder *b, int target, known k)
{
    const known plain = {k.plain, 0};
    random_call(r, b, PYSPEC_STEP_PROFILE, PYSPEC_FLAG_STORE, target, plain, ANY_MOVES);
    if (chance(r, 40))
        random_call(r, b, PYSPEC_STEP_PROFILE, 0, target, plain, ANY_MOVES);
    add_step(b, PYSPEC_STEP_BASE, 0, random_row(r, b, k), target);
}

static void random_expression(rng *r, plan_builder *b, int target, known k)
{
    int64_t code[2 * 64];
    int n = 0, depth = 0, length = 1 + (int)below(r, 12);
    while (n < length || depth != 1) {
        int64_t instruction = n >= length ? RPN_ADD : below(r, N_RPN);
        int arity = pyspec_rpn_arity(instruction);
        if (arity > depth || depth + 1 - arity > 6)
            continue;
        code[2 * n] = instruction;
        code[2 * n + 1] = instruction == RPN_PARAM   ? random_row(r, b, k)
                          : instruction == RPN_CONST ? bits_of(0.25 * (double)below(r, 9) - 1.0)
                                                     : 0;
        depth += 1 - arity;
        n++;
    }
    add_expression(b, 0, target, n, code);
}

/* Plain rows and blocks in turn, each from what was resolved before it. */
static void random_resolution(rng *r, plan_builder *b, int n_inputs, int n_plain, int n_blocks)
{
    known k = {n_inputs, 0};
    while (k.plain < n_plain || k.blocks < n_blocks) {
        if (k.plain == n_plain || (k.blocks < n_blocks && chance(r, 50))) {
            int target = n_plain + k.blocks * (int)b->head.n_aux;
            if (chance(r, 70))
                random_profile_group(r, b, target, k);
            else
                random_expression(r, b, target, k);
            k.blocks++;
        } else {
            const known plain = {k.plain, 0};
            if (chance(r, 60))
                random_law_group(r, b, k.plain);
            else
                random_expression(r, b, k.plain, plain);
            if (chance(r, 10))
                random_call(r, b, PYSPEC_STEP_CONVOLVE, 0, k.plain, plain, NONE_MOVES);
            k.plain++;
        }
    }
}

/* A slot that some node has written, other than `except`; -1 if there is none. */
static int random_written(rng *r, const plan_builder *b, unsigned written, int except)
{
    int slot = (int)below(r, b->head.n_slots);
    for (int64_t k = 0; k < b->head.n_slots; k++, slot = (slot + 1) % (int)b->head.n_slots)
        if (written >> slot & 1 && slot != except)
            return slot;
    return -1;
}

/* What a component may be flagged as. `apart`: its height alone moves, and it is not repeated. */
static void random_flags(rng *r, const plan_builder *b, pyspec_node *node, int apart)
{
    const int by_formula = node->op == PYSPEC_OP_FORMULA;
    const int has_height =
        by_formula ? node->label != 0 : pyspec_has_height(&pyspec_op_table[node->op]);
    const int is_static = stands_still(b, node, 0);
    if (is_static && (apart || chance(r, 80)))
        node->flags |= PYSPEC_FLAG_STATIC;
    if (!apart && b->head.n_aux && chance(r, 5))
        node->repeat = (int32_t)b->head.n_aux;
    if (has_height && node->repeat == 1 && stands_still(b, node, 1) &&
        ((apart && !is_static) || chance(r, 50)))
        node->flags |= PYSPEC_FLAG_SHAPE;
}

static unsigned random_component(rng *r, plan_builder *b, unsigned written, known k, int apart)
{
    int target = (int)below(r, b->head.n_slots);
    int store = !(written >> target & 1) || chance(r, 15);
    int flags = store ? PYSPEC_FLAG_STORE : 0;
    int source = random_written(r, b, written, target);
    if (source >= 0 && chance(r, 20)) {
        add_step(b, PYSPEC_STEP_ADD, flags, source, target);
    } else if (!apart && b->head.n_spectra && chance(r, 25)) {
        add_step(b, PYSPEC_STEP_EXTERNAL, flags, (int)below(r, b->head.n_spectra), target);
    } else {
        const may_move what = apart ? HEIGHT_MOVES : chance(r, 40) ? NONE_MOVES : ANY_MOVES;
        pyspec_node *node =
            random_call(r, b, PYSPEC_STEP_COMPONENT, flags, target, k, what);
        if (op_is_fed(node->op))
            node->source = store || chance(r, 50) ? source : target;
        else
            random_flags(r, b, node, apart);
    }
    return written | 1u << target;
}

/* Whether what is fed passes on each shape that it reads. */
static int passes_shapes_on(const plan_builder *b)
{
    for (int64_t k = b->head.n_resolve; k < b->head.n_nodes; k++) {
        const pyspec_node *node = &b->nodes[k];
        if (node->step == PYSPEC_STEP_COMPONENT && op_is_fed(node->op) &&
            !pyspec_is_linear_in_spectrum(&pyspec_op_table[node->op]))
            return 0;
    }
    return 1;
}

/* Rows of theta depend on themselves, others on anything: what is missing counts as constant. */
static void random_dependencies(rng *r, plan_builder *b)
{
    const int64_t n_theta = b->head.n_theta, n_traces = b->head.n_traces;
    int64_t lists[MAX_TEST_WORDS];
    int64_t n = 0, all = chance(r, 70);
    b->head.depends = add_word(b, 0);
    for (int64_t row = 0; row < n_traces; row++) {
        for (int64_t k = 0; k < n_theta && n < MAX_TEST_WORDS / 4; k++)
            if (row < n_theta ? k == row : all || chance(r, 30))
                lists[n++] = k;
        add_word(b, n);
    }
    for (int64_t k = 0; k < n; k++)
        add_word(b, lists[k]);
}

/* Whether all that a row depends on is in the set. */
static int covers(const plan_builder *b, const char *chosen, int64_t row)
{
    const int64_t *ends = b->words + b->head.depends, *lists = ends + b->head.n_traces + 1;
    for (int64_t k = ends[row]; k < ends[row + 1]; k++)
        if (!chosen[lists[k]])
            return 0;
    return 1;
}

/* Adds to the set what a row needs: itself, unless it is in a block, or what it depends on. */
static void choose(rng *r, const plan_builder *b, char *chosen, int64_t row)
{
    const int64_t *ends = b->words + b->head.depends, *lists = ends + b->head.n_traces + 1;
    if (row < b->head.samples && (chosen[row] || chance(r, 60)))
        chosen[row] = 1;
    else if (!covers(b, chosen, row))
        for (int64_t k = ends[row]; k < ends[row + 1]; k++)
            chosen[lists[k]] = 1;
}

/* Columns of the plan's own in a random order: those that the components need, and some more. */
static void random_columns(rng *r, plan_builder *b)
{
    static char chosen[MAX_TEST_WORDS];
    static int rows[MAX_TEST_WORDS];
    int n = 0;
    for (int64_t row = 0; row < b->head.samples; row++)
        chosen[row] = (char)chance(r, 20);
    for (int64_t k = b->head.n_resolve; k < b->head.n_nodes; k++) {
        const pyspec_node *node = &b->nodes[k];
        for (int p = 0; node->step == PYSPEC_STEP_COMPONENT && p < node->n_params; p++) {
            const int64_t row = b->words[node->params + p];
            for (int64_t j = 0; row >= 0 && j < (row < b->head.samples ? 1 : b->head.n_aux); j++)
                choose(r, b, chosen, row + j);
        }
    }
    for (int row = 0; row < b->head.samples; row++)
        if (chosen[row])
            rows[n++] = row;
    for (int k = n - 1; k > 0; k--) {
        const int other = (int)below(r, k + 1), row = rows[k];
        rows[k] = rows[other];
        rows[other] = row;
    }
    add_columns(b, n, rows);
}

void random_plan(rng *r, plan_builder *b)
{
    int n_theta = (int)below(r, 7), n_fixed = (int)below(r, 4) + (n_theta == 0);
    int n_external = chance(r, 25) ? 1 + (int)below(r, 2) : 0, n_blocks = 0;
    int n_inputs = n_theta + n_fixed + n_external, n_plain = n_inputs + (int)below(r, 5);
    start(b, chance(r, 70) ? 2 : 1, n_theta, n_fixed, n_plain, 1 + (int)below(r, 4));
    b->head.n_external = n_external;
    b->head.n_spectra = chance(r, 25) ? 1 + below(r, 2) : 0;
    b->head.n_axes = below(r, 3);
    b->head.n_masks = below(r, 3);
    b->head.n_x_inputs = below(r, 4);
    b->head.n_row_inputs = below(r, 4);
    b->head.n_aux_inputs = below(r, 4);
    if (chance(r, 35)) {
        n_blocks = (int)below(r, 4);
        add_blocks(b, 1 + (int)below(r, chance(r, 5) ? 100 : 5), n_blocks);
    }
    random_resolution(r, b, n_inputs, n_plain, n_blocks);
    unsigned written = 0;
    const int apart = b->head.dimension == 2 && chance(r, 25);
    const known all = {n_plain, apart ? 0 : n_blocks};
    for (int64_t n = below(r, 8); n > 0; n--)
        written = random_component(r, b, written, all, apart);
    b->head.result = written ? random_written(r, b, written, -1) : 0;
    if (chance(r, 6))
        b->head.trace = below(r, n_plain);
    if (!chance(r, 70))
        return;
    if (chance(r, 70))
        add_dependencies(b);
    else
        random_dependencies(r, b);
    if (chance(r, 60))
        random_columns(r, b);
    if (apart && b->head.trace < 0 && b->head.n_nodes > b->head.n_resolve &&
        passes_shapes_on(b) && chance(r, 90))
        add_moving_heights(b);
}

/* Whether n items of a plan that may have been changed before lie about where it ends. */
static int may_hold(int64_t offset, int64_t n, int64_t size)
{
    return n > 0 && n <= size && offset >= 0 && offset <= size;
}

void mutate_plan(rng *r, pyspec_plan *plan, int64_t plan_size)
{
    char *memory = (char *)plan;
    int64_t value, at;
    if (chance(r, 4)) {
        plan->dimension = plan->dimension == 1 ? 2 : 1; /* 2 or 1: rarely hit otherwise */
        return;
    }
    switch (below(r, 4)) {
    case 0: /* the header, 64-bit fields only */
        at = below(r, (int64_t)(sizeof *plan / sizeof value)) * (int64_t)sizeof value;
        break;
    case 1: /* a word */
        if (!may_hold(plan->words, plan->n_words, plan_size))
            return;
        at = plan->words + below(r, plan->n_words) * (int64_t)sizeof value;
        break;
    default: { /* a node */
        if (!may_hold(plan->nodes, plan->n_nodes, plan_size))
            return;
        const layout_field *field = &node_fields[below(r, COUNT(node_fields))];
        at = plan->nodes + below(r, plan->n_nodes) * (int64_t)sizeof(pyspec_node) + field->offset;
        if (at > plan_size - (int64_t)sizeof value)
            return;
        if (field->kind == KIND_i32) {
            int32_t narrow;
            memcpy(&narrow, memory + at, sizeof narrow);
            narrow = (int32_t)(uint32_t)(uint64_t)odd_integer(r, narrow);
            memcpy(memory + at, &narrow, sizeof narrow);
            return;
        }
    }
    }
    if (at > plan_size - (int64_t)sizeof value)
        return;
    memcpy(&value, memory + at, sizeof value);
    value = odd_integer(r, value);
    memcpy(memory + at, &value, sizeof value);
}
