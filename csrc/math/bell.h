/* bell.h: exp(slope u^2), u = (x - x0) width, along evenly spaced abscissae: from each value to the next
 * by a few sums and products in place of an exponential.
 *
 * With d = step width the ratio of neighbours is exp(slope d (2 u + d)) = 1 + rise. From each ratio to the
 * next the factor is the same, exp(2 slope d^2) = 1 + growth:
 *
 *     value' = value + value rise,    rise' = rise + growth + rise growth.
 *
 * The rise, not the ratio, is kept: where values are large it is small, and its rounding does not count. After
 * a run of 8 steps, or of 16 where these are small, value and rise begin anew. Numbers of a file are even but
 * for their rounding: where an abscissa is off by v / width, its value is times 1 + 2 slope u v.
 *
 * Which way a lane goes depends on its own parameters and the abscissae alone. */
#ifndef PYSPEC_BELL_H
#define PYSPEC_BELL_H

#include "math/exp_lanes.h"
#include "math/tame.h"

/* Steps from one exponential to the next. */
enum { SHORT_RUN = 8, LONG_RUN = 16 };

/* How a block is computed: by exponentials with the ends of exp, or without them. By steps from each value to the
 * next, in runs of a common length. Or each lane in its own way. */
enum { BELL_EXACT, BELL_TAME, BELL_SHORT, BELL_LONG, BELL_MIXED };

/* Constants along a block. Each lane has its slope, d, factors, and the length of its runs, 0 for exponentials. Each
 * abscissa has its distance from an even grid that begins with its run, for both lengths. */
typedef struct bell_lanes {
    double slope[L], pace[L], pull[L], growth[L], run[L];
    double off[2][BLOCK * L];
    int needs_exp; /* whether a lane goes by exponentials */
} bell_lanes;

/* Values, and by what share the next ones are larger. */
typedef struct bell_state {
    vector value[L / WIDTH], rise[L / WIDTH];
} bell_state;

static ALWAYS_INLINE bell_state bell_idle(void)
{
    bell_state now;
    FOR_WIDTHS now.value[at / WIDTH] = now.rise[at / WIDTH] = NOTHING;
    return now;
}

/* One of the five ways, each a copy of what follows it. */
#define BY_BELL_WAY(way, values, ...)                                                              \
    switch (way) {                                                                                 \
    case BELL_TAME:                                                                                \
        values(__VA_ARGS__, BELL_TAME);                                                            \
        break;                                                                                     \
    case BELL_SHORT:                                                                               \
        values(__VA_ARGS__, BELL_SHORT);                                                           \
        break;                                                                                     \
    case BELL_LONG:                                                                                \
        values(__VA_ARGS__, BELL_LONG);                                                            \
        break;                                                                                     \
    case BELL_MIXED:                                                                               \
        values(__VA_ARGS__, BELL_MIXED);                                                           \
        break;                                                                                     \
    default:                                                                                       \
        values(__VA_ARGS__, BELL_EXACT);                                                           \
    }

#if defined(__GNUC__)
/* Fills `off`; returns the sum of all |off|, NaN where one is. What pads the last vector is not looked at. */
static ALWAYS_INLINE double find_off(const pyspec_block *b, double step, const int across, const int run,
                                     double *off)
{
    const int64_t width = across ? L : 1, n = across ? b->n_valid : b->n;
    double sums[WIDTH], sum = 0.0;
    vector all = NOTHING;
    for (int64_t begin = 0; begin < b->n; begin += run) {
        const double *x = b->x + begin * width;
        const int end = b->n - begin < run ? (int)(b->n - begin) : run;
        for (int k = 0; !across && k < end; k++)
            off[begin + k] = (x[k] - x[0]) - (double)k * step;
        for (int k = 0; across && k < end; k++)
            IN_LANES off[(begin + k) * L + l] = (x[k * L + l] - x[l]) - (double)k * step;
    }
    for (int64_t i = n; i < b->n * width || i % WIDTH; i++)
        off[i] = 0.0;
    for (int64_t i = 0; i < n; i += WIDTH) {
        const vector own = load_vector(off + i);
        all += greater(own, -own);
    }
    put_vector(sums, all, 1);
    for (int l = 0; l < WIDTH; l++)
        sum += sums[l];
    return sum;
}

/* The first value of a run, and the rise to the next; `within`: lanes of long runs are within theirs. */
static ALWAYS_INLINE void bell_restart(const bell_lanes *by, const double *u, const int within,
                                       bell_state *now)
{
    FOR_WIDTHS {
        const vector slope = load_vector(by->slope + at), pace = load_vector(by->pace + at);
        const vector own = load_vector(u + at), away = load_vector(by->run + at) - (double)LONG_RUN;
        const vector value = exp_inside(slope * (own * own), 1);
        const vector rise = rise_inside(slope * pace * (2.0 * own + pace));
        vector *to = now->value + at / WIDTH, *rise_to = now->rise + at / WIDTH;
        *to = within ? choose(away == 0.0, *to, value) : value;
        *rise_to = within ? choose(away == 0.0, *rise_to, rise) : rise;
    }
}

/* How far vector i of abscissae is from where whole steps lead, in runs of one length. */
static ALWAYS_INLINE vector off_in(const bell_lanes *by, const int is_long, int64_t i, int64_t at,
                                   const int across)
{
    const double *off = by->off[is_long];
    return across ? load_vector(off + i * L + at) : same_in_all(off[i]);
}

/* The same in the runs of each lane. */
static ALWAYS_INLINE vector own_off(const bell_lanes *by, int64_t i, int64_t at, const int across,
                                    const int way)
{
    if (way != BELL_MIXED)
        return off_in(by, way == BELL_LONG, i, at, across);
    const vector away = load_vector(by->run + at) - (double)LONG_RUN;
    return choose(away == 0.0, off_in(by, 1, i, at, across), off_in(by, 0, i, at, across));
}

/* The values at hand, and on to the next ones. */
static ALWAYS_INLINE void bell_step(const bell_lanes *by, const double *u, int64_t i, const int across,
                                    const int way, bell_state *now, double *to)
{
    if (i % (way == BELL_LONG ? LONG_RUN : SHORT_RUN) == 0) {
        if (way == BELL_MIXED && i % LONG_RUN != 0)
            bell_restart(by, u, 1, now);
        else
            bell_restart(by, u, 0, now);
    }
    FOR_WIDTHS {
        vector *value = now->value + at / WIDTH, *rise = now->rise + at / WIDTH;
        const vector growth = load_vector(by->growth + at);
        const vector off = own_off(by, i, at, across, way);
        const vector shift = load_vector(by->pull + at) * off * load_vector(u + at);
        put_vector(to + at, add_product(*value, *value, shift), 1);
        *value = add_product(*value, *value, *rise);
        *rise = add_product(*rise + growth, *rise, growth);
    }
}

/* The lengths of the runs of each lane, as rounding allows. A short run needs steps of at most a sixth of the way to
 * 1 / e, a long run of at most a twentieth. The abscissae must be as even as the numbers of a file are. */
static ALWAYS_INLINE void find_runs(const pyspec_block *b, const double *width, const double *slope,
                                    const double *tame, const int across, bell_lanes *by)
{
    const double last = b->x[(b->n - 1) * (across ? L : 1)];
    const double step = (last - b->x[0]) / (double)(b->n - 1);
    FOR_LANES {
        by->pace[l] = step * width[l];
        const double bend = -slope[l] * (by->pace[l] * by->pace[l]);
        const double run = bend <= 0.0025 ? LONG_RUN : SHORT_RUN;
        by->run[l] = bend <= 0.025 ? tame[l] * run : 0.0;
    }
    for (int k = 0; k < 2; k++) {
        const int run = k ? LONG_RUN : SHORT_RUN;
        double others[L];
        FOR_LANES others[l] = by->run[l] == (double)run ? 0.0 : 1.0;
        if (all_lanes(others))
            continue;
        const double off = find_off(b, step, across, run, by->off[k]);
        FOR_LANES {
            const double away = off * width[l];
            const int is_even = -slope[l] * (away * away) <= 1e-17;
            by->run[l] = others[l] != 0.0 || is_even ? by->run[l] : 0.0;
        }
    }
}
#endif

/* Which way a block goes. `tame`: 1 where no slope u^2 is below -700. */
static ALWAYS_INLINE int bell_begin(const pyspec_block *b, const double *width, const double *slope,
                                    const double *tame, const int across, bell_lanes *by)
{
    const int other = all_lanes(tame) ? BELL_TAME : BELL_EXACT;
    FOR_LANES by->slope[l] = slope[l];
#if defined(__GNUC__)
    double none[L], is_short[L], is_long[L];
    if (b->n < SHORT_RUN)
        return other;
    find_runs(b, width, slope, tame, across, by);
    FOR_LANES {
        none[l] = by->run[l] == 0.0 ? 1.0 : 0.0;
        is_short[l] = by->run[l] == (double)SHORT_RUN ? 1.0 : 0.0;
        is_long[l] = by->run[l] == (double)LONG_RUN ? 1.0 : 0.0;
        by->pull[l] = 2.0 * slope[l] * width[l];
        by->growth[l] = 2.0 * slope[l] * (by->pace[l] * by->pace[l]);
    }
    if (all_lanes(none))
        return other;
    by->needs_exp = 0;
    FOR_LANES by->needs_exp |= none[l] != 0.0;
    FOR_WIDTHS put_vector(by->growth + at, rise_inside(load_vector(by->growth + at)), 1);
    return all_lanes(is_short) ? BELL_SHORT : all_lanes(is_long) ? BELL_LONG : BELL_MIXED;
#else
    (void)b, (void)width, (void)across;
    return other;
#endif
}

/* exp(slope u^2) of vector i; each in turn, from the first. */
static ALWAYS_INLINE void bell_values(const bell_lanes *by, const double *u, int64_t i,
                                      const int across, const int way, bell_state *now, double *to)
{
#if defined(__GNUC__)
    double stepped[L];
    const int is_stepped = way == BELL_SHORT || way == BELL_LONG || way == BELL_MIXED;
    const int needs_exp = !is_stepped || (way == BELL_MIXED && by->needs_exp);
    if (is_stepped)
        bell_step(by, u, i, across, way, now, needs_exp ? stepped : to);
    if (!needs_exp)
        return;
#else
    (void)i, (void)across, (void)now;
#endif
    IN_LANES to[l] = by->slope[l] * (u[l] * u[l]);
    exp_lanes(to, way == BELL_TAME);
#if defined(__GNUC__)
    if (is_stepped)
        FOR_WIDTHS {
            const vector run = load_vector(by->run + at);
            put_vector(to + at, choose(run > 0.0, load_vector(stepped + at), load_vector(to + at)), 1);
        }
#endif
}

#endif
