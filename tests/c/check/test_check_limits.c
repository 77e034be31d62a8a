/* test_check_limits.c: the smallest plans that pyspec_check accepts, and the largest numbers. */
#include "support/refusals.h"

/* What good_plan builds. */
static enum { STILL, WAITING, EMPTY, ALONE } kind;

enum { CONSTANT, LAW, CONVOLVE, PROFILE, GAUSS };

/* Row 0 is external, 1 a constant, 2 a convolved law, 3 a block of a single auxiliary point. */
static void build_still(plan_builder *b)
{
    start(b, 2, 0, 0, 3, 1);
    b->head.n_external = 1;
    CHECK_INT(add_blocks(b, 1, 1), 3);
    add_expression(b, 0, 1, CODE(RPN_CONST, bits_of(1.0)));
    add_call(b, PYSPEC_STEP_LAW, OP_expFun, PYSPEC_FLAG_STORE, 2, ROWS_OF(1, 1, 1, -1));
    add_call(b, PYSPEC_STEP_CONVOLVE, OP_gaussCONV, 0, 2, ROWS_OF(1));
    add_call(b, PYSPEC_STEP_PROFILE, OP_pExpDecay, PYSPEC_FLAG_STORE, 3, ROWS_OF(1, 1));
    add_call(b, PYSPEC_STEP_COMPONENT, OP_Gauss, PYSPEC_FLAG_STORE, 0, ROWS_OF(1, 3, 1));
}

/* The first node convolves an external trace, and needs all of it. */
static void build_waiting(plan_builder *b)
{
    start(b, 2, 0, 1, 3, 1);
    b->head.n_external = 1;
    add_expression(b, 0, 2, CODE(RPN_PARAM, 1));
    add_call(b, PYSPEC_STEP_CONVOLVE, OP_gaussCONV, 0, 2, ROWS_OF(0));
}

static pyspec_plan *good_plan(void)
{
    plan_builder b;
    const int row[] = {0};
    if (kind == STILL)
        build_still(&b);
    else if (kind == WAITING)
        build_waiting(&b);
    else if (kind == EMPTY) { /* no trace, no word: a spectrum from outside */
        start(&b, 1, 0, 0, 0, 1);
        b.head.n_spectra = 1;
        add_step(&b, PYSPEC_STEP_EXTERNAL, PYSPEC_FLAG_STORE, 0, 0);
    } else { /* no input: the only row is a constant */
        start(&b, 1, 0, 0, 1, 1);
        add_expression(&b, 0, 0, CODE(RPN_CONST, bits_of(1.0)));
        add_call(&b, PYSPEC_STEP_COMPONENT, OP_Offset, PYSPEC_FLAG_STORE, 0, 1, row);
    }
    return finish(&b);
}

TEST(smallest_plans)
{
    kind = STILL;
    ACCEPT((void)0);
    kind = EMPTY;
    ACCEPT(q = NULL);
    ACCEPT((q = NULL, p->n_nodes = 0));
    kind = ALONE;
    ACCEPT(q = NULL);
}

TEST(what_stands_still)
{
    kind = STILL;
    /* What follows the parameters is none of them. */
    ACCEPT((n[GAUSS].flags |= PYSPEC_FLAG_STATIC, w[n[GAUSS].params + 3] = 0));
    EXPECT((n[GAUSS].flags |= PYSPEC_FLAG_STATIC, w[n[GAUSS].params] = 0), STATUS_STAGE, GAUSS,
           FIELD_pyspec_node_params);
    NODE(PROFILE, stage = PYSPEC_STAGE_AXIS, STAGE, stage);
    HEADER(p->samples = p->n_traces + 1, ROW, samples);
}

TEST(what_needs_the_whole_axis)
{
    kind = WAITING;
    ACCEPT((void)0);
    PROBLEM(q->row_end = q->chunk_rows = 3, WINDOW, chunk_rows);
}

TEST(largest_numbers)
{
    kind = STILL;
    HEADER(p->n_theta = 1 << 20, SIZE, n_theta);
    HEADER(p->n_nodes = 1 << 14, SIZE, n_nodes);
    HEADER(p->n_words = (int64_t)1 << 32, SIZE, n_words);
    PROBLEM(q->n_x = (int64_t)1 << 28, SIZE, n_x);
}

/* A node that calls no function may hold anything where others hold theirs. */
TEST(what_a_step_does_not_read)
{
    kind = EMPTY;
    pyspec_plan *p = good_plan();
    pyspec_node *n = (pyspec_node *)((char *)p + p->nodes);
    pyspec_problem q = {.n_x = 7, .n_rows = 1};
    const int64_t size = pyspec_work_size(p, &q);
    n->op = PYSPEC_OP_FORMULA;
    n->code = INT64_MAX / 16;
    n->n_params = INT32_MAX;
    CHECK_INT(pyspec_check(p, p->size, NULL, NULL), STATUS_OK);
    CHECK_INT(pyspec_work_size(p, &q), size);
}

/* Rows are written in any order; each node may read what one before it has written, and no other. */
TEST(rows_in_any_order)
{
    enum { N = 40 };
    for (int reads = 1; reads < N; reads++)
        for (int behind = 0; behind < 2; behind++) {
            plan_builder b;
            int64_t code[N][2];
            start(&b, 1, 1, 0, N + 1, 1);
            for (int k = 0; k < N; k++) {
                const int of = k == reads ? (behind ? (k + 7) % N : k - 1) : -1;
                code[k][0] = RPN_PARAM;
                code[k][1] = of < 0 ? 0 : 1 + 17 * of % N;
                add_expression(&b, 0, 1 + 17 * k % N, 1, code[k]);
            }
            pyspec_plan *plan = finish(&b);
            pyspec_fault fault;
            const int is_late = behind && (reads + 7) % N > reads;
            CHECK_INT(pyspec_check(plan, plan->size, NULL, &fault), is_late ? STATUS_ROW : STATUS_OK);
            CHECK_INT(fault.node, is_late ? reads : -1);
        }
}

/* A separable plan of one trace that depends on `n_theta` parameters, and lists it `n_listed` times. */
static pyspec_plan *listed_plan(int64_t n_theta, int64_t n_listed)
{
    const int64_t n_words = 3 + (n_theta + 2) + 2 * n_theta + 1 + n_listed;
    const int64_t nodes = sizeof(pyspec_plan);
    const int64_t words = nodes + 2 * (int64_t)sizeof(pyspec_node), size = words + 8 * n_words;
    pyspec_plan *p = zeros(size, 1);
    pyspec_node *n = (pyspec_node *)((char *)p + nodes);
    int64_t *w = (int64_t *)((char *)p + words), at = 3;
    *p = (pyspec_plan){.abi = PYSPEC_ABI, .size = size, .dimension = 2, .n_theta = n_theta};
    p->n_traces = p->samples = n_theta + 1;
    p->n_nodes = 2;
    p->n_resolve = p->n_slots = p->stack_depth = 1;
    p->trace = p->columns = -1;
    p->nodes = nodes;
    p->words = words;
    p->n_words = n_words;
    w[0] = RPN_PARAM;
    w[2] = n_theta;
    n[0] = (pyspec_node){.step = PYSPEC_STEP_EXPRESSION, .op = -1, .mask = -1, .n_code = 1};
    n[0].target = n_theta;
    n[0].repeat = n[1].repeat = 1;
    n[1] = (pyspec_node){.step = PYSPEC_STEP_COMPONENT, .op = OP_Offset, .mask = -1, .n_params = 1};
    n[1].flags = PYSPEC_FLAG_STORE | PYSPEC_FLAG_STATIC;
    n[1].params = 2;
    n[1].source = -1;
    n[1].repeat = 1;
    p->depends = at;
    for (int64_t k = 0; k <= n_theta; k++)
        w[at++] = k;
    w[at++] = 2 * n_theta;
    for (int64_t k = 0; k < 2 * n_theta; k++)
        w[at++] = k % n_theta;
    p->separable = at;
    w[at++] = n_listed;
    for (int64_t k = 0; k < n_listed; k++)
        w[at++] = n_theta;
    return p;
}

/* Sizes that would be beyond an int64 are refused, where a plan of some megabytes asks for them. */
TEST(counts_whose_products_overflow)
{
    double x[1] = {0.0};
    pyspec_fault fault;
    for (int many = 0; many < 2; many++) {
        pyspec_plan *p = listed_plan(1 << 15, many ? 1 << 11 : 8);
        CHECK_INT(pyspec_check(p, p->size, NULL, &fault), many ? STATUS_SIZE : STATUS_OK);
        CHECK_INT(fault.field, many ? FIELD_pyspec_plan_separable : -1);
        pyspec_problem q = {.x = x, .n_x = ((int64_t)1 << 28) - 1, .n_rows = 1};
        q.row_end = q.chunk_rows = 1;
        q.x_end = q.n_x;
        p->separable = -1;
        CHECK_INT(pyspec_check(p, p->size, &q, NULL), STATUS_OK);
        CHECK(pyspec_jacobian_work_size(p, &q) > 0);
        q.n_rows = q.chunk_rows = q.row_end = ((int64_t)1 << 28) - 1;
        p->n_resolve = 1;
        CHECK_INT(pyspec_check(p, p->size, &q, NULL), STATUS_OK);
        p->n_slots = (1 << 14) - 1; /* of spectra apart, each as long as the axis */
        p->separable = many ? -1 : p->n_words - 9;
        CHECK_INT(pyspec_check(p, p->size, &q, &fault), many ? STATUS_OK : STATUS_SIZE);
        CHECK_INT(fault.field, many ? -1 : FIELD_pyspec_problem_n_x);
    }
}

/* Three counts that a plan and a problem may have, and whose product no int64 holds. */
TEST(derivatives_that_nobody_has_room_for)
{
    pyspec_plan *p = listed_plan(1 << 9, 1);
    double *x = zeros(1, sizeof *x), theta[1 << 9] = {0.0}, out[8];
    const int64_t n = (int64_t)1 << 27;
    pyspec_problem q = {.x = x, .n_x = n, .n_rows = n, .row_end = n, .x_end = n, .chunk_rows = n};
    p->separable = -1;
    CHECK_INT(pyspec_check(p, p->size, &q, NULL), STATUS_OK);
    pyspec_call call = {.plan = p, .problem = &q, .theta = theta, .out = out, .n_out = 8};
    call.work = call.prepared = out; /* neither is touched */
    call.work_size = call.prepared_size = INT64_MAX;
    CHECK_INT(pyspec_jacobian(&call), STATUS_OUTPUT);
}

UNIT_MAIN
