/* fit.c: a fit in one call: steps of the solver, and evaluations of its parts, in turn. */
#include "solver.h"
#include "span.h"

/* A fit that may take fewer evaluations takes them all of all rows. */
enum { LEAST_NFEV = 200 };

static int evaluate(pyspec_solver *s, const pyspec_part *parts, int64_t n_parts, pyspec_team *team)
{
    for (int64_t k = 0; k < n_parts; k++)
        for (int64_t j = 0; j < parts[k].n_theta; j++)
            parts[k].theta[j] = s->trial[parts[k].gather ? parts[k].gather[j] : j];
    return pyspec_sum_in_fit(parts, n_parts, s->form, s->n + 1, team, s->every, s->answer);
}

/* Not while only a part of the rows is known: chi^2 of the best point would be that of the part. */
static int may_stop(const pyspec_solver *s)
{
    return s->phase == PYSPEC_PHASE_FIRST ? s->nfev + s->n_part == 1 : s->every == 1;
}

int pyspec_fit(pyspec_solver *solver, const pyspec_part *parts, int64_t n_parts, pyspec_team *team,
               int64_t budget)
{
    if (!solver || (n_parts && !parts))
        return -STATUS_NULL_POINTER;
    for (int64_t k = 0; solver->phase == PYSPEC_PHASE_START && k < n_parts; k++)
        pyspec_begin_span(&parts[k]);
    if (solver->phase == PYSPEC_PHASE_START && solver->every == 0)
        solver->every = solver->max_nfev < LEAST_NFEV ? 1 : pyspec_part_of_rows(parts, n_parts);
    if (solver->phase == PYSPEC_PHASE_START && pyspec_fit_step(solver) == PYSPEC_FIT_DONE)
        return PYSPEC_FIT_DONE;
    for (int64_t used = 0; solver->end == PYSPEC_END_RUNNING; used++) {
        if (used >= budget && may_stop(solver))
            return PYSPEC_FIT_AGAIN;
        int status = evaluate(solver, parts, n_parts, team);
        if (status)
            return -status;
        pyspec_fit_step(solver);
    }
    return PYSPEC_FIT_DONE;
}
