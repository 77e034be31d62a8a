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

/* Adds sum over earlier samples of exp(-(t_i - t_j) / tau) w_j y_j, and the same of w_j; `step`
 * is 1 from the left and -1 from the right. */
static void sweep(double tau, int64_t n, const double *t, const double *w, const double *y,
                  int64_t step, double *sum, double *norm)
{
    double s = 0.0, m = 0.0;
    int64_t i = step > 0 ? 1 : n - 2;
    for (int64_t k = 1; k < n; k++, i += step) {
        double decay = exp(-fabs(t[i] - t[i - step]) / tau);
        s = decay * (s + w[i - step] * y[i - step]);
        m = decay * (m + w[i - step]);
        sum[i] += s;
        norm[i] += m;
    }
}

/* The samples begin ... end - 1 within reach of sample i, from those of the sample before. */
static void widen(const convolution *c, int64_t i, double reach, int64_t *begin, int64_t *end)
{
    while (*begin < i && c->t[i] - c->t[*begin] > reach)
        ++*begin;
    *end = *end > i ? *end : i;
    while (*end < c->n && c->t[*end] - c->t[i] <= reach)
        ++*end;
}

static int has_nan(const double *y, int64_t n)
{
    int found = 0;
    for (int64_t i = 0; i < n; i++)
        found |= y[i] != y[i];
    return found;
}

/* Sum over the band of g y. */
static double over(const convolution *c, const double *g, const double *y, int64_t begin,
                   int64_t end)
{
    double sum;
    c->ops->dot(&sum, g + begin, y + begin, end - begin);
    return sum;
}

/* A Gaussian over the band in which it is not zero: beyond 9 SD it is below 3e-18 of its peak. */
static void gauss_band(const convolution *c, const double *w, const double *y, double *sum,
                       double *norm)
{
    /* The inverse of a denormal width overflows, and 0 times infinity is NaN. */
    const double scale = v_clamp(1.0 / c->parameter, 1e300);
    double *g = c->scratch + 3 * c->stride, *ones = g + c->stride;
    fill(ones, 1.0, c->n);
    for (int64_t i = 0, begin = 0, end = 0; i < c->n; i++) {
        widen(c, i, 9.0 * c->parameter, &begin, &end);
        c->ops->gauss(g + begin, NULL, c->t + begin, w + begin, c->t[i], scale, end - begin);
        sum[i] = over(c, g, y, begin, end);
        norm[i] = over(c, g, ones, begin, end);
    }
}

static void box_band(const convolution *c, const double *w, const double *y, double *sum,
                     double *norm)
{
    const double reach = c->parameter / 2.0;
    for (int64_t i = 0, begin = 0, end = 0; i < c->n; i++) {
        double s = 0.0, m = 0.0;
        widen(c, i, reach, &begin, &end);
        for (int64_t j = begin; j < end; j++) {
            double g = fabs(c->t[i] - c->t[j]) <= reach ? w[j] : 0.0;
            s += g * y[j];
            m += g;
        }
        sum[i] = s;
        norm[i] = m;
    }
}

void pyspec_convolve(const convolution *c, double *y)
{
    const int64_t op = c->op, n = c->n;
    const double *t = c->t, first = y[0], last = y[n - 1];
    double *w = c->scratch, *sum = w + c->stride, *norm = sum + c->stride;
    /* Every row of the sum reads every sample, if only times 0. */
    if (has_nan(y, n)) {
        fill(y, NAN, n);
        return;
    }
    trapezoid_weights(t, n, w);
    for (int64_t i = 0; i < n; i++) { /* the sweeps leave out the own sample, where g is 1 */
        sum[i] = w[i] * y[i];
        norm[i] = w[i];
    }
    if (op == OP_expDecayCONV || op == OP_expSymCONV)
        sweep(c->parameter, n, t, w, y, 1, sum, norm);
    if (op == OP_expRiseCONV || op == OP_expSymCONV)
        sweep(c->parameter, n, t, w, y, -1, sum, norm);
    if (op == OP_gaussCONV)
        gauss_band(c, w, y, sum, norm);
    if (op == OP_boxCONV)
        box_band(c, w, y, sum, norm);
    for (int64_t i = 0; i < n; i++) {
        double left = pyspec_kernel_mass(op, PYSPEC_SIDE_LEFT, t[i] - t[0], c->parameter);
        double right = pyspec_kernel_mass(op, PYSPEC_SIDE_RIGHT, t[i] - t[n - 1], c->parameter);
        y[i] = (sum[i] + left * first + right * last) / (norm[i] + left + right);
    }
}

/* Sums over earlier (or later) samples of |d| / tau^2 exp(-|d| / tau) w, times y and alone. */
static void sweep_slope(double tau, int64_t n, const double *t, const double *w, const double *y,
                        int64_t step, double *sum, double *norm)
{
    double s = 0.0, m = 0.0, ds = 0.0, dm = 0.0;
    int64_t i = step > 0 ? 0 : n - 1;
    for (int64_t k = 0; k < n; k++, i += step) {
        double gap = k ? fabs(t[i] - t[i - step]) : 0.0, decay = k ? exp(-gap / tau) : 0.0;
        ds = decay * (ds + v_clamp(gap / tau, 1e300) * s);
        dm = decay * (dm + v_clamp(gap / tau, 1e300) * m);
        s = decay * s + w[i] * y[i];
        m = decay * m + w[i];
        sum[i] += ds / tau;
        norm[i] += dm / tau;
    }
}

/* The derivative of a kernel's exterior mass by its width. */
static double mass_slope(int64_t op, int side, double distance, double width)
{
    double u = v_clamp(fabs(distance) / width, 1e300); /* 0 times infinity is NaN */
    double mass = pyspec_kernel_mass(op, side, distance, width);
    if (op == OP_gaussCONV)
        return mass / width + u * v_exp(-0.5 * (u * u));
    return mass / width * (1.0 + u);
}

/* The derivative of y' = kernel * y by the kernel's width, for the y before; not of a Gaussian. */
static void width_slope(const convolution *c, const double *y, double *out)
{
    const int64_t op = c->op, n = c->n;
    const double *t = c->t, parameter = c->parameter;
    double *w = c->scratch + 3 * c->stride, *sum = w + c->stride, *norm = sum + c->stride;
    const size_t bytes = (size_t)n * sizeof *out;
    if (op == OP_boxCONV) {
        /* A box grows sample by sample: no derivative but the one over a step or so. */
        double step = n > 1 ? (t[n - 1] - t[0]) / (double)(n - 1) : 1.0;
        double h = step > 1e-3 * parameter ? step : 1e-3 * parameter;
        convolution wide = *c, narrow = *c;
        wide.parameter = parameter + h;
        narrow.parameter = parameter - h > 0.5 * parameter ? parameter - h : 0.5 * parameter;
        memcpy(out, y, bytes);
        pyspec_convolve(&wide, out);
        memcpy(sum, y, bytes);
        pyspec_convolve(&narrow, sum);
        for (int64_t i = 0; i < n; i++)
            out[i] = (out[i] - sum[i]) / (wide.parameter - narrow.parameter);
        return;
    }
    memcpy(out, y, bytes);
    pyspec_convolve(c, out);
    const double *total = c->scratch + 2 * c->stride; /* its normalisation, without the masses */
    trapezoid_weights(t, n, w);
    fill(sum, 0.0, n);
    fill(norm, 0.0, n);
    if (op == OP_expDecayCONV || op == OP_expSymCONV)
        sweep_slope(parameter, n, t, w, y, 1, sum, norm);
    if (op == OP_expRiseCONV || op == OP_expSymCONV)
        sweep_slope(parameter, n, t, w, y, -1, sum, norm);
    for (int64_t i = 0; i < n; i++) {
        double a = t[i] - t[0], b = t[i] - t[n - 1];
        double left = mass_slope(op, PYSPEC_SIDE_LEFT, a, parameter);
        double right = mass_slope(op, PYSPEC_SIDE_RIGHT, b, parameter);
        double all = total[i] + pyspec_kernel_mass(op, PYSPEC_SIDE_LEFT, a, parameter) +
                     pyspec_kernel_mass(op, PYSPEC_SIDE_RIGHT, b, parameter);
        out[i] = (sum[i] + left * y[0] + right * y[n - 1] - out[i] * (norm[i] + left + right)) / all;
    }
}

/* A Gaussian on the signal y and on its slopes, and the slope by its width: each value of the
 * Gaussian is computed once for all of them. The result for y is left in row 3 of the scratch. */
static void gauss_all(const convolution *c, const double *y, double *by_width,
                      double *const *slopes, int64_t count, double *kept)
{
    const int64_t n = c->n, stride = c->stride;
    const double *t = c->t, width = c->parameter, scale = v_clamp(1.0 / width, 1e300);
    double *w = c->scratch, *g = w + stride, *h = g + stride, *value = h + stride;
    double *ones = value + stride;
    trapezoid_weights(t, n, w);
    fill(ones, 1.0, n);
    for (int64_t i = 0, begin = 0, end = 0; i < n; i++) {
        const double a = t[i] - t[0], b = t[i] - t[n - 1];
        const double left = pyspec_kernel_mass(OP_gaussCONV, PYSPEC_SIDE_LEFT, a, width);
        const double right = pyspec_kernel_mass(OP_gaussCONV, PYSPEC_SIDE_RIGHT, b, width);
        const double dleft = mass_slope(OP_gaussCONV, PYSPEC_SIDE_LEFT, a, width);
        const double dright = mass_slope(OP_gaussCONV, PYSPEC_SIDE_RIGHT, b, width);
        widen(c, i, 9.0 * width, &begin, &end);
        c->ops->gauss(g + begin, h + begin, t + begin, w + begin, t[i], scale, end - begin);
        const double norm = over(c, g, ones, begin, end) + left + right;
        const double slope_norm = over(c, h, ones, begin, end) + dleft + dright;
        value[i] = (over(c, g, y, begin, end) + left * y[0] + right * y[n - 1]) / norm;
        by_width[i] = (over(c, h, y, begin, end) + dleft * y[0] + dright * y[n - 1] -
                       value[i] * slope_norm) / norm;
        for (int64_t k = 0; k < count; k++)
            kept[k * stride + i] = (over(c, g, slopes[k], begin, end) + left * slopes[k][0] +
                                    right * slopes[k][n - 1]) / norm;
    }
}

void pyspec_convolve_all(const convolution *c, double *y, double *by_width, double *const *slopes,
                         int64_t count, double *kept)
{
    const int64_t n = c->n;
    const size_t size = (size_t)n * sizeof(double);
    if (c->op != OP_gaussCONV) {
        width_slope(c, y, by_width);
        for (int64_t k = 0; k < count; k++)
            pyspec_convolve(c, slopes[k]);
        pyspec_convolve(c, y);
        return;
    }
    gauss_all(c, y, by_width, slopes, count, kept);
    const int lost = has_nan(y, n);
    memcpy(y, c->scratch + 3 * c->stride, size);
    if (lost) {
        fill(y, NAN, n);
        fill(by_width, NAN, n);
    }
    for (int64_t k = 0; k < count; k++)
        if (has_nan(slopes[k], n))
            fill(slopes[k], NAN, n);
        else
            memcpy(slopes[k], kept + k * c->stride, size);
}
