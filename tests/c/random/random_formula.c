#include "random/random_formula.h"

#include <string.h>

double random_number(rng *r)
{
    return chance(r, 25) ? hostile_double(r) : (double)below(r, 2000) / 100.0 - 10.0;
}

static int64_t random_code(rng *r)
{
    int64_t code;
    do
        code = RPN_ADD + below(r, N_FORMULA_CODES - RPN_ADD);
    while (code >= RPN_W_RE && code <= RPN_W_REY);
    return code;
}

/* What an instruction may read. */
typedef struct registers {
    int64_t known[64], n;
} registers;

/* An instruction that writes `target`. */
static int64_t *add_instruction(rng *r, int64_t *word, int64_t code, int64_t target,
                                const registers *from)
{
    const int n = pyspec_formula_arity(code);
    word[0] = code;
    word[1] = target;
    for (int k = 0; k < MAX_ARITY; k++)
        word[2 + k] = k < n ? from->known[below(r, from->n)] : 0;
    word[5] = 0;
    return word + FORMULA_WORDS;
}

/* How often the instruction at `word` reads a register. */
static int count_reads(const int64_t *word, int64_t k)
{
    int count = 0;
    for (int j = 0; j < pyspec_formula_arity(word[0]); j++)
        count += word[2 + j] == k;
    return count;
}

/* Instructions take what the one before has left, where they may and chance will, and pass on what nobody
 * else reads. Every register has one writer. */
static void add_passing(rng *r, const formula *f, int64_t *code)
{
    for (int64_t k = 1; k < f->n_code; k++) {
        int64_t *word = code + k * FORMULA_WORDS, *before = word - FORMULA_WORDS;
        const int64_t left = before[1];
        if (k == f->n_value || !formula_is_tiled(word[0]) || !formula_is_tiled(before[0]) ||
            chance(r, 20))
            continue;
        for (int j = 0; j < pyspec_formula_arity(word[0]); j++)
            if (word[2 + j] == left)
                word[5] = (word[5] & FORMULA_PASSES) | (j + 1);
        if (word[0] == RPN_MUL && word[2] == left && word[3] == left)
            word[5] = (word[5] & FORMULA_PASSES) | FORMULA_TAKES_TWICE;
        int n_reads = 0;
        for (int64_t later = k + 1; later < f->n_code; later++)
            n_reads += count_reads(code + later * FORMULA_WORDS, left);
        const int all = count_reads(word, left) == ((word[5] & 3) == 3 && word[0] == RPN_MUL ? 2 : 1);
        if ((word[5] & FORMULA_TAKES) && all && !n_reads && left < f->n_rows + f->n_vectors)
            before[5] |= FORMULA_PASSES;
    }
}

int64_t random_formula(rng *r, int64_t *program, int n_params, int n_inputs, int height)
{
    formula f = {.n_params = n_params, .n_constants = 1 + below(r, 4), .n_inputs = n_inputs,
                 .chunk = chance(r, 50) ? FORMULA_SHORT : FORMULA_LONG};
    const int64_t n_row = below(r, 6), n_point = 1 + below(r, 12);
    const int64_t n_given = f.n_params + f.n_constants;
    f.n_rows = n_given + n_row * FORMULA_W_TARGETS;
    f.n_vectors = 1 + n_inputs + n_point * FORMULA_W_TARGETS;
    f.n_row_code = f.n_row_value = n_row;
    f.n_value = n_point + 1;
    f.n_code = f.n_value + n_params;
    f.n_words = FORMULA_HEAD + f.n_constants + (f.n_row_code + f.n_code) * FORMULA_WORDS;
    memcpy(program, &f, sizeof f);
    for (int64_t k = 0; k < f.n_constants; k++)
        program[FORMULA_HEAD + k] = bits_of(random_number(r));
    registers from = {.n = 0};
    int64_t *word = program + FORMULA_HEAD + f.n_constants;
    for (int64_t k = height != 0; k < n_given; k++)
        from.known[from.n++] = k;
    for (int64_t k = 0; k < n_row; k++) {
        const int64_t target = n_given + k * FORMULA_W_TARGETS;
        word = add_instruction(r, word, random_code(r), target, &from);
        from.known[from.n++] = target;
    }
    for (int64_t k = 0; k <= n_inputs; k++)
        from.known[from.n++] = f.n_rows + k; /* the abscissa and the inputs */
    for (int64_t k = 0; k < n_point; k++) {
        const int64_t target = f.n_rows + 1 + n_inputs + k * FORMULA_W_TARGETS;
        word = add_instruction(r, word, random_code(r), target, &from);
        if (k > 0 && chance(r, 70) && pyspec_formula_arity(word[-FORMULA_WORDS]) > 0)
            word[2 - FORMULA_WORDS] = target - FORMULA_W_TARGETS; /* what was computed last */
        from.known[from.n++] = target;
    }
    const int64_t shape = from.known[below(r, from.n)];
    for (int64_t k = 0; k <= n_params; k++) {
        const int by_height = height && k == 1; /* the slope by the height is the shape */
        int64_t *const own = word;
        word = add_instruction(r, word, height && !by_height ? RPN_MUL : FORMULA_COPY,
                               f.n_rows + f.n_vectors + k, &from);
        if (height && k < 2)
            own[by_height ? 2 : 3] = shape;
        if (height && !by_height)
            own[2] = 0;
    }
    add_passing(r, &f, program + FORMULA_HEAD + f.n_constants + n_row * FORMULA_WORDS);
    return f.n_words;
}

int64_t random_kernel(rng *r, int64_t *words, int n_params)
{
    conv_formula f = {.n_words = CONV_HEAD, .jumps = below(r, (int64_t)1 << n_params)};
    for (int k = 0; k < CONV_PARTS; k++) {
        if (k != CONV_SHAPE && chance(r, 50))
            continue;
        f.parts[k] = f.n_words;
        f.n_words += random_formula(r, words + f.n_words, n_params, 0, 0);
    }
    memcpy(words, &f, sizeof f);
    return f.n_words;
}

void mutate_formula(rng *r, int64_t *program, int64_t n)
{
    const int64_t at = below(r, n);
    switch (below(r, 4)) {
    case 0:
        program[at] ^= 1 + below(r, 3);
        break;
    case 1:
        program[at] = below(r, 80);
        break;
    case 2:
        program[at] = (int64_t)1 << below(r, 63);
        break;
    default:
        program[at] = -1 - below(r, 5);
    }
}

static double *numbers(rng *r, int64_t n)
{
    double *found = exact(n, sizeof *found);
    for (int64_t i = 0; i < n; i++)
        found[i] = random_number(r);
    return found;
}

int run_formula(rng *r, const int64_t *program, pyspec_kernel *kernel)
{
    const int64_t n = 1 + below(r, BLOCK), size = n * L, n_params = formula_head(program)->n_params;
    const int across = below(r, 2) != 0;
    double *x = numbers(r, across ? size : n), *params = numbers(r, n_params * L);
    double *work = exact(formula_registers(program), sizeof *work);
    double *value = exact(size, sizeof *value), *partials[MAX_PARAMS];
    const int64_t n_inputs = formula_head(program)->n_inputs, valid = across ? 1 + below(r, size) : n;
    double *inputs[PYSPEC_MAX_INPUTS];
    for (int64_t k = 0; k < n_inputs; k++)
        inputs[k] = numbers(r, valid);
    for (int64_t k = 0; k < n_params; k++)
        partials[k] = exact(size, sizeof *value);
    const pyspec_block b = {.n = n, .n_valid = valid, .across = across, .x = x,
                            .program = program, .registers = work,
                            .inputs = (const double *const *)inputs};
    kernel(&b, params, value, NULL);
    double *alone = exact(size, sizeof *value);
    memcpy(alone, value, (size_t)size * sizeof *value);
    kernel(&b, params, value, partials);
    const int same = all_same(alone, value, size);
    return same;
}
