/* linear.h: what the files of eliminated amplitudes share. */
#ifndef PYSPEC_LINEAR_H
#define PYSPEC_LINEAR_H

#include "walk/guard.h"
#include "isa/kernel.h"
#include "elimination/project.h"
#include "sums/rows.h"

/* A column that keeps less than this of its length beside the others is a combination of them. */
#define LINEAR_RANK 1e-12

/* Of a group whose amplitudes are known: no set of amplitudes that take part has all bits. */
#define LINEAR_SOLVED UINT64_MAX

/* Work of a tile, or of basis functions that all groups share, in doubles. */
typedef struct linear_work {
    double *q;          /* [n_basis][n_x][L] orthonormal columns                       */
    double *columns;    /* [n_theta + 1][n_x][L] those of [J r]                        */
    double *column;     /* [n_x][L] one that is loaded                                 */
    double *r;          /* [n_basis][n_basis][L] the triangle R                        */
    double *b;          /* [n_basis][L] products of Q and the data                     */
    double *c;          /* [n_basis][L] amplitudes                                     */
    double *on;         /* [n_basis][L] 1 where an amplitude takes part                */
    double *kept;       /* [n_basis][L] 1 where it may take part beside all others     */
    double *lost;       /* [n_basis][L] 1 of those kept that are combinations of others */
    double *turned;     /* [n_theta][n_basis][L] slopes of the second kind             */
    double *along;      /* [n_theta][n_basis][L] products of Q and the slopes          */
    double *triangle;   /* [order (order + 1) / 2][L]                                  */
    double *line;       /* [n_basis + n_slopes][n_x, in whole L] shared Q, projected slopes */
    double *fours;      /* the same in fours, [ ][n_x][4]                               */
    double *gram;       /* [n_slopes][n_slopes] of the latter                          */
    double *products;   /* [n_basis + 1][n_basis + 1][L] sums of c c over groups       */
    double *turn;       /* [4][L] projected slopes times the residuals of a tile        */
    double *response;   /* [n_slopes][L] the same times amplitudes, summed over groups */
    double *square;     /* [L] sum of r r over groups                                  */
    const double *data, *weight; /* [n_x][L] of a tile, NULL: weights of 1            */
    double *weighed, *root; /* [n_x][L] each, of counts: data and weights of a Newton step */
    double *model, *step;   /* [n_x][L] each, expected counts, and by how much they change */
    double *found;      /* [n_basis][L] amplitudes before it                           */
    uint64_t *sets;     /* [n_groups] which amplitudes take part, or LINEAR_SOLVED     */
} linear_work;

/* Sums over x of two columns, in four parts which do not wait for one another. */
static ALWAYS_INLINE void dot_columns(double *restrict sum, const double *a, const double *b, int64_t n)
{
    double part[4][L] = {{0.0}};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int m = 0; m < 4; m++)
            FOR_LANES part[m][l] += a[(i + m) * L + l] * b[(i + m) * L + l];
    for (; i < n; i++)
        FOR_LANES part[0][l] += a[AT] * b[AT];
    FOR_LANES sum[l] = (part[0][l] + part[1][l]) + (part[2][l] + part[3][l]);
}

static ALWAYS_INLINE double sum_lanes(const double *lanes)
{
    double sum = 0.0;
    FOR_LANES sum += lanes[l];
    return sum;
}

/* R c = b, in lanes; 0 for what takes no part. */
static inline void solve_back(const pyspec_linear *q, const linear_work *w, const double *b, double *to)
{
    const int64_t n_basis = q->n_basis;
    for (int64_t k = n_basis - 1; k >= 0; k--) {
        double *c = to + k * L;
        FOR_LANES c[l] = b[k * L + l];
        for (int64_t j = k + 1; j < n_basis; j++)
            FOR_LANES c[l] -= w->r[(k * n_basis + j) * L + l] * to[j * L + l];
        FOR_LANES c[l] = w->on[k * L + l] > 0.0 ? c[l] / w->r[(k * n_basis + k) * L + l] : 0.0;
    }
}

/* The lanes in which an amplitude that must not be negative is so. */
static inline unsigned breaks_bounds(const pyspec_linear *q, const linear_work *w)
{
    unsigned breaks = 0;
    for (int64_t k = 0; q->bounded && k < q->n_basis; k++)
        FOR_LANES breaks |= (unsigned)(q->bounded[k] && w->c[k * L + l] < 0.0) << l;
    return breaks;
}

/* varpro_tiles.c: any groups. varpro_shared.c: all alike, without weights, for the triangle alone. */
typedef void linear_run(const pyspec_linear *q, const linear_work *w);
linear_run pyspec_linear_tiles, pyspec_linear_tiles_avx2, pyspec_linear_tiles_avx512;
linear_run pyspec_linear_shared, pyspec_linear_shared_avx2, pyspec_linear_shared_avx512;

/* Amplitudes that are not negative: which of the columns of R take part (on). */
void pyspec_nonnegative(int64_t n, const double *r, const double *b, const uint8_t *bounded,
                        double *on);

/* The same for one group, in a lane of R, b and `on`, [ ][L]. Before, `on` says which columns are no combination
 * of those before them. */
void pyspec_choose_lane(const pyspec_linear *q, int64_t group, const double *r, const double *b,
                        double *on);

/* Adds the sums of a part with free amplitudes to its `normal`. */
int pyspec_sum_linear(const pyspec_part *part, int64_t form, pyspec_team *team);

/* Parts that an offset has. */
static inline int64_t count_offsets(const pyspec_linear *q)
{
    return q->offset ? q->n_offsets + !q->n_offsets : 0;
}

#endif
