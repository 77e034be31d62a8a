/* test_poisson.c: residuals as signed Poisson deviance, against reference numbers and against
 * its definition, for every data type, with weights, masks and traces. */
#include "support/plans.h"
#include "support/unit.h"

/* One point: data, model, and the deviance for the scales 1 and 12.5. */
typedef struct reference_row {
    double d, m, scale_1, scale_12_5;
} reference_row;

static const reference_row references[] = {
    {0.0, 0.0, 0.0, 0.0},
    {0.0, 2.0, -2.0, -7.0710678118654755},
    {0.0, -1.0, 0.0, 0.0},
    {1.0, 0.0, 3.7282652256988396, 15.381094433402508},
    {2.0, 2.0, 0.0, 0.0},
    {5.0, 5.0000001, -4.47213593772661e-08, -1.5811388239772726e-07},
    {5.0, 4.0, 0.48107745025317605, 1.7008656367497739},
    {5.0, 1e-06, 9.246280250353843, 37.17306809873555},
    {7.0, -3.0, 2013.5636880683053, 77033.74575931317},
    {100.0, 90.0, 1.0354241312453834, 3.6607771230390016},
};
enum { N_REFERENCES = sizeof references / sizeof *references };

/* The same, found with 60 digits: like numbers, whose difference has lost its digits, and unlike ones. */
static const reference_row wide_references[] = {
    {1e8, 100000001.0, -9.999999966666667e-05, -0.0003535533894147625},
    {1e8, 99999999.0, 0.00010000000033333334, 0.0003535533917717851},
    {1e12, 1000000000000.125, -1.2499999999999478e-07, -4.419417382415738e-07},
    {3.0, 3.3, -0.16774659809978504, -0.5930737851866622},
    {3.0, 3.299, -0.16720460080390107, -0.5911575353701405},
    {7.0, 6.301, 0.2735419041674019, 0.9671166768772529},
    {1e-300, 1e10, -141421.35623730952, -500000.0},
    {1e-5, 1e15, -44721359.549995795, -158113883.00841898},
    {1e15, 0.5, 261655970.9827797, 925093557.0993702},
};
enum { N_WIDE = sizeof wide_references / sizeof *wide_references };

/* An Offset over n abscissae, or a trace over n rows. */
static pyspec_plan *constant_plan(int as_trace)
{
    plan_builder b;
    start(&b, as_trace ? 2 : 1, 1, 0, 1, 1);
    if (as_trace)
        b.head.trace = 0;
    else
        add_call(&b, PYSPEC_STEP_COMPONENT, OP_Offset, PYSPEC_FLAG_STORE, 0, ROWS_OF(0));
    return finish(&b);
}

/* The deviance of one datum of a type, as the first of two points. */
static double deviance_of(int as_trace, int type, double d, double m, double scale)
{
    pyspec_plan *plan = constant_plan(as_trace);
    const float narrow[2] = {(float)d, 1.0f};
    const double wide[2] = {d, 1.0};
    uint16_t count[2] = {0, 1};
    const void *const data[] = {wide, narrow, count};
    const int64_t bytes[] = {8, 4, 2};
    int status;
    grid g;
    if (type == PYSPEC_TYPE_U16)
        count[0] = (uint16_t)d;
    make_grid(&g, plan, as_trace ? 2 : 1, as_trace ? 1 : 2);
    g.problem.data = data[type];
    g.problem.data_type = type;
    g.problem.data_row = as_trace ? bytes[type] : 0;
    g.problem.data_x = as_trace ? 0 : bytes[type];
    g.problem.loss = PYSPEC_LOSS_POISSON;
    g.problem.loss_scale = scale;
    CHECK_INT(pyspec_check(plan, plan->size, &g.problem, NULL), STATUS_OK);
    double *out = run_entry(RUN_RESIDUAL, plan, &g.problem, &m, &status), value = out[0];
    return value;
}

static int near(double got, double want)
{
    return fabs(got - want) <= 1e-12 * (fabs(want) > 1.0 ? fabs(want) : 1.0);
}

TEST_ALL(equals_the_reference_numbers)
{
    for (int k = 0; k < N_REFERENCES; k++)
        for (int as_trace = 0; as_trace < 2; as_trace++)
            for (int type = 0; type < 3; type++) {
                const reference_row *r = &references[k];
                CHECK(near(deviance_of(as_trace, type, r->d, r->m, 1.0), r->scale_1));
                CHECK(near(deviance_of(as_trace, type, r->d, r->m, 12.5), r->scale_12_5));
            }
}

TEST(keeps_its_digits)
{
    for (int k = 0; k < N_WIDE; k++) {
        const reference_row *r = &wide_references[k];
        const double one = deviance_of(0, PYSPEC_TYPE_F64, r->d, r->m, 1.0);
        const double more = deviance_of(0, PYSPEC_TYPE_F64, r->d, r->m, 12.5);
        CHECK(fabs(one - r->scale_1) <= 1e-14 * fabs(r->scale_1));
        CHECK(fabs(more - r->scale_12_5) <= 1e-14 * fabs(r->scale_12_5));
    }
}

/* In terms of counts: scale times data and model gives the same residual. */
TEST(a_scale_is_counts_for_each_unit)
{
    const double data[] = {0.0, 1.0, 3.0, 50.0}, models[] = {-2.0, 0.0, 1e-5, 0.5, 3.0, 70.0};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 6; k++)
            for (double scale = 0.01; scale < 1e4; scale *= 10.0) {
                double want = deviance_of(0, PYSPEC_TYPE_F64, data[i], models[k], 1.0);
                double got =
                    deviance_of(0, PYSPEC_TYPE_F64, data[i] / scale, models[k] / scale, scale);
                CHECK(near(got, want));
            }
}

/* Below the floor the value and the slope go on: differences on the two sides agree. */
TEST(goes_on_along_its_tangent_below_the_floor)
{
    const double scales[] = {1.0, 12.5}, data[] = {4e-4, 1e-3, 0.02, 1.0, 7.0, 1e4};
    for (int s = 0; s < 2; s++)
        for (int k = 0; k < 6; k++) {
            const double scale = scales[s], floor = 1e-3 / scale, d = data[k] / scale;
            const double h = 1e-4 * floor;
            double at = deviance_of(0, PYSPEC_TYPE_F64, d, floor, scale);
            double above = deviance_of(0, PYSPEC_TYPE_F64, d, floor + h, scale);
            double below = deviance_of(0, PYSPEC_TYPE_F64, d, floor - h, scale);
            double far = deviance_of(0, PYSPEC_TYPE_F64, d, -1000.0 * floor, scale);
            CHECK(fabs((above - at) - (at - below)) <= 1e-3 * fabs(at - below));
            CHECK(fabs((far - at) - 1001.0 * floor / h * (below - at)) <= 1e-4 * fabs(far - at));
            CHECK(above < at && at < below && below < far);
        }
}

TEST(no_counts_need_no_floor)
{
    CHECK(deviance_of(0, PYSPEC_TYPE_F64, 0.0, 1e-9, 2.0) == -sqrt(4e-9));
    CHECK(deviance_of(0, PYSPEC_TYPE_F64, 0.0, -1e-9, 2.0) == 0.0);
    CHECK(deviance_of(0, PYSPEC_TYPE_F64, -0.0, 3.0, 2.0) == -sqrt(12.0));
}

TEST(nan_and_negative_data_are_nan)
{
    const double nan = (double)NAN;
    CHECK(isnan(deviance_of(0, PYSPEC_TYPE_F64, nan, 1.0, 1.0)));
    CHECK(isnan(deviance_of(0, PYSPEC_TYPE_F64, nan, -1.0, 1.0)));
    CHECK(isnan(deviance_of(0, PYSPEC_TYPE_F64, 0.0, nan, 1.0)));
    CHECK(isnan(deviance_of(0, PYSPEC_TYPE_F64, 3.0, nan, 1.0)));
    CHECK(isnan(deviance_of(0, PYSPEC_TYPE_F64, -3.0, 1.0, 1.0)));
    CHECK(isnan(deviance_of(0, PYSPEC_TYPE_F64, -3.0, -1.0, 1.0)));
}

/* Many rows, a weight, and a mask that hides NaN. */
TEST_ALL(takes_weights_and_masks)
{
    enum { N_ROWS = 11, N_X = 53, N = N_ROWS * N_X };
    static double data[N], weight[N];
    static uint8_t keep[N];
    plan_builder b;
    const double theta[] = {40.0, 2.0, 0.6}, scale = 3.0;
    int status;
    grid g;
    start(&b, 2, 3, 0, 3, 1);
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_Gauss, PYSPEC_FLAG_STORE, 0, ROWS_OF(0, 1, 2));
    pyspec_plan *plan = finish(&b);
    make_grid(&g, plan, N_ROWS, N_X);
    for (int i = 0; i < N; i++) {
        data[i] = (double)(i * 7 % 41);
        weight[i] = 0.5 + 0.01 * i;
        keep[i] = i % 5 != 0;
        if (i % 10 == 0)
            data[i] = i % 20 ? (double)NAN : -4.0;
    }
    g.problem.data = data;
    g.problem.weight = weight;
    g.problem.keep = keep;
    g.problem.data_row = g.problem.weight_row = N_X * 8;
    g.problem.data_x = g.problem.weight_x = 8;
    g.problem.keep_row = N_X;
    g.problem.keep_x = 1;
    g.problem.loss = PYSPEC_LOSS_POISSON;
    g.problem.loss_scale = scale;
    double *model = run_entry(RUN_EVALUATE, plan, &g.problem, theta, &status);
    double *out = run_entry(RUN_RESIDUAL, plan, &g.problem, theta, &status);
    for (int i = 0; i < N; i++)
        CHECK(keep[i] ? near(out[i], weight[i] * deviance_of(0, PYSPEC_TYPE_F64, data[i], model[i],
                                                             scale))
                      : same(out[i], 0.0));
}

UNIT_MAIN
