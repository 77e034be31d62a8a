/* points.h: the sums of parts at several points in one call; see pyspec.h for how entries are called. */
#ifndef PYSPEC_POINTS_H
#define PYSPEC_POINTS_H

#include "pyspec.h"

/* As pyspec_sum_parts at n_points points, theta (n_points, n): the triangles one after the other. A sum that is
 * not finite stands there as it is. */
PYSPEC_API int pyspec_sum_points(const pyspec_part *parts, int64_t n_parts, int64_t form, int64_t order,
                                 pyspec_team *team, const double *theta, int64_t n, int64_t n_points,
                                 double *triangles);

#endif
