/* test_separable.c: sums over energies and times apart against those of the stored derivatives, for
 * weights and masks along either axis, and threads; and where there is no such way. */
#include "separable/shapes_world.h"
#include "support/sums.h"
#include "support/unit.h"

static double *sum_apart(const world *w, int form, pyspec_team *team)
{
    const int64_t what = form == PYSPEC_FORM_VALUE ? 0 : PYSPEC_PREPARE_SLOPES;
    const pyspec_call call = make_call(w->plan, &w->g.problem, true_theta, what);
    pyspec_normal s;
    make_sums(&s, form, w->plan->n_theta, PYSPEC_NORMAL_NODES, ORDER);
    s.in_strips = 1;
    const int64_t order = s.order;
    const pyspec_part part = {.call = &call, .normal = &s, .n_theta = w->plan->n_theta};
    double *triangle = exact(triangle_size(order), sizeof *triangle);
    CHECK_INT(pyspec_sum_parts(&part, 1, form, order, team, triangle), STATUS_OK);
    return triangle;
}

static void check_sums(const world *w)
{
    const pyspec_problem *q = &w->g.problem;
    const int64_t size = triangle_size(ORDER);
    double *want = explicit_gram(w->plan, q, true_theta, PYSPEC_FORM_GRAM);
    double *gram = sum_apart(w, PYSPEC_FORM_GRAM, NULL);
    double *fisher = sum_apart(w, PYSPEC_FORM_FISHER, NULL);
    double *factor = sum_apart(w, PYSPEC_FORM_FACTOR, NULL);
    double *value = sum_apart(w, PYSPEC_FORM_VALUE, NULL);
    double *product = gram_of_factor(factor, ORDER);
    CHECK(gram_close(gram, want, ORDER, 1e-11));
    CHECK(gram_close(product, want, ORDER, 1e-11));
    CHECK(all_same(gram, fisher, size));
    CHECK(same(gram[size - 1], *value));
}

TEST_ALL(sums_are_those_of_the_derivatives)
{
    for (int weights = EVEN; weights < N_DRESSES; weights++)
        for (int masks = EVEN; masks < N_DRESSES; masks++) {
            world *w = make_world(1, weights, masks);
            check_sums(w);
            w->g.problem.row_begin = 5;
            w->g.problem.x_begin = 3;
            w->g.problem.x_end -= 101;
            check_sums(w);
        }
}

/* Data of another type, and data that lie between other things. */
TEST_ALL(data_may_be_stored_in_any_way)
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
        char *moved = exact(ROWS * row + 4, 1);
        for (int64_t k = 0; k < ROWS; k++)
            memcpy(moved + 4 * (1 - gap) + k * row, w->data + k * POINTS, (size_t)size);
        q->data = moved + 4 * (1 - gap);
        q->data_row = row;
        check_sums(w);
    }
}

TEST_ALL(spectra_may_stand_still)
{
    world *w = make_world(0, BY_X, BY_ROW);
    check_sums(w);
}

/* A map of counts, or nothing to compare with: the general walk, or its refusal. */
TEST(other_sums_take_the_general_walk)
{
    world *w = make_world(1, EVEN, EVEN);
    for (int64_t i = 0; i < ROWS * POINTS; i++)
        w->data[i] = floor(fabs(w->data[i]) * 10.0);
    w->g.problem.loss = PYSPEC_LOSS_POISSON;
    w->g.problem.loss_scale = 1.0;
    int status;
    double *walked = summed(w->plan, &w->g.problem, true_theta, PYSPEC_FORM_GRAM, &status);
    double *found = sum_apart(w, PYSPEC_FORM_GRAM, NULL);
    CHECK(all_same(walked, found, triangle_size(ORDER)));
}

/* Chunks are whole strips, and the sums those of one thread. */
TEST_ALL(a_team_changes_no_bits)
{
    enum { N_SUMS = 12 };
    world *w = make_world(1, BY_X, BY_ROW);
    const int64_t n_state = pyspec_team_size();
    pyspec_normal sums[N_SUMS];
    double *state = make_work(n_state);
    pyspec_team team = {.n_threads = 1, .sums = sums, .n_sums = N_SUMS, .state = state,
                        .n_state = n_state};
    for (int k = 0; k < N_SUMS; k++)
        make_sums(&sums[k], PYSPEC_FORM_GRAM, w->plan->n_theta, PYSPEC_NORMAL_NODES, ORDER);
    CHECK_INT(pyspec_team_begin(&team), STATUS_OK);
    for (int form = 0; form <= PYSPEC_FORM_GRAM; form++) {
        double *alone = sum_apart(w, form, NULL), *together = sum_apart(w, form, &team);
        CHECK(all_same(alone, together, form ? triangle_size(ORDER) : 1));
    }
    CHECK_INT(pyspec_dismiss(&team), STATUS_OK);
}

TEST(without_data_there_are_no_sums)
{
    world *w = make_world(1, EVEN, EVEN);
    w->g.problem.data = NULL;
    const pyspec_call call = make_call(w->plan, &w->g.problem, true_theta, PYSPEC_PREPARE_SLOPES);
    pyspec_normal s;
    double triangle[ORDER * (ORDER + 1) / 2];
    make_sums(&s, PYSPEC_FORM_GRAM, w->plan->n_theta, PYSPEC_NORMAL_NODES, ORDER);
    s.in_strips = 1;
    const pyspec_part part = {.call = &call, .normal = &s, .n_theta = w->plan->n_theta};
    CHECK_INT(pyspec_sum_parts(&part, 1, PYSPEC_FORM_GRAM, ORDER, NULL, triangle), STATUS_DATA);
}

/* Sums of another order used to be filled beyond the room of a strip, and called good. */
TEST(sums_that_do_not_fit_are_refused)
{
    world *w = make_world(1, EVEN, EVEN);
    const pyspec_call call = make_call(w->plan, &w->g.problem, true_theta, PYSPEC_PREPARE_SLOPES);
    pyspec_normal s, none;
    double triangle[(ORDER + 1) * (ORDER + 2) / 2];
    make_sums(&s, PYSPEC_FORM_GRAM, w->plan->n_theta + 1, PYSPEC_NORMAL_NODES, ORDER + 1);
    s.in_strips = 1;
    none = s;
    none.nodes = NULL;
    pyspec_part part = {.call = &call, .normal = &s, .n_theta = w->plan->n_theta};
    for (int64_t more = -1; more < 2; more++) {
        part.n_theta = w->plan->n_theta + more;
        CHECK_INT(pyspec_sum_parts(&part, 1, PYSPEC_FORM_GRAM, ORDER + 1, NULL, triangle),
                  more ? STATUS_ORDER : STATUS_OK);
    }
    part = (pyspec_part){.call = &call, .normal = &none, .n_theta = w->plan->n_theta};
    CHECK_INT(pyspec_sum_parts(&part, 1, PYSPEC_FORM_GRAM, ORDER, NULL, triangle),
              STATUS_NULL_POINTER);
    CHECK_INT(pyspec_sum_parts(&part, 1, PYSPEC_FORM_DATA, ORDER, NULL, triangle),
              STATUS_NULL_POINTER);
    part.normal = &s;
    CHECK_INT(pyspec_sum_parts(&part, 1, PYSPEC_FORM_DATA, ORDER, NULL, triangle), STATUS_ORDER);
}

UNIT_MAIN
