/* test_solve.c: the solver on small problems with exact derivatives, step by step: each question
 * is answered with just what it asks for, and nothing that was promised on the way is broken. */
#include "support/solve_problems.h"
#include "support/unit.h"

#include <float.h>

static const double inf = (double)INFINITY;

/* ---- one fit -------------------------------------------------------------------------------- */

/* How a fit went; its parameters and the triangle at the best point. */
typedef struct fit {
    pyspec_solver solver;
    double theta[MAX_N], normal[(MAX_N + 1) * (MAX_N + 2) / 2];
    int n_bad; /* chi^2 rose, or a trial lay outside of the bounds */
} fit;

/* What rounding may do to chi^2. */
static double noise(const pyspec_solver *s, double before)
{
    return 64.0 * DBL_EPSILON * (before + sqrt(before * s->data_square));
}

static int inside(const pyspec_solver *s)
{
    for (int64_t k = 0; k < s->n; k++)
        if (!(s->trial[k] >= s->lower[k] && s->trial[k] <= s->lower[s->n + k]))
            return 0;
    return 1;
}

static fit run_fit(const small_problem *p, int64_t max_nfev)
{
    const int64_t n = p->n, size = triangle_size(n + 1);
    fit f = {.solver = make_solver(n, p->start, p->lower, p->upper)};
    pyspec_solver *s = &f.solver;
    double before = inf;
    int64_t asked = 0;
    s->n_points = p->m;
    s->max_nfev = max_nfev;
    s->tolerance = 1e-6;
    s->data_square = p->data_square;
    while (pyspec_fit_step(s) == PYSPEC_FIT_NEED_NORMAL) {
        CHECK(++asked <= max_nfev);
        f.n_bad += !inside(s);
        f.n_bad += asked > 1 && !(s->chisqr <= before + noise(s, before));
        before = asked > 1 ? s->chisqr : inf;
        answer_problem(p, s->form, s->trial, s->answer);
    }
    f.n_bad += !(s->chisqr <= before + noise(s, before));
    CHECK_INT(f.n_bad, 0);
    CHECK_INT(s->nfev, asked);
    CHECK_INT(pyspec_fit_step(s), PYSPEC_FIT_DONE);
    CHECK(s->end != PYSPEC_END_RUNNING);
    memcpy(f.theta, s->theta, (size_t)n * sizeof(double));
    memcpy(f.normal, s->normal, (size_t)size * sizeof(double));
    return f;
}

/* chi^2 that the solver states is that of the point that it gives. */
static int states_its_point(const small_problem *p, const fit *f)
{
    double triangle[(MAX_N + 1) * (MAX_N + 2) / 2];
    answer_problem(p, PYSPEC_FORM_VALUE, f->theta, triangle);
    double value = triangle[triangle_size(p->n + 1) - 1];
    return fabs(value - f->solver.chisqr) <= 1e-9 * value + noise(&f->solver, value);
}

/* No direction within the bounds makes chi^2 smaller to first order; `share` of the root of
 * (chi^2 of a point) is as long as a step may still be. */
static int is_optimum(const small_problem *p, const fit *f, double share)
{
    double gram[(MAX_N + 1) * (MAX_N + 2) / 2];
    const int64_t n = p->n, order = n + 1;
    answer_problem(p, PYSPEC_FORM_GRAM, f->theta, gram);
    const double residual = sqrt(gram[triangle_at(order, n, n)]);
    for (int64_t k = 0; k < n; k++) {
        double norm = sqrt(gram[triangle_at(order, k, k)]);
        double slope = norm > 0.0 ? gram[triangle_at(order, k, n)] / norm : 0.0;
        int down = slope < -share * residual && f->theta[k] > p->lower[k];
        int up = slope > share * residual && f->theta[k] < p->upper[k];
        if (down || up)
            return 0;
    }
    return 1;
}

static int close_relative(const double *got, const double *want, int64_t n, double tolerance)
{
    for (int64_t k = 0; k < n; k++)
        if (!(fabs(got[k] - want[k]) <= tolerance * (fabs(want[k]) > 0.0 ? fabs(want[k]) : 1.0)))
            return 0;
    return 1;
}

/* A problem that is solved as PYSPEC_END_CONVERGED, in `most` evaluations or fewer. */
static fit check_solved(const small_problem *p, int64_t most)
{
    fit f = run_fit(p, 1000);
    CHECK_INT(f.solver.end, PYSPEC_END_CONVERGED);
    CHECK(f.solver.nfev <= most);
    CHECK(states_its_point(p, &f));
    if (f.solver.end != PYSPEC_END_CONVERGED || f.solver.nfev > most)
        printf("  %s: end %lld, %lld evaluations\n", p->name, (long long)f.solver.end,
               (long long)f.solver.nfev);
    return f;
}

/* ---- without bounds -------------------------------------------------------------------------- */

/* The triangle at the optimum is the factor or the Gram matrix of the (constant) columns. */
TEST(a_linear_problem_needs_few_evaluations)
{
    const small_problem p = line_problem();
    const fit f = check_solved(&p, 8);
    double want[(MAX_N + 1) * (MAX_N + 2) / 2];
    CHECK(is_optimum(&p, &f, 1e-9));
    answer_problem(&p, f.solver.needs_factor == 2 ? PYSPEC_FORM_FACTOR : PYSPEC_FORM_GRAM, f.theta,
                   want);
    CHECK(close_to(f.normal, want, triangle_size(p.n + 1), 1e-13));
}

TEST(classic_problems_are_solved)
{
    const double rosenbrock[] = {1.0, 1.0}, beale[] = {3.0, 0.5};
    small_problem p = rosenbrock_problem();
    fit f = check_solved(&p, 60);
    CHECK(close_relative(f.theta, rosenbrock, 2, 1e-10) && f.solver.chisqr < 1e-24);
    p = beale_problem();
    f = check_solved(&p, 60);
    CHECK(close_relative(f.theta, beale, 2, 1e-10) && f.solver.chisqr < 1e-24);
    p = box_problem();
    f = check_solved(&p, 60);
    CHECK(f.solver.chisqr < 1e-24);
}

/* The derivatives vanish at the optimum: the steps only ever halve the distance. */
TEST(powells_singular_problem_ends_near_the_optimum)
{
    const small_problem p = powell_problem();
    const fit f = run_fit(&p, 1000);
    CHECK(f.solver.end != PYSPEC_END_LIMIT && f.solver.end != PYSPEC_END_NOT_FINITE);
    CHECK(f.solver.chisqr < 1e-20);
    for (int k = 0; k < 4; k++)
        CHECK(fabs(f.theta[k]) < 1e-4);
}

/* NIST MGH10, from its second start. */
TEST(meyers_problem_is_solved)
{
    const double want[] = {5.6096364710e-03, 6.1813463463e+03, 3.4522363462e+02};
    const small_problem p = meyer_problem();
    const fit f = check_solved(&p, 600);
    CHECK(close_relative(f.theta, want, 3, 1e-6));
    CHECK(fabs(f.solver.chisqr - 87.945855171) <= 1e-8 * 87.945855171);
}

TEST(an_exact_fit_converges)
{
    small_problem p = decay_problem();
    const double want[] = {2.5, 0.8};
    p.noise = 0.0;
    const fit f = check_solved(&p, 40);
    CHECK(close_relative(f.theta, want, 2, 1e-12));
    CHECK(f.solver.chisqr < 1e-26 * p.data_square);
}

TEST(scales_do_not_matter)
{
    small_problem plain = decay_problem(), p = decay_problem();
    p.scale[0] = 1e12;
    p.scale[1] = 1e-9;
    p.start[0] *= 1e-12;
    p.start[1] *= 1e9;
    const fit want = check_solved(&plain, 40), got = check_solved(&p, 40);
    CHECK(is_optimum(&p, &got, 1e-6));
    CHECK(fabs(got.theta[0] * 1e12 - want.theta[0]) <= 1e-6 * want.theta[0]);
    CHECK(fabs(got.theta[1] * 1e-9 - want.theta[1]) <= 1e-6 * want.theta[1]);
}

/* ---- what the data do not determine ---------------------------------------------------------- */

TEST(a_parameter_without_effect_is_named)
{
    for (int place = 0; place < 3; place++) {
        const small_problem with = idle_problem(place), without = decay_problem();
        const fit f = run_fit(&with, 1000), g = check_solved(&without, 40);
        CHECK_INT(f.solver.end, PYSPEC_END_DEGENERATE);
        CHECK(f.theta[place] == with.start[place]);
        CHECK(fabs(f.solver.chisqr - g.solver.chisqr) <= 1e-10 * g.solver.chisqr);
        CHECK(is_optimum(&with, &f, 1e-6));
    }
}

TEST(two_equal_columns_end_at_the_optimum_of_the_others)
{
    const small_problem twice = twin_problem(), once = decay_problem();
    const fit f = run_fit(&twice, 1000), g = check_solved(&once, 40);
    CHECK(f.solver.nfev < 100);
    CHECK(f.solver.end == PYSPEC_END_CONVERGED || f.solver.end == PYSPEC_END_DEGENERATE);
    CHECK(fabs(f.solver.chisqr - g.solver.chisqr) <= 1e-9 * g.solver.chisqr);
    CHECK(fabs(f.theta[0] + f.theta[2] - g.theta[0]) <= 1e-5 * g.theta[0]);
    CHECK(fabs(f.theta[1] - g.theta[1]) <= 1e-5 * g.theta[1]);
}

/* Columns u and u + 1e-6 v: the condition of the Gram matrix is 1e12. */
TEST(nearly_equal_columns_need_a_factor)
{
    double want[2];
    const small_problem p = collinear_problem(want);
    const fit f = check_solved(&p, 60);
    CHECK_INT(f.solver.needs_factor, 2);
    CHECK(close_relative(f.theta, want, 2, 1e-5));
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* The decay's optimum is near (2.5, 0.8). */
TEST(an_optimum_may_lie_on_a_bound)
{
    const double bounds[][4] = {{0.0, 1.2, 5.0, 5.0},  {0.0, 0.01, 5.0, 0.5},
                                {3.0, 0.01, 9.0, 5.0}, {0.0, 0.01, 2.0, 5.0},
                                {3.0, 1.2, 9.0, 5.0},  {0.0, 0.01, 1.0, 0.1}};
    for (int k = 0; k < 6; k++) {
        small_problem p = decay_problem();
        p.lower[0] = bounds[k][0];
        p.lower[1] = bounds[k][1];
        p.upper[0] = bounds[k][2];
        p.upper[1] = bounds[k][3];
        const fit f = check_solved(&p, 40);
        CHECK(is_optimum(&p, &f, 1e-6));
        int on_bound = 0;
        for (int j = 0; j < 2; j++)
            on_bound += f.theta[j] == p.lower[j] || f.theta[j] == p.upper[j];
        CHECK(on_bound >= 1);
    }
}

TEST(an_optimum_may_lie_in_a_corner)
{
    small_problem p = line_problem();
    const fit open = check_solved(&p, 8);
    for (int k = 0; k < 3; k++) {
        p.lower[k] = open.theta[k] + 1.0;
        p.upper[k] = open.theta[k] + 2.0;
        p.start[k] = open.theta[k] + 1.5;
    }
    const fit f = check_solved(&p, 40);
    CHECK(is_optimum(&p, &f, 1e-6));
}

TEST(a_start_may_lie_on_a_bound)
{
    for (int k = 0; k < 4; k++) {
        small_problem p = decay_problem();
        const fit open = check_solved(&p, 40);
        p.lower[0] = 0.5;
        p.lower[1] = 0.1;
        p.upper[0] = 8.0;
        p.upper[1] = 3.0;
        p.start[0] = k & 1 ? 0.5 : 8.0;
        p.start[1] = k & 2 ? 0.1 : 3.0;
        const fit f = check_solved(&p, 60);
        CHECK(close_relative(f.theta, open.theta, 2, 1e-6));
    }
}

TEST(a_start_outside_of_the_bounds_is_moved_inside)
{
    small_problem p = decay_problem();
    const fit open = check_solved(&p, 40);
    p.lower[0] = 0.5;
    p.lower[1] = 0.1;
    p.upper[0] = 8.0;
    p.upper[1] = 3.0;
    p.start[0] = -7.0;
    p.start[1] = 1e6;
    const fit f = check_solved(&p, 60), once = run_fit(&p, 1);
    CHECK(close_relative(f.theta, open.theta, 2, 1e-6));
    CHECK(once.theta[0] == 0.5 && once.theta[1] == 3.0);
}

/* At its bound the mixing of a line acts as the width does: it stays there, and JtJ is good enough. */
TEST(what_others_stand_in_for_stays_at_its_bound)
{
    for (int k = 0; k < 4; k++) {
        small_problem p = mixed_problem();
        p.start[2] = (const double[]){0.3, 1.0, 1e-6, 0.0}[k];
        const fit f = check_solved(&p, 30);
        CHECK(f.theta[2] == 0.0);
        CHECK_INT(f.solver.needs_factor, 0);
        CHECK(is_optimum(&p, &f, 1e-6));
    }
}

/* It leaves a bound that is not its best place, also where two others are alike. */
TEST(what_others_do_not_stand_in_for_leaves_its_bound)
{
    small_problem p = twin_problem();
    p.lower[1] = p.start[1] = 0.1;
    p.upper[1] = 3.0;
    const small_problem alone = decay_problem();
    const fit f = check_solved(&p, 60), open = check_solved(&alone, 40);
    CHECK(fabs(f.theta[1] - open.theta[1]) < 1e-6);
    CHECK(fabs(f.theta[0] + f.theta[2] - open.theta[0]) < 1e-6);
}

/* It leaves a place next to a bound where chi^2 falls away from there, by a slope that is as small as the
 * place is near: on the way there, and where all others are at their best. */
TEST(what_gains_away_from_its_bound_leaves_it)
{
    small_problem p = half_problem();
    const fit best = check_solved(&p, 30);
    CHECK(best.theta[2] > 0.3 && best.theta[2] < 0.7);
    for (int away = 4; away < 10; away++) {
        const double place = pow(10.0, -away);
        for (int k = 0; k < 3; k++) {
            small_problem near = p, held = p;
            held.start[2] = held.lower[2] = held.upper[2] = place;
            const fit others = check_solved(&held, 30);
            near.start[0] = k == 2 ? others.theta[0] : 0.8 + 0.1 * k;
            near.start[1] = k == 2 ? others.theta[1] : 0.92 + 0.06 * k;
            near.start[2] = place;
            const fit f = check_solved(&near, 100);
            CHECK(fabs(f.theta[2] - best.theta[2]) < 1e-4);
        }
    }
}

/* ---- where there is no value, or no time ------------------------------------------------------ */

TEST(steps_to_where_there_is_no_value_are_refused)
{
    const small_problem p = logarithm_problem();
    const fit f = check_solved(&p, 60);
    CHECK(is_optimum(&p, &f, 1e-6));
    CHECK(f.theta[0] > 0.0);
}

TEST(a_start_without_a_value_is_not_fitted)
{
    small_problem p = logarithm_problem();
    p.start[0] = -1.0;
    const fit f = run_fit(&p, 100);
    CHECK_INT(f.solver.end, PYSPEC_END_NOT_FINITE);
    CHECK_INT(f.solver.nfev, 1);
    CHECK(f.theta[0] == -1.0);
}

/* The fewer evaluations, the larger the chi^2 of the best point; it is always the point given. */
TEST(the_best_point_is_kept_at_the_limit)
{
    const small_problem problems[] = {rosenbrock_problem(), meyer_problem(), decay_problem(),
                                      logarithm_problem(), powell_problem()};
    for (int k = 0; k < 5; k++) {
        double before = inf;
        for (int64_t most = 1; most < 60; most++) {
            const fit f = run_fit(&problems[k], most);
            CHECK(f.solver.nfev <= most);
            CHECK(f.solver.chisqr <= before + noise(&f.solver, before));
            CHECK(states_its_point(&problems[k], &f));
            CHECK(f.solver.end != PYSPEC_END_LIMIT || f.solver.nfev == most);
            before = f.solver.chisqr;
        }
    }
}

TEST(no_evaluation_may_be_allowed)
{
    const small_problem p = rosenbrock_problem();
    const int64_t limits[] = {0, -1};
    for (int k = 0; k < 2; k++) {
        const fit f = run_fit(&p, limits[k]);
        CHECK_INT(f.solver.end, PYSPEC_END_LIMIT);
        CHECK_INT(f.solver.nfev, 0);
        CHECK(f.theta[0] == p.start[0] && f.theta[1] == p.start[1]);
    }
}

/* A made-up fit of one parameter to 100 points with chi^2 near 1: the undamped step promises
 * `promise`, a little less each time, and chi^2 falls by 0.05 of what a step promises, or by `gain`
 * under little damping. */
static pyspec_solver creep(double promise, double gain)
{
    double value = 1.0;
    pyspec_solver s = make_solver(1, (const double[]){0.0}, NULL, NULL);
    s.n_points = 100;
    s.max_nfev = 5000;
    s.tolerance = 1e-9;
    s.data_square = 1.0;
    while (pyspec_fit_step(&s) == PYSPEC_FIT_NEED_NORMAL) {
        if (s.nfev > 1)
            value = s.chisqr - (s.damping < 1e6 ? gain : 0.5) * s.expected;
        s.answer[0] = 1.0;
        s.answer[1] = -sqrt(promise * (1.0 - 1e-5 * (double)s.nfev));
        s.answer[2] = value;
    }
    return s;
}

/* chi^2 that falls by less than a hundredth in hundreds of evaluations, though its slope promises
 * half of it: the derivative is not that of the value. */
TEST(what_hardly_falls_ends_early)
{
    const pyspec_solver s = creep(0.5, 0.01);
    CHECK_INT(s.end, PYSPEC_END_SLOW);
    CHECK(s.nfev > 250 && s.nfev < 1000);
    CHECK(s.chisqr > 0.9 && s.chisqr < 1.0);
}

/* A millionth of a standard error off, where a step gains less than rounding may change chi^2, a fit
 * has converged; farther off, where chi^2 still falls by more, it goes on. */
TEST(what_only_rounding_moves_has_converged)
{
    pyspec_solver s = creep(1e-14, 0.05);
    CHECK_INT(s.end, PYSPEC_END_CONVERGED);
    CHECK(s.nfev > 250 && s.nfev < 300);
    CHECK(s.distance > 0.9e-6 && s.distance < 1.1e-6);
    s = creep(1e-10, 0.05);
    CHECK_INT(s.end, PYSPEC_END_LIMIT);
}

/* A decay fitted to what is none: J^T J alone overshoots or falls short by the same share each time,
 * which took up to 48 evaluations. */
TEST(large_residuals_cost_few_evaluations)
{
    for (int k = -6; k <= 6; k++) {
        small_problem p = decay_problem();
        p.noise = 0.25 * k;
        fit f = run_fit(&p, 200);
        CHECK_INT(f.solver.end, PYSPEC_END_CONVERGED);
        CHECK(f.solver.nfev <= 10);
        CHECK(states_its_point(&p, &f));
    }
}

UNIT_MAIN
