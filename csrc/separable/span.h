/* span.h: the span of the functions of time that a fit of a separable plan has met. */
#ifndef PYSPEC_SPAN_H
#define PYSPEC_SPAN_H

#include "separable/separable.h"

/* Chunks of rows that threads read, at most. */
enum { MOST_CHUNKS = 8 };

/* Where a fit stands. */
typedef struct span_state {
    int64_t n, first;   /* functions that the span has, orthonormal; the first that is new */
    int64_t n_read;     /* those of which the sums with the data are known                 */
    int64_t n_times;    /* functions of the theta that is asked for                        */
    int64_t has_model;  /* whether the reading that is due finds chi^2 point by point      */
    double chisqr;      /* of that theta, where it is known; or NaN                        */
    double chisqr_read; /* where it was found point by point last                          */
    double rest;        /* of the data what lies beyond the span                           */
} span_state;

/* The memory of a span. Lines along the energies have the stride of shapes, those along the rows of the
 * window that of `stride`. */
typedef struct span {
    span_state *now;
    double *functions; /* [most][stride]                                                 */
    double *data;      /* [most] lines: the data summed over time with each function     */
    double *residual;  /* [most] lines: the residual, likewise                           */
    double *times;     /* [n_times][stride] u(t); of the others what lies beyond the span */
    double *parts;     /* [n_times][most] what they are made of                          */
    double *heights;   /* [rows][traces]                                                 */
    double *place;     /* [n_times] which of the times each function is, numbers         */
    double *found;     /* [most] scratch                                                 */
    double *whole, *beyond; /* [n_times] the length of each, and of what lies beyond the span */
    double *sums;      /* [most_sums] what a reading finds                               */
    double *triangle;  /* the sums of a theta                                            */
    double *nodes;     /* [n_nodes][most_sums] its sums over chunks of rows              */
    int64_t *places;   /* [n_nodes][2]                                                   */
    int64_t most, stride, most_sums, n_nodes;
    int64_t n_open;                      /* sums of all rows that are open at a time */
    int64_t n_chunks, chunk, chunk_open; /* chunks, rows of each, and its open sums  */
    int64_t size;                        /* bytes; 0: there is no span of such a problem */
} span;

/* A memory divided into its parts; NULL: how large it is. */
span pyspec_divide_span(const pyspec_plan *plan, const pyspec_problem *problem, double *memory);

/* Whether there is a span of such a problem, and so many bytes are enough for it. */
int pyspec_has_span_memory(const pyspec_call *call, const double *memory, int64_t given);

/* Whether the sums of a part are found from its span, which it has memory for. */
int pyspec_has_span(const pyspec_part *part, int64_t form);

/* Forgets what the span of a part holds, if it has one. */
void pyspec_begin_span(const pyspec_part *part);

/* The sums of all rows of a part in its `normal`, behind pyspec_prepare with SHAPES. Sums that are not finite
 * may be so by the order of operations alone. */
int pyspec_sum_span(const pyspec_part *part, int64_t form, pyspec_team *team);

/* parts.c: pyspec_sum_parts, where parts that have spans are summed from these. */
int pyspec_sum_in_fit(const pyspec_part *parts, int64_t n_parts, int64_t form, int64_t order,
                      pyspec_team *team, int64_t every, double *triangle);

/* Of how many tiles of rows a fit does well to begin with one; 1: with all. */
int64_t pyspec_part_of_rows(const pyspec_part *parts, int64_t n_parts);

#endif
