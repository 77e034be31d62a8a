/* test_certain.c: what a triangle determines, against known inverses, and that doubt is a no. */
#include "solver.h"
#include "unit.h"

#include <stdlib.h>

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

static int ask(const sample *s, int is_factor, double least, double *covariance, double *decrease)
{
    double *work = malloc((size_t)pyspec_certain_size(s->n));
    const double *triangle = is_factor ? s->factor : s->gram;
    int found = pyspec_certain(s->n, is_factor, triangle, least, covariance, decrease, work);
    free(work);
    return found;
}

static void the_covariance_is_an_inverse(void)
{
    for (int64_t n = 1; n <= MOST; n++)
        for (int is_factor = 0; is_factor < 2; is_factor++) {
            const sample s = make_sample(n, (uint64_t)n);
            double covariance[MOST * MOST], decrease;
            CHECK(ask(&s, is_factor, 1e-4, covariance, &decrease));
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < n; j++) {
                    double sum = 0.0, size = 0.0;
                    for (int64_t k = 0; k < n; k++) {
                        double gram = at(s.gram, n + 1, i < k ? i : k, i < k ? k : i);
                        sum += gram * covariance[k * n + j];
                        size += fabs(gram * covariance[k * n + j]);
                    }
                    CHECK(fabs(sum - (i == j)) <= 1e-12 * (1.0 + size));
                    CHECK(covariance[i * n + j] == covariance[j * n + i]);
                }
        }
}

static void the_decrease_is_that_of_the_step(void)
{
    for (int64_t n = 1; n <= MOST; n++) {
        const sample s = make_sample(n, 77 + (uint64_t)n);
        double covariance[MOST * MOST], found[2], expected = 0.0;
        CHECK(ask(&s, 0, 1e-4, covariance, &found[0]));
        for (int64_t j = 0; j < n; j++)
            for (int64_t k = 0; k < n; k++)
                expected += at(s.gram, n + 1, j, n) * covariance[j * n + k] * at(s.gram, n + 1, k, n);
        CHECK(ask(&s, 1, 1e-4, covariance, &found[1]));
        for (int form = 0; form < 2; form++)
            CHECK(fabs(found[form] - expected) <= 1e-11 * expected);
    }
}

static void doubt_is_a_no(void)
{
    double covariance[MOST * MOST], decrease;
    for (int is_factor = 0; is_factor < 2; is_factor++) {
        sample s = make_sample(3, 5);
        CHECK(ask(&s, is_factor, 1e-4, covariance, &decrease));
        CHECK(!ask(&s, is_factor, 0.9, covariance, &decrease));
        for (int64_t i = 0; i < ROWS; i++) /* two columns that hardly differ */
            s.rows[i][1] = 2.0 * s.rows[i][0] * (1.0 + 1e-6 * (double)i);
        sum_up(&s);
        CHECK(!ask(&s, is_factor, 1e-4, covariance, &decrease));
        for (int64_t i = 0; i < ROWS; i++) /* not at all */
            s.rows[i][1] = 2.0 * s.rows[i][0];
        sum_up(&s);
        CHECK(!ask(&s, is_factor, 1e-4, covariance, &decrease));
        const double bad[] = {0.0, (double)NAN, (double)INFINITY, 1e300};
        for (int k = 0; k < 4; k++) { /* a column of zeros, and what is not finite */
            for (int64_t i = 0; i < ROWS; i++)
                s.rows[i][1] = bad[k];
            sum_up(&s);
            CHECK(!ask(&s, is_factor, 1e-4, covariance, &decrease));
        }
        s = make_sample(3, 5);
        s.rows[2][3] = (double)NAN;
        sum_up(&s);
        CHECK(!ask(&s, is_factor, 1e-4, covariance, &decrease));
    }
}

static void what_is_missing_is_refused(void)
{
    double triangle[3] = {1.0, 0.5, 1.0}, covariance[1], decrease, work[4];
    CHECK_INT(pyspec_certain(1, 0, triangle, 1e-4, covariance, &decrease, work), 1);
    CHECK_INT(pyspec_certain(-1, 0, triangle, 1e-4, covariance, &decrease, work), -STATUS_SIZE);
    CHECK_INT(pyspec_certain(1, 0, NULL, 1e-4, covariance, &decrease, work), -STATUS_NULL_POINTER);
    CHECK_INT(pyspec_certain(1, 0, triangle, 1e-4, NULL, &decrease, work), -STATUS_NULL_POINTER);
    CHECK_INT(pyspec_certain(1, 0, triangle, 1e-4, covariance, NULL, work), -STATUS_NULL_POINTER);
    CHECK_INT(pyspec_certain(1, 0, triangle, 1e-4, covariance, &decrease, NULL), -STATUS_NULL_POINTER);
    CHECK_INT(pyspec_fit_step(NULL), -STATUS_NULL_POINTER);
}

/* What rounding may do to chi^2 of data of any size: the product of two squares was infinite, or 0. */
static void rounding_of_any_size(void)
{
    for (int power = -300; power <= 300; power += 50) {
        const double size = pow(10.0, power);
        const pyspec_solver s = {.chisqr = size, .data_square = 4.0 * size};
        CHECK(fabs(rounding(&s) / (24.0 * DBL_EPSILON * size) - 1.0) < 1e-12);
    }
}

int main(void)
{
    RUN(the_covariance_is_an_inverse);
    RUN(the_decrease_is_that_of_the_step);
    RUN(doubt_is_a_no);
    RUN(what_is_missing_is_refused);
    RUN(rounding_of_any_size);
    return REPORT;
}
