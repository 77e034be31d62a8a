/* unit.h: the least that a unit test needs. TEST(name) {...} is a test, TEST_ALL(name) {...} one that runs with every
 * build of the kernels that this processor supports, test_isa. A file ends with UNIT_MAIN, which runs all of them in
 * their order and frees behind each what it owns (owned.h). A failed check prints its place and goes on. */
#ifndef UNIT_H
#define UNIT_H

#include "isa/kernel.h"
#include "support/owned.h"
#include "tables/status.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The build of the kernels that calls ask for. */
extern int test_isa;

static int unit_failures;
static const char *unit_test = "";

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            unit_failures++;                                                                       \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, unit_test, #condition);                  \
        }                                                                                          \
    } while (0)

#define CHECK_INT(got, want)                                                                       \
    do {                                                                                           \
        long long got_ = (long long)(got), want_ = (long long)(want);                              \
        if (got_ != want_) {                                                                       \
            unit_failures++;                                                                       \
            printf("%s:%d: %s: %s is %lld, not %lld\n", __FILE__, __LINE__, unit_test, #got, got_, \
                   want_);                                                                         \
        }                                                                                          \
    } while (0)

typedef struct unit_case {
    const char *name;
    void (*run)(void);
    int n_isa;
    struct unit_case *next;
} unit_case;

static unit_case *first_case;

static inline void add_case(unit_case *c)
{
    static unit_case **last = &first_case;
    *last = c;
    last = &c->next;
}

#define TEST_OF(test, n_isa)                                                                       \
    static void test(void);                                                                        \
    __attribute__((constructor)) static void add_##test(void)                                      \
    {                                                                                              \
        static unit_case own = {#test, test, n_isa, NULL};                                         \
        add_case(&own);                                                                            \
    }                                                                                              \
    static void test(void)
#define TEST(test) TEST_OF(test, 1)
#define TEST_ALL(test) TEST_OF(test, N_ISA)

#define REPORT (printf("%d failures\n", unit_failures), unit_failures != 0)

static inline int run_cases(void)
{
    for (const unit_case *c = first_case; c; c = c->next)
        for (test_isa = 0; test_isa < c->n_isa; test_isa++)
            if (pyspec_isa_supported(test_isa)) {
                unit_test = c->name;
                c->run();
                free_owned(0);
            }
    return REPORT;
}

#define UNIT_MAIN                                                                                  \
    int main(void)                                                                                 \
    {                                                                                              \
        return run_cases();                                                                        \
    }

#endif
