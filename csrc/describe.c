/* describe.c: exports the tables, so that Python mirrors nothing by hand. */
#include "kernel.h"

#include <stddef.h>

#ifndef PYSPEC_FINGERPRINT
#define PYSPEC_FINGERPRINT "unknown"
#endif

/* Every row of layout.def must be what pyspec.h says, and every field must have a row. */
#define SIZE_i32 4
#define SIZE_i64 8
#define SIZE_f64 8
#define SIZE_ptr 8
_Static_assert(sizeof(void *) == 8, "the shared structs assume 64-bit pointers");
#define CONSTANT(name, value) _Static_assert((name) == (value), #name);
#define STRUCT(type, size) _Static_assert(sizeof(type) == (size), "size of " #type);
#define FIELD(type, field, kind, offset, doc)                                                      \
    _Static_assert(offsetof(type, field) == (offset), "offset of " #type "." #field);              \
    _Static_assert(sizeof(((type *)0)->field) == SIZE_##kind, "size of " #type "." #field);
#include "layout.def"
#undef CONSTANT
#undef STRUCT
#undef FIELD

/* The sizes of a struct's rows add up to the struct: no field lacks a row. */
#define CONSTANT(name, value)
#define STRUCT(type, size) +(size)
#define FIELD(type, field, kind, offset, doc) -(SIZE_##kind)
_Static_assert((0
#include "layout.def"
                ) == 0,
               "layout.def misses a field");
#undef CONSTANT
#undef STRUCT
#undef FIELD

#define BASELINE(name, arguments) pyspec_block_##name,
#define AVX2(name, arguments) pyspec_block_##name##_avx2,
#define AVX512(name, arguments) pyspec_block_##name##_avx512,
const block_ops pyspec_block_table[N_ISA] = {
#if PYSPEC_X86
    {BLOCK_OPS(BASELINE)}, {BLOCK_OPS(AVX2)}, {BLOCK_OPS(AVX512)}
#else
    {BLOCK_OPS(BASELINE)}, {BLOCK_OPS(BASELINE)}, {BLOCK_OPS(BASELINE)}
#endif
};

/* The builds of a kernel: by instruction set for an energy kernel, else one. */
#if PYSPEC_X86
#define BUILDS_ENERGY(name) {k_##name, k_##name##_avx2, k_##name##_avx512}
#else
#define BUILDS_ENERGY(name) {k_##name, k_##name, k_##name}
#endif
#define BUILDS_TIME(name) {k_##name, k_##name, k_##name}
#define BUILDS_AUX(name) {k_##name, k_##name, k_##name}

const op_row pyspec_op_table[N_OPS] = {
#define OP(name, kind, domain, params, linear, scratch, inplace, tolerance, formula)               \
    {#name, BUILDS_##domain(name), KIND_##kind, DOMAIN_##domain, params, linear, scratch},
#include "ops.def"
#undef OP
};

#define OP(name, kind, domain, params, linear, scratch, inplace, tolerance, formula)               \
    _Static_assert((scratch) <= MAX_SCRATCH, "scratch of " #name);
#include "ops.def"
#undef OP

int pyspec_count_params(const op_row *op, int *n_required)
{
    int n = 1, optional = 0;
    for (const char *c = op->params; *c; c++) {
        n += *c == ',';
        optional += *c == '=' && c[-1] != '>' && c[-1] != '<';
    }
    n = *op->params ? n : 0;
    *n_required = n - optional;
    return n;
}

int pyspec_has_height(const op_row *op)
{
    size_t n = 0;
    while (op->linear[n] && op->linear[n] == op->params[n])
        n++;
    return op->kind == KIND_PEAK && n > 0 && !op->linear[n] && op->params[n] == ',';
}

int pyspec_isa_supported(int64_t isa)
{
    if (isa == PYSPEC_ISA_BASELINE)
        return 1;
#if PYSPEC_X86
    if (isa == PYSPEC_ISA_AVX2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (isa == PYSPEC_ISA_AVX512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("fma");
#endif
    return 0;
}

int64_t pyspec_abi(void)
{
    return PYSPEC_ABI;
}

const char *pyspec_fingerprint(void)
{
    return PYSPEC_FINGERPRINT;
}

const char *pyspec_describe(void)
{
    return ""
#define OP(name, kind, domain, params, linear, scratch, inplace, tolerance, formula)               \
    "OP\t" #name "\t" #kind "\t" #domain "\t" params "\t" linear "\t" #scratch "\t" #inplace       \
    "\t" #tolerance "\t" formula "\n"
#include "ops.def"
#undef OP
#define RPN(name, arity, symbol, value, slope)                                                     \
    "RPN\t" #name "\t" #arity "\t" symbol "\t" #value "\t" #slope "\n"
#include "rpn.def"
#undef RPN
#define STATUS(name, code, message) "STATUS\t" #name "\t" #code "\t" message "\n"
#include "status.def"
#undef STATUS
#define CONSTANT(name, value) "CONSTANT\t" #name "\t" #value "\n"
#define STRUCT(type, size) "STRUCT\t" #type "\t" #size "\n"
#define FIELD(type, field, kind, offset, doc)                                                      \
    "FIELD\t" #type "\t" #field "\t" #kind "\t" #offset "\t" doc "\n"
#include "layout.def"
#undef CONSTANT
#undef STRUCT
#undef FIELD
        ;
}
