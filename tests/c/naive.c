/* naive.c: the plan as one reads it, one number at a time. Shares no loop with execute.c. */
#include "plans.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double call_op(int op, double x, const double *p)
{
    double u;
    switch (op) {
    case OP_Gauss:
        u = (x - p[1]) / p[2];
        return p[0] * exp(-0.5 * u * u);
    case OP_GLP:
        u = (x - p[1]) / p[2];
        return p[0] * exp(-4.0 * log(2.0) * (1.0 - p[3]) * u * u) / (1.0 + 4.0 * p[3] * u * u);
    case OP_Offset:
        return p[0];
    case OP_LinBack:
        u = x < p[2] ? p[2] : x > p[3] ? p[3] : x;
        return p[1] + p[0] * (u - p[2]);
    case OP_expFun:
        return x < p[2] ? 0.0 : p[0] * exp(-(x - p[2]) / p[1]) + p[3];
    case OP_sinFun:
        return x < p[3] ? 0.0 : p[0] * sin(2.0 * acos(-1.0) * p[1] * (x - p[3]) + p[2]) + p[4];
    default:
        return (double)NAN;
    }
}

int naive_knows(const pyspec_plan *plan)
{
    const double p[MAX_PARAMS] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    for (int64_t k = 0; k < plan->n_nodes; k++) {
        int op = plan_nodes(plan)[k].op;
        if (op >= 0 && op != OP_Shirley && isnan(call_op(op, 1.0, p)))
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

static double run_code(const int64_t *code, int n, const double *traces, int64_t n_rows,
                       int64_t row)
{
    double stack[64];
    int depth = 0;
    for (int k = 0; k < n; k++, code += 2) {
        if (code[0] == RPN_CONST) {
            stack[depth++] = value_of(code[1]);
        } else if (code[0] == RPN_PARAM) {
            stack[depth++] = traces[code[1] * n_rows + row];
        } else if (code[0] == RPN_NEG) {
            stack[depth - 1] = -stack[depth - 1];
        } else {
            double b = stack[--depth], a = stack[depth - 1];
            stack[depth - 1] = code[0] == RPN_ADD   ? a + b
                               : code[0] == RPN_SUB ? a - b
                               : code[0] == RPN_MUL ? a * b
                               : code[0] == RPN_DIV ? a / b
                                                    : pow(a, b);
        }
    }
    return stack[0];
}

/* Parameters of a node at a row. */
static void read_params(const pyspec_plan *plan, const pyspec_node *node, const double *traces,
                        int64_t n_rows, int64_t row, double *p)
{
    for (int k = 0; k < node->n_params; k++) {
        int64_t from = plan_words(plan)[node->params + k];
        p[k] = from < 0 ? 0.0 : traces[from * n_rows + row];
    }
}

static void resolve_row(const pyspec_plan *plan, const pyspec_problem *q, double *traces,
                        int64_t row)
{
    const int64_t *words = plan_words(plan);
    for (int64_t k = 0; k < plan->n_resolve; k++) {
        const pyspec_node *node = &plan_nodes(plan)[k];
        double p[MAX_PARAMS], *target = traces + node->target * q->n_rows + row;
        int store = node->step == PYSPEC_STEP_EXPRESSION || (node->flags & PYSPEC_FLAG_STORE);
        double value;
        if (node->step == PYSPEC_STEP_LAW) {
            double t = node->axis ? q->axes[(node->axis - 1) * q->n_rows + row] : q->time[row];
            read_params(plan, node, traces, q->n_rows, 0, p); /* laws do not move */
            value = guarded(words + node->guards, node->n_guards, p) ? (double)NAN
                                                                     : call_op(node->op, t, p);
            if (node->mask >= 0 && !q->masks[node->mask * q->n_rows + row])
                value = 0.0;
        } else if (node->step == PYSPEC_STEP_BASE) {
            value = traces[node->source * q->n_rows + row];
        } else {
            int64_t from = node->flags & PYSPEC_FLAG_STATIC ? 0 : row;
            value = run_code(words + node->code, node->n_code, traces, q->n_rows, from);
        }
        *target = store ? value : *target + value;
    }
}

static void add_spectrum(const pyspec_plan *plan, const pyspec_problem *q,
                         const pyspec_node *node, const double *traces, int64_t row,
                         double *slots)
{
    double p[MAX_PARAMS] = {0}, sum = 0.0, *target = slots + node->target * q->n_x;
    int store = node->flags & PYSPEC_FLAG_STORE, bad = 0;
    if (node->step == PYSPEC_STEP_COMPONENT) {
        int64_t from = plan->dimension == 2 && (node->flags & PYSPEC_FLAG_STATIC) ? 0 : row;
        read_params(plan, node, traces, q->n_rows, from, p);
        bad = guarded(plan_words(plan) + node->guards, node->n_guards, p);
    }
    for (int64_t i = q->n_x - 1; i >= 0; i--) {
        double read = node->source < 0 ? 0.0 : slots[node->source * q->n_x + i], value;
        sum += read;
        if (node->step == PYSPEC_STEP_ADD)
            value = read;
        else if (node->op == OP_Shirley)
            value = p[0] * sum;
        else
            value = call_op(node->op, q->x[i], p);
        value = bad ? (double)NAN : value;
        target[i] = store ? value : target[i] + value;
    }
}

void naive_evaluate(const pyspec_plan *plan, const pyspec_problem *problem, const double *theta,
                    double *traces, double *out)
{
    size_t n_traces = (size_t)(plan->n_traces * problem->n_rows);
    double *own = calloc(n_traces + 1, sizeof *own);
    double *slots = calloc((size_t)(plan->n_slots * problem->n_x), sizeof *slots);
    if (!own || !slots)
        abort();
    for (int64_t row = 0; row < problem->n_rows; row++) {
        for (int64_t k = 0; k < plan->n_theta; k++)
            own[k * problem->n_rows + row] = theta[k];
        for (int64_t k = 0; k < plan->n_fixed; k++)
            own[(plan->n_theta + k) * problem->n_rows + row] = problem->fixed[k];
        resolve_row(plan, problem, own, row);
    }
    for (int64_t row = 0; row < problem->n_rows; row++) {
        for (int64_t k = plan->n_resolve; k < plan->n_nodes; k++)
            add_spectrum(plan, problem, &plan_nodes(plan)[k], own, row, slots);
        memcpy(out + row * problem->n_x, slots + plan->result * problem->n_x,
               (size_t)problem->n_x * sizeof *out);
    }
    if (traces)
        memcpy(traces, own, n_traces * sizeof *own);
    free(own);
    free(slots);
}
