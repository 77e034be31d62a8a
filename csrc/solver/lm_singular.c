/* lm_singular.c: singular values of a few columns, by rotations of pairs of them until all are orthogonal (M. R.
 * Hestenes, J. SIAM 6 (1958) 51). */
#include "solver/solver.h"

/* The square of a column, beside the others of length 1, that is nothing but rounding. */
static const double DUST = 1e-30;
enum { MOST_SWEEPS = 40 };

/* Turns of pairs with a smaller cosine leave less than rounding for another sweep: the sweeps converge quadratically. */
static const double LAST_COSINE = 1e-9;

void pyspec_swap(double *a, double *b, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        const double one = a[k];
        a[k] = b[k];
        b[k] = one;
    }
}

static void turn(double *restrict a, double *restrict b, int64_t n, double cosine, double sine)
{
    for (int64_t k = 0; k < n; k++) {
        const double first = a[k], second = b[k];
        a[k] = cosine * first - sine * second;
        b[k] = sine * first + cosine * second;
    }
}

static double length_of(const double *column, int64_t n)
{
    double sum = 0.0;
    for (int64_t k = 0; k < n; k++)
        sum += column[k] * column[k];
    return sqrt(sum);
}

void pyspec_singular(double *a, int64_t m, int64_t n, double *v, double *value)
{
    int is_turned = 1;
    fill(v, 0.0, n * n);
    for (int64_t k = 0; k < n; k++)
        v[k * n + k] = 1.0;
    for (int sweep = 0; is_turned && sweep < MOST_SWEEPS; sweep++) {
        is_turned = 0;
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = p + 1; q < n; q++) {
                double *first = a + p * m, *second = a + q * m;
                double own = 0.0, its = 0.0, both = 0.0;
                for (int64_t k = 0; k < m; k++) {
                    own += first[k] * first[k];
                    its += second[k] * second[k];
                    both += first[k] * second[k];
                }
                const double cosine_of = fabs(both) / sqrt(own * its);
                if (!(cosine_of > DBL_EPSILON) || own < DUST || its < DUST)
                    continue;
                const double ratio = (its - own) / (2.0 * both);
                const double size = 1.0 / (fabs(ratio) + sqrt(1.0 + ratio * ratio));
                const double tangent = ratio < 0.0 ? -size : size;
                const double cosine = 1.0 / sqrt(1.0 + tangent * tangent);
                turn(first, second, m, cosine, tangent * cosine);
                turn(v + p * n, v + q * n, n, cosine, tangent * cosine);
                is_turned |= cosine_of > LAST_COSINE;
            }
    }
    for (int64_t k = 0; k < n; k++)
        value[k] = length_of(a + k * m, m);
    for (int64_t k = 0; k < n; k++)
        for (int64_t j = k + 1; j < n; j++)
            if (value[j] > value[k]) {
                pyspec_swap(value + j, value + k, 1);
                pyspec_swap(v + j * n, v + k * n, n);
                pyspec_swap(a + j * m, a + k * m, m);
            }
}
