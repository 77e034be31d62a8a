/* test_collect.c: sums of several parts in one triangle, and what the entries that sum refuse. */
#include "support/models.h"
#include "support/sums.h"
#include "support/unit.h"

/* ---- several parts -------------------------------------------------------------------------- */

enum { N_ALL = 9, ORDER = N_ALL + 1 };

/* The first part has 7 parameters, the second 5; two of them are shared. */
static const int64_t gathers[2][7] = {{8, 1, 0, 3, 2, 5, 6}, {1, 4, 8, 7, 3}};

/* Columns of [J r] of both parts, one below the other, by the parameters of both. */
static double *stacked(const model parts[2], int form, int64_t *n)
{
    int64_t sizes[2], at = 0;
    for (int p = 0; p < 2; p++) {
        const pyspec_problem *q = &parts[p].g.problem;
        sizes[p] = (q->row_end - q->row_begin) * (q->x_end - q->x_begin);
    }
    *n = sizes[0] + sizes[1];
    double *all = zeros(ORDER * *n, sizeof *all);
    for (int p = 0; p < 2; at += sizes[p++]) {
        const model *m = &parts[p];
        double *own = explicit_columns(m->plan, &m->g.problem, m->theta, form);
        for (int64_t k = 0; k <= m->plan->n_theta; k++)
            memcpy(all + (k < m->plan->n_theta ? gathers[p][k] : N_ALL) * *n + at,
                   own + k * sizes[p], (size_t)sizes[p] * sizeof *own);
    }
    return all;
}

TEST_ALL(parts_are_gathered_in_one_triangle)
{
    model parts[2];
    make_model(&parts[0], MODEL_2D, COLUMNS_MIXED, DRESS_WEIGHT, 13, 31);
    make_model(&parts[1], MODEL_AUX, COLUMNS_NONE, DRESS_WINDOW, 19, 23);
    for (int form = 0; form <= PYSPEC_FORM_FISHER; form++) {
        double triangle[ORDER * (ORDER + 1) / 2] = {0};
        int64_t n;
        double *columns = stacked(parts, form, &n);
        double *want = gram_of_columns(columns, ORDER, n);
        for (int p = 0; p < 2; p++) {
            const model *m = &parts[p];
            const pyspec_problem *q = &m->g.problem;
            pyspec_normal s;
            make_sums(&s, form, m->plan->n_theta, PYSPEC_NORMAL_NODES, ORDER);
            CHECK_INT(accumulate(m->plan, q, m->theta, &s, q->row_begin, q->row_end), STATUS_OK);
            CHECK_INT(pyspec_collect(&s, gathers[p], ORDER, triangle), STATUS_OK);
        }
        double *product = gram_of_factor(triangle, ORDER);
        const double *got = form == PYSPEC_FORM_FACTOR ? product : triangle;
        const double square = want[triangle_size(ORDER) - 1];
        if (form == PYSPEC_FORM_VALUE) {
            CHECK(fabs(triangle[triangle_size(ORDER) - 1] - square) <= 1e-12 * square);
            for (int64_t k = 0; k < triangle_size(ORDER) - 1; k++)
                CHECK(triangle[k] == 0.0);
        } else {
            CHECK(gram_close(got, want, ORDER, 1e-11));
        }
    }
}

/* A triangle that is taken as it stands is that whose columns were moved, and what was there stays. */
TEST_ALL(columns_that_stay_are_those_that_move)
{
    model m;
    make_model(&m, MODEL_2D, COLUMNS_MIXED, DRESS_WEIGHT, 29, 31);
    const int64_t n = m.plan->n_theta, order = n + 1;
    int64_t same_place[16], turned[16];
    for (int64_t k = 0; k < n; k++) {
        same_place[k] = k;
        turned[k] = n - 1 - k;
    }
    for (int form = 0; form <= PYSPEC_FORM_FISHER; form++) {
        double plain[136], named[136], moved[136];
        pyspec_normal s;
        make_sums(&s, form, n, PYSPEC_NORMAL_NODES, order);
        CHECK_INT(accumulate(m.plan, &m.g.problem, m.theta, &s, 0, m.g.problem.n_rows), STATUS_OK);
        for (int64_t k = 0; k < triangle_size(order); k++)
            plain[k] = named[k] = moved[k] = form == PYSPEC_FORM_FACTOR ? 0.0 : 0.5;
        CHECK_INT(pyspec_collect(&s, NULL, order, plain), STATUS_OK);
        CHECK_INT(pyspec_collect(&s, same_place, order, named), STATUS_OK);
        CHECK_INT(pyspec_collect(&s, turned, order, moved), STATUS_OK);
        CHECK(!memcmp(plain, named, (size_t)triangle_size(order) * sizeof *plain));
        for (int64_t j = 0; j < order && form != PYSPEC_FORM_FACTOR; j++)
            for (int64_t k = j; k < order; k++) {
                const int64_t a = j < n ? turned[j] : n, b = k < n ? turned[k] : n;
                CHECK(plain[triangle_at(order, j, k)] ==
                      moved[triangle_at(order, a < b ? a : b, a < b ? b : a)]);
            }
    }
}

/* ---- refusals ------------------------------------------------------------------------------- */

static int64_t form_needs(int form)
{
    return form == PYSPEC_FORM_VALUE ? 0 : PYSPEC_PREPARE_SLOPES;
}

/* Status of pyspec_accumulate after `edit` of: m, q, s, call, begin, end. */
#define EXPECT(want_form, want, edit)                                                              \
    do {                                                                                           \
        model m;                                                                                   \
        pyspec_normal s;                                                                           \
        make_model(&m, MODEL_2D, COLUMNS_NONE, 0, 9, 7);                                           \
        pyspec_problem *q = &m.g.problem;                                                          \
        make_sums(&s, want_form, m.plan->n_theta, PYSPEC_NORMAL_NODES, m.plan->n_theta + 1);       \
        int64_t begin = 0, end = 9, what = form_needs(want_form);                                  \
        pyspec_call call = make_call(m.plan, q, m.theta, what);                                    \
        CHECK_INT(pyspec_prepare(&call, what), STATUS_OK);                                         \
        edit;                                                                                      \
        CHECK_INT(pyspec_accumulate(&call, &s, begin, end), want);                                 \
    } while (0)

TEST_ALL(accumulating_refuses_what_it_cannot_use)
{
    for (int form = 0; form <= PYSPEC_FORM_FISHER; form++) {
        EXPECT(form, STATUS_OK, (void)0);
        EXPECT(form, STATUS_NULL_POINTER, call.plan = NULL);
        EXPECT(form, STATUS_NULL_POINTER, call.problem = NULL);
        EXPECT(form, STATUS_NULL_POINTER, call.theta = NULL);
        EXPECT(form, STATUS_NULL_POINTER, call.work = NULL);
        EXPECT(form, STATUS_NULL_POINTER, s.places = NULL);
        EXPECT(form, STATUS_NULL_POINTER, s.nodes = NULL);
        EXPECT(form, STATUS_ISA, call.isa = N_ISA);
        EXPECT(form, STATUS_WORK, call.work_size--);
        EXPECT(form, form == PYSPEC_FORM_VALUE ? STATUS_OK : STATUS_OFFSET, m.plan->depends = -1);
        EXPECT(form, STATUS_DATA, q->data = NULL);
        EXPECT(form, STATUS_ORDER, s.order++);
        EXPECT(form, STATUS_ORDER, s.order--);
        EXPECT(form, STATUS_ORDER, s.form = -1);
        EXPECT(form, STATUS_ORDER, s.form = PYSPEC_FORM_FISHER + 1);
        EXPECT(form, STATUS_OUTPUT, s.capacity = 0);
        EXPECT(form, STATUS_OUTPUT, s.capacity = 1); /* row 8 stands alone */
        EXPECT(form, STATUS_WINDOW, begin = -1);
        EXPECT(form, STATUS_WINDOW, end = 10);
        EXPECT(form, STATUS_WINDOW, begin = end);
        EXPECT(form, STATUS_WINDOW, (begin = 5, end = 4));
        EXPECT(form, STATUS_WINDOW, q->row_begin = 1);
        EXPECT(form, STATUS_WINDOW, q->row_end = 8);
    }
    EXPECT(PYSPEC_FORM_FACTOR, STATUS_WORK, s.scratch = NULL);
    EXPECT(PYSPEC_FORM_FACTOR, STATUS_WORK, s.n_scratch--);
    EXPECT(PYSPEC_FORM_FACTOR, STATUS_WORK, s.n_scratch = 0);
    CHECK_INT(pyspec_accumulate(NULL, NULL, 0, 1), STATUS_NULL_POINTER);
    model m;
    make_model(&m, MODEL_2D, COLUMNS_NONE, 0, 9, 7);
    const pyspec_call call = {.plan = m.plan, .problem = &m.g.problem};
    CHECK_INT(pyspec_accumulate(&call, NULL, 0, 9), STATUS_NULL_POINTER);
}

/* Sums of the rows begin ... end - 1 of a model. */
static void sums_of(const model *m, pyspec_normal *s, int form, int64_t capacity, int64_t begin,
                    int64_t end)
{
    make_sums(s, form, m->plan->n_theta, capacity, m->plan->n_theta + 1);
    CHECK_INT(accumulate(m->plan, &m->g.problem, m->theta, s, begin, end), STATUS_OK);
}

TEST(rows_come_in_their_order)
{
    for (int form = 0; form <= PYSPEC_FORM_FISHER; form++) {
        model m;
        pyspec_normal early, late;
        make_model(&m, MODEL_2D, COLUMNS_NONE, 0, 21, 7);
        sums_of(&m, &late, form, PYSPEC_NORMAL_NODES, 6, 17);
        sums_of(&m, &early, form, PYSPEC_NORMAL_NODES, 1, 6);
        CHECK_INT(accumulate(m.plan, &m.g.problem, m.theta, &late, 2, 5), STATUS_ORDER);
        CHECK_INT(accumulate(m.plan, &m.g.problem, m.theta, &late, 16, 18), STATUS_ORDER);
        CHECK_INT(pyspec_join(&late, &early), STATUS_ORDER);
        CHECK_INT(pyspec_join(&late, &late), STATUS_ORDER);
        CHECK_INT(pyspec_join(&early, &late), STATUS_OK);
        CHECK_INT(pyspec_join(&early, &late), STATUS_ORDER);
    }
}

/* Rows 0 and 2 are no pair; row 3 makes one of 2 and 3, and 1 was left out. */
TEST(rows_may_be_left_out)
{
    for (int form = 0; form <= PYSPEC_FORM_FISHER; form++) {
        model m;
        pyspec_normal s;
        make_model(&m, MODEL_2D, COLUMNS_NONE, 0, 9, 7);
        sums_of(&m, &s, form, PYSPEC_NORMAL_NODES, 0, 1);
        CHECK_INT(accumulate(m.plan, &m.g.problem, m.theta, &s, 2, 3), STATUS_OK);
        CHECK_INT(s.n_nodes, 2);
        CHECK_INT(accumulate(m.plan, &m.g.problem, m.theta, &s, 3, 4), STATUS_OK);
        CHECK_INT(s.n_nodes, 2);
        CHECK(s.places[0] == 0 && s.places[1] == 0 && s.places[2] == 1 && s.places[3] == 1);
    }
}

TEST(joining_refuses_what_it_cannot_use)
{
    model m;
    pyspec_normal a, b;
    make_model(&m, MODEL_2D, COLUMNS_NONE, 0, 21, 7);
    sums_of(&m, &a, PYSPEC_FORM_FACTOR, PYSPEC_NORMAL_NODES, 0, 3);
    sums_of(&m, &b, PYSPEC_FORM_FACTOR, PYSPEC_NORMAL_NODES, 3, 6);
    CHECK_INT(pyspec_join(NULL, &b), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_join(&a, NULL), STATUS_NULL_POINTER);
#define REFUSE(which, field, value, status)                                                        \
    do {                                                                                           \
        const pyspec_normal kept = which;                                                          \
        which.field = value;                                                                       \
        CHECK_INT(pyspec_join(&a, &b), status);                                                    \
        which = kept;                                                                              \
    } while (0)
    REFUSE(a, places, NULL, STATUS_NULL_POINTER);
    REFUSE(a, nodes, NULL, STATUS_NULL_POINTER);
    REFUSE(b, places, NULL, STATUS_NULL_POINTER);
    REFUSE(b, nodes, NULL, STATUS_NULL_POINTER);
    REFUSE(b, form, PYSPEC_FORM_GRAM, STATUS_ORDER);
    REFUSE(b, order, b.order - 1, STATUS_ORDER);
    REFUSE(a, scratch, NULL, STATUS_WORK);
    REFUSE(a, n_scratch, a.n_scratch - 1, STATUS_WORK);
    REFUSE(a, capacity, a.n_nodes, STATUS_OUTPUT);
#undef REFUSE
    CHECK_INT(pyspec_join(&a, &b), STATUS_OK);
}

TEST(collecting_refuses_what_it_cannot_use)
{
    double triangle[64] = {0};
    for (int form = 0; form <= PYSPEC_FORM_FISHER; form++) {
        model m;
        pyspec_normal s;
        make_model(&m, MODEL_2D, COLUMNS_NONE, 0, 9, 7);
        sums_of(&m, &s, form, PYSPEC_NORMAL_NODES, 0, 9);
        const pyspec_normal whole = s;
        CHECK_INT(pyspec_collect(NULL, NULL, 8, triangle), STATUS_NULL_POINTER);
        CHECK_INT(pyspec_collect(&s, NULL, 8, NULL), STATUS_NULL_POINTER);
        CHECK_INT(pyspec_collect(&s, NULL, 0, triangle), STATUS_ORDER);
        CHECK_INT(pyspec_collect(&s, NULL, -1, triangle), STATUS_ORDER);
        CHECK_INT(pyspec_collect(&s, NULL, 7, triangle), form ? STATUS_ORDER : STATUS_OK);
        CHECK_INT(pyspec_collect(&s, NULL, 9, triangle),
                  form == PYSPEC_FORM_FACTOR ? STATUS_WORK : STATUS_OK);
        s.nodes = NULL;
        CHECK_INT(pyspec_collect(&s, NULL, 8, triangle), STATUS_NULL_POINTER);
        s = whole;
        s.places = NULL;
        CHECK_INT(pyspec_collect(&s, NULL, 8, triangle), STATUS_NULL_POINTER);
        s = whole;
        s.n_nodes = 0; /* nothing was summed */
        CHECK_INT(pyspec_collect(&s, NULL, 8, triangle), STATUS_ORDER);
        s = whole;
        s.order = 0;
        CHECK_INT(pyspec_collect(&s, NULL, 8, triangle), STATUS_ORDER);
        s = whole;
        s.scratch = NULL;
        CHECK_INT(pyspec_collect(&s, NULL, 8, triangle),
                  form == PYSPEC_FORM_FACTOR ? STATUS_WORK : STATUS_OK);
        s = whole;
    }
}

/* As many sums as a chunk may leave: 2^k - 1 rows from an odd one on. */
TEST(the_stated_capacity_is_enough)
{
    model m;
    pyspec_normal s;
    make_model(&m, MODEL_TRACE, COLUMNS_NONE, 0, 8190, 1);
    sums_of(&m, &s, PYSPEC_FORM_GRAM, PYSPEC_NORMAL_NODES, 1, 8190);
    CHECK(s.n_nodes > 20 && s.n_nodes < PYSPEC_NORMAL_NODES);
}

UNIT_MAIN
