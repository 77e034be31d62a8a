/* test_check_steps.c: refusals of pyspec_check that concern convolutions, auxiliary points, what
 * the caller supplies, traces as results, and the loss. */
#include "support/refusals.h"

/* Rows 0..2 are free, 3 is fixed, 4 external; 5 moves and is convolved, 6 is an expression of
 * the external trace, nothing resolves 7; the blocks of three rows at 8 and 11 hold a profile
 * and an expression of it. */
enum { FIRST = 8, SECOND = 11, N_TRACES = 14 };
enum { LAW, CONVOLVE, BASE, EXPRESSION, PROFILE, BASES, SAMPLES, GAUSS, SHIRLEY, EXTERNAL, ADD };

static pyspec_plan *good_plan(void)
{
    plan_builder b;
    const int store = PYSPEC_FLAG_STORE;
    start(&b, 2, 3, 1, 8, 2);
    b.head.n_axes = 1;
    b.head.n_external = 1;
    b.head.n_spectra = 1;
    CHECK_INT(add_blocks(&b, 3, 2), FIRST);
    add_call(&b, PYSPEC_STEP_LAW, OP_expFun, store, 5, ROWS_OF(0, 1, 2, -1))->axis = 1;
    add_call(&b, PYSPEC_STEP_CONVOLVE, OP_gaussCONV, 0, 5, ROWS_OF(3));
    add_step(&b, PYSPEC_STEP_BASE, 0, 0, 5);
    add_expression(&b, 0, 6, CODE(RPN_PARAM, 4, RPN_CONST, 0, RPN_ADD, 0));
    add_call(&b, PYSPEC_STEP_PROFILE, OP_pExpDecay, store, FIRST, ROWS_OF(6, 1));
    add_step(&b, PYSPEC_STEP_BASE, 0, 5, FIRST);
    add_expression(&b, 0, SECOND, CODE(RPN_PARAM, FIRST, RPN_PARAM, 5, RPN_MUL, 0));
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_Gauss, store, 1, ROWS_OF(0, FIRST, 1));
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_Shirley, 0, 1, ROWS_OF(SECOND))->source = 1;
    add_step(&b, PYSPEC_STEP_EXTERNAL, store, 0, 0);
    add_step(&b, PYSPEC_STEP_ADD, 0, 1, 0);
    return finish(&b);
}

TEST(accepts_a_good_plan)
{
    EXPECT((void)0, STATUS_OK, -1, -1);
    EXPECT(q = NULL, STATUS_OK, -1, -1);
    EXPECT((p->trace = 5, q->n_x = q->x_end = 1), STATUS_OK, -1, -1);
    EXPECT((p->trace = 4, q->n_x = q->x_end = 1), STATUS_OK, -1, -1);
    EXPECT((q->loss = PYSPEC_LOSS_POISSON, q->loss_scale = 2.5), STATUS_OK, -1, -1);
}

TEST(refuses_a_bad_header)
{
    HEADER(p->n_external = -1, SIZE, n_external);
    HEADER(p->n_external = INT64_MAX, SIZE, n_external);
    HEADER(p->n_external = N_TRACES, SIZE, n_traces);
    HEADER(p->n_external = FIRST, ROW, samples); /* blocks among the inputs */
    HEADER(p->n_aux = -1, SIZE, n_aux);
    HEADER(p->n_aux = INT64_MAX, SIZE, n_aux);
    HEADER(p->n_aux = 0, ROW, samples);
    HEADER(p->n_aux = 4, ROW, samples);
    HEADER(p->samples = -1, ROW, samples);
    HEADER(p->samples = 4, ROW, samples);
    HEADER(p->samples = FIRST + 1, ROW, samples);
    HEADER(p->samples = N_TRACES + 1, ROW, samples);
    HEADER(p->samples = INT64_MIN, ROW, samples);
    HEADER(p->n_spectra = -1, SIZE, n_spectra);
    HEADER(p->n_spectra = (int64_t)1 << 40, SIZE, n_spectra);
    HEADER(p->trace = -2, ROW, trace);
    HEADER(p->trace = N_TRACES, ROW, trace);
    HEADER(p->trace = INT64_MAX, ROW, trace);
    HEADER(p->trace = 7, ROW, trace);     /* nothing resolves it */
    HEADER(p->trace = FIRST, ROW, trace); /* a block is no trace */
}

TEST(refuses_a_bad_convolution)
{
    NODE(CONVOLVE, op = -1, OP, op);
    NODE(CONVOLVE, op = N_OPS, OP, op);
    NODE(CONVOLVE, op = OP_none, OP, op);
    NODE(CONVOLVE, op = OP_gaussIRF, OP, op);
    NODE(CONVOLVE, n_params = 0, ARITY, n_params);
    NODE(CONVOLVE, n_params = 2, ARITY, n_params);
    NODE(CONVOLVE, params = -1, OFFSET, params);
    WORD(CONVOLVE, params, -1, ROW, params);
    WORD(CONVOLVE, params, 6, ROW, params);
    WORD(CONVOLVE, params, FIRST, ROW, params);
    WORD(CONVOLVE, guards, 1, GUARD, guards);
    NODE(CONVOLVE, target = 4, ROW, target); /* an input */
    NODE(CONVOLVE, target = 6, ROW, target); /* not resolved yet */
    NODE(CONVOLVE, repeat = 3, SIZE, repeat);
    EXPECT((n[CONVOLVE].target = FIRST, n[CONVOLVE].repeat = 3), STATUS_ROW, CONVOLVE,
           FIELD_pyspec_node_target);
    EXPECT((n[BASES] = n[CONVOLVE], n[BASES].target = FIRST, n[BASES].repeat = 3), STATUS_ROW,
           BASES, FIELD_pyspec_node_target); /* no convolution of a block, though resolved */
}

TEST(refuses_bad_auxiliary_points)
{
    NODE(PROFILE, op = OP_expFun, OP, op);
    NODE(PROFILE, op = OP_boxCONV, OP, op);
    NODE(PROFILE, n_params = 3, ARITY, n_params);
    NODE(PROFILE, target = FIRST + 1, ROW, target);
    NODE(PROFILE, target = 6, SIZE, repeat);
    EXPECT((n[PROFILE].target = 6, n[PROFILE].repeat = 1), STATUS_ROW, PROFILE,
           FIELD_pyspec_node_target);
    NODE(PROFILE, target = N_TRACES, ROW, target);
    NODE(PROFILE, flags = 0, ROW, target); /* adds to what is not there */
    NODE(PROFILE, repeat = 1, SIZE, repeat);
    NODE(PROFILE, repeat = INT32_MAX, SIZE, repeat);
    WORD(PROFILE, params, 7, ROW, params);
    WORD(PROFILE, params, FIRST, ROW, params);
    EXPECT((n[LAW].target = FIRST, n[LAW].repeat = 3), STATUS_ROW, LAW, FIELD_pyspec_node_target);
    NODE(BASE, source = FIRST, ROW, source);
    NODE(BASES, source = SECOND, ROW, source);
    NODE(BASES, source = FIRST + 1, ROW, source);
    NODE(BASES, target = SECOND, ROW, target);
    NODE(BASES, target = SECOND + 1, ROW, target);
    WORD(EXPRESSION, code + 1, FIRST, ROW, code);
    WORD(SAMPLES, code + 1, FIRST + 2, ROW, code);
    WORD(SAMPLES, code + 1, SECOND, ROW, code); /* reads itself */
    NODE(GAUSS, repeat = 1, ROW, params);
    NODE(GAUSS, repeat = 2, SIZE, repeat);
    NODE(GAUSS, repeat = -3, SIZE, repeat);
    NODE(SHIRLEY, repeat = 1, ROW, params);
    WORD(GAUSS, params + 1, FIRST + 1, ROW, params);
    WORD(GAUSS, params + 1, 7, ROW, params);
}

TEST(refuses_a_bad_external_component)
{
    NODE(EXTERNAL, source = -1, SLOT, source);
    NODE(EXTERNAL, source = 1, SLOT, source);
    NODE(EXTERNAL, source = INT64_MAX, SLOT, source);
    NODE(EXTERNAL, target = 2, SLOT, target);
    NODE(EXTERNAL, target = -1, SLOT, target);
    NODE(EXTERNAL, flags = 0, SLOT, target); /* adds to what is not there */
    EXPECT(p->n_spectra = 0, STATUS_SLOT, EXTERNAL, FIELD_pyspec_node_source);
}

TEST(refuses_a_bad_problem)
{
    PROBLEM(q->time = NULL, NULL_POINTER, time); /* the convolution reads it */
    PROBLEM(q->aux = NULL, NULL_POINTER, aux);
    PROBLEM(q->aux_weight = NULL, NULL_POINTER, aux_weight);
    PROBLEM(q->n_aux = 2, AXIS, n_aux);
    PROBLEM(q->n_aux = -1, AXIS, n_aux);
    PROBLEM(q->external = NULL, NULL_POINTER, external);
    PROBLEM(q->spectra = NULL, NULL_POINTER, spectra);
    PROBLEM(q->n_external = 1, SIZE, n_external);
    PROBLEM(q->n_external = 3, SIZE, n_external);
    PROBLEM(q->loss = -1, DATA, loss);
    PROBLEM(q->loss = PYSPEC_LOSS_POISSON + 1, DATA, loss);
    PROBLEM((q->loss = PYSPEC_LOSS_POISSON, q->loss_scale = 0.0), DATA, loss_scale);
    PROBLEM((q->loss = PYSPEC_LOSS_POISSON, q->loss_scale = -1.0), DATA, loss_scale);
    PROBLEM((q->loss = PYSPEC_LOSS_POISSON, q->loss_scale = (double)NAN), DATA, loss_scale);
    PROBLEM((q->loss = PYSPEC_LOSS_POISSON, q->loss_scale = (double)INFINITY), DATA, loss_scale);
    PROBLEM(p->trace = 5, SIZE, n_x); /* a trace has one abscissa */
    EXPECT(q->loss_scale = -1.0, STATUS_OK, -1, -1); /* nothing reads it */
}

/* A node runs no earlier than what it reads, and whatever a whole axis has in common is there before
 * the first row. */
TEST(refuses_a_bad_stage)
{
    const int row = PYSPEC_STAGE_ROW, axis = PYSPEC_STAGE_AXIS;
    NODE(LAW, stage = PYSPEC_STAGE_PROBLEM, STAGE, stage);
    NODE(LAW, stage = 3, STAGE, stage);
    NODE(LAW, stage = -1, STAGE, params);
    NODE(CONVOLVE, stage = row, STAGE, stage);
    NODE(BASE, stage = row, STAGE, stage); /* the same trace as the convolution's */
    NODE(PROFILE, stage = axis, STAGE, params);
    NODE(PROFILE, stage = PYSPEC_STAGE_PROBLEM, STAGE, params);
    NODE(EXPRESSION, stage = PYSPEC_STAGE_PROBLEM, STAGE, code);
    NODE(GAUSS, stage = row, STAGE, stage);
    NODE(GAUSS, flags |= PYSPEC_FLAG_STATIC, STAGE, params); /* its position moves */
    WORD(CONVOLVE, params, 4, STAGE, params); /* a width that the caller moves */
    WORD(LAW, params, 4, STAGE, params);
    NODE(BASE, source = 5, STAGE, source); /* itself */
    EXPECT((n[BASE] = n[EXPRESSION], n[EXPRESSION] = n[LAW]), STATUS_STAGE, EXPRESSION,
           FIELD_pyspec_node_target); /* row 5 is written again after others read it */
}

/* Data of some rows: the window lies within, and a convolution needs all external rows. */
TEST(refuses_a_bad_chunk)
{
    EXPECT((q->first_row = 1, q->chunk_rows = 3, q->row_begin = 1, q->row_end = 4), STATUS_OK, -1,
           -1);
    PROBLEM(q->chunk_rows = 0, WINDOW, chunk_rows);
    PROBLEM(q->chunk_rows = q->n_rows + 1, WINDOW, chunk_rows);
    PROBLEM(q->first_row = 1, WINDOW, first_row);
    PROBLEM(q->first_row = -1, WINDOW, first_row);
    PROBLEM((q->first_row = 1, q->chunk_rows = 2), WINDOW, row_begin);
    PROBLEM((q->chunk_rows = 2), WINDOW, row_end);
    EXPECT((n[BASE].source = 4, q->first_row = 1, q->chunk_rows = 3, q->row_begin = 1,
            q->row_end = 4),
           STATUS_WINDOW, -1, FIELD_pyspec_problem_chunk_rows);
    EXPECT(n[BASE].source = 4, STATUS_OK, -1, -1);
}

UNIT_MAIN
