/* normals.c: measured data drawn anew, model + noise of a normal distribution. Built for each instruction set,
 * like the energy kernels. */
#include "isa/kernel.h"
#include "isa/vector.h"
#include "math/vmath.h"

/* Generators side by side, the same ones on every instruction set; and half of the deviates that are drawn at a
 * time. With eight generators compilers take the loop over them apart, and draw at half the speed. */
enum { GENERATORS = 16, HALF = 4 * GENERATORS };

static ALWAYS_INLINE uint64_t turned_left(uint64_t x, const int k)
{
    return (x << k) | (x >> (64 - k));
}

/* One step of a generator: xoshiro256++ of D. Blackman and S. Vigna, ACM Trans. Math. Softw. 47, 36
 * (2021). `s` has its four words, those of the generators side by side. */
static ALWAYS_INLINE uint64_t next_bits(uint64_t *s)
{
    uint64_t s0 = s[0], s1 = s[GENERATORS], s2 = s[2 * GENERATORS], s3 = s[3 * GENERATORS];
    const uint64_t bits = turned_left(s0 + s3, 23) + s0, shifted = s1 << 17;
    s2 ^= s0;
    s3 ^= s1;
    s1 ^= s2;
    s0 ^= s3;
    s[0] = s0;
    s[GENERATORS] = s1;
    s[2 * GENERATORS] = s2 ^ shifted;
    s[3 * GENERATORS] = turned_left(s3, 45);
    return bits;
}

/* The upper 52 bits as a number in [1, 2). */
static ALWAYS_INLINE double one_to_two(uint64_t bits)
{
    return double_of((bits >> 12) | 0x3ff0000000000000u);
}

/* Normal deviates, by the transformation of G. E. P. Box and M. E. Muller, Ann. Math. Stat. 29, 610 (1958): a
 * radius of a number in (0, 1], and an angle of a quadrant and a place in it. */
static void draw(uint64_t *state, double *z)
{
    uint64_t bits[2 * HALF];
    for (int i = 0; i < 2 * HALF; i += GENERATORS)
        for (int l = 0; l < GENERATORS; l++)
            bits[i + l] = next_bits(state + l);
    for (int i = 0; i < HALF; i++) {
        double s, c, sine, cosine;
        const uint64_t turn = bits[HALF + i];
        const double radius = sqrt(-2.0 * v_log_inside(2.0 - one_to_two(bits[i])));
        v_sincos_reduced((one_to_two(turn) - 1.5) * 1.57079632679489661923, &s, &c);
        v_turned(turn, s, c, &sine, &cosine);
        z[i] = radius * cosine;
        z[HALF + i] = radius * sine;
    }
}

/* out[i] = mean[i] + deviation[i] z[i]. */
void BLOCK_OP(normals)(double *restrict out, const double *restrict mean,
                       const double *restrict deviation, int64_t n, uint64_t *state)
{
    double z[2 * HALF];
    for (int64_t begin = 0; begin < n; begin += 2 * HALF) {
        const int64_t size = n - begin < 2 * HALF ? n - begin : 2 * HALF;
        draw(state, z);
        for (int64_t i = 0; i < size; i++)
            out[begin + i] = mean[begin + i] + deviation[begin + i] * z[i];
    }
}
