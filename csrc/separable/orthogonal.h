/* orthogonal.h: functions of time without their parts along others. */
#ifndef PYSPEC_ORTHOGONAL_H
#define PYSPEC_ORTHOGONAL_H

#include <stdint.h>

/* Takes from a line its part along n lines [ ][stride], which are orthonormal or 0, and adds it to `parts`, [n]. A
 * stride is a whole number of lanes. scratch: [n]. Called twice it is exact to rounding, by Gram and Schmidt. */
void pyspec_take_along(int64_t isa, double *line, const double *lines, int64_t stride, int64_t n, double *parts,
                       double *scratch);

#endif
