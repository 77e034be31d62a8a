/* lm_singular.c: orthogonal combinations of a few columns, in two ways. One takes off each column what lies along those
 * before it. The other finds singular vectors: it turns pairs of columns until all are orthogonal (M. R. Hestenes,
 * J. SIAM 6 (1958) 51). */
#include "solver/reduce.h"

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

/* Makes two columns orthogonal. Returns whether they were far from that. */
static int turn_pair(double *first, double *second, int64_t m, double *of_first, double *of_second, int64_t n)
{
    double own = 0.0, its = 0.0, both = 0.0;
    for (int64_t k = 0; k < m; k++) {
        own += first[k] * first[k];
        its += second[k] * second[k];
        both += first[k] * second[k];
    }
    if (!(both * both > DBL_EPSILON * DBL_EPSILON * own * its) || own < DUST || its < DUST)
        return 0;
    const double difference = its - own, size = sqrt(difference * difference + 4.0 * both * both);
    const double cosine = sqrt(0.5 + 0.5 * fabs(difference) / size), along = both / (size * cosine);
    const double sine = difference < 0.0 ? -along : along;
    turn(first, second, m, cosine, sine);
    turn(of_first, of_second, n, cosine, sine);
    return both * both > LAST_COSINE * LAST_COSINE * own * its;
}

void pyspec_singular(double *a, int64_t m, int64_t n, double *v, double *value)
{
    const int64_t n_rounds = n | 1; /* in each, no two pairs share a column: a processor turns several at a time */
    int is_turned = 1;
    fill(v, 0.0, n * n);
    for (int64_t k = 0; k < n; k++)
        v[k * n + k] = 1.0;
    for (int sweep = 0; is_turned && sweep < MOST_SWEEPS; sweep++) {
        is_turned = 0;
        for (int64_t round = 0; round < n_rounds; round++)
            for (int64_t p = 0; p < n; p++) {
                const int64_t q = round < p ? round - p + n_rounds : round - p;
                if (p < q && q < n)
                    is_turned |= turn_pair(a + p * m, a + q * m, m, v + p * n, v + q * n, n);
            }
    }
    for (int64_t k = 0; k < n; k++)
        value[k] = sqrt(dot(a + k * m, a + k * m, m));
    pyspec_put_longest_first(a, m, n, v, value);
}

void pyspec_put_longest_first(double *a, int64_t m, int64_t n, double *v, double *value)
{
    for (int64_t k = 0; k < n; k++)
        for (int64_t j = k + 1; j < n; j++)
            if (value[j] > value[k]) {
                pyspec_swap(value + j, value + k, 1);
                pyspec_swap(v + j * n, v + k * n, n);
                pyspec_swap(a + j * m, a + k * m, m);
            }
}

double pyspec_take_off_earlier(double *a, int64_t m, int64_t n, double *v, double *value)
{
    double squares = 0.0;
    fill(v, 0.0, n * n);
    for (int64_t p = 0; p < n; p++) {
        double *own = a + p * m, *mix = v + p * n;
        mix[p] = 1.0;
        for (int64_t q = 0; q < p; q++) {
            if (value[q] == 0.0)
                continue;
            const double part = dot(a + q * m, own, m) / (value[q] * value[q]);
            add(own, -part, a + q * m, m);
            add(mix, -part, v + q * n, n);
        }
        value[p] = sqrt(dot(own, own, m));
        if (value[p] <= LOST)
            value[p] = 0.0;
        else
            squares += dot(mix, mix, n) / (value[p] * value[p]);
    }
    return 1.0 / sqrt((double)n * squares);
}
