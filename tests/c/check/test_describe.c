/* test_describe.c: what the rows of the op table say in words, for rows that stand in it and for rows
 * that might. */
#include "isa/kernel.h"
#include "support/unit.h"

#include <string.h>

static op_row row_of(int kind, const char *params, const char *linear, const char *reads)
{
    return (op_row){.name = "made_up", .kind = kind, .domain = DOMAIN_ENERGY, .params = params,
                    .linear = linear, .reads = reads};
}

/* "y0=0" may be left out; the = of a bound is none of these. */
TEST(parameters_are_counted)
{
    const struct {
        const char *params;
        int n, n_required;
    } cases[] = {{"", 0, 0},
                 {"A", 1, 1},
                 {"A, W>=0, x0", 3, 3},
                 {"A, m<=1, W>=0, m<1", 4, 4},
                 {"A, m<=1, y0=0", 3, 2},
                 {"A, b=1, y0=0", 3, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const op_row row = row_of(KIND_PEAK, cases[k].params, "", "");
        int n_required = -1;
        CHECK_INT(pyspec_count_params(&row, &n_required), cases[k].n);
        CHECK_INT(n_required, cases[k].n_required);
    }
}

/* A node may leave out what laws and instruments add to a value, and nothing else: components and
 * convolutions read all their parameters. A row of an instrument (IRF) stands in no plan. */
TEST(laws_alone_leave_parameters_out)
{
    int n_laws = 0;
    for (int op = 0; op < N_OPS; op++) {
        const op_row *row = &pyspec_op_table[op];
        int n_required;
        const int n = pyspec_count_params(row, &n_required);
        const int is_law = row->kind == KIND_DYNAMICS || row->kind == KIND_RESPONSE ||
                           row->kind == KIND_IRF;
        CHECK(n <= MAX_PARAMS && n_required <= n);
        CHECK(n_required == n || is_law);
        n_laws += n_required < n;
    }
    CHECK(n_laws > 5);
}

/* The height is the first parameter, and the only one in which the value is linear. */
TEST(a_height_is_all_that_is_linear)
{
    const struct {
        int kind;
        const char *params, *linear;
        int has_height;
    } cases[] = {{KIND_PEAK, "A, x0", "A", 1},          {KIND_RESOLVED, "A, x0", "A", 1},
                 {KIND_BACKGROUND, "A, x0", "A", 0},    {KIND_PEAK, "A", "A", 1},
                 {KIND_PEAK, "A, x0", "", 0},           {KIND_PEAK, "A, x0", "B", 0},
                 {KIND_PEAK, "A1, x0", "A", 0},         {KIND_PEAK, "A, x0", "A1", 0},
                 {KIND_RESOLVED, "m, b, R", "m, b", 0}, {KIND_RESOLVED, "A, x0, m", "A, m", 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const op_row row = row_of(cases[k].kind, cases[k].params, cases[k].linear, "");
        CHECK_INT(pyspec_has_height(&row), cases[k].has_height);
    }
}

/* Linear is what does not name the spectrum among what its own slope depends on. */
TEST(what_reads_a_spectrum_may_be_linear_in_it)
{
    const struct {
        const char *reads;
        int is_linear;
    } cases[] = {{"", 0},
                 {"p: spectrum", 0},
                 {"spectrum: p", 1},
                 {"p: spectrum; spectrum: p", 1},
                 {"spectrum: p, spectrum", 0},
                 {"spectrum: p; q: p", 1},
                 {"spectrum: p; q: spectrum", 1},
                 {"spectrum: p, spectrum; q: p", 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const op_row row = row_of(KIND_ROW_FED, "p, q", "", cases[k].reads);
        CHECK_INT(pyspec_is_linear_in_spectrum(&row), cases[k].is_linear);
    }
}

UNIT_MAIN
