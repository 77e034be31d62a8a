/* scheme_ways.c: the ways that lead through a kinetic scheme, which say how its populations are found. */
#include "kinetics/scheme.h"

void pyspec_find_blocks(const int64_t *program, int *first)
{
    const scheme *s = scheme_head(program);
    const int64_t *blocks = scheme_blocks(program);
    int at = 0;
    for (int64_t b = 0; b < s->n_blocks; b++)
        for (int64_t k = 0, begin = at; k < blocks[b]; k++)
            first[at++] = (int)begin;
}

/* Newton's interpolation serves where steps lead forward or stay in a block, and a block has one pair of
 * neighbours less than states. */
int pyspec_has_circle(const int64_t *program)
{
    const scheme *s = scheme_head(program);
    const int64_t *step = scheme_steps(program);
    int first[MAX_STATES], is_tied[MAX_STATES][MAX_STATES] = {{0}}, n_pairs[MAX_STATES] = {0};
    pyspec_find_blocks(program, first);
    for (int64_t k = 0; k < s->n_steps; k++, step += 3) {
        if (step[1] < 0)
            continue;
        const int64_t low = step[0] < step[1] ? step[0] : step[1];
        const int64_t high = step[0] < step[1] ? step[1] : step[0];
        if (first[low] != first[high] && low == step[1])
            return 1;
        n_pairs[first[low]] += first[low] == first[high] && !is_tied[low][high];
        is_tied[low][high] = 1;
    }
    for (int i = 0; i < s->n_states; i++) {
        int size = 0;
        for (int j = 0; j < s->n_states; j++)
            size += first[j] == i;
        if (size && n_pairs[i] > size - 1)
            return 1;
    }
    return 0;
}

/* Whether interpolation has terms that cancel. It has none if each block is entered once, on one way from
 * one start, and at most two states exchange. */
int pyspec_goes_by_stretches(const int64_t *program)
{
    const scheme *s = scheme_head(program);
    const int64_t *step = scheme_steps(program), *start = scheme_starts(program);
    int first[MAX_STATES], is_tied[MAX_STATES][MAX_STATES] = {{0}}, n_ways[MAX_STATES] = {0};
    int n_tied = 0, is_entered_twice = 0;
    pyspec_find_blocks(program, first);
    for (int64_t k = 0; k < s->n_steps; k++, step += 3) {
        if (step[1] < 0 || is_tied[step[0]][step[1]])
            continue;
        is_tied[step[0]][step[1]] = 1;
        n_ways[first[step[1]]] += first[step[0]] != first[step[1]];
    }
    for (int64_t k = 0; k < s->n_starts; k++, start += 3)
        n_ways[first[start[0]]]++;
    for (int i = 0; i < s->n_states; i++) {
        n_tied += first[i] != i;
        is_entered_twice |= n_ways[i] > 1;
    }
    return n_tied > 1 || is_entered_twice || pyspec_has_circle(program);
}
