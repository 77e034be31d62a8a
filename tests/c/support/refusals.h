/* refusals.h: one line for each refusal of pyspec_check: what is wrong, which status, which field
 * the fault names. The file that includes it defines good_plan. */
#ifndef REFUSALS_H
#define REFUSALS_H

#include "support/plans.h"
#include "support/unit.h"

enum {
#define CONSTANT(name, value)
#define STRUCT(type, size)
#define FIELD(type, field, kind, offset, doc) FIELD_##type##_##field,
#include "tables/layout.def"
#undef CONSTANT
#undef STRUCT
#undef FIELD
};

/* The plan that every line changes in one place. */
static pyspec_plan *good_plan(void);

/* p, n, w, q: header, nodes, words and problem that `edit` may change before the check. `more` is
 * said of the fault afterwards. */
#define EXPECT_MORE(edit, want_status, want_node, want_field, more)                                \
    do {                                                                                           \
        pyspec_plan *p = good_plan();                                                              \
        pyspec_node *n = (pyspec_node *)((char *)p + p->nodes);                                    \
        int64_t *w = (int64_t *)((char *)p + p->words);                                            \
        int64_t size = p->size;                                                                    \
        grid g;                                                                                    \
        make_grid(&g, p, 5, 7);                                                                    \
        pyspec_problem *q = &g.problem;                                                            \
        pyspec_fault fault = {-1, -2, -2, -1};                                                     \
        edit;                                                                                      \
        CHECK_INT(pyspec_check(p, size, q, &fault), want_status);                                  \
        CHECK_INT(fault.status, want_status);                                                      \
        CHECK_INT(fault.node, want_node);                                                          \
        CHECK_INT(fault.field, want_field);                                                        \
        if (want_status == STATUS_OK || want_status == STATUS_NULL_POINTER)                        \
            CHECK_INT(fault.value, 0);                                                             \
        more;                                                                                      \
        CHECK_INT(pyspec_check(p, size, q, NULL), want_status);                                    \
        (void)n, (void)w;                                                                          \
    } while (0)
#define EXPECT(edit, want_status, want_node, want_field)                                           \
    EXPECT_MORE(edit, want_status, want_node, want_field, (void)0)
/* The same, and what the fault says was found there. */
#define VALUE(edit, want_status, want_node, want_field, want_value)                                \
    EXPECT_MORE(edit, want_status, want_node, want_field, CHECK_INT(fault.value, want_value))
#define ACCEPT(edit) EXPECT(edit, STATUS_OK, -1, -1)
#define HEADER(edit, status, field) EXPECT(edit, STATUS_##status, -1, FIELD_pyspec_plan_##field)
#define PROBLEM(edit, status, field)                                                               \
    EXPECT(edit, STATUS_##status, -1, FIELD_pyspec_problem_##field)
#define NODE(at, edit, status, field)                                                              \
    EXPECT(n[at].edit, STATUS_##status, at, FIELD_pyspec_node_##field)
#define WORD(at, word, value, status, field)                                                       \
    EXPECT(w[n[at].word] = (value), STATUS_##status, at, FIELD_pyspec_node_##field)

#endif
