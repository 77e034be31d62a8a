#include "random/guided.h"

#include "support/verdicts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_EDGES = 1 << 16, MOST_PLANS = 4000, MOST_BYTES = 1 << 16 };

/* Plans of the file, with what the check said of them when it was written. */
typedef struct loaded {
    subject of;
    verdict *said;
    int64_t n_said;
} loaded;

static loaded file_plans[2 * MOST_PLANS];
static int n_file_plans;

static uint8_t counts[N_EDGES], seen[N_EDGES];
static uintptr_t before;
static int listens, has_heard, replays;

/* Plans that the check refuses, and those that it accepts. */
static subject plans[2][MOST_PLANS];
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

static subject copy_of(const void *bytes, int64_t size, const sizes *problem)
{
    subject of = {malloc((size_t)size), size, *problem};
    if (!of.bytes)
        abort();
    memcpy(of.bytes, bytes, (size_t)size);
    return of;
}

static void keep(const void *bytes, int64_t size, const sizes *problem, int accepted)
{
    int *n = &n_plans[accepted != 0];
    if (*n < MOST_PLANS && size <= MOST_BYTES && size > 0)
        plans[accepted != 0][(*n)++] = copy_of(bytes, size, problem);
}

int guided_end(const void *plan, int64_t size, const sizes *problem, int accepted)
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
    has_heard |= is_new;
    is_new |= replays && !has_heard; /* without branches to hear of, the whole file stays */
    replays = 0;
    if (is_new)
        keep(plan, size, problem, accepted);
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

static pyspec_plan *plan_of(const subject *of, int64_t *size)
{
    *size = of->size;
    return memcpy(exact(of->size, 1), of->bytes, (size_t)of->size);
}

pyspec_plan *guided_replay(int which, int64_t *size, pyspec_problem *problem)
{
    replays = 1;
    *problem = problem_of(&file_plans[which].of.problem);
    return plan_of(&file_plans[which].of, size);
}

int guided_is_same(int which)
{
    const loaded *own = &file_plans[which];
    for (int64_t k = 0; k < own->n_said; k++)
        if (!is_verdict_same(&own->of, &own->said[k]))
            return 0;
    return 1;
}

pyspec_plan *guided_pick(rng *r, int64_t *size)
{
    const int accepted = n_plans[1] && (!n_plans[0] || chance(r, 60));
    return plan_of(&plans[accepted][below(r, n_plans[accepted])], size);
}

/* A corpus is a row of plans: this head, the plan, and the verdicts on it. */
typedef struct head {
    int64_t size, n_said;
    sizes problem;
} head;

static int is_whole(const head *h)
{
    return h->size > 0 && h->size <= MOST_BYTES && h->n_said >= 0 && h->n_said <= MOST_VERDICTS;
}

int guided_load(const char *path)
{
    static uint64_t bytes[MOST_BYTES / 8];
    FILE *file = fopen(path, "rb");
    head h;
    if (!file)
        return -1;
    while (n_file_plans < 2 * MOST_PLANS && fread(&h, sizeof h, 1, file) == 1 && is_whole(&h)) {
        loaded own = {.n_said = h.n_said};
        own.said = malloc(sizeof(verdict) * (size_t)(h.n_said + 1));
        if (!own.said)
            abort();
        if (fread(bytes, (size_t)h.size, 1, file) != 1 ||
            fread(own.said, sizeof(verdict), (size_t)h.n_said, file) != (size_t)h.n_said)
            break;
        if (h.size >= (int64_t)sizeof(pyspec_plan))
            ((pyspec_plan *)(void *)bytes)->abi = PYSPEC_ABI;
        own.of = copy_of(bytes, h.size, &h.problem);
        file_plans[n_file_plans++] = own;
    }
    fclose(file);
    return n_file_plans;
}

/* Writes one plan with what the check says of it and of changes of it. */
static int save(FILE *file, subject *of)
{
    static verdict said[MOST_VERDICTS];
    rng r = {(uint64_t)of->size};
    if (of->size >= (int64_t)sizeof(pyspec_plan))
        ((pyspec_plan *)of->bytes)->abi = PYSPEC_ABI;
    const head h = {of->size, find_verdicts(&r, of, said), of->problem};
    return fwrite(&h, sizeof h, 1, file) == 1 &&
           fwrite(of->bytes, (size_t)of->size, 1, file) == 1 &&
           fwrite(said, sizeof *said, (size_t)h.n_said, file) == (size_t)h.n_said;
}

int guided_save(const char *path)
{
    FILE *file = fopen(path, "wb");
    int whole = file != NULL;
    for (int accepted = 0; whole && accepted < 2; accepted++)
        for (int k = 0; whole && k < n_plans[accepted]; k++)
            whole = save(file, &plans[accepted][k]);
    return file && fclose(file) == 0 && whole ? 0 : -1;
}
