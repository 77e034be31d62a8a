/* test_measured_plan.c: laws under a measured instrument in a plan: what pyspec_check refuses of them, and
 * that their traces and derivatives are those of pyspec_measured. */
#include "measured.h"
#include "refusals.h"

enum { LAW, GAUSS, HEIGHT_ROW = 5, N_THETA = 5, SAMPLES = 3, N_WORDS = MEASURED_HEAD + 2 * SAMPLES };

static const double theta[N_THETA] = {1.5, 2.0, 0.75, 0.25, 0.9};
static int leaves_out_y0;

static void write_program(int64_t *program)
{
    static const double samples[2 * SAMPLES] = {-0.5, 0.0, 1.5, 0.25, 1.25, 0.25};
    const int64_t head[MEASURED_HEAD] = {N_WORDS, 4, LAW_DECAY, SAMPLES};
    memcpy(program, head, sizeof head);
    memcpy(program + MEASURED_HEAD, samples, sizeof samples);
}

static pyspec_plan *good_plan(void)
{
    plan_builder b;
    int64_t program[N_WORDS];
    const int law[] = {0, 1, 2, leaves_out_y0 ? -1 : 3}, gauss[] = {HEIGHT_ROW, 4, 0};
    write_program(program);
    start(&b, 2, N_THETA, 0, HEIGHT_ROW + 1, 1);
    add_formula(&b, PYSPEC_STEP_LAW, PYSPEC_FLAG_STORE, HEIGHT_ROW, 4, law, N_WORDS, program)->op =
        PYSPEC_OP_MEASURED;
    add_call(&b, PYSPEC_STEP_COMPONENT, OP_Gauss, PYSPEC_FLAG_STORE, 0, 3, gauss);
    add_dependencies(&b);
    return finish(&b);
}

static void refuses_programs(void)
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
    NODE(GAUSS, op = PYSPEC_OP_MEASURED, OP, op);
}

/* y0 alone may be left out, and that of no other function with a program. */
static void y0_may_be_left_out(void)
{
    leaves_out_y0 = 1;
    ACCEPT((void)0);
    leaves_out_y0 = 0;
    for (int k = 0; k < 3; k++)
        VALUE(w[n[LAW].params + k] = -1, STATUS_ROW, LAW, FIELD_pyspec_node_params, -1);
}

static void runs_as_it_does_alone(void)
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
        free(traces);
        free(model);
        free(jacobian);
        free_grid(&g);
        free(plan);
    }
}

int main(void)
{
    RUN_ALL(refuses_programs);
    RUN_ALL(y0_may_be_left_out);
    RUN_ALL(runs_as_it_does_alone);
    return REPORT;
}
