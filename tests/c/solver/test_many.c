/* test_many.c: many fits in one call: each has the bits of its own alone, for any number of slots and threads and
 * any budget; what cannot be fitted ends no other. */
#include "solver/many.h"
#include "support/models.h"
#include "support/sums.h"
#include "support/threads.h"
#include "support/unit.h"

enum { N = 7, N_CASES = 9, N_SLOTS = 4, N_ROWS = 11, N_X = 23, N_DATA = N_ROWS * N_X, SEEN = 4 * N_X + 7 };
enum { TRIANGLE = (N + 1) * (N + 2) / 2, ENDING = 2 * N + N * N + TRIANGLE, OUT = N + ENDING };

/* The memory of one fit. `ending` is side, gain, covariance and factor. */
typedef struct memory {
    double theta[N], trial[N], answer[TRIANGLE], normal[TRIANGLE], own[N], ending[ENDING];
    int64_t held[N];
    pyspec_normal sums;
    pyspec_call call;
    pyspec_part part;
    pyspec_solver solver;
    pyspec_end end;
} memory;

/* Cases of one plan, whose data, weights, masks, starts and bounds are their own. */
typedef struct batch {
    model m;
    double data[N_CASES][N_DATA], weight[N_CASES][N_DATA], start[N_CASES][N], bounds[N_CASES][2 * N];
    uint8_t keep[N_CASES][N_DATA];
    memory memories[N_SLOTS];
    pyspec_slot slots[N_SLOTS];
    pyspec_fitted fitted[N_CASES];
    double numbers[N_CASES][OUT];
    pyspec_many many;
} batch;

static double draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0 - 0.5;
}

static void begin_memory(memory *o, const model *m)
{
    *o = (memory){0};
    make_sums(&o->sums, PYSPEC_FORM_FACTOR, N, PYSPEC_NORMAL_NODES, N + 1);
    o->sums.in_strips = 1;
    o->call = make_call(m->plan, &m->g.problem, o->own, PYSPEC_PREPARE_SLOPES);
    o->part = (pyspec_part){.call = &o->call, .theta = o->own, .normal = &o->sums, .n_theta = N};
    o->solver = (pyspec_solver){.n = N, .max_nfev = 200, .tolerance = 1e-7};
    o->solver.theta = o->theta;
    o->solver.trial = o->trial;
    o->solver.answer = o->answer;
    o->solver.normal = o->normal;
    o->solver.work = exact(pyspec_fit_work_size(N), 1);
    o->end.held = o->held;
    o->end.side = (int64_t *)(void *)o->ending;
    o->end.gain = o->ending + N;
    o->end.covariance = o->ending + 2 * N;
    o->end.factor = o->ending + 2 * N + N * N;
    o->end.work = exact(pyspec_end_work_size(N), 1);
}

/* Case 3 has a point that is NaN, case 5 hardly any that counts, case 7 a bound beyond which its optimum lies. */
static batch *begin_batch(void)
{
    batch *b = zeros(1, sizeof *b);
    uint64_t state = 1;
    make_model(&b->m, MODEL_2D, COLUMNS_MIXED, DRESS_WINDOW, N_ROWS, N_X);
    for (int k = 0; k < N_CASES; k++) {
        for (int i = 0; i < N_DATA; i++) {
            b->data[k][i] = b->m.data[i] + 0.2 * draw(&state);
            b->weight[k][i] = 1.0 + 0.5 * draw(&state);
            b->keep[k][i] = draw(&state) < 0.4;
        }
        for (int j = 0; j < N; j++) {
            b->start[k][j] = b->m.theta[j] * (1.0 + 0.1 * draw(&state));
            b->bounds[k][j] = j == 2 || j == 3 ? 0.05 : -100.0;
            b->bounds[k][N + j] = 100.0;
        }
    }
    b->keep[3][SEEN] = 1;
    b->data[3][SEEN] = (double)NAN;
    memset(b->keep[5], 0, N_DATA);
    b->keep[5][SEEN] = 1;
    b->bounds[7][N] = b->m.theta[0] * 0.9;
    b->start[7][0] = b->m.theta[0] * 0.8;
    for (int k = 0; k < N_SLOTS; k++) {
        begin_memory(&b->memories[k], &b->m);
        memory *o = &b->memories[k];
        b->slots[k] = (pyspec_slot){&o->part, &o->solver, &o->end, NULL, -1};
    }
    b->many = (pyspec_many){.n_cases = N_CASES, .slots = b->slots, .n_slots = 1, .is_scaled = 1};
    b->many.data = b->data;
    b->many.weight = b->weight[0];
    b->many.keep = b->keep[0];
    b->many.start = b->start[0];
    b->many.bounds = b->bounds[0];
    b->many.data_case = b->many.weight_case = sizeof b->data[0];
    b->many.keep_case = sizeof b->keep[0];
    b->many.start_case = sizeof b->start[0];
    b->many.bounds_case = sizeof b->bounds[0];
    b->many.fitted = b->fitted;
    b->many.numbers = b->numbers[0];
    return b;
}

/* Case k alone, by the entries that fit one; returns what pyspec_fit does. */
static int fit_alone(const batch *b, int k, memory *o)
{
    pyspec_problem q = b->m.g.problem;
    q.data = b->data[k];
    q.weight = b->weight[k];
    q.keep = b->keep[k];
    begin_memory(o, &b->m);
    o->call.problem = &q;
    memcpy(o->theta, b->start[k], sizeof o->theta);
    o->solver.lower = b->bounds[k];
    const int64_t at = q.row_begin * N_X + q.x_begin;
    o->solver.data_square =
        pyspec_square(b->data[k] + at, q.row_end - q.row_begin, q.x_end - q.x_begin, q.data_row,
                      b->weight[k] + at, q.weight_row, q.weight_x, b->keep[k] + at, N_X, 1);
    for (int64_t j = q.row_begin; j < q.row_end; j++)
        for (int64_t i = q.x_begin; i < q.x_end; i++)
            o->solver.n_points += b->keep[k][j * N_X + i];
    const int answer = pyspec_fit(&o->solver, &o->part, 1, NULL, 1000);
    o->end.n_free = o->solver.n_points > N ? o->solver.n_points - N : 1;
    o->end.is_scaled = 1;
    if (o->solver.end == PYSPEC_END_CONVERGED)
        CHECK_INT(pyspec_end_of(&o->solver, &o->end), STATUS_OK);
    o->call.problem = &b->m.g.problem;
    return answer;
}

static void check_case(const batch *b, int k)
{
    const pyspec_fitted *f = &b->fitted[k];
    memory o;
    if (k == 5) {
        CHECK_INT(f->n_points, 1);
        CHECK_INT(f->end, PYSPEC_END_DEGENERATE);
        CHECK_INT(f->flags, 0);
        return;
    }
    CHECK_INT(fit_alone(b, k, &o), PYSPEC_FIT_DONE);
    CHECK_INT(f->end, o.solver.end);
    CHECK_INT(f->end, k == 3 ? PYSPEC_END_NOT_FINITE : PYSPEC_END_CONVERGED);
    CHECK_INT(f->nfev, o.solver.nfev);
    CHECK_INT(f->n_points, o.solver.n_points);
    CHECK_INT(f->flags, o.end.flags);
    if (k != 3) {
        CHECK(f->flags & PYSPEC_ENDING_CERTAIN);
        CHECK_INT((f->flags & PYSPEC_ENDING_AT_BOUND) != 0, k == 7);
        CHECK(memcmp(&f->chisqr, &o.solver.chisqr, sizeof f->chisqr) == 0);
        CHECK(memcmp(&f->reached, &o.solver.distance, sizeof f->reached) == 0);
        CHECK(memcmp(&f->distance, &o.end.distance, sizeof f->distance) == 0);
        CHECK(memcmp(b->numbers[k], o.theta, sizeof o.theta) == 0);
        CHECK(memcmp(b->numbers[k] + N, o.ending, sizeof o.ending) == 0);
    }
}

TEST(each_has_the_bits_of_its_own)
{
    batch *b = begin_batch();
    CHECK_INT(pyspec_fit_many(&b->many, NULL, 1 << 20), PYSPEC_FIT_DONE);
    CHECK_INT(b->many.n_done, N_CASES);
    CHECK_INT(b->many.next, N_CASES);
    for (int k = 0; k < N_CASES; k++)
        check_case(b, k);
}

TEST(any_budget_and_number_of_slots_gives_the_same_bits)
{
    static const int64_t budgets[] = {1, 2, 13};
    batch *all = begin_batch();
    CHECK_INT(pyspec_fit_many(&all->many, NULL, 1 << 20), PYSPEC_FIT_DONE);
    for (int64_t n_slots = 1; n_slots <= N_SLOTS; n_slots++)
        for (int k = 0; k < 3; k++) {
            batch *b = begin_batch();
            int64_t calls = 1;
            b->many.n_slots = n_slots;
            while (pyspec_fit_many(&b->many, NULL, budgets[k]) == PYSPEC_FIT_AGAIN)
                CHECK(calls++ < 200 * N_CASES);
            CHECK_INT(b->many.n_done, N_CASES);
            CHECK(memcmp(b->fitted, all->fitted, sizeof b->fitted) == 0);
            CHECK(memcmp(b->numbers, all->numbers, sizeof b->numbers) == 0);
        }
}

/* As Python counts them, where each is to be told of: the last case comes nearer step by step. */
TEST(cases_may_be_added)
{
    batch *all = begin_batch(), *b = begin_batch();
    CHECK_INT(pyspec_fit_many(&all->many, NULL, 1 << 20), PYSPEC_FIT_DONE);
    for (b->many.n_cases = 0; b->many.n_cases <= N_CASES; b->many.n_cases++) {
        CHECK_INT(pyspec_fit_many(&b->many, NULL, 1 << 20), PYSPEC_FIT_DONE);
        CHECK_INT(b->many.n_done, b->many.n_cases);
    }
    CHECK(memcmp(b->fitted, all->fitted, sizeof b->fitted) == 0);
    CHECK(memcmp(b->numbers, all->numbers, sizeof b->numbers) == 0);
}

TEST(threads_change_no_bits)
{
    batch *all = begin_batch();
    const int64_t n_state = pyspec_team_size();
    double *state = make_work(n_state);
    pyspec_team team = {.n_threads = N_SLOTS, .state = state, .n_state = n_state};
    thread_of_team threads[N_SLOTS - 1];
    CHECK_INT(pyspec_fit_many(&all->many, NULL, 1 << 20), PYSPEC_FIT_DONE);
    CHECK_INT(pyspec_team_begin(&team), STATUS_OK);
    for (int k = 0; k < N_SLOTS - 1; k++)
        CHECK(start_help(&threads[k], &team));
    for (int round = 0; round < 6; round++) {
        batch *b = begin_batch();
        b->many.n_slots = N_SLOTS;
        while (pyspec_fit_many(&b->many, &team, 5 + 20 * round) == PYSPEC_FIT_AGAIN)
            continue;
        CHECK(memcmp(b->fitted, all->fitted, sizeof b->fitted) == 0);
        CHECK(memcmp(b->numbers, all->numbers, sizeof b->numbers) == 0);
    }
    CHECK_INT(pyspec_dismiss(&team), STATUS_OK);
    for (int k = 0; k < N_SLOTS - 1; k++)
        CHECK(end_help(threads[k]));
}

TEST(what_is_missing_is_refused)
{
    batch *b = begin_batch();
    CHECK_INT(pyspec_fit_many(NULL, NULL, 1), -STATUS_NULL_POINTER);
    CHECK_INT(pyspec_fit_many(&b->many, NULL, 0), -STATUS_SIZE);
    b->many.n_slots = 0;
    CHECK_INT(pyspec_fit_many(&b->many, NULL, 1), -STATUS_SIZE);
    b->many.n_slots = 1;
    b->many.start = NULL;
    CHECK_INT(pyspec_fit_many(&b->many, NULL, 1), -STATUS_NULL_POINTER);
    b->many.start = b->start[0];
    b->slots[0].end = NULL;
    CHECK_INT(pyspec_fit_many(&b->many, NULL, 1), -STATUS_NULL_POINTER);
    b->slots[0].end = &b->memories[0].end;
    b->many.data = NULL;
    CHECK(pyspec_fit_many(&b->many, NULL, 1 << 20) < 0);
}

UNIT_MAIN
