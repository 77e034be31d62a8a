#include "support/models.h"

#include <math.h>
#include <stdlib.h>

enum { STORE = PYSPEC_FLAG_STORE, STATIC = PYSPEC_FLAG_STATIC, SHAPE = PYSPEC_FLAG_SHAPE };
enum { COMPONENT = PYSPEC_STEP_COMPONENT, LAW = PYSPEC_STEP_LAW };

static const double spectra_theta[] = {2.0, 3.03, 0.72, 1.3, 0.3, 0.02, 0.4};
static const double aux_theta[] = {1.5, 2.0, 0.6, 0.8, 0.05};
static const double trace_theta[] = {2.0, 1.3, -0.4, 0.5};

/* Rows 0..6 are free (A, x0, SD, tau, t0, p, m), 7..8 fixed; 9: x0 moved by two laws, one of them
 * masked; 10: an expression of it; 11: a static expression; 12: a height that a law moves. */
static void build_spectra(plan_builder *b, int dimension, int columns)
{
    start(b, dimension, 7, 2, 13, 2);
    b->head.n_axes = 2;
    b->head.n_masks = 2;
    add_call(b, LAW, OP_expFun, STORE, 9, ROWS_OF(0, 3, 4, -1));
    pyspec_node *law = add_call(b, LAW, OP_sinFun, 0, 9, ROWS_OF(6, 7, 5, 4, 0));
    law->axis = 2;
    law->mask = 1;
    add_step(b, PYSPEC_STEP_BASE, 0, 1, 9);
    add_expression(b, 0, 10, CODE(RPN_PARAM, 9, RPN_CONST, bits_of(0.1), RPN_MUL, 0, RPN_PARAM, 2, RPN_ADD, 0));
    add_expression(b, 0, 11, CODE(RPN_PARAM, 2, RPN_CONST, bits_of(3.0), RPN_DIV, 0));
    add_call(b, LAW, OP_expFun, STORE, 12, ROWS_OF(0, 3, 4, -1));
    add_step(b, PYSPEC_STEP_BASE, 0, 6, 12);
    add_call(b, COMPONENT, OP_Offset, STORE | STATIC, 1, ROWS_OF(11));
    add_call(b, COMPONENT, OP_Gauss, 0, 1, ROWS_OF(0, 9, 2));
    add_call(b, COMPONENT, OP_GLP, 0, 1, ROWS_OF(0, 10, 2, 6));
    add_call(b, COMPONENT, OP_GLP, SHAPE, 1, ROWS_OF(12, 1, 2, 6));
    add_call(b, COMPONENT, OP_Shirley, STORE, 0, ROWS_OF(5))->source = 1;
    add_step(b, PYSPEC_STEP_ADD, 0, 1, 0);
    add_call(b, COMPONENT, OP_LinBack, STATIC, 0, ROWS_OF(6, 5, 2, 1));
    add_call(b, COMPONENT, OP_Gauss, STATIC, 0, ROWS_OF(7, 1, 11));
    add_call(b, COMPONENT, OP_Shirley, 0, 0, ROWS_OF(5))->source = 0;
    add_dependencies(b);
    const int mixed[] = {12, 9, 2, 10, 6, 1, 0, 5, 11, 8}, turned[] = {6, 5, 4, 3, 2, 1, 0};
    if (columns == COLUMNS_MIXED)
        add_columns(b, 10, mixed);
    if (columns == COLUMNS_TURNED)
        add_columns(b, 7, turned);
}

/* Rows 0..4 are free (A, x0, SD, tau, p); 5: x0 moved; the blocks of three hold a decay along the
 * auxiliary axis from there, and an expression of it. */
static void build_aux(plan_builder *b, int columns)
{
    start(b, 2, 5, 0, 6, 2);
    const int first = add_blocks(b, 3, 2), second = first + 3;
    add_call(b, LAW, OP_expFun, STORE, 5, ROWS_OF(0, 3, 4, -1));
    add_step(b, PYSPEC_STEP_BASE, 0, 1, 5);
    add_call(b, PYSPEC_STEP_PROFILE, OP_pExpDecay, STORE, first, ROWS_OF(0, 3));
    add_step(b, PYSPEC_STEP_BASE, 0, 5, first);
    add_expression(b, 0, second, CODE(RPN_PARAM, first, RPN_PARAM, 4, RPN_MUL, 0));
    add_call(b, COMPONENT, OP_Gauss, STORE, 1, ROWS_OF(0, first, 2));
    add_call(b, COMPONENT, OP_Gauss, STATIC, 1, ROWS_OF(0, 1, 2));
    add_call(b, COMPONENT, OP_Shirley, STORE, 0, ROWS_OF(second))->source = 1;
    add_step(b, PYSPEC_STEP_ADD, 0, 1, 0);
    add_dependencies(b);
    const int mixed[] = {5, 2, 0, 3, 1, 4}, turned[] = {4, 3, 2, 1, 0};
    if (columns == COLUMNS_MIXED)
        add_columns(b, 6, mixed);
    if (columns == COLUMNS_TURNED)
        add_columns(b, 5, turned);
}

/* A trace moved by a law: A, tau, t0 and its base are free. */
static void build_trace(plan_builder *b, int columns)
{
    const int turned[] = {3, 2, 1, 0}, mixed[] = {4};
    start(b, 2, 4, 0, 5, 1);
    add_call(b, LAW, OP_expFun, STORE, 4, ROWS_OF(0, 1, 2, -1));
    add_step(b, PYSPEC_STEP_BASE, 0, 3, 4);
    b->head.trace = 4;
    add_dependencies(b);
    if (columns == COLUMNS_MIXED)
        add_columns(b, 1, mixed);
    if (columns == COLUMNS_TURNED)
        add_columns(b, 4, turned);
}

/* The model and a wiggle; counts, some of them 0, for the Poisson deviance. */
static void make_data(model *m, int is_counts)
{
    const pyspec_problem *q = &m->g.problem;
    const int64_t n = q->n_rows * q->n_x;
    int status;
    m->data = run_entry(RUN_EVALUATE, m->plan, q, m->theta, &status);
    if (!m->data)
        abort();
    for (int64_t i = 0; i < n; i++) {
        double wiggle = sin(0.7 * (double)i) + 0.3 * cos(2.9 * (double)i);
        m->data[i] += 0.1 * wiggle;
        if (is_counts)
            m->data[i] = i % 17 ? floor(4.0 * fabs(m->data[i]) + wiggle * wiggle) : 0.0;
    }
}

/* Points that are not kept hold anything. */
static void dress_problem(model *m, int dress)
{
    pyspec_problem *q = &m->g.problem;
    const int64_t n = q->n_rows * q->n_x, row = q->n_x * (int64_t)sizeof(double);
    m->weight = exact(n, sizeof *m->weight);
    m->keep = exact(n, 1);
    for (int64_t i = 0; i < n; i++) {
        m->weight[i] = 0.5 + 0.01 * (double)(i % 97);
        m->keep[i] = i % 5 != 3;
        if (dress & DRESS_KEEP && !m->keep[i])
            m->data[i] = i % 2 ? (double)NAN : (double)INFINITY;
    }
    q->data = m->data;
    q->weight = dress & DRESS_WEIGHT ? m->weight : NULL;
    q->keep = dress & DRESS_KEEP ? m->keep : NULL;
    q->data_row = q->weight_row = row;
    q->data_x = q->weight_x = sizeof(double);
    q->keep_row = q->n_x;
    q->keep_x = 1;
    q->loss = dress & DRESS_POISSON ? PYSPEC_LOSS_POISSON : PYSPEC_LOSS_SQUARES;
    q->loss_scale = 1.5;
    if (!(dress & DRESS_WINDOW))
        return;
    q->row_begin = q->n_rows > 6 ? 3 : 0;
    q->row_end = q->n_rows > 6 ? q->n_rows - 2 : q->n_rows;
    q->x_begin = q->n_x > 6 ? 2 : 0;
    q->x_end = q->n_x > 6 ? q->n_x - 3 : q->n_x;
}

void make_model(model *m, int kind, int columns, int dress, int64_t n_rows, int64_t n_x)
{
    plan_builder b;
    if (kind == MODEL_AUX)
        build_aux(&b, columns);
    else if (kind == MODEL_TRACE)
        build_trace(&b, columns);
    else
        build_spectra(&b, kind == MODEL_1D ? 1 : 2, columns);
    m->plan = finish(&b);
    m->theta = kind == MODEL_AUX     ? aux_theta
               : kind == MODEL_TRACE ? trace_theta
                                     : spectra_theta;
    make_grid(&m->g, m->plan, kind == MODEL_1D ? 1 : n_rows, kind == MODEL_TRACE ? 1 : n_x);
    if (kind == MODEL_1D)
        m->g.time[0] = m->g.axes[0] = m->g.axes[1] = 1.0; /* after the onset */
    make_data(m, dress & DRESS_POISSON);
    dress_problem(m, dress);
    if (pyspec_check(m->plan, m->plan->size, &m->g.problem, NULL))
        abort();
}
