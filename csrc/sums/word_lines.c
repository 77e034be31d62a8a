/* word_lines.c: words of measured data summed, for their checksum, and their squares on the same way. Built
 * for each instruction set, like the energy kernels. */
#include "isa/kernel.h"
#include "isa/vector.h"

#if WIDTH > 1
typedef uint64_t words __attribute__((vector_size(WIDTH * sizeof(uint64_t))));
#else
typedef uint64_t words;
#endif

static ALWAYS_INLINE words words_at(const char *bytes)
{
    words found; /* bytes may begin anywhere */
    memcpy(&found, bytes, sizeof found);
    return found;
}

static ALWAYS_INLINE vector as_numbers(words found)
{
    vector numbers;
    memcpy(&numbers, &found, sizeof numbers);
    return numbers;
}

/* The sum of a vector of words, modulo 2^64. */
static ALWAYS_INLINE uint64_t sum_words(words found)
{
    uint64_t all[WIDTH], sum = 0;
    memcpy(all, &found, sizeof all);
    for (int l = 0; l < WIDTH; l++)
        sum += all[l];
    return sum;
}

/* The words of a line that make no whole vector. */
static void take_rest(const char *bytes, int64_t begin, int64_t n_words, uint64_t *columns,
                      uint64_t *total, double *square)
{
    for (int64_t i = begin; i < n_words; i++) {
        uint64_t word;
        double number;
        memcpy(&word, bytes + i * (int64_t)sizeof word, sizeof word);
        memcpy(&number, &word, sizeof number);
        columns[i] += word;
        *total += word;
        if (square)
            *square += number * number;
    }
}

static ALWAYS_INLINE void take_lines(const char *bytes, int64_t n_words, uint64_t *columns,
                                     uint64_t *totals, double *square, const int n_lines,
                                     const int squares)
{
    const int64_t size = (int64_t)sizeof(uint64_t), apart = n_words * size;
    words total[WORD_LINES] = {0};
    vector own[WORD_LINES] = {NOTHING};
    int64_t i = 0;
    for (; i + WIDTH <= n_words; i += WIDTH) {
        words column = words_at((const char *)(columns + i));
        for (int k = 0; k < n_lines; k++) {
            words found = words_at(bytes + k * apart + i * size);
            IN_REGISTER(found);
            total[k] += found;
            column += found;
            if (squares)
                own[k] = add_product(own[k], as_numbers(found), as_numbers(found));
        }
        memcpy(columns + i, &column, sizeof column);
    }
    for (int k = 0; k < n_lines; k++) {
        double parts[WIDTH];
        totals[k] = sum_words(total[k]);
        take_rest(bytes + k * apart, i, n_words, columns, totals + k, squares ? square : NULL);
        memcpy(parts, own + k, sizeof parts);
        for (int l = 0; squares && l < WIDTH; l++)
            *square += parts[l];
    }
}

/* totals[k] = the sum of the words of line k, and columns[i] += those of column i, modulo 2^64. If
 * wanted, square += the sum of the squares of the words as doubles. Takes WORD_LINES lines, or one. */
void BLOCK_OP(words)(const char *bytes, int64_t n_lines, int64_t n_words, uint64_t *columns,
                     uint64_t *totals, double *square)
{
    if (n_lines == WORD_LINES && square)
        take_lines(bytes, n_words, columns, totals, square, WORD_LINES, 1);
    else if (n_lines == WORD_LINES)
        take_lines(bytes, n_words, columns, totals, NULL, WORD_LINES, 0);
    else if (square)
        take_lines(bytes, n_words, columns, totals, square, 1, 1);
    else
        take_lines(bytes, n_words, columns, totals, NULL, 1, 0);
}
