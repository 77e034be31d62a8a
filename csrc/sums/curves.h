/* curves.h: chi^2 of each row along the one trace that moves its spectrum. Chains ask for chi^2 at many points near an
 * optimum. There it is a smooth function of that trace. Once enough values were met to pay for it, a polynomial takes
 * the place of the walk over the energies. */
#ifndef PYSPEC_CURVES_H
#define PYSPEC_CURVES_H

#include "walk/run.h"

/* Chebyshev polynomials of a curve. */
enum { CURVE_TERMS = 16 };

/* The curves of the rows of a tile; all zeros to begin with. Values of lanes that are not asked for are not read. */
typedef struct tile_curve {
    double least[L], most[L];     /* of the values that were walked since the last curve */
    double centre[L], half[L];    /* the interval of values in which the polynomial holds */
    double terms[CURVE_TERMS][L]; /* factors of its Chebyshev polynomials                 */
    int64_t holds;                /* whether there is one                                 */
    int64_t n_walked, n_due;      /* values walked since, and how many of them pay for the next */
} tile_curve;

/* The curves of a part; row = -1: it has none. */
typedef struct row_curves {
    int64_t row;       /* the trace that moves */
    tile_curve *tiles; /* from the tile of the window's first row on */
} row_curves;

/* Those of a part in memory of the size below. */
row_curves pyspec_curves_of(const pyspec_part *part, double *memory);

/* Bytes of the curves of a part; 0: it has none. */
int64_t pyspec_curves_size(const pyspec_part *part);

/* Whether all its tiles have a curve. */
int pyspec_has_curves(const pyspec_part *part, double *memory);

/* Whether the curve holds at these values of lanes begin ... end - 1; then their sums, 0 in other lanes. */
int pyspec_read_curve(const tile_curve *c, const double *values, int begin, int end, double *sums);

/* Notes values that were walked. Returns whether a curve is due. */
int pyspec_note_walk(tile_curve *c, const double *values, int begin, int end);

/* Makes a curve in three moves. The first chooses its interval: the values that were met, and the interval of the curve
 * before. The second gives the values of its k-th point. The third takes the sums at all points. Where they do not
 * follow a polynomial to rounding, the curve before stays. */
void pyspec_begin_curve(const tile_curve *c, tile_curve *next, int begin, int end);
void pyspec_curve_point(const tile_curve *next, int64_t k, int begin, int end, double *values);
void pyspec_end_curve(tile_curve *c, tile_curve *next, double sums[CURVE_TERMS][L], int begin, int end);

/* accumulate.c: as pyspec_accumulate_rows, of the form VALUE, by curves where they hold. */
int pyspec_accumulate_curves(const pyspec_call *call, pyspec_normal *normal, const row_curves *curves,
                             int64_t row_begin, int64_t row_end);

/* parts.c: as pyspec_sum_parts, of the form VALUE, with the curves of all parts one after the other. */
int pyspec_sum_by_curves(const pyspec_part *parts, int64_t n_parts, int64_t order, pyspec_team *team, double *curves,
                         double *triangle);

#endif
