/* test_beside.c: fits side by side: sums over a spectrum are those of the fit alone, a lane does not see its
 * neighbours, and many fits in groups end where each ends alone, in any order and with any number of threads. */
#include "solver/batches.h"
#include "support/threads.h"

/* ---- sums -------------------------------------------------------------------------------- */

/* Sums of eight cases, lane l that of case order[l], into triangles[l]. */
static void sum_lanes(const cases *c, const int *order, int form, double triangles[L][TRIANGLE])
{
    group_memory g;
    begin_group(&g, c);
    const int64_t n = c->g.problem.x_end - c->g.problem.x_begin;
    double *theta = make_work(N * L * 8), *fixed = make_work(N_FIXED * L * 8), *data = make_work(n * L * 8);
    double *weight = make_work(n * L * 8);
    const double *sums;
    run r = {0};
    pyspec_problem problems[L];
    FOR_LANES {
        problems[l] = problem_of(c, order[l]);
        for (int k = 0; k < N; k++)
            theta[k * L + l] = c->theta[order[l]][k];
        for (int k = 0; k < N_FIXED; k++)
            fixed[k * L + l] = c->fixed[order[l]][k];
        pyspec_load_beside(&problems[l], 0, data + l, weight + l);
    }
    const int is_weighted = c->g.problem.weight || c->g.problem.keep;
    const fits_beside beside = {theta, fixed, data, is_weighted ? weight : NULL, problems, 0};
    CHECK_INT(pyspec_sum_beside(&r, &g.call, &beside, form, &sums), STATUS_OK);
    FOR_LANES for (int k = 0; k < TRIANGLE; k++)
        triangles[l][k] = sums[k * L + l];
}

TEST_ALL(sums_are_those_of_each_alone)
{
    static const int order[L] = {3, 0, 7, 2, 5, 1, 6, 4};
    for (int dress = 0; dress < N_DRESSES; dress++)
        for (int form = PYSPEC_FORM_GRAM; form <= PYSPEC_FORM_FISHER; form += 2) {
            cases *c = begin_cases(dress, 0.2);
            double triangles[L][TRIANGLE];
            sum_lanes(c, order, form, triangles);
            for (int l = 0; l < L; l++) {
                const pyspec_problem q = problem_of(c, order[l]);
                int status;
                double *alone = summed(c->plan, &q, c->theta[order[l]], form, &status);
                CHECK_INT(status, STATUS_OK);
                CHECK(alone && gram_close(triangles[l], alone, N + 1, 1e-12));
            }
        }
}

/* Values that nothing can be computed from, in all lanes but those of cases 0 and 1. */
static void spoil(cases *c)
{
    const double hostile[] = {0.0, (double)NAN, (double)INFINITY, 1e308, -1.0, 5e-324};
    for (int k = 2; k < L; k++) {
        for (int j = 0; j < N; j++)
            c->theta[k][j] = hostile[(k + j) % 6];
        for (int i = 0; i < N_X; i++)
            c->data[k][i] = hostile[i % 6];
        c->theta[k][6] = k % 2 ? 0.0 : 1e-200; /* a slope that is infinite */
    }
}

TEST_ALL(neighbours_and_places_change_no_bits)
{
    for (int dress = 0; dress < N_DRESSES; dress += DRESS_WEIGHT) {
        cases *calm = begin_cases(dress, 0.2), *wild = begin_cases(dress, 0.2);
        double wanted[L][TRIANGLE], found[L][TRIANGLE];
        int order[L] = {0, 1, 2, 3, 4, 5, 6, 7};
        sum_lanes(calm, order, PYSPEC_FORM_GRAM, wanted);
        spoil(wild);
        for (int turn = 0; turn < L; turn++) {
            FOR_LANES order[l] = (l + turn) % L;
            sum_lanes(calm, order, PYSPEC_FORM_GRAM, found);
            FOR_LANES CHECK(memcmp(found[l], wanted[order[l]], sizeof found[l]) == 0);
            sum_lanes(wild, order, PYSPEC_FORM_GRAM, found);
            FOR_LANES CHECK(order[l] > 1 || memcmp(found[l], wanted[order[l]], sizeof found[l]) == 0);
        }
    }
}

/* ---- fits -------------------------------------------------------------------------------- */

TEST(each_ends_as_it_does_alone)
{
    for (int dress = 0; dress < N_DRESSES; dress++) {
        batch *b = begin_batch(dress, 1, 1, 0), *alone = begin_batch(dress, 1, 0, 0);
        int n_certain = 0;
        CHECK_INT(pyspec_fit_many(&b->many, NULL, 1 << 20), PYSPEC_FIT_DONE);
        CHECK_INT(pyspec_fit_many(&alone->many, NULL, 1 << 20), PYSPEC_FIT_DONE);
        CHECK_INT(b->many.n_done, N_CASES);
        CHECK(b->many.n_beside > 5 * b->many.n_alone);
        CHECK_INT(alone->many.n_beside, 0);
        for (int k = 0; k < N_CASES; k++) {
            CHECK(ends_alike(&b->found, &alone->found, k));
            n_certain += (b->found.fitted[k].flags & PYSPEC_ENDING_CERTAIN) != 0;
        }
        CHECK(n_certain > N_CASES / 2);
        CHECK_INT(b->found.fitted[3].end, PYSPEC_END_NOT_FINITE);
        CHECK_INT(b->found.fitted[5].end, dress & DRESS_KEEP ? PYSPEC_END_DEGENERATE : alone->found.fitted[5].end);
    }
}

TEST(order_and_budget_change_no_bits)
{
    static const int64_t budgets[] = {1, 2, 13, 1 << 20};
    for (int dress = 0; dress < N_DRESSES; dress += 3) {
        batch *all = begin_batch(dress, 1, 1, 0);
        CHECK_INT(pyspec_fit_many(&all->many, NULL, 1 << 20), PYSPEC_FIT_DONE);
        for (int k = 0; k < 8; k++) {
            batch *b = begin_batch(dress, 1 + k / 4, 1, k % 2);
            int64_t calls = 1;
            while (pyspec_fit_many(&b->many, NULL, budgets[k % 4]) == PYSPEC_FIT_AGAIN)
                CHECK(calls++ < 1000 * N_CASES);
            CHECK(same_cases(&b->found, &all->found, k % 2));
        }
    }
}

/* As where each is told of before the next begins: most lanes have had no case yet. Of counts they were read. */
TEST(company_changes_no_bits)
{
    for (int dress = DRESS_WEIGHT; dress <= DRESS_POISSON; dress += DRESS_POISSON - DRESS_WEIGHT) {
        batch *all = begin_batch(dress, 1, 1, 0), *b = begin_batch(dress, 1, 1, 0);
        CHECK_INT(pyspec_fit_many(&all->many, NULL, 1 << 20), PYSPEC_FIT_DONE);
        for (b->many.n_cases = 0; b->many.n_cases <= N_CASES; b->many.n_cases++)
            CHECK_INT(pyspec_fit_many(&b->many, NULL, 1 << 20), PYSPEC_FIT_DONE);
        CHECK(same_cases(&b->found, &all->found, 0));
    }
}

TEST(threads_change_no_bits)
{
    batch *all = begin_batch(0, 1, 1, 0);
    const int64_t n_state = pyspec_team_size();
    double *state = make_work(n_state);
    pyspec_team team = {.n_threads = 2, .state = state, .n_state = n_state};
    thread_of_team thread;
    CHECK_INT(pyspec_fit_many(&all->many, NULL, 1 << 20), PYSPEC_FIT_DONE);
    CHECK_INT(pyspec_team_begin(&team), STATUS_OK);
    CHECK(start_help(&thread, &team));
    for (int round = 0; round < 6; round++) {
        batch *b = begin_batch(0, MOST_GROUPS, 1, round % 2);
        while (pyspec_fit_many(&b->many, &team, 5 + 20 * round) == PYSPEC_FIT_AGAIN)
            continue;
        CHECK(same_cases(&b->found, &all->found, round % 2));
    }
    CHECK_INT(pyspec_dismiss(&team), STATUS_OK);
    CHECK(end_help(thread));
}

TEST(what_cannot_be_side_by_side_is_refused)
{
    model m;
    batch *b = begin_batch(0, 1, 1, 0);
    make_model(&m, MODEL_2D, COLUMNS_NONE, 0, 11, 23);
    CHECK_INT(pyspec_beside_size(m.plan, &m.g.problem), 0);
    CHECK_INT(pyspec_beside_size(NULL, &m.g.problem), 0);
    b->many.n_slots = L - 1;
    CHECK_INT(pyspec_fit_many(&b->many, NULL, 1), -STATUS_SIZE);
    b->many.n_slots = L;
    b->many.beside_size--;
    CHECK_INT(pyspec_fit_many(&b->many, NULL, 1), -STATUS_SIZE);
}

UNIT_MAIN
