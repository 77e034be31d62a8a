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
            /* The inverse of a denormal width overflows, and 0 times infinity is NaN. */
            const double scale = v_clamp(1.0 / parameter, 1e300);
            for (int64_t j = first; j < n && t[j] - t[i] <= reach; j++) {
                double u = (t[i] - t[j]) * scale;
                double g = v_exp(-0.5 * (u * u)) * w[j];
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
    /* Every row of the sum reads every sample, if only times 0. */
    for (int64_t i = 0; i < n; i++)
        if (y[i] != y[i]) {
            fill(y, NAN, n);
            return;
        }
    trapezoid_weights(t, n, w);
    const int direct = op == OP_gaussCONV || op == OP_boxCONV;
    for (int64_t i = 0; i < n; i++) { /* the sweeps leave out the own sample, where g is 1 */
        sum[i] = direct ? 0.0 : w[i] * y[i];
        norm[i] = direct ? 0.0 : w[i];
    }
    if (op == OP_expDecayCONV || op == OP_expSymCONV)
        sweep(parameter, n, t, w, y, 1, sum, norm);
    if (op == OP_expRiseCONV || op == OP_expSymCONV)
        sweep(parameter, n, t, w, y, -1, sum, norm);
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

static void gauss_slope(double width, int64_t n, const double *t, const double *w, const double *y,
                        double *sum, double *norm)
{
    const double scale = v_clamp(1.0 / width, 1e300);
    int64_t first = 0;
    for (int64_t i = 0; i < n; i++) {
        while (first < i && t[i] - t[first] > 9.0 * width)
            first++;
        for (int64_t j = first; j < n && t[j] - t[i] <= 9.0 * width; j++) {
            double u = v_clamp((t[i] - t[j]) * scale, 1e150);
            double g = v_exp(-0.5 * (u * u)) * (u * u) * (w[j] * scale);
            sum[i] += g * y[j];
            norm[i] += g;
        }
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

void pyspec_convolve_slope(int64_t op, double parameter, int64_t n, const double *t,
                           const double *y, double *out, double *scratch, int64_t stride)
{
    double *w = scratch + 3 * stride, *sum = scratch + 4 * stride, *norm = scratch + 5 * stride;
    const size_t bytes = (size_t)n * sizeof *out;
    if (op == OP_boxCONV) {
        /* A box grows sample by sample: no derivative but the one over a step or so. */
        double step = n > 1 ? (t[n - 1] - t[0]) / (double)(n - 1) : 1.0;
        double h = step > 1e-3 * parameter ? step : 1e-3 * parameter;
        double low = parameter - h > 0.5 * parameter ? parameter - h : 0.5 * parameter;
        memcpy(out, y, bytes);
        pyspec_convolve(op, parameter + h, n, t, out, scratch, stride);
        memcpy(sum, y, bytes);
        pyspec_convolve(op, low, n, t, sum, scratch, stride);
        for (int64_t i = 0; i < n; i++)
            out[i] = (out[i] - sum[i]) / (parameter + h - low);
        return;
    }
    memcpy(out, y, bytes);
    pyspec_convolve(op, parameter, n, t, out, scratch, stride);
    const double *total = scratch + 2 * stride; /* its normalisation, without the masses */
    trapezoid_weights(t, n, w);
    fill(sum, 0.0, n);
    fill(norm, 0.0, n);
    if (op == OP_gaussCONV)
        gauss_slope(parameter, n, t, w, y, sum, norm);
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

/* sum of g y, in four parts that do not wait for one another */
static double dot(const double *g, const double *y, int64_t begin, int64_t end)
{
    double part[4] = {0.0, 0.0, 0.0, 0.0};
    int64_t j = begin;
    for (; j + 4 <= end; j += 4)
        for (int k = 0; k < 4; k++)
            part[k] += g[j + k] * y[j + k];
    for (; j < end; j++)
        part[0] += g[j] * y[j];
    return (part[0] + part[1]) + (part[2] + part[3]);
}

static int has_nan(const double *y, int64_t n)
{
    int found = 0;
    for (int64_t i = 0; i < n; i++)
        found |= y[i] != y[i];
    return found;
}

/* A Gaussian on the signal y and on its slopes, and the slope by its width: each value of the
 * Gaussian is computed once for all of them. */
static void gauss_all(double width, int64_t n, const double *t, const double *y, double *by_width,
                      double *const *slopes, int64_t count, double *kept, double *scratch,
                      int64_t stride)
{
    double *w = scratch, *g = scratch + stride, *h = scratch + 2 * stride;
    double *value = scratch + 3 * stride, *ones = scratch + 4 * stride;
    const double scale = v_clamp(1.0 / width, 1e300);
    int64_t begin = 0, end = 0;
    trapezoid_weights(t, n, w);
    fill(ones, 1.0, n);
    for (int64_t i = 0; i < n; i++) {
        const double a = t[i] - t[0], b = t[i] - t[n - 1];
        const double left = pyspec_kernel_mass(OP_gaussCONV, PYSPEC_SIDE_LEFT, a, width);
        const double right = pyspec_kernel_mass(OP_gaussCONV, PYSPEC_SIDE_RIGHT, b, width);
        const double dleft = mass_slope(OP_gaussCONV, PYSPEC_SIDE_LEFT, a, width);
        const double dright = mass_slope(OP_gaussCONV, PYSPEC_SIDE_RIGHT, b, width);
        while (begin < i && t[i] - t[begin] > 9.0 * width)
            begin++;
        end = end > i ? end : i;
        while (end < n && t[end] - t[i] <= 9.0 * width)
            end++;
        for (int64_t j = begin; j < end; j++) {
            double u = v_clamp((t[i] - t[j]) * scale, 1e150);
            g[j] = v_exp(-0.5 * (u * u)) * w[j];
            h[j] = g[j] * (u * u) * scale;
        }
        const double norm = dot(g, ones, begin, end) + left + right;
        const double slope_norm = dot(h, ones, begin, end) + dleft + dright;
        value[i] = (dot(g, y, begin, end) + left * y[0] + right * y[n - 1]) / norm;
        by_width[i] = (dot(h, y, begin, end) + dleft * y[0] + dright * y[n - 1] -
                       value[i] * slope_norm) / norm;
        for (int64_t c = 0; c < count; c++)
            kept[c * stride + i] = (dot(g, slopes[c], begin, end) + left * slopes[c][0] +
                                    right * slopes[c][n - 1]) / norm;
    }
}

void pyspec_convolve_all(int64_t op, double parameter, int64_t n, const double *t, double *y,
                         double *by_width, double *const *slopes, int64_t count, double *kept,
                         double *scratch, int64_t stride)
{
    const size_t size = (size_t)n * sizeof(double);
    if (op != OP_gaussCONV) {
        pyspec_convolve_slope(op, parameter, n, t, y, by_width, scratch, stride);
        for (int64_t c = 0; c < count; c++)
            pyspec_convolve(op, parameter, n, t, slopes[c], scratch, stride);
        pyspec_convolve(op, parameter, n, t, y, scratch, stride);
        return;
    }
    gauss_all(parameter, n, t, y, by_width, slopes, count, kept, scratch, stride);
    const int lost = has_nan(y, n);
    memcpy(y, scratch + 3 * stride, size);
    if (lost) {
        fill(y, NAN, n);
        fill(by_width, NAN, n);
    }
    for (int64_t c = 0; c < count; c++)
        if (has_nan(slopes[c], n))
            fill(slopes[c], NAN, n);
        else
            memcpy(slopes[c], kept + c * stride, size);
}
