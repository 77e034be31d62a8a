/* test_measured_plan.c: laws under a measured instrument in a plan: what pyspec_check refuses of them, and
 * that their traces and derivatives are those of pyspec_measured. */
#include "kinetics/measured.h"
#include "support/refusals.h"
#include "kinetics/scheme.h"

enum { LAW, GAUSS, HEIGHT_ROW = 5, N_THETA = 5, SAMPLES = 3, N_WORDS = MEASURED_HEAD + 2 * SAMPLES };

static const double theta[N_THETA] = {1.5, 2.0, 0.75, 0.25, 0.9};
static int leaves_out_y0, has_state;

static void write_program(int64_t *program)
{
    static const double samples[2 * SAMPLES] = {-0.5, 0.0, 1.5, 0.25, 1.25, 0.25};
    const int64_t head[MEASURED_HEAD] = {N_WORDS, 4, LAW_DECAY, SAMPLES};
    memcpy(program, head, sizeof head);
    memcpy(program + MEASURED_HEAD, samples, sizeof samples);
}

/* The state of a scheme that only decays: height, rate and onset. */
static pyspec_node *add_state(plan_builder *b, const int *rows)
{
    const int64_t own[] = {SCHEME_HEAD + 7, 3, 1, 0, 0, 1, 1, 1, 0, -1, 1, 0, -1, 0x3ff0000000000000, 1};
    int64_t program[N_WORDS + SCHEME_HEAD + 7];
    write_program(program);
    program[0] = N_WORDS + SCHEME_HEAD + 7;
    program[1] = 3;
    program[2] = LAW_STATE;
    memcpy(program + N_WORDS, own, sizeof own);
    return add_formula(b, PYSPEC_STEP_LAW, PYSPEC_FLAG_STORE, HEIGHT_ROW, 3, rows, (int)program[0],
                       program);
}

static pyspec_plan *good_plan(void)
{
    plan_builder b;
    int64_t program[N_WORDS];
    const int law[] = {0, 1, 2, leaves_out_y0 ? -1 : 3};
    write_program(program);
    start(&b, 2, N_THETA, 0, HEIGHT_ROW + 1, 1);
    pyspec_node *node = has_state ? add_state(&b, law)
                                  : add_formula(&b, PYSPEC_STEP_LAW, PYSPEC_FLAG_STORE, HEIGHT_ROW, 4,
                                                law, N_WORDS, program);
    node->op = PYSPEC_OP_MEASURED;
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_Gauss, PYSPEC_FLAG_STORE, 0, ROWS_OF(HEIGHT_ROW, 4, 0));
    add_dependencies(&b);
    return finish(&b);
}

TEST_ALL(refuses_programs)
{
    ACCEPT((void)0);
#define PROGRAM_WORD (w + n[LAW].code)
#define BROKEN(edit, at) VALUE(edit, STATUS_PROGRAM, LAW, FIELD_pyspec_node_code, at)
    BROKEN(PROGRAM_WORD[0]--, 0);
    BROKEN(PROGRAM_WORD[2] = N_MEASURED, 0);
    BROKEN(PROGRAM_WORD[3] = 1, 0);
    BROKEN(PROGRAM_WORD[MEASURED_HEAD + 1] = PROGRAM_WORD[MEASURED_HEAD], MEASURED_HEAD + 1);
    BROKEN(PROGRAM_WORD[N_WORDS - 1] = -1, N_WORDS - 1); /* NaN */
    BROKEN(n[LAW].n_code--, 0);
    BROKEN(n[LAW].n_params = 3, 0);
    NODE(LAW, code = -1, OFFSET, code);
    NODE(LAW, n_code = -1, OFFSET, n_code);
    NODE(GAUSS, op = PYSPEC_OP_MEASURED, PROGRAM, code); /* a law may be a component, by its program */
}

/* y0 alone may be left out, and that of no other function with a program. */
TEST_ALL(y0_may_be_left_out)
{
    leaves_out_y0 = 1;
    ACCEPT((void)0);
    leaves_out_y0 = 0;
    for (int k = 0; k < 3; k++)
        VALUE(w[n[LAW].params + k] = -1, STATUS_ROW, LAW, FIELD_pyspec_node_params, -1);
    has_state = 1;
    ACCEPT((void)0);
    for (int k = 0; k < 3; k++)
        VALUE(w[n[LAW].params + k] = -1, STATUS_ROW, LAW, FIELD_pyspec_node_params, -1);
    has_state = 0;
}

/* A state that only decays is what expFun is. */
TEST_ALL(a_state_runs_as_its_law)
{
    enum { ROWS = 19 };
    double *traces[2];
    for (has_state = 0; has_state < 2; has_state++) {
        double own[N_THETA];
        int status;
        grid g;
        memcpy(own, theta, sizeof own);
        own[1] = has_state ? 1.0 / theta[1] : theta[1];
        leaves_out_y0 = 1;
        pyspec_plan *plan = good_plan();
        make_grid(&g, plan, ROWS, 3);
        CHECK_INT(pyspec_check(plan, plan->size, &g.problem, NULL), STATUS_OK);
        traces[has_state] = run_entry(RUN_TRACES, plan, &g.problem, own, &status);
        CHECK_INT(status, STATUS_OK);
    }
    has_state = leaves_out_y0 = 0;
    for (int row = 0; row < ROWS; row++)
        CHECK(fabs(traces[1][HEIGHT_ROW * ROWS + row] - traces[0][HEIGHT_ROW * ROWS + row]) <= 1e-14);
    CHECK(traces[1][HEIGHT_ROW * ROWS + ROWS - 1] > 0.1);
}

TEST_ALL(runs_as_it_does_alone)
{
    enum { ROWS = 19, WIDTH = 5 };
    for (leaves_out_y0 = 0; leaves_out_y0 < 2; leaves_out_y0++) {
        pyspec_plan *plan = good_plan();
        grid g;
        int status;
        int64_t program[N_WORDS];
        double params[4], value[ROWS], slopes[4][ROWS], *to[4];
        write_program(program);
        make_grid(&g, plan, ROWS, WIDTH);
        CHECK_INT(pyspec_check(plan, plan->size, &g.problem, NULL), STATUS_OK);
        memcpy(params, theta, sizeof params);
        params[3] = leaves_out_y0 ? 0.0 : params[3];
        for (int k = 0; k < 4; k++)
            to[k] = slopes[k];
        CHECK_INT(pyspec_measured(program, N_WORDS, 1, ROWS, g.time, params, value, to), STATUS_OK);
        double *traces = run_entry(RUN_TRACES, plan, &g.problem, theta, &status);
        CHECK_INT(status, STATUS_OK);
        CHECK(!memcmp(traces + HEIGHT_ROW * ROWS, value, sizeof value));
        CHECK(value[0] == 0.0 && value[ROWS - 1] > 0.1);
        double *model = run_entry(RUN_EVALUATE, plan, &g.problem, theta, &status);
        CHECK_INT(status, STATUS_OK);
        double *jacobian = run_entry(RUN_JACOBIAN, plan, &g.problem, theta, &status);
        CHECK_INT(status, STATUS_OK);
        for (int k = 1; k < 4; k++)
            for (int row = 0; row < ROWS; row++)
                for (int i = 0; i < WIDTH; i++) {
                    const double shape = exp(-0.5 * pow((g.x[i] - theta[4]) / theta[0], 2.0));
                    const double slope = leaves_out_y0 && k == 3 ? 0.0 : slopes[k][row];
                    CHECK(fabs(jacobian[(k * ROWS + row) * WIDTH + i] - slope * shape) <= 1e-13);
                    CHECK(fabs(model[row * WIDTH + i] - value[row] * shape) <= 1e-13);
                }
    }
}

UNIT_MAIN
