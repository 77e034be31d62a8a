/* isa_avx2.c: the energy and convolution kernels again, compiled for AVX2 with the flags of
 * isa_flags.txt. */
#define ISA_SUFFIX _avx2
#include "kernel.h"

#if PYSPEC_X86
#include "column_sums.c"
#include "conv_kernels.c"
#include "energy.c"
#include "energy_ds.c"
#include "energy_fermi.c"
#include "energy_mahan.c"
#include "energy_resolved.c"
#include "energy_rows.c"
#include "energy_steps.c"
#include "formula.c"
#include "response.c"
#include "scheme_exp.c"
#include "scheme_times.c"
#include "strip_ops.c"
#include "vector_ops.c"
#include "varpro_shared.c"
#include "varpro_tiles.c"
#include "word_lines.c"
#else
typedef int pyspec_isa_avx2_is_empty;
#endif
