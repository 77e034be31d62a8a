/* formula_check.c: verifies the program of a formula once, so that the machine can trust it. */
#include "formula/formula.h"

#include <string.h>

typedef struct registers {
    const formula *f;
    uint64_t written[MAX_REGISTERS / 64];
    int64_t last; /* what the next instruction may take from the one before, or -1 */
} registers;

static int is_written(const registers *r, int64_t k)
{
    return (int)(r->written[k / 64] >> (k % 64) & 1);
}

static void write_register(registers *r, int64_t k)
{
    r->written[k / 64] |= (uint64_t)1 << (k % 64);
}

static void lose_register(registers *r, int64_t k)
{
    r->written[k / 64] &= ~((uint64_t)1 << (k % 64));
}

static int64_t n_all(const formula *f)
{
    return f->n_rows + f->n_vectors + 1 + f->n_params;
}

int pyspec_formula_arity(int64_t code)
{
    static const int arity[] = {
#define FUSED(name, arity, value) arity,
#include "tables/fused.def"
#undef FUSED
    };
    if (code < N_RPN)
        return pyspec_rpn_arity(code);
    return code > FORMULA_SINCOS ? arity[code - FORMULA_SINCOS - 1] : code == FORMULA_W ? 2 : 1;
}

static int is_known(int64_t code)
{
    if (code < 0 || code >= N_FORMULA_CODES || code == RPN_CONST || code == RPN_PARAM)
        return 0;
    return code < RPN_W_RE || code > RPN_W_REY; /* FORMULA_W takes their place */
}

/* Whether an instruction takes its operand k from the one before, see FORMULA_TAKES. */
static int takes(const int64_t *word, int k)
{
    const int64_t taken = word[5] & FORMULA_TAKES;
    return taken == k + 1 || (word[0] == RPN_MUL && taken == FORMULA_TAKES_TWICE);
}

/* Whether an instruction may take and pass on what it says. */
static int may_pass(const registers *r, const int64_t *word)
{
    int n_taken = 0;
    if (word[5] == 0)
        return 1;
    if (word[5] < 0 || word[5] > (FORMULA_TAKES | FORMULA_PASSES) || !formula_is_tiled(word[0]) ||
        word[1] < r->f->n_rows)
        return 0;
    for (int k = 0; k < pyspec_formula_arity(word[0]); k++) {
        if (takes(word, k) && word[2 + k] != r->last)
            return 0;
        n_taken += takes(word, k);
    }
    return n_taken > 0 || !(word[5] & FORMULA_TAKES);
}

/* One instruction: it may write registers from `first` to before `last`. An operand is no target,
 * and what is the same for a whole block is not computed from what is not. With `partials` the
 * Faddeeva function writes all its targets, else the first, unless it is asked for all. What one passes
 * on only the next one reads. */
static int check_instruction(registers *r, const int64_t *word, int64_t first, int64_t last,
                             int partials)
{
    const int64_t code = word[0], target = word[1];
    if (!is_known(code) || !may_pass(r, word))
        return 0;
    const int64_t n_targets = formula_targets(code);
    /* The registers of a chunk stand behind one another, outputs do not. */
    const int64_t vectors = r->f->n_rows + r->f->n_vectors;
    const int64_t end = n_targets > 1 && last > vectors ? vectors : last;
    if (target < first || target > end - n_targets)
        return 0;
    for (int k = 0; k < MAX_ARITY; k++) {
        const int64_t operand = word[2 + k];
        if (k >= pyspec_formula_arity(code)) {
            if (operand != (code == FORMULA_W && operand == 1))
                return 0;
            continue;
        }
        if (operand < 0 || operand >= last)
            return 0;
        if (!is_written(r, operand) && !takes(word, k))
            return 0;
        if (operand >= target && operand < target + n_targets)
            return 0;
    }
    r->last = formula_is_tiled(code) ? target : -1;
    if (word[5] & FORMULA_PASSES) {
        lose_register(r, target);
        return 1;
    }
    const int64_t n_written = partials || code != FORMULA_W || word[4] == 1 ? n_targets : 1;
    for (int64_t k = 0; k < n_written; k++)
        write_register(r, target + k);
    return 1;
}

/* The run of the value alone, or of everything: every output is written in the end. */
static int check_run(const int64_t *program, int64_t n_row_code, int64_t n_code, int partials,
                     int64_t *at)
{
    const int64_t n_outputs = 1 + formula_head(program)->n_params;
    registers state = {formula_head(program), {0}, -1}, *r = &state;
    const formula *f = r->f;
    const int64_t *code = formula_code(program);
    const int64_t given = f->n_params + f->n_constants, outputs = f->n_rows + f->n_vectors;
    for (int64_t k = 0; k < given; k++)
        write_register(r, k);
    for (int64_t k = 0; k < n_row_code; k++, code += FORMULA_WORDS)
        if (*at = code - program, !check_instruction(r, code, given, f->n_rows, partials))
            return 0;
    code = formula_code(program) + f->n_row_code * FORMULA_WORDS;
    for (int64_t k = 0; k <= f->n_inputs; k++) /* the abscissa and the inputs */
        write_register(r, f->n_rows + k);
    for (int64_t k = 0; k < n_code; k++, code += FORMULA_WORDS) {
        r->last = k == 0 || k == f->n_value ? -1 : r->last; /* rows and the value are computed alone */
        if (*at = code - program,
            !check_instruction(r, code, f->n_rows + 1 + f->n_inputs, outputs + n_outputs, partials))
            return 0;
    }
    *at = -1;
    for (int64_t k = 0; k < (partials ? n_outputs : 1); k++)
        if (!is_written(r, outputs + k))
            return 0;
    return 1;
}

int pyspec_formula_is_sound(const int64_t *program, int64_t room, int64_t n_params, int64_t *at)
{
    const formula *f = formula_head(program);
    *at = 0;
    if (room < FORMULA_HEAD || f->n_words < FORMULA_HEAD || f->n_words > room)
        return 0;
    const int64_t counts[] = {f->n_params, f->n_constants, f->n_rows,  f->n_vectors,
                              f->n_row_value, f->n_row_code, f->n_value, f->n_code, f->n_inputs};
    for (int k = 0; k < 9; k++, *at = k)
        if (counts[k] < 0 || counts[k] > room)
            return 0;
    if (f->n_params != n_params || f->n_params > MAX_PARAMS ||
        f->n_inputs > PYSPEC_MAX_INPUTS || f->n_vectors < 1 + f->n_inputs ||
        f->n_params + f->n_constants > f->n_rows || f->n_row_value > f->n_row_code ||
        f->n_value > f->n_code || f->n_rows > MAX_REGISTERS || f->n_vectors > MAX_REGISTERS ||
        n_all(f) > MAX_REGISTERS)
        return 0;
    if (f->n_words != FORMULA_HEAD + f->n_constants + (f->n_row_code + f->n_code) * FORMULA_WORDS)
        return 0;
    if (*at = 10, f->chunk != FORMULA_SHORT && f->chunk != FORMULA_LONG)
        return 0;
    return check_run(program, f->n_row_value, f->n_value, 0, at) &&
           check_run(program, f->n_row_code, f->n_code, 1, at);
}

int pyspec_conv_formula_is_sound(const int64_t *words, int64_t room, int64_t n_params, int64_t *at)
{
    const conv_formula *f = conv_formula_head(words);
    *at = 0;
    if (room < CONV_HEAD || f->n_words < CONV_HEAD || f->n_words > room || n_params < 1)
        return 0;
    for (int k = 0; k < CONV_PARTS; k++) {
        const int64_t begin = f->parts[k];
        *at = 2 + k;
        if (begin == 0 && k != CONV_SHAPE)
            continue;
        if (begin < CONV_HEAD || begin >= f->n_words)
            return 0;
        if (!pyspec_formula_is_sound(words + begin, f->n_words - begin, n_params, at)) {
            *at += *at < 0 ? 0 : begin;
            return 0;
        }
        if (*at = begin, formula_head(words + begin)->n_inputs)
            return 0; /* a time difference lies between samples */
    }
    return 1;
}
