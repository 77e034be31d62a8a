/* operands.c: what a node reads: its parameters in the lanes of a tile, and its bounds. */
#include "kinetics/measured.h"
#include "walk/run.h"
#include "kinetics/scheme_kept.h"

_Alignas(64) const double pyspec_zeros[BLOCK * L] = {0.0};

void pyspec_gather(const run *r, const pyspec_node *node, const tile *t, double *params)
{
    for (int k = 0; k < node->n_params; k++) {
        int64_t row = r->words[node->params + k];
        if (row < 0)
            fill(params + k * L, 0.0, L);
        else if (t->across)
            fill(params + k * L, *values_at(trace_of(r, row, t->aux), t->at), L);
        else
            memcpy(params + k * L, values_at(trace_of(r, row, t->aux), t->at), L * sizeof(double));
    }
}

static int holds(int64_t comparison, double a, double b)
{
    switch (comparison) {
    case PYSPEC_GUARD_GT:
        return a > b;
    case PYSPEC_GUARD_GE:
        return a >= b;
    case PYSPEC_GUARD_LT:
        return a < b;
    default:
        return a <= b;
    }
}

unsigned pyspec_outside(const run *r, const pyspec_node *node, const double *params)
{
    unsigned bad = 0;
    for (int g = 0; g < node->n_guards; g++) {
        const int64_t *guard = r->words + node->guards + 4 * g;
        double constant;
        memcpy(&constant, &guard[3], sizeof constant);
        FOR_LANES {
            double other = guard[2] < 0 ? constant : params[guard[2] * L + l];
            bad |= (unsigned)!holds(guard[1], params[guard[0] * L + l], other) << l;
        }
    }
    return bad;
}

/* The k-th input of a formula: along the axis of a component or profile, or of a law what is loaded. */
static const double *input_of(const run *r, const pyspec_node *node, int64_t k)
{
    const pyspec_problem *q = r->problem;
    const int64_t place = r->words[node->inputs + k];
    if (node->step == PYSPEC_STEP_LAW)
        return r->work.inputs + k * BLOCK * L;
    return node->step == PYSPEC_STEP_PROFILE ? q->aux_inputs + place * q->n_aux
                                             : q->x_inputs + place * q->n_x;
}

/* What a component that is a state of a scheme keeps from block to block, or NULL. */
static kept_scheme *kept_of(const run *r, const pyspec_node *node)
{
    int64_t k = 0;
    if (!r->kept)
        return NULL;
    for (const pyspec_node *other = r->nodes + r->plan->n_resolve; other < node; other++)
        k += other->step == PYSPEC_STEP_COMPONENT && other->op == PYSPEC_OP_SCHEME;
    return r->kept + k;
}

void pyspec_run_kernel(const run *r, const pyspec_node *node, const pyspec_block *b,
                       const double *params, double *value, double *const *partials)
{
    if (node->op >= 0) {
        pyspec_op_table[node->op].kernels[r->call->isa](b, params, value, partials);
        return;
    }
    pyspec_block own = *b;
    own.program = r->words + node->code;
    own.registers = r->work.registers;
    const double *inputs[PYSPEC_MAX_INPUTS];
    if (node->op == PYSPEC_OP_FORMULA) {
        const int64_t n_inputs = formula_head(own.program)->n_inputs;
        for (int64_t k = 0; k < n_inputs; k++)
            inputs[k] = input_of(r, node, k) + b->first;
        own.inputs = inputs;
    }
    if (node->op == PYSPEC_OP_SCHEME && node->step == PYSPEC_STEP_LAW)
        pyspec_run_scheme(&own, r->call->isa, params, value, partials);
    else if (node->op == PYSPEC_OP_SCHEME)
        pyspec_run_kept_scheme(&own, r->call->isa, params, value, partials, kept_of(r, node));
    else if (node->op == PYSPEC_OP_MEASURED)
        k_measured(&own, params, value, partials);
    else
        pyspec_formula_kernels[r->call->isa](&own, params, value, partials);
}

void pyspec_poison(double *value, int64_t n, unsigned bad)
{
    for (int64_t i = 0; bad && i < n; i++)
        FOR_LANES value[AT] = bad >> l & 1 ? NAN : value[AT];
}

void pyspec_load_external(const run *r, const pyspec_node *node, const tile *t, double *value)
{
    const pyspec_problem *q = r->problem;
    for (int64_t i = 0; i < t->block.n; i++)
        FOR_LANES {
            int64_t row = t->row[t->across ? 0 : l] - q->first_row;
            int64_t x = t->x0 + (t->across ? AT : i);
            row = row < 0 ? 0 : row;
            x = x < q->n_x ? x : q->n_x - 1;
            value[AT] = q->spectra[(node->source * q->chunk_rows + row) * q->n_x + x];
        }
}
