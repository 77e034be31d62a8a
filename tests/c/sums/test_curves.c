/* test_curves.c: polynomials of a trace hold where sums follow them to rounding, and nowhere else. */
#include "sums/curves.h"
#include "support/unit.h"

enum { BEGIN = 1, END = L - 2 };

/* The sums of lane l at a value; or a step. */
static double sum_at(double value, int l, int steps)
{
    return steps ? 2.0 + (value > 0.1) : 3.0 + (double)l + exp(0.3 * value);
}

static void all_at(const double *values, int steps, double *sums)
{
    FOR_LANES sums[l] = l >= BEGIN && l < END ? sum_at(values[l], l, steps) : 0.0;
}

/* Walks values from -size to size until a curve was due; returns how many. */
static int walk(tile_curve *c, double size, int steps)
{
    double values[L], sums[CURVE_TERMS][L];
    tile_curve next;
    int n = 0;
    do {
        FOR_LANES values[l] = l < BEGIN ? NAN : n % 2 ? size : -size;
        n++;
    } while (!pyspec_note_walk(c, values, BEGIN, END));
    pyspec_begin_curve(c, &next, BEGIN, END);
    for (int64_t k = 0; k < CURVE_TERMS; k++) {
        pyspec_curve_point(&next, k, BEGIN, END, values);
        all_at(values, steps, sums[k]);
    }
    pyspec_end_curve(c, &next, sums, BEGIN, END);
    return n;
}

static int reads(const tile_curve *c, double value)
{
    double values[L], sums[L], expected[L];
    FOR_LANES values[l] = l < BEGIN ? NAN : value;
    if (!pyspec_read_curve(c, values, BEGIN, END, sums))
        return 0;
    all_at(values, 0, expected);
    FOR_LANES CHECK(fabs(sums[l] - expected[l]) <= 1e-14 * expected[l]);
    return 1;
}

TEST(curves_hold_where_values_were_met)
{
    tile_curve c = {0};
    CHECK(!reads(&c, 0.0));
    CHECK_INT(walk(&c, 0.5, 0), CURVE_TERMS);
    for (int k = -7; k <= 7; k++)
        CHECK(reads(&c, 0.1 * k));
    CHECK(!reads(&c, 0.76));
    CHECK(!reads(&c, NAN));
    CHECK_INT(walk(&c, 0.8, 0), CURVE_TERMS);
    CHECK(reads(&c, -1.19));
    CHECK(!reads(&c, 1.21));
}

/* Neither does a curve over a step replace one that holds. */
TEST(steps_have_no_curve)
{
    tile_curve c = {0};
    CHECK_INT(walk(&c, 0.5, 1), CURVE_TERMS);
    CHECK(!reads(&c, 0.0));
    CHECK_INT(walk(&c, 0.5, 1), 2 * CURVE_TERMS);
    CHECK_INT(walk(&c, 0.5, 0), 4 * CURVE_TERMS);
    CHECK(reads(&c, 0.7));
    CHECK_INT(walk(&c, 0.9, 1), CURVE_TERMS);
    CHECK(reads(&c, 0.7));
    CHECK(!reads(&c, 0.9));
}

/* A value that never moved is met again, and no other. */
TEST(one_value_has_a_curve)
{
    tile_curve c = {0};
    walk(&c, 0.0, 0);
    CHECK(reads(&c, 0.0));
    CHECK(!reads(&c, 1e-300));
}

UNIT_MAIN
