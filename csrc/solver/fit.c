/* fit.c: a fit in one call: steps of the solver, and evaluations of its parts, in turn. */
#include "solver/search.h"
#include "solver/solver.h"
#include "separable/span.h"

/* A fit that may take fewer evaluations takes them all of all rows. */
enum { LEAST_NFEV = 200 };

static void set_theta(const pyspec_part *parts, int64_t n_parts, const double *theta)
{
    for (int64_t k = 0; k < n_parts; k++)
        for (int64_t j = 0; j < parts[k].n_theta; j++)
            parts[k].theta[j] = theta[parts[k].gather ? parts[k].gather[j] : j];
}

int pyspec_chisqr_at(const pyspec_part *parts, int64_t n_parts, const double *theta, pyspec_team *team,
                     double *chisqr)
{
    set_theta(parts, n_parts, theta);
    return pyspec_sum_parts(parts, n_parts, PYSPEC_FORM_VALUE, 1, team, chisqr);
}

int pyspec_information_at(const pyspec_part *parts, int64_t n_parts, const double *theta, int64_t n, double *sums)
{
    set_theta(parts, n_parts, theta);
    return pyspec_sum_parts(parts, n_parts, PYSPEC_FORM_FISHER, n + 1, NULL, sums);
}

int pyspec_answer(pyspec_solver *s, const pyspec_part *parts, int64_t n_parts, pyspec_team *team)
{
    set_theta(parts, n_parts, s->trial);
    return pyspec_sum_in_fit(parts, n_parts, s->form, s->n + 1, team, s->every, s->answer);
}

/* Whether chi^2 of all rows is known at the best point. A fit does not stop before, unless its budget is used up.
 * Until then chi^2 is infinite or that of a part of the rows. */
static int has_chisqr(const pyspec_solver *s)
{
    return s->every == 1 && s->phase != PYSPEC_PHASE_FIRST;
}

int pyspec_fit_first(pyspec_solver *s, const pyspec_part *parts, int64_t n_parts)
{
    for (int64_t k = 0; k < n_parts; k++)
        pyspec_begin_span(&parts[k]);
    if (s->every == 0)
        s->every = s->max_nfev < LEAST_NFEV ? 1 : pyspec_part_of_rows(parts, n_parts);
    return pyspec_fit_step(s);
}

int pyspec_fit(pyspec_solver *solver, const pyspec_part *parts, int64_t n_parts, pyspec_team *team,
               int64_t budget)
{
    if (!solver || (n_parts && !parts))
        return -STATUS_NULL_POINTER;
    if (solver->phase == PYSPEC_PHASE_START && pyspec_fit_first(solver, parts, n_parts) == PYSPEC_FIT_DONE)
        return PYSPEC_FIT_DONE;
    for (int64_t used = 0; solver->end == PYSPEC_END_RUNNING; used++) {
        if (used >= budget && (used == 0 || has_chisqr(solver)))
            return PYSPEC_FIT_AGAIN;
        int status = pyspec_answer(solver, parts, n_parts, team);
        if (status)
            return -status;
        pyspec_fit_step(solver);
    }
    return PYSPEC_FIT_DONE;
}

int pyspec_search_fit(pyspec_search *search, const pyspec_part *parts, int64_t n_parts, pyspec_team *team,
                      int64_t budget)
{
    if (!search || (n_parts && !parts))
        return -STATUS_NULL_POINTER;
    int answer = PYSPEC_FIT_NEED_NORMAL;
    if (search->way == 0) {
        for (int64_t k = 0; k < n_parts; k++)
            pyspec_begin_span(&parts[k]);
        answer = pyspec_search_step(search);
    }
    for (int64_t used = 0; answer == PYSPEC_FIT_NEED_NORMAL; used++) {
        if (used >= budget)
            return PYSPEC_FIT_AGAIN;
        const int status = pyspec_answer(search->solver, parts, n_parts, team);
        if (status)
            return -status;
        answer = pyspec_search_step(search);
    }
    return answer;
}
