/* test_samples.c: what differs along an auxiliary axis, what the caller supplies, and plans whose
 * result is a trace. The large plans are compared with naive.c, the small ones with numbers
 * written out here. */
#include "support/plans.h"
#include "support/unit.h"

enum {
    STORE = PYSPEC_FLAG_STORE,
    STATIC = PYSPEC_FLAG_STATIC,
    COMPONENT = PYSPEC_STEP_COMPONENT,
    PROFILE = PYSPEC_STEP_PROFILE
};

/* Compares model and traces with naive.c; every number is finite. */
static void check_naive(const pyspec_plan *plan, const pyspec_problem *q, const double *theta)
{
    const int64_t n = q->n_rows * q->n_x, n_traces = plan->n_traces * q->n_rows;
    int status;
    CHECK_INT(pyspec_check(plan, plan->size, q, NULL), STATUS_OK);
    double *out = run_entry(RUN_EVALUATE, plan, q, theta, &status);
    double *traces = run_entry(RUN_TRACES, plan, q, theta, &status);
    double *want = exact(n, sizeof *want);
    double *want_traces = exact(n_traces, sizeof *want);
    naive_evaluate(plan, q, theta, want_traces, want);
    for (int64_t i = 0; i < n; i++)
        CHECK(isfinite(want[i]));
    CHECK(close_to(out, want, n, 1e-12));
    CHECK(close_to(traces, want_traces, n_traces, 1e-13));
}

static void check_window(const pyspec_plan *plan, const pyspec_problem *full, const double *theta)
{
    pyspec_problem q = *full;
    int status;
    q.row_begin = q.n_rows / 3;
    q.x_begin = q.n_x / 4;
    q.x_end = q.n_x - q.n_x / 5;
    double *whole = run_entry(RUN_EVALUATE, plan, full, theta, &status);
    double *out = run_entry(RUN_EVALUATE, plan, &q, theta, &status);
    int64_t width = q.x_end - q.x_begin;
    for (int64_t row = q.row_begin; row < q.row_end; row++)
        CHECK(all_same(out + (row - q.row_begin) * width, whole + row * q.n_x + q.x_begin, width));
}

/* Free: A, x0, SD, p. The blocks: x0 + D(t) + profiles, an expression of it, A with a profile
 * that stands still, pShirley with one that moves, pShirley with one that stands still. */
static pyspec_plan *sampled_plan(int dimension, int n_aux)
{
    plan_builder b;
    start(&b, dimension, 4, 2, 9, 2);
    b.head.n_external = 1; /* row 6 */
    b.head.n_spectra = 2;
    const int first = add_blocks(&b, n_aux, 5), external = 6, moved = 7, tau = 8;
    const int x0 = first, shifted = first + n_aux, height = first + 2 * n_aux;
    const int fed = first + 3 * n_aux, fed_still = first + 4 * n_aux;
    add_call(&b, PYSPEC_STEP_LAW, OP_expFun, STORE, moved, ROWS_OF(4, 5, 3, -1));
    add_step(&b, PYSPEC_STEP_BASE, 0, 1, moved);
    add_expression(&b, 0, tau, CODE(RPN_PARAM, external, RPN_CONST, bits_of(0.5), RPN_ADD, 0));
    add_call(&b, PROFILE, OP_pExpDecay, STORE, x0, ROWS_OF(0, tau));
    add_call(&b, PROFILE, OP_pLinear, 0, x0, ROWS_OF(3, 2));
    add_step(&b, PYSPEC_STEP_BASE, 0, moved, x0);
    add_expression(&b, 0, shifted,
                   CODE(RPN_PARAM, x0, RPN_CONST, bits_of(1.5), RPN_ADD, 0, RPN_PARAM, external, RPN_MUL, 0));
    add_call(&b, PROFILE, OP_pGauss, STORE, height, ROWS_OF(3, 1, 2));
    add_step(&b, PYSPEC_STEP_BASE, 0, 0, height);
    add_call(&b, PROFILE, OP_pLinear, STORE, fed, ROWS_OF(3, 2));
    add_step(&b, PYSPEC_STEP_BASE, 0, external, fed);
    add_call(&b, PROFILE, OP_pGauss, STORE, fed_still, ROWS_OF(3, 1, 2));
    add_call(&b, COMPONENT, OP_Gauss, STORE | STATIC, 1, ROWS_OF(height, 1, 2));
    add_step(&b, PYSPEC_STEP_EXTERNAL, 0, 1, 1);
    add_call(&b, COMPONENT, OP_Gauss, 0, 1, ROWS_OF(0, x0, 2));
    add_call(&b, COMPONENT, OP_Shirley, STORE, 0, ROWS_OF(fed))->source = 1;
    add_call(&b, COMPONENT, OP_Gauss, 0, 1, ROWS_OF(height, shifted, 2));
    add_step(&b, PYSPEC_STEP_EXTERNAL, 0, 0, 0);
    add_call(&b, COMPONENT, OP_Shirley, 0, 1, ROWS_OF(fed_still))->source = 1;
    add_call(&b, COMPONENT, OP_Offset, 0, 0, ROWS_OF(x0));
    add_call(&b, COMPONENT, OP_Shirley, 0, 0, ROWS_OF(fed_still))->source = 0;
    add_step(&b, PYSPEC_STEP_ADD, 0, 1, 0);
    return finish(&b);
}

TEST_ALL(equals_the_naive_reading)
{
    const double theta[] = {2.0, 3.0, 0.7, 0.02};
    const int64_t rows[] = {1, 2, 8, 9, 21}, abscissae[] = {1, 48, 49, 100, 385};
    const int points[] = {1, 2, 7, 48, 50};
    for (int dimension = 1; dimension <= 2; dimension++)
        for (int k = 0; k < 5; k++) {
            pyspec_plan *plan = sampled_plan(dimension, points[k]);
            for (int size = 0; size < 25; size++) {
                grid g;
                make_grid(&g, plan, dimension == 1 ? 1 : rows[size % 5], abscissae[size / 5]);
                check_naive(plan, &g.problem, theta);
                make_uneven(&g, abscissae[size / 5]);
                check_window(plan, &g.problem, theta);
            }
        }
}

/* An Offset of b + m aux is b + m (mean of aux), with the weights of the mean; a Shirley of such
 * a factor has the mean of the factors. */
TEST_ALL(a_component_is_the_weighted_mean)
{
    plan_builder b;
    start(&b, 1, 2, 0, 2, 2);
    const int first = add_blocks(&b, 3, 1), line[] = {0, 1}, offset[] = {first};
    add_call(&b, PROFILE, OP_pLinear, STORE, first, 2, line);
    add_call(&b, COMPONENT, OP_Offset, STORE, 1, 1, offset);
    add_call(&b, COMPONENT, OP_Shirley, STORE, 0, 1, offset)->source = 1;
    pyspec_plan *plan = finish(&b);
    const double theta[] = {3.0, 2.0}, aux[] = {0.0, 1.0, 5.0}, weight[] = {0.5, 0.25, 0.25};
    const double mean = 2.0 + 3.0 * (1.0 / 4.0 + 5.0 / 4.0);
    int status;
    grid g;
    make_grid(&g, plan, 1, 500);
    memcpy(g.aux, aux, sizeof aux);
    memcpy(g.aux_weight, weight, sizeof weight);
    double *traces = run_entry(RUN_TRACES, plan, &g.problem, theta, &status);
    CHECK(traces[2] == 2.0 && traces[3] == 5.0 && traces[4] == 17.0);
    double *out = run_entry(RUN_EVALUATE, plan, &g.problem, theta, &status);
    for (int i = 0; i < 500; i++)
        CHECK(out[i] == mean * mean * (double)(500 - i));
}

/* One auxiliary point outside of the bounds makes the row NaN, and no other row. */
TEST_ALL(a_point_outside_of_its_bounds_makes_its_rows_nan)
{
    plan_builder b;
    start(&b, 2, 3, 0, 4, 1);
    b.head.n_external = 1; /* row 3: the slope of the width */
    const int first = add_blocks(&b, 4, 1), line[] = {3, 2}, gauss[] = {0, 1, first};
    add_call(&b, PROFILE, OP_pLinear, STORE, first, 2, line);
    add_call(&b, COMPONENT, OP_Gauss, STORE, 0, 3, gauss);
    pyspec_plan *plan = finish(&b);
    const double theta[] = {1.0, 2.0, 0.6};
    int status;
    grid g;
    make_grid(&g, plan, 11, 60);
    for (int row = 0; row < 11; row++) /* the last width is 0.6 + 0.7 slope */
        g.external[row] = row % 3 == 1 ? -1.0 : 0.1;
    double *out = run_entry(RUN_EVALUATE, plan, &g.problem, theta, &status);
    for (int i = 0; i < 11 * 60; i++)
        CHECK((isnan(out[i]) != 0) == (i / 60 % 3 == 1));
}

TEST_ALL(a_profile_outside_of_its_bounds_is_nan)
{
    plan_builder b;
    start(&b, 2, 1, 0, 2, 1);
    b.head.n_external = 1;
    const int first = add_blocks(&b, 2, 1), decay[] = {0, 1};
    add_call(&b, PROFILE, OP_pExpDecay, STORE, first, 2, decay);
    pyspec_plan *plan = finish(&b);
    const double theta[] = {1.0};
    int status;
    grid g;
    make_grid(&g, plan, 9, 1);
    for (int row = 0; row < 9; row++)
        g.external[row] = row - 3.0; /* tau */
    double *traces = run_entry(RUN_TRACES, plan, &g.problem, theta, &status);
    for (int i = 0; i < 18; i++)
        CHECK((isnan(traces[18 + i]) != 0) == (i % 9 <= 3));
}

/* An external component is what the caller gave, bit by bit, in both orientations and beside a
 * Shirley, which reads it. */
TEST_ALL(an_external_component_is_what_was_given)
{
    for (int dimension = 1; dimension <= 2; dimension++) {
        plan_builder b;
        start(&b, dimension, 1, 0, 1, 2);
        b.head.n_spectra = 3;
        add_step(&b, PYSPEC_STEP_EXTERNAL, STORE, 2, 0);
        add_step(&b, PYSPEC_STEP_EXTERNAL, 0, 0, 0);
        add_step(&b, PYSPEC_STEP_EXTERNAL, STORE, 1, 1);
        add_call(&b, COMPONENT, OP_Shirley, 0, 1, ROWS_OF(0))->source = 1;
        add_step(&b, PYSPEC_STEP_ADD, 0, 1, 0);
        pyspec_plan *plan = finish(&b);
        const double theta[] = {0.5};
        const int64_t n_rows = dimension == 2 ? 13 : 1, n_x = dimension == 2 ? 100 : 800; /* even: no shares */
        int status;
        grid g;
        make_grid(&g, plan, n_rows, n_x);
        double *out = run_entry(RUN_EVALUATE, plan, &g.problem, theta, &status);
        const double *at[3];
        for (int64_t row = 0; row < n_rows; row++) {
            double sum = 0.0;
            for (int k = 0; k < 3; k++)
                at[k] = g.spectra + (k * n_rows + row) * n_x;
            for (int64_t i = n_x - 1; i >= 0; i--) {
                sum += at[1][i];
                CHECK(out[row * n_x + i] == at[2][i] + at[0][i] + (at[1][i] + 0.5 * sum));
            }
        }
        check_window(plan, &g.problem, theta);
    }
}

/* A trace as result: a law, an input and an expression, over a window, and its residual. */
TEST_ALL(a_trace_can_be_the_result)
{
    plan_builder b;
    start(&b, 2, 3, 0, 6, 1);
    b.head.n_external = 1;
    add_call(&b, PYSPEC_STEP_LAW, OP_expFun, STORE, 4, ROWS_OF(0, 1, 2, -1));
    add_step(&b, PYSPEC_STEP_BASE, 0, 3, 4);
    add_expression(&b, 0, 5, CODE(RPN_PARAM, 4, RPN_PARAM, 4, RPN_MUL, 0));
    pyspec_plan *plan = finish(&b);
    const double theta[] = {2.0, 1.5, 0.3};
    for (int row = 0; row < 6; row++) {
        double data[100], weight[100];
        uint8_t keep[100];
        int status;
        grid g;
        plan->trace = row;
        make_grid(&g, plan, 100, 1);
        for (int i = 0; i < 100; i++) {
            data[i] = 0.1 * i;
            weight[i] = 1.0 + i;
            keep[i] = i % 7 != 3;
        }
        pyspec_problem *q = &g.problem;
        q->row_begin = 13;
        q->row_end = 90;
        CHECK_INT(pyspec_check(plan, plan->size, q, NULL), STATUS_OK);
        double *traces = run_entry(RUN_TRACES, plan, q, theta, &status);
        double *out = run_entry(RUN_EVALUATE, plan, q, theta, &status);
        CHECK(all_same(out, traces + row * 100 + 13, 77));
        CHECK(!run_entry(RUN_RESIDUAL, plan, q, theta, &status) && status == STATUS_DATA);
        q->data = data;
        q->weight = weight;
        q->keep = keep;
        q->data_row = q->weight_row = 8;
        q->keep_row = 1;
        double *residual = run_entry(RUN_RESIDUAL, plan, q, theta, &status);
        for (int i = 0; i < 77; i++)
            CHECK(same(residual[i],
                       keep[13 + i] ? (data[13 + i] - out[i]) * weight[13 + i] : 0.0));
    }
}

UNIT_MAIN
