/* points.h: the sums of parts at several points in one call; see pyspec.h for how entries are called. */
#ifndef PYSPEC_POINTS_H
#define PYSPEC_POINTS_H

#include "pyspec.h"

/* Bytes of memory, all 0 to begin with, by which chi^2 at many points of the same parts need not read all data. */
PYSPEC_API int64_t pyspec_points_size(const pyspec_part *parts, int64_t n_parts);

/* As pyspec_sum_parts at n_points points, theta (n_points, n): the triangles one after the other. A sum that is
 * not finite stands there as it is. With `curves`, memory of that size or NULL, chi^2 of the form VALUE is right to
 * 1e-13 of it, and its last digits depend on the points asked for before. */
PYSPEC_API int pyspec_sum_points(const pyspec_part *parts, int64_t n_parts, int64_t form, int64_t order,
                                 pyspec_team *team, const double *theta, int64_t n, int64_t n_points,
                                 double *curves, double *triangles);

#endif
