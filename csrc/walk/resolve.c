/* resolve.c: the part of the dispatch loop that resolves parameters. It runs the nodes of one stage
 * over a strip of rows, with the slopes of the traces by theta if a run asks for them. There is one
 * order of operations and no contraction to FMA: an onset falls between the same two samples in
 * every executor, with and without slopes. */
#include "kernels/convolution.h"

/* ---- slopes ------------------------------------------------------------------------------ */

static void clear_slopes(const run *r, int64_t row, int64_t n)
{
    int64_t count;
    depends(r, row, &count);
    for (int64_t c = 0; c < count; c++)
        fill(r->work.traces[row].slopes + c * r->work.traces[row].step, 0.0, n);
}

/* d target / d theta += factor * d source / d theta, over n positions from `begin` on. */
static void add_product(const run *r, int64_t target, int64_t source, int64_t begin, int64_t n,
                        const double *factor)
{
    int64_t count;
    const int64_t *list = depends(r, source, &count);
    const trace *from = &r->work.traces[source];
    for (int64_t c = 0; c < count; c++) {
        double *slope = slope_by(r, target, list[c]);
        const double *change = slopes_at(from, c, begin);
        if (!slope)
            continue;
        slope += begin;
        if (from->moves)
            for (int64_t i = 0; i < n; i++)
                slope[i] += times_change(factor[i], change[i]);
        else
            for (int64_t i = 0; i < n; i++)
                slope[i] += times_change(factor[i], *change);
    }
}

/* ---- laws -------------------------------------------------------------------------------- */

/* Abscissae of a law at n rows from `row` on, padded with the last. */
static void load_axis(const run *r, const pyspec_node *node, int64_t row, int64_t n, double *x)
{
    const pyspec_problem *q = r->problem;
    const double *axis = node->axis == 0 ? q->time : q->axes + (int64_t)(node->axis - 1) * q->n_rows;
    memcpy(x, axis + row, (size_t)n * sizeof *x);
    fill(x + n, x[n - 1], round_up(n, L) - n);
}

/* The inputs of a law by formula at these rows. */
static void load_inputs(const run *r, const pyspec_node *node, int64_t row, int64_t n)
{
    const int64_t *program = r->words + node->code;
    const int64_t n_inputs = node->op == PYSPEC_OP_FORMULA ? formula_head(program)->n_inputs : 0;
    const pyspec_problem *q = r->problem;
    for (int64_t j = 0; j < n_inputs; j++)
        memcpy(r->work.inputs + j * BLOCK * L,
               q->row_inputs + r->words[node->inputs + j] * q->n_rows + row,
               (size_t)n * sizeof(double));
}

/* Sets rows outside of the law's sub-cycle to 0. */
static void apply_mask(const run *r, const pyspec_node *node, int64_t row, int64_t n, double *value)
{
    if (node->mask < 0)
        return;
    const uint8_t *mask = r->problem->masks + node->mask * r->problem->n_rows + row;
    for (int64_t i = 0; i < n; i++)
        value[i] = mask[i] ? value[i] : 0.0;
}

/* The kernel of a law over a block of positions: its parameters are the same for a whole strip. */
static void evaluate_law(const run *r, const pyspec_node *node, int64_t begin, const double *x,
                         int64_t n, double *value, double *const *partials)
{
    const int64_t n_vectors = round_up(n, L) / L;
    const tile t = {.at = begin, .across = 1};
    pyspec_block b = {.n = n_vectors, .n_valid = n, .across = 1, .x = x};
    double params[MAX_PARAMS * L];
    pyspec_gather(r, node, &t, params);
    unsigned bad = pyspec_outside(r, node, params);
    pyspec_run_kernel(r, node, &b, params, value, partials);
    pyspec_poison(value, n_vectors, bad);
    for (int k = 0; partials && k < node->n_params; k++)
        pyspec_poison(partials[k], n_vectors, bad);
}

static void run_law(const run *r, const pyspec_node *node, const strip *s)
{
    const int store = node->flags & PYSPEC_FLAG_STORE;
    double *target = r->work.traces[node->target].value, *value = r->work.value;
    double *partials[MAX_PARAMS];
    for (int k = 0; r->slopes && k < node->n_params; k++)
        partials[k] = r->work.partials + k * BLOCK * L;
    if (r->slopes && store)
        clear_slopes(r, node->target, round_up(s->n, L));
    for (int64_t begin = 0; begin < s->n; begin += BLOCK * L) {
        const int64_t n = s->n - begin < BLOCK * L ? s->n - begin : BLOCK * L;
        const int64_t row = s->row + begin, padded = round_up(n, L);
        load_axis(r, node, row, n, r->work.x);
        load_inputs(r, node, row, n);
        evaluate_law(r, node, begin, r->work.x, n, value, r->slopes ? partials : NULL);
        apply_mask(r, node, row, n, value);
        for (int64_t i = 0; i < padded; i++)
            target[begin + i] = store ? value[i] : target[begin + i] + value[i];
        for (int k = 0; r->slopes && k < node->n_params; k++) {
            const int64_t source = r->words[node->params + k];
            apply_mask(r, node, row, n, partials[k]);
            if (source >= 0)
                add_product(r, node->target, source, begin, padded, partials[k]);
        }
    }
}

/* ---- profiles ---------------------------------------------------------------------------- */

/* Slopes of the auxiliary points from `point` on, n of them, in the lanes at position `at`. */
static void profile_slopes(const run *r, const pyspec_node *node, int64_t at, int64_t point,
                           int64_t n, double *const *partials)
{
    for (int k = 0; k < node->n_params; k++) {
        const int64_t source = r->words[node->params + k];
        for (int64_t i = 0; source >= 0 && i < n; i++)
            add_product(r, node->target + point + i, source, at, L, partials[k] + i * L);
    }
}

/* Every auxiliary point of a profile: lanes are rows, abscissae are the points. */
static void run_profile(const run *r, const pyspec_node *node, const strip *s)
{
    const int64_t n_aux = r->plan->n_aux;
    const int store = node->flags & PYSPEC_FLAG_STORE;
    double params[MAX_PARAMS * L], *value = r->work.value, *partials[MAX_PARAMS];
    for (int k = 0; r->slopes && k < node->n_params; k++)
        partials[k] = r->work.partials + k * BLOCK * L;
    for (int64_t k = 0; r->slopes && store && k < n_aux; k++)
        clear_slopes(r, node->target + k, round_up(s->n, L));
    for (int64_t at = 0; at < s->n; at += L) {
        const tile t = {.at = at};
        pyspec_gather(r, node, &t, params);
        unsigned bad = pyspec_outside(r, node, params);
        for (int64_t begin = 0; begin < n_aux; begin += BLOCK) {
            int64_t n = n_aux - begin < BLOCK ? n_aux - begin : BLOCK;
            pyspec_block b = {.n = n, .n_valid = n, .x = r->problem->aux + begin, .first = begin};
            pyspec_run_kernel(r, node, &b, params, value, r->slopes ? partials : NULL);
            pyspec_poison(value, n, bad);
            FOR_BLOCK {
                double *out = r->work.traces[node->target + begin + i].value + at;
                FOR_LANES out[l] = store ? value[AT] : out[l] + value[AT];
            }
            for (int k = 0; r->slopes && k < node->n_params; k++)
                pyspec_poison(partials[k], n, bad);
            if (r->slopes)
                profile_slopes(r, node, at, begin, n, partials);
        }
    }
}

/* ---- bases and expressions --------------------------------------------------------------- */

/* to += from, over n positions. */
static void add_values(double *to, const double *from, int64_t moves, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = from[i * moves] + to[i];
}

static void run_base(const run *r, const pyspec_node *node, const strip *s)
{
    const int64_t n = round_up(s->n, L);
    for (int64_t k = 0; k < node->repeat; k++) {
        const int64_t source = node->source >= r->plan->samples ? node->source + k : node->source;
        const trace *from = &r->work.traces[source];
        int64_t count;
        const int64_t *list = r->slopes ? depends(r, source, &count) : NULL;
        add_values(r->work.traces[node->target + k].value, from->value, from->moves, n);
        for (int64_t c = 0; list && c < count; c++) {
            double *slope = slope_by(r, node->target + k, list[c]);
            if (slope)
                add_values(slope, from->slopes + c * from->step, from->moves, n);
        }
    }
}

/* d target / d theta = the sum over what the program reads: its derivative by that, times the slope of that. */
static void chain_to_theta(const run *r, const pyspec_node *node, int64_t aux, int64_t theta,
                           const double *derivatives, int64_t begin, int64_t n)
{
    const int64_t *code = r->words + node->code;
    double *slope = slope_by(r, node->target + aux, theta) + begin;
    fill(slope, 0.0, n);
    for (int64_t k = 0; k < node->n_code; k++) {
        if (code[2 * k] != RPN_PARAM)
            continue;
        const int64_t name = code[2 * k + 1], row = name >= r->plan->samples ? name + aux : name;
        const int64_t moves = r->work.traces[row].moves;
        const double *change = slope_by(r, row, theta), *by_row = derivatives + k * RPN_CHUNK;
        if (!change)
            continue;
        change += begin * moves;
        for (int64_t i = 0; i < n; i++)
            slope[i] += chain_product(by_row[i], change[i * moves]);
    }
}

/* Evaluates an expression; one row is enough where nothing that it reads moves. */
static void run_expression(const run *r, const pyspec_node *node, const strip *s)
{
    const int still = node->stage == PYSPEC_STAGE_PROBLEM && !r->beside;
    const int64_t padded = round_up(s->n, L), n_rows = still ? 1 : padded;
    for (int64_t k = 0; k < node->repeat; k++) {
        double *target = r->work.traces[node->target + k].value;
        int64_t count = 0;
        const int64_t *list = r->slopes ? depends(r, node->target + k, &count) : NULL;
        for (int64_t begin = 0; begin < n_rows; begin += RPN_CHUNK) {
            int64_t n = n_rows - begin < RPN_CHUNK ? n_rows - begin : RPN_CHUNK;
            const double *derivatives =
                pyspec_run_program(r, node, k, begin, n, target + begin, count > 0);
            for (int64_t c = 0; c < count; c++)
                chain_to_theta(r, node, k, list[c], derivatives, begin, n);
        }
        if (!still)
            continue;
        fill(target, *target, padded);
        for (int64_t c = 0; c < count; c++) {
            double *slope = slope_by(r, node->target + k, list[c]);
            fill(slope, *slope, padded);
        }
    }
}

/* ---- convolutions ------------------------------------------------------------------------ */

/* Adds to the slopes: the derivative by a parameter of the kernel, times the slope of that parameter. */
static void add_change(const run *r, const pyspec_node *node, int64_t row, const double *by_param,
                       int64_t n)
{
    int64_t count;
    const int64_t *changes = depends(r, row, &count);
    for (int64_t j = 0; j < count; j++) {
        double *slope = slope_by(r, node->target, changes[j]);
        const double change = *slopes_at(&r->work.traces[row], j, 0);
        for (int64_t i = 0; slope && change != 0.0 && i < n; i++)
            slope[i] += times_change(by_param[i], change);
    }
}

/* y = kernel * y over the whole axis, and d(K y) = K dy + dK y. */
static void run_convolution(const run *r, const pyspec_node *node, const strip *s)
{
    const prepared_parts *p = &r->prepared;
    const trace *target = &r->work.traces[node->target];
    const int64_t n = s->n, stride = p->stride, *rows = r->words + node->params;
    double params[MAX_PARAMS * L], given[MAX_PARAMS], *by[MAX_PARAMS];
    double **signals = (double **)(void *)p->signals;
    const tile t = {.across = 1};
    int64_t count = 0;
    if (r->slopes)
        depends(r, node->target, &count);
    pyspec_gather(r, node, &t, params);
    for (int64_t k = 0; k < node->n_params; k++) {
        int64_t n_changes = 0;
        given[k] = params[k * L];
        if (count && rows[k] >= 0)
            depends(r, rows[k], &n_changes);
        by[k] = n_changes ? p->by_param + k * stride : NULL;
    }
    const convolution c = {.op = node->op < 0 ? NULL : &pyspec_op_table[node->op],
                           .isa = r->call->isa, .params = given, .n_params = node->n_params, .n = n,
                           .t = r->problem->time, .scratch = p->convolve, .kept = p->convolved,
                           .stride = stride, .program = r->words + node->code,
                           .registers = r->work.registers};
    const int bad = pyspec_outside(r, node, params) != 0;
    signals[0] = target->value;
    for (int64_t j = 0; j < count; j++)
        signals[1 + j] = target->slopes + j * target->step;
    if (!bad)
        pyspec_convolve(&c, signals, 1 + count, count ? by : NULL);
    for (int64_t j = 0; bad && j <= count; j++)
        fill(signals[j], NAN, n);
    for (int64_t k = 0; !bad && k < node->n_params; k++)
        if (by[k])
            add_change(r, node, rows[k], by[k], n);
    for (int64_t j = 0; j <= count; j++)
        fill(signals[j] + n, signals[j][n - 1], stride - n);
}

void pyspec_resolve(const run *r, const strip *s, int stage)
{
    for (int64_t k = 0; k < r->plan->n_resolve; k++) {
        const pyspec_node *node = &r->nodes[k];
        if (node->stage != stage)
            continue;
        switch (node->step) {
        case PYSPEC_STEP_LAW:
            run_law(r, node, s);
            break;
        case PYSPEC_STEP_BASE:
            run_base(r, node, s);
            break;
        case PYSPEC_STEP_CONVOLVE:
            run_convolution(r, node, s);
            break;
        case PYSPEC_STEP_PROFILE:
            run_profile(r, node, s);
            break;
        default:
            run_expression(r, node, s);
            break;
        }
    }
}

void pyspec_resolve_followers(const run *r, const strip *s, int64_t row)
{
    for (int64_t k = 0; k < r->plan->n_resolve; k++) {
        const pyspec_node *node = &r->nodes[k];
        if (node->step == PYSPEC_STEP_EXPRESSION && node->stage == PYSPEC_STAGE_ROW && node->target != row)
            run_expression(r, node, s);
    }
}
