/* test_check_edges.c: what pyspec_check accepts at the edge, and refuses one beyond it: programs and
 * guards at the ends of the words, formulas, auxiliary points, and what reads the whole axis. */
#include "formula/formula.h"
#include "support/refusals.h"

#include <float.h>

/* Rows 0..39 are free, 40 is external, 41 and 42 are left to the nodes, blocks of two at 43. */
enum { N_THETA = 40, EXTERNAL = 40, MOVED = 41, OTHER = 42, BLOCK_ROW = 43, SECOND = 45 };
enum { MOST_GUARDS = 2 * MAX_PARAMS, N_FREE_WORDS = 4 * MOST_GUARDS + 8 };

/* What good_plan builds. */
static enum { AXIS, POINTS, FORMULA, GUARDED, SINGLE } kind;

/* A formula whose value and slopes are the abscissa. Returns its length. */
static int copy_formula(int64_t *words, int n_params)
{
    const formula f = {.n_words = FORMULA_HEAD + (1 + n_params) * FORMULA_WORDS,
                       .n_params = n_params,
                       .n_rows = n_params,
                       .n_vectors = 1,
                       .n_value = 1,
                       .n_code = 1 + n_params,
                       .chunk = FORMULA_SHORT};
    memcpy(words, &f, sizeof f);
    for (int k = 0; k <= n_params; k++) {
        const int64_t code[FORMULA_WORDS] = {FORMULA_COPY, n_params + 1 + k, n_params};
        memcpy(words + FORMULA_HEAD + k * FORMULA_WORDS, code, sizeof code);
    }
    return (int)f.n_words;
}

/* Row 41 is a sum, convolved, so that it runs along the whole axis; the first words look like a
 * node that does the same with the external row, and like instructions that read it. */
static void build_axis(plan_builder *b)
{
    pyspec_node other = {.step = PYSPEC_STEP_BASE, .op = -1, .stage = PYSPEC_STAGE_AXIS};
    int64_t words[sizeof other / sizeof(int64_t)];
    other.source = EXTERNAL;
    memcpy(words, &other, sizeof other);
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        add_word(b, words[k]);
    add_expression(b, 0, MOVED, CODE(RPN_PARAM, 2, RPN_CONST, EXTERNAL, RPN_ADD, 0));
    add_word(b, RPN_PARAM);
    add_word(b, EXTERNAL);
    add_call(b, PYSPEC_STEP_CONVOLVE, OP_gaussCONV, 0, MOVED, ROWS_OF(1));
}

/* Profiles over two points, a component that runs over them, and slot 1, which adds slot 0. */
static void build_points(plan_builder *b, int n_aux)
{
    const int store = PYSPEC_FLAG_STORE;
    CHECK_INT(add_blocks(b, n_aux, 2), BLOCK_ROW);
    add_call(b, PYSPEC_STEP_PROFILE, OP_pExpDecay, store, BLOCK_ROW, ROWS_OF(0, 1));
    add_call(b, PYSPEC_STEP_LAW, OP_expFun, store, MOVED, ROWS_OF(0, 1, 2, -1));
    add_call(b, PYSPEC_STEP_CONVOLVE, OP_gaussCONV, 0, MOVED, ROWS_OF(3));
    add_call(b, PYSPEC_STEP_PROFILE, OP_pExpDecay, store, BLOCK_ROW + n_aux, ROWS_OF(0, 1));
    add_call(b, PYSPEC_STEP_COMPONENT, OP_Gauss, store, 0, ROWS_OF(0, BLOCK_ROW, 1));
    add_step(b, PYSPEC_STEP_ADD, store, 0, 1);
    b->head.result = 1;
}

enum { PROFILE, LAW, CONVOLVE, PROFILES, GAUSS, ADD };

static pyspec_plan *good_plan(void)
{
    static plan_builder made;
    plan_builder *b = &made;
    const int store = PYSPEC_FLAG_STORE, gauss[] = {0, 1, 2};
    int64_t program[FORMULA_HEAD + (1 + MAX_PARAMS) * FORMULA_WORDS];
    int rows[MAX_PARAMS];
    start(b, 2, N_THETA, 0, BLOCK_ROW, 2);
    b->head.n_external = 1;
    if (kind == AXIS) {
        build_axis(b);
    } else if (kind == POINTS || kind == SINGLE) {
        build_points(b, kind == POINTS ? 2 : 1);
    } else if (kind == FORMULA) {
        for (int k = 0; k < MAX_PARAMS; k++)
            rows[k] = k;
        for (int k = 0; k < N_FREE_WORDS; k++)
            add_word(b, 0);
        add_formula(b, PYSPEC_STEP_COMPONENT, store, 0, MAX_PARAMS, rows,
                    copy_formula(program, MAX_PARAMS), program)
            ->guards = 0;
    } else {
        for (int k = 0; k < N_FREE_WORDS; k++)
            add_word(b, 0);
        add_expression(b, 0, MOVED, CODE(RPN_PARAM, 0, RPN_PARAM, 1, RPN_ADD, 0));
        const int64_t n_words = b->head.n_words;
        pyspec_node *node = add_call(b, PYSPEC_STEP_COMPONENT, OP_Gauss, store, 0, 3, gauss);
        node->params = node->guards = node->n_guards = 0; /* three times row 0 */
        b->head.n_words = n_words; /* the program ends the words */
    }
    return finish(b);
}

#define PART(begin, count)                                                                         \
    (q->first_row = q->row_begin = (begin), q->chunk_rows = (count), q->row_end = (begin) + (count))

TEST(what_reads_external_rows_of_the_whole_axis)
{
    kind = AXIS;
    ACCEPT((void)0);
    ACCEPT(PART(1, 3)); /* a constant is no row, and what follows a program is not read */
    PROBLEM((PART(1, 3), w[n[0].code + 1] = EXTERNAL), WINDOW, chunk_rows);
    PROBLEM((PART(1, 3), w[n[0].code + 2] = RPN_PARAM), WINDOW, chunk_rows);
    /* A law or a convolution reads the time; the first words look like one of them. */
    PROBLEM(q->time = NULL, NULL_POINTER, time);
    EXPECT((p->n_nodes = p->n_resolve = 1, w[0] = PYSPEC_STEP_CONVOLVE, q->time = NULL), STATUS_OK,
           -1, -1);
}

TEST(one_row_one_abscissa_one_trace)
{
    kind = AXIS;
    ACCEPT((q->n_rows = 1, PART(0, 1)));
    ACCEPT((p->dimension = 1, q->n_rows = 1, PART(0, 1)));
    ACCEPT((q->row_begin = 4, q->row_end = 5));
    ACCEPT((q->x_begin = 6, q->x_end = 7));
    PROBLEM(p->trace = 0, SIZE, n_x);
    ACCEPT((p->trace = 0, q->n_x = q->x_end = 1));
    PROBLEM((q->row_end = q->n_rows + 1, q->chunk_rows = 0), WINDOW, row_end);
    ACCEPT(q->data_type = PYSPEC_TYPE_F32);
    ACCEPT(q->data_type = PYSPEC_TYPE_U16);
    ACCEPT((q->loss = PYSPEC_LOSS_POISSON, q->loss_scale = 1e-300));
    ACCEPT((q->loss = PYSPEC_LOSS_POISSON, q->loss_scale = DBL_MAX));
    VALUE((q->loss = PYSPEC_LOSS_POISSON, q->loss_scale = 0.0), STATUS_DATA, -1,
          FIELD_pyspec_problem_loss_scale, 0);
    VALUE(q->data_type = 9, STATUS_DATA, -1, FIELD_pyspec_problem_data_type, 9);
}

/* The smallest memory that is a plan: the header alone. */
TEST(a_header_alone)
{
    pyspec_fault fault = {-1, -2, -2, -1};
    pyspec_plan alone = {.abi = PYSPEC_ABI, .size = sizeof alone, .dimension = 1, .n_slots = 1};
    alone.nodes = alone.words = sizeof alone;
    alone.trace = alone.depends = alone.columns = alone.separable = -1;
    CHECK_INT(pyspec_check(&alone, alone.size, NULL, &fault), STATUS_OK);
    alone.result = 1;
    CHECK_INT(pyspec_check(&alone, alone.size, NULL, &fault), STATUS_SLOT);
    CHECK_INT(fault.field, FIELD_pyspec_plan_result);
    alone.result = 0;
    alone.n_traces = alone.samples = 1;
    alone.trace = 0; /* nothing writes it */
    CHECK_INT(pyspec_check(&alone, alone.size, NULL, &fault), STATUS_ROW);
    CHECK_INT(fault.field, FIELD_pyspec_plan_trace);
    CHECK_INT(pyspec_check(NULL, 0, NULL, &fault), STATUS_NULL_POINTER);
    CHECK_INT(fault.node, -1);
    CHECK_INT(fault.field, -1);
    CHECK_INT(fault.value, 0);
}

TEST(programs_at_the_ends_of_the_words)
{
    kind = GUARDED;
    ACCEPT((void)0);
    NODE(0, n_code = 4, PROGRAM, n_code);
    WORD(0, code + 3, -1, ROW, code);
    EXPECT(n[0].code = p->n_words, STATUS_PROGRAM, 0, FIELD_pyspec_node_n_code);
    EXPECT(n[0].code = p->n_words + 1, STATUS_OFFSET, 0, FIELD_pyspec_node_code);
    EXPECT((n[0].code = 0, memcpy(w, w + p->n_words - 6, 48)), STATUS_OK, -1, -1);
}

TEST(guards_at_the_ends_of_the_words)
{
    kind = GUARDED;
    ACCEPT((n[1].guards = 0, n[1].n_guards = MOST_GUARDS));
    NODE(1, n_guards = MOST_GUARDS + 1, GUARD, n_guards);
    ACCEPT((n[1].guards = p->n_words, n[1].n_guards = 0));
    EXPECT((n[1].guards = p->n_words - 3, n[1].n_guards = 1), STATUS_OFFSET, 1,
           FIELD_pyspec_node_guards);
    EXPECT((n[1].guards = p->n_words + 1, n[1].n_guards = 0), STATUS_OFFSET, 1,
           FIELD_pyspec_node_guards);
    /* The second guard: of a parameter that is none, with a sign that is none, and with another. */
#define SECOND_GUARD(word, value_, status)                                                         \
    VALUE((n[1].guards = 8, n[1].n_guards = 2, w[8 + 4 + (word)] = (value_)), status, status ? 1 : -1, \
          status ? FIELD_pyspec_node_guards : -1, status ? (value_) : 0)
    SECOND_GUARD(0, 77, STATUS_GUARD);
    SECOND_GUARD(1, PYSPEC_GUARD_LE + 1, STATUS_GUARD);
    SECOND_GUARD(1, -5, STATUS_GUARD);
    SECOND_GUARD(2, 3, STATUS_GUARD);
    SECOND_GUARD(1, PYSPEC_GUARD_LE, STATUS_OK);
    SECOND_GUARD(1, PYSPEC_GUARD_LT, STATUS_OK);
    SECOND_GUARD(2, -1, STATUS_OK);
}

TEST(formulas)
{
    kind = FORMULA;
    ACCEPT((void)0); /* as many parameters as there may be, and its program ends the words */
    EXPECT((memcpy(w, w + n[0].code, (size_t)n[0].n_code * 8), n[0].code = 0), STATUS_OK, -1, -1);
    ACCEPT((n[0].n_params = 0, n[0].code = 0, n[0].n_code = copy_formula(w, 0)));
    NODE(0, code = -1, OFFSET, code);
    EXPECT(n[0].code = p->n_words + 1, STATUS_OFFSET, 0, FIELD_pyspec_node_code);
    EXPECT((n[0].code = p->n_words, n[0].n_code = 0), STATUS_PROGRAM, 0, FIELD_pyspec_node_code);
    NODE(0, n_code = -1, OFFSET, n_code);
    NODE(0, n_code++, OFFSET, n_code);
    VALUE(n[0].n_code = 0, STATUS_PROGRAM, 0, FIELD_pyspec_node_code, 0);
    VALUE(w[n[0].code + FORMULA_HEAD] = -1, STATUS_PROGRAM, 0, FIELD_pyspec_node_code,
          FORMULA_HEAD);
    NODE(0, n_params = MAX_PARAMS - 1, PROGRAM, code);
}

TEST(two_auxiliary_points)
{
    kind = POINTS;
    ACCEPT((void)0); /* a component runs over both, slot 1 adds slot 0 */
    WORD(LAW, params, BLOCK_ROW, ROW, params);
    WORD(CONVOLVE, params, BLOCK_ROW, ROW, params);
    WORD(PROFILES, params, BLOCK_ROW, ROW, params);
    NODE(ADD, source = 1, SLOT, source);
    kind = SINGLE;
    ACCEPT((void)0);
    ACCEPT((p->trace = BLOCK_ROW, q->n_x = q->x_end = 1));
    NODE(PROFILES, target = BLOCK_ROW, STAGE, target); /* written before, and not in a row */
}

/* A convolution runs along the axis, and on a row of its own; so does what stands before it. */
TEST(a_convolution_over_rows)
{
    kind = POINTS;
    EXPECT(n[LAW].stage = n[CONVOLVE].stage = PYSPEC_STAGE_ROW, STATUS_STAGE, CONVOLVE,
           FIELD_pyspec_node_stage);
    kind = SINGLE;
    EXPECT((n[CONVOLVE].target = BLOCK_ROW), STATUS_ROW, CONVOLVE, FIELD_pyspec_node_target);
}

UNIT_MAIN
