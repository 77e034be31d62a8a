/* fuzz_amplitudes.c: random plans as basis functions of free amplitudes, and nothing else of what fuzz.c does with
 * them: so many more of these. Build it with the sanitizers.
 *
 *     fuzz_amplitudes N SEED        runs N plans, each on a build of the kernels that the processor supports
 *     fuzz_amplitudes N SEED ISA    all of them on one, a number
 *
 * Fails where a plan leaves its buffers, gives other bits the second time, or differs from the definition, and unless a
 * third of the plans that were projected could be compared: others have functions that are not finite. */
#include "random/fuzz_sums.h"
#include "random/random_problem.h"
#include "support/unit.h"

#include <stdlib.h>

enum { MOST_WORK = 1 << 22, REPORT_EVERY = 100000 };

typedef struct tally {
    long long projected, compared, turned, counts, counts_compared, all;
} tally;

static void project_plan(rng *r, tally *count)
{
    static plan_builder builder;
    pyspec_problem problem;
    random_plan(r, &builder);
    pyspec_plan *plan = finish(&builder);
    random_sizes(r, plan, chance(r, 95), &problem);
    if (plan->depends >= 0 && pyspec_jacobian_work_size(plan, &problem) <= MOST_WORK) {
        const int hostile = chance(r, 90) ? 0 : 10;
        fill_problem(r, plan, &problem, hostile);
        const double *theta = random_values(r, plan->n_theta, hostile);
        CHECK_INT(pyspec_check(plan, plan->size, &problem, NULL), STATUS_OK);
        const int result = fuzz_linear(r, plan, &problem, theta);
        CHECK(!(result & (LINEAR_FAILED | LINEAR_DIFFERENT)));
        count->projected++;
        count->compared += (result & LINEAR_COMPARED) != 0;
        count->turned += (result & LINEAR_TURNED) != 0;
        count->counts += (result & LINEAR_COUNTS) != 0;
        count->counts_compared += (result & LINEAR_COUNTS) && (result & LINEAR_COMPARED);
    }
    count->all++;
}

static void print_tally(const tally *count)
{
    printf("%lld plans: %lld projected, %lld compared with the definition; %lld with basis functions for each group, "
           "%lld of counts, of which %lld compared\n",
           count->all, count->projected, count->compared, count->turned, count->counts, count->counts_compared);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const long long n = argc > 1 ? atoll(argv[1]) : 1000, seed = argc > 2 ? atoll(argv[2]) : 1;
    tally count = {0};
    unit_test = "plan";
    for (long long k = 0; k < n && !unit_failures; k++) {
        rng r = {(uint64_t)seed * 0x2545f4914f6cdd1du + (uint64_t)k};
        do
            test_isa = argc > 3 ? atoi(argv[3]) : (int)below(&r, N_ISA);
        while (!pyspec_isa_supported(test_isa));
        project_plan(&r, &count);
        free_owned(0);
        if (unit_failures)
            printf("plan %lld of seed %lld failed\n", k, seed);
        if (count.all % REPORT_EVERY == 0)
            print_tally(&count);
    }
    print_tally(&count);
    CHECK(2 * count.projected >= n && 3 * count.compared >= count.projected);
    CHECK(4 * count.turned >= count.projected && 10 * count.counts >= count.projected);
    CHECK(5 * count.counts_compared >= count.counts);
    return REPORT;
}
