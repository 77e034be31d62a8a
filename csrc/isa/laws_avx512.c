/* laws_avx512.c: the laws of motion and profiles, and steps of solvers, again, compiled for AVX-512 with the flags of
 * isa_flags.txt. These leave out FMA: all builds give the same bits. For clang AVX-512 includes FMA. */
#undef __FMA__
#define ISA_SUFFIX _avx512
#include "isa/kernel.h"

#if PYSPEC_X86
#include "kernels/profile.c"
#include "kernels/time.c"
#include "solver/lane_steps.c"
#else
typedef int pyspec_laws_avx512_is_empty;
#endif
