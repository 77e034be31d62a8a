/* test_entries.c: what the entries refuse, the exact size of the work memory, and that the
 * floating point environment stays as it was. */
#include "support/plans.h"
#include "support/unit.h"

#include <fenv.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

static const double theta[] = {1.0, 2.0, 0.6};

static pyspec_plan *gauss_plan(void)
{
    plan_builder b;
    start(&b, 2, 3, 0, 3, 1);
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_Gauss, PYSPEC_FLAG_STORE, 0, ROWS_OF(0, 1, 2));
    return finish(&b);
}

typedef int entry(const pyspec_call *call);
static entry *const entries[] = {pyspec_evaluate, pyspec_residual, pyspec_traces};

TEST(refuse_what_is_missing_or_too_small)
{
    pyspec_plan *plan = gauss_plan();
    grid g;
    make_grid(&g, plan, 4, 10);
    double data[40] = {0}, out[40];
    set_data(&g.problem, data);
    const pyspec_call made = make_call(plan, &g.problem, theta, 0);
    for (int k = 0; k < 3; k++) {
        int64_t n_out = k == RUN_TRACES ? 12 : 40;
        pyspec_call good = made;
        good.out = out;
        good.n_out = n_out;
        pyspec_call call = good;
        CHECK_INT(entries[k](&call), STATUS_OK);
        CHECK_INT(entries[k](NULL), STATUS_NULL_POINTER);
        call.plan = NULL;
        CHECK_INT(entries[k](&call), STATUS_NULL_POINTER);
        call = good;
        call.problem = NULL;
        CHECK_INT(entries[k](&call), STATUS_NULL_POINTER);
        call = good;
        call.theta = NULL;
        CHECK_INT(entries[k](&call), STATUS_NULL_POINTER);
        call = good;
        call.work = NULL;
        CHECK_INT(entries[k](&call), STATUS_NULL_POINTER);
        call = good;
        call.out = NULL;
        CHECK_INT(entries[k](&call), STATUS_NULL_POINTER);
        call = good;
        call.isa = N_ISA;
        CHECK_INT(entries[k](&call), STATUS_ISA);
        call = good;
        call.work_size--;
        CHECK_INT(entries[k](&call), STATUS_WORK);
        call = good;
        call.prepared = NULL;
        CHECK_INT(entries[k](&call), STATUS_NULL_POINTER);
        call = good;
        call.prepared_size--;
        CHECK_INT(entries[k](&call), STATUS_WORK);
        call = good;
        call.n_out--;
        CHECK_INT(entries[k](&call), STATUS_OUTPUT);
    }
    g.problem.data = NULL;
    pyspec_call call = made;
    call.out = out;
    call.n_out = 40;
    CHECK_INT(pyspec_residual(&call), STATUS_DATA);
    CHECK_INT(pyspec_evaluate(&call), STATUS_OK);
    CHECK_INT(pyspec_work_size(NULL, &g.problem), 0);
    CHECK_INT(pyspec_work_size(plan, NULL), 0);
    CHECK_INT(pyspec_prepared_size(NULL, &g.problem, 0), 0);
    CHECK_INT(pyspec_prepared_size(plan, NULL, 0), 0);
    CHECK_INT(pyspec_prepared_size(plan, &g.problem, PYSPEC_PREPARE_SLOPES), 0); /* no `depends` */
}

/* Derivatives need to know what they depend on. */
TEST(derivatives_refuse_what_is_missing)
{
    pyspec_plan *plan = gauss_plan();
    grid g;
    make_grid(&g, plan, 4, 10);
    pyspec_call call = {.plan = plan, .problem = &g.problem};
    CHECK_INT(pyspec_jacobian_work_size(NULL, &g.problem), 0);
    CHECK_INT(pyspec_jacobian_work_size(plan, NULL), 0);
    CHECK_INT(pyspec_jacobian_work_size(plan, &g.problem), 0); /* no `depends` */
    CHECK_INT(pyspec_jacobian(NULL), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_prepare(NULL, 0), STATUS_NULL_POINTER);
    call = make_call(plan, &g.problem, theta, 0);
    double out[3 * 40];
    call.out = out;
    call.n_out = 3 * 40;
    CHECK_INT(pyspec_jacobian(&call), STATUS_OFFSET);
    call.problem = NULL;
    CHECK_INT(pyspec_jacobian(&call), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_prepare(&call, 0), STATUS_NULL_POINTER);
    call = (pyspec_call){.problem = &g.problem};
    CHECK_INT(pyspec_jacobian(&call), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_prepare(&call, 0), STATUS_NULL_POINTER);
}

TEST(a_function_refuses_bad_arguments)
{
    const double x[] = {0.0, 1.0}, params[] = {1.0, 0.0, 1.0};
    double value[2];
    CHECK_INT(pyspec_function(OP_Gauss, 0, 1, 2, x, params, NULL, NULL, value, NULL), STATUS_OK);
    CHECK_INT(pyspec_function(-1, 0, 1, 2, x, params, NULL, NULL, value, NULL), STATUS_OP);
    CHECK_INT(pyspec_function(N_OPS, 0, 1, 2, x, params, NULL, NULL, value, NULL), STATUS_OP);
    CHECK_INT(pyspec_function(OP_Gauss, -1, 1, 2, x, params, NULL, NULL, value, NULL), STATUS_ISA);
    CHECK_INT(pyspec_function(OP_Gauss, N_ISA, 1, 2, x, params, NULL, NULL, value, NULL), STATUS_ISA);
    CHECK_INT(pyspec_function(OP_Gauss, 0, 0, 2, x, params, NULL, NULL, value, NULL), STATUS_SIZE);
    CHECK_INT(pyspec_function(OP_Gauss, 0, 1, 0, x, params, NULL, NULL, value, NULL), STATUS_SIZE);
    CHECK_INT(pyspec_function(OP_Gauss, 0, 1, 2, NULL, params, NULL, NULL, value, NULL),
              STATUS_NULL_POINTER);
    CHECK_INT(pyspec_function(OP_Gauss, 0, 1, 2, x, NULL, NULL, NULL, value, NULL),
              STATUS_NULL_POINTER);
    CHECK_INT(pyspec_function(OP_Gauss, 0, 1, 2, x, params, NULL, NULL, NULL, NULL),
              STATUS_NULL_POINTER);
    /* What reads whole rows writes all derivatives or none. */
    double first[2], second[2], *by[] = {first, second};
    CHECK_INT(pyspec_function(OP_StaticShirley, 0, 1, 2, x, params, x, NULL, value, by), STATUS_OK);
    by[1] = NULL;
    CHECK_INT(pyspec_function(OP_StaticShirley, 0, 1, 2, x, params, x, NULL, value, by), STATUS_NULL_POINTER);
}

/* a ** b where a is 0: the derivative from the right, 0 where that is infinite. */
TEST(powers_of_zero_have_slopes)
{
    const double cases[][5] = {/* a, b, a ** b, by a, by b */
                               {0.0, 1.0, 0.0, 1.0, 0.0},
                               {0.0, 2.0, 0.0, 0.0, 0.0},
                               {0.0, 0.5, 0.0, 0.0, 0.0},
                               {0.0, 0.0, 1.0, 0.0, 0.0},
                               {2.0, 3.0, 8.0, 12.0, 5.5451774444795624753},
                               {2.0, 0.0, 1.0, 0.0, 0.69314718055994530942}};
    plan_builder b;
    start(&b, 2, 2, 0, 3, 1);
    add_expression(&b, 0, 2, CODE(RPN_PARAM, 0, RPN_PARAM, 1, RPN_POW, 0));
    b.head.trace = 2;
    add_dependencies(&b);
    pyspec_plan *plan = finish(&b);
    grid g;
    make_grid(&g, plan, 1, 1);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        int status;
        double *value = run_entry(RUN_EVALUATE, plan, &g.problem, cases[k], &status);
        double *slopes = run_entry(RUN_JACOBIAN, plan, &g.problem, cases[k], &status);
        CHECK_INT(status, STATUS_OK);
        CHECK(close_to(value, cases[k] + 2, 1, 1e-15));
        CHECK(close_to(slopes, cases[k] + 3, 2, 1e-15));
    }
}

TEST(describes_itself)
{
    CHECK_INT(pyspec_abi(), PYSPEC_ABI);
    CHECK_INT(strlen(pyspec_fingerprint()), 64);
    CHECK(strstr(pyspec_describe(), "OP\tGauss\tPEAK\tENERGY\tA, x0, SD>0\t"));
}

/* Rounding direction, flush-to-zero and denormals-are-zero survive every call. */
TEST(leaves_the_floating_point_environment)
{
    pyspec_plan *plan = gauss_plan();
    const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_TOWARDZERO};
    double data[40 * 60] = {0};
    grid g;
    make_grid(&g, plan, 40, 60);
    set_data(&g.problem, data);
    for (int k = 0; k < 9; k++) {
        int status;
        fesetround(modes[k / 3]);
#if defined(__SSE2__)
        unsigned before = _mm_getcsr() & ~(unsigned)_MM_EXCEPT_MASK;
#endif
        CHECK_INT(pyspec_check(plan, plan->size, &g.problem, NULL), STATUS_OK);
        run_entry(k % 3, plan, &g.problem, theta, &status);
        CHECK_INT(fegetround(), modes[k / 3]);
#if defined(__SSE2__)
        CHECK_INT(_mm_getcsr() & ~(unsigned)_MM_EXCEPT_MASK, before);
#endif
    }
    fesetround(FE_TONEAREST);
    volatile double tiny = 5e-324;
    CHECK(tiny * 1.0 != 0.0);
}

UNIT_MAIN
