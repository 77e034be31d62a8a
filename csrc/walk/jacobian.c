/* jacobian.c: the derivatives of the model by theta, written out. */
#include "walk/run.h"

/* Writes the columns of the result over the window. */
static void write_columns(const run *r, const tile *t)
{
    const pyspec_problem *q = r->problem;
    const unsigned char *written = written_at(r, r->plan->result);
    const int64_t n = count_in_window(r, t);
    const int64_t width = q->x_end - q->x_begin, size = (q->row_end - q->row_begin) * width;
    for (int64_t k = 0; n > 0 && k < r->by.n; k++) {
        const double *from = written[k] ? column_at(r, t, r->plan->result, k) : pyspec_zeros;
        double *out = r->call->out + k * size + (t->row[0] - q->row_begin) * width +
                      (t->x0 - q->x_begin);
        if (t->across)
            memcpy(out, from, (size_t)n * sizeof *out);
        else
            pyspec_block_table[r->call->isa].turn(out, width, from, n, t->n_lanes);
    }
}

static void write_traces(const run *r, const strip *s)
{
    const pyspec_problem *q = r->problem;
    const int64_t n = q->row_end - q->row_begin;
    for (int64_t k = 0; k < r->by.n; k++) {
        const double *slope = slope_by(r, r->plan->trace, k);
        double *out = r->call->out + k * n + s->row - q->row_begin;
        if (slope)
            copy_values(out, slope, r->work.traces[r->plan->trace].moves, 0, s->n);
        else
            fill(out, 0.0, s->n);
    }
}

int64_t pyspec_jacobian_work_size(const pyspec_plan *plan, const pyspec_problem *problem)
{
    return plan && problem && plan->depends >= 0 ? divide_work(plan, problem, NULL, 1).size : 0;
}

int pyspec_jacobian(const pyspec_call *call)
{
    run state, *r = &state;
    if (!call || !call->plan || !call->problem)
        return STATUS_NULL_POINTER;
    const pyspec_problem *q = call->problem;
    const int64_t size = (q->row_end - q->row_begin) * (q->x_end - q->x_begin);
    /* The product of three large counts may be beyond an int64; as much as that nobody has room for. */
    if (call->plan->n_theta && size > INT64_MAX / (int64_t)sizeof(double) / call->plan->n_theta)
        return STATUS_OUTPUT;
    int status = pyspec_begin_run(r, call, call->plan->n_theta * size, 1);
    status = status ? status : pyspec_fill_prepared(r, PYSPEC_PREPARE_SLOPES);
    if (status)
        return status;
    r->by.n = r->plan->n_theta;
    pyspec_begin_strips(r);
    for (int64_t row = q->row_begin; row < q->row_end; row += STRIP) {
        const strip s = pyspec_strip_of(row, q->row_end);
        pyspec_load_strip(r, &s);
        if (r->plan->trace >= 0)
            write_traces(r, &s);
        else
            pyspec_walk_strip(r, &s, write_columns);
    }
    return STATUS_OK;
}
