/* test_span.c: sums of a fit that reads its data in some evaluations only, against those of the stored
 * derivatives: on the way to an optimum and near it, for weights and masks along either axis, and
 * threads. That data are not read shows where others have taken their place. */
#include "separable/fitted.h"
#include "support/threads.h"

#include <float.h>

enum { N_THREADS = 3, N_SUMS = 40 };

/* The same where the data are not there to be read: NaN stands in their place. */
static void sum_unread(fitted *f, const double *values, int form, double *triangle)
{
    const void *data = f->w->g.problem.data;
    double *nothing = make_work(ROWS * POINTS * (int64_t)sizeof(double));
    f->w->g.problem.data = nothing;
    sum_at(f, values, form, NULL, triangle);
    f->w->g.problem.data = data;
}

TEST_ALL(sums_are_those_of_the_derivatives)
{
    for (int weights = EVEN; weights < BOTH; weights++)
        for (int masks = EVEN; masks < N_DRESSES; masks++)
            for (int cut = 0; cut < 2; cut++) {
                fitted *f = make_fitted(weights, masks);
                if (cut) {
                    f->w->g.problem.row_begin = 5;
                    f->w->g.problem.x_begin = 3;
                    f->w->g.problem.x_end -= 101;
                    pyspec_begin_span(&f->part);
                }
                for (int k = 0; k < N_WAY; k++) {
                    double values[ORDER - 1], triangle[SIZE], value;
                    way(k, values);
                    sum_at(f, values, PYSPEC_FORM_GRAM, NULL, triangle);
                    check_against_derivatives(f, values, triangle);
                    sum_at(f, values, PYSPEC_FORM_VALUE, NULL, &value);
                    CHECK(fabs(value - triangle[SIZE - 1]) <= 1e-14 * value);
                }
            }
}

/* What was read once is not read again where times change by rounding alone, whatever places do. */
TEST_ALL(data_are_read_until_times_settle)
{
    fitted *f = make_fitted(BY_ROW, BY_X);
    double values[ORDER - 1], triangle[SIZE], again[SIZE];
    for (int k = 0; k < 3; k++) {
        way(k, values);
        sum_at(f, values, PYSPEC_FORM_GRAM, NULL, triangle);
    }
    sum_at(f, values, PYSPEC_FORM_GRAM, NULL, triangle);
    sum_unread(f, values, PYSPEC_FORM_GRAM, again);
    CHECK(all_same(triangle, again, SIZE));
    values[1] += 1e-3;
    values[3] *= 1.0 + 1e-10;
    sum_unread(f, values, PYSPEC_FORM_GRAM, again);
    check_against_derivatives(f, values, again);
    values[3] *= 1.1;
    sum_at(f, values, PYSPEC_FORM_GRAM, NULL, triangle);
    check_against_derivatives(f, values, triangle);
    sum_unread(f, values, PYSPEC_FORM_GRAM, again);
    CHECK(isfinite(again[SIZE - 1]));
    pyspec_begin_span(&f->part);
    sum_unread(f, values, PYSPEC_FORM_GRAM, again);
    CHECK(!isfinite(again[SIZE - 1]));
}

/* Whether sums at a time that is off by such a share follow from what was read at the true one. */
static int is_unread(double noise, double share, int form)
{
    fitted *f = make_fitted(EVEN, EVEN);
    int status;
    double values[ORDER - 1], triangle[SIZE];
    double *model = run_entry(RUN_EVALUATE, f->w->plan, &f->w->g.problem, true_theta, &status);
    for (int64_t i = 0; i < ROWS * POINTS; i++)
        model[i] += noise * sin(0.7 * (double)i);
    f->w->g.problem.data = model;
    memcpy(values, true_theta, sizeof values);
    sum_at(f, values, PYSPEC_FORM_GRAM, NULL, triangle);
    values[3] *= 1.0 + share;
    sum_unread(f, values, form, triangle);
    const int found = isfinite(triangle[form ? SIZE - 1 : 0]);
    return found;
}

/* Slopes are known to first order, values to second: what is left moves no optimum, or data are read. */
TEST_ALL(functions_are_new_where_they_would_move_the_optimum)
{
    CHECK(is_unread(0.1, 1e-12, PYSPEC_FORM_GRAM));
    CHECK(!is_unread(0.1, 1e-8, PYSPEC_FORM_GRAM));
    CHECK(is_unread(0.1, 1e-6, PYSPEC_FORM_VALUE));
    CHECK(!is_unread(0.1, 1e-4, PYSPEC_FORM_VALUE));
    CHECK(!is_unread(1e-7, 1e-6, PYSPEC_FORM_VALUE)); /* of so little noise that is much */
}

/* A trace that is 1 at all times is the first function, which is u(t). */
TEST_ALL(a_trace_may_be_the_first_function)
{
    fitted *f = make_fitted(EVEN, EVEN);
    double values[ORDER - 1], triangle[SIZE], again[SIZE];
    memcpy(values, true_theta, sizeof values);
    values[0] = 1.0;
    values[4] = 1e3; /* the onset: nothing moves */
    sum_at(f, values, PYSPEC_FORM_GRAM, NULL, triangle);
    check_against_derivatives(f, values, triangle);
    sum_unread(f, values, PYSPEC_FORM_GRAM, again);
    CHECK(all_same(triangle, again, SIZE - 1));
    CHECK(fabs(again[SIZE - 1] - triangle[SIZE - 1]) <= 1e-14 * triangle[SIZE - 1]);
}

/* chi^2 that has become tiny is not the small rest of a large one. */
TEST_ALL(no_digits_are_lost_on_the_way_to_an_exact_fit)
{
    fitted *f = make_fitted(EVEN, EVEN);
    int status;
    double values[ORDER - 1], triangle[SIZE];
    double *model = run_entry(RUN_EVALUATE, f->w->plan, &f->w->g.problem, true_theta, &status);
    CHECK_INT(status, STATUS_OK);
    for (int64_t i = 0; i < ROWS * POINTS; i++)
        model[i] += 1e-9 * sin(0.7 * (double)i);
    f->w->g.problem.data = model;
    way(1, values);
    sum_at(f, values, PYSPEC_FORM_GRAM, NULL, triangle);
    values[0] = true_theta[0] * (1.0 + 1e-3); /* the times are those of the end, chi^2 is not */
    for (int j = 1; j < ORDER - 1; j++)
        values[j] = true_theta[j];
    sum_at(f, values, PYSPEC_FORM_GRAM, NULL, triangle);
    const double before = triangle[SIZE - 1];
    sum_at(f, true_theta, PYSPEC_FORM_GRAM, NULL, triangle);
    CHECK(triangle[SIZE - 1] < 1e-10 * before);
    double *want = explicit_gram(f->w->plan, &f->w->g.problem, true_theta, PYSPEC_FORM_GRAM);
    CHECK(fabs(triangle[SIZE - 1] - want[SIZE - 1]) <= 1e-6 * want[SIZE - 1]);
}

/* A point far off any sense, which a fit refuses, spoils nothing. */
TEST_ALL(huge_models_leave_no_rounding_behind)
{
    fitted *f = make_fitted(BY_X, BY_ROW);
    double values[ORDER - 1], triangle[SIZE];
    way(1, values);
    sum_at(f, values, PYSPEC_FORM_GRAM, NULL, triangle);
    way(2, values);
    values[0] = 1e25;
    values[6] = -1e25;
    sum_at(f, values, PYSPEC_FORM_GRAM, NULL, triangle);
    CHECK(triangle[SIZE - 1] > 1e50);
    for (int k = 2; k < N_WAY; k++) {
        way(k, values);
        sum_at(f, values, PYSPEC_FORM_GRAM, NULL, triangle);
        check_against_derivatives(f, values, triangle);
    }
}

/* More functions of time than there is room for: it begins anew. */
TEST_ALL(a_full_span_begins_anew)
{
    fitted *f = make_fitted(EVEN, BY_ROW);
    for (int k = 0; k < 24; k++) {
        double values[ORDER - 1], triangle[SIZE];
        memcpy(values, true_theta, sizeof true_theta);
        values[3] *= 1.0 + 0.11 * k;
        values[4] += 1.1 * k; /* the onset: before it there is nothing, so all functions differ */
        sum_at(f, values, PYSPEC_FORM_GRAM, NULL, triangle);
        check_against_derivatives(f, values, triangle);
    }
}

/* A theta without a finite model leaves nothing behind. */
TEST_ALL(what_is_not_finite_is_forgotten)
{
    fitted *f = make_fitted(BY_X, EVEN);
    double values[ORDER - 1], triangle[SIZE];
    for (int j = 0; j < ORDER - 1; j++) {
        way(0, values);
        values[j] = NAN;
        sum_at(f, values, PYSPEC_FORM_GRAM, NULL, triangle);
        CHECK(!isfinite(triangle[SIZE - 1]));
        sum_at(f, true_theta, PYSPEC_FORM_GRAM, NULL, triangle);
        check_against_derivatives(f, true_theta, triangle);
        sum_unread(f, true_theta, PYSPEC_FORM_GRAM, triangle);
        CHECK(isfinite(triangle[SIZE - 1]));
    }
}

/* The sums of a whole way, one behind the other, by a team of so many threads. */
static double *sums_of_a_team(int n_threads)
{
    fitted *f = make_fitted(BY_ROW, BY_X);
    double *found = exact(N_WAY * SIZE, sizeof *found);
    const int64_t n_state = pyspec_team_size(), size = f->call.work_size;
    pyspec_normal sums[N_SUMS];
    pyspec_team team = {.n_threads = n_threads, .work_size = size, .sums = sums, .n_sums = N_SUMS,
                        .n_state = n_state};
    team.state = make_work(n_state);
    team.work = make_work((n_threads - 1) * size);
    for (int k = 0; k < N_SUMS; k++)
        make_sums(&sums[k], PYSPEC_FORM_GRAM, ORDER - 1, PYSPEC_NORMAL_NODES, ORDER);
    CHECK_INT(pyspec_team_begin(&team), STATUS_OK);
    thread_of_team threads[N_THREADS];
    for (int k = 1; k < n_threads; k++)
        CHECK(start_help(&threads[k], &team));
    for (int k = 0; k < N_WAY; k++) {
        double values[ORDER - 1];
        way(k, values);
        sum_at(f, values, PYSPEC_FORM_GRAM, n_threads ? &team : NULL, found + k * SIZE);
    }
    CHECK_INT(pyspec_dismiss(&team), STATUS_OK);
    for (int k = 1; k < n_threads; k++)
        CHECK(end_help(threads[k]));
    return found;
}

TEST_ALL(threads_change_no_bits)
{
    double *alone = sums_of_a_team(1);
    for (int n = 2; n <= N_THREADS; n++) {
        double *together = sums_of_a_team(n);
        CHECK(all_same(alone, together, N_WAY * SIZE));
    }
}

/* ---- fits ---------------------------------------------------------------------------------- */

/* A fit from 10 % off, with a span or without, so many evaluations at a time; theta is where it ends. */
static pyspec_solver run_fit(fitted *f, int has_span, int64_t budget)
{
    enum { N = ORDER - 1 };
    double start_at[N], *own = f->part.span;
    for (int j = 0; j < N; j++)
        start_at[j] = true_theta[j] * (j % 2 ? 1.02 : 0.9);
    pyspec_solver s = make_solver(N, start_at, doubles(N, 1e-3), doubles(N, 100.0));
    s.n_points = ROWS * POINTS;
    s.max_nfev = 100;
    s.tolerance = 5e-8;
    s.data_square = 1e6;
    f->part.span = has_span ? own : NULL;
    while (pyspec_fit(&s, &f->part, 1, NULL, budget) == PYSPEC_FIT_AGAIN)
        continue;
    f->part.span = own;
    memcpy(f->theta, s.theta, sizeof f->theta);
    return s;
}

TEST_ALL(a_fit_ends_where_it_does_without)
{
    fitted *f = make_fitted(BY_ROW, EVEN);
    const pyspec_solver with = run_fit(f, 1, 1000);
    double end[ORDER - 1];
    memcpy(end, f->theta, sizeof end);
    const pyspec_solver without = run_fit(f, 0, 1000);
    CHECK_INT(with.end, PYSPEC_END_CONVERGED);
    CHECK_INT(without.end, PYSPEC_END_CONVERGED);
    CHECK_INT(with.nfev, without.nfev);
    CHECK(fabs(with.chisqr - without.chisqr) <= 1e-13 * without.chisqr);
    for (int j = 0; j < ORDER - 1; j++)
        CHECK(fabs(end[j] - f->theta[j]) <= 1e-9 * fabs(f->theta[j]));
}

TEST_ALL(every_budget_gives_the_same_bits)
{
    fitted *f = make_fitted(EVEN, BY_X);
    const pyspec_solver all = run_fit(f, 1, 1000);
    double end[ORDER - 1];
    memcpy(end, f->theta, sizeof end);
    for (int64_t budget = 1; budget < 4; budget++) {
        const pyspec_solver some = run_fit(f, 1, budget);
        CHECK_INT(some.nfev, all.nfev);
        CHECK(same(some.chisqr, all.chisqr));
        CHECK(all_same(f->theta, end, ORDER - 1));
    }
}

/* ---- where there is none ------------------------------------------------------------------- */

/* Memory that is too small is not touched; nor is any for plans and data that have no such way. */
TEST(other_parts_have_none)
{
    fitted *f = make_fitted(EVEN, EVEN);
    pyspec_problem *q = &f->w->g.problem;
    CHECK(pyspec_has_span(&f->part, PYSPEC_FORM_GRAM));
    CHECK(!pyspec_has_span(&f->part, PYSPEC_FORM_FACTOR));
    f->part.span_size--;
    CHECK(!pyspec_has_span(&f->part, PYSPEC_FORM_GRAM));
    pyspec_begin_span(&f->part);
    f->part.span_size++;
    const void *data = q->data;
    q->data = NULL;
    CHECK(!pyspec_has_span(&f->part, PYSPEC_FORM_GRAM));
    q->data = data;
    q->loss = PYSPEC_LOSS_POISSON;
    CHECK(!pyspec_has_span(&f->part, PYSPEC_FORM_GRAM));
    q->loss = PYSPEC_LOSS_SQUARES;
    CHECK_INT(pyspec_span_size(NULL, q), 0);
    CHECK_INT(pyspec_span_size(f->w->plan, NULL), 0);
    q->x_end = q->x_begin + 20; /* few points for each function of time */
    CHECK_INT(pyspec_span_size(f->w->plan, q), 0);
    q->x_end = POINTS;
    q->row_end = q->row_begin + 63; /* few rows */
    CHECK_INT(pyspec_span_size(f->w->plan, q), 0);
    q->row_end++;
    CHECK(pyspec_span_size(f->w->plan, q) > 0);
    q->row_end = 1 << 21; /* more memory than it may take */
    CHECK_INT(pyspec_span_size(f->w->plan, q), 0);
    q->row_end = ROWS;
    f->w->plan->separable = -1;
    CHECK_INT(pyspec_span_size(f->w->plan, q), 0);
}

TEST(sums_that_do_not_fit_are_refused)
{
    fitted *f = make_fitted(EVEN, EVEN);
    double triangle[(ORDER + 1) * (ORDER + 2) / 2];
    for (int64_t more = -1; more < 2; more++) {
        pyspec_part part = f->part;
        part.n_theta += more;
        CHECK_INT(pyspec_sum_in_fit(&part, 1, PYSPEC_FORM_GRAM, ORDER + 1, NULL, 1, triangle),
                  more ? STATUS_ORDER : STATUS_OK);
    }
}

UNIT_MAIN
