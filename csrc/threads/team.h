/* team.h: how the library hands work to the threads of a team. */
#ifndef PYSPEC_TEAM_H
#define PYSPEC_TEAM_H

#include "pyspec.h"
#include "tables/status.h"

/* One task of a job, in one of the threads 0 ... n_threads - 1; 0 is the one that shares the job.
 * Returns a status. */
typedef int pyspec_task(void *job, int64_t task, int64_t thread);

/* Runs the tasks of a job in the threads of a team, NULL: in this one. Returns when all are done.
 * The status is not OK if a task failed. Tasks after the failed one may be left out. */
int pyspec_share(pyspec_team *team, pyspec_task *task, void *job, int64_t n_tasks);

/* Whether a team, which may be NULL, has what jobs of sums use. */
int pyspec_check_team(const pyspec_team *team);

/* A call in one of the threads of a team, each of which has a work memory of its own. */
static inline pyspec_call pyspec_call_in(const pyspec_team *team, const pyspec_call *call,
                                         int64_t thread)
{
    pyspec_call own = *call;
    if (thread > 0) {
        own.work = (double *)(void *)((char *)team->work + (thread - 1) * team->work_size);
        own.work_size = team->work_size;
    }
    return own;
}

#endif
