/* layout_fields.h: the fields of nodes, plans and problems, as layout.def lists them, for tests that
 * change one at a time. */
#ifndef LAYOUT_FIELDS_H
#define LAYOUT_FIELDS_H

typedef struct layout_field {
    int offset, kind;
} layout_field;

enum { KIND_i32, KIND_i64, KIND_f64, KIND_ptr };
#define CONSTANT(name, value)
#define STRUCT(type, size)
#define FIELD(type, field, kind, offset, doc) KEEP_##type({offset, KIND_##kind}, )
#define KEEP_pyspec_call(...)
#define KEEP_pyspec_normal(...)
#define KEEP_pyspec_part(...)
#define KEEP_pyspec_reading(...)
#define KEEP_pyspec_solver(...)
#define KEEP_pyspec_end(...)
#define KEEP_pyspec_search(...)
#define KEEP_pyspec_slot(...)
#define KEEP_pyspec_fitted(...)
#define KEEP_pyspec_many(...)
#define KEEP_pyspec_team(...)
#define KEEP_pyspec_fault(...)
#define KEEP_pyspec_linear(...)
#define KEEP_pyspec_results(...)
#define KEEP_pyspec_node(...) __VA_ARGS__
#define KEEP_pyspec_plan(...)
#define KEEP_pyspec_problem(...)
static const layout_field node_fields[] = {
#include "tables/layout.def"
};
#undef KEEP_pyspec_node
#undef KEEP_pyspec_plan
#define KEEP_pyspec_node(...)
#define KEEP_pyspec_plan(...) __VA_ARGS__
static const layout_field plan_fields[] = {
#include "tables/layout.def"
};
#undef KEEP_pyspec_plan
#undef KEEP_pyspec_problem
#define KEEP_pyspec_plan(...)
#define KEEP_pyspec_problem(...) __VA_ARGS__
static const layout_field problem_fields[] = {
#include "tables/layout.def"
};
#define COUNT(fields) ((int)(sizeof(fields) / sizeof *(fields)))

#endif
