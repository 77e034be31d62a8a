/* conv_lines.c: convolution with a kernel that has an edge. It is exact for a signal of straight lines from sample to
 * sample that keeps its end values outside.
 *
 * Integrated by parts, y'_i - y_i is a sum over the steps between samples. Each term is the change of the signal over
 * the step times q, the mean over the step of the mass of the kernel beyond, as a share of its whole mass. Steps
 * before the sample count with a minus. A side on which g(a + b) = g(a) g(b) runs in one sweep. */
#include "kernels/convolution.h"
#include "isa/vector.h"
#include "math/vmath.h"

int pyspec_reads_lines(const convolution *c)
{
    return c->op && (conv_side_of(c, PYSPEC_SIDE_LEFT)->mean_mass ||
                     conv_side_of(c, PYSPEC_SIDE_RIGHT)->mean_mass);
}

/* Of a side the mass beyond `away`, the whole being 1. */
static double share_beyond(const convolution *c, const conv_side *s, double whole, double away)
{
    return s->mass(away, c->params[0]) / whole;
}

/* Its mean from `away` to away + step, and the slope of that by the width, on which g depends as d / width. */
static double mean_share(const convolution *c, const conv_side *s, double whole, double away, double step,
                         double *slope)
{
    const double width = c->params[0], mean = s->mean_mass(away, step, width) / whole;
    const double near = away * share_beyond(c, s, whole, away);
    const double far = (away + step) * share_beyond(c, s, whole, away + step);
    *slope = (mean - v_clamp(far - near, 1e300) / step) / width;
    return mean;
}

/* Adds what a side adds to the results, from neighbour to neighbour. The signals are changes. */
static void sweep_lines(const convolution *c, int side, double whole, double *const *changes, int64_t count,
                        double *by)
{
    const conv_side *s = conv_side_of(c, side);
    const double *decay = conv_row(c, CONV_DECAY), *by_width = conv_row(c, CONV_DECAY_SLOPE);
    double *mean = conv_row(c, CONV_LEFT), *slope = conv_row(c, CONV_RIGHT), step = 0.0;
    const int64_t n = c->n, next = side == PYSPEC_SIDE_LEFT ? 1 : -1;
    const int64_t first = side == PYSPEC_SIDE_LEFT ? 1 : n - 2, shift = side == PYSPEC_SIDE_LEFT ? 1 : 0;
    pyspec_conv_decays(c, side, by != NULL);
    for (int64_t k = 1, i = first; k < n; k++, i += next) {
        const double own = fabs(c->t[i] - c->t[i - next]);
        const int again = own == step;
        mean[i] = again ? mean[i - next] : mean_share(c, s, whole, 0.0, own, &slope[i]);
        slope[i] = again ? slope[i - next] : slope[i];
        step = own;
    }
    for (int64_t m = 0; m < count; m++) {
        double *out = conv_result(c, m), sum = 0.0, sum_by = 0.0;
        for (int64_t k = 1, i = first; k < n; k++, i += next) {
            const double change = (double)-next * changes[m][i - shift];
            if (by && m == 0)
                by[i] += sum_by = decay[i] * sum_by + by_width[i] * sum + slope[i] * change;
            out[i] += sum = decay[i] * sum + mean[i] * change;
        }
    }
}

/* Adds the steps within reach of sample i on both sides. */
static void add_steps(const convolution *c, int64_t i, double whole, int64_t begin, int64_t end,
                      double *const *changes, int64_t count, double *by)
{
    const block_ops *ops = &pyspec_block_table[c->isa];
    double mean[BLOCK * L], slope[BLOCK * L];
    for (int64_t from = begin; from < end; from += BLOCK * L) {
        const int64_t n = end - from < BLOCK * L ? end - from : BLOCK * L;
        for (int64_t k = 0; k < n; k++) {
            const int64_t j = from + k;
            const int is_before = j < i;
            const double away = is_before ? c->t[i] - c->t[j + 1] : c->t[j] - c->t[i];
            const conv_side *s = conv_side_of(c, is_before ? PYSPEC_SIDE_LEFT : PYSPEC_SIDE_RIGHT);
            const double sign = is_before ? -1.0 : 1.0;
            mean[k] = sign * mean_share(c, s, whole, away, c->t[j + 1] - c->t[j], &slope[k]);
            slope[k] *= sign;
        }
        for (int64_t m = 0; m < count; m++) {
            const double *change = changes[m] + from;
            double *to = conv_result(c, m) + i;
            ops->dots(&to, mean, &change, 1, n);
        }
        if (by) {
            const double *change = changes[0] + from;
            double *to = by + i;
            ops->dots(&to, slope, &change, 1, n);
        }
    }
}

/* The steps `begin` to end - 1 of which a part lies within reach of each sample. */
static void run_steps(const convolution *c, double whole, double *const *changes, int64_t count, double *by)
{
    const double before = conv_side_of(c, PYSPEC_SIDE_LEFT)->reach * c->params[0];
    const double after = conv_side_of(c, PYSPEC_SIDE_RIGHT)->reach * c->params[0];
    for (int64_t i = 0, begin = 0, end = 0; i < c->n; i++) {
        while (begin < i && c->t[i] - c->t[begin + 1] >= before)
            begin++;
        end = end > i ? end : i;
        while (end < c->n - 1 && c->t[end] - c->t[i] < after)
            end++;
        add_steps(c, i, whole, begin, end, changes, count, by);
    }
}

void pyspec_conv_lines(const convolution *c, double *const *signals, int64_t count, double *by)
{
    double whole = 0.0;
    int sweeps = 0;
    for (int side = 0; side < 2; side++) {
        const conv_side *s = conv_side_of(c, side);
        whole += s->mass ? s->mass(0.0, c->params[0]) : 0.0;
        sweeps |= s->multiplies;
    }
    for (int64_t m = 0; m < count; m++) {
        double *y = signals[m];
        const int bad = has_nan(y, c->n);
        memcpy(conv_result(c, m), y, (size_t)c->n * sizeof *y);
        for (int64_t i = 0; i + 1 < c->n; i++)
            y[i] = y[i + 1] - y[i];
        y[c->n - 1] = bad ? NAN : 0.0; /* no step: it says whether the signal has a value */
    }
    if (by)
        fill(by, 0.0, c->n);
    for (int side = 0; sweeps && side < 2; side++)
        if (conv_side_of(c, side)->mass)
            sweep_lines(c, side, whole, signals, count, by);
    if (!sweeps)
        run_steps(c, whole, signals, count, by);
}
