/* normal.c: chi^2, J^T r and J^T J of a range of rows, without storing J. A tile of rows is walked
 * block by block, and each block adds to the sums of its lanes. The sums of the rows then combine
 * in a tree over the row number: siblings merge as soon as both are there. */
#include "run.h"

/* ---- the tree -------------------------------------------------------------------------- */

static double *node_of(const pyspec_normal *s, int64_t k)
{
    return s->nodes + k * triangle_size(s->order);
}

/* Only factors need scratch, to become part of one of that order. */
static int has_scratch(const pyspec_normal *s, int64_t order)
{
    return s->form != PYSPEC_FORM_FACTOR || (s->scratch && s->n_scratch >= s->order * order);
}

/* One entry summed over the nodes, the small ones at the end first. */
static double total(const pyspec_normal *s, int64_t place)
{
    double sum = node_of(s, s->n_nodes - 1)[place];
    for (int64_t k = s->n_nodes - 2; k >= 0; k--)
        sum = node_of(s, k)[place] + sum;
    return sum;
}

/* Turns the rows of one factor into another. */
static void absorb_triangle(const pyspec_normal *s, double *into, int64_t order,
                            const int64_t *gather, const double *from)
{
    const int64_t n = s->order;
    fill(s->scratch, 0.0, n * order);
    for (int64_t j = 0; j < n; j++)
        for (int64_t k = j; k < n; k++) {
            int64_t column = k == n - 1 ? order - 1 : gather ? gather[k] : k;
            s->scratch[column * n + j] = from[triangle_at(n, j, k)];
        }
    pyspec_absorb(into, order, s->scratch, n);
}

static void merge(const pyspec_normal *s, double *into, const double *from)
{
    if (s->form == PYSPEC_FORM_FACTOR) {
        absorb_triangle(s, into, s->order, NULL, from);
        return;
    }
    for (int64_t k = 0; k < triangle_size(s->order); k++)
        into[k] += from[k];
}

/* Appends the sums of the rows index 2^level ... (index + 1) 2^level - 1. */
static int push(pyspec_normal *s, int64_t level, int64_t index, const double *triangle)
{
    const size_t size = (size_t)triangle_size(s->order) * sizeof(double);
    if (s->n_nodes) {
        const int64_t *last = s->places + 2 * (s->n_nodes - 1);
        if ((last[1] + 1) << last[0] > index << level)
            return STATUS_ORDER;
    }
    if (s->n_nodes == s->capacity)
        return STATUS_OUTPUT;
    memcpy(node_of(s, s->n_nodes), triangle, size);
    s->places[2 * s->n_nodes] = level;
    s->places[2 * s->n_nodes + 1] = index;
    s->n_nodes++;
    while (s->n_nodes > 1) {
        int64_t *left = s->places + 2 * (s->n_nodes - 2), *right = left + 2;
        if (left[0] != right[0] || left[1] % 2 != 0 || left[1] + 1 != right[1])
            break;
        merge(s, node_of(s, s->n_nodes - 2), node_of(s, s->n_nodes - 1));
        left[0]++;
        left[1] /= 2;
        s->n_nodes--;
    }
    return STATUS_OK;
}

int pyspec_join(pyspec_normal *normal, const pyspec_normal *more)
{
    int status = STATUS_OK;
    if (!normal || !more)
        return STATUS_NULL_POINTER;
    if (!normal->places || !normal->nodes || !more->places || !more->nodes)
        return STATUS_NULL_POINTER;
    if (normal->form != more->form || normal->order != more->order)
        return STATUS_ORDER;
    if (!has_scratch(normal, normal->order))
        return STATUS_WORK;
    for (int64_t k = 0; !status && k < more->n_nodes; k++)
        status = push(normal, more->places[2 * k], more->places[2 * k + 1], node_of(more, k));
    return status;
}

int pyspec_collect(const pyspec_normal *normal, const int64_t *gather, int64_t order,
                   double *triangle)
{
    const pyspec_normal *s = normal;
    if (!s || !triangle || !s->nodes || !s->places)
        return STATUS_NULL_POINTER;
    if (s->n_nodes < 1 || s->order < 1 || order < s->order)
        return STATUS_ORDER;
    if (!has_scratch(s, order))
        return STATUS_WORK;
    if (s->form == PYSPEC_FORM_FACTOR) {
        for (int64_t k = s->n_nodes - 1; k >= 0; k--)
            absorb_triangle(s, triangle, order, gather, node_of(s, k));
        return STATUS_OK;
    }
    for (int64_t j = 0; j < s->order; j++)
        for (int64_t k = j; k < s->order; k++) {
            int64_t row = j == s->order - 1 ? order - 1 : gather ? gather[j] : j;
            int64_t column = k == s->order - 1 ? order - 1 : gather ? gather[k] : k;
            int64_t low = row < column ? row : column, high = row < column ? column : row;
            triangle[triangle_at(order, low, high)] += total(s, triangle_at(s->order, j, k));
        }
    return STATUS_OK;
}

/* ---- one tile --------------------------------------------------------------------------- */

/* Rows of a tile that are asked for: lanes begin ... end - 1. */
typedef struct lanes {
    int begin, end;
} lanes;

/* Residuals of a block, r - d, and the weights of its derivatives where there are any. Lanes that
 * are not asked for hold anything finite. */
static void block_residual(const run *r, const tile *t, lanes in, int64_t n, int form)
{
    const double *model = r->work.slots + r->plan->result * BLOCK * L;
    double *rows = r->work.rows, *weights = rows + BLOCK * L;
    const int weighted = form != PYSPEC_FORM_VALUE && pyspec_is_weighted(r);
    const int64_t stride = t->across ? 0 : BLOCK;
    if (t->across)
        memcpy(rows, model, (size_t)n * sizeof *rows);
    else
        pyspec_block_table[r->call->isa].turn(rows, BLOCK, model, n, L);
    for (int l = in.begin; l < in.end; l++) {
        int64_t row = t->row + (t->across ? 0 : l);
        if (weighted)
            pyspec_weigh(r, row, t->x0, n, rows + l * stride, form == PYSPEC_FORM_FISHER,
                         weights + l * stride);
        pyspec_subtract(r, row, t->x0, n, rows + l * stride);
    }
    double *residual = r->work.residual, *weight = r->work.weight;
    if (t->across) {
        memcpy(residual, rows, (size_t)n * sizeof *rows);
        fill(residual + n, 0.0, t->block.n * L - n);
        if (weighted)
            memcpy(weight, weights, (size_t)n * sizeof *rows);
        fill(weight + n, 0.0, t->block.n * L - n);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        FOR_LANES {
            int asked = l >= in.begin && l < in.end;
            residual[AT] = asked ? rows[l * BLOCK + i] : 0.0;
            if (weighted)
                weight[AT] = asked ? weights[l * BLOCK + i] : 0.0;
        }
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

/* Adds a block with its columns to the sums of the tile. */
static void add_block(const run *r, const tile *t, lanes in, int64_t n, int form, double *sums)
{
    const block_ops *ops = &pyspec_block_table[r->call->isa];
    const unsigned char *written = pyspec_written(r, r->plan->result);
    const double **columns = (const double **)(void *)r->work.pointers;
    int64_t *list = (int64_t *)(void *)r->work.list, count = 0;
    const int64_t n_columns = form == PYSPEC_FORM_VALUE ? 0 : r->by.n;
    const int64_t n_vectors = t->across ? t->block.n : n;
    const int weighs = pyspec_is_weighted(r) || (t->across && n < t->block.n * L);
    block_residual(r, t, in, n, form);
    if (t->across && !pyspec_is_weighted(r))
        fill(r->work.weight, 1.0, n);
    for (int64_t k = 0; k < n_columns; k++) {
        columns[k] = written[k] ? pyspec_column(r, r->plan->result, k) : NULL;
        if (!written[k])
            continue;
        if (weighs)
            ops->weigh(pyspec_column(r, r->plan->result, k), r->work.weight, n_vectors);
        list[count++] = k;
    }
    columns[n_columns] = r->work.residual;
    list[count++] = n_columns;
    if (form == PYSPEC_FORM_FACTOR)
        absorb_block(r, n_vectors, t->across ? (lanes){0, L} : in, columns, n_columns + 1, sums);
    else
        ops->gram(sums, columns, list, count, n_columns + 1, n_vectors);
}

/* A trace has one value a row: the columns are the derivatives of that trace. */
static void add_trace(const run *r, const tile *t, lanes in, int form, double *sums)
{
    unsigned char *written = pyspec_written(r, r->plan->result);
    double *slot = r->work.slots + r->plan->result * BLOCK * L;
    memcpy(slot, trace_row(r, r->plan->trace, 0) + t->row, L * sizeof *slot);
    for (int64_t k = 0; form != PYSPEC_FORM_VALUE && k < r->by.n; k++) {
        const double *slope = pyspec_slope_row(r, r->plan->trace, 0, k);
        written[k] = slope != NULL;
        if (slope)
            memcpy(pyspec_column(r, r->plan->result, k), slope + t->row, L * sizeof *slot);
    }
    add_block(r, t, in, 1, form, sums);
}

/* The sums of a tile: Gram matrices with the lanes side by side, factors one after the other. */
static void run_tile(const run *r, const tile *at, lanes in, int form, int64_t order, double *sums)
{
    tile t = *at;
    fill(sums, 0.0, triangle_size(order) * L);
    if (r->plan->trace >= 0) {
        t.block = (pyspec_block){.n = 1, .n_valid = 1};
        add_trace(r, &t, in, form, sums);
        return;
    }
    const int64_t x_end = pyspec_last_abscissa(r);
    if (form == PYSPEC_FORM_VALUE)
        pyspec_clear_carry(r);
    else
        pyspec_begin_tile(r);
    for (int64_t k = pyspec_tile_block(r, &t, 0, x_end) - 1; k >= 0; k--) {
        pyspec_tile_block(r, &t, k, x_end);
        if (form == PYSPEC_FORM_VALUE)
            pyspec_run_block(r, &t);
        else
            pyspec_block_columns(r, &t);
        int64_t n = pyspec_in_window(r, &t);
        if (n > 0)
            add_block(r, &t, in, n, form, sums);
    }
}

/* ---- from the columns of the plan to theta ------------------------------------------------ */

/* The changes of column k by theta in a tile: how many, and each with its parameter. */
static int64_t changes(const run *r, int64_t k, const int64_t **list)
{
    int64_t count;
    *list = depends(r, r->by.rows[k], &count);
    return count;
}

static const double *entry(const double *triangle, int64_t order, int64_t j, int64_t k)
{
    return triangle + L * (j < k ? triangle_at(order, j, k) : triangle_at(order, k, j));
}

/* to += from * change; a sum of 0, as of points that are dropped, stays 0 whatever the change. */
static void add_product(double *to, const double *from, const double *change)
{
    FOR_LANES to[l] += from[l] == 0.0 ? 0.0 : from[l] * change[l];
}

/* half = C^T sums, then C^T of that: C is d column / d theta, row by row, with 1 for r itself. */
static const double *contract(const run *r, int64_t row, const double *sums)
{
    const int64_t n = r->by.n, n_theta = r->plan->n_theta, order = n + 1;
    double *half = r->work.half, *out = r->work.by_theta;
    fill(half, 0.0, order * (n_theta + 1) * L);
    fill(out, 0.0, triangle_size(n_theta + 1) * L);
    for (int64_t j = 0; j < order; j++) {
        double *to = half + j * (n_theta + 1) * L;
        memcpy(to + n_theta * L, entry(sums, order, j, n), L * sizeof *to);
        for (int64_t k = 0; k < n; k++) {
            const double *from = entry(sums, order, j, k);
            const int64_t *list, count = changes(r, k, &list);
            for (int64_t c = 0; c < count; c++) {
                const double *change = pyspec_slope_row(r, r->by.rows[k], 0, list[c]) + row;
                add_product(to + list[c] * L, from, change);
            }
        }
    }
    for (int64_t j = 0; j < n; j++) {
        const int64_t *list, count = changes(r, j, &list);
        for (int64_t c = 0; c < count; c++) {
            const double *change = pyspec_slope_row(r, r->by.rows[j], 0, list[c]) + row;
            for (int64_t k = list[c]; k <= n_theta; k++) {
                double *to = out + triangle_at(n_theta + 1, list[c], k) * L;
                const double *from = half + (j * (n_theta + 1) + k) * L;
                add_product(to, from, change);
            }
        }
    }
    memcpy(out + triangle_at(n_theta + 1, n_theta, n_theta) * L, entry(sums, order, n, n),
           L * sizeof *out);
    return out;
}

/* ---- rows into the tree ------------------------------------------------------------------ */

/* Columns of the plan's own, fewer than theta has, unless a factor is asked for. */
static void choose_basis(run *r, int form)
{
    const pyspec_plan *plan = r->plan;
    r->by = (basis){.n = plan->n_theta};
    if (plan->columns < 0 || plan->trace >= 0 || plan->dimension == 1 ||
        form == PYSPEC_FORM_FACTOR || form == PYSPEC_FORM_VALUE)
        return;
    const int64_t *words = r->words + plan->columns;
    r->by = (basis){.n = words[0], .rows = words + 1, .of_row = words + 1 + words[0]};
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
    for (int64_t k = 0; k < triangle_size(order); k++) {
        double part[L];
        memcpy(part, sums + k * L, sizeof part);
        for (int width = L / 2; width > 0; width /= 2)
            for (int l = 0; l < width; l++)
                part[l] = part[2 * l] + part[2 * l + 1];
        r->work.record[k] = part[0];
    }
    return r->work.record;
}

/* One row whose abscissae lie in all lanes. */
static int push_across(const run *r, pyspec_normal *s, int64_t row, double *sums)
{
    if (s->form != PYSPEC_FORM_FACTOR)
        return push(s, 0, row, fold_lanes(r, sums, s->order));
    for (int l = 1; l < L; l++)
        merge(s, sums, sums + l * triangle_size(s->order));
    return push(s, 0, row, sums);
}

static int push_rows(const run *r, pyspec_normal *s, int64_t row, lanes in, const double *sums)
{
    int status = STATUS_OK;
    if (in.begin == 0 && in.end == L && s->form != PYSPEC_FORM_FACTOR) {
        int64_t level = 0;
        while (1 << level < L)
            level++;
        return push(s, level, row / L, fold_lanes(r, sums, s->order));
    }
    for (int l = in.begin; !status && l < in.end; l++)
        status = push(s, 0, row + l, take_lane(r, sums, s->order, l, (int)s->form));
    return status;
}

static int check_sums(const pyspec_call *call, const pyspec_normal *s, int64_t row_begin,
                      int64_t row_end)
{
    const int64_t order = s->form == PYSPEC_FORM_VALUE ? 1 : call->plan->n_theta + 1;
    const pyspec_problem *q = call->problem;
    if (!s->places || !s->nodes)
        return STATUS_NULL_POINTER;
    if (s->form < PYSPEC_FORM_VALUE || s->form > PYSPEC_FORM_FISHER || s->order != order)
        return STATUS_ORDER;
    if (!has_scratch(s, order))
        return STATUS_WORK;
    if (row_begin < q->row_begin || row_end > q->row_end || row_begin >= row_end)
        return STATUS_WINDOW;
    return q->data ? STATUS_OK : STATUS_DATA;
}

int pyspec_accumulate(const pyspec_call *call, pyspec_normal *normal, int64_t row_begin,
                      int64_t row_end)
{
    run state = {0}, *r = &state;
    if (!call || !call->plan || !call->problem || !normal)
        return STATUS_NULL_POINTER;
    if (call->plan->depends < 0)
        return STATUS_OFFSET;
    int status = check_sums(call, normal, row_begin, row_end);
    status = status ? status : pyspec_begin_run(r, call, 0, 1);
    if (status)
        return status;
    const int form = (int)normal->form, across = r->plan->dimension == 1;
    choose_basis(r, form);
    fill(r->work.zeros, 0.0, BLOCK * L);
    if (form == PYSPEC_FORM_VALUE) {
        r->work.n_lines = 1;
        pyspec_resolve(r);
    } else {
        pyspec_resolve_slopes(r);
    }
    if (r->plan->trace < 0)
        pyspec_run_lines(r, pyspec_last_abscissa(r));
    const int64_t order = form == PYSPEC_FORM_VALUE ? 1 : r->by.n + 1;
    for (int64_t row = across ? row_begin : row_begin / L * L; !status && row < row_end;
         row += across ? 1 : L) {
        const tile t = {.row = row, .across = across};
        lanes in = {.begin = row_begin > row ? (int)(row_begin - row) : 0,
                    .end = row_end - row < L ? (int)(row_end - row) : L};
        if (across)
            in = (lanes){0, 1};
        run_tile(r, &t, in, form, order, r->work.triangle);
        const double *sums = r->by.of_row ? contract(r, row, r->work.triangle) : r->work.triangle;
        status = across ? push_across(r, normal, row, r->work.triangle)
                        : push_rows(r, normal, row, in, sums);
    }
    return status;
}
