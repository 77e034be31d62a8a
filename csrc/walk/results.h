/* results.h: several results of one plan in one walk; see pyspec.h for how entries are called. */
#ifndef PYSPEC_RESULTS_H
#define PYSPEC_RESULTS_H

#include "pyspec.h"

/* Results, spectra or traces, each with the derivatives that are not 0 everywhere. */
typedef struct pyspec_results {
    int64_t n_values;
    double *const *values;
    const int64_t *value_at;
    int64_t n_slopes;
    double *const *slopes;
    const int64_t *slope_at;
    const int64_t *slope_by;
    int64_t n_entries;
    const int64_t *entry_row;
    const int64_t *entry_theta;
    double *factors;
    int64_t factors_row;
    double *kept;
    int64_t kept_size;
    int64_t row, copies;
} pyspec_results;

/* The results of a plan over the window. Without slopes the call needs the memory of pyspec_evaluate, else
 * that of pyspec_jacobian; out is not used. The same bits for any team, which may be NULL. Prepares by
 * itself. Each thread may keep schemes from one block of a walk to the next, in the bytes of
 * pyspec_results_size: `kept` is NULL, or memory for all threads. */
PYSPEC_API int64_t pyspec_results_size(const pyspec_plan *plan);
PYSPEC_API int pyspec_run_results(const pyspec_call *call, const pyspec_results *results,
                                  pyspec_team *team);

#endif
