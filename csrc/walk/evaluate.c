/* evaluate.c: the entries that write models, residuals and traces. */
#include "walk/run.h"

/* Writes what of a block lies in the window, as model or residual. */
static void write_block(const run *r, const tile *t)
{
    const pyspec_problem *q = r->problem;
    const double *slot = slot_at(r, t, r->plan->result);
    const int64_t n = count_in_window(r, t), width = q->x_end - q->x_begin;
    double *out = r->call->out + (t->row[0] - q->row_begin) * width + (t->x0 - q->x_begin);
    if (n <= 0)
        return;
    if (t->across)
        memcpy(out, slot, (size_t)n * sizeof *out);
    else
        pyspec_block_table[r->call->isa].turn(out, width, slot, n, t->n_lanes);
    for (int64_t l = 0; r->residual && l < t->n_lanes; l++)
        pyspec_subtract(q, r->call->isa, t->row[l], t->x0, n, out + l * width);
}

/* A model whose result is one trace: a value for each row. */
static void write_trace(const run *r, const strip *s)
{
    const int64_t row = s->row;
    double *out = r->call->out + (row - r->problem->row_begin);
    const trace *from = &r->work.traces[r->plan->trace];
    copy_values(out, from->value, from->moves, 0, s->n);
    for (int64_t i = 0; r->residual && i < s->n; i++)
        pyspec_subtract(r->problem, r->call->isa, row + i, 0, 1, out + i);
}

static int run_spectra(const pyspec_call *call, int residual)
{
    run state, *r = &state;
    if (!call || !call->problem)
        return STATUS_NULL_POINTER;
    const pyspec_problem *q = call->problem;
    int status = pyspec_begin_run(r, call,
                                  (q->row_end - q->row_begin) * (q->x_end - q->x_begin), 0);
    if (status)
        return status;
    if (residual && !q->data)
        return STATUS_DATA;
    r->residual = residual;
    status = pyspec_fill_prepared(r, 0);
    if (status)
        return status;
    pyspec_begin_strips(r);
    for (int64_t row = q->row_begin; row < q->row_end; row += STRIP) {
        const strip s = pyspec_strip_of(row, q->row_end);
        pyspec_load_strip(r, &s);
        if (r->plan->trace >= 0)
            write_trace(r, &s);
        else
            pyspec_walk_strip(r, &s, write_block);
    }
    return STATUS_OK;
}

int64_t pyspec_work_size(const pyspec_plan *plan, const pyspec_problem *problem)
{
    return plan && problem ? divide_work(plan, problem, NULL, 0).size : 0;
}

int64_t pyspec_work_phases(const pyspec_plan *plan, const pyspec_problem *problem, int64_t slopes,
                           int64_t *bytes)
{
    if (!plan || !problem || !bytes || (slopes && plan->depends < 0))
        return 0;
    const work_parts w = divide_work(plan, problem, NULL, slopes != 0);
    memcpy(bytes, w.phases, sizeof w.phases);
    return w.size;
}

int pyspec_evaluate(const pyspec_call *call)
{
    return run_spectra(call, 0);
}

int pyspec_residual(const pyspec_call *call)
{
    return run_spectra(call, 1);
}

int pyspec_traces(const pyspec_call *call)
{
    run state, *r = &state;
    if (!call || !call->plan || !call->problem)
        return STATUS_NULL_POINTER;
    const int64_t n_rows = call->problem->n_rows;
    int status = pyspec_begin_run(r, call, call->plan->n_traces * n_rows, 0);
    status = status ? status : pyspec_fill_prepared(r, 0);
    if (status)
        return status;
    pyspec_begin_strips(r);
    for (int64_t row = 0; row < n_rows; row += STRIP) {
        const strip s = pyspec_strip_of(row, n_rows);
        pyspec_load_strip(r, &s);
        for (int64_t k = 0; k < r->plan->n_traces; k++)
            copy_values(call->out + k * n_rows + row, r->work.traces[k].value,
                        r->work.traces[k].moves, 0, s.n);
    }
    return STATUS_OK;
}
