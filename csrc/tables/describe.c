/* describe.c: exports the tables, so that Python mirrors nothing by hand. */
#include "formula/formula.h"
#include "isa/kernel.h"
#include "solver/many.h"
#include "elimination/project.h"
#include "walk/results.h"

#include <stddef.h>
#include <string.h>

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
#include "tables/layout.def"
#undef CONSTANT
#undef STRUCT
#undef FIELD

/* The sizes of a struct's rows add up to the struct: no field lacks a row. */
#define CONSTANT(name, value)
#define STRUCT(type, size) +(size)
#define FIELD(type, field, kind, offset, doc) -(SIZE_##kind)
_Static_assert((0
#include "tables/layout.def"
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

/* The builds of a kernel, one for each instruction set. */
#if PYSPEC_X86
#define EACH_ISA(prefix, name) {prefix##name, prefix##name##_avx2, prefix##name##_avx512}
#else
#define EACH_ISA(prefix, name) {prefix##name, prefix##name, prefix##name}
#endif
pyspec_kernel *const pyspec_formula_kernels[N_ISA] = EACH_ISA(k_, formula);

/* What only convolution kernels have besides their shape. */
#define NO_CONV(prefix, name) {NULL, NULL, NULL}
#define CONV_OF_PEAK NO_CONV
#define CONV_OF_BACKGROUND NO_CONV
#define CONV_OF_SPECTRUM_FED NO_CONV
#define CONV_OF_ROW_FED NO_CONV
#define CONV_OF_KERNEL EACH_ISA
#define CONV_OF_DYNAMICS NO_CONV
#define CONV_OF_PROFILE NO_CONV
#define CONV_OF_IRF NO_CONV
#define CONV_OF_RESPONSE NO_CONV
#define CONV_OF_RESOLUTION NO_CONV
#define CONV_OF_RESOLVED NO_CONV

const op_row pyspec_op_table[N_OPS] = {
#define OP(name, kind, domain, params, units, linear, jumps, later, reads, scratch, tolerance,     \
           formula)                                                                                \
    {#name,  EACH_ISA(k_, name), CONV_OF_##kind(&c_, name), KIND_##kind, DOMAIN_##domain,     \
     params, linear, jumps, reads, scratch},
#include "tables/ops.def"
#undef OP
};

#define OP(name, kind, domain, params, units, linear, jumps, later, reads, scratch, tolerance,     \
           formula)                                                                                \
    _Static_assert((scratch) <= MAX_SCRATCH, "scratch of " #name);
#include "tables/ops.def"
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
    const char *end = strchr(op->params, ',');
    const size_t n = end ? (size_t)(end - op->params) : strlen(op->params);
    const int may_have = op->kind == KIND_PEAK || op->kind == KIND_RESOLVED;
    return may_have && strlen(op->linear) == n && !memcmp(op->linear, op->params, n);
}

int pyspec_is_linear_in_spectrum(const op_row *op)
{
    const char *own = strstr(op->reads, "spectrum:"), *end = own ? strchr(own, ';') : NULL;
    const char *again = own ? strstr(own + strlen("spectrum:"), "spectrum") : NULL;
    return own && (!again || (end && end < again));
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
#define OP(name, kind, domain, params, units, linear, jumps, later, reads, scratch, tolerance,     \
           formula)                                                                                \
    "OP\t" #name "\t" #kind "\t" #domain "\t" params "\t" units "\t" linear "\t" jumps             \
    "\t" later "\t" reads "\t" #scratch "\t" #tolerance "\t" formula "\n"
#include "tables/ops.def"
#undef OP
#define RPN(name, arity, symbol, value, by_a, by_b, by_c)                                          \
    "RPN\t" #name "\t" #arity "\t" symbol "\t" #value "\t" #by_a "\t" #by_b "\t" #by_c "\n"
#include "tables/rpn.def"
#undef RPN
#define FUSED(name, arity, value) "FUSED\t" #name "\t" #arity "\n"
#include "tables/fused.def"
#undef FUSED
#define TILED(code) "TILED\t" #code "\n"
        FORMULA_TILED(TILED)
#undef TILED
#define STATUS(name, code, message) "STATUS\t" #name "\t" #code "\t" message "\n"
#include "tables/status.def"
#undef STATUS
#define CONSTANT(name, value) "CONSTANT\t" #name "\t" #value "\n"
#define STRUCT(type, size) "STRUCT\t" #type "\t" #size "\n"
#define FIELD(type, field, kind, offset, doc)                                                      \
    "FIELD\t" #type "\t" #field "\t" #kind "\t" #offset "\t" doc "\n"
#include "tables/layout.def"
#undef CONSTANT
#undef STRUCT
#undef FIELD
        ;
}
