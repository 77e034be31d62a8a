/* test_team.c: threads that share an evaluation, and problems whose rows stand side by side: the
 * bits are those of one thread and of one problem. */
#include "models.h"
#include "sums.h"
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>

enum { N_THREADS = 4, N_PARTS = 3, N_SUMS = 24, MAX_THETA = 7 };

static void *help(void *team)
{
    return pyspec_help(team) == STATUS_OK ? NULL : team;
}

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
            (pyspec_part){&c->calls[k], c->theta[k], NULL, &c->sums[k], m->plan->n_theta, NULL, 0};
    }
}

static void end_crowd(crowd *c)
{
    for (int k = 0; k < N_PARTS; k++) {
        free_call(&c->calls[k]);
        free_sums(&c->sums[k]);
        free_model(&c->models[k]);
    }
}

static void threads_change_no_bits(void)
{
    crowd c;
    begin_crowd(&c, MODEL_2D, COLUMNS_MIXED, PYSPEC_PREPARE_SLOPES);
    const int64_t n_theta = c.models[0].plan->n_theta, order = n_theta + 1;
    const int64_t work_size = c.calls[0].work_size, n_state = pyspec_team_size();
    pyspec_normal sums[N_SUMS];
    double *state = make_work((n_state + 63) / 64 * 64);
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
    pthread_t threads[N_THREADS]; /* one more than there is room for: it leaves at once */
    for (int k = 0; k < N_THREADS; k++)
        CHECK_INT(pthread_create(&threads[k], NULL, help, &team), 0);
    double *alone = malloc((size_t)triangle_size(order) * sizeof *alone);
    double *together = malloc((size_t)triangle_size(order) * sizeof *together);
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
    CHECK_INT(pyspec_dismiss(&team), STATUS_OK);
    for (int k = 0; k < N_THREADS; k++) {
        void *failed;
        CHECK_INT(pthread_join(threads[k], &failed), 0);
        CHECK(!failed);
    }
    for (int k = 0; k < N_SUMS; k++)
        free_sums(&sums[k]);
    free(alone);
    free(together);
    free(team.work);
    free(state);
    end_crowd(&c);
}

/* pyspec_accumulate may compute a shape that stands still once for all rows: the same number but for
 * rounding. */
static void check_against_own_call(const crowd *c, int k, int form, int64_t what,
                                   const double *triangle)
{
    const pyspec_problem *q = c->calls[k].problem;
    const int64_t n_theta = c->parts[k].n_theta, order = form ? n_theta + 1 : 1;
    pyspec_normal sums;
    make_sums(&sums, form, n_theta, PYSPEC_NORMAL_NODES, n_theta + 1);
    CHECK_INT(pyspec_prepare(&c->calls[k], what), STATUS_OK);
    CHECK_INT(pyspec_accumulate(&c->calls[k], &sums, q->row_begin, q->row_end), STATUS_OK);
    double *own = collected(&sums);
    if (form == PYSPEC_FORM_FACTOR) {
        double *a = gram_of_factor(triangle, order), *b = gram_of_factor(own, order);
        CHECK(gram_close(a, b, order, 1e-12));
        free(a);
        free(b);
    } else {
        CHECK(gram_close(triangle, own, order, 1e-12));
    }
    free(own);
    free_sums(&sums);
}

static void check_side_by_side(int kind, int columns)
{
    for (int form = 0; form <= PYSPEC_FORM_FISHER; form++) {
        crowd c;
        const int64_t what = form == PYSPEC_FORM_VALUE ? 0 : PYSPEC_PREPARE_SLOPES;
        begin_crowd(&c, kind, columns, what);
        const int64_t order = form == PYSPEC_FORM_VALUE ? 1 : c.models[0].plan->n_theta + 1;
        double *alone[N_PARTS];
        for (int k = 0; k < N_PARTS; k++) {
            c.sums[k].form = form;
            c.sums[k].order = order;
            CHECK_INT(pyspec_prepare(&c.calls[k], what | PYSPEC_PREPARE_SHARED), STATUS_OK);
            CHECK_INT(pyspec_accumulate_many(&c.parts[k], 1), STATUS_OK);
            alone[k] = collected(&c.sums[k]);
            c.sums[k].n_nodes = 0;
            check_against_own_call(&c, k, form, what, alone[k]);
            CHECK_INT(pyspec_prepare(&c.calls[k], what | PYSPEC_PREPARE_SHARED), STATUS_OK);
        }
        CHECK_INT(pyspec_accumulate_many(c.parts, N_PARTS), STATUS_OK);
        for (int k = 0; k < N_PARTS; k++) {
            double *together = collected(&c.sums[k]);
            CHECK(all_same(alone[k], together, triangle_size(order)));
            free(together);
            free(alone[k]);
        }
        end_crowd(&c);
    }
}

static void problems_side_by_side_change_no_bits(void)
{
    check_side_by_side(MODEL_2D, COLUMNS_MIXED);
    check_side_by_side(MODEL_2D, COLUMNS_NONE);
    check_side_by_side(MODEL_AUX, COLUMNS_TURNED);
    check_side_by_side(MODEL_TRACE, COLUMNS_NONE);
    check_side_by_side(MODEL_1D, COLUMNS_NONE);
}

/* Rows with weights stand before rows without in one tile: the others count by 1. */
static void weights_may_end_within_a_tile(void)
{
    crowd c;
    begin_crowd(&c, MODEL_2D, COLUMNS_MIXED, PYSPEC_PREPARE_SLOPES);
    const int64_t order = c.models[0].plan->n_theta + 1, first = c.models[1].g.problem.row_end;
    const pyspec_part parts[2] = {c.parts[1], c.parts[0]};
    double *alone[2];
    CHECK(first % L != 0 && c.models[1].g.problem.weight && !c.models[0].g.problem.weight);
    for (int k = 0; k < 2; k++) {
        parts[k].normal->form = PYSPEC_FORM_GRAM;
        CHECK_INT(pyspec_prepare(parts[k].call, PYSPEC_PREPARE_SLOPES | PYSPEC_PREPARE_SHARED),
                  STATUS_OK);
        CHECK_INT(pyspec_accumulate_many(&parts[k], 1), STATUS_OK);
        alone[k] = collected(parts[k].normal);
        parts[k].normal->n_nodes = 0;
    }
    CHECK_INT(pyspec_accumulate_many(parts, 2), STATUS_OK);
    for (int k = 0; k < 2; k++) {
        double *together = collected(parts[k].normal);
        CHECK(all_same(alone[k], together, triangle_size(order)));
        free(together);
        free(alone[k]);
    }
    end_crowd(&c);
}

/* Prepared, summed and collected in one call. */
static void one_call_sums_many(void)
{
    double triangles[N_PARTS * (MAX_THETA + 1) * (MAX_THETA + 2) / 2];
    for (int form = 0; form <= PYSPEC_FORM_FISHER; form++) {
        crowd c;
        const int64_t what = form == PYSPEC_FORM_VALUE ? 0 : PYSPEC_PREPARE_SLOPES;
        begin_crowd(&c, MODEL_2D, COLUMNS_MIXED, what);
        const int64_t order = form == PYSPEC_FORM_VALUE ? 1 : c.models[0].plan->n_theta + 1;
        CHECK_INT(pyspec_sum_many(c.parts, N_PARTS, form, triangles), STATUS_OK);
        for (int k = 0; k < N_PARTS; k++) {
            c.sums[k].n_nodes = 0;
            CHECK_INT(pyspec_accumulate_many(&c.parts[k], 1), STATUS_OK);
            double *alone = collected(&c.sums[k]);
            CHECK(all_same(alone, triangles + k * triangle_size(order), triangle_size(order)));
            free(alone);
        }
        end_crowd(&c);
    }
}

static void what_many_sums_refuse(void)
{
    double triangles[N_PARTS * (MAX_THETA + 1) * (MAX_THETA + 2) / 2];
    crowd c;
    begin_crowd(&c, MODEL_2D, COLUMNS_NONE, PYSPEC_PREPARE_SLOPES);
    const int64_t order = c.models[0].plan->n_theta + 1;
    CHECK_INT(pyspec_sum_many(NULL, 0, 1, NULL), STATUS_OK);
    CHECK_INT(pyspec_sum_many(NULL, 1, 1, triangles), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_sum_many(c.parts, N_PARTS, 1, NULL), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_sum_parts(NULL, 1, 1, order, NULL, triangles), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_sum_parts(c.parts, N_PARTS, 1, order, NULL, NULL), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_sum_parts(NULL, 0, 1, order, NULL, triangles), STATUS_OK);
    CHECK(triangles[0] == 0.0);
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
        CHECK_INT(pyspec_sum_many(c.parts, N_PARTS, 1, triangles), STATUS_NULL_POINTER);
        CHECK_INT(pyspec_sum_parts(c.parts, N_PARTS, 1, order, NULL, triangles), STATUS_NULL_POINTER);
        CHECK_INT(pyspec_accumulate_many(&c.parts[1], 1), STATUS_NULL_POINTER);
        c.parts[1] = part;
        c.calls[1] = call;
    }
    c.calls[1].work_size--;
    CHECK_INT(pyspec_sum_many(c.parts, N_PARTS, 1, triangles), STATUS_WORK);
    CHECK_INT(pyspec_sum_parts(c.parts, N_PARTS, 1, order, NULL, triangles), STATUS_WORK);
    end_crowd(&c);
}

/* Each of these alone keeps rows from standing side by side. */
static void rows_side_by_side_share_their_axes(void)
{
    crowd c;
    double other[64];
    begin_crowd(&c, MODEL_AUX, COLUMNS_NONE, PYSPEC_PREPARE_SLOPES);
    for (int k = 0; k < N_PARTS; k++)
        c.sums[k].form = PYSPEC_FORM_GRAM;
    for (int what = 0; what < 8; what++) {
        pyspec_problem *q = &c.models[1].g.problem;
        const pyspec_problem problem = *q;
        const pyspec_call call = c.calls[1];
        const double *axis = what == 4 ? q->aux : q->aux_weight;
        for (int64_t k = 0; k < q->n_aux; k++)
            other[k] = (axis ? axis[k] : 1.0) * (k ? 1.0 : 1.25);
        if (what == 0)
            q->n_x--;
        if (what == 0 || what == 1)
            q->x_end--;
        if (what == 2)
            q->x_begin++;
        if (what == 3)
            c.calls[1].isa = PYSPEC_ISA_AVX2;
        if (what == 4)
            q->aux = other;
        if (what == 5)
            q->aux_weight = other;
        if (what == 6)
            q->aux = NULL;
        if (what == 7)
            q->aux_weight = NULL;
        if (pyspec_isa_supported(c.calls[1].isa))
            CHECK_INT(pyspec_accumulate_many(c.parts, N_PARTS), STATUS_SHARED);
        *q = problem;
        c.calls[1] = call;
    }
    end_crowd(&c);
}

static void side_by_side_refuses_what_does_not_fit(void)
{
    crowd c;
    begin_crowd(&c, MODEL_2D, COLUMNS_NONE, PYSPEC_PREPARE_SLOPES);
    for (int k = 0; k < N_PARTS; k++) {
        c.sums[k].form = PYSPEC_FORM_GRAM;
        CHECK_INT(pyspec_prepare(&c.calls[k], PYSPEC_PREPARE_SLOPES), STATUS_OK);
    }
    CHECK_INT(pyspec_accumulate_many(NULL, 0), STATUS_OK);
    CHECK_INT(pyspec_accumulate_many(NULL, 1), STATUS_NULL_POINTER);
    c.calls[1].plan = c.models[1].plan;
    CHECK_INT(pyspec_accumulate_many(c.parts, N_PARTS), STATUS_SHARED);
    c.calls[1].plan = c.models[0].plan;
    c.models[2].g.x[3] += 1e-9;
    CHECK_INT(pyspec_accumulate_many(c.parts, N_PARTS), STATUS_SHARED);
    c.models[2].g.x[3] = c.models[0].g.x[3];
    c.sums[2].form = PYSPEC_FORM_FISHER;
    CHECK_INT(pyspec_accumulate_many(c.parts, N_PARTS), STATUS_SHARED);
    c.sums[2].form = PYSPEC_FORM_GRAM;
    c.sums[1].order--;
    CHECK_INT(pyspec_accumulate_many(c.parts, N_PARTS), STATUS_ORDER);
    c.sums[1].order++;
    c.calls[0].work_size--;
    CHECK_INT(pyspec_accumulate_many(c.parts, N_PARTS), STATUS_WORK);
    c.calls[0].work_size++;
    c.sums[1].capacity = 2;
    CHECK_INT(pyspec_accumulate_many(c.parts, N_PARTS), STATUS_OUTPUT);
    CHECK_INT(c.sums[2].n_nodes, 0); /* nothing behind it was summed */
    c.sums[1].capacity = PYSPEC_NORMAL_NODES;
    for (int k = 0; k < N_PARTS; k++)
        c.sums[k].n_nodes = 0;
    c.theta[2][0] += 1.0;
    CHECK_INT(pyspec_accumulate_many(c.parts, N_PARTS), STATUS_PREPARED);
    end_crowd(&c);
}

int main(void)
{
    RUN_ALL(threads_change_no_bits);
    RUN_ALL(problems_side_by_side_change_no_bits);
    RUN_ALL(weights_may_end_within_a_tile);
    RUN(one_call_sums_many);
    RUN(what_many_sums_refuse);
    RUN(rows_side_by_side_share_their_axes);
    RUN(side_by_side_refuses_what_does_not_fit);
    return REPORT;
}
