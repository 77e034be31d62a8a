/* sum_tree.h: the tree of sums, for what adds rows to it. */
#ifndef PYSPEC_SUM_TREE_H
#define PYSPEC_SUM_TREE_H

#include "walk/run.h"

/* Only factors need scratch, to become part of one of that order. */
int pyspec_has_scratch(const pyspec_normal *s, int64_t order);

/* Adds a triangle to another: sums are added, of factors the rows are turned into the other. */
void pyspec_merge_sums(const pyspec_normal *s, double *into, const double *from);

/* Appends the sums of the rows index 2^level ... (index + 1) 2^level - 1. */
int pyspec_push_sums(pyspec_normal *s, int64_t level, int64_t index, const double *triangle);

/* Whether sums over these rows of a problem may be added to `s`: a status. */
int pyspec_check_sums(const pyspec_call *call, const pyspec_normal *s, int64_t row_begin,
                      int64_t row_end);

/* What pyspec_accumulate does row by row. */
int pyspec_accumulate_rows(const pyspec_call *call, pyspec_normal *normal, int64_t row_begin,
                           int64_t row_end);

#endif
