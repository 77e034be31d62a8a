/* test_normal.c: sums over rows against the stored derivatives and residuals, for every form and
 * every division of the rows; and what the entries refuse. */
#include "random/random_plan.h"
#include "support/models.h"
#include "support/sums.h"
#include "support/unit.h"

#include <string.h>

/* ---- against the definition ---------------------------------------------------------------- */

static void check_model(const model *m)
{
    const pyspec_plan *plan = m->plan;
    const pyspec_problem *q = &m->g.problem;
    const int64_t order = plan->n_theta + 1;
    int status;
    const double *want = explicit_gram(plan, q, m->theta, PYSPEC_FORM_GRAM);
    const double *curved = explicit_gram(plan, q, m->theta, PYSPEC_FORM_FISHER);
    double *value = summed(plan, q, m->theta, PYSPEC_FORM_VALUE, &status);
    double *gram = summed(plan, q, m->theta, PYSPEC_FORM_GRAM, &status);
    double *factor = summed(plan, q, m->theta, PYSPEC_FORM_FACTOR, &status);
    double *fisher = summed(plan, q, m->theta, PYSPEC_FORM_FISHER, &status);
    double *product = gram_of_factor(factor, order);
    const double square = want[triangle_size(order) - 1];
    CHECK(square > 0.0 && fabs(value[0] - square) <= 1e-12 * square);
    CHECK(gram_close(gram, want, order, 1e-11));
    CHECK(gram_close(product, want, order, 1e-11));
    CHECK(gram_close(fisher, curved, order, 1e-11));
    for (int64_t k = 0; k < order; k++)
        CHECK(factor[triangle_at(order, k, k)] >= 0.0);
    CHECK(q->loss == PYSPEC_LOSS_POISSON || gram_close(fisher, gram, order, 1e-14));
}

TEST_ALL(equals_the_gram_matrix_of_the_derivatives)
{
    for (int kind = 0; kind < N_MODELS; kind++)
        for (int columns = 0; columns < N_COLUMNS; columns++)
            for (int dress = 0; dress < N_DRESSES; dress++) {
                model m;
                make_model(&m, kind, columns, dress, 21, kind == MODEL_1D ? 131 : 61);
                check_model(&m);
            }
}

TEST_ALL(equals_it_for_every_size)
{
    static const int64_t row_sizes[] = {1, 7, 8, 9, 17}, x_sizes[] = {1, 47, 48, 49, 97};
    static const int64_t long_sizes[] = {1, 7, 383, 384, 385, 800};
    for (int i = 0; i < 25; i++) {
        model m;
        make_model(&m, MODEL_2D, i % N_COLUMNS, DRESS_WEIGHT, row_sizes[i / 5], x_sizes[i % 5]);
        check_model(&m);
    }
    for (int i = 0; i < 6; i++) {
        model m;
        make_model(&m, MODEL_1D, COLUMNS_NONE, DRESS_KEEP, 1, long_sizes[i]);
        check_model(&m);
    }
}

/* J^T r is minus half the derivative of chi^2, which is that of VALUE. */
TEST(has_the_sign_of_the_fall_of_chi_square)
{
    for (int kind = 0; kind < N_MODELS; kind++)
        for (int dress = 0; dress < N_DRESSES; dress++) {
            model m;
            double theta[8];
            int status;
            make_model(&m, kind, COLUMNS_MIXED, dress, 21, 61);
            const int64_t n = m.plan->n_theta, order = n + 1;
            double *gram = summed(m.plan, &m.g.problem, m.theta, PYSPEC_FORM_GRAM, &status);
            const double square = gram[triangle_at(order, n, n)];
            for (int64_t k = 0; k < n; k++) {
                double chi[2];
                const double h = 1e-6;
                for (int side = 0; side < 2; side++) {
                    memcpy(theta, m.theta, (size_t)n * sizeof *theta);
                    theta[k] += side ? h : -h;
                    double *value =
                        summed(m.plan, &m.g.problem, theta, PYSPEC_FORM_VALUE, &status);
                    chi[side] = value[0];
                }
                double fall = (chi[0] - chi[1]) / (4.0 * h);
                double scale = sqrt(square * gram[triangle_at(order, k, k)]) + square;
                CHECK(fabs(gram[triangle_at(order, k, n)] - fall) <= 1e-6 * scale);
            }
        }
}

/* Two heights of Gauss functions at x0 and x0 + 1e-9: the part of the second column that is not
 * along the first is 1e-9 of it, of which the Gram matrix keeps nothing. */
TEST_ALL(a_factor_keeps_what_squares_lose)
{
    plan_builder b;
    grid g;
    double data[2 * 131], theta[] = {1.0, 1.0};
    int status;
    start(&b, 2, 2, 3, 5, 1);
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_Gauss, PYSPEC_FLAG_STORE, 0, ROWS_OF(0, 2, 3));
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_Gauss, 0, 0, ROWS_OF(1, 4, 3));
    add_dependencies(&b);
    pyspec_plan *plan = finish(&b);
    make_grid(&g, plan, 2, 131);
    g.fixed[0] = 6.0;
    g.fixed[1] = 1.5;
    g.fixed[2] = 6.0 + 1e-9;
    for (int i = 0; i < 2 * 131; i++)
        data[i] = i % 7;
    set_data(&g.problem, data);
    double *columns = explicit_columns(plan, &g.problem, theta, PYSPEC_FORM_GRAM);
    double *factor = summed(plan, &g.problem, theta, PYSPEC_FORM_FACTOR, &status);
    double *gram = summed(plan, &g.problem, theta, PYSPEC_FORM_GRAM, &status);
    long double along = 0.0L, square = 0.0L, rest = 0.0L;
    for (int i = 0; i < 2 * 131; i++) {
        along += (long double)columns[i] * columns[262 + i];
        square += (long double)columns[i] * columns[i];
    }
    for (int i = 0; i < 2 * 131; i++) {
        long double part = columns[262 + i] - along / square * columns[i];
        rest += part * part;
    }
    const double want = (double)sqrtl(rest), got = factor[triangle_at(3, 1, 1)];
    CHECK(fabs(got - want) <= 1e-5 * want);
    const double by_squares = gram[3] - gram[1] * gram[1] / gram[0];
    CHECK(!(fabs(by_squares - want * want) <= 0.5 * want * want));
}

/* A point that is dropped adds nothing even where the derivatives are not finite. */
TEST_ALL(dropped_points_add_nothing)
{
    for (int kind = 0; kind < MODEL_TRACE; kind++)
        for (int form = 0; form <= PYSPEC_FORM_FISHER; form++) {
            model m;
            int status;
            make_model(&m, kind, COLUMNS_MIXED, DRESS_KEEP, 9, 61);
            const int64_t n_x = m.g.problem.n_x;
            for (int64_t i = 0; i < m.g.problem.n_rows * n_x; i++)
                m.keep[i] = i % n_x > 4;
            m.g.x[3] = (double)NAN; /* below all that the Shirleys sum up */
            for (int64_t i = 0; i < m.g.problem.n_rows * n_x; i++)
                m.data[i] = m.keep[i] ? 1.0 : (double)NAN;
            double *sums = summed(m.plan, &m.g.problem, m.theta, form, &status);
            for (int64_t k = 0; k < triangle_size(form ? m.plan->n_theta + 1 : 1); k++)
                CHECK(isfinite(sums[k]));
        }
}

/* x0 moves with an external trace that is not finite in one row. */
TEST_ALL(a_dropped_row_may_have_any_derivative)
{
    enum { N_ROWS = 11, N_X = 40, ODD = 4 };
    plan_builder b;
    double data[N_ROWS * N_X];
    uint8_t keep[N_ROWS];
    const double theta[] = {0.3, 1.2}, odd[] = {(double)INFINITY, (double)NAN};
    const int own[] = {4, 1};
    int status;
    grid g;
    start(&b, 2, 2, 1, 5, 1);
    b.head.n_external = 1;
    add_expression(&b, 0, 4, CODE(RPN_PARAM, 0, RPN_PARAM, 3, RPN_MUL, 0));
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_Gauss, PYSPEC_FLAG_STORE, 0, ROWS_OF(1, 4, 2));
    add_dependencies(&b);
    add_columns(&b, 2, own);
    pyspec_plan *plan = finish(&b);
    make_grid(&g, plan, N_ROWS, N_X);
    for (int i = 0; i < N_ROWS * N_X; i++)
        data[i] = i % 7;
    for (int row = 0; row < N_ROWS; row++)
        keep[row] = row != ODD;
    set_data(&g.problem, data);
    g.problem.keep_row = 1;
    for (int k = 0; k < 4; k++) {
        const int drops = k & 1;
        g.external[ODD] = odd[k / 2];
        g.problem.keep = drops ? keep : NULL;
        double *gram = summed(plan, &g.problem, theta, PYSPEC_FORM_GRAM, &status);
        double *want = explicit_gram(plan, &g.problem, theta, PYSPEC_FORM_GRAM);
        CHECK(!drops || gram_close(gram, want, 3, 1e-12));
        CHECK(drops || k / 2 == 0 || isnan(gram[0])); /* a peak at infinity may be no peak */
    }
}

/* One row, or all of it, outside of its bounds: NaN reaches every form. */
TEST_ALL(rows_that_are_nan_make_all_forms_nan)
{
    for (int kind = 0; kind < N_MODELS; kind++)
        for (int form = 0; form <= PYSPEC_FORM_FISHER; form++)
            for (int all = 0; all < 2; all++) {
                model m;
                double theta[8];
                int status;
                make_model(&m, kind, COLUMNS_MIXED, 0, 19, 61);
                memcpy(theta, m.theta, (size_t)m.plan->n_theta * sizeof *theta);
                for (int64_t i = 0; !all && i < m.g.problem.n_x; i++)
                    m.data[m.g.problem.n_rows / 2 * m.g.problem.n_x + i] = (double)NAN;
                if (all)
                    theta[kind == MODEL_TRACE ? 1 : 2] = -1.0; /* a width, or a lifetime */
                double *sums = summed(m.plan, &m.g.problem, theta, form, &status);
                CHECK(!isfinite(sums[triangle_size(form ? m.plan->n_theta + 1 : 1) - 1]));
            }
}

/* ---- any division of the rows --------------------------------------------------------------- */

static int same_sums(const pyspec_normal *a, const pyspec_normal *b)
{
    const int64_t size = triangle_size(a->order);
    return a->n_nodes == b->n_nodes &&
           !memcmp(a->places, b->places, (size_t)(2 * a->n_nodes) * sizeof *a->places) &&
           all_same(a->nodes, b->nodes, a->n_nodes * size);
}

/* Sums of random chunks of begin ... end - 1: accumulated one after the other, or apart and then
 * joined, the later ones first joined among themselves. */
static void divided(const model *m, pyspec_normal *into, rng *r, int64_t begin,
                    int64_t end)
{
    const pyspec_problem *q = &m->g.problem;
    const int64_t at = begin + 1 + below(r, end - begin);
    if (at >= end || end - begin == 1) {
        CHECK_INT(accumulate(m->plan, q, m->theta, into, begin, end), STATUS_OK);
        return;
    }
    if (chance(r, 50)) {
        divided(m, into, r, begin, at);
        divided(m, into, r, at, end);
        return;
    }
    pyspec_normal more;
    const int64_t n_owned = count_owned();
    make_sums(&more, (int)into->form, m->plan->n_theta, PYSPEC_NORMAL_NODES, m->plan->n_theta + 1);
    divided(m, into, r, begin, at);
    divided(m, &more, r, at, end);
    CHECK_INT(pyspec_join(into, &more), STATUS_OK);
    free_owned(n_owned);
}

static void check_divisions(const model *m, int form)
{
    const pyspec_problem *q = &m->g.problem;
    const int64_t n_theta = m->plan->n_theta;
    pyspec_normal whole, parts, rest;
    rng r = {(uint64_t)form};
    make_sums(&whole, form, n_theta, PYSPEC_NORMAL_NODES, n_theta + 1);
    make_sums(&parts, form, n_theta, PYSPEC_NORMAL_NODES, n_theta + 1);
    make_sums(&rest, form, n_theta, PYSPEC_NORMAL_NODES, n_theta + 1);
    CHECK_INT(accumulate(m->plan, q, m->theta, &whole, q->row_begin, q->row_end), STATUS_OK);
    CHECK(whole.n_nodes > 1);
    for (int64_t at = q->row_begin + 1; at < q->row_end; at++) {
        parts.n_nodes = rest.n_nodes = 0;
        CHECK_INT(accumulate(m->plan, q, m->theta, &parts, q->row_begin, at), STATUS_OK);
        CHECK_INT(accumulate(m->plan, q, m->theta, &rest, at, q->row_end), STATUS_OK);
        CHECK_INT(pyspec_join(&parts, &rest), STATUS_OK);
        CHECK(same_sums(&parts, &whole));
    }
    for (int k = 0; k < 25; k++) {
        parts.n_nodes = 0;
        divided(m, &parts, &r, q->row_begin, q->row_end);
        CHECK(same_sums(&parts, &whole));
    }
}

TEST_ALL(any_division_of_the_rows_gives_the_same_bits)
{
    static const int dresses[] = {DRESS_WINDOW, DRESS_WINDOW | DRESS_POISSON | DRESS_WEIGHT};
    for (int kind = MODEL_2D; kind < N_MODELS; kind++)
        for (int form = 0; form <= PYSPEC_FORM_FISHER; form++)
            for (int k = 0; k < 2; k++) {
                model m;
                make_model(&m, kind, k ? COLUMNS_MIXED : COLUMNS_NONE, dresses[k], 45, 13);
                check_divisions(&m, form);
            }
}

/* A part of the window summed alone has the bits of a problem whose window it is. */
TEST_ALL(rows_outside_of_a_chunk_have_no_say)
{
    for (int form = 0; form <= PYSPEC_FORM_FISHER; form++) {
        model m;
        int status;
        pyspec_normal part;
        make_model(&m, MODEL_2D, COLUMNS_MIXED, DRESS_KEEP, 29, 13);
        make_sums(&part, form, m.plan->n_theta, PYSPEC_NORMAL_NODES, m.plan->n_theta + 1);
        CHECK_INT(accumulate(m.plan, &m.g.problem, m.theta, &part, 5, 18), STATUS_OK);
        m.g.problem.row_begin = 5;
        m.g.problem.row_end = 18;
        double *got = collected(&part);
        double *want = summed(m.plan, &m.g.problem, m.theta, form, &status);
        CHECK(all_same(got, want, triangle_size(part.order)));
    }
}

/* One tile of so many: the sums of those tiles alone, each counted once, with the same bits however the rows
 * are divided. */
TEST(one_tile_of_so_many_is_summed)
{
    enum { ROWS = 203, EVERY = 4, TILE = PYSPEC_LANES };
    for (int form = 0; form <= PYSPEC_FORM_FISHER; form++) {
        model m;
        pyspec_normal part, tiles, first, second;
        make_model(&m, MODEL_2D, COLUMNS_MIXED, DRESS_WEIGHT, ROWS, 49);
        const int64_t n = m.plan->n_theta, order = form == PYSPEC_FORM_VALUE ? 1 : n + 1;
        int64_t n_taken = 0;
        pyspec_normal *all[] = {&part, &tiles, &first, &second};
        for (int k = 0; k < 4; k++) {
            make_sums(all[k], form, n, PYSPEC_NORMAL_NODES, n + 1);
            all[k]->every = k == 1 ? 0 : EVERY;
        }
        CHECK_INT(accumulate(m.plan, &m.g.problem, m.theta, &part, 0, ROWS), STATUS_OK);
        CHECK_INT(accumulate(m.plan, &m.g.problem, m.theta, &first, 0, 100), STATUS_OK);
        CHECK_INT(accumulate(m.plan, &m.g.problem, m.theta, &second, 100, ROWS), STATUS_OK);
        CHECK_INT(pyspec_join(&first, &second), STATUS_OK);
        for (int64_t tile = 0; tile * TILE < ROWS; tile++) {
            if (tile % EVERY != (5 * (tile / EVERY) + EVERY / 2) % EVERY)
                continue;
            const int64_t end = (tile + 1) * TILE;
            CHECK_INT(accumulate(m.plan, &m.g.problem, m.theta, &tiles, tile * TILE, end < ROWS ? end : ROWS),
                      STATUS_OK);
            n_taken++;
        }
        CHECK_INT(n_taken, 7);
        double *got = collected(&part), *want = collected(&tiles), *joined = collected(&first);
        CHECK(!memcmp(got, joined, (size_t)triangle_size(order) * sizeof *got));
        if (form == PYSPEC_FORM_FACTOR) {
            double *a = gram_of_factor(got, order), *b = gram_of_factor(want, order);
            CHECK(gram_close(a, b, order, 1e-12));
        } else {
            CHECK(gram_close(got, want, order, 1e-13));
        }
    }
}

/* A collection adds, leaves the sums as they are, and has the same bits each time. */
TEST(collecting_changes_nothing)
{
    for (int form = 0; form <= PYSPEC_FORM_FISHER; form++) {
        model m;
        pyspec_normal s;
        make_model(&m, MODEL_2D, COLUMNS_NONE, DRESS_WINDOW, 45, 13);
        make_sums(&s, form, m.plan->n_theta, PYSPEC_NORMAL_NODES, m.plan->n_theta + 1);
        CHECK_INT(accumulate(m.plan, &m.g.problem, m.theta, &s, 3, 40), STATUS_OK);
        CHECK(s.n_nodes > 2);
        double *once = collected(&s), *again = collected(&s);
        CHECK(all_same(once, again, triangle_size(s.order)));
        CHECK_INT(pyspec_collect(&s, NULL, s.order, again), STATUS_OK);
        const double scale = form == PYSPEC_FORM_FACTOR ? sqrt(2.0) : 2.0;
        for (int64_t k = 0; k < triangle_size(s.order); k++)
            again[k] /= scale;
        CHECK(close_to(again, once, triangle_size(s.order), 1e-13));
        CHECK_INT(accumulate(m.plan, &m.g.problem, m.theta, &s, 40, 43), STATUS_OK);
    }
}

UNIT_MAIN
