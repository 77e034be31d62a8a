/* shapes.c: the shapes that the spectra of a separable plan and their derivatives are made of, once for
 * each theta: separable.c sums over them. */
#include "separable/shapes.h"

/* The abscissae that shapes are computed at. */
static int64_t shapes_begin(const run *r)
{
    return r->cut > r->plan->n_resolve ? 0 : r->problem->x_begin;
}

static double *shape_at(const run *r, int64_t slot, int64_t s)
{
    return r->work.shape_slots +
           (slot * count_shapes(r->plan, r->slopes) + s) * shape_stride(r->problem);
}

static unsigned char *shapes_written(const run *r, int64_t slot)
{
    return (unsigned char *)r->work.shape_written + slot * count_shapes(r->plan, r->slopes);
}

static int64_t find_shape(const run *r, int64_t theta, int64_t height)
{
    int64_t *n = (int64_t *)(void *)r->prepared.n_shapes;
    shape *list = shape_list(r);
    for (int64_t s = 0; s < *n; s++)
        if (list[s].theta == theta && list[s].height == height)
            return s;
    list[*n] = (shape){theta, height};
    return (*n)++;
}

/* A shape of a slot = or += factor * line. */
static void add_line(const run *r, int64_t slot, int64_t s, const double *line, double factor)
{
    const int64_t begin = shapes_begin(r);
    unsigned char *written = shapes_written(r, slot) + s;
    pyspec_block_table[r->call->isa].add_line(shape_at(r, slot, s) + begin, line + begin, factor,
                                              r->x_end - begin, !*written);
    *written = 1;
}

/* What becomes of a shape of the value by a parameter of an op: the derivatives by theta. */
static void add_by_theta(const run *r, int64_t slot, int64_t height, int64_t row,
                         const double *line)
{
    int64_t count;
    const int64_t *list = row < 0 ? NULL : depends(r, row, &count);
    for (int64_t c = 0; list && c < count; c++) {
        const double slope =
            r->prepared.scalar_slopes[(r->words[r->plan->depends + row] + c) * L];
        if (slope != 0.0)
            add_line(r, slot, find_shape(r, list[c], height), line, slope);
    }
}

/* The trace that moves a component, one of those that the plan names; 0: it stands still. */
static int64_t height_of(const run *r, const pyspec_node *node)
{
    int64_t k = 0;
    if (!(node->flags & PYSPEC_FLAG_SHAPE))
        return 0;
    while (moving_rows(r)[k] != r->words[node->params])
        k++;
    return k + 1;
}

static void add_component(const run *r, const pyspec_node *node)
{
    const int64_t place = r->prepared.line_place[node - r->nodes - r->plan->n_resolve];
    const int64_t stride = line_stride(r->problem), height = height_of(r, node);
    const double *lines = r->prepared.lines + place * stride;
    add_line(r, node->target, height, lines, 1.0);
    for (int p = height > 0; r->slopes && p < node->n_params; p++)
        add_by_theta(r, node->target, height, r->words[node->params + p], lines + (p + 1) * stride);
}

/* Runs a spectrum-fed op on every shape that it reads, and its derivatives by its own parameters.
 * The results go to the last slot. All of them are then added to the target. */
static void add_fed(const run *r, const pyspec_node *node)
{
    const int64_t n_shapes = *(int64_t *)(void *)r->prepared.n_shapes, fed = r->plan->n_slots;
    const int64_t begin = shapes_begin(r), n = r->x_end - begin, stride = shape_stride(r->problem);
    const tile t = {.across = 1};
    double params[MAX_PARAMS * L], *partials[MAX_PARAMS], *value = r->work.shape_lines;
    pyspec_gather(r, node, &t, params);
    const unsigned bad = pyspec_outside(r, node, params);
    memset(shapes_written(r, fed), 0, (size_t)count_shapes(r->plan, r->slopes));
    const double *shares = r->problem->shares ? r->problem->shares + 2 * begin : NULL;
    for (int k = 0; k < MAX_PARAMS; k++)
        partials[k] = value + (k + 1) * stride + begin;
    for (int64_t s = 0; node->source >= 0 && s < n_shapes; s++) {
        double carry[MAX_SCRATCH * L] = {0};
        const int wants = r->slopes && shape_list(r)[s].theta < 0;
        if (!shapes_written(r, node->source)[s])
            continue;
        const pyspec_block b = {.n = round_up(n, L) / L, .n_valid = n, .across = 1,
                                .x = r->work.shape_x, .carry = carry, .shares = shares,
                                .spectrum = shape_at(r, node->source, s) + begin};
        pyspec_op_table[node->op].kernels[r->call->isa](&b, params, value + begin,
                                                        wants ? partials : NULL);
        pyspec_poison(value + begin, b.n, bad);
        add_line(r, fed, s, value, 1.0);
        for (int k = 0; wants && k < node->n_params; k++)
            add_by_theta(r, fed, shape_list(r)[s].height, r->words[node->params + k],
                         partials[k] - begin);
    }
    for (int64_t s = 0; s < *(int64_t *)(void *)r->prepared.n_shapes; s++)
        if (shapes_written(r, fed)[s])
            add_line(r, node->target, s, shape_at(r, fed, s), 1.0);
}

static void add_node(const run *r, const pyspec_node *node)
{
    if (node->flags & PYSPEC_FLAG_STORE)
        memset(shapes_written(r, node->target), 0, (size_t)count_shapes(r->plan, r->slopes));
    if (node->step == PYSPEC_STEP_ADD) {
        for (int64_t s = 0; s < *(int64_t *)(void *)r->prepared.n_shapes; s++)
            if (shapes_written(r, node->source)[s])
                add_line(r, node->target, s, shape_at(r, node->source, s), 1.0);
    } else if (op_is_fed(node->op)) {
        add_fed(r, node);
    } else {
        add_component(r, node);
    }
}

/* Where the window of shape s begins, each times v(E). */
static const double *weighted_shape(const run *r, int64_t s)
{
    const pyspec_problem *q = r->problem;
    return is_weighted_along(q, 0) ? shape_at(r, 0, s)
                                   : r->prepared.shapes + s * shape_stride(q) + q->x_begin;
}

static void weigh_shapes(const run *r)
{
    const pyspec_problem *q = r->problem;
    const int64_t n_shapes = *(int64_t *)(void *)r->prepared.n_shapes, n = q->x_end - q->x_begin;
    for (int64_t s = 0; s < n_shapes; s++) {
        const double *line = r->prepared.shapes + s * shape_stride(q) + q->x_begin;
        memcpy(shape_at(r, 0, s), line, (size_t)n * sizeof *line);
        weigh_line(r, shape_at(r, 0, s), n);
    }
}

/* Sums over the window of products of two shapes, each times v(E). */
static void find_overlaps(const run *r)
{
    const int64_t n_shapes = *(int64_t *)(void *)r->prepared.n_shapes;
    const int64_t n = r->problem->x_end - r->problem->x_begin;
    double *overlaps = r->prepared.overlaps;
    for (int64_t i = 0; i < n; i++)
        r->prepared.shape_weight[i] = weight_of_x(r->problem, i);
    if (is_weighted_along(r->problem, 0))
        weigh_shapes(r);
    for (int64_t a = 0; r->slopes && a < n_shapes; a++)
        for (int64_t b = a; b < n_shapes; b += MOST_DOTS) {
            const int64_t n_dots = n_shapes - b < MOST_DOTS ? n_shapes - b : MOST_DOTS;
            const double *others[MOST_DOTS];
            double *to[MOST_DOTS];
            for (int64_t k = 0; k < n_dots; k++) {
                others[k] = weighted_shape(r, b + k);
                to[k] = overlaps + a * n_shapes + b + k;
                *to[k] = 0.0;
            }
            pyspec_block_table[r->call->isa].dots(to, weighted_shape(r, a), others, n_dots, n);
            for (int64_t k = 0; k < n_dots; k++)
                overlaps[(b + k) * n_shapes + a] = *to[k];
        }
}

int pyspec_prepare_shapes(const pyspec_call *call, int64_t form)
{
    run state, *r = &state;
    int status = pyspec_begin_run(r, call, 0, form != PYSPEC_FORM_VALUE);
    status = status ? status : pyspec_use_prepared(r);
    if (status)
        return status;
    if (!pyspec_has_shapes(call)) /* its lines may be joined */
        return STATUS_PREPARED;
    const int64_t n_traces = 1 + r->words[r->plan->separable], begin = shapes_begin(r);
    const int64_t stride = shape_stride(r->problem);
    pyspec_begin_strips(r);
    load_abscissae(r->work.shape_x, r->problem->x + begin, r->x_end - begin);
    *(int64_t *)(void *)r->prepared.n_shapes = 0;
    for (int64_t k = 0; k < n_traces; k++)
        find_shape(r, -1, k);
    for (int64_t k = r->plan->n_resolve; k < r->plan->n_nodes; k++)
        add_node(r, &r->nodes[k]);
    for (int64_t s = 0; s < *(int64_t *)(void *)r->prepared.n_shapes; s++) {
        double *to = r->prepared.shapes + s * stride;
        if (shapes_written(r, r->plan->result)[s])
            memcpy(to, shape_at(r, r->plan->result, s), (size_t)stride * sizeof *to);
        else
            fill(to, 0.0, stride);
    }
    find_overlaps(r);
    return STATUS_OK;
}
