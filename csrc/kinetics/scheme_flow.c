/* scheme_flow.c: schemes with steps of two states, A + B -> C at the rate k a b, which have no closed form.
 * The rate equations are solved by collocation at the points of Radau (E. Hairer and G. Wanner, Solving
 * Ordinary Differential Equations II, IV.5), which takes rates of any ratio. On each panel the populations
 * are a polynomial with the right derivative at STAGES points. The last coefficients of a panel limit its
 * length. Derivatives by rates and starts obey the linearised equations, at the same points.
 *
 * Rates and times are in units of the fastest rate at the start, populations in units of their sum. */
#include "kinetics/scheme.h"

#include <math.h>
#include <string.h>

enum { STAGES = FLOW_STAGES, MOST = STAGES * MAX_STATES };

/* TOLERANCE limits the last two coefficients relative to the sum of the populations at the start. If an
 * iterate of Newton is as close as CLOSE, the next one is exact. */
#define TOLERANCE 1e-13
#define CLOSE 1e-9
/* The shortest panel, next to the unit of time and to the time itself. */
#define SHORTEST 1e-9

/* Points and weights of Radau on [0, 1], found with 60 digits. */
static const double radau_point[STAGES] = {
    0.01001828046168040584302, 0.05203545112718055258354, 0.1246192251444430737353,
    0.2228406070438378555078, 0.3400081579146651882336, 0.4681376130895840420831,
    0.5984972797671391832277, 0.7222032848909679255633, 0.8308248996228185740306,
    0.9169583865525948532931, 0.9747263796024796502467, 1.0};
static const double radau_weight[STAGES] = {
    0.02562404960363464873401, 0.05795374014586919637517, 0.08638531965665428215303,
    0.1089344395130962194244, 0.1240607804020049797015, 0.1307328302760665517190,
    0.1284956690763538880640, 0.1175015575724929196743, 0.09849926741304481732802,
    0.07278183442699756426127, 0.04208606746934048812079, 0.006944444444444444444444};

/* ---- the equations ------------------------------------------------------------------------------ */

/* States that a word of a step names: the first, and the second or -1. */
static void read_states(int64_t word, int *states)
{
    states[0] = word < 0 ? -1 : (int)(word % MAX_STATES);
    states[1] = word < MAX_STATES ? -1 : (int)(word / MAX_STATES) - 1;
}

int pyspec_has_pairs(const int64_t *program)
{
    const int64_t *step = scheme_steps(program);
    for (int64_t k = 0; k < scheme_head(program)->n_steps; k++, step += 3)
        if (step[0] >= MAX_STATES || step[1] >= MAX_STATES)
            return 1;
    return 0;
}

static void load_steps(scheme_flow *f, const int64_t *program)
{
    const int64_t *step = scheme_steps(program);
    f->n_steps = (int)scheme_head(program)->n_steps;
    memset(f->change, 0, sizeof f->change);
    for (int k = 0; k < f->n_steps; k++, step += 3) {
        int to[2];
        read_states(step[0], f->from[k]);
        read_states(step[1], to);
        f->param[k] = (int)step[2];
        for (int i = 0; i < 2; i++) {
            if (f->from[k][i] >= 0)
                f->change[k][f->from[k][i]] -= 1.0;
            if (to[i] >= 0)
                f->change[k][to[i]] += 1.0;
        }
    }
}

/* The unit of populations is their sum, that of rates the fastest change of a state in its own units. */
static void load_units(prepared_scheme *p, const double *params, int64_t stride)
{
    scheme_flow *f = &p->flow;
    const int64_t *start = scheme_starts(p->program);
    double loss[MAX_STATES] = {0.0};
    memset(f->y, 0, sizeof f->y);
    for (int64_t k = 0; k < scheme_head(p->program)->n_starts; k++, start += 3) {
        double number;
        memcpy(&number, &start[2], sizeof number);
        f->y[start[0]] += start[1] < 0 ? number : params[start[1] * stride];
    }
    f->scale = 0.0;
    for (int i = 0; i < p->n; i++)
        f->scale += fabs(f->y[i]);
    f->scale = f->scale > 0.0 ? f->scale : 1.0;
    for (int k = 0; k < f->n_steps; k++) {
        f->unit[k] = f->from[k][1] < 0 ? 1.0 : f->scale;
        for (int i = 0; i < 2; i++)
            if (f->from[k][i] >= 0)
                loss[f->from[k][i]] += f->unit[k] * params[f->param[k] * stride];
    }
    p->fastest = 0.0;
    for (int i = 0; i < p->n; i++)
        p->fastest = loss[i] > p->fastest ? loss[i] : p->fastest;
    p->fastest = p->fastest > 0.0 ? p->fastest : 1.0;
    for (int k = 0; k < f->n_steps; k++) {
        f->unit[k] /= p->fastest;
        f->rate[k] = f->unit[k] * params[f->param[k] * stride];
    }
    for (int i = 0; i < p->n; i++)
        f->y[i] /= f->scale;
}

/* What a step would move at a rate of 1. */
static double moved(const scheme_flow *f, int k, const double *y)
{
    return y[f->from[k][0]] * (f->from[k][1] < 0 ? 1.0 : y[f->from[k][1]]);
}

static void take_change(const scheme_flow *f, const double *y, double *out)
{
    memset(out, 0, MAX_STATES * sizeof *out);
    for (int k = 0; k < f->n_steps; k++) {
        const double flown = f->rate[k] * moved(f, k, y);
        for (int i = 0; i < MAX_STATES; i++)
            out[i] += f->change[k][i] * flown;
    }
}

/* The derivative of the change of state i by state j. */
static void take_jacobian(const scheme_flow *f, const double *y, double (*out)[MAX_STATES])
{
    memset(out, 0, MAX_STATES * sizeof *out);
    for (int k = 0; k < f->n_steps; k++) {
        const int a = f->from[k][0], b = f->from[k][1];
        for (int i = 0; i < MAX_STATES; i++) {
            out[i][a] += f->change[k][i] * (f->rate[k] * (b < 0 ? 1.0 : y[b]));
            if (b >= 0)
                out[i][b] += f->change[k][i] * (f->rate[k] * y[a]);
        }
    }
}

/* The derivative of the change by a parameter. */
static void take_slope(const scheme_flow *f, const double *y, int param, double *out)
{
    memset(out, 0, MAX_STATES * sizeof *out);
    for (int k = 0; k < f->n_steps; k++)
        for (int i = 0; f->param[k] == param && i < MAX_STATES; i++)
            out[i] += f->change[k][i] * (f->unit[k] * moved(f, k, y));
}

/* ---- polynomials on a panel ------------------------------------------------------------------- */

/* Legendre's polynomials at the points, and the integrals from 0 to a point of what is 1 at another. */
static void make_table(scheme_flow *f)
{
    double p[STAGES][STAGES + 1];
    for (int i = 0; i < STAGES; i++) {
        const double x = 2.0 * radau_point[i] - 1.0;
        p[i][0] = 1.0;
        p[i][1] = x;
        for (int m = 1; m < STAGES; m++)
            p[i][m + 1] = ((2 * m + 1) * x * p[i][m] - m * p[i][m - 1]) / (m + 1);
        for (int m = 0; m < STAGES; m++)
            f->transform[m][i] = (2 * m + 1) * radau_weight[i] * p[i][m];
    }
    for (int i = 0; i < STAGES; i++)
        for (int j = 0; j < STAGES; j++) {
            double sum = radau_point[i] * f->transform[0][j];
            for (int m = 1; m < STAGES; m++)
                sum += (p[i][m + 1] - p[i][m - 1]) / (2 * (2 * m + 1)) * f->transform[m][j];
            f->integral[i][j] = sum;
        }
}

/* The polynomial through values at the points, in Legendre's. */
static void fit_points(const scheme_flow *f, const double (*values)[MAX_STATES], int state, double *series)
{
    for (int m = 0; m < STAGES; m++) {
        series[m] = 0.0;
        for (int i = 0; i < STAGES; i++)
            series[m] += f->transform[m][i] * values[i][state];
    }
    series[STAGES] = 0.0;
}

/* It goes through `begin` at 0 as well: by the polynomial that is 0 at all points of Radau. */
static void fit_begin(double begin, double *series)
{
    double now = 0.0;
    for (int m = 0; m < STAGES; m++)
        now += m % 2 ? -series[m] : series[m];
    const double part = 0.5 * (STAGES % 2 ? now - begin : begin - now);
    series[STAGES] = part;
    series[STAGES - 1] -= part;
}

/* ---- a panel -------------------------------------------------------------------------------------- */

typedef struct equations {
    int n;
    int pivot[MOST];
    double m[MOST][MOST];
} equations;

/* m = 1 - length A J, with J at each point. */
static void set_up(const scheme_flow *f, int n, double length, const double (*y)[MAX_STATES], equations *e)
{
    double jacobian[MAX_STATES][MAX_STATES];
    e->n = STAGES * n;
    for (int j = 0; j < STAGES; j++) {
        take_jacobian(f, y[j], jacobian);
        for (int i = 0; i < STAGES; i++)
            for (int a = 0; a < n; a++)
                for (int b = 0; b < n; b++)
                    e->m[i * n + a][j * n + b] = (i == j && a == b ? 1.0 : 0.0) -
                                                 length * f->integral[i][j] * jacobian[a][b];
    }
}

/* Gauss's elimination with pivots. */
static void eliminate(equations *e)
{
    double row[MOST];
    for (int k = 0; k < e->n; k++) {
        int best = k;
        for (int i = k + 1; i < e->n; i++)
            if (fabs(e->m[i][k]) > fabs(e->m[best][k]))
                best = i;
        e->pivot[k] = best;
        if (best != k) {
            memcpy(row, e->m[k], sizeof row);
            memcpy(e->m[k], e->m[best], sizeof row);
            memcpy(e->m[best], row, sizeof row);
        }
        for (int i = k + 1; i < e->n; i++) {
            const double factor = e->m[i][k] / e->m[k][k];
            e->m[i][k] = factor;
            for (int j = k + 1; factor != 0.0 && j < e->n; j++)
                e->m[i][j] -= factor * e->m[k][j];
        }
    }
}

static void solve(const equations *e, double *x)
{
    for (int k = 0; k < e->n; k++) {
        const double own = x[e->pivot[k]];
        x[e->pivot[k]] = x[k];
        x[k] = own;
    }
    for (int i = 1; i < e->n; i++)
        for (int j = 0; j < i; j++)
            x[i] -= e->m[i][j] * x[j];
    for (int i = e->n - 1; i >= 0; i--) {
        for (int j = i + 1; j < e->n; j++)
            x[i] -= e->m[i][j] * x[j];
        x[i] /= e->m[i][i];
    }
}

/* out = begin + length A g at each point, behind one another. */
static void gather(const scheme_flow *f, int n, double length, const double *begin,
                   const double (*g)[MAX_STATES], double *out)
{
    for (int i = 0; i < STAGES; i++)
        for (int a = 0; a < n; a++) {
            double sum = 0.0;
            for (int j = 0; j < STAGES; j++)
                sum += f->integral[i][j] * g[j][a];
            out[i * n + a] = begin[a] + length * sum;
        }
}

/* The populations at the points of a panel, by Newton. Returns whether they were found. */
static int solve_points(scheme_flow *f, int n, double length, double (*y)[MAX_STATES], equations *e)
{
    double change[STAGES][MAX_STATES], residual[MOST], before = 1e6;
    for (int i = 0; i < STAGES; i++)
        memcpy(y[i], f->y, sizeof f->y);
    for (int round = 0; round < 12; round++, f->n_rounds++) {
        double most = 0.0;
        for (int i = 0; i < STAGES; i++)
            take_change(f, y[i], change[i]);
        gather(f, n, length, f->y, change, residual);
        for (int i = 0; i < STAGES; i++)
            for (int a = 0; a < n; a++)
                residual[i * n + a] -= y[i][a];
        set_up(f, n, length, y, e);
        eliminate(e);
        solve(e, residual);
        for (int i = 0; i < STAGES; i++)
            for (int a = 0; a < n; a++) {
                y[i][a] += residual[i * n + a];
                most = fabs(residual[i * n + a]) <= most ? most : fabs(residual[i * n + a]);
            }
        if (most <= CLOSE)
            return 1;
        if (!(most < before)) /* further away than a round ago, or NaN */
            return 0;
        before = round ? most : before;
    }
    return 0;
}

/* How large the last coefficients of a state are; far too large where populations fall below zero,
 * which the equations cannot lead to. */
static double miss(const scheme_flow *f, int n, const double (*y)[MAX_STATES])
{
    double most = 0.0, series[STAGES + 1];
    for (int a = 0; a < n; a++) {
        fit_points(f, y, a, series);
        fit_begin(f->y[a], series);
        const double last = fabs(series[STAGES]), before = 0.125 * fabs(series[STAGES - 1]);
        most = last <= most ? most : last;
        most = before <= most ? most : before;
        for (int i = 0; i < STAGES && f->y[a] >= 0.0; i++)
            most = y[i][a] < -1e-6 ? 1.0 : most;
    }
    return most;
}

/* The target's population, its derivatives by parameters, and by time, as polynomials. */
static double *series_of(prepared_scheme *p, int panel, int k)
{
    return p->flow.series + flow_series(&p->flow, panel, k);
}

static void take_slopes(prepared_scheme *p, double length, const double (*y)[MAX_STATES], equations *e)
{
    scheme_flow *f = &p->flow;
    double g[STAGES][MAX_STATES], values[STAGES][MAX_STATES], x[MOST];
    const int target = (int)scheme_head(p->program)->target;
    set_up(f, p->n, length, y, e);
    eliminate(e);
    for (int k = 1; k < f->n_series - 1; k++) {
        for (int i = 0; i < STAGES; i++)
            take_slope(f, y[i], k, g[i]);
        gather(f, p->n, length, f->by[k], g, x);
        solve(e, x);
        for (int i = 0; i < STAGES; i++)
            for (int a = 0; a < p->n; a++)
                values[i][a] = x[i * p->n + a];
        fit_points(f, values, target, series_of(p, f->n_panels, k));
        fit_begin(f->by[k][target], series_of(p, f->n_panels, k));
        for (int a = 0; a < p->n; a++)
            f->by[k][a] = values[STAGES - 1][a];
    }
    for (int i = 0; i < STAGES; i++)
        take_change(f, y[i], g[i]);
    fit_points(f, g, target, series_of(p, f->n_panels, f->n_series - 1));
}

/* How much longer than this one the next panel may be, or this one when it is tried again. */
static double next_length(double missed)
{
    const double factor = 0.9 * pow(TOLERANCE / (missed > 1e-300 ? missed : 1e-300), 1.0 / (double)STAGES);
    const double least = missed <= TOLERANCE ? 0.5 : 0.1;
    return factor > 20.0 ? 20.0 : factor > least ? factor : least;
}

/* One more panel, of a length that its populations allow. Without room for it nothing is known there. */
static void add_panel(prepared_scheme *p)
{
    scheme_flow *f = &p->flow;
    double y[STAGES][MAX_STATES] = {{0.0}};
    equations e;
    const int target = (int)scheme_head(p->program)->target;
    const double begin = f->begin[f->n_panels];
    while (!f->is_stuck) {
        const double length = f->length;
        const double missed = solve_points(f, p->n, length, y, &e) ? miss(f, p->n, y) : 1.0;
        f->length *= next_length(missed);
        if (missed <= TOLERANCE) {
            fit_points(f, y, target, series_of(p, f->n_panels, 0));
            fit_begin(f->y[target], series_of(p, f->n_panels, 0));
            if (p->slopes)
                take_slopes(p, length, y, &e);
            memcpy(f->y, y[STAGES - 1], sizeof f->y);
            f->begin[++f->n_panels] = begin + length;
            break;
        }
        /* Nothing is faster than 1 at the start, and little is once the time is long. */
        f->is_stuck = f->n_rounds > FLOW_ROUNDS || !(f->length > SHORTEST * (1.0 + begin));
    }
    f->is_stuck |= f->n_panels == f->most_panels || f->n_rounds > FLOW_ROUNDS;
}

/* ---- all of it -------------------------------------------------------------------------------- */

int pyspec_flow_panel(prepared_scheme *p, double s)
{
    scheme_flow *f = &p->flow;
    while (!f->is_stuck && !(f->n_panels && s <= f->begin[f->n_panels]))
        add_panel(p);
    if (!(f->n_panels && s <= f->begin[f->n_panels]))
        return -1;
    int low = 0;
    for (int high = f->n_panels; high - low > 1;) {
        const int middle = (low + high) / 2;
        if (s < f->begin[middle])
            high = middle;
        else
            low = middle;
    }
    return low;
}

void pyspec_prepare_flow(prepared_scheme *p, const double *params, int64_t stride)
{
    scheme_flow *f = &p->flow;
    const scheme *s = scheme_head(p->program);
    const int n_series = p->n_params - (int)s->under;
    load_steps(f, p->program);
    load_units(p, params, stride);
    make_table(f);
    for (int k = 1; k < n_series - 1; k++) {
        pyspec_start_change(p->program, k, f->by[k]);
        for (int a = 0; a < MAX_STATES; a++)
            f->by[k][a] /= f->scale;
    }
    memcpy(f->start, f->y, sizeof f->start);
    f->n_series = p->slopes ? n_series : 1;
    f->n_panels = f->n_rounds = f->is_stuck = 0;
    f->most_panels = FLOW_ROOM / (n_series * (STAGES + 1));
    f->most_panels = f->most_panels < FLOW_PANELS ? f->most_panels : FLOW_PANELS;
    f->begin[0] = 0.0;
    f->length = 1.0;
}
