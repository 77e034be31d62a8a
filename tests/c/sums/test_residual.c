/* test_residual.c: (data - model) * weight for every data type, stride, weight and mask. */
#include "support/plans.h"
#include "support/unit.h"

#include <stdlib.h>

enum { N_ROWS = 11, N_X = 53, N = N_ROWS * N_X };

static const double theta[] = {100.0, 2.0, 0.6};

static pyspec_plan *gauss_plan(void)
{
    plan_builder b;
    start(&b, 2, 3, 0, 3, 1);
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_Gauss, PYSPEC_FLAG_STORE, 0, ROWS_OF(0, 1, 2));
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_Shirley, 0, 0, ROWS_OF(2))->source = 0;
    return finish(&b);
}

static double datum(int64_t row, int64_t i)
{
    return (double)((row * 7 + i * 3) % 101);
}

/* Fills an element of `memory`, at `at` bytes, with a number as the type stores it. */
static void put(char *memory, int64_t at, int type, double value)
{
    float f = (float)value;
    uint16_t u = (uint16_t)value;
    if (type == PYSPEC_TYPE_F64)
        memcpy(memory + at, &value, sizeof value);
    else if (type == PYSPEC_TYPE_F32)
        memcpy(memory + at, &f, sizeof f);
    else
        memcpy(memory + at, &u, sizeof u);
}

static void check_residual(const pyspec_plan *plan, const pyspec_problem *q)
{
    int status;
    CHECK_INT(pyspec_check(plan, plan->size, q, NULL), STATUS_OK);
    double *model = run_entry(RUN_EVALUATE, plan, q, theta, &status);
    double *out = run_entry(RUN_RESIDUAL, plan, q, theta, &status);
    int64_t width = q->x_end - q->x_begin;
    for (int64_t row = q->row_begin; row < q->row_end; row++)
        for (int64_t i = q->x_begin; i < q->x_end; i++) {
            int64_t at = (row - q->row_begin) * width + i - q->x_begin;
            double weight = 1.0, want = datum(row, i) - model[at];
            if (q->weight)
                memcpy(&weight, (const char *)q->weight + row * q->weight_row + i * q->weight_x,
                       sizeof weight);
            want *= weight;
            if (q->keep && !q->keep[row * q->keep_row + i * q->keep_x])
                want = 0.0;
            CHECK(same(out[at], want));
        }
}

/* Data in a layout of its own: element (row, i) at origin + row * by_row + i * by_x bytes of an
 * exactly sized memory, whose gaps hold 0xff. */
static void check_layout(int type, int64_t size, int64_t origin, int64_t by_row, int64_t by_x)
{
    pyspec_plan *plan = gauss_plan();
    grid g;
    make_grid(&g, plan, N_ROWS, N_X);
    char *memory = exact(size, 1);
    memset(memory, 0xff, (size_t)size);
    for (int64_t row = 0; row < N_ROWS; row++)
        for (int64_t i = 0; i < N_X; i++)
            put(memory, origin + row * by_row + i * by_x, type, datum(row, i));
    g.problem.data = memory + origin;
    g.problem.data_type = type;
    g.problem.data_row = by_row;
    g.problem.data_x = by_x;
    check_residual(plan, &g.problem);
    g.problem.row_begin = 3;
    g.problem.row_end = 10;
    g.problem.x_begin = 2;
    g.problem.x_end = 52;
    check_residual(plan, &g.problem);
}

TEST_ALL(data_of_every_type_and_stride)
{
    const int64_t sizes[] = {8, 4, 2};
    for (int type = PYSPEC_TYPE_F64; type <= PYSPEC_TYPE_U16; type++) {
        int64_t s = sizes[type];
        check_layout(type, N * s, 0, N_X * s, s);
        check_layout(type, N * s, 0, s, N_ROWS * s);                       /* transposed */
        check_layout(type, N * s, (N - 1) * s, -N_X * s, -s);              /* reversed */
        check_layout(type, N * s * 2, 0, N_X * s * 2, s * 2);              /* every second */
        check_layout(type, N * s + 1, 1, N_X * s, s);                      /* unaligned */
        check_layout(type, (N + N_ROWS) * s, 0, (N_X + 1) * s, s);         /* padded rows */
    }
}

/* A problem with contiguous data in `data`. */
static void float_problem(grid *g, const pyspec_plan *plan, double *data)
{
    make_grid(g, plan, N_ROWS, N_X);
    for (int64_t k = 0; k < N; k++)
        data[k] = datum(k / N_X, k % N_X);
    set_data(&g->problem, data);
}

TEST_ALL(weights_of_every_stride)
{
    pyspec_plan *plan = gauss_plan();
    double *data = exact(N, sizeof *data), *weight = exact(N, sizeof *weight);
    const int64_t strides[][2] = {{N_X * 8, 8}, {0, 8}, {8, 0}, {0, 0}, {8, N_ROWS * 8}};
    grid g;
    float_problem(&g, plan, data);
    for (int k = 0; k < N; k++)
        weight[k] = 1.0 / (1.0 + k);
    for (int k = 0; k < 5; k++) {
        g.problem.weight = weight;
        g.problem.weight_row = strides[k][0];
        g.problem.weight_x = strides[k][1];
        check_residual(plan, &g.problem);
    }
}

TEST_ALL(dropped_points_are_zero_whatever_they_hold)
{
    pyspec_plan *plan = gauss_plan();
    double *data = exact(N, sizeof *data), *weight = exact(N, sizeof *weight);
    uint8_t *keep = exact(N, 1);
    int status;
    grid g;
    float_problem(&g, plan, data);
    for (int k = 0; k < N; k++) {
        keep[k] = k % 5 != 0;
        weight[k] = k % 5 ? 2.0 : (double)INFINITY;
        if (k % 5 == 0)
            data[k] = k % 2 ? (double)NAN : (double)INFINITY;
    }
    g.problem.keep = keep;
    g.problem.keep_row = N_X;
    g.problem.keep_x = 1;
    g.problem.weight = weight;
    g.problem.weight_row = N_X * 8;
    g.problem.weight_x = 8;
    double *out = run_entry(RUN_RESIDUAL, plan, &g.problem, theta, &status);
    for (int k = 0; k < N; k++)
        CHECK(k % 5 ? isfinite(out[k]) && out[k] != 0.0 : same(out[k], 0.0));
    /* Even where the model itself is NaN: SD < 0. */
    const double bad[] = {100.0, 2.0, -0.6};
    out = run_entry(RUN_RESIDUAL, plan, &g.problem, bad, &status);
    for (int k = 0; k < N; k++)
        CHECK(k % 5 ? isnan(out[k]) : same(out[k], 0.0));
}

TEST_ALL(the_one_row_orientation_subtracts_too)
{
    plan_builder b;
    start(&b, 1, 3, 0, 3, 1);
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_Gauss, PYSPEC_FLAG_STORE, 0, ROWS_OF(0, 1, 2));
    pyspec_plan *plan = finish(&b);
    double *data = exact(N, sizeof *data);
    uint16_t *counts = exact(N, sizeof *counts);
    grid g;
    make_grid(&g, plan, 1, N);
    for (int64_t i = 0; i < N; i++) {
        data[i] = datum(0, i);
        counts[i] = (uint16_t)datum(0, i);
    }
    g.problem.data = data;
    g.problem.data_x = sizeof *data;
    check_residual(plan, &g.problem);
    g.problem.x_begin = 101;
    g.problem.x_end = 500;
    check_residual(plan, &g.problem);
    g.problem.data = counts;
    g.problem.data_type = PYSPEC_TYPE_U16;
    g.problem.data_x = sizeof *counts;
    check_residual(plan, &g.problem);
}

UNIT_MAIN
