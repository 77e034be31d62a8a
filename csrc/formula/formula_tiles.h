/* formula_tiles.h: the arithmetic of formulas. Instructions of a few operations run in turn over a
 * tile of TILE vectors. Intermediate results stay in registers of the processor. A division
 * overlaps with the instructions after it. */
#ifndef PYSPEC_FORMULA_TILES_H
#define PYSPEC_FORMULA_TILES_H

#include "math/exp_lanes.h"
#include "formula/formula.h"

/* An instruction with its registers looked up. Vector i of a block lies i * L doubles after the begin of
 * the register. A mask applies to this offset. It keeps all of the offset for an output, the place
 * within the chunk for a vector, and nothing for a row. */
typedef struct ready {
    double *y;
    const double *a, *b, *c;
    int32_t y_mask, a_mask, b_mask, c_mask;
    int16_t kinds[2]; /* in tiles: TILED_KIND, or less than 0; of a CHAIN as product, and exact */
    uint8_t code;
    uint8_t writes;   /* in tiles: whether the result is written                            */
    uint8_t want;     /* FORMULA_W: whether it gives more than the value                    */
    int32_t stride;   /* between several results                                            */
    int32_t n_tiled;  /* instructions from here on that run over tiles                      */
} ready;

_Static_assert(sizeof(ready) <= FORMULA_READY * sizeof(double), "room of an instruction");
_Static_assert(N_FORMULA_CODES <= 256, "a code is a byte");

/* Masks of offsets, in doubles; that of a vector is the size of a chunk, a power of two, less 1. */
enum { OF_ROW = 0, OF_OUTPUT = -1 };

#define OFFSET(r, of, i) ((i) * L & (int64_t)(r)->of##_mask)
/* How far it is to the next vector. */
#define STEP(r, of) ((int64_t)((r)->of##_mask & L))

/* Runs over n vectors of a chunk, the first is `from`. */
typedef void run_instruction(const ready *r, int64_t from, int64_t n);

/* ---- values of rpn.def and fused.def, for a vector ----------------------------------------- */

#if defined(__GNUC__)
static ALWAYS_INLINE vector size_of(vector a)
{
    return (vector)((mask_vector)a & 0x7fffffffffffffff);
}

static ALWAYS_INLINE vector exp_of(vector a)
{
    const vector inside = exp_inside(a, 0);
#if defined(__AVX512F__) /* gcc makes masks of the comparisons, and vectors of these */
    const __mmask8 below = _mm512_cmp_pd_mask((__m512d)a, _mm512_set1_pd(-708.0), _CMP_LT_OQ);
    const __mmask8 beyond = _mm512_cmp_pd_mask((__m512d)a, _mm512_set1_pd(709.782712893384), _CMP_GT_OQ);
    const __m512d above = _mm512_mask_mov_pd((__m512d)inside, below, _mm512_setzero_pd());
    return (vector)_mm512_mask_mov_pd(above, beyond, _mm512_set1_pd(INFINITY));
#else
    return choose(a > 709.782712893384, NOTHING + INFINITY, choose(a < -708.0, NOTHING, inside));
#endif
}
#else
#define size_of fabs
#define exp_of v_exp
#endif

/* Numbers among vectors become vectors: x - 0 is x, -0 too. */
#define where(when, a, b) choose((when), (a) - NOTHING, (b) - NOTHING)
#define exp exp_of
#define fabs size_of

#define VALUE(code, value)                                                                         \
    static ALWAYS_INLINE vector value_##code(vector a, vector b, vector c)                         \
    {                                                                                              \
        (void)a, (void)b, (void)c;                                                                 \
        return value;                                                                              \
    }
#define VALUE_0(code, value)
#define VALUE_1 VALUE
#define VALUE_2 VALUE
#define VALUE_3 VALUE

/* Those of the C library are never called here: their instructions do not run over tiles. */
#define sqrt(a) (a)
#define log(a) (a)
#define sin(a) (a)
#define cos(a) (a)
#define tan(a) (a)
#define atan(a) (a)
#define erf(a) (a)
#define erfc(a) (a)
#define erfcx(a) (a)
#define pow(a, b) (a)

#define RPN_OF_FORMULAS
#define RPN(name, arity, symbol, value, by_a, by_b, by_c) VALUE_##arity(RPN_##name, value)
#include "tables/rpn.def"
#undef RPN
#define FUSED(name, arity, value) VALUE_##arity(FORMULA_##name, value)
#include "tables/fused.def"
#undef FUSED
VALUE(FORMULA_COPY, a)

/* In less time than the division that rpn.def writes, see vector.h. */
#define value_RPN_DIV(a, b, c) quotient(a, b)

#undef where
#undef exp
#undef fabs
#undef sqrt
#undef log
#undef sin
#undef cos
#undef tan
#undef atan
#undef erf
#undef erfc
#undef erfcx
#undef pow

/* ---- an instruction alone ------------------------------------------------------------------ */

#define RUN_ALONE(code, b_part, c_part)                                                            \
    static void run_##code(const ready *r, int64_t from, int64_t n)                                \
    {                                                                                              \
        double *restrict y = r->y + OFFSET(r, y, from);                                            \
        const double *restrict a = r->a + OFFSET(r, a, from);                                      \
        const double *restrict b = r->b + OFFSET(r, b, from);                                      \
        const double *restrict c = r->c + OFFSET(r, c, from);                                      \
        (void)b, (void)c;                                                                          \
        FOR_BLOCK FOR_WIDTHS put_vector(y + i * L + at,                                            \
                                        value_##code(load_vector(a + i * STEP(r, a) + at), b_part, \
                                                     c_part), 1);                                  \
    }
#define RUN_1(code) RUN_ALONE(code, NOTHING, NOTHING)
#define RUN_2(code) RUN_ALONE(code, load_vector(b + i * STEP(r, b) + at), NOTHING)
#define RUN_3(code)                                                                                \
    RUN_ALONE(code, load_vector(b + i * STEP(r, b) + at), load_vector(c + i * STEP(r, c) + at))
FORMULA_TILED_1(RUN_1)
FORMULA_TILED_2(RUN_2)
FORMULA_TILED_3(RUN_3)

/* ---- several, over tiles ------------------------------------------------------------------- */

/* How an instruction runs in tiles: its code, and what it takes. */
#define TILED_KIND(code, taken) ((code) * (FORMULA_TAKES + 1) + (taken))
enum { NOT_TILED = -FORMULA_TAKES - 1 };

#if defined(__GNUC__)
/* The vectors of a tile, half as many as there are registers. They have names: gcc keeps arrays in
 * memory. */
#if WIDTH == 8
#define EACH(X, ...)                                                                               \
    X(0, __VA_ARGS__) X(1, __VA_ARGS__) X(2, __VA_ARGS__) X(3, __VA_ARGS__)                        \
    X(4, __VA_ARGS__) X(5, __VA_ARGS__) X(6, __VA_ARGS__) X(7, __VA_ARGS__)                        \
    X(8, __VA_ARGS__) X(9, __VA_ARGS__) X(10, __VA_ARGS__) X(11, __VA_ARGS__)                      \
    X(12, __VA_ARGS__) X(13, __VA_ARGS__) X(14, __VA_ARGS__) X(15, __VA_ARGS__)
enum { TILE = 16 };
#else
#define EACH(X, ...)                                                                               \
    X(0, __VA_ARGS__) X(1, __VA_ARGS__) X(2, __VA_ARGS__) X(3, __VA_ARGS__)                        \
    X(4, __VA_ARGS__) X(5, __VA_ARGS__) X(6, __VA_ARGS__) X(7, __VA_ARGS__)
enum { TILE = 8 };
#endif
enum { TILE_ROWS = TILE * WIDTH / L };

#define BEGIN(k, _) vector v##k = NOTHING;
#define WRITE(k, to) put_vector(to + (k) * WIDTH, v##k, 1);
#define COMPUTE(k, code, from_a, from_b, from_c) v##k = value_##code(from_a(k), from_b(k), from_c(k));

#define PART(of, k) load_vector(of + (k) * WIDTH / L * STEP(r, of) + (k) * WIDTH % L)
#define FROM_A(k) PART(a, k)
#define FROM_B(k) PART(b, k)
#define FROM_C(k) PART(c, k)
#define TAKEN(k) v##k
#define NONE(k) NOTHING

#define CASE(code, taken, ...)                                                                     \
    case TILED_KIND(code, taken): {                                                                \
        const double *a = r->a + OFFSET(r, a, from), *b = r->b + OFFSET(r, b, from);               \
        const double *c = r->c + OFFSET(r, c, from);                                               \
        (void)a, (void)b, (void)c;                                                                 \
        EACH(COMPUTE, code, __VA_ARGS__)                                                           \
        break;                                                                                     \
    }
#define CASES_1(code) CASE(code, 0, FROM_A, NONE, NONE) CASE(code, 1, TAKEN, NONE, NONE)
#define CASES_2(code)                                                                              \
    CASE(code, 0, FROM_A, FROM_B, NONE)                                                            \
    CASE(code, 1, TAKEN, FROM_B, NONE)                                                             \
    CASE(code, 2, FROM_A, TAKEN, NONE)
#define CASES_3(code)                                                                              \
    CASE(code, 0, FROM_A, FROM_B, FROM_C)                                                          \
    CASE(code, 1, TAKEN, FROM_B, FROM_C)                                                           \
    CASE(code, 2, FROM_A, TAKEN, FROM_C)                                                           \
    CASE(code, 3, FROM_A, FROM_B, TAKEN)

/* Instructions over whole tiles from `from` to `behind`. Returns where these end. */
static int64_t run_over_tiles(const ready *begin, const ready *end, int64_t from, int64_t behind,
                              int exact)
{
    EACH(BEGIN, )
    for (; from + TILE_ROWS <= behind; from += TILE_ROWS)
        for (const ready *r = begin; r < end; r++) {
            switch (r->kinds[exact]) {
                FORMULA_TILED_1(CASES_1)
                FORMULA_TILED_2(CASES_2)
                FORMULA_TILED_3(CASES_3)
                CASE(RPN_MUL, FORMULA_TAKES_TWICE, TAKEN, TAKEN, NONE)
            default:
                __builtin_unreachable();
            }
            if (r->writes) {
                double *y = r->y + OFFSET(r, y, from);
                EACH(WRITE, y)
            }
        }
    return from;
}

#else
static int64_t run_over_tiles(const ready *begin, const ready *end, int64_t from, int64_t behind,
                              int exact)
{
    (void)begin, (void)end, (void)behind, (void)exact;
    return from;
}
#endif

#endif
