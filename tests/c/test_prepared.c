/* test_prepared.c: entries that read what was prepared refuse a memory that is too small, or that was
 * prepared for another call. */
#include "models.h"
#include "separable.h"
#include "sums.h"
#include "unit.h"

#include <stdlib.h>

enum { ROWS = 9, POINTS = 7, SLOPES = PYSPEC_PREPARE_SLOPES };

/* A call that is prepared for sums of a form. */
typedef struct ready {
    model m;
    pyspec_normal sums;
    pyspec_call made, call;
    double theta[8];
} ready;

static void begin(ready *r, int form)
{
    const int64_t what = form == PYSPEC_FORM_VALUE ? 0 : SLOPES;
    make_model(&r->m, MODEL_2D, COLUMNS_NONE, 0, ROWS, POINTS);
    memcpy(r->theta, r->m.theta, (size_t)r->m.plan->n_theta * sizeof *r->theta);
    make_sums(&r->sums, form, r->m.plan->n_theta, PYSPEC_NORMAL_NODES, r->m.plan->n_theta + 1);
    r->made = r->call = make_call(r->m.plan, &r->m.g.problem, r->theta, what);
    CHECK_INT(pyspec_prepare(&r->call, what), STATUS_OK);
}

static void end(ready *r)
{
    free_call(&r->made);
    free_sums(&r->sums);
    free_model(&r->m);
}

/* Status of pyspec_accumulate after `edit` of r. */
#define EXPECT(want, edit)                                                                         \
    do {                                                                                           \
        ready own, *r = &own;                                                                      \
        begin(r, form);                                                                            \
        edit;                                                                                      \
        CHECK_INT(pyspec_accumulate(&r->call, &r->sums, 0, ROWS), want);                           \
        end(r);                                                                                    \
    } while (0)

static void sums_refuse_what_was_prepared_for_another_call(void)
{
    for (int form = 0; form <= PYSPEC_FORM_FISHER; form++) {
        const int needs_slopes = form != PYSPEC_FORM_VALUE;
        EXPECT(STATUS_OK, (void)0);
        EXPECT(STATUS_WORK, r->call.prepared_size = 64);
        EXPECT(STATUS_WORK, r->call.prepared_size--);
        EXPECT(STATUS_PREPARED, r->theta[2] += 1e-9);
        EXPECT(STATUS_PREPARED, r->m.g.fixed[1] += 1e-9);
        EXPECT(STATUS_PREPARED, r->m.g.problem.x_begin++);
        EXPECT(STATUS_PREPARED, r->m.g.problem.time = r->m.g.axes);
        EXPECT(STATUS_PREPARED, r->call.prepared[0] = NAN); /* nothing was prepared */
        EXPECT(needs_slopes ? STATUS_PREPARED : STATUS_OK,
               CHECK_INT(pyspec_prepare(&r->call, 0), STATUS_OK));
    }
}

/* It prepares for itself, in a memory that must be large enough. */
static void derivatives_need_room_to_prepare(void)
{
    ready own, *r = &own;
    begin(r, PYSPEC_FORM_GRAM);
    const int64_t n = r->m.plan->n_theta * ROWS * POINTS;
    r->call.out = calloc((size_t)n, sizeof *r->call.out);
    r->call.n_out = n;
    CHECK_INT(pyspec_jacobian(&r->call), STATUS_OK);
    r->call.prepared_size--;
    CHECK_INT(pyspec_jacobian(&r->call), STATUS_WORK);
    free(r->call.out);
    end(r);
}

/* A peak whose height a law moves, on a step that stands still: a separable plan. */
static pyspec_plan *separable_plan(void)
{
    plan_builder b;
    const int law[] = {0, 3, 4, -1}, peak[] = {5, 1, 2}, step[] = {0, 1, 2};
    const int store = PYSPEC_FLAG_STORE;
    start(&b, 2, 5, 0, 6, 1);
    add_call(&b, PYSPEC_STEP_LAW, OP_expFun, store, 5, 4, law);
    add_step(&b, PYSPEC_STEP_BASE, 0, 0, 5);
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_Gauss, store | PYSPEC_FLAG_SHAPE, 0, 3, peak);
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_ErfStep, PYSPEC_FLAG_STATIC, 0, 3, step);
    add_dependencies(&b);
    add_moving_heights(&b);
    return finish(&b);
}

/* Both halves of the sums over energies and times apart refuse what the others refuse. */
static void shapes_refuse_it_too(void)
{
    double theta[] = {2.0, 0.3, 0.2, 1.3, 0.3}, data[ROWS * POINTS] = {0};
    pyspec_plan *plan = separable_plan();
    pyspec_normal s;
    grid g;
    make_grid(&g, plan, ROWS, POINTS);
    g.problem.data = data;
    g.problem.data_row = POINTS * (int64_t)sizeof *data;
    g.problem.data_x = sizeof *data;
    CHECK_INT(pyspec_check(plan, plan->size, &g.problem, NULL), STATUS_OK);
    make_sums(&s, PYSPEC_FORM_GRAM, plan->n_theta, PYSPEC_NORMAL_NODES, plan->n_theta + 1);
    const pyspec_call good = make_call(plan, &g.problem, theta, SLOPES);
    pyspec_call call = good;
    CHECK(pyspec_is_separable(&good, PYSPEC_FORM_GRAM));
    CHECK_INT(pyspec_prepare(&good, SLOPES), STATUS_OK);
    CHECK_INT(pyspec_prepare_shapes(&good, PYSPEC_FORM_GRAM), STATUS_PREPARED);
    CHECK_INT(pyspec_prepare(&good, SLOPES | PYSPEC_PREPARE_SHAPES), STATUS_OK);
    call.work_size--;
    CHECK_INT(pyspec_prepare_shapes(&call, PYSPEC_FORM_GRAM), STATUS_WORK);
    CHECK_INT(pyspec_prepare_shapes(&good, PYSPEC_FORM_GRAM), STATUS_OK);
    CHECK_INT(pyspec_accumulate_shapes(&call, &s, 0, ROWS), STATUS_WORK);
    theta[2] += 1e-9;
    CHECK_INT(pyspec_prepare_shapes(&good, PYSPEC_FORM_GRAM), STATUS_PREPARED);
    CHECK_INT(pyspec_accumulate_shapes(&good, &s, 0, ROWS), STATUS_PREPARED);
    CHECK_INT(s.n_nodes, 0);
    free_call(&good);
    free_sums(&s);
    free_grid(&g);
    free(plan);
}

int main(void)
{
    RUN_ALL(sums_refuse_what_was_prepared_for_another_call);
    RUN(derivatives_need_room_to_prepare);
    RUN(shapes_refuse_it_too);
    return REPORT;
}
