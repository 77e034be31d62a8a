/* still.c: columns of J that are the same in every row. They are partials of lines that do not move, and
 * the outputs of linear ops whose parameters do not move. They are taken from the first tile. Sums of two
 * of them are the same in every row. Sums with other columns need one vector of them in place of one for
 * each lane. In strips with constant parameters, rows are added up first. */
#include "separable/still.h"

static int64_t *column_counts(const run *r)
{
    return (int64_t *)(void *)r->prepared.counts;
}

int64_t pyspec_count_still(const run *r)
{
    return r->prepared.counts ? column_counts(r)[COUNT_STILL] : 0;
}

basis pyspec_moving_basis(const run *r, const basis *all)
{
    const int64_t n = pyspec_count_still(r);
    if (n == 0)
        return *all;
    return (basis){.n = all->n - n,
                   .n_scalar = column_counts(r)[COUNT_MOVING_SCALAR],
                   .rows = all->rows,
                   .of_row = (const int64_t *)(const void *)r->prepared.moving_of_row,
                   .among = (const int64_t *)(const void *)r->prepared.moving_list};
}

/* Products of still columns with those of the list. The first `scalar` columns of both belong to parameters that have
 * one value for all rows. The products of all rows of a tile add to one entry: the rows are added up first and
 * multiplied once. */
void pyspec_add_still(const run *r, const tile *t, const double **columns, const int64_t *list,
                      int64_t count, int64_t scalar, int64_t n, double *sums)
{
    const block_ops *ops = &pyspec_block_table[r->call->isa];
    const int64_t *counts = column_counts(r), n_still = counts[COUNT_STILL];
    const int64_t *still = (const int64_t *)(const void *)r->prepared.still_list;
    const int64_t order = r->sums.n + 1, n_scalar = scalar ? counts[COUNT_STILL_SCALAR] : n_still;
    for (int64_t s = 0; s < n_still; s++)
        columns[still[s]] = r->prepared.still_lines + s * line_stride(r->problem) + t->x0;
    ops->cross(sums, columns, still, n_still, list + scalar, count - scalar, order, n, 1);
    if (scalar == 0)
        return;
    ops->cross(sums, columns, still + n_scalar, n_still - n_scalar, list, scalar, order, n, 1);
    for (int64_t k = 0; n_scalar > 0 && k < scalar; k++) {
        double *line = r->work.folded + k * BLOCK;
        ops->fold(line, columns[list[k]], n);
        columns[list[k]] = line;
    }
    ops->cross(sums, columns, still, n_scalar, list, scalar, order, round_up(n, L) / L, 0);
}

/* ---- which they are ---------------------------------------------------------------------- */

/* Whether a problem is summed in a way that knows still columns. */
static int may_be_still(const run *r)
{
    const pyspec_plan *plan = r->plan;
    return r->slopes && r->prepared.counts && plan->trace < 0 && r->cut == plan->n_resolve &&
           !pyspec_is_weighted(r->problem);
}

static int is_scalar(const run *r, int64_t row)
{
    return row < 0 || r->prepared.place[row] == PLACE_SCALAR;
}

/* Whether what a spectrum-fed op makes of a still column is still. */
static int keeps_still(const run *r, const pyspec_node *node)
{
    int keeps = node->repeat == 1 && node->op >= 0 && !is_row_fed(node) &&
                pyspec_is_linear_in_spectrum(&pyspec_op_table[node->op]);
    for (int p = 0; p < node->n_params; p++)
        keeps &= is_scalar(r, r->words[node->params + p]);
    return keeps;
}

/* Whether the partial by parameter p is the same in every row. */
static int is_still(const run *r, const pyspec_node *node, int p)
{
    const int has_line = r->prepared.line_place[node - r->nodes - r->plan->n_resolve] >= 0;
    const int is_height = p == 0 && r->by.of_row[r->words[node->params]] >= 0;
    return has_line && node->repeat == 1 && (!(node->flags & PYSPEC_FLAG_SHAPE) || is_height);
}

/* Notes the columns that the partial by a trace row is added to. */
static void note_row(const run *r, const pyspec_node *node, int64_t row, int still, int64_t *moves)
{
    const int64_t own = r->by.of_row[row];
    int64_t count = 1;
    const int64_t *list = own >= 0 ? &row : depends(r, row, &count);
    for (int64_t c = 0; c < count; c++) {
        const int64_t k = r->by.of_row[list[c]];
        if (k < 0)
            continue;
        written_at(r, node->target)[k] = 1;
        moves[k] |= !still;
    }
}

static void note_component(const run *r, const pyspec_node *node, int64_t *moves)
{
    const int keeps = node->source >= 0 && keeps_still(r, node);
    for (int64_t k = 0; node->source >= 0 && k < r->by.n; k++) {
        if (!written_at(r, node->source)[k])
            continue;
        moves[k] |= !keeps;
        written_at(r, node->target)[k] = 1;
    }
    for (int p = 0; p < node->n_params; p++) {
        const int64_t row = r->words[node->params + p];
        const int64_t n = row >= r->plan->samples ? node->repeat : 1;
        for (int64_t aux = 0; row >= 0 && aux < n; aux++)
            note_row(r, node, row + aux, is_still(r, node, p), moves);
    }
}

/* moves[k]: whether column k differs from row to row. */
static void find_moving(const run *r, int64_t *moves)
{
    memset(moves, 0, (size_t)r->by.n * sizeof *moves);
    for (int64_t j = r->plan->n_resolve; j < r->plan->n_nodes; j++) {
        const pyspec_node *node = &r->nodes[j];
        unsigned char *to = written_at(r, node->target);
        if (node->flags & PYSPEC_FLAG_STORE)
            memset(to, 0, (size_t)r->by.n);
        for (int64_t k = 0; node->step == PYSPEC_STEP_ADD && k < r->by.n; k++)
            to[k] = to[k] || written_at(r, node->source)[k];
        if (node->step == PYSPEC_STEP_COMPONENT)
            note_component(r, node, moves);
    }
}

/* Lists both kinds of columns. `scalar` selects parameters that are the same in every row, or the
 * others. Moving columns get new numbers. Columns to which nothing is added count as moving. */
static void list_columns(const run *r, const int64_t *moves, int scalar, int64_t *n_moving,
                         int64_t *n_still)
{
    int64_t *of_row = (int64_t *)(void *)r->prepared.moving_of_row;
    int64_t *moving = (int64_t *)(void *)r->prepared.moving_list;
    int64_t *still = (int64_t *)(void *)r->prepared.still_list;
    const unsigned char *written = written_at(r, r->plan->result);
    for (int64_t k = 0; k < r->by.n; k++) {
        const int is_moving = moves[k] || !written[k];
        if (is_scalar(r, r->by.rows[k]) != scalar)
            continue;
        of_row[r->by.rows[k]] = is_moving ? *n_moving : NOWHERE;
        if (is_moving)
            moving[(*n_moving)++] = k;
        else
            still[(*n_still)++] = k;
    }
}

/* Both lists begin with the columns of parameters that are the same in every row. */
static void list_all_columns(const run *r, const int64_t *moves, int64_t *counts)
{
    int64_t n_moving = 0, n_still = 0;
    memcpy(r->prepared.moving_of_row, r->by.of_row,
           (size_t)r->plan->n_traces * sizeof *r->by.of_row);
    list_columns(r, moves, 1, &n_moving, &n_still);
    counts[COUNT_MOVING_SCALAR] = n_moving;
    counts[COUNT_STILL_SCALAR] = n_still;
    list_columns(r, moves, 0, &n_moving, &n_still);
    counts[COUNT_STILL] = n_still;
}

/* ---- what they are ----------------------------------------------------------------------- */

/* Adds a block of the first tile to the sums of its columns, and takes them from its first lane. */
static void take_block(const run *r, const tile *t, int64_t n, int64_t n_still)
{
    const double **columns = (const double **)(void *)r->work.pointers;
    const int64_t *list = (const int64_t *)(const void *)r->prepared.still_list;
    const int64_t stride = line_stride(r->problem);
    for (int64_t s = 0; s < n_still; s++) {
        const double *column = column_at(r, t, r->plan->result, list[s]);
        double *line = r->prepared.still_lines + s * stride + t->x0;
        columns[list[s]] = column;
        for (int64_t i = 0; i < n; i++)
            line[i] = column[i * L];
    }
    pyspec_block_table[r->call->isa].gram(r->work.triangle, columns, list, n_still, r->by.n + 1, n);
}

/* Walks the first tile with all columns. */
static void take_columns(run *r, int64_t n_still)
{
    const pyspec_problem *q = r->problem;
    const int64_t size = triangle_size(r->by.n + 1);
    tile t;
    pyspec_begin_strips(r);
    const strip s = pyspec_strip_of(q->row_begin / L * L, q->row_end);
    pyspec_load_strip(r, &s);
    pyspec_set_tile(&s, &t, 0, 0);
    pyspec_begin_tile(r, &t);
    fill(r->work.triangle, 0.0, size * L);
    fill(r->prepared.still_lines, 0.0, n_still * line_stride(q));
    for (int64_t k = pyspec_tile_block(r, &t, 0, r->x_end) - 1; k >= 0; k--) {
        pyspec_tile_block(r, &t, k, r->x_end);
        pyspec_walk_block(r, &t);
        const int64_t n = count_in_window(r, &t);
        if (n > 0)
            take_block(r, &t, n, n_still);
    }
    for (int64_t k = 0; k < size; k++)
        r->prepared.still_sums[k] = r->work.triangle[k * L];
}

void pyspec_prepare_still(run *r)
{
    int64_t *moves = (int64_t *)(void *)r->work.list, counts[N_COLUMN_COUNTS];
    if (!may_be_still(r))
        return;
    r->by = all_columns(r);
    find_moving(r, moves);
    list_all_columns(r, moves, counts);
    if (counts[COUNT_STILL] > 0)
        take_columns(r, counts[COUNT_STILL]);
    memcpy(r->prepared.counts, counts, sizeof counts);
}
