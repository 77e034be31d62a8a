#include "random/random_scheme.h"

#include <string.h>

/* States one by one, two and two, which a step and one back connect, or three and four in a circle. */
static int64_t random_blocks(rng *r, int64_t n_states, int64_t n_rates, int64_t *sizes, scheme *s,
                             int64_t *steps)
{
    int64_t n = 0;
    for (int64_t state = 0; state < n_states; state += sizes[n++]) {
        const int64_t size = chance(r, 60) ? 1 : 2 + below(r, 3);
        const int is_ring = n_rates && size > 1 && state + size <= n_states &&
                            s->n_steps + size <= MOST_SCHEME_STEPS;
        sizes[n] = is_ring ? size : 1;
        for (int64_t k = 0; is_ring && k < size; k++, s->n_steps++) {
            steps[3 * s->n_steps] = state + k;
            steps[3 * s->n_steps + 1] = state + (k + 1) % size;
            steps[3 * s->n_steps + 2] = 1 + below(r, n_rates);
        }
    }
    return n;
}

/* The last state of the block that a state belongs to. */
static int64_t end_of(const int64_t *sizes, int64_t state)
{
    int64_t end = -1;
    while (end < state)
        end += *sizes++;
    return end;
}

/* Steps to a later block, or out of sight. */
static void random_steps(rng *r, int64_t n_rates, const int64_t *sizes, scheme *s, int64_t *steps)
{
    for (int64_t n = n_rates ? below(r, 6) : 0; n > 0 && s->n_steps < MOST_SCHEME_STEPS; n--) {
        const int64_t from = below(r, s->n_states), later = s->n_states - 1 - end_of(sizes, from);
        int64_t *step = steps + 3 * s->n_steps++;
        step[0] = from;
        step[1] = later && chance(r, 75) ? s->n_states - 1 - below(r, later) : -1;
        step[2] = 1 + below(r, n_rates);
    }
}

int64_t random_scheme(rng *r, int64_t *program, int n_rates, int under)
{
    int64_t sizes[MAX_STATES], steps[3 * MOST_SCHEME_STEPS];
    scheme s = {.n_params = 2 + n_rates + under, .under = under};
    s.n_states = 1 + below(r, chance(r, 20) ? MAX_STATES : 4);
    s.target = below(r, s.n_states);
    s.n_blocks = random_blocks(r, s.n_states, n_rates, sizes, &s, steps);
    random_steps(r, n_rates, sizes, &s, steps);
    s.n_starts = below(r, s.n_states + 1);
    s.n_words = SCHEME_HEAD + 3 * (s.n_steps + s.n_starts) + s.n_blocks;
    memcpy(program, &s, sizeof s);
    memcpy(program + SCHEME_HEAD, steps, sizeof *steps * 3 * (size_t)s.n_steps);
    int64_t *word = program + SCHEME_HEAD + 3 * s.n_steps;
    for (int64_t k = 0; k < s.n_starts; k++, word += 3) {
        word[0] = below(r, s.n_states);
        word[1] = n_rates && chance(r, 40) ? 1 + below(r, n_rates) : -1;
        word[2] = bits_of(chance(r, 10) ? hostile_double(r) : 0.25 * (double)below(r, 9));
    }
    memcpy(word, sizes, sizeof *sizes * (size_t)s.n_blocks);
    return s.n_words;
}
