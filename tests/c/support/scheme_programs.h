/* scheme_programs.h: programs of kinetic schemes with their parameters, how to run them, and the rate
 * equations solved in small steps. */
#ifndef SCHEME_PROGRAMS_H
#define SCHEME_PROGRAMS_H

#include "kinetics/scheme.h"
#include "support/unit.h"

enum { WORDS = 64, TIMES = 19 };

/* A program and its parameters: height, rates and populations, onset, and the width, if any. */
typedef struct program {
    int64_t words[WORDS];
    double params[MAX_PARAMS];
} program;

static inline int64_t word_of(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* A <-> B -> C -> lost, B -> lost; starts: A the parameter 4, C 0.25. Blocks {A, B}, {C}. */
static inline program branched(int64_t target, int64_t under)
{
    const int64_t body[] = {0, 1, 1, 1, 0, 2, 1, 2, 3, 2, -1, 1, 1, -1, 2,
                            0, 4, 0, 2, -1, word_of(0.25), 2, 1};
    program p = {.params = {1.5, 2.0, 0.7, 0.3, 0.9, 0.125, 0.2}};
    const int64_t n = (int64_t)(sizeof body / sizeof *body);
    const int64_t head[SCHEME_HEAD] = {SCHEME_HEAD + n, 6 + under, 3, target, under, 5, 2, 2};
    memcpy(p.words, head, sizeof head);
    memcpy(p.words + SCHEME_HEAD, body, sizeof body);
    return p;
}

/* A -> B -> C -> A, C -> lost, C -> D -> lost, and B -> A if `back`: a circle and what it feeds. */
static inline program ring(int64_t target, int64_t under, int64_t back)
{
    const int64_t body[] = {0, 1, 1, 1, 2, 2, 2, 0, 3, 2, -1, 4, 2, 3, 4, 3, -1, 2, 1, 0, back ? 3 : 1,
                            0, 4, 0, 1, -1, word_of(0.25), 3, 1};
    program p = {.params = {1.5, 2.0, 0.7, 0.3, 0.4, 0.125, 0.2}};
    const int64_t n = (int64_t)(sizeof body / sizeof *body);
    const int64_t head[SCHEME_HEAD] = {SCHEME_HEAD + n, 6 + under, 4, target, under, 7, 2, 2};
    memcpy(p.words, head, sizeof head);
    memcpy(p.words + SCHEME_HEAD, body, sizeof body);
    return p;
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
                            0, 4, 0, 2, -1, word_of(0.25), 3};
    program p = {.params = {1.5, 2.0, 0.7, 0.3, 0.9, 0.125, 0.2}};
    const int64_t n = (int64_t)(sizeof body / sizeof *body);
    const int64_t head[SCHEME_HEAD] = {SCHEME_HEAD + n, 6 + under, 3, target, under, 6, 2, 1};
    memcpy(p.words, head, sizeof head);
    memcpy(p.words + SCHEME_HEAD, body, sizeof body);
    return p;
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

static inline int run_program(const program *p, int64_t n_words, const double *times, double *value,
                       double (*partials)[TIMES])
{
    double *to[MAX_PARAMS];
    for (int k = 0; k < MAX_PARAMS; k++)
        to[k] = partials ? partials[k] : NULL;
    return pyspec_scheme(p->words, n_words, PYSPEC_ISA_BASELINE, 1, TIMES, times, p->params,
                         value, partials ? to : NULL);
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
    static double partials[MAX_PARAMS][TIMES];
    double up[TIMES], down[TIMES];
    program q = *p;
    CHECK_INT(run_program(p, p->words[0], times, value, partials), STATUS_OK);
    CHECK_INT(run_program(p, p->words[0], times, up, NULL), STATUS_OK);
    CHECK(!memcmp(value, up, sizeof up));
    for (int64_t k = 0; k < p->words[1]; k++) {
        const double own = p->params[k], h = 1e-5;
        q.params[k] = own + h;
        run_program(&q, p->words[0], times, up, NULL);
        q.params[k] = own - h;
        run_program(&q, p->words[0], times, down, NULL);
        q.params[k] = own;
        for (int i = 0; i < TIMES; i++)
            CHECK(fabs(partials[k][i] - (up[i] - down[i]) / (2.0 * h)) <= 1e-7);
    }
}

#endif
