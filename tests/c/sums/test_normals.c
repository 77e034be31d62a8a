/* test_normals.c: normal deviates of every size, against a plain generator and the functions of libm. */
#include <math.h>
#include <string.h>

#include "support/plans.h"
#include "support/unit.h"

enum { GENERATORS = 16, HALF = 64, MOST = 300 };

static uint64_t turned_left(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

/* The next word of one generator. */
static uint64_t next_word(uint64_t *state, int lane)
{
    uint64_t *s[4];
    for (int k = 0; k < 4; k++)
        s[k] = state + k * GENERATORS + lane;
    const uint64_t word = turned_left(*s[0] + *s[3], 23) + *s[0], shifted = *s[1] << 17;
    *s[2] ^= *s[0];
    *s[3] ^= *s[1];
    *s[1] ^= *s[2];
    *s[0] ^= *s[3];
    *s[2] ^= shifted;
    *s[3] = turned_left(*s[3], 45);
    return word;
}

static void begin(uint64_t *state)
{
    uint64_t x = 0x9e3779b97f4a7c15u;
    for (int k = 0; k < 4 * GENERATORS; k++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        state[k] = x ^ (x >> 31);
    }
}

TEST_ALL(each_is_a_radius_at_an_angle)
{
    uint64_t state[4 * GENERATORS], words[2 * HALF];
    double z[2 * HALF], zero[2 * HALF] = {0}, one[2 * HALF];
    for (int i = 0; i < 2 * HALF; i++)
        one[i] = 1.0;
    begin(state);
    CHECK_INT(pyspec_normals(test_isa, z, zero, one, 2 * HALF, state), 0);
    begin(state);
    for (int i = 0; i < 2 * HALF; i++)
        words[i] = next_word(state, i % GENERATORS);
    for (int i = 0; i < HALF; i++) {
        const double u = 1.0 - ldexp((double)(words[i] >> 12), -52);
        const double place = ldexp((double)(words[HALF + i] >> 12), -52) - 0.5;
        const double angle = 1.57079632679489661923 * (place + (double)(words[HALF + i] & 3u));
        const double radius = sqrt(-2.0 * log(u));
        CHECK(fabs(z[i] - radius * cos(angle)) < 1e-14 * (1.0 + radius));
        CHECK(fabs(z[HALF + i] - radius * sin(angle)) < 1e-14 * (1.0 + radius));
    }
}

TEST_ALL(sizes_change_no_value)
{
    uint64_t state[4 * GENERATORS];
    double whole[MOST], part[MOST + 1], mean[MOST], deviation[MOST];
    for (int i = 0; i < MOST; i++) {
        mean[i] = 100.0 + i;
        deviation[i] = i % 7 ? 0.5 * i : 0.0;
    }
    begin(state);
    CHECK_INT(pyspec_normals(test_isa, whole, mean, deviation, MOST, state), 0);
    for (int i = 0; i < MOST; i += 7)
        CHECK(whole[i] == mean[i]);
    for (int n = 0; n < MOST; n++) {
        begin(state);
        part[n] = -1.0;
        CHECK_INT(pyspec_normals(test_isa, part, mean, deviation, n, state), 0);
        CHECK(memcmp(part, whole, (size_t)n * sizeof *part) == 0);
        CHECK(part[n] == -1.0);
    }
}

TEST(what_cannot_be_drawn_is_refused)
{
    uint64_t state[4 * GENERATORS] = {1};
    double x[1] = {0.0};
    CHECK_INT(pyspec_normals(N_ISA, x, x, x, 1, state), -STATUS_ISA);
    CHECK_INT(pyspec_normals(0, x, x, x, -1, state), -STATUS_SIZE);
    CHECK_INT(pyspec_normals(0, NULL, x, x, 1, state), -STATUS_NULL_POINTER);
    CHECK_INT(pyspec_normals(0, x, NULL, x, 1, state), -STATUS_NULL_POINTER);
    CHECK_INT(pyspec_normals(0, x, x, NULL, 1, state), -STATUS_NULL_POINTER);
    CHECK_INT(pyspec_normals(0, x, x, x, 1, NULL), -STATUS_NULL_POINTER);
}

UNIT_MAIN
