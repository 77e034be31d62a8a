/* test_scheme_plan.c: kinetic schemes as laws of a plan: what pyspec_check refuses of them, and that
 * their traces and derivatives are those of pyspec_scheme. */
#include "support/refusals.h"

enum { LAW, GAUSS, HEIGHT_ROW = 6, N_THETA = 6, N_WORDS = 31 };

/* A <-> B -> C -> lost, B -> lost, with four rates and populations as parameters 1 to 4. */
static const int64_t program[N_WORDS] = {
    N_WORDS, 6, 3, 1, 0, 5, 2, 2, 0, 1, 1, 1, 0, 2, 1, 2, 3, 2, -1, 1, 1, -1, 2, 0, 4, 0, 2, -1, 0, 2, 1};
static const double theta[N_THETA] = {1.5, 2.0, 0.7, 0.3, 0.9, 0.125};

static pyspec_plan *good_plan(void)
{
    plan_builder b;
    start(&b, 2, N_THETA, 0, HEIGHT_ROW + 1, 1);
    add_formula(&b, PYSPEC_STEP_LAW, PYSPEC_FLAG_STORE, HEIGHT_ROW, ROWS_OF(0, 1, 2, 3, 4, 5), N_WORDS, program)->op =
        PYSPEC_OP_SCHEME;
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_Gauss, PYSPEC_FLAG_STORE, 0, ROWS_OF(HEIGHT_ROW, 4, 0));
    add_dependencies(&b);
    return finish(&b);
}

TEST_ALL(refuses_programs)
{
    ACCEPT((void)0);
#define PROGRAM_WORD (w + n[LAW].code)
#define BROKEN(edit, at)                                                                           \
    VALUE(edit, STATUS_PROGRAM, LAW, FIELD_pyspec_node_code, at)
    BROKEN(PROGRAM_WORD[0]--, 0);
    BROKEN(PROGRAM_WORD[2] = PYSPEC_SCHEME_STATES + 1, 0);
    BROKEN(PROGRAM_WORD[8] = 3, 8);
    BROKEN(PROGRAM_WORD[N_WORDS - 1] = 2, N_WORDS - 1);
    BROKEN(n[LAW].n_code--, 0);
    BROKEN(n[LAW].n_params = 5, 0);
    NODE(LAW, code = -1, OFFSET, code);
    NODE(LAW, n_code = -1, OFFSET, n_code);
    NODE(LAW, op = -5, OP, op);
    NODE(LAW, op = -1, OP, op);
    NODE(GAUSS, op = PYSPEC_OP_SCHEME, PROGRAM, code); /* a law may be a component, by its program */
    for (int k = 0; k < 6; k++) /* no parameter may be left out */
        VALUE(w[n[LAW].params + k] = -1, STATUS_ROW, LAW, FIELD_pyspec_node_params, -1);
}

TEST_ALL(runs_as_it_does_alone)
{
    enum { ROWS = 19, WIDTH = 5 };
    pyspec_plan *plan = good_plan();
    grid g;
    int status;
    double params[N_THETA], value[ROWS], slopes[N_THETA][ROWS], *to[N_THETA];
    make_grid(&g, plan, ROWS, WIDTH);
    CHECK_INT(pyspec_check(plan, plan->size, &g.problem, NULL), STATUS_OK);
    memcpy(params, theta, sizeof params);
    for (int k = 0; k < N_THETA; k++)
        to[k] = slopes[k];
    CHECK_INT(pyspec_scheme(program, N_WORDS, PYSPEC_ISA_BASELINE, 1, ROWS, g.time, params,
                            value, to),
              STATUS_OK);
    double *traces = run_entry(RUN_TRACES, plan, &g.problem, theta, &status);
    CHECK_INT(status, STATUS_OK);
    CHECK(close_to(traces + HEIGHT_ROW * ROWS, value, ROWS, 1e-14));
    CHECK(value[0] == 0.0 && value[ROWS - 1] > 0.1);
    double *model = run_entry(RUN_EVALUATE, plan, &g.problem, theta, &status);
    CHECK_INT(status, STATUS_OK);
    double *jacobian = run_entry(RUN_JACOBIAN, plan, &g.problem, theta, &status);
    CHECK_INT(status, STATUS_OK);
    /* By the rates and the onset only the height changes. */
    for (int k = 1; k < N_THETA; k++)
        for (int row = 0; row < ROWS && k != 4; row++)
            for (int i = 0; i < WIDTH; i++) {
                const double shape = exp(-0.5 * pow((g.x[i] - theta[4]) / theta[0], 2.0));
                CHECK(fabs(jacobian[(k * ROWS + row) * WIDTH + i] - slopes[k][row] * shape) <= 1e-13);
                CHECK(fabs(model[row * WIDTH + i] - value[row] * shape) <= 1e-13);
            }
}

UNIT_MAIN
