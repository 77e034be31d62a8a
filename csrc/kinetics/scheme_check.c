/* scheme_check.c: verifies the program of a kinetic scheme once, so that it can be trusted. */
#include "kinetics/scheme.h"

/* A state, or two. */
static int is_side(int64_t word, int64_t n_states)
{
    if (word < MAX_STATES)
        return in_range(word, 0, n_states);
    return in_range(word % MAX_STATES, 0, n_states) && in_range(word / MAX_STATES, 1, n_states + 1);
}

static int check_head(const scheme *s, int64_t room, int64_t n_params)
{
    return in_range(s->n_words, SCHEME_HEAD, room + 1) && s->n_params == n_params &&
           in_range(s->under, 0, 2) && in_range(n_params, 2 + s->under, MAX_PARAMS + 1) &&
           in_range(s->n_states, 1, MAX_STATES + 1) && in_range(s->target, 0, s->n_states) &&
           in_range(s->n_steps, 0, MAX_STEPS + 1) && in_range(s->n_starts, 0, MAX_STATES + 1) &&
           in_range(s->n_blocks, 1, s->n_states + 1) &&
           s->n_words == SCHEME_HEAD + 3 * s->n_steps + 3 * s->n_starts + s->n_blocks;
}

int pyspec_scheme_is_sound(const int64_t *program, int64_t room, int64_t n_params, int64_t *at)
{
    const scheme *s = scheme_head(program);
    *at = 0;
    if (room < SCHEME_HEAD || !check_head(s, room, n_params))
        return 0;
    const int64_t onset = n_params - 1 - s->under;
    const int64_t *word = scheme_steps(program);
    for (int64_t k = 0; k < s->n_steps; k++, word += 3)
        if (*at = word - program, !is_side(word[0], s->n_states) || word[0] == word[1] ||
                                      !(word[1] == -1 || is_side(word[1], s->n_states)) ||
                                      !in_range(word[2], 1, onset))
            return 0;
    for (int64_t k = 0; k < s->n_starts; k++, word += 3)
        if (*at = word - program,
            !in_range(word[0], 0, s->n_states) || !(word[1] == -1 || in_range(word[1], 1, onset)))
            return 0;
    int64_t n = 0;
    for (int64_t k = 0; k < s->n_blocks; k++, word++) {
        if (*at = word - program, !in_range(*word, 1, s->n_states + 1))
            return 0;
        n += *word;
    }
    return n == s->n_states;
}
