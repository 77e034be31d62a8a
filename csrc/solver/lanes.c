/* lanes.c: solvers whose states lie in lanes. The decisions are those of each solver alone (lm_solve.c). What they wait
 * for is found for all lanes at a time. */
#include "solver/lane_steps.h"

static void load_column(double *lanes, const double *own, int64_t n, int l)
{
    for (int64_t j = 0; j < n; j++)
        lanes[j * L + l] = own[j];
}

static void read_column(double *own, const double *lanes, int64_t n, int l)
{
    for (int64_t j = 0; j < n; j++)
        own[j] = lanes[j * L + l];
}

/* Both halves of a matrix. */
static void read_matrix(double *own, const double *lanes, int64_t n, int l)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t k = j; k < n; k++)
            own[j * n + k] = own[k * n + j] = lanes[(j * n + k) * L + l];
}

void pyspec_enter_lane(const pyspec_solver *s, const lane_work *w, int l)
{
    w->alone[l] = 0.0;
    load_column(w->theta, s->theta, s->n, l);
    load_column(w->trial, s->trial, s->n, l);
    load_column(w->low, s->lower, s->n, l);
    load_column(w->high, s->lower + s->n, s->n, l);
    for (int64_t j = 0; j < s->n; j++)
        w->largest[j * L + l] = 0.0;
}

void pyspec_read_point(const pyspec_solver *s, const lane_work *w, int l)
{
    const int64_t n = s->n, order = n + 1;
    read_column(s->theta, w->theta, n, l);
    for (int64_t j = 0; j < n; j++) {
        for (int64_t k = j; k < n; k++)
            s->normal[triangle_at(order, j, k)] = w->curvature[(j * n + k) * L + l];
        s->normal[triangle_at(order, j, n)] = w->gradient[j * L + l];
    }
    s->normal[triangle_at(order, n, n)] = s->chisqr;
}

/* The state, but for the triangle of the best point. */
static void read_state(const pyspec_solver *s, const lane_work *w, int l)
{
    const solver_work own = divide(s->n, s->work);
    const int64_t n = s->n;
    read_column(s->theta, w->theta, n, l);
    read_column(s->trial, w->trial, n, l);
    read_column(own.gradient, w->gradient, n, l);
    read_column(own.norm, w->norm, n, l);
    read_column(own.largest, w->largest, n, l);
    read_column(own.undamped, w->undamped, n, l);
    read_column(own.last, w->last, n, l);
    read_column(own.held, w->held, n, l);
    read_matrix(own.curvature, w->curvature, n, l);
    read_matrix(own.bend, w->bend, n, l);
}

void pyspec_leave_lane(const pyspec_solver *s, const lane_work *w, int l)
{
    w->alone[l] = 1.0;
    read_state(s, w, l);
    pyspec_read_point(s, w, l);
}

void pyspec_find_alone(pyspec_solver *s, const lane_work *w, int l)
{
    const solver_work own = divide(s->n, s->work);
    read_state(s, w, l);
    pyspec_find_wanted(s);
    load_column(w->trial, s->trial, s->n, l);
    load_column(w->undamped, own.undamped, s->n, l);
    load_column(w->last, own.last, s->n, l);
    load_column(w->held, own.held, s->n, l);
}

/* Solvers that wait for something of a kind, new best points or steps. Returns whether there are any. */
static int find_waiting(pyspec_solver *const *solvers, const int *answers, int takes, pyspec_solver **waiting)
{
    int any = 0;
    for (int l = 0; l < L; l++) {
        const int is_waiting = solvers[l] && answers[l] == FIT_WANTS_STEP &&
                               (wanted_by(solvers[l])->kind == STEP_TAKE) == takes;
        waiting[l] = is_waiting ? solvers[l] : NULL;
        any |= is_waiting;
    }
    return any;
}

static void take_waiting(pyspec_solver *const *waiting, int64_t n, const lane_work *w, const lane_ops *ops,
                         const double *sums)
{
    for (int l = 0; l < L; l++) {
        pyspec_solver *s = waiting[l];
        w->takes[l] = s ? 1.0 : 0.0;
        w->learns[l] = s && s->n_steps > 0 && s->distance < NEAR_OPTIMUM ? 1.0 : 0.0;
        if (s) {
            s->chisqr = wanted_by(s)->value;
            w->noise[l] = rounding(s);
        }
    }
    ops->take_answers(n, w, sums);
    for (int l = 0; l < L; l++) {
        int has_columns = 1;
        for (int64_t j = 0; waiting[l] && j < n; j++)
            has_columns &= w->norm[j * L + l] > 0.0;
        if (waiting[l])
            wanted_by(waiting[l])->has_columns = has_columns;
    }
}

/* A solver whose normal equations are not good enough goes on alone. */
static int go_on(pyspec_solver *s, const lane_work *w, int l)
{
    const wanted_step *step = wanted_by(s);
    if (step->kind == STEP_UNDAMPED && !(step->pivot * CONDITION_LIMIT > 1.0)) {
        pyspec_leave_lane(s, w, l);
        return pyspec_fit_answer(s, pyspec_fit_go_on(s));
    }
    return pyspec_fit_go_on(s);
}

void pyspec_step_lanes(pyspec_solver *const *solvers, const lane_work *w, const lane_ops *ops, const double *sums,
                       int *answers)
{
    pyspec_solver *waiting[L];
    int64_t n = 0;
    for (int l = 0; l < L; l++)
        n = solvers[l] ? solvers[l]->n : n;
    ops->find_values(n, w, sums);
    for (int l = 0; l < L; l++)
        if (solvers[l]) {
            answers[l] = pyspec_fit_begin(solvers[l], w->value[l]);
            if (answers[l] == PYSPEC_FIT_NEED_NORMAL && solvers[l]->phase == PYSPEC_PHASE_NORMAL) /* they are there */
                answers[l] = pyspec_fit_begin(solvers[l], w->value[l]);
        }
    for (int takes = 1; takes >= 0; takes--)
        while (find_waiting(solvers, answers, takes, waiting)) {
            if (takes)
                take_waiting(waiting, n, w, ops, sums);
            else
                ops->find_steps(waiting, n, w);
            for (int l = 0; l < L; l++)
                if (waiting[l])
                    answers[l] = go_on(waiting[l], w, l);
        }
}
