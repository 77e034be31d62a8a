/* shapes_world.h: a separable problem with weights and masks along either axis, for tests of its sums. */
#ifndef SHAPES_WORLD_H
#define SHAPES_WORLD_H

#include "support/plans.h"
#include "support/unit.h"

enum { COMPONENT = PYSPEC_STEP_COMPONENT, LAW = PYSPEC_STEP_LAW };
enum { STORE = PYSPEC_FLAG_STORE, STATIC = PYSPEC_FLAG_STATIC, SHAPE = PYSPEC_FLAG_SHAPE };
enum { ROWS = 131, POINTS = 389, ORDER = 9 };

static const double true_theta[] = {2.0, 9.03, 0.72, 1.3, 0.3, 0.02, 0.4, 19.0};

/* Rows 0..7 are free (A, x0, SD, tau, t0, p, m, second x0); 8 and 9: heights that laws move. Two
 * peaks of moving heights, a still one, a step, and what Shirley makes of all that. */
static inline pyspec_plan *shapes_plan(int moves)
{
    plan_builder b;
    start(&b, 2, 8, 0, 10, 2);
    const int slow[] = {0, 3, 4, -1}, fast[] = {6, 2, 4, -1};
    const int first[] = {8, 1, 2}, still[] = {0, 7, 3};
    for (int k = 0; k < 2; k++) {
        add_call(&b, LAW, OP_expFun, STORE, 8 + k, 4, k ? fast : slow);
        add_step(&b, PYSPEC_STEP_BASE, 0, k ? 6 : 0, 8 + k);
    }
    add_call(&b, COMPONENT, OP_Gauss, STORE | (moves ? SHAPE : STATIC), 1, 3, moves ? first : still);
    if (moves)
        add_call(&b, COMPONENT, OP_GLP, SHAPE, 1, ROWS_OF(9, 7, 2, 6));
    add_call(&b, COMPONENT, OP_Lorentz, STATIC, 1, 3, still);
    add_call(&b, COMPONENT, OP_Shirley, STORE, 0, ROWS_OF(5))->source = 1;
    add_step(&b, PYSPEC_STEP_ADD, 0, 1, 0);
    add_call(&b, COMPONENT, OP_ErfStep, STATIC, 0, ROWS_OF(6, 1, 3));
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

static inline world *make_world(int moves, int weights, int masks)
{
    world *w = zeros(1, sizeof *w);
    int status;
    w->plan = shapes_plan(moves);
    make_grid(&w->g, w->plan, ROWS, POINTS);
    pyspec_problem *q = &w->g.problem;
    w->data = run_entry(RUN_EVALUATE, w->plan, q, true_theta, &status);
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
    set_data(q, w->data);
    q->weight = weights ? w->weight : NULL;
    q->weight_row = weights & BY_ROW ? POINTS * (int64_t)sizeof(double) : 0;
    q->weight_x = weights & BY_X ? sizeof(double) : 0;
    q->keep = masks ? w->keep : NULL;
    q->keep_row = masks & BY_ROW ? POINTS : 0;
    q->keep_x = masks & BY_X ? 1 : 0;
    return w;
}

#endif
