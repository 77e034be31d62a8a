/* many.h: many fits of one plan in one call; see pyspec.h for how entries are called. */
#ifndef PYSPEC_MANY_H
#define PYSPEC_MANY_H

#include "solver/search.h"

/* What many fits have of their own: a slot the memory of one fit at a time, and each case what it came to. */
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

/* Fits the cases from `next` on, one after the other in each slot, in the threads of the team, which may be NULL:
 * `budget` evaluations in each slot at most. A slot begins with `at` -1 and has a part, a solver and an end with
 * memory of their own; of the solver n, max_nfev, tolerance and the pointers are set, of a search
 * linear and work. Steps from case to case are in bytes, 0: the same for all. Returns PYSPEC_FIT_DONE or
 * PYSPEC_FIT_AGAIN, or minus a status. What is CERTAIN has all its numbers.
 *
 * With memory `beside`, PYSPEC_LANES slots that follow each other are a group, with one part for all: what their
 * solvers ask for is evaluated side by side, where it is no factor. A case has the same bits in any order and
 * company: without that memory those that pyspec_fit, pyspec_search_fit and pyspec_judge give it alone; with it,
 * sums over a spectrum are in another order. */
PYSPEC_API int pyspec_fit_many(pyspec_many *many, pyspec_team *team, int64_t budget);

/* Bytes that a group needs to be evaluated side by side, zeros to begin with; 0 where a plan has no such way. */
PYSPEC_API int64_t pyspec_beside_size(const pyspec_plan *plan, const pyspec_problem *problem);

#endif
