/* batches.h: batches of fits of spectra with values, data, weights and masks of their own. */
#ifndef BATCHES_H
#define BATCHES_H

#include "solver/many.h"
#include "support/models.h"
#include "walk/run.h"
#include "solver/solver.h"
#include "support/sums.h"
#include "support/unit.h"

enum { N = 7, N_FIXED = 2, N_X = 131, N_CASES = 37, MOST_GROUPS = 2, TRIANGLE = (N + 1) * (N + 2) / 2 };
enum { OUT = 3 * N + N * N + TRIANGLE, MARGIN = 2 };
enum { STORE = PYSPEC_FLAG_STORE, STATIC = PYSPEC_FLAG_STATIC, COMPONENT = PYSPEC_STEP_COMPONENT };

/* A, x0, SD, y0, p, m, w. */
static const double truth[N] = {2.0, 3.03, 0.72, 1.3, 0.02, 0.4, 1.6};

/* Nodes that a plan can be without. The data still determine every parameter, unless both of the first two go, or the
 * last: a line then takes the place of an offset. */
enum { NODE_SPREAD = 1, NODE_VOIGT = 2, NODE_LINE = 4, NODE_CONSTANT = 8, NODE_SHIRLEY = 16, N_NODES = 5 };

/* What cases are drawn from: how many, of how many points, for a plan without some nodes. Counts are `counts` times a
 * spectrum whose heights are `heights` times those of the truth. */
typedef struct draws {
    uint64_t from;
    int n_cases, n_x, without;
    double counts, heights;
} draws;

static draws drawn = {0, N_CASES, N_X, 0, 20.0, 1.0};

static inline double draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0 - 0.5;
}

static inline int has(int node)
{
    return !(drawn.without & node);
}

/* Tied lines and one of a width 1 / w, one whose place is spread over auxiliary points, one that stands still, a
 * Shirley of all that is below it. */
static inline pyspec_plan *make_plan(void)
{
    plan_builder b;
    start(&b, 1, N, N_FIXED, 12, 2);
    const int first = add_blocks(&b, 3, 1);
    const int profile[] = {0, 6}, offset[] = {3}, gauss[] = {0, 1, 2}, tied[] = {10, 9, 2, 5}, shirley[] = {4};
    const int voigt[] = {10, 8, 11, 2}, spread[] = {6, first, 2}, constant[] = {7, 8, 7}, line[] = {4, 6, 7, 8};
    const int64_t place[] = {RPN_PARAM, 1, RPN_CONST, bits_of(1.7), RPN_ADD, 0};
    const int64_t height[] = {RPN_PARAM, 0, RPN_CONST, bits_of(0.6), RPN_MUL, 0};
    const int64_t width[] = {RPN_PARAM, 7, RPN_PARAM, 6, RPN_DIV, 0};
    add_expression(&b, 0, 9, 3, place);
    add_expression(&b, 0, 10, 3, height);
    add_expression(&b, 0, 11, 3, width);
    if (has(NODE_SPREAD)) {
        add_call(&b, PYSPEC_STEP_PROFILE, OP_pExpDecay, STORE, first, 2, profile);
        add_step(&b, PYSPEC_STEP_BASE, 0, 1, first);
    }
    add_call(&b, COMPONENT, OP_Offset, STORE | STATIC, 1, 1, offset);
    add_call(&b, COMPONENT, OP_Gauss, STATIC, 1, 3, gauss);
    add_call(&b, COMPONENT, OP_GLP, STATIC, 1, 4, tied);
    if (has(NODE_VOIGT))
        add_call(&b, COMPONENT, OP_Voigt, STATIC, 1, 4, voigt);
    if (has(NODE_CONSTANT))
        add_call(&b, COMPONENT, OP_Gauss, STATIC, 1, 3, constant);
    if (has(NODE_SPREAD))
        add_call(&b, COMPONENT, OP_Gauss, 0, 1, 3, spread);
    if (has(NODE_SHIRLEY))
        add_call(&b, COMPONENT, OP_Shirley, STORE, 0, 1, shirley)->source = 1;
    add_step(&b, PYSPEC_STEP_ADD, has(NODE_SHIRLEY) ? 0 : STORE, 1, 0);
    if (has(NODE_LINE))
        add_call(&b, COMPONENT, OP_LinBack, STATIC, 0, 4, line);
    add_dependencies(&b);
    return finish(&b);
}

/* Cases whose values, data, weights and masks are their own. */
typedef struct cases {
    pyspec_plan *plan;
    grid g;
    double theta[N_CASES][N], fixed[N_CASES][N_FIXED], data[N_CASES][N_X], weight[N_CASES][N_X];
    uint8_t keep[N_CASES][N_X];
} cases;

static inline void draw_cases(cases *c, int dress, double noise)
{
    uint64_t state = 3 + drawn.from;
    pyspec_problem *q = &c->g.problem;
    const int64_t n_owned = count_owned();
    pyspec_call call = make_call(c->plan, q, NULL, 0);
    double clean[N_X];
    call.out = clean;
    call.n_out = drawn.n_x;
    q->x_begin = 0;
    q->x_end = drawn.n_x;
    for (int k = 0; k < drawn.n_cases; k++) {
        for (int j = 0; j < N; j++)
            c->theta[k][j] = truth[j] * (1.0 + 0.1 * draw(&state));
        for (int j = 0; dress & DRESS_POISSON && j < 4; j += 3)
            c->theta[k][j] *= drawn.heights;
        for (int j = 0; j < N_FIXED; j++)
            c->fixed[k][j] = 1.0 + 0.5 * j + 0.1 * draw(&state);
        q->fixed = c->fixed[k];
        call.theta = c->theta[k];
        if (call.prepared_size > 0)
            call.prepared[0] = 0.0; /* no lines of the case before */
        CHECK_INT(pyspec_evaluate(&call), STATUS_OK);
        for (int i = 0; i < drawn.n_x; i++) {
            c->data[k][i] = clean[i] + noise * draw(&state);
            c->data[k][i] = dress & DRESS_POISSON ? floor(drawn.counts * fabs(c->data[k][i])) : c->data[k][i];
            c->weight[k][i] = i % 11 == 4 ? 0.0 : 1.0 + 0.5 * draw(&state);
            c->keep[k][i] = draw(&state) < 0.4;
            if (dress & DRESS_KEEP && !c->keep[k][i])
                c->data[k][i] = i % 2 ? (double)NAN : (double)INFINITY;
        }
    }
    free_owned(n_owned);
    q->fixed = c->fixed[0];
    if (dress & DRESS_WINDOW) {
        q->x_begin = MARGIN;
        q->x_end = drawn.n_x - MARGIN - 1;
    }
}

static inline cases *begin_cases(int dress, double noise)
{
    cases *c = zeros(1, sizeof *c);
    const int n_x = drawn.n_x;
    c->plan = make_plan();
    make_grid(&c->g, c->plan, 1, n_x);
    for (int i = 0; i < n_x; i++) /* as far as N_X points reach */
        c->g.x[i] *= (double)(N_X - 1) / (double)(n_x - 1);
    draw_cases(c, dress, noise);
    pyspec_problem *q = &c->g.problem;
    q->data = c->data[0];
    q->data_x = q->weight_x = sizeof(double);
    q->keep_x = 1;
    q->loss = dress & DRESS_POISSON ? PYSPEC_LOSS_POISSON : PYSPEC_LOSS_SQUARES;
    q->loss_scale = 1.5;
    q->weight = dress & DRESS_WEIGHT ? c->weight[0] : NULL;
    q->keep = dress & DRESS_KEEP ? c->keep[0] : NULL;
    CHECK_INT(pyspec_check(c->plan, c->plan->size, q, NULL), STATUS_OK);
    return c;
}

static inline pyspec_problem problem_of(const cases *c, int k)
{
    pyspec_problem q = c->g.problem;
    q.fixed = c->fixed[k];
    q.data = c->data[k];
    q.weight = q.weight ? c->weight[k] : NULL;
    q.keep = q.keep ? c->keep[k] : NULL;
    return q;
}

/* The memory of a group and its call. */
typedef struct group_memory {
    double own[N];
    pyspec_normal sums;
    pyspec_call call;
    pyspec_part part;
    double *beside;
    int64_t size;
} group_memory;

static inline void begin_group(group_memory *g, const cases *c)
{
    make_sums(&g->sums, PYSPEC_FORM_FACTOR, N, PYSPEC_NORMAL_NODES, N + 1);
    g->sums.in_strips = 1;
    g->call = make_call(c->plan, &c->g.problem, g->own, PYSPEC_PREPARE_SLOPES);
    g->part = (pyspec_part){.call = &g->call, .theta = g->own, .normal = &g->sums, .n_theta = N};
    g->size = pyspec_beside_size(c->plan, &c->g.problem);
    CHECK(g->size > 0);
    g->beside = make_work(g->size);
    memset(g->beside, 0, (size_t)g->size);
}

typedef struct slot_memory {
    double theta[N], trial[N], answer[TRIANGLE], normal[TRIANGLE], information[TRIANGLE], ending[OUT - N];
    int64_t held[N];
    pyspec_solver solver;
    pyspec_end end;
    pyspec_search search;
} slot_memory;

/* What cases came to. */
typedef struct results {
    pyspec_fitted fitted[N_CASES];
    double numbers[N_CASES][OUT];
} results;

typedef struct batch {
    cases *c;
    double start[N_CASES][N], bounds[2 * N];
    group_memory groups[MOST_GROUPS];
    slot_memory memories[MOST_GROUPS * L];
    pyspec_slot slots[MOST_GROUPS * L];
    results found;
    double *beside;
    pyspec_many many;
} batch;

static inline void begin_slot(slot_memory *o)
{
    *o = (slot_memory){0};
    o->solver = (pyspec_solver){.n = N, .max_nfev = 300, .tolerance = 1e-7};
    o->solver.theta = o->theta;
    o->solver.trial = o->trial;
    o->solver.answer = o->answer;
    o->solver.normal = o->normal;
    o->solver.work = exact(pyspec_fit_work_size(N), 1);
    o->end.held = o->held;
    o->end.side = (int64_t *)(void *)o->ending;
    o->end.gain = o->ending + N;
    o->end.covariance = o->ending + 2 * N;
    o->end.factor = o->ending + 2 * N + N * N;
    o->end.information = o->information;
    o->end.work = exact(pyspec_end_work_size(N), 1);
    o->search.work = exact(pyspec_search_work_size(N), 1);
}

/* Every fifth case starts far away, case 3 has a point that is NaN, case 5 hardly any that counts. */
static inline void draw_starts(batch *b)
{
    uint64_t state = 9 + drawn.from;
    for (int k = 0; k < drawn.n_cases; k++)
        for (int j = 0; j < N; j++)
            b->start[k][j] = b->c->theta[k][j] * (1.0 + (k % 5 ? 0.1 : 0.8) * draw(&state));
    b->c->data[3][17] = (double)NAN;
    b->c->keep[3][17] = 1;
    for (int i = 0; i < drawn.n_x; i++)
        b->c->keep[5][i] = i == 17;
}

static inline batch *begin_batch(int dress, int n_groups, int is_beside, int turned)
{
    batch *b = zeros(1, sizeof *b);
    b->c = begin_cases(dress, 0.1);
    draw_starts(b);
    for (int k = 0; turned && k < N_CASES / 2; k++) { /* in the opposite order */
        const int other = N_CASES - 1 - k;
        pyspec_swap(b->start[k], b->start[other], N);
        pyspec_swap(b->c->data[k], b->c->data[other], N_X);
        pyspec_swap(b->c->weight[k], b->c->weight[other], N_X);
        pyspec_swap(b->c->fixed[k], b->c->fixed[other], N_FIXED);
        for (int i = 0; i < N_X; i++) {
            const uint8_t keep = b->c->keep[k][i];
            b->c->keep[k][i] = b->c->keep[other][i];
            b->c->keep[other][i] = keep;
        }
    }
    const double low[N] = {0.0, 0.0, 0.05, -10.0, 0.0, 0.0, 0.05}, high[N] = {50.0, 13.0, 5.0, 50.0, 0.5, 0.5, 20.0};
    memcpy(b->bounds, low, sizeof low);
    memcpy(b->bounds + N, high, sizeof high);
    for (int k = 0; k < n_groups; k++)
        begin_group(&b->groups[k], b->c);
    const int64_t size = b->groups[0].size;
    b->beside = make_work(n_groups * size);
    memset(b->beside, 0, (size_t)(n_groups * size));
    const int width = is_beside ? L : 1;
    for (int k = 0; k < n_groups * width; k++) {
        slot_memory *o = &b->memories[k];
        begin_slot(o);
        o->solver.lower = b->bounds;
        b->slots[k] = (pyspec_slot){&b->groups[k / width].part, &o->solver, &o->end, &o->search, -1};
    }
    const pyspec_problem *q = &b->c->g.problem;
    b->many = (pyspec_many){.n_cases = drawn.n_cases, .slots = b->slots, .n_slots = n_groups * width, .is_scaled = 1};
    b->many.data = b->c->data;
    b->many.weight = q->weight;
    b->many.keep = q->keep;
    b->many.fixed = b->c->fixed[0];
    b->many.start = b->start[0];
    b->many.data_case = b->many.weight_case = sizeof b->c->data[0];
    b->many.keep_case = sizeof b->c->keep[0];
    b->many.start_case = sizeof b->start[0];
    b->many.fixed_case = sizeof b->c->fixed[0];
    b->many.sizes = truth;
    b->many.fitted = b->found.fitted;
    b->many.numbers = b->found.numbers[0];
    b->many.beside = is_beside ? b->beside : NULL;
    b->many.beside_size = size;
    return b;
}

/* Whether a case has the same end, the same errors, and the same optimum to 1e-7 standard errors, or to where rounding
 * let the fits come no nearer. */
static inline int ends_alike(const results *b, const results *alone, int k)
{
    const pyspec_fitted *one = &b->fitted[k], *other = &alone->fitted[k];
    const double *theta = b->numbers[k], *wanted = alone->numbers[k];
    int found = one->end == other->end && one->flags == other->flags && one->n_points == other->n_points;
    if (!(other->flags & PYSPEC_ENDING_CERTAIN) || other->flags & PYSPEC_ENDING_NEUTRAL)
        return found;
    const double reached = one->reached + other->reached, near = reached > 1e-7 ? reached : 1e-7;
    found &= fabs(one->chisqr - other->chisqr) <= (1e-11 + near * near) * other->chisqr;
    const int is_lost = (other->flags & PYSPEC_ENDING_LOST) != 0; /* then some may be anywhere */
    found &= is_lost || memcmp(theta + N, wanted + N, N * sizeof *theta) == 0; /* sides of bounds */
    for (int j = 0; j < N; j++) {
        const double variance = wanted[3 * N + j * N + j], own = theta[3 * N + j * N + j];
        found &= isnan(variance) ? isnan(own) && (is_lost || theta[j] == wanted[j])
                                 : fabs(theta[j] - wanted[j]) <= near * sqrt(variance) &&
                                       fabs(own - variance) <= 10.0 * near * variance;
    }
    return found;
}

static inline int same_cases(const results *a, const results *b, int turned)
{
    int found = 1;
    for (int k = 0; k < drawn.n_cases; k++) {
        const int other = turned ? drawn.n_cases - 1 - k : k;
        found &= memcmp(&a->fitted[k], &b->fitted[other], sizeof a->fitted[k]) == 0;
        found &= memcmp(a->numbers[k], b->numbers[other], sizeof a->numbers[k]) == 0;
    }
    return found;
}

#endif
