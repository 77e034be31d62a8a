#include "support/owned.h"

#include <math.h>
#include <string.h>
#if defined(_WIN32)
#include <malloc.h>
#define aligned_alloc(alignment, size) _aligned_malloc(size, alignment)
#else
#define _aligned_free free
#endif

typedef struct owned {
    void *memory;
    int is_aligned;
} owned;

static owned *all;
static int64_t n_all, n_room;

static void *own(void *memory, int is_aligned)
{
    if (n_all == n_room) {
        n_room = 2 * n_room + 64;
        all = realloc(all, (size_t)n_room * sizeof *all);
    }
    if (!memory || !all)
        abort();
    all[n_all++] = (owned){memory, is_aligned};
    return memory;
}

void *exact(int64_t n, size_t size)
{
    return own(malloc(n > 0 ? (size_t)n * size : 1), 0);
}

void *zeros(int64_t n, size_t size)
{
    return memset(exact(n, size), 0, (size_t)n * size);
}

double *doubles(int64_t n, double value)
{
    double *memory = exact(n, sizeof *memory);
    for (int64_t i = 0; i < n; i++)
        memory[i] = value;
    return memory;
}

double *make_work(int64_t size)
{
    double *work = own(aligned_alloc(64, (size_t)(size ? (size + 63) / 64 * 64 : 64)), 1);
    for (int64_t i = 0; i < size / (int64_t)sizeof *work; i++)
        work[i] = (double)NAN;
    return work;
}

int64_t count_owned(void)
{
    return n_all;
}

void free_owned(int64_t n_kept)
{
    while (n_all > n_kept)
        if (all[--n_all].is_aligned)
            _aligned_free(all[n_all].memory);
        else
            free(all[n_all].memory);
    if (!n_all) {
        free(all);
        all = NULL;
        n_room = 0;
    }
}
