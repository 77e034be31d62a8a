/* Makes the n-th write, sync, truncation or renaming in one folder fail, or the process die there.
   Preloaded by tests/io/archive/faults.py, which arms it in a forked child. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { NONE, ONCE, FULL, KILL, TORN };

static char folder[4096];
static int kind = NONE;
static long countdown, seen;

void faults_arm(const char *where, int what, long nth) {
    snprintf(folder, sizeof folder, "%s", where);
    kind = what;
    countdown = nth;
    seen = 0;
}

long faults_seen(void) { return seen; }

static int in_folder(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return strncmp(path, folder, strlen(folder)) == 0;
}

/* Whether this call fails; it dies here instead where that was asked for. */
static int fails(void) {
    seen++;
    if (--countdown > 0)
        return 0;
    if (kind == KILL || (kind == TORN && countdown == 0))
        kill(getpid(), SIGKILL);
    return countdown == 0 || kind == FULL;
}

#define REAL(name) (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static int write_fails(int fd, const void *data, size_t size, off_t at, int has_place) {
    if (kind == NONE || !in_folder(fd))
        return 0;
    if (kind == TORN && countdown == 1) {
        /* Half of it arrives. */
        if (has_place)
            (void)!(REAL(pwrite))(fd, data, size / 2, at);
        else
            (void)!(REAL(write))(fd, data, size / 2);
    }
    return fails();
}

ssize_t write(int fd, const void *data, size_t size) {
    if (write_fails(fd, data, size, 0, 0)) {
        errno = ENOSPC;
        return -1;
    }
    return (REAL(write))(fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
    if (write_fails(fd, data, size, at, 1)) {
        errno = ENOSPC;
        return -1;
    }
    return (REAL(pwrite))(fd, data, size, at);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    if (write_fails(fd, data, size, at, 1)) {
        errno = ENOSPC;
        return -1;
    }
    return (REAL(pwrite64))(fd, data, size, at);
}

int fsync(int fd) {
    if (kind != NONE && in_folder(fd) && fails()) {
        errno = EIO;
        return -1;
    }
    return (REAL(fsync))(fd);
}

int ftruncate64(int fd, off64_t size) {
    if (kind != NONE && in_folder(fd) && fails()) {
        errno = ENOSPC;
        return -1;
    }
    return (REAL(ftruncate64))(fd, size);
}

int ftruncate(int fd, off_t size) {
    if (kind != NONE && in_folder(fd) && fails()) {
        errno = ENOSPC;
        return -1;
    }
    return (REAL(ftruncate))(fd, size);
}

int rename(const char *from, const char *to) {
    if (kind != NONE && strncmp(to, folder, strlen(folder)) == 0 && fails()) {
        errno = ENOSPC;
        return -1;
    }
    return (REAL(rename))(from, to);
}
