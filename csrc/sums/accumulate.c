/* accumulate.c: chi^2, J^T r and J^T J of a range of rows, without storing J. A tile of rows is
 * walked block by block, and each block adds to the sums of its lanes. The sums of the rows then
 * combine in the tree of sum_tree.c. */
#include "separable/still.h"
#include "sums/curves.h"
#include "sums/sum_tree.h"

/* ---- one tile ---------------------------------------------------------------------------- */

/* Rows of a tile that are asked for: lanes begin ... end - 1. `first`: 1 where rows may be added up before
 * anything else. */
typedef struct lanes {
    int begin, end, first;
} lanes;

static int all_lanes(lanes in)
{
    return in.begin == 0 && in.end == L;
}

/* Model values of a row, abscissae from the block's first on, become residuals, with the weights of
 * its derivatives if asked for. */
static void row_residual(const run *r, const tile *t, int l, int64_t n, int form, int weighted,
                         double *values, double *weights)
{
    const pyspec_problem *q = r->problem;
    if (weighted)
        pyspec_weigh(q, t->row[l], t->x0, n, values, form == PYSPEC_FORM_FISHER, weights);
    pyspec_subtract(q, r->call->isa, t->row[l], t->x0, n, values);
}

/* The data of a block whose rows lie in memory in the layout of a kernel, `stride` doubles apart.
 * Reading turns them into lanes. NULL: some other type, place or weight. */
static const double *plain_data(const run *r, const tile *t, lanes in, int64_t *stride)
{
    const pyspec_problem *q = r->problem;
    const char *at = (const char *)q->data + (t->row[0] - q->first_row) * q->data_row +
                     t->x0 * (int64_t)sizeof(double);
    const int64_t size = (int64_t)sizeof(double);
    *stride = q->data_row / size;
    const int whole = all_lanes(in) && !pyspec_is_weighted(q);
    const int plain = q->data_type == PYSPEC_TYPE_F64 && q->data_x == size &&
                      q->data_row % size == 0 && (uintptr_t)at % sizeof(double) == 0;
    return whole && plain ? (const double *)(const void *)at : NULL;
}

/* Has the data of a block brought up while its model is computed: from row to row they stand too far
 * apart for the processor to see them coming. */
static void call_data(const run *r, const tile *t, lanes in)
{
    int64_t stride;
    const double *data = plain_data(r, t, in, &stride);
    for (int l = 0; data && l < L; l++)
        for (int64_t i = 0; i < t->block.n; i += CACHE_LINE)
            PREFETCH(data, l * stride + i);
}

/* Residuals of a block, d - m, and the weights of its derivatives where there are any. Lanes that
 * are not asked for hold 0. */
static void block_residual(const run *r, const tile *t, lanes in, int64_t n, int form,
                           int weighted)
{
    const block_ops *ops = &pyspec_block_table[r->call->isa];
    double *rows = r->work.rows, *weights = rows + BLOCK * L;
    int64_t stride;
    const double *data = plain_data(r, t, in, &stride);
    if (data) {
        ops->differ(r->work.residual, data, stride, slot_at(r, t, r->plan->result), n);
        return;
    }
    ops->turn(rows, BLOCK, slot_at(r, t, r->plan->result), n, L);
    for (int l = 0; l < L; l++) {
        double *own = rows + l * BLOCK, *own_weights = weights + l * BLOCK;
        if (l >= in.begin && l < in.end) {
            row_residual(r, t, l, n, form, weighted, own, own_weights);
        } else {
            fill(own, 0.0, n);
            fill(own_weights, 0.0, n);
        }
    }
    ops->interleave(r->work.residual, rows, BLOCK, n);
    if (weighted)
        ops->interleave(r->work.weight, weights, BLOCK, n);
}

/* The same where each lane is a fit. */
static void residual_beside(const run *r, const tile *t, int64_t n, int form)
{
    const fits_beside *own = r->beside;
    const double *model = slot_at(r, t, r->plan->result);
    const int64_t at = (t->x0 - r->problem->x_begin) * L;
    double *rows = r->work.rows, *weights = rows + BLOCK * L;
    const block_ops *ops = &pyspec_block_table[r->call->isa];
    if (r->problem->loss == PYSPEC_LOSS_SQUARES) {
        memcpy(r->work.residual, model, (size_t)(n * L) * sizeof *model);
        ops->subtract(r->work.residual, own->data + at, n * L);
        if (own->weight)
            ops->weigh(r->work.residual, own->weight + at, n);
        return;
    }
    ops->turn(rows, BLOCK, model, n, L);
    FOR_LANES {
        const pyspec_problem *q = &own->problems[l];
        pyspec_weigh(q, 0, t->x0, n, rows + l * BLOCK, form == PYSPEC_FORM_FISHER, weights + l * BLOCK);
        pyspec_subtract(q, r->call->isa, 0, t->x0, n, rows + l * BLOCK);
    }
    ops->interleave(r->work.residual, rows, BLOCK, n);
    ops->interleave(r->work.weight, weights, BLOCK, n);
}

/* The weights of its columns; NULL: all are 1. */
static const double *column_weights(const run *r, const tile *t, int weighs)
{
    if (!weighs || !r->beside || r->problem->loss != PYSPEC_LOSS_SQUARES)
        return weighs ? r->work.weight : NULL;
    return r->beside->weight + (t->x0 - r->problem->x_begin) * L;
}

/* The same where the lanes are abscissae of one row; what lies behind n of them is 0. */
static void residual_across(const run *r, const tile *t, int64_t n, int form, int weighted)
{
    double *residual = r->work.residual, *weight = r->work.weight;
    memcpy(residual, slot_at(r, t, r->plan->result), (size_t)n * sizeof *residual);
    if (!weighted)
        fill(weight, 1.0, n);
    row_residual(r, t, 0, n, form, weighted, residual, weight);
    fill(residual + n, 0.0, t->block.n * L - n);
    fill(weight + n, 0.0, t->block.n * L - n);
}

/* Turns a block into the factors of its rows. */
static void absorb_block(const run *r, int64_t n, lanes in, const double *const *columns,
                         int64_t order, double *factors)
{
    const int64_t size = triangle_size(order);
    for (int l = in.begin; l < in.end; l++) {
        double *dense = r->work.dense;
        for (int64_t k = 0; k < order; k++)
            for (int64_t i = 0; i < n; i++)
                dense[k * n + i] = columns[k] ? columns[k][AT] : 0.0;
        pyspec_absorb(factors + l * size, order, dense, n);
    }
}

/* Whether derivatives count by more or less than 1. */
static int has_weights(const run *r)
{
    if (!r->beside)
        return pyspec_is_weighted(r->problem);
    return r->beside->weight || r->problem->loss != PYSPEC_LOSS_SQUARES;
}

/* Adds a block with its columns to the sums of the tile. */
static void add_block(const run *r, const tile *t, lanes in, int64_t n, int form, double *sums)
{
    const block_ops *ops = &pyspec_block_table[r->call->isa];
    const unsigned char *written = r->by.n ? written_at(r, r->plan->result) : NULL;
    const double **columns = (const double **)(void *)r->work.pointers;
    int64_t *list = (int64_t *)(void *)r->work.list, count = 0, scalar = 1;
    const int64_t n_columns = r->by.n, n_vectors = t->across ? t->block.n : n;
    const int64_t order = r->sums.n + 1;
    const int weighted = n_columns > 0 && has_weights(r);
    const int weighs = weighted || (t->across && n < t->block.n * L);
    if (r->beside)
        residual_beside(r, t, n, form);
    else if (t->across)
        residual_across(r, t, n, form, weighted);
    else
        block_residual(r, t, in, n, form, weighted);
    const double *weights = column_weights(r, t, weighs);
    columns[order - 1] = r->work.residual;
    list[count++] = order - 1;
    for (int64_t k = 0; k < n_columns; k++) {
        const int64_t own = r->by.among ? r->by.among[k] : k;
        columns[own] = written[k] ? column_at(r, t, r->plan->result, k) : NULL;
        if (!written[k])
            continue;
        if (weights)
            ops->weigh(column_at(r, t, r->plan->result, k), weights, n_vectors);
        list[count++] = own;
        scalar += k < r->by.n_scalar;
    }
    if (form == PYSPEC_FORM_FACTOR) {
        absorb_block(r, n_vectors, t->across ? (lanes){.end = L} : in, columns, order, sums);
        return;
    }
    ops->gram(sums, columns, list, count, order, n_vectors);
    if (r->by.among)
        pyspec_add_still(r, t, columns, list, count, all_lanes(in) && in.first ? scalar : 0, n, sums);
}

/* Sums of a tile begin with those of two still columns. */
static void begin_tile_sums(const run *r, double *sums)
{
    const int64_t size = triangle_size(r->sums.n + 1);
    for (int64_t k = 0; k < size; k++)
        fill(sums + k * L, r->by.among ? r->prepared.still_sums[k] : 0.0, L);
}

/* A trace has one value a row: the columns are the derivatives of that trace. */
static void add_trace(const run *r, const tile *t, lanes in, int form, double *sums)
{
    unsigned char *written = r->by.n ? written_at(r, r->plan->result) : NULL;
    double *slot = slot_at(r, t, r->plan->result);
    const trace *result = &r->work.traces[r->plan->trace];
    memcpy(slot, values_at(result, t->at), L * sizeof *slot);
    for (int64_t k = 0; k < r->by.n; k++) {
        const double *slope = slope_by(r, r->plan->trace, k);
        written[k] = slope != NULL;
        if (slope)
            memcpy(column_at(r, t, r->plan->result, k), slope + t->at * result->moves,
                   L * sizeof *slot);
    }
    add_block(r, t, in, 1, form, sums);
}

/* The sums of a tile: Gram matrices with the lanes side by side, factors one after the other. */
static void run_tile(const run *r, tile *t, lanes in, int form, double *sums)
{
    begin_tile_sums(r, sums);
    if (r->plan->trace >= 0) {
        t->block = (pyspec_block){.n = 1, .n_valid = 1};
        add_trace(r, t, in, form, sums);
        return;
    }
    pyspec_begin_tile(r, t);
    for (int64_t k = pyspec_tile_block(r, t, 0, r->x_end) - 1; k >= 0; k--) {
        pyspec_tile_block(r, t, k, r->x_end);
        if (!r->beside)
            call_data(r, t, in);
        pyspec_walk_block(r, t);
        int64_t n = count_in_window(r, t);
        if (n > 0)
            add_block(r, t, in, n, form, sums);
    }
}

/* ---- from the columns of the plan to theta ------------------------------------------------ */

/* The sums of a tile, by theta. */
static const double *contract(const run *r, int64_t at, const double *sums)
{
    theta_column *columns = (theta_column *)(void *)r->work.chain;
    for (int64_t k = 0; k < r->sums.n; k++) {
        const trace *column = &r->work.traces[r->sums.rows[k]];
        columns[k].theta = depends(r, r->sums.rows[k], &columns[k].n);
        columns[k].slopes = slopes_at(column, 0, at);
        columns[k].step = column->step;
    }
    pyspec_block_table[r->call->isa].chain(r->work.by_theta, r->work.half, sums, columns, r->sums.n,
                                           r->plan->n_theta);
    return r->work.by_theta;
}

/* ---- rows into the tree ------------------------------------------------------------------ */

/* Columns of the plan's own, fewer than theta has, unless a factor is asked for. */
static void choose_basis(run *r, int form)
{
    const pyspec_plan *plan = r->plan;
    r->by = r->sums = (basis){.n = form == PYSPEC_FORM_VALUE ? 0 : plan->n_theta};
    if (plan->columns < 0 || plan->trace >= 0 || plan->dimension == 1 ||
        form == PYSPEC_FORM_FACTOR || form == PYSPEC_FORM_VALUE)
        return;
    r->by = r->sums = all_columns(r);
    if (form == PYSPEC_FORM_GRAM && !pyspec_is_weighted(r->problem))
        r->by = pyspec_moving_basis(r, &r->sums);
}

/* Lane l of the sums, by itself. */
static const double *take_lane(const run *r, const double *sums, int64_t order, int l, int form)
{
    const int64_t size = triangle_size(order);
    if (form == PYSPEC_FORM_FACTOR)
        return sums + l * size;
    for (int64_t k = 0; k < size; k++)
        r->work.record[k] = sums[k * L + l];
    return r->work.record;
}

/* All lanes in the order of the tree: neighbours first. */
static const double *fold_lanes(const run *r, const double *sums, int64_t order)
{
    _Static_assert(L == 8, "a sum of eight");
    for (int64_t k = 0; k < triangle_size(order); k++, sums += L)
        r->work.record[k] = ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
                            ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    return r->work.record;
}

/* One row whose abscissae lie in all lanes. */
static int push_across(const run *r, pyspec_normal *s, int64_t row, double *sums)
{
    if (s->form != PYSPEC_FORM_FACTOR)
        return pyspec_push_sums(s, 0, row, fold_lanes(r, sums, s->order));
    for (int l = 1; l < L; l++)
        pyspec_merge_sums(s, sums, sums + l * triangle_size(s->order));
    return pyspec_push_sums(s, 0, row, sums);
}

/* Odd, so that it goes through all places among a power of two. */
enum { TURN = 5 };

/* Whether the tile of a row is summed. One tile is taken from every `every` tiles, at first the middle one. Each time
 * the place moves on by TURN: an oscillation along the rows is not seen at the same phase each time. */
static int is_taken(const pyspec_normal *s, int64_t row)
{
    const int64_t every = s->every, number = row / L;
    return every <= 1 || number % every == (number / every * TURN + every / 2) % every;
}

/* The place of a row among those whose tiles are summed. */
static int64_t place_of(const pyspec_normal *s, int64_t row)
{
    return s->every <= 1 ? row : row / L / s->every * L + row % L;
}

static int push_rows(const run *r, pyspec_normal *s, int64_t first, lanes in, const double *sums)
{
    int status = STATUS_OK;
    const int64_t row = place_of(s, first);
    if (all_lanes(in) && s->form != PYSPEC_FORM_FACTOR) {
        int64_t level = 0;
        while (1 << level < L)
            level++;
        return pyspec_push_sums(s, level, row / L, fold_lanes(r, sums, s->order));
    }
    for (int l = in.begin; !status && l < in.end; l++)
        status = pyspec_push_sums(s, 0, row + l, take_lane(r, sums, s->order, l, (int)s->form));
    return status;
}

int pyspec_check_sums(const pyspec_call *call, const pyspec_normal *s, int64_t row_begin,
                      int64_t row_end)
{
    const int64_t order = s->form == PYSPEC_FORM_VALUE ? 1 : call->plan->n_theta + 1;
    const pyspec_problem *q = call->problem;
    if (!s->places || !s->nodes)
        return STATUS_NULL_POINTER;
    if (s->form < PYSPEC_FORM_VALUE || s->form > PYSPEC_FORM_FISHER || s->order != order)
        return STATUS_ORDER;
    if (!pyspec_has_scratch(s, order))
        return STATUS_WORK;
    if (row_begin < q->row_begin || row_end > q->row_end || row_begin >= row_end)
        return STATUS_WINDOW;
    return q->data ? STATUS_OK : STATUS_DATA;
}

/* A curve of a tile, from walks at its points. */
static void make_curve(const run *r, tile_curve *c, int64_t row, const strip *s, int64_t at, lanes in)
{
    double sums[CURVE_TERMS][L];
    tile_curve next;
    tile t;
    pyspec_begin_curve(c, &next, in.begin, in.end);
    for (int64_t k = 0; k < CURVE_TERMS; k++) {
        pyspec_curve_point(&next, k, in.begin, in.end, r->work.traces[row].value + at);
        pyspec_resolve_followers(r, s, row);
        pyspec_set_tile(s, &t, at, 0);
        run_tile(r, &t, in, PYSPEC_FORM_VALUE, r->work.triangle);
        memcpy(sums[k], r->work.triangle, sizeof sums[k]);
    }
    pyspec_end_curve(c, &next, sums, in.begin, in.end);
}

/* The sums of a tile by its curve; where that does not hold, by a walk, which may pay for the next. */
static void run_curve(const run *r, const row_curves *curves, const strip *s, tile *t, lanes in, double *sums)
{
    tile_curve *c = curves->tiles + (s->row + t->at) / L - r->problem->row_begin / L;
    const double *values = r->work.traces[curves->row].value + t->at;
    double walked[L];
    if (pyspec_read_curve(c, values, in.begin, in.end, sums))
        return;
    run_tile(r, t, in, PYSPEC_FORM_VALUE, sums);
    if (!pyspec_note_walk(c, values, in.begin, in.end))
        return;
    memcpy(walked, sums, sizeof walked);
    make_curve(r, c, curves->row, s, t->at, in);
    memcpy(sums, walked, sizeof walked);
}

/* Adds one tile of a strip. */
static int add_tile(const run *r, pyspec_normal *normal, const row_curves *curves, const strip *s, int64_t at,
                    lanes in)
{
    const int form = (int)normal->form, across = r->plan->dimension == 1;
    double *sums = r->work.triangle;
    tile t;
    pyspec_set_tile(s, &t, at, across);
    if (curves)
        run_curve(r, curves, s, &t, in, sums);
    else
        run_tile(r, &t, in, form, sums);
    if (across)
        return push_across(r, normal, t.row[0], sums);
    const double *by_theta = r->sums.of_row ? contract(r, at, sums) : sums;
    return push_rows(r, normal, t.row[0], in, by_theta);
}

/* Whether any tile of a strip is summed. */
static int is_any_taken(const pyspec_normal *s, int64_t row, int64_t n)
{
    for (int64_t at = 0; at < n; at += L)
        if (is_taken(s, row + at))
            return 1;
    return 0;
}

static int accumulate(const pyspec_call *call, pyspec_normal *normal, const row_curves *curves, int64_t row_begin,
                      int64_t row_end)
{
    run state, *r = &state;
    if (!call || !call->plan || !call->problem || !normal)
        return STATUS_NULL_POINTER;
    int status = pyspec_check_sums(call, normal, row_begin, row_end);
    status = status ? status : pyspec_begin_run(r, call, 0, normal->form != PYSPEC_FORM_VALUE);
    status = status ? status : pyspec_use_prepared(r);
    if (status)
        return status;
    const int across = r->plan->dimension == 1;
    choose_basis(r, (int)normal->form);
    pyspec_begin_strips(r);
    for (int64_t row = row_begin / L * L; !status && row < row_end; row += STRIP) {
        const strip s = pyspec_strip_of(row, row_end);
        if (!is_any_taken(normal, row, s.n))
            continue;
        pyspec_load_strip(r, &s);
        for (int64_t at = 0; !status && at < s.n; at += L) {
            if (!is_taken(normal, row + at))
                continue;
            const lanes in = {.begin = row_begin > row + at ? (int)(row_begin - row - at) : 0,
                              .end = across ? 1 : s.n - at < L ? (int)(s.n - at) : L,
                              .first = normal->in_strips == 1};
            status = add_tile(r, normal, curves, &s, at, in);
        }
    }
    return status;
}

int pyspec_accumulate_rows(const pyspec_call *call, pyspec_normal *normal, int64_t row_begin, int64_t row_end)
{
    return accumulate(call, normal, NULL, row_begin, row_end);
}

int pyspec_accumulate_curves(const pyspec_call *call, pyspec_normal *normal, const row_curves *curves,
                             int64_t row_begin, int64_t row_end)
{
    return accumulate(call, normal, curves, row_begin, row_end);
}

int pyspec_sum_beside(run *r, const pyspec_call *call, const fits_beside *beside, int form, const double **triangles)
{
    const int status = pyspec_is_begun_beside(r) ? STATUS_OK : pyspec_begin_beside(r, call, beside);
    if (status)
        return status;
    pyspec_resolve_beside(r);
    tile t = {.n_lanes = L};
    choose_basis(r, form);
    run_tile(r, &t, (lanes){.end = L}, form, r->work.triangle);
    *triangles = r->work.triangle;
    return STATUS_OK;
}
