/* scheme_exp.c: divided differences of exp(x s) over its nodes x, whatever coincides. A recurrence where
 * nodes are far apart, a series of positive terms where they are close (A. McCurdy, K. C. Ng and B. N.
 * Parlett, Math. Comp. 43, 501 (1984)). */
#include "kinetics/scheme.h"
#include "math/vmath.h"

#include <string.h>

/* 1 / k! */
static const double one_over[] = {
    1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320,
    1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0,
    1.0 / 87178291200.0, 1.0 / 1307674368000.0};
_Static_assert(sizeof one_over / sizeof *one_over >= MAX_TWICE, "factorials");

/* exp_s[x_0 .. x_m] of eight times, all terms positive. Let d = x - x_m >= 0, and let h_k be the sum
 * of all products of k of the s d. The result is exp(s x_m) s^m times the sum over k of
 * h_k / (k + m)!. The spread of the nodes times s is at most m in lanes that count. The results of
 * other lanes are not used. */
static void series(const double *x, int m, const double *s, double *out)
{
    double sum[L], h[MAX_TWICE][L], term = one_over[m];
    FOR_LANES sum[l] = term;
    for (int i = 0; i < m; i++)
        FOR_LANES h[i][l] = 1.0;
    const int n_terms = 3 * m + 20;
    for (int k = 1; k < n_terms; k++) {
        term /= k + m;
        FOR_LANES h[0][l] *= (x[0] - x[m]) * s[l];
        for (int i = 1; i < m; i++) {
            const double d = x[i] - x[m];
            FOR_LANES h[i][l] = h[i - 1][l] + d * s[l] * h[i][l];
        }
        FOR_LANES sum[l] += term * h[m - 1][l];
    }
    FOR_LANES out[l] = v_exp(x[m] * s[l]) * sum[l];
    for (int i = 0; i < m; i++)
        FOR_LANES out[l] *= s[l];
}

/* table[i] becomes exp_s[x_i .. x_j] for all i <= j. Before, it holds exp_s[x_i .. x_{j-1}]. The
 * recurrence serves nodes that are far apart, the series all others. For the recurrence the spread
 * times s is at least m: each difference loses at most a digit. */
static void add_node(const double *x, int j, const double *s, double (*table)[L])
{
    FOR_LANES table[j][l] = v_exp(x[j] * s[l]);
    for (int i = j - 1; i >= 0; i--) {
        const double spread = x[i] - x[j];
        int near = 0, far = 0;
        FOR_LANES near += spread * s[l] < j - i;
        far = L - near;
        double close[L] = {0};
        if (near)
            series(x + i, j - i, s, close);
        FOR_LANES
        {
            const double apart =
                far ? (table[i][l] - table[i + 1][l]) / (spread > 0.0 ? spread : 1.0) : 0.0;
            const double own = spread * s[l] < j - i ? close[l] : apart;
            table[i][l] = v_clamp(own, 1e250);
        }
    }
}

void JOIN(pyspec_exp_differences, ISA_SUFFIX, )(const double *x, int n, const double *s, double (*out)[L])
{
    double table[MAX_TWICE][L];
    for (int j = 0; j < n; j++) {
        add_node(x, j, s, table);
        memcpy(out[j], table[0], sizeof table[0]);
    }
}
