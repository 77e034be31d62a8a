/* prepare.c: values of a run that are computed before its first row. They are values that are the
 * same for all rows, traces that kernels read and write along the whole row axis, and the lines of
 * components of constant shape. All of it lies in the prepared memory, which nobody writes
 * afterwards: threads and chunks of rows share it. */
#include "walk/run.h"

int pyspec_begin_run(run *r, const pyspec_call *call, int64_t n_out, int slopes)
{
    if (!call || !call->plan || !call->problem || !call->work || !call->prepared ||
        (!call->out && n_out) || (!call->theta && call->plan->n_theta))
        return STATUS_NULL_POINTER;
    if (slopes && call->plan->depends < 0)
        return STATUS_OFFSET;
    *r = (run){.call = call, .plan = call->plan, .problem = call->problem};
    r->nodes = plan_nodes(call->plan);
    r->words = plan_words(call->plan);
    r->slopes = slopes;
    r->buffer = buffer_size(r->plan, r->problem);
    r->cut = find_cut(r->plan);
    r->x_end = call->problem->x_end;
    /* A spectrum-fed op needs every energy above the window; nothing else is evaluated there. */
    for (int64_t k = r->plan->n_resolve; k < r->plan->n_nodes; k++)
        if (r->nodes[k].step == PYSPEC_STEP_COMPONENT && op_is_fed(r->nodes[k].op))
            r->x_end = r->problem->n_x;
    if (!pyspec_isa_supported(call->isa))
        return STATUS_ISA;
    if (call->work_size < divide_work(call->plan, call->problem, NULL, slopes).size)
        return STATUS_WORK;
    r->work = divide_work(call->plan, call->problem, call->work, slopes);
    if (r->buffer > BLOCK * L)
        fill(r->work.zeros, 0.0, r->buffer);
    return call->n_out < n_out ? STATUS_OUTPUT : STATUS_OK;
}

static prepared_key key_of(const run *r, int64_t what)
{
    const pyspec_problem *q = r->problem;
    return (prepared_key){.plan = r->plan,
                          .x = q->x,
                          .time = q->time,
                          .axes = q->axes,
                          .aux = q->aux,
                          .aux_weight = q->aux_weight,
                          .x_inputs = q->x_inputs,
                          .row_inputs = q->row_inputs,
                          .aux_inputs = q->aux_inputs,
                          .external = axis_reads_external(r->plan) ? q->external : NULL,
                          .shares = q->shares,
                          .masks = q->masks,
                          .what = what,
                          .isa = r->call->isa,
                          .n_rows = q->n_rows,
                          .n_x = q->n_x,
                          .x_begin = q->x_begin,
                          .x_end = r->x_end};
}

/* Parts are taken from the prepared memory once it is known to be large enough. */
static int divide_own(run *r, int64_t what)
{
    if (r->call->prepared_size < divide_prepared(r->plan, r->problem, NULL, what).size)
        return STATUS_WORK;
    r->prepared = divide_prepared(r->plan, r->problem, r->call->prepared, what);
    return STATUS_OK;
}

/* ---- places ------------------------------------------------------------------------------ */

static void give_place(const run *r, int64_t row, int64_t *n_rows, int64_t *n_slopes)
{
    const prepared_parts *p = &r->prepared;
    if (p->place[row] >= 0)
        return;
    p->place[row] = (*n_rows)++;
    p->slope_place[row] = *n_slopes;
    *n_slopes += r->slopes ? count_row_slopes(r->plan, row) : 0;
}

/* The rows of the axis stage are what its nodes write, and external traces that they read. */
static void place_axis_rows(const run *r)
{
    int64_t n_rows = 0, n_slopes = 0;
    for (int64_t k = 0; k < r->plan->n_resolve; k++) {
        const pyspec_node *node = &r->nodes[k];
        if (node->stage != PYSPEC_STAGE_AXIS)
            continue;
        if (node->step == PYSPEC_STEP_BASE && is_external(r->plan, node->source))
            give_place(r, node->source, &n_rows, &n_slopes);
        for (int i = 0; node->step == PYSPEC_STEP_EXPRESSION && i < node->n_code; i++) {
            const int64_t *code = r->words + node->code + 2 * i;
            if (code[0] == RPN_PARAM && is_external(r->plan, code[1]))
                give_place(r, code[1], &n_rows, &n_slopes);
        }
        give_place(r, node->target, &n_rows, &n_slopes);
    }
}

static void place_rows(const run *r)
{
    const prepared_parts *p = &r->prepared;
    for (int64_t row = 0; row < r->plan->n_traces; row++)
        p->place[row] = is_external(r->plan, row) ? PLACE_ROW : PLACE_SCALAR;
    for (int64_t k = 0; k < r->plan->n_resolve; k++)
        for (int64_t j = 0; r->nodes[k].stage == PYSPEC_STAGE_ROW && j < r->nodes[k].repeat; j++)
            p->place[r->nodes[k].target + j] = PLACE_ROW;
    place_axis_rows(r);
    int64_t n_lines = 0;
    for (int constant = 1; constant >= 0; constant--)
        for (int64_t k = r->plan->n_resolve; k < r->plan->n_nodes; k++) {
            if (is_constant(r->plan, &r->nodes[k]) != constant)
                continue;
            const int64_t n = count_lines(r->plan, &r->nodes[k], p->key->what);
            p->line_place[k - r->plan->n_resolve] = n ? n_lines : -1;
            n_lines += n;
        }
}

/* Where the nodes of the first two stages read and write. */
static void point_to_prepared(const run *r)
{
    const prepared_parts *p = &r->prepared;
    for (int64_t row = 0; row < r->plan->n_traces; row++) {
        const int64_t place = p->place[row];
        const int64_t first = r->slopes ? r->words[r->plan->depends + row] : 0;
        trace *t = &r->work.traces[row];
        *t = (trace){.value = p->scalars + row * L, .step = L};
        if (r->slopes)
            t->slopes = p->scalar_slopes + first * L;
        if (place >= 0)
            *t = (trace){.value = p->axis + place * p->stride, .step = p->stride, .moves = 1};
        if (place >= 0 && r->slopes)
            t->slopes = p->axis_slopes + p->slope_place[row] * p->stride;
    }
}

/* ---- stages ------------------------------------------------------------------------------ */

/* Rows that no node resolves are NaN. */
static void load_inputs(const run *r)
{
    const pyspec_plan *plan = r->plan;
    const pyspec_problem *q = r->problem;
    const prepared_parts *p = &r->prepared;
    double *row = p->scalars;
    for (int64_t k = 0; k < plan->n_theta; k++, row += L)
        fill(row, r->call->theta[k], L);
    for (int64_t k = 0; k < plan->n_fixed; k++, row += L)
        fill(row, q->fixed[k], L);
    fill(row, NAN, plan->n_traces * L - (row - p->scalars));
    if (r->slopes)
        fill(p->scalar_slopes, 0.0, count_slopes(plan) * L);
    for (int64_t k = 0; r->slopes && k < plan->n_theta; k++)
        fill(slope_by(r, k, k), 1.0, L);
    for (int64_t k = 0; k < plan->n_external; k++) {
        const trace *t = &r->work.traces[plan->n_theta + plan->n_fixed + k];
        if (!t->moves)
            continue;
        memcpy(t->value, q->external + k * q->n_rows, (size_t)q->n_rows * sizeof *row);
        fill(t->value + q->n_rows, t->value[q->n_rows - 1], p->stride - q->n_rows);
        for (int64_t c = 0; r->slopes && c < count_row_slopes(plan, plan->n_theta + plan->n_fixed + k);
             c++)
            fill(t->slopes + c * t->step, 0.0, p->stride);
    }
}

/* Whether node k adds a line to a spectrum that is the same in every row. The answer is the same with
 * and without slopes, because the order of additions must not depend on them. A mean over auxiliary
 * points has no line with slopes. */
static int adds_line(const run *r, int64_t k)
{
    const pyspec_node *node = &r->nodes[k];
    return node->step == PYSPEC_STEP_COMPONENT && !(node->flags & PYSPEC_FLAG_SHAPE) && node->repeat == 1 &&
           r->prepared.line_place[k - r->plan->n_resolve] >= 0;
}

/* Whether the line of node k joins that of the next. Lines that follow each other in a spectrum are added up here,
 * once for all rows. Sums of shapes need them separately. */
static int joins_next(const run *r, int64_t k)
{
    const pyspec_node *node = &r->nodes[k];
    return !(r->prepared.key->what & PYSPEC_PREPARE_SHAPES) && k + 1 < r->plan->n_nodes && adds_line(r, k) &&
           adds_line(r, k + 1) && node[1].target == node->target && !(node[1].flags & PYSPEC_FLAG_STORE);
}

/* Whether the line of node k is as the call before has left it. */
static int is_kept(const run *r, int64_t k)
{
    while (r->keeps && is_constant(r->plan, &r->nodes[k])) {
        if (k == r->plan->n_resolve || !joins_next(r, k - 1))
            return 1;
        k--;
    }
    return 0;
}

static void join_lines(const run *r)
{
    const prepared_parts *p = &r->prepared;
    const int64_t stride = line_stride(r->problem), first = r->plan->n_resolve;
    const int64_t begin = r->cut > first ? 0 : r->problem->x_begin;
    const int64_t end = r->plan->dimension == 1 ? begin + round_up(r->x_end - begin, L) : r->x_end;
    for (int64_t k = first; k < r->plan->n_nodes; k++)
        p->line_joins[k - first] = LINE_STAYS;
    for (int64_t k = first; k < r->plan->n_nodes; k++) {
        const pyspec_node *node = &r->nodes[k];
        if (!joins_next(r, k))
            continue;
        const double *from = p->lines + p->line_place[k - first] * stride;
        double *to = p->lines + p->line_place[k + 1 - first] * stride;
        const int64_t stop = is_kept(r, k + 1) ? begin : end;
        for (int64_t i = begin; i < stop; i++)
            to[i] = from[i] + to[i];
        const int begins = (node->flags & PYSPEC_FLAG_STORE) ||
                           (k > first && p->line_joins[k - 1 - first] == LINE_BEGINS);
        p->line_joins[k - first] = begins ? LINE_BEGINS : LINE_JOINS;
    }
}

/* Whether the lines of constant components are valid from the call before. The fixed values and everything
 * except theta must be unchanged. Slopes may be wanted or not. */
static int keeps_lines(const run *r, int64_t what)
{
    const prepared_key *found = r->prepared.key;
    prepared_key key = key_of(r, what);
    if ((found->what ^ what) & ~(int64_t)PYSPEC_PREPARE_SLOPES)
        return 0;
    key.what = found->what;
    int same = !memcmp(&key, found, sizeof key);
    for (int64_t k = 0; same && k < r->plan->n_fixed; k++)
        same = !memcmp(r->prepared.scalars + (r->plan->n_theta + k) * L, r->problem->fixed + k,
                       sizeof(double));
    return same;
}

int pyspec_fill_prepared(run *r, int64_t what)
{
    what = r->slopes ? what | PYSPEC_PREPARE_SLOPES : what & ~(int64_t)PYSPEC_PREPARE_SLOPES;
    if (divide_own(r, what))
        return STATUS_WORK;
    r->keeps = keeps_lines(r, what);
    *r->prepared.key = key_of(r, what);
    if (r->prepared.counts)
        memset(r->prepared.counts, 0, N_COLUMN_COUNTS * sizeof *r->prepared.counts);
    place_rows(r);
    point_to_prepared(r);
    load_inputs(r);
    pyspec_resolve(r, &(const strip){.n = 1}, PYSPEC_STAGE_PROBLEM);
    pyspec_resolve(r, &(const strip){.n = r->problem->n_rows}, PYSPEC_STAGE_AXIS);
    for (int64_t k = r->plan->n_resolve; r->plan->trace < 0 && k < r->plan->n_nodes; k++)
        if (!is_kept(r, k))
            pyspec_walk_line(r, &r->nodes[k], r->x_end);
    if (r->plan->trace < 0)
        join_lines(r);
    return STATUS_OK;
}

int pyspec_begin_beside(run *r, const pyspec_call *call, const fits_beside *beside)
{
    const int status = pyspec_begin_run(r, call, 0, 1);
    if (status)
        return status;
    if (divide_own(r, PYSPEC_PREPARE_SLOPES))
        return STATUS_WORK;
    const pyspec_plan *plan = r->plan;
    const prepared_parts *p = &r->prepared;
    r->beside = beside;
    *p->key = (prepared_key){.what = PYSPEC_PREPARE_SLOPES, .x = beside->theta};
    place_rows(r);
    point_to_prepared(r);
    load_inputs(r);
    for (int64_t row = 0; row < plan->n_traces; row++)
        r->work.traces[row].moves = 1;
    for (int64_t k = plan->n_resolve; k < plan->n_nodes; k++)
        p->line_place[k - plan->n_resolve] = -1;
    return STATUS_OK;
}

int pyspec_is_begun_beside(const run *r)
{
    return r->beside && r->prepared.key->x == r->beside->theta; /* no other run has these abscissae */
}

void pyspec_resolve_beside(const run *r)
{
    const pyspec_plan *plan = r->plan;
    const prepared_parts *p = &r->prepared;
    const fits_beside *beside = r->beside;
    memcpy(p->scalars, beside->theta, (size_t)(plan->n_theta * L) * sizeof(double));
    memcpy(p->scalars + plan->n_theta * L, beside->fixed, (size_t)(plan->n_fixed * L) * sizeof(double));
    pyspec_resolve(r, &(const strip){.n = L}, PYSPEC_STAGE_PROBLEM);
}

int pyspec_use_prepared(run *r)
{
    const prepared_key *found = (const prepared_key *)(const void *)r->call->prepared;
    if (r->call->prepared_size < (int64_t)sizeof *found)
        return STATUS_WORK;
    const prepared_key key = key_of(r, found->what);
    const int lacks_slopes = r->slopes && !(found->what & PYSPEC_PREPARE_SLOPES);
    if (memcmp(&key, found, sizeof key) || lacks_slopes)
        return STATUS_PREPARED;
    if (divide_own(r, found->what))
        return STATUS_WORK;
    for (int64_t k = 0; k < r->plan->n_theta; k++)
        if (memcmp(r->prepared.scalars + k * L, r->call->theta + k, sizeof(double)))
            return STATUS_PREPARED;
    for (int64_t k = 0; k < r->plan->n_fixed; k++)
        if (memcmp(r->prepared.scalars + (r->plan->n_theta + k) * L, r->problem->fixed + k,
                   sizeof(double)))
            return STATUS_PREPARED;
    return STATUS_OK;
}

int64_t pyspec_prepared_size(const pyspec_plan *plan, const pyspec_problem *problem, int64_t what)
{
    const int slopes = (what & PYSPEC_PREPARE_SLOPES) != 0;
    if (!plan || !problem || (slopes && plan->depends < 0))
        return 0;
    return divide_prepared(plan, problem, NULL, what).size;
}
