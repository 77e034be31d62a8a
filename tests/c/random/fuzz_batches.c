/* fuzz_batches.c: random batches of fits side by side are compared with fits of some of their cases in two groups, and
 * with fits of each case alone: fuzz_batches 1000 1 makes 1000 from seed 1 on. OF_A_KIND seeds in turn share a plan, a
 * number of points and memories. */
#include "solver/batches.h"

/* Over so many evaluations a fit creeps along a valley, where rounding decides when it ends. Fewer are enough where
 * parameters are hardly determined. */
enum { CREEPS = 60, LOOSE_CREEPS = 30, MOST_CASES = 16, OF_A_KIND = 8 };

/* Shares of kinds: of many points, with baseline kernels, with a plan that has all nodes, and with one whose parameters
 * are hardly determined. And shares of batches: counts so large that all starts are far, lines so high that the spread
 * one lies outside of the axis, and one start for all cases. */
static const double LONG = 1.0 / 32.0, PLAIN = 1.0 / 16.0, WHOLE = 1.0 / 8.0, LOOSE = 1.0 / 16.0;
static const double FAR = 1.0 / 64.0, HIGH = 1.0 / 8.0, COMMON = 1.0 / 8.0;

/* Whether the data hardly determine some parameters. */
static int is_loose;

/* What has been drawn, and what fits came to. */
typedef struct tally {
    long long n_cases, n_creep, n_replaced, n_beside, n_alone;
    long long dresses[N_DRESSES], sets[N_ISA], nodes[N_NODES], sizes[3], ends[PYSPEC_END_SLOW + 1], flags[7];
} tally;

/* A number from 0 to n - 1. */
static int draw_below(uint64_t *state, int n)
{
    return (int)((draw(state) + 0.5) * n);
}

static int has_chance(uint64_t *state, double share)
{
    return draw(state) + 0.5 < share;
}

/* The first numbers of neighbouring seeds are alike. */
static uint64_t begin_draws(uint64_t seed)
{
    uint64_t state = seed * 2654435761u;
    draw(&state);
    draw(&state);
    return state;
}

/* Draws a kind of batches: the instruction set, the points, the nodes. Returns the dress. */
static int draw_kind(uint64_t seed)
{
    static const int without[] = {0, NODE_SPREAD, NODE_VOIGT};
    uint64_t state = begin_draws(seed);
    const int dress = draw_below(&state, N_DRESSES), is_long = has_chance(&state, LONG);
    test_isa = has_chance(&state, PLAIN) ? 0 : N_ISA - 1;
    while (!pyspec_isa_supported(test_isa))
        test_isa--;
    drawn.n_x = is_long ? N_X - draw_below(&state, 64) : 24 + draw_below(&state, 24);
    drawn.without = without[draw_below(&state, 3)];
    drawn.without |= has_chance(&state, 0.5) ? NODE_LINE : 0;
    drawn.without |= has_chance(&state, 0.5) ? NODE_CONSTANT : 0;
    if (has_chance(&state, WHOLE))
        drawn.without = 0;
    if (has_chance(&state, LOOSE))
        drawn.without = NODE_SHIRLEY | (drawn.without & ~NODE_LINE);
    return dress;
}

/* Draws the cases of a batch. */
static void draw_batch(batch *b, int dress, uint64_t *state)
{
    drawn.from = *state;
    drawn.n_cases = 1 + draw_below(state, MOST_CASES);
    const int is_far = has_chance(state, FAR), is_high = has_chance(state, HIGH);
    drawn.counts = is_far ? 20.0 : 1.0;
    drawn.heights = is_far ? 1.0 : is_high ? 12.0 : 5.0;
    is_loose = !has(NODE_SHIRLEY) || (dress & DRESS_POISSON && (is_far || is_high) && !has(NODE_VOIGT));
    draw_cases(b->c, dress, 0.1);
    draw_starts(b);
    const int is_common = drawn.n_cases > 1 && has_chance(state, COMMON);
    b->many.start = b->start[is_common];
    b->many.start_case = is_common ? 0 : sizeof b->start[0];
}

/* Fits cases anew, in so many groups or, of none, alone. */
static void fit(batch *b, int first, int end, int n_groups, int64_t budget)
{
    double *const beside = b->many.beside;
    const size_t n = (size_t)(end - first);
    memset(b->found.fitted + first, 0, n * sizeof *b->found.fitted);
    memset(b->found.numbers + first, 0, n * sizeof *b->found.numbers);
    b->many.next = b->many.n_done = first;
    b->many.n_cases = end;
    b->many.n_slots = n_groups ? n_groups * L : 1;
    b->many.beside = n_groups ? beside : NULL;
    while (pyspec_fit_many(&b->many, NULL, budget) == PYSPEC_FIT_AGAIN)
        continue;
    CHECK_INT(b->many.n_done, end);
    b->many.beside = beside;
}

static int creeps(const results *found, int k)
{
    return found->fitted[k].nfev > (is_loose ? LOOSE_CREEPS : CREEPS);
}

/* Where parameters can replace one another, rounding decides which of them are at a bound; chi^2 is the same. */
static int is_replaced(const results *one, const results *other, int k)
{
    const pyspec_fitted *a = &one->fitted[k], *b = &other->fitted[k];
    return is_loose && a->end == b->end && fabs(a->chisqr - b->chisqr) <= 1e-9 * b->chisqr;
}

/* Whether a case ends as it does alone. Counts those of which rounding decides. */
static int ends_as_alone(const results *beside, const results *alone, int k, tally *all)
{
    const int differs = !ends_alike(beside, alone, k), creep = creeps(beside, k) && creeps(alone, k);
    all->n_creep += differs && creep;
    all->n_replaced += differs && !creep && is_replaced(beside, alone, k);
    return !differs || creep || is_replaced(beside, alone, k);
}

/* Each ends as it does alone, and to the same bits in other company. */
static void fit_random_batch(batch *b, int dress, uint64_t seed, tally *all)
{
    uint64_t state = begin_draws(seed);
    draw_batch(b, dress, &state);
    const int n = drawn.n_cases, first = draw_below(&state, n), end = first + 1 + draw_below(&state, n - first);
    const int64_t budget = 1 + draw_below(&state, 40);
    b->many.n_beside = b->many.n_alone = 0;
    fit(b, 0, n, 1, 1 << 20);
    const results beside = b->found;
    all->n_beside += b->many.n_beside;
    all->n_alone += b->many.n_alone;
    fit(b, first, end, MOST_GROUPS, budget);
    CHECK(same_cases(&b->found, &beside, 0));
    fit(b, 0, n, 0, 1 << 20);
    for (int k = 0; k < n; k++) {
        const int as_alone = ends_as_alone(&beside, &b->found, k, all);
        CHECK(as_alone);
        if (!as_alone)
            printf("seed %llu, case %d\n", (unsigned long long)seed, k);
        all->ends[beside.fitted[k].end]++;
        for (int i = 0; i < 7; i++)
            all->flags[i] += beside.fitted[k].flags >> i & 1;
    }
    all->n_cases += n;
    all->dresses[dress]++;
    all->sets[test_isa]++;
    all->sizes[drawn.n_x < 36 ? 0 : drawn.n_x < 48 ? 1 : 2]++;
    for (int i = 0; i < N_NODES; i++)
        all->nodes[i] += has(1 << i);
}

static void print_counts(const char *what, const long long *counts, int n)
{
    printf("%s", what);
    for (int k = 0; k < n; k++)
        printf(" %lld", counts[k]);
    printf("\n");
}

int main(int argc, char **argv)
{
    const long long n = argc > 1 ? atoll(argv[1]) : 100, first = argc > 2 ? atoll(argv[2]) : 1;
    tally all = {0};
    batch *b = NULL;
    int dress = 0;
    for (long long k = first; k < first + n; k++) {
        if (!b) {
            dress = draw_kind((uint64_t)(k / OF_A_KIND));
            b = begin_batch(dress, MOST_GROUPS, 1, 0);
        }
        fit_random_batch(b, dress, (uint64_t)k, &all);
        if ((k + 1) % OF_A_KIND == 0 || k + 1 == first + n) {
            free_owned(0);
            b = NULL;
        }
    }
    printf("%lld batches of %lld cases\n", n, all.n_cases);
    printf("%lld end elsewhere than alone: %lld creep, of %lld a parameter takes the place of another\n",
           all.n_creep + all.n_replaced, all.n_creep, all.n_replaced);
    printf("%lld answers side by side, %lld alone\n", all.n_beside, all.n_alone);
    print_counts("dresses", all.dresses, N_DRESSES);
    print_counts("instruction sets", all.sets, N_ISA);
    print_counts("with spread, Voigt, line, constant, Shirley", all.nodes, N_NODES);
    print_counts("below 36 points, below 48, more", all.sizes, 3);
    print_counts("ends", all.ends, PYSPEC_END_SLOW + 1);
    print_counts("flags", all.flags, 7);
    return REPORT;
}
