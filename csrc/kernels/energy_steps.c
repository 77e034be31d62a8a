/* energy_steps.c: kernels of steps, smooth backgrounds and asymmetric lines over the energy axis,
 * value and partial derivatives together. The formulas stand in ops.def, the living definitions in
 * pyspec/functions/energy.py. */
#include "isa/kernel.h"
#include "math/vmath.h"

/* 1 / width, at most 1e300: 0 times infinity is NaN. */
static ALWAYS_INLINE double bounded_inverse(double width)
{
    return v_clamp(1.0 / width, 1e300);
}

KERNEL(ErfStep)
{
    double scale[L];
    FOR_LANES scale[l] = bounded_inverse(P(2));
    FOR_VALUES {
        double u = v_clamp((X - P(1)) * scale[l], 1e150);
        double rise = 0.5 * v_erfc(-u * PYSPEC_SQRT1_2);
        y[AT] = P(0) * rise;
        if (want) {
            double slope = P(0) * v_exp(-0.5 * (u * u)) * PYSPEC_SQRT1_2PI;
            d[0][AT] = rise;
            d[1][AT] = -slope * scale[l];
            d[2][AT] = -(slope * u) * scale[l];
        }
    }
}

/* Below the step 1/2 + atan(v) / pi cancels; there it is atan(-1 / v) / pi. */
KERNEL(AtanStep)
{
    double scale[L];
    FOR_LANES scale[l] = bounded_inverse(P(2));
    FOR_VALUES {
        double v = v_clamp(2.0 * ((X - P(1)) * scale[l]), 1e150);
        int is_low = v < -1.0;
        double angle = v_atan(is_low ? -1.0 / v : v);
        double rise = (is_low ? 0.0 : 0.5) + angle / PYSPEC_PI;
        y[AT] = P(0) * rise;
        if (want) {
            double slope = P(0) / (PYSPEC_PI * (1.0 + v * v));
            d[0][AT] = rise;
            d[1][AT] = -2.0 * slope * scale[l];
            d[2][AT] = -(slope * v) * scale[l];
        }
    }
}

KERNEL(PolyBack)
{
    FOR_VALUES {
        double run = X - P(3);
        y[AT] = run * (P(0) + run * (P(1) + run * P(2)));
        if (want) {
            d[0][AT] = run;
            d[1][AT] = run * run;
            d[2][AT] = run * (run * run);
            d[3][AT] = -(P(0) + run * v_sum_of_products(2.0, P(1), run, 3.0 * P(2)));
        }
    }
}

KERNEL(ExpBack)
{
    FOR_VALUES {
        double run = X - P(1);
        double shape = v_exp(-P(2) * run);
        double height = v_scaled(P(0), shape);
        y[AT] = height;
        if (want) {
            d[0][AT] = shape;
            d[1][AT] = height * P(2);
            d[2][AT] = -(height * run);
        }
    }
}

/* Nothing where x <= 0. The ratio is kept where v_log knows it. */
KERNEL(PowerBack)
{
    FOR_VALUES {
        double x = X, ratio = v_clamp(x / P(1), 1e300);
        int is_inside = !(x <= 0.0); /* NaN stays NaN */
        ratio = ratio < 1e-300 ? 1e-300 : ratio;
        double log_ratio = v_log(ratio);
        double shape = v_exp(-P(2) * log_ratio);
        shape = is_inside ? shape : 0.0;
        double height = v_scaled(P(0), shape);
        y[AT] = height;
        if (want) {
            double by_x0 = v_clamp(height * P(2) / P(1), 1e300); /* x0 may be 1e-300 */
            double by_r = -(height * log_ratio);
            d[0][AT] = shape;
            d[1][AT] = is_inside ? by_x0 : 0.0; /* of any r, NaN too */
            d[2][AT] = is_inside ? by_r : 0.0;
        }
    }
}

/* With d = x - x0 and e = exp(a d): u = d (1 + e) / (2 F). Its derivative by a is u d e / (1 + e),
 * which stays finite where e does not. */
KERNEL(GLSAsym)
{
    const double ln16 = 4.0 * PYSPEC_LN2;
    double half[L], width[L];
    FOR_LANES {
        width[l] = bounded_inverse(P(2));
        half[l] = 0.5 * width[l];
    }
    FOR_VALUES {
        double run = X - P(1);
        double steep = v_clamp(P(4) * run, 300.0); /* as the reference: 1e-260 and less */
        double e = v_exp(steep), share = e / (1.0 + e);
        double stretch = v_clamp(half[l] * (1.0 + e), 1e300);
        double u = v_clamp(run * stretch, 1e150);
        double q = u * u;
        double gauss = v_exp(-ln16 * q);
        double lorentz = 1.0 / (1.0 + 4.0 * q);
        double shape = (1.0 - P(3)) * gauss + P(3) * lorentz;
        y[AT] = P(0) * shape;
        if (want) {
            double by_u = -P(0) * ((1.0 - P(3)) * (2.0 * ln16 * (gauss * u)) +
                                   P(3) * (8.0 * lorentz * (lorentz * u)));
            double by_log = by_u * u;
            d[0][AT] = shape;
            d[1][AT] = -(by_u * stretch) * (1.0 + steep * share);
            d[2][AT] = -by_log * width[l];
            d[3][AT] = P(0) * (lorentz - gauss);
            d[4][AT] = by_log * (run * share);
        }
    }
}

/* log(1 + q) for q >= 0, with what the sum has lost. */
static ALWAYS_INLINE double log_one_plus(double q)
{
    double sum = 1.0 + q;
    double lost = q < 1.0 ? q - (sum - 1.0) : 0.0;
    return v_log(sum) + lost / sum;
}

KERNEL(LA)
{
    double width[L];
    FOR_LANES width[l] = bounded_inverse(P(2));
    FOR_VALUES {
        double run = X - P(1), left = P(3), right = P(4);
        double u = v_clamp(run * width[l], 1e150);
        double q = 4.0 * (u * u);
        double power = run > 0.0 ? right : left;
        double log_q = log_one_plus(q);
        double shape = v_exp(-power * log_q);
        y[AT] = P(0) * shape;
        if (want) {
            double height = P(0) * shape;
            double by_power = -(height * log_q);
            double inverse = 8.0 * u / (1.0 + q);
            double slope = height * inverse * power;
            d[0][AT] = shape;
            d[1][AT] = slope * width[l];
            d[2][AT] = slope * u * width[l];
            d[3][AT] = run > 0.0 ? 0.0 : by_power;
            d[4][AT] = run > 0.0 ? by_power : 0.0;
        }
    }
}

/* LA with a power that grows with the square of the distance. */
KERNEL(LF)
{
    double width[L], damping[L];
    FOR_LANES {
        width[l] = bounded_inverse(P(2));
        damping[l] = bounded_inverse(P(5));
    }
    FOR_VALUES {
        double run = X - P(1), left = P(3), right = P(4);
        double u = v_clamp(run * width[l], 1e150);
        double away = v_clamp(run * damping[l], 1e150);
        double q = 4.0 * (u * u), grown = away * away;
        double power = (run > 0.0 ? right : left) + grown;
        double log_q = log_one_plus(q);
        double shape = v_exp(-power * log_q);
        y[AT] = P(0) * shape;
        if (want) {
            double height = P(0) * shape;
            double by_power = -(height * log_q);
            double inverse = 8.0 * u / (1.0 + q);
            double slope = height * inverse * power;
            double by_grown = -2.0 * (by_power * away) * damping[l];
            d[0][AT] = shape;
            d[1][AT] = slope * width[l] + by_grown;
            d[2][AT] = slope * u * width[l];
            d[3][AT] = run > 0.0 ? 0.0 : by_power;
            d[4][AT] = run > 0.0 ? by_power : 0.0;
            d[5][AT] = by_grown * away;
        }
    }
}
