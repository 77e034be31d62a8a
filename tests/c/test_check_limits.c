/* test_check_limits.c: the smallest plans that pyspec_check accepts, and the largest numbers. */
#include "refusals.h"

/* What good_plan builds. */
static enum { STILL, WAITING, EMPTY, ALONE } kind;

enum { CONSTANT, LAW, CONVOLVE, PROFILE, GAUSS };

/* Row 0 is external, 1 a constant, 2 a convolved law, 3 a block of a single auxiliary point. */
static void build_still(plan_builder *b)
{
    const int law[] = {1, 1, 1, -1}, width[] = {1}, profile[] = {1, 1}, gauss[] = {1, 3, 1};
    const int64_t one[] = {RPN_CONST, bits_of(1.0)};
    start(b, 2, 0, 0, 3, 1);
    b->head.n_external = 1;
    CHECK_INT(add_blocks(b, 1, 1), 3);
    add_expression(b, 0, 1, 1, one);
    add_call(b, PYSPEC_STEP_LAW, OP_expFun, PYSPEC_FLAG_STORE, 2, 4, law);
    add_call(b, PYSPEC_STEP_CONVOLVE, OP_gaussCONV, 0, 2, 1, width);
    add_call(b, PYSPEC_STEP_PROFILE, OP_pExpDecay, PYSPEC_FLAG_STORE, 3, 2, profile);
    add_call(b, PYSPEC_STEP_COMPONENT, OP_Gauss, PYSPEC_FLAG_STORE, 0, 3, gauss);
}

/* The first node convolves an external trace, and needs all of it. */
static void build_waiting(plan_builder *b)
{
    const int width[] = {0};
    const int64_t external[] = {RPN_PARAM, 1};
    start(b, 2, 0, 1, 3, 1);
    b->head.n_external = 1;
    add_expression(b, 0, 2, 1, external);
    add_call(b, PYSPEC_STEP_CONVOLVE, OP_gaussCONV, 0, 2, 1, width);
}

static pyspec_plan *good_plan(void)
{
    plan_builder b;
    const int row[] = {0};
    const int64_t one[] = {RPN_CONST, bits_of(1.0)};
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
        add_expression(&b, 0, 0, 1, one);
        add_call(&b, PYSPEC_STEP_COMPONENT, OP_Offset, PYSPEC_FLAG_STORE, 0, 1, row);
    }
    return finish(&b);
}

static void smallest_plans(void)
{
    kind = STILL;
    ACCEPT((void)0);
    kind = EMPTY;
    ACCEPT(q = NULL);
    ACCEPT((q = NULL, p->n_nodes = 0));
    kind = ALONE;
    ACCEPT(q = NULL);
}

static void what_stands_still(void)
{
    kind = STILL;
    /* What follows the parameters is none of them. */
    ACCEPT((n[GAUSS].flags |= PYSPEC_FLAG_STATIC, w[n[GAUSS].params + 3] = 0));
    EXPECT((n[GAUSS].flags |= PYSPEC_FLAG_STATIC, w[n[GAUSS].params] = 0), STATUS_STAGE, GAUSS,
           FIELD_pyspec_node_params);
    NODE(PROFILE, stage = PYSPEC_STAGE_AXIS, STAGE, stage);
    HEADER(p->samples = p->n_traces + 1, ROW, samples);
}

static void what_needs_the_whole_axis(void)
{
    kind = WAITING;
    ACCEPT((void)0);
    PROBLEM(q->row_end = q->chunk_rows = 3, WINDOW, chunk_rows);
}

static void largest_numbers(void)
{
    kind = STILL;
    HEADER(p->n_theta = 1 << 20, SIZE, n_theta);
    HEADER(p->n_nodes = 1 << 14, SIZE, n_nodes);
    HEADER(p->n_words = (int64_t)1 << 32, SIZE, n_words);
    PROBLEM(q->n_x = (int64_t)1 << 28, SIZE, n_x);
}

/* A node that calls no function may hold anything where others hold theirs. */
static void what_a_step_does_not_read(void)
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
    free(p);
}

int main(void)
{
    RUN(what_a_step_does_not_read);
    RUN(smallest_plans);
    RUN(what_stands_still);
    RUN(what_needs_the_whole_axis);
    RUN(largest_numbers);
    return REPORT;
}
