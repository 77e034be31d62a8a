/* test_fit.c: pyspec_fit on two files that share parameters: equal to its steps taken by hand, and
 * to itself for any budget. */
#include "support/models.h"
#include "support/sums.h"
#include "support/unit.h"

enum { N_PARTS = 2, N_ALL = 9, N_OWN = 7, SIZE = (N_ALL + 1) * (N_ALL + 2) / 2 };

/* Both files have a height and a slope of their own. */
static const int64_t gathers[N_PARTS][N_OWN] = {{0, 1, 2, 3, 4, 5, 6}, {7, 1, 2, 3, 4, 5, 8}};

/* A fit in exactly sized memories. */
typedef struct joint_fit {
    model models[N_PARTS];
    pyspec_normal sums[N_PARTS];
    pyspec_call calls[N_PARTS];
    pyspec_part parts[N_PARTS];
    pyspec_solver solver;
} joint_fit;

static void begin_part(joint_fit *f, int k, int columns, int dress)
{
    model *m = &f->models[k];
    make_model(m, MODEL_2D, columns, dress, 27 + 4 * k, 53 - 11 * k);
    make_sums(&f->sums[k], PYSPEC_FORM_FACTOR, N_OWN, PYSPEC_NORMAL_NODES, N_ALL + 1);
    double *theta = doubles(N_OWN, (double)NAN);
    f->calls[k] = make_call(m->plan, &m->g.problem, theta, PYSPEC_PREPARE_SLOPES);
    f->parts[k] = (pyspec_part){.call = &f->calls[k], .theta = theta, .gather = gathers[k], .normal = &f->sums[k], .n_theta = N_OWN};
}

static void begin_fit(joint_fit *f, int dress)
{
    double start[N_ALL], lower[N_ALL], upper[N_ALL], data_square = 0.0;
    int64_t n_points = 0;
    begin_part(f, 0, COLUMNS_MIXED, DRESS_WEIGHT | dress);
    begin_part(f, 1, COLUMNS_NONE, DRESS_WINDOW | dress);
    for (int k = 0; k < N_PARTS; k++) {
        const pyspec_problem *q = &f->models[k].g.problem;
        n_points += (q->row_end - q->row_begin) * (q->x_end - q->x_begin);
        data_square += 1e3;
        for (int j = 0; j < N_OWN; j++)
            start[gathers[k][j]] = f->models[k].theta[j] * (j % 2 ? 0.97 : 1.05);
    }
    for (int k = 0; k < N_ALL; k++) {
        lower[k] = k == 2 || k == 3 ? 0.05 : -100.0;
        upper[k] = 100.0;
    }
    f->solver = make_solver(N_ALL, start, lower, upper);
    f->solver.n_points = n_points;
    f->solver.max_nfev = 200;
    f->solver.tolerance = 1e-6;
    f->solver.data_square = data_square;
}

/* What the solver asks for, by the entries that sum. */
static void answer(joint_fit *f)
{
    pyspec_solver *s = &f->solver;
    memset(f->solver.answer, 0, SIZE * sizeof *f->solver.answer);
    for (int k = 0; k < N_PARTS; k++) {
        const model *m = &f->models[k];
        const pyspec_problem *q = &m->g.problem;
        double theta[N_OWN];
        pyspec_normal sums;
        for (int j = 0; j < N_OWN; j++)
            theta[j] = s->trial[gathers[k][j]];
        make_sums(&sums, (int)s->form, N_OWN, PYSPEC_NORMAL_NODES, N_ALL + 1);
        int64_t middle = (q->row_begin + q->row_end) / 2;
        CHECK_INT(accumulate(m->plan, q, theta, &sums, q->row_begin, middle), STATUS_OK);
        CHECK_INT(accumulate(m->plan, q, theta, &sums, middle, q->row_end), STATUS_OK);
        CHECK_INT(pyspec_collect(&sums, gathers[k], N_ALL + 1, f->solver.answer), STATUS_OK);
    }
}

TEST_ALL(equals_the_steps_taken_by_hand)
{
    joint_fit f, g;
    begin_fit(&f, 0);
    begin_fit(&g, 0);
    CHECK_INT(pyspec_fit(&f.solver, f.parts, N_PARTS, NULL, 1000), PYSPEC_FIT_DONE);
    while (pyspec_fit_step(&g.solver) == PYSPEC_FIT_NEED_NORMAL)
        answer(&g);
    CHECK_INT(f.solver.end, PYSPEC_END_CONVERGED);
    CHECK_INT(g.solver.end, f.solver.end);
    CHECK_INT(g.solver.nfev, f.solver.nfev);
    CHECK(same(g.solver.chisqr, f.solver.chisqr));
    CHECK(all_same(g.solver.theta, f.solver.theta, N_ALL));
    CHECK(all_same(g.solver.normal, f.solver.normal, SIZE));
    CHECK_INT(pyspec_fit(&f.solver, f.parts, N_PARTS, NULL, 0), PYSPEC_FIT_DONE);
}

/* The wiggle of the data is 0.1: the parameters are found to a fraction of that, and no
 * derivative is left of chi^2. */
TEST(finds_what_the_data_were_made_with)
{
    joint_fit f;
    begin_fit(&f, DRESS_KEEP);
    CHECK_INT(pyspec_fit(&f.solver, f.parts, N_PARTS, NULL, 1000), PYSPEC_FIT_DONE);
    CHECK_INT(f.solver.end, PYSPEC_END_CONVERGED);
    CHECK(f.solver.nfev < 40);
    for (int k = 0; k < N_PARTS; k++)
        for (int j = 0; j < N_OWN; j++)
            CHECK(fabs(f.solver.theta[gathers[k][j]] - f.models[k].theta[j]) < 0.05);
    memcpy(f.solver.trial, f.solver.theta, N_ALL * sizeof *f.solver.trial);
    f.solver.form = PYSPEC_FORM_GRAM;
    answer(&f);
    const double square = f.solver.answer[SIZE - 1];
    CHECK(fabs(square - f.solver.chisqr) <= 1e-10 * square);
    for (int64_t k = 0; k < N_ALL; k++) {
        double norm = sqrt(f.solver.answer[triangle_at(N_ALL + 1, k, k)]);
        CHECK(fabs(f.solver.answer[triangle_at(N_ALL + 1, k, N_ALL)]) <= 1e-6 * norm * sqrt(square));
    }
}

TEST_ALL(every_budget_gives_the_same_bits)
{
    static const int64_t budgets[] = {1000, 1, 2, 3, 7};
    for (int dress = 0; dress <= DRESS_POISSON; dress += DRESS_POISSON) {
        joint_fit f, g;
        begin_fit(&f, dress);
        CHECK_INT(pyspec_fit(&f.solver, f.parts, N_PARTS, NULL, budgets[0]), PYSPEC_FIT_DONE);
        for (int k = 1; k < 5; k++) {
            int64_t calls = 1;
            begin_fit(&g, dress);
            while (pyspec_fit(&g.solver, g.parts, N_PARTS, NULL, budgets[k]) == PYSPEC_FIT_AGAIN)
                CHECK(calls++ * budgets[k] <= f.solver.nfev);
            CHECK_INT(g.solver.end, f.solver.end);
            CHECK_INT(g.solver.nfev, f.solver.nfev);
            CHECK(same(g.solver.chisqr, f.solver.chisqr));
            CHECK(all_same(g.solver.theta, f.solver.theta, N_ALL));
            CHECK(all_same(g.solver.normal, f.solver.normal, SIZE));
        }
    }
}

/* Without a budget nothing is evaluated; it can go on later. */
TEST(no_budget_evaluates_nothing)
{
    joint_fit f;
    begin_fit(&f, 0);
    CHECK_INT(pyspec_fit(&f.solver, f.parts, N_PARTS, NULL, 0), PYSPEC_FIT_AGAIN);
    CHECK_INT(pyspec_fit(&f.solver, f.parts, N_PARTS, NULL, -1), PYSPEC_FIT_AGAIN);
    for (int k = 0; k < SIZE; k++)
        CHECK(isnan(f.solver.answer[k]));
    CHECK_INT(pyspec_fit(&f.solver, f.parts, N_PARTS, NULL, 1000), PYSPEC_FIT_DONE);
    CHECK_INT(f.solver.end, PYSPEC_END_CONVERGED);
}

/* Where no evaluation is allowed the fit is over before the first one. */
TEST(no_evaluation_may_be_allowed)
{
    joint_fit f;
    begin_fit(&f, 0);
    f.solver.max_nfev = 0;
    CHECK_INT(pyspec_fit(&f.solver, f.parts, N_PARTS, NULL, 1000), PYSPEC_FIT_DONE);
    CHECK_INT(f.solver.end, PYSPEC_END_LIMIT);
    CHECK_INT(f.solver.nfev, 0);
    CHECK(isnan(f.solver.answer[0]));
}

TEST(a_part_that_cannot_run_ends_the_call)
{
    joint_fit f;
    begin_fit(&f, 0);
    f.models[1].g.problem.data = NULL;
    CHECK_INT(pyspec_fit(&f.solver, f.parts, N_PARTS, NULL, 1000), -STATUS_DATA);
    CHECK_INT(pyspec_fit(&f.solver, NULL, N_PARTS, NULL, 1000), -STATUS_NULL_POINTER);
    CHECK_INT(pyspec_fit(NULL, f.parts, N_PARTS, NULL, 1000), -STATUS_NULL_POINTER);
    f.models[1].g.problem.data = f.models[1].data;
    f.sums[0].capacity = 0;
    CHECK_INT(pyspec_fit(&f.solver, f.parts, N_PARTS, NULL, 1000), -STATUS_OUTPUT);
    f.sums[0].capacity = PYSPEC_NORMAL_NODES;
    CHECK_INT(pyspec_fit(&f.solver, f.parts, N_PARTS, NULL, 1000), PYSPEC_FIT_DONE);
    CHECK_INT(f.solver.end, PYSPEC_END_CONVERGED);
}

UNIT_MAIN
