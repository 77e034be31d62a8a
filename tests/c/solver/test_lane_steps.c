/* test_lane_steps.c: steps that are found in lanes have the bits of those that a solver finds alone. */
#include "solver/lane_steps.h"
#include "support/unit.h"

#include <stdlib.h>

enum { MOST = 9, N_GROUPS = 400, N_ROWS = 12, N_KINDS = STEP_BENT + 1 };

/* A solver between two evaluations, which waits for a step. */
typedef struct waiting {
    pyspec_solver solver;
    double theta[MOST], bounds[2 * MOST], normal[(MOST + 1) * (MOST + 2) / 2];
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
    x->solver.normal = x->normal;
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
    double pivot;
    x->solver.promised = pyspec_find_step(&x->solver, 0.0, 1.0, w.undamped, &pivot);
    const int64_t kind = (int64_t)(N_KINDS * 0.4999 * (draw() + 1.0));
    *wanted_by(&x->solver) = (wanted_step){.kind = kind, .damping = kind == STEP_UNDAMPED ? 0.0 : exp(4.0 * draw())};
    wanted_by(&x->solver)->share = is_drawn(0.5) ? 1.0 : 0.75;
}

static int same(const void *a, const void *b, int64_t n)
{
    return !memcmp(a, b, (size_t)n * sizeof(double));
}

/* Whether both know the same step. */
static int alike(const waiting *a, const waiting *b, int64_t n)
{
    const solver_work one = divide(n, a->work), other = divide(n, b->work);
    const wanted_step *first = wanted_by(&a->solver), *second = wanted_by(&b->solver);
    return same(place_of_step(&one), place_of_step(&other), n) && same(one.held, other.held, n) &&
           same(&first->promised, &second->promised, 1) &&
           (first->kind == STEP_BENT || same(&first->pivot, &second->pivot, 1));
}

static void compare_groups(int64_t n, find_lanes *find)
{
    waiting alone[L], beside[L];
    pyspec_solver *solvers[L];
    const int64_t size = divide(n, NULL).size;
    double *memory = calloc((size_t)divide_lanes(n, NULL).size + L, sizeof(double));
    for (int l = 0; l < L; l++) {
        alone[l].work = calloc((size_t)size, sizeof(double));
        beside[l].work = calloc((size_t)size, sizeof(double));
        solvers[l] = &beside[l].solver;
    }
    for (int turn = 0; turn < N_GROUPS; turn++) {
        const int n_solvers = 1 + turn % L;
        for (int l = 0; l < n_solvers; l++) {
            const uint64_t before = state;
            draw_solver(&alone[l], n);
            state = before;
            draw_solver(&beside[l], n);
            pyspec_find_wanted(&alone[l].solver);
        }
        find(solvers, n_solvers, memory);
        for (int l = 0; l < n_solvers; l++)
            CHECK(alike(&alone[l], &beside[l], n));
    }
    for (int l = 0; l < L; l++) {
        free(alone[l].work);
        free(beside[l].work);
    }
    free(memory);
}

static void lanes_have_the_bits_of_each_alone(void)
{
    for (int64_t n = 1; n <= MOST; n++) {
        compare_groups(n, pyspec_find_lanes);
#if PYSPEC_X86
        if (pyspec_isa_supported(PYSPEC_ISA_AVX2))
            compare_groups(n, pyspec_find_lanes_avx2);
        if (pyspec_isa_supported(PYSPEC_ISA_AVX512))
            compare_groups(n, pyspec_find_lanes_avx512);
#endif
    }
}

int main(void)
{
    RUN(lanes_have_the_bits_of_each_alone);
    return REPORT;
}
