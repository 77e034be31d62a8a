/* orthogonal.c: functions of time without their parts along others: of all that a fit has met (span.c), or of the
 * basis functions at one theta (varpro_shared.c). The latter reads the data at every theta. To keep their sums, as
 * span.c does, would spare 1 or 2 of the 6 readings of a fit of two decays with free spectra, 440 times x 400 energies:
 * at each of the first four thetas 6 of its 8 functions are new. It would take parts along up to 26 functions for that,
 * not 2. */
#include "separable/orthogonal.h"
#include "isa/kernel.h"

#include <string.h>

void pyspec_take_along(int64_t isa, double *line, const double *lines, int64_t stride, int64_t n, double *parts,
                       double *scratch)
{
    const block_ops *ops = &pyspec_block_table[isa];
    memset(scratch, 0, (size_t)n * sizeof *scratch);
    for (int64_t k = 0; k < n; k += MOST_DOTS) {
        const int64_t count = n - k < MOST_DOTS ? n - k : MOST_DOTS;
        const double *others[MOST_DOTS];
        double *to[MOST_DOTS];
        for (int64_t i = 0; i < count; i++) {
            others[i] = lines + (k + i) * stride;
            to[i] = &scratch[k + i];
        }
        ops->dots(to, line, others, count, stride);
    }
    for (int64_t k = 0; k < n; k++) {
        parts[k] += scratch[k];
        scratch[k] = -scratch[k];
    }
    ops->add_lines(line, lines, stride, scratch, n, stride);
}
