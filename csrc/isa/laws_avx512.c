/* laws_avx512.c: the laws of motion and profiles again, compiled for AVX-512 with the flags of isa_flags.txt.
 * These leave out FMA: all builds of a law give the same bits. For clang AVX-512 includes FMA. */
#undef __FMA__
#define ISA_SUFFIX _avx512
#include "isa/kernel.h"

#if PYSPEC_X86
#include "kernels/profile.c"
#include "kernels/time.c"
#else
typedef int pyspec_laws_avx512_is_empty;
#endif
