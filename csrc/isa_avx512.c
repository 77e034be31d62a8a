/* isa_avx512.c: the energy kernels again, compiled for AVX-512 with the flags of isa_flags.txt. */
#define ISA_SUFFIX _avx512
#include "kernel.h"

#if PYSPEC_X86
#include "block.c"
#include "energy.c"
#else
typedef int pyspec_isa_avx512_is_empty;
#endif
