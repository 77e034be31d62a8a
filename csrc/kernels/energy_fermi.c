/* energy_fermi.c: the Fermi edge under a Gaussian resolution. The formula stands in ops.def, the
 * living definition in pyspec/functions/fermi.py.
 *
 * F(d) is the Fermi function of the width kT convolved with the Gaussian of the width SD, and
 * s = SD / kT. Three ways, each with an error of some 1e-16 of F(-inf) = 1:
 *
 *   - s <= 0.4: trapezoidal rule over the Gaussian, derivatives of the Fermi function at its nodes.
 *     The poles of the Fermi function are far away: they contribute only e^-39.
 *   - s < 10: the same rule, derivatives of the Gaussian at its nodes, and the residues of the poles
 *     of the Fermi function up to |Im| < 5 (D. B. Hunter & T. Regan, Math. Comp. 26, 539
 *     (1972)); the next one contributes e^-37.
 *   - s >= 10: A. Sommerfeld's expansion, Z. Phys. 47, 1 (1928): derivatives of the Gaussian times
 *     powers of 1 / s^2; the 20th term is below 1e-16.
 */
#include "isa/kernel.h"
#include "math/vmath.h"

enum { FERMI_NODES = 12, FERMI_POLES = 11, FERMI_TERMS = 20 };

#define FERMI_STEEP 0.4
#define FERMI_SMOOTH 10.0
/* eV / K: 1.380649e-23 / 1.602176634e-19, both exact since 2019. */
#define BOLTZMANN (1.380649e-23 / 1.602176634e-19)

/* exp(-v^2) / (2 sqrt(pi)) at the nodes v = k / 2, k = 0 ... 12. */
static const double fermi_weight[FERMI_NODES + 1] = {
    0.28209479177387814, 0.2196956447338612, 0.10377687435514868, 0.029732572305907343,
    0.0051667463385230135, 0.00054457105758817743, 3.4813262986686963e-5, 1.3498566943461956e-6,
    3.1745586679666396e-8, 4.5282647397717248e-10, 3.9177166327543338e-12, 2.0558290113157305e-14,
    6.5432530981231621e-17};

/* 2 (1 - 2^(1 - 2k)) zeta(2k), k = 1 ... 20: the series of pi D / sin(pi D). */
static const double fermi_series[FERMI_TERMS] = {
    1.6449340668482264, 1.8940656589944918, 1.9711021825948702, 1.9924660037052958,
    1.9980790151965431, 1.9995153702877164, 1.9998783406919594, 1.9999695284298122,
    1.9999923757392202, 1.999998093223163, 1.9999995232264616, 1.9999998807977848,
    1.999999970198464, 1.9999999925495068, 1.9999999981373646, 1.9999999995343398,
    1.9999999998835848, 1.9999999999708962, 1.999999999992724, 1.999999999998181};

/* What a row holds. `unit` is kT for s <= 0.4, else SD; lengths count in it. */
typedef struct fermi_row {
    double unit[L], inverse[L], blur[L], mixed[L], shrink[L], first_pole[L];
    double growth[FERMI_NODES + 1][L], amplitude[FERMI_POLES][L], decay[FERMI_POLES][L];
    uint64_t steep[L], smooth[L], any_steep, any_mixed, any_smooth;
} fermi_row;

/* At a distance d >= 0: F, its derivatives by d, `hot` = kT dF/dkT and the derivative of that;
 * without `want` only F and d1. */
typedef struct fermi_lanes {
    double f[L], d1[L], d2[L], d3[L], hot[L], hot_slope[L];
} fermi_lanes;

static ALWAYS_INLINE void fermi_prepare(const double *p, fermi_row *row)
{
    row->any_steep = row->any_mixed = row->any_smooth = 0;
    FOR_LANES {
        double width = v_clamp(P(3), 1e300), kT = v_clamp(BOLTZMANN * P(2), 1e300);
        kT = kT < 1e-300 ? 1e-300 : kT;
        double ratio = v_clamp(width / kT, 1e150);
        row->steep[l] = mask_of(ratio <= FERMI_STEEP);
        row->smooth[l] = mask_of(ratio >= FERMI_SMOOTH);
        row->any_steep |= row->steep[l];
        row->any_smooth |= row->smooth[l];
        row->any_mixed |= ~(row->steep[l] | row->smooth[l]);
        double unit = ratio <= FERMI_STEEP ? kT : width;
        row->unit[l] = unit;
        row->inverse[l] = v_clamp(1.0 / unit, 1e300);
        row->blur[l] = ratio <= FERMI_STEEP ? ratio : 1.0;
        double far = ratio < FERMI_SMOOTH ? FERMI_SMOOTH : ratio;
        row->shrink[l] = 1.0 / (far * far);
        double mixed = ratio > FERMI_SMOOTH ? FERMI_SMOOTH : ratio;
        row->mixed[l] = mixed < FERMI_STEEP ? FERMI_STEEP : mixed;
        double near = ratio > FERMI_SMOOTH ? FERMI_SMOOTH : ratio;
        for (int k = 0; k <= FERMI_NODES; k++)
            row->growth[k][l] = v_exp(near * PYSPEC_SQRT1_2 * k);
        row->first_pole[l] = PYSPEC_PI * PYSPEC_SQRT1_2 / row->mixed[l];
        for (int n = 0; n < FERMI_POLES; n++) {
            double y = row->first_pole[l] * (2 * n + 1);
            uint64_t felt = mask_of(y < 5.0);
            row->amplitude[n][l] = keep(felt, v_exp(y * y - 4.0 * PYSPEC_PI * y));
            row->decay[n][l] = keep(felt, v_exp(-4.0 * PYSPEC_PI * y));
        }
    }
}

/* Derivatives of the Fermi function at the nodes. z = d / kT. */
static ALWAYS_INLINE void fermi_steep(const fermi_row *row, const double *z, int want,
                                      fermi_lanes *to)
{
    double e[L];
    *to = (fermi_lanes){0};
    FOR_LANES e[l] = v_exp(v_clamp(z[l], 600.0));
    for (int k = -FERMI_NODES; k <= FERMI_NODES; k++) {
        double weight = fermi_weight[k < 0 ? -k : k];
        FOR_LANES {
            double growth = row->growth[k < 0 ? -k : k][l];
            double at = k < 0 ? e[l] * growth : e[l] / growth;
            double f = 1.0 / (1.0 + at), share = at * f * f;
            to->f[l] = v_product_plus(weight, f, to->f[l]);
            to->d1[l] = v_product_plus(-weight, share, to->d1[l]);
            if (want) {
                to->d2[l] += weight * share * (1.0 - 2.0 * f);
                to->d3[l] -= weight * share * (1.0 - 6.0 * share);
            }
        }
    }
}

/* Derivatives of the Gaussian at the nodes, minus the residues of F at the poles x + i y. Here
 * x = d / (SD sqrt2) and z = d / SD. The residues are sums of Im[exp(-v^2) h(v) q / (1 - q)],
 * q = exp(4 pi i v). */
static ALWAYS_INLINE void fermi_mixed(const fermi_row *row, const double *z, int want,
                                      fermi_lanes *to)
{
    double e[L], x[L], gauss[L], C[L], S[L], turn_c[L], turn_s[L], c[L], s[L];
    *to = (fermi_lanes){0};
    FOR_LANES {
        e[l] = v_exp(v_clamp(z[l] * row->mixed[l], 600.0));
        x[l] = v_clamp(z[l] * PYSPEC_SQRT1_2, 12.0);
        double density = keep(mask_of(x[l] < 12.0), v_exp(-(x[l] * x[l])));
        gauss[l] = density * (4.0 * PYSPEC_SQRT_PI * PYSPEC_SQRT1_2) / row->mixed[l];
        v_sincos(4.0 * PYSPEC_PI * x[l], &S[l], &C[l]);
        v_sincos(2.0 * x[l] * row->first_pole[l], &s[l], &c[l]);
        turn_c[l] = v_sum_of_products(c[l], c[l], -s[l], s[l]);
        turn_s[l] = 2.0 * c[l] * s[l];
    }
    for (int k = -FERMI_NODES; k <= FERMI_NODES; k++) {
        double weight = fermi_weight[k < 0 ? -k : k], u = k * PYSPEC_SQRT1_2;
        FOR_LANES {
            double growth = row->growth[k < 0 ? -k : k][l];
            double below = v_product_plus(e[l], growth, 1.0), above = 1.0 + e[l] / growth;
            double share = weight / (k < 0 ? below : above);
            to->f[l] += share;
            to->d1[l] = v_product_plus(-share, u, to->d1[l]);
            if (want) {
                to->d2[l] += share * (u * u - 1.0);
                to->d3[l] -= share * (u * (u * u - 3.0));
            }
        }
    }
    for (int n = 0; n < FERMI_POLES; n++)
        FOR_LANES {
            double b = row->decay[n][l];
            double size = gauss[l] * row->amplitude[n][l] / (1.0 + b * (b - 2.0 * C[l]));
            double re = size * v_sum_of_products(c[l], C[l] - b, s[l], S[l]);
            double im = size * v_sum_of_products(c[l], S[l], -s[l], C[l] - b);
            double a = 2.0 * PYSPEC_SQRT1_2 * x[l];
            double y = 2.0 * PYSPEC_SQRT1_2 * (row->first_pole[l] * (2 * n + 1));
            to->f[l] += im;
            to->d1[l] -= v_sum_of_products(a, im, y, re);
            if (want) {
                double r2 = a * a - y * y - 1.0, i2 = 2.0 * a * y;
                double r3 = a * (r2 - 2.0) - y * i2, i3 = a * i2 + y * (r2 - 2.0);
                to->d2[l] += r2 * im + i2 * re;
                to->d3[l] -= r3 * im + i3 * re;
            }
            double next = v_sum_of_products(c[l], turn_c[l], -s[l], turn_s[l]);
            s[l] = v_sum_of_products(s[l], turn_c[l], c[l], turn_s[l]);
            c[l] = next;
        }
}

/* Sommerfeld's series: the m-th derivative of the blurred step is (-1)^m He_(m - 1)(z) times the
 * normal density. z = d / SD. */
static ALWAYS_INLINE void fermi_smooth(const fermi_row *row, const double *z, int want,
                                       fermi_lanes *to)
{
    double odd[L], even[L], power[L], at[L];
    *to = (fermi_lanes){0};
    FOR_LANES {
        at[l] = v_clamp(z[l], 40.0);
        odd[l] = at[l];                    /* He_1 */
        even[l] = v_product_plus(at[l], at[l], -1.0); /* He_2 */
        power[l] = 1.0;
    }
    for (int k = 1; k <= FERMI_TERMS; k++)
        FOR_LANES {
            power[l] *= row->shrink[l];
            double factor = fermi_series[k - 1] * power[l];
            double next_odd = v_sum_of_products(at[l], even[l], -2 * k, odd[l]);
            double next_even = v_sum_of_products(at[l], next_odd, -(2 * k + 1), even[l]);
            to->f[l] = v_product_plus(factor, odd[l], to->f[l]);
            to->d1[l] = v_product_plus(factor, even[l], to->d1[l]);
            if (want) {
                to->d2[l] += factor * next_odd;
                to->d3[l] += factor * next_even;
                to->hot[l] += 2 * k * factor * odd[l];
                to->hot_slope[l] += 2 * k * factor * even[l];
            }
            odd[l] = next_odd;
            even[l] = next_even;
        }
    FOR_LANES {
        double density = v_exp(-0.5 * (at[l] * at[l])) * PYSPEC_SQRT1_2PI;
        to->f[l] = v_product_plus(density, to->f[l], 0.5 * v_erfc(z[l] * PYSPEC_SQRT1_2));
        to->d1[l] = -density * (1.0 + to->d1[l]);
        if (want) {
            to->d2[l] = density * (at[l] + to->d2[l]);
            to->d3[l] = -density * (at[l] * at[l] - 1.0 + to->d3[l]);
            to->hot[l] = density * to->hot[l];
            to->hot_slope[l] = -density * to->hot_slope[l];
        }
    }
}

/* Takes the lanes of `mask` from `from`. */
static ALWAYS_INLINE void fermi_take(const uint64_t *mask, int want, const fermi_lanes *from,
                                     fermi_lanes *to)
{
    FOR_LANES {
        to->f[l] = pick(mask[l], to->f[l], from->f[l]);
        to->d1[l] = pick(mask[l], to->d1[l], from->d1[l]);
        if (want) {
            to->d2[l] = pick(mask[l], to->d2[l], from->d2[l]);
            to->d3[l] = pick(mask[l], to->d3[l], from->d3[l]);
            to->hot[l] = pick(mask[l], to->hot[l], from->hot[l]);
            to->hot_slope[l] = pick(mask[l], to->hot_slope[l], from->hot_slope[l]);
        }
    }
}

/* F at z >= 0 in units. What no lane needs is left out: no lane's bits depend on it. */
static ALWAYS_INLINE void fermi_vector(const fermi_row *row, const double *z, int want,
                                       fermi_lanes *to)
{
    fermi_lanes other;
    if (row->any_mixed)
        fermi_mixed(row, z, want, to);
    else
        *to = (fermi_lanes){0};
    if (row->any_steep) {
        fermi_steep(row, z, want, &other);
        fermi_take(row->steep, want, &other, to);
    }
    if (want) /* F depends on d / kT and SD / kT only */
        FOR_LANES {
            double s = row->blur[l];
            to->hot[l] = -(z[l] * to->d1[l] + s * s * to->d2[l]);
            to->hot_slope[l] = -(to->d1[l] + z[l] * to->d2[l] + s * s * to->d3[l]);
        }
    if (row->any_smooth) {
        fermi_smooth(row, z, want, &other);
        fermi_take(row->smooth, want, &other, to);
    }
}

/* With the line s under the Gaussian: (s F)(d) = d F + SD^2 F', and s (1 - F) is the rest of d. At
 * the distance of the other sign F is 1 - F. */
KERNEL(FermiEdge)
{
    fermi_row row;
    fermi_prepare(p, &row);
    FOR_VECTORS {
        double run[L], z[L];
        fermi_lanes F;
        FOR_LANES {
            run[l] = X - P(1);
            z[l] = v_clamp(fabs(run[l]) * row.inverse[l], 1e150);
        }
        fermi_vector(&row, z, want, &F);
        FOR_LANES {
            uint64_t low = mask_of(run[l] < 0.0);
            double s = row.blur[l], unit = row.unit[l];
            double rest = unit * v_sum_of_products(z[l], F.f[l], s * s, F.d1[l]);
            double filled = pick(low, F.f[l], 1.0 - F.f[l]);
            double below = pick(low, rest, run[l] + rest);
            double above = pick(low, run[l] - rest, -rest);
            y[AT] = v_product_plus(P(0), filled, v_sum_of_products(P(4), below, P(5), above));
            if (want) {
                double sign = run[l] < 0.0 ? -1.0 : 1.0, kink = P(5) - P(4);
                double inverse = row.inverse[l];
                double bend = z[l] * F.d1[l] + s * s * F.d2[l];
                double by_below = pick(low, F.f[l] + bend, (1.0 - F.f[l]) - bend);
                double by_above = pick(low, (1.0 - F.f[l]) - bend, F.f[l] + bend);
                double curve = 2.0 * F.d1[l] + z[l] * F.d2[l] + s * s * F.d3[l];
                double heat = unit * (z[l] * F.hot[l] + s * s * F.hot_slope[l]);
                double slope = v_clamp(P(0) * F.d1[l] * inverse, 1e300);
                d[0][AT] = filled;
                d[1][AT] = -(slope + (P(4) * by_below + P(5) * by_above));
                d[2][AT] = v_clamp((sign * (P(0) * F.hot[l]) - kink * heat) / P(2), 1e300);
                d[3][AT] = s * (sign * (P(0) * F.d2[l] * inverse) - kink * curve);
                d[4][AT] = below;
                d[5][AT] = above;
            }
        }
    }
}
