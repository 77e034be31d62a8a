/* test_separable.c: sums over energies and times apart against those of the stored derivatives, for
 * weights and masks along either axis, and threads; and where there is no such way. */
#include "sums.h"
#include "unit.h"

#include <stdlib.h>

enum { COMPONENT = PYSPEC_STEP_COMPONENT, LAW = PYSPEC_STEP_LAW };
enum { STORE = PYSPEC_FLAG_STORE, STATIC = PYSPEC_FLAG_STATIC, SHAPE = PYSPEC_FLAG_SHAPE };
enum { ROWS = 131, POINTS = 389, ORDER = 9 };

static const double theta[] = {2.0, 9.03, 0.72, 1.3, 0.3, 0.02, 0.4, 19.0};

/* Rows 0..7 are free (A, x0, SD, tau, t0, p, m, second x0); 8 and 9: heights that laws move. Two
 * peaks of moving heights, a still one, a step, and what Shirley makes of all that. */
static pyspec_plan *shapes_plan(int moves)
{
    plan_builder b;
    start(&b, 2, 8, 0, 10, 2);
    const int slow[] = {0, 3, 4, -1}, fast[] = {6, 2, 4, -1};
    const int first[] = {8, 1, 2}, second[] = {9, 7, 2, 6}, still[] = {0, 7, 3}, step[] = {6, 1, 3};
    const int shirley[] = {5};
    for (int k = 0; k < 2; k++) {
        add_call(&b, LAW, OP_expFun, STORE, 8 + k, 4, k ? fast : slow);
        add_step(&b, PYSPEC_STEP_BASE, 0, k ? 6 : 0, 8 + k);
    }
    add_call(&b, COMPONENT, OP_Gauss, STORE | (moves ? SHAPE : STATIC), 1, 3, moves ? first : still);
    if (moves)
        add_call(&b, COMPONENT, OP_GLP, SHAPE, 1, 4, second);
    add_call(&b, COMPONENT, OP_Lorentz, STATIC, 1, 3, still);
    add_call(&b, COMPONENT, OP_Shirley, STORE, 0, 1, shirley)->source = 1;
    add_step(&b, PYSPEC_STEP_ADD, 0, 1, 0);
    add_call(&b, COMPONENT, OP_ErfStep, STATIC, 0, 3, step);
    add_dependencies(&b);
    add_moving_heights(&b);
    return finish(&b);
}

/* How the points of a problem are weighted and kept. */
enum { EVEN, BY_ROW, BY_X, BOTH, N_DRESSES };

typedef struct world {
    pyspec_plan *plan;
    grid g;
    double *data, weight[ROWS * POINTS];
    float narrow[ROWS * POINTS];
    uint8_t keep[ROWS * POINTS];
} world;

static world *make_world(int moves, int weights, int masks)
{
    world *w = calloc(1, sizeof *w);
    int status;
    w->plan = shapes_plan(moves);
    make_grid(&w->g, w->plan, ROWS, POINTS);
    pyspec_problem *q = &w->g.problem;
    w->data = run_entry(RUN_EVALUATE, w->plan, q, theta, &status);
    CHECK_INT(status, STATUS_OK);
    for (int64_t i = 0; i < ROWS * POINTS; i++) {
        const int64_t row = i / POINTS, x = i % POINTS;
        w->data[i] += 0.1 * sin(0.7 * (double)i);
        w->narrow[i] = (float)w->data[i];
        w->weight[i] = (weights & BY_ROW ? 1.0 + 0.01 * (double)(row % 7) : 1.0) *
                       (weights & BY_X ? 1.0 + 0.02 * (double)(x % 11) : 1.0);
        w->keep[i] = (!(masks & BY_ROW) || row % 5 != 3) && (!(masks & BY_X) || x % 6 != 2);
        if (!w->keep[i])
            w->data[i] = NAN;
    }
    q->data = w->data;
    q->data_row = POINTS * (int64_t)sizeof(double);
    q->data_x = sizeof(double);
    q->weight = weights ? w->weight : NULL;
    q->weight_row = weights & BY_ROW ? POINTS * (int64_t)sizeof(double) : 0;
    q->weight_x = weights & BY_X ? sizeof(double) : 0;
    q->keep = masks ? w->keep : NULL;
    q->keep_row = masks & BY_ROW ? POINTS : 0;
    q->keep_x = masks & BY_X ? 1 : 0;
    return w;
}

static void free_world(world *w)
{
    free(w->data);
    free_grid(&w->g);
    free(w->plan);
    free(w);
}

static double *sum_apart(const world *w, int form, pyspec_team *team)
{
    const int64_t what = form == PYSPEC_FORM_VALUE ? 0 : PYSPEC_PREPARE_SLOPES;
    const pyspec_call call = make_call(w->plan, &w->g.problem, theta, what);
    pyspec_normal s;
    make_sums(&s, form, w->plan->n_theta, PYSPEC_NORMAL_NODES, ORDER);
    s.separable = 1;
    const int64_t order = s.order;
    const pyspec_part part = {&call, NULL, NULL, &s, w->plan->n_theta};
    double *triangle = malloc((size_t)triangle_size(order) * sizeof *triangle);
    CHECK_INT(pyspec_sum_parts(&part, 1, form, order, team, triangle), STATUS_OK);
    free_sums(&s);
    free_call(&call);
    return triangle;
}

static void check_sums(const world *w)
{
    const pyspec_problem *q = &w->g.problem;
    const int64_t n = (q->row_end - q->row_begin) * (q->x_end - q->x_begin);
    const int64_t size = triangle_size(ORDER);
    double *columns = explicit_columns(w->plan, q, theta, PYSPEC_FORM_GRAM);
    double *want = gram_of_columns(columns, ORDER, n);
    double *gram = sum_apart(w, PYSPEC_FORM_GRAM, NULL);
    double *fisher = sum_apart(w, PYSPEC_FORM_FISHER, NULL);
    double *factor = sum_apart(w, PYSPEC_FORM_FACTOR, NULL);
    double *value = sum_apart(w, PYSPEC_FORM_VALUE, NULL);
    double *product = gram_of_factor(factor, ORDER);
    CHECK(gram_close(gram, want, ORDER, 1e-11));
    CHECK(gram_close(product, want, ORDER, 1e-11));
    CHECK(all_same(gram, fisher, size));
    CHECK(same(gram[size - 1], *value));
    free(columns);
    free(want);
    free(gram);
    free(fisher);
    free(factor);
    free(value);
    free(product);
}

static void sums_are_those_of_the_derivatives(void)
{
    for (int weights = EVEN; weights < N_DRESSES; weights++)
        for (int masks = EVEN; masks < N_DRESSES; masks++) {
            world *w = make_world(1, weights, masks);
            check_sums(w);
            w->g.problem.row_begin = 5;
            w->g.problem.x_begin = 3;
            w->g.problem.x_end -= 101;
            check_sums(w);
            free_world(w);
        }
}

/* Data of another type, and data that lie between other things. */
static void data_may_be_stored_in_any_way(void)
{
    world *w = make_world(1, BY_ROW, EVEN);
    pyspec_problem *q = &w->g.problem;
    q->data = w->narrow;
    q->data_type = PYSPEC_TYPE_F32;
    q->data_row = POINTS * (int64_t)sizeof(float);
    q->data_x = sizeof(float);
    check_sums(w);
    q->data = w->data;
    q->data_type = PYSPEC_TYPE_F64;
    q->data_row = POINTS * (int64_t)sizeof(double);
    q->data_x = 2 * (int64_t)sizeof(double);
    q->x_end = POINTS / 2;
    check_sums(w);
    q->x_end = POINTS;
    q->data_x = sizeof(double);
    for (int64_t gap = 0; gap < 2; gap++) { /* all doubles beside their place, then some rows */
        const int64_t size = POINTS * (int64_t)sizeof(double), row = size + 4 * gap;
        char *moved = malloc((size_t)(ROWS * row + 4));
        for (int64_t k = 0; k < ROWS; k++)
            memcpy(moved + 4 * (1 - gap) + k * row, w->data + k * POINTS, (size_t)size);
        q->data = moved + 4 * (1 - gap);
        q->data_row = row;
        check_sums(w);
        free(moved);
    }
    free_world(w);
}

static void spectra_may_stand_still(void)
{
    world *w = make_world(0, BY_X, BY_ROW);
    check_sums(w);
    free_world(w);
}

/* A map of counts, or nothing to compare with: the general walk, or its refusal. */
static void other_sums_take_the_general_walk(void)
{
    world *w = make_world(1, EVEN, EVEN);
    for (int64_t i = 0; i < ROWS * POINTS; i++)
        w->data[i] = floor(fabs(w->data[i]) * 10.0);
    w->g.problem.loss = PYSPEC_LOSS_POISSON;
    w->g.problem.loss_scale = 1.0;
    int status;
    double *walked = summed(w->plan, &w->g.problem, theta, PYSPEC_FORM_GRAM, &status);
    double *found = sum_apart(w, PYSPEC_FORM_GRAM, NULL);
    CHECK(all_same(walked, found, triangle_size(ORDER)));
    free(walked);
    free(found);
    free_world(w);
}

/* Chunks are whole strips, and the sums those of one thread. */
static void a_team_changes_no_bits(void)
{
    enum { N_SUMS = 12 };
    world *w = make_world(1, BY_X, BY_ROW);
    const int64_t n_state = pyspec_team_size();
    pyspec_normal sums[N_SUMS];
    double *state = make_work((n_state + 63) / 64 * 64);
    pyspec_team team = {.n_threads = 1, .sums = sums, .n_sums = N_SUMS, .state = state,
                        .n_state = n_state};
    for (int k = 0; k < N_SUMS; k++)
        make_sums(&sums[k], PYSPEC_FORM_GRAM, w->plan->n_theta, PYSPEC_NORMAL_NODES, ORDER);
    CHECK_INT(pyspec_team_begin(&team), STATUS_OK);
    for (int form = 0; form <= PYSPEC_FORM_GRAM; form++) {
        double *alone = sum_apart(w, form, NULL), *together = sum_apart(w, form, &team);
        CHECK(all_same(alone, together, form ? triangle_size(ORDER) : 1));
        free(alone);
        free(together);
    }
    CHECK_INT(pyspec_dismiss(&team), STATUS_OK);
    for (int k = 0; k < N_SUMS; k++)
        free_sums(&sums[k]);
    free(state);
    free_world(w);
}

static void without_data_there_are_no_sums(void)
{
    world *w = make_world(1, EVEN, EVEN);
    w->g.problem.data = NULL;
    const pyspec_call call = make_call(w->plan, &w->g.problem, theta, PYSPEC_PREPARE_SLOPES);
    pyspec_normal s;
    double triangle[ORDER * (ORDER + 1) / 2];
    make_sums(&s, PYSPEC_FORM_GRAM, w->plan->n_theta, PYSPEC_NORMAL_NODES, ORDER);
    s.separable = 1;
    const pyspec_part part = {&call, NULL, NULL, &s, w->plan->n_theta};
    CHECK_INT(pyspec_sum_parts(&part, 1, PYSPEC_FORM_GRAM, ORDER, NULL, triangle), STATUS_DATA);
    free_sums(&s);
    free_call(&call);
    free_world(w);
}

int main(void)
{
    RUN_ALL(sums_are_those_of_the_derivatives);
    RUN_ALL(data_may_be_stored_in_any_way);
    RUN_ALL(spectra_may_stand_still);
    RUN(other_sums_take_the_general_walk);
    RUN_ALL(a_team_changes_no_bits);
    RUN(without_data_there_are_no_sums);
    return REPORT;
}
