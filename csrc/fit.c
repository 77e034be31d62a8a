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

/* Whether chi^2 of all rows is known at the best point. A fit does not stop before, but where it has no budget:
 * until then chi^2 is infinite or that of a part of the rows. */
static int has_chisqr(const pyspec_solver *s)
{
    return s->every == 1 && s->phase != PYSPEC_PHASE_FIRST;
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
        if (used >= budget && (used == 0 || has_chisqr(solver)))
            return PYSPEC_FIT_AGAIN;
        int status = evaluate(solver, parts, n_parts, team);
        if (status)
            return -status;
        pyspec_fit_step(solver);
    }
    return PYSPEC_FIT_DONE;
}
