/* threads.h: threads that help a team, started and ended as the system does it. */
#ifndef THREADS_H
#define THREADS_H

#include "pyspec.h"

#if defined(_WIN32)
typedef void *thread_of_team;
#else
#include <pthread.h>
typedef pthread_t thread_of_team;
#endif

/* Whether a thread was started. */
int start_help(thread_of_team *thread, pyspec_team *team);

/* Waits for the thread; whether all went well in it. */
int end_help(thread_of_team thread);

#endif
