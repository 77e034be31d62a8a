/* walk.c: the dispatch loop over the nodes that build spectra. A tile is PYSPEC_LANES rows. Its
 * energies are walked in blocks from high to low index: each Shirley carries one running sum per
 * lane. A run may ask for derivatives: columns beside the value, which is computed in the same way
 * without them.
 *
 * A column gets a component's partials times the derivatives of its parameters. A spectrum-fed op
 * runs once more on every column of its input: most are linear in it, and one that reads a whole row
 * gives its derivative at that spectrum. Columns that nothing was
 * written to are zero and are never touched. */
#include "walk/columns.h"

static int64_t index_of(const run *r, const pyspec_node *node)
{
    return node - r->nodes - r->plan->n_resolve;
}

/* What an op carries from block to block, for its value and for column k of what it reads. */
static double *carry_at(const run *r, const pyspec_node *node)
{
    return r->work.carry + index_of(r, node) * MAX_SCRATCH * L;
}

static double *column_carry_at(const run *r, const pyspec_node *node, int64_t k)
{
    return r->work.carries + (index_of(r, node) * r->by.n + k) * MAX_SCRATCH * L;
}

/* The first line of a component, or NULL where it is computed for every row. */
static double *lines_of(const run *r, const pyspec_node *node)
{
    const int64_t place = r->prepared.line_place[index_of(r, node)];
    return place < 0 ? NULL : r->prepared.lines + place * line_stride(r->problem);
}

/* A spectrum that nothing was added to. */
static const double *zeros_of(const run *r)
{
    return r->buffer > BLOCK * L ? r->work.zeros : pyspec_zeros;
}

static double weight_of(const run *r, const pyspec_node *node, int64_t aux)
{
    return node->repeat > 1 ? r->problem->aux_weight[aux] : 1.0;
}

/* ---- components that read spectra ---------------------------------------------------------- */

/* Applies an op that reads whole rows to a column, at the spectrum that it reads. The result goes
 * to the value's work memory. Such an op need not be linear. */
static void run_change(const run *r, const pyspec_node *node, const tile *t, const double *params,
                       const double *column)
{
    double *image = r->work.value;
    pyspec_block b = t->block;
    b.spectrum = slot_at(r, t, node->source);
    b.n_more = 1;
    b.more = &column;
    b.images = &image;
    pyspec_run_kernel(r, node, &b, params, r->work.sample, NULL);
}

/* Whether an op adds what it makes of a spectrum to that spectrum itself, in one sweep. */
static int adds_in_place(const pyspec_node *node)
{
    return node->op >= 0 && pyspec_op_table[node->op].kind == KIND_SPECTRUM_FED &&
           node->repeat == 1 && node->source == node->target && !(node->flags & PYSPEC_FLAG_STORE);
}

/* Derivatives through the spectrum that an op reads, at one of several auxiliary points, into the
 * columns `fed`. Every point starts from the sums of the block before, `first`. */
static void run_fed(const run *r, const pyspec_node *node, const tile *t, double weight,
                    const double *params, unsigned bad)
{
    const block_ops *ops = &pyspec_block_table[r->call->isa];
    const unsigned char *written = written_at(r, node->source);
    pyspec_block b = t->block;
    for (int64_t k = 0; k < r->by.n; k++) {
        double factor[L];
        if (!written[k])
            continue;
        b.carry = column_carry_at(r, node, k);
        b.spectrum = column_at(r, t, node->source, k);
        memcpy(b.carry, r->work.first + k * MAX_SCRATCH * L, MAX_SCRATCH * L * sizeof(double));
        if (is_row_fed(node))
            run_change(r, node, t, params, b.spectrum);
        else
            pyspec_run_kernel(r, node, &b, params, r->work.value, NULL);
        pyspec_poison(r->work.value, b.n, bad);
        fill(factor, weight, L);
        ops->scale(r->work.fed + k * r->buffer, r->work.value, factor, b.n, t->aux == 0);
    }
}

/* The same at all of them, before any column is added to: the op's target may be what it reads.
 * `reads` says which columns are not zero. */
static void run_all_fed(const run *r, const pyspec_node *node, const tile *t, unsigned char *reads)
{
    double params[MAX_PARAMS * L];
    tile at = *t;
    memcpy(reads, written_at(r, node->source), (size_t)r->by.n);
    memcpy(r->work.first, column_carry_at(r, node, 0),
           (size_t)r->by.n * MAX_SCRATCH * L * sizeof(double));
    for (at.aux = 0; at.aux < node->repeat; at.aux++) {
        pyspec_gather(r, node, &at, params);
        run_fed(r, node, &at, weight_of(r, node, at.aux), params, pyspec_outside(r, node, params));
    }
}

/* Adds the columns `fed` to those of the target. */
static void add_fed(const run *r, const pyspec_node *node, const tile *t,
                    const unsigned char *reads)
{
    unsigned char *written = written_at(r, node->target);
    for (int64_t k = 0; k < r->by.n; k++) {
        if (!reads[k])
            continue;
        pyspec_block_table[r->call->isa].add(column_at(r, t, node->target, k),
                                             r->work.fed + k * r->buffer, t->block.n,
                                             !written[k]);
        written[k] = 1;
    }
}

static void add_columns(const run *r, const pyspec_node *node, const tile *t)
{
    const unsigned char *from = written_at(r, node->source);
    unsigned char *to = written_at(r, node->target);
    for (int64_t k = 0; k < r->by.n; k++) {
        if (!from[k])
            continue;
        pyspec_block_table[r->call->isa].add(column_at(r, t, node->target, k),
                                             column_at(r, t, node->source, k), t->block.n,
                                             !to[k]);
        to[k] = 1;
    }
}

/* ---- components -------------------------------------------------------------------------- */

/* Whether the registers of a formula still hold the rows of this tile, from its last block; from now
 * on they do. */
static int take_registers(const run *r, const pyspec_node *node)
{
    const double own = (double)index_of(r, node) + 1.0;
    const int again = *r->work.ready == own && node->repeat == 1;
    if (node->op == PYSPEC_OP_FORMULA)
        *r->work.ready = own;
    return again;
}

/* A component at one auxiliary point: its value, and its partials on their way to the columns. */
static void run_point(const run *r, const pyspec_node *node, const tile *t, const pyspec_block *b,
                      double *value)
{
    double params[MAX_PARAMS * L], *partials[MAX_PARAMS], *direct[MAX_PARAMS];
    pyspec_gather(r, node, t, params);
    const unsigned bad = pyspec_outside(r, node, params);
    pyspec_block own = *b;
    own.again = take_registers(r, node);
    if (r->by.n == 0) {
        pyspec_run_kernel(r, node, &own, params, value, NULL);
        pyspec_poison(value, b->n, bad);
        return;
    }
    for (int p = 0; p < node->n_params; p++) {
        direct[p] = direct_column(r, node, t, p);
        partials[p] = direct[p] ? direct[p] : r->work.partials + p * r->buffer;
        own.unread |= read_row(r, node, p, t) < 0 ? 1u << p : 0u;
    }
    pyspec_run_kernel(r, node, &own, params, value, partials);
    pyspec_poison(value, b->n, bad);
    for (int64_t k = 0; k < b->n_more; k++)
        pyspec_poison(b->images[k], b->n, bad);
    for (int p = 0; p < node->n_params; p++) {
        pyspec_poison(partials[p], b->n, bad);
        if (direct[p])
            mark_written(r, node, p);
    }
    for (int p = 0; p < node->n_params; p++)
        if (!direct[p])
            spread_partial(r, node, p, t, partials[p], weight_of(r, node, t->aux));
}

/* The columns of what an op reads, at its only auxiliary point: it is applied to them in the same
 * sweep as to the spectrum. Where that is the op's target, each is its own image. */
static void give_columns(const run *r, const pyspec_node *node, const tile *t,
                         unsigned char *reads, pyspec_block *b)
{
    const int64_t most = r->by.n + 1;
    const double **more = (const double **)(void *)r->work.pointers;
    double **images = (double **)(void *)(r->work.pointers + most);
    double **carries = (double **)(void *)(r->work.pointers + 2 * most);
    memcpy(reads, written_at(r, node->source), (size_t)r->by.n);
    for (int64_t k = 0; k < r->by.n; k++) {
        if (!reads[k])
            continue;
        double *column = column_at(r, t, node->source, k);
        more[b->n_more] = column;
        carries[b->n_more] = column_carry_at(r, node, k);
        images[b->n_more++] = b->adds ? column : r->work.fed + k * r->buffer;
    }
    b->more = more;
    b->images = images;
    b->carries = carries;
}

/* A component over a block: the weighted mean over the auxiliary points, where it has any. */
static void run_component(const run *r, const pyspec_node *node, const tile *t, double *value)
{
    const int fed = r->by.n > 0 && node->source >= 0;
    double carried[MAX_SCRATCH * L], factor[L];
    unsigned char *reads = (unsigned char *)r->work.reads;
    tile at = *t;
    pyspec_block b = t->block;
    b.carry = carry_at(r, node);
    b.spectrum = node->source >= 0 ? slot_at(r, t, node->source) : zeros_of(r);
    b.adds = adds_in_place(node);
    if (fed && node->repeat == 1)
        give_columns(r, node, t, reads, &b);
    else if (fed)
        run_all_fed(r, node, t, reads);
    if (node->repeat > 1)
        memcpy(carried, b.carry, sizeof carried);
    for (at.aux = 0; at.aux < node->repeat; at.aux++) {
        if (at.aux > 0)
            memcpy(b.carry, carried, sizeof carried);
        run_point(r, node, &at, &b, node->repeat > 1 ? r->work.sample : value);
        fill(factor, weight_of(r, node, at.aux), L);
        if (node->repeat > 1)
            pyspec_block_table[r->call->isa].scale(value, r->work.sample, factor, b.n, at.aux == 0);
    }
    if (fed && !b.adds)
        add_fed(r, node, t, reads);
}

/* A component whose shape does not move: its lines along the energies, times its height where that
 * moves, added to the target and to the columns. */
static void run_lines(const run *r, const pyspec_node *node, const tile *t, const double *lines)
{
    const block_ops *ops = &pyspec_block_table[r->call->isa];
    const int64_t n = t->block.n, stride = line_stride(r->problem);
    const int moves = (node->flags & PYSPEC_FLAG_SHAPE) != 0;
    const int64_t *joins = r->prepared.line_joins + index_of(r, node);
    const int store = (node->flags & PYSPEC_FLAG_STORE) ||
                      (index_of(r, node) > 0 && joins[-1] == LINE_BEGINS);
    const int n_slopes = r->by.n > 0 && !is_constant(r->plan, node) ? node->n_params : 0;
    double params[MAX_PARAMS * L], *partial = r->work.partials;
    lines += t->x0;
    if (moves) {
        pyspec_gather(r, node, t, params);
        ops->spread_scaled(slot_at(r, t, node->target), lines, params, n, store);
    } else if (joins[0] == LINE_STAYS && t->across) {
        ops->add(slot_at(r, t, node->target), lines, n, store);
    } else if (joins[0] == LINE_STAYS) {
        ops->spread(slot_at(r, t, node->target), lines, n, store);
    }
    for (int p = 0; p < n_slopes; p++) {
        const double *line = lines + (p + 1) * stride;
        double *direct = direct_column(r, node, t, p), *to = direct ? direct : partial;
        if (read_row(r, node, p, t) < 0)
            continue;
        if (moves && p > 0)
            ops->spread_scaled(to, line, params, n, 1);
        else
            ops->spread(to, line, n, 1);
        if (direct)
            mark_written(r, node, p);
        else
            spread_partial(r, node, p, t, to, 1.0);
    }
}

/* ---- blocks and tiles -------------------------------------------------------------------- */

static void run_node(const run *r, const pyspec_node *node, const tile *t)
{
    const block_ops *ops = &pyspec_block_table[r->call->isa];
    const int64_t n = t->block.n;
    const int store = node->flags & PYSPEC_FLAG_STORE;
    double *target = slot_at(r, t, node->target);
    if (store && r->by.n > 0)
        memset(written_at(r, node->target), 0, (size_t)r->by.n);
    if (node->step == PYSPEC_STEP_ADD) {
        ops->add(target, slot_at(r, t, node->source), n, store);
        if (r->by.n > 0)
            add_columns(r, node, t);
        return;
    }
    const double *lines = node->step == PYSPEC_STEP_COMPONENT ? lines_of(r, node) : NULL;
    if (lines) {
        run_lines(r, node, t, lines);
        return;
    }
    const int adds = store || (node->step == PYSPEC_STEP_COMPONENT && adds_in_place(node));
    double *value = adds ? target : r->work.value;
    if (node->step == PYSPEC_STEP_EXTERNAL) /* what comes from outside is constant */
        pyspec_load_external(r, node, t, value);
    else
        run_component(r, node, t, value);
    if (!adds)
        ops->add(target, value, n, 0);
}

static int has_cuts(const run *r)
{
    return r->cut > r->plan->n_resolve;
}

/* Nodes over the block at hand. Which columns are zero is known anew in every block; behind a cut it
 * begins as the cut left it. */
static void walk_nodes(const run *r, const tile *t, int64_t begin, int64_t end)
{
    if (has_cuts(r) && r->by.n > 0)
        memcpy(r->work.written, r->work.kept, (size_t)(r->plan->n_slots * r->by.n));
    for (int64_t k = begin; k < end; k++)
        run_node(r, &r->nodes[k], t);
}

void pyspec_walk_block(const run *r, const tile *t)
{
    walk_nodes(r, t, r->cut, r->plan->n_nodes);
}

/* The k-th block of `size` vectors between two abscissae; returns how many blocks there are.
 * Energies are padded where the lanes are abscissae. */
static int64_t set_block(const run *r, tile *t, int64_t k, int64_t size, int64_t x_begin,
                         int64_t x_end)
{
    const int64_t step = t->across ? size * L : size;
    int64_t n = x_end - (x_begin + k * step);
    n = n < step ? n : step;
    t->x0 = x_begin + k * step;
    t->offset = has_cuts(r) ? t->x0 * (t->across ? 1 : L) : 0;
    t->block = (pyspec_block){.n = n, .n_valid = n, .across = t->across, .first = t->x0};
    t->block.x = r->problem->x + t->x0;
    t->block.shares = r->problem->shares ? r->problem->shares + 2 * t->x0 : NULL;
    if (t->across) {
        load_abscissae(r->work.x, r->problem->x + t->x0, n);
        t->block.x = r->work.x;
        t->block.n = round_up(n, L) / L;
    }
    return (x_end - x_begin - 1) / step + 1;
}

/* The k-th block of what a tile is asked for. */
int64_t pyspec_tile_block(const run *r, tile *t, int64_t k, int64_t x_end)
{
    return set_block(r, t, k, BLOCK, r->problem->x_begin, x_end);
}

static void keep_written(const run *r)
{
    if (r->by.n > 0)
        memcpy(r->work.kept, r->work.written, (size_t)(r->plan->n_slots * r->by.n));
}

/* Walks the nodes before the last cut, over all energies: block by block up to each node that reads
 * whole rows. This node then runs over one block that holds all energies. */
static void walk_rows(const run *r, tile *t)
{
    const int64_t n_x = r->problem->n_x;
    const int has_ends = r->problem->ends_end > 0;
    int64_t begin = r->plan->n_resolve;
    keep_written(r);
    for (int64_t k = begin; k < r->cut; k++) {
        if (!is_row_fed(&r->nodes[k]))
            continue;
        for (int64_t b = set_block(r, t, 0, BLOCK, 0, n_x) - 1; b >= 0; b--) {
            set_block(r, t, b, BLOCK, 0, n_x);
            walk_nodes(r, t, begin, k);
        }
        set_block(r, t, 0, n_x, 0, n_x);
        t->block.begin = has_ends ? r->problem->ends_begin : r->problem->x_begin;
        t->block.end = has_ends ? r->problem->ends_end : r->problem->x_end;
        run_node(r, &r->nodes[k], t);
        keep_written(r);
        begin = k + 1;
    }
}

void pyspec_begin_tile(const run *r, tile *t)
{
    const int64_t n_components = r->plan->n_nodes - r->plan->n_resolve;
    *r->work.ready = 0.0;
    fill(r->work.carry, 0.0, n_components * MAX_SCRATCH * L);
    if (r->by.n > 0 && r->work.is_fed)
        fill(r->work.carries, 0.0, n_components * r->by.n * MAX_SCRATCH * L);
    if (has_cuts(r))
        walk_rows(r, t);
    if (n_components > 0)
        return;
    /* Without components a spectrum is zero. */
    fill(r->work.slots, 0.0, r->plan->n_slots * r->buffer);
    if (r->by.n > 0)
        memset(written_at(r, 0), 0, (size_t)(r->plan->n_slots * r->by.n));
}

/* ---- lines ------------------------------------------------------------------------------- */

/* Lines of a component at one block of abscissae: the value and the partials. One of which the
 * height alone moves is evaluated at height 1. */
static void fill_lines(const run *r, const pyspec_node *node, const tile *t, double *lines)
{
    double params[MAX_PARAMS * L], *partials[MAX_PARAMS];
    const size_t size = (size_t)(t->block.n * L) * sizeof(double);
    const int wants = r->slopes && !is_constant(r->plan, node);
    for (int p = 0; wants && p < node->n_params; p++)
        partials[p] = r->work.partials + p * r->buffer;
    pyspec_gather(r, node, t, params);
    if (node->flags & PYSPEC_FLAG_SHAPE)
        fill(params, 1.0, L);
    *r->work.ready = 0.0;
    unsigned bad = pyspec_outside(r, node, params);
    pyspec_run_kernel(r, node, &t->block, params, r->work.value, wants ? partials : NULL);
    pyspec_poison(r->work.value, t->block.n, bad);
    memcpy(lines + t->x0, r->work.value, size);
    for (int p = 0; wants && p < node->n_params; p++) {
        pyspec_poison(partials[p], t->block.n, bad);
        memcpy(lines + (p + 1) * line_stride(r->problem) + t->x0, partials[p], size);
    }
}

/* Lines of a component that has some, with the parameters of row 0, over all energies that are evaluated. */
void pyspec_walk_line(const run *r, const pyspec_node *node, int64_t x_end)
{
    const int64_t x_begin = has_cuts(r) ? 0 : r->problem->x_begin;
    tile t = {.across = 1, .n_lanes = 1};
    double *lines = lines_of(r, node);
    for (int64_t b = lines ? set_block(r, &t, 0, BLOCK, x_begin, x_end) - 1 : -1; b >= 0; b--) {
        set_block(r, &t, b, BLOCK, x_begin, x_end);
        if (node->repeat == 1) {
            fill_lines(r, node, &t, lines);
            continue;
        }
        run_component(r, node, &t, r->work.value);
        memcpy(lines + t.x0, r->work.value, (size_t)(t.block.n * L) * sizeof(double));
    }
}
