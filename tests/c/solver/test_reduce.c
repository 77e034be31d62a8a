/* test_reduce.c: the fit over the parameters that a model is not linear in, against the model itself: its triangle is
 * that of the columns without what lies along the linear ones, b rests within its bounds, and it ends where the fit of
 * all does. */
#include "solver/reduce.h"
#include "solver/search.h"
#include "support/unit.h"

/* Two decays on an offset: heights 0 and 2, rates 1 and 3, offset 4. */
enum { N = 5, POINTS = 30, ORDER = N + 1, SIZE = ORDER * (ORDER + 1) / 2 };
static const uint8_t LINEAR[N] = {1, 0, 1, 0, 1};
static const double SEEN[N] = {5.0, 2.0, 3.0, 0.3, 1.0};

typedef struct problem {
    double theta[N], bounds[2 * N], trial[N], answer[SIZE], normal[SIZE], data[POINTS];
    int64_t n_asked, is_counts;
    double spoilt; /* chi^2 is no number where the first rate is larger */
    pyspec_solver solver;
} problem;

static double model_at(const double *theta, int64_t i, double *slopes)
{
    const double x = 0.1 * (double)i;
    const double first = exp(-theta[1] * x), second = exp(-theta[3] * x);
    slopes[0] = first;
    slopes[1] = -theta[0] * x * first;
    slopes[2] = second;
    slopes[3] = -theta[2] * x * second;
    slopes[4] = 1.0;
    return theta[0] * first + theta[2] * second + theta[4];
}

/* The triangle of [J r] at a point; of counts r is the signed root of the deviance. */
static void sum_at(const problem *p, const double *theta, int64_t form, double *triangle)
{
    double columns[ORDER][POINTS];
    for (int64_t i = 0; i < POINTS; i++) {
        double slopes[N], weight = 1.0;
        const double model = model_at(theta, i, slopes), data = p->data[i];
        columns[N][i] = data - model;
        if (p->is_counts) {
            const double deviance = 2.0 * (model - data + data * log(data / model));
            const double size = sqrt(deviance > 0.0 ? deviance : 0.0);
            columns[N][i] = data > model ? size : -size;
            weight = size > 1e-9 ? (data / model - 1.0) / columns[N][i] : 1.0 / sqrt(model);
        }
        for (int64_t k = 0; k < N; k++)
            columns[k][i] = weight * slopes[k];
    }
    memset(triangle, 0, SIZE * sizeof *triangle);
    if (form == PYSPEC_FORM_FACTOR) {
        pyspec_absorb(triangle, ORDER, &columns[0][0], POINTS);
        return;
    }
    for (int64_t j = 0; j < ORDER; j++)
        for (int64_t k = j; k < ORDER; k++)
            for (int64_t i = 0; i < POINTS; i++)
                triangle[triangle_at(ORDER, j, k)] += columns[j][i] * columns[k][i];
    if (theta[1] > p->spoilt)
        triangle[SIZE - 1] = NAN;
}

static void begin(problem *p, const double *start)
{
    uint64_t state = 7;
    *p = (problem){.spoilt = HUGE_VAL};
    for (int64_t i = 0; i < POINTS; i++) {
        double slopes[N];
        state = state * 6364136223846793005u + 1442695040888963407u;
        const double noise = (double)(state >> 11) / 9007199254740992.0 - 0.5;
        p->data[i] = model_at(SEEN, i, slopes) + 0.05 * noise;
    }
    for (int64_t k = 0; k < N; k++) {
        p->theta[k] = start[k];
        p->bounds[k] = LINEAR[k] ? -1e7 : 0.0;
        p->bounds[N + k] = LINEAR[k] ? 1e7 : 50.0;
    }
    p->solver = (pyspec_solver){.n = N, .n_points = POINTS, .max_nfev = 500, .tolerance = 1e-8, .data_square = 400.0};
    p->solver.theta = p->theta;
    p->solver.lower = p->bounds;
    p->solver.trial = p->trial;
    p->solver.answer = p->answer;
    p->solver.normal = p->normal;
}

static void answer(problem *p)
{
    p->n_asked++;
    for (int64_t k = 0; k < N; k++)
        CHECK(p->trial[k] >= p->bounds[k] && p->trial[k] <= p->bounds[N + k]);
    sum_at(p, p->trial, p->solver.form, p->answer);
}

/* A reduced fit from its start. */
static void reduce(problem *p)
{
    double start[N];
    memcpy(start, p->theta, sizeof start);
    pyspec_search search = {.solver = &p->solver, .start = start, .eliminated = start, .linear = LINEAR};
    search.reduces = PYSPEC_SEARCH_REDUCED;
    search.is_counts = p->is_counts;
    search.work = exact(pyspec_search_work_size(N), 1);
    while (pyspec_search_step(&search) == PYSPEC_FIT_NEED_NORMAL && p->n_asked < 1000)
        answer(p);
    CHECK(!(search.best > p->solver.chisqr));
}

/* The fit of all from where that ended. */
static void finish(problem *p)
{
    p->solver.end = PYSPEC_END_RUNNING;
    p->solver.phase = PYSPEC_PHASE_START;
    p->solver.every = 1;
    p->solver.max_nfev = 1000;
    p->solver.work = exact(pyspec_fit_work_size(N), 1);
    while (pyspec_fit_step(&p->solver) == PYSPEC_FIT_NEED_NORMAL)
        answer(p);
    CHECK_INT(p->solver.end, PYSPEC_END_CONVERGED);
}

TEST(test_it_ends_where_the_fit_of_all_does)
{
    static const double STARTS[][N] = {
        {5.0, 2.2, 3.0, 0.25, 1.0}, {-1e5, 2.2, 1e4, 0.25, 1e3}, {0.0, 3.0, 0.0, 0.2, 0.0}, {1e-3, 1.5, -1e6, 0.5, -9.0}};
    problem known;
    begin(&known, SEEN);
    finish(&known);
    for (int64_t k = 0; k < 4; k++) {
        problem p;
        begin(&p, STARTS[k]);
        reduce(&p);
        CHECK_INT(p.solver.end, PYSPEC_END_CONVERGED);
        CHECK_INT(p.solver.nfev, p.n_asked);
        CHECK(p.n_asked < 20);
        CHECK(p.solver.chisqr < known.solver.chisqr * 2.0);
        finish(&p);
        CHECK(fabs(p.solver.chisqr / known.solver.chisqr - 1.0) < 1e-9);
        CHECK(fabs(p.theta[3] - known.theta[3]) < 1e-6);
    }
}

TEST(test_counts)
{
    static const double STARTS[][N] = {{5.0, 2.2, 3.0, 0.25, 1.0}, {900.0, 2.2, 100.0, 0.25, 30.0}};
    problem known;
    for (int64_t k = 0; k < 2; k++) {
        problem p;
        begin(&known, SEEN);
        begin(&p, STARTS[k]);
        for (int64_t j = 0; j < N; j++)
            p.bounds[j] = known.bounds[j] = 1e-6;
        known.is_counts = p.is_counts = 1;
        finish(&known);
        reduce(&p);
        CHECK_INT(p.solver.end, PYSPEC_END_CONVERGED);
        finish(&p);
        CHECK(fabs(p.solver.chisqr / known.solver.chisqr - 1.0) < 1e-9);
    }
}

/* At a point where a bound will hold the second height: the step of b is the best within the bounds, and what is kept
 * is what an elimination of the columns of the other two leaves. */
TEST(test_the_triangle_is_that_of_kaufman)
{
    static const double PLACE[N] = {0.5, 2.3, 0.5, 0.2, 0.2};
    const double bounds[2 * N] = {-9.0, 0.0, -9.0, 0.0, -9.0, 9.0, 50.0, 2.0, 50.0, 9.0};
    for (int64_t form = PYSPEC_FORM_GRAM; form <= PYSPEC_FORM_FACTOR; form++) {
        problem p;
        reduction r;
        double *memory = exact(pyspec_reduction_size(N), sizeof(double));
        double sums[SIZE], all[ORDER][ORDER], step[ORDER] = {0.0};
        begin(&p, PLACE);
        memcpy(p.bounds, bounds, sizeof bounds);
        p.solver.chisqr = HUGE_VAL;
        pyspec_reduce_begin(&r, &p.solver, memory, PLACE, LINEAR, 100, 0);
        p.solver.form = form;
        answer(&p);
        pyspec_load_columns(&r);
        CHECK(pyspec_solve_linear(&r) > 1e-3);
        CHECK(!pyspec_is_slight(&r));
        pyspec_take_off_linear(&r);
        for (int64_t j = 0; j < 3; j++)
            step[linear_of(&r)[j]] = r.solved[j] - PLACE[linear_of(&r)[j]];
        CHECK(r.solved[1] == 2.0);
        sum_at(&p, PLACE, PYSPEC_FORM_GRAM, sums);
        for (int64_t j = 0; j < ORDER; j++)
            for (int64_t k = j; k < ORDER; k++)
                all[j][k] = all[k][j] = sums[triangle_at(ORDER, j, k)];
        for (int64_t a = 0; a < ORDER; a++) /* r less what the step does, as a row and as a column */
            for (int64_t k = 0; k < N; k++)
                all[a][N] -= step[k] * all[a][k];
        for (int64_t a = 0; a < ORDER; a++)
            for (int64_t k = 0; k < N; k++)
                all[N][a] -= step[k] * all[k][a];
        CHECK(all[2][N] > 1e-3); /* chi^2 falls beyond the bound */
        CHECK(fabs(all[0][N]) < 1e-9 && fabs(all[4][N]) < 1e-9);
        static const int64_t FREE[] = {0, 4}, REST[] = {1, 3, N};
        for (int64_t a = 0; a < 2; a++)
            for (int64_t i = 0; i < ORDER; i++) {
                const double factor = all[i][FREE[a]] / all[FREE[a]][FREE[a]];
                for (int64_t k = 0; i != FREE[a] && k < ORDER; k++)
                    all[i][k] -= factor * all[FREE[a]][k];
            }
        for (int64_t a = 0; a < 3; a++)
            for (int64_t b = 0; b < 3; b++) {
                double sum = 0.0;
                for (int64_t i = 0; i < ORDER; i++)
                    sum += r.kept[a * ORDER + i] * r.kept[b * ORDER + i];
                const double size = sqrt(all[REST[a]][REST[a]] * all[REST[b]][REST[b]]);
                CHECK(fabs(sum - all[REST[a]][REST[b]]) < 1e-8 * size);
            }
    }
}

/* Two decays of one rate, whose columns are alike: both heights take half of the step. */
TEST(test_columns_that_are_alike_share_the_step)
{
    static const double PLACE[N] = {0.5, 2.0, 0.5, 2.0, 0.2};
    for (int64_t form = PYSPEC_FORM_GRAM; form <= PYSPEC_FORM_FACTOR; form++) {
        problem p;
        reduction r;
        begin(&p, PLACE);
        p.solver.chisqr = HUGE_VAL;
        pyspec_reduce_begin(&r, &p.solver, exact(pyspec_reduction_size(N), sizeof(double)), PLACE, LINEAR, 100, 0);
        p.solver.form = form;
        answer(&p);
        pyspec_load_columns(&r);
        CHECK(pyspec_solve_linear(&r) < 1e-12);
        CHECK(r.solved[0] > 1.0 && fabs(r.solved[0] - r.solved[1]) < 1e-9);
    }
}

/* An optimum of a parameter with slope 2; the other, at its bound, has none. */
static const double OPTIMUM[] = {3.0, 0.0}, AT_BOUND[] = {0.0, 1.0}, FACTOR[] = {2.0, 0.0, 0.0, 0.0, 0.0, 2.68};
static const way_back BACK = {2, OPTIMUM, FACTOR, AT_BOUND, 7.2, 1.0};

TEST(test_what_is_next_to_an_optimum)
{
    static const struct {
        double theta[2];
        int is_back;
    } POINTS_NEAR[] = {
        {{3.0, 0.0}, 1},     {{3.0004, 0.0}, 1}, {{3.01, 0.0}, 0}, /* 0.02 standard errors away: another may be near */
        {{3.0004, 0.01}, 0},                                        /* not at the bound */
        {{4.0, 0.0}, 0},
    };
    for (size_t k = 0; k < sizeof POINTS_NEAR / sizeof *POINTS_NEAR; k++)
        CHECK_INT(pyspec_is_back(&BACK, POINTS_NEAR[k].theta, 1e-3), POINTS_NEAR[k].is_back);
    CHECK_INT(pyspec_is_back(&BACK, POINTS_NEAR[2].theta, 0.1), 1);
}

/* chi^2 rises by 4 a^2 + square b^2 + cube b^3 to a point a, b away from the optimum. */
TEST(test_where_chi_square_rises_all_the_way)
{
    static const struct {
        double a, b, square, cube;
        int has_risen;
    } LINES[] = {
        {0.0, 0.5, 1.0, 0.0, 1},   {0.0, 0.5, 1.0, 1.0, 1},    {0.1, 0.5, 1.0, 0.0, 1},
        {0.0, 0.5, 1.0, -1.0, 1},  {0.0, 0.5, 0.0, 1.0, 0}, /* flat at the optimum */
        {0.0, 0.5, -1.0, 4.0, 0},                           /* it falls before it rises */
        {0.3, 0.5, -0.5, 1.5, 0},                           /* the same, beside a rise of the linear model */
        {0.0, 0.5, 1.0, -1.4, 0},                           /* it falls again */
        {0.0, 0.5, -1.0, 0.0, 0},  {0.0, 1.5, 1.0, 0.0, 0}, /* below the optimum, and too far away */
    };
    for (size_t k = 0; k < sizeof LINES / sizeof *LINES; k++) {
        const double a = LINES[k].a, b = LINES[k].b, square = LINES[k].square, cube = LINES[k].cube;
        const double theta[] = {OPTIMUM[0] + a, OPTIMUM[1] + b};
        const double rise = 4.0 * a * a + b * b * (square + cube * b), down = -b * (square + 1.5 * cube * b);
        const double gram[] = {4.0, 0.0, -4.0 * a, 1.0, down, BACK.chisqr + rise};
        CHECK_INT(pyspec_has_risen(&BACK, theta, gram), LINES[k].has_risen);
    }
}

TEST(test_what_is_not_finite)
{
    static const double START[N] = {5.0, 4.0, 3.0, 0.25, 1.0};
    problem p;
    begin(&p, START);
    p.spoilt = 3.0;
    reduce(&p);
    CHECK_INT(p.solver.end, PYSPEC_END_NOT_FINITE);
    CHECK_INT(p.n_asked, 1);
    begin(&p, START);
    p.theta[1] = 2.1;
    p.spoilt = 2.12;
    reduce(&p);
    CHECK_INT(p.solver.end, PYSPEC_END_CONVERGED);
    CHECK(p.theta[1] <= 2.12 && isfinite(p.solver.chisqr));
}

TEST(test_limits_and_stops)
{
    static const double START[N] = {-1e5, 2.2, 1e4, 0.25, 1e3};
    for (int64_t most = 1; most < 4; most++) {
        problem p;
        begin(&p, START);
        pyspec_search search = {.solver = &p.solver, .start = START, .eliminated = START, .linear = LINEAR};
        search.reduces = PYSPEC_SEARCH_REDUCED;
        search.limit = most;
        search.work = exact(pyspec_search_work_size(N), 1);
        while (pyspec_search_step(&search) == PYSPEC_FIT_NEED_NORMAL)
            answer(&p);
        CHECK_INT(p.solver.end, PYSPEC_END_LIMIT);
        CHECK_INT(p.n_asked, most);
        double sums[SIZE];
        sum_at(&p, p.theta, PYSPEC_FORM_GRAM, sums);
        CHECK(fabs(p.solver.chisqr / sums[SIZE - 1] - 1.0) < 1e-12);
        CHECK_INT(pyspec_search_stop(&search), STATUS_OK);
    }
    CHECK_INT(pyspec_search_step(NULL), -STATUS_NULL_POINTER);
    CHECK_INT(pyspec_search_stop(NULL), -STATUS_NULL_POINTER);
    pyspec_search empty = {0};
    CHECK_INT(pyspec_search_step(&empty), -STATUS_NULL_POINTER);
    CHECK_INT(pyspec_search_stop(&empty), -STATUS_NULL_POINTER);
    CHECK_INT(pyspec_search_fit(NULL, NULL, 0, NULL, 1), -STATUS_NULL_POINTER);
}

UNIT_MAIN
