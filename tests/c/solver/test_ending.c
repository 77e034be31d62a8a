/* test_ending.c: what the ending of a fit determines, against known inverses, and that doubt is told. */
#include "solver/solver.h"
#include "support/unit.h"

enum { MOST = 5, ROWS = 9 };

/* [J r] of ROWS rows, and its triangles. */
typedef struct sample {
    int64_t n;
    double rows[ROWS][MOST + 1], gram[(MOST + 1) * (MOST + 2) / 2], factor[(MOST + 1) * (MOST + 2) / 2];
} sample;

static double draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0 - 0.5;
}

/* Triangles of the rows: the factor by Gram-Schmidt twice over. */
static void sum_up(sample *s)
{
    const int64_t order = s->n + 1;
    double q[ROWS][MOST + 1], r[MOST + 1][MOST + 1] = {{0.0}};
    memcpy(q, s->rows, sizeof q);
    for (int64_t k = 0; k < order; k++) {
        for (int turn = 0; turn < 2; turn++)
            for (int64_t j = 0; j < k; j++) {
                double sum = 0.0;
                for (int64_t i = 0; i < ROWS; i++)
                    sum += q[i][j] * q[i][k];
                for (int64_t i = 0; i < ROWS; i++)
                    q[i][k] -= sum * q[i][j];
                r[j][k] += sum;
            }
        double square = 0.0;
        for (int64_t i = 0; i < ROWS; i++)
            square += q[i][k] * q[i][k];
        r[k][k] = sqrt(square);
        for (int64_t i = 0; i < ROWS; i++)
            q[i][k] = r[k][k] > 0.0 ? q[i][k] / r[k][k] : 0.0;
    }
    for (int64_t j = 0; j < order; j++)
        for (int64_t k = j; k < order; k++) {
            double sum = 0.0;
            for (int64_t i = 0; i < ROWS; i++)
                sum += s->rows[i][j] * s->rows[i][k];
            s->gram[triangle_at(order, j, k)] = sum;
            s->factor[triangle_at(order, j, k)] = r[j][k];
        }
}

static sample make_sample(int64_t n, uint64_t seed)
{
    sample s = {.n = n};
    uint64_t state = seed;
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t k = 0; k <= n; k++)
            s.rows[i][k] = draw(&state) * pow(10.0, (double)(3 * k % 7) - 3.0);
    sum_up(&s);
    return s;
}

/* The ending of a fit that ended at a sample, and the memory that it was asked with. */
typedef struct asked {
    double theta[MOST], bounds[2 * MOST], covariance[MOST * MOST];
    double gain[MOST], factor[(MOST + 1) * (MOST + 2) / 2];
    int64_t held[MOST], side[MOST];
    pyspec_solver solver;
    pyspec_end end;
} asked;

/* Within wide bounds, of data with noise. */
static void begin(asked *a, const sample *s, int is_factor)
{
    *a = (asked){0};
    for (int64_t k = 0; k < s->n; k++) {
        a->bounds[k] = -1e12;
        a->bounds[s->n + k] = 1e12;
    }
    a->solver = (pyspec_solver){.n = s->n, .n_points = ROWS, .needs_factor = is_factor ? 2 : 0};
    a->solver.chisqr = at(s->gram, s->n + 1, s->n, s->n);
    a->solver.data_square = 2.0 * a->solver.chisqr;
    a->solver.theta = a->theta;
    a->solver.lower = a->bounds;
    a->end = (pyspec_end){.n_free = 1, .held = a->held, .side = a->side};
    a->end.covariance = a->covariance;
    a->end.factor = a->factor;
    a->end.gain = a->gain;
}

/* Checks that the factor has the Gram matrix. */
static void check_factor(const asked *a, const sample *s)
{
    const int64_t order = s->n + 1;
    for (int64_t j = 0; j < order; j++)
        for (int64_t k = j; k < order; k++) {
            double sum = 0.0;
            for (int64_t i = 0; i <= j; i++)
                sum += at(a->factor, order, i, j) * at(a->factor, order, i, k);
            const double size = sqrt(at(s->gram, order, j, j) * at(s->gram, order, k, k));
            CHECK(fabs(sum - at(s->gram, order, j, k)) <= 1e-14 * size);
        }
}

static int64_t ask(asked *a, const sample *s)
{
    double triangle[(MOST + 1) * (MOST + 2) / 2];
    memcpy(triangle, has_factor(&a->solver) ? s->factor : s->gram, sizeof triangle);
    a->solver.normal = triangle;
    a->end.work = exact(pyspec_end_work_size(s->n), 1);
    CHECK_INT(pyspec_end_of(&a->solver, &a->end), STATUS_OK);
    return a->end.flags;
}

static double gram_of(const sample *s, int64_t i, int64_t k)
{
    return at(s->gram, s->n + 1, i < k ? i : k, i < k ? k : i);
}

/* Checks that the covariance is the inverse over the parameters that are not held, and NaN elsewhere. */
static void check_inverse(const asked *a, const sample *s)
{
    const int64_t n = s->n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0.0, size = 0.0;
            if (a->held[i] || a->held[j]) {
                CHECK(isnan(a->covariance[i * n + j]));
                continue;
            }
            for (int64_t k = 0; k < n; k++) {
                const double product = gram_of(s, i, k) * a->covariance[k * n + j];
                sum += a->held[k] ? 0.0 : product;
                size += a->held[k] ? 0.0 : fabs(product);
            }
            CHECK(fabs(sum - a->end.variance * (double)(i == j)) <= 1e-12 * (a->end.variance + size));
            CHECK(a->covariance[i * n + j] == a->covariance[j * n + i]);
        }
}

TEST(the_covariance_is_an_inverse)
{
    for (int64_t n = 1; n <= MOST; n++)
        for (int is_factor = 0; is_factor < 2; is_factor++)
            for (int is_scaled = 0; is_scaled < 2; is_scaled++) {
                const sample s = make_sample(n, (uint64_t)n);
                asked a;
                begin(&a, &s, is_factor);
                a.end.is_scaled = is_scaled;
                a.end.n_free = 3;
                CHECK_INT(ask(&a, &s), PYSPEC_ENDING_CERTAIN);
                CHECK(a.end.variance == (is_scaled ? a.solver.chisqr / 3.0 : 1.0));
                check_inverse(&a, &s);
            }
}

/* Any set of parameters judged elsewhere: the others are as in a fit without these. */
TEST(held_ones_are_left_out)
{
    const sample s = make_sample(MOST, 11);
    for (int set = 0; set < 1 << MOST; set++)
        for (int is_factor = 0; is_factor < 2; is_factor++) {
            asked a;
            begin(&a, &s, is_factor);
            for (int64_t k = 0; k < MOST; k++)
                a.held[k] = set >> k & 1;
            CHECK_INT(ask(&a, &s), PYSPEC_ENDING_CERTAIN);
            check_inverse(&a, &s);
        }
}

TEST(the_distance_is_that_of_the_step)
{
    for (int64_t n = 1; n <= MOST; n++)
        for (int is_factor = 0; is_factor < 2; is_factor++) {
            const sample s = make_sample(n, 77 + (uint64_t)n);
            double expected = 0.0;
            asked a;
            begin(&a, &s, is_factor);
            ask(&a, &s);
            for (int64_t j = 0; j < n; j++)
                for (int64_t k = 0; k < n; k++)
                    expected += gram_of(&s, j, n) * a.covariance[j * n + k] * gram_of(&s, k, n);
            CHECK(fabs(a.end.distance * a.end.distance - expected) <= 1e-11 * expected);
        }
}

TEST(the_factor_has_the_gram_matrix)
{
    const sample s = make_sample(MOST, 3);
    for (int is_factor = 0; is_factor < 2; is_factor++) {
        asked a;
        begin(&a, &s, is_factor);
        ask(&a, &s);
        for (int64_t j = 0; j <= MOST; j++)
            for (int64_t k = j; k <= MOST; k++) {
                double sum = 0.0;
                for (int64_t i = 0; i <= j; i++)
                    sum += at(a.factor, MOST + 1, i, j) * at(a.factor, MOST + 1, i, k);
                const double size = sqrt(gram_of(&s, j, j)) * sqrt(gram_of(&s, k, k));
                CHECK(fabs(sum - gram_of(&s, j, k)) <= 1e-13 * size);
            }
    }
}

/* A bound holds a parameter that chi^2 pushes beyond it; one that it pushes inside, or not at all, is in doubt. */
TEST(a_bound_needs_a_push)
{
    const int64_t at_bound = PYSPEC_ENDING_AT_BOUND;
    for (int is_factor = 0; is_factor < 2; is_factor++)
        for (int side = -1; side <= 1; side += 2) {
            const sample s = make_sample(3, 21);
            const int push = gram_of(&s, 1, 3) > 0.0 ? 1 : -1;
            asked a;
            begin(&a, &s, is_factor);
            a.bounds[side < 0 ? 1 : 4] = 0.0;
            const int64_t flags = ask(&a, &s);
            CHECK_INT(a.side[1], side);
            CHECK_INT(a.side[0], 0);
            CHECK_INT(flags, at_bound | PYSPEC_ENDING_CERTAIN | (side == push ? 0 : PYSPEC_ENDING_NEUTRAL));
            check_inverse(&a, &s);
            a.held[1] = 1; /* judged elsewhere */
            CHECK_INT(ask(&a, &s), PYSPEC_ENDING_CERTAIN);
            CHECK_INT(a.side[1], 0);
        }
}

/* Without its bound a parameter takes chi^2 down as far as the undamped step of all does, at an optimum of the
 * others: these have no slope there. */
TEST(a_bound_costs_what_its_parameter_gains)
{
    for (int is_factor = 0; is_factor < 2; is_factor++) {
        sample s = make_sample(4, 33);
        asked a;
        for (int turn = 0; turn < 3; turn++) { /* takes what the others can of r */
            double step[4] = {0.0};
            begin(&a, &s, is_factor);
            a.held[2] = 1;
            ask(&a, &s);
            CHECK(a.gain[2] == 0.0); /* judged elsewhere */
            for (int64_t k = 0; k < 4; k++)
                for (int64_t j = 0; j < 4; j++)
                    step[k] += j == 2 || k == 2 ? 0.0 : a.covariance[k * 4 + j] * gram_of(&s, j, 4);
            for (int64_t i = 0; i < ROWS; i++)
                for (int64_t k = 0; k < 4; k++)
                    s.rows[i][4] -= step[k] * s.rows[i][k];
            sum_up(&s);
        }
        begin(&a, &s, is_factor);
        ask(&a, &s);
        const double expected = a.end.distance * a.end.distance;
        for (int k = 0; k < 4; k++)
            CHECK(a.gain[k] == 0.0);
        a.bounds[gram_of(&s, 2, 4) > 0.0 ? 6 : 2] = 0.0;
        CHECK(ask(&a, &s) & PYSPEC_ENDING_AT_BOUND);
        CHECK(fabs(a.gain[2] - expected) <= 1e-9 * expected);
        a.bounds[2] = a.bounds[6] = 0.0; /* held at both: the lower one counts */
        a.held[2] = 0;
        ask(&a, &s);
        CHECK((a.gain[2] > 0.0) == (gram_of(&s, 2, 4) < 0.0));
    }
}

/* Next to a bound that the undamped step goes beyond nothing is certain either. */
TEST(next_to_a_bound)
{
    const sample s = make_sample(1, 5);
    const double step = gram_of(&s, 0, 1) / gram_of(&s, 0, 0);
    asked a;
    begin(&a, &s, 0);
    a.end.is_scaled = 1;
    const double near = 1e-4 * sqrt(a.solver.chisqr / gram_of(&s, 0, 0)), sign = step > 0.0 ? 1.0 : -1.0;
    a.bounds[step > 0.0] = sign * near;
    CHECK_INT(ask(&a, &s), PYSPEC_ENDING_CERTAIN | PYSPEC_ENDING_NEUTRAL);
    a.held[0] = 0;
    a.bounds[step > 0.0] = sign * 100.0 * near;
    CHECK_INT(ask(&a, &s), PYSPEC_ENDING_CERTAIN);
}

TEST(errors_beyond_bounds_and_exact_fits)
{
    const sample s = make_sample(2, 9);
    asked a;
    begin(&a, &s, 0);
    ask(&a, &s);
    const double error = sqrt(a.covariance[3]);
    a.bounds[1] = -0.4 * error;
    a.bounds[3] = 0.4 * error;
    CHECK_INT(ask(&a, &s), PYSPEC_ENDING_CERTAIN | PYSPEC_ENDING_WIDE);
    begin(&a, &s, 0);
    a.solver.data_square = 1e17 * a.solver.chisqr;
    CHECK(ask(&a, &s) & PYSPEC_ENDING_EXACT);
}

/* Two columns alike are weak together; where a bound holds one of them the other is certain. */
TEST(doubt_is_told)
{
    for (int is_factor = 0; is_factor < 2; is_factor++) {
        const double share[] = {1e-6, 0.0};
        asked a;
        for (int k = 0; k < 2; k++) {
            sample s = make_sample(3, 5);
            for (int64_t i = 0; i < ROWS; i++)
                s.rows[i][1] = 2.0 * s.rows[i][0] * (1.0 + share[k] * (double)i);
            sum_up(&s);
            begin(&a, &s, is_factor);
            CHECK_INT(ask(&a, &s), PYSPEC_ENDING_WEAK);
            check_factor(&a, &s);
            a.bounds[gram_of(&s, 1, 3) > 0.0 ? 4 : 1] = 0.0;
            CHECK_INT(ask(&a, &s), PYSPEC_ENDING_WEAK | PYSPEC_ENDING_AT_BOUND | PYSPEC_ENDING_CERTAIN);
            check_inverse(&a, &s);
        }
        const double bad[] = {0.0, (double)NAN, (double)INFINITY, 1e300, 1e-160};
        for (int k = 0; k < 5; k++) { /* a column of zeros, what is not finite, or nearly nothing */
            sample s = make_sample(3, 5);
            for (int64_t i = 0; i < ROWS; i++)
                s.rows[i][1] = bad[k];
            sum_up(&s);
            begin(&a, &s, is_factor);
            CHECK((ask(&a, &s) & (PYSPEC_ENDING_WEAK | PYSPEC_ENDING_CERTAIN)) == PYSPEC_ENDING_WEAK);
        }
        sample s = make_sample(3, 5);
        s.rows[2][3] = (double)NAN;
        sum_up(&s);
        begin(&a, &s, is_factor);
        CHECK(!(ask(&a, &s) & PYSPEC_ENDING_CERTAIN));
    }
}

/* The information of another sample in place of its own Gram matrix, with the slopes of its own. */
TEST(errors_of_counts_follow_from_the_information)
{
    for (int64_t n = 1; n <= MOST; n++)
        for (int is_factor = 0; is_factor < 2; is_factor++) {
            const sample own = make_sample(n, 5 + (uint64_t)n), other = make_sample(n, 50 + (uint64_t)n);
            double information[(MOST + 1) * (MOST + 2) / 2];
            sample both = other;
            for (int64_t k = 0; k <= n; k++)
                both.gram[triangle_at(n + 1, k, n)] = own.gram[triangle_at(n + 1, k, n)];
            both.gram[triangle_at(n + 1, n, n)] *= 1e6; /* what the slopes could not explain */
            memcpy(information, other.gram, sizeof information);
            asked a, b;
            begin(&a, &own, is_factor);
            begin(&b, &both, 0);
            a.solver.chisqr = b.solver.chisqr;
            a.bounds[n - 1] = b.bounds[n - 1] = 0.0;
            a.end.has_information = 1;
            a.end.information = information;
            CHECK_INT(ask(&a, &own), ask(&b, &both));
            CHECK(fabs(a.end.distance - b.end.distance) <= 1e-12 * b.end.distance);
            CHECK(!memcmp(a.covariance, b.covariance, (size_t)(n * n) * sizeof(double)));
            for (int64_t k = 0; k < n; k++)
                CHECK(fabs(a.gain[k] - b.gain[k]) <= 1e-12 * b.gain[k]);
        }
}

TEST(what_is_missing_is_refused)
{
    const sample s = make_sample(1, 1);
    double triangle[3], work[22];
    asked a;
    begin(&a, &s, 0);
    memcpy(triangle, s.gram, sizeof triangle);
    a.solver.normal = triangle;
    a.end.work = work;
    CHECK_INT(pyspec_end_work_size(1), sizeof work);
    CHECK_INT(pyspec_end_of(&a.solver, &a.end), STATUS_OK);
    CHECK_INT(pyspec_end_of(NULL, &a.end), -STATUS_NULL_POINTER);
    CHECK_INT(pyspec_end_of(&a.solver, NULL), -STATUS_NULL_POINTER);
    void *parts[] = {&a.end.held, &a.end.side, &a.end.gain, &a.end.covariance, &a.end.factor, &a.end.work};
    for (int k = 0; k < 6; k++) {
        asked b = a;
        memset((char *)&b.end + ((char *)parts[k] - (char *)&a.end), 0, sizeof(void *));
        CHECK_INT(pyspec_end_of(&b.solver, &b.end), -STATUS_NULL_POINTER);
    }
    a.end.has_information = 1;
    CHECK_INT(pyspec_end_of(&a.solver, &a.end), -STATUS_NULL_POINTER);
    a.end.has_information = 0;
    a.end.n_free = 0;
    CHECK_INT(pyspec_end_of(&a.solver, &a.end), -STATUS_SIZE);
    a.end.n_free = 1;
    a.solver.n = -1;
    CHECK_INT(pyspec_end_of(&a.solver, &a.end), -STATUS_SIZE);
    CHECK_INT(pyspec_fit_step(NULL), -STATUS_NULL_POINTER);
}

/* What rounding may do to chi^2 of data of any size: the product of two squares was infinite, or 0. */
TEST(rounding_of_any_size)
{
    for (int power = -300; power <= 300; power += 50) {
        const double size = pow(10.0, power);
        const pyspec_solver s = {.chisqr = size, .data_square = 4.0 * size};
        CHECK(fabs(rounding(&s) / (24.0 * DBL_EPSILON * size) - 1.0) < 1e-12);
    }
}

UNIT_MAIN
