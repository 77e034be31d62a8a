/* nonnegative.c: least squares with amplitudes that are not negative, by active sets (C. L. Lawson
 * and R. J. Hanson, Solving Least Squares Problems, ch. 23 (1974)). The problem of a group comes
 * reduced to its triangle: minimize |R c - b|. */
#include "elimination/linear.h"

#include <math.h>
#include <string.h>

enum { MOST = PYSPEC_LINEAR_MOST };

/* Column k of R without its parts along those of the set before it, by Gram and Schmidt, twice. Column k of `t`
 * receives these parts. */
static void take_column(int64_t n, const double *r, const int *set, int64_t k, double (*q)[MOST], double (*t)[MOST])
{
    for (int64_t i = 0; i < n; i++)
        q[k][i] = i <= k ? r[i * n + k] : 0.0;
    for (int64_t j = 0; j < k; j++)
        t[j][k] = 0.0;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t j = 0; j < k; j++) {
            double sum = 0.0;
            for (int64_t i = 0; set[j] && i < n; i++)
                sum += q[j][i] * q[k][i];
            for (int64_t i = 0; set[j] && i < n; i++)
                q[k][i] -= sum * q[j][i];
            t[j][k] += sum;
        }
}

/* Scales a column to the length 1, or to 0 if it is a combination of those before it, and takes it from what is left
 * of b. */
static double take_from_rest(int64_t n, const double *r, int64_t k, double *q, double *length, double *rest)
{
    double square = 0.0, before = 0.0, along = 0.0;
    for (int64_t i = 0; i < n; i++) {
        square += q[i] * q[i];
        before += i <= k ? r[i * n + k] * r[i * n + k] : 0.0;
    }
    const int lost = square <= LINEAR_RANK * LINEAR_RANK * before;
    *length = lost ? 0.0 : sqrt(square);
    for (int64_t i = 0; i < n; i++) {
        q[i] = lost ? 0.0 : q[i] / *length;
        along += q[i] * rest[i];
    }
    for (int64_t i = 0; i < n; i++)
        rest[i] -= along * q[i];
    return along;
}

/* Least squares over the columns in the set. The other coefficients are 0. A column that is a
 * combination of those before it also gets 0. */
static void solve_set(int64_t n, const double *r, const double *b, const int *set, double *c)
{
    double q[MOST][MOST], t[MOST][MOST], rest[MOST], along[MOST] = {0.0};
    memcpy(rest, b, (size_t)n * sizeof *rest);
    for (int64_t k = 0; k < n; k++) {
        if (!set[k])
            continue;
        take_column(n, r, set, k, q, t);
        along[k] = take_from_rest(n, r, k, q[k], &t[k][k], rest);
    }
    for (int64_t k = n - 1; k >= 0; k--) {
        c[k] = 0.0;
        if (!set[k] || t[k][k] == 0.0)
            continue;
        c[k] = along[k];
        for (int64_t j = k + 1; j < n; j++)
            c[k] -= set[j] ? t[k][j] * c[j] : 0.0;
        c[k] /= t[k][k];
    }
}

/* The column outside of the set along which the square falls most; -1 for none. */
static int64_t steepest(int64_t n, const double *r, const double *b, const double *c,
                        const int *set, const double *on)
{
    double rest[MOST], most = 0.0, length = 0.0;
    int64_t found = -1;
    for (int64_t i = 0; i < n; i++) {
        length += b[i] * b[i];
        rest[i] = b[i];
        for (int64_t k = i; k < n; k++)
            rest[i] -= r[i * n + k] * c[k];
    }
    for (int64_t k = 0; k < n; k++) {
        double slope = 0.0, size = 0.0;
        for (int64_t i = 0; i <= k; i++) {
            slope += r[i * n + k] * rest[i];
            size += r[i * n + k] * r[i * n + k];
        }
        const double least = 1e-14 * sqrt(size * length);
        if (!set[k] && on[k] > 0.0 && slope > least && slope > most * sqrt(size)) {
            most = slope / sqrt(size);
            found = k;
        }
    }
    return found;
}

/* Moves c towards z until the first bounded value would turn negative. Columns that become 0 leave
 * the set. */
static int shorten(int64_t n, const uint8_t *bounded, int *set, double *c, const double *z)
{
    double share = 1.0;
    int leaves = 0;
    for (int64_t k = 0; k < n; k++)
        if (set[k] && bounded[k] && z[k] <= 0.0) {
            const double own = c[k] > 0.0 ? c[k] / (c[k] - z[k]) : 0.0;
            share = own < share ? own : share;
            leaves = 1;
        }
    for (int64_t k = 0; k < n; k++) {
        const int ends = set[k] && bounded[k] && z[k] <= 0.0 &&
                         (c[k] <= 0.0 || c[k] / (c[k] - z[k]) <= share);
        c[k] += share * (z[k] - c[k]);
        if (ends) {
            c[k] = 0.0;
            set[k] = 0;
        }
    }
    return leaves;
}

void pyspec_nonnegative(int64_t n, const double *r, const double *b, const uint8_t *bounded,
                        double *on)
{
    double c[MOST] = {0.0}, z[MOST], open[MOST];
    int set[MOST] = {0};
    for (int64_t k = 0; k < n; k++)
        set[k] = on[k] > 0.0 && !bounded[k];
    solve_set(n, r, b, set, c);
    memcpy(open, on, (size_t)n * sizeof *open);
    for (int64_t turn = 0; turn < 4 * n;) {
        const int64_t next = steepest(n, r, b, c, set, open);
        if (next < 0)
            break;
        set[next] = 1;
        solve_set(n, r, b, set, z);
        if (bounded[next] && z[next] <= 0.0) { /* its slope was rounding: not before another moves */
            set[next] = 0;
            open[next] = 0.0;
            continue;
        }
        for (int64_t step = 0; step <= n && shorten(n, bounded, set, c, z); step++)
            solve_set(n, r, b, set, z);
        memcpy(open, on, (size_t)n * sizeof *open);
        turn++;
    }
    for (int64_t k = 0; k < n; k++)
        on[k] = set[k] ? 1.0 : 0.0;
}

void pyspec_choose_lane(const pyspec_linear *q, int64_t group, const double *r, const double *b,
                        double *on)
{
    const int64_t n = q->n_basis;
    double own_r[MOST * MOST] = {0.0}, own_b[MOST] = {0.0}, own_on[MOST] = {0.0}, c[MOST];
    int set[MOST] = {0};
    for (int64_t k = 0; k < n; k++) {
        own_b[k] = b[k * L];
        own_on[k] = !q->allowed || q->allowed[group * n + k] ? 1.0 : 0.0;
        for (int64_t j = k; j < n; j++)
            own_r[k * n + j] = r[(k * n + j) * L];
        /* One that was a combination of others takes part where a bound takes one of these away. */
        own_r[k * n + k] = on[k * L] > 0.0 ? own_r[k * n + k] : 0.0;
    }
    pyspec_nonnegative(n, own_r, own_b, q->bounded, own_on);
    /* One that is a combination of those that take part gets 0 here, and is off. */
    for (int64_t k = 0; k < n; k++)
        set[k] = own_on[k] > 0.0;
    solve_set(n, own_r, own_b, set, c);
    for (int64_t k = 0; k < n; k++)
        on[k * L] = on[k * L] > 0.0 || c[k] != 0.0 ? own_on[k] : 0.0;
}
