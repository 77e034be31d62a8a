/* pyspec.h: the only public header of the pyspec library.
 *
 * A model is lowered once to a plan: one contiguous, read-only memory of op nodes and programs. A problem says what to
 * evaluate it on: axes, window, data, weights. The prepared memory holds what is computed once for all rows; a work
 * memory is scratch. All belong to the caller; the library allocates nothing, prints nothing and keeps no state: calls
 * with distinct work memories may run in several threads.
 *
 *     pyspec_check(plan, plan_size, problem, &fault)     once
 *     pyspec_work_size(plan, problem)                    once
 *     pyspec_prepared_size(plan, problem, what)          once
 *     pyspec_residual(&call)                             as often as an optimizer asks
 * Threads, chunks or machines may share the rows. Then call
 *     pyspec_prepare(&call, what)                        once a point.
 *     pyspec_accumulate(&call, sums, row_begin, row_end) for each range of rows.
 *
 * An entry that returns an int returns a status (status.def), unless its comment says otherwise. 0 means success.
 * After any other status the results are undefined. Only pyspec_check verifies plans and problems. An entry that takes
 * a program verifies the program. All others trust them, and check only pointers and sizes of memory.
 *
 * Sizes in `offset` fields are counted as layout.def says. All doubles are IEEE 754 binary64. Formulas read one flag
 * of the floating point environment, whether an operation was invalid. They leave it set if one was.
 */
#ifndef PYSPEC_H
#define PYSPEC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define PYSPEC_API __declspec(dllexport)
#else
#define PYSPEC_API __attribute__((visibility("default")))
#endif

/* Raised whenever a struct, a step or the meaning of a table changes. */
#define PYSPEC_ABI 7

#define PYSPEC_LANES 8        /* rows (or abscissae) that a kernel handles side by side */
#define PYSPEC_LINEAR_MOST 32 /* amplitudes that a group of data may have */

/* What a node does. LAW, BASE, EXPRESSION, CONVOLVE and PROFILE resolve parameters, the
 * others build spectra. A trace row from plan.samples on is the first of a block of n_aux
 * rows, one for each auxiliary point; a node with repeat = n_aux runs once for each. */
enum {
    PYSPEC_STEP_LAW = 0,        /* trace[target] (+)= law(axis; params), masked          */
    PYSPEC_STEP_BASE = 1,       /* trace[target] += trace[source]                       */
    PYSPEC_STEP_EXPRESSION = 2, /* trace[target] = program                              */
    PYSPEC_STEP_COMPONENT = 3,  /* slot[target] (+)= component(x; params, slot[source]) */
    PYSPEC_STEP_ADD = 4,        /* slot[target] (+)= slot[source]                       */
    PYSPEC_STEP_CONVOLVE = 5,   /* trace[target] = kernel(params) * trace[target]       */
    PYSPEC_STEP_PROFILE = 6,    /* trace[target + k] (+)= profile(aux[k]; params)       */
    PYSPEC_STEP_EXTERNAL = 7    /* slot[target] (+)= spectra[source]                    */
};

/* Takes the place of a row of ops.def. The program of the node holds the function: a formula, the
 * state of a kinetic scheme, or the response of a law to a measured instrument. */
enum { PYSPEC_OP_FORMULA = -2, PYSPEC_OP_SCHEME = -3, PYSPEC_OP_MEASURED = -4 };

/* Words before what a program holds, and how much that may be: of a formula, a kernel by formula, a
 * kinetic scheme, and a measured instrument. */
enum { PYSPEC_FORMULA_HEAD = 11, PYSPEC_FORMULA_SHORT = 16, PYSPEC_FORMULA_LONG = 128 };
enum { PYSPEC_KERNEL_HEAD = 7, PYSPEC_MAX_INPUTS = 16, PYSPEC_MAX_PARAMS = 24 };
enum { PYSPEC_SCHEME_HEAD = 8, PYSPEC_SCHEME_STATES = 8, PYSPEC_SCHEME_STEPS = 64 };
enum { PYSPEC_MEASURED_HEAD = 4, PYSPEC_MEASURED_SAMPLES = 1000, PYSPEC_FORMULA_REGISTERS = 1024 };

enum {
    PYSPEC_FLAG_STORE = 1, /* overwrite the target instead of adding to it         */
    PYSPEC_FLAG_STATIC = 2, /* a component's parameters are the same for all rows  */
    PYSPEC_FLAG_SHAPE = 4   /* so are all but the first, its height                */
};

/* When a node that resolves parameters runs. PROBLEM: its inputs are the same for all rows. AXIS: a
 * convolution reads and writes the whole row axis. ROW: row by row; any range of rows may be
 * resolved separately. A node reads only values of its own stage or an earlier one. Laws,
 * convolutions and components that stand still read their parameters from the first stage. */
enum { PYSPEC_STAGE_PROBLEM = 0, PYSPEC_STAGE_AXIS = 1, PYSPEC_STAGE_ROW = 2 };

/* What is prepared: SLOPES, derivatives too. SHAPES, what sums over shapes and times apart need, where
 * the plan allows them: strips of so many rows are whole. */
enum { PYSPEC_PREPARE_SLOPES = 1, PYSPEC_PREPARE_SHAPES = 2, PYSPEC_STRIP = 64 };

/* A guard is four words: parameter, comparison, other parameter or -1, bits of a double.
 * A row where parameter (comparison) other is not true is NaN. */
enum { PYSPEC_GUARD_GT = 0, PYSPEC_GUARD_GE = 1, PYSPEC_GUARD_LT = 2, PYSPEC_GUARD_LE = 3 };

/* Residuals: (data - model) * weight, or the signed Poisson deviance
 * sign(d - m) sqrt(2 scale (d ln(d / m) - d + m)), m extended linearly below 0.001 / scale. */
enum { PYSPEC_LOSS_SQUARES = 0, PYSPEC_LOSS_POISSON = 1 };

/* Phases of work memory; builds of the energy kernels. */
enum { PYSPEC_WORK_KEPT, PYSPEC_WORK_RESOLVE, PYSPEC_WORK_APART };
enum { PYSPEC_WORK_SHAPES = 3, PYSPEC_WORK_TILE = 4 };
enum { PYSPEC_ISA_BASELINE = 0, PYSPEC_ISA_AVX2 = 1, PYSPEC_ISA_AVX512 = 2 };

enum { PYSPEC_TYPE_F64 = 0, PYSPEC_TYPE_F32 = 1, PYSPEC_TYPE_U16 = 2 };

/* The sums over rows. VALUE: only chi^2. GRAM: the Gram matrix of the columns of [J r]. FACTOR: its Cholesky factor R,
 * by orthogonal transformations, without ever squaring a condition. FISHER: the Gram matrix with the expected
 * curvature of the loss in place of J (differs for PYSPEC_LOSS_POISSON). All are stored as the rows j <= k of an upper
 * triangle of order n_theta + 1. Its last column belongs to r; J is minus the derivative of the residual. */
enum {
    PYSPEC_FORM_VALUE = 0,
    PYSPEC_FORM_GRAM = 1,
    PYSPEC_FORM_FACTOR = 2,
    PYSPEC_FORM_FISHER = 3,
    PYSPEC_FORM_DATA = 4 /* no triangle: `order` numbers, see pyspec_read */
};

/* A chunk of consecutive rows never holds more sums than this. */
#define PYSPEC_NORMAL_NODES 96

/* What a step of the solver answers. */
enum {
    PYSPEC_FIT_DONE = 0,       /* solver.end says how                                         */
    PYSPEC_FIT_AGAIN = 1,      /* the budget is used up: call again                           */
    PYSPEC_FIT_NEED_NORMAL = 2 /* fill solver.answer for solver.trial, in the form asked for  */
};

/* How a fit ended. */
enum {
    PYSPEC_END_RUNNING = 0,
    PYSPEC_END_CONVERGED = 1,  /* the undamped step is below the tolerance, or the fit is exact */
    PYSPEC_END_DEGENERATE = 2, /* so it is, but some parameters are not determined by the data  */
    PYSPEC_END_STALLED = 3,    /* no step makes chi^2 smaller, and the undamped one is not short */
    PYSPEC_END_NOT_FINITE = 4, /* chi^2 or its derivatives are not finite at the start          */
    PYSPEC_END_LIMIT = 5,      /* max_nfev evaluations are used up                              */
    PYSPEC_END_SLOW = 6        /* chi^2 has hardly fallen over many evaluations                 */
};

/* What is known of the ending of a fit; CERTAIN alone says that nobody need look closer. */
enum {
    PYSPEC_ENDING_CERTAIN = 1,  /* bounds hold what lies at them, the data determine the others */
    PYSPEC_ENDING_WEAK = 2,     /* of all parameters together they may not */
    PYSPEC_ENDING_NEUTRAL = 4,  /* a parameter lies at or next to a bound that may not hold it */
    PYSPEC_ENDING_AT_BOUND = 8, /* a parameter lies at a bound */
    PYSPEC_ENDING_EXACT = 16,   /* the residual is rounding */
    PYSPEC_ENDING_WIDE = 32,    /* an error is larger than the interval of the bounds */
    PYSPEC_ENDING_LOST = 64     /* parameters have no effect at all; what is CERTAIN is so of the others */
};

typedef struct pyspec_node {
    int32_t step, op, flags, n_params;
    int64_t params, guards;
    int32_t n_guards, axis, mask, n_code;
    int64_t code, source, target, label;
    int32_t repeat, stage;
    int64_t inputs;
} pyspec_node;

/* Head of the plan memory; the nodes and the words follow at the offsets given. */
typedef struct pyspec_plan {
    int64_t abi;
    int64_t size;
    int64_t dimension;
    int64_t n_theta;
    int64_t n_fixed;
    int64_t n_traces;
    int64_t n_nodes;
    int64_t n_resolve;
    int64_t n_slots;
    int64_t result;
    int64_t stack_depth;
    int64_t n_axes;
    int64_t n_masks;
    int64_t nodes, words, n_words;
    int64_t n_aux;
    int64_t samples;
    int64_t n_external;
    int64_t n_spectra;
    int64_t trace;
    int64_t depends;
    int64_t columns;
    int64_t separable;
    int64_t n_x_inputs, n_row_inputs, n_aux_inputs;
} pyspec_plan;

typedef struct pyspec_problem {
    const double *x;
    const double *time;
    const double *axes;
    const uint8_t *masks;
    const double *fixed;
    int64_t n_x, n_rows;
    int64_t row_begin, row_end;
    int64_t x_begin, x_end;
    const void *data;
    int64_t data_type;
    int64_t data_row, data_x;
    const double *weight;
    int64_t weight_row, weight_x;
    const uint8_t *keep;
    int64_t keep_row, keep_x;
    int64_t n_axes, n_masks, n_fixed;
    const double *aux;
    const double *aux_weight;
    int64_t n_aux;
    const double *external;
    const double *spectra;
    int64_t n_external;
    int64_t loss;
    double loss_scale;
    int64_t first_row;
    int64_t chunk_rows;
    const double *x_inputs, *row_inputs, *aux_inputs;
    int64_t n_x_inputs, n_row_inputs, n_aux_inputs;
    const double *shares;
    int64_t ends_begin, ends_end;
} pyspec_problem;

typedef struct pyspec_call {
    const pyspec_plan *plan;
    const pyspec_problem *problem;
    const double *theta;
    double *work;
    int64_t work_size;
    double *out;
    int64_t n_out, isa;
    double *prepared;
    int64_t prepared_size;
} pyspec_call;

typedef struct pyspec_fault {
    int64_t status, node, field, value;
} pyspec_fault;

/* Sums over consecutive rows, in the fixed tree of a pairwise summation over the row number.
 * Complete siblings merge at once: the bits do not depend on how the rows were divided. */
typedef struct pyspec_normal {
    int64_t form, order;
    int64_t n_nodes, capacity;
    int64_t *places;
    double *nodes, *scratch;
    int64_t n_scratch, in_strips, every;
} pyspec_normal;

/* What a fit of a separable problem has to read of its data. */
typedef struct pyspec_reading {
    const double *functions, *heights, *weights, *shapes, *by_x;
    int64_t row, n, stride, size, is_due, has_model, n_traces, between;
} pyspec_reading;

/* One file of a joint fit. */
typedef struct pyspec_part {
    const pyspec_call *call;
    double *theta;
    const int64_t *gather;
    pyspec_normal *normal;
    int64_t n_theta;
    double *span;
    int64_t span_size;
    const struct pyspec_linear *linear;
    const struct pyspec_part *bases;
    int64_t n_bases;
    const struct pyspec_results *results;
} pyspec_part;

/* Threads that share the work of a fit. Every thread but the caller's has one of the work memories,
 * and every chunk of rows has sums of its own. */
typedef struct pyspec_team {
    int64_t n_threads;
    double *work;
    int64_t work_size;
    pyspec_normal *sums;
    int64_t n_sums;
    void *state;
    int64_t n_state;
} pyspec_team;

typedef struct pyspec_solver {
    int64_t n;
    int64_t n_points;
    int64_t max_nfev;
    double tolerance;
    double data_square;
    int64_t form;
    int64_t end;
    int64_t phase;
    int64_t nfev;
    int64_t n_steps, every, n_part;
    int64_t needs_factor, n_rejected, n_idle, n_wild, mark_nfev;
    double mark_chisqr, part, chisqr, damping, growth;
    double expected, promised, distance, nearest, condition;
    double *theta;
    const double *lower;
    double *trial, *answer, *normal, *work;
} pyspec_solver;

typedef struct pyspec_end {
    int64_t n_free, is_scaled, has_information, flags;
    double variance, distance;
    int64_t *held, *side;
    double *gain, *covariance, *factor, *information, *work;
} pyspec_end;

/* The ABI number the library was built with, and SHA-256 (hex) over the sources. */
PYSPEC_API int64_t pyspec_abi(void);
PYSPEC_API const char *pyspec_fingerprint(void);

/* All tables (ops.def, rpn.def, layout.def, status.def) as tab-separated lines. */
PYSPEC_API const char *pyspec_describe(void);

/* Whether this processor runs the kernels built for PYSPEC_ISA_*. */
PYSPEC_API int pyspec_isa_supported(int64_t isa);

/* Verifies a plan memory of plan_size bytes and, unless NULL, the problem that goes with
 * it. Returns the status; fault (may be NULL) says which node and field. A plan and
 * problem that pass never leave their buffers, whatever doubles they are run with. */
PYSPEC_API int pyspec_check(const void *plan, int64_t plan_size, const pyspec_problem *problem,
                            pyspec_fault *fault);

/* Bytes of work memory that a checked plan and problem need; it does not grow with the rows. */
PYSPEC_API int64_t pyspec_work_size(const pyspec_plan *plan, const pyspec_problem *problem);

/* How many of these bytes each phase uses, with room for derivatives if `slopes`. KEPT is in use all
 * the time. The other phases share the same bytes: TILE while spectra are computed, SHAPES while
 * those of separate sums are prepared, and RESOLVE while traces are resolved. RESOLVE includes
 * APART, the separate sums. Returns the bytes of all. */
PYSPEC_API int64_t pyspec_work_phases(const pyspec_plan *plan, const pyspec_problem *problem,
                                      int64_t slopes, int64_t *bytes);

/* Bytes of prepared memory for PYSPEC_PREPARE_*; every entry that takes a call needs those of 0,
 * pyspec_jacobian and pyspec_fit those of SLOPES. New memory begins with a 0: lines stay from call to call. */
PYSPEC_API int64_t pyspec_prepared_size(const pyspec_plan *plan, const pyspec_problem *problem,
                                        int64_t what);

/* Fills the prepared memory of a call for its plan, problem, theta and fixed values. From then on
 * it is only read: calls in other threads, or with other chunks of the same rows, may point to it.
 * The entries that write models, residuals, traces and derivatives prepare by themselves. */
PYSPEC_API int pyspec_prepare(const pyspec_call *call, int64_t what);

/* out[rows of the window][abscissae of the window] = model. */
PYSPEC_API int pyspec_evaluate(const pyspec_call *call);

/* out[rows of the window][abscissae of the window] = (data - model) * weight, 0 if keep is 0. */
PYSPEC_API int pyspec_residual(const pyspec_call *call);

/* out[n_traces][n_rows] = every parameter resolved over the row axis; NaN where no node resolves it. */
PYSPEC_API int pyspec_traces(const pyspec_call *call);

/* Bytes of work memory that pyspec_jacobian needs. */
PYSPEC_API int64_t pyspec_jacobian_work_size(const pyspec_plan *plan, const pyspec_problem *problem);

/* out[n_theta][rows of the window][abscissae of the window] = derivative of the model by each
 * parameter of theta. At a jump or kink it is the one-sided value or 0. The plan must hold its
 * dependencies (plan.depends >= 0). External values count as constant. */
PYSPEC_API int pyspec_jacobian(const pyspec_call *call);

/* Adds the sums over the rows row_begin .. row_end - 1 of the window to `normal`, whose rows must
 * all lie before. The call must be prepared, with SLOPES unless the form is VALUE; out is not used;
 * work must hold pyspec_jacobian_work_size bytes, for VALUE pyspec_work_size. The derivatives are
 * never stored beyond a block. in_strips: whole strips of the window; if separable, prepared with SHAPES. */
PYSPEC_API int pyspec_accumulate(const pyspec_call *call, pyspec_normal *normal, int64_t row_begin,
                                 int64_t row_end);

/* Adds the sums of rows that follow: chunks that were accumulated apart. */
PYSPEC_API int pyspec_join(pyspec_normal *normal, const pyspec_normal *more);

/* Adds all of it to a triangle of that order (VALUE: to its last number; DATA: to as many numbers); column k
 * belongs to column gather[k] there (NULL: k). FACTOR: the triangle remains a factor. */
PYSPEC_API int pyspec_collect(const pyspec_normal *normal, const int64_t *gather, int64_t order,
                              double *triangle);

/* Levenberg-Marquardt as a state machine. A solver begins with n, n_points, max_nfev, tolerance,
 * data_square and the pointers set and all else 0. Each step uses the answer to the question
 * before, and asks the next one or is done; it evaluates nothing itself. Its work memory has the
 * bytes of pyspec_fit_work_size for n parameters. Returns PYSPEC_FIT_*, or minus a status. */
PYSPEC_API int64_t pyspec_fit_work_size(int64_t n);
PYSPEC_API int pyspec_fit_step(pyspec_solver *solver);

/* The sums of all rows of several parts, each at its own theta, in a triangle of that order. Prepares
 * by itself. Adds to nothing: the triangle is cleared first. team may be NULL. */
PYSPEC_API int pyspec_sum_parts(const pyspec_part *parts, int64_t n_parts, int64_t form,
                                int64_t order, pyspec_team *team, double *triangle);

/* Bytes of memory with which a fit of a separable problem need not read its data in every evaluation. All are 0 to
 * begin with. Returns 0 if the problem does not allow it. A fit has the same memory and data from start to end. */
PYSPEC_API int64_t pyspec_span_size(const pyspec_plan *plan, const pyspec_problem *problem);

/* The sums of a fit of such a problem whose data lie elsewhere, at the theta of a call that is prepared with
 * SHAPES. While a reading is due, `take` has those of pyspec_read over all rows of the window. Then `answer`
 * gives the triangle; sums that are not finite may be so by the order of operations alone. */
PYSPEC_API int pyspec_span_ask(const pyspec_call *call, int64_t form, double *span, int64_t span_size,
                               pyspec_reading *reading);
PYSPEC_API int pyspec_span_take(const pyspec_call *call, int64_t form, double *span,
                                int64_t span_size, const double *sums, pyspec_reading *reading);
PYSPEC_API int pyspec_span_answer(const pyspec_call *call, int64_t form, double *span,
                                  int64_t span_size, double *triangle);

/* Adds the data, summed over time with each function, to `normal` (DATA, order reading->size), as pyspec_accumulate
 * does. The last number is chi^2, or 0 if the reading has no model. The call need not be prepared. */
PYSPEC_API int pyspec_read(const pyspec_call *call, pyspec_normal *normal,
                           const pyspec_reading *reading, int64_t row_begin, int64_t row_end);

/* Steps and evaluations in turn, `budget` evaluations at most. Returns PYSPEC_FIT_DONE or
 * PYSPEC_FIT_AGAIN, or minus a status of the library. team may be NULL. */
PYSPEC_API int pyspec_fit(pyspec_solver *solver, const pyspec_part *parts, int64_t n_parts,
                          pyspec_team *team, int64_t budget);

/* The ending of a fit, with PYSPEC_ENDING_* in `flags`. On entry `held` marks parameters that are judged elsewhere. On
 * return it also marks those at a bound. The factor of [J r] is filled. If CERTAIN it also fills the
 * covariance (n, n) of the free parameters, with NaN for held ones, and the distance to the optimum in standard
 * errors. It then also fills the gain of each parameter at a bound: the fall of chi^2 of a linear model without the
 * bound, 0 if that is rounding. With `has_information`, errors follow from `information`, the sums of form FISHER at the
 * best point, not from J. Its last column becomes that of [J r]. work: pyspec_end_work_size bytes. */
PYSPEC_API int64_t pyspec_end_work_size(int64_t n);
PYSPEC_API int pyspec_end_of(const pyspec_solver *solver, pyspec_end *end);

/* The sum of the squares of values (n_rows, n_columns) times weight where keep is not 0. Either may be NULL;
 * steps are in bytes, 0 along an axis on which all are the same. NaN if values are NULL. */
PYSPEC_API double pyspec_square(const double *values, int64_t n_rows, int64_t n_columns, int64_t row,
                                const double *weight, int64_t weight_row, int64_t weight_x,
                                const uint8_t *keep, int64_t keep_row, int64_t keep_x);
/* Sums of words of 8 bytes modulo 2^64 in n_lines lines of `line` words. Each block of at most `most` lines gives the
 * sums of its lines, then of its columns. square: the sum of squares of the words as doubles, or NULL. Returns how
 * many sums, or minus a status. */
PYSPEC_API int64_t pyspec_word_sums(int64_t isa, const void *bytes, int64_t n_lines, int64_t line,
                                    int64_t most, uint64_t *sums, double *square);
/* Data drawn anew: out = mean + deviation z, each (n,), with z of the standard normal distribution. state (4, 16):
 * the words of 16 generators xoshiro256++ side by side, random to begin with; they go on. Returns 0 or minus a
 * status. */
PYSPEC_API int pyspec_normals(int64_t isa, double *out, const double *mean, const double *deviation,
                              int64_t n, uint64_t *state);

/* Makes a team ready, whose `state` has the bytes of pyspec_team_size. Threads of the caller then
 * enter pyspec_help, wait there for work, and leave it once the team is dismissed. The memory may
 * be released when all of them have left. */
PYSPEC_API int64_t pyspec_team_size(void);
PYSPEC_API int pyspec_team_begin(pyspec_team *team);
PYSPEC_API int pyspec_help(pyspec_team *team);
PYSPEC_API int pyspec_dismiss(pyspec_team *team);

/* One function on its own: value[n_rows][n_x] for params[n_params][n_rows]. A spectrum-fed op reads spectrum
 * [n_rows][n_x]; NULL stands for zeros. shares are those of a problem. partials is NULL, or a pointer for each
 * parameter: NULL, or [n_rows][n_x] for the derivative by it, at a constant spectrum. An op that reads whole rows
 * writes all partials or none. Bounds are not applied. */
PYSPEC_API int pyspec_function(int64_t op, int64_t isa, int64_t n_rows, int64_t n_x,
                               const double *x, const double *params, const double *spectrum,
                               const double *shares, double *value, double *const *partials);

/* The same for programs of n_words words, as a plan holds them:
 *   - pyspec_measured: a law under a measured instrument.
 *   - pyspec_scheme: a state of a scheme, in the build of an instruction set.
 *   - pyspec_formula: a formula, in the build of an instruction set. It reads inputs[n_inputs][n_x] (NULL: it has
 *     none). Its registers are memory of pyspec_formula_size bytes (-1 for a program that cannot be run). */
PYSPEC_API int pyspec_scheme(const int64_t *program, int64_t n_words, int64_t isa, int64_t n_rows,
                             int64_t n_x, const double *x, const double *params, double *value,
                             double *const *partials);
PYSPEC_API int pyspec_measured(const int64_t *program, int64_t n_words, int64_t n_rows, int64_t n_x,
                               const double *x, const double *params, double *value,
                               double *const *partials);
PYSPEC_API int64_t pyspec_formula_size(const int64_t *program, int64_t n_words);
PYSPEC_API int pyspec_formula(const int64_t *program, int64_t n_words, int64_t isa, int64_t n_rows,
                              int64_t n_x, const double *x, const double *params,
                              const double *inputs, double *registers, double *value,
                              double *const *partials);

#ifdef __cplusplus
}
#endif

#endif
