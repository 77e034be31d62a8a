/* certain.c: what a finished fit determines where there is no doubt of it: the inverse of JtJ, and how
 * far chi^2 would still fall. Where some direction may be weak the answer is no, and the caller looks
 * closer. */
#include "solver.h"

int64_t pyspec_certain_size(int64_t n)
{
    return (n + 1) * (n + 1) * (int64_t)sizeof(double);
}

/* Lengths of the columns of J, and 1 for r, which stands behind them. Returns whether each column has
 * one. */
static int find_lengths(const double *triangle, int64_t n, int is_factor, double *length)
{
    length[n] = 1.0;
    for (int64_t k = 0; k < n; k++) {
        double sum = is_factor ? 0.0 : at(triangle, n + 1, k, k);
        for (int64_t j = 0; is_factor && j <= k; j++)
            sum += at(triangle, n + 1, j, k) * at(triangle, n + 1, j, k);
        length[k] = sqrt(sum);
        if (!(length[k] > 0.0) || !isfinite(length[k]))
            return 0;
    }
    return 1;
}

/* The first n rows of the triangular factor of [J r], columns of J scaled to length 1, [n][n + 1].
 * Returns whether there is one. */
static int find_factor(const double *triangle, int64_t n, int is_factor, const double *length,
                       double *u)
{
    const int64_t order = n + 1;
    for (int64_t j = 0; j < n; j++) {
        for (int64_t k = j; k < order; k++) {
            double value = at(triangle, order, j, k) / length[k];
            if (!is_factor) {
                value /= length[j];
                for (int64_t i = 0; i < j; i++)
                    value -= u[i * order + j] * u[i * order + k];
                value = k == j ? sqrt(value) : value / u[j * order + j];
            }
            u[j * order + k] = value;
        }
        if (!(fabs(u[j * order + j]) > 0.0))
            return 0;
    }
    return 1;
}

/* Puts the inverse in place of the square part of a factor; returns the sum of its squares. */
static double invert(double *u, int64_t n)
{
    const int64_t order = n + 1;
    double squares = 0.0;
    for (int64_t k = n - 1; k >= 0; k--) {
        for (int64_t j = k; j >= 0; j--) {
            double sum = j == k ? -1.0 : 0.0;
            for (int64_t i = j + 1; i <= k; i++)
                sum += u[j * order + i] * u[i * order + k];
            u[j * order + k] = -sum / u[j * order + j];
            squares += u[j * order + k] * u[j * order + k];
        }
    }
    return squares;
}

int pyspec_certain(int64_t n, int64_t is_factor, const double *triangle, double least,
                   double *covariance, double *decrease, double *work)
{
    const int64_t order = n + 1;
    if (n < 0)
        return -STATUS_SIZE;
    if (!triangle || (!covariance && n) || !decrease || !work)
        return -STATUS_NULL_POINTER;
    double *length = work, *u = work + order;
    if (!find_lengths(triangle, n, is_factor != 0, length) ||
        !find_factor(triangle, n, is_factor != 0, length, u))
        return 0;
    *decrease = 0.0;
    for (int64_t j = 0; j < n; j++)
        *decrease += u[j * order + n] * u[j * order + n];
    /* The smallest singular value is at least one over the norm of the inverse, the largest at most
     * the root of n. */
    if (!(invert(u, n) * (double)n * least * least < 1.0))
        return 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = i; j < n; j++) {
            double sum = 0.0;
            for (int64_t k = j; k < n; k++)
                sum += u[i * order + k] * u[j * order + k];
            covariance[i * n + j] = covariance[j * n + i] = sum / (length[i] * length[j]);
        }
        if (!isfinite(covariance[i * n + i])) /* a column next to nothing */
            return 0;
    }
    return isfinite(*decrease);
}
