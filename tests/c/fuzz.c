/* fuzz.c: random plans and problems against the promise of pyspec_check: what it accepts never
 * leaves its buffers, whatever doubles it is run with. Build it with the sanitizers.
 *
 *     fuzz N SEED        runs N plans
 *     fuzz N SEED -v     names each plan before it runs, to find the one that fails
 *
 * Every memory has exactly the size that it must have. Fails unless at least half of the plans
 * were accepted and executed, every step occurs in 2 % of the accepted plans, and every status
 * that a check can return was seen. */
#include "fuzz_sums.h"
#include "unit.h"

#include <stdlib.h>

/* Accepted plans beyond these sizes are counted, but not executed. */
enum { MAX_RUN_X = 4096, MAX_RUN_ROWS = 1024 };
static const int64_t MAX_RUN_WORK = (int64_t)1 << 22;

/* What a plan or its problem has. */
enum {
    HAS_REPEAT = PYSPEC_STEP_EXTERNAL + 1,
    HAS_TRACE,
    HAS_POISSON,
    HAS_COLUMNS,
    HAS_SHAPE,
    N_FEATURES
};
static const char *const feature_names[N_FEATURES] = {
    "LAW",     "BASE",     "EXPRESSION",         "COMPONENT",       "ADD",              "CONVOLVE",
    "PROFILE", "EXTERNAL", "repeated component", "trace as result", "Poisson deviance",
    "own columns", "height alone moves"};

typedef struct tally {
    long long accepted, executed, jacobians, windows, compared, finite, different;
    long long sums, sums_compared, sums_different, fits;
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
    has[HAS_COLUMNS] = plan->columns >= 0;
    has[HAS_TRACE] = plan->trace >= 0;
    has[HAS_POISSON] = q->loss == PYSPEC_LOSS_POISSON;
    for (int k = 0; k < N_FEATURES; k++)
        count->features[k] += has[k];
}

static void *exact(int64_t n, size_t size)
{
    void *memory = malloc(n > 0 ? (size_t)n * size : 1);
    if (!memory)
        abort();
    return memory;
}

/* n doubles: rising with small noise, with `hostile` percent of them replaced. */
static double *random_doubles(rng *r, int64_t n, int hostile)
{
    double *values = exact(n, sizeof *values);
    for (int64_t i = 0; i < n; i++)
        values[i] = chance(r, hostile) ? hostile_double(r)
                                       : 0.1 * (double)i - 0.5 + 1e-3 * (double)below(r, 100);
    return values;
}

/* n values of parameters: most are positive, as most bounds ask. */
static double *random_values(rng *r, int64_t n, int hostile)
{
    double *values = exact(n, sizeof *values);
    for (int64_t i = 0; i < n; i++) {
        double calm = 0.05 * (double)(1 + below(r, 50)) * (chance(r, 4) ? -1.0 : 1.0);
        values[i] = chance(r, hostile) ? hostile_double(r) : calm;
    }
    return values;
}

/* Sizes and window; the pointers are only not NULL yet. */
static void random_sizes(rng *r, const pyspec_plan *plan, pyspec_problem *q)
{
    static double somewhere;
    static const int64_t large[] = {65, 130, 384, 385, 400};
    int long_rows = plan->dimension == 2 && chance(r, 4);
    int64_t n_rows = plan->dimension == 1 ? 1 : 1 + below(r, 20);
    int64_t n_x = 1 + below(r, chance(r, 30) ? 110 : 50);
    if (plan->dimension == 1 && chance(r, 30))
        n_x = 1 + below(r, 900);
    if (plan->trace >= 0)
        n_x = 1;
    *q = (pyspec_problem){.x = &somewhere, .time = &somewhere, .axes = &somewhere};
    q->fixed = &somewhere;
    q->masks = (const uint8_t *)&somewhere;
    q->n_rows = long_rows ? large[below(r, 5)] : n_rows;
    q->n_x = long_rows && n_x > 1 ? 1 + below(r, 3) : n_x;
    q->row_begin = chance(r, 50) ? 0 : below(r, q->n_rows);
    q->row_end = chance(r, 50) ? q->n_rows : q->row_begin + 1 + below(r, q->n_rows - q->row_begin);
    q->x_begin = chance(r, 50) ? 0 : below(r, q->n_x);
    q->x_end = chance(r, 50) ? q->n_x : q->x_begin + 1 + below(r, q->n_x - q->x_begin);
    q->data_type = below(r, 3);
    q->n_axes = plan->n_axes;
    q->n_masks = plan->n_masks;
    q->n_fixed = plan->n_fixed;
    q->aux = q->aux_weight = q->external = q->spectra = &somewhere;
    q->n_aux = plan->n_aux;
    q->n_external = plan->n_external + plan->n_spectra;
    q->loss = chance(r, 30);
    q->loss_scale = chance(r, 80) ? 0.25 * (double)(1 + below(r, 50)) : 1e-300;
}

static void mutate_sizes(rng *r, pyspec_problem *q)
{
    int64_t *const numbers[] = {&q->n_x,     &q->n_rows,     &q->row_begin, &q->row_end,
                                &q->x_begin, &q->x_end,      &q->n_axes,    &q->n_masks,
                                &q->n_fixed, &q->data_type,  &q->n_aux,     &q->n_external,
                                &q->loss};
    const double **const pointers[] = {&q->x,   &q->time,       &q->axes,     &q->fixed,
                                       &q->aux, &q->aux_weight, &q->external, &q->spectra};
    enum { N_NUMBERS = sizeof numbers / sizeof *numbers, N_POINTERS = 8 };
    int64_t k = below(r, N_NUMBERS + N_POINTERS + 2);
    if (k < N_NUMBERS)
        *numbers[k] = odd_integer(r, *numbers[k]);
    else if (k < N_NUMBERS + N_POINTERS)
        *pointers[k - N_NUMBERS] = NULL;
    else if (k == N_NUMBERS + N_POINTERS)
        q->loss_scale = hostile_double(r);
    else
        q->masks = NULL;
}

/* A grid of `size`-byte elements in an exactly sized memory of its own: rows or columns first,
 * forwards or backwards, or, where `may_repeat`, one element for a whole row or column. */
static void *random_layout(rng *r, const pyspec_problem *q, int64_t size, int may_repeat,
                           const void **origin, int64_t *by_row, int64_t *by_x, int64_t *n)
{
    int transposed = chance(r, 30), backwards = chance(r, 20);
    *by_row = transposed ? size : q->n_x * size;
    *by_x = transposed ? q->n_rows * size : size;
    *n = q->n_rows * q->n_x;
    if (may_repeat && chance(r, 40)) {
        int by_column = chance(r, 50);
        *by_row = by_column ? 0 : size;
        *by_x = by_column ? size : 0;
        *n = by_column ? q->n_x : q->n_rows;
        backwards = 0;
    }
    char *memory = exact(*n, (size_t)size);
    *origin = backwards ? memory + (*n - 1) * size : memory;
    *by_row *= backwards ? -1 : 1;
    *by_x *= backwards ? -1 : 1;
    return memory;
}

typedef struct buffers {
    void *all[16];
    int n;
} buffers;

static void *own(buffers *b, void *memory)
{
    b->all[b->n++] = memory;
    return memory;
}

static void release(buffers *b)
{
    while (b->n)
        free(b->all[--b->n]);
}

/* Gives an accepted problem arrays of exactly the sizes that it states. */
static void fill_problem(rng *r, const pyspec_plan *plan, pyspec_problem *q, int hostile,
                         buffers *owned)
{
    static const int64_t sizes[] = {8, 4, 2};
    const void *weight, *keep;
    int64_t n, size = sizes[q->data_type];
    q->x = own(owned, random_doubles(r, q->n_x, hostile / 2));
    if (q->time)
        q->time = own(owned, random_doubles(r, q->n_rows, hostile / 2));
    q->axes = own(owned, random_doubles(r, q->n_axes * q->n_rows, hostile / 2));
    q->fixed = own(owned, random_values(r, q->n_fixed, hostile));
    q->aux = own(owned, random_doubles(r, q->n_aux, hostile / 2));
    q->aux_weight = own(owned, random_doubles(r, q->n_aux, hostile / 2));
    q->external = own(owned, random_values(r, plan->n_external * q->n_rows, hostile));
    q->spectra = own(owned, random_doubles(r, plan->n_spectra * q->n_rows * q->n_x, hostile));
    uint8_t *masks = own(owned, exact(q->n_masks * q->n_rows, 1));
    for (int64_t i = 0; i < q->n_masks * q->n_rows; i++)
        masks[i] = (uint8_t)chance(r, 60);
    q->masks = masks;
    char *data =
        own(owned, random_layout(r, q, size, 0, &q->data, &q->data_row, &q->data_x, &n));
    for (int64_t i = 0; i < n * size; i++)
        data[i] = (char)draw(r);
    for (int64_t i = 0; !hostile && q->data_type == PYSPEC_TYPE_F64 && i < n; i++)
        ((double *)(void *)data)[i] = 0.25 * (double)below(r, 100) - 1.0;
    if (chance(r, 50)) {
        double *values =
            own(owned, random_layout(r, q, 8, 1, &weight, &q->weight_row, &q->weight_x, &n));
        for (int64_t i = 0; i < n; i++)
            values[i] = chance(r, hostile) ? hostile_double(r) : 2.0;
        q->weight = weight;
    }
    if (chance(r, 50)) {
        uint8_t *values =
            own(owned, random_layout(r, q, 1, 1, &keep, &q->keep_row, &q->keep_x, &n));
        for (int64_t i = 0; i < n; i++)
            values[i] = (uint8_t)chance(r, 80);
        q->keep = keep;
    }
}

/* The model of the window equals the model of the full grid, cropped, bit by bit. */
static void check_crop(const pyspec_plan *plan, const pyspec_problem *q, const double *theta,
                       const double *window)
{
    pyspec_problem full = *q;
    int status;
    full.row_begin = full.x_begin = 0;
    full.row_end = full.n_rows;
    full.x_end = full.n_x;
    double *out = run_entry(RUN_EVALUATE, plan, &full, theta, &status);
    int64_t width = q->x_end - q->x_begin;
    for (int64_t row = q->row_begin; out && row < q->row_end; row++)
        CHECK(all_same(window + (row - q->row_begin) * width, out + row * q->n_x + q->x_begin,
                       width));
    CHECK_INT(status, STATUS_OK);
    free(out);
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
    free(traces);
    free(want);
}

static void check_dropped(const pyspec_problem *q, const double *residual)
{
    for (int64_t row = q->row_begin; q->keep && row < q->row_end; row++)
        for (int64_t i = q->x_begin; i < q->x_end; i++, residual++)
            CHECK(q->keep[row * q->keep_row + i * q->keep_x] || same(*residual, 0.0));
}

/* A component at several auxiliary points that moves though it says that it does not: its value is
 * that of the first row, its derivatives are not. */
static int is_honest(const pyspec_plan *plan)
{
    for (int64_t k = plan->n_resolve; k < plan->n_nodes; k++)
        if (plan_nodes(plan)[k].flags & PYSPEC_FLAG_STATIC && plan_nodes(plan)[k].repeat > 1)
            return 0;
    return 1;
}

static void run_sums(rng *r, const pyspec_plan *plan, const pyspec_problem *q, const double *theta,
                     int compares, tally *count)
{
    const int honest = is_honest(plan);
    const int result = fuzz_sums(r, plan, q, theta, honest, compares && honest);
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
    buffers owned = {.n = 0};
    int status, hostile = chance(r, 50) ? 0 : chance(r, 60) ? 10 : 80;
    fill_problem(r, plan, q, hostile, &owned);
    double *theta = own(&owned, random_values(r, plan->n_theta, hostile));
    CHECK_INT(pyspec_check(plan, plan->size, q, NULL), STATUS_OK);
    free(run_entry(RUN_TRACES, plan, q, theta, &status));
    CHECK_INT(status, STATUS_OK);
    double *model = run_entry(RUN_EVALUATE, plan, q, theta, &status);
    CHECK_INT(status, STATUS_OK);
    if (chance(r, 20)) {
        check_crop(plan, q, theta, model);
        count->windows++;
    }
    if (!hostile && honest && naive_knows(plan))
        compare(plan, q, theta, model, count);
    free(model);
    double *residual = run_entry(RUN_RESIDUAL, plan, q, theta, &status);
    CHECK_INT(status, STATUS_OK);
    check_dropped(q, residual);
    free(residual);
    if (plan->depends >= 0 && pyspec_jacobian_work_size(plan, q) <= MAX_RUN_WORK) {
        free(run_entry(RUN_JACOBIAN, plan, q, theta, &status));
        CHECK_INT(status, STATUS_OK);
        count->jacobians++;
        run_sums(r, plan, q, theta, honest && !hostile, count);
    }
    release(&owned);
    count->executed++;
}

/* One function on its own, with and without partial derivatives. */
static void run_function(rng *r)
{
    int n_required, op = (int)below(r, N_OPS), hostile = (int)below(r, 3) * 40;
    int n_params = pyspec_count_params(&pyspec_op_table[op], &n_required);
    int64_t n_rows = 1 + below(r, 10), n_x = 1 + below(r, n_rows == 1 ? 800 : 60);
    buffers owned = {.n = 0};
    double *x = own(&owned, random_doubles(r, n_x, hostile));
    double *params = own(&owned, random_doubles(r, n_params * n_rows, hostile));
    double *fed = chance(r, 50) ? own(&owned, random_doubles(r, n_rows * n_x, hostile)) : NULL;
    double *value = own(&owned, exact(n_rows * n_x, sizeof *value)), *partials[MAX_PARAMS];
    for (int k = 0; k < n_params; k++)
        partials[k] = chance(r, 80) ? exact(n_rows * n_x, sizeof *value) : NULL;
    CHECK_INT(pyspec_function(op, test_isa, n_rows, n_x, x, params, fed, value,
                              chance(r, 70) ? partials : NULL),
              STATUS_OK);
    for (int k = 0; k < n_params; k++)
        free(partials[k]);
    release(&owned);
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

static void one_plan(rng *r, tally *count)
{
    static plan_builder builder;
    random_plan(r, &builder);
    pyspec_plan *plan = finish(&builder);
    int64_t size = plan->size;
    pyspec_problem problem;
    pyspec_fault fault;
    random_sizes(r, plan, &problem);
    int mutated = chance(r, 40);
    if (mutated && chance(r, 30))
        mutate_sizes(r, &problem);
    else if (mutated && chance(r, 5)) {
        size = below(r, size);
        pyspec_plan *cut = cut_plan(r, plan, size);
        free(plan);
        plan = cut;
    } else if (mutated)
        mutate_plan(r, plan);
    int status = pyspec_check(plan, size, &problem, &fault);
    count->seen[status]++;
    CHECK(mutated || status == STATUS_OK);
    CHECK_INT(fault.status, status);
    if (status == STATUS_OK) {
        count->accepted++;
        count_features(plan, &problem, count);
        if (problem.n_x <= MAX_RUN_X && problem.n_rows <= MAX_RUN_ROWS &&
            pyspec_work_size(plan, &problem) <= MAX_RUN_WORK)
            execute(r, plan, &problem, !mutated, count);
    }
    if (chance(r, 10))
        run_function(r);
    free(plan);
}

int main(int argc, char **argv)
{
    const long long n = argc > 1 ? atoll(argv[1]) : 1000, seed = argc > 2 ? atoll(argv[2]) : 1;
    tally count = {0};
    for (long long k = 0; k < n && !unit_failures; k++) {
        rng r = {(uint64_t)seed * 0x2545f4914f6cdd1du + (uint64_t)k};
        if (argc > 3) {
            printf("plan %lld\n", k);
            fflush(stdout);
        }
        do
            test_isa = (int)below(&r, N_ISA);
        while (!pyspec_isa_supported(test_isa));
        unit_test = "plan";
        one_plan(&r, &count);
        if (unit_failures)
            printf("plan %lld of seed %lld failed\n", k, seed);
    }
    printf("%lld plans: %lld accepted, %lld executed; %lld windows equal the full grid; "
           "%lld of %lld differ from the naive reading, %lld of these mostly not 0 or NaN\n",
           n, count.accepted, count.executed, count.windows, count.different, count.compared,
           count.finite);
    printf("%lld sums, of which %lld of %lld differ from the stored derivatives; %lld fits\n",
           count.sums, count.sums_different, count.sums_compared, count.fits);
#define STATUS(name, code, message) printf("  %-12s %lld\n", #name, count.seen[code]);
#include "status.def"
#undef STATUS
    /* WORK, OUTPUT, ISA and ORDER belong to the entries, not to the check. */
#define STATUS(name, code, message)                                                                \
    CHECK(count.seen[code] || (code) == STATUS_WORK || (code) == STATUS_OUTPUT ||                  \
          (code) == STATUS_ISA || (code) == STATUS_ORDER);
#include "status.def"
#undef STATUS
    for (int k = 0; k < N_FEATURES; k++) {
        printf("  %-18s %5.1f %%\n", feature_names[k],
               100.0 * (double)count.features[k] / (double)(count.accepted + !count.accepted));
        CHECK(50 * count.features[k] >= count.accepted);
    }
    CHECK(count.different <= 2 + count.compared / 4000);
    CHECK(10 * count.jacobians >= 3 * count.executed);
    CHECK(count.sums_different <= 2 + count.sums_compared / 1000);
    CHECK(10 * count.sums_compared >= count.sums && 3 * count.fits >= count.sums);
    CHECK(2 * count.accepted >= n && 2 * count.executed >= n);
    return REPORT;
}
