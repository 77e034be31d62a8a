#include "guided.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_EDGES = 1 << 16, MOST_PLANS = 4000, MOST_BYTES = 1 << 16 };

typedef struct kept {
    void *bytes;
    int64_t size;
    int is_sound; /* whether the check accepted it on its own, when the corpus was written */
} kept;

static uint8_t counts[N_EDGES], seen[N_EDGES];
static uintptr_t before;
static int listens;

/* Plans that the check refuses, and those that it accepts. */
static kept plans[2][MOST_PLANS];
static int n_plans[2];

/* Called by the compiled code at every branch. Other threads are not listened to exactly. */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    if (!listens)
        return;
    const uintptr_t here = (uintptr_t)__builtin_return_address(0);
    const uintptr_t edge = (here ^ (here >> 15) ^ (before * 0x9e3779b1u)) % N_EDGES;
    counts[edge] = (uint8_t)(counts[edge] + (counts[edge] < 255));
    before = here;
}

/* How often a branch was taken, as a bit: 1, 2, 3, up to 7, 15, 31, 127, more. */
static uint8_t class_of(uint8_t count)
{
    static const uint8_t ends[7] = {1, 2, 3, 7, 15, 31, 127};
    int k = 0;
    while (k < 7 && count > ends[k])
        k++;
    return (uint8_t)(1u << k);
}

void guided_begin(void)
{
    memset(counts, 0, sizeof counts);
    before = 0;
    listens = 1;
}

static void keep(const void *bytes, int64_t size, int accepted, int is_sound)
{
    int *n = &n_plans[accepted != 0];
    if (*n == MOST_PLANS || size > MOST_BYTES || size <= 0)
        return;
    kept *own = &plans[accepted != 0][(*n)++];
    *own = (kept){malloc((size_t)size), size, is_sound};
    if (!own->bytes)
        abort();
    memcpy(own->bytes, bytes, (size_t)size);
}

int guided_end(const void *plan, int64_t size, int accepted)
{
    int is_new = 0;
    listens = 0;
    for (int word = 0; word < N_EDGES; word += 8) {
        uint64_t any;
        memcpy(&any, counts + word, sizeof any);
        for (int k = word; any && k < word + 8; k++)
            if (counts[k] && !(seen[k] & class_of(counts[k]))) {
                seen[k] |= class_of(counts[k]);
                is_new = 1;
            }
    }
    if (is_new)
        keep(plan, size, accepted, 0);
    return is_new;
}

int guided_count(void)
{
    return n_plans[0] + n_plans[1];
}

int guided_branches(void)
{
    int n = 0;
    for (int k = 0; k < N_EDGES; k++)
        for (unsigned bits = seen[k]; bits; bits &= bits - 1)
            n++;
    return n;
}

static const kept *kept_at(int which)
{
    const int accepted = which >= n_plans[0];
    return &plans[accepted][which - (accepted ? n_plans[0] : 0)];
}

int guided_is_sound(int which)
{
    return kept_at(which)->is_sound;
}

pyspec_plan *guided_copy(int which, int64_t *size)
{
    const kept *own = kept_at(which);
    pyspec_plan *copy = malloc((size_t)own->size);
    if (!copy)
        abort();
    *size = own->size;
    return memcpy(copy, own->bytes, (size_t)own->size);
}

pyspec_plan *guided_pick(rng *r, int64_t *size)
{
    const int accepted = n_plans[1] && (!n_plans[0] || chance(r, 85));
    const int begin = accepted ? n_plans[0] : 0;
    return guided_copy(begin + (int)below(r, n_plans[accepted]), size);
}

/* A corpus is a row of plans, each behind its size: in the lowest bits whether it was accepted with
 * its problem, and on its own. */
int guided_load(const char *path)
{
    static uint64_t bytes[MOST_BYTES / 8];
    FILE *file = fopen(path, "rb");
    int64_t word;
    int n = 0;
    if (!file)
        return -1;
    while (fread(&word, sizeof word, 1, file) == 1) {
        const int64_t size = word >> 2;
        if (size <= 0 || size > MOST_BYTES || fread(bytes, (size_t)size, 1, file) != 1)
            break;
        if (size >= (int64_t)sizeof(pyspec_plan))
            ((pyspec_plan *)(void *)bytes)->abi = PYSPEC_ABI;
        keep(bytes, size, (int)(word & 1), (int)(word >> 1 & 1));
        n++;
    }
    fclose(file);
    return n;
}

int guided_save(const char *path)
{
    FILE *file = fopen(path, "wb");
    int whole = file != NULL;
    for (int accepted = 0; whole && accepted < 2; accepted++)
        for (int k = 0; whole && k < n_plans[accepted]; k++) {
            const kept *own = &plans[accepted][k];
            if (own->size >= (int64_t)sizeof(pyspec_plan))
                ((pyspec_plan *)own->bytes)->abi = PYSPEC_ABI;
            const int is_sound = pyspec_check(own->bytes, own->size, NULL, NULL) == 0;
            const int64_t word = own->size << 2 | is_sound << 1 | accepted;
            whole = fwrite(&word, sizeof word, 1, file) == 1 &&
                    fwrite(own->bytes, (size_t)own->size, 1, file) == 1;
        }
    return file && fclose(file) == 0 && whole ? 0 : -1;
}
