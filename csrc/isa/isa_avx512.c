/* isa_avx512.c: the energy and convolution kernels again, compiled for AVX-512 with the flags of
 * isa_flags.txt. */
#define ISA_SUFFIX _avx512
#include "isa/kernel.h"

#if PYSPEC_X86
#include "sums/column_sums.c"
#include "sums/normals.c"
#include "kernels/conv_kernels.c"
#include "kernels/energy.c"
#include "kernels/energy_ds.c"
#include "kernels/energy_fermi.c"
#include "kernels/energy_mahan.c"
#include "kernels/energy_resolved.c"
#include "kernels/energy_rows.c"
#include "kernels/energy_steps.c"
#include "formula/formula.c"
#include "kernels/response.c"
#include "kinetics/scheme_exp.c"
#include "kinetics/scheme_times.c"
#include "walk/strip_ops.c"
#include "isa/vector_ops.c"
#include "elimination/varpro_shared.c"
#include "elimination/varpro_tiles.c"
#include "sums/word_lines.c"
#else
typedef int pyspec_isa_avx512_is_empty;
#endif
