/* test_kernels.c: what holds for the kernel of every row of ops.def, whatever it computes. */
#include "support/plans.h"
#include "support/unit.h"

enum { MAX_ROWS = 19, MAX_X = BLOCK * L + 116 };

static double x[MAX_X], params[MAX_PARAMS * MAX_ROWS], spectrum[MAX_ROWS * MAX_X];

/* Values and partials of all parameters in exactly sized memories. */
typedef struct results {
    int n_params;
    int64_t n;
    double *value, *partials[MAX_PARAMS];
} results;

static void compute(results *r, int op, int64_t n_rows, int64_t n_x, const double *p,
                    const double *fed, int with_partials)
{
    int n_required;
    *r = (results){.n_params = pyspec_count_params(&pyspec_op_table[op], &n_required)};
    r->n = n_rows * n_x;
    r->value = exact(r->n, sizeof(double));
    for (int k = 0; k < r->n_params && with_partials; k++)
        r->partials[k] = exact(r->n, sizeof(double));
    CHECK_INT(pyspec_function(op, test_isa, n_rows, n_x, x, p, fed, NULL, r->value,
                              with_partials ? r->partials : NULL),
              STATUS_OK);
}

/* Row `row` of a has the same bits as row 0 of b. */
static int same_row(const results *a, const results *b, int64_t row, int64_t n_x)
{
    int equal = all_same(a->value + row * n_x, b->value, n_x);
    for (int k = 0; k < a->n_params; k++)
        equal &= all_same(a->partials[k] + row * n_x, b->partials[k], n_x);
    return equal;
}

static int close_row(const results *a, const results *b, int64_t row, int64_t n_x)
{
    int equal = close_to(a->value + row * n_x, b->value, n_x, 1e-13);
    for (int k = 0; k < a->n_params; k++)
        equal &= close_to(a->partials[k] + row * n_x, b->partials[k], n_x, 1e-13);
    return equal;
}

/* Parameters rise from one to the next, so that they lie in the domain of any row. */
static void set_inputs(int64_t n_rows)
{
    for (int i = 0; i < MAX_X; i++)
        x[i] = 0.01 * i - 2.0;
    for (int k = 0; k < MAX_PARAMS; k++)
        for (int64_t row = 0; row < n_rows; row++)
            params[k * n_rows + row] = 0.5 + 0.4 * k + 0.01 * (double)row;
    for (int i = 0; i < MAX_ROWS * MAX_X; i++)
        spectrum[i] = 1.0 + i % 13;
}

static void set_row(int64_t n_rows, int64_t row, double *one)
{
    for (int k = 0; k < MAX_PARAMS; k++)
        one[k] = params[k * n_rows + row];
}

/* Every lane and round is tried, of a row that sums at each point every third: under sanitizers
 * such rows took four fifths of the time. */
static int stride(int op)
{
    return pyspec_op_table[op].kind == KIND_RESOLVED ? 3 : 1;
}

TEST_ALL(rows_and_abscissae_in_lanes_agree)
{
    const int64_t sizes[] = {1, 7, 48, 49, 385, MAX_X};
    for (int op = 0; op < N_OPS; op++)
        for (int k = 0; k < 6; k++) {
            const int64_t n_x = sizes[k], n_rows = MAX_ROWS;
            results rows, across;
            double one[MAX_PARAMS];
            set_inputs(n_rows);
            compute(&rows, op, n_rows, n_x, params, spectrum, 1);
            for (int64_t row = 0; row < n_rows; row += 6) {
                set_row(n_rows, row, one);
                compute(&across, op, 1, n_x, one, spectrum + row * n_x, 1);
                CHECK(close_row(&rows, &across, row, n_x));
            }
            free_owned(0);
        }
}

/* The same, with the fourth parameter where no line comes near the ends of double. */
static void set_tame_inputs(int64_t n_rows)
{
    set_inputs(n_rows);
    for (int64_t row = 0; row < n_rows; row++)
        params[3 * n_rows + row] = 0.3 + 0.01 * (double)row;
}

static void check_neighbours(void (*set)(int64_t n_rows))
{
    const double hostile[] = {(double)NAN,       (double)INFINITY, -(double)INFINITY, 1e308,
                              -1e308, 5e-324,    0.0,              -0.0};
    const int64_t n_rows = 8, n_x = 60;
    for (int op = 0; op < N_OPS; op++)
        for (int lane = 0; lane < 8; lane += stride(op)) {
            results calm, wild;
            set(n_rows);
            compute(&calm, op, n_rows, n_x, params, spectrum, 1);
            for (int k = 0; k < MAX_PARAMS; k++)
                for (int row = 0; row < 8; row++)
                    if (row != lane)
                        params[k * 8 + row] = hostile[(row + k + op) % 8];
            for (int64_t i = 0; i < n_rows * n_x; i++)
                if (i / n_x != lane)
                    spectrum[i] = hostile[i % 8];
            compute(&wild, op, n_rows, n_x, params, spectrum, 1);
            results kept = wild;
            kept.value += lane * n_x;
            for (int k = 0; k < kept.n_params; k++)
                kept.partials[k] += lane * n_x;
            CHECK(same_row(&calm, &kept, lane, n_x));
        }
}

TEST_ALL(neighbours_never_change_the_bits_of_a_lane)
{
    check_neighbours(set_inputs);
    check_neighbours(set_tame_inputs);
}

/* A line of which nobody reads some partials: the others and the value have the same bits. */
TEST_ALL(partials_that_nobody_reads_change_no_other)
{
    double all[MAX_PARAMS + 1][BLOCK * L], some[MAX_PARAMS + 1][BLOCK * L];
    double *whole[MAX_PARAMS], *part[MAX_PARAMS];
    for (int k = 0; k < MAX_PARAMS; k++) {
        whole[k] = all[k + 1];
        part[k] = some[k + 1];
    }
    for (int op = 0; op < N_OPS; op++) {
        const op_row *row = &pyspec_op_table[op];
        if (row->kind != KIND_PEAK)
            continue;
        int n_required, n_params = pyspec_count_params(row, &n_required);
        set_tame_inputs(L);
        for (unsigned unread = 0; unread < 1u << n_params; unread++)
            for (int across = 0; across < 2; across++) {
                pyspec_block b = {.n = BLOCK, .n_valid = BLOCK, .across = across, .x = x};
                row->kernels[test_isa](&b, params, all[0], whole);
                b.unread = unread;
                row->kernels[test_isa](&b, params, some[0], part);
                CHECK(all_same(all[0], some[0], BLOCK * L));
                for (int k = 0; k < n_params; k++)
                    CHECK(unread >> k & 1u || all_same(whole[k], part[k], BLOCK * L));
            }
    }
}

/* The same abscissa and parameters in every lane give the same bits in every lane: a compiler
 * may copy the loop over the lanes, and contract each copy to FMA in its own way. */
TEST_ALL(the_place_of_a_lane_has_no_say)
{
    const int64_t n_x = 60 * L;
    const double widths[] = {0.1, 1.0, 10.0, 100.0};
    for (int op = 0; op < N_OPS; op++)
        for (int k = 0; k < 4 && !is_fed(&pyspec_op_table[op]); k++)
            for (int with_partials = 0; with_partials < 2; with_partials++)
                for (int round = 0; round < 3; round += stride(op)) {
                    results r;
                    set_inputs(1);
                    for (int i = 0; i < n_x; i++)
                        x[i] = widths[k] * (0.61803398874989 * (double)(i / L) - 18.3);
                    for (int i = 0; i < MAX_PARAMS; i++)
                        params[i] += 0.0937 * (round * (i + 3) % 11);
                    compute(&r, op, 1, n_x, params, spectrum, with_partials);
                    for (int64_t i = 0; i < n_x; i++) {
                        CHECK(same(r.value[i], r.value[i - i % L]));
                        for (int p = 0; p < r.n_params && with_partials; p++)
                            CHECK(same(r.partials[p][i], r.partials[p][i - i % L]));
                    }
                    free_owned(0);
                }
}

TEST_ALL(a_value_does_not_depend_on_asking_for_partials)
{
    for (int op = 0; op < N_OPS; op++)
        for (int64_t n_rows = 1; n_rows <= 9; n_rows += 8) {
            results with, without;
            set_inputs(n_rows);
            compute(&with, op, n_rows, 401, params, spectrum, 1);
            compute(&without, op, n_rows, 401, params, spectrum, 0);
            CHECK(all_same(with.value, without.value, with.n));
        }
}

/* Partials at `params` against central differences. A step is a fixed part of a parameter that is
 * large in its unit, like a temperature in K. */
static void check_partials(int op)
{
    results at, above, below;
    compute(&at, op, 1, 400, params, spectrum, 1);
    for (int k = 0; k < at.n_params; k++) {
        const double keep = params[k], h = 1e-6 * fmax(1.0, fabs(keep));
        double difference[400];
        params[k] = keep + h;
        compute(&above, op, 1, 400, params, spectrum, 0);
        params[k] = keep - h;
        compute(&below, op, 1, 400, params, spectrum, 0);
        params[k] = keep;
        for (int i = 0; i < 400; i++)
            difference[i] = (above.value[i] - below.value[i]) / (2.0 * h);
        CHECK(close_to(at.partials[k], difference, 400, 1e-6));
    }
}

/* At abscissae where no formula has a kink. */
static void set_inputs_off_kinks(void)
{
    set_inputs(1);
    for (int i = 0; i < MAX_X; i++)
        x[i] += 1.2345e-3;
}

TEST_ALL(partials_are_derivatives)
{
    for (int op = 0; op < N_OPS; op++) {
        set_inputs_off_kinks();
        if (op == OP_FermiEdge || op == OP_FermiEdge_resolution)
            params[2] = 3000.0; /* at some K a wide edge does not change in any digit */
        check_partials(op);
    }
}

/* The kernel of FermiEdge has one way for each range of SD / (kB T): 0.25, 2.5 and 25 here. */
TEST_ALL(partials_of_the_fermi_edge)
{
    for (double width = 0.0625; width < 10.0; width *= 10.0) {
        set_inputs_off_kinks();
        params[2] = 0.25 / 8.617333262e-5;
        params[3] = width;
        check_partials(OP_FermiEdge);
    }
}

TEST_ALL(shirley_sums_across_blocks)
{
    const int64_t sizes[] = {48, 49, 384, 385, MAX_X};
    const double p[] = {0.25, 0.25};
    for (int k = 0; k < 5; k++)
        for (int64_t n_rows = 1; n_rows <= 2; n_rows++) {
            results r;
            set_inputs(1);
            compute(&r, OP_Shirley, n_rows, sizes[k], p, spectrum, 1);
            for (int64_t row = 0; row < n_rows; row++) {
                double sum = 0.0;
                for (int64_t i = sizes[k] - 1; i >= 0; i--) {
                    int64_t at = row * sizes[k] + i;
                    sum += spectrum[at];
                    CHECK(r.value[at] == 0.25 * sum && r.partials[0][at] == sum);
                }
            }
        }
}

UNIT_MAIN
