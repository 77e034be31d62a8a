/* span.c: sums of a fit of a separable plan, which reads its data in some evaluations only.
 *
 * At each theta the model is a sum of shapes(E) times functions(t). The functions of all theta so far span a space.
 * Memory holds an orthonormal basis q_j(t) of it, and d_j(E), the data summed over time with each. If the functions of
 * a new theta lie in this space, to rounding, the residual follows without the data. It is d_j - m_j, with m_j the
 * model summed likewise, and
 *
 *     chi^2 = rest + sum of |d_j - m_j|^2.
 *
 * The rest is the part of the data beyond the span. No theta of the span changes it. Both terms are sums of squares:
 * no digits are lost (as in least squares by a QR factor: G. H. Golub, Numer. Math. 7 (1965) 206). The sums over time
 * that J^T r needs follow from d_j - m_j as well. A converging fit changes its functions of time less and less. Soon
 * their new part is only rounding.
 *
 * If they do not lie in the space, their new part joins the span: the data are read and summed with it. A span that is
 * full begins anew. A reading also computes the residual point by point at first, where no function joins, and where
 * little is left of the rest. Then chi^2 is the sum of the squares, and `rest` is chi^2 minus the part within the span.
 * In other cases the new functions take their part of the rest. If chi^2 turns out much smaller than it was at the last
 * such reading, the data are read once more. */
#include "separable/span.h"
#include "separable/shapes.h"
#include "separable/orthogonal.h"

#include <float.h>

/* A function of which less than this share lies beyond the span lies in it: rounding leaves half as much. */
static const double NEGLIGIBLE = 8.0 * DBL_EPSILON;

/* In standard errors, what may be left out of the functions of a theta; a fit ends within 5e-8 by default. */
static const double SHIFT = 1e-8;

/* chi^2 is found point by point again where it is less than this share of that at the last time. */
static const double LEAST_SHARE = 1.0 / 16.0;

/* A span pays if rows have at least LEAST_POINTS points for each function of time, and there are at least LEAST_ROWS
 * rows. It takes at most MOST_BYTES bytes. The sums of threads take at most MOST_OF_SUMS. */
enum { LEAST_POINTS = 16, LEAST_ROWS = 64, MOST_BYTES = 3 << 24, MOST_OF_SUMS = 1 << 24 };

static int64_t count_chunks(const pyspec_problem *q, int64_t chunk)
{
    return (q->row_end - 1) / chunk - q->row_begin / chunk + 1;
}

/* Chunks of rows for threads: how many rows each has, a power of two, and how many sums are open at a time. */
static void divide_rows(span *s, const pyspec_problem *q)
{
    const int64_t n_strips = count_chunks(q, STRIP);
    int64_t level = 0, most = MOST_CHUNKS;
    while ((int64_t)1 << level < n_strips)
        level++;
    s->n_open = 2 * level + 2;
    for (;; most /= 2) {
        for (level = 0; count_chunks(q, STRIP << level) > most; level++)
            continue;
        s->chunk = STRIP << level;
        s->n_chunks = count_chunks(q, s->chunk);
        s->chunk_open = 2 * level + 2;
        s->n_nodes = s->n_open + s->n_chunks * s->chunk_open;
        if (s->n_chunks == 1 || s->n_nodes * s->most_sums * (int64_t)sizeof(double) <= MOST_OF_SUMS)
            return;
    }
}

span pyspec_divide_span(const pyspec_plan *plan, const pyspec_problem *q, double *base)
{
    span s = {0};
    const int64_t n_times = count_times(plan, 1), n_rows = q->row_end - q->row_begin;
    const int64_t lines = shape_stride(q);
    int64_t used = 0;
    if (!n_times || n_rows < LEAST_ROWS || q->x_end - q->x_begin < LEAST_POINTS * n_times)
        return s;
    s.most = 4 * n_times;
    s.stride = round_up(n_rows, STRIP);
    s.most_sums = 1 + n_times * line_size(q);
#define TAKE(part, count) (s.part = take_part(base, &used, count))
    TAKE(now, (int64_t)(sizeof(span_state) / sizeof(double)));
    TAKE(functions, s.most * s.stride);
    TAKE(data, s.most * lines);
    TAKE(residual, s.most * lines);
    TAKE(times, n_times * s.stride);
    TAKE(parts, n_times * s.most);
    TAKE(heights, s.stride * count_times(plan, 0));
    TAKE(place, n_times);
    TAKE(found, s.most);
    TAKE(whole, n_times);
    TAKE(beyond, n_times);
    TAKE(sums, s.most_sums);
    TAKE(triangle, triangle_size(plan->n_theta + 1));
    if (used * (int64_t)sizeof(double) > MOST_BYTES)
        return (span){0};
    divide_rows(&s, q);
    TAKE(places, 2 * s.n_nodes);
    TAKE(nodes, s.n_nodes * s.most_sums);
#undef TAKE
    s.size = used * (int64_t)sizeof(double);
    return s;
}

int64_t pyspec_span_size(const pyspec_plan *plan, const pyspec_problem *problem)
{
    return plan && problem && plan->separable >= 0 ? pyspec_divide_span(plan, problem, NULL).size : 0;
}

int pyspec_has_span_memory(const pyspec_call *call, const double *memory, int64_t given)
{
    const int64_t size = call && memory ? pyspec_span_size(call->plan, call->problem) : 0;
    return size > 0 && given >= size;
}

/* ---- functions of time --------------------------------------------------------------------- */

/* Those of this theta, and the heights, row by row. */
static void load_functions(const run *r, const span *s)
{
    const pyspec_problem *q = r->problem;
    const int64_t n_times = count_times(r->plan, r->slopes), n_traces = count_times(r->plan, 0);
    pyspec_begin_strips(r);
    for (int64_t row = q->row_begin; row < q->row_end; row = (row / STRIP + 1) * STRIP) {
        const int64_t at = row - q->row_begin, end = (row / STRIP + 1) * STRIP;
        const strip rows = pyspec_strip_of(row, end < q->row_end ? end : q->row_end);
        pyspec_load_strip(r, &rows);
        pyspec_load_times(r, &rows);
        for (int64_t a = 0; a < n_times; a++)
            memcpy(s->times + a * s->stride + at, r->work.times + a * STRIP,
                   (size_t)rows.n * sizeof(double));
        memcpy(s->heights + at * n_traces, r->work.heights,
               (size_t)(rows.n * n_traces) * sizeof(double));
    }
    for (int64_t a = 0; a < n_times; a++)
        fill(s->times + a * s->stride + q->row_end - q->row_begin, 0.0,
             s->stride - (q->row_end - q->row_begin));
}

/* Takes from a function what lies in the span, and adds it to its parts. */
static void take_from_span(const run *r, const span *s, double *own, double *parts)
{
    pyspec_take_along(r->call->isa, own, s->functions, s->stride, s->now->n, parts, s->found);
}

static double length(const run *r, const span *s, const double *own)
{
    double square;
    pyspec_block_table[r->call->isa].dot(&square, own, own, s->stride);
    return sqrt(square);
}

/* Finds the parts of the functions of this theta within the span. For all but the first, `times` keeps the part beyond
 * it. The first function is u(t) at any theta, and the span begins with it. Returns whether all is finite. */
static int split_functions(const run *r, const span *s, int64_t n_times)
{
    const double first = length(r, s, s->times);
    fill(s->parts, 0.0, n_times * s->most);
    if (s->now->n == 0 && first > 0.0) {
        for (int64_t i = 0; i < s->stride; i++)
            s->functions[i] = s->times[i] / first;
        s->now->n = 1;
    }
    s->parts[0] = s->whole[0] = first;
    s->beyond[0] = 0.0;
    for (int64_t a = 1; a < n_times; a++) {
        double *own = s->times + a * s->stride, *parts = s->parts + a * s->most;
        s->whole[a] = length(r, s, own);
        take_from_span(r, s, own, parts);
        s->beyond[a] = length(r, s, own);
        if (!isfinite(s->whole[a]) || !isfinite(s->beyond[a]))
            return 0;
    }
    return isfinite(first);
}

/* What lies beyond the span joins it. Returns whether there is room for all. */
static int extend_span(const run *r, const span *s, int64_t n_times)
{
    for (int64_t a = 1; a < n_times; a++) {
        double *own = s->times + a * s->stride, *parts = s->parts + a * s->most;
        if (s->beyond[a] <= NEGLIGIBLE * s->whole[a])
            continue;
        take_from_span(r, s, own, parts); /* what has just joined, and what rounding left */
        take_from_span(r, s, own, parts); /* what is left is orthogonal to rounding then */
        const double left = length(r, s, own);
        if (left <= NEGLIGIBLE * s->whole[a])
            continue;
        if (s->now->n == s->most)
            return 0;
        double *joins = s->functions + s->now->n * s->stride;
        for (int64_t i = 0; i < s->stride; i++)
            joins[i] = own[i] / left;
        parts[s->now->n++] = left;
    }
    return 1;
}

static double count_points(const run *r)
{
    const pyspec_problem *q = r->problem;
    return (double)((q->row_end - q->row_begin) * (q->x_end - q->x_begin));
}

/* Whether the part of functions and slopes that lies beyond the span moves the optimum by at most SHIFT standard
 * errors. */
static int are_functions_within(const run *r, const span *s)
{
    for (int64_t a = 1; a < s->now->n_times; a++)
        if (!(s->beyond[a] * sqrt(count_points(r)) <= SHIFT * s->whole[a]))
            return 0;
    return 1;
}

/* Whether the part of the model that lies beyond the span is at most SHIFT times the noise of a point: the norm over
 * all points is compared with the root of the mean square residual. */
static int is_model_within(const run *r, const span *s, double chisqr)
{
    const pyspec_problem *q = r->problem;
    const int64_t n = q->x_end - q->x_begin, n_traces = count_times(r->plan, 0);
    const int64_t *place = (const int64_t *)(const void *)r->work.time_place;
    double *line = r->work.time_sums, square, model = 0.0;
    for (int64_t t = 1; t < n_traces; t++) {
        memcpy(line, r->prepared.shapes + t * shape_stride(q) + q->x_begin,
               (size_t)n * sizeof *line);
        if (is_weighted_along(q, 0))
            weigh_line(r, line, n);
        pyspec_block_table[r->call->isa].dot(&square, line, line, n);
        model += s->beyond[place[pyspec_time_of(r, t)]] * sqrt(square);
    }
    return model <= SHIFT * sqrt(chisqr / count_points(r));
}

/* ---- data ---------------------------------------------------------------------------------- */

/* out = the sum of lines along the energies, each times its factor. */
static void add_up(const run *r, double *out, const double *lines, const double *factors, int64_t n)
{
    const int64_t n_x = round_up(r->problem->x_end - r->problem->x_begin, L);
    fill(out, 0.0, n_x);
    pyspec_block_table[r->call->isa].add_lines(out, lines, shape_stride(r->problem), factors, n,
                                               n_x);
}

/* The model summed over time with function k of the span. */
static void sum_model(const run *r, const span *s, int64_t k, double *out)
{
    const pyspec_problem *q = r->problem;
    const int64_t n_traces = count_times(r->plan, 0), n = q->x_end - q->x_begin;
    const int64_t *place = (const int64_t *)(const void *)r->work.time_place;
    for (int64_t t = 0; t < n_traces; t++)
        s->found[t] = s->parts[place[pyspec_time_of(r, t)] * s->most + k];
    add_up(r, out, r->prepared.shapes + q->x_begin, s->found, n_traces);
    if (is_weighted_along(q, 0))
        weigh_line(r, out, n);
}

/* Finds the residual within the span, d_j - m_j, and returns the sum of its squares. */
static double find_residual(const run *r, const span *s)
{
    const int64_t stride = shape_stride(r->problem), n = r->problem->x_end - r->problem->x_begin;
    double square, sum = 0.0;
    for (int64_t k = 0; k < s->now->n; k++) {
        double *residual = s->residual + k * stride;
        sum_model(r, s, k, residual);
        pyspec_block_table[r->call->isa].subtract(residual, s->data + k * stride, n);
        pyspec_block_table[r->call->isa].dot(&square, residual, residual, n);
        sum += square;
    }
    return sum;
}

/* What has been read: the data summed over time with the functions that are new, and chi^2. Without it
 * chi^2 follows from the rest, of which the new functions take their part. */
static void take_sums(const run *r, const span *s, const double *sums)
{
    const int64_t stride = shape_stride(r->problem), size = line_size(r->problem);
    span_state *now = s->now;
    double square, joined = 0.0;
    for (int64_t k = now->first; k < now->n; k++, sums += size) {
        memcpy(s->data + k * stride, sums, (size_t)size * sizeof(double));
        pyspec_block_table[r->call->isa].dot(&square, sums, sums, size);
        joined += square;
    }
    const double within = find_residual(r, s);
    if (now->has_model) {
        now->chisqr = now->chisqr_read = *sums;
        now->rest = now->chisqr > within ? now->chisqr - within : 0.0;
        return;
    }
    now->rest = now->rest > joined ? now->rest - joined : 0.0;
    now->chisqr = now->rest + within;
}

/* ---- sums ---------------------------------------------------------------------------------- */

/* The triangle, from the parts of the functions of time and the residual within the span. */
static void fill_sums(const run *r, const span *s, int64_t n_times, double *triangle)
{
    const int64_t stride = shape_stride(r->problem);
    for (int64_t a = 0; a < n_times; a++) {
        const double *parts = s->parts + a * s->most;
        add_up(r, r->work.time_sums + a * stride, s->residual, parts, s->now->n);
        for (int64_t b = 0; b < n_times; b++) {
            double sum = 0.0;
            for (int64_t k = 0; k < s->now->n; k++)
                sum += parts[k] * s->parts[b * s->most + k];
            r->work.time_gram[a * n_times + b] = sum;
        }
    }
    pyspec_fill_triangle(r, pyspec_list_terms(r), n_times, triangle);
}

/* Whether so little of chi^2 is left that the rest has lost digits. */
static int has_lost_digits(const span *s, double chisqr)
{
    return chisqr < LEAST_SHARE * s->now->chisqr_read;
}

/* Finds chi^2 and the residual from what was read, at functions that are split. Returns whether that is enough. */
static int follows_from_span(const run *r, const span *s)
{
    if (s->now->first == 0 || !are_functions_within(r, s))
        return 0;
    s->now->chisqr = s->now->rest + find_residual(r, s);
    return !has_lost_digits(s, s->now->chisqr) && is_model_within(r, s, s->now->chisqr);
}

/* Finds the functions of a theta, and what of them is new. Returns whether data are to be read. */
static int find_functions(const run *r, const span *s)
{
    span_state *now = s->now;
    now->n = now->n_read; /* what was asked for and never read is not known */
    for (;;) {
        load_functions(r, s);
        now->n_times = pyspec_join_equal_times(r, s->times, s->stride, s->stride);
        memcpy(s->place, r->work.time_place, (size_t)count_times(r->plan, r->slopes) * sizeof(double));
        now->first = now->n;
        now->chisqr = NAN;
        if (!split_functions(r, s, now->n_times) || follows_from_span(r, s))
            return 0;
        if (extend_span(r, s, now->n_times))
            break;
        now->n = now->n_read = 0; /* there is room for all functions of one theta */
    }
    now->has_model = now->first == 0 || now->first == now->n || has_lost_digits(s, now->rest);
    return 1;
}

/* Begins a run in which a span is asked. Returns a status. */
static int begin_asked(run *r, const pyspec_call *call, int64_t form, double *memory, int64_t size,
                       span *s)
{
    if (!call || !call->plan || !call->problem || !memory)
        return STATUS_NULL_POINTER;
    if (!pyspec_has_span_memory(call, memory, size))
        return STATUS_WORK;
    if (!pyspec_may_separate(call, form) || !pyspec_has_shapes(call))
        return STATUS_PREPARED;
    *s = pyspec_divide_span(call->plan, call->problem, memory);
    const int status = pyspec_begin_run(r, call, 0, form != PYSPEC_FORM_VALUE);
    return status ? status : pyspec_use_shapes(r);
}

/* The same of `take` and `answer`, for the theta that was asked for. */
static int go_on(run *r, const pyspec_call *call, int64_t form, double *memory, int64_t size, span *s)
{
    const int status = begin_asked(r, call, form, memory, size, s);
    if (!status)
        memcpy(r->work.time_place, s->place,
               (size_t)count_times(r->plan, r->slopes) * sizeof(double));
    return status;
}

static void describe_reading(const run *r, const span *s, int is_due, pyspec_reading *reading)
{
    *reading = (pyspec_reading){.heights = s->heights,
                                .weights = s->times, /* the first is u(t), which nothing is taken from */
                                .shapes = r->prepared.shapes + r->problem->x_begin,
                                .by_x = r->prepared.shape_weight,
                                .n_traces = count_times(r->plan, 0),
                                .between = shape_stride(r->problem),
                                .row = r->problem->row_begin,
                                .stride = s->stride,
                                .is_due = is_due};
    if (is_due) {
        reading->functions = s->functions + s->now->first * s->stride;
        reading->n = s->now->n - s->now->first;
        reading->has_model = s->now->has_model;
    }
    reading->size = 1 + reading->n * line_size(r->problem);
}

int pyspec_span_ask(const pyspec_call *call, int64_t form, double *memory, int64_t size,
                    pyspec_reading *reading)
{
    run state, *r = &state;
    span s;
    const int status = reading ? begin_asked(r, call, form, memory, size, &s) : STATUS_NULL_POINTER;
    if (!status)
        describe_reading(r, &s, find_functions(r, &s), reading);
    return status;
}

int pyspec_span_take(const pyspec_call *call, int64_t form, double *memory, int64_t size,
                     const double *sums, pyspec_reading *reading)
{
    run state, *r = &state;
    span s;
    const int status =
        sums && reading ? go_on(r, call, form, memory, size, &s) : STATUS_NULL_POINTER;
    if (status)
        return status;
    take_sums(r, &s, sums);
    const int is_due = !s.now->has_model && has_lost_digits(&s, s.now->chisqr);
    s.now->first = s.now->n_read = s.now->n;
    s.now->has_model = 1;
    describe_reading(r, &s, is_due, reading);
    return STATUS_OK;
}

int pyspec_span_answer(const pyspec_call *call, int64_t form, double *memory, int64_t size,
                       double *triangle)
{
    run state, *r = &state;
    span s;
    const int status = triangle ? go_on(r, call, form, memory, size, &s) : STATUS_NULL_POINTER;
    if (status)
        return status;
    const int64_t n = triangle_size(r->slopes ? r->plan->n_theta + 1 : 1);
    fill(triangle, 0.0, n);
    if (!isfinite(s.now->chisqr))
        s.now->n = s.now->n_read = 0;
    if (r->slopes && s.now->n)
        fill_sums(r, &s, s.now->n_times, triangle);
    triangle[n - 1] = s.now->chisqr;
    return STATUS_OK;
}
