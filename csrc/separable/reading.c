/* reading.c: the data of a separable plan, summed over time with functions that are given, and chi^2. */
#include "separable/shapes.h"

static int has_arrays(const pyspec_normal *normal, const pyspec_reading *reading)
{
    return normal->places && normal->nodes && reading->weights && reading->by_x &&
           (!reading->n || reading->functions) &&
           (!reading->has_model || (reading->heights && reading->shapes));
}

/* Whether sums and a reading have the sizes of a problem. */
static int has_sizes(const pyspec_call *call, const pyspec_normal *normal, const pyspec_reading *reading)
{
    return reading->n >= 0 && reading->n <= count_times(call->plan, 1) &&
           reading->size == 1 + reading->n * line_size(call->problem) &&
           reading->between == shape_stride(call->problem) &&
           reading->n_traces == count_times(call->plan, 0) && normal->form == PYSPEC_FORM_DATA &&
           normal->order == reading->size;
}

static int has_rows(const pyspec_problem *q, const pyspec_reading *reading, int64_t row_begin, int64_t row_end)
{
    return row_begin >= q->row_begin && row_end <= q->row_end && row_begin < row_end &&
           pyspec_is_whole(q, row_begin, row_end) && row_begin >= reading->row &&
           row_end - reading->row <= reading->stride;
}

static int check_reading(const pyspec_call *call, const pyspec_normal *normal,
                         const pyspec_reading *reading, int64_t row_begin, int64_t row_end)
{
    if (!has_arrays(normal, reading))
        return STATUS_NULL_POINTER;
    if (!pyspec_is_separable(call, PYSPEC_FORM_VALUE))
        return call->problem->data ? STATUS_STAGE : STATUS_DATA;
    if (!has_sizes(call, normal, reading))
        return STATUS_ORDER;
    return has_rows(call->problem, reading, row_begin, row_end) ? STATUS_OK : STATUS_WINDOW;
}

/* The sums of a strip, in whole lines one behind the other, and chi^2 behind them. */
static const double *read_strip(const run *r, int64_t row, int64_t n_rows,
                                const pyspec_reading *reading)
{
    const pyspec_problem *q = r->problem;
    const int64_t size = line_size(q), n_x = q->x_end - q->x_begin, n = reading->n;
    const int64_t at = row - reading->row;
    double *sums = r->work.time_sums, *times = r->work.times;
    const strip_rows rows = {
        .begin = row,
        .n = n_rows,
        .heights = reading->has_model ? reading->heights + at * count_times(r->plan, 0) : NULL,
        .weights = reading->weights + at,
        .shapes = reading->shapes,
        .by_x = reading->by_x,
        .n_times = n,
        .of_data = 1,
        .alone = !reading->has_model};
    fill(times, 0.0, round_up(n, CONTRACT_TILE) * STRIP);
    for (int64_t k = 0; k < n; k++)
        memcpy(times + k * STRIP, reading->functions + k * reading->stride + at,
               (size_t)n_rows * sizeof(double));
    const double chisqr = pyspec_sum_strip(r, &rows);
    for (int64_t k = 0; k < n; k++) {
        memmove(sums + k * size, sums + k * shape_stride(q), (size_t)n_x * sizeof(double));
        fill(sums + k * size + n_x, 0.0, size - n_x);
    }
    sums[n * size] = chisqr;
    return sums;
}

int pyspec_read(const pyspec_call *call, pyspec_normal *normal, const pyspec_reading *reading,
                int64_t row_begin, int64_t row_end)
{
    run state, *r = &state;
    if (!call || !call->plan || !call->problem || !normal || !reading)
        return STATUS_NULL_POINTER;
    int status = check_reading(call, normal, reading, row_begin, row_end);
    if (status)
        return status;
    status = pyspec_begin_run(r, call, 0, reading->n > count_times(call->plan, 0));
    for (int64_t row = row_begin; !status && row < row_end; row = (row / STRIP + 1) * STRIP) {
        const int64_t end = (row / STRIP + 1) * STRIP;
        const int64_t n_rows = (end < row_end ? end : row_end) - row;
        status = push_strip(normal, row, read_strip(r, row, n_rows, reading));
    }
    return status;
}
