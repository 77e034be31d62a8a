/* check.h: the parts of the verification of a plan: a fault is named where it is found. */
#ifndef PYSPEC_CHECK_H
#define PYSPEC_CHECK_H

#include "kinetics/measured.h"
#include "walk/memory.h"
#include "kinetics/scheme.h"
#include "tables/status.h"

/* Bounds that keep products of counts far from overflow. */
enum { MAX_COUNT = 1 << 20, MAX_NODES = 1 << 14 };

/* Position of a field among all rows of layout.def: FIELD_<struct>_<field>. */
enum {
#define CONSTANT(name, value)
#define STRUCT(type, size)
#define FIELD(type, field, kind, offset, doc) FIELD_##type##_##field,
#include "tables/layout.def"
#undef CONSTANT
#undef STRUCT
#undef FIELD
    N_FIELDS
};

/* A set of trace rows: a bit for each. */
typedef struct row_set {
    uint64_t bits[MAX_COUNT / 64];
} row_set;

typedef struct checker {
    const pyspec_plan *plan;
    const pyspec_node *node;
    int64_t index;
    pyspec_fault *fault;
    const uint16_t *writers; /* nodes by their targets: those of traces, then those of spectra */
} checker;

/* check.c: fills in the fault, and returns the status. */
int pyspec_fail(const checker *c, int status, int64_t field, int64_t value);

#define REQUIRE(condition, status, type, field, value)                                             \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return pyspec_fail(c, STATUS_##status, FIELD_##type##_##field, (int64_t)(value));      \
    } while (0)
#define REQUIRE_NODE(condition, status, field)                                                     \
    REQUIRE(condition, status, pyspec_node, field, c->node->field)
#define REQUIRE_PLAN(condition, status, field)                                                     \
    REQUIRE(condition, status, pyspec_plan, field, c->plan->field)

/* Trace rows that are given: theta, fixed values, external traces. */
static inline int64_t n_inputs(const pyspec_plan *plan)
{
    return plan->n_theta + plan->n_fixed + plan->n_external;
}

/* The first row of the block of n_aux rows that a row belongs to; itself outside of blocks. */
static inline int64_t block_of(const pyspec_plan *plan, int64_t row)
{
    return row < plan->samples ? row : row - (row - plan->samples) % plan->n_aux;
}

/* check_nodes.c: whether a trace row or a slot may be read by the node at hand, in which stage a row
 * is written, and the nodes themselves. */
void pyspec_find_writers(const pyspec_plan *plan, uint16_t *writers);
int pyspec_is_resolved(const checker *c, int64_t row, int64_t repeat);
int pyspec_is_written(const checker *c, int64_t slot, int64_t end);
int pyspec_stage_of(const checker *c, int64_t row);
int pyspec_check_resolve(const checker *c);
int pyspec_check_component(const checker *c);

/* check_sums.c: what the plan says of derivatives and of the structure of its sums. */
int pyspec_check_depends(const checker *c);
int pyspec_check_columns(checker *c);
int pyspec_check_separable(checker *c);

#endif
