/* many.h: many fits of one plan in one call; see pyspec.h for how entries are called. */
#ifndef PYSPEC_MANY_H
#define PYSPEC_MANY_H

#include "solver/search.h"

/* A slot is the memory of one fit at a time. pyspec_fitted is the result of a case. */
typedef struct pyspec_slot {
    const pyspec_part *part;
    pyspec_solver *solver;
    pyspec_end *end;
    pyspec_search *search;
    int64_t at;
} pyspec_slot;

typedef struct pyspec_fitted {
    int64_t end, flags, nfev, n_points;
    double chisqr, reached, distance;
} pyspec_fitted;

/* Cases of one plan. */
typedef struct pyspec_many {
    int64_t n_cases, next, n_done;
    pyspec_slot *slots;
    int64_t n_slots;
    const void *data;
    int64_t data_case;
    const double *weight;
    int64_t weight_case;
    const uint8_t *keep;
    int64_t keep_case;
    const double *fixed;
    int64_t fixed_case;
    const double *start;
    int64_t start_case;
    const double *bounds;
    int64_t bounds_case;
    const double *square;
    int64_t is_scaled;
    const double *sizes;
    pyspec_fitted *fitted;
    double *numbers;
    double *beside;
    int64_t beside_size, n_beside, n_alone;
} pyspec_many;

/* Fits the cases from `next` on: in each slot one after the other, slots of a group side by side where the plan allows,
 * with at most `budget` evaluations in each slot. The
 * threads of the team share the work; team may be NULL. A slot begins with `at` -1 and has a part, a solver and an end
 * with memory of their own. The caller sets n, max_nfev, tolerance and the pointers of the solver, and linear and work
 * of a search. Steps from case to case are in bytes, 0: the same for all. Returns PYSPEC_FIT_DONE or PYSPEC_FIT_AGAIN,
 * or minus a status. A case that is CERTAIN has all its numbers. Fits of counts need `information` of their ends.
 *
 * With memory `beside`, PYSPEC_LANES slots that follow each other are a group, with one part for all. The questions of
 * their solvers are evaluated side by side, except for factors. A case has the same bits in any order and company.
 * Without that memory they are the bits of pyspec_fit, pyspec_search_fit and pyspec_judge. With it, sums over a
 * spectrum are in another order. */
PYSPEC_API int pyspec_fit_many(pyspec_many *many, pyspec_team *team, int64_t budget);

/* Bytes that a group needs to be evaluated side by side, zeros to begin with; 0 where a plan has no such way. */
PYSPEC_API int64_t pyspec_beside_size(const pyspec_plan *plan, const pyspec_problem *problem);

#endif
