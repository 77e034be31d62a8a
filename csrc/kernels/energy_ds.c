/* energy_ds.c: Doniach and Sunjic's line for kinetic and for binding energies, value and partial
 * derivatives. The formulas stand in ops.def, the living definitions in pyspec/functions/energy.py. */
#include "math/exp_lanes.h"
#include "isa/kernel.h"
#include "math/tame.h"

/* Vectors that go through a stage of the work together. A stage is short enough that a processor begins
 * the next vector long before it ends one, which it does not in a single long loop. */
enum { DS_TOGETHER = 16 };

/* Values of a stage for the next. */
typedef double staged[DS_TOGETHER * L];

#define FOR_STAGE for (int64_t i = begin; i < end; i++)
#define HERE ((i - begin) * L + l)

/* The differences d from x0, x - x0 or mirrored x0 - x; log r and angle of d + i F, with r^2. */
static ALWAYS_INLINE void ds_places(const pyspec_block *b, const double *restrict p, int64_t begin,
                                    int64_t end, const int across, const int mirrored, const int tame,
                                    double *restrict run, double *restrict square,
                                    double *restrict log_r, double *restrict angle)
{
    FOR_STAGE {
        double from[L], sum[L];
        IN_LANES from[l] = mirrored ? P(1) - X : X - P(1);
        if (!tame)
            clamp_lanes(from, 1e150);
        IN_LANES {
            run[HERE] = from[l];
            sum[l] = v_square_sum(P(2), from[l]);
        }
        if (!tame)
            IN_LANES {
                double most = 1e300 < sum[l] ? 1e300 : sum[l];
                sum[l] = 1e-300 > most ? 1e-300 : most;
            }
        IN_LANES square[HERE] = sum[l];
    }
    FOR_STAGE IN_LANES angle[HERE] = v_atan_of(run[HERE], P(2));
    FOR_STAGE IN_LANES
        log_r[HERE] = 0.5 * (tame ? v_log_inside(square[HERE]) : v_log(square[HERE]));
}

/* r^-a, sine and cosine of the phase, and r^-2 where r^2 was if it is wanted. */
static ALWAYS_INLINE void ds_turns(const double *restrict p, int64_t n, const double *restrict log_r,
                                   const double *restrict angle, const int tame, const int want,
                                   double *restrict square, double *restrict power,
                                   double *restrict sine, double *restrict cosine)
{
    for (int64_t i = 0; i < n; i++) {
        IN_LANES power[AT] = (P(3) - 1.0) * log_r[AT];
        exp_lanes(power + i * L, tame);
    }
    for (int64_t i = 0; i < n; i++) {
        double phase[L];
        IN_LANES phase[l] = v_sum_of_products(0.5 * PYSPEC_PI, P(3), 1.0 - P(3), angle[AT]);
        if (!tame) /* where v_sincos ends, far beyond any alpha of a line: not nonsense */
            clamp_lanes(phase, 1e15);
        IN_LANES v_sincos_by_size(phase[l], !tame, &sine[AT], &cosine[AT]);
        if (want) /* a division goes on beside them */
            IN_LANES square[AT] = 1.0 / square[AT];
    }
}

/* With r^2 = F^2 + d^2 and a = 1 - alpha: A cos(phase) r^-a. */
static ALWAYS_INLINE void ds_values(const pyspec_block *b, const double *restrict p,
                                    double *restrict y, double *const *d, const int across,
                                    const int want, const int mirrored, const int tame)
{
    staged run, square, log_r, angle, power, sine, cosine;
    double width[L];
    FOR_LANES width[l] = v_clamp(P(2), 1e150);
    for (int64_t begin = 0; begin < b->n; begin += DS_TOGETHER) {
        const int64_t end = begin + DS_TOGETHER < b->n ? begin + DS_TOGETHER : b->n;
        ds_places(b, p, begin, end, across, mirrored, tame, run, square, log_r, angle);
        ds_turns(p, end - begin, log_r, angle, tame, want, square, power, sine, cosine);
        FOR_STAGE IN_LANES y[AT] = P(0) * (cosine[HERE] * power[HERE]);
        if (!want)
            continue;
        if (READS(0))
            FOR_STAGE IN_LANES d[0][AT] = cosine[HERE] * power[HERE];
        if (READS(3))
            FOR_STAGE IN_LANES {
                double turn = 0.5 * PYSPEC_PI - angle[HERE];
                d[3][AT] = P(0) * power[HERE] *
                           v_sum_of_products(cosine[HERE], log_r[HERE], -sine[HERE], turn);
            }
        if (READS(1))
            FOR_STAGE IN_LANES {
                double by_x0 = v_sum_of_products(width[l], sine[HERE], run[HERE], cosine[HERE]);
                double slope = (1.0 - P(3)) * (P(0) * power[HERE]) * (square[HERE] * by_x0);
                d[1][AT] = mirrored ? -slope : slope;
            }
        if (READS(2))
            FOR_STAGE IN_LANES {
                double by_width = v_sum_of_products(run[HERE], sine[HERE], -width[l], cosine[HERE]);
                d[2][AT] = (1.0 - P(3)) * (P(0) * power[HERE]) * (square[HERE] * by_width);
            }
    }
}

static ALWAYS_INLINE void ds_line(const pyspec_block *b, const double *restrict p,
                                  double *restrict y, double *const *d, const int across,
                                  const int want, const int mirrored)
{
    const x_range range = range_of(b, across);
    double tame[L];
    FOR_LANES {
        const int is_wide = (P(2) > 1e-140) & (P(2) < 1e140), is_near = farthest(range, P(1)) < 1e140;
        tame[l] = (is_wide & is_near & (fabs(P(3)) <= 1.0)) ? 1.0 : 0.0;
    }
    if (all_lanes(tame))
        ds_values(b, p, y, d, across, want, mirrored, 1);
    else
        ds_values(b, p, y, d, across, want, mirrored, 0);
}

KERNEL(DS)
{
    ds_line(b, p, y, d, across, want, 0);
}

KERNEL(DSBinding)
{
    ds_line(b, p, y, d, across, want, 1);
}
