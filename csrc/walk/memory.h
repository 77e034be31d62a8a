/* memory.h: addresses inside the plan, the prepared memory and the work memory, from one place. */
#ifndef PYSPEC_MEMORY_H
#define PYSPEC_MEMORY_H

#include "formula/formula.h"
#include "walk/guard.h"

static inline const pyspec_node *plan_nodes(const pyspec_plan *plan)
{
    return (const pyspec_node *)((const char *)plan + plan->nodes);
}

static inline const int64_t *plan_words(const pyspec_plan *plan)
{
    return (const int64_t *)((const char *)plan + plan->words);
}

static inline int is_external(const pyspec_plan *plan, int64_t row)
{
    const int64_t first = plan->n_theta + plan->n_fixed;
    return row >= first && row < first + plan->n_external;
}

/* Whether the axis stage reads external traces. */
static inline int axis_reads_external(const pyspec_plan *plan)
{
    const int64_t *words = plan_words(plan);
    int found = 0;
    for (int64_t k = 0; plan->n_external && k < plan->n_resolve; k++) {
        const pyspec_node *n = &plan_nodes(plan)[k];
        if (n->stage != PYSPEC_STAGE_AXIS)
            continue;
        found |= n->step == PYSPEC_STEP_BASE && is_external(plan, n->source);
        for (int i = 0; n->step == PYSPEC_STEP_EXPRESSION && i < n->n_code; i++)
            found |= words[n->code + 2 * i] == RPN_PARAM &&
                     is_external(plan, words[n->code + 2 * i + 1]);
    }
    return found;
}

/* Whether a node reads the whole row of the spectrum below it. Such a node cuts the walk: what it
 * reads is there over all energies before it runs. */
static inline int is_row_fed(const pyspec_node *node)
{
    return node->step == PYSPEC_STEP_COMPONENT && node->op >= 0 &&
           pyspec_op_table[node->op].kind == KIND_ROW_FED;
}

/* The first node behind the last cut; without cuts, the first that builds spectra. */
static inline int64_t find_cut(const pyspec_plan *plan)
{
    int64_t cut = plan->n_nodes;
    while (cut > plan->n_resolve && !is_row_fed(&plan_nodes(plan)[cut - 1]))
        cut--;
    return cut;
}

/* Doubles of a spectrum in work memory: those of a block or, with cuts, of a row. */
static inline int64_t buffer_size(const pyspec_plan *plan, const pyspec_problem *problem)
{
    const int whole = find_cut(plan) > plan->n_resolve && problem->n_x > BLOCK;
    return (whole ? problem->n_x : BLOCK) * L;
}

/* Slopes of all traces: one for each parameter of theta that a trace depends on. For plans that say
 * what depends on what: nobody asks for slopes of others. */
static inline int64_t count_slopes(const pyspec_plan *plan)
{
    return plan_words(plan)[plan->depends + plan->n_traces];
}

/* Slopes of one trace; 0 where the plan does not say what depends on what. */
static inline int64_t count_row_slopes(const pyspec_plan *plan, int64_t row)
{
    if (plan->depends < 0)
        return 0;
    const int64_t *ends = plan_words(plan) + plan->depends;
    return ends[row + 1] - ends[row];
}

/* Whether a component is the same for each theta; in 1D no line is kept that a height multiplies. */
static inline int is_constant(const pyspec_plan *plan, const pyspec_node *node)
{
    const int64_t *row = plan_words(plan) + node->params;
    int constant = node->step == PYSPEC_STEP_COMPONENT && (node->flags & PYSPEC_FLAG_STATIC) &&
                   node->repeat == 1 && plan->depends >= 0 && !op_is_fed(node->op) &&
                   (plan->dimension == 2 || !(node->flags & PYSPEC_FLAG_SHAPE));
    for (int p = 0; constant && p < node->n_params; p++)
        constant = row[p] < 0 || (!count_row_slopes(plan, row[p]) && !is_external(plan, row[p]));
    return constant;
}

/* Lines along the energies: 1 for a constant component. In 2D a constant shape has its value, and with SLOPES a slope
 * by each parameter. A mean over auxiliary points has none with SLOPES: slopes differ. */
static inline int64_t count_lines(const pyspec_plan *plan, const pyspec_node *node, int64_t what)
{
    if (is_constant(plan, node))
        return 1;
    if (plan->dimension != 2 || node->step != PYSPEC_STEP_COMPONENT ||
        !(node->flags & (PYSPEC_FLAG_STATIC | PYSPEC_FLAG_SHAPE)))
        return 0;
    if (!(what & PYSPEC_PREPARE_SLOPES))
        return 1;
    return node->repeat == 1 ? 1 + node->n_params : 0;
}

/* Of a separable plan, the shapes that its spectra and their derivatives are made of; at most. */
static inline int64_t count_shapes(const pyspec_plan *plan, int slopes)
{
    if (plan->separable < 0)
        return 0;
    const int64_t *words = plan_words(plan), n_traces = 1 + words[plan->separable];
    int64_t n = n_traces;
    for (int64_t k = plan->n_resolve; slopes && k < plan->n_nodes; k++) {
        const pyspec_node *node = &plan_nodes(plan)[k];
        for (int p = 0; node->step == PYSPEC_STEP_COMPONENT && p < node->n_params; p++)
            if (words[node->params + p] >= 0)
                n += count_row_slopes(plan, words[node->params + p]) *
                     (op_is_fed(node->op) ? n_traces : 1);
    }
    return n;
}

/* Its functions of time: 1, the traces that move, and their slopes. */
static inline int64_t count_times(const pyspec_plan *plan, int slopes)
{
    if (plan->separable < 0)
        return 0;
    const int64_t *words = plan_words(plan) + plan->separable;
    int64_t n = 1 + words[0];
    for (int64_t k = 1; slopes && k <= words[0]; k++)
        n += count_row_slopes(plan, words[k]);
    return n;
}

/* Doubles from shape to shape: kernels fill whole vectors, sums whole blocks. */
static inline int64_t shape_stride(const pyspec_problem *problem)
{
    return round_up(problem->n_x, L) + BLOCK;
}

/* A trace that is the same for all rows, and one that every strip of rows resolves anew. */
enum { PLACE_SCALAR = -1, PLACE_ROW = -2 };

/* The use of the line of a component: it is added on its own, or joins the line of the next component.
 * A line that would have begun a spectrum passes this on to the next. */
enum { LINE_STAYS, LINE_JOINS, LINE_BEGINS };

/* What the prepared memory was filled for. External traces count where the axis stage reads them: of the
 * others each chunk of rows has its own. */
typedef struct prepared_key {
    const pyspec_plan *plan;
    const double *x, *time, *axes, *aux, *aux_weight;
    const double *x_inputs, *row_inputs, *aux_inputs, *external, *shares;
    const uint8_t *masks;
    int64_t what, isa, n_rows, n_x, x_begin, x_end;
} prepared_key;

/* The prepared memory: what does not depend on the row, and what kernels read and write along the
 * whole row axis. Every part is a multiple of L doubles, so that all stay 64-byte aligned. */
typedef struct prepared_parts {
    prepared_key *key;
    double *scalars;       /* [n_traces][L]: the same value for all rows, in every lane       */
    double *scalar_slopes; /* [slopes][L]                                                     */
    int64_t *place;        /* [n_traces] place in `axis`, or PLACE_*                          */
    int64_t *slope_place;  /* [n_traces] place of the first slope in `axis_slopes`            */
    int64_t *line_place;   /* [n_nodes - n_resolve] first line of a component, or -1          */
    int64_t *line_joins;   /* [n_nodes - n_resolve] LINE_*                                      */
    double *axis;          /* [rows of the axis stage][stride]                                */
    double *axis_slopes;   /* [their slopes][stride]                                          */
    double *lines;         /* [lines of all components][line_stride], of constant ones first  */
    double *convolve;      /* [convolve_rows(conv_params)][stride], scratch of convolutions */
    double *by_param;      /* [conv_params][stride], derivatives by a kernel's parameters       */
    int64_t conv_params;   /* most parameters of a kernel                                     */
    double *convolved;     /* [most slopes of a row][stride]                                  */
    double *signals;       /* [1 + most slopes of a row] addresses                            */
    double *shapes;        /* [shapes][shape_stride]                                          */
    double *shape_weight;  /* [n_x], the part of the weights that differs along the energies  */
    double *shape_list;    /* [shapes] what each is the derivative of, and by what            */
    double *n_shapes;      /* how many there are                                              */
    double *overlaps;      /* [shapes][shapes]                                                */
    double *counts;        /* [N_COLUMN_COUNTS] numbers, of the columns of J                  */
    double *still_list;    /* [columns] the numbers of those that are the same in every row   */
    double *still_lines;   /* [columns][line_stride], zeros behind the spectrum               */
    double *still_sums;    /* triangle of order columns + 1: sums over one row of two of them */
    double *moving_list;   /* [columns] the numbers of the others                             */
    double *moving_of_row; /* [n_traces] as in a basis                                        */
    int64_t stride;        /* doubles from row to row of `axis`                               */
    int64_t size;          /* bytes                                                           */
} prepared_parts;

/* Counts of columns of J. COUNT_STILL: columns that are the same in every row. SCALAR: still or
 * moving columns of a parameter that is the same in every row. They come first in their lists. */
enum { COUNT_STILL, COUNT_STILL_SCALAR, COUNT_MOVING_SCALAR, N_COLUMN_COUNTS };

/* Whether columns of J may be the same in every row, and be summed so. */
static inline int may_have_still(const pyspec_plan *plan, int slopes)
{
    return slopes && plan->columns >= 0 && plan->separable < 0 && plan->dimension == 2;
}

/* Doubles from line to line along the energies: whole vectors can be read from any abscissa on. */
static inline int64_t line_stride(const pyspec_problem *problem)
{
    return round_up(problem->n_x, L) + L;
}

static inline prepared_parts divide_prepared(const pyspec_plan *plan, const pyspec_problem *problem,
                                             double *base, int64_t what)
{
    prepared_parts p = {0};
    const pyspec_node *nodes = plan_nodes(plan);
    const int slopes = (what & PYSPEC_PREPARE_SLOPES) != 0;
    int64_t used = 0, n_axis = 0, n_axis_slopes = 0, most = 0;
    int64_t n_lines = 0, n_value_lines = 0;
    const int64_t n_inputs = plan->n_theta + plan->n_fixed;
    for (int64_t k = 0; k < plan->n_resolve; k++) {
        const int writes_first =
            nodes[k].flags & PYSPEC_FLAG_STORE || nodes[k].step == PYSPEC_STEP_EXPRESSION;
        if (nodes[k].step == PYSPEC_STEP_CONVOLVE)
            p.conv_params = nodes[k].n_params > p.conv_params ? nodes[k].n_params : p.conv_params;
        for (int64_t j = 0; nodes[k].stage == PYSPEC_STAGE_AXIS && j < nodes[k].repeat; j++) {
            const int64_t n_slopes = count_row_slopes(plan, nodes[k].target + j);
            most = n_slopes > most ? n_slopes : most;
            n_axis += writes_first;
            n_axis_slopes += writes_first ? n_slopes : 0;
        }
    }
    for (int64_t k = 0; n_axis && k < plan->n_external; k++) {
        n_axis++;
        n_axis_slopes += count_row_slopes(plan, n_inputs + k);
    }
    for (int64_t k = plan->n_resolve; k < plan->n_nodes; k++) {
        n_lines += count_lines(plan, &nodes[k], what);
        n_value_lines += count_lines(plan, &nodes[k], what & ~(int64_t)PYSPEC_PREPARE_SLOPES);
    }
    n_lines = n_lines > n_value_lines ? n_lines : n_value_lines; /* room for slopes is room for the value alone */
    p.stride = round_up(problem->n_rows, L) + L; /* a convolution keeps two values behind a row */
#define TAKE(part, count) (p.part = take_part(base, &used, count))
    TAKE(key, (int64_t)(sizeof(prepared_key) / sizeof(double)));
    TAKE(place, plan->n_traces);
    TAKE(slope_place, plan->n_traces);
    TAKE(line_place, plan->n_nodes - plan->n_resolve);
    TAKE(line_joins, plan->n_nodes - plan->n_resolve);
    TAKE(scalars, plan->n_traces * L);
    TAKE(axis, n_axis * p.stride);
    TAKE(lines, n_lines * line_stride(problem));
    TAKE(convolve, p.conv_params ? convolve_rows(p.conv_params) * p.stride : 0);
    TAKE(signals, 1 + (slopes ? most : 0));
    const int64_t n_shapes = count_shapes(plan, slopes);
    TAKE(shapes, n_shapes * shape_stride(problem));
    TAKE(shape_weight, n_shapes ? problem->n_x : 0);
    TAKE(shape_list, 2 * n_shapes);
    TAKE(n_shapes, n_shapes > 0);
    TAKE(overlaps, slopes ? n_shapes * n_shapes : 0);
    if (slopes) {
        TAKE(scalar_slopes, count_slopes(plan) * L);
        TAKE(axis_slopes, n_axis_slopes * p.stride);
        TAKE(by_param, p.conv_params * p.stride);
        TAKE(convolved, p.conv_params ? most * p.stride : 0);
    }
    const int has_still = may_have_still(plan, slopes);
    const int64_t n_columns = has_still ? plan_words(plan)[plan->columns] : 0;
    if (n_columns > 0) {
        TAKE(counts, N_COLUMN_COUNTS);
        TAKE(still_list, n_columns);
        TAKE(still_lines, n_columns * line_stride(problem));
        TAKE(still_sums, triangle_size(n_columns + 1));
        TAKE(moving_list, n_columns);
        TAKE(moving_of_row, plan->n_traces);
    }
#undef TAKE
    p.size = used * (int64_t)sizeof(double);
    return p;
}

/* A trace as a run reads and writes it: the value of position i is value[i * moves], slope c begins
 * at slopes + c * step. What does not move has one vector of L equal values. */
typedef struct trace {
    double *value;
    double *slopes;
    int64_t step;
    int64_t moves;
} trace;

/* The work memory of one thread. Every part is a multiple of L doubles, so that all stay 64-byte
 * aligned. Its size does not depend on the number of rows. Parts of one phase lie over those of
 * another (pyspec_work_phases); the first are there in all of them. */
typedef struct work_parts {
    trace *traces;   /* [n_traces]                                       */
    double *strip;   /* [n_traces][STRIP], what moves, for the rows at hand */
    double *strip_slopes; /* [slopes][STRIP]                             */
    double *value;   /* [buffer]                                         */
    double *sample;  /* [buffer], a component at one auxiliary point     */
    double *x;       /* [buffer], padded abscissae                       */
    double *zeros;   /* [buffer], what nothing was added to, for nodes that read rows */
    double *registers; /* of the formula that needs most                  */
    double *ready;     /* the node whose formula they are ready for at these rows, plus 1 */
    double *partials; /* [most parameters of a node][buffer]              */
    double *record;   /* triangle of order n_theta + 1                    */
    double *pointers; /* [3 (n_columns + 1)] addresses                    */
    double *list;     /* [n_columns + 1] numbers                          */
    double *chain;    /* [4 n_columns] what each column is by theta       */

    double *stack;   /* [stack_depth][RPN_CHUNK]                         */
    double *inputs;    /* [most inputs of a law][block] at the rows at hand */
    double *derivatives; /* [longest program][RPN_CHUNK]                  */
    double *sources;  /* [stack_depth + MAX_ARITY x longest program] int64 */

    double *time_sums;     /* [times][shape_stride], summed over time, and chi^2 */
    double *times;         /* [times][STRIP], each function once          */
    double *time_place;    /* [times] where in them each is, numbers      */
    double *time_gram;     /* [times][times]                              */
    double *heights;       /* [STRIP][traces]                             */
    double *residuals;     /* [STRIP][BLOCK]                              */
    double *terms;         /* [3 (shapes + times)] numbers                */

    double *shape_slots;   /* [n_slots + 1][shapes][shape_stride]         */
    double *shape_written; /* [n_slots + 1][shapes] bytes                 */
    double *shape_lines;   /* [1 + MAX_PARAMS][shape_stride]              */
    double *shape_x;       /* [shape_stride], padded abscissae            */

    double *triangle; /* [triangle of order n_columns + 1][L]             */
    double *slots;   /* [n_slots][buffer]                                */
    double *carry;   /* [n_nodes - n_resolve][MAX_SCRATCH][L]            */
    double *columns;  /* [n_slots][n_columns][buffer]                     */
    double *written;  /* [n_slots][n_columns] bytes: whether a column is not zero */
    double *kept;     /* the same, as it is where the walk was cut        */
    double *carries;  /* [n_nodes - n_resolve][n_columns][MAX_SCRATCH][L]; where a node is fed */
    double *reads;    /* [n_columns] bytes                                */
    double *fed;      /* [n_columns][buffer], columns through a spectrum-fed op */
    double *first;    /* [n_columns][MAX_SCRATCH][L]                      */
    double *rows;     /* [2][BLOCK * L], residuals and weights by rows */
    double *residual; /* [BLOCK][L]                                       */
    double *weight;   /* [BLOCK][L]                                       */
    double *dense;    /* [n_theta + 1][BLOCK]                             */
    double *folded;   /* [n_columns + 1][BLOCK], columns summed over lanes */
    double *half;     /* [n_columns + 1][n_theta + 1][L]                  */
    double *by_theta; /* [triangle of order n_theta + 1][L]               */

    int64_t is_fed;   /* whether a component reads spectra                */
    int64_t phases[PYSPEC_WORK_TILE + 1], size; /* bytes of each, and of all */
} work_parts;

/* How many columns the plan's own list of columns has; without one, those of theta. */
static inline int64_t most_columns(const pyspec_plan *plan)
{
    int64_t own = plan->columns < 0 ? 0 : plan_words(plan)[plan->columns];
    return own > plan->n_theta ? own : plan->n_theta;
}

/* Whether a node calls a function, so that the check has seen its op, parameters and program. */
static inline int calls_function(const pyspec_node *node)
{
    return node->step == PYSPEC_STEP_LAW || node->step == PYSPEC_STEP_PROFILE ||
           node->step == PYSPEC_STEP_CONVOLVE || node->step == PYSPEC_STEP_COMPONENT;
}

/* What the nodes of a plan ask of the work memory at most. */
typedef struct work_needs {
    int64_t longest;     /* instructions of an expression        */
    int64_t n_registers; /* doubles of the registers of a formula */
    int64_t n_params;    /* of a function                        */
    int64_t n_inputs;    /* of a law                             */
    int64_t is_fed;      /* whether a component reads spectra    */
} work_needs;

static inline work_needs find_needs(const pyspec_plan *plan)
{
    work_needs most = {.n_params = 1};
    for (int64_t k = 0; k < plan->n_nodes; k++) {
        const pyspec_node *node = &plan_nodes(plan)[k];
        if (node->step == PYSPEC_STEP_EXPRESSION && node->n_code > most.longest)
            most.longest = node->n_code;
        if (!calls_function(node)) /* nobody has looked at what the rest of it says */
            continue;
        if (node->op == PYSPEC_OP_FORMULA) {
            const int64_t *program = plan_words(plan) + node->code;
            const int64_t n = node->step == PYSPEC_STEP_CONVOLVE ? conv_formula_registers(program)
                                                                 : formula_registers(program);
            most.n_registers = n > most.n_registers ? n : most.n_registers;
            if (node->step == PYSPEC_STEP_LAW && formula_head(program)->n_inputs > most.n_inputs)
                most.n_inputs = formula_head(program)->n_inputs;
        }
        most.n_params = node->n_params > most.n_params ? node->n_params : most.n_params;
        most.is_fed |= node->step == PYSPEC_STEP_COMPONENT && node->source >= 0;
    }
    return most;
}

/* What lives at different times lies in the same memory: `used` goes back to where the last of it
 * began. Where gaps are guarded it does not, so that each part keeps gaps of its own. */
static inline void lay_over(int64_t *used, int64_t begin)
{
    if (GAP == 0)
        *used = begin;
}

/* Bytes between two places of the work memory. */
static inline int64_t bytes_from(int64_t begin, int64_t end)
{
    return (end - begin) * (int64_t)sizeof(double);
}

/* `slopes` adds what derivatives need. */
static inline work_parts divide_work(const pyspec_plan *plan, const pyspec_problem *problem,
                                     double *base, int slopes)
{
    work_parts w = {0};
    const work_needs needs = find_needs(plan);
    const int64_t block = BLOCK * L, buffer = buffer_size(plan, problem);
    const int64_t n_nodes = plan->n_nodes - plan->n_resolve, n_theta = plan->n_theta;
    const int64_t n = slopes ? most_columns(plan) : 0, n_read = needs.is_fed ? n : 0;
    int64_t used = 0, most;
#define TAKE(part, count) (w.part = take_part(base, &used, count))
    TAKE(traces, plan->n_traces * (int64_t)(sizeof(trace) / sizeof(double)));
    TAKE(strip, plan->n_traces * STRIP);
    TAKE(strip_slopes, slopes ? count_slopes(plan) * STRIP : 0);
    TAKE(value, buffer);
    TAKE(sample, buffer);
    TAKE(x, buffer);
    TAKE(zeros, buffer > block ? buffer : 0);
    TAKE(registers, needs.n_registers);
    TAKE(ready, 1);
    TAKE(partials, slopes ? needs.n_params * buffer : 0);
    TAKE(record, slopes ? triangle_size(n_theta + 1) : 1);
    TAKE(pointers, 3 * (n + 1));
    TAKE(list, n + 1);
    TAKE(chain, 4 * n);
    const int64_t kept = used;
    w.phases[PYSPEC_WORK_KEPT] = bytes_from(0, used);
    /* While the traces of a strip are resolved. */
    TAKE(stack, plan->stack_depth * RPN_CHUNK);
    TAKE(inputs, needs.n_inputs * block);
    TAKE(derivatives, slopes ? needs.longest * RPN_CHUNK : 0);
    TAKE(sources, slopes ? plan->stack_depth + MAX_ARITY * needs.longest : 0);
    const int64_t resolved = used;
    w.phases[PYSPEC_WORK_RESOLVE] = bytes_from(kept, used);
    /* Sums over energies and times apart, from strip to strip. */
    const int64_t n_shapes = count_shapes(plan, slopes), n_times = count_times(plan, slopes);
    const int64_t stride = n_shapes ? shape_stride(problem) : 0;
    TAKE(time_sums, round_up(n_times, CONTRACT_TILE) * stride + (n_times ? L : 0));
    TAKE(times, round_up(n_times, CONTRACT_TILE) * STRIP);
    TAKE(time_place, n_times);
    TAKE(time_gram, n_times * n_times);
    TAKE(heights, STRIP * count_times(plan, 0));
    TAKE(residuals, n_times ? STRIP * BLOCK : 0);
    TAKE(terms, 3 * (n_shapes + n_times));
    most = used;
    w.phases[PYSPEC_WORK_APART] = bytes_from(resolved, used);
    /* While the shapes of such sums are prepared. */
    lay_over(&used, kept);
    int64_t begin = used;
    TAKE(shape_slots, (plan->n_slots + 1) * n_shapes * stride);
    TAKE(shape_written, (plan->n_slots + 1) * n_shapes / 8 + 1);
    TAKE(shape_lines, n_shapes ? (1 + MAX_PARAMS) * stride : 0);
    TAKE(shape_x, stride);
    most = used > most ? used : most;
    w.phases[PYSPEC_WORK_SHAPES] = bytes_from(begin, used);
    /* While a tile is walked: its sums; then, block by block, spectra and columns, */
    lay_over(&used, kept);
    begin = used;
    TAKE(triangle, triangle_size(n + 1) * L);
    const int64_t summed = used;
    TAKE(slots, plan->n_slots * buffer);
    TAKE(carry, n_nodes * MAX_SCRATCH * L);
    TAKE(columns, plan->n_slots * n * buffer);
    TAKE(written, plan->n_slots * n / 8 + 1);
    TAKE(kept, plan->n_slots * n / 8 + 1);
    TAKE(carries, n_nodes * n_read * MAX_SCRATCH * L);
    const int64_t walked = used;
    /* of which some are there while a node runs, */
    TAKE(reads, n_read / 8 + 1);
    TAKE(fed, n_read * buffer);
    TAKE(first, n_read * MAX_SCRATCH * L);
    most = used > most ? used : most;
    int64_t end = used;
    /* and others once the block is summed; */
    lay_over(&used, walked);
    TAKE(rows, 2 * block);
    TAKE(residual, block);
    TAKE(weight, block);
    TAKE(dense, slopes ? (n_theta + 1) * BLOCK : 0);
    TAKE(folded, may_have_still(plan, slopes) ? (n + 1) * BLOCK : 0);
    most = used > most ? used : most;
    end = used > end ? used : end;
    /* last what becomes of the sums. */
    lay_over(&used, summed);
    TAKE(half, slopes ? (n + 1) * (n_theta + 1) * L : 0);
    TAKE(by_theta, slopes ? triangle_size(n_theta + 1) * L : 0);
    most = used > most ? used : most;
    end = used > end ? used : end;
    w.phases[PYSPEC_WORK_TILE] = bytes_from(begin, end);
#undef TAKE
    w.is_fed = needs.is_fed;
    w.size = bytes_from(0, most);
    return w;
}

#endif
