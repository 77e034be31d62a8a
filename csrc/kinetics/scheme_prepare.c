/* scheme_prepare.c: a kinetic scheme at its parameters: rate matrix, eigenvalues, the coefficients of
 * Newton's interpolation, and the integral over a Gaussian instrument near the onset. */
#include "kinetics/scheme.h"
#include "math/vmath.h"

#include <math.h>
#include <string.h>

/* Which states lead to which, themselves included, by steps of any rate. */
static void find_reach(const int64_t *program, int (*reach)[MAX_STATES])
{
    const scheme *s = scheme_head(program);
    const int n = (int)s->n_states;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            reach[i][j] = i == j;
    for (int round = 0; round < n; round++) {
        const int64_t *step = scheme_steps(program);
        for (int64_t k = 0; k < s->n_steps; k++, step += 3)
            for (int i = 0; step[1] >= 0 && i < n; i++)
                for (int j = 0; j < n; j++)
                    reach[i][j] |= reach[i][step[0]] && reach[step[1]][j];
    }
}

/* ---- eigenvalues --------------------------------------------------------------------------- */

/* The eigenvalues of two states that exchange, by their sum and their product. The product is a sum of
 * positive terms: a slow loss of a fast equilibrium keeps its digits. */
static void pair_of(const scheme_rates *r, int at, double *x)
{
    const double forth = r->k[at + 1][at], back = r->k[at][at + 1];
    const double a = forth + r->leaves[at], b = back + r->leaves[at + 1];
    const double root = sqrt((a - b) * (a - b) + 4.0 * forth * back);
    const double product =
        forth * r->leaves[at + 1] + back * r->leaves[at] + r->leaves[at] * r->leaves[at + 1];
    const double fast = 0.5 * (a + b + root);
    x[0] = fast > 0.0 ? -product / fast : 0.0;
    x[1] = -fast;
}

static void sort_falling(double *x, int n)
{
    for (int i = 1; i < n; i++) {
        const double own = x[i];
        int k = i;
        for (; k > 0 && x[k - 1] < own; k--)
            x[k] = x[k - 1];
        x[k] = own;
    }
}

/* A block has one state or two: schemes with larger ones go by stretches. */
static void find_eigenvalues(prepared_scheme *p, const scheme_rates *r)
{
    const int64_t *block = scheme_blocks(p->program);
    for (int at = 0; at < r->n; at += (int)*block++) {
        if (*block == 1)
            p->own[at] = r->k[at][at];
        else
            pair_of(r, at, p->own + at);
    }
    memcpy(p->x, p->own, sizeof p->x);
    sort_falling(p->x, r->n);
}

/* ---- Newton's coefficients ------------------------------------------------------------------ */

/* coefficients[j][i] of state i, of exp(K s) start, where the n nodes hold the eigenvalues of all states
 * that lead there. */
static void newton(const scheme_rates *r, const double *x, int n, const double *start,
                   double (*coefficients)[MAX_STATES])
{
    memcpy(coefficients[0], start, MAX_STATES * sizeof *start);
    for (int j = 1; j < n; j++)
        pyspec_scheme_shifted(r, x[j - 1], coefficients[j - 1], coefficients[j]);
}

/* The eigenvalues in the population of a state. For a source >= 0: those in its derivative by steps out
 * of the source. These are the eigenvalues of states that lead to the source, and of those between it
 * and the state. */
static int find_nodes(const prepared_scheme *p, int source, int state, double *nodes)
{
    int n = 0;
    for (int j = 0; j < p->n; j++) {
        if (source >= 0 && p->reach[j][source])
            nodes[n++] = p->own[j];
        if ((source < 0 || p->reach[source][j]) && p->reach[j][state])
            nodes[n++] = p->own[j];
    }
    sort_falling(nodes, n);
    return n;
}

/* Where steps with parameters lead out of a state: a source with its eigenvalues, and a term for each
 * parameter there. */
static void find_sources(prepared_scheme *p)
{
    const scheme *s = scheme_head(p->program);
    p->n_sources = p->n_terms = 0;
    for (int i = 0; i < p->n; i++) {
        const int64_t *step = scheme_steps(p->program);
        const int first = p->n_terms;
        for (int64_t k = 0; k < s->n_steps; k++, step += 3) {
            int known = step[0] != i;
            for (int t = first; t < p->n_terms; t++)
                known |= p->terms[t].param == step[2];
            if (known)
                continue;
            p->terms[p->n_terms].param = (int)step[2];
            p->terms[p->n_terms++].source = p->n_sources;
        }
        if (p->n_terms == first)
            continue;
        p->n_nodes[p->n_sources] = find_nodes(p, i, (int)s->target, p->nodes[p->n_sources]);
        p->state[p->n_sources++] = i;
    }
}

/* out += dK v for the steps out of a state that have the rate of a term. */
static void add_steps(const prepared_scheme *p, const scheme_term *term, const double *v, double *out)
{
    const scheme *s = scheme_head(p->program);
    const int64_t *step = scheme_steps(p->program);
    const int source = p->state[term->source];
    for (int64_t k = 0; k < s->n_steps; k++, step += 3) {
        if (step[0] != source || step[2] != term->param)
            continue;
        out[source] -= v[source] / p->fastest;
        if (step[1] >= 0)
            out[step[1]] += v[source] / p->fastest;
    }
}

/* The coefficients of a term, from a start on. */
static void newton_term(const prepared_scheme *p, const scheme_rates *r, const scheme_term *term,
                        const double *x, int n, const double *start,
                        double (*coefficients)[MAX_STATES])
{
    const int source = p->state[term->source];
    double below[MAX_STATES], next[MAX_STATES];
    for (int i = 0; i < r->n; i++)
        below[i] = p->reach[i][source] ? start[i] : 0.0;
    memset(coefficients[0], 0, sizeof below);
    for (int j = 1; j < n; j++) {
        pyspec_scheme_shifted(r, x[j - 1], coefficients[j - 1], coefficients[j]);
        add_steps(p, term, below, coefficients[j]);
        pyspec_scheme_shifted(r, x[j - 1], below, next);
        for (int i = 0; i < r->n; i++)
            below[i] = p->reach[i][source] ? next[i] : 0.0;
    }
}

/* ---- the instrument -------------------------------------------------------------------------- */

/* Points and weights of the integral over s. The first panels are short, because the fastest state
 * empties there. Later panels may be as long as a Gaussian of this width allows. Each reaches at
 * most four times as far as the one before, or twice if populations may oscillate. Returns how many
 * points. */
static int lay_points(const prepared_scheme *p, double *weight, double *at)
{
    const double longest = 4.0 * p->width, end = 2.0 * SCHEME_REACH * p->width;
    const double growth = p->by_stretches && pyspec_has_circle(p->program) ? 2.0 : 4.0;
    int n = 0;
    double length = longest < 10.0 ? longest : 10.0;
    /* As many panels as there may be. */
    for (int k = 0; k < MAX_PANELS - 6 && length * pow(growth, MAX_PANELS - 7) < longest; k++)
        length *= growth;
    for (double begin = 0.0; begin < end && n < MAX_PANELS * POINTS;) {
        const double half = 0.5 * (begin + length < end ? length : end - begin);
        for (int k = 0; k < POINTS; k++) {
            at[n] = begin + half * (1.0 + pyspec_legendre(k, &weight[n]));
            weight[n++] *= half;
        }
        begin += length;
        length = (growth - 1.0) * begin < longest ? (growth - 1.0) * begin : longest;
    }
    return n;
}

/* What the instrument has seen of a state at `late`; `read`, unless NULL, is where the integral reads
 * it at any time, to which this adds. */
static double integrate(const prepared_scheme *p, double (*coefficients)[MAX_STATES], int state,
                        const double *x, int n_nodes, const double *weight, double *read)
{
    const double norm = PYSPEC_SQRT1_2PI / p->width;
    double differences[MAX_TWICE][L], total = 0.0;
    for (int begin = 0; begin < p->n_points; begin += L) {
        pyspec_exp_differences(x, n_nodes, p->at + begin, differences);
        FOR_LANES
        {
            const double away = (p->late - p->at[begin + l]) / p->width;
            double now = 0.0;
            for (int j = n_nodes - 1; j >= 0; j--)
                now += coefficients[j][state] * differences[j][l];
            now *= norm * weight[begin + l];
            total += exp(-0.5 * away * away) * now;
            if (read)
                read[begin + l] += now;
        }
    }
    return total;
}

/* All states from a start on, as the instrument has seen them at `late`. */
static void see_states(const prepared_scheme *p, const scheme_rates *r, const double *start,
                       const double *weight, double *read, double *seen)
{
    double coefficients[MAX_STATES][MAX_STATES], nodes[MAX_TWICE];
    const int target = (int)scheme_head(p->program)->target;
    for (int i = 0; i < p->n; i++) {
        const int n = find_nodes(p, -1, i, nodes);
        newton(r, nodes, n, start, coefficients);
        seen[i] = integrate(p, coefficients, i, nodes, n, weight, i == target ? read : NULL);
    }
}

/* The derivatives of all states by what a term changes, added. */
static void see_term(prepared_scheme *p, const scheme_rates *r, const scheme_term *term,
                     const double *weight, double *seen)
{
    double coefficients[MAX_TWICE][MAX_STATES], nodes[MAX_TWICE];
    const int target = (int)scheme_head(p->program)->target, source = p->state[term->source];
    for (int i = 0; i < p->n; i++) {
        if (!p->reach[source][i])
            continue;
        const int n = find_nodes(p, source, i, nodes);
        newton_term(p, r, term, nodes, n, r->start, coefficients);
        seen[i] += integrate(p, coefficients, i, nodes, n, weight,
                             i == target ? p->change[term->param] : NULL);
    }
}

/* ---- all of it -------------------------------------------------------------------------------- */

static void take_target(const prepared_scheme *p, double (*coefficients)[MAX_STATES], int count,
                        double factor, double *out)
{
    const int target = (int)scheme_head(p->program)->target;
    for (int j = 0; j < count; j++)
        out[j] = factor * coefficients[j][target];
}

/* Coefficients from a start on; that of derivatives by time is K start. */
static void prepare_value(prepared_scheme *p, const scheme_rates *r, const double *start)
{
    double coefficients[MAX_STATES][MAX_STATES], moved[MAX_STATES], twice[MAX_STATES];
    newton(r, p->x, r->n, start, coefficients);
    take_target(p, coefficients, r->n, 1.0, p->value);
    if (!p->slopes)
        return;
    memset(moved, 0, sizeof moved);
    memset(twice, 0, sizeof twice);
    pyspec_scheme_shifted(r, 0.0, start, moved);
    newton(r, p->x, r->n, moved, coefficients);
    take_target(p, coefficients, r->n, p->fastest, p->motion);
    /* A response G obeys dG/dSD = SD d2G/dt2. */
    pyspec_scheme_shifted(r, 0.0, moved, twice);
    newton(r, p->x, r->n, twice, coefficients);
    take_target(p, coefficients, r->n, p->width * p->fastest, p->spread);
}

/* Derivatives by rates and populations; `start` is what goes on, at once or from `late` on. */
static void prepare_slopes(prepared_scheme *p, const scheme_rates *r, const double *start,
                           const double *weight)
{
    double coefficients[MAX_TWICE][MAX_STATES], changes[MAX_PARAMS][MAX_STATES];
    const int under = (int)scheme_head(p->program)->under, onset = p->n_params - 1 - under;
    find_sources(p);
    for (int k = 1; k < onset; k++) {
        double begins[MAX_STATES];
        pyspec_start_change(p->program, k, begins);
        memcpy(changes[k], begins, sizeof begins);
        memset(p->change[k], 0, (size_t)p->n_points * sizeof(double));
        if (under)
            see_states(p, r, begins, weight, p->change[k], changes[k]);
    }
    for (int t = 0; t < p->n_terms; t++) {
        scheme_term *term = &p->terms[t];
        const int count = p->n_nodes[term->source];
        if (under)
            see_term(p, r, term, weight, changes[term->param]);
        newton_term(p, r, term, p->nodes[term->source], count, start, coefficients);
        take_target(p, coefficients, count, 1.0, term->by);
    }
    for (int k = 1; k < onset; k++) {
        newton(r, p->x, p->n, changes[k], coefficients);
        take_target(p, coefficients, p->n, 1.0, p->by[k]);
    }
}

static void begin_scheme(prepared_scheme *p, const int64_t *program, int slopes)
{
    p->program = program;
    p->n = (int)scheme_head(program)->n_states;
    p->n_params = (int)scheme_head(program)->n_params;
    p->slopes = slopes;
    p->width = p->late = 0.0;
    p->n_points = p->n_terms = p->by_stretches = 0;
    p->has_pairs = pyspec_has_pairs(program);
}

static void interpolate(prepared_scheme *p, const int64_t *program, const double *params, int64_t stride,
                        int slopes)
{
    const scheme *s = scheme_head(program);
    double weight[MAX_PANELS * POINTS], start[MAX_STATES];
    scheme_rates r;
    begin_scheme(p, program, slopes);
    pyspec_load_rates(&r, program, params, stride, &p->fastest);
    find_reach(program, p->reach);
    find_eigenvalues(p, &r);
    memcpy(start, r.start, sizeof start);
    if (s->under) {
        p->width = params[(s->n_params - 1) * stride] * p->fastest;
        p->late = SCHEME_REACH * p->width;
        p->n_points = lay_points(p, weight, p->at);
        memset(p->seen, 0, sizeof p->seen);
        see_states(p, &r, r.start, weight, p->seen, start);
    }
    prepare_value(p, &r, start);
    if (slopes)
        prepare_slopes(p, &r, start, weight);
}

void pyspec_prepare_stretches(prepared_scheme *p, const int64_t *program, const double *params,
                              int64_t stride, int slopes)
{
    const scheme *s = scheme_head(program);
    double weight[MAX_PANELS * POINTS];
    scheme_rates r;
    begin_scheme(p, program, slopes);
    p->by_stretches = 1;
    pyspec_load_rates(&r, program, params, stride, &p->fastest);
    pyspec_prepare_circle(p, &r);
    if (!s->under)
        return;
    p->width = params[(s->n_params - 1) * stride] * p->fastest;
    p->late = SCHEME_REACH * p->width;
    p->n_points = lay_points(p, weight, p->at);
    pyspec_see_circle(p, weight);
}

void pyspec_prepare_scheme(prepared_scheme *p, const int64_t *program, const double *params,
                           int64_t stride, int slopes)
{
    const scheme *s = scheme_head(program);
    if (!pyspec_has_pairs(program)) {
        if (pyspec_goes_by_stretches(program))
            pyspec_prepare_stretches(p, program, params, stride, slopes);
        else
            interpolate(p, program, params, stride, slopes);
        return;
    }
    begin_scheme(p, program, slopes);
    pyspec_prepare_flow(p, params, stride);
    if (s->under)
        p->width = params[(s->n_params - 1) * stride] * p->fastest;
}
