/* test_solve_near.c: the solver on made-up surfaces of chi^2, close to an optimum and where what it is
 * told does not fit together: the slope is not that of the value, the curvature not that of J. */
#include "support/solve_problems.h"
#include "solver/solver.h"
#include "support/unit.h"

enum { MOST = 4, SIZE = (MOST + 1) * (MOST + 2) / 2 };

static const double inf = (double)INFINITY;

/* chi^2 over the parameters: an answer is J^T J, J^T r = -1/2 d chi^2 / d theta, and chi^2. */
typedef struct surface {
    int n;
    int64_t n_points, every;
    double start[MOST], lower[MOST], upper[MOST];
    void (*answer)(const pyspec_solver *s, double *triangle);
} surface;

typedef struct fit {
    pyspec_solver solver;
    double theta[MOST];
    int n_outside; /* trials that lay outside of the bounds */
} fit;

static fit run_fit(const surface *p)
{
    fit f = {.solver = make_solver(p->n, p->start, p->lower, p->upper)};
    pyspec_solver *s = &f.solver;
    s->n_points = p->n_points;
    s->max_nfev = 500;
    s->tolerance = 1e-9;
    s->data_square = 1.0;
    s->every = p->every;
    while (pyspec_fit_step(s) == PYSPEC_FIT_NEED_NORMAL) {
        for (int k = 0; k < p->n; k++)
            f.n_outside += !(s->trial[k] >= p->lower[k] && s->trial[k] <= p->upper[k]);
        p->answer(s, s->answer);
    }
    CHECK_INT(f.n_outside, 0);
    memcpy(f.theta, s->theta, (size_t)p->n * sizeof *f.theta);
    return f;
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static double wanted; /* where the parabola is lowest */

static void parabola(const pyspec_solver *s, double *triangle)
{
    const double rest = wanted - s->trial[0];
    triangle[0] = 1.0;
    triangle[1] = rest;
    triangle[2] = 1e4 + rest * rest;
}

/* -1 + (bound + 1) is 0 in doubles, which lies outside. */
TEST(rounding_leads_to_the_bound_and_not_past_it)
{
    surface p = {.n = 1, .n_points = 2, .start = {-1.0}, .lower = {-inf}, .upper = {-0x1p-60},
                 .answer = parabola};
    wanted = 5.0;
    fit f = run_fit(&p);
    CHECK_INT(f.solver.end, PYSPEC_END_CONVERGED);
    CHECK(f.theta[0] == -0x1p-60);
    p = (surface){.n = 1, .n_points = 2, .start = {1.0}, .lower = {0x1p-60}, .upper = {inf},
                  .answer = parabola};
    wanted = -5.0;
    f = run_fit(&p);
    CHECK_INT(f.solver.end, PYSPEC_END_CONVERGED);
    CHECK(f.theta[0] == 0x1p-60);
}

/* ---- slopes that lead nowhere ------------------------------------------------------------------ */

static double slope;

/* chi^2 rises whatever the slope says. */
static void rising(const pyspec_solver *s, double *triangle)
{
    triangle[0] = 1.0;
    triangle[1] = slope;
    triangle[2] = s->nfev > 1 ? 1.001 : 1.0;
}

/* Near the optimum, in standard errors, that is rounding; farther off the fit is stuck. */
TEST(where_chi2_only_rises_the_start_is_kept)
{
    const double slopes[] = {5e-8, 1e-5, 1.0};
    const int ends[] = {PYSPEC_END_CONVERGED, PYSPEC_END_CONVERGED, PYSPEC_END_STALLED};
    for (int k = 0; k < 3; k++) {
        const surface p = {.n = 1, .n_points = 100, .lower = {-inf}, .upper = {inf},
                           .answer = rising};
        slope = slopes[k];
        const fit f = run_fit(&p);
        CHECK_INT(f.solver.end, ends[k]);
        CHECK(f.theta[0] == 0.0 && f.solver.chisqr == 1.0);
        CHECK(f.solver.nfev < 30);
    }
}

/* The step is smaller than the distance of doubles. */
TEST(where_there_is_no_other_point_the_fit_ends)
{
    const surface p = {.n = 1, .n_points = 100, .start = {1e15}, .lower = {-inf}, .upper = {inf},
                       .answer = rising};
    const double slopes[] = {1e-5, 0.01};
    const int ends[] = {PYSPEC_END_CONVERGED, PYSPEC_END_STALLED};
    for (int k = 0; k < 2; k++) {
        slope = slopes[k];
        const fit f = run_fit(&p);
        CHECK_INT(f.solver.end, ends[k]);
        CHECK_INT(f.solver.nfev, 1);
        CHECK(f.theta[0] == 1e15);
    }
}

/* chi^2 falls by a little each time, and the slope stays as it was. */
static void restless(const pyspec_solver *s, double *triangle)
{
    triangle[0] = 1.0;
    triangle[1] = 1e-5;
    triangle[2] = s->nfev > 1 ? s->chisqr - 0.05 * s->expected : 1.0;
}

TEST(steps_that_come_no_nearer_end_the_fit)
{
    const surface p = {.n = 1, .n_points = 100, .lower = {-inf}, .upper = {inf}, .answer = restless};
    const fit f = run_fit(&p);
    CHECK_INT(f.solver.end, PYSPEC_END_CONVERGED);
    CHECK(f.solver.nfev > 5 && f.solver.nfev < 20);
    CHECK(f.solver.distance > 0.9e-4 && f.solver.distance < 1.1e-4);
}

/* Two first steps that are refused, one that is taken by its value alone, and no derivatives there. */
static void no_slope_there(const pyspec_solver *s, double *triangle)
{
    const double values[] = {2.0, 3.0, 3.0, 1.5, 1.5, 1.6, 1.6};
    triangle[0] = 1.0;
    triangle[1] = s->nfev == 5 ? (double)NAN : s->nfev < 7 ? 1.0 : 0.0;
    triangle[2] = values[s->nfev - 1];
}

TEST(a_point_without_derivatives_is_refused)
{
    const surface p = {.n = 1, .n_points = 100, .lower = {-inf}, .upper = {inf},
                       .answer = no_slope_there};
    const fit f = run_fit(&p);
    CHECK_INT(f.solver.end, PYSPEC_END_CONVERGED);
    CHECK_INT(f.solver.nfev, 7);
    CHECK(f.solver.chisqr == 1.6);
    CHECK(f.theta[0] > 0.0 && f.theta[0] < 1.0);
}

/* ---- curvature that J^T J does not have ---------------------------------------------------------- */

static double bend, lowest;

/* 1 + bend (theta - lowest)^2, of which J^T J says that its bend were 1. */
static void bent(const pyspec_solver *s, double *triangle)
{
    const double rest = lowest - s->trial[0];
    triangle[0] = 1.0;
    triangle[1] = bend * rest;
    triangle[2] = 1.0 + bend * rest * rest;
}

/* Fifteen times as strong a bend: the learnt step promises less than a tenth of the undamped one. */
TEST(a_strong_bend_is_followed)
{
    const surface p = {.n = 1, .n_points = 100, .lower = {-inf}, .upper = {inf}, .answer = bent};
    bend = 15.0;
    lowest = 1e-3;
    const fit f = run_fit(&p);
    CHECK_INT(f.solver.end, PYSPEC_END_CONVERGED);
    CHECK(fabs(f.theta[0] - lowest) < 1e-8);
}

/* A weak bend: the learnt step is longer than the undamped one, and would leave the bounds. */
TEST(a_learnt_step_stays_within_the_bounds)
{
    bend = 0.3;
    for (int side = -1; side <= 1; side += 2) {
        surface p = {.n = 1, .n_points = 100, .lower = {-inf}, .upper = {inf}, .answer = bent};
        lowest = 1e-3 * side;
        (side < 0 ? p.lower : p.upper)[0] = 0.7 * lowest;
        const fit f = run_fit(&p);
        CHECK_INT(f.solver.end, PYSPEC_END_CONVERGED);
        CHECK(f.theta[0] == 0.7 * lowest);
    }
}

/* With s along the diagonal and t across it, 10 + t^2 - s^2 / 2 + s^4 / 2: from beside its saddle on, where
 * s bends down though J^T J is 1, to its lowest point at s^2 = 1/2. */
static void saddle(const pyspec_solver *s, double *triangle)
{
    const double root = sqrt(0.5);
    const double along = root * (s->trial[0] + s->trial[1]);
    const double across = root * (s->trial[0] - s->trial[1]);
    const double fall = 0.5 * along - along * along * along;
    const double want[] = {1.0, 0.0, root * (fall - across), 1.0, root * (fall + across),
                               10.0 + across * across - 0.5 * along * along + 0.5 * pow(along, 4)};
    memcpy(triangle, want, sizeof want);
}

TEST(what_bends_down_is_left)
{
    const surface p = {.n = 2, .n_points = 3, .start = {0.06, 0.04}, .lower = {-inf, -inf},
                       .upper = {inf, inf}, .answer = saddle};
    const fit f = run_fit(&p);
    CHECK_INT(f.solver.end, PYSPEC_END_CONVERGED);
    CHECK(fabs(f.theta[0] - 0.5) < 1e-7 && fabs(f.theta[1] - 0.5) < 1e-7);
    CHECK(f.solver.nfev < 40);
}

/* ---- columns that are alike ---------------------------------------------------------------------- */

static double apart, offsets[2];

/* Two columns, (1, 0, 0) and (1, apart, 0), and the data (offsets, 0.1). */
static void alike(const pyspec_solver *s, double *triangle)
{
    const double first = offsets[0] - s->trial[0] - s->trial[1];
    const double second = offsets[1] - apart * s->trial[1];
    const double gram[] = {1.0, 1.0, first, 1.0 + apart * apart, first + apart * second,
                               first * first + second * second + 0.01};
    const double factor[] = {1.0, 1.0, first, apart, second, 0.1};
    const int is_value = s->form == PYSPEC_FORM_VALUE;
    memcpy(triangle, s->form == PYSPEC_FORM_FACTOR ? factor : gram, sizeof gram);
    for (int k = 0; is_value && k < 5; k++)
        triangle[k] = (double)NAN;
}

/* The more alike they are, the less of J^T J is left but rounding. The fit is never worse than with the
 * first column alone, and as good as with both while their difference can be told from rounding. */
TEST(alike_columns_do_no_harm)
{
    for (int k = 10; k <= 52; k++)
        for (int from = 0; from < 12; from++) {
            const surface p = {.n = 2, .n_points = 5, .start = {0.3 * from, 1.0 - 0.2 * from},
                               .lower = {-inf, -inf}, .upper = {inf, from % 2 ? 2.0 : inf},
                               .answer = alike};
            const int is_bounded = from % 2;
            apart = ldexp(1.0, -k);
            offsets[0] = 1.0 + 0.1 * from;
            offsets[1] = 0.3 - 0.07 * from;
            const fit f = run_fit(&p);
            CHECK(f.solver.end != PYSPEC_END_LIMIT && f.solver.end != PYSPEC_END_NOT_FINITE);
            CHECK(f.solver.chisqr <= (0.01 + offsets[1] * offsets[1]) * 1.001);
            if (k > 20)
                continue;
            CHECK_INT(f.solver.end, PYSPEC_END_CONVERGED);
            CHECK(is_bounded || f.solver.chisqr <= 0.01 * 1.001);
        }
}

/* ---- bounds that a step meets one after the other ------------------------------------------------- */

static double level; /* of chi^2 at the start */

static const double fall[MOST] = {-0.09, -0.08, 1.36, -0.03};
static const double gram[MOST][MOST] = {{4.08, 0.99, -2.48, 4.6},
                                        {0.99, 1.78, -0.17, 1.18},
                                        {-2.48, -0.17, 3.37, -2.91},
                                        {4.6, 1.18, -2.91, 5.21}};

/* A parabola around a point beyond the bounds, `level` at 0. */
static void valley(const pyspec_solver *s, double *triangle)
{
    double value = level;
    for (int j = 0; j < MOST; j++) {
        double rest = fall[j];
        for (int k = 0; k < MOST; k++)
            rest -= gram[j][k] * s->trial[k];
        for (int k = j; k < MOST; k++)
            triangle[triangle_at(MOST + 1, j, k)] = gram[j][k];
        triangle[triangle_at(MOST + 1, j, MOST)] = rest;
        value -= (fall[j] + rest) * s->trial[j];
    }
    triangle[SIZE - 1] = value;
}

/* The undamped step stops at three bounds, where chi^2 is larger than at its start by 0.38. It is not
 * taken: the fit goes down in shorter steps, or ends where such a change of chi^2 is rounding. */
TEST(a_step_that_would_rise_is_not_taken)
{
    const surface p = {.n = MOST, .n_points = 1000 + MOST, .lower = {-6.7, -0.7, -7.5, -0.9},
                       .upper = {0.003, 0.007, 0.076, 0.413}, .answer = valley};
    double triangle[SIZE];
    level = 1000.0;
    fit f = run_fit(&p);
    CHECK_INT(f.solver.end, PYSPEC_END_CONVERGED);
    CHECK(f.solver.chisqr < level && f.solver.nfev < 40);
    f.solver.trial = f.theta;
    valley(&f.solver, triangle);
    for (int j = 0; j < MOST; j++) {
        const double rest = triangle[triangle_at(MOST + 1, j, MOST)];
        CHECK(rest < 1e-6 || f.theta[j] == p.upper[j]);
        CHECK(rest > -1e-6 || f.theta[j] == p.lower[j]);
    }
    level = 1e15;
    f = run_fit(&p);
    CHECK_INT(f.solver.end, PYSPEC_END_CONVERGED);
    CHECK_INT(f.solver.nfev, 1);
}

/* ---- a part of the rows ------------------------------------------------------------------------ */

/* A parabola, lowest at 1, 0; with all rows at 1, 2. There its columns are alike but for 1e-12 until the fit
 * begins again, and a factor has what the Gram matrix lost to rounding: the optimum is 80 standard errors
 * away. */
static void misleading_part(const pyspec_solver *s, double *triangle)
{
    const double alike = s->every > 1 ? 0.0 : 0.9, to[2] = {1.0, s->every > 1 ? 0.0 : 2.0};
    const double x = to[0] - s->trial[0], y = to[1] - s->trial[1];
    const double parabola[] = {1e4, 1e4 * alike, 1e4 * (x + alike * y), 1e4, 1e4 * (alike * x + y),
                               8e3 / (s->every > 1 ? 8.0 : 1.0) +
                                   1e4 * (x * x + 2.0 * alike * x * y + y * y)};
    const double close[] = {1e4, 1e4 * (1.0 - 1e-12), 0.0, 1e4, 0.0, 8e3};
    const double factor[] = {1e2, 1e2, 0.0, 1e-4, 80.0, 40.0};
    const int goes_on = s->every == 1 && s->n_part > 0;
    const double *found = !goes_on ? parabola : s->form == PYSPEC_FORM_FACTOR ? factor : close;
    memcpy(triangle, found, sizeof parabola);
}

/* The Gram matrix of the start was read as a factor. */
TEST(what_a_part_led_to_is_forgotten)
{
    const surface p = {.n = 2, .n_points = 8000, .every = 8, .start = {0.0, -1.0}, .lower = {-inf, -inf},
                       .upper = {inf, inf}, .answer = misleading_part};
    const fit f = run_fit(&p);
    CHECK_INT(f.solver.end, PYSPEC_END_CONVERGED);
    CHECK_INT(f.solver.n_part, 0);
    CHECK_INT(f.solver.needs_factor, 0);
    CHECK(fabs(f.theta[0] - 1.0) < 1e-6 && fabs(f.theta[1] - 2.0) < 1e-6);
}

static double too_steep; /* how many times the curvature is told of, after a part of the rows */

/* A parabola, lowest at 0, with all rows at 1, ten standard errors away. */
static void unlike_part(const pyspec_solver *s, double *triangle)
{
    const int is_part = s->every > 1, goes_on = !is_part && s->n_part > 0;
    const double rest = (is_part ? 0.0 : 1.0) - s->trial[0];
    triangle[0] = goes_on ? 1e2 * too_steep : 1e2;
    triangle[1] = 1e2 * rest;
    triangle[2] = 8e3 / (is_part ? 8.0 : 1.0) + 1e2 * rest * rest;
}

/* A step that is four times too short does not come near, one that is four times too long is refused. */
TEST(a_part_whose_optimum_all_rows_do_not_confirm_is_left)
{
    const surface p = {.n = 1, .n_points = 8000, .every = 8, .start = {-10.0}, .lower = {-inf},
                       .upper = {inf}, .answer = unlike_part};
    const double told[] = {4.0, 0.25, 1.0};
    for (int k = 0; k < 3; k++) {
        too_steep = told[k];
        const fit f = run_fit(&p);
        CHECK_INT(f.solver.end, PYSPEC_END_CONVERGED);
        CHECK_INT(f.solver.n_part == 0, too_steep != 1.0);
        CHECK(fabs(f.theta[0] - 1.0) < 1e-6);
    }
}

/* Parameters that two files share, before those of the files: they are eliminated after them, whose
 * products with one another stay 0. */
TEST(zeros_between_files_stay)
{
    enum { SHARED = 2, OWN = 3, FILES = 4, N = SHARED + OWN * FILES };
    const pyspec_solver s = {.n = N};
    double *work = zeros(pyspec_fit_work_size(N), 1), step[N] = {0.0};
    const solver_work w = divide(N, work);
    for (int j = 0; j < N; j++) {
        for (int k = 0; k < N; k++) {
            const int meet = j < SHARED || k < SHARED || (j - SHARED) / OWN == (k - SHARED) / OWN;
            w.curvature[j * N + k] = j == k ? 4.0 : meet ? 0.25 : 0.0;
        }
        w.norm[j] = w.largest[j] = 2.0;
        w.gradient[j] = 1.0 + j;
    }
    CHECK(pyspec_solve_gram(&s, &w, 0.0, step) > 0.0);
    const int64_t *order = (const int64_t *)(const void *)w.order;
    for (int64_t a = 0; a < N; a++) {
        CHECK_INT(order[a], (a + SHARED) % N);
        double sum = 0.0;
        for (int64_t k = 0; k < N; k++)
            sum += w.curvature[a * N + k] * step[k];
        CHECK(fabs(sum - w.gradient[a]) < 1e-12);
        for (int64_t b = a + 1; b < OWN * FILES; b++)
            CHECK_INT(w.matrix[a * N + b] == 0.0, a / OWN != b / OWN);
    }
}

UNIT_MAIN
