/* fuzz.c: random plans and problems against the promise of pyspec_check: what it accepts never
 * leaves its buffers, whatever doubles it is run with. Build it with the sanitizers.
 *
 *     fuzz N SEED            runs N plans
 *     fuzz N SEED -v         names each plan before it runs, to find the one that fails
 *     fuzz N SEED FILE       begins with the plans of a corpus, changes what reached new branches
 *     fuzz N SEED FILE NEW   and writes all plans that did to NEW
 *     fuzz N SEED FILE -same begins with a corpus of whose plans the check says what it said
 *
 * Every memory has exactly the size that it must have. Fails unless at least half of the plans
 * were accepted and executed, every step occurs in 2 % of the accepted plans, and every status
 * that a check can return was seen. */
#include "random/fuzz_sums.h"
#include "random/guided.h"
#include "walk/memory.h"
#include "random/random_problem.h"
#include "support/unit.h"

#include <stdlib.h>

/* Accepted plans beyond these sizes are counted, but not executed. */
enum { MAX_RUN_X = 4096, MAX_RUN_ROWS = 1024 };
/* To run a plan takes 50 times as long as to check it. A run that learns executes every second plan
 * that is accepted, and one in ten of those with more samples of an auxiliary axis than that. */
enum { MANY_AUX = 12 };
static const int64_t MAX_RUN_WORK = (int64_t)1 << 22;

/* Whether plans that reach new branches are kept. */
static int learns;

/* What a plan or its problem has. */
enum {
    HAS_REPEAT = PYSPEC_STEP_EXTERNAL + 1,
    HAS_TRACE,
    HAS_POISSON,
    HAS_COLUMNS,
    HAS_SHAPE,
    HAS_CHUNK,
    HAS_FORMULA,
    HAS_SEPARABLE,
    HAS_SCHEME,
    HAS_INPUTS,
    N_FEATURES
};
static const char *const feature_names[N_FEATURES] = {
    "LAW",     "BASE",     "EXPRESSION",         "COMPONENT",       "ADD",              "CONVOLVE",
    "PROFILE", "EXTERNAL", "repeated component", "trace as result", "Poisson deviance",
    "own columns", "height alone moves", "chunk", "formula", "shapes times traces",
    "scheme", "inputs of a formula"};

typedef struct tally {
    long long accepted, executed, jacobians, windows, even, compared, finite, different;
    long long sums, sums_compared, sums_different, fits, projected, kept;
    long long seen[64], features[N_FEATURES];
} tally;

static void count_features(const pyspec_plan *plan, const pyspec_problem *q, tally *count)
{
    int has[N_FEATURES] = {0};
    for (int64_t k = 0; k < plan->n_nodes; k++) {
        const pyspec_node *node = &plan_nodes(plan)[k];
        has[node->step] = 1;
        has[HAS_REPEAT] |= node->step == PYSPEC_STEP_COMPONENT && node->repeat > 1;
        has[HAS_SHAPE] |= node->step == PYSPEC_STEP_COMPONENT && node->flags & PYSPEC_FLAG_SHAPE;
    }
    for (int64_t k = 0; k < plan->n_nodes; k++) {
        const pyspec_node *node = &plan_nodes(plan)[k];
        if (!calls_function(node)) /* its op may be any number */
            continue;
        const int by_formula = node->op == PYSPEC_OP_FORMULA;
        has[HAS_FORMULA] |= by_formula;
        has[HAS_SCHEME] |= node->op == PYSPEC_OP_SCHEME;
        /* The words of a convolution begin with the head of a kernel. */
        if (by_formula && node->step != PYSPEC_STEP_CONVOLVE)
            has[HAS_INPUTS] |= formula_head(plan_words(plan) + node->code)->n_inputs > 0;
    }
    has[HAS_SEPARABLE] = plan->separable >= 0;
    has[HAS_COLUMNS] = plan->columns >= 0;
    has[HAS_TRACE] = plan->trace >= 0;
    has[HAS_CHUNK] = q->chunk_rows < q->n_rows;
    has[HAS_POISSON] = q->loss == PYSPEC_LOSS_POISSON;
    for (int k = 0; k < N_FEATURES; k++)
        count->features[k] += has[k];
}

/* The model of the window equals the model of the full grid, cropped: bit by bit, and along an even axis,
 * where a line goes from value to value and a window begins elsewhere, within rounding. */
static void check_crop(const pyspec_plan *plan, const pyspec_problem *q, const double *theta,
                       const double *window, int even)
{
    pyspec_problem full = *q;
    int status;
    full.ends_begin = q->ends_end ? q->ends_begin : q->x_begin; /* a StaticShirley keeps its ends */
    full.ends_end = q->ends_end ? q->ends_end : q->x_end;
    full.row_begin = full.x_begin = 0;
    full.row_end = full.n_rows;
    full.x_end = full.n_x;
    double *out = run_entry(RUN_EVALUATE, plan, &full, theta, &status);
    int64_t width = q->x_end - q->x_begin;
    for (int64_t row = q->row_begin; out && row < q->row_end; row++)
        CHECK((even ? close_to(window + (row - q->row_begin) * width,
                               out + row * q->n_x + q->x_begin, width, 1e-10)
                    : all_same(window + (row - q->row_begin) * width,
                               out + row * q->n_x + q->x_begin, width)));
    CHECK_INT(status, STATUS_OK);
}

/* Even steps between the energies, narrow beside most lines. */
static void make_even(rng *r, pyspec_problem *q)
{
    const double first = 0.25 * (double)below(r, 40) - 5.0, step = 0.013 * (double)(1 + below(r, 30));
    double *x = exact(q->n_x, sizeof *x);
    for (int64_t i = 0; i < q->n_x; i++)
        x[i] = first + (double)i * step;
    q->x = x;
}

/* What the kernels flush to zero, a denormal or close to it, is zero. */
static void flush(double *values, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        values[i] = fabs(values[i]) < 1e-290 ? 0.0 : values[i];
}

/* Compares the window with naive.c. A plan with an infinite trace is left out: 0 times infinity
 * depends on the order of a sum. Of 10,000 plans a few differ, where rounding puts a value on
 * the two sides of a bound or of an edge. */
static void compare(const pyspec_plan *plan, const pyspec_problem *q, const double *theta,
                    double *window, tally *count)
{
    const int64_t width = q->x_end - q->x_begin, n = (q->row_end - q->row_begin) * width;
    const int64_t n_traces = plan->n_traces * q->n_rows;
    double *want = exact(q->n_rows * q->n_x, sizeof *want);
    double *traces = exact(n_traces, sizeof *traces);
    int equal = 1, infinite = 0;
    int64_t finite = 0;
    naive_evaluate(plan, q, theta, traces, want);
    for (int64_t i = 0; i < n_traces; i++)
        infinite |= isinf(traces[i]) != 0;
    flush(want, q->n_rows * q->n_x);
    flush(window, n);
    for (int64_t row = q->row_begin; row < q->row_end; row++)
        equal &= close_to(window + (row - q->row_begin) * width,
                          want + row * q->n_x + q->x_begin, width, 1e-10);
    for (int64_t i = 0; i < n; i++)
        finite += isfinite(window[i]) && window[i] != 0.0;
    count->compared += !infinite;
    count->different += !infinite && !equal;
    count->finite += !infinite && 2 * finite > n;
}

static void check_dropped(const pyspec_problem *q, const double *residual)
{
    for (int64_t row = q->row_begin; q->keep && row < q->row_end; row++)
        for (int64_t i = q->x_begin; i < q->x_end; i++, residual++)
            CHECK(q->keep[(row - q->first_row) * q->keep_row + i * q->keep_x] ||
                  same(*residual, 0.0));
}

static void run_sums(rng *r, const pyspec_plan *plan, const pyspec_problem *q, const double *theta,
                     int compares, tally *count)
{
    const int result = fuzz_sums(r, plan, q, theta, compares);
    CHECK(!(result & SUMS_FAILED));
    count->sums++;
    count->sums_compared += (result & SUMS_COMPARED) != 0;
    count->sums_different += (result & SUMS_DIFFERENT) != 0;
    if (chance(r, 50)) {
        const char *wrong = fuzz_fit(r, plan, q, theta);
        if (wrong)
            printf("%s\n", wrong);
        CHECK(!wrong);
        count->fits++;
    }
}

static void execute(rng *r, const pyspec_plan *plan, pyspec_problem *q, int honest,
                    tally *count)
{
    int status, hostile = chance(r, 50) ? 0 : chance(r, 60) ? 10 : 80;
    fill_problem(r, plan, q, hostile);
    const int even = !hostile && chance(r, 40);
    if (even)
        make_even(r, q);
    double *theta = random_values(r, plan->n_theta, hostile);
    CHECK_INT(pyspec_check(plan, plan->size, q, NULL), STATUS_OK);
    run_entry(RUN_TRACES, plan, q, theta, &status);
    CHECK_INT(status, STATUS_OK);
    double *model = run_entry(RUN_EVALUATE, plan, q, theta, &status);
    CHECK_INT(status, STATUS_OK);
    const int whole = q->chunk_rows == q->n_rows;
    if (whole && chance(r, 20)) {
        check_crop(plan, q, theta, model, even);
        count->windows++;
        count->even += even;
    }
    if (whole && !hostile && honest && naive_knows(plan))
        compare(plan, q, theta, model, count);
    double *residual = run_entry(RUN_RESIDUAL, plan, q, theta, &status);
    CHECK_INT(status, STATUS_OK);
    check_dropped(q, residual);
    if (plan->depends >= 0 && pyspec_jacobian_work_size(plan, q) <= MAX_RUN_WORK) {
        run_entry(RUN_JACOBIAN, plan, q, theta, &status);
        CHECK_INT(status, STATUS_OK);
        count->jacobians++;
        if (!learns || chance(r, 25))
            run_sums(r, plan, q, theta, whole && honest && !hostile, count);
        if (chance(r, learns ? 10 : 40)) {
            CHECK(!(fuzz_linear(r, plan, q, theta) & (LINEAR_FAILED | LINEAR_DIFFERENT)));
            count->projected++;
        }
    }
    count->executed++;
}

/* One function on its own, with and without partial derivatives. */
static void run_function(rng *r, int small)
{
    int n_required, op = (int)below(r, N_OPS), hostile = (int)below(r, 3) * 40;
    int n_params = pyspec_count_params(&pyspec_op_table[op], &n_required);
    int64_t n_rows = 1 + below(r, small ? 3 : 10);
    int64_t n_x = 1 + below(r, small ? 12 : n_rows == 1 ? 800 : 60);
    double *x = random_doubles(r, n_x, hostile);
    double *params = random_doubles(r, n_params * n_rows, hostile);
    double *fed = chance(r, 50) ? random_doubles(r, n_rows * n_x, hostile) : NULL;
    double *shares = chance(r, 50) ? random_doubles(r, 2 * n_x, hostile) : NULL;
    double *value = exact(n_rows * n_x, sizeof *value), *partials[MAX_PARAMS];
    for (int k = 0; k < n_params; k++)
        partials[k] = chance(r, 80) || pyspec_op_table[op].kind == KIND_ROW_FED
                          ? exact(n_rows * n_x, sizeof *value)
                          : NULL;
    CHECK_INT(pyspec_function(op, test_isa, n_rows, n_x, x, params, fed, shares, value,
                              chance(r, 70) ? partials : NULL),
              STATUS_OK);
}

/* A copy of the plan cut to `size` bytes; its header says so or not. */
static pyspec_plan *cut_plan(rng *r, const pyspec_plan *plan, int64_t size)
{
    pyspec_plan *cut = exact(size, 1);
    memcpy(cut, plan, (size_t)size);
    if (size >= (int64_t)sizeof *plan && chance(r, 70))
        cut->size = size;
    return cut;
}

/* A random plan, or one that is kept. */
static pyspec_plan *next_plan(rng *r, int64_t *size, int *is_random)
{
    static plan_builder builder;
    *is_random = !learns || !guided_count() || chance(r, 30);
    if (!*is_random)
        return guided_pick(r, size);
    random_plan(r, &builder);
    pyspec_plan *plan = finish(&builder);
    *size = plan->size;
    return plan;
}

static void judge(rng *r, pyspec_plan *plan, int64_t size, pyspec_problem *problem, int mutated,
                  tally *count)
{
    pyspec_fault fault;
    const sizes given = sizes_of(problem);
    if (learns)
        guided_begin();
    int status = pyspec_check(plan, size, problem, &fault);
    count->seen[status]++;
    CHECK(mutated || status == STATUS_OK);
    CHECK_INT(fault.status, status);
    if (status == STATUS_OK) {
        count->accepted++;
        count_features(plan, problem, count);
        if (problem->n_x <= MAX_RUN_X && problem->n_rows <= MAX_RUN_ROWS &&
            pyspec_work_size(plan, problem) <= MAX_RUN_WORK &&
            (!learns || chance(r, plan->n_aux <= MANY_AUX ? 50 : 10)))
            execute(r, plan, problem, !mutated, count);
    }
    count->kept += learns && guided_end(plan, size, &given, status == STATUS_OK);
}

static void one_plan(rng *r, tally *count)
{
    int64_t size;
    int is_random;
    /* What a plan does to memory shows at few points: most plans of a long run take few. */
    const int small = learns && chance(r, 99);
    pyspec_plan *plan = next_plan(r, &size, &is_random);
    pyspec_problem problem;
    const int is_whole = size >= (int64_t)sizeof *plan && pyspec_check(plan, size, NULL, NULL) == 0;
    int mutated = !is_random || chance(r, 40);
    if (is_whole)
        random_sizes(r, plan, small, &problem);
    else
        problem = (pyspec_problem){0};
    if (mutated && is_whole && chance(r, 30))
        mutate_sizes(r, &problem);
    else if (mutated && is_whole && chance(r, 5)) {
        size = below(r, size);
        pyspec_plan *cut = cut_plan(r, plan, size);
        plan = cut;
    } else if (mutated && size >= (int64_t)sizeof *plan)
        do
            mutate_plan(r, plan, size);
        while (!is_random && chance(r, 30));
    judge(r, plan, size, &problem, mutated, count);
    if (chance(r, learns ? 1 : 10))
        run_function(r, small);
}

/* The plans of the corpus as they are; `same`: the check says of each what it said. */
static void replay(int n, tally *count, int same)
{
    unit_test = "corpus";
    for (int k = 0; same && k < n && !unit_failures; k++)
        CHECK(guided_is_same(k));
    for (int k = 0; k < n && !unit_failures; k++) {
        rng r = {(uint64_t)k};
        int64_t size;
        pyspec_problem problem;
        pyspec_plan *plan = guided_replay(k, &size, &problem);
        test_isa = 0;
        judge(&r, plan, size, &problem, 1, count);
        free_owned(0);
    }
    count->kept = 0;
}

int main(int argc, char **argv)
{
    const long long n = argc > 1 ? atoll(argv[1]) : 1000, seed = argc > 2 ? atoll(argv[2]) : 1;
    tally count = {0};
    learns = argc > 3 && strcmp(argv[3], "-v");
    const int n_loaded = learns ? guided_load(argv[3]) : 0;
    if (n_loaded < 0)
        printf("%s: no corpus yet\n", argv[3]);
    replay(n_loaded, &count, argc > 4 && !strcmp(argv[4], "-same"));
    for (long long k = 0; k < n && !unit_failures; k++) {
        rng r = {(uint64_t)seed * 0x2545f4914f6cdd1du + (uint64_t)k};
        if (argc > 3 && !learns) {
            printf("plan %lld\n", k);
            fflush(stdout);
        }
        if (k && k % 1000000 == 0) {
            printf("%lld of %lld plans\n", k, n);
            fflush(stdout);
        }
        do
            test_isa = (int)below(&r, N_ISA);
        while (!pyspec_isa_supported(test_isa));
        unit_test = "plan";
        one_plan(&r, &count);
        free_owned(0);
        if (unit_failures)
            printf("plan %lld of seed %lld failed\n", k, seed);
    }
    printf("%lld plans: %lld accepted, %lld executed; %lld windows equal the full grid, %lld of them "
           "along even energies; %lld of %lld differ from the naive reading, %lld of these mostly not 0 or NaN\n",
           n, count.accepted, count.executed, count.windows, count.even, count.different, count.compared,
           count.finite);
    printf("%lld sums, of which %lld of %lld differ from the stored derivatives; %lld fits; %lld with "
           "free amplitudes\n",
           count.sums, count.sums_different, count.sums_compared, count.fits, count.projected);
    if (learns)
        printf("%d plans are kept, %lld of them new, for %d branches\n", guided_count(), count.kept,
               guided_branches());
    if (argc > 4 && strcmp(argv[4], "-same") && guided_save(argv[4]))
        unit_failures++;
    if (learns) {
        CHECK(5 * count.accepted >= n && 10 * count.executed >= n);
        return REPORT;
    }
#define STATUS(name, code, message) printf("  %-12s %lld\n", #name, count.seen[code]);
#include "tables/status.def"
#undef STATUS
    /* WORK, OUTPUT, ISA, ORDER and PREPARED belong to the entries, not to the check. */
#define STATUS(name, code, message)                                                                \
    CHECK(count.seen[code] || (code) == STATUS_WORK || (code) == STATUS_OUTPUT ||                  \
          (code) == STATUS_ISA || (code) == STATUS_ORDER || (code) == STATUS_PREPARED);
#include "tables/status.def"
#undef STATUS
    for (int k = 0; k < N_FEATURES; k++) {
        printf("  %-18s %5.1f %%\n", feature_names[k],
               100.0 * (double)count.features[k] / (double)(count.accepted + !count.accepted));
        CHECK(50 * count.features[k] >= count.accepted);
    }
    CHECK(count.different <= 2 + count.compared / 4000);
    CHECK(10 * count.even >= count.windows);
    CHECK(5 * count.projected >= count.jacobians);
    CHECK(10 * count.jacobians >= 3 * count.executed);
    CHECK(count.sums_different <= 2 + count.sums_compared / 1000);
    CHECK(10 * count.sums_compared >= count.sums && 3 * count.fits >= count.sums);
    CHECK(2 * count.accepted >= n && 2 * count.executed >= n);
    return REPORT;
}
