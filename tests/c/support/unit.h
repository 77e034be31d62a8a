/* unit.h: the least that a unit test needs. A test file defines static void functions, lists
 * them in main with RUN, and returns REPORT. A failed check prints its place and goes on. */
#ifndef UNIT_H
#define UNIT_H

#include "tables/status.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

#define RUN(test)                                                                                  \
    do {                                                                                           \
        unit_test = #test;                                                                         \
        test();                                                                                    \
    } while (0)

#define REPORT (printf("%d failures\n", unit_failures), unit_failures != 0)

#endif
