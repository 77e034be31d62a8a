/* formula.c: the machine that runs formulas of users, a chunk of the abscissae at a time. The cost of
 * decoding an instruction is spread over many values. The registers of a chunk stay in the first cache.
 * Built for each instruction set, like the energy kernels. */
#include "formula/formula_functions.h"

/* ---- programs ---------------------------------------------------------------------------- */

/* The memory of one program. It keeps state from block to block: registers that are the same for a whole
 * row, the looked-up instructions, their outputs, and whether CHAIN must be exact. */
typedef struct machine {
    const formula *f;
    double *rows, *vectors, *exact;
    double **outputs;
    ready *code;
} machine;

static machine machine_in(const formula *f, double *memory)
{
    machine m = {.f = f, .rows = memory, .vectors = memory + f->n_rows * L};
    m.exact = m.vectors + (f->n_vectors + f->n_params) * f->chunk * L;
    m.outputs = (double **)(void *)(m.exact + 1);
    m.code = (ready *)(void *)(m.exact + FORMULA_KEPT);
    return m;
}

/* Where the value (0) and the partials go. */
static double *output(double *value, double *const *partials, int64_t k)
{
    return k ? partials[k - 1] : value;
}

/* Where registers lie. */
static void find_registers(const machine *m, int slopes, double **at)
{
    const formula *f = m->f;
    double *const spare = m->vectors + f->n_vectors * f->chunk * L; /* in place of partials */
    for (int64_t k = 0; k < f->n_rows; k++)
        *at++ = m->rows + k * L;
    for (int64_t k = 0; k < f->n_vectors; k++)
        *at++ = m->vectors + k * f->chunk * L;
    *at++ = m->outputs[0];
    for (int64_t k = 0; k < f->n_params; k++)
        *at++ = slopes ? m->outputs[k + 1] : spare + k * f->chunk * L;
}

static ALWAYS_INLINE int32_t mask_of_register(const formula *f, int64_t k, int slopes)
{
    const int64_t outputs = f->n_rows + f->n_vectors;
    const int is_vector = k < outputs || (k > outputs && !slopes);
    return k < f->n_rows ? OF_ROW : is_vector ? (int32_t)(f->chunk * L - 1) : OF_OUTPUT;
}

/* What a CHAIN is where no 0 meets an infinity. */
static ALWAYS_INLINE int64_t as_product(int64_t code)
{
    return code == RPN_CHAIN          ? RPN_MUL
           : code == FORMULA_CHAIN3   ? FORMULA_MUL3
           : code == FORMULA_CHAINADD ? FORMULA_MULADD
                                      : code;
}

static ALWAYS_INLINE void look_up(const formula *f, double *const *at, const int64_t *word, int slopes,
                                  ready *r)
{
    const int64_t code = word[0], taken = word[5] & FORMULA_TAKES;
    const int tiled = formula_is_tiled(code);
    *r = (ready){
        .y = at[word[1]],
        .a = at[word[2]],
        .b = at[word[3]],
        .c = at[word[4]],
        .y_mask = mask_of_register(f, word[1], slopes),
        .a_mask = mask_of_register(f, word[2], slopes),
        .b_mask = mask_of_register(f, word[3], slopes),
        .c_mask = mask_of_register(f, word[4], slopes),
        .kinds = {(int16_t)(tiled ? TILED_KIND(as_product(code), taken) : NOT_TILED),
                  (int16_t)(tiled ? TILED_KIND(code, taken) : NOT_TILED)},
        .code = (uint8_t)code,
        .writes = !(word[5] & FORMULA_PASSES),
        .want = slopes || word[4],
        .stride = (int32_t)(word[1] < f->n_rows ? L : f->chunk * L),
    };
}

/* ---- blocks ------------------------------------------------------------------------------ */

/* Each of n numbers in all lanes. */
static void spread(double *restrict to, const double *restrict numbers, int64_t n)
{
    FOR_BLOCK FOR_WIDTHS put_vector(to + i * L + at, same_in_all(numbers[i]), 1);
}

static void load_rows(const machine *m, const int64_t *program, const double *params)
{
    const formula *f = m->f;
    const int64_t *constants = formula_constants(program);
    memcpy(m->rows, params, (size_t)(f->n_params * L) * sizeof *params);
    for (int64_t k = 0; k < f->n_constants; k++) {
        double constant;
        memcpy(&constant, &constants[k], sizeof constant);
        FOR_LANES m->rows[(f->n_params + k) * L + l] = constant;
    }
}

/* What is the same for all points of a row. */
static void run_rows(const machine *m, const int64_t *program, const double *params, int slopes,
                     double *const *at)
{
    const formula *f = m->f;
    const int64_t n_code = slopes ? f->n_row_code : f->n_row_value;
    load_rows(m, program, params);
    forget_invalid();
    for (int64_t k = 0; k < n_code; k++) {
        ready r;
        look_up(f, at, formula_code(program) + k * FORMULA_WORDS, slopes, &r);
        runs[r.code](&r, 0, 1);
    }
    *m->exact = was_invalid() || !notes_invalid() || has_nan(m->rows, (f->n_params + f->n_constants) * L);
}

/* Gets everything ready but the abscissae, as far as it is not so `again`. */
static void prepare(const machine *m, const int64_t *program, const double *params, double *value,
                    double *const *partials, int again)
{
    const formula *f = m->f;
    const int slopes = partials != NULL;
    const int64_t n_outputs = slopes ? 1 + f->n_params : 1;
    const int64_t n_code = slopes ? f->n_code : f->n_value;
    const int64_t *word = formula_code(program) + f->n_row_code * FORMULA_WORDS;
    double *at[MAX_REGISTERS];
    int same = again;
    for (int64_t k = 0; k < n_outputs && same; k++)
        same = m->outputs[k] == output(value, partials, k);
    if (same)
        return;
    for (int64_t k = 0; k < n_outputs; k++)
        m->outputs[k] = output(value, partials, k);
    find_registers(m, slopes, at);
    if (!again)
        run_rows(m, program, params, slopes, at);
    for (int64_t k = 0; k < n_code; k++, word += FORMULA_WORDS)
        look_up(f, at, word, slopes, &m->code[k]);
    for (int64_t k = n_code - 1, n_tiled = 0; k >= 0; k--)
        m->code[k].n_tiled = (int32_t)(n_tiled = m->code[k].kinds[0] < 0 ? 0 : n_tiled + 1);
}

/* The abscissae of a chunk, and the inputs there, in the first registers. Returns whether there is NaN
 * among the latter. */
static int load_vectors(const machine *m, const pyspec_block *b, int64_t first, int64_t n)
{
    double *y = m->vectors;
    const int64_t last = b->n_valid - 1;
    if (b->across)
        memcpy(y, b->x + first * L, (size_t)(n * L) * sizeof *y);
    else
        spread(y, b->x + first, n);
    int nan = 0;
    for (int64_t k = 0; k < m->f->n_inputs; k++) {
        const double *from = b->inputs[k];
        y += m->f->chunk * L;
        if (!b->across)
            spread(y, from + first, n);
        else if ((first + n) * L <= b->n_valid)
            memcpy(y, from + first * L, (size_t)(n * L) * sizeof *y);
        else
            for (int64_t i = 0; i < n * L; i++)
                y[i] = from[first * L + i < last ? first * L + i : last];
        nan |= has_nan(y, n * L);
    }
    return nan;
}

/* Instructions over n vectors from `from`: where they do not fill a tile one at a time, to the same bits. */
static void run_tiles(const ready *begin, const ready *end, int64_t from, int64_t n, int exact)
{
    const int64_t behind = from + n;
    from = run_over_tiles(begin, end, from, behind, exact);
    for (const ready *r = begin; from < behind && r < end; r++)
        runs[r->code](r, from, behind - from);
}

/* The same of any instructions. */
static void run_code(const ready *begin, const ready *end, int64_t from, int64_t n, int exact)
{
    for (const ready *r = begin, *next; r < end; r = next) {
        next = r->n_tiled == 0 ? r + 1 : r->n_tiled < end - r ? r + r->n_tiled : end;
        if (next > r + 1)
            run_tiles(r, next, from, n, exact);
        else
            runs[r->code](r, from, n);
    }
}

/* The value and partials of a chunk. CHAIN runs as written if an operand of the value is NaN. It
 * also does if a slope of 0 meets an infinity. */
static void run_chunk(const machine *m, int64_t from, int64_t n, int slopes, int exact)
{
    const ready *code = m->code, *behind_value = code + m->f->n_value, *end = code + m->f->n_code;
    if (!slopes) {
        run_code(code, behind_value, from, n, 1);
        return;
    }
    forget_invalid();
    if (end > code && code->n_tiled == end - code) /* one pass: that it is repeated is rare */
        run_code(code, end, from, n, exact);
    else {
        run_code(code, behind_value, from, n, 1);
        exact |= was_invalid();
        run_code(behind_value, end, from, n, exact);
    }
    if (!exact && was_invalid()) {
        run_code(code, behind_value, from, n, 1);
        run_code(behind_value, end, from, n, 1);
    }
}

void JOIN(k_, formula, ISA_SUFFIX)(const pyspec_block *b, const double *params, double *value,
                                   double *const *partials)
{
    const int noted = forget_invalid();
    const machine m = machine_in(formula_head(b->program), b->registers);
    const int64_t chunk = m.f->chunk;
    prepare(&m, b->program, params, value, partials, b->again);
    const int exact = has_nan(b->x, b->across ? b->n * L : b->n) || *m.exact != 0.0;
    for (int64_t first = 0; first < b->n; first += chunk) {
        const int64_t n = b->n - first < chunk ? b->n - first : chunk;
        const int nan = load_vectors(&m, b, first, n);
        run_chunk(&m, first, n, partials != NULL, nan || exact);
    }
    note_invalid(noted);
}
