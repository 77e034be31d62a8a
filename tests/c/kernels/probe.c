/* probe.c: what the library keeps inside, made callable for tests/functions: the elementary
 * functions of vmath.h, the Faddeeva function and the masses of the convolution kernels.
 * tests/functions/conftest.py compiles it; arrays hold a multiple of PYSPEC_LANES values. */
#include "kernels/conv_kernels.c"
#include "math/exp_lanes.h"
#include "math/voigt.h"

#define PROBE __attribute__((visibility("default")))

#define UNARY(name)                                                                                \
    PROBE void probe_##name(int64_t n, const double *restrict x, double *restrict y);              \
    void probe_##name(int64_t n, const double *restrict x, double *restrict y)                     \
    {                                                                                              \
        for (int64_t i = 0; i < n / L; i++)                                                        \
            FOR_LANES y[AT] = v_##name(x[AT]);                                                     \
    }

UNARY(exp)
UNARY(log)
UNARY(sin)
UNARY(cos)
UNARY(atan)
UNARY(erf)
UNARY(erfc)
UNARY(erfcx)

/* The short ways, which hold for less. */
static double v_sin_near(double x)
{
    double sine, cosine;
    v_sincos_near(x, &sine, &cosine);
    return sine;
}

static double v_cos_near(double x)
{
    double sine, cosine;
    v_sincos_near(x, &sine, &cosine);
    return cosine;
}

UNARY(sin_near)
UNARY(cos_near)

PROBE void probe_exp_moderate(int64_t n, const double *x, double *y);
void probe_exp_moderate(int64_t n, const double *x, double *y)
{
    for (int64_t i = 0; i < n / L; i++) {
        memcpy(y + i * L, x + i * L, L * sizeof *y);
        exp_lanes(y + i * L, 1);
    }
}

PROBE void probe_exp_lanes(int64_t n, const double *x, double *y);
void probe_exp_lanes(int64_t n, const double *x, double *y)
{
    for (int64_t i = 0; i < n / L; i++) {
        memcpy(y + i * L, x + i * L, L * sizeof *y);
        exp_lanes(y + i * L, 0);
    }
}

/* The same as probe_faddeeva by the tables of voigt.h, x and y of L points at a time; 1 in out[4][n]
 * where they hold, and nothing is written where they do not. */
PROBE void probe_voigt(int64_t n, const double *x, const double *y, double *out);
void probe_voigt(int64_t n, const double *x, const double *y, double *out)
{
    static voigt_tables tables;
    for (int64_t i = 0; i < n / L; i++) {
        double node[L], rest[L];
        w_lanes w = {0};
        voigt_begin(y + i * L, &tables);
        uint64_t found = voigt_find(x + i * L, &tables, node, rest) & ~VOIGT_ELSEWHERE;
        for (; found; found &= found - 1)
            voigt_read(x + i * L, &tables, voigt_first(found), node, rest, 1, 1, &w);
        FOR_LANES {
            out[AT] = w.v[l];
            out[n + AT] = w.dx[l];
            out[2 * n + AT] = w.dy[l];
            out[3 * n + AT] = w.dxx[l];
            out[4 * n + AT] = node[l] >= 0.0;
        }
    }
}

/* Re w(x + iy), then its derivatives by x, by y and twice by x: out[4][n]. */
PROBE void probe_faddeeva(int64_t n, const double *x, const double *y, double *out);
void probe_faddeeva(int64_t n, const double *x, const double *y, double *out)
{
    for (int64_t i = 0; i < n / L; i++) {
        double p[L];
        w_lanes w;
        FOR_LANES p[l] = v_exp(-4.0 * PYSPEC_PI * y[AT]);
        w_vector(x + i * L, y + i * L, p, 1, &w);
        FOR_LANES {
            out[AT] = w.v[l];
            out[n + AT] = w.dx[l];
            out[2 * n + AT] = w.dy[l];
            out[3 * n + AT] = w.dxx[l];
        }
    }
}

#define ROW(name) &c_##name
#define NONE(name) NULL
#define CONV_OF_PEAK NONE
#define CONV_OF_BACKGROUND NONE
#define CONV_OF_SPECTRUM_FED NONE
#define CONV_OF_ROW_FED NONE
#define CONV_OF_KERNEL ROW
#define CONV_OF_DYNAMICS NONE
#define CONV_OF_PROFILE NONE
#define CONV_OF_IRF NONE
#define CONV_OF_RESPONSE NONE
#define CONV_OF_RESOLUTION NONE
#define CONV_OF_RESOLVED NONE

PROBE void probe_mass(int64_t op, int64_t side, int64_t n, const double *away, double width,
                      double *out);
void probe_mass(int64_t op, int64_t side, int64_t n, const double *away, double width, double *out)
{
    static const conv_kernel *const kernels[N_OPS] = {
#define OP(name, kind, domain, params, units, linear, jumps, later, reads, scratch, tolerance,     \
           formula)                                                                                \
    CONV_OF_##kind(name),
#include "tables/ops.def"
#undef OP
    };
    const conv_side *s = &kernels[op]->sides[side];
    for (int64_t i = 0; i < n; i++)
        out[i] = s->mass ? s->mass(away[i], width) : 0.0;
}
