/* test_check_many.c: a plan of many nodes that all read the same large block is checked in about the time
 * that it takes to read it. */
#include "support/plans.h"
#include "support/unit.h"

#include <time.h>

enum { N_THETA = 400, N_BLOCK = 4000, N_READERS = 16000, N_ROWS = N_THETA + N_BLOCK };
enum { N_LISTED = N_THETA + N_BLOCK * N_THETA };
enum { PARAMS = 0, DEPENDS = 5, COLUMNS = DEPENDS + N_ROWS + 1 + N_LISTED };
enum { N_WORDS = COLUMNS + 1 + N_THETA + N_ROWS };

/* The parameters of a profile, which writes the block, and of a line that reads it; each row of the block
 * depends on all parameters of the fit, which are the columns. */
static void fill_words(int64_t *w)
{
    const int64_t params[] = {0, 1, N_THETA, 2, 3};
    int64_t *ends = w + DEPENDS, *list = ends + N_ROWS + 1, *columns = w + COLUMNS;
    memcpy(w + PARAMS, params, sizeof params);
    ends[0] = 0;
    for (int row = 0; row < N_ROWS; row++) {
        ends[row + 1] = ends[row] + (row < N_THETA ? 1 : N_THETA);
        for (int k = 0; row < N_THETA ? k < 1 : k < N_THETA; k++)
            *list++ = row < N_THETA ? row : k;
    }
    columns[0] = N_THETA;
    for (int k = 0; k < N_THETA; k++)
        columns[1 + k] = k;
    for (int row = 0; row < N_ROWS; row++)
        columns[1 + N_THETA + row] = row < N_THETA ? row : -1;
}

static pyspec_plan *many_readers(void)
{
    const pyspec_plan head = {
        .abi = PYSPEC_ABI, .dimension = 2, .n_theta = N_THETA, .n_traces = N_ROWS, .n_nodes = 1 + N_READERS,
        .n_resolve = 1, .n_slots = 1, .nodes = sizeof head, .n_words = N_WORDS, .n_aux = N_BLOCK,
        .samples = N_THETA, .trace = -1, .depends = DEPENDS, .columns = COLUMNS, .separable = -1,
        .words = (int64_t)(sizeof head + (1 + N_READERS) * sizeof(pyspec_node)),
        .size = (int64_t)(sizeof head + (1 + N_READERS) * sizeof(pyspec_node) + N_WORDS * sizeof(int64_t))};
    pyspec_plan *p = exact(head.size, 1);
    *p = head;
    pyspec_node *nodes = (pyspec_node *)((char *)p + p->nodes);
    nodes[0] = (pyspec_node){.step = PYSPEC_STEP_PROFILE, .op = OP_pLinear, .flags = PYSPEC_FLAG_STORE,
                             .n_params = 2, .mask = -1, .source = -1, .target = N_THETA,
                             .repeat = N_BLOCK};
    for (int k = 1; k <= N_READERS; k++)
        nodes[k] = (pyspec_node){.step = PYSPEC_STEP_COMPONENT, .op = OP_Gauss,
                                 .flags = k == 1 ? PYSPEC_FLAG_STORE : 0, .n_params = 3, .params = 2,
                                 .mask = -1, .source = -1, .repeat = N_BLOCK};
    fill_words((int64_t *)((char *)p + p->words));
    return p;
}

/* Used to look at each row of the block for each reader: 26 thousand million numbers, many seconds. */
TEST(looks_at_a_block_once)
{
    pyspec_plan *p = many_readers();
    pyspec_fault fault;
    const clock_t begin = clock();
    CHECK_INT(pyspec_check(p, p->size, NULL, &fault), STATUS_OK);
    CHECK(clock() - begin < 3 * CLOCKS_PER_SEC);
    int64_t *of_row = (int64_t *)((char *)p + p->words) + COLUMNS + 1 + N_THETA;
    of_row[-1] = 0; /* two columns of one parameter */
    CHECK_INT(pyspec_check(p, p->size, NULL, &fault), STATUS_ROW);
    CHECK_INT(fault.node, -1);
}

UNIT_MAIN
