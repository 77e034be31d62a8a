/* scheme_measured.c: the population of a state of a kinetic scheme as a measured instrument sees it, value
 * and partial derivatives together.
 *
 * Populations are sums of divided differences exp_s[x_0 .. x_j] over eigenvalues x (see scheme.h), so that
 * what a response r makes of them is the same sum of the differences R_u[x_0 .. x_j] of
 * R_u(x) = int r(s) exp(x (u - s)) ds. These follow from sample to sample: over a piece of length d on
 * which r is a + slope v
 *
 *     R_{u+d}[x_0 .. x_j] = sum over i of R_u[x_0 .. x_i] exp_d[x_i .. x_j]
 *                           + a exp_d[0, x_0 .. x_j] + slope exp_d[0, 0, x_0 .. x_j]
 *
 * as integrals of divided differences are those with one more node at 0. The derivative by u is the same
 * of the derivative of r, with the jumps of r at both ends. */
#include "measured.h"
#include "scheme.h"

/* Nodes 0, 0, x_0 >= x_1 ..., and the differences over x at all samples. Over eigenvalues, of which there
 * are at most MAX_STATES, the derivatives of these by u stand behind them, at the last sample without the
 * fall to 0 there. Times are in units of the fastest rate. */
typedef struct response_differences {
    int n; /* of x */
    double nodes[MAX_EXP_NODES];
    double at[MAX_SAMPLES][MAX_TWICE];
} response_differences;

/* Where eight times after the onset lie: the last sample before each, how long ago that was, and the
 * response from there on. Of one before the first sample `sample` is -1. */
typedef struct places {
    int64_t sample[L];
    double d[L], a[L], slope[L], fall[L];
} places;

/* ---- differences ------------------------------------------------------------------------------- */

/* The differences of a lane of `triangle` behind a piece that begins with those in `from`. */
static void follow(const response_differences *r, double (*triangle)[MAX_EXP_NODES][L], int lane, double a,
                   double slope, const double *from, double *to, int64_t step)
{
    for (int j = 0; j < r->n; j++) {
        double(*row)[L] = triangle[j + 2];
        double sum = a * row[1][lane] + slope * row[0][lane];
        for (int i = 0; i <= j; i++)
            sum += from[i] * row[i + 2][lane];
        to[j * step] = sum;
    }
}

static void prepare(response_differences *r, const int64_t *program, const double *x, int n,
                    double fastest, int with_rise)
{
    const int64_t n_pieces = measured_head(program)->n_samples - 1;
    double triangle[MAX_EXP_NODES][MAX_EXP_NODES][L], d[L], per_time[L + 1];
    r->n = n;
    r->nodes[0] = r->nodes[1] = 0.0;
    memcpy(r->nodes + 2, x, (size_t)n * sizeof *x);
    memset(r->at[0], 0, sizeof r->at[0]);
    if (with_rise)
        r->at[0][MAX_STATES] = measured_value(program, 0);
    for (int64_t begin = 0; begin < n_pieces; begin += L) {
        const int count = (int)(n_pieces - begin < L ? n_pieces - begin : L);
        for (int l = 0; l <= count; l++)
            per_time[l] = measured_value(program, begin + l) / fastest;
        FOR_LANES d[l] = l < count ? fastest * (measured_time(program, begin + l + 1) -
                                                measured_time(program, begin + l))
                                   : 0.0;
        pyspec_exp_triangle(r->nodes, n + 2, d, triangle);
        for (int l = 0; l < count; l++) {
            const double slope = (per_time[l + 1] - per_time[l]) / d[l];
            double *from = r->at[begin + l], *to = r->at[begin + l + 1];
            follow(r, triangle, l, per_time[l], slope, from, to, 1);
            if (with_rise)
                follow(r, triangle, l, slope * fastest, 0.0, from + MAX_STATES, to + MAX_STATES, 1);
        }
    }
}

static void find_places(const int64_t *program, double fastest, const double *u, places *p)
{
    const int64_t last = measured_head(program)->n_samples - 1;
    FOR_LANES
    {
        p->sample[l] = u[l] < measured_time(program, 0) ? -1 : measured_sample(program, u[l]);
        p->d[l] = p->a[l] = p->slope[l] = p->fall[l] = 0.0;
        if (p->sample[l] < 0)
            continue;
        const int64_t k = p->sample[l];
        const double begin = measured_time(program, k), d = u[l] - begin;
        p->d[l] = d * fastest;
        const double a = measured_value(program, k);
        if (k == last) {
            p->fall[l] = a;
            continue;
        }
        const double length = measured_time(program, k + 1) - begin;
        p->a[l] = a / fastest;
        p->slope[l] = (measured_value(program, k + 1) - a) / length / (fastest * fastest);
    }
}

/* The differences at eight times, and unless NULL their derivatives by time; before the first sample those
 * at it, which are not used. */
static void read_differences(const response_differences *r, const places *p, double fastest,
                             double (*out)[L], double (*rise)[L])
{
    double triangle[MAX_EXP_NODES][MAX_EXP_NODES][L], from[MAX_STATES];
    pyspec_exp_triangle(r->nodes, r->n + 2, p->d, triangle);
    for (int l = 0; l < L; l++) {
        const double *at = r->at[p->sample[l] < 0 ? 0 : p->sample[l]];
        follow(r, triangle, l, p->a[l], p->slope[l], at, out[0] + l, L);
        if (!rise)
            continue;
        memcpy(from, at + MAX_STATES, sizeof from);
        from[0] -= p->fall[l];
        follow(r, triangle, l, p->slope[l] * fastest, 0.0, from, rise[0] + l, L);
    }
}

static void mix(const double *coefficients, int n, double (*differences)[L], double *out)
{
    FOR_LANES out[l] = 0.0;
    for (int j = n - 1; j >= 0; j--)
        FOR_LANES out[l] += coefficients[j] * differences[j][l];
}

/* ---- rows -------------------------------------------------------------------------------------- */

/* Results of eight times, times the height, for one parameter, or -1 for the value. */
static void put(const measured_rows *r, int64_t row, int64_t begin, const places *p, int64_t k,
                double height, const double *own, int adds)
{
    double *to = k < 0 ? r->value : r->partials[k];
    for (int64_t i = begin; to && i < r->n && i < begin + L; i++) {
        const int is_early = p->sample[i - begin] < 0;
        double *target = to + row * r->to_row + i * r->to_step;
        *target = (adds ? *target : 0.0) + (is_early ? 0.0 : height * own[i - begin]);
    }
}

/* The value, and the derivatives but for what rates change behind the onset. */
static void put_value(const prepared_scheme *p, const measured_rows *r, int64_t row, int64_t begin,
                      const places *at, double (*differences)[L], double (*rise)[L])
{
    const double height = r->params[row];
    const int onset = p->n_params - 1;
    double own[L];
    mix(p->value, p->n, differences, own);
    put(r, row, begin, at, -1, height, own, 0);
    if (!p->slopes)
        return;
    put(r, row, begin, at, 0, 1.0, own, 0);
    mix(p->value, p->n, rise, own);
    put(r, row, begin, at, onset, -height, own, 0);
    for (int k = 1; k < onset; k++) {
        mix(p->by[k], p->n, differences, own);
        put(r, row, begin, at, k, height, own, 0);
    }
}

/* What rates of steps out of one state change. */
static void put_terms(const prepared_scheme *p, int source, const measured_rows *r, int64_t row,
                      int64_t begin, const places *at, double (*differences)[L])
{
    double own[L];
    for (int k = 0; k < p->n_terms; k++) {
        if (p->terms[k].source != source)
            continue;
        mix(p->terms[k].by, p->n_nodes[source], differences, own);
        put(r, row, begin, at, p->terms[k].param, r->params[row], own, 1);
    }
}

/* Rows from `first` on that share their rates and populations. The differences over the eigenvalues, and
 * then, for each source, those of its terms. */
static void run_alike(prepared_scheme *p, const measured_rows *r, int64_t first, int64_t end)
{
    response_differences found;
    double differences[MAX_TWICE][L], rise[MAX_STATES][L], u[L];
    places at;
    for (int source = -1; source < (p->slopes ? p->n_sources : 0); source++) {
        const double *x = source < 0 ? p->x : p->nodes[source];
        prepare(&found, r->program, x, source < 0 ? p->n : p->n_nodes[source], p->fastest,
                source < 0 && p->slopes);
        for (int64_t row = first; row < end; row++)
            for (int64_t begin = 0; begin < r->n; begin += L) {
                FOR_LANES
                {
                    const int64_t i = begin + l < r->n ? begin + l : r->n - 1;
                    const double onset = r->params[(p->n_params - 1) * r->stride + row];
                    u[l] = r->x[row * r->x_row + i * r->x_step] - onset;
                }
                find_places(r->program, p->fastest, u, &at);
                read_differences(&found, &at, p->fastest, differences,
                                 source < 0 && p->slopes ? rise : NULL);
                if (source < 0)
                    put_value(p, r, row, begin, &at, differences, rise);
                else
                    put_terms(p, source, r, row, begin, &at, differences);
            }
    }
}

static int is_alike(const measured_rows *r, int64_t a, int64_t b)
{
    const int64_t onset = measured_head(r->program)->n_params - 1;
    for (int64_t k = 1; k < onset; k++)
        if (!(r->params[k * r->stride + a] == r->params[k * r->stride + b]))
            return 0;
    return 1;
}

void pyspec_measure_state(const measured_rows *r)
{
    prepared_scheme p;
    for (int64_t first = 0, end; first < r->n_rows; first = end) {
        end = first + 1;
        while (end < r->n_rows && is_alike(r, first, end))
            end++;
        pyspec_interpolate_scheme(&p, measured_scheme(r->program), r->params + first, r->stride,
                              r->partials != NULL);
        run_alike(&p, r, first, end);
    }
}
