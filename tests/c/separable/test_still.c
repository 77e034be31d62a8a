/* test_still.c: which columns are the same in every row, and that sums with them have the bits of sums
 * without; in strips, where whole tiles add up rows first, those of sums in other strips. A Fisher matrix of
 * squares is the Gram matrix, summed column by column. */
#include "support/models.h"
#include "walk/run.h"
#include "support/sums.h"
#include "support/unit.h"

enum { SLOPES = PYSPEC_PREPARE_SLOPES };

/* How many still columns are found, and their numbers. */
static int64_t find_still(const model *m, int64_t *list)
{
    const pyspec_call call = make_call(m->plan, &m->g.problem, m->theta, SLOPES);
    CHECK_INT(pyspec_prepare(&call, SLOPES), STATUS_OK);
    const prepared_parts p = divide_prepared(m->plan, &m->g.problem, call.prepared, SLOPES);
    const int64_t n = ((const int64_t *)(const void *)p.counts)[COUNT_STILL];
    memcpy(list, p.still_list, (size_t)n * sizeof *list);
    return n;
}

/* A parameter of lines that do not move, and the height of a shape that does not, which comes behind as it
 * moves itself. */
TEST_ALL(finds_what_does_not_move)
{
    int64_t list[16];
    model m;
    make_model(&m, MODEL_2D, COLUMNS_MIXED, DRESS_WINDOW, 21, 61);
    CHECK_INT(find_still(&m, list), 2);
    CHECK_INT(list[0], 8);
    CHECK_INT(list[1], 0);
}

/* By theta each parameter moves something; weights differ from point to point. */
TEST(leaves_what_moves)
{
    int64_t list[16];
    for (int kind = MODEL_2D; kind < N_MODELS; kind++)
        for (int dress = 0; dress < N_DRESSES; dress++) {
            const int weighted = (dress & ~DRESS_WINDOW) != 0;
            model m;
            make_model(&m, kind, weighted ? COLUMNS_MIXED : COLUMNS_TURNED, dress, 9, 61);
            CHECK_INT(find_still(&m, list), 0);
        }
}

/* Whether a window of rows holds a whole tile. */
static int has_whole_tile(const pyspec_problem *q)
{
    return round_up(q->row_begin, L) + L <= q->row_end;
}

/* The Gram matrix in strips, in two pieces where a tile begins between them. */
static double *summed_in_strips(const model *m, int64_t cut)
{
    const pyspec_problem *q = &m->g.problem;
    const int64_t n = m->plan->n_theta;
    const int is_cut = cut > q->row_begin && cut < q->row_end;
    pyspec_normal s;
    make_sums(&s, PYSPEC_FORM_GRAM, n, PYSPEC_NORMAL_NODES, n + 1);
    s.in_strips = 1;
    CHECK_INT(accumulate(m->plan, q, m->theta, &s, q->row_begin, is_cut ? cut : q->row_end), STATUS_OK);
    if (is_cut)
        CHECK_INT(accumulate(m->plan, q, m->theta, &s, cut, q->row_end), STATUS_OK);
    double *triangle = collected(&s);
    return triangle;
}

TEST_ALL(changes_no_bits)
{
    static const int64_t row_sizes[] = {1, 7, 8, 9, 70}, x_sizes[] = {1, 47, 48, 49, 131};
    for (int kind = MODEL_2D; kind < N_MODELS; kind++)
        for (int columns = 0; columns < N_COLUMNS; columns++)
            for (int i = 0; i < 25; i++) {
                model m;
                int status;
                make_model(&m, kind, columns, i % 2 && row_sizes[i / 5] > 8 ? DRESS_WINDOW : 0,
                           row_sizes[i / 5], x_sizes[i % 5]);
                double *gram = summed(m.plan, &m.g.problem, m.theta, PYSPEC_FORM_GRAM, &status);
                double *fisher = summed(m.plan, &m.g.problem, m.theta, PYSPEC_FORM_FISHER, &status);
                double *strips = summed_in_strips(&m, 0);
                double *pieces = summed_in_strips(&m, (int64_t)(1 + i % 4) * L);
                const int64_t order = m.plan->n_theta + 1, size = triangle_size(order);
                const int has_others = columns == COLUMNS_MIXED && has_whole_tile(&m.g.problem);
                CHECK(all_same(gram, fisher, size));
                CHECK(has_others ? gram_close(strips, gram, order, 1e-15)
                                 : all_same(strips, gram, size));
                CHECK(all_same(pieces, strips, size));
            }
}

UNIT_MAIN
