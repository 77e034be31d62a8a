/* formula_functions.h: the instructions of formulas that take a function: one runs over a whole chunk before
 * the next one begins. Where a vector function does not hold, the C library stands in. */
#ifndef PYSPEC_FORMULA_FUNCTIONS_H
#define PYSPEC_FORMULA_FUNCTIONS_H

#include "math/faddeeva.h"
#include "formula/formula_tiles.h"
#include "math/voigt.h"

/* An operand: its lanes, and how far it is to the next vector (0 where all are the same). */
typedef struct operand {
    const double *at;
    int64_t step;
} operand;

#define OPERAND(of) ((operand){r->of + OFFSET(r, of, from), STEP(r, of)})
#define TARGET      (r->y + OFFSET(r, y, from))

/* ---- what the vector functions leave to the C library ------------------------------------ */

#define LEAST_NORMAL 2.2250738585072014e-308
#define MOST_NORMAL  1.7976931348623157e308

static ALWAYS_INLINE int is_normal(double a)
{
    return (a >= LEAST_NORMAL) & (a <= MOST_NORMAL);
}

/* Whether the result y of the vector function may be wrong in a lane. For powers this is possible only if
 * y is no normal number, or the power whose slope y is. */
static ALWAYS_INLINE int is_odd(int64_t code, double a, double b, double c, double y)
{
    const int in_range = is_normal(a) & (fabs(b) <= 1e300);
    switch (code) {
    case FORMULA_POWBASE: /* the power may leave the range, and not its slope */
        return !(is_normal(c) & (is_normal(fabs(y)) | in_range));
    case RPN_LOG:
        return (a > 0.0) & (a < LEAST_NORMAL);
    case RPN_SIN:
    case RPN_COS:
    case RPN_TAN:
        return fabs(a) > VMATH_SINCOS_LIMIT;
    default: /* powers */
        return !is_normal(y) & !in_range;
    }
}

static double odd_value(int64_t code, double a, double b)
{
    switch (code) {
    case FORMULA_POWBASE:
        return b == 0.0 ? 0.0 : a == 0.0 ? (b == 1.0 ? 1.0 : 0.0) : b * pow(a, b - 1.0);
    case RPN_LOG:
        return log(a);
    case RPN_SIN:
        return sin(a);
    case RPN_COS:
        return cos(a);
    case RPN_TAN:
        return tan(a);
    default:
        return pow(a, b);
    }
}

/* Such lanes once more, where there are `any`. No other lane's bits depend on it. */
static ALWAYS_INLINE void mend(const int64_t code, int any, double *y, operand a, operand b, operand c,
                               int64_t n)
{
    for (int64_t i = 0; any && i < n; i++)
        FOR_LANES
        {
            const double at = a.at[i * a.step + l], by = b.at[i * b.step + l];
            if (is_odd(code, at, by, c.at[i * c.step + l], y[AT]))
                y[AT] = odd_value(code, at, by);
        }
}

/* Finds the lanes where that is possible, by the operands and the results. */
#define IS_NORMAL(v)       (((v) >= LEAST_NORMAL) & ((v) <= MOST_NORMAL))
#define MARKS_POW(x, v)    (IS_NORMAL(v) == 0)
#define MARKS_LOG(x, v)    (((x) > 0.0) & ((x) < LEAST_NORMAL))
#define MARKS_TAN(x, v)    (size_of(x) > VMATH_SINCOS_LIMIT)

/* ---- zeros in the chain rule ------------------------------------------------------------- */

/* CHAIN is a product but for a 0 that meets an infinity or NaN. Processors note the former ("invalid"), and
 * where NaN comes from: as long as nothing was noted, products will do. */
#if defined(__GNUC__) && defined(__SSE2__)
#include <xmmintrin.h>
enum { INVALID = 1 };

static ALWAYS_INLINE int was_invalid(void)
{
    return (int)(_mm_getcsr() & INVALID);
}

/* Whether it was noted before. */
static ALWAYS_INLINE int forget_invalid(void)
{
    const unsigned state = _mm_getcsr();
    if (state & INVALID)
        _mm_setcsr(state & ~(unsigned)INVALID);
    return (int)(state & INVALID);
}

static ALWAYS_INLINE void note_invalid(int happened)
{
    if (happened)
        _mm_setcsr(_mm_getcsr() | INVALID);
}

/* Whether it is noted here at all: emulators may not. */
static ALWAYS_INLINE int notes_invalid(void)
{
    volatile double zero = 0.0, infinity = INFINITY, product;
    product = zero * infinity;
    (void)product;
    return forget_invalid();
}
#else
static ALWAYS_INLINE int was_invalid(void)
{
    return 1;
}

static ALWAYS_INLINE int forget_invalid(void)
{
    return 1;
}

static ALWAYS_INLINE void note_invalid(int happened)
{
    (void)happened;
}

static ALWAYS_INLINE int notes_invalid(void)
{
    return 0;
}
#endif

/* ---- instructions ------------------------------------------------------------------------ */

/* A function that holds everywhere. */
#define RUN_LANES(name, value)                                                                     \
    static void run_RPN_##name(const ready *r, int64_t from, int64_t n)                            \
    {                                                                                              \
        double *restrict y = TARGET;                                                               \
        const operand a = OPERAND(a);                                                              \
        FOR_BLOCK FOR_LANES                                                                        \
        {                                                                                          \
            const double x = a.at[i * a.step + l];                                                 \
            y[AT] = (value);                                                                       \
        }                                                                                          \
    }
/* One that does not. */
#define RUN_AND_MEND(name, value)                                                                  \
    static void run_RPN_##name(const ready *r, int64_t from, int64_t n)                            \
    {                                                                                              \
        double *restrict y = TARGET;                                                               \
        const operand a = OPERAND(a), b = OPERAND(b);                                              \
        marks odd = {0}, negative = {0};                                                           \
        FOR_BLOCK {                                                                                \
            const double *xs = a.at + i * a.step, *exponents = b.at + i * b.step;                  \
            IN_LANES {                                                                             \
                const double x = xs[l], by = exponents[l];                                         \
                (void)by;                                                                          \
                y[AT] = (value);                                                                   \
            }                                                                                      \
            FOR_WIDTHS                                                                             \
            {                                                                                      \
                const vector given = load_vector(xs + at), found = load_vector(y + i * L + at);    \
                (void)found;                                                                       \
                odd |= MARKS_##name(given, found);                                                 \
                if (RPN_##name == RPN_LOG)                                                         \
                    negative |= (given >= 0.0) == 0;                                               \
            }                                                                                      \
        }                                                                                          \
        mend(RPN_##name, any_of(odd), y, a, b, b, n);                                              \
        if (RPN_##name == RPN_LOG) /* NaN, which vector code does not note */                      \
            note_invalid(any_of(negative));                                                        \
    }
RUN_LANES(SQRT, sqrt(x))
RUN_LANES(ERF, v_erf(x))
RUN_LANES(ERFC, v_erfc(x))
RUN_LANES(ERFCX, v_erfcx(x))
RUN_AND_MEND(LOG, v_log(x))
RUN_AND_MEND(TAN, v_sin(x) / v_cos(x))
RUN_AND_MEND(POW, v_exp(by * v_log(x)))

/* In three loops: in one, what a vector waits for would keep the next ones waiting. */
static void run_RPN_ATAN(const ready *r, int64_t from, int64_t n)
{
    enum { TOGETHER = 16 };
    double *restrict y = TARGET;
    const operand a = OPERAND(a);
    for (int64_t begin = 0; begin < n; begin += TOGETHER) {
        double above[TOGETHER * L], below[TOGETHER * L], base[TOGETHER * L];
        const int64_t some = n - begin < TOGETHER ? n - begin : TOGETHER;
        const double *x = a.at + begin * a.step;
        double *restrict to = y + begin * L;
        for (int64_t i = 0; i < some; i++)
            IN_LANES v_atan_reduced(x[i * a.step + l], 1.0, &above[AT], &below[AT], &base[AT]);
        for (int64_t at = 0; at < some * L; at += WIDTH)
            put_vector(above + at, quotient(load_vector(above + at), load_vector(below + at)), 1);
        for (int64_t i = 0; i < some; i++)
            IN_LANES to[AT] = copysign(v_atan_behind(base[AT], above[AT]), x[i * a.step + l]);
    }
}

/* Without the ends where there are none, to the same bits. */
static void run_logarithm(const ready *r, int64_t from, int64_t n)
{
    double *restrict y = TARGET;
    const operand a = OPERAND(a);
    marks other = {0};
    FOR_BLOCK {
        const double *x = a.at + i * a.step;
        IN_LANES y[AT] = v_log_inside(x[l]);
        FOR_WIDTHS other |= IS_NORMAL(load_vector(x + at)) == 0;
    }
    if (any_of(other))
        run_RPN_LOG(r, from, n);
}

/* Sines, cosines or both, where these are NULL or not. */
static ALWAYS_INLINE void turn(double *restrict sine, double *restrict cosine, operand a,
                               const int may_be_far, int64_t n)
{
    FOR_BLOCK {
        const double *x = a.at + i * a.step;
        double s[L], c[L];
        IN_LANES v_sincos_by_size(x[l], may_be_far, &s[l], &c[l]);
        if (sine)
            IN_LANES sine[AT] = s[l];
        if (cosine)
            IN_LANES cosine[AT] = c[l];
    }
}

static ALWAYS_INLINE void turn_by_size(double *restrict sine, double *restrict cosine, operand a,
                                       int64_t n)
{
    marks far = {0}, odd = {0};
    FOR_BLOCK FOR_WIDTHS
    {
        const vector size = size_of(load_vector(a.at + i * a.step + at));
        far |= size > VMATH_SINCOS_NEAR;
        odd |= size > VMATH_SINCOS_LIMIT;
    }
    if (any_of(far))
        turn(sine, cosine, a, 1, n);
    else
        turn(sine, cosine, a, 0, n);
    if (sine)
        mend(RPN_SIN, any_of(odd), sine, a, a, a, n);
    if (cosine)
        mend(RPN_COS, any_of(odd), cosine, a, a, a, n);
}

static void run_RPN_SIN(const ready *r, int64_t from, int64_t n)
{
    turn_by_size(TARGET, NULL, OPERAND(a), n);
}

static void run_RPN_COS(const ready *r, int64_t from, int64_t n)
{
    turn_by_size(NULL, TARGET, OPERAND(a), n);
}

static void run_sincos(const ready *r, int64_t from, int64_t n)
{
    turn_by_size(TARGET, TARGET + r->stride, OPERAND(a), n);
}

/* A power by the logarithm that is there, and the slope of a power by the power. */
#define RUN_POWER(code, odd_ones)                                                                  \
    static void run_##code(const ready *r, int64_t from, int64_t n)                                \
    {                                                                                              \
        double *restrict y = TARGET;                                                               \
        const operand a = OPERAND(a), b = OPERAND(b), c = OPERAND(c);                              \
        marks odd = {0};                                                                           \
        FOR_BLOCK FOR_WIDTHS                                                                       \
        {                                                                                          \
            const vector given = load_vector(a.at + i * a.step + at);                              \
            const vector by = load_vector(b.at + i * b.step + at);                                 \
            const vector also = load_vector(c.at + i * c.step + at);                               \
            const vector found = value_##code(given, by, also);                                    \
            odd |= (odd_ones) == 0;                                                                \
            put_vector(y + i * L + at, found, 1);                                                  \
        }                                                                                          \
        mend(code, any_of(odd), y, a, b, c, n);                                                    \
    }
RUN_POWER(FORMULA_POWLOG, IS_NORMAL(found))
RUN_POWER(FORMULA_POWBASE, IS_NORMAL(size_of(found)) & IS_NORMAL(also))

static ALWAYS_INLINE void put_w(double *restrict y, int64_t stride, int64_t i, const int want,
                                const w_lanes *w)
{
    IN_LANES y[AT] = w->v[l];
    if (want)
        IN_LANES {
            y[AT + stride] = w->im[l];
            y[AT + 2 * stride] = w->dx[l];
            y[AT + 3 * stride] = w->dy[l];
        }
}

/* Re w, Im w and the slopes of the real part, in four registers `stride` doubles apart. */
static ALWAYS_INLINE void run_w(double *restrict y, int64_t stride, operand x, operand up,
                                const int want, int64_t n)
{
    w_heights heights;
    w_raise(up.at, &heights);
    for (int64_t i = 0; i < n; i++) {
        w_lanes w;
        if (up.step && i)
            w_raise(up.at + i * up.step, &heights);
        w_anywhere(x.at + i * x.step, &heights, want, &w);
        put_w(y, stride, i, want, &w);
    }
}

static ALWAYS_INLINE void formula_off_tables(const double *x, const void *heights, int want,
                                             w_lanes *to)
{
    w_anywhere(x, heights, want, to);
}

/* The same of a chunk whose heights do not change, by the series of voigt.h. */
static ALWAYS_INLINE void run_w_line(double *restrict y, int64_t stride, operand x, operand up,
                                     const int want, int64_t n)
{
    double across[FORMULA_LONG * L], node[FORMULA_LONG * L], rest[FORMULA_LONG * L];
    uint64_t found[FORMULA_LONG];
    w_lanes w[VOIGT_ABREAST];
    w_heights heights;
    voigt_tables tables;
    w_raise(up.at, &heights);
    voigt_begin(heights.y, &tables);
    FOR_BLOCK {
        IN_LANES across[AT] = v_clamp(x.at[i * x.step + l], 1e150);
        found[i] = voigt_find(across + i * L, &tables, node + i * L, rest + i * L);
    }
    for (int64_t begin = 0, count; begin < n; begin += count) {
        const int64_t at = begin * L;
        count = voigt_line(across + at, &tables, found + begin, node + at, rest + at, n - begin, want,
                           formula_off_tables, &heights, w);
        for (int64_t k = 0; k < count; k++)
            put_w(y, stride, begin + k, want, w + k);
    }
}

/* By the series where many points have the same height. */
static void run_faddeeva(const ready *r, int64_t from, int64_t n)
{
    double *y = TARGET;
    const operand x = OPERAND(a), up = OPERAND(b);
    const int by_points = up.step || r->y_mask == OF_ROW;
    if (by_points && r->want)
        run_w(y, r->stride, x, up, 1, n);
    else if (by_points)
        run_w(y, r->stride, x, up, 0, n);
    else if (r->want)
        run_w_line(y, r->stride, x, up, 1, n);
    else
        run_w_line(y, r->stride, x, up, 0, n);
}

/* All that the checker knows: not CONST and PARAM, nor the four for which FORMULA_W stands. */
static run_instruction *const runs[N_FORMULA_CODES] = {
#define ITS_RUN(code) [code] = run_##code,
    FORMULA_TILED(ITS_RUN)
#undef ITS_RUN
    [RPN_SQRT] = run_RPN_SQRT,
    [RPN_ATAN] = run_RPN_ATAN,
    [RPN_ERF] = run_RPN_ERF,
    [RPN_ERFC] = run_RPN_ERFC,
    [RPN_ERFCX] = run_RPN_ERFCX,
    [RPN_LOG] = run_logarithm,
    [RPN_SIN] = run_RPN_SIN,
    [RPN_COS] = run_RPN_COS,
    [RPN_TAN] = run_RPN_TAN,
    [RPN_POW] = run_RPN_POW,
    [FORMULA_POWLOG] = run_FORMULA_POWLOG,
    [FORMULA_POWBASE] = run_FORMULA_POWBASE,
    [FORMULA_W] = run_faddeeva,
    [FORMULA_SINCOS] = run_sincos,
};
#define AND_ONE(code) +1
_Static_assert(N_FORMULA_CODES - 6 == 14 FORMULA_TILED(AND_ONE), "an instruction lacks its run");
#undef AND_ONE

#endif
