/* energy_ds.c: Doniach and Sunjic's line, value and partial derivatives. The formula stands in ops.def,
 * the living definition in pyspec/functions/energy.py. */
#include "exp_lanes.h"
#include "kernel.h"
#include "tame.h"

/* With r^2 = F^2 + (x - x0)^2 and a = 1 - alpha: A cos(phase) r^-a. */
static ALWAYS_INLINE void ds_values(const pyspec_block *b, const double *restrict p,
                                    double *restrict y, double *const *d, const int across,
                                    const int want, const int tame)
{
    double width[L];
    FOR_LANES width[l] = v_clamp(P(2), 1e150);
    FOR_VECTORS {
        double run[L], square[L], log_r[L], angle[L], power[L], phase[L], sine[L], cosine[L];
        IN_LANES run[l] = X - P(1);
        if (!tame)
            clamp_lanes(run, 1e150);
        IN_LANES {
            angle[l] = v_atan_of(run[l], P(2));
            square[l] = v_square_sum(P(2), run[l]);
        }
        if (!tame)
            IN_LANES {
                double sum = 1e300 < square[l] ? 1e300 : square[l];
                square[l] = 1e-300 > sum ? 1e-300 : sum;
            }
        IN_LANES {
            log_r[l] = 0.5 * (tame ? v_log_inside(square[l]) : v_log(square[l]));
            power[l] = (P(3) - 1.0) * log_r[l];
        }
        exp_lanes(power, tame);
        IN_LANES phase[l] = v_sum_of_products(0.5 * PYSPEC_PI, P(3), 1.0 - P(3), angle[l]);
        if (!tame) /* where v_sincos ends, far beyond any alpha of a line: not nonsense */
            clamp_lanes(phase, 1e15);
        IN_LANES {
            v_sincos(phase[l], &sine[l], &cosine[l]);
            y[AT] = P(0) * (cosine[l] * power[l]);
        }
        if (!want)
            continue;
        if (READS(0))
            IN_LANES d[0][AT] = cosine[l] * power[l];
        IN_LANES power[l] = P(0) * power[l];
        if (READS(3))
            IN_LANES {
                double turn = 0.5 * PYSPEC_PI - angle[l];
                d[3][AT] = power[l] * v_sum_of_products(cosine[l], log_r[l], -sine[l], turn);
            }
        if (READS(1) || READS(2))
            IN_LANES {
                power[l] = (1.0 - P(3)) * power[l];
                square[l] = 1.0 / square[l];
            }
        if (READS(1))
            IN_LANES {
                double by_x0 = v_sum_of_products(width[l], sine[l], run[l], cosine[l]);
                d[1][AT] = power[l] * (square[l] * by_x0);
            }
        if (READS(2))
            IN_LANES {
                double by_width = v_sum_of_products(run[l], sine[l], -width[l], cosine[l]);
                d[2][AT] = power[l] * (square[l] * by_width);
            }
    }
}

KERNEL(DS)
{
    const x_range range = range_of(b, across);
    int tame = 1;
    FOR_LANES
        tame &= P(2) > 1e-140 && P(2) < 1e140 && fabs(P(3)) <= 1.0 && farthest(range, P(1)) < 1e140;
    if (tame)
        ds_values(b, p, y, d, across, want, 1);
    else
        ds_values(b, p, y, d, across, want, 0);
}
