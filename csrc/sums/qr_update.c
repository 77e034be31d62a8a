/* qr_update.c: Householder updates of an upper triangle by more rows. */
#include "walk/run.h"

/* One reflection turns column k of the new rows into the diagonal: the triangle's row k and the
 * later columns follow. */
static void reflect(double *triangle, int64_t order, double *columns, int64_t n, int64_t k)
{
    double *diagonal = triangle + triangle_at(order, k, k), *own = columns + k * n;
    double largest = fabs(*diagonal), total = 0.0, square = 0.0;
    for (int64_t i = 0; i < n; i++) {
        largest = fabs(own[i]) > largest ? fabs(own[i]) : largest;
        total += fabs(own[i]);
    }
    if (total == 0.0) /* a column of NaN goes on: it is not larger than 0, but neither is it 0 */
        return;
    for (int64_t i = 0; i < n; i++) {
        own[i] /= largest;
        square += own[i] * own[i];
    }
    if (square == 0.0)
        return;
    /* v = (head, own) maps (*diagonal, own) onto (norm, 0), norm > 0. */
    const double at = *diagonal / largest, norm = sqrt(at * at + square);
    const double head = at <= 0.0 ? at - norm : -square / (at + norm);
    const double factor = 2.0 / (square + head * head);
    *diagonal = norm * largest;
    for (int64_t j = k + 1; j < order; j++) {
        double *row = triangle + triangle_at(order, k, j), *column = columns + j * n;
        double sum = head * *row;
        for (int64_t i = 0; i < n; i++)
            sum += own[i] * column[i];
        sum *= factor;
        *row -= sum * head;
        for (int64_t i = 0; i < n; i++)
            column[i] -= sum * own[i];
    }
}

void pyspec_absorb(double *triangle, int64_t order, double *columns, int64_t n)
{
    for (int64_t k = 0; k < order; k++)
        reflect(triangle, order, columns, n, k);
}
