/* test_results.c: results of a plan, in one walk, against those of the entries that give one; what is
 * refused; and laws that run as components. */
#include "support/models.h"
#include "walk/results.h"
#include "support/unit.h"

#include <string.h>

enum { STORE = PYSPEC_FLAG_STORE, COMPONENT = PYSPEC_STEP_COMPONENT };

/* The columns of a plan: its own, or those of theta. */
static int64_t column_count(const pyspec_plan *p)
{
    return p->columns < 0 ? p->n_theta : plan_words(p)[p->columns];
}

static int64_t column_row(const pyspec_plan *p, int64_t k)
{
    return p->columns < 0 ? k : plan_words(p)[p->columns + 1 + k];
}

/* Whether a row depends on a parameter of theta. */
static int depends_on(const pyspec_plan *p, int64_t row, int64_t theta)
{
    const int64_t *ends = plan_words(p) + p->depends;
    for (int64_t c = ends[row]; c < ends[row + 1]; c++)
        if (ends[p->n_traces + 1 + c] == theta)
            return 1;
    return 0;
}

/* All derivatives of the result of a model by theta, contracted from those by columns. */
static void compare(const model *m)
{
    const pyspec_plan *p = m->plan;
    const pyspec_problem *q = &m->g.problem;
    const int64_t n_times = q->row_end - q->row_begin, is_trace = p->trace >= 0;
    const int64_t n_rows = is_trace ? 1 : n_times, width = is_trace ? n_times : q->x_end - q->x_begin;
    const int64_t size = n_rows * width; /* a trace is one row */
    const int64_t n = is_trace ? p->n_theta : column_count(p), at = is_trace ? p->trace : p->result;
    int64_t *slope_at = exact(n, sizeof *slope_at), *by = exact(n, sizeof *by);
    int64_t *rows = exact(n * p->n_theta, sizeof *rows);
    int64_t *thetas = exact(n * p->n_theta, sizeof *thetas);
    int64_t *of = exact(n * p->n_theta, sizeof *of), n_entries = 0;
    double **slopes = exact(n, sizeof *slopes), *value = exact(size, sizeof *value);
    for (int64_t k = 0; k < n; k++) {
        const int64_t row = is_trace ? k : column_row(p, k);
        slope_at[k] = at;
        by[k] = k;
        slopes[k] = exact(size, sizeof **slopes);
        for (int64_t t = 0; t < p->n_theta; t++)
            if (row < p->n_theta ? row == t : depends_on(p, row, t)) {
                rows[n_entries] = row < p->n_theta ? -1 : row;
                thetas[n_entries] = t;
                of[n_entries++] = k;
            }
    }
    double *factors = exact(n_rows * n_entries + 1, sizeof *factors);
    pyspec_results results = {.n_values = 1, .values = &value, .value_at = &at, .n_slopes = n,
                              .slopes = slopes, .slope_at = slope_at, .slope_by = by,
                              .n_entries = n_entries, .entry_row = rows, .entry_theta = thetas,
                              .factors = factors, .factors_row = n_entries};
    pyspec_call call = make_call(p, q, m->theta, PYSPEC_PREPARE_SLOPES);
    CHECK_INT(pyspec_run_results(&call, &results, NULL), STATUS_OK);
    int status;
    double *want = run_entry(RUN_EVALUATE, p, q, m->theta, &status);
    double *jacobian = run_entry(RUN_JACOBIAN, p, q, m->theta, &status);
    double *found = zeros(size, sizeof *found);
    CHECK(all_same(value, want, size));
    for (int64_t t = 0; t < p->n_theta; t++) {
        memset(found, 0, (size_t)size * sizeof *found);
        for (int64_t e = 0; e < n_entries; e++)
            for (int64_t i = 0; thetas[e] == t && i < size; i++)
                found[i] += factors[i / width * n_entries + e] * slopes[of[e]][i];
        CHECK(close_to(found, jacobian + t * size, size, 1e-12));
    }
    results.n_slopes = results.n_entries = 0; /* values alone, with the memory of slopes */
    memset(value, 0, (size_t)size * sizeof *value);
    CHECK_INT(pyspec_run_results(&call, &results, NULL), STATUS_OK);
    CHECK(all_same(value, want, size));
    if (n_rows == 1) { /* apart from the next row, which repeats it */
        double *wide = zeros(2 * width + 6, sizeof *wide);
        results.values = &wide;
        results.row = width + 3;
        results.copies = 2;
        CHECK_INT(pyspec_run_results(&call, &results, NULL), STATUS_OK);
        CHECK(all_same(wide, want, width) && all_same(wide + width + 3, want, width));
        CHECK(wide[width] == 0 && wide[2 * width + 3] == 0);
    }
}

TEST_ALL(one_result_is_that_of_the_other_entries)
{
    static const int64_t sizes[][2] = {{9, 131}, {70, 49}, {130, 8}};
    for (int kind = 0; kind < N_MODELS; kind++)
        for (int columns = 0; columns < N_COLUMNS; columns++)
            for (int k = 0; k < 6; k++) {
                model m;
                if (kind == MODEL_TRACE && columns)
                    continue;
                make_model(&m, kind, columns, k % 2 ? DRESS_WINDOW : 0,
                           kind == MODEL_1D ? 1 : sizes[k / 2][0],
                           kind == MODEL_TRACE ? 1 : sizes[k / 2][1]);
                compare(&m);
                free_owned(0);
            }
}

/* Two decays in slots of their own, over abscissae that are times; the onset of the second moves along
 * the rows. */
static pyspec_plan *two_decays(void)
{
    plan_builder b;
    start(&b, 2, 5, 0, 6, 2);
    add_call(&b, PYSPEC_STEP_LAW, OP_expFun, STORE, 5, ROWS_OF(0, 3, 4, -1));
    add_call(&b, COMPONENT, OP_expFun, STORE, 0, ROWS_OF(0, 1, 2, -1));
    add_call(&b, COMPONENT, OP_expFun, STORE, 1, ROWS_OF(0, 1, 5, -1));
    add_dependencies(&b);
    return finish(&b);
}

TEST_ALL(laws_are_components_of_slots_of_their_own)
{
    static const double theta[] = {2.0, 1.7, 0.35, 3.0, 0.2};
    pyspec_plan *plan = two_decays();
    grid g;
    make_grid(&g, plan, 21, 90);
    CHECK_INT(pyspec_check(plan, plan->size, &g.problem, NULL), STATUS_OK);
    double values[2][21 * 90], *to[] = {values[0], values[1]};
    const int64_t at[] = {0, 1};
    const pyspec_results results = {.n_values = 2, .values = to, .value_at = at};
    pyspec_call call = make_call(plan, &g.problem, theta, 0);
    CHECK_INT(pyspec_run_results(&call, &results, NULL), STATUS_OK);
    for (int row = 0; row < 21; row++)
        for (int i = 0; i < 90; i++) {
            const double moved = g.time[row] < theta[4]
                                     ? 0.0
                                     : theta[0] * exp(-(g.time[row] - theta[4]) / theta[3]);
            const double onset[] = {theta[2], moved};
            for (int k = 0; k < 2; k++) {
                const double away = g.x[i] - onset[k];
                const double want = away < 0.0 ? 0.0 : theta[0] * exp(-away / theta[1]);
                CHECK(fabs(values[k][row * 90 + i] - want) <= 1e-13);
            }
        }
}

TEST(what_is_not_there_is_refused)
{
    model m;
    make_model(&m, MODEL_2D, COLUMNS_NONE, 0, 9, 20);
    double value[9 * 20], *to = value, factor[9];
    const int64_t slot = m.plan->result, no_slot = m.plan->n_slots, no_theta = m.plan->n_theta;
    const int64_t first = 0, below = -2;
    pyspec_call call = make_call(m.plan, &m.g.problem, m.theta, PYSPEC_PREPARE_SLOPES);
    const pyspec_results good = {.n_values = 1, .values = &to, .value_at = &slot, .n_slopes = 1,
                                 .slopes = &to, .slope_at = &slot, .slope_by = &first,
                                 .n_entries = 1, .entry_row = &first, .entry_theta = &first,
                                 .factors = factor, .factors_row = 1};
    CHECK_INT(pyspec_run_results(&call, &good, NULL), STATUS_OK);
#define REFUSES(field, given, status)                                                              \
    do {                                                                                           \
        pyspec_results bad = good;                                                                 \
        bad.field = given;                                                                         \
        CHECK_INT(pyspec_run_results(&call, &bad, NULL), status);                                  \
    } while (0)
    REFUSES(value_at, &no_slot, STATUS_OFFSET);
    REFUSES(slope_at, &no_slot, STATUS_OFFSET);
    REFUSES(slope_by, &no_theta, STATUS_OFFSET);
    REFUSES(entry_row, &below, STATUS_OFFSET);
    REFUSES(entry_theta, &no_theta, STATUS_OFFSET);
    REFUSES(values, NULL, STATUS_NULL_POINTER);
    REFUSES(slopes, NULL, STATUS_NULL_POINTER);
    REFUSES(factors, NULL, STATUS_NULL_POINTER);
    REFUSES(n_values, -1, STATUS_SIZE);
    CHECK_INT(pyspec_run_results(&call, NULL, NULL), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_run_results(NULL, &good, NULL), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_results_size(m.plan), 0);
}

UNIT_MAIN
