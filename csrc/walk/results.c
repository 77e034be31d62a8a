/* results.c: several results of one plan, each with its derivatives: the basis functions of a model
 * with free amplitudes. In a turned plan a row is an energy, and the abscissae are times. */
#include "walk/results.h"
#include "walk/run.h"
#include "kinetics/scheme_kept.h"
#include "threads/team.h"

/* What the tasks of one evaluation share. */
typedef struct results_job {
    const pyspec_results *q;
    const pyspec_call *call;
    pyspec_team *team;
} results_job;

/* ---- checks ------------------------------------------------------------------------------ */

/* Whether a node writes a slot: the plan's own check has seen that the first to do so stores. */
static int is_slot(const run *r, int64_t slot)
{
    for (int64_t k = r->plan->n_resolve; k < r->plan->n_nodes; k++)
        if (r->nodes[k].target == slot)
            return 1;
    return 0;
}

static int is_place(const run *r, int64_t at)
{
    return r->plan->trace >= 0 ? in_range(at, 0, r->plan->n_traces) : is_slot(r, at);
}

static int check_results(const pyspec_results *q)
{
    if (q->n_values < 0 || q->n_slopes < 0 || q->n_entries < 0 || q->row < 0 || q->copies < 0)
        return STATUS_SIZE;
    if (q->n_values && (!q->values || !q->value_at))
        return STATUS_NULL_POINTER;
    if (q->n_slopes && (!q->slopes || !q->slope_at || !q->slope_by))
        return STATUS_NULL_POINTER;
    if (q->n_entries && (!q->factors || !q->entry_row || !q->entry_theta))
        return STATUS_NULL_POINTER;
    for (int64_t k = 0; k < q->n_values; k++)
        if (!q->values[k])
            return STATUS_NULL_POINTER;
    for (int64_t k = 0; k < q->n_slopes; k++)
        if (!q->slopes[k])
            return STATUS_NULL_POINTER;
    return STATUS_OK;
}

static int check_places(const run *r, const pyspec_results *q)
{
    const int64_t n_by = r->plan->trace >= 0 ? r->plan->n_theta : r->by.n;
    for (int64_t k = 0; k < q->n_values; k++)
        if (!is_place(r, q->value_at[k]))
            return STATUS_OFFSET;
    for (int64_t k = 0; k < q->n_slopes; k++)
        if (!is_place(r, q->slope_at[k]) || !in_range(q->slope_by[k], 0, n_by))
            return STATUS_OFFSET;
    for (int64_t e = 0; e < q->n_entries; e++)
        if (!in_range(q->entry_row[e], -1, r->plan->n_traces) ||
            !in_range(q->entry_theta[e], 0, r->plan->n_theta))
            return STATUS_OFFSET;
    return STATUS_OK;
}

/* ---- schemes ----------------------------------------------------------------------------- */

static int64_t count_schemes(const pyspec_plan *plan)
{
    int64_t n = 0;
    for (int64_t k = plan->n_resolve; k < plan->n_nodes; k++)
        n += plan_nodes(plan)[k].step == PYSPEC_STEP_COMPONENT && plan_nodes(plan)[k].op == PYSPEC_OP_SCHEME;
    return n;
}

int64_t pyspec_results_size(const pyspec_plan *plan)
{
    return plan ? count_schemes(plan) * (int64_t)sizeof(kept_scheme) : 0;
}

/* Those of a thread, of which nothing is known yet. */
static kept_scheme *begin_kept(const results_job *j, int64_t thread)
{
    const int64_t n = count_schemes(j->call->plan);
    if (!j->q->kept || !n)
        return NULL;
    kept_scheme *kept = (kept_scheme *)(void *)j->q->kept + thread * n;
    for (int64_t k = 0; k < n; k++)
        kept[k].is_known = 0;
    return kept;
}

/* ---- what is written --------------------------------------------------------------------- */

/* Points of a row that is written. */
static int64_t width_of(const pyspec_call *call)
{
    const pyspec_problem *p = call->problem;
    return call->plan->trace >= 0 ? p->row_end - p->row_begin : p->x_end - p->x_begin;
}

/* A block of a spectrum, `from`, to its rows and abscissae of the window. */
static void write_lanes(const run *r, const tile *t, const pyspec_results *q, const double *from,
                        double *to)
{
    const pyspec_problem *p = r->problem;
    const int64_t n = count_in_window(r, t), width = q->row ? q->row : width_of(r->call);
    to += (t->row[0] - p->row_begin) * width + (t->x0 - p->x_begin);
    if (n <= 0)
        return;
    if (t->across)
        memcpy(to, from, (size_t)n * sizeof *to);
    else
        pyspec_block_table[r->call->isa].turn(to, width, from, n, t->n_lanes);
}

static void write_block(const run *r, const tile *t, const pyspec_results *q)
{
    for (int64_t k = 0; k < q->n_values; k++)
        write_lanes(r, t, q, slot_at(r, t, q->value_at[k]), q->values[k]);
    for (int64_t k = 0; k < q->n_slopes; k++) {
        const int64_t slot = q->slope_at[k], column = q->slope_by[k];
        const int is_zero = !written_at(r, slot)[column];
        write_lanes(r, t, q, is_zero ? pyspec_zeros : column_at(r, t, slot, column), q->slopes[k]);
    }
}

static void walk_strip(const run *r, const strip *s, const pyspec_results *q)
{
    const int across = r->plan->dimension == 1;
    for (int64_t at = 0; at < s->n; at += across ? 1 : L) {
        tile t;
        pyspec_set_tile(s, &t, at, across);
        pyspec_begin_tile(r, &t);
        for (int64_t k = pyspec_tile_block(r, &t, 0, r->x_end) - 1; k >= 0; k--) {
            pyspec_tile_block(r, &t, k, r->x_end);
            pyspec_walk_block(r, &t);
            write_block(r, &t, q);
        }
    }
}

static void write_slope(const run *r, const strip *s, int64_t row, int64_t theta, double *to)
{
    const double *slope = slope_by(r, row, theta);
    if (slope)
        copy_values(to, slope, r->work.traces[row].moves, 0, s->n);
    else
        fill(to, 0.0, s->n);
}

static void write_traces(const run *r, const strip *s, const pyspec_results *q)
{
    const int64_t begin = s->row - r->problem->row_begin;
    for (int64_t k = 0; k < q->n_values; k++) {
        const trace *from = &r->work.traces[q->value_at[k]];
        copy_values(q->values[k] + begin, from->value, from->moves, 0, s->n);
    }
    for (int64_t k = 0; k < q->n_slopes; k++)
        write_slope(r, s, q->slope_at[k], q->slope_by[k], q->slopes[k] + begin);
}

/* The derivatives of what the columns are by, by theta. */
static void write_factors(const run *r, const strip *s, const pyspec_results *q)
{
    const int64_t begin = s->row - r->problem->row_begin;
    const int64_t n = q->factors_row && r->plan->trace < 0 ? s->n : begin == 0;
    double own[STRIP];
    for (int64_t e = 0; e < q->n_entries; e++) {
        if (q->entry_row[e] < 0)
            fill(own, 1.0, n);
        else
            write_slope(r, s, q->entry_row[e], q->entry_theta[e], own);
        for (int64_t i = 0; i < n; i++)
            q->factors[(begin + i) * q->factors_row + e] = own[i];
    }
}

/* Repeats the first row of all that is written. */
static void repeat_rows(const pyspec_call *call, const pyspec_results *q)
{
    const int64_t n = width_of(call), row = q->row ? q->row : n;
    for (int64_t i = 1; i < q->copies; i++) {
        for (int64_t k = 0; k < q->n_values; k++)
            memcpy(q->values[k] + i * row, q->values[k], (size_t)n * sizeof(double));
        for (int64_t k = 0; k < q->n_slopes; k++)
            memcpy(q->slopes[k] + i * row, q->slopes[k], (size_t)n * sizeof(double));
        if (q->n_entries && q->factors_row)
            memcpy(q->factors + i * q->factors_row, q->factors, (size_t)q->n_entries * sizeof(double));
    }
}

/* ---- all rows ---------------------------------------------------------------------------- */

static void choose_columns(run *r)
{
    r->by = (basis){.n = 0};
    if (r->slopes && r->plan->trace < 0)
        r->by = r->plan->columns >= 0 ? all_columns(r) : (basis){.n = r->plan->n_theta};
}

/* Rows of a task; those of a window begin in its first. */
static strip rows_of(const pyspec_problem *p, int64_t task)
{
    return pyspec_strip_of(p->row_begin + task * STRIP, p->row_end);
}

static int run_task(void *job, int64_t task, int64_t thread)
{
    const results_job *j = job;
    const pyspec_call call = pyspec_call_in(j->team, j->call, thread);
    run state, *r = &state;
    int status = pyspec_begin_run(r, &call, 0, j->q->n_slopes > 0);
    status = status ? status : pyspec_use_prepared(r);
    if (status)
        return status;
    choose_columns(r);
    r->kept = begin_kept(j, thread);
    pyspec_begin_strips(r);
    const strip s = rows_of(call.problem, task);
    pyspec_load_strip(r, &s);
    write_factors(r, &s, j->q);
    if (r->plan->trace >= 0)
        write_traces(r, &s, j->q);
    else
        walk_strip(r, &s, j->q);
    return STATUS_OK;
}

int pyspec_run_results(const pyspec_call *call, const pyspec_results *results, pyspec_team *team)
{
    run state, *r = &state;
    if (!call || !call->plan || !call->problem || !results)
        return STATUS_NULL_POINTER;
    int status = check_results(results);
    status = status ? status : pyspec_check_team(team);
    status = status ? status : pyspec_begin_run(r, call, 0, results->n_slopes > 0);
    if (status)
        return status;
    choose_columns(r);
    status = check_places(r, results);
    const int64_t n_threads = team ? team->n_threads : 1;
    if (!status && results->kept && results->kept_size < n_threads * pyspec_results_size(call->plan))
        status = STATUS_WORK;
    status = status ? status : pyspec_fill_prepared(r, 0);
    results_job job = {.q = results, .call = call, .team = team};
    const int64_t n_rows = call->problem->row_end - call->problem->row_begin;
    status = status ? status : pyspec_share(team, run_task, &job, (n_rows + STRIP - 1) / STRIP);
    if (!status)
        repeat_rows(call, results);
    return status;
}
