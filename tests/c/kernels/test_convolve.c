/* test_convolve.c: the convolution step against the double sum that defines it: every kernel,
 * even and uneven axes, widths from far below a step to far beyond the axis, NaN. */
#include "kernels/convolution.h"
#include "support/plans.h"
#include "support/unit.h"

enum { MAX_N = 400, N_AXES = 5, N_SIZES = 6 };

/* Every convolution kernel of the op table. */
#define FOR_KERNELS(op)                                                                            \
    for (int op = 0; op < N_OPS; op++)                                                             \
        if (pyspec_op_table[op].kind == KIND_KERNEL)
static const int64_t sizes[N_SIZES] = {1, 2, 3, 8, 65, MAX_N};

/* Even, geometric, dense in the middle, two groups far apart, and even but for rounding. */
static void set_axis(int axis, int64_t n, double *t)
{
    for (int64_t i = 0; i < n; i++) {
        double s = (double)i - 0.4 * (double)n;
        t[i] = axis == 0   ? 0.25 * s
               : axis == 1 ? pow(1.03, (double)i) - 5.0
               : axis == 2 ? s * s * s * 1e-4 + 0.1 * s
               : axis == 4 ? 0.1 * (double)i - 7.3
                           : 0.1 * s + (s < 0.0 ? -1e4 : 0.0);
    }
}

/* Room for slopes is that of one by whole blocks (csrc/kernels/convolution.c). */
TEST(kernels_of_the_table_have_one_parameter)
{
    FOR_KERNELS(kernel) {
        int n_required;
        CHECK_INT(pyspec_count_params(&pyspec_op_table[kernel], &n_required), 1);
    }
}

/* The only row that moves is an external trace, copied by an expression and convolved. */
enum { WIDTH, SIGNAL, RESULT };
static pyspec_plan *convolution_plan(int kernel)
{
    plan_builder b;
    start(&b, 2, 1, 0, 3, 1);
    b.head.n_external = 1;
    b.head.trace = RESULT;
    add_expression(&b, 0, RESULT, CODE(RPN_PARAM, SIGNAL));
    add_call(&b, PYSPEC_STEP_CONVOLVE, kernel, 0, RESULT, ROWS_OF(WIDTH));
    return finish(&b);
}

/* Runs the plan on n samples; the caller frees the n values. */
static double *convolve(int kernel, double width, int64_t n, const double *t, const double *y)
{
    pyspec_plan *plan = convolution_plan(kernel);
    int status;
    grid g;
    make_grid(&g, plan, n, 1);
    memcpy(g.time, t, (size_t)n * sizeof *t);
    memcpy(g.external, y, (size_t)n * sizeof *y);
    CHECK_INT(pyspec_check(plan, plan->size, &g.problem, NULL), STATUS_OK);
    double *out = run_entry(RUN_EVALUATE, plan, &g.problem, &width, &status);
    double *traces = run_entry(RUN_TRACES, plan, &g.problem, &width, &status);
    CHECK(all_same(out, traces + RESULT * n, n));
    CHECK(all_same(y, traces + SIGNAL * n, n));
    return out;
}

static void set_signal(int64_t n, double *y)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = i < n / 3 ? 0.0 : 2.0 * exp(-0.05 * (double)(i - n / 3)) + (double)(i * 7 % 5);
}

/* A kernel with an edge adds changes of the signal up: it is rounded as the signal is. */
static int close_to_lines(const double *out, const double *want, const double *y, int64_t n)
{
    double scale = 0.0, worst = 0.0;
    for (int64_t i = 0; i < n; i++) {
        scale = fmax(scale, fabs(y[i]));
        worst = fmax(worst, fabs(out[i] - want[i]));
    }
    return worst <= 1e-13 * scale;
}

TEST(equals_the_double_sum)
{
    const double widths[] = {1e-300, 1e-6, 0.07, 0.25, 0.5, 1.3, 9.0, 120.0, 3e4, 1e9, 1e150};
    double t[MAX_N], y[MAX_N], want[MAX_N];
    for (int axis = 0; axis < N_AXES; axis++)
        for (int size = 0; size < N_SIZES; size++)
            FOR_KERNELS(kernel)
                for (int k = 0; k < 11; k++) {
                    const int64_t n = sizes[size];
                    set_axis(axis, n, t);
                    set_signal(n, y);
                    memcpy(want, y, sizeof want);
                    naive_convolve(kernel, widths[k], n, t, want);
                    CHECK(isfinite(want[0]) && isfinite(want[n - 1]));
                    const conv_side *side = pyspec_op_table[kernel].conv[0]->sides;
                    const int has_edge = side[0].mean_mass || side[1].mean_mass;
                    for (test_isa = 0; test_isa < N_ISA && pyspec_isa_supported(test_isa); test_isa++) {
                        const double *out = convolve(kernel, widths[k], n, t, y);
                        CHECK(has_edge ? close_to_lines(out, want, y, n) : close_to(out, want, n, 1e-13));
                    }
                    free_owned(0);
                }
}

TEST_ALL(keeps_a_constant)
{
    const double widths[] = {1e-300, 0.3, 50.0, 1e100};
    double t[MAX_N], y[MAX_N];
    FOR_KERNELS(kernel)
        for (int k = 0; k < 4; k++) {
            set_axis(2, MAX_N, t);
            for (int i = 0; i < MAX_N; i++)
                y[i] = 3.7;
            double *out = convolve(kernel, widths[k], MAX_N, t, y);
            CHECK(close_to(out, y, MAX_N, 1e-14));
        }
}

/* A kernel narrower than every step leaves the signal, even where its square or its inverse
 * is beyond a double. */
TEST_ALL(a_narrow_kernel_changes_nothing)
{
    const double widths[] = {5e-324, 1e-310, 1e-300, 1e-160, 1e-12};
    double t[MAX_N], y[MAX_N];
    FOR_KERNELS(kernel)
        for (int k = 0; k < 5; k++) {
            set_axis(1, MAX_N, t);
            set_signal(MAX_N, y);
            double *out = convolve(kernel, widths[k], MAX_N, t, y);
            CHECK(close_to(out, y, MAX_N, 1e-9));
        }
}

/* A kernel whose sides are not alike: a decay towards earlier samples, summed in one sweep, and half of a
 * triangle towards later ones, summed over its band. No row of the table has such sides yet. */
static double lopsided(double d, double width)
{
    return d >= 0.0 ? exp(-d / width) : d >= -0.5 * width ? 1.0 + 2.0 * d / width : 0.0;
}

static double decay_mass(double away, double width)
{
    return width * exp(-away / width);
}

static double triangle_mass(double away, double width)
{
    const double rest = 0.5 * width - away;
    return rest > 0.0 ? rest * rest / width : 0.0;
}

static void k_lopsided(const pyspec_block *b, const double *params, double *value,
                       double *const *partials)
{
    (void)partials;
    for (int64_t i = 0; i < b->n * L; i++)
        value[i] = lopsided(b->x[i], params[0]);
}

static double lopsided_sum(double width, int64_t n, const double *t, const double *y, int64_t i)
{
    const double left = decay_mass(t[i] - t[0], width), right = triangle_mass(t[n - 1] - t[i], width);
    double sum = left * y[0] + right * y[n - 1], norm = left + right;
    for (int64_t j = 0; j < n; j++) {
        const double w = 0.5 * (t[j + 1 < n ? j + 1 : j] - t[j > 0 ? j - 1 : j]);
        sum += w * lopsided(t[i] - t[j], width) * y[j];
        norm += w * lopsided(t[i] - t[j], width);
    }
    return sum / norm;
}

TEST(sides_need_not_be_alike)
{
    static const conv_kernel sides = {{{decay_mass, 0.0, 1, NULL}, {triangle_mass, 0.5, 0, NULL}}};
    const op_row op = {.name = "lopsided", .kernels = {k_lopsided}, .conv = {&sides}};
    const double widths[] = {0.07, 0.5, 9.0, 120.0};
    const int64_t stride = round_up(MAX_N, L) + L;
    double t[MAX_N], y[MAX_N], *signal = make_work(stride * (int64_t)sizeof *signal);
    double *scratch = make_work(convolve_rows(1) * stride * (int64_t)sizeof *scratch);
    for (int axis = 0; axis < N_AXES; axis++)
        for (int k = 0; k < 4; k++) {
            const convolution c = {.op = &op, .params = &widths[k], .n_params = 1, .n = MAX_N, .t = t,
                                   .scratch = scratch, .stride = stride};
            set_axis(axis, MAX_N, t);
            set_signal(MAX_N, y);
            memcpy(signal, y, sizeof y);
            pyspec_convolve(&c, &signal, 1, NULL);
            for (int64_t i = 0; i < MAX_N; i++)
                CHECK(fabs(signal[i] - lopsided_sum(widths[k], MAX_N, t, y, i)) < 1e-12);
        }
}

TEST_ALL(only_positive_widths_are_defined)
{
    const double widths[] = {0.0, -1.0, (double)NAN, -(double)INFINITY};
    double t[8], y[8];
    set_axis(0, 8, t);
    set_signal(8, y);
    FOR_KERNELS(kernel)
        for (int k = 0; k < 4; k++) {
            double *out = convolve(kernel, widths[k], 8, t, y);
            for (int i = 0; i < 8; i++)
                CHECK(isnan(out[i]));
        }
}

/* As in a sum with a matrix, where 0 times NaN is NaN. */
TEST_ALL(one_nan_spreads_to_every_sample)
{
    const int at[] = {0, 5, 30, 64};
    double t[65], y[65];
    for (int axis = 0; axis < N_AXES; axis += 3)
        FOR_KERNELS(kernel)
            for (int k = 0; k < 4; k++) {
                set_axis(axis, 65, t);
                set_signal(65, y);
                y[at[k]] = (double)NAN;
                double *out = convolve(kernel, 0.3, 65, t, y);
                for (int i = 0; i < 65; i++)
                    CHECK(isnan(out[i]));
            }
}

/* What stands after a kernel is convolved, the base is added afterwards; another law too. */
TEST(the_order_of_the_nodes_counts)
{
    plan_builder b;
    start(&b, 2, 3, 0, 4, 1);
    b.head.trace = 3;
    add_call(&b, PYSPEC_STEP_LAW, OP_expFun, PYSPEC_FLAG_STORE, 3, ROWS_OF(0, 1, 2, -1));
    add_call(&b, PYSPEC_STEP_CONVOLVE, OP_gaussCONV, 0, 3, ROWS_OF(1));
    add_call(&b, PYSPEC_STEP_LAW, OP_stepFun, 0, 3, ROWS_OF(0, 2, -1));
    add_call(&b, PYSPEC_STEP_CONVOLVE, OP_expDecayCONV, 0, 3, ROWS_OF(1));
    add_step(&b, PYSPEC_STEP_BASE, 0, 2, 3);
    pyspec_plan *plan = finish(&b);
    const double theta[] = {2.0, 0.8, 0.3};
    double want[100];
    int status;
    grid g;
    make_grid(&g, plan, 100, 1);
    for (int i = 0; i < 100; i++) {
        double s = g.time[i] - theta[2];
        want[i] = s < 0.0 ? 0.0 : theta[0] * exp(-s / theta[1]);
    }
    naive_convolve(OP_gaussCONV, theta[1], 100, g.time, want);
    for (int i = 0; i < 100; i++)
        want[i] += g.time[i] < theta[2] ? 0.0 : theta[0];
    naive_convolve(OP_expDecayCONV, theta[1], 100, g.time, want);
    for (int i = 0; i < 100; i++)
        want[i] += theta[2];
    double *out = run_entry(RUN_EVALUATE, plan, &g.problem, theta, &status);
    CHECK(close_to(out, want, 100, 1e-14));
}

UNIT_MAIN
