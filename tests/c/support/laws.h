/* laws.h: laws with a program, of kinetic schemes and of measured instruments: how to run them, what holds for all of
 * them, and the rate equations solved in small steps. The file that includes it says which they are: its run_law,
 * run_lanes and is_sound. */
#ifndef LAWS_H
#define LAWS_H

#include "kinetics/scheme.h"
#include "random/random_plan.h"
#include "support/unit.h"

static int run_law(const int64_t *words, int64_t n_words, int64_t n_rows, int64_t n_times, const double *times,
                   const double *params, double *value, double *const *slopes);
static void run_lanes(const pyspec_block *b, const double *params, double *value, double *const *slopes);
static int is_sound(const int64_t *words, int64_t n_words, int64_t n_params, int64_t *at);

enum { WORDS = 64, TIMES = 19 };

/* A program and its parameters: height, rates and populations, onset, and the width, if any. */
typedef struct program {
    int64_t words[WORDS];
    double params[MAX_PARAMS];
} program;

/* A scheme with these steps, starts and blocks. */
static inline program scheme_of(int64_t n_states, int64_t target, int64_t under, int64_t n_steps, int64_t n_blocks,
                                const int64_t *body)
{
    program p = {.params = {1.5, 2.0, 0.7, 0.3, n_states == 4 ? 0.4 : 0.9, 0.125, 0.2}};
    const int64_t n = 3 * n_steps + 6 + n_blocks;
    const int64_t head[SCHEME_HEAD] = {SCHEME_HEAD + n, 6 + under, n_states, target, under, n_steps, 2, n_blocks};
    memcpy(p.words, head, sizeof head);
    memcpy(p.words + SCHEME_HEAD, body, (size_t)n * sizeof *body);
    return p;
}

/* A <-> B -> C -> lost, B -> lost; starts: A the parameter 4, C 0.25. Blocks {A, B}, {C}. */
static inline program branched(int64_t target, int64_t under)
{
    const int64_t body[] = {0, 1, 1, 1, 0, 2, 1, 2, 3, 2, -1, 1, 1, -1, 2,
                            0, 4, 0, 2, -1, bits_of(0.25), 2, 1};
    return scheme_of(3, target, under, 5, 2, body);
}

/* A -> B -> C -> A, C -> lost, C -> D -> lost, and B -> A if `back`: a circle and what it feeds. */
static inline program ring(int64_t target, int64_t under, int64_t back)
{
    const int64_t body[] = {0, 1, 1, 1, 2, 2, 2, 0, 3, 2, -1, 4, 2, 3, 4, 3, -1, 2, 1, 0, back ? 3 : 1,
                            0, 4, 0, 1, -1, bits_of(0.25), 3, 1};
    return scheme_of(4, target, under, 7, 2, body);
}

static inline void rates_of(const program *p, const double *state, double *change)
{
    const int64_t *step = p->words + SCHEME_HEAD;
    memset(change, 0, MAX_STATES * sizeof *change);
    for (int64_t k = 0; k < p->words[5]; k++, step += 3) {
        double moved = p->params[step[2]] * state[step[0] % MAX_STATES];
        if (step[0] >= MAX_STATES)
            moved *= state[step[0] / MAX_STATES - 1];
        for (int side = 0; side < 2; side++) {
            const double sign = side ? moved : -moved;
            if (step[side] >= 0)
                change[step[side] % MAX_STATES] += sign;
            if (step[side] >= MAX_STATES)
                change[step[side] / MAX_STATES - 1] += sign;
        }
    }
}

/* The word of a side of a step on which two states stand. */
static inline int64_t pair_of_states(int64_t a, int64_t b)
{
    return a + MAX_STATES * (1 + b);
}

/* S -> T + T, T + T -> S, T -> lost, T + S -> C, C + C -> C, C -> S: S from a parameter, C from 0.25. */
static inline program pairs(int64_t target, int64_t under)
{
    const int64_t body[] = {0, pair_of_states(1, 1), 1, pair_of_states(1, 1), 0, 2, 1, -1, 3,
                            pair_of_states(1, 0), 2, 3, pair_of_states(2, 2), 2, 2, 2, 0, 1,
                            0, 4, 0, 2, -1, bits_of(0.25), 3};
    return scheme_of(3, target, under, 6, 1, body);
}

/* Height times the population of the target at a time behind the onset, by Runge and Kutta. */
static inline double solved(const program *p, double time, int n_steps)
{
    const int64_t *start = p->words + SCHEME_HEAD + 3 * p->words[5];
    double y[MAX_STATES] = {0}, slope[4][MAX_STATES], middle[MAX_STATES];
    const double h = time / n_steps;
    for (int64_t k = 0; k < p->words[6]; k++, start += 3) {
        double number;
        memcpy(&number, &start[2], sizeof number);
        y[start[0]] += start[1] < 0 ? number : p->params[start[1]];
    }
    for (int i = 0; i < n_steps; i++) {
        static const double part[4] = {0.0, 0.5, 0.5, 1.0};
        for (int q = 0; q < 4; q++) {
            for (int k = 0; k < MAX_STATES; k++)
                middle[k] = y[k] + (q ? part[q] * h * slope[q - 1][k] : 0.0);
            rates_of(p, middle, slope[q]);
        }
        for (int k = 0; k < MAX_STATES; k++)
            y[k] += h / 6.0 * (slope[0][k] + 2.0 * slope[1][k] + 2.0 * slope[2][k] + slope[3][k]);
    }
    return p->params[0] * y[p->words[3]];
}

/* One row of TIMES times. */
static inline int run_program(const program *p, int64_t n_words, const double *times, double *value,
                              double (*slopes)[TIMES])
{
    double *to[MAX_PARAMS];
    for (int k = 0; k < MAX_PARAMS; k++)
        to[k] = slopes ? slopes[k] : NULL;
    return run_law(p->words, n_words, 1, TIMES, times, p->params, value, slopes ? to : NULL);
}

static inline void times_from(double first, double step, double *times)
{
    for (int i = 0; i < TIMES; i++)
        times[i] = first + step * i;
}

/* Values without an instrument are those of the rate equations. */
static inline void check_populations(const program *p, const double *times, const double *value)
{
    for (int i = 0; i < TIMES; i++) {
        const double after = times[i] - p->params[5];
        const double want = after < 0.0 ? 0.0 : solved(p, after, 4000);
        CHECK(fabs(value[i] - want) <= 1e-10);
    }
}

/* Fills `value`, which has the same bits without derivatives; these are those of differences. */
static inline void check_slopes(const program *p, const double *times, double *value)
{
    static double slopes[MAX_PARAMS][TIMES];
    double up[TIMES], down[TIMES];
    CHECK_INT(run_program(p, p->words[0], times, value, slopes), STATUS_OK);
    CHECK_INT(run_program(p, p->words[0], times, up, NULL), STATUS_OK);
    CHECK(!memcmp(value, up, sizeof up));
    for (int64_t k = 0; k < p->words[1]; k++) {
        program q = *p;
        const double h = 1e-5;
        q.params[k] = p->params[k] + h;
        run_program(&q, p->words[0], times, up, NULL);
        q.params[k] = p->params[k] - h;
        run_program(&q, p->words[0], times, down, NULL);
        for (int i = 0; i < TIMES; i++)
            CHECK(fabs(slopes[k][i] - (up[i] - down[i]) / (2.0 * h)) <= 1e-7);
    }
}

/* Rows in lanes, of which some share their rates with the one before: each has the bits that it has alone, also where
 * the lanes hold times of one row. Parameter 1 moves every third lane, others of the set `moving` every lane. The
 * second slope is wanted by nobody. */
static inline void check_lanes(const program *p, unsigned moving, const double *times)
{
    static double x[TIMES * L], value[TIMES * L], slopes[MAX_PARAMS][TIMES * L];
    static double rows[L * TIMES], row_slopes[MAX_PARAMS][L * TIMES], own_slopes[MAX_PARAMS][TIMES];
    double params[MAX_PARAMS * L], own[TIMES], *to[MAX_PARAMS], *row_to[MAX_PARAMS];
    const int64_t n_params = p->words[1];
    for (int64_t k = 0; k < n_params; k++) {
        to[k] = k == 2 ? NULL : slopes[k];
        row_to[k] = row_slopes[k];
        for (int64_t l = 0; l < L; l++)
            params[k * L + l] = p->params[k] * (1.0 + 0.1 * (double)(k == 1 ? l / 3 : moving >> k & 1 ? l : 0));
    }
    CHECK_INT(run_law(p->words, p->words[0], L, TIMES, times, params, rows, row_to), STATUS_OK);
    for (int across = 0; across < 2; across++) {
        for (int64_t i = 0; i < TIMES * L; i++)
            x[i] = times[across ? i / L : i % TIMES];
        const pyspec_block b = {.n = TIMES, .n_valid = TIMES * L, .across = across, .x = x, .program = p->words};
        run_lanes(&b, params, value, to);
        for (int64_t l = 0; l < L; l++) {
            program alone = *p;
            for (int64_t k = 0; k < n_params; k++)
                alone.params[k] = params[k * L + l];
            CHECK_INT(run_program(&alone, p->words[0], times, own, own_slopes), STATUS_OK);
            CHECK(!memcmp(own, rows + l * TIMES, sizeof own));
            for (int64_t i = 0; i < TIMES; i++) {
                CHECK(own[i] == value[i * L + l]);
                for (int64_t k = 0; k < n_params; k++)
                    CHECK((k == 2 || own_slopes[k][i] == slopes[k][i * L + l]) &&
                          own_slopes[k][i] == row_slopes[k][l * TIMES + i]);
            }
        }
        run_lanes(&b, params, own_slopes[0], NULL);
        CHECK(!memcmp(own_slopes[0], value, sizeof value));
    }
}

/* Derivatives that nobody wants are left out, and change none of the others. */
static inline void check_some_slopes(const program *p, const double *times)
{
    static double all[MAX_PARAMS][TIMES], some[MAX_PARAMS][TIMES];
    double value[TIMES], *to[MAX_PARAMS] = {NULL};
    CHECK_INT(run_program(p, p->words[0], times, value, all), STATUS_OK);
    for (int64_t k = 0; k < p->words[1]; k += 2)
        to[k] = some[k];
    CHECK_INT(run_law(p->words, p->words[0], 1, TIMES, times, p->params, value, to), STATUS_OK);
    for (int64_t k = 0; k < p->words[1]; k++)
        for (int i = 0; i < TIMES; i++)
            CHECK(some[k][i] == (k % 2 ? 0.0 : all[k][i]));
}

/* The word that a program with another word `k` is refused for, -1 where it is not. */
static inline int refused_at(program p, int64_t k, int64_t other)
{
    const int64_t n_words = p.words[0], n_params = p.words[1];
    int64_t at = -1;
    CHECK(is_sound(p.words, n_words, n_params, &at));
    p.words[k] = other;
    return is_sound(p.words, n_words, n_params, &at) ? -1 : (int)at;
}

/* What the entry that runs a law refuses. */
static inline void check_refusals(const program *p, int64_t n_head)
{
    const int64_t *w = p->words, n = w[0];
    double times[TIMES] = {0}, value[TIMES];
    CHECK_INT(run_law(NULL, n, 1, 1, times, p->params, value, NULL), STATUS_NULL_POINTER);
    CHECK_INT(run_law(w, n, 1, 1, NULL, p->params, value, NULL), STATUS_NULL_POINTER);
    CHECK_INT(run_law(w, n, 1, 1, times, NULL, value, NULL), STATUS_NULL_POINTER);
    CHECK_INT(run_law(w, n, 1, 1, times, p->params, NULL, NULL), STATUS_NULL_POINTER);
    CHECK_INT(run_law(w, n_head - 1, 1, 1, times, p->params, value, NULL), STATUS_PROGRAM);
    CHECK_INT(run_law(w, n - 1, 1, 1, times, p->params, value, NULL), STATUS_PROGRAM);
    CHECK_INT(run_law(w, n, 0, 1, times, p->params, value, NULL), STATUS_SIZE);
    CHECK_INT(run_law(w, n, 1, 0, times, p->params, value, NULL), STATUS_SIZE);
}

/* Runs a program at hostile parameters: within its memory, as the sanitizers see. Whether it was accepted. */
static inline int runs_hostile(rng *r, program p, const double *times)
{
    static double slopes[MAX_PARAMS][TIMES];
    double value[TIMES];
    for (int k = 0; k < MAX_PARAMS; k++)
        p.params[k] = chance(r, 80)   ? 0.01 * (double)below(r, 300)
                      : chance(r, 50) ? hostile_double(r)
                                      : pow(10.0, (double)below(r, 40) - 20.0);
    return run_program(&p, WORDS, times, value, chance(r, 50) ? slopes : NULL) == STATUS_OK;
}

/* The rule of Simpson: the weights of n steps, n even, over the length h of one. */
static inline double simpson(int i, int n, double h)
{
    return h / 3.0 * (i == 0 || i == n ? 1.0 : i % 2 ? 4.0 : 2.0);
}

#endif
