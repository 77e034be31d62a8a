/* test_block_sums.c: sums over blocks and strips, of small integers: they are exact in any order. Where
 * the order itself must not change, the numbers are not small integers. */
#include "isa/kernel.h"
#include "support/plans.h"
#include "walk/run.h"
#include "support/unit.h"

enum { N = 37, MOST = 10, ORDER = 14, APART = BLOCK + 5 };

/* -4 ... 4, by a count that goes on. */
static double next_number(void)
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int64_t)(state >> 33) - 9.0 * (double)((state >> 33) / 9) - 4.0;
}

static void fill_numbers(double *values, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        values[i] = next_number();
}

TEST_ALL(data_minus_values)
{
    static double rows[L * APART], value[BLOCK * L], out[BLOCK * L];
    fill_numbers(rows, L * APART);
    fill_numbers(value, BLOCK * L);
    for (int64_t n = 0; n <= BLOCK; n++) {
        for (int64_t i = 0; i < BLOCK * L; i++)
            out[i] = 99.0;
        pyspec_block_table[test_isa].differ(out, rows, APART, value, n);
        for (int64_t i = 0; i < BLOCK; i++)
            for (int64_t l = 0; l < L; l++)
                CHECK(out[i * L + l] == (i < n ? rows[l * APART + i] - value[i * L + l] : 99.0));
    }
}

TEST_ALL(lines_are_added)
{
    double line[N], out[N], before[N];
    for (int64_t n = 0; n <= N; n++)
        for (int store = 0; store < 2; store++) {
            fill_numbers(line, N);
            fill_numbers(before, N);
            memcpy(out, before, sizeof out);
            pyspec_block_table[test_isa].add_line(out, line, 3.0, n, store);
            for (int64_t i = 0; i < N; i++)
                CHECK(out[i] == (i < n ? (store ? 0.0 : before[i]) + 3.0 * line[i] : before[i]));
        }
}

/* Many lines at a time, on top of what is there. */
TEST_ALL(sums_of_lines_are_added)
{
    enum { MOST_LINES = 5 };
    static double lines[MOST_LINES * APART], out[APART], expected[APART];
    double factors[MOST_LINES];
    fill_numbers(lines, MOST_LINES * APART);
    fill_numbers(factors, MOST_LINES);
    for (int64_t n = 0; n <= BLOCK; n += L)
        for (int64_t n_lines = 0; n_lines <= MOST_LINES; n_lines++) {
            fill_numbers(out, APART);
            for (int64_t i = 0; i < APART; i++) {
                expected[i] = out[i];
                for (int64_t k = 0; i < n && k < n_lines; k++)
                    expected[i] += factors[k] * lines[k * APART + i];
            }
            pyspec_block_table[test_isa].add_lines(out, lines, APART, factors, n_lines, n);
            CHECK(memcmp(out, expected, sizeof out) == 0);
        }
}

TEST_ALL(dot_products_are_added)
{
    double a[N], b[MOST][N], sums[MOST];
    for (int64_t n = 0; n <= N; n++)
        for (int64_t count = 0; count <= MOST; count++) {
            const double *others[MOST];
            double *to[MOST];
            fill_numbers(a, N);
            fill_numbers(&b[0][0], MOST * N);
            for (int64_t k = 0; k < MOST; k++) {
                others[k] = b[k];
                to[k] = &sums[k];
                sums[k] = (double)k;
            }
            pyspec_block_table[test_isa].dots(to, a, others, count, n);
            for (int64_t k = 0; k < MOST; k++) {
                double expected = (double)k;
                for (int64_t i = 0; k < count && i < n; i++)
                    expected += a[i] * b[k][i];
                CHECK(sums[k] == expected);
            }
        }
}

/* ---- columns ----------------------------------------------------------------------------- */

static double columns[ORDER][N * L], lines[MOST][N];

/* Columns by other columns, of which some have one value for all lanes. */
static double cross_product(int64_t j, int64_t k, int64_t l, int64_t n, int of_lines)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        sum += (of_lines ? lines[j][i] : columns[j][i * L + l]) * columns[k][i * L + l];
    return sum;
}

static int64_t sum_place(int64_t j, int64_t k)
{
    return j < k ? triangle_at(ORDER, j, k) : triangle_at(ORDER, k, j);
}

TEST_ALL(columns_are_multiplied)
{
    const double *at[ORDER];
    static double triangle[ORDER * (ORDER + 1) / 2 * L];
    int64_t list[ORDER];
    fill_numbers(&columns[0][0], ORDER * N * L);
    for (int64_t k = 0; k < ORDER; k++)
        at[k] = columns[k];
    for (int64_t count = 1; count <= ORDER; count++) {
        for (int64_t k = 0; k < count; k++)
            list[k] = k + (ORDER - count) * (k + 1 == count); /* with a gap before the last, */
        const int64_t first = list[0];
        list[0] = list[count - 1]; /* which stands first */
        list[count - 1] = first;
        for (int64_t i = 0; i < triangle_size(ORDER) * L; i++)
            triangle[i] = 1.0;
        pyspec_block_table[test_isa].gram(triangle, at, list, count, ORDER, N);
        for (int64_t j = 0; j < count; j++)
            for (int64_t k = j; k < count; k++)
                for (int64_t l = 0; l < L; l++)
                    CHECK(triangle[sum_place(list[j], list[k]) * L + l] ==
                          1.0 + cross_product(list[j], list[k], l, N, 0));
    }
}

TEST_ALL(columns_are_multiplied_with_others)
{
    const double *at[ORDER];
    static double triangle[ORDER * (ORDER + 1) / 2 * L];
    fill_numbers(&columns[0][0], ORDER * N * L);
    fill_numbers(&lines[0][0], MOST * N);
    for (int64_t n_a = 0; n_a <= MOST; n_a++)
        for (int of_lines = 0; of_lines < 2; of_lines++) {
            int64_t a[MOST], b[ORDER], n_b = 0;
            for (int64_t k = 0; k < ORDER; k++)
                at[k] = columns[k];
            for (int64_t k = 0; k < n_a; k++)
                a[k] = k + (k >= n_a / 2); /* the others stand among them */
            b[n_b++] = n_a / 2;
            for (int64_t k = n_a + 1; k < ORDER; k++)
                b[n_b++] = k;
            for (int64_t k = 0; of_lines && k < n_a; k++)
                at[a[k]] = lines[a[k] % MOST];
            memset(triangle, 0, sizeof triangle);
            pyspec_block_table[test_isa].cross(triangle, at, a, n_a, b, n_b, ORDER, N, of_lines);
            for (int64_t j = 0; j < n_a; j++)
                for (int64_t k = 0; k < n_b; k++)
                    for (int64_t l = 0; l < L; l++)
                        CHECK(triangle[sum_place(a[j], b[k]) * L + l] ==
                              cross_product(of_lines ? a[j] % MOST : a[j], b[k], l, N, of_lines));
        }
}

/* One sum for each vector, of small integers; then the same bits for every instruction set and place in
 * the block, of numbers whose sum depends on the order. */
TEST_ALL(lanes_are_summed)
{
    double line[N + L], *value = columns[0];
    for (int64_t n = 0; n <= N; n++) {
        fill_numbers(value, N * L);
        fill(line, 99.0, N + L);
        pyspec_block_table[test_isa].fold(line, value, n);
        for (int64_t i = 0; i < N + L; i++) {
            double expected = i < round_up(n, L) ? 0.0 : 99.0;
            for (int64_t l = 0; i < n && l < L; l++)
                expected += value[i * L + l];
            CHECK(line[i] == expected);
        }
    }
    for (int64_t i = 0; i < N * L; i++)
        value[i] = 1.0 / (3.0 + (double)(i % L) * (double)(i % L));
    pyspec_block_table[test_isa].fold(line, value, N);
    for (int64_t i = 0; i < N; i++)
        CHECK(line[i] == ((value[0] + value[4]) + (value[1] + value[5])) +
                             ((value[2] + value[6]) + (value[3] + value[7])));
}

/* Three columns by four of theta: the second stands for three of them, one of which is the first. */
TEST_ALL(columns_become_theta)
{
    enum { COLUMNS = 3, THETA = 4, WIDE = THETA + 1 };
    static const int64_t first[] = {0}, second[] = {0, 1, 3}, third[] = {2};
    static double sums[(COLUMNS + 1) * (COLUMNS + 2) / 2 * L], half[(COLUMNS + 1) * WIDE * L];
    static double out[WIDE * (WIDE + 1) / 2 * L], one[L], slopes[3 * L], change[COLUMNS + 1][WIDE][L];
    fill_numbers(sums, triangle_size(COLUMNS + 1) * L);
    fill_numbers(slopes, 3 * L);
    memset(change, 0, sizeof change);
    for (int64_t l = 0; l < L; l++) {
        one[l] = 1.0;
        change[0][0][l] = change[2][2][l] = change[COLUMNS][THETA][l] = 1.0;
        for (int64_t c = 0; c < 3; c++)
            change[1][second[c]][l] = slopes[c * L + l];
    }
    const theta_column by[] = {{1, first, one, L}, {3, second, slopes, L}, {1, third, one, L}};
    pyspec_block_table[test_isa].chain(out, half, sums, by, COLUMNS, THETA);
    for (int64_t a = 0; a <= THETA; a++)
        for (int64_t b = a; b <= THETA; b++)
            for (int64_t l = 0; l < L; l++) {
                double expected = 0.0;
                for (int64_t j = 0; j <= COLUMNS; j++)
                    for (int64_t k = 0; k <= COLUMNS; k++)
                        expected += change[j][a][l] * change[k][b][l] *
                                    sums[triangle_at(COLUMNS + 1, j < k ? j : k, j < k ? k : j) * L + l];
                CHECK(out[triangle_at(WIDE, a, b) * L + l] == expected);
            }
    slopes[0] = INFINITY; /* times a sum of 0 it is 0 */
    memset(sums, 0, sizeof sums);
    pyspec_block_table[test_isa].chain(out, half, sums, by, COLUMNS, THETA);
    for (int64_t i = 0; i < triangle_size(WIDE) * L; i++)
        CHECK(out[i] == 0.0);
}

/* ---- strips ------------------------------------------------------------------------------ */

enum { ROWS = 11, LINES = 3, TIMES = 9, WHOLE_TIMES = 12 };
static double data[ROWS * APART], shapes[LINES * APART], heights[ROWS * LINES];
static double times[WHOLE_TIMES * STRIP], by_row[STRIP], by_x[BLOCK], weighted[ROWS * BLOCK];

/* The sum of the squares of the residuals of n columns; each of them, or of the data, times its weight. */
static double expect_residuals(int64_t n, const double *of_row, const double *of_x, int of_data)
{
    double square = 0.0;
    for (int64_t j = 0; j < ROWS; j++)
        for (int64_t i = 0; i < n; i++) {
            const double weight = (of_x ? of_x[i] : 1.0) * (of_row ? of_row[j] : 1.0);
            const double d = weight == 0.0 ? 0.0 : data[j * APART + i] * weight;
            double r = d;
            for (int64_t k = 0; k < LINES; k++)
                r -= heights[j * LINES + k] * shapes[k * APART + i] * weight;
            weighted[j * BLOCK + i] = of_data ? d : r;
            square += r * r;
        }
    return square;
}

/* Sums over time on top of what was there before. */
static void check_sums(const double *sums, int64_t n_sums, int64_t n, double before)
{
    for (int64_t k = 0; k < n_sums; k++)
        for (int64_t i = 0; i < n; i++) {
            double expected = before;
            for (int64_t j = 0; j < ROWS; j++)
                expected += times[k * STRIP + j] * weighted[j * BLOCK + i];
            CHECK(sums[k * APART + i] == expected);
        }
}

/* A strip with weights by row (1), by column (2) or both (3), and sums, of the data (4), with n_times
 * functions of time. */
static strip_data make_strip(int weights, int64_t n_times, double *residuals, double *sums)
{
    return (strip_data){.data = data, .data_row = APART, .n_rows = ROWS,
                        .lines = shapes, .stride = APART, .n_lines = LINES,
                        .heights = heights, .times = times, .n_times = n_times,
                        .by_row = weights & 1 ? by_row : NULL, .by_x = weights & 2 ? by_x : NULL,
                        .residuals = residuals, .sums = n_times ? sums : NULL,
                        .of_data = weights & 4};
}

TEST_ALL(strips_are_summed)
{
    static double residuals[ROWS * BLOCK], sums[WHOLE_TIMES * APART];
    fill_numbers(data, ROWS * APART);
    fill_numbers(shapes, LINES * APART);
    fill_numbers(heights, ROWS * LINES);
    fill_numbers(by_row, STRIP);
    fill_numbers(by_x, BLOCK);
    by_row[2] = by_x[0] = by_x[7] = 0.0;
    for (int weights = 0; weights < 8; weights++)
        for (int64_t n_times = 0; n_times <= TIMES; n_times++)
            for (int64_t n = 1; n <= BLOCK; n++) {
                const double *of_row = weights & 1 ? by_row : NULL;
                const double *of_x = weights & 2 ? by_x : NULL;
                double square;
                data[2 * APART + 1] = of_row ? NAN : 1.0; /* nobody looks there */
                data[3 * APART] = of_x ? NAN : 1.0;
                const double expected = expect_residuals(n, of_row, of_x, weights & 4);
                memset(times, 0, sizeof times);
                fill_numbers(times, n_times * STRIP);
                for (int64_t i = 0; i < WHOLE_TIMES * APART; i++)
                    sums[i] = 5.0;
                fill_numbers(residuals, ROWS * BLOCK); /* of the strip before */
                const strip_data s = make_strip(weights, n_times, residuals, sums);
                pyspec_block_table[test_isa].strip(&s, &square, n);
                CHECK(square == expected);
                check_sums(sums, n_times, n, 0.0);
            }
}

/* The last bit of chi^2 must not depend on how many sums over time are taken beside it. */
TEST_ALL(squares_do_not_depend_on_sums)
{
    static double residuals[ROWS * BLOCK], sums[WHOLE_TIMES * APART];
    fill_numbers(data, ROWS * APART);
    fill_numbers(shapes, LINES * APART);
    fill_numbers(heights, ROWS * LINES);
    fill_numbers(by_row, STRIP);
    fill_numbers(by_x, BLOCK);
    by_x[0] = 3.0;
    for (int64_t i = 0; i < ROWS * APART; i++)
        data[i] = exp(data[i]) / 3.0;
    for (int weights = 0; weights < 8; weights++)
        for (int64_t n = 1; n <= BLOCK; n++) {
            double first = 0.0, square;
            for (int64_t n_times = 0; n_times <= TIMES; n_times++) {
                const strip_data s = make_strip(weights, n_times, residuals, sums);
                pyspec_block_table[test_isa].strip(&s, &square, n);
                if (n_times == 0)
                    first = square;
                CHECK(square == first && square > 0.0);
            }
        }
}

TEST_ALL(rows_are_contracted)
{
    static double sums[WHOLE_TIMES * APART];
    fill_numbers(times, TIMES * STRIP);
    for (int64_t n = 1; n <= BLOCK; n += 4)
        for (int64_t n_sums = 1; n_sums <= TIMES; n_sums++) {
            memset(weighted, 0, sizeof weighted);
            for (int64_t j = 0; j < ROWS; j++)
                fill_numbers(weighted + j * BLOCK, n);
            for (int64_t i = 0; i < WHOLE_TIMES * APART; i++)
                sums[i] = 5.0;
            pyspec_block_table[test_isa].contract(sums, APART, times, n_sums, weighted, ROWS, n);
            check_sums(sums, n_sums, n, 5.0);
        }
}

/* ---- Shirley ----------------------------------------------------------------------------- */

TEST_ALL(a_background_is_added_in_place)
{
    static double spectrum[N * L], value[N * L], slope[N * L], own[N * L], own_slope[N * L], x[N * L];
    double factor[L], carry[L], own_carry[L], *d[] = {slope}, *own_d[] = {own_slope};
    pyspec_kernel *kernel = pyspec_op_table[OP_Shirley].kernels[test_isa];
    for (int across = 0; across < 2; across++)
        for (int want = 0; want < 2; want++) {
            const int64_t n = across ? N / 2 : N;
            fill_numbers(spectrum, N * L);
            memcpy(own, spectrum, sizeof own);
            for (int64_t l = 0; l < L; l++) {
                factor[l] = across ? 2.0 : (double)l;
                carry[l] = own_carry[l] = 3.0;
            }
            pyspec_block b = {.n = n, .n_valid = across ? n * L - 3 : n, .across = across, .x = x,
                              .spectrum = spectrum, .carry = carry};
            kernel(&b, factor, value, want ? d : NULL);
            b.spectrum = own;
            b.carry = own_carry;
            b.adds = 1;
            kernel(&b, factor, own, want ? own_d : NULL);
            for (int64_t i = 0; i < (across ? b.n_valid : n * L); i++) {
                CHECK(own[i] == spectrum[i] + value[i]);
                CHECK(!want || own_slope[i] == slope[i]);
            }
            CHECK(own_carry[0] == carry[0]);
        }
}

/* Other spectra beside the one of the block have the bits of a call of their own, however many they are. */
TEST_ALL(backgrounds_of_several_spectra)
{
    static double spectrum[N * L], more[MOST][N * L], alone[N * L], value[N * L], slope[N * L], x[N * L];
    static double images[MOST][N * L];
    double factor[L], carry[L], carries[MOST][L], own_carry[L], *d[] = {slope};
    const double *from[MOST];
    double *to[MOST], *carried[MOST];
    pyspec_kernel *kernel = pyspec_op_table[OP_Shirley].kernels[test_isa];
    for (int64_t n_more = 0; n_more <= MOST; n_more++)
        for (int k = 0; k < 4; k++) {
            const int across = k & 1, adds = k >> 1;
            const int64_t n = across ? N / 2 : N, n_valid = across ? n * L - 3 : n;
            fill_numbers(spectrum, N * L);
            fill_numbers(factor, L);
            fill_numbers(carry, L);
            for (int64_t c = 0; c < n_more; c++) {
                fill_numbers(more[c], N * L);
                memcpy(images[c], more[c], sizeof images[c]);
                fill_numbers(carries[c], L);
                from[c] = adds ? images[c] : more[c];
                to[c] = images[c];
                carried[c] = carries[c];
            }
            double begin[MOST][L];
            memcpy(begin, carries, sizeof begin);
            pyspec_block b = {.n = n, .n_valid = n_valid, .across = across, .x = x,
                              .spectrum = spectrum, .carry = carry};
            pyspec_block all = b;
            all.n_more = n_more;
            all.more = from;
            all.images = to;
            all.carries = carried;
            all.adds = adds;
            kernel(&all, factor, adds ? spectrum : value, d);
            for (int64_t c = 0; c < n_more; c++) {
                b.spectrum = more[c];
                b.carry = own_carry;
                memcpy(own_carry, begin[c], sizeof own_carry);
                kernel(&b, factor, alone, NULL);
                for (int64_t i = 0; i < (across ? n_valid : n * L); i++)
                    CHECK(images[c][i] == (adds ? more[c][i] + alone[i] : alone[i]));
                CHECK(memcmp(own_carry, carries[c], (across ? 1 : L) * sizeof *own_carry) == 0);
            }
        }
}

UNIT_MAIN
