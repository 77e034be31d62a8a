/* project.h: variable projection of groups of data; see pyspec.h for how entries are called. */
#ifndef PYSPEC_PROJECT_H
#define PYSPEC_PROJECT_H

#include "pyspec.h"

/* Amplitudes that are free in each group of data (each row or each column). They are solved for
 * exactly while the other parameters move: model[g] = offset[g] + sum_k c[g][k] basis[k][g]. Data,
 * weights and results for each point lie in tiles of PYSPEC_LANES groups, [tile][n_x][lane]. The
 * unused lanes of the last tile hold zeros. */
typedef struct pyspec_linear {
    int64_t n_groups;
    int64_t n_x;
    int64_t n_basis;
    int64_t n_slopes;
    int64_t n_theta;
    int64_t isa;
    int64_t full;
    const double *basis;
    int64_t basis_column;
    int64_t basis_group;
    const double *slopes;
    int64_t slopes_column;
    int64_t slopes_group;
    const int64_t *slope_basis;
    int64_t n_entries;
    const int64_t *entry_slope;
    const int64_t *entry_theta;
    const double *factors;
    int64_t factors_group;
    const double *offset;
    int64_t offset_group;
    const double *data;
    const double *weight;
    const uint8_t *allowed;
    const uint8_t *bounded;
    double *amplitudes;
    uint8_t *determined;
    double *residual;
    double *jacobian;
    double *triangle;
    double *work;
    int64_t work_size;
    int64_t n_offsets, offset_column;
    int64_t form;
    double scale;
    double *inverse;
    double *follow;
} pyspec_linear;

/* Variable projection: the amplitudes of every group at the optimum for these basis functions, and the triangle
 * of [J r] of the projected residual, as PYSPEC_FORM_GRAM. J is that of Kaufman or, with `full`, that of Golub
 * and Pereyra; both have the same J'r. Work: pyspec_project_size bytes; that is 0 for sizes that are refused. */
PYSPEC_API int64_t pyspec_project_size(const pyspec_linear *linear);
PYSPEC_API int pyspec_project(const pyspec_linear *linear);

#endif
