/* formula.c: the machine that runs formulas of a user's own. An instruction runs over a whole chunk
 * before the next one begins: what it costs to tell instructions apart is spread over
 * FORMULA_CHUNK x PYSPEC_LANES values, and the registers of a chunk stay in the first cache.
 * Built for each instruction set, like the energy kernels. */
#include "faddeeva.h"
#include "formula.h"
#include "voigt.h"

/* An operand: its lanes, and how far it is to the next vector (0 where all are the same). */
typedef struct operand {
    const double *at;
    int64_t step;
} operand;

/* The registers of one block. */
typedef struct machine {
    const formula *f;
    double *rows, *vectors;
    double *value;
    double *const *partials;
    const double *x; /* the abscissae of the chunk */
    int64_t first;   /* the first vector of the chunk */
    double *spare;   /* what lies in the place of partials where there are none */
} machine;

/* The value (0), or the partial by parameter k - 1. */
static ALWAYS_INLINE double *output(const machine *m, int64_t k)
{
    if (k > 0 && !m->partials)
        return m->spare + (k - 1) * FORMULA_CHUNK * L;
    return (k ? m->partials[k - 1] : m->value) + m->first * L;
}

static ALWAYS_INLINE operand read_register(const machine *m, int64_t k)
{
    const formula *f = m->f;
    if (k < f->n_rows)
        return (operand){m->rows + k * L, 0};
    k -= f->n_rows;
    if (k == 0)
        return (operand){m->x, L};
    if (k < f->n_vectors)
        return (operand){m->vectors + k * FORMULA_CHUNK * L, L};
    k -= f->n_vectors;
    return (operand){output(m, k), L};
}

static ALWAYS_INLINE double *write_register(const machine *m, int64_t k)
{
    const formula *f = m->f;
    if (k < f->n_rows)
        return m->rows + k * L;
    k -= f->n_rows;
    if (k < f->n_vectors)
        return m->vectors + k * FORMULA_CHUNK * L;
    k -= f->n_vectors;
    return output(m, k);
}

/* ---- what the vector functions leave to the C library ------------------------------------ */

/* Whether a number is positive, finite and not denormal. */
static ALWAYS_INLINE int is_normal(double a)
{
    return (a >= 2.2250738585072014e-308) & (a <= 1.7976931348623157e308);
}

/* Whether a lane lies where the vector function does not hold. */
static ALWAYS_INLINE int is_odd(int64_t code, double a, double b, double c)
{
    switch (code) {
    case RPN_POW:
        return !(is_normal(a) & (fabs(b) <= 1e300));
    case FORMULA_POWBASE: /* nor where the power, but not its slope, leaves the range */
        return !(is_normal(a) & is_normal(c) & (fabs(b) <= 1e300));
    case RPN_LOG:
        return (a > 0.0) & (a < 2.2250738585072014e-308);
    default:
        return fabs(a) > VMATH_SINCOS_LIMIT;
    }
}

static double odd_value(int64_t code, double a, double b)
{
    switch (code) {
    case RPN_POW:
        return pow(a, b);
    case FORMULA_POWBASE:
        return b == 0.0 ? 0.0 : a == 0.0 ? (b == 1.0 ? 1.0 : 0.0) : b * pow(a, b - 1.0);
    case RPN_LOG:
        return log(a);
    case RPN_SIN:
        return sin(a);
    case RPN_COS:
        return cos(a);
    default:
        return tan(a);
    }
}

/* Such lanes once more. No other lane's bits depend on it. */
static ALWAYS_INLINE void mend(const int64_t code, double *y, operand a, operand b, operand c,
                               int64_t n)
{
    uint64_t odd[L] = {0}, any = 0;
    FOR_BLOCK FOR_LANES odd[l] |= mask_of(
        is_odd(code, a.at[i * a.step + l], b.at[i * b.step + l], c.at[i * c.step + l]));
    FOR_LANES any |= odd[l];
    for (int64_t i = 0; any && i < n; i++)
        FOR_LANES
        {
            const double at = a.at[i * a.step + l], by = b.at[i * b.step + l];
            if (is_odd(code, at, by, c.at[i * c.step + l]))
                y[AT] = odd_value(code, at, by);
        }
}

/* ---- instructions ------------------------------------------------------------------------ */

#define RPN_OF_FORMULAS

/* Values of rpn.def are written with the functions of the C library: here these are vector code. */
#define exp v_exp
#define log v_log
#define sin v_sin
#define cos v_cos
#define tan(a) (v_sin(a) / v_cos(a))
#define atan v_atan
#define erf v_erf
#define erfc v_erfc
#define erfcx v_erfcx
#define pow(a, b) v_exp((b) * v_log(a))
#define wofz_real(a, b) ((a) + (b)) /* never run: FORMULA_W takes their place */
#define wofz_imag(a, b) ((a) + (b))
#define wofz_real_x(a, b) ((a) + (b))
#define wofz_real_y(a, b) ((a) + (b))

#define RUN_0(value)
#define RUN_1(value)                                                                               \
    for (int64_t i = 0; i < n; i++)                                                                \
        FOR_LANES                                                                                  \
        {                                                                                          \
            const double a = a_at[i * a_step + l];                                                 \
            y[AT] = (value);                                                                       \
        }
#define RUN_2(value)                                                                               \
    for (int64_t i = 0; i < n; i++)                                                                \
        FOR_LANES                                                                                  \
        {                                                                                          \
            const double a = a_at[i * a_step + l], b = b_at[i * b_step + l];                       \
            y[AT] = (value);                                                                       \
        }
#define RUN_3(value)                                                                               \
    for (int64_t i = 0; i < n; i++)                                                                \
        FOR_LANES                                                                                  \
        {                                                                                          \
            const double a = a_at[i * a_step + l], b = b_at[i * b_step + l];                       \
            const double c = c_at[i * c_step + l];                                                 \
            (void)a, (void)b, (void)c;                                                             \
            y[AT] = (value);                                                                       \
        }

#define RUN_INSTRUCTION(name, arity, value)                                                        \
    static void run_##name(double *restrict y, operand a_, operand b_, operand c_, int64_t n)      \
    {                                                                                              \
        const double *restrict a_at = a_.at, *restrict b_at = b_.at, *restrict c_at = c_.at;       \
        const int64_t a_step = a_.step, b_step = b_.step, c_step = c_.step;                        \
        (void)y, (void)a_at, (void)b_at, (void)c_at, (void)n;                                      \
        (void)a_step, (void)b_step, (void)c_step;                                                  \
        RUN_##arity(value)                                                                         \
    }
#define RPN(name, arity, symbol, value, by_a, by_b, by_c) RUN_INSTRUCTION(name, arity, value)
#include "rpn.def"
#undef RPN
#define FUSED(name, arity, value) RUN_INSTRUCTION(name, arity, value)
#include "fused.def"
#undef FUSED
#undef exp
#undef log
#undef sin
#undef cos
#undef tan
#undef atan
#undef erf
#undef erfc
#undef erfcx
#undef pow

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
    double across[FORMULA_CHUNK * L], node[FORMULA_CHUNK * L], rest[FORMULA_CHUNK * L];
    uint64_t found[FORMULA_CHUNK];
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

static void run_w_by_points(double *y, int64_t stride, operand x, operand up, int want, int64_t n)
{
    if (want)
        run_w(y, stride, x, up, 1, n);
    else
        run_w(y, stride, x, up, 0, n);
}

static void run_w_by_series(double *y, int64_t stride, operand x, operand up, int want, int64_t n)
{
    if (want)
        run_w_line(y, stride, x, up, 1, n);
    else
        run_w_line(y, stride, x, up, 0, n);
}

static void run_sincos(double *restrict sine, double *restrict cosine, operand a, int64_t n)
{
    const double *restrict at = a.at;
    FOR_BLOCK FOR_LANES v_sincos(at[i * a.step + l], &sine[AT], &cosine[AT]);
}

static void run_copy(double *restrict y, operand a, int64_t n)
{
    FOR_BLOCK FOR_LANES y[AT] = a.at[i * a.step + l];
}

static void run_instruction(const machine *m, const int64_t *word, int64_t n)
{
    const int64_t code = word[0];
    double *y = write_register(m, word[1]);
    const operand a = read_register(m, word[2]), b = read_register(m, word[3]);
    const operand c = read_register(m, word[4]);
    const int64_t stride = word[1] < m->f->n_rows ? L : FORMULA_CHUNK * L;
    switch (code) {
#define RPN(name, arity, symbol, value, by_a, by_b, by_c)                                          \
    case RPN_##name:                                                                               \
        run_##name(y, a, b, c, n);                                                                 \
        break;
#include "rpn.def"
#undef RPN
#define FUSED(name, arity, value)                                                                  \
    case FORMULA_##name:                                                                           \
        run_##name(y, a, b, c, n);                                                                 \
        break;
#include "fused.def"
#undef FUSED
    case FORMULA_W:
        if (b.step || word[1] < m->f->n_rows)
            run_w_by_points(y, stride, a, b, m->partials || word[4], n);
        else
            run_w_by_series(y, stride, a, b, m->partials || word[4], n);
        return;
    case FORMULA_SINCOS:
        run_sincos(y, y + stride, a, n);
        mend(RPN_SIN, y, a, a, a, n);
        mend(RPN_COS, y + stride, a, a, a, n);
        return;
    default:
        run_copy(y, a, n);
        return;
    }
    switch (code) { /* each with a code that the compiler knows */
    case RPN_POW:
    case FORMULA_POWLOG:
        mend(RPN_POW, y, a, b, b, n);
        return;
    case FORMULA_POWBASE:
        mend(FORMULA_POWBASE, y, a, b, c, n);
        return;
    case RPN_LOG:
        mend(RPN_LOG, y, a, a, a, n);
        return;
    case RPN_SIN:
        mend(RPN_SIN, y, a, a, a, n);
        return;
    case RPN_COS:
        mend(RPN_COS, y, a, a, a, n);
        return;
    case RPN_TAN:
        mend(RPN_TAN, y, a, a, a, n);
        return;
    default:
        return;
    }
}

/* ---- blocks ------------------------------------------------------------------------------ */

static void load_rows(const machine *m, const int64_t *program, const double *params)
{
    const formula *f = m->f;
    const int64_t *constants = formula_constants(program);
    memcpy(m->rows, params, (size_t)(f->n_params * L) * sizeof *params);
    for (int64_t k = 0; k < f->n_constants; k++) {
        double constant;
        memcpy(&constant, &constants[k], sizeof constant);
        FOR_LANES m->rows[(f->n_params + k) * L + l] = constant;
    }
}

/* The inputs at the abscissae of a chunk, in the registers behind that of the abscissa. */
static void load_inputs(const machine *m, const pyspec_block *b, int64_t n)
{
    for (int64_t k = 0; k < m->f->n_inputs; k++) {
        double *y = m->vectors + (k + 1) * FORMULA_CHUNK * L;
        const double *from = b->inputs[k];
        const int64_t last = b->n_valid - 1;
        if (!b->across)
            FOR_BLOCK FOR_LANES y[AT] = from[m->first + i];
        else if ((m->first + n) * L <= b->n_valid)
            memcpy(y, from + m->first * L, (size_t)(n * L) * sizeof *y);
        else
            for (int64_t i = 0; i < n * L; i++)
                y[i] = from[m->first * L + i < last ? m->first * L + i : last];
    }
}

void JOIN(k_, formula, ISA_SUFFIX)(const pyspec_block *b, const double *params, double *value,
                                   double *const *partials)
{
    const int64_t *program = b->program;
    const formula *f = formula_head(program);
    machine m = {.f = f, .rows = b->registers, .value = value, .partials = partials};
    m.vectors = m.rows + f->n_rows * L;
    m.spare = m.vectors + f->n_vectors * FORMULA_CHUNK * L;
    m.x = m.vectors;
    load_rows(&m, program, params);
    const int64_t *code = formula_code(program);
    const int64_t n_row_code = partials ? f->n_row_code : f->n_row_value;
    for (int64_t k = 0; k < n_row_code; k++)
        run_instruction(&m, code + k * FORMULA_WORDS, 1);
    code += f->n_row_code * FORMULA_WORDS;
    const int64_t n_code = partials ? f->n_code : f->n_value;
    for (m.first = 0; m.first < b->n; m.first += FORMULA_CHUNK) {
        const int64_t n = b->n - m.first < FORMULA_CHUNK ? b->n - m.first : FORMULA_CHUNK;
        if (b->across)
            m.x = b->x + m.first * L;
        else
            for (int64_t i = 0; i < n; i++)
                FOR_LANES m.vectors[AT] = b->x[m.first + i];
        load_inputs(&m, b, n);
        for (int64_t k = 0; k < n_code; k++)
            run_instruction(&m, code + k * FORMULA_WORDS, n);
    }
}
