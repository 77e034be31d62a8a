/* fuzz_batches.c: random batches of fits side by side, beside fits of their cases alone, and in two groups in the
 * opposite order: fuzz_batches 1000 1 makes 1000 from seed 1 on. */
#include "solver/batches.h"

/* Over so many evaluations a fit creeps along a valley, where rounding decides when it ends. */
enum { CREEPS = 60, MOST_CASES = 16 };

/* The first cases of a batch. */
static batch *begin_some(int n, int dress, int n_groups, int is_beside)
{
    batch *b = begin_batch(dress, n_groups, is_beside, 0);
    b->many.n_cases = n;
    return b;
}

static int creeps(const batch *b, int k)
{
    return b->fitted[k].nfev > CREEPS;
}

/* Each ends as it does alone, and to the same bits in other groups. Returns how many creep and end elsewhere. */
static int fit_random_batch(uint64_t seed, int *n_cases)
{
    uint64_t state = drawn_from = seed * 2654435761u;
    draw(&state);
    const int dress = (int)((draw(&state) + 0.5) * N_DRESSES);
    const int64_t budget = 1 + (int64_t)((draw(&state) + 0.5) * 40.0);
    const int n = *n_cases = 1 + (int)((draw(&state) + 0.5) * MOST_CASES);
    batch *b = begin_some(n, dress, 1, 1), *alone = begin_some(n, dress, 1, 0);
    batch *apart = begin_some(n, dress, MOST_GROUPS, 1);
    int n_other = 0;
    CHECK_INT(pyspec_fit_many(&b->many, NULL, 1 << 20), PYSPEC_FIT_DONE);
    CHECK_INT(pyspec_fit_many(&alone->many, NULL, 1 << 20), PYSPEC_FIT_DONE);
    while (pyspec_fit_many(&apart->many, NULL, budget) == PYSPEC_FIT_AGAIN)
        continue;
    CHECK(same_cases(apart, b, 0));
    for (int k = 0; k < n; k++) {
        const int differs = !ends_alike(b, alone, k);
        n_other += differs;
        const int as_alone = !differs || (creeps(b, k) && creeps(alone, k));
        CHECK(as_alone);
        if (!as_alone)
            printf("seed %llu, case %d\n", (unsigned long long)seed, k);
    }
    end_batch(b);
    end_batch(alone);
    end_batch(apart);
    return n_other;
}

int main(int argc, char **argv)
{
    const long long n = argc > 1 ? atoll(argv[1]) : 100, first = argc > 2 ? atoll(argv[2]) : 1;
    long long n_all = 0, n_other = 0;
    for (long long k = 0; k < n; k++) {
        int n_cases;
        n_other += fit_random_batch((uint64_t)(first + k), &n_cases);
        n_all += n_cases;
    }
    printf("%lld batches: of %lld cases %lld creep, and end elsewhere than alone\n", n, n_all, n_other);
    return REPORT;
}
