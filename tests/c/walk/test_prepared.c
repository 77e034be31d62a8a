/* test_prepared.c: entries that read what was prepared refuse a memory that is too small, or that was
 * prepared for another call. */
#include "support/models.h"
#include "separable/separable.h"
#include "support/sums.h"
#include "support/unit.h"

enum { ROWS = 9, POINTS = 7, SLOPES = PYSPEC_PREPARE_SLOPES };

/* A call that is prepared for sums of a form. */
typedef struct ready {
    model m;
    pyspec_normal sums;
    pyspec_call made, call;
    double theta[8];
} ready;

static void begin(ready *r, int form)
{
    const int64_t what = form == PYSPEC_FORM_VALUE ? 0 : SLOPES;
    make_model(&r->m, MODEL_2D, COLUMNS_NONE, 0, ROWS, POINTS);
    memcpy(r->theta, r->m.theta, (size_t)r->m.plan->n_theta * sizeof *r->theta);
    make_sums(&r->sums, form, r->m.plan->n_theta, PYSPEC_NORMAL_NODES, r->m.plan->n_theta + 1);
    r->made = r->call = make_call(r->m.plan, &r->m.g.problem, r->theta, what);
    CHECK_INT(pyspec_prepare(&r->call, what), STATUS_OK);
}

/* Status of pyspec_accumulate after `edit` of r. */
#define EXPECT(want, edit)                                                                         \
    do {                                                                                           \
        ready own, *r = &own;                                                                      \
        begin(r, form);                                                                            \
        edit;                                                                                      \
        CHECK_INT(pyspec_accumulate(&r->call, &r->sums, 0, ROWS), want);                           \
    } while (0)

TEST_ALL(sums_refuse_what_was_prepared_for_another_call)
{
    for (int form = 0; form <= PYSPEC_FORM_FISHER; form++) {
        const int needs_slopes = form != PYSPEC_FORM_VALUE;
        EXPECT(STATUS_OK, (void)0);
        EXPECT(STATUS_WORK, r->call.prepared_size = 64);
        EXPECT(STATUS_WORK, r->call.prepared_size--);
        EXPECT(STATUS_PREPARED, r->theta[2] += 1e-9);
        EXPECT(STATUS_PREPARED, r->m.g.fixed[1] += 1e-9);
        EXPECT(STATUS_PREPARED, r->m.g.problem.x_begin++);
        EXPECT(STATUS_PREPARED, r->m.g.problem.time = r->m.g.axes);
        EXPECT(STATUS_PREPARED, r->call.prepared[0] = NAN); /* nothing was prepared */
        EXPECT(needs_slopes ? STATUS_PREPARED : STATUS_OK,
               CHECK_INT(pyspec_prepare(&r->call, 0), STATUS_OK));
    }
}

/* It prepares for itself, in a memory that must be large enough. */
TEST(derivatives_need_room_to_prepare)
{
    ready own, *r = &own;
    begin(r, PYSPEC_FORM_GRAM);
    const int64_t n = r->m.plan->n_theta * ROWS * POINTS;
    r->call.out = zeros(n, sizeof *r->call.out);
    r->call.n_out = n;
    CHECK_INT(pyspec_jacobian(&r->call), STATUS_OK);
    r->call.prepared_size--;
    CHECK_INT(pyspec_jacobian(&r->call), STATUS_WORK);
}

/* A peak whose height a law moves, on a step that stands still: a separable plan. */
static pyspec_plan *separable_plan(void)
{
    plan_builder b;
    const int store = PYSPEC_FLAG_STORE;
    start(&b, 2, 5, 0, 6, 1);
    add_call(&b, PYSPEC_STEP_LAW, OP_expFun, store, 5, ROWS_OF(0, 3, 4, -1));
    add_step(&b, PYSPEC_STEP_BASE, 0, 0, 5);
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_Gauss, store | PYSPEC_FLAG_SHAPE, 0, ROWS_OF(5, 1, 2));
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_ErfStep, PYSPEC_FLAG_STATIC, 0, ROWS_OF(0, 1, 2));
    add_dependencies(&b);
    add_moving_heights(&b);
    return finish(&b);
}

/* Both halves of the sums over energies and times apart refuse what the others refuse. */
TEST(shapes_refuse_it_too)
{
    double theta[] = {2.0, 0.3, 0.2, 1.3, 0.3}, data[ROWS * POINTS] = {0};
    pyspec_plan *plan = separable_plan();
    pyspec_normal s;
    grid g;
    make_grid(&g, plan, ROWS, POINTS);
    set_data(&g.problem, data);
    CHECK_INT(pyspec_check(plan, plan->size, &g.problem, NULL), STATUS_OK);
    make_sums(&s, PYSPEC_FORM_GRAM, plan->n_theta, PYSPEC_NORMAL_NODES, plan->n_theta + 1);
    const pyspec_call good = make_call(plan, &g.problem, theta, SLOPES);
    pyspec_call call = good;
    CHECK(pyspec_is_separable(&good, PYSPEC_FORM_GRAM));
    CHECK_INT(pyspec_prepare(&good, SLOPES), STATUS_OK);
    CHECK_INT(pyspec_prepare_shapes(&good, PYSPEC_FORM_GRAM), STATUS_PREPARED);
    CHECK_INT(pyspec_prepare(&good, SLOPES | PYSPEC_PREPARE_SHAPES), STATUS_OK);
    call.work_size--;
    CHECK_INT(pyspec_prepare_shapes(&call, PYSPEC_FORM_GRAM), STATUS_WORK);
    CHECK_INT(pyspec_prepare_shapes(&good, PYSPEC_FORM_GRAM), STATUS_OK);
    CHECK_INT(pyspec_accumulate_shapes(&call, &s, 0, ROWS), STATUS_WORK);
    theta[2] += 1e-9;
    CHECK_INT(pyspec_prepare_shapes(&good, PYSPEC_FORM_GRAM), STATUS_PREPARED);
    CHECK_INT(pyspec_accumulate_shapes(&good, &s, 0, ROWS), STATUS_PREPARED);
    CHECK_INT(s.n_nodes, 0);
}

/* Sums of shapes that were prepared with weights along the energies: other numbers are refused, be it in the
 * same place; the same elsewhere, which each chunk of rows may have of its own, are not. */
TEST(shapes_refuse_other_weights)
{
    double theta[] = {2.0, 0.3, 0.2, 1.3, 0.3}, data[ROWS * POINTS] = {0};
    double weight[POINTS], elsewhere[POINTS];
    uint8_t keep[POINTS];
    pyspec_plan *plan = separable_plan();
    pyspec_normal s;
    grid g;
    make_grid(&g, plan, ROWS, POINTS);
    set_data(&g.problem, data);
    for (int i = 0; i < POINTS; i++) {
        weight[i] = elsewhere[i] = 1.0 + i;
        keep[i] = 1;
    }
    make_sums(&s, PYSPEC_FORM_GRAM, plan->n_theta, PYSPEC_NORMAL_NODES, plan->n_theta + 1);
    s.in_strips = 1;
    const pyspec_call call = make_call(plan, &g.problem, theta, SLOPES);
#define SUMS(status)                                                                               \
    do {                                                                                           \
        s.n_nodes = 0;                                                                             \
        CHECK_INT(pyspec_accumulate(&call, &s, 0, ROWS), status);                                  \
    } while (0)
    CHECK_INT(pyspec_prepare(&call, SLOPES | PYSPEC_PREPARE_SHAPES), STATUS_OK);
    SUMS(STATUS_OK);
    g.problem.keep = keep;
    g.problem.keep_x = 1;
    SUMS(STATUS_OK);
    keep[2] = 0;
    SUMS(STATUS_PREPARED);
    g.problem.keep = NULL;
    g.problem.weight = weight;
    g.problem.weight_x = sizeof *weight;
    SUMS(STATUS_PREPARED);
    CHECK_INT(pyspec_prepare(&call, SLOPES | PYSPEC_PREPARE_SHAPES), STATUS_OK);
    SUMS(STATUS_OK);
    g.problem.weight = elsewhere;
    SUMS(STATUS_OK);
    elsewhere[3] *= 1.5;
    SUMS(STATUS_PREPARED);
    g.problem.weight = NULL;
    SUMS(STATUS_PREPARED);
#undef SUMS
}

/* A kernel convolves an external trace: of another one nothing is prepared. Where each row reads its own
 * there is nothing to prepare. */
TEST(external_traces_count_where_a_kernel_reads_them)
{
    const int own[] = {0, 1, 0}, convolved[] = {3, 1, 0};
    const int64_t external[] = {RPN_PARAM, 2};
    double theta[] = {0.5, 1.0}, data[ROWS * POINTS] = {0}, other[ROWS] = {0};
    for (int reads = 0; reads < 2; reads++) {
        plan_builder b;
        pyspec_normal s;
        grid g;
        start(&b, 2, 2, 0, 4, 1);
        b.head.n_external = 1;
        add_expression(&b, 0, 3, 1, external);
        if (reads)
            add_call(&b, PYSPEC_STEP_CONVOLVE, OP_gaussCONV, 0, 3, ROWS_OF(0));
        add_call(&b, PYSPEC_STEP_COMPONENT, OP_Gauss, PYSPEC_FLAG_STORE, 0, 3, reads ? convolved : own);
        add_dependencies(&b);
        pyspec_plan *plan = finish(&b);
        make_grid(&g, plan, ROWS, POINTS);
        set_data(&g.problem, data);
        CHECK_INT(pyspec_check(plan, plan->size, &g.problem, NULL), STATUS_OK);
        make_sums(&s, PYSPEC_FORM_GRAM, plan->n_theta, PYSPEC_NORMAL_NODES, plan->n_theta + 1);
        const pyspec_call call = make_call(plan, &g.problem, theta, SLOPES);
        CHECK_INT(pyspec_prepare(&call, SLOPES), STATUS_OK);
        CHECK_INT(pyspec_accumulate(&call, &s, 0, ROWS), STATUS_OK);
        g.problem.external = other;
        s.n_nodes = 0;
        CHECK_INT(pyspec_accumulate(&call, &s, 0, ROWS), reads ? STATUS_PREPARED : STATUS_OK);
    }
}

/* Columns that are the same in every row are summed once, without weights; with weights, which a chunk may
 * have of its own, they are summed as the others. */
TEST(still_columns_take_weights)
{
    const int store = PYSPEC_FLAG_STORE, peak[] = {0, 1, 2}, step[] = {3, 1, 2};
    const int columns[] = {0, 1, 2, 3};
    double theta[] = {1.0, 0.2, 0.7}, data[ROWS * POINTS] = {0}, weight[POINTS], sums[2][10] = {{0.0}};
    plan_builder b;
    pyspec_normal s;
    grid g;
    for (int i = 0; i < POINTS; i++)
        weight[i] = 1.0 + i;
    start(&b, 2, 3, 0, 4, 1);
    add_call(&b, PYSPEC_STEP_LAW, OP_expFun, store, 3, ROWS_OF(0, 1, 2, -1));
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_Gauss, store | PYSPEC_FLAG_STATIC, 0, 3, peak);
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_ErfStep, 0, 0, 3, step);
    add_dependencies(&b);
    add_columns(&b, 4, columns);
    pyspec_plan *plan = finish(&b);
    make_grid(&g, plan, ROWS, POINTS);
    set_data(&g.problem, data);
    CHECK_INT(pyspec_check(plan, plan->size, &g.problem, NULL), STATUS_OK);
    make_sums(&s, PYSPEC_FORM_GRAM, plan->n_theta, PYSPEC_NORMAL_NODES, plan->n_theta + 1);
    const pyspec_call call = make_call(plan, &g.problem, theta, SLOPES);
    for (int first = 0; first < 2; first++) { /* prepared before there were weights, and behind */
        g.problem.weight = first ? weight : NULL;
        g.problem.weight_x = sizeof *weight;
        CHECK_INT(pyspec_prepare(&call, SLOPES), STATUS_OK);
        g.problem.weight = weight;
        s.n_nodes = 0;
        CHECK_INT(pyspec_accumulate(&call, &s, 0, ROWS), STATUS_OK);
        CHECK_INT(pyspec_collect(&s, NULL, plan->n_theta + 1, sums[first]), STATUS_OK);
    }
    CHECK(memcmp(sums[0], sums[1], sizeof sums[0]) == 0);
    CHECK(sums[0][0] > 0.0);
}

/* Rows: free A, x0, y0, then the fixed A, x0, SD of a line that no theta moves. */
static pyspec_plan *plan_with_fixed_lines(int dimension)
{
    const int still = PYSPEC_FLAG_STATIC, store = PYSPEC_FLAG_STORE;
    plan_builder b;
    start(&b, dimension, 3, 3, 6, 1);
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_Gauss, store | still, 0, ROWS_OF(3, 4, 5));
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_Gauss, still, 0, ROWS_OF(5, 4, 3));
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_Offset, still, 0, ROWS_OF(2));
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_Lorentz, still, 0, ROWS_OF(3, 4, 5));
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_Gauss, still, 0, ROWS_OF(0, 1, 5));
    add_dependencies(&b);
    return finish(&b);
}

/* Calls that follow each other on one memory, with other theta and fixed values and windows, with slopes and
 * without, write what each of them does on new memory. */
TEST_ALL(lines_that_nothing_moves_stay)
{
    enum { MOST = 3 * 100 * 9 };
    for (int dimension = 1; dimension <= 2; dimension++)
        for (int64_t n_x = 1; n_x <= 100; n_x += 33) {
            const int64_t n_rows = dimension == 1 ? 1 : 9;
            pyspec_plan *plan = plan_with_fixed_lines(dimension);
            double theta[] = {2.0, 1.1, 0.3}, out[MOST];
            int status;
            grid g;
            make_grid(&g, plan, n_rows, n_x);
            pyspec_call call = make_call(plan, &g.problem, theta, SLOPES);
            call.out = out;
            call.n_out = MOST;
            for (int k = 0; k < 40; k++) {
                const int slopes = k % 3 == 1;
                theta[k % 3] += 0.125;
                g.fixed[k % 3] += k % 5 == 4 ? 0.25 : 0.0;
                g.problem.x_begin = k > 25 ? n_x / 3 : 0;
                const int64_t n = n_rows * (n_x - g.problem.x_begin) * (slopes ? 3 : 1);
                double *want = run_entry(slopes ? RUN_JACOBIAN : RUN_EVALUATE, plan, &g.problem, theta, &status);
                CHECK_INT((slopes ? pyspec_jacobian : pyspec_evaluate)(&call), STATUS_OK);
                CHECK(all_same(want, out, n));
            }
            call.out = NULL;
        }
}

UNIT_MAIN
