/* residual.c: model values become residuals and weights of derivatives. The arrays of measured values
 * begin at the first row of the chunk that a problem describes. */
#include "walk/run.h"

static double datum(const pyspec_problem *q, int64_t row, int64_t i)
{
    const char *at = (const char *)q->data + (row - q->first_row) * q->data_row + i * q->data_x;
    switch (q->data_type) {
    case PYSPEC_TYPE_F32: {
        float value;
        memcpy(&value, at, sizeof value);
        return (double)value;
    }
    case PYSPEC_TYPE_U16: {
        uint16_t value;
        memcpy(&value, at, sizeof value);
        return (double)value;
    }
    default: {
        double value;
        memcpy(&value, at, sizeof value);
        return value;
    }
    }
}

/* Up to this x = m / d - 1 the deviance is summed as a series: of d ln(d / m) - d + m, a difference of like
 * numbers, half of the digits would be lost. From COUNTS_NONE on d counts for less than rounding. */
#define COUNTS_NEAR 0.1
#define COUNTS_NONE 1e20

/* 2 (x - ln(1 + x)) / x^2 for |x| < COUNTS_NEAR, by the series of the logarithm. */
static double near_shape(double x)
{
    double shape = 0.0;
    for (int k = 15; k >= 0; k--)
        shape = 2.0 / (k + 2) - x * shape;
    return shape;
}

/* sign(d - m) sqrt(2 scale (d ln(d / m) - d + m)), m > 0; NaN for d < 0. */
static double signed_root(double d, double m, double scale)
{
    const double x = (m - d) / d;
    if (fabs(x) < COUNTS_NEAR)
        return -x * sqrt(scale * d * near_shape(x));
    if (d >= 0.0 && !(x < COUNTS_NONE))
        return -sqrt(2.0 * scale * m);
    const double root = sqrt(2.0 * scale * ((m - d) + d * log(d / m)));
    return d < m ? -root : root;
}

/* Minus its derivative by m. */
static double root_fall(double d, double m, double scale)
{
    const double x = (m - d) / d;
    if (fabs(x) < COUNTS_NEAR)
        return sqrt(scale / d) / (m / d * sqrt(near_shape(x)));
    return scale * (d / m - 1.0) / signed_root(d, m, scale);
}

/* Signed root of the Poisson deviance. Below the floor it goes on along its tangent there, so
 * that a model that turns negative still pulls back. Without counts, d = 0, it needs no floor:
 * -sqrt(2 scale m), and 0 for m < 0. NaN for d < 0. */
double pyspec_deviance(double d, double m, double scale)
{
    if (d == 0.0)
        return 0.0 >= m ? 0.0 : -sqrt(2.0 * scale * m);
    const double floor = 1e-3 / scale;
    if (m > floor)
        return signed_root(d, m, scale);
    return signed_root(d, floor, scale) - (m - floor) * root_fall(d, floor, scale);
}

/* -d deviance / dm. */
double pyspec_deviance_fall(double d, double m, double scale)
{
    if (d == 0.0)
        return 0.0 >= m ? 0.0 : sqrt(0.5 * scale) / sqrt(m);
    const double floor = 1e-3 / scale;
    return root_fall(d, m > floor ? m : floor, scale);
}

int pyspec_is_weighted(const pyspec_problem *q)
{
    return q->weight || q->keep || q->loss == PYSPEC_LOSS_POISSON;
}

static double weight_at(const pyspec_problem *q, int64_t row, int64_t i)
{
    double weight;
    memcpy(&weight, (const char *)q->weight + (row - q->first_row) * q->weight_row + i * q->weight_x, sizeof weight);
    return weight;
}

void pyspec_load_beside(const pyspec_problem *q, int64_t row, double *data, double *weight)
{
    for (int64_t i = q->x_begin; i < q->x_end; i++, data += L) {
        const int counts = !q->keep || q->keep[(row - q->first_row) * q->keep_row + i * q->keep_x];
        *data = counts ? datum(q, row, i) : 0.0;
        if (!weight)
            continue;
        *weight = !counts ? 0.0 : q->weight ? weight_at(q, row, i) : 1.0;
        weight += L;
    }
}

void pyspec_weigh(const pyspec_problem *q, int64_t row, int64_t begin, int64_t n,
                  const double *model, int fisher, double *weight)
{
    const double floor = 1e-3 / q->loss_scale;
    for (int64_t i = 0; i < n; i++) {
        weight[i] = 1.0;
        if (q->loss == PYSPEC_LOSS_POISSON && fisher)
            weight[i] = sqrt(q->loss_scale / (model[i] > floor ? model[i] : floor));
        else if (q->loss == PYSPEC_LOSS_POISSON)
            weight[i] = pyspec_deviance_fall(datum(q, row, begin + i), model[i], q->loss_scale);
        if (q->weight)
            weight[i] *= weight_at(q, row, begin + i);
        if (q->keep && !q->keep[(row - q->first_row) * q->keep_row + (begin + i) * q->keep_x])
            weight[i] = 0.0;
    }
}

/* Turns model values out[i] of one row, abscissae from `begin` on, into residuals. */
void pyspec_subtract(const pyspec_problem *q, int64_t isa, int64_t row, int64_t begin, int64_t n,
                     double *out)
{
    const char *at = (const char *)q->data + (row - q->first_row) * q->data_row + begin * q->data_x;
    if (q->loss == PYSPEC_LOSS_POISSON)
        for (int64_t i = 0; i < n; i++)
            out[i] = pyspec_deviance(datum(q, row, begin + i), out[i], q->loss_scale);
    else if (q->data_type == PYSPEC_TYPE_F64 && q->data_x == (int64_t)sizeof(double) &&
        (uintptr_t)at % sizeof(double) == 0)
        pyspec_block_table[isa].subtract(out, (const double *)at, n);
    else
        for (int64_t i = 0; i < n; i++)
            out[i] = datum(q, row, begin + i) - out[i];
    for (int64_t i = 0; q->weight && i < n; i++)
        out[i] *= weight_at(q, row, begin + i);
    for (int64_t i = 0; q->keep && i < n; i++)
        out[i] = q->keep[(row - q->first_row) * q->keep_row + (begin + i) * q->keep_x] ? out[i] : 0.0;
}
