/* test_reading.c: the sums of a fit whose data lie elsewhere, which are asked for, read piece by piece and
 * answered: the bits of data in memory. */
#include "separable/fitted.h"

static double *numbers_for(int64_t n)
{
    return zeros(n, sizeof(double));
}

/* How the values of a problem are stored. */
enum { DOUBLES, APART, FLOATS, N_STORES };

static void store_as(pyspec_problem *q, int store)
{
    const int64_t n = ROWS * POINTS, step = store == APART ? 2 : 1;
    const double *data = q->data;
    double *values = exact(step * n, sizeof *values);
    for (int64_t i = 0; i < n; i++)
        if (store == FLOATS)
            ((float *)values)[i] = (float)data[i];
        else
            values[i * step] = data[i];
    const int64_t size = store == FLOATS ? (int64_t)sizeof(float) : step * (int64_t)sizeof(double);
    q->data = values;
    q->data_type = store == FLOATS ? PYSPEC_TYPE_F32 : PYSPEC_TYPE_F64;
    q->data_x = size;
    q->data_row = POINTS * size;
}

/* For what a reading sums; no more are open than there is room for here. */
static pyspec_normal empty_sums(int64_t size)
{
    pyspec_normal s = {.form = PYSPEC_FORM_DATA, .order = size, .capacity = 20};
    s.places = zeros(40, sizeof *s.places);
    s.nodes = numbers_for(20 * size);
    return s;
}

/* Rows from edge to edge, each by itself, with functions of their own; the last is 0. */
static double *read_pieces(const pyspec_call *call, const pyspec_reading *asked, const int *edges)
{
    double *numbers = numbers_for(asked->size);
    pyspec_normal total = empty_sums(asked->size);
    for (; edges[1]; edges++) {
        const int64_t n = edges[1] - edges[0];
        const int64_t skipped = edges[0] - asked->row;
        pyspec_reading own = *asked; /* what is the same for all rows, and parts of the rest */
        own.row = edges[0];
        own.stride = n;
        own.weights += skipped;
        own.heights = asked->has_model ? own.heights + skipped * own.n_traces : NULL;
        own.shapes = asked->has_model ? own.shapes : NULL;
        double *functions = numbers_for(asked->n * n + 1);
        for (int64_t k = 0; k < asked->n; k++)
            memcpy(functions + k * n,
                   asked->functions + k * asked->stride + skipped,
                   (size_t)n * sizeof(double));
        own.functions = functions;
        pyspec_normal part = empty_sums(asked->size);
        CHECK_INT(pyspec_read(call, &part, &own, edges[0], edges[1]), STATUS_OK);
        CHECK_INT(pyspec_join(&total, &part), STATUS_OK);
    }
    CHECK_INT(pyspec_collect(&total, NULL, asked->size, numbers), STATUS_OK);
    return numbers;
}

/* The sums at a theta, asked for and answered; how often data were read. */
static int sum_elsewhere(const fitted *f, double *memory, int64_t size, int form, const int *edges,
                         double *triangle)
{
    const int64_t slopes = form ? PYSPEC_PREPARE_SLOPES : 0;
    pyspec_reading asked;
    int n = 0;
    CHECK_INT(pyspec_prepare(&f->call, slopes | PYSPEC_PREPARE_SHAPES), STATUS_OK);
    CHECK_INT(pyspec_span_ask(&f->call, form, memory, size, &asked), STATUS_OK);
    while (asked.is_due) {
        double *numbers = read_pieces(&f->call, &asked, edges);
        CHECK_INT(pyspec_span_take(&f->call, form, memory, size, numbers, &asked), STATUS_OK);
        n++;
    }
    CHECK_INT(pyspec_span_answer(&f->call, form, memory, size, triangle), STATUS_OK);
    return n;
}

/* Rows that are read piece by piece give the bits of those in memory, for any way to store the values. */
TEST_ALL(pieces_give_the_bits_of_memory)
{
    static const int whole[] = {5, ROWS, 0}, strips[] = {5, 64, 128, ROWS, 0},
                     uneven[] = {5, 128, ROWS, 0};
    static const int *const edges[] = {whole, strips, uneven};
    for (int store = DOUBLES; store < N_STORES; store++)
        for (int weights = EVEN; weights < BOTH; weights++)
            for (int k = 0; k < 3; k++) {
                fitted *f = make_fitted(weights, k == 2 ? BY_ROW : BY_X);
                f->w->g.problem.row_begin = 5;
                store_as(&f->w->g.problem, store);
                const int64_t size = pyspec_span_size(f->w->plan, &f->w->g.problem);
                double *memory = make_work(size);
                memset(memory, 0, (size_t)size);
                pyspec_begin_span(&f->part);
                int n_readings = 0;
                for (int at = 0; at < N_WAY; at++)
                    for (int form = PYSPEC_FORM_GRAM; form >= PYSPEC_FORM_VALUE; form--) {
                        double theta[ORDER - 1], want[SIZE], found[SIZE];
                        way(at, theta);
                        sum_at(f, theta, form, NULL, want);
                        n_readings += sum_elsewhere(f, memory, size, form, edges[k], found);
                        CHECK(all_same(found, want, form ? SIZE : 1));
                    }
                CHECK(n_readings >= 2 && n_readings <= N_WAY);
            }
}

/* A fall of chi^2 that the functions bring which join the span: what is left of it is read point by point. */
TEST_ALL(a_rest_that_has_lost_its_digits_is_read_again)
{
    fitted *f = make_fitted(EVEN, EVEN);
    const int64_t size = f->part.span_size;
    const int whole[] = {0, ROWS, 0};
    double *memory = make_work(size), triangle[SIZE];
    int status;
    memset(memory, 0, (size_t)size);
    double *model = run_entry(RUN_EVALUATE, f->w->plan, &f->w->g.problem, true_theta, &status);
    for (int64_t i = 0; i < ROWS * POINTS; i++)
        model[i] += 1e-7 * sin(0.7 * (double)i);
    f->w->g.problem.data = model;
    memcpy(f->theta, true_theta, sizeof true_theta);
    f->theta[4] = 1e3; /* an onset behind the last row: all that moves is beyond its functions */
    CHECK_INT(sum_elsewhere(f, memory, size, PYSPEC_FORM_GRAM, whole, triangle), 1);
    memcpy(f->theta, true_theta, sizeof true_theta);
    CHECK_INT(sum_elsewhere(f, memory, size, PYSPEC_FORM_GRAM, whole, triangle), 2);
    const double want = explicit_gram(f->w->plan, &f->w->g.problem, true_theta, PYSPEC_FORM_GRAM)[SIZE - 1];
    CHECK(fabs(triangle[SIZE - 1] - want) <= 1e-7 * want);
}

TEST(bad_readings_are_refused)
{
    fitted *f = make_fitted(BY_ROW, EVEN);
    const pyspec_call *call = &f->call;
    const int64_t size = f->part.span_size;
    const int form = PYSPEC_FORM_GRAM;
    double *memory = make_work(size), triangle[SIZE];
    pyspec_reading asked, bad;
    memset(memory, 0, (size_t)size);
    memcpy(f->theta, true_theta, sizeof true_theta);
    CHECK_INT(pyspec_prepare(call, PYSPEC_PREPARE_SLOPES), STATUS_OK);
    CHECK_INT(pyspec_span_ask(call, form, memory, size, &asked), STATUS_PREPARED);
    CHECK_INT(pyspec_prepare(call, PYSPEC_PREPARE_SLOPES | PYSPEC_PREPARE_SHAPES), STATUS_OK);
    CHECK_INT(pyspec_span_ask(NULL, form, memory, size, &asked), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_span_ask(call, form, NULL, size, &asked), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_span_ask(call, form, memory, size, NULL), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_span_ask(call, form, memory, size - 1, &asked), STATUS_WORK);
    CHECK_INT(pyspec_span_ask(call, PYSPEC_FORM_FACTOR, memory, size, &asked), STATUS_PREPARED);
    CHECK_INT(pyspec_span_ask(call, form, memory, size, &asked), STATUS_OK);
    CHECK_INT(asked.is_due, 1);
    pyspec_normal sums = empty_sums(asked.size);
    CHECK_INT(pyspec_read(NULL, &sums, &asked, 0, ROWS), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_read(call, NULL, &asked, 0, ROWS), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_read(call, &sums, NULL, 0, ROWS), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_read(call, &sums, &asked, 0, ROWS + 1), STATUS_WINDOW);
    CHECK_INT(pyspec_read(call, &sums, &asked, 0, 63), STATUS_WINDOW);
    bad = asked, bad.functions = NULL;
    CHECK_INT(pyspec_read(call, &sums, &bad, 0, ROWS), STATUS_NULL_POINTER);
    bad = asked, bad.weights = NULL;
    CHECK_INT(pyspec_read(call, &sums, &bad, 0, ROWS), STATUS_NULL_POINTER);
    bad = asked, bad.n++;
    CHECK_INT(pyspec_read(call, &sums, &bad, 0, ROWS), STATUS_ORDER);
    bad = asked, bad.by_x = NULL;
    CHECK_INT(pyspec_read(call, &sums, &bad, 0, ROWS), STATUS_NULL_POINTER);
    bad = asked, bad.heights = NULL;
    CHECK_INT(pyspec_read(call, &sums, &bad, 0, ROWS), STATUS_NULL_POINTER);
    bad = asked, bad.shapes = NULL;
    CHECK_INT(pyspec_read(call, &sums, &bad, 0, ROWS), STATUS_NULL_POINTER);
    bad = asked, bad.n_traces--;
    CHECK_INT(pyspec_read(call, &sums, &bad, 0, ROWS), STATUS_ORDER);
    bad = asked, bad.between++;
    CHECK_INT(pyspec_read(call, &sums, &bad, 0, ROWS), STATUS_ORDER);
    f->w->g.problem.loss = PYSPEC_LOSS_POISSON;
    CHECK_INT(pyspec_read(call, &sums, &asked, 0, ROWS), STATUS_STAGE);
    f->w->g.problem.loss = PYSPEC_LOSS_SQUARES;
    bad = asked, bad.row = 1;
    CHECK_INT(pyspec_read(call, &sums, &bad, 0, ROWS), STATUS_WINDOW);
    bad = asked, bad.stride = ROWS - 1;
    CHECK_INT(pyspec_read(call, &sums, &bad, 0, ROWS), STATUS_WINDOW);
    CHECK_INT(sums.n_nodes, 0);
    CHECK_INT(pyspec_read(call, &sums, &asked, 0, ROWS), STATUS_OK);
    double *numbers = numbers_for(asked.size + 1);
    CHECK_INT(pyspec_collect(&sums, NULL, asked.size + 1, numbers), STATUS_ORDER);
    CHECK_INT(pyspec_collect(&sums, NULL, asked.size, numbers), STATUS_OK);
    CHECK_INT(pyspec_span_take(call, form, memory, size, NULL, &asked), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_span_take(call, form, memory, size, numbers, NULL), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_span_take(call, form, memory, size, numbers, &asked), STATUS_OK);
    CHECK_INT(asked.is_due, 0);
    CHECK_INT(pyspec_span_answer(call, form, memory, size, NULL), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_span_answer(call, form, memory, size, triangle), STATUS_OK);
    check_against_derivatives(f, true_theta, triangle);
}

UNIT_MAIN
