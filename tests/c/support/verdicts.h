/* verdicts.h: what the check says of a plan whose fields are changed one at a time.
 *
 * A corpus holds such changes and the whole fault that each one gave: at the places where what the
 * check says changes, the value on either side. A check that is off by one says otherwise. */
#ifndef VERDICTS_H
#define VERDICTS_H

#include "random/random_plan.h"

enum { PROBLEM_WORDS = sizeof(pyspec_problem) / 8 };

/* Sizes of a problem; of a pointer only whether it is NULL. */
typedef struct sizes {
    int64_t words[PROBLEM_WORDS];
} sizes;

sizes sizes_of(const pyspec_problem *q);
/* Pointers that are not NULL lead nowhere: to be checked, not to be run. */
pyspec_problem problem_of(const sizes *of);

/* A plan of a corpus, in a memory of exactly its size. */
typedef struct subject {
    void *bytes;
    int64_t size;
    sizes problem;
} subject;

/* One change: its place, what is written there, and the fault: status, field and node; value. */
typedef struct verdict {
    int64_t place, value, said, found;
} verdict;

enum { MOST_VERDICTS = 4096 };

/* Changes of a plan on either side of where the check says something else, few of each kind in
 * one process; how many, at most MOST_VERDICTS. */
int64_t find_verdicts(rng *r, const subject *of, verdict *list);
/* Whether the check still says so; prints what it says otherwise. */
int is_verdict_same(const subject *of, const verdict *expected);

#endif
