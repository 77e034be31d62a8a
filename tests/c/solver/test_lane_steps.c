/* test_lane_steps.c: best points and steps of solvers in lanes are those that each finds alone, up to rounding, and the
 * same bits with every instruction set. */
#include "solver/lane_steps.h"
#include "support/plans.h"
#include "support/unit.h"

enum { MOST = 9, N_GROUPS = 400, N_ROWS = 12, N_KINDS = STEP_BENT + 1, TRIANGLE = (MOST + 1) * (MOST + 2) / 2 };

/* Of what is found, in units of the columns: the condition may be 1e8. */
static const double ROUNDING = 1e-6;

/* A solver between two evaluations, which waits for a step. */
typedef struct waiting {
    pyspec_solver solver;
    double theta[MOST], trial[MOST], bounds[2 * MOST], normal[TRIANGLE], answer[TRIANGLE];
    double *work;
} waiting;

static uint64_t state = 1;

/* Between -1 and 1. */
static double draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 4503599627370496.0 - 1.0;
}

static int is_drawn(double share)
{
    return draw() < 2.0 * share - 1.0;
}

/* Columns of J: some are zero, some parallel, some meet no other. */
static void draw_columns(double columns[MOST][N_ROWS], int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        const int is_zero = is_drawn(0.03), is_parallel = j && is_drawn(0.05), is_apart = is_drawn(0.05);
        const double scale = exp(5.0 * draw());
        for (int64_t i = 0; i < N_ROWS; i++) {
            const double own = is_apart ? (double)(i == j) : draw();
            columns[j][i] = is_zero ? 0.0 : scale * (is_parallel ? columns[j - 1][i] : own);
        }
    }
}

static void draw_bounds(waiting *x, const solver_work *w, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        const double room = exp(3.0 * draw()) / (w->norm[j] > 0.0 ? w->norm[j] : 1.0);
        const int is_low = is_drawn(0.15), is_high = !is_low && is_drawn(0.15), is_free = is_drawn(0.3);
        x->theta[j] = draw();
        x->bounds[j] = is_low ? x->theta[j] : is_free ? -HUGE_VAL : x->theta[j] - room;
        x->bounds[n + j] = is_high ? x->theta[j] : is_free ? HUGE_VAL : x->theta[j] + room;
    }
}

static void draw_solver(waiting *x, int64_t n)
{
    double columns[MOST][N_ROWS];
    const solver_work w = divide(n, x->work);
    x->solver = (pyspec_solver){.n = n, .n_points = 40, .every = 1, .tolerance = 5e-8, .data_square = 100.0};
    x->solver.chisqr = 1.0 + draw();
    x->solver.theta = x->theta;
    x->solver.lower = x->bounds;
    x->solver.trial = x->trial;
    x->solver.normal = x->normal;
    x->solver.answer = x->answer;
    x->solver.work = x->work;
    draw_columns(columns, n);
    for (int64_t j = 0; j < n; j++) {
        for (int64_t k = 0; k < n; k++) {
            w.curvature[j * n + k] = 0.0;
            for (int64_t i = 0; i < N_ROWS; i++)
                w.curvature[j * n + k] += columns[j][i] * columns[k][i];
        }
        w.norm[j] = sqrt(w.curvature[j * n + j]);
        w.largest[j] = w.norm[j] * (is_drawn(0.5) ? 1.0 : 1.5);
        w.gradient[j] = is_drawn(0.02) ? 0.0 : w.norm[j] * draw();
        w.undamped[j] = w.last[j] = w.step[j] = w.held[j] = 0.0;
    }
    for (int64_t j = 0; j < n; j++)
        for (int64_t k = 0; k < n; k++)
            w.bend[j * n + k] = 0.1 * (w.norm[j] * w.norm[k]);
    draw_bounds(x, &w, n);
    for (int64_t j = 0; j < n; j++)
        x->trial[j] = x->theta[j];
    double pivot;
    x->solver.promised = pyspec_find_step(&x->solver, 0.0, 1.0, w.undamped, &pivot);
    const int64_t kind = (int64_t)(N_KINDS * 0.4999 * (draw() + 1.0));
    const double damping = exp(4.0 * draw());
    *wanted_by(&x->solver) = (wanted_step){.kind = kind};
    wanted_by(&x->solver)->damping = kind == STEP_UNDAMPED || kind == STEP_BENT ? 0.0 : damping;
    wanted_by(&x->solver)->share = is_drawn(0.5) ? 1.0 : 0.75;
}

/* The state of a solver into its lane. */
static void load_state(const waiting *x, const lane_work *lanes, int64_t n, int l)
{
    const solver_work w = divide(n, x->work);
    pyspec_enter_lane(&x->solver, lanes, l);
    for (int64_t j = 0; j < n; j++) {
        lanes->gradient[j * L + l] = w.gradient[j];
        lanes->norm[j * L + l] = w.norm[j];
        lanes->largest[j * L + l] = w.largest[j];
        lanes->undamped[j * L + l] = w.undamped[j];
        lanes->last[j * L + l] = w.last[j];
        lanes->held[j * L + l] = w.held[j];
        for (int64_t k = j; k < n; k++) {
            lanes->curvature[(j * n + k) * L + l] = w.curvature[j * n + k];
            lanes->bend[(j * n + k) * L + l] = w.bend[j * n + k];
        }
    }
}

static int is_close(double a, double b, double unit)
{
    return a == b || fabs(a - b) <= ROUNDING * (unit + fabs(b)) || (isnan(a) && isnan(b));
}

/* Whether a lane has the step that a solver has found alone. */
static int has_step(const lane_work *lanes, int l, const wanted_step *own, const waiting *alone, int64_t n)
{
    const solver_work w = divide(n, alone->work);
    const wanted_step *wanted = wanted_by(&alone->solver);
    const int is_undamped = wanted->kind == STEP_UNDAMPED || wanted->kind == STEP_LIGHT;
    const double *step = is_undamped ? lanes->undamped : lanes->last;
    int found = is_close(own->promised, wanted->promised, 1.0);
    if (wanted->kind >= STEP_BOLD)
        found &= own->moves == wanted->moves && (wanted->kind != STEP_BOLD || own->is_modest == wanted->is_modest);
    for (int64_t j = 0; isfinite(wanted->promised) && j < n; j++) {
        const double unit = w.norm[j] > 0.0 ? w.norm[j] : 1.0;
        const double in_lane = wanted->kind >= STEP_BOLD ? lanes->trial[j * L + l] : step[j * L + l];
        const double by_itself = wanted->kind >= STEP_BOLD ? alone->trial[j] : is_undamped ? w.undamped[j] : w.last[j];
        found &= is_close(unit * in_lane, unit * by_itself, 1.0);
    }
    return found;
}

typedef struct group {
    waiting alone[L], beside[L];
    pyspec_solver *solvers[L];
    double *memory[N_ISA], *taken;
    lane_work lanes[N_ISA];
    int64_t size;
} group;

static const lane_ops *const ALL_OPS[N_ISA] = {
    &pyspec_lane_ops,
#if PYSPEC_X86
    &pyspec_lane_ops_avx2, &pyspec_lane_ops_avx512,
#else
    &pyspec_lane_ops, &pyspec_lane_ops,
#endif
};

static void begin_group(group *g, int64_t n)
{
    const int64_t size = divide(n, NULL).size;
    g->size = divide_lanes(n, NULL).size;
    g->taken = make_work(TRIANGLE * L * 8);
    for (int l = 0; l < L; l++) {
        g->alone[l].work = make_work(size * 8);
        g->beside[l].work = make_work(size * 8);
    }
    for (int isa = 0; isa < N_ISA; isa++) {
        g->memory[isa] = make_work(g->size * 8);
        memset(g->memory[isa], 0, (size_t)g->size * 8);
        g->lanes[isa] = divide_lanes(n, g->memory[isa]);
    }
}

/* Which lanes of a turn have a solver. */
static int is_in(int turn, int l)
{
    return (1 + turn * 37) >> l & 1;
}

static void find_in_lanes(int64_t n, int isa)
{
    group g;
    begin_group(&g, n);
    for (int turn = 0; turn < N_GROUPS; turn++) {
        for (int l = 0; l < L; l++) {
            const uint64_t before = state;
            draw_solver(&g.alone[l], n);
            state = before;
            draw_solver(&g.beside[l], n);
            load_state(&g.beside[l], &g.lanes[isa], n, l);
            g.solvers[l] = is_in(turn, l) ? &g.beside[l].solver : NULL;
            pyspec_find_wanted(&g.alone[l].solver);
        }
        ALL_OPS[isa]->find_steps(g.solvers, n, &g.lanes[isa]);
        for (int l = 0; l < L; l++)
            CHECK(!is_in(turn, l) || has_step(&g.lanes[isa], l, wanted_by(&g.beside[l].solver), &g.alone[l], n));
    }
}

TEST(steps_are_those_of_each_alone)
{
    for (int64_t n = 1; n <= MOST; n++)
        for (int isa = 0; isa < N_ISA; isa++)
            if (pyspec_isa_supported(isa))
                find_in_lanes(n, isa);
}

/* Symmetric sums of random columns and residuals, in a triangle of [J r]. */
static void draw_answer(waiting *x, int64_t n, double scale)
{
    double columns[MOST + 1][N_ROWS];
    for (int64_t j = 0; j <= n; j++)
        for (int64_t i = 0; i < N_ROWS; i++)
            columns[j][i] = draw() * (j < n ? 1.0 : scale);
    for (int64_t j = 0; j <= n; j++)
        for (int64_t k = j; k <= n; k++) {
            double sum = 0.0;
            for (int64_t i = 0; i < N_ROWS; i++)
                sum += columns[j][i] * columns[k][i];
            x->answer[triangle_at(n + 1, j, k)] = sum;
        }
}

/* Whether a lane has the best point of a solver, up to rounding. */
static int has_point(const lane_work *lanes, int l, const waiting *alone, int64_t n)
{
    const solver_work w = divide(n, alone->work);
    int found = 1;
    for (int64_t j = 0; j < n; j++) {
        found &= lanes->theta[j * L + l] == alone->theta[j] && lanes->gradient[j * L + l] == w.gradient[j];
        found &= lanes->norm[j * L + l] == w.norm[j] && lanes->largest[j * L + l] == w.largest[j];
        for (int64_t k = j; k < n; k++) {
            const double bend = w.bend[j * n + k];
            found &= lanes->curvature[(j * n + k) * L + l] == w.curvature[j * n + k];
            found &= fabs(lanes->bend[(j * n + k) * L + l] - bend) <= 1e-9 * (1.0 + fabs(bend));
        }
    }
    return found;
}

/* A point is taken by some lanes; others keep theirs. */
static void take_in_lanes(int64_t n, int isa)
{
    group g;
    int n_learnt = 0;
    begin_group(&g, n);
    for (int turn = 0; turn < N_GROUPS; turn++) {
        const lane_work *lanes = &g.lanes[isa];
        for (int l = 0; l < L; l++) {
            waiting *x = &g.alone[l];
            draw_solver(x, n);
            x->solver.n_steps = is_drawn(0.7);
            x->solver.distance = is_drawn(0.7) ? 0.1 : 2.0;
            x->solver.form = PYSPEC_FORM_GRAM;
            load_state(x, lanes, n, l);
            for (int64_t j = 0; j < n; j++)
                lanes->trial[j * L + l] = x->trial[j] = x->theta[j] + (is_drawn(0.8) ? draw() : 0.0);
            draw_answer(x, n, 3.0);
            const int64_t last = triangle_size(n + 1) - 1;
            for (int64_t k = 0; k <= last; k++)
                g.taken[k * L + l] = x->answer[k];
            lanes->takes[l] = is_in(turn, l);
            lanes->learns[l] = is_in(turn, l) && x->solver.n_steps && x->solver.distance < NEAR_OPTIMUM;
            x->solver.chisqr = x->answer[last];
            lanes->noise[l] = rounding(&x->solver);
            if (is_in(turn, l))
                pyspec_take_answer(&x->solver, x->answer[last]);
            n_learnt += lanes->learns[l] != 0.0;
        }
        ALL_OPS[isa]->take_answers(n, lanes, g.taken);
        for (int l = 0; l < L; l++)
            CHECK(has_point(lanes, l, &g.alone[l], n));
    }
    CHECK(n_learnt > N_GROUPS);
}

TEST(points_are_those_of_each_alone)
{
    for (int64_t n = 1; n <= MOST; n++)
        for (int isa = 0; isa < N_ISA; isa++)
            if (pyspec_isa_supported(isa))
                take_in_lanes(n, isa);
}

/* The memory of lanes after the same points and steps. */
static void run_in_lanes(group *g, int64_t n, int isa, uint64_t seed)
{
    lane_work *lanes = &g->lanes[isa];
    state = seed;
    for (int l = 0; l < L; l++) {
        draw_solver(&g->beside[l], n);
        load_state(&g->beside[l], lanes, n, l);
        g->solvers[l] = &g->beside[l].solver;
        draw_answer(&g->beside[l], n, 3.0);
        for (int64_t k = 0; k < triangle_size(n + 1); k++)
            g->taken[k * L + l] = g->beside[l].answer[k];
        lanes->takes[l] = lanes->learns[l] = l % 3 != 0;
        lanes->noise[l] = 1e-14;
    }
    ALL_OPS[isa]->find_values(n, lanes, g->taken);
    ALL_OPS[isa]->take_answers(n, lanes, g->taken);
    ALL_OPS[isa]->find_steps(g->solvers, n, lanes);
}

TEST(instruction_sets_give_the_same_bits)
{
    for (int64_t n = 1; n <= MOST; n++) {
        group g;
        begin_group(&g, n);
        for (uint64_t seed = 1; seed < 50; seed++)
            for (int isa = 0; isa < N_ISA; isa++) {
                const lane_work *w = &g.lanes[isa], *first = &g.lanes[0];
                if (!pyspec_isa_supported(isa))
                    continue;
                run_in_lanes(&g, n, isa, seed);
                CHECK(!memcmp(w->trial, first->trial, (size_t)(n * L) * 8));
                CHECK(!memcmp(w->undamped, first->undamped, (size_t)(n * L) * 8));
                CHECK(!memcmp(w->bend, first->bend, (size_t)(n * n * L) * 8));
                CHECK(!memcmp(w->value, first->value, L * 8));
            }
    }
}

UNIT_MAIN
