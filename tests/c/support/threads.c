/* threads.c: threads.h by POSIX and by Windows. */
#include "support/threads.h"

#include "tables/status.h"

#if defined(_WIN32)
#include <windows.h>

static DWORD WINAPI help(void *team)
{
    return (DWORD)pyspec_help(team);
}

int start_help(thread_of_team *thread, pyspec_team *team)
{
    *thread = CreateThread(NULL, 0, help, team, 0, NULL);
    return *thread != NULL;
}

int end_help(thread_of_team thread)
{
    DWORD status = 1;
    WaitForSingleObject(thread, INFINITE);
    return GetExitCodeThread(thread, &status) && CloseHandle(thread) && status == STATUS_OK;
}
#else
static void *help(void *team)
{
    return pyspec_help(team) == STATUS_OK ? NULL : team;
}

int start_help(thread_of_team *thread, pyspec_team *team)
{
    return !pthread_create(thread, NULL, help, team);
}

int end_help(thread_of_team thread)
{
    void *failed;
    return !pthread_join(thread, &failed) && !failed;
}
#endif
