/* test_check.c: refusals of pyspec_check: memory, header, laws, expressions, components, and the
 * problem. */
#include "support/refusals.h"

static const int law_rows[] = {0, 1, 2, -1}, gauss_rows[] = {0, 4, 1}, shirley_rows[] = {2};
static const int line_rows[] = {0, 1, 2, 3};
static const int64_t code[] = {RPN_PARAM, 0, RPN_CONST, 0, RPN_ADD, 0};

enum { LAW, BASE, EXPRESSION, GAUSS, LINE, SHIRLEY, ADD };

/* Three free and one fixed parameter; row 4 moves by a law, row 5 is an expression; slot 1
 * is a Gauss, a line and a Shirley, added to slot 0. */
static pyspec_plan *good_plan(void)
{
    plan_builder b;
    const int store = PYSPEC_FLAG_STORE;
    start(&b, 2, 3, 1, 6, 2);
    b.head.n_axes = 1;
    b.head.n_masks = 1;
    pyspec_node *law =
        add_call(&b, PYSPEC_STEP_LAW, OP_expFun, store, 4, 4, law_rows);
    law->axis = 1;
    law->mask = 0;
    add_step(&b, PYSPEC_STEP_BASE, 0, 0, 4);
    add_expression(&b, 0, 5, 3, code);
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_Gauss, store, 1, 3, gauss_rows);
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_LinBack, 0, 1, 4, line_rows);
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_Shirley, 0, 1, 1, shirley_rows)->source = 1;
    add_step(&b, PYSPEC_STEP_ADD, store, 1, 0);
    return finish(&b);
}

TEST(accepts_a_good_plan)
{
    EXPECT((void)0, STATUS_OK, -1, -1);
    EXPECT(q = NULL, STATUS_OK, -1, -1);
}

TEST(refuses_a_bad_memory)
{
    CHECK_INT(pyspec_check(NULL, 0, NULL, NULL), STATUS_NULL_POINTER);
    HEADER(size = -1, SIZE, size);
    HEADER(size = (int64_t)sizeof(pyspec_plan) - 1, SIZE, size);
    HEADER(size -= 8, SIZE, size);
    HEADER(size += 8, SIZE, size);
    /* A plan cut off: nothing behind its end is read. */
    for (int64_t size = 0; size < 1200; size += 8) {
        pyspec_plan *p = good_plan();
        if (size < p->size) {
            pyspec_plan *cut = exact(size, 1);
            memcpy(cut, p, (size_t)size);
            if (size >= (int64_t)sizeof *p)
                cut->size = size;
            CHECK(pyspec_check(cut, size, NULL, NULL) != STATUS_OK);
        }
    }
    pyspec_plan *p = good_plan();
    CHECK_INT(pyspec_check((char *)p + 4, p->size - 4, NULL, NULL), STATUS_SIZE);
}

TEST(refuses_a_bad_header)
{
    HEADER(p->abi = PYSPEC_ABI + 1, ABI, abi);
    HEADER(p->dimension = 0, SIZE, dimension);
    HEADER(p->dimension = 3, SIZE, dimension);
    HEADER(p->n_theta = -1, SIZE, n_theta);
    HEADER(p->n_theta = INT64_MAX, SIZE, n_theta);
    HEADER(p->n_fixed = -1, SIZE, n_fixed);
    HEADER(p->n_fixed = INT64_MIN, SIZE, n_fixed);
    HEADER(p->n_traces = 3, SIZE, n_traces);
    HEADER(p->n_traces = (int64_t)1 << 40, SIZE, n_traces);
    HEADER(p->n_nodes = -1, SIZE, n_nodes);
    HEADER(p->n_nodes = 1 << 20, SIZE, n_nodes);
    HEADER(p->n_resolve = -1, SIZE, n_resolve);
    HEADER(p->n_resolve = p->n_nodes + 1, SIZE, n_resolve);
    HEADER(p->n_slots = 0, SIZE, n_slots);
    HEADER(p->n_slots = INT64_MAX, SIZE, n_slots);
    HEADER(p->result = 2, SLOT, result);
    HEADER(p->result = -1, SLOT, result);
    HEADER((p->n_slots = 3, p->result = 2), SLOT, result);
    HEADER(p->stack_depth = -1, SIZE, stack_depth);
    HEADER(p->n_axes = -1, SIZE, n_axes);
    HEADER(p->n_masks = INT64_MAX, SIZE, n_masks);
    HEADER(p->n_words = -1, SIZE, n_words);
    HEADER(p->n_words += 1, OFFSET, words);
    HEADER(p->n_nodes = 1 << 10, OFFSET, nodes);
    HEADER(p->nodes = 0, OFFSET, nodes);
    HEADER(p->nodes = INT64_MAX - 7, OFFSET, nodes);
    HEADER(p->nodes += 4, OFFSET, nodes);
    HEADER(p->words = -8, OFFSET, words);
    HEADER(p->words += 8, OFFSET, words);
    HEADER(p->words += 1, OFFSET, words);
}

TEST(refuses_a_bad_resolving_node)
{
    NODE(LAW, step = PYSPEC_STEP_EXTERNAL + 1, STEP, step);
    NODE(LAW, step = PYSPEC_STEP_ADD, STEP, step);
    NODE(LAW, step = PYSPEC_STEP_EXTERNAL, STEP, step);
    NODE(LAW, step = -1, STEP, step);
    NODE(LAW, step = PYSPEC_STEP_COMPONENT, STEP, step);
    NODE(LAW, op = -1, OP, op);
    NODE(LAW, op = N_OPS, OP, op);
    NODE(LAW, op = OP_Gauss, OP, op);
    NODE(LAW, op = OP_gaussCONV, OP, op);
    NODE(LAW, op = OP_pLinear, OP, op);
    NODE(LAW, op = OP_gaussIRF, OP, op);
    NODE(LAW, repeat = 0, SIZE, repeat);
    NODE(LAW, repeat = 2, SIZE, repeat);
    NODE(LAW, n_params = 3, ARITY, n_params);
    NODE(LAW, op = OP_sinFun, ARITY, n_params);
    NODE(LAW, params = -1, OFFSET, params);
    NODE(LAW, params = INT64_MAX, OFFSET, params);
    EXPECT(n[LAW].params = p->n_words - 3, STATUS_OFFSET, LAW, FIELD_pyspec_node_params);
    NODE(LAW, guards = -1, OFFSET, guards);
    NODE(LAW, guards = 1 << 20, OFFSET, guards);
    NODE(LAW, n_guards = -1, GUARD, n_guards);
    NODE(LAW, n_guards = INT32_MAX, GUARD, n_guards);
    WORD(LAW, guards, 4, GUARD, guards);
    WORD(LAW, guards, -1, GUARD, guards);
    WORD(LAW, guards + 1, 4, GUARD, guards);
    WORD(LAW, guards + 2, 4, GUARD, guards);
    WORD(LAW, guards + 2, -2, GUARD, guards);
    WORD(LAW, params, -1, ROW, params); /* A cannot be left out */
    WORD(LAW, params, 4, ROW, params);  /* its own target, not resolved yet */
    WORD(LAW, params + 3, 6, ROW, params);
    WORD(LAW, params, INT64_MIN, ROW, params);
    NODE(LAW, axis = 2, AXIS, axis);
    NODE(LAW, axis = -1, AXIS, axis);
    NODE(LAW, mask = 1, AXIS, mask);
    NODE(LAW, mask = -2, AXIS, mask);
    NODE(LAW, target = 3, ROW, target); /* an input */
    NODE(LAW, target = 6, ROW, target);
    NODE(LAW, flags = 0, ROW, target); /* adds to what is not there */
    NODE(BASE, target = 5, ROW, target);
    NODE(BASE, source = 5, ROW, source);
    NODE(BASE, source = -1, ROW, source);
}

TEST(refuses_a_bad_program)
{
    NODE(EXPRESSION, code = -1, OFFSET, code);
    NODE(EXPRESSION, code = INT64_MAX, OFFSET, code);
    NODE(EXPRESSION, n_code = 0, PROGRAM, n_code);
    NODE(EXPRESSION, n_code = INT32_MAX, PROGRAM, n_code);
    NODE(EXPRESSION, n_code = 2, PROGRAM, code);      /* two values left */
    WORD(EXPRESSION, code + 4, RPN_CONST, PROGRAM, code); /* deeper than the stack */
    WORD(EXPRESSION, code, RPN_ADD, PROGRAM, code);   /* operands missing */
    EXPECT((w[n[EXPRESSION].code + 2] = RPN_ADD, w[n[EXPRESSION].code + 4] = RPN_CONST),
           STATUS_PROGRAM, EXPRESSION, FIELD_pyspec_node_code); /* one operand missing */
    WORD(EXPRESSION, code, N_RPN, PROGRAM, code);
    WORD(EXPRESSION, code, -1, PROGRAM, code);
    WORD(EXPRESSION, code + 1, 5, ROW, code); /* reads itself */
    WORD(EXPRESSION, code + 1, -1, ROW, code);
    EXPECT(p->stack_depth = 1, STATUS_PROGRAM, EXPRESSION, FIELD_pyspec_node_code);
}

TEST(refuses_a_bad_component)
{
    NODE(GAUSS, step = PYSPEC_STEP_LAW, STEP, step);
    NODE(GAUSS, step = PYSPEC_STEP_CONVOLVE, STEP, step);
    NODE(GAUSS, step = PYSPEC_STEP_PROFILE, STEP, step);
    NODE(GAUSS, step = PYSPEC_STEP_EXTERNAL + 1, STEP, step);
    NODE(GAUSS, op = N_OPS, OP, op);
    NODE(GAUSS, op = OP_expFun, ARITY, n_params); /* a law may run over abscissae */
    NODE(GAUSS, op = OP_gaussIRF, OP, op);
    NODE(GAUSS, op = OP_pGauss, OP, op);
    NODE(GAUSS, repeat = 0, SIZE, repeat);
    NODE(GAUSS, repeat = 2, SIZE, repeat);
    NODE(GAUSS, n_params = 4, ARITY, n_params);
    NODE(GAUSS, n_params = -3, ARITY, n_params);
    NODE(GAUSS, target = 2, SLOT, target);
    NODE(GAUSS, target = -1, SLOT, target);
    NODE(GAUSS, flags = 0, SLOT, target);
    NODE(LINE, source = 1, SLOT, source); /* not spectrum-fed */
    NODE(SHIRLEY, source = 0, SLOT, source);
    NODE(SHIRLEY, source = -2, SLOT, source);
    NODE(SHIRLEY, flags = PYSPEC_FLAG_STORE, SLOT, source); /* would overwrite what it reads */
    NODE(SHIRLEY, flags = PYSPEC_FLAG_STATIC, STEP, flags);
    NODE(ADD, source = -1, SLOT, source);
    NODE(ADD, source = 0, SLOT, source);
    EXPECT((n[ADD].target = 1, n[ADD].flags = 0, p->result = 1), STATUS_SLOT, ADD,
           FIELD_pyspec_node_source); /* onto itself */
    WORD(GAUSS, params + 2, -1, ROW, params);
    WORD(GAUSS, params, 6, ROW, params);
    WORD(LINE, guards + 2, 4, GUARD, guards);
    EXPECT(p->n_resolve = EXPRESSION, STATUS_STEP, EXPRESSION, FIELD_pyspec_node_step);
    EXPECT(p->n_resolve = LINE, STATUS_STEP, GAUSS, FIELD_pyspec_node_step);
}

/* Status of the good plan with another op in one node. */
static int status_with_op(int node, int op)
{
    pyspec_plan *p = good_plan();
    ((pyspec_node *)((char *)p + p->nodes))[node].op = op;
    int status = pyspec_check(p, p->size, NULL, NULL);
    return status;
}

/* For every row: a law runs what moves in time, a component what stands over energies or, in a turned plan,
 * over times. */
TEST(refuses_an_op_of_another_kind)
{
    for (int op = 0; op < N_OPS; op++) {
        const op_row *row = &pyspec_op_table[op];
        int law = row->kind == KIND_DYNAMICS || row->kind == KIND_RESPONSE;
        int component = row->kind == KIND_PEAK || row->kind == KIND_BACKGROUND ||
                        row->kind == KIND_RESOLVED || is_fed(row);
        CHECK_INT(status_with_op(LAW, op) != STATUS_OP, law);
        CHECK_INT(status_with_op(GAUSS, op) != STATUS_OP, component || law);
        CHECK_INT(row->domain == DOMAIN_ENERGY, component || row->kind == KIND_RESOLUTION);
        CHECK_INT(row->domain == DOMAIN_AUX, row->kind == KIND_PROFILE);
    }
}

TEST(refuses_a_bad_problem)
{
    PROBLEM(q->x = NULL, NULL_POINTER, x);
    PROBLEM(q->fixed = NULL, NULL_POINTER, fixed);
    PROBLEM(q->axes = NULL, NULL_POINTER, axes);
    PROBLEM(q->masks = NULL, NULL_POINTER, masks);
    EXPECT(q->time = NULL, STATUS_OK, -1, -1); /* the law reads an extra axis */
    PROBLEM((q->time = NULL, n[LAW].axis = 0), NULL_POINTER, time);
    PROBLEM(q->n_axes = 2, AXIS, n_axes);
    PROBLEM(q->n_masks = 0, AXIS, n_masks);
    PROBLEM(q->n_fixed = 2, SIZE, n_fixed);
    PROBLEM(q->n_x = 0, SIZE, n_x);
    PROBLEM(q->n_x = INT64_MAX, SIZE, n_x);
    PROBLEM(q->n_rows = 0, SIZE, n_rows);
    PROBLEM(q->n_rows = -5, SIZE, n_rows);
    PROBLEM(p->dimension = 1, ORIENTATION, n_rows);
    PROBLEM(q->row_begin = -1, WINDOW, row_begin);
    PROBLEM(q->row_begin = 5, WINDOW, row_begin);
    PROBLEM(q->row_end = 6, WINDOW, row_end);
    PROBLEM(q->row_end = 0, WINDOW, row_end);
    PROBLEM((q->row_begin = 2, q->row_end = 2), WINDOW, row_end);
    PROBLEM(q->x_begin = 7, WINDOW, x_begin);
    PROBLEM(q->x_begin = INT64_MIN, WINDOW, x_begin);
    PROBLEM(q->x_end = 8, WINDOW, x_end);
    PROBLEM((q->x_begin = 3, q->x_end = 3), WINDOW, x_end);
    PROBLEM(q->data_type = 3, DATA, data_type);
    PROBLEM(q->data_type = -1, DATA, data_type);
}

UNIT_MAIN
