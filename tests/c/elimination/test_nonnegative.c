/* test_nonnegative.c: amplitudes that are not negative, by active sets: which of the columns take part. */
#include "elimination/linear.h"
#include "support/unit.h"

static double number(int64_t k)
{
    return sin(12.9898 * (double)k + 0.3 * (double)(k % 17)) + 0.2 * cos(3.1 * (double)k);
}

/* R c - b of a triangle [n][n]. */
static void rest_of(int64_t n, const double *r, const double *b, const double *c, double *rest)
{
    for (int64_t i = 0; i < n; i++) {
        rest[i] = -b[i];
        for (int64_t k = i; k < n; k++)
            rest[i] += r[i * n + k] * c[k];
    }
}

/* The least squares over the columns that are on, by steps along each of them in turn. */
static void descend(int64_t n, const double *r, const double *b, const double *on, double *c)
{
    double rest[PYSPEC_LINEAR_MOST];
    memset(c, 0, (size_t)n * sizeof *c);
    for (int turn = 0; turn < 40000; turn++)
        for (int64_t k = 0; k < n; k++) {
            double slope = 0.0, size = 0.0;
            rest_of(n, r, b, c, rest);
            for (int64_t i = 0; i <= k; i++) {
                slope += r[i * n + k] * rest[i];
                size += r[i * n + k] * r[i * n + k];
            }
            c[k] -= on[k] > 0.0 && size > 0.0 ? slope / size : 0.0;
        }
}

/* What is on is the optimum of Karush, Kuhn and Tucker: bounded amplitudes are positive, and where
 * one is off the square would rise with it. Columns that are much alike leave the set again. */
TEST(active_sets_are_optimal)
{
    enum { N = 4 };
    for (int64_t k = 0; k < 60; k++) {
        double r[N * N] = {0.0}, b[N], on[N] = {1.0, 1.0, 1.0, 1.0}, c[N], rest[N];
        const uint8_t bounded[N] = {1, 1, k % 2 == 0, 1};
        for (int64_t i = 0; i < N; i++) {
            b[i] = number(7 * k + i) + (i == 0 ? 1.0 : 0.0);
            for (int64_t j = i; j < N; j++)
                r[i * N + j] = i == 0 ? 1.0 : 0.4 * number(31 * k + N * i + j);
        }
        for (int64_t i = 0; i < N; i++) {
            r[i * N + i] += i ? copysign(0.2, r[i * N + i]) : 0.0;
            r[i * N + 2] = k % 5 == 4 ? 0.0 : r[i * N + 2]; /* a column without length */
        }
        on[3] = k % 7 == 6 ? 0.0 : 1.0;
        pyspec_nonnegative(N, r, b, bounded, on);
        CHECK(k % 7 != 6 || on[3] == 0.0);
        descend(N, r, b, on, c);
        rest_of(N, r, b, c, rest);
        for (int64_t j = 0; j < N; j++) {
            double slope = 0.0;
            for (int64_t i = 0; i <= j; i++)
                slope += r[i * N + j] * rest[i];
            CHECK(!bounded[j] || c[j] >= -1e-9);
            CHECK(on[j] > 0.0 ? fabs(slope) < 1e-9 : slope > -1e-9 || (j == 3 && k % 7 == 6));
        }
    }
}

/* The steepest column is chosen first, and turns negative once both others are there. */
TEST(a_column_that_turns_negative_leaves)
{
    const double third = 1.0 / sqrt(3.0), r[9] = {1.0, 0.0, third, 0.0, 1.0, third, 0.0, 0.0, third};
    const uint8_t bounded[3] = {1, 1, 1}, is_free[3] = {1, 1, 0};
    for (int k = 0; k < 2; k++) {
        const double b[3] = {1.0, 1.0, k ? -0.1 : 0.0};
        double on[3] = {1.0, 1.0, 1.0};
        pyspec_nonnegative(3, r, b, bounded, on);
        CHECK(on[0] == 1.0 && on[1] == 1.0 && on[2] == 0.0);
        on[2] = 1.0;
        pyspec_nonnegative(3, r, b, is_free, on);
        CHECK(on[0] == 1.0 && on[1] == 1.0 && on[2] == 1.0);
    }
}

/* Least squares over the columns that are on, by elimination in the normal equations. */
static void solve_on(int64_t n, const double *r, const double *b, const double *on, long double *c)
{
    long double a[PYSPEC_LINEAR_MOST][PYSPEC_LINEAR_MOST + 1] = {{0.0L}};
    for (int64_t j = 0; j < n; j++) {
        for (int64_t k = 0; k < n; k++)
            for (int64_t i = 0; i <= (j < k ? j : k); i++)
                a[j][k] += on[j] * on[k] * (long double)r[i * n + j] * (long double)r[i * n + k];
        for (int64_t i = 0; i <= j; i++)
            a[j][n] += on[j] * (long double)r[i * n + j] * (long double)b[i];
        a[j][j] += on[j] > 0.0 ? 0.0L : 1.0L;
    }
    for (int64_t k = 0; k < n; k++)
        for (int64_t j = k + 1; j < n; j++) {
            const long double factor = a[j][k] / a[k][k];
            for (int64_t i = k; i <= n; i++)
                a[j][i] -= factor * a[k][i];
        }
    for (int64_t k = n - 1; k >= 0; k--) {
        c[k] = a[k][n];
        for (int64_t i = k + 1; i < n; i++)
            c[k] -= a[k][i] * c[i];
        c[k] /= a[k][k];
    }
}

/* Columns that are much alike, of which several turn negative at once: those that are left in the end
 * are positive, and the square would rise with any of the others. */
TEST(several_columns_leave_at_once)
{
    enum { N = 6 };
    const uint8_t bounded[N] = {1, 1, 1, 1, 1, 1};
    for (int64_t turn = 0; turn < 3000; turn++) {
        double r[N * N] = {0.0}, b[N], on[N];
        long double c[N];
        for (int64_t i = 0; i < N; i++) {
            on[i] = 1.0;
            b[i] = number(13 * turn + i) + (i == 0 ? 2.0 : 0.0);
            for (int64_t j = i; j < N; j++)
                r[i * N + j] = i == 0 ? 1.0 : 0.3 * number(71 * turn + N * i + j + 5000);
            r[i * N + i] += copysign(0.05, r[i * N + i]);
        }
        pyspec_nonnegative(N, r, b, bounded, on);
        solve_on(N, r, b, on, c);
        for (int64_t j = 0; j < N; j++) {
            long double slope = 0.0L;
            for (int64_t i = 0; i <= j; i++) {
                long double rest = b[i];
                for (int64_t k = i; k < N; k++)
                    rest -= on[k] * r[i * N + k] * c[k];
                slope += r[i * N + j] * rest;
            }
            CHECK(on[j] > 0.0 ? c[j] > 0.0L : slope < 1e-9L);
        }
    }
}

/* Columns that differ by little more than rounding: some are found to be steep and get nothing, and come
 * and go. It comes to an end all the same; what was off stays off, and what may be negative stays on. */
TEST(columns_that_come_and_go_come_to_an_end)
{
    enum { N = 7 };
    for (int64_t turn = 0; turn < 4000; turn++) {
        const double apart = pow(10.0, -16.0 * fabs(sin((double)turn)));
        const uint8_t bounded[N] = {1, 1, turn % 3 > 0, 1, 1, 1, 1};
        double r[N * N] = {0.0}, b[N], on[N];
        for (int64_t i = 0; i < N; i++) {
            on[i] = i == 5 && turn % 4 == 0 ? 0.0 : 1.0;
            b[i] = number(13 * turn + i) * (i % 3 == 1 ? apart : 1.0);
            for (int64_t j = i; j < N; j++)
                r[i * N + j] = (i == 0 ? 1.0 : 0.0) + apart * number(71 * turn + N * i + j + 5000);
            r[i * N + i] *= (turn + i) % 11 ? 1.0 : 0.0;
        }
        pyspec_nonnegative(N, r, b, bounded, on);
        for (int64_t j = 0; j < N; j++) {
            CHECK(on[j] == 0.0 || on[j] == 1.0);
            CHECK(bounded[j] || on[j] == 1.0);
        }
        CHECK(turn % 4 || on[5] == 0.0);
    }
}

UNIT_MAIN
