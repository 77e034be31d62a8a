/* laws_avx2.c: the laws of motion and profiles, and steps of solvers, again, compiled for AVX2 with the flags of
 * isa_flags.txt. These leave out FMA: all builds give the same bits. */
#define ISA_SUFFIX _avx2
#include "isa/kernel.h"

#if PYSPEC_X86
#include "kernels/profile.c"
#include "kernels/time.c"
#include "solver/lane_steps.c"
#else
typedef int pyspec_laws_avx2_is_empty;
#endif
