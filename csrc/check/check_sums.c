/* check_sums.c: verifies the part of a plan that describes derivatives. It checks the dependencies
 * of each trace and the columns in which J^T J is summed. It also checks whether spectra are shapes
 * times traces. */
#include "check/check.h"

#include <string.h>

/* Rows of a hostile plan are many, and so are the nodes that read them: sets keep a check from looking at
 * each row for each node. */
static void make_empty(row_set *set, const pyspec_plan *p)
{
    memset(set->bits, 0, (size_t)(p->n_traces / 64 + 1) * sizeof *set->bits);
}

static int contains(const row_set *set, int64_t row)
{
    return (int)(set->bits[row / 64] >> (row % 64) & 1u);
}

static void include(row_set *set, int64_t row)
{
    set->bits[row / 64] |= (uint64_t)1 << (row % 64);
}

/* For each trace row the parameters of theta that it depends on, rising. The words that list them
 * must lie in the plan. The rows of theta depend on themselves. */
int pyspec_check_depends(const checker *c)
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

/* A trace row is a column of its own, or all rows that it depends on are columns. The same holds for each
 * row of a block that begins with it. */
static int has_columns(const checker *c, int64_t first)
{
    const pyspec_plan *p = c->plan;
    const int64_t *words = plan_words(p), *ends = words + p->depends;
    const int64_t *of_row = words + p->columns + 1 + words[p->columns];
    const int64_t *list = ends + p->n_traces + 1;
    const int64_t end = first + (first < p->samples ? 1 : p->n_aux);
    for (int64_t row = first; row < end; row++)
        for (int64_t k = ends[row]; of_row[row] < 0 && k < ends[row + 1]; k++)
            if (of_row[list[k]] < 0)
                return 0;
    return 1;
}

/* The columns of the plan's own: distinct trace rows outside of blocks, and every parameter of a
 * component finds its own. */
int pyspec_check_columns(checker *c)
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
    row_set known;
    make_empty(&known, p);
    for (int64_t row = 0; row < p->n_traces; row++)
        REQUIRE(of_row[row] == -1 || (in_range(of_row[row], 0, n) && rows[of_row[row]] == row), ROW,
                pyspec_plan, columns, of_row[row]);
    for (c->index = p->n_resolve; c->index < p->n_nodes; c->index++) {
        c->node = &plan_nodes(p)[c->index];
        for (int k = 0; c->node->step == PYSPEC_STEP_COMPONENT && k < c->node->n_params; k++) {
            const int64_t row = words[c->node->params + k];
            if (row < 0 || contains(&known, row))
                continue;
            REQUIRE(has_columns(c, row), ROW, pyspec_node, params, row);
            include(&known, row);
        }
    }
    return STATUS_OK;
}

/* A component of a separable plan is constant except for its height. Or it passes on each shape
 * that it reads, and its parameters are constant. */
static int check_apart(const checker *c, const row_set *moving)
{
    const pyspec_node *node = c->node;
    if (node->step == PYSPEC_STEP_ADD)
        return STATUS_OK;
    REQUIRE_NODE(node->step == PYSPEC_STEP_COMPONENT, STEP, step);
    const int64_t *params = plan_words(c->plan) + node->params; /* other steps may say anything */
    REQUIRE_NODE(node->repeat == 1, SIZE, repeat);
    if (op_is_fed(node->op)) {
        REQUIRE_NODE(pyspec_is_linear_in_spectrum(&pyspec_op_table[node->op]), OP, op);
        for (int k = 0; k < node->n_params; k++)
            REQUIRE(params[k] < 0 || pyspec_stage_of(c, params[k]) == PYSPEC_STAGE_PROBLEM, STAGE,
                    pyspec_node, params, params[k]);
        return STATUS_OK;
    }
    REQUIRE_NODE(node->flags & (PYSPEC_FLAG_STATIC | PYSPEC_FLAG_SHAPE), STAGE, flags);
    REQUIRE_NODE(!(node->flags & PYSPEC_FLAG_SHAPE) || contains(moving, params[0]), ROW, params);
    return STATUS_OK;
}

/* Shapes and functions of time, which memory is counted by the squares of. */
static int check_shape_counts(const checker *c)
{
    const pyspec_plan *p = c->plan;
    const int64_t *words = plan_words(p), *moving = words + p->separable;
    const int64_t n_traces = 1 + moving[0];
    int64_t n_times = n_traces, n_shapes = n_traces;
    REQUIRE(n_traces <= MAX_COUNT, SIZE, pyspec_plan, separable, moving[0]);
    for (int64_t k = 1; k < n_traces; k++) {
        n_times += count_row_slopes(p, moving[k]);
        REQUIRE(n_times <= MAX_COUNT, SIZE, pyspec_plan, separable, n_times);
    }
    for (int64_t k = p->n_resolve; k < p->n_nodes; k++) {
        const pyspec_node *node = &plan_nodes(p)[k];
        for (int i = 0; node->step == PYSPEC_STEP_COMPONENT && i < node->n_params; i++) {
            const int64_t row = words[node->params + i];
            n_shapes += row < 0 ? 0 : count_row_slopes(p, row) * (op_is_fed(node->op) ? n_traces : 1);
            REQUIRE(n_shapes <= MAX_COUNT, SIZE, pyspec_plan, separable, n_shapes);
        }
    }
    return STATUS_OK;
}

/* The rows of a separable plan that move; every component is one of them times a shape. */
int pyspec_check_separable(checker *c)
{
    const pyspec_plan *p = c->plan;
    int status = STATUS_OK;
    c->index = -1;
    REQUIRE_PLAN(in_range(p->separable, -1, p->n_words), OFFSET, separable);
    if (p->separable < 0)
        return STATUS_OK;
    const int64_t *words = plan_words(p) + p->separable;
    REQUIRE_PLAN(p->depends >= 0 && p->dimension == 2 && p->trace < 0, SIZE, separable);
    REQUIRE_PLAN(p->n_nodes > p->n_resolve, SIZE, separable);
    REQUIRE(in_range(words[0], 0, p->n_words - p->separable), SIZE, pyspec_plan, separable,
            words[0]);
    row_set moving;
    make_empty(&moving, p);
    for (int64_t k = 1; k <= words[0]; k++) {
        REQUIRE(in_range(words[k], 0, p->samples), ROW, pyspec_plan, separable, words[k]);
        include(&moving, words[k]);
    }
    for (c->index = p->n_resolve; !status && c->index < p->n_nodes; c->index++) {
        c->node = &plan_nodes(p)[c->index];
        status = check_apart(c, &moving);
    }
    c->index = -1;
    return status ? status : check_shape_counts(c);
}
