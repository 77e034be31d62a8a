/* scheme.h: the population of a state of a kinetic scheme in time, as the library runs it: a program in
 * 64-bit words of the plan. The words are, in this order:
 *
 *   - head: SCHEME_HEAD words, see `scheme`.
 *   - steps: n_steps of three words: from, to (-1: out of sight), and the parameter that is the rate. Two
 *     states a and b on a side of a step are the word a + SCHEME_STATES (1 + b).
 *   - starts: n_starts of three words: state, parameter or -1, and the bits of a double. The
 *     population at the onset is the parameter, or the number.
 *   - blocks: n_blocks words, the number of states in each block. States are sorted: steps
 *     lead forward or stay within a block. Blocks mean nothing for schemes with steps of two states.
 *
 * Parameters are the height, then rates and populations, and the onset. The last one, for `under`, is the
 * width of a Gaussian instrument. */
#ifndef PYSPEC_SCHEME_H
#define PYSPEC_SCHEME_H

#include "isa/kernel.h"

enum {
    SCHEME_HEAD = PYSPEC_SCHEME_HEAD,
    MAX_STATES = PYSPEC_SCHEME_STATES,
    MAX_TWICE = 2 * MAX_STATES,
    MAX_STEPS = PYSPEC_SCHEME_STEPS
};

typedef struct scheme {
    int64_t n_words; /* of the whole program                      */
    int64_t n_params;
    int64_t n_states;
    int64_t target;  /* the state                                 */
    int64_t under;   /* 1: as a Gaussian instrument sees it       */
    int64_t n_steps;
    int64_t n_starts;
    int64_t n_blocks;
} scheme;

static inline const scheme *scheme_head(const int64_t *program)
{
    return (const scheme *)(const void *)program;
}

static inline const int64_t *scheme_steps(const int64_t *program)
{
    return program + SCHEME_HEAD;
}

static inline const int64_t *scheme_starts(const int64_t *program)
{
    return scheme_steps(program) + 3 * scheme_head(program)->n_steps;
}

static inline const int64_t *scheme_blocks(const int64_t *program)
{
    return scheme_starts(program) + 3 * scheme_head(program)->n_starts;
}

/* The rate matrix in units of the fastest rate, K[to][from], and the start. `leaves` holds the rate at
 * which a state loses what its block does not get back, `lost` that out of sight. */
typedef struct scheme_rates {
    int n;
    double k[MAX_STATES][MAX_STATES];
    double start[MAX_STATES];
    double leaves[MAX_STATES];
    double lost[MAX_STATES];
} scheme_rates;

/* ---- stretches, see scheme_circle.c ------------------------------------------------------------- */

/* Terms of Taylor's series over a unit of time; doublings of it; and the row of what has left sight. */
enum { CIRCLE_TERMS = 22, CIRCLE_LEVELS = 63, OUT = MAX_STATES };

/* A length s of time: exp(K s), [to][from], and x[i][a]. The latter is the integral over s', from the
 * start on, of the population i at s' times l_a at s - s'. */
typedef struct scheme_stretch {
    double e[MAX_STATES + 1][MAX_STATES];
    double x[MAX_STATES][MAX_STATES];
} scheme_stretch;

/* Terms of series over a unit of time, see scheme_value.c. The feed of a response: its L, R and F over a
 * unit and over each doubling as rows, and the series of L and R. */
enum { VALUE_TERMS = 24 };
enum { FED_LEVEL, FED_RISE, FED_FALL };

typedef struct scheme_fed {
    int n_levels;
    double of_level[CIRCLE_LEVELS][3][MAX_STATES];
    double level_rows[VALUE_TERMS][MAX_STATES], rise_rows[VALUE_TERMS][MAX_STATES];
    double level_of_start[VALUE_TERMS], rise_of_start[VALUE_TERMS];
} scheme_fed;

/* A row on its way, fed by begin + slope s at a time s from its begin on; fed NULL: by nothing. After the
 * whole `units` of the time it is rows[0], after their binary digits from level k up rows[k], k <= n_digits;
 * `series` is the population there, once it is needed, and powers[k], k < n_powers, the row times
 * (K + 1)^k / k!, see scheme_value.c. */
typedef struct scheme_trail {
    int64_t units;
    int n_digits, n_powers, has_series;
    scheme_fed *fed;
    double begin, slope;
    double rows[CIRCLE_LEVELS + 1][MAX_STATES], series[VALUE_TERMS], powers[VALUE_TERMS][MAX_STATES];
} scheme_trail;

/* The way up to a time s: the row of the target in exp(K s), exp(K s) of differences of states, and x.
 * `rise` is the derivative of the row by time. It exists only if a response feeds the way. */
typedef struct scheme_way {
    double row[MAX_STATES], rise[MAX_STATES];
    double differences[MAX_STATES][MAX_STATES], x[MAX_STATES][MAX_STATES];
} scheme_way;

/* Of each level, from a way's begin on, the integral of the way over its length w, and that of w times it. */
typedef struct scheme_moments {
    int n_levels;
    scheme_way of_level[CIRCLE_LEVELS][2];
} scheme_moments;

/* A way in motion, as a trail is a row in motion. The way after the binary digits of `units` from level
 * k up is ways[at[k]]. ways[CIRCLE_LEVELS] is its begin. fed NULL: no feed. */
typedef struct scheme_track {
    int64_t units;
    int n_digits;
    scheme_moments *fed;
    double begin, slope;
    int at[CIRCLE_LEVELS + 1];
    scheme_way ways[CIRCLE_LEVELS + 1];
} scheme_track;

typedef struct scheme_circle {
    int first[MAX_STATES]; /* of the block of each state                          */
    double start[MAX_STATES], motion[MAX_STATES], spread[MAX_STATES]; /* c, K c, K K c */
    double ahead[MAX_STATES][VALUE_TERMS]; /* (K + 1)^k c / k!                             */
    scheme_trail trail;    /* of the value                                                */
    scheme_track track;    /* of the derivatives: only with slopes                        */
    double one[MAX_STATES + 1][MAX_STATES];                /* K + 1                       */
    int stands;            /* all rates are 0                                             */
    int n_powers, n_levels;
    scheme_stretch powers[CIRCLE_TERMS], levels[CIRCLE_LEVELS];
    double apart[CIRCLE_LEVELS][MAX_STATES][MAX_STATES]; /* levels as differences: with slopes */
} scheme_circle;

/* ---- steps of two states, see scheme_flow.c ------------------------------------------------------- */

/* Points of a panel, panels, iterations of Newton in all, and numbers of all polynomials. */
enum { FLOW_STAGES = 12, FLOW_PANELS = 256, FLOW_ROUNDS = 2000, FLOW_ROOM = 24576 };

typedef struct scheme_flow {
    int n_steps, from[MAX_STEPS][2], param[MAX_STEPS];
    double change[MAX_STEPS][MAX_STATES]; /* of each state by a step                     */
    double unit[MAX_STEPS], rate[MAX_STEPS];
    double scale;                         /* the sum of all populations at the start     */
    double transform[FLOW_STAGES][FLOW_STAGES], integral[FLOW_STAGES][FLOW_STAGES];
    int n_series, n_panels, most_panels, n_rounds;
    int is_stuck;                         /* no more panels                              */
    double length;                        /* of the next panel                           */
    double start[MAX_STATES], y[MAX_STATES], by[MAX_PARAMS][MAX_STATES];
    double begin[FLOW_PANELS + 1];
    double series[FLOW_ROOM];
} scheme_flow;

/* The place of the polynomial of series k of a panel. The series are the population of the target, its
 * derivatives by parameters, and last its derivative by time. */
static inline int flow_series(const scheme_flow *f, int panel, int k)
{
    return (panel * f->n_series + k) * (FLOW_STAGES + 1);
}

/* Gauss-Legendre points of a panel, and panels, of the integral over the instrument. */
enum { POINTS = 16, MAX_PANELS = 32 };

/* Part of the derivative by a parameter: of the steps that lead out of one state. */
typedef struct scheme_term {
    int param, source;
    double by[MAX_TWICE];
} scheme_term;

/* The program prepared at its parameters. Rates and times are in units of the fastest rate.
 *
 * Let x_0 >= x_1 >= ... be the eigenvalues of the rate matrix K. exp(K s) c is the sum over j of the
 * divided difference exp_s[x_0 .. x_j] times (K - x_0) ... (K - x_{j-1}) c (Newton's interpolation,
 * exact at n points whatever coincides). The derivative by the rate of a step out of state i comes
 * from the population of i: exp of [[K, dK], [0, K]]. The lower part has the states that lead to i,
 * the upper part those that i leads to. Eigenvalues of both parts count twice. */
typedef struct prepared_scheme {
    const int64_t *program;
    int n, n_params, slopes;
    int reach[MAX_STATES][MAX_STATES];       /* which states lead to which               */
    double fastest;                          /* 1 / unit of time                         */
    double own[MAX_STATES], x[MAX_STATES];   /* eigenvalues by block, and falling        */
    double value[MAX_STATES];                /* coefficients of the target's population  */
    double motion[MAX_STATES];               /* of its derivative by time                */
    double spread[MAX_STATES];               /* under: by the width                      */
    double by[MAX_PARAMS][MAX_STATES];       /* by each parameter, of what changes at the start */
    int n_sources, n_terms;                  /* and of what changes later                */
    int state[MAX_STATES], n_nodes[MAX_STATES];
    double nodes[MAX_STATES][MAX_TWICE];     /* eigenvalues for each source, falling     */
    scheme_term terms[MAX_STEPS];
    /* Under an instrument, until `late` after the onset: populations at points of the integral
     * times weights. Later the populations fed so far go on without a feed. */
    double width, late;
    int n_points;
    int by_stretches, has_pairs;
    union {
        struct {
            double at[MAX_PANELS * POINTS], seen[MAX_PANELS * POINTS];
            double change[MAX_PARAMS][MAX_PANELS * POINTS];
            scheme_circle circle; /* by_stretches: in place of eigenvalues and coefficients */
        };
        scheme_flow flow; /* has_pairs: in place of all but the width                       */
    };
} prepared_scheme;

/* scheme_prepare.c: everything that does not depend on time. params has `stride` doubles from one
 * parameter to the next. */
void pyspec_prepare_scheme(prepared_scheme *p, const int64_t *program, const double *params,
                           int64_t stride, int slopes);

/* The same by stretches of time, see scheme_circle.c, whatever exchanges; for schemes without pairs. */
void pyspec_prepare_stretches(prepared_scheme *p, const int64_t *program, const double *params,
                              int64_t stride, int slopes);

/* Where the integral over an instrument begins and ends, in widths: exp(-REACH^2 / 2) is 3e-20. */
#define SCHEME_REACH 9.5

/* A time in units of the fastest state, up to the last level for its binary digits. Later populations
 * do not change. */
static inline double countable(double s)
{
    const double most = 9.2e18, time = s > 0.0 ? s : 0.0;
    return time < most ? time : most;
}

/* scheme_rates.c: rates and the start, and the unit of rates; d start / d parameter; and (K - x) v. */
void pyspec_load_rates(scheme_rates *r, const int64_t *program, const double *params, int64_t stride,
                       double *fastest);
void pyspec_start_change(const int64_t *program, int param, double *out);
void pyspec_scheme_shifted(const scheme_rates *r, double x, const double *v, double *out);

/* scheme_ways.c: the first state of the block of each; whether a scheme has a circle, and whether it goes
 * by stretches. */
void pyspec_find_blocks(const int64_t *program, int *first);
int pyspec_has_circle(const int64_t *program);
int pyspec_goes_by_stretches(const int64_t *program);

/* scheme_circle.c: the scheme without an instrument; what an instrument sees at p->at, with so much
 * weight; and the scheme left to itself, from `s` = 0 on. */
void pyspec_prepare_circle(prepared_scheme *p, const scheme_rates *r);
void pyspec_see_circle(prepared_scheme *p, const double *weight);
void pyspec_circle_go_on(prepared_scheme *p, const double *s, double (*out)[L]);

/* scheme_stretch.c: exp(K s) over a unit of time, doubled `level` times; made when it is first needed. */
scheme_stretch *pyspec_level(prepared_scheme *p, int level);

/* Begins a way fed by begin + slope s, or by nothing if `fed` is NULL. Gives the way a time s >= 0
 * later. Gives the derivatives there by all parameters of a fed scheme except the height. All three need
 * a scheme prepared with slopes. */
void pyspec_begin_track(prepared_scheme *p, const scheme_way *way, scheme_moments *fed, double begin,
                        double slope);
void pyspec_track_way(prepared_scheme *p, double s, scheme_way *way);
void pyspec_fed_slopes(prepared_scheme *p, double s, double *out);

/* scheme_value.c: prepares values, also of a fed start. Begins a row, fed or not. Gives the row, and eight populations
 * of it, a time s >= 0 later. */
void pyspec_prepare_values(prepared_scheme *p);
void pyspec_prepare_fed(prepared_scheme *p, scheme_fed *f);
void pyspec_begin_trail(scheme_trail *t, const double *row, scheme_fed *fed, double begin, double slope);
void pyspec_trail_row(prepared_scheme *p, scheme_trail *t, double s, double *row);
void pyspec_trail_values(prepared_scheme *p, scheme_trail *t, const double *s, double *out);

/* scheme_flow.c: whether a step has two states on a side. Also the panel of a time, or -1 if there is
 * none. scheme_seen.c: eight times after the onset. */
int pyspec_has_pairs(const int64_t *program);
void pyspec_prepare_flow(prepared_scheme *p, const double *params, int64_t stride);
int pyspec_flow_panel(prepared_scheme *p, double s);
void pyspec_flow_times(prepared_scheme *p, const double *u, double (*out)[L]);

/* scheme_rates.c: one of the POINTS of Gauss and Legendre on [-1, 1], and its weight. */
double pyspec_legendre(int k, double *weight);

/* scheme_exp.c: divided differences exp_s[x_0 .. x_j], j < n, of eight times s >= 0; x falls. */
typedef void exp_differences(const double *x, int n, const double *s, double (*out)[L]);
exp_differences pyspec_exp_differences, pyspec_exp_differences_avx2, pyspec_exp_differences_avx512;

/* scheme_times.c: derivatives by all parameters, at height 1, of eight times after the onset; of the
 * height, the first, it is the value. */
typedef void scheme_times(prepared_scheme *p, const double *u, double (*out)[L]);
scheme_times pyspec_scheme_times, pyspec_scheme_times_avx2, pyspec_scheme_times_avx512;

/* scheme_check.c: whether a program of at most `room` words, with n_params parameters, stays inside
 * of itself and its parameters. Of a fault, `at` is the word. */
int pyspec_scheme_is_sound(const int64_t *program, int64_t room, int64_t n_params, int64_t *at);

/* scheme.c: runs a checked program, which the block names, in the build of an instruction set. Whether a
 * time lies before the onset is one comparison, the same in every build. */
void pyspec_run_scheme(const pyspec_block *b, int64_t isa, const double *params, double *value,
                       double *const *partials);

#endif
