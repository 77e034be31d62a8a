/* naive.c: the plan as one reads it, one number at a time. Shares no loop with walk.c: here
 * the nodes are outermost, and a convolution is the double sum that defines it. */
#include "support/plans.h"
#include "formula/rpn_functions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double energy_op(int op, double x, const double *p)
{
    double u = (x - p[1]) / p[2];
    switch (op) {
    case OP_Gauss:
        return p[0] * exp(-0.5 * u * u);
    case OP_GaussAsym:
        u = x < p[1] ? u : u / p[3];
        return p[0] * exp(-0.5 * u * u);
    case OP_SkewGauss: {
        double q = p[3] == 0.0 ? 2.0 * u : log1p(2.0 * p[3] * u) / p[3];
        return p[0] * (1.0 + 2.0 * p[3] * u <= 0.0 ? 0.0 : exp(-log(2.0) * q * q));
    }
    case OP_Lorentz:
        return p[0] / (1.0 + 4.0 * u * u);
    case OP_GLS:
        return p[0] * ((1.0 - p[3]) * exp(-4.0 * log(2.0) * u * u) + p[3] / (1.0 + 4.0 * u * u));
    case OP_GLP:
        return p[0] * exp(-4.0 * log(2.0) * (1.0 - p[3]) * u * u) / (1.0 + 4.0 * p[3] * u * u);
    case OP_DS:
        u = x - p[1];
        return p[0] * cos(acos(-1.0) * p[3] / 2.0 + (1.0 - p[3]) * atan(u / p[2])) /
               pow(p[2] * p[2] + u * u, (1.0 - p[3]) / 2.0);
    case OP_Offset:
        return p[0];
    case OP_LinBack:
        u = x < p[2] ? p[2] : x > p[3] ? p[3] : x;
        return p[1] + p[0] * (u - p[2]);
    default:
        return (double)NAN;
    }
}

/* The normal distribution function. */
static double phi(double z)
{
    return 0.5 * erfc(-z / sqrt(2.0));
}

static double law_op(int op, double t, const double *p)
{
    const double two_pi = 2.0 * acos(-1.0);
    double u;
    switch (op) {
    case OP_none:
        return 0.0;
    case OP_stepFun:
        return t < p[1] ? 0.0 : p[0] + p[2];
    case OP_linFun:
        return t < p[1] ? 0.0 : p[0] * (t - p[1]) + p[2];
    case OP_expFun:
        return t < p[2] ? 0.0 : p[0] * exp(-(t - p[2]) / p[1]) + p[3];
    case OP_sinFun:
        return t < p[3] ? 0.0 : p[0] * sin(two_pi * p[1] * (t - p[3]) + p[2]) + p[4];
    case OP_dampedSinFun:
        u = t - p[4];
        return t < p[4] ? 0.0 : p[0] * exp(-u / p[3]) * sin(two_pi * p[1] * u + p[2]) + p[5];
    case OP_sinDivX:
        u = two_pi * p[1] * (t - p[2]);
        return t < p[2] ? 0.0 : p[0] * (u == 0.0 ? 1.0 : sin(u) / u) + p[3];
    case OP_erfFun:
        return p[0] * phi((t - p[2]) / p[1]) + p[3];
    case OP_sqrtFun:
        return p[0] * sqrt(t > p[1] ? t - p[1] : 0.0 * (t - p[1])) + p[2];
    case OP_constFun:
        return p[0];
    case OP_gaussFun:
        u = (t - p[2]) / p[1];
        return p[0] * exp(-0.5 * u * u);
    case OP_gaussD1Fun:
        u = (t - p[2]) / p[1];
        return -p[0] * u * exp(-0.5 * u * u);
    case OP_gaussD2Fun:
        u = (t - p[2]) / p[1];
        return p[0] * (u * u - 1.0) * exp(-0.5 * u * u);
    case OP_stepFun_gaussIRF:
        return (p[0] + p[3]) * phi((t - p[1]) / p[2]);
    case OP_erfFun_gaussIRF:
        return p[0] * phi((t - p[2]) / hypot(p[1], p[3])) + p[4];
    default:
        return (double)NAN;
    }
}

/* A component: over energies, or a law over times. */
static double shape_op(int op, double x, const double *p)
{
    return pyspec_op_table[op].domain == DOMAIN_ENERGY ? energy_op(op, x, p) : law_op(op, x, p);
}

static double profile_op(int op, double x, const double *p)
{
    switch (op) {
    case OP_pExpDecay:
        return p[0] * exp(-x / p[1]);
    case OP_pLinear:
        return p[0] * x + p[1];
    case OP_pGauss:
        return p[0] * exp(-0.5 * ((x - p[1]) / p[2]) * ((x - p[1]) / p[2]));
    default:
        return (double)NAN;
    }
}

/* g at n time differences, which are padded to whole vectors. The shape and the masses are those of
 * the op table, which Python's tests judge: what is done with them is naive here. */
static void kernel_op(int op, int64_t n, double *lag, double width, double *g)
{
    double params[L];
    pyspec_block b = {.n = round_up(n, L) / L, .n_valid = n, .across = 1, .x = lag};
    for (int64_t j = n; j < b.n * L; j++)
        lag[j] = lag[n - 1];
    FOR_LANES params[l] = width;
    pyspec_op_table[op].kernels[0](&b, params, g, NULL);
}

/* Integral of kernel_op over what lies beyond `away` >= 0 on one side. */
static double tail(int op, int side, double away, double width)
{
    const conv_side *s = &pyspec_op_table[op].conv[0]->sides[side];
    return s->mass ? s->mass(away, width) : 0.0;
}

/* What a straight line from y to z, between the distances `near` and `far` on one side of a sample, adds to
 * the sample: width times the integral of the kernel times the line. */
static long double of_line(int op, long double near, long double far, long double y, long double z,
                           long double width)
{
    const long double h = far - near, u = h / width;
    if (op != OP_boxCONV) {
        const long double mean = u > 0.0L ? -expm1l(-u) / u : 1.0L;
        return width * expl(-near / width) * ((1.0L - mean) * y + (mean - expl(-u)) * z);
    }
    const long double end = far < 0.5L * width ? far : 0.5L * width;
    return end > near ? (end - near) * (y + 0.5L * (end - near) / h * (z - y)) : 0.0L;
}

/* What a kernel with an edge makes of the straight lines between samples. */
static void convolve_lines(int op, double width, int64_t n, const double *t, const double *old, double *y)
{
    for (int64_t i = 0; i < n; i++) {
        long double sum = 0.0L, norm = 0.0L;
        for (int side = 0; side < 2; side++) {
            const int64_t next = side == PYSPEC_SIDE_LEFT ? -1 : 1, last = side == PYSPEC_SIDE_LEFT ? 0 : n - 1;
            norm += (long double)tail(op, side, 0.0, width);
            sum += (long double)tail(op, side, fabs(t[last] - t[i]), width) * (long double)(old[last] - old[i]);
            for (int64_t j = i; j != last && pyspec_op_table[op].conv[0]->sides[side].mass; j += next)
                sum += of_line(op, fabsl((long double)t[j] - (long double)t[i]),
                               fabsl((long double)t[j + next] - (long double)t[i]),
                               (long double)(old[j] - old[i]), (long double)(old[j + next] - old[i]),
                               (long double)width);
        }
        y[i] = old[i] + (double)(sum / norm);
    }
}

void naive_convolve(int op, double width, int64_t n, const double *t, double *y)
{
    const int64_t n_owned = count_owned();
    double *old = exact(3 * (n + L), sizeof *old), *lag = old + n + L, *g = lag + n + L;
    memcpy(old, y, (size_t)n * sizeof *old);
    if (op == OP_expDecayCONV || op == OP_expRiseCONV || op == OP_boxCONV) {
        convolve_lines(op, width, n, t, old, y);
        free_owned(n_owned);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        double left = tail(op, PYSPEC_SIDE_LEFT, t[i] - t[0], width);
        double right = tail(op, PYSPEC_SIDE_RIGHT, t[n - 1] - t[i], width);
        double sum = left * old[0] + right * old[n - 1], norm = left + right;
        for (int64_t j = 0; j < n; j++)
            lag[j] = t[i] - t[j];
        kernel_op(op, n, lag, width, g);
        for (int64_t j = 0; j < n; j++) {
            double before = j > 0 ? t[j] - t[j - 1] : 0.0;
            double after = j < n - 1 ? t[j + 1] - t[j] : 0.0;
            double weight = g[j] * (before + after) / 2.0;
            sum += weight * old[j];
            norm += weight;
        }
        y[i] = sum / norm;
    }
    free_owned(n_owned);
}

int naive_knows(const pyspec_plan *plan)
{
    const double p[MAX_PARAMS] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    for (int64_t k = 0; k < plan->n_nodes; k++) {
        int op = plan_nodes(plan)[k].op;
        if (op == PYSPEC_OP_FORMULA || op == PYSPEC_OP_SCHEME || op == PYSPEC_OP_MEASURED)
            return 0;
        if (op >= 0 && op != OP_Shirley && isnan(energy_op(op, 1.0, p)) &&
            isnan(law_op(op, 1.0, p)) && isnan(profile_op(op, 1.0, p)) &&
            pyspec_op_table[op].kind != KIND_KERNEL)
            return 0;
    }
    return 1;
}

static int guarded(const int64_t *guards, int n, const double *p)
{
    for (int k = 0; k < n; k++, guards += 4) {
        double a = p[guards[0]], b = guards[2] < 0 ? value_of(guards[3]) : p[guards[2]];
        int holds[] = {a > b, a >= b, a < b, a <= b};
        if (!holds[guards[1]])
            return 1;
    }
    return 0;
}

typedef struct reading {
    const pyspec_plan *plan;
    const pyspec_problem *problem;
    const int64_t *words;
    double *traces, *slots;
} reading;

/* A parameter row, or a row of the block that it begins. */
static double *trace_at(const reading *r, int64_t name, int64_t aux, int64_t row)
{
    int64_t at = name < r->plan->samples ? name : name + aux;
    return r->traces + at * r->problem->n_rows + row;
}

/* An instruction that is not written here once more: as its row has it. */
static double by_row(int64_t instruction, double a, double b, double c)
{
    (void)b;
    (void)c;
    switch (instruction) {
#define RPN(name, arity, symbol, value, by_a, by_b, by_c)                                          \
    case RPN_##name:                                                                               \
        return (value);
#include "tables/rpn.def"
#undef RPN
    default:
        return (double)NAN;
    }
}

static double unary(int64_t instruction, double a)
{
    switch (instruction) {
    case RPN_NEG:
        return -a;
    case RPN_EXP:
        return exp(a);
    case RPN_LOG:
        return log(a);
    case RPN_SQRT:
        return sqrt(a);
    case RPN_SIN:
        return sin(a);
    case RPN_COS:
        return cos(a);
    case RPN_TAN:
        return tan(a);
    case RPN_ABS:
        return a < 0.0 ? -a : a + 0.0;
    default:
        return by_row(instruction, a, 0.0, 0.0);
    }
}

static double binary(int64_t instruction, double a, double b)
{
    switch (instruction) {
    case RPN_ADD:
        return a + b;
    case RPN_SUB:
        return a - b;
    case RPN_MUL:
        return a * b;
    case RPN_DIV:
        return a / b;
    case RPN_POW:
        return pow(a, b);
    case RPN_MIN:
        return isnan(a) ? a : isnan(b) ? b : a < b ? a : b;
    case RPN_MAX:
        return isnan(a) ? a : isnan(b) ? b : a > b ? a : b;
    default:
        return by_row(instruction, a, b, 0.0);
    }
}

static double run_code(const reading *r, const pyspec_node *node, int64_t aux, int64_t row)
{
    const int64_t *code = r->words + node->code;
    double stack[64];
    int depth = 0;
    for (int k = 0; k < node->n_code; k++, code += 2) {
        int arity = pyspec_rpn_arity(code[0]);
        if (arity == 0) {
            stack[depth++] = code[0] == RPN_CONST ? value_of(code[1])
                                                  : *trace_at(r, code[1], aux, row);
        } else if (arity == 1) {
            stack[depth - 1] = unary(code[0], stack[depth - 1]);
        } else if (arity == 2) {
            depth--;
            stack[depth - 1] = binary(code[0], stack[depth - 1], stack[depth]);
        } else {
            depth -= 2;
            stack[depth - 1] = by_row(code[0], stack[depth - 1], stack[depth], stack[depth + 1]);
        }
    }
    return stack[0];
}

/* Parameters of a node; returns whether they lie outside of its bounds. */
static int read_params(const reading *r, const pyspec_node *node, int64_t aux, int64_t row,
                       double *p)
{
    for (int k = 0; k < node->n_params; k++) {
        int64_t from = r->words[node->params + k];
        p[k] = from < 0 ? 0.0 : *trace_at(r, from, aux, row);
    }
    return guarded(r->words + node->guards, node->n_guards, p);
}

/* What a resolving node, other than a convolution, stores or adds. */
static double resolve_value(const reading *r, const pyspec_node *node, int64_t aux, int64_t row)
{
    const pyspec_problem *q = r->problem;
    double p[MAX_PARAMS], t;
    int bad;
    switch (node->step) {
    case PYSPEC_STEP_LAW:
        if (node->mask >= 0 && !q->masks[node->mask * q->n_rows + row])
            return 0.0;
        t = node->axis ? q->axes[(node->axis - 1) * q->n_rows + row] : q->time[row];
        bad = read_params(r, node, 0, 0, p); /* laws do not move */
        return bad ? (double)NAN : law_op(node->op, t, p);
    case PYSPEC_STEP_PROFILE:
        bad = read_params(r, node, 0, row, p);
        return bad ? (double)NAN : profile_op(node->op, q->aux[aux], p);
    case PYSPEC_STEP_BASE:
        return *trace_at(r, node->source, aux, row);
    default:
        return run_code(r, node, aux, row);
    }
}

static void resolve(const reading *r, const pyspec_node *node)
{
    const int64_t n_rows = r->problem->n_rows;
    int store = node->step == PYSPEC_STEP_EXPRESSION ||
                (node->step != PYSPEC_STEP_BASE && (node->flags & PYSPEC_FLAG_STORE));
    if (node->step == PYSPEC_STEP_CONVOLVE) {
        double p[MAX_PARAMS], *target = trace_at(r, node->target, 0, 0);
        int bad = read_params(r, node, 0, 0, p);
        for (int64_t row = 0; bad && row < n_rows; row++)
            target[row] = (double)NAN;
        if (!bad)
            naive_convolve(node->op, p[0], n_rows, r->problem->time, target);
        return;
    }
    for (int64_t aux = 0; aux < node->repeat; aux++)
        for (int64_t row = 0; row < n_rows; row++) {
            double value = resolve_value(r, node, aux, row);
            double *target = trace_at(r, node->target, aux, row);
            *target = store ? value : *target + value;
        }
}

/* A component at one abscissa; `sum` is the spectrum that it reads, summed from above. */
/* A component of which the height alone moves: all else is read in row 0, and the bounds hold for
 * a height of 1. */
static double of_height(const reading *r, const pyspec_node *node, int64_t row, double x)
{
    double p[MAX_PARAMS] = {0};
    read_params(r, node, 0, row, p);
    const double height = p[0];
    read_params(r, node, 0, 0, p);
    p[0] = 1.0;
    return guarded(r->words + node->guards, node->n_guards, p) ? (double)NAN
                                                               : height * energy_op(node->op, x, p);
}

static double component(const reading *r, const pyspec_node *node, int64_t row, double x,
                        double sum)
{
    int moves = r->plan->dimension == 1 || !(node->flags & PYSPEC_FLAG_STATIC);
    double p[MAX_PARAMS] = {0}, mean = 0.0;
    if (r->plan->dimension == 2 && node->flags & PYSPEC_FLAG_SHAPE)
        return of_height(r, node, row, x);
    for (int64_t aux = 0; aux < node->repeat; aux++) {
        int bad = read_params(r, node, aux, moves ? row : 0, p);
        double value = node->op == OP_Shirley ? p[0] * sum : shape_op(node->op, x, p);
        value = bad ? (double)NAN : value;
        mean += node->repeat > 1 ? value * r->problem->aux_weight[aux] : value;
    }
    return mean;
}

static void add_spectrum(const reading *r, const pyspec_node *node, int64_t row)
{
    const pyspec_problem *q = r->problem;
    double sum = 0.0, *target = r->slots + node->target * q->n_x;
    for (int64_t i = q->n_x - 1; i >= 0; i--) {
        double value;
        if (node->step == PYSPEC_STEP_EXTERNAL) {
            value = q->spectra[(node->source * q->n_rows + row) * q->n_x + i];
        } else {
            double read = node->source < 0 ? 0.0 : r->slots[node->source * q->n_x + i];
            const double here = sum + (q->shares ? q->shares[2 * i + 1] : 1.0) * read;
            sum += (q->shares ? q->shares[2 * i] : 1.0) * read;
            value = node->step == PYSPEC_STEP_ADD ? read
                                                  : component(r, node, row, q->x[i], here);
        }
        target[i] = node->flags & PYSPEC_FLAG_STORE ? value : target[i] + value;
    }
}

void naive_evaluate(const pyspec_plan *plan, const pyspec_problem *problem, const double *theta,
                    double *traces, double *out)
{
    const int64_t n_rows = problem->n_rows, n_x = problem->n_x;
    const int64_t n_traces = plan->n_traces * n_rows, n_owned = count_owned();
    reading r = {plan, problem, plan_words(plan), NULL, NULL};
    r.traces = zeros(n_traces, sizeof *r.traces);
    r.slots = zeros(plan->n_slots * n_x, sizeof *r.slots);
    for (int64_t row = 0; row < n_rows; row++) {
        int64_t at = 0;
        for (int64_t k = 0; k < plan->n_theta; k++)
            r.traces[at++ * n_rows + row] = theta[k];
        for (int64_t k = 0; k < plan->n_fixed; k++)
            r.traces[at++ * n_rows + row] = problem->fixed[k];
        for (int64_t k = 0; k < plan->n_external; k++)
            r.traces[at++ * n_rows + row] = problem->external[k * n_rows + row];
    }
    for (int64_t k = 0; k < plan->n_resolve; k++)
        resolve(&r, &plan_nodes(plan)[k]);
    for (int64_t row = 0; row < n_rows; row++) {
        for (int64_t k = plan->n_resolve; k < plan->n_nodes; k++)
            add_spectrum(&r, &plan_nodes(plan)[k], row);
        if (plan->trace >= 0) /* one abscissa */
            out[row] = r.traces[plan->trace * n_rows + row];
        else
            memcpy(out + row * n_x, r.slots + plan->result * n_x, (size_t)n_x * sizeof *out);
    }
    if (traces)
        memcpy(traces, r.traces, (size_t)n_traces * sizeof *traces);
    free_owned(n_owned);
}
