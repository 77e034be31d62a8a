/* isa_avx2.c: the energy kernels again, compiled for AVX2 with the flags of isa_flags.txt. */
#define ISA_SUFFIX _avx2
#include "kernel.h"

#if PYSPEC_X86
#include "block.c"
#include "energy.c"
#else
typedef int pyspec_isa_avx2_is_empty;
#endif
