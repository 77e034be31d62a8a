/* cpu.c: which instruction sets the processor has and the operating system saves. The instructions are
 * asked themselves: what a compiler offers for it (__builtin_cpu_supports) answers 0 to everything where
 * its run-time library does not fill the table. */
#include "isa/kernel.h"

#if PYSPEC_X86
#include <cpuid.h>

/* Bits of cpuid, leaf 1, ECX; of leaf 7, EBX; and of the register XCR0: what the operating system saves
 * of vector registers when it changes threads. */
enum {
    HAS_FMA = 1 << 12,
    HAS_XGETBV = 1 << 27,
    HAS_AVX = 1 << 28,
    HAS_AVX2 = 1 << 5,
    HAS_AVX512F = 1 << 16,
    HAS_AVX512DQ = 1 << 17,
    HAS_AVX512BW = 1 << 30,
    SAVES_AVX = 0x6,
    SAVES_AVX512 = 0xe6
};
#define HAS_AVX512VL 0x80000000u

static int has(unsigned bits, unsigned wanted)
{
    return (bits & wanted) == wanted;
}

static unsigned saved_registers(void)
{
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

/* One bit for each instruction set. */
static unsigned ask_processor(void)
{
    unsigned eax, ebx, ecx, edx, basic, sets = 1u << PYSPEC_ISA_BASELINE;
    if (!__get_cpuid(1, &eax, &ebx, &basic, &edx) || !has(basic, HAS_FMA | HAS_XGETBV | HAS_AVX) ||
        !__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx))
        return sets;
    const unsigned saved = saved_registers();
    if (has(ebx, HAS_AVX2) && has(saved, SAVES_AVX))
        sets |= 1u << PYSPEC_ISA_AVX2;
    if (has(ebx, HAS_AVX512F | HAS_AVX512DQ | HAS_AVX512BW | HAS_AVX512VL) && has(saved, SAVES_AVX512))
        sets |= 1u << PYSPEC_ISA_AVX512;
    return sets;
}

/* The answer is kept: cpuid takes 20 us in a virtual machine, and every call of the library asks. It is
 * the same for every thread, so that it does not matter which of them asks first. */
int pyspec_isa_supported(int64_t isa)
{
    static unsigned known;
    unsigned sets = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (!sets) {
        sets = ask_processor();
        __atomic_store_n(&known, sets, __ATOMIC_RELAXED);
    }
    return isa >= 0 && isa < N_ISA && (sets >> isa & 1);
}

#else

int pyspec_isa_supported(int64_t isa)
{
    return isa == PYSPEC_ISA_BASELINE;
}

#endif
