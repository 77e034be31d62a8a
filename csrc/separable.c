/* separable.c: sums of a plan whose spectra are M(t, E) = sum_k S_k(E) g_k(t): S_k is a shape that
 * does not move, g_0 = 1 and g_k is a trace. Every derivative by theta is a sum of products of the
 * same kind, so that J^T J is made of overlaps of shapes times overlaps of traces, and J^T r of
 * shapes times the residual summed over time with each trace. Only the residual itself is computed
 * point by point: chi^2 is the sum of its squares, as everywhere.
 *
 * A leaf of the tree of sums is a strip of rows. Weights and mask enter as w = u(t) v(E). */
#include "shapes.h"

/* A product that is part of a column of J: a shape times a trace or a slope of one. */
typedef struct term {
    int64_t theta, shape, time;
} term;

int pyspec_is_separable(const pyspec_call *call, int64_t form)
{
    const pyspec_problem *q = call->problem;
    if (call->plan->separable < 0 || form == PYSPEC_FORM_FACTOR || q->loss != PYSPEC_LOSS_SQUARES)
        return 0;
    return (!weight_by_row(q) || q->weight_x == 0) && (!keep_by_row(q) || q->keep_x == 0) &&
           q->data;
}

int pyspec_has_shapes(const pyspec_call *call)
{
    const prepared_key *found = (const prepared_key *)(const void *)call->prepared;
    return found && call->prepared_size >= (int64_t)sizeof *found &&
           (found->what & PYSPEC_PREPARE_SHAPES) != 0;
}

/* ---- times ------------------------------------------------------------------------------- */

/* The place of trace k among the functions of time; its slopes stand behind it. */
static int64_t time_of(const run *r, int64_t k)
{
    int64_t at = 0;
    for (int64_t j = 0; j < k; j++)
        at += 1 + (j && r->slopes ? count_row_slopes(r->plan, moving_rows(r)[j - 1]) : 0);
    return at;
}

/* The terms of every column, those of one column behind each other; how many there are. */
static int64_t list_terms(const run *r, term *terms)
{
    const int64_t n_shapes = *(int64_t *)(void *)r->prepared.n_shapes;
    const int64_t n_moving = r->words[r->plan->separable];
    int64_t n = 0;
    for (int64_t theta = 0; theta < r->plan->n_theta; theta++) {
        for (int64_t s = 0; s < n_shapes; s++)
            if (shape_list(r)[s].theta == theta)
                terms[n++] = (term){theta, s, time_of(r, shape_list(r)[s].height)};
        for (int64_t k = 1; k <= n_moving; k++) {
            int64_t count;
            const int64_t *list = depends(r, moving_rows(r)[k - 1], &count);
            for (int64_t c = 0; c < count; c++)
                if (list[c] == theta)
                    terms[n++] = (term){theta, k, time_of(r, k) + 1 + c};
        }
    }
    return n;
}

static void load_time(double *to, const double *from, int64_t moves, const double *u, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = u[i] == 0.0 ? 0.0 : u[i] * from[i * moves];
    fill(to + n, 0.0, STRIP - n);
}

/* The functions of time, times u(t), and the values g_k(t) row by row. */
static void load_times(const run *r, const strip *s)
{
    const int64_t n_traces = 1 + r->words[r->plan->separable];
    double u[STRIP], *time = r->work.times;
    for (int64_t i = 0; i < s->n; i++) {
        u[i] = weight_of(r->problem, 1, s->segments->row + i, 0);
        r->work.heights[i * n_traces] = 1.0;
    }
    load_time(time, &(const double){1.0}, 0, u, s->n);
    for (int64_t k = 1; k < n_traces; k++) {
        const int64_t row = moving_rows(r)[k - 1];
        const trace *t = &r->work.traces[row];
        time = r->work.times + time_of(r, k) * STRIP;
        load_time(time, t->value, t->moves, u, s->n);
        for (int64_t c = 0; r->slopes && c < count_row_slopes(r->plan, row); c++)
            load_time(time + (c + 1) * STRIP, t->slopes + c * t->step, t->moves, u, s->n);
        for (int64_t i = 0; i < s->n; i++)
            r->work.heights[i * n_traces + k] = t->value[i * t->moves];
    }
}

/* Functions of time that are equal in a strip, such as slopes by the start of a trace and 1, are kept
 * once; returns how many differ. */
static int64_t join_equal_times(const run *r)
{
    const int64_t n_times = count_times(r->plan, r->slopes);
    const size_t size = STRIP * sizeof(double);
    int64_t *place = (int64_t *)(void *)r->work.time_place, n = 0;
    for (int64_t a = 0; a < n_times; a++) {
        const double *own = r->work.times + a * STRIP;
        int64_t k = 0;
        while (k < n && memcmp(own, r->work.times + k * STRIP, size) != 0)
            k++;
        if (k == n)
            memmove(r->work.times + n++ * STRIP, own, size);
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

/* chi^2 of a block of a strip whose data are plain; its residuals are summed over time with each
 * function. */
static double sum_plain(const run *r, const strip *s, int64_t n_times, int64_t x0, int64_t n)
{
    const pyspec_problem *q = r->problem;
    const int64_t stride = shape_stride(q), row = q->data_row / (int64_t)sizeof(double);
    const int64_t at = x0 - q->x_begin;
    double square;
    const strip_data from = {
        .data = (const double *)q->data + (s->segments->row - q->first_row) * row + x0,
        .data_row = row,
        .n_rows = s->n,
        .lines = r->prepared.shapes + x0,
        .stride = stride,
        .n_lines = 1 + r->words[r->plan->separable],
        .heights = r->work.heights,
        .times = r->work.times,
        .n_times = n_times,
        .by_row = is_weighted_along(q, 1) ? r->work.times : NULL,
        .by_x = is_weighted_along(q, 0) ? r->prepared.shape_weight + at : NULL,
        .residuals = r->work.residuals,
        .sums = r->slopes ? r->work.time_sums + at : NULL};
    pyspec_block_table[r->call->isa].strip(&from, &square, n);
    return square;
}

/* The same of any data. */
static double sum_any(const run *r, const strip *s, int64_t n_times, int64_t x0, int64_t n)
{
    const pyspec_problem *q = r->problem;
    const block_ops *ops = &pyspec_block_table[r->call->isa];
    const int64_t n_traces = 1 + r->words[r->plan->separable], stride = shape_stride(q);
    double *out = r->work.residuals, square, sum = 0.0;
    for (int64_t i = 0; i < s->n; i++, out += BLOCK) {
        ops->mix(out, r->prepared.shapes + x0, stride, r->work.heights + i * n_traces, n_traces, n);
        pyspec_subtract(q, r->call->isa, s->segments->row + i, x0, n, out);
        ops->dot(&square, out, out, n);
        sum += square;
        fill(out + n, 0.0, BLOCK - n);
    }
    if (r->slopes)
        ops->contract(r->work.time_sums + x0 - q->x_begin, stride, r->work.times,
                      n_times, r->work.residuals, s->n, n);
    return sum;
}

/* The weighted residuals of a strip: returns chi^2, and sums them over time with each function. */
static double sum_residuals(const run *r, const strip *s, int64_t n_times)
{
    const pyspec_problem *q = r->problem;
    double chisqr = 0.0;
    if (r->slopes && !is_plain(q))
        fill(r->work.time_sums, 0.0, round_up(n_times, CONTRACT_TILE) * shape_stride(q));
    for (int64_t x0 = q->x_begin; x0 < q->x_end; x0 += BLOCK) {
        const int64_t n = q->x_end - x0 < BLOCK ? q->x_end - x0 : BLOCK;
        chisqr += is_plain(q) ? sum_plain(r, s, n_times, x0, n) : sum_any(r, s, n_times, x0, n);
    }
    return chisqr;
}

/* The triangle of a strip from overlaps of shapes and of times. */
static void fill_triangle(const run *r, const term *terms, int64_t n_terms, int64_t n_times,
                          int64_t n_rows, double *triangle)
{
    const pyspec_problem *q = r->problem;
    const block_ops *ops = &pyspec_block_table[r->call->isa];
    const int64_t n_shapes = *(int64_t *)(void *)r->prepared.n_shapes, stride = shape_stride(q);
    const int64_t n = q->x_end - q->x_begin, n_theta = r->plan->n_theta, order = n_theta + 1;
    const int64_t *place = (const int64_t *)(const void *)r->work.time_place;
    double *gram = r->work.time_gram;
    for (int64_t a = 0; a < n_times; a++) {
        double *sums = r->work.time_sums + a * stride;
        for (int64_t b = a; b < n_times; b++) {
            ops->dot(gram + a * n_times + b, r->work.times + a * STRIP, r->work.times + b * STRIP,
                     n_rows);
            gram[b * n_times + a] = gram[a * n_times + b];
        }
        if (is_weighted_along(q, 0))
            weigh_line(r, sums, n);
    }
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
    int status = pyspec_begin_run(r, call, 0, normal->form != PYSPEC_FORM_VALUE);
    status = status ? status : pyspec_use_prepared(r);
    if (status)
        return status;
    const int64_t size = triangle_size(normal->order);
    term *terms = r->slopes ? (term *)(void *)r->work.terms : NULL;
    const int64_t n_terms = r->slopes ? list_terms(r, terms) : 0;
    pyspec_begin_strips(r);
    for (int64_t row = row_begin; !status && row < row_end; row = (row / STRIP + 1) * STRIP) {
        const int64_t end = (row / STRIP + 1) * STRIP;
        segment own;
        const strip s = pyspec_strip_of(r, &own, row, end < row_end ? end : row_end);
        pyspec_load_strip(r, &s);
        fill(r->work.record, 0.0, size);
        if (r->slopes)
            fill(r->work.times, 0.0, round_up(count_times(r->plan, 1), CONTRACT_TILE) * STRIP);
        load_times(r, &s);
        const int64_t n_times = join_equal_times(r);
        r->work.record[size - 1] = sum_residuals(r, &s, n_times);
        if (r->slopes)
            fill_triangle(r, terms, n_terms, n_times, s.n, r->work.record);
        int64_t level = 0;
        while (1 << level < STRIP)
            level++;
        status = pyspec_push_sums(normal, level, row / STRIP, r->work.record);
    }
    return status;
}
