/* function.c: one function on its own, for basis functions, tests, documentation and plots. */
#include "formula/formula.h"
#include "walk/memory.h"
#include "tables/status.h"

#include <string.h>

typedef struct request {
    pyspec_kernel *kernel;
    const block_ops *ops;
    int64_t n_params, n_rows, n_x;
    const double *x, *params, *spectrum, *shares;
    double *value;
    double *const *partials;
    const int64_t *program; /* of a formula */
    double *registers;
    const double *inputs; /* [n_inputs][n_x] */
} request;

/* What a formula runs with over a block from abscissa x0 on; `inputs` is memory for addresses. */
static void give_program(const request *q, int64_t x0, const double **inputs, pyspec_block *b)
{
    const int64_t n_inputs = q->inputs ? formula_head(q->program)->n_inputs : 0;
    b->program = q->program;
    b->registers = q->registers;
    b->inputs = inputs;
    for (int64_t k = 0; k < n_inputs; k++)
        inputs[k] = q->inputs + k * q->n_x + x0;
}

/* Vectors at a time: all partials of a function stand on the stack. */
enum { PIECE = BLOCK < 80 ? BLOCK : 80 };

/* Row-major values of a tile in lanes; lanes without a row repeat the last. */
static void load_lanes(const request *q, const double *from, double *to, int64_t row, int64_t x0,
                       int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        FOR_LANES
        {
            int64_t source = row + l < q->n_rows ? row + l : q->n_rows - 1;
            to[AT] = from[source * q->n_x + x0 + i];
        }
}

static void run_rows(const request *q, int64_t row)
{
    double params[MAX_PARAMS * L], carry[MAX_SCRATCH * L] = {0};
    double spectrum[PIECE * L] = {0}, value[PIECE * L], partial[MAX_PARAMS][PIECE * L];
    double *partials[MAX_PARAMS];
    const double *inputs[PYSPEC_MAX_INPUTS];
    const int64_t n_lanes = q->n_rows - row < L ? q->n_rows - row : L;
    for (int64_t k = 0; k < q->n_params; k++) {
        partials[k] = partial[k];
        FOR_LANES params[k * L + l] =
            q->params[k * q->n_rows + (row + l < q->n_rows ? row + l : q->n_rows - 1)];
    }
    const int64_t last = (q->n_x - 1) / PIECE;
    for (int64_t block = last; block >= 0; block--) {
        int64_t x0 = block * PIECE, n = q->n_x - x0 < PIECE ? q->n_x - x0 : PIECE;
        const int64_t at = row * q->n_x + x0;
        if (q->spectrum)
            load_lanes(q, q->spectrum, spectrum, row, x0, n);
        pyspec_block b = {.n = n, .n_valid = n, .x = q->x + x0};
        b.spectrum = spectrum;
        b.shares = q->shares ? q->shares + 2 * x0 : NULL;
        b.carry = carry;
        give_program(q, x0, inputs, &b);
        b.again = block < last;
        q->kernel(&b, params, value, q->partials ? partials : NULL);
        q->ops->turn(q->value + at, q->n_x, value, n, n_lanes);
        for (int64_t k = 0; q->partials && k < q->n_params; k++)
            if (q->partials[k])
                q->ops->turn(q->partials[k] + at, q->n_x, partial[k], n, n_lanes);
    }
}

/* One row: the lanes are abscissae. */
static void run_across(const request *q)
{
    double params[MAX_PARAMS * L], carry[MAX_SCRATCH * L] = {0}, x[PIECE * L];
    double spectrum[PIECE * L] = {0}, value[PIECE * L], partial[MAX_PARAMS][PIECE * L];
    double *partials[MAX_PARAMS];
    const double *inputs[PYSPEC_MAX_INPUTS];
    for (int64_t k = 0; k < q->n_params; k++) {
        partials[k] = partial[k];
        FOR_LANES params[k * L + l] = q->params[k];
    }
    for (int64_t block = (q->n_x - 1) / (PIECE * L); block >= 0; block--) {
        int64_t x0 = block * PIECE * L;
        int64_t n = q->n_x - x0 < PIECE * L ? q->n_x - x0 : PIECE * L;
        size_t bytes = (size_t)n * sizeof(double);
        pyspec_block b = {.n = round_up(n, L) / L, .n_valid = n, .across = 1, .x = x};
        memcpy(x, q->x + x0, bytes);
        for (int64_t i = n; i < b.n * L; i++)
            x[i] = x[n - 1];
        if (q->spectrum)
            memcpy(spectrum, q->spectrum + x0, bytes);
        b.spectrum = spectrum;
        b.shares = q->shares ? q->shares + 2 * x0 : NULL;
        b.carry = carry;
        give_program(q, x0, inputs, &b);
        q->kernel(&b, params, value, q->partials ? partials : NULL);
        memcpy(q->value + x0, value, bytes);
        for (int64_t k = 0; q->partials && k < q->n_params; k++)
            if (q->partials[k])
                memcpy(q->partials[k] + x0, partial[k], bytes);
    }
}

/* An op that reads whole rows: one row after the other in the caller's own memory, where the lanes
 * are abscissae. All partials are wanted, or none. */
static int run_whole(const request *q)
{
    const size_t bytes = (size_t)(q->n_rows * q->n_x) * sizeof(double);
    double params[MAX_PARAMS * L], *partials[MAX_PARAMS];
    for (int64_t k = 0; q->partials && k < q->n_params; k++)
        if (!q->partials[k])
            return STATUS_NULL_POINTER;
    if (!q->spectrum) { /* it is linear in what it reads */
        memset(q->value, 0, bytes);
        for (int64_t k = 0; q->partials && k < q->n_params; k++)
            memset(q->partials[k], 0, bytes);
        return STATUS_OK;
    }
    for (int64_t row = 0; row < q->n_rows; row++) {
        double carry[MAX_SCRATCH * L] = {0};
        pyspec_block b = {.n = round_up(q->n_x, L) / L, .n_valid = q->n_x, .across = 1, .x = q->x};
        b.spectrum = q->spectrum + row * q->n_x;
        b.end = q->n_x;
        b.carry = carry;
        for (int64_t k = 0; k < q->n_params; k++) {
            FOR_LANES params[k * L + l] = q->params[k * q->n_rows + row];
            partials[k] = q->partials ? q->partials[k] + row * q->n_x : NULL;
        }
        q->kernel(&b, params, q->value + row * q->n_x, q->partials ? partials : NULL);
    }
    return STATUS_OK;
}

static int run_tiles(const request *q)
{
    if (q->n_rows == 1)
        run_across(q);
    else
        for (int64_t begin = 0; begin < q->n_rows; begin += L)
            run_rows(q, begin);
    return STATUS_OK;
}

int pyspec_function(int64_t op, int64_t isa, int64_t n_rows, int64_t n_x, const double *x,
                    const double *params, const double *spectrum, const double *shares,
                    double *value, double *const *partials)
{
    if (op < 0 || op >= N_OPS)
        return STATUS_OP;
    if (!pyspec_isa_supported(isa))
        return STATUS_ISA;
    if (n_rows < 1 || n_x < 1)
        return STATUS_SIZE;
    const op_row *row = &pyspec_op_table[op];
    int n_required, n_params = pyspec_count_params(row, &n_required);
    if (!x || !value || (!params && n_params))
        return STATUS_NULL_POINTER;
    request q = {.kernel = row->kernels[isa], .n_params = n_params, .n_rows = n_rows, .n_x = n_x};
    q.ops = &pyspec_block_table[isa];
    q.x = x;
    q.params = params;
    q.spectrum = spectrum;
    q.shares = shares;
    q.value = value;
    q.partials = partials;
    return row->kind == KIND_ROW_FED ? run_whole(&q) : run_tiles(&q);
}

int64_t pyspec_formula_size(const int64_t *program, int64_t n_words)
{
    int64_t at;
    if (!program || n_words < FORMULA_HEAD ||
        !pyspec_formula_is_sound(program, n_words, formula_head(program)->n_params, &at))
        return -1;
    return formula_registers(program) * (int64_t)sizeof(double);
}

int pyspec_formula(const int64_t *program, int64_t n_words, int64_t isa, int64_t n_rows, int64_t n_x,
                   const double *x, const double *params, const double *inputs, double *registers,
                   double *value, double *const *partials)
{
    if (!program || !x || !params || !registers || !value)
        return STATUS_NULL_POINTER;
    if (pyspec_formula_size(program, n_words) < 0)
        return STATUS_PROGRAM;
    if (formula_head(program)->n_inputs && !inputs)
        return STATUS_NULL_POINTER;
    if (!pyspec_isa_supported(isa))
        return STATUS_ISA;
    if (n_rows < 1 || n_x < 1)
        return STATUS_SIZE;
    request q = {.kernel = pyspec_formula_kernels[isa], .n_rows = n_rows, .n_x = n_x, .x = x};
    q.ops = &pyspec_block_table[isa];
    q.n_params = formula_head(program)->n_params;
    q.params = params;
    q.value = value;
    q.partials = partials;
    q.program = program;
    q.inputs = inputs;
    q.registers = registers;
    return run_tiles(&q);
}
