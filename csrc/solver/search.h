/* search.h: continues a fit whose data may not determine some parameters, and looks closer at its ending. See pyspec.h
 * for how entries are called. */
#ifndef PYSPEC_SEARCH_H
#define PYSPEC_SEARCH_H

#include "pyspec.h"

/* A search for something better than where a solver ended, or the fit over the parameters that the model is not
 * linear in. */
typedef struct pyspec_search {
    pyspec_solver *solver;
    const double *start, *eliminated;
    const uint8_t *linear;
    int64_t is_counts, limit, reduces, way;
    double best;
    double *work;
} pyspec_search;

/* What a search does. */
enum {
    PYSPEC_SEARCH_WAYS = 0,  /* ways out of where the solver ended: groups of parameters back to their start, then
                                the linear ones eliminated from there */
    PYSPEC_SEARCH_BACK = 1,  /* the same of a fit that began by eliminating them: the second is the fit from `start` */
    PYSPEC_SEARCH_REDUCED = 2 /* nothing but the reduced fit from `start`; of the solver n, n_points, tolerance,
                                 data_square and the pointers are set; its best point is then theta */
};

/* A state machine as pyspec_fit_step: the solver asks for sums, and has its end and its best point when all is done.
 * `work` has the bytes of pyspec_search_work_size. Ends of limits are LIMIT. The solver of the first two has ended,
 * WEAK. */
PYSPEC_API int64_t pyspec_search_work_size(int64_t n);
PYSPEC_API int pyspec_search_step(pyspec_search *search);

/* The same with evaluations, as pyspec_fit. */
PYSPEC_API int pyspec_search_fit(pyspec_search *search, const pyspec_part *parts, int64_t n_parts,
                                 pyspec_team *team, int64_t budget);

/* Ends a search where it is: the solver has the best point so far. */
PYSPEC_API int pyspec_search_stop(pyspec_search *search);

/* pyspec_end_of, also with the factor of an ending that is WEAK. If an ending is CERTAIN but NEUTRAL, a bound may not
 * hold its parameter. The function then looks at chi^2 along these directions. `sizes` are the natural sizes of the n
 * parameters. If the data determine all of them, it removes NEUTRAL. The distance is then over those that no bound
 * holds. Parameters without any effect are LOST, such as place and width of a line of height 0. All other results then
 * describe the remaining parameters. Few evaluations, or none. team may be NULL. */
PYSPEC_API int pyspec_judge(const pyspec_solver *solver, pyspec_end *end, const double *sizes,
                            const pyspec_part *parts, int64_t n_parts, pyspec_team *team);

#endif
