/* jacobian.c: the derivatives of the model by theta, written out. */
#include "run.h"

/* Writes the columns of the result over the window. */
static void write_columns(const run *r, const tile *t)
{
    const pyspec_problem *q = r->problem;
    const unsigned char *written = pyspec_written(r, r->plan->result);
    int64_t n = pyspec_in_window(r, t);
    int64_t width = q->x_end - q->x_begin, size = (q->row_end - q->row_begin) * width;
    int64_t n_lanes = t->across ? 1 : q->row_end - t->row < L ? q->row_end - t->row : L;
    for (int64_t k = 0; n > 0 && k < r->by.n; k++) {
        const double *from = written[k] ? pyspec_column(r, r->plan->result, k) : r->work.zeros;
        double *out = r->call->out + k * size + (t->row - q->row_begin) * width +
                      (t->x0 - q->x_begin);
        if (t->across)
            memcpy(out, from, (size_t)n * sizeof *out);
        else
            pyspec_block_table[r->call->isa].turn(out, width, from, n, n_lanes);
    }
}

static void write_traces(const run *r)
{
    const pyspec_problem *q = r->problem;
    const int64_t n = q->row_end - q->row_begin;
    for (int64_t k = 0; k < r->by.n; k++) {
        const double *slope = pyspec_slope_row(r, r->plan->trace, 0, k);
        double *out = r->call->out + k * n;
        if (slope)
            memcpy(out, slope + q->row_begin, (size_t)n * sizeof *out);
        else
            fill(out, 0.0, n);
    }
}

int64_t pyspec_jacobian_work_size(const pyspec_plan *plan, const pyspec_problem *problem)
{
    return plan && problem && plan->depends >= 0 ? divide_work(plan, problem, NULL, 1).size : 0;
}

int pyspec_jacobian(const pyspec_call *call)
{
    run state = {0}, *r = &state;
    if (!call || !call->plan || !call->problem)
        return STATUS_NULL_POINTER;
    if (call->plan->depends < 0)
        return STATUS_OFFSET;
    const pyspec_problem *q = call->problem;
    const int64_t size = (q->row_end - q->row_begin) * (q->x_end - q->x_begin);
    int status = pyspec_begin_run(r, call, call->plan->n_theta * size, 1);
    if (status)
        return status;
    r->by.n = r->plan->n_theta;
    pyspec_resolve_slopes(r);
    if (r->plan->trace >= 0) {
        write_traces(r);
        return STATUS_OK;
    }
    const int64_t x_end = pyspec_last_abscissa(r);
    const int across = r->plan->dimension == 1;
    fill(r->work.zeros, 0.0, BLOCK * L);
    pyspec_run_lines(r, x_end);
    for (int64_t row = q->row_begin; row < q->row_end; row += across ? 1 : L) {
        tile t = {.row = row, .across = across};
        pyspec_begin_tile(r);
        for (int64_t k = pyspec_tile_block(r, &t, 0, x_end) - 1; k >= 0; k--) {
            pyspec_tile_block(r, &t, k, x_end);
            pyspec_block_columns(r, &t);
            write_columns(r, &t);
        }
    }
    return STATUS_OK;
}
