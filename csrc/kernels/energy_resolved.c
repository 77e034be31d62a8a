/* energy_resolved.c: lines and backgrounds under a Gaussian resolution of the energies. The formulas
 * stand in ops.def, the living definitions in pyspec/functions/resolution.py; smear.h says how what
 * has no closed form is integrated. */
#include "math/faddeeva.h"
#include "isa/kernel.h"
#include "kernels/smear.h"
#include "math/vmath.h"

#define BUILD_OF(name) JOIN(k_, name, ISA_SUFFIX)

/* The length of the hypotenuse, and the shares of both sides in it. */
typedef struct resolved_width {
    double total[L], own[L], given[L], inverse[L];
} resolved_width;

static ALWAYS_INLINE void resolved_widths(const double *own, const double *given,
                                          resolved_width *to)
{
    FOR_LANES {
        double a = v_clamp(own[l], 1e300), b = v_clamp(given[l], 1e300);
        double larger = a < b ? b : a, smaller = a < b ? a : b;
        larger = larger < 1e-300 ? 1e-300 : larger;
        double ratio = smaller / larger;
        to->total[l] = v_clamp(larger * sqrt(1.0 + ratio * ratio), 1e300);
        to->inverse[l] = v_clamp(1.0 / to->total[l], 1e300);
        to->own[l] = a / to->total[l];
        to->given[l] = b / to->total[l];
    }
}

/* A function whose width of number k a resolution adds to: all else stays. */
static void widened(const pyspec_block *b, const double *p, double *y, double *const *d,
                    pyspec_kernel *kernel, int n_params, int k)
{
    double params[MAX_PARAMS * L];
    resolved_width width;
    resolved_widths(p + k * L, p + n_params * L, &width);
    for (int j = 0; j < n_params; j++)
        FOR_LANES params[j * L + l] = j == k ? width.total[l] : P(j);
    kernel(b, params, y, d);
    for (int64_t i = 0; d && i < b->n; i++)
        FOR_LANES {
            double by_width = d[k][AT];
            d[n_params][AT] = by_width * width.given[l];
            d[k][AT] = by_width * width.own[l];
        }
}

KERNEL(resolution)
{
    FOR_VALUES {
        double inverse = v_clamp(1.0 / P(0), 1e300), u = v_clamp(X * inverse, 1e150);
        double density = v_exp(-0.5 * (u * u)) * PYSPEC_SQRT1_2PI * inverse;
        y[AT] = density;
        if (want)
            d[0][AT] = v_clamp(density * (u * u - 1.0) * inverse, 1e300);
    }
}

KERNEL(Gauss_resolution)
{
    resolved_width width;
    resolved_widths(p + 2 * L, p + 3 * L, &width);
    FOR_VALUES {
        double own = width.own[l], given = width.given[l], inverse = width.inverse[l];
        double u = v_clamp((X - P(1)) * inverse, 1e150);
        double e = v_exp(-0.5 * (u * u));
        y[AT] = P(0) * (own * e);
        if (want) {
            double scale = P(0) * e * inverse;
            d[0][AT] = own * e;
            d[1][AT] = scale * own * u;
            d[2][AT] = scale * (given * given + own * own * (u * u));
            d[3][AT] = scale * (own * given * (u * u - 1.0));
        }
    }
}

/* ---- lines with a Lorentzian part --------------------------------------------------------- */

static void resolved_w(const double *x, const double *y, const double *p, w_lanes *to)
{
    w_vector(x, y, p, 0, to);
}

static void resolved_w_partials(const double *x, const double *y, const double *p, w_lanes *to)
{
    w_vector(x, y, p, 1, to);
}

/* exp(-4 pi y), which w takes. */
static ALWAYS_INLINE void resolved_powers(const double *y, double *powers)
{
    FOR_LANES powers[l] = v_exp(-4.0 * PYSPEC_PI * y[l]);
}

/* A sqrt(pi) v V(u, v). The heat equation gives V + u V_u + v V_v = -V_uu / 2: the derivative by R
 * is one curvature. `share` is its part in a sum. */
static ALWAYS_INLINE void lorentz_resolved(const pyspec_block *b, int64_t i, const double *p,
                                           const double *W, const double *R, int across, int want,
                                           w_lanes *w, double *s, double *v)
{
    double u[L], powers[L];
    FOR_LANES {
        s[l] = v_clamp(PYSPEC_SQRT1_2 / R[l], 1e300);
        v[l] = v_clamp(0.5 * W[l] * s[l], 1e150);
        u[l] = v_clamp((X - P(1)) * s[l], 1e150);
    }
    resolved_powers(v, powers);
    if (want)
        resolved_w_partials(u, v, powers, w);
    else
        resolved_w(u, v, powers, w);
}

KERNEL(Lorentz_resolution)
{
    double s[L], v[L];
    w_lanes w;
    FOR_VECTORS {
        lorentz_resolved(b, i, p, p + 2 * L, p + 3 * L, across, want, &w, s, v);
        FOR_LANES {
            double unit = PYSPEC_SQRT_PI * v[l], scale = P(0) * unit;
            y[AT] = scale * w.v[l];
            if (want) {
                d[0][AT] = unit * w.v[l];
                d[1][AT] = -scale * w.dx[l] * s[l];
                d[2][AT] = P(0) * (0.5 * PYSPEC_SQRT_PI) * (w.v[l] + v[l] * w.dy[l]) * s[l];
                d[3][AT] = scale * w.dxx[l] * s[l] * PYSPEC_SQRT1_2;
            }
        }
    }
}

KERNEL(GLS_resolution)
{
    const double to_sd = 1.0 / sqrt(8.0 * PYSPEC_LN2);
    double s[L], v[L], sd[L];
    resolved_width width;
    w_lanes w;
    FOR_LANES sd[l] = P(2) * to_sd;
    resolved_widths(sd, p + 4 * L, &width);
    FOR_VECTORS {
        lorentz_resolved(b, i, p, p + 2 * L, p + 4 * L, across, want, &w, s, v);
        FOR_LANES {
            double own = width.own[l], given = width.given[l], inverse = width.inverse[l];
            double u = v_clamp((X - P(1)) * inverse, 1e150);
            double e = v_exp(-0.5 * (u * u)), gauss = own * e;
            double unit = PYSPEC_SQRT_PI * v[l], lorentz = unit * w.v[l];
            double shape = (1.0 - P(3)) * gauss + P(3) * lorentz;
            y[AT] = P(0) * shape;
            if (want) {
                double of_gauss = (1.0 - P(3)) * P(0) * e * inverse, of_lorentz = P(3) * P(0);
                double by_w = (0.5 * PYSPEC_SQRT_PI) * (w.v[l] + v[l] * w.dy[l]) * s[l];
                d[0][AT] = shape;
                d[1][AT] = of_gauss * own * u - of_lorentz * unit * w.dx[l] * s[l];
                d[2][AT] = of_gauss * to_sd * (given * given + own * own * (u * u)) +
                           of_lorentz * by_w;
                d[3][AT] = P(0) * (lorentz - gauss);
                d[4][AT] = of_gauss * (own * given * (u * u - 1.0)) +
                           of_lorentz * unit * w.dxx[l] * s[l] * PYSPEC_SQRT1_2;
            }
        }
    }
}

/* A SD V(u, v) / (T V(0, v0)). The derivative by T is the curvature again, by the heat equation.
 * SD / V(0, v0) changes with SD by -V_uu(0, v0) / (2 V(0, v0)^2). */
KERNEL(Voigt_resolution)
{
    double s[L], v[L], top[L], powers[L], at_top[L], u[L] = {0};
    double by_y[L], by_xx[L], s0[L];
    resolved_width width;
    w_lanes w, w0;
    resolved_widths(p + 2 * L, p + 4 * L, &width);
    FOR_LANES {
        double tiny = 1e-12 * P(3); /* as in Voigt */
        double sd = (P(2) > 0.0 ? P(2) : tiny) < tiny ? tiny : P(2);
        s0[l] = v_clamp(PYSPEC_SQRT1_2 / sd, 1e300);
        at_top[l] = v_clamp(0.5 * P(3) * s0[l], 1e150);
        s[l] = v_clamp(PYSPEC_SQRT1_2 * width.inverse[l], 1e300);
        v[l] = v_clamp(0.5 * P(3) * s[l], 1e150);
    }
    resolved_powers(at_top, powers);
    resolved_w_partials(u, at_top, powers, &w0);
    FOR_LANES {
        double tiny = 1e-12 * P(3);
        double sd = (P(2) > 0.0 ? P(2) : tiny) < tiny ? tiny : P(2);
        top[l] = v_clamp(sd / w0.v[l], 1e300) * width.inverse[l];
        by_y[l] = w0.dy[l] / w0.v[l];
        by_xx[l] = 0.5 * (w0.dxx[l] / w0.v[l]) / w0.v[l] * width.inverse[l];
        by_xx[l] = P(2) < tiny ? 0.0 : by_xx[l];
    }
    resolved_powers(v, powers);
    FOR_VECTORS {
        FOR_LANES u[l] = v_clamp((X - P(1)) * s[l], 1e150);
        if (want)
            resolved_w_partials(u, v, powers, &w);
        else
            resolved_w(u, v, powers, &w);
        FOR_LANES {
            double scale = P(0) * top[l];
            y[AT] = scale * w.v[l];
            if (want) {
                double by_total = 0.5 * scale * w.dxx[l] * width.inverse[l];
                d[0][AT] = top[l] * w.v[l];
                d[1][AT] = -scale * w.dx[l] * s[l];
                d[2][AT] = by_total * width.own[l] - P(0) * w.v[l] * by_xx[l];
                d[3][AT] = 0.5 * scale * (w.dy[l] * s[l] - w.v[l] * (by_y[l] * s0[l]));
                d[4][AT] = by_total * width.given[l];
            }
        }
    }
}

/* ---- backgrounds -------------------------------------------------------------------------- */

KERNEL(Offset_resolution)
{
    (void)across;
    FOR_VALUES {
        y[AT] = P(0);
        if (want) {
            d[0][AT] = 1.0;
            d[1][AT] = 0.0;
        }
    }
}

/* What blurring adds at a distance u from a bend, in units of R: phi - |z| Phi(-|z|), z = u / R. */
static ALWAYS_INLINE void bend_at(double u, double inverse, double *added, double *above,
                                  double *density)
{
    double z = v_clamp(u * inverse, 1e150);
    *above = 0.5 * v_erfc(-z * PYSPEC_SQRT1_2);
    double bell = v_exp(-0.5 * (z * z)), outside = 0.5 * v_erfc(fabs(z) * PYSPEC_SQRT1_2);
    *density = bell * PYSPEC_SQRT1_2PI;
    *added = v_sum_of_products(-fabs(z), outside, bell, PYSPEC_SQRT1_2PI);
}

KERNEL(LinBack_resolution)
{
    double inverse[L];
    FOR_LANES inverse[l] = v_clamp(1.0 / P(4), 1e300);
    FOR_VALUES {
        double x = X, start, stop, above_start, above_stop, at_start, at_stop;
        double R = v_clamp(P(4), 1e300);
        bend_at(x - P(2), inverse[l], &start, &above_start, &at_start);
        bend_at(x - P(3), inverse[l], &stop, &above_stop, &at_stop);
        double run = (x < P(2) ? P(2) : x > P(3) ? P(3) : x) - P(2);
        run = v_clamp(run + R * (start - stop), 1e300);
        y[AT] = P(0) * run + P(1);
        if (want) {
            d[0][AT] = run;
            d[1][AT] = 1.0;
            d[2][AT] = -P(0) * above_start;
            d[3][AT] = P(0) * above_stop;
            d[4][AT] = P(0) * (at_start - at_stop);
        }
    }
}

KERNEL(PolyBack_resolution)
{
    FOR_VALUES {
        double run = X - P(3), second = v_square_sum(run, P(4));
        double third = run * v_sum_of_products(run, run, 3.0 * P(4), P(4));
        y[AT] = P(0) * run + v_sum_of_products(P(1), second, P(2), third);
        if (want) {
            d[0][AT] = run;
            d[1][AT] = second;
            d[2][AT] = third;
            d[3][AT] = -(P(0) + 2.0 * P(1) * run + 3.0 * P(2) * second);
            d[4][AT] = 2.0 * P(4) * (P(1) + 3.0 * P(2) * run);
        }
    }
}

KERNEL(ExpBack_resolution)
{
    FOR_VALUES {
        double run = v_clamp(X - P(1), 1e300), spread = v_clamp(P(2) * P(3), 1e150);
        double shape = v_exp(-P(2) * run + 0.5 * (spread * spread));
        double height = v_scaled(P(0), shape);
        y[AT] = height;
        if (want) {
            d[0][AT] = shape;
            d[1][AT] = height * P(2);
            d[2][AT] = height * v_sum_of_products(spread, P(3), -1.0, run);
            d[3][AT] = height * (spread * P(2));
        }
    }
}

KERNEL(ErfStep_resolution)
{
    (void)across, (void)want;
    widened(b, p, y, d, BUILD_OF(ErfStep), 3, 2);
}

KERNEL(FermiEdge_resolution)
{
    (void)across, (void)want;
    widened(b, p, y, d, BUILD_OF(FermiEdge), 6, 3);
}

KERNEL(Mahan_resolution)
{
    (void)across, (void)want;
    widened(b, p, y, d, BUILD_OF(Mahan), 5, 2);
}

/* ---- without a closed form ---------------------------------------------------------------- */

/* A line that looks alike at all distances from its centre, but for the width on each side. */
static ALWAYS_INLINE void smear_alike(smear_line *line, pyspec_kernel *kernel, int n_params)
{
    line->kernel = kernel;
    line->n_params = n_params;
    FOR_LANES {
        line->shift[l] = 0.0;
        line->grow[l] = 3.0;
    }
}

KERNEL(GaussAsym_resolution)
{
    smear_line line;
    (void)across, (void)want;
    smear_alike(&line, BUILD_OF(GaussAsym), 4);
    FOR_LANES {
        line.left[l] = SMEAR_WIDEST * P(2);
        line.right[l] = SMEAR_WIDEST * (P(2) * P(3));
    }
    smear(b, p, y, d, &line);
}

/* The standard deviation where it is a Gaussian, and twice the distance of the poles. Beyond
 * 0 <= m <= 1 the line has poles, or no end. */
KERNEL(GLP_resolution)
{
    smear_line line;
    (void)across, (void)want;
    smear_alike(&line, BUILD_OF(GLP), 4);
    FOR_LANES {
        double gauss = 1.48 / sqrt(smear_within(1.0 - P(3), 1e-9, 1.0));
        double lorentz = 1.0 / sqrt(smear_within(P(3), 1e-9, 1.0));
        line.left[l] = line.right[l] = P(2) * (gauss < lorentz ? gauss : lorentz);
    }
    smear(b, p, y, d, &line);
    for (int k = -1; k < (d ? 5 : 0); k++)
        FOR_VALUES {
            double *to = k < 0 ? y : d[k];
            to[AT] = P(3) < 0.0 || P(3) > 1.0 ? NAN : to[AT];
        }
}

/* Beside the width at x0 the length counts over which the width changes. */
KERNEL(GLSAsym_resolution)
{
    smear_line line;
    (void)across, (void)want;
    smear_alike(&line, BUILD_OF(GLSAsym), 5);
    FOR_LANES {
        double width = 1.0 / (1.0 / P(2) + fabs(P(4)));
        line.left[l] = line.right[l] = 0.7 * width;
        line.grow[l] = 1.5;
    }
    smear(b, p, y, d, &line);
}

/* Twice the distance of the poles; with a large power a Gaussian of a standard deviation of
 * W / sqrt(8 power). */
static ALWAYS_INLINE double smear_power(double W, double power)
{
    double gauss = 1.2 / sqrt(smear_within(power, 1e-9, 1e18));
    return W * (gauss < 1.0 ? gauss : 1.0);
}

KERNEL(LA_resolution)
{
    smear_line line;
    (void)across, (void)want;
    smear_alike(&line, BUILD_OF(LA), 5);
    FOR_LANES {
        line.left[l] = smear_power(P(2), P(3));
        line.right[l] = smear_power(P(2), P(4));
    }
    smear(b, p, y, d, &line);
}

/* Like LA, and the length over which the damped line falls. */
KERNEL(LF_resolution)
{
    smear_line line;
    (void)across, (void)want;
    smear_alike(&line, BUILD_OF(LF), 6);
    FOR_LANES {
        double damped = 0.7 * P(5), left = smear_power(P(2), P(3)), right = smear_power(P(2), P(4));
        line.left[l] = left < damped ? left : damped;
        line.right[l] = right < damped ? right : damped;
        line.grow[l] = 1.5;
    }
    smear(b, p, y, d, &line);
}

static ALWAYS_INLINE void smear_ds(const pyspec_block *b, const double *restrict p,
                                   double *restrict y, double *const *d, pyspec_kernel *kernel)
{
    smear_line line;
    smear_alike(&line, kernel, 4);
    FOR_LANES line.left[l] = line.right[l] = 2.0 * P(2);
    smear(b, p, y, d, &line);
}

KERNEL(DS_resolution)
{
    (void)across, (void)want;
    smear_ds(b, p, y, d, BUILD_OF(DS));
}

KERNEL(DSBinding_resolution)
{
    (void)across, (void)want;
    smear_ds(b, p, y, d, BUILD_OF(DSBinding));
}

KERNEL(AtanStep_resolution)
{
    smear_line line;
    (void)across, (void)want;
    smear_alike(&line, BUILD_OF(AtanStep), 3);
    FOR_LANES line.left[l] = line.right[l] = P(2);
    smear(b, p, y, d, &line);
}

/* In v = ln(1 + 2 b u) the line is a Gaussian with a standard deviation of |b| / sqrt(2 ln2): the
 * panels grow from where it ends, and are even in v. With a small skew this end is too far off to
 * count from; what lies there is below e^-60, and the panels stand around x0. */
KERNEL(SkewGauss_resolution)
{
    smear_line line;
    (void)across, (void)want;
    smear_alike(&line, BUILD_OF(SkewGauss), 4);
    FOR_LANES {
        double skew = smear_within(fabs(P(3)), 1e-3, 10.0);
        int is_skew = fabs(P(3)) > 0.08;
        double end = 0.5 * P(2) / skew;
        double grown = v_exp(1.5 * skew);
        double at_end = end * v_exp(-9.0 * skew), straight = 1.2 * P(2);
        double sign = P(3) < 0.0 ? 1.0 : -1.0;
        line.shift[l] = is_skew ? sign * end : 0.0;
        line.left[l] = line.right[l] = is_skew ? at_end : straight;
        line.grow[l] = is_skew && grown < 3.0 ? grown : 3.0;
    }
    smear(b, p, y, d, &line);
}
