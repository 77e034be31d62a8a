/* test_execute.c: whole plans against naive.c, windows against the full grid, bounds against
 * their rows, for sizes below, at and above the blocks. */
#include "support/plans.h"
#include "support/unit.h"

enum { STORE = PYSPEC_FLAG_STORE, STATIC = PYSPEC_FLAG_STATIC, COMPONENT = PYSPEC_STEP_COMPONENT };

static const int64_t row_sizes[] = {1, 2, 7, 8, 9, 63, 65, 130};
static const int64_t x_sizes[] = {1, 3, 47, 48, 49, 97, 383, 384, 385, 800};
enum { N_ROW_SIZES = 8, N_X_SIZES = 10 };

/* Rows 0..6 are free (A, x0, SD, tau, t0, p, m), 7..8 fixed; 9: x0 moved by two laws, one of
 * them masked and on an axis of its own; 10: an expression of it; 11: a static expression. */
static pyspec_plan *rich_plan(int dimension)
{
    plan_builder b;
    start(&b, dimension, 7, 2, 12, 2);
    b.head.n_axes = 2;
    b.head.n_masks = 2;
    add_call(&b, PYSPEC_STEP_LAW, OP_expFun, STORE, 9, ROWS_OF(0, 3, 4, -1));
    pyspec_node *law = add_call(&b, PYSPEC_STEP_LAW, OP_sinFun, 0, 9, ROWS_OF(6, 7, 5, 4, 0));
    law->axis = 2;
    law->mask = 1;
    add_step(&b, PYSPEC_STEP_BASE, 0, 1, 9);
    add_expression(&b, 0, 10,
                   CODE(RPN_PARAM, 9, RPN_CONST, bits_of(1.5), RPN_PARAM, 8, RPN_MUL, 0, RPN_SUB, 0, RPN_NEG, 0, RPN_CONST, bits_of(2.0), RPN_POW, 0, RPN_PARAM, 2, RPN_ADD, 0));
    add_expression(&b, 0, 11, CODE(RPN_PARAM, 2, RPN_CONST, bits_of(3.0), RPN_DIV, 0));
    add_call(&b, COMPONENT, OP_Offset, STORE | STATIC, 1, ROWS_OF(11));
    add_call(&b, COMPONENT, OP_Gauss, 0, 1, ROWS_OF(0, 9, 2));
    add_call(&b, COMPONENT, OP_GLP, 0, 1, ROWS_OF(0, 10, 2, 6));
    add_call(&b, COMPONENT, OP_Shirley, STORE, 0, ROWS_OF(5))->source = 1;
    add_step(&b, PYSPEC_STEP_ADD, 0, 1, 0);
    add_call(&b, COMPONENT, OP_LinBack, STATIC, 0, ROWS_OF(6, 5, 2, 1));
    add_call(&b, COMPONENT, OP_Gauss, STATIC, 0, ROWS_OF(7, 1, 11));
    add_call(&b, COMPONENT, OP_Shirley, 0, 0, ROWS_OF(5))->source = 0;
    return finish(&b);
}

static const double rich_theta[] = {2.0, 3.0, 0.7, 1.3, 0.3, 0.02, 0.4};

TEST_ALL(equals_the_naive_reading)
{
    for (int dimension = 1; dimension <= 2; dimension++) {
        pyspec_plan *plan = rich_plan(dimension);
        for (int k = 0; k < (dimension == 2 ? N_ROW_SIZES : 1) * N_X_SIZES; k++) {
            int64_t n_rows = row_sizes[k / N_X_SIZES], n_x = x_sizes[k % N_X_SIZES];
            int status;
            grid g;
            make_grid(&g, plan, n_rows, n_x);
            CHECK_INT(pyspec_check(plan, plan->size, &g.problem, NULL), STATUS_OK);
            double *out = run_entry(RUN_EVALUATE, plan, &g.problem, rich_theta, &status);
            double *traces = run_entry(RUN_TRACES, plan, &g.problem, rich_theta, &status);
            double *want = exact(n_rows * n_x, sizeof *want);
            double *want_traces = exact(plan->n_traces * n_rows, sizeof *want);
            naive_evaluate(plan, &g.problem, rich_theta, want_traces, want);
            for (int64_t i = 0; i < n_rows * n_x; i++)
                CHECK(isfinite(want[i]));
            CHECK(close_to(out, want, n_rows * n_x, 1e-12));
            CHECK(close_to(traces, want_traces, plan->n_traces * n_rows, 1e-13));
        }
    }
}

/* Evaluates a window and compares it with the full grid cropped: bit by bit, unless abscissae are even. */
static void check_window(const pyspec_plan *plan, const pyspec_problem *full, const double *whole,
                         const int64_t window[4], int is_even)
{
    pyspec_problem q = *full;
    int status;
    q.row_begin = window[0];
    q.row_end = window[1];
    q.x_begin = window[2];
    q.x_end = window[3];
    CHECK_INT(pyspec_check(plan, plan->size, &q, NULL), STATUS_OK);
    double *out = run_entry(RUN_EVALUATE, plan, &q, rich_theta, &status);
    int64_t width = q.x_end - q.x_begin;
    for (int64_t row = q.row_begin; row < q.row_end; row++) {
        const double *own = out + (row - q.row_begin) * width, *of = whole + row * q.n_x + q.x_begin;
        CHECK(is_even ? close_to(own, of, width, 1e-12) : all_same(own, of, width));
    }
}

TEST_ALL(a_window_equals_the_full_grid_cropped)
{
    for (int k = 0; k < 4; k++) {
        const int dimension = 1 + k % 2, is_even = k / 2;
        pyspec_plan *plan = rich_plan(dimension);
        int64_t n_rows = dimension == 2 ? 21 : 1, n_x = dimension == 2 ? 131 : 900;
        int status;
        grid g;
        make_grid(&g, plan, n_rows, n_x);
        if (!is_even)
            make_uneven(&g, n_x);
        double *whole = run_entry(RUN_EVALUATE, plan, &g.problem, rich_theta, &status);
        const int64_t windows[][4] = {
            {0, n_rows, 0, n_x},          {0, 1, 5, 6},
            {0, 1, n_x - 1, n_x},         {n_rows - 1, n_rows, 1, n_x},
            {n_rows / 2, n_rows, 3, 51},  {n_rows / 3, n_rows, 50, 130},
        };
        for (int w = 0; w < 6; w++)
            check_window(plan, &g.problem, whole, windows[w], is_even);
    }
}

/* A plan whose Gauss has, row by row, the width SD + A sin(...): some rows fall outside. */
TEST_ALL(only_rows_outside_their_bounds_are_nan)
{
    plan_builder b;
    start(&b, 2, 3, 0, 4, 2);
    add_call(&b, PYSPEC_STEP_LAW, OP_sinFun, STORE, 3, ROWS_OF(0, 1, 2, 2, -1));
    add_call(&b, COMPONENT, OP_Gauss, STORE, 1, ROWS_OF(0, 1, 3));
    add_call(&b, COMPONENT, OP_Shirley, STORE, 0, ROWS_OF(1))->source = 1;
    add_step(&b, PYSPEC_STEP_ADD, 0, 1, 0);
    pyspec_plan *plan = finish(&b);
    const double theta[] = {1.0, 0.4, -2.0};
    int status, n_nan = 0;
    grid g;
    make_grid(&g, plan, 30, 100);
    double *traces = run_entry(RUN_TRACES, plan, &g.problem, theta, &status);
    double *out = run_entry(RUN_EVALUATE, plan, &g.problem, theta, &status);
    double *want = exact(3000, sizeof *want);
    naive_evaluate(plan, &g.problem, theta, NULL, want);
    for (int row = 0; row < 30; row++) {
        int outside = !(traces[3 * 30 + row] > 0.0);
        n_nan += outside;
        for (int i = 0; i < 100; i++)
            CHECK((isnan(out[row * 100 + i]) != 0) == outside);
        if (!outside)
            CHECK(close_to(out + row * 100, want + row * 100, 100, 1e-12));
    }
    CHECK(n_nan > 5 && n_nan < 25);
}

TEST_ALL(guards_know_every_comparison)
{
    /* Gauss with one guard "x0 (comparison) 1", x0 below, at and above 1, and NaN. */
    const double x0[] = {0.5, 1.0, 1.5, (double)NAN};
    const int inside[4][4] = {{0, 0, 1, 0}, {0, 1, 1, 0}, {1, 0, 0, 0}, {1, 1, 0, 0}};
    for (int comparison = 0; comparison < 4; comparison++)
        for (int relative = 0; relative < 2; relative++)
            for (int k = 0; k < 4; k++) {
                plan_builder b;
                start(&b, 1, 3, 0, 3, 1);
                pyspec_node *node = add_call(&b, COMPONENT, OP_Gauss, STORE, 0, ROWS_OF(0, 1, 2));
                int64_t *guard = b.words + node->guards;
                guard[0] = 1;
                guard[1] = comparison;
                guard[2] = relative ? 0 : -1;
                guard[3] = bits_of(1.0);
                pyspec_plan *plan = finish(&b);
                const double theta[] = {1.0, x0[k], 1.0};
                int status;
                grid g;
                make_grid(&g, plan, 1, 3);
                double *out = run_entry(RUN_EVALUATE, plan, &g.problem, theta, &status);
                CHECK((isnan(out[0]) == 0) == inside[comparison][k]);
            }
}

/* A NaN that a law meets outside of its bounds is masked away where the mask is 0. */
TEST_ALL(a_masked_law_adds_nothing)
{
    plan_builder b;
    start(&b, 2, 2, 0, 3, 1);
    b.head.n_masks = 1;
    add_call(&b, PYSPEC_STEP_LAW, OP_expFun, STORE, 2, ROWS_OF(0, 1, 0, -1))->mask = 0;
    add_call(&b, COMPONENT, OP_Offset, STORE, 0, ROWS_OF(2));
    pyspec_plan *plan = finish(&b);
    const double theta[] = {1.0, -1.0}; /* tau < 0 */
    int status;
    grid g;
    make_grid(&g, plan, 13, 2);
    double *out = run_entry(RUN_EVALUATE, plan, &g.problem, theta, &status);
    for (int row = 0; row < 13; row++)
        CHECK(g.masks[row] ? isnan(out[2 * row]) : out[2 * row] == 0.0);
}

TEST_ALL(a_plan_without_components_is_zero)
{
    for (int dimension = 1; dimension <= 2; dimension++) {
        plan_builder b;
        start(&b, dimension, 0, 0, 0, 1);
        pyspec_plan *plan = finish(&b);
        int status;
        grid g;
        make_grid(&g, plan, dimension == 2 ? 9 : 1, 60);
        CHECK_INT(pyspec_check(plan, plan->size, &g.problem, NULL), STATUS_OK);
        double *out = run_entry(RUN_EVALUATE, plan, &g.problem, NULL, &status);
        for (int64_t i = 0; i < g.problem.n_rows * 60; i++)
            CHECK(out[i] == 0.0);
    }
}

TEST_ALL(a_trace_that_no_node_resolves_is_nan)
{
    plan_builder b;
    start(&b, 2, 1, 0, 2, 1);
    pyspec_plan *plan = finish(&b);
    const double theta[] = {4.0};
    int status;
    grid g;
    make_grid(&g, plan, 3, 2);
    double *traces = run_entry(RUN_TRACES, plan, &g.problem, theta, &status);
    CHECK(traces[0] == 4.0 && traces[2] == 4.0 && isnan(traces[3]) && isnan(traces[5]));
}

/* Its ends are those of the window, or of what the problem names: as on an axis that holds no more. Outside
 * it keeps the values of its ends. */
TEST_ALL(a_static_shirley_ends_with_the_window)
{
    enum { N = 120, BEGIN = 17, END = 93 };
    plan_builder b;
    start(&b, 1, 5, 0, 5, 2);
    add_call(&b, COMPONENT, OP_Gauss, STORE, 1, ROWS_OF(0, 1, 2));
    add_call(&b, COMPONENT, OP_StaticShirley, STORE, 0, ROWS_OF(3, 4))->source = 1;
    pyspec_plan *plan = finish(&b);
    const double theta[] = {3.0, 6.0, 1.5, 9.0, 2.0};
    int status;
    grid g;
    make_grid(&g, plan, 1, N);
    g.problem.x += BEGIN;
    g.problem.n_x = g.problem.x_end = END - BEGIN;
    double *alone = run_entry(RUN_EVALUATE, plan, &g.problem, theta, &status);
    g.problem.x -= BEGIN;
    g.problem.n_x = N;
    g.problem.x_begin = BEGIN;
    g.problem.x_end = END;
    double *window = run_entry(RUN_EVALUATE, plan, &g.problem, theta, &status);
    CHECK(all_same(alone, window, END - BEGIN));
    CHECK(alone[0] == 9.0 && alone[END - BEGIN - 1] == 2.0);
    g.problem.x_begin = 0;
    g.problem.x_end = N;
    g.problem.ends_begin = BEGIN;
    g.problem.ends_end = END;
    double *whole = run_entry(RUN_EVALUATE, plan, &g.problem, theta, &status);
    CHECK(all_same(alone, whole + BEGIN, END - BEGIN));
    for (int i = 0; i < N; i++)
        CHECK((i > BEGIN || whole[i] == 9.0) && (i < END - 1 || whole[i] == 2.0));
}

UNIT_MAIN
