/* fuzz_formulas.c: programs of formulas from the standard input, each as its number of words, its number
 * of parameters and its words. Each must be sound; it runs, and so do changes of it that the checker
 * accepts, in memory of exactly the size that it asks for: tests/fuzz/definitions.py. */
#include "random/random_formula.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANGES = 2, MOST_WORDS = 1 << 20 };

/* Runs a program where the checker accepts it: 1, or 0 where it does not, or -1 where the bits of the
 * value depend on whether slopes are wanted. */
static int try_program(rng *r, const int64_t *words, int64_t n, int64_t n_params)
{
    int64_t at, isa = below(r, N_ISA);
    int64_t *own = exact(n, sizeof *own);
    memcpy(own, words, (size_t)n * sizeof *own);
    const int is_sound = pyspec_formula_is_sound(own, n, n_params, &at);
    isa = pyspec_isa_supported(isa) ? isa : PYSPEC_ISA_BASELINE;
    const int same = !is_sound || run_formula(r, own, pyspec_formula_kernels[isa]);
    return same ? is_sound : -1;
}

int main(int argc, char **argv)
{
    rng r = {argc > 1 ? (uint64_t)atol(argv[1]) : 1};
    int64_t head[2], n_programs = 0, n_accepted = 0;
    while (fread(head, sizeof *head, 2, stdin) == 2) {
        if (head[0] < FORMULA_HEAD || head[0] > MOST_WORDS)
            return 2;
        int64_t *words = exact(head[0], sizeof *words);
        if (fread(words, sizeof *words, (size_t)head[0], stdin) != (size_t)head[0])
            return 2;
        n_programs++;
        const int answer = try_program(&r, words, head[0], head[1]);
        if (answer != 1) {
            printf("program %lld %s\n", (long long)n_programs,
                   answer ? "has other bits of its value with slopes" : "is refused");
            return 1;
        }
        for (int k = 0; k < CHANGES; k++) {
            mutate_formula(&r, words, head[0]);
            n_accepted += try_program(&r, words, head[0], head[1]) != 0;
        }
        free_owned(0);
    }
    printf("%lld programs executed, of %lld changes %lld\n", (long long)n_programs,
           (long long)(CHANGES * n_programs), (long long)n_accepted);
    return 0;
}
