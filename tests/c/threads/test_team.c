/* test_team.c: threads that share an evaluation: the bits are those of one thread. */
#include "support/models.h"
#include "solver/points.h"
#include "support/sums.h"
#include "support/threads.h"
#include "support/unit.h"

enum { N_THREADS = 4, N_PARTS = 3, N_SUMS = 24, MAX_THETA = 7 };

/* Parts of unequal sizes; theta of part k is 1 + 0.01 k times that of the model. */
typedef struct crowd {
    model models[N_PARTS];
    pyspec_call calls[N_PARTS];
    pyspec_normal sums[N_PARTS];
    pyspec_part parts[N_PARTS];
    double theta[N_PARTS][MAX_THETA];
} crowd;

static void begin_crowd(crowd *c, int kind, int columns, int64_t what)
{
    for (int k = 0; k < N_PARTS; k++) {
        model *m = &c->models[k];
        make_model(m, kind, columns, k ? DRESS_WEIGHT : DRESS_WINDOW, 150 + 61 * k, 31);
        m->g.problem.x_begin = 0;
        m->g.problem.x_end = m->g.problem.n_x;
        for (int64_t j = 0; j < m->plan->n_theta; j++)
            c->theta[k][j] = m->theta[j] * (1.0 + 0.01 * k);
        c->calls[k] = make_call(c->models[0].plan, &m->g.problem, c->theta[k], what);
        make_sums(&c->sums[k], PYSPEC_FORM_FACTOR, m->plan->n_theta, PYSPEC_NORMAL_NODES,
                  m->plan->n_theta + 1);
        c->parts[k] =
            (pyspec_part){.call = &c->calls[k], .theta = c->theta[k], .normal = &c->sums[k], .n_theta = m->plan->n_theta};
    }
}

/* The sums at several points are those of one after the other. */
static void what_points_have(crowd *c, int64_t order, pyspec_team *team, double *alone)
{
    enum { N_POINTS = 3 };
    const int64_t n = order - 1, size = triangle_size(order);
    double *theta = exact(N_POINTS * n, sizeof *theta);
    double *points = exact(N_POINTS * size, sizeof *points);
    for (int64_t j = 0; j < n; j++)
        for (int i = 0; i < N_POINTS; i++)
            theta[i * n + j] = c->parts[0].theta[j] * (1.0 + 1e-3 * i);
    CHECK_INT(pyspec_sum_points(c->parts, 1, 1, order, team, theta, n, N_POINTS, NULL, points), STATUS_OK);
    for (int i = 0; i < N_POINTS; i++) {
        memcpy(c->parts[0].theta, theta + i * n, (size_t)n * sizeof *theta);
        CHECK_INT(pyspec_sum_parts(c->parts, 1, 1, order, NULL, alone), STATUS_OK);
        CHECK(all_same(alone, points + i * size, size));
    }
    CHECK_INT(pyspec_sum_points(c->parts, 1, 1, order, team, NULL, n, N_POINTS, NULL, points), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_sum_points(NULL, 1, 1, order, team, theta, n, N_POINTS, NULL, points), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_sum_points(c->parts, 1, 1, order, team, theta, n, N_POINTS, NULL, NULL), STATUS_NULL_POINTER);
}

TEST_ALL(threads_change_no_bits)
{
    crowd c;
    begin_crowd(&c, MODEL_2D, COLUMNS_MIXED, PYSPEC_PREPARE_SLOPES);
    const int64_t n_theta = c.models[0].plan->n_theta, order = n_theta + 1;
    const int64_t work_size = c.calls[0].work_size, n_state = pyspec_team_size();
    pyspec_normal sums[N_SUMS];
    double *state = make_work(n_state);
    pyspec_team team = {.n_threads = N_THREADS, .work_size = work_size, .sums = sums};
    team.work = make_work((N_THREADS - 1) * work_size);
    team.n_sums = N_SUMS;
    team.state = state;
    team.n_state = n_state;
    for (int k = 0; k < N_SUMS; k++)
        make_sums(&sums[k], PYSPEC_FORM_FACTOR, n_theta, 32, order);
    CHECK_INT(pyspec_team_begin(NULL), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_help(NULL), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_dismiss(NULL), STATUS_NULL_POINTER);
    team.state = NULL;
    CHECK_INT(pyspec_team_begin(&team), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_help(&team), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_dismiss(&team), STATUS_NULL_POINTER);
    team.state = state;
    team.n_state--;
    CHECK_INT(pyspec_team_begin(&team), STATUS_WORK);
    team.n_state++;
    CHECK_INT(pyspec_team_begin(&team), STATUS_OK);
    thread_of_team threads[N_THREADS]; /* one more than there is room for: it leaves at once */
    for (int k = 0; k < N_THREADS; k++)
        CHECK(start_help(&threads[k], &team));
    double *alone = exact(triangle_size(order), sizeof *alone);
    double *together = exact(triangle_size(order), sizeof *together);
    for (int round = 0; round < 40; round++) {
        const int form = round % (PYSPEC_FORM_FISHER + 1);
        CHECK_INT(pyspec_sum_parts(c.parts, N_PARTS, form, order, NULL, alone), STATUS_OK);
        CHECK_INT(pyspec_sum_parts(c.parts, N_PARTS, form, order, &team, together), STATUS_OK);
        CHECK(all_same(alone, together, triangle_size(order)));
    }
    c.calls[1].prepared_size--; /* the failure of one task is that of the call */
    CHECK_INT(pyspec_sum_parts(c.parts, N_PARTS, 1, order, &team, together), STATUS_WORK);
    c.calls[1].prepared_size++;
    c.models[1].g.problem.data = NULL;
    CHECK_INT(pyspec_sum_parts(c.parts, N_PARTS, 1, order, &team, together), STATUS_DATA);
    team.n_sums = N_PARTS - 1;
    CHECK_INT(pyspec_sum_parts(c.parts, N_PARTS, 1, order, &team, together), STATUS_OUTPUT);
    team.n_sums = N_SUMS;
    CHECK_INT(pyspec_sum_parts(c.parts, 1, 1, order, NULL, alone), STATUS_OK);
    CHECK_INT(pyspec_sum_parts(c.parts, 1, 1, order, &team, together), STATUS_OK);
    CHECK(all_same(alone, together, triangle_size(order)));
    what_points_have(&c, order, &team, alone);
    CHECK_INT(pyspec_dismiss(&team), STATUS_OK);
    for (int k = 0; k < N_THREADS; k++) {
        CHECK(end_help(threads[k]));
    }
}

TEST(what_sums_of_parts_refuse)
{
    double triangle[(MAX_THETA + 1) * (MAX_THETA + 2) / 2];
    crowd c;
    begin_crowd(&c, MODEL_2D, COLUMNS_NONE, PYSPEC_PREPARE_SLOPES);
    const int64_t order = c.models[0].plan->n_theta + 1;
    CHECK_INT(pyspec_sum_parts(NULL, 1, 1, order, NULL, triangle), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_sum_parts(c.parts, N_PARTS, 1, order, NULL, NULL), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_sum_parts(NULL, 0, 1, order, NULL, triangle), STATUS_OK);
    CHECK(triangle[0] == 0.0);
    for (int missing = 0; missing < 4; missing++) {
        const pyspec_part part = c.parts[1];
        const pyspec_call call = c.calls[1];
        if (missing == 0)
            c.parts[1].call = NULL;
        else if (missing == 1)
            c.parts[1].normal = NULL;
        else if (missing == 2)
            c.calls[1].plan = NULL;
        else
            c.calls[1].problem = NULL;
        CHECK_INT(pyspec_sum_parts(c.parts, N_PARTS, 1, order, NULL, triangle), STATUS_NULL_POINTER);
        c.parts[1] = part;
        c.calls[1] = call;
    }
    c.calls[1].work_size--;
    CHECK_INT(pyspec_sum_parts(c.parts, N_PARTS, 1, order, NULL, triangle), STATUS_WORK);
}

/* They crashed: only the entries of the team itself looked at its memory. */
TEST(what_sums_of_a_team_refuse)
{
    double triangle[(MAX_THETA + 1) * (MAX_THETA + 2) / 2];
    crowd c;
    begin_crowd(&c, MODEL_2D, COLUMNS_NONE, PYSPEC_PREPARE_SLOPES);
    const int64_t order = c.models[0].plan->n_theta + 1, n_state = pyspec_team_size();
    double *state = make_work(n_state), *work = make_work(c.calls[0].work_size);
    pyspec_team team = {2, work, c.calls[0].work_size, c.sums, N_PARTS, state, n_state};
    CHECK_INT(pyspec_team_begin(&team), STATUS_OK);
    for (int missing = 0; missing < 4; missing++) {
        pyspec_team other = team;
        if (missing == 0)
            other.state = NULL;
        else if (missing == 1)
            other.sums = NULL;
        else if (missing == 2)
            other.work = NULL;
        else
            other.n_state--;
        CHECK_INT(pyspec_sum_parts(c.parts, N_PARTS, 1, order, &other, triangle),
                  missing == 3 ? STATUS_WORK : STATUS_NULL_POINTER);
    }
}

UNIT_MAIN
