/* guided.h: random plans that learn. Plans that reached a new branch of the library are kept and
 * changed further.
 *
 * The library calls back for every branch where it is compiled with -fsanitize-coverage=trace-pc;
 * without that nothing is ever new, and plans are as random as before. */
#ifndef GUIDED_H
#define GUIDED_H

#include "support/verdicts.h"

/* Reads the plans of a corpus; how many there are, -1 where there is no such file. They are kept
 * where they still reach new branches when they are judged once more. */
int guided_load(const char *path);
/* Writes all plans that are kept, with what the check says of them. */
int guided_save(const char *path);
/* A copy of plan number `which` of the corpus, its size, and the problem that it was kept with. */
pyspec_plan *guided_replay(int which, int64_t *size, pyspec_problem *problem);
/* Whether the check still says of that plan, and of changes of it, what the corpus holds. */
int guided_is_same(int which);

/* How many plans are kept, and how many branches (with how often they were taken) were seen. */
int guided_count(void);
int guided_branches(void);
/* A copy of one of the plans, most often of one that the check accepts. */
pyspec_plan *guided_pick(rng *r, int64_t *size);

/* What runs between the two is judged; keeps the plan if it reached anything new. */
void guided_begin(void);
int guided_end(const void *plan, int64_t size, const sizes *problem, int accepted);

#endif
