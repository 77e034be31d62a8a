/* still.c: columns of J that are the same in every row: partials of lines that do not move, and what
 * linear ops with parameters that do not move make of them. They are taken from the first tile; sums of
 * two of them are the same in every row, and those with other columns need one vector of them in place
 * of one for each lane. Sums have the bits that they have without. */
#include "still.h"

static int64_t *still_count(const run *r)
{
    return (int64_t *)(void *)r->prepared.n_still;
}

int64_t pyspec_count_still(const run *r)
{
    return r->prepared.n_still && !r->shared ? *still_count(r) : 0;
}

still_columns pyspec_still_columns(const run *r)
{
    return (still_columns){.n = pyspec_count_still(r),
                           .list = (const int64_t *)(const void *)r->prepared.still_list,
                           .lines = r->prepared.still_lines,
                           .stride = round_up(r->problem->n_x, L)};
}

basis pyspec_moving_basis(const run *r, const basis *all)
{
    const int64_t n = pyspec_count_still(r);
    if (n == 0)
        return *all;
    return (basis){.n = all->n - n,
                   .rows = all->rows,
                   .of_row = (const int64_t *)(const void *)r->prepared.moving_of_row,
                   .among = (const int64_t *)(const void *)r->prepared.moving_list};
}

/* ---- which they are ---------------------------------------------------------------------- */

/* Whether a problem is summed in a way that knows still columns. */
static int may_be_still(const run *r)
{
    const pyspec_plan *plan = r->plan;
    return r->slopes && r->prepared.n_still && plan->separable < 0 && plan->trace < 0 &&
           plan->dimension == 2 && r->cut == plan->n_resolve && !pyspec_is_weighted(r->problem);
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

/* Numbers the moving columns anew, among them any to which nothing is added, and lists both kinds; returns
 * how many are still. */
static int64_t list_columns(const run *r, const int64_t *moves)
{
    int64_t *of_row = (int64_t *)(void *)r->prepared.moving_of_row;
    int64_t *moving = (int64_t *)(void *)r->prepared.moving_list, n_moving = 0;
    int64_t *still = (int64_t *)(void *)r->prepared.still_list, n_still = 0;
    const unsigned char *written = written_at(r, r->plan->result);
    memcpy(of_row, r->by.of_row, (size_t)r->plan->n_traces * sizeof *of_row);
    for (int64_t k = 0; k < r->by.n; k++) {
        const int is_moving = moves[k] || !written[k];
        of_row[r->by.rows[k]] = is_moving ? n_moving : NOWHERE;
        if (is_moving)
            moving[n_moving++] = k;
        else
            still[n_still++] = k;
    }
    return n_still;
}

/* ---- what they are ----------------------------------------------------------------------- */

/* Adds a block of the first tile to the sums of its columns, and takes them from its first lane. */
static void take_block(const run *r, const tile *t, int64_t n, int64_t n_still)
{
    const double **columns = (const double **)(void *)r->work.pointers;
    const int64_t *list = (const int64_t *)(const void *)r->prepared.still_list;
    const int64_t stride = round_up(r->problem->n_x, L);
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
    segment own;
    tile t;
    pyspec_begin_strips(r);
    const strip s = pyspec_strip_of(r, &own, q->row_begin / L * L, q->row_end);
    pyspec_load_strip(r, &s);
    pyspec_set_tile(&s, &t, 0, 0);
    pyspec_begin_tile(r, &t);
    fill(r->work.triangle, 0.0, size * L);
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
    int64_t *moves = (int64_t *)(void *)r->work.list;
    if (!may_be_still(r))
        return;
    r->by = all_columns(r);
    find_moving(r, moves);
    const int64_t n_still = list_columns(r, moves);
    if (n_still > 0)
        take_columns(r, n_still);
    *still_count(r) = n_still;
}
