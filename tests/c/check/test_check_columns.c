/* test_check_columns.c: refusals of pyspec_check that concern derivatives: what depends on what,
 * the columns of the plan's own, and components whose height alone moves. */
#include "support/refusals.h"

/* Rows 0..2 are free, 3 is fixed; 4 moves, 5 is an expression of 2 and 3; a block of three at 6
 * moves with 1 and 4. The columns are 4, 1, 0 and 2; 5 finds its column in 2. */
enum { BLOCK_ROW = 6, N_ROWS = 9, N_OWN = 4 };
enum { LAW, BASE, EXPRESSION, PROFILE, BASES, GAUSS, GLP, SPREAD, LINE, SHIRLEY };

static pyspec_plan *good_plan(void)
{
    plan_builder b;
    const int store = PYSPEC_FLAG_STORE, component = PYSPEC_STEP_COMPONENT;
    const int own[N_OWN] = {4, 1, 0, 2};
    start(&b, 2, 3, 1, 6, 1);
    CHECK_INT(add_blocks(&b, 3, 1), BLOCK_ROW);
    add_call(&b, PYSPEC_STEP_LAW, OP_expFun, store, 4, ROWS_OF(0, 3, 3, -1));
    add_step(&b, PYSPEC_STEP_BASE, 0, 3, 4);
    add_expression(&b, 0, 5, CODE(RPN_PARAM, 2, RPN_PARAM, 3, RPN_ADD, 0));
    add_call(&b, PYSPEC_STEP_PROFILE, OP_pExpDecay, store, BLOCK_ROW, ROWS_OF(1, 3));
    add_step(&b, PYSPEC_STEP_BASE, 0, 4, BLOCK_ROW);
    add_call(&b, component, OP_Gauss, store, 0, ROWS_OF(0, 4, 3));
    add_call(&b, component, OP_GLP, PYSPEC_FLAG_SHAPE, 0, ROWS_OF(4, 3, 5, 5));
    add_call(&b, component, OP_Gauss, 0, 0, ROWS_OF(3, BLOCK_ROW, 3));
    add_call(&b, component, OP_LinBack, 0, 0, ROWS_OF(0, 1, 2, 3));
    add_call(&b, component, OP_Shirley, 0, 0, ROWS_OF(5))->source = 0;
    add_dependencies(&b);
    add_columns(&b, N_OWN, own);
    return finish(&b);
}

/* In EXPECT: the ends of the lists of dependencies, the lists, the rows of the columns, and the
 * columns of the rows. */
#define ENDS (w + p->depends)
#define LISTS (ENDS + N_ROWS + 1)
#define OWN (w + p->columns)
#define OF_ROW (OWN + 1 + N_OWN)

TEST(accepts_a_good_plan)
{
    EXPECT((void)0, STATUS_OK, -1, -1);
    EXPECT(p->columns = -1, STATUS_OK, -1, -1);
    EXPECT((p->columns = -1, p->depends = -1), STATUS_OK, -1, -1);
    EXPECT((OWN[1] = 1, OWN[2] = 4, OF_ROW[1] = 0, OF_ROW[4] = 1), STATUS_OK, -1, -1);
    /* Any row outside of blocks may be one, even an input. */
    EXPECT((p->n_nodes = SHIRLEY, OWN[4] = 5, OF_ROW[5] = 3, OF_ROW[2] = -1,
            n[LINE].op = OP_Offset, n[LINE].n_params = 1, n[LINE].n_guards = 0),
           STATUS_OK, -1, -1);
    EXPECT((OWN[1] = 3, OF_ROW[3] = 0, OF_ROW[4] = -1), STATUS_OK, -1, -1);
}

TEST(refuses_bad_dependencies)
{
    HEADER(p->depends = -2, OFFSET, depends);
    HEADER(p->depends = INT64_MIN, OFFSET, depends);
    HEADER(p->depends = p->n_words + 1, OFFSET, depends);
    HEADER(p->depends = INT64_MAX, OFFSET, depends);
    HEADER(p->depends = p->n_words - N_ROWS, OFFSET, depends);
    HEADER(p->depends += 1, OFFSET, depends); /* does not begin with 0 */
    HEADER(ENDS[0] = 1, OFFSET, depends);
    HEADER(ENDS[1] = -1, OFFSET, depends);
    HEADER(ENDS[2] = 0, OFFSET, depends); /* ends before it begins */
    HEADER(ENDS[N_ROWS] = p->n_words, OFFSET, depends);
    HEADER(ENDS[N_ROWS] = INT64_MAX, OFFSET, depends);
    HEADER(LISTS[0] = 1, ROW, depends); /* theta depends on itself */
    HEADER(LISTS[0] = -1, ROW, depends);
    HEADER(ENDS[1] = 2, ROW, depends); /* and on nothing else */
    HEADER(LISTS[3] = 3, ROW, depends);
    HEADER(LISTS[3] = -1, ROW, depends);
    HEADER(LISTS[ENDS[BLOCK_ROW] + 1] = LISTS[ENDS[BLOCK_ROW]], ROW, depends); /* twice */
    HEADER(LISTS[ENDS[BLOCK_ROW] + 1] = INT64_MIN, ROW, depends);
}

/* The spectra of the builder's plan are no shapes times traces. */
TEST(refuses_a_structure_that_is_none)
{
    HEADER(p->separable = -2, OFFSET, separable);
    HEADER(p->separable = INT64_MIN, OFFSET, separable);
    HEADER(p->separable = p->n_words, OFFSET, separable);
    HEADER(p->separable = INT64_MAX, OFFSET, separable);
    HEADER((p->separable = p->columns, OWN[0] = INT64_MAX, p->columns = -1), SIZE, separable);
    HEADER((p->separable = p->columns, OWN[0] = -1, p->columns = -1), SIZE, separable);
    HEADER((p->separable = p->columns, OWN[0] = 1, OWN[1] = -1, p->columns = -1), ROW, separable);
    HEADER((p->separable = p->columns, OWN[0] = 1, OWN[1] = BLOCK_ROW, p->columns = -1), ROW,
           separable);
    HEADER((p->separable = p->columns, p->columns = -1, p->depends = -1), SIZE, separable);
    HEADER((p->separable = p->columns, p->columns = -1, p->dimension = 1), SIZE, separable);
}

TEST(refuses_bad_columns)
{
    HEADER(p->columns = -2, OFFSET, columns);
    HEADER(p->columns = INT64_MIN, OFFSET, columns);
    HEADER(p->columns = p->n_words, OFFSET, columns);
    HEADER(p->columns = INT64_MAX, OFFSET, columns);
    HEADER(p->depends = -1, OFFSET, columns); /* nothing is known of the changes of a column */
    HEADER(OWN[0] = -1, SIZE, columns);
    HEADER(OWN[0] = N_OWN + 1, SIZE, columns); /* more than there are words */
    HEADER(OWN[0] = N_ROWS + 1, SIZE, columns);
    HEADER(OWN[0] = INT64_MAX, SIZE, columns);
    HEADER(p->columns = p->n_words - 1, SIZE, columns);
    HEADER(OWN[1] = -1, ROW, columns);
    HEADER(OWN[1] = BLOCK_ROW, ROW, columns); /* no row of a block */
    HEADER((OWN[1] = BLOCK_ROW, OF_ROW[BLOCK_ROW] = 0, OF_ROW[4] = -1), ROW, columns);
    HEADER(OWN[1] = INT64_MAX, ROW, columns);
    HEADER(OWN[1] = 1, ROW, columns); /* twice */
    HEADER(OWN[1] = 5, ROW, columns); /* the row does not know it */
    HEADER(OF_ROW[4] = 1, ROW, columns);
    HEADER(OF_ROW[4] = -1, ROW, columns);
    HEADER(OF_ROW[4] = N_OWN, ROW, columns);
    HEADER(OF_ROW[5] = 0, ROW, columns); /* of another row */
    HEADER(OF_ROW[5] = -2, ROW, columns);
    HEADER(OF_ROW[5] = INT64_MIN, ROW, columns);
    HEADER(OF_ROW[N_ROWS - 1] = N_OWN, ROW, columns);
    HEADER(OF_ROW[N_ROWS - 1] = 0, ROW, columns);
}

/* The rows of the plan's columns in place of those of the good plan; 0 are left. */
static void set_columns(pyspec_plan *p, int count, const int *rows)
{
    int64_t *words = (int64_t *)((char *)p + p->words) + p->columns;
    words[0] = count;
    for (int k = 0; k < count; k++)
        words[1 + k] = rows[k];
    for (int row = 0; row < N_ROWS; row++)
        words[1 + count + row] = -1;
    for (int k = 0; k < count; k++)
        words[1 + count + rows[k]] = k;
}

#define MISSING(at, count, ...)                                                                    \
    do {                                                                                           \
        const int rows[] = {__VA_ARGS__};                                                          \
        EXPECT(set_columns(p, count, rows), STATUS_ROW, at, FIELD_pyspec_node_params);             \
    } while (0)

TEST(refuses_parameters_without_a_column)
{
    const int theta[] = {0, 1, 2};
    EXPECT(set_columns(p, 3, theta), STATUS_OK, -1, -1);
    MISSING(GAUSS, 0, 0);
    MISSING(GAUSS, 3, 4, 1, 2);
    MISSING(GLP, 3, 0, 1, 4);
    MISSING(SPREAD, 3, 0, 2, 4);
    MISSING(LINE, 3, 0, 1, 5);
    MISSING(LINE, 4, 4, 1, 0, 5);
}

/* Where one node alone, or few, have to find their columns. */
TEST(looks_at_the_rows_that_are_read)
{
    const int moving[] = {4}, with_still[] = {4, 2}, without[] = {4, 0, 1, 5};
    const int other[] = {4, 1, 2};
    /* A row that is a column need not depend on columns, nor need the row behind it be one. */
    EXPECT((set_columns(p, 1, moving), p->n_nodes = GLP, w[n[GAUSS].params] = 4), STATUS_OK, -1,
           -1);
    EXPECT((set_columns(p, 2, with_still), p->n_nodes = SPREAD, w[n[GAUSS].params] = 4), STATUS_OK,
           -1, -1);
    /* The last row of the block depends on 0 and 2, which has no column. */
    EXPECT((set_columns(p, 4, without), LISTS[ENDS[N_ROWS - 1] + 1] = 2, p->n_nodes = LINE),
           STATUS_ROW, SPREAD, FIELD_pyspec_node_params);
    HEADER((set_columns(p, 3, other), OWN[1 + 3] = -2), ROW, columns); /* row 0 */
}

TEST(refuses_a_height_where_there_is_none)
{
    const int shape = PYSPEC_FLAG_SHAPE;
    NODE(SHIRLEY, flags = shape, STEP, flags);
    NODE(LINE, flags = shape, STEP, flags);
    NODE(SPREAD, flags = shape, STEP, flags); /* runs over auxiliary points */
    EXPECT((n[GLP].flags = 0, n[GLP].flags |= shape), STATUS_OK, -1, -1);
    NODE(GAUSS, flags |= shape, STAGE, params); /* its position moves too */
    EXPECT((n[GAUSS].op = OP_Offset, n[GAUSS].n_params = 1, n[GAUSS].n_guards = 0,
            n[GAUSS].flags |= shape),
           STATUS_STEP, GAUSS, FIELD_pyspec_node_flags);
}

/* Every peak has a height, its first parameter; blurred by a resolution it keeps it. A blurred background
 * has one if it is linear in its first parameter alone: a polynomial, which was taken for one that has,
 * is not proportional to its first coefficient. */
TEST(peaks_have_heights)
{
    for (int op = 0; op < N_OPS; op++) {
        const op_row *row = &pyspec_op_table[op];
        char first[16] = {0};
        memcpy(first, row->params, strcspn(row->params, ","));
        const int by_first = !strcmp(row->linear, first);
        CHECK_INT(pyspec_has_height(row),
                  row->kind == KIND_PEAK || (row->kind == KIND_RESOLVED && by_first));
    }
    CHECK(!pyspec_has_height(&pyspec_op_table[OP_PolyBack_resolution]));
    CHECK(!pyspec_has_height(&pyspec_op_table[OP_LinBack_resolution]));
    CHECK(pyspec_has_height(&pyspec_op_table[OP_Voigt_resolution]));
    CHECK(pyspec_has_height(&pyspec_op_table[OP_Offset_resolution]));
}

UNIT_MAIN
