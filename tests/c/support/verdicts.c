#include "support/verdicts.h"
#include "support/layout_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is changed, in the upper half of a place; the lower half is the offset in bytes. */
enum { NOTHING, NO_PROBLEM, NO_PLAN, ASKEW, SIZE_GIVEN, IN_PLAN, IN_PLAN_NARROW, IN_PROBLEM, POINTER };

static const double somewhere;

sizes sizes_of(const pyspec_problem *q)
{
    sizes of;
    memcpy(&of, q, sizeof of);
    for (int k = 0; k < COUNT(problem_fields); k++)
        if (problem_fields[k].kind == KIND_ptr)
            of.words[problem_fields[k].offset / 8] = of.words[problem_fields[k].offset / 8] != 0;
    return of;
}

pyspec_problem problem_of(const sizes *of)
{
    pyspec_problem q;
    memcpy(&q, of, sizeof q);
    for (int k = 0; k < COUNT(problem_fields); k++)
        if (problem_fields[k].kind == KIND_ptr) {
            const void *pointer = of->words[problem_fields[k].offset / 8] ? &somewhere : NULL;
            memcpy((char *)&q + problem_fields[k].offset, &pointer, sizeof pointer);
        }
    return q;
}

static int64_t place_of(int what, int64_t offset)
{
    return (int64_t)what << 32 | offset;
}

/* All that the check says; a fault that it leaves open, or another status returned, shows. */
static pyspec_fault check(const void *plan, int64_t size, const pyspec_problem *q)
{
    pyspec_fault fault = {-9, -9, -9, -9};
    const int status = pyspec_check(plan, size, q, &fault);
    if (status != fault.status)
        fault.status = -9;
    return fault;
}

/* Writes `value` into the plan, checks, and takes it back. */
static pyspec_fault check_written(const subject *of, const pyspec_problem *q, int64_t offset,
                                  int64_t value, size_t width)
{
    const int32_t narrow = (int32_t)value;
    int64_t before = 0;
    char *at = (char *)of->bytes + offset;
    memcpy(&before, at, width);
    memcpy(at, width == 4 ? (const void *)&narrow : &value, width);
    const pyspec_fault fault = check(of->bytes, of->size, q);
    memcpy(at, &before, width);
    return fault;
}

static pyspec_fault check_askew(const subject *of, const pyspec_problem *q, int64_t shift)
{
    char *memory = malloc((size_t)of->size + 8);
    if (!memory)
        abort();
    memcpy(memory + shift, of->bytes, (size_t)of->size);
    const pyspec_fault fault = check(memory + shift, of->size, q);
    free(memory);
    return fault;
}

static verdict judge(const subject *of, int64_t place, int64_t value)
{
    const int64_t offset = place & UINT32_MAX;
    sizes changed = of->problem;
    pyspec_fault fault;
    if (place >> 32 == IN_PROBLEM || place >> 32 == POINTER)
        changed.words[offset / 8] = value;
    const pyspec_problem q = problem_of(&changed);
    switch (place >> 32) {
    case NO_PROBLEM:
        fault = check(of->bytes, of->size, NULL);
        break;
    case NO_PLAN:
        fault = check(NULL, of->size, &q);
        break;
    case ASKEW:
        fault = check_askew(of, &q, value);
        break;
    case SIZE_GIVEN:
        fault = check(of->bytes, value, &q);
        break;
    case IN_PLAN:
        fault = check_written(of, &q, offset, value, 8);
        break;
    case IN_PLAN_NARROW:
        fault = check_written(of, &q, offset, value, 4);
        break;
    default:
        fault = check(of->bytes, of->size, &q);
    }
    const uint64_t said = (uint64_t)(fault.node + 1) << 32 | (uint64_t)(fault.field + 1) << 8 |
                          (uint64_t)(fault.status & 0xff);
    return (verdict){place, value, (int64_t)said, fault.value};
}

/* ---- where the check says something else --------------------------------------------------- */

/* How many verdicts of one kind are kept. */
enum { MOST_OF_A_KIND = 6, N_KINDS = 1 << 18 };

static uint64_t mixed(uint64_t hash, int64_t with)
{
    rng r = {hash ^ (uint64_t)with};
    return draw(&r);
}

/* Status and field; not the node. */
static int64_t kind_of(const verdict *one)
{
    return one->said & UINT32_MAX;
}

/* Whether pairs of this kind are still few; counts them. */
static int is_rare(uint64_t group, const verdict *low, const verdict *high)
{
    static uint8_t counts[N_KINDS];
    const uint64_t kind = mixed(mixed(mixed(0, (int64_t)group), kind_of(low)), kind_of(high));
    return counts[kind % N_KINDS] < MOST_OF_A_KIND && ++counts[kind % N_KINDS];
}

/* Numbers that counts, offsets and kinds have their ends near, rising, and all near `old`. */
static int numbers_near(int64_t old, int narrow, int64_t *numbers)
{
    const int64_t least = narrow ? INT32_MIN : INT64_MIN, most = narrow ? INT32_MAX : INT64_MAX;
    int n = 0;
    numbers[n++] = least;
    for (int shift = narrow ? 30 : 62; shift >= 4; shift -= 2)
        numbers[n++] = -((int64_t)1 << shift);
    for (int64_t small = -8; small <= 8; small++)
        numbers[n++] = small;
    for (int shift = 4; shift <= (narrow ? 30 : 62); shift++)
        numbers[n++] = (int64_t)1 << shift;
    numbers[n++] = most;
    for (int64_t step = -2; step <= 2; step++) {
        const int64_t near = (int64_t)((uint64_t)old + (uint64_t)step);
        int k = n;
        if (near < least || near > most)
            continue;
        for (; k > 0 && numbers[k - 1] > near; k--)
            numbers[k] = numbers[k - 1];
        numbers[k] = near;
        n++;
    }
    return n;
}

/* Moves two values together until they are neighbours of which the check says different things. */
static void bisect(const subject *of, verdict *low, verdict *high)
{
    while ((uint64_t)high->value - (uint64_t)low->value > 1) {
        const int64_t half = (int64_t)(((uint64_t)high->value - (uint64_t)low->value) / 2);
        const verdict middle = judge(of, low->place, low->value + half);
        *(kind_of(&middle) == kind_of(low) ? low : high) = middle;
    }
}

static int64_t find_at(const subject *of, int64_t place, int64_t old, uint64_t group, verdict *list,
                       int64_t n)
{
    int64_t numbers[128] = {0, 1};
    const int count = place >> 32 == POINTER ? 2
                                             : numbers_near(old, place >> 32 == IN_PLAN_NARROW, numbers);
    verdict before = judge(of, place, numbers[0]);
    for (int k = 1; k < count; k++) {
        const verdict next = judge(of, place, numbers[k]);
        verdict low = before, high = next;
        before = next;
        if (kind_of(&low) == kind_of(&high))
            continue;
        bisect(of, &low, &high);
        if (n + 2 <= MOST_VERDICTS && is_rare(group, &low, &high)) {
            list[n++] = low;
            list[n++] = high;
        }
    }
    return n;
}

static int64_t find_in_plan(const subject *of, int64_t offset, int kind, uint64_t group,
                            verdict *list, int64_t n)
{
    int64_t old = 0;
    int32_t narrow;
    if (kind == KIND_i32) {
        memcpy(&narrow, (char *)of->bytes + offset, sizeof narrow);
        return find_at(of, place_of(IN_PLAN_NARROW, offset), narrow, group, list, n);
    }
    memcpy(&old, (char *)of->bytes + offset, sizeof old);
    return find_at(of, place_of(IN_PLAN, offset), old, group, list, n);
}

/* The share of the fields of a plan, in percent, that are looked at; most plans are alike. */
enum { SHARE = 10 };

static int64_t find_in_nodes(rng *r, const subject *of, verdict *list, int64_t n)
{
    const pyspec_plan *plan = of->bytes;
    for (int64_t node = 0; node < plan->n_nodes; node++)
        for (int k = 0; k < COUNT(node_fields); k++) {
            const pyspec_node *in = &plan_nodes(plan)[node];
            const int64_t offset = (const char *)in - (const char *)plan + node_fields[k].offset;
            const uint64_t group = mixed((uint64_t)(1000 + k), in->step);
            if (chance(r, SHARE))
                n = find_in_plan(of, offset, node_fields[k].kind, group, list, n);
        }
    for (int64_t k = 0; k < plan->n_words; k++)
        if (chance(r, SHARE))
            n = find_in_plan(of, plan->words + 8 * k, KIND_i64, 2000, list, n);
    return n;
}

int64_t find_verdicts(rng *r, const subject *of, verdict *list)
{
    int64_t n = 0;
    list[n++] = judge(of, place_of(NOTHING, 0), 0);
    list[n++] = judge(of, place_of(NO_PROBLEM, 0), 0);
    if (list[1].said & 0xff)
        return n; /* a plan that is refused has one fault already */
    if (chance(r, 1))
        list[n++] = judge(of, place_of(NO_PLAN, 0), 0);
    for (int shift = 1; shift < 8; shift++)
        if (chance(r, 1))
            list[n++] = judge(of, place_of(ASKEW, 0), shift);
    if (chance(r, SHARE))
        n = find_at(of, place_of(SIZE_GIVEN, 0), of->size, 1, list, n);
    for (int k = 0; k < COUNT(plan_fields); k++)
        if (chance(r, SHARE))
            n = find_in_plan(of, plan_fields[k].offset, KIND_i64, 3000 + (uint64_t)k, list, n);
    for (int k = 0; k < COUNT(problem_fields); k++) {
        const int what = problem_fields[k].kind == KIND_ptr ? POINTER : IN_PROBLEM;
        const int offset = problem_fields[k].offset;
        if (chance(r, 3 * SHARE))
            n = find_at(of, place_of(what, offset), of->problem.words[offset / 8],
                        4000 + (uint64_t)k, list, n);
    }
    return find_in_nodes(r, of, list, n);
}

int is_verdict_same(const subject *of, const verdict *expected)
{
    const verdict now = judge(of, expected->place, expected->value);
    if (now.said == expected->said && now.found == expected->found)
        return 1;
    printf("place %lld:%lld, value %lld: the check says %llx (%lld), not %llx (%lld)\n",
           (long long)(now.place >> 32), (long long)(now.place & UINT32_MAX), (long long)now.value,
           (long long)now.said, (long long)now.found, (long long)expected->said,
           (long long)expected->found);
    return 0;
}
