/* operator.c: convolution of a trace with a normalised kernel on any increasing axis.
 *
 *     y'_i = (sum_j g(t_i - t_j) w_j y_j + M_L(i) y_0 + M_R(i) y_last) / (the same with y = 1)
 *
 * w are trapezoid weights; M_L and M_R are the masses of the kernel beyond the ends, where the
 * signal keeps its edge values. A constant is preserved exactly. Exponential kernels run in one
 * sweep each way, the Gaussian and the box over the band in which they are not zero. */
#include "run.h"
#include "vmath.h"

static void trapezoid_weights(const double *t, int64_t n, double *w)
{
    for (int64_t j = 0; j < n; j++)
        w[j] = ((j + 1 < n ? t[j + 1] : t[j]) - (j > 0 ? t[j - 1] : t[j])) / 2.0;
}

/* Adds sum over earlier samples (own one included) of exp(-(t_i - t_j) / tau) w_j y_j, and the
 * same of w_j. `step` is 1 from the left and -1 from the right. */
static void sweep(double tau, int64_t n, const double *t, const double *w, const double *y,
                  int64_t step, double *sum, double *norm)
{
    double s = 0.0, m = 0.0;
    int64_t i = step > 0 ? 0 : n - 1;
    for (int64_t k = 0; k < n; k++, i += step) {
        double decay = k ? exp(-fabs(t[i] - t[i - step]) / tau) : 0.0;
        s = decay * s + w[i] * y[i];
        m = decay * m + w[i];
        sum[i] += s;
        norm[i] += m;
    }
}

/* Direct sum over the samples within `reach` of each sample. */
static void band(int64_t op, double parameter, double reach, int64_t n, const double *t,
                 const double *w, const double *y, double *sum, double *norm)
{
    int64_t first = 0;
    for (int64_t i = 0; i < n; i++) {
        double s = 0.0, m = 0.0;
        while (first < i && t[i] - t[first] > reach)
            first++;
        if (op == OP_gaussCONV) {
            const double scale = -0.5 / (parameter * parameter);
            for (int64_t j = first; j < n && t[j] - t[i] <= reach; j++) {
                double d = t[i] - t[j];
                double g = v_exp(d * d * scale) * w[j];
                s += g * y[j];
                m += g;
            }
        } else {
            for (int64_t j = first; j < n && t[j] - t[i] <= reach; j++) {
                double g = fabs(t[i] - t[j]) <= parameter / 2.0 ? w[j] : 0.0;
                s += g * y[j];
                m += g;
            }
        }
        sum[i] += s;
        norm[i] += m;
    }
}

void pyspec_convolve(int64_t op, double parameter, int64_t n, const double *t, double *y,
                     double *scratch, int64_t stride)
{
    double *w = scratch, *sum = scratch + stride, *norm = scratch + 2 * stride;
    const double first = y[0], last = y[n - 1];
    trapezoid_weights(t, n, w);
    fill(sum, 0.0, n);
    fill(norm, 0.0, n);
    if (op == OP_expDecayCONV || op == OP_expSymCONV)
        sweep(parameter, n, t, w, y, 1, sum, norm);
    if (op == OP_expRiseCONV || op == OP_expSymCONV)
        sweep(parameter, n, t, w, y, -1, sum, norm);
    if (op == OP_expSymCONV) /* the own sample came from both sides */
        for (int64_t i = 0; i < n; i++) {
            sum[i] -= w[i] * y[i];
            norm[i] -= w[i];
        }
    /* Beyond 9 SD a Gaussian is below 3e-18 of its peak. */
    if (op == OP_gaussCONV)
        band(op, parameter, 9.0 * parameter, n, t, w, y, sum, norm);
    if (op == OP_boxCONV)
        band(op, parameter, parameter / 2.0, n, t, w, y, sum, norm);
    for (int64_t i = 0; i < n; i++) {
        double left = pyspec_kernel_mass(op, PYSPEC_SIDE_LEFT, t[i] - t[0], parameter);
        double right = pyspec_kernel_mass(op, PYSPEC_SIDE_RIGHT, t[i] - t[n - 1], parameter);
        y[i] = (sum[i] + left * first + right * last) / (norm[i] + left + right);
    }
}
