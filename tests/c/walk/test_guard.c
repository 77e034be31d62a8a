/* test_guard.c: the parts of a memory, and in sanitized builds the gaps between them. */
#include "walk/guard.h"
#include "support/unit.h"

enum { N_PARTS = 5, ROOM = 64 * L };
static const int64_t sizes[N_PARTS] = {1, L, 0, L + 1, 3 * L - 1};

static int is_closed(const double *place)
{
#ifdef __SANITIZE_ADDRESS__
    return __asan_address_is_poisoned(place);
#else
    (void)place;
    return 1;
#endif
}

static int is_open(const double *place)
{
#ifdef __SANITIZE_ADDRESS__
    return !__asan_address_is_poisoned(place);
#else
    (void)place;
    return 1;
#endif
}

TEST(parts_follow_each_other)
{
    static double memory[ROOM];
    int64_t used = 0, counted = 0;
    for (int k = 0; k < N_PARTS; k++) {
        double *part = take_part(memory, &used, sizes[k]);
        CHECK(part == memory + counted && counted % L == 0);
        CHECK(take_part(NULL, &counted, sizes[k]) == NULL);
        CHECK_INT(used, counted);
        for (int64_t i = 0; i < sizes[k]; i++)
            CHECK(is_open(part + i));
        for (int64_t i = sizes[k]; i < memory + used - part; i++)
            CHECK(is_closed(part + i));
    }
    CHECK(used <= ROOM);
    used = 0;
    (void)take_part(memory, &used, ROOM - GAP);
    for (int64_t i = 0; i < ROOM - GAP; i++)
        CHECK(is_open(memory + i));
}

UNIT_MAIN
