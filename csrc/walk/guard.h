/* guard.h: the parts of a memory of the caller, one after the other. Builds with the address
 * sanitizer leave a gap after every part that nothing may touch. A part that overruns is then found
 * at once. Without the gap the next part would hide it. */
#ifndef PYSPEC_GUARD_H
#define PYSPEC_GUARD_H

#include "isa/lanes.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
enum { GAP = 2 * L };

/* `n` doubles may be used, what follows up to `room` doubles and the gap may not. */
static inline void guard(const double *part, int64_t n, int64_t room)
{
    __asan_unpoison_memory_region(part, (size_t)n * sizeof *part);
    __asan_poison_memory_region(part + n, (size_t)(room - n + GAP) * sizeof *part);
}
#else
enum { GAP = 0 };

static inline void guard(const double *part, int64_t n, int64_t room)
{
    (void)part, (void)n, (void)room;
}
#endif

static inline int64_t round_up(int64_t n, int64_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

/* The next part of a memory: `n` doubles, beginning at a multiple of L; NULL where there is no
 * memory and only `used` is asked for. */
static inline void *take_part(double *base, int64_t *used, int64_t n)
{
    const int64_t room = round_up(n, L);
    double *part = base ? base + *used : NULL;
    if (base)
        guard(part, n, room);
    *used += room + GAP;
    return part;
}

#endif
