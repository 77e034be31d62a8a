/* test_varpro_counts.c: amplitudes of counts: at the largest likelihood the score has no part along any basis
 * function, in lanes of their own, with what chi^2 and its derivatives are there. */
#include "elimination/linear.h"
#include "support/plans.h"
#include "support/unit.h"

enum { GROUPS = 11, POINTS = 29, BASIS = 2, TILES = 2 };

static double basis[BASIS][POINTS], slopes[BASIS][POINTS], data[TILES][POINTS][L], weight[TILES][POINTS][L];
static double amplitudes[GROUPS][BASIS], triangle[3], residual[TILES][POINTS][L], jacobian[TILES][POINTS][L];
static uint8_t determined[GROUPS][BASIS];
static _Alignas(64) double work[1 << 15];

static const int64_t of_basis[BASIS] = {0, 1}, entry[BASIS] = {0, 1}, by[BASIS] = {0, 0};
static const double factors[BASIS] = {1.0, 1.0};

/* Decays, whose rates theta changes: at `moved` they are slower by it. */
static pyspec_linear make_counts(double moved)
{
    for (int64_t i = 0; i < POINTS; i++) {
        const double t = 0.2 * (double)i, rates[BASIS] = {1.0 - moved, 0.1 - moved};
        for (int64_t k = 0; k < BASIS; k++) {
            basis[k][i] = exp(-rates[k] * t);
            slopes[k][i] = t * basis[k][i];
        }
        for (int64_t g = 0; g < GROUPS; g++) {
            data[g / L][i][g % L] = (double)((7 * i + 3 * g + i * g) % 5) * (g == 4 ? 0.0 : 1.0);
            weight[g / L][i][g % L] = i % 7 == 3 ? 0.0 : 1.0 + 0.1 * (double)(i % 3);
        }
    }
    return (pyspec_linear){.n_groups = GROUPS, .n_x = POINTS, .n_basis = BASIS, .n_slopes = BASIS, .n_theta = 1,
                           .isa = test_isa, .basis = basis[0], .basis_column = POINTS, .slopes = slopes[0],
                           .slopes_column = POINTS, .slope_basis = of_basis, .n_entries = BASIS,
                           .entry_slope = entry, .entry_theta = by, .factors = factors, .data = data[0][0],
                           .weight = weight[0][0], .amplitudes = amplitudes[0], .determined = determined[0],
                           .triangle = triangle, .work = work, .work_size = sizeof work, .scale = 2.0};
}

static double model_of(int64_t g, int64_t i)
{
    return 2.0 * (amplitudes[g][0] * basis[0][i] + amplitudes[g][1] * basis[1][i]);
}

TEST_ALL(the_score_has_no_part_along_a_basis_function)
{
    const pyspec_linear q = make_counts(0.0);
    CHECK_INT(pyspec_project(&q), STATUS_OK);
    for (int64_t g = 0; g < GROUPS; g++)
        for (int64_t k = 0; k < BASIS; k++) {
            double sum = 0.0;
            for (int64_t i = 0; i < POINTS; i++) {
                const double m = model_of(g, i), count = 2.0 * data[g / L][i][g % L], w = weight[g / L][i][g % L];
                sum += m > 1e-3 ? w * w * (count / m - 1.0) * basis[k][i] : 0.0;
            }
            CHECK(g == 4 || fabs(sum) < 1e-6);
        }
    CHECK(fabs(amplitudes[4][0]) + fabs(amplitudes[4][1]) < 1e-4); /* no counts */
    pyspec_linear one = make_counts(0.0); /* alone, a group has the same amplitudes */
    const double first[2] = {amplitudes[0][0], amplitudes[0][1]};
    one.n_groups = 1;
    CHECK_INT(pyspec_project(&one), STATUS_OK);
    CHECK(fabs(amplitudes[0][0] - first[0]) < 1e-9 && fabs(amplitudes[0][1] - first[1]) < 1e-9);
}

/* chi^2 changes by -2 J'r, and where J is that of the deviances so do these. */
TEST_ALL(derivatives_are_those_of_the_deviance)
{
    const double step = 1e-5;
    double chisqr[2], ends[2][TILES][POINTS][L];
    int64_t differ = 0;
    for (int k = 0; k < 2; k++) {
        pyspec_linear q = make_counts(k ? step : -step);
        q.residual = residual[0][0];
        q.jacobian = jacobian[0][0];
        CHECK_INT(pyspec_project(&q), STATUS_OK);
        chisqr[k] = triangle[2];
        memcpy(ends[k], residual, sizeof residual);
    }
    pyspec_linear q = make_counts(0.0);
    CHECK_INT(pyspec_project(&q), STATUS_OK);
    const double gradient = (chisqr[1] - chisqr[0]) / (2.0 * step);
    CHECK(fabs(gradient + 2.0 * triangle[1]) < 1e-4 * (1.0 + fabs(gradient)));
    q.form = PYSPEC_FORM_FACTOR;
    CHECK_INT(pyspec_project(&q), STATUS_OK);
    const double product = triangle[0] * triangle[1], size = triangle[1] * triangle[1] + triangle[2] * triangle[2];
    CHECK(fabs(gradient + 2.0 * product) < 1e-4 * (1.0 + fabs(gradient)));
    CHECK(fabs(size - chisqr[0]) < 1e-2 * size);
    for (int64_t g = 0; g < GROUPS; g++)
        for (int64_t i = 0; g != 4 && i < POINTS; i++) {
            const double rise = ends[1][g / L][i][g % L] - ends[0][g / L][i][g % L], slope = rise / (2.0 * step);
            differ += fabs(slope - jacobian[g / L][i][g % L]) > 1e-3 * (1.0 + fabs(slope));
        }
    CHECK_INT(differ, 0);
}

/* chi^2 of one group of four points with such basis functions. */
static double chisqr_of(const double *columns, int64_t n_basis, const double *counts, const double *weights, int64_t form)
{
    static const double others[4] = {3.0, 6.0, 4.0, 1.0};
    for (int64_t i = 0; i < 4; i++) {
        data[0][i][0] = counts[i];
        weight[0][i][0] = weights[i];
    }
    const pyspec_linear q = {.n_groups = 1, .n_x = 4, .n_basis = n_basis, .isa = test_isa, .basis = columns,
                             .basis_column = 4, .offset = others, .data = data[0][0], .weight = weight[0][0],
                             .amplitudes = amplitudes[0], .determined = determined[0], .triangle = triangle,
                             .work = work, .work_size = sizeof work, .scale = 2.0,
                             .form = form};
    CHECK_INT(pyspec_project(&q), STATUS_OK);
    return form == PYSPEC_FORM_FACTOR ? triangle[0] * triangle[0] : triangle[0];
}

/* Functions that differ by 1e-10 are two or one by the weights of a step. The step after the second was left out led
 * uphill, to a chi^2 of 329, and was the last. */
TEST_ALL(a_function_more_makes_no_fit_worse)
{
    static const double columns[8] = {
        -0x1.78473d402c9aep+4, -0x1.59c622260235p+4,  -0x1.3bb45ed6434dap+4, -0x1.2322ee6163d3p+4,
        -0x1.78473d402e41ap+4, -0x1.59c622260b25bp+4, -0x1.3bb45ed674f85p+4, -0x1.2322ee6235e4bp+4};
    static const double counts[4] = {0.0, 4.0, 2.0, 2.0}, weights[4] = {5.0, 2.0, 4.0, 2.0};
    for (int64_t form = PYSPEC_FORM_VALUE; form <= PYSPEC_FORM_FISHER; form++) {
        const double one = chisqr_of(columns, 1, counts, weights, form);
        CHECK(fabs(one - 258.298803502928) < 1e-9);
        CHECK(chisqr_of(columns, 2, counts, weights, form) <= one * (1.0 + 1e-14));
    }
}

/* Points with next to no counts had no weight in the steps: the function was taken for one without length. */
TEST_ALL(counts_next_to_zero_are_like_zero)
{
    static const double ones[4] = {1.0, 1.0, 1.0, 1.0}, zeros[4] = {0.0}, tiny[4] = {5e-324, 5e-324, 5e-324, 5e-324};
    const double expected = chisqr_of(ones, 1, zeros, ones, PYSPEC_FORM_GRAM), amplitude = amplitudes[0][0];
    CHECK(fabs(chisqr_of(ones, 1, tiny, ones, PYSPEC_FORM_GRAM) - expected) < 1e-3 * expected);
    CHECK(determined[0][0] && fabs(amplitudes[0][0] - amplitude) < 1e-2);
}

/* A negative count that is left out made every derivative NaN. */
TEST_ALL(a_point_left_out_may_hold_any_number)
{
    double expected[3];
    for (int k = 0; k < 2; k++) {
        pyspec_linear q = make_counts(0.0);
        q.form = PYSPEC_FORM_FACTOR;
        for (int64_t g = 0; k == 1 && g < GROUPS; g++)
            data[g / L][3][g % L] = -743.0; /* its weight is 0 */
        CHECK_INT(pyspec_project(&q), STATUS_OK);
        if (k == 0)
            memcpy(expected, triangle, sizeof triangle);
    }
    for (int k = 0; k < 3; k++)
        CHECK(triangle[k] == expected[k]);
}

/* The inverse of B'B times B'B is 1, and times B'G it says how amplitudes fall as theta rises. */
TEST_ALL(amplitudes_follow_theta)
{
    static double inverse[GROUPS][BASIS][BASIS], follow[GROUPS][BASIS][1];
    pyspec_linear q = make_counts(0.0);
    q.scale = 0.0;
    q.inverse = inverse[0][0];
    q.follow = follow[0][0];
    CHECK_INT(pyspec_project(&q), STATUS_OK);
    for (int64_t g = 0; g < GROUPS; g++)
        for (int64_t j = 0; j < BASIS; j++)
            for (int64_t k = 0; k < BASIS; k++) {
                double product = 0.0, fall = 0.0;
                for (int64_t i = 0; i < POINTS; i++) {
                    const double w = weight[g / L][i][g % L];
                    const double side = amplitudes[g][0] * slopes[0][i] + amplitudes[g][1] * slopes[1][i];
                    const double own = inverse[g][j][0] * basis[0][i] + inverse[g][j][1] * basis[1][i];
                    product += w * w * own * basis[k][i];
                    fall += w * w * own * side;
                }
                CHECK(fabs(product - (j == k)) < 1e-11);
                CHECK(fabs(fall - follow[g][j][0]) < 1e-10 * (1.0 + fabs(fall)));
            }
}

UNIT_MAIN
