/* test_varpro.c: amplitudes, residuals and sums of variable projection against their definitions,
 * for basis functions of all groups and of each, with and without weights; and what is refused. */
#include "kernel.h"
#include "unit.h"

#include <stdlib.h>

enum { GROUPS = 11, POINTS = 37, BASIS = 3, SLOPES = 4, THETA = 2, TILES = 2 };

/* One problem with all its memory. */
typedef struct world {
    pyspec_linear q;
    double basis[BASIS][GROUPS][POINTS], slopes[SLOPES][GROUPS][POINTS], offset[GROUPS][POINTS];
    double data[TILES][POINTS][L], weight[TILES][POINTS][L];
    double residual[TILES][POINTS][L], jacobian[THETA][TILES][POINTS][L];
    double amplitudes[GROUPS][BASIS], triangle[(THETA + 1) * (THETA + 2) / 2];
    uint8_t determined[GROUPS][BASIS], allowed[GROUPS][BASIS], bounded[BASIS];
    int64_t slope_basis[SLOPES], entry_slope[SLOPES], entry_theta[SLOPES];
    double factors[GROUPS][SLOPES];
    double *work;
} world;

static double number(int64_t k)
{
    return sin(12.9898 * (double)k + 0.3 * (double)(k % 17)) + 0.2 * cos(3.1 * (double)k);
}

/* Basis functions that are the same for all groups where `shared`, else their own. */
static world *make_world(int shared, int weighted)
{
    static const int64_t of_basis[SLOPES] = {0, 1, 2, -1}, by[SLOPES] = {0, 0, 1, 1};
    world *w = calloc(1, sizeof *w);
    memcpy(w->slope_basis, of_basis, sizeof of_basis);
    memcpy(w->entry_theta, by, sizeof by);
    for (int64_t s = 0; s < SLOPES; s++) {
        w->entry_slope[s] = s;
        for (int64_t g = 0; g < GROUPS; g++)
            w->factors[g][s] = 1.0 + 0.5 * number(s + (shared ? 0 : 10 * g));
    }
    for (int64_t g = 0; g < GROUPS; g++)
        for (int64_t i = 0; i < POINTS; i++) {
            const int64_t at = (shared ? 0 : 1000 * g) + i;
            for (int64_t k = 0; k < BASIS; k++)
                w->basis[k][g][i] = number(at + 100 * k);
            for (int64_t s = 0; s < SLOPES; s++)
                w->slopes[s][g][i] = number(at + 100 * s + 7777);
            w->offset[g][i] = number(at + 500);
            w->weight[g / L][i][g % L] = weighted ? (i % 9 == 4 ? 0.0 : 1.0 + 0.3 * number(i)) : 1.0;
            w->data[g / L][i][g % L] = 3.0 * number(31 * g + i) * w->weight[g / L][i][g % L];
        }
    w->q = (pyspec_linear){.n_groups = GROUPS, .n_x = POINTS, .n_basis = BASIS,
                           .n_slopes = SLOPES, .n_theta = THETA};
    w->q.basis = &w->basis[0][0][0];
    w->q.slopes = &w->slopes[0][0][0];
    w->q.offset = &w->offset[0][0];
    w->q.basis_column = w->q.slopes_column = GROUPS * POINTS;
    w->q.basis_group = w->q.slopes_group = w->q.offset_group = shared ? 0 : POINTS;
    w->q.slope_basis = w->slope_basis;
    w->q.n_entries = SLOPES;
    w->q.entry_slope = w->entry_slope;
    w->q.entry_theta = w->entry_theta;
    w->q.factors = &w->factors[0][0];
    w->q.factors_group = shared ? 0 : SLOPES;
    w->q.data = &w->data[0][0][0];
    w->q.weight = weighted ? &w->weight[0][0][0] : NULL;
    w->q.amplitudes = &w->amplitudes[0][0];
    w->q.determined = &w->determined[0][0];
    w->q.triangle = w->triangle;
    w->q.work_size = pyspec_project_size(&w->q);
    w->work = malloc((size_t)w->q.work_size);
    w->q.work = w->work;
    return w;
}

static void free_world(world *w)
{
    free(w->work);
    free(w);
}

static void ask_for_rows(world *w)
{
    w->q.residual = &w->residual[0][0][0];
    w->q.jacobian = &w->jacobian[0][0][0][0];
}

static double residual_at(const world *w, int64_t g, int64_t i)
{
    double model = w->offset[g][i];
    for (int64_t k = 0; k < BASIS; k++)
        model += w->amplitudes[g][k] * w->basis[k][g][i];
    return w->data[g / L][i][g % L] - model * w->weight[g / L][i][g % L];
}

/* The residual has no part along any basis function that takes part. */
static void check_normal_equations(const world *w)
{
    for (int64_t g = 0; g < GROUPS; g++)
        for (int64_t k = 0; k < BASIS; k++) {
            double sum = 0.0;
            for (int64_t i = 0; i < POINTS; i++)
                sum += residual_at(w, g, i) * w->basis[k][g][i] * w->weight[g / L][i][g % L];
            CHECK(!w->determined[g][k] || fabs(sum) < 1e-11);
            CHECK(w->determined[g][k] || w->amplitudes[g][k] == 0.0);
        }
}

static void amplitudes_are_those_of_least_squares(void)
{
    for (int kind = 0; kind < 4; kind++) {
        world *w = make_world(kind & 1, kind & 2);
        CHECK_INT(pyspec_project(&w->q), STATUS_OK);
        check_normal_equations(w);
        double square = 0.0;
        for (int64_t g = 0; g < GROUPS; g++)
            for (int64_t i = 0; i < POINTS; i++)
                square += residual_at(w, g, i) * residual_at(w, g, i);
        CHECK(fabs(w->triangle[5] - square) < 1e-12 * square);
        ask_for_rows(w);
        CHECK_INT(pyspec_project(&w->q), STATUS_OK);
        for (int64_t g = 0; g < GROUPS; g++)
            for (int64_t i = 0; i < POINTS; i++)
                CHECK(fabs(w->residual[g / L][i][g % L] - residual_at(w, g, i)) < 1e-12);
        free_world(w);
    }
}

/* One loop for groups that share basis functions, another for each on its own: the same sums. */
static void both_ways_give_the_same_sums(void)
{
    double sums[6];
    world *w = make_world(1, 0);
    CHECK_INT(pyspec_project(&w->q), STATUS_OK);
    memcpy(sums, w->triangle, sizeof sums);
    ask_for_rows(w);
    CHECK_INT(pyspec_project(&w->q), STATUS_OK);
    for (int k = 0; k < 6; k++)
        CHECK(fabs(w->triangle[k] - sums[k]) < 1e-11 * fabs(sums[5]));
    free_world(w);
}

static int by_theta(const world *w, int64_t s, int64_t p)
{
    return w->entry_theta[s] == p;
}

/* What a slope is the derivative of: a basis function or the offset. */
static double *target_of(world *w, int64_t s)
{
    return w->slope_basis[s] < 0 ? &w->offset[0][0] : &w->basis[w->slope_basis[s]][0][0];
}

/* Derivatives of the residual by differences: basis functions moved along their slopes. */
static void slopes_are_those_of_the_projected_residual(void)
{
    for (int weighted = 0; weighted < 2; weighted++) {
        world *w = make_world(0, weighted), *up = make_world(0, weighted);
        const double h = 1e-6;
        w->q.full = 1;
        ask_for_rows(w);
        CHECK_INT(pyspec_project(&w->q), STATUS_OK);
        for (int64_t p = 0; p < THETA; p++) {
            double moved[2][GROUPS][POINTS];
            for (int side = 0; side < 2; side++) {
                memcpy(up->basis, w->basis, sizeof up->basis);
                memcpy(up->offset, w->offset, sizeof up->offset);
                for (int64_t s = 0; s < SLOPES; s++)
                    for (int64_t j = 0; by_theta(w, s, p) && j < GROUPS * POINTS; j++)
                        target_of(up, s)[j] += (side ? -h : h) * w->factors[j / POINTS][s] *
                                               (&w->slopes[s][0][0])[j];
                CHECK_INT(pyspec_project(&up->q), STATUS_OK);
                for (int64_t g = 0; g < GROUPS; g++)
                    for (int64_t i = 0; i < POINTS; i++)
                        moved[side][g][i] = residual_at(up, g, i);
            }
            for (int64_t g = 0; g < GROUPS; g++)
                for (int64_t i = 0; i < POINTS; i++) {
                    const double slope = (moved[0][g][i] - moved[1][g][i]) / (2.0 * h);
                    CHECK(fabs(w->jacobian[p][g / L][i][g % L] - slope) < 1e-6);
                }
        }
        free_world(w);
        free_world(up);
    }
}

static void amplitudes_are_held_at_zero(void)
{
    world *w = make_world(1, 0);
    memset(w->allowed, 1, sizeof w->allowed);
    w->allowed[3][1] = 0;
    w->bounded[0] = w->bounded[1] = 1;
    w->q.allowed = &w->allowed[0][0];
    w->q.bounded = w->bounded;
    CHECK_INT(pyspec_project(&w->q), STATUS_OK);
    check_normal_equations(w);
    CHECK_INT(w->determined[3][1], 0);
    int held = 0;
    for (int64_t g = 0; g < GROUPS; g++)
        for (int64_t k = 0; k < 2; k++) {
            double sum = 0.0;
            for (int64_t i = 0; i < POINTS; i++)
                sum += residual_at(w, g, i) * w->basis[k][g][i];
            CHECK(w->amplitudes[g][k] >= 0.0);
            CHECK(w->determined[g][k] || sum <= 1e-11 || (g == 3 && k == 1));
            held += !w->determined[g][k];
        }
    CHECK(held > 1 && held < 2 * GROUPS);
    free_world(w);
}

static void combinations_are_switched_off_and_nan_is_not_hidden(void)
{
    world *w = make_world(0, 0);
    for (int64_t i = 0; i < POINTS; i++) {
        w->basis[2][4][i] = w->basis[0][4][i] - 2.0 * w->basis[1][4][i];
        w->basis[1][5][i] = 0.0;
    }
    CHECK_INT(pyspec_project(&w->q), STATUS_OK);
    check_normal_equations(w);
    CHECK_INT(w->determined[4][2], 0);
    CHECK_INT(w->determined[5][1], 0);
    CHECK_INT(w->determined[6][1], 1);
    w->basis[0][7][3] = NAN;
    CHECK_INT(pyspec_project(&w->q), STATUS_OK);
    CHECK(isnan(w->triangle[5]));
    free_world(w);
}

static void what_is_refused(void)
{
    world *w = make_world(0, 0);
    CHECK_INT(pyspec_project(NULL), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_project_size(NULL), 0);
    w->q.work_size -= 8;
    CHECK_INT(pyspec_project(&w->q), STATUS_WORK);
    w->q.work_size += 8;
    w->q.n_basis = PYSPEC_LINEAR_MOST + 1;
    CHECK_INT(pyspec_project(&w->q), STATUS_SIZE);
    w->q.n_basis = BASIS;
    w->entry_theta[1] = THETA;
    CHECK_INT(pyspec_project(&w->q), STATUS_OFFSET);
    w->entry_theta[1] = 0;
    w->entry_slope[1] = SLOPES;
    CHECK_INT(pyspec_project(&w->q), STATUS_OFFSET);
    w->entry_slope[1] = 1;
    w->slope_basis[1] = BASIS;
    CHECK_INT(pyspec_project(&w->q), STATUS_OFFSET);
    w->slope_basis[1] = 1;
    w->q.isa = 99;
    CHECK_INT(pyspec_project(&w->q), STATUS_ISA);
    w->q.isa = PYSPEC_ISA_BASELINE;
    w->q.data = NULL;
    CHECK_INT(pyspec_project(&w->q), STATUS_NULL_POINTER);
    free_world(w);
}

int main(void)
{
    RUN(amplitudes_are_those_of_least_squares);
    RUN(both_ways_give_the_same_sums);
    RUN(slopes_are_those_of_the_projected_residual);
    RUN(amplitudes_are_held_at_zero);
    RUN(combinations_are_switched_off_and_nan_is_not_hidden);
    RUN(what_is_refused);
    return REPORT;
}
