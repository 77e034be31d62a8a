/* measured.c: laws of time as a measured instrument sees them, value and partial derivatives together. The
 * definition stands in pyspec/functions/measured.py.
 *
 * Every law is made of exp(-k s). A step and a line have k = 0, a decay 1 / tau, and a sine -i omega. A
 * damped sine has the sum of the last two. The convolution C of such a law with a response r follows from
 * sample to sample. Over a piece of length d, r is a straight line from a to b:
 *
 *     C(u + d) = exp(-k d) C(u) + d (b (m0 - m1) + a m1),   m_n = int_0^1 x^n exp(-k d x) dx.
 *
 * Nothing cancels, however fast or slow the law is. */
#include "kinetics/measured.h"
#include "tables/status.h"
#include "math/vmath.h"

#include <math.h>

typedef struct complex_value {
    double re, im;
} complex_value;

/* What a response has made of a law of unit height up to some time u after the onset:
 * `seen` int r(s) exp(-k (u - s)) ds, `later` int r(s) (u - s) exp(-k (u - s)) ds, `rise` the derivative
 * of `seen` by u, and `area` int r(s) ds. */
typedef struct reading {
    complex_value seen, later, rise;
    double area;
} reading;

/* A response with the readings at all samples; those at the last are without the fall to 0 there. */
typedef struct prepared_response {
    const int64_t *program;
    complex_value rate;
    reading at[MAX_SAMPLES];
} prepared_response;

/* ---- complex numbers --------------------------------------------------------------------------- */

static complex_value times(complex_value a, complex_value b)
{
    return (complex_value){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* a + b f */
static complex_value plus(complex_value a, complex_value b, double f)
{
    return (complex_value){a.re + f * b.re, a.im + f * b.im};
}

/* a / z, without a square that overflows (R. L. Smith, Commun. ACM 5, 435 (1962)). */
static complex_value over(complex_value a, complex_value z)
{
    if (fabs(z.im) <= z.re) {
        const double share = z.im / z.re, size = z.re + share * z.im;
        return (complex_value){(a.re + share * a.im) / size, (a.im - share * a.re) / size};
    }
    const double share = z.re / z.im, size = z.im + share * z.re;
    return (complex_value){(share * a.re + a.im) / size, (share * a.im - a.re) / size};
}

/* exp(-z); the C library's sine and cosine beyond what v_sincos reduces. */
static complex_value fade_of(complex_value z)
{
    const double size = v_exp(-z.re);
    double sine = 0.0, cosine = 1.0;
    if (z.im == 0.0)
        return (complex_value){size, 0.0};
    if (fabs(z.im) <= VMATH_SINCOS_LIMIT)
        v_sincos(z.im, &sine, &cosine);
    else
        sine = sin(z.im), cosine = cos(z.im);
    return (complex_value){size * cosine, -(size * sine)};
}

/* The moments m_n = int_0^1 x^n exp(-z x) dx, n < 3. Each follows from the next, m_{n-1} = (z m_n +
 * exp(-z)) / n: downwards from a series where z is small, upwards where it is not. */
static void find_moments(complex_value z, complex_value fade, complex_value *m)
{
    enum { TERMS = 19 }; /* the next is below 1 / (19! 22) = 4e-19 */
    if (fabs(z.re) + fabs(z.im) <= 1.0) {
        complex_value sum = {0.0, 0.0};
        for (int n = TERMS - 1; n >= 0; n--) { /* sum of (-z)^n / (n! (n + 3)), by Horner's rule */
            const complex_value next = times(sum, z);
            sum = (complex_value){1.0 / (n + 3) - next.re / (n + 1), -next.im / (n + 1)};
        }
        m[2] = sum;
        m[1] = plus((complex_value){0.5 * fade.re, 0.5 * fade.im}, times(z, m[2]), 0.5);
        m[0] = plus(fade, times(z, m[1]), 1.0);
        return;
    }
    m[0] = over(plus((complex_value){1.0, 0.0}, fade, -1.0), z);
    m[1] = over(plus(m[0], fade, -1.0), z);
    m[2] = over((complex_value){2.0 * m[1].re - fade.re, 2.0 * m[1].im - fade.im}, z);
}

/* ---- from sample to sample --------------------------------------------------------------------- */

/* Readings after a piece of length d, over which the response goes from `a` to `b`. */
static reading go_on(const reading *from, complex_value rate, double d, double a, double b)
{
    const complex_value z = {rate.re * d, rate.im * d}, fade = fade_of(z);
    reading to = {.seen = times(fade, from->seen),
                  .later = times(fade, plus(from->later, from->seen, d)),
                  .rise = times(fade, from->rise),
                  .area = from->area + 0.5 * d * (a + b)};
    if (a == 0.0 && b == 0.0)
        return to;
    complex_value m[3];
    find_moments(z, fade, m);
    to.seen = plus(plus(to.seen, plus(m[0], m[1], -1.0), d * b), m[1], d * a);
    to.later = plus(plus(to.later, plus(m[1], m[2], -1.0), d * d * b), m[2], d * d * a);
    to.rise = plus(to.rise, m[0], b - a);
    return to;
}

static void prepare(prepared_response *p, const int64_t *program, const double *params, int64_t stride)
{
    const measured *m = measured_head(program);
    p->program = program;
    p->rate = (complex_value){0.0, 0.0};
    if (m->law == LAW_DECAY)
        p->rate.re = v_clamp(1.0 / params[stride], 1e300);
    if (m->law == LAW_SWING)
        p->rate.re = v_clamp(1.0 / params[3 * stride], 1e300);
    if (m->law == LAW_SINE || m->law == LAW_SWING)
        p->rate.im = -PYSPEC_TWO_PI * params[stride];
    p->at[0] = (reading){.rise = {measured_value(program, 0), 0.0}};
    for (int64_t k = 1; k < m->n_samples; k++)
        p->at[k] = go_on(&p->at[k - 1], p->rate,
                         measured_time(program, k) - measured_time(program, k - 1),
                         measured_value(program, k - 1), measured_value(program, k));
}

/* The readings at u, and the response there; at a jump those behind it. */
static reading read_at(const prepared_response *p, double u, double *response)
{
    const int64_t k = measured_sample(p->program, u), last = measured_head(p->program)->n_samples - 1;
    const double d = u - measured_time(p->program, k), a = measured_value(p->program, k);
    if (k == last) {
        reading from = p->at[k];
        from.rise.re -= a;
        *response = 0.0;
        return go_on(&from, p->rate, d, 0.0, 0.0);
    }
    const double length = measured_time(p->program, k + 1) - measured_time(p->program, k);
    *response = a + (measured_value(p->program, k + 1) - a) * (d / length);
    return go_on(&p->at[k], p->rate, d, a, *response);
}

/* ---- laws -------------------------------------------------------------------------------------- */

/* Value and derivatives by all parameters, by = NULL for none, at u after the onset. Before the response
 * begins all of them are 0. */
static double see(const prepared_response *p, const double *params, int64_t stride, double u, double *by)
{
    const measured *m = measured_head(p->program);
    const double height = params[0], own = params[stride], y0 = params[(m->n_params - 1) * stride];
    double response, unit, slope;
    for (int64_t k = 0; by && k < m->n_params; k++)
        by[k] = 0.0;
    if (u < measured_time(p->program, 0))
        return 0.0;
    const reading at = read_at(p, u, &response);
    if (m->law == LAW_STEP)
        unit = at.area, slope = response;
    else if (m->law == LAW_LINE)
        unit = at.later.re, slope = at.area;
    else if (m->law == LAW_DECAY)
        unit = at.seen.re, slope = at.rise.re;
    else {
        const complex_value turned = {cos(params[2 * stride]), sin(params[2 * stride])};
        const complex_value seen = times(turned, at.seen);
        unit = seen.im, slope = times(turned, at.rise).im;
        if (by) {
            by[1] = height * PYSPEC_TWO_PI * times(turned, at.later).re;
            by[2] = height * seen.re;
            if (m->law == LAW_SWING)
                by[3] = height * (p->rate.re * times(turned, at.later).im / params[3 * stride]);
        }
    }
    if (by) {
        by[0] = unit;
        if (m->law == LAW_DECAY)
            by[1] = height * (p->rate.re * at.later.re / own);
        by[m->n_params - 2] = -(height * slope + y0 * response);
        by[m->n_params - 1] = at.area;
    }
    return height * unit + y0 * at.area;
}

/* ---- rows -------------------------------------------------------------------------------------- */

/* Whether two rows have the same rate. */
static int is_alike(const measured *m, const double *a, const double *b, int64_t stride)
{
    const int same_decay = m->law != LAW_SWING || a[3 * stride] == b[3 * stride];
    return m->law < LAW_DECAY || (a[stride] == b[stride] && same_decay);
}

static void run_row(const prepared_response *p, const measured_rows *r, int64_t row)
{
    const measured *m = measured_head(p->program);
    const double *params = r->params + row;
    const double onset = params[(m->n_params - 2) * r->stride];
    double by[MAX_PARAMS];
    for (int64_t i = 0; i < r->n; i++) {
        const int64_t to = row * r->to_row + i * r->to_step;
        const double u = r->x[row * r->x_row + i * r->x_step] - onset;
        r->value[to] = see(p, params, r->stride, u, r->partials ? by : NULL);
        for (int64_t k = 0; r->partials && k < m->n_params; k++)
            if (r->partials[k])
                r->partials[k][to] = by[k];
    }
}

static void run_rows(const measured_rows *r)
{
    const measured *m = measured_head(r->program);
    if (m->law == LAW_STATE) {
        pyspec_measure_state(r);
        return;
    }
    prepared_response p;
    for (int64_t row = 0; row < r->n_rows; row++) {
        const double *params = r->params + row;
        if (row == 0 || !is_alike(m, params, params - 1, r->stride))
            prepare(&p, r->program, params, r->stride);
        run_row(&p, r, row);
    }
}

/* Whether all lanes have the same parameters. */
static int is_one_row(const pyspec_block *b, const double *params)
{
    for (int64_t k = 0; k < measured_head(b->program)->n_params; k++)
        for (int l = 1; l < L; l++)
            if (!(params[k * L + l] == params[k * L]))
                return 0;
    return b->across != 0;
}

void k_measured(const pyspec_block *b, const double *params, double *value, double *const *partials)
{
    if (is_one_row(b, params)) {
        const measured_rows all = {.program = b->program, .n_rows = 1, .n = b->n * L, .x = b->x,
                                   .params = params, .x_step = 1, .stride = L, .to_step = 1,
                                   .value = value, .partials = partials};
        run_rows(&all);
        return;
    }
    const measured_rows r = {.program = b->program, .n_rows = L, .n = b->n, .x = b->x, .params = params,
                             .x_row = b->across ? 1 : 0, .x_step = b->across ? L : 1, .stride = L,
                             .to_row = 1, .to_step = L, .value = value, .partials = partials};
    run_rows(&r);
}

int pyspec_measured(const int64_t *program, int64_t n_words, int64_t n_rows, int64_t n_x,
                    const double *x, const double *params, double *value, double *const *partials)
{
    int64_t at;
    if (!program || !x || !params || !value)
        return STATUS_NULL_POINTER;
    if (n_words < MEASURED_HEAD ||
        !pyspec_measured_is_sound(program, n_words, measured_head(program)->n_params, &at))
        return STATUS_PROGRAM;
    if (n_rows < 1 || n_x < 1)
        return STATUS_SIZE;
    const measured_rows r = {.program = program, .n_rows = n_rows, .n = n_x, .x = x, .params = params,
                             .x_step = 1, .stride = n_rows, .to_row = n_x, .to_step = 1,
                             .value = value, .partials = partials};
    run_rows(&r);
    return STATUS_OK;
}
