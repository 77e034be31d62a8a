/* sensitivity.c: derivatives of the traces by theta, forward through the nodes that resolve
 * parameters. A row keeps one derivative for each parameter that it depends on. */
#include "run.h"

const double *pyspec_slope_row(const run *r, int64_t row, int64_t aux, int64_t theta)
{
    row = row >= r->plan->samples ? row + aux : row;
    int64_t n;
    const int64_t *list = depends(r, row, &n);
    for (int64_t k = 0; k < n; k++)
        if (list[k] == theta)
            return r->work.trace_slopes +
                   (r->words[r->plan->depends + row] + k) * r->work.stride;
    return NULL;
}

/* The place of d target / d theta. A row that does not list theta has none. */
static double *slope_of(const run *r, int64_t row, int64_t theta)
{
    return (double *)pyspec_slope_row(r, row, 0, theta);
}

static void clear(const run *r, int64_t row)
{
    int64_t n;
    depends(r, row, &n);
    if (n)
        fill(r->work.trace_slopes + r->words[r->plan->depends + row] * r->work.stride, 0.0,
             n * r->work.stride);
}

/* d target / d theta += factor[i] * change: the change of a parameter that does not move. */
static void add_scaled(const run *r, int64_t target, int64_t begin, int64_t n, const double *factor,
                       const pyspec_node *node, int k)
{
    int64_t row = r->words[node->params + k], count;
    const int64_t *list = row < 0 ? NULL : depends(r, row, &count);
    for (int64_t j = 0; list && j < count; j++) {
        double *slope = slope_of(r, target, list[j]);
        double change = *pyspec_slope_row(r, row, 0, list[j]);
        for (int64_t i = 0; slope && i < n; i++)
            slope[begin + i] += times_change(factor[i], change);
    }
}

static void point_partials(const run *r, double **partials)
{
    for (int k = 0; k < MAX_PARAMS; k++)
        partials[k] = r->work.partials + k * BLOCK * L;
}

static void law_slopes(const run *r, const pyspec_node *node)
{
    const int64_t n_rows = r->problem->n_rows;
    const double *axis = node->axis == 0
                             ? r->problem->time
                             : r->problem->axes + (int64_t)(node->axis - 1) * n_rows;
    const uint8_t *mask = node->mask < 0 ? NULL : r->problem->masks + node->mask * n_rows;
    double params[MAX_PARAMS * L], *partials[MAX_PARAMS];
    tile t = {.across = 1};
    if (node->flags & PYSPEC_FLAG_STORE)
        clear(r, node->target);
    point_partials(r, partials);
    pyspec_gather(r, node, &t, params);
    unsigned bad = pyspec_outside(r, node, params);
    for (int64_t begin = 0; begin < n_rows; begin += BLOCK * L) {
        int64_t n = n_rows - begin < BLOCK * L ? n_rows - begin : BLOCK * L;
        load_abscissae(r->work.x, axis + begin, n);
        pyspec_block b = {.n = round_up(n, L) / L, .n_valid = n, .across = 1, .x = r->work.x};
        pyspec_op_table[node->op].kernels[r->call->isa](&b, params, r->work.value, partials);
        for (int k = 0; k < node->n_params; k++) {
            pyspec_poison(partials[k], b.n, bad);
            for (int64_t i = 0; mask && i < n; i++)
                partials[k][i] = mask[begin + i] ? partials[k][i] : 0.0;
            add_scaled(r, node->target, begin, n, partials[k], node, k);
        }
    }
}

static void profile_slopes(const run *r, const pyspec_node *node)
{
    const int64_t n_rows = r->problem->n_rows, n_aux = r->plan->n_aux;
    double params[MAX_PARAMS * L], *partials[MAX_PARAMS];
    point_partials(r, partials);
    for (int64_t k = 0; node->flags & PYSPEC_FLAG_STORE && k < n_aux; k++)
        clear(r, node->target + k);
    for (int64_t row = 0; row < n_rows; row += L) {
        tile t = {.row = row};
        pyspec_gather(r, node, &t, params);
        unsigned bad = pyspec_outside(r, node, params);
        for (int64_t begin = 0; begin < n_aux; begin += BLOCK) {
            int64_t n = n_aux - begin < BLOCK ? n_aux - begin : BLOCK, count;
            pyspec_block b = {.n = n, .n_valid = n, .x = r->problem->aux + begin};
            pyspec_op_table[node->op].kernels[r->call->isa](&b, params, r->work.value, partials);
            for (int k = 0; k < node->n_params; k++) {
                int64_t source = r->words[node->params + k];
                const int64_t *list = source < 0 ? NULL : depends(r, source, &count);
                pyspec_poison(partials[k], n, bad);
                for (int64_t j = 0; list && j < count; j++) {
                    const double *change = pyspec_slope_row(r, source, 0, list[j]) + row;
                    FOR_BLOCK
                    {
                        double *slope = slope_of(r, node->target + begin + i, list[j]);
                        for (int l = 0; slope && l < L; l++)
                            slope[row + l] += times_change(partials[k][AT], change[l]);
                    }
                }
            }
        }
    }
}

static void base_slopes(const run *r, const pyspec_node *node)
{
    for (int64_t k = 0; k < node->repeat; k++) {
        int64_t source = node->source >= r->plan->samples ? node->source + k : node->source, count;
        const int64_t *list = depends(r, source, &count);
        for (int64_t j = 0; j < count; j++) {
            double *slope = slope_of(r, node->target + k, list[j]);
            const double *change = pyspec_slope_row(r, source, 0, list[j]);
            for (int64_t i = 0; slope && i < r->work.stride; i++)
                slope[i] += change[i];
        }
    }
}

static void expression_slopes(const run *r, const pyspec_node *node)
{
    for (int64_t k = 0; k < node->repeat; k++) {
        int64_t count;
        const int64_t *list = depends(r, node->target + k, &count);
        for (int64_t j = 0; j < count; j++)
            pyspec_run_program_slope(r->words + node->code, node->n_code, r, k, list[j],
                                     r->work.stride, slope_of(r, node->target + k, list[j]));
    }
}

/* d(K y) = K dy + dK y, and K y itself. */
static void convolution_slopes(const run *r, const pyspec_node *node)
{
    const int64_t n = r->problem->n_rows, stride = r->work.stride;
    double *y = r->work.traces + node->target * stride, *by_width = r->work.by_width;
    double params[MAX_PARAMS * L], **slopes = (double **)(void *)r->work.signals;
    tile t = {.across = 1};
    int64_t count;
    const int64_t *list = depends(r, node->target, &count);
    pyspec_gather(r, node, &t, params);
    const convolution c = convolution_of(r, node, params[0]);
    const int bad = pyspec_outside(r, node, params) != 0;
    for (int64_t j = 0; j < count; j++)
        slopes[j] = slope_of(r, node->target, list[j]);
    if (bad || !count)
        pyspec_resolve_node(r, node);
    else
        pyspec_convolve_all(&c, y, by_width, slopes, count, r->work.convolved);
    fill(y + n, y[n - 1], stride - n);
    for (int64_t j = 0; j < count; j++) {
        const double *change = pyspec_slope_row(r, r->words[node->params], 0, list[j]);
        if (bad)
            fill(slopes[j], NAN, n);
        for (int64_t i = 0; change && !bad && *change != 0.0 && i < n; i++)
            slopes[j][i] += times_change(by_width[i], *change);
        fill(slopes[j] + n, slopes[j][n - 1], stride - n);
    }
}

void pyspec_resolve_slopes(const run *r)
{
    const pyspec_plan *plan = r->plan;
    pyspec_resolve_inputs(r);
    for (int64_t k = 0; k < plan->n_theta; k++)
        fill(slope_of(r, k, k), 1.0, r->work.stride);
    for (int64_t k = 0; k < plan->n_resolve; k++) {
        const pyspec_node *node = &r->nodes[k];
        if (node->step == PYSPEC_STEP_CONVOLVE) {
            convolution_slopes(r, node);
            continue;
        }
        pyspec_resolve_node(r, node);
        switch (node->step) {
        case PYSPEC_STEP_LAW:
            law_slopes(r, node);
            break;
        case PYSPEC_STEP_PROFILE:
            profile_slopes(r, node);
            break;
        case PYSPEC_STEP_BASE:
            base_slopes(r, node);
            break;
        case PYSPEC_STEP_EXPRESSION:
            expression_slopes(r, node);
            break;
        default:
            break;
        }
    }
}
