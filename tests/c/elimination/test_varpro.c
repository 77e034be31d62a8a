/* test_varpro.c: amplitudes, residuals and sums of variable projection against their definitions,
 * for basis functions of all groups and of each, with and without weights; and what is refused. */
#include "elimination/linear.h"
#include "support/plans.h"
#include "support/unit.h"

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
    world *w = zeros(1, sizeof *w);
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
                           .n_slopes = SLOPES, .n_theta = THETA, .isa = test_isa};
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
    w->work = exact(w->q.work_size, 1);
    w->q.work = w->work;
    return w;
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

TEST_ALL(amplitudes_are_those_of_least_squares)
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
    }
}

/* One loop for groups that share basis functions, another for each on its own: the same sums. */
TEST_ALL(both_ways_give_the_same_sums)
{
    double sums[6];
    world *w = make_world(1, 0);
    CHECK_INT(pyspec_project(&w->q), STATUS_OK);
    memcpy(sums, w->triangle, sizeof sums);
    ask_for_rows(w);
    CHECK_INT(pyspec_project(&w->q), STATUS_OK);
    for (int k = 0; k < 6; k++)
        CHECK(fabs(w->triangle[k] - sums[k]) < 1e-11 * fabs(sums[5]));
}

/* Each of these alone takes the loop for groups on their own, and says what the problem said before:
 * arrays that are the same for all groups, no bounds, derivatives written out. */
TEST_ALL(what_is_said_twice_changes_no_sums)
{
    for (int full = 0; full < 2; full++)
        for (int what = 0; what < 7; what++) {
            world *w = make_world(1, 0);
            double sums[6];
            w->q.full = full;
            CHECK_INT(pyspec_project(&w->q), STATUS_OK);
            memcpy(sums, w->triangle, sizeof sums);
            w->q.basis_group = what == 0 ? POINTS : 0;
            w->q.slopes_group = what == 1 ? POINTS : 0;
            w->q.offset_group = what == 2 ? POINTS : 0;
            w->q.factors_group = what == 3 ? SLOPES : 0;
            w->q.bounded = what == 4 ? w->bounded : NULL;
            w->q.residual = what == 5 ? &w->residual[0][0][0] : NULL;
            w->q.jacobian = what == 6 ? &w->jacobian[0][0][0][0] : NULL;
            CHECK_INT(pyspec_project(&w->q), STATUS_OK);
            check_normal_equations(w);
            for (int k = 0; k < 6; k++)
                CHECK(fabs(w->triangle[k] - sums[k]) < 1e-11 * fabs(sums[5]));
        }
}

/* What a slope is the derivative of: a basis function or the offset. */
static double *target_of(world *w, int64_t s)
{
    return w->slope_basis[s] < 0 ? &w->offset[0][0] : &w->basis[w->slope_basis[s]][0][0];
}

/* Derivatives of the residual by differences: basis functions moved along their slopes. Another
 * way to move them: one slope by both parameters of theta, and one by none. */
TEST_ALL(slopes_are_those_of_the_projected_residual)
{
    static const int64_t twice[SLOPES] = {0, 0, 1, 3}, by[SLOPES] = {0, 1, 1, 1};
    for (int kind = 0; kind < 4; kind++) {
        world *w = make_world(0, kind & 1), *up = make_world(0, kind & 1);
        const double h = 1e-6;
        w->q.full = 1;
        if (kind & 2) {
            memcpy(w->entry_slope, twice, sizeof twice);
            memcpy(w->entry_theta, by, sizeof by);
        }
        ask_for_rows(w);
        CHECK_INT(pyspec_project(&w->q), STATUS_OK);
        for (int64_t p = 0; p < THETA; p++) {
            double moved[2][GROUPS][POINTS];
            for (int side = 0; side < 2; side++) {
                memcpy(up->basis, w->basis, sizeof up->basis);
                memcpy(up->offset, w->offset, sizeof up->offset);
                for (int64_t e = 0; e < SLOPES; e++) {
                    const int64_t s = w->entry_slope[e];
                    for (int64_t j = 0; w->entry_theta[e] == p && j < GROUPS * POINTS; j++)
                        target_of(up, s)[j] += (side ? -h : h) * w->factors[j / POINTS][e] *
                                               (&w->slopes[s][0][0])[j];
                }
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
    }
}

TEST_ALL(amplitudes_are_held_at_zero)
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
}

/* A neighbour whose amplitude is held at zero changes nothing of the other groups: neither an amplitude's
 * bits, nor whether it is determined where there is nothing to fit. */
TEST_ALL(neighbours_that_are_held_change_no_group)
{
    world *w = make_world(1, 0);
    double amplitudes[2][BASIS];
    uint8_t determined[2][BASIS];
    w->q.offset = NULL;
    memset(w->bounded, 1, sizeof w->bounded);
    w->q.bounded = w->bounded;
    for (int held = 0; held < 2; held++) {
        for (int64_t g = 0; g < GROUPS; g++)
            for (int64_t i = 0; i < POINTS; i++) {
                double sum = g == 2 ? 0.0 : 3.0 * w->basis[0][g][i];
                for (int64_t k = 1; k < BASIS && g != 2; k++)
                    sum += (g < 2 ? (double)g : held ? -1.0 : 1.0) * w->basis[k][g][i];
                w->data[g / L][i][g % L] = sum;
            }
        CHECK_INT(pyspec_project(&w->q), STATUS_OK);
        CHECK_INT(w->determined[GROUPS - 1][1] && w->determined[GROUPS - 1][2], !held);
        for (int64_t k = 0; k < BASIS; k++) {
            CHECK_INT(w->determined[2][k], 1);
            for (int64_t g = 0; g < GROUPS; g++)
                CHECK(w->amplitudes[g][k] >= 0.0);
        }
        if (held) {
            CHECK(memcmp(amplitudes, w->amplitudes[1], sizeof amplitudes) == 0);
            CHECK(memcmp(determined, w->determined[1], sizeof determined) == 0);
        }
        memcpy(amplitudes, w->amplitudes[1], sizeof amplitudes);
        memcpy(determined, w->determined[1], sizeof determined);
    }
}

TEST_ALL(combinations_are_switched_off_and_nan_is_not_hidden)
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
}

/* The same where one basis function serves all groups, and nothing stands beside them. */
TEST_ALL(combinations_are_switched_off_for_all_groups)
{
    world *w = make_world(1, 0);
    w->q.offset = NULL;
    memset(w->offset, 0, sizeof w->offset);
    for (int64_t g = 0; g < GROUPS; g++)
        for (int64_t i = 0; i < POINTS; i++)
            w->basis[2][g][i] = w->basis[0][g][i] - 2.0 * w->basis[1][g][i];
    CHECK_INT(pyspec_project(&w->q), STATUS_OK);
    check_normal_equations(w);
    for (int64_t g = 0; g < GROUPS; g++)
        CHECK(w->determined[g][0] && w->determined[g][1] && !w->determined[g][2]);
    ask_for_rows(w);
    CHECK_INT(pyspec_project(&w->q), STATUS_OK);
    check_normal_equations(w);
}

/* And where bounds take away one of the others: nothing that is 0 would lower the square. */
TEST_ALL(combinations_take_part_where_bounds_take_others_away)
{
    world *w = make_world(1, 0);
    memset(w->bounded, 1, sizeof w->bounded);
    w->q.bounded = w->bounded;
    int64_t taking_part = 0;
    for (int64_t g = 0; g < GROUPS; g++)
        for (int64_t i = 0; i < POINTS; i++)
            w->basis[2][g][i] = w->basis[0][g][i] - 2.0 * w->basis[1][g][i];
    for (int rows = 0; rows < 2; rows++) {
        if (rows)
            ask_for_rows(w);
        CHECK_INT(pyspec_project(&w->q), STATUS_OK);
        check_normal_equations(w);
        for (int64_t g = 0; g < GROUPS; g++)
            for (int64_t k = 0; k < BASIS; k++) {
                double slope = 0.0;
                for (int64_t i = 0; i < POINTS; i++)
                    slope += residual_at(w, g, i) * w->basis[k][g][i];
                CHECK(w->amplitudes[g][k] >= 0.0 && slope < 1e-11);
                taking_part += k == 2 && w->determined[g][k];
            }
    }
    CHECK(taking_part > 0 && taking_part % 2 == 0);
}

#define REFUSED(status, field, ...)                                                                \
    do {                                                                                           \
        const pyspec_linear good = w->q;                                                           \
        w->q.field = __VA_ARGS__;                                                                  \
        CHECK_INT(pyspec_project(&w->q), status);                                                  \
        w->q = good;                                                                               \
    } while (0)

TEST(what_is_refused)
{
    world *w = make_world(0, 0);
    CHECK_INT(pyspec_project(NULL), STATUS_NULL_POINTER);
    CHECK_INT(pyspec_project_size(NULL), 0);
    REFUSED(STATUS_WORK, work_size, w->q.work_size - 8);
    REFUSED(STATUS_SIZE, n_groups, 0);
    REFUSED(STATUS_SIZE, n_x, 0);
    REFUSED(STATUS_SIZE, n_basis, 0);
    REFUSED(STATUS_SIZE, n_basis, PYSPEC_LINEAR_MOST + 1);
    REFUSED(STATUS_SIZE, n_slopes, -1);
    REFUSED(STATUS_SIZE, n_theta, -1);
    REFUSED(STATUS_SIZE, n_entries, -1);
    /* Sizes whose products are beyond an int64 used to be less than any work memory. */
    REFUSED(STATUS_SIZE, n_groups, INT64_MAX);
    REFUSED(STATUS_SIZE, n_x, (int64_t)1 << 60);
    REFUSED(STATUS_SIZE, n_slopes, INT64_MAX);
    REFUSED(STATUS_SIZE, n_theta, (int64_t)1 << 32);
    w->q.n_x = (int64_t)1 << 60;
    CHECK_INT(pyspec_project_size(&w->q), 0);
    w->q.n_x = POINTS;
    REFUSED(STATUS_ISA, isa, 99);
    REFUSED(STATUS_NULL_POINTER, basis, NULL);
    REFUSED(STATUS_NULL_POINTER, data, NULL);
    REFUSED(STATUS_NULL_POINTER, amplitudes, NULL);
    REFUSED(STATUS_NULL_POINTER, determined, NULL);
    REFUSED(STATUS_NULL_POINTER, triangle, NULL);
    REFUSED(STATUS_NULL_POINTER, work, NULL);
    REFUSED(STATUS_NULL_POINTER, slopes, NULL);
    REFUSED(STATUS_NULL_POINTER, slope_basis, NULL);
    REFUSED(STATUS_NULL_POINTER, entry_slope, NULL);
    REFUSED(STATUS_NULL_POINTER, entry_theta, NULL);
    REFUSED(STATUS_NULL_POINTER, factors, NULL);
    REFUSED(STATUS_OFFSET, slope_basis, (const int64_t[]){0, BASIS, 2, -1});
    REFUSED(STATUS_OFFSET, slope_basis, (const int64_t[]){0, -2, 2, -1});
    REFUSED(STATUS_OFFSET, entry_slope, (const int64_t[]){0, SLOPES, 2, 3});
    REFUSED(STATUS_OFFSET, entry_slope, (const int64_t[]){0, -1, 2, 3});
    REFUSED(STATUS_OFFSET, entry_theta, (const int64_t[]){0, THETA, 0, 0});
    REFUSED(STATUS_OFFSET, entry_theta, (const int64_t[]){0, -1, 0, 0});
}

/* Amplitudes alone, of functions that nothing moves. */
TEST_ALL(nothing_has_to_move)
{
    world *w = make_world(0, 0);
    w->q.n_slopes = w->q.n_entries = w->q.n_theta = 0;
    w->q.slopes = NULL;
    w->q.slope_basis = w->q.entry_slope = w->q.entry_theta = NULL;
    w->q.factors = NULL;
    CHECK_INT(pyspec_project(&w->q), STATUS_OK);
    check_normal_equations(w);
}

/* The product of the transpose of a factor with it, beside the Gram matrix. */
TEST_ALL(the_factor_is_that_of_the_gram_matrix)
{
    enum { ORDER = THETA + 1 };
    for (int shared = 0; shared < 2; shared++) {
        world *w = make_world(shared, 0);
        double gram[ORDER * (ORDER + 1) / 2];
        CHECK_INT(pyspec_project(&w->q), STATUS_OK);
        memcpy(gram, w->triangle, sizeof gram);
        w->q.form = PYSPEC_FORM_FACTOR;
        CHECK_INT(pyspec_project(&w->q), STATUS_OK);
        for (int64_t j = 0; j < ORDER; j++)
            for (int64_t k = j; k < ORDER; k++) {
                double sum = 0.0;
                for (int64_t i = 0; i <= j; i++)
                    sum += w->triangle[triangle_at(ORDER, i, j)] * w->triangle[triangle_at(ORDER, i, k)];
                CHECK(fabs(sum - gram[triangle_at(ORDER, j, k)]) < 1e-11 * (1.0 + fabs(sum)));
            }
    }
}

/* Half of an offset twice is the offset. */
TEST_ALL(offsets_add_up)
{
    static double halves[2][GROUPS][POINTS];
    for (int shared = 0; shared < 2; shared++) {
        world *w = make_world(shared, 0);
        CHECK_INT(pyspec_project(&w->q), STATUS_OK);
        const double whole = w->triangle[0], square = w->triangle[5];
        for (int64_t g = 0; g < GROUPS; g++)
            for (int64_t i = 0; i < POINTS; i++)
                halves[0][g][i] = halves[1][g][i] = 0.5 * w->offset[g][i];
        w->q.offset = &halves[0][0][0];
        w->q.n_offsets = 2;
        w->q.offset_column = GROUPS * POINTS;
        CHECK_INT(pyspec_project(&w->q), STATUS_OK);
        CHECK(fabs(w->triangle[0] - whole) < 1e-11 * whole && fabs(w->triangle[5] - square) < 1e-11 * square);
        w->q.n_offsets = -1;
        CHECK_INT(pyspec_project(&w->q), STATUS_SIZE);
    }
}

/* A part with free amplitudes has the sums of the projection, in its places among those of a fit. */
TEST_ALL(a_part_has_the_sums_of_its_projection)
{
    world *w = make_world(0, 1);
    double nodes[6], scratch[12], own[THETA], triangle[10];
    int64_t places[2];
    const int64_t gather[THETA] = {2, 0}, at[3] = {2, 0, 3};
    pyspec_normal sums = {.capacity = 1, .places = places, .nodes = nodes, .scratch = scratch,
                          .n_scratch = 12};
    pyspec_part part = {.theta = own, .gather = gather, .normal = &sums, .n_theta = THETA,
                        .linear = &w->q};
    CHECK_INT(pyspec_project(&w->q), STATUS_OK);
    CHECK_INT(pyspec_sum_parts(&part, 1, PYSPEC_FORM_GRAM, 4, NULL, triangle), STATUS_OK);
    for (int64_t j = 0; j < 3; j++)
        for (int64_t k = j; k < 3; k++) {
            const int64_t low = at[j] < at[k] ? at[j] : at[k], high = at[j] < at[k] ? at[k] : at[j];
            CHECK(triangle[triangle_at(4, low, high)] == w->triangle[triangle_at(3, j, k)]);
        }
    CHECK_INT(pyspec_sum_parts(&part, 1, PYSPEC_FORM_VALUE, 1, NULL, triangle), STATUS_OK);
    CHECK(fabs(triangle[0] - w->triangle[5]) < 1e-12 * triangle[0]);
    sums.n_scratch = 5;
    CHECK_INT(pyspec_sum_parts(&part, 1, PYSPEC_FORM_GRAM, 4, NULL, triangle), STATUS_WORK);
    sums.n_scratch = 12;
    part.n_theta = 1;
    CHECK_INT(pyspec_sum_parts(&part, 1, PYSPEC_FORM_GRAM, 4, NULL, triangle), STATUS_ORDER);
    part.n_theta = THETA;
    part.n_bases = 1;
    CHECK_INT(pyspec_sum_parts(&part, 1, PYSPEC_FORM_GRAM, 4, NULL, triangle), STATUS_NULL_POINTER);
    const pyspec_part none = {.theta = own};
    part.bases = &none;
    CHECK_INT(pyspec_sum_parts(&part, 1, PYSPEC_FORM_GRAM, 4, NULL, triangle), STATUS_NULL_POINTER);
}

UNIT_MAIN
