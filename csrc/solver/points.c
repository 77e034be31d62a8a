/* points.c: sums of the same parts at several points, as walkers and profiles ask for them. */
#include "solver/points.h"
#include "sums/curves.h"
#include "tables/status.h"

int64_t pyspec_points_size(const pyspec_part *parts, int64_t n_parts)
{
    int64_t size = 0;
    for (int64_t k = 0; parts && k < n_parts; k++)
        size += pyspec_curves_size(&parts[k]);
    return size;
}

int pyspec_sum_points(const pyspec_part *parts, int64_t n_parts, int64_t form, int64_t order, pyspec_team *team,
                      const double *theta, int64_t n, int64_t n_points, double *curves, double *triangles)
{
    if ((n_parts && !parts) || !theta || !triangles)
        return STATUS_NULL_POINTER;
    for (int64_t k = 0; k < n_parts; k++)
        if (!parts[k].theta)
            return STATUS_NULL_POINTER;
    const int64_t size = order * (order + 1) / 2;
    for (int64_t i = 0; i < n_points; i++) {
        for (int64_t k = 0; k < n_parts; k++)
            for (int64_t j = 0; j < parts[k].n_theta; j++)
                parts[k].theta[j] = theta[i * n + (parts[k].gather ? parts[k].gather[j] : j)];
        const int status =
            curves && form == PYSPEC_FORM_VALUE
                ? pyspec_sum_by_curves(parts, n_parts, order, team, curves, triangles + i * size)
                : pyspec_sum_parts(parts, n_parts, form, order, team, triangles + i * size);
        if (status)
            return status;
    }
    return STATUS_OK;
}
