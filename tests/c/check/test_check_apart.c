/* test_check_apart.c: refusals of pyspec_check that concern plans whose spectra are shapes times
 * heights that move, and lists that begin with the first word or end with the last. */
#include "random/random_formula.h"
#include "support/refusals.h"

/* Rows 0..3 are free, 4 is fixed; 5 and 6 move, a block of three at 7 does not. */
enum { BLOCK_ROW = 7, N_ROWS = 10, N_FREE_WORDS = 64 };
enum { LAW, BASE, OTHER, PROFILE, BASES, STILL, PEAK, SECOND, FORMULA, SHIRLEY, ADD };

/* Or: 0 is a constant that runs with the rows, 1 one that runs before them; nothing is free. */
static int only_constants;

static void build_constants(plan_builder *b)
{
    const int64_t one[] = {RPN_CONST, bits_of(1.0)};
    start(b, 2, 0, 0, 2, 1);
    add_expression(b, 0, 0, 1, one);
    add_expression(b, 0, 1, 1, one);
    add_call(b, PYSPEC_STEP_COMPONENT, OP_Gauss, PYSPEC_FLAG_STORE | PYSPEC_FLAG_SHAPE, 0, ROWS_OF(0, 1, 1));
    add_call(b, PYSPEC_STEP_COMPONENT, OP_Shirley, 0, 0, ROWS_OF(1))->source = 0;
    add_moving_heights(b);
    for (int k = 0; k < 8; k++) /* room for more columns than there are rows */
        add_word(b, 0);
    add_dependencies(b); /* the last words */
}

static pyspec_plan *good_plan(void)
{
    static plan_builder made;
    plan_builder *b = &made;
    const int store = PYSPEC_FLAG_STORE, shape = PYSPEC_FLAG_SHAPE;
    const int component = PYSPEC_STEP_COMPONENT;
    int64_t program[MOST_FORMULA_WORDS];
    rng r = {3};
    if (only_constants) {
        build_constants(b);
        pyspec_plan *plan = finish(b);
        ((pyspec_node *)((char *)plan + plan->nodes))[0].stage = PYSPEC_STAGE_ROW;
        return plan;
    }
    start(b, 2, 4, 1, 7, 2);
    b->head.n_spectra = 1;
    for (int k = 0; k < N_FREE_WORDS; k++)
        add_word(b, 0);
    CHECK_INT(add_blocks(b, 3, 1), BLOCK_ROW);
    add_call(b, PYSPEC_STEP_LAW, OP_expFun, store, 5, ROWS_OF(0, 3, 4, -1));
    add_step(b, PYSPEC_STEP_BASE, 0, 0, 5);
    add_call(b, PYSPEC_STEP_LAW, OP_expFun, store, 6, ROWS_OF(0, 3, 4, -1));
    add_call(b, PYSPEC_STEP_PROFILE, OP_pExpDecay, store, BLOCK_ROW, ROWS_OF(1, 4));
    add_step(b, PYSPEC_STEP_BASE, 0, 4, BLOCK_ROW);
    add_call(b, component, OP_Gauss, store | PYSPEC_FLAG_STATIC, 1, ROWS_OF(4, 1, 2));
    add_call(b, component, OP_Gauss, shape, 1, ROWS_OF(5, 1, 2));
    add_call(b, component, OP_GLP, shape, 1, ROWS_OF(6, 1, 2, 3));
    const int n_code = (int)random_formula(&r, program, 1, 0, 1);
    add_formula(b, component, shape, 1, ROWS_OF(6), n_code, program);
    add_call(b, component, OP_Shirley, store, 0, ROWS_OF(3))->source = 1;
    add_word(b, 5); /* behind the parameters of Shirley: a row that moves */
    add_step(b, PYSPEC_STEP_ADD, 0, 1, 0);
    add_moving_heights(b);
    add_word(b, 0); /* behind the rows that move: one that does not */
    add_dependencies(b);
    return finish(b);
}

#define ENDS (w + p->depends)
#define MOVING (w + p->separable)
#define WORDS_LEFT (p->n_words - p->separable)

TEST(accepts_shapes_times_heights)
{
    ACCEPT((void)0);
    ACCEPT(q = NULL);
    ACCEPT((p->n_nodes = PEAK, p->result = 1, MOVING[0] = 0));
    ACCEPT((w[n[PEAK].params] = 0, MOVING[1] = 0)); /* row 0 may be a height */
    ACCEPT((MOVING[1] = 6, MOVING[2] = 5));
    ACCEPT(n[ADD].params = (int64_t)1 << 60); /* read by nobody: no address may be made of it */
}

TEST(refuses_what_does_not_stand_apart)
{
    HEADER(p->trace = 0, SIZE, separable);
    HEADER(p->dimension = 1, SIZE, separable);
    HEADER(p->n_nodes = p->n_resolve, SIZE, separable);
    VALUE(MOVING[0] = WORDS_LEFT, STATUS_SIZE, -1, FIELD_pyspec_plan_separable, WORDS_LEFT);
    HEADER(MOVING[0] = -1, SIZE, separable);
    HEADER(MOVING[1] = -1, ROW, separable);
    HEADER(MOVING[2] = BLOCK_ROW, ROW, separable);
    EXPECT((n[ADD].step = PYSPEC_STEP_EXTERNAL, n[ADD].source = 0), STATUS_STEP, ADD,
           FIELD_pyspec_node_step);
    NODE(STILL, repeat = 3, SIZE, repeat);
    NODE(STILL, flags = PYSPEC_FLAG_STORE, STAGE, flags);
    NODE(FORMULA, flags = 0, STAGE, flags);
    WORD(SHIRLEY, params, 5, STAGE, params);
    /* Its shape depends on what it reads. */
    EXPECT((n[SHIRLEY].op = OP_StaticShirley, n[SHIRLEY].n_params = 2), STATUS_OP, SHIRLEY,
           FIELD_pyspec_node_op);
    ACCEPT((n[SHIRLEY].op = OP_Tougaard, n[SHIRLEY].n_params = 2, w[n[SHIRLEY].params + 1] = 0));
    WORD(PEAK, params, 0, ROW, params);
    WORD(FORMULA, params, 3, ROW, params);
    EXPECT(MOVING[0] = 1, STATUS_ROW, SECOND, FIELD_pyspec_node_params); /* not row 6 */
}

/* A formula is no row of the table; its height is its first parameter. */
TEST(a_formula_has_a_height_where_it_has_a_parameter)
{
    NODE(FORMULA, n_params = 0, STEP, flags);
    NODE(FORMULA, op = -1, OP, op);
}

/* A list may be the first words of a plan. */
TEST(lists_at_the_first_word)
{
    const int64_t list = (N_ROWS + 1) * (int64_t)sizeof(int64_t);
    ACCEPT((w[0] = 2, w[1] = 5, w[2] = 6, p->separable = 0));
    HEADER((w[0] = 2, w[1] = -1, w[2] = 6, p->separable = 0), ROW, separable);
    ACCEPT((memcpy(w, ENDS, (size_t)(list + ENDS[N_ROWS] * 8)), p->depends = 0));
    HEADER((memcpy(w, ENDS, (size_t)list), w[0] = 7, p->depends = 0), OFFSET, depends);
    /* Without columns of its own no component finds any. */
    EXPECT((memset(w + 1, -1, N_ROWS * 8), p->columns = 0), STATUS_ROW, STILL,
           FIELD_pyspec_node_params);
    HEADER((w[0] = N_ROWS + 1, p->columns = 0), SIZE, columns);
    EXPECT((memcpy(w, ENDS, (size_t)(list + ENDS[N_ROWS] * 8)), p->depends = 0,
            p->columns = N_FREE_WORDS / 2, w[p->columns] = 0,
            memset(w + p->columns + 1, -1, N_ROWS * 8)),
           STATUS_ROW, STILL, FIELD_pyspec_node_params);
}

TEST(lists_at_the_last_word)
{
    only_constants = 1;
    ACCEPT((void)0);
    VALUE(p->depends = p->n_words - 2, STATUS_OFFSET, -1, FIELD_pyspec_plan_depends,
          p->n_words - 2);
    VALUE(ENDS[0] = 7, STATUS_OFFSET, -1, FIELD_pyspec_plan_depends, 7);
    VALUE(ENDS[1] = -3, STATUS_OFFSET, -1, FIELD_pyspec_plan_depends, -3);
    VALUE(ENDS[2] = 1, STATUS_OFFSET, -1, FIELD_pyspec_plan_depends, 1);
    WORD(3, params, 0, STAGE, params); /* a constant, but not there in time */
    /* Every row is a column. */
    ACCEPT((p->columns = p->depends - 8, p->separable = -1, w[p->columns] = 2,
            w[p->columns + 1] = 0, w[p->columns + 2] = 1, w[p->columns + 3] = 0,
            w[p->columns + 4] = 1));
    HEADER((p->columns = p->depends - 8, w[p->columns] = 3), SIZE, columns);
    only_constants = 0;
}

/* What the dependencies of the good plan fill to the last word. */
TEST(dependencies_at_the_last_word)
{
    ACCEPT((void)0);
    VALUE(ENDS[N_ROWS] += 1, STATUS_OFFSET, -1, FIELD_pyspec_plan_depends, ENDS[N_ROWS]);
}

UNIT_MAIN
