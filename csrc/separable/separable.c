/* separable.c: sums of a plan with separable spectra M(t, E) = sum_k S_k(E) g_k(t). S_k is a shape
 * that does not move, g_0 = 1 and g_k is a trace. Every derivative by theta is a sum of products of
 * the same kind. J^T J is therefore made of overlaps of shapes times overlaps of traces. J^T r is
 * made of shapes times the residual summed over time with each trace. Only the residual itself is
 * computed point by point: chi^2 is the sum of its squares, as everywhere.
 *
 * A leaf of the tree of sums is a strip of rows. Weights and mask enter as w = u(t) v(E). */
#include "separable/shapes.h"

int pyspec_may_separate(const pyspec_call *call, int64_t form)
{
    const pyspec_problem *q = call->problem;
    if (call->plan->separable < 0 || form == PYSPEC_FORM_FACTOR || q->loss != PYSPEC_LOSS_SQUARES)
        return 0;
    return (!weight_by_row(q) || q->weight_x == 0) && (!keep_by_row(q) || q->keep_x == 0);
}

int pyspec_is_separable(const pyspec_call *call, int64_t form)
{
    return call->problem->data && pyspec_may_separate(call, form);
}

int pyspec_is_whole(const pyspec_problem *q, int64_t begin, int64_t end)
{
    return (begin % STRIP == 0 || begin == q->row_begin) && (end % STRIP == 0 || end == q->row_end);
}

int pyspec_has_shapes(const pyspec_call *call)
{
    const prepared_key *found = (const prepared_key *)(const void *)call->prepared;
    return found && call->prepared_size >= (int64_t)sizeof *found &&
           (found->what & PYSPEC_PREPARE_SHAPES) != 0;
}

int pyspec_use_shapes(run *r)
{
    const int status = pyspec_use_prepared(r);
    const int64_t n = r->problem->x_end - r->problem->x_begin;
    for (int64_t i = 0; !status && i < n; i++) {
        const double own = weight_of_x(r->problem, i);
        if (memcmp(&own, r->prepared.shape_weight + i, sizeof own))
            return STATUS_PREPARED;
    }
    return status;
}

/* ---- times ------------------------------------------------------------------------------- */

int64_t pyspec_time_of(const run *r, int64_t k)
{
    int64_t at = 0;
    for (int64_t j = 0; j < k; j++)
        at += 1 + (j && r->slopes ? count_row_slopes(r->plan, moving_rows(r)[j - 1]) : 0);
    return at;
}

int64_t pyspec_list_terms(const run *r)
{
    term *terms = (term *)(void *)r->work.terms;
    const int64_t n_shapes = *(int64_t *)(void *)r->prepared.n_shapes;
    const int64_t n_moving = r->words[r->plan->separable];
    int64_t n = 0;
    for (int64_t theta = 0; theta < r->plan->n_theta; theta++) {
        for (int64_t s = 0; s < n_shapes; s++)
            if (shape_list(r)[s].theta == theta)
                terms[n++] = (term){theta, s, pyspec_time_of(r, shape_list(r)[s].height)};
        for (int64_t k = 1; k <= n_moving; k++) {
            int64_t count;
            const int64_t *list = depends(r, moving_rows(r)[k - 1], &count);
            for (int64_t c = 0; c < count; c++)
                if (list[c] == theta)
                    terms[n++] = (term){theta, k, pyspec_time_of(r, k) + 1 + c};
        }
    }
    return n;
}

static void load_time(double *to, const double *from, int64_t moves, const double *u, int64_t n)
{
    if (moves)
        for (int64_t i = 0; i < n; i++)
            to[i] = u[i] == 0.0 ? 0.0 : u[i] * from[i];
    else
        for (int64_t i = 0; i < n; i++)
            to[i] = u[i] == 0.0 ? 0.0 : u[i] * from[0];
    fill(to + n, 0.0, STRIP - n);
}

void pyspec_load_times(const run *r, const strip *s)
{
    const int64_t n_traces = 1 + r->words[r->plan->separable];
    double u[STRIP], *time = r->work.times;
    const int is_weighted = is_weighted_along(r->problem, 1);
    for (int64_t i = 0; i < s->n; i++) {
        u[i] = is_weighted ? weight_of(r->problem, 1, s->row + i, 0) : 1.0;
        r->work.heights[i * n_traces] = 1.0;
    }
    load_time(time, &(const double){1.0}, 0, u, s->n);
    for (int64_t k = 1; k < n_traces; k++) {
        const int64_t row = moving_rows(r)[k - 1];
        const trace *t = &r->work.traces[row];
        time = r->work.times + pyspec_time_of(r, k) * STRIP;
        load_time(time, t->value, t->moves, u, s->n);
        for (int64_t c = 0; r->slopes && c < count_row_slopes(r->plan, row); c++)
            load_time(time + (c + 1) * STRIP, t->slopes + c * t->step, t->moves, u, s->n);
        for (int64_t i = 0; i < s->n; i++)
            r->work.heights[i * n_traces + k] = t->value[i * t->moves];
    }
}

int64_t pyspec_join_equal_times(const run *r, double *times, int64_t step, int64_t n_rows)
{
    const int64_t n_times = count_times(r->plan, r->slopes);
    const size_t size = (size_t)n_rows * sizeof(double);
    int64_t *place = (int64_t *)(void *)r->work.time_place, n = 0;
    for (int64_t a = 0; a < n_times; a++) {
        const double *own = times + a * step;
        int64_t k = 0;
        while (k < n && memcmp(own, times + k * step, size) != 0)
            k++;
        if (k == n)
            memmove(times + n++ * step, own, size);
        place[a] = k;
    }
    return n;
}

/* ---- one strip --------------------------------------------------------------------------- */

/* Whether data may be read as doubles. */
static int is_plain(const pyspec_problem *q)
{
    const int64_t size = (int64_t)sizeof(double);
    return q->data_type == PYSPEC_TYPE_F64 && q->data_x == size && q->data_row % size == 0 &&
           (uintptr_t)q->data % sizeof(double) == 0;
}

/* chi^2 of a block of rows whose data are plain, and its sums over time. */
static double sum_plain(const run *r, const strip_rows *rows, int64_t x0, int64_t n)
{
    const pyspec_problem *q = r->problem;
    const int64_t row = q->data_row / (int64_t)sizeof(double), at = x0 - q->x_begin;
    double square;
    const strip_data from = {
        .data = (const double *)q->data + (rows->begin - q->first_row) * row + x0,
        .data_row = row,
        .n_rows = rows->n,
        .lines = rows->alone ? NULL : rows->shapes + at,
        .stride = shape_stride(q),
        .n_lines = 1 + r->words[r->plan->separable],
        .heights = rows->heights,
        .times = r->work.times,
        .n_times = rows->n_times,
        .by_row = is_weighted_along(q, 1) ? rows->weights : NULL,
        .by_x = is_weighted_along(q, 0) ? rows->by_x + at : NULL,
        .residuals = r->work.residuals,
        .sums = rows->n_times ? r->work.time_sums + at : NULL,
        .of_data = rows->of_data,
        .alone = rows->alone};
    pyspec_block_table[r->call->isa].strip(&from, &square, n);
    return square;
}

/* The same of any data. */
static double sum_any(const run *r, const strip_rows *rows, int64_t x0, int64_t n)
{
    const pyspec_problem *q = r->problem;
    const block_ops *ops = &pyspec_block_table[r->call->isa];
    const int64_t n_traces = 1 + r->words[r->plan->separable], stride = shape_stride(q);
    const int64_t at = x0 - q->x_begin;
    double *out = r->work.residuals, square, sum = 0.0;
    for (int64_t i = 0; i < rows->n; i++, out += BLOCK) {
        if (!rows->alone) {
            ops->mix(out, rows->shapes + at, stride, rows->heights + i * n_traces, n_traces, n);
            pyspec_subtract(q, r->call->isa, rows->begin + i, x0, n, out);
            ops->dot(&square, out, out, n);
            sum += square;
        }
        if (rows->of_data) {
            fill(out, 0.0, n);
            pyspec_subtract(q, r->call->isa, rows->begin + i, x0, n, out);
        }
        fill(out + n, 0.0, BLOCK - n);
    }
    if (rows->n_times)
        ops->contract(r->work.time_sums + at, stride, r->work.times, rows->n_times,
                      r->work.residuals, rows->n, n);
    return sum;
}

double pyspec_sum_strip(const run *r, const strip_rows *rows)
{
    const pyspec_problem *q = r->problem;
    const int plain = is_plain(q);
    double chisqr = 0.0;
    if (!plain)
        fill(r->work.time_sums, 0.0, round_up(rows->n_times, CONTRACT_TILE) * shape_stride(q));
    for (int64_t x0 = q->x_begin; x0 < q->x_end; x0 += BLOCK) {
        const int64_t n = q->x_end - x0 < BLOCK ? q->x_end - x0 : BLOCK;
        chisqr += plain ? sum_plain(r, rows, x0, n) : sum_any(r, rows, x0, n);
    }
    return chisqr;
}

/* Overlaps of the functions of time of a strip. */
static void find_time_gram(const run *r, int64_t n_times, int64_t n_rows)
{
    double *gram = r->work.time_gram, *times = r->work.times;
    for (int64_t a = 0; a < n_times; a++)
        for (int64_t b = a; b < n_times; b++) {
            pyspec_block_table[r->call->isa].dot(gram + a * n_times + b, times + a * STRIP,
                                                 times + b * STRIP, n_rows);
            gram[b * n_times + a] = gram[a * n_times + b];
        }
}

void pyspec_fill_triangle(const run *r, int64_t n_terms, int64_t n_times, double *triangle)
{
    const pyspec_problem *q = r->problem;
    const block_ops *ops = &pyspec_block_table[r->call->isa];
    const int64_t n_shapes = *(int64_t *)(void *)r->prepared.n_shapes, stride = shape_stride(q);
    const int64_t n = q->x_end - q->x_begin, n_theta = r->plan->n_theta, order = n_theta + 1;
    const int64_t *place = (const int64_t *)(const void *)r->work.time_place;
    const term *terms = (const term *)(const void *)r->work.terms;
    const double *gram = r->work.time_gram;
    for (int64_t a = 0; is_weighted_along(q, 0) && a < n_times; a++)
        weigh_line(r, r->work.time_sums + a * stride, n);
    for (int64_t a = 0, group = 0; a < n_terms; a++) {
        const int64_t theta = terms[a].theta, line = terms[a].shape, own = place[terms[a].time];
        const double *of_shapes = r->prepared.overlaps + line * n_shapes;
        const double *of_times = gram + own * n_times;
        double along, *row = triangle + triangle_at(order, theta, theta);
        group = theta == terms[group].theta ? group : a;
        for (int64_t b = group; b < n_terms; b++)
            row[terms[b].theta - theta] +=
                of_shapes[terms[b].shape] * of_times[place[terms[b].time]];
        ops->dot(&along, r->prepared.shapes + line * stride + q->x_begin,
                 r->work.time_sums + own * stride, n);
        row[n_theta - theta] += along;
    }
}

int pyspec_accumulate_shapes(const pyspec_call *call, pyspec_normal *normal, int64_t row_begin,
                             int64_t row_end)
{
    run state, *r = &state;
    int status = pyspec_check_sums(call, normal, row_begin, row_end);
    status = status ? status : pyspec_begin_run(r, call, 0, normal->form != PYSPEC_FORM_VALUE);
    status = status ? status : pyspec_use_shapes(r);
    if (status)
        return status;
    const int64_t size = triangle_size(normal->order);
    const int64_t n_terms = r->slopes ? pyspec_list_terms(r) : 0;
    pyspec_begin_strips(r);
    for (int64_t row = row_begin; !status && row < row_end; row = (row / STRIP + 1) * STRIP) {
        const int64_t end = (row / STRIP + 1) * STRIP;
        const strip s = pyspec_strip_of(row, end < row_end ? end : row_end);
        pyspec_load_strip(r, &s);
        fill(r->work.record, 0.0, size);
        if (r->slopes)
            fill(r->work.times, 0.0, round_up(count_times(r->plan, 1), CONTRACT_TILE) * STRIP);
        pyspec_load_times(r, &s);
        const int64_t n_times = pyspec_join_equal_times(r, r->work.times, STRIP, STRIP);
        const strip_rows rows = {.begin = row,
                                 .n = s.n,
                                 .heights = r->work.heights,
                                 .weights = r->work.times,
                                 .shapes = r->prepared.shapes + r->problem->x_begin,
                                 .by_x = r->prepared.shape_weight,
                                 .n_times = r->slopes ? n_times : 0};
        r->work.record[size - 1] = pyspec_sum_strip(r, &rows);
        if (r->slopes) {
            find_time_gram(r, n_times, s.n);
            pyspec_fill_triangle(r, n_terms, n_times, r->work.record);
        }
        status = push_strip(normal, row, r->work.record);
    }
    return status;
}
