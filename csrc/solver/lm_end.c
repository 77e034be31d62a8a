/* lm_end.c: the ending of a fit: the bounds that it ended at, how far chi^2 would still fall, and the covariance
 * of the parameters that no bound holds. Flags say where that is certain; where it is not the caller looks
 * closer (pyspec.fit.solve.determined). */
#include "solver/solver.h"

/* A slope of chi^2 at a bound below so many standard errors neither holds a parameter nor frees it. */
static const double NEUTRAL = 1e-3;

/* Below this share of the data, squared, a residual is rounding and has no standard deviation. */
static const double RESIDUE = 1e-16;

/* [J r] with some columns first, those of J scaled to length 1. */
typedef struct columns {
    int64_t order, n_free; /* all columns; those that are free, which stand first */
    int64_t *place;        /* [order] which one each is; the last one is r */
    double *length;        /* [order] by place in the triangle; 1 for r */
    double *u;             /* [order][order] rows of a factor, of which n_free are made */
    double *row;           /* [order] one of these */
} columns;

int64_t pyspec_end_work_size(int64_t n)
{
    const int64_t m = n + 1, own = m * (2 * m + 1), judged = n * (4 * n + 8);
    return (own + judged) * (int64_t)sizeof(double);
}

double pyspec_spread(const pyspec_solver *s, const pyspec_end *end)
{
    const double least = RESIDUE * s->data_square / (double)(s->n_points > 1 ? s->n_points : 1);
    return sqrt(end->variance > least ? end->variance : least);
}

static columns begin_columns(int64_t n, double *work)
{
    columns c = {.order = n + 1, .length = work};
    c.place = (int64_t *)(void *)(work + n + 1);
    c.u = work + 2 * (n + 1);
    c.row = c.u + (n + 1) * (n + 1);
    return c;
}

/* Lengths of the columns. Returns whether those of J can be divided by. */
static int find_lengths(const double *triangle, int is_factor, columns *c)
{
    const int64_t n = c->order - 1;
    int all = 1;
    c->length[n] = 1.0;
    for (int64_t k = 0; k < n; k++) {
        double sum = is_factor ? 0.0 : at(triangle, n + 1, k, k);
        for (int64_t j = 0; is_factor && j <= k; j++)
            sum += at(triangle, n + 1, j, k) * at(triangle, n + 1, j, k);
        c->length[k] = sqrt(sum);
        all &= c->length[k] > LEAST_LENGTH && isfinite(c->length[k]);
    }
    return all;
}

/* Puts the columns that are not `held` first, in their order; NULL: none is. */
static void arrange(columns *c, const int64_t *held)
{
    int64_t used = 0;
    for (int turn = 0; turn < 2; turn++) {
        for (int64_t k = 0; k < c->order - 1; k++)
            if ((held && held[k]) == turn)
                c->place[used++] = k;
        if (turn == 0)
            c->n_free = used;
    }
    c->place[used] = c->order - 1;
}

/* Rows of a factor from a triangular one: rotations restore the zeros below its diagonal. */
static void rotate(columns *c)
{
    const int64_t order = c->order;
    for (int64_t k = 0; k < c->n_free; k++)
        for (int64_t i = order - 1; i > k; i--) {
            double *above = c->u + (i - 1) * order, *own = c->u + i * order;
            if (own[k] == 0.0)
                continue;
            const double size = sqrt(above[k] * above[k] + own[k] * own[k]);
            const double cosine = above[k] / size, sine = own[k] / size;
            for (int64_t j = k; j < order; j++) {
                const double a = above[j], b = own[j];
                above[j] = cosine * a + sine * b;
                own[j] = cosine * b - sine * a;
            }
            own[k] = 0.0;
        }
}

/* The scaled rows of a factor, in the order of the columns. */
static void load_factor(const double *triangle, const columns *c)
{
    const int64_t order = c->order;
    for (int64_t j = 0; j < order; j++)
        for (int64_t k = 0; k < order; k++)
            if (c->place[k] >= j)
                c->u[j * order + k] = at(triangle, order, j, c->place[k]) / c->length[c->place[k]];
}

/* The first n_free rows of the factor of a Gram matrix, by Cholesky's method. */
static void factorize(const double *gram, const columns *c)
{
    const int64_t order = c->order;
    for (int64_t j = 0; j < c->n_free; j++) {
        double *own = c->u + j * order;
        const int64_t row = c->place[j];
        for (int64_t k = j; k < order; k++) {
            const int64_t column = c->place[k];
            own[k] = at(gram, order, row < column ? row : column, row < column ? column : row) /
                     (c->length[column] * c->length[row]);
        }
        for (int64_t i = 0; i < j; i++) {
            const double *above = c->u + i * order, factor = above[j];
            for (int64_t k = j; k < order; k++)
                own[k] -= factor * above[k];
        }
        own[j] = sqrt(own[j]);
        const double inverse = 1.0 / own[j];
        for (int64_t k = j + 1; k < order; k++)
            own[k] *= inverse;
    }
}

/* The first n_free rows of the factor. Returns whether there is one. */
static int find_factor(const double *triangle, int is_factor, columns *c)
{
    const int64_t order = c->order;
    fill(c->u, 0.0, order * order);
    if (is_factor) {
        load_factor(triangle, c);
        rotate(c);
    } else {
        factorize(triangle, c);
    }
    for (int64_t j = 0; j < c->n_free; j++)
        if (!(fabs(c->u[j * order + j]) > 0.0))
            return 0;
    return 1;
}

/* Puts the inverse in place of the square part of the factor. Returns whether all singular values are certain to be
 * more than WEAK times the largest. The smallest is at least one over the norm of the inverse. The largest is at most
 * the root of n_free. */
static int invert(columns *c)
{
    const int64_t order = c->order, n = c->n_free;
    double squares = 0.0;
    for (int64_t j = n - 1; j >= 0; j--) {
        double *own = c->u + j * order;
        memcpy(c->row, own, (size_t)n * sizeof(double));
        fill(own + j, 0.0, n - j);
        own[j] = -1.0;
        for (int64_t i = j + 1; i < n; i++)
            for (int64_t k = i; k < n; k++)
                own[k] += c->row[i] * c->u[i * order + k];
        for (int64_t k = j; k < n; k++) {
            own[k] = -own[k] / c->row[j];
            squares += own[k] * own[k];
        }
    }
    return n == 0 || squares * (double)n * WEAK * WEAK < 1.0;
}

/* The factor of all columns as it would come from [J r] itself. */
static void write_factor(const double *triangle, int is_factor, const columns *c, double *factor)
{
    const int64_t order = c->order, n = order - 1;
    double rest = is_factor ? 0.0 : at(triangle, order, n, n);
    for (int64_t j = 0; j < n; j++)
        for (int64_t k = j; k < order; k++) {
            const double value = c->u[j * order + k];
            rest -= k == n ? value * value : 0.0;
            factor[triangle_at(order, j, k)] =
                is_factor ? at(triangle, order, j, k) : value * c->length[k];
        }
    factor[triangle_at(order, n, n)] =
        is_factor ? at(triangle, order, n, n) : sqrt(rest > 0.0 ? rest : 0.0);
}

/* The root of a matrix in the order of its columns. Returns whether all pivots of the scaled matrix are good. */
static int find_plain_root(const double *triangle, int64_t order, const double *length, double *factor)
{
    for (int64_t j = 0; j < order; j++) {
        double *own = factor + triangle_at(order, j, 0);
        for (int64_t k = j; k < order; k++)
            own[k] = at(triangle, order, j, k) / (length[j] * length[k]);
        for (int64_t i = 0; i < j; i++) {
            const double *above = factor + triangle_at(order, i, 0), share = above[j];
            for (int64_t k = j; k < order; k++)
                own[k] -= share * above[k];
        }
        if (!(own[j] * CONDITION_LIMIT > 1.0))
            return 0;
        const double inverse = 1.0 / sqrt(own[j]);
        for (int64_t k = j; k < order; k++)
            own[k] *= inverse;
    }
    for (int64_t j = 0; j < order; j++)
        for (int64_t k = j; k < order; k++)
            factor[triangle_at(order, j, k)] *= length[k];
    return 1;
}

void pyspec_root(const double *triangle, int64_t order, int is_factor, double *factor, double *work)
{
    double *rest = work, *rows = work + order * order, *length = rows + order * order;
    if (is_factor) {
        memcpy(factor, triangle, (size_t)triangle_size(order) * sizeof *factor);
        return;
    }
    for (int64_t k = 0; k < order; k++) {
        const double square = at(triangle, order, k, k);
        length[k] = square > 0.0 ? sqrt(square) : 1.0;
    }
    if (find_plain_root(triangle, order, length, factor))
        return;
    for (int64_t j = 0; j < order; j++)
        for (int64_t k = j; k < order; k++)
            rest[j * order + k] = rest[k * order + j] =
                at(triangle, order, j, k) / length[j] / length[k];
    int64_t rank = 0;
    for (; rank < order; rank++) {
        int64_t p = 0;
        for (int64_t k = 1; k < order; k++)
            p = rest[k * order + k] > rest[p * order + p] ? k : p;
        const double pivot = rest[p * order + p];
        if (!(pivot > (double)order * DBL_EPSILON))
            break;
        double *row = rows + rank * order;
        for (int64_t k = 0; k < order; k++)
            row[k] = rest[p * order + k] / sqrt(pivot);
        for (int64_t j = 0; j < order; j++)
            for (int64_t k = 0; row[j] != 0.0 && k < order; k++)
                rest[j * order + k] -= row[j] * row[k];
        for (int64_t k = 0; k < order; k++)
            rest[p * order + k] = rest[k * order + p] = 0.0;
    }
    for (int64_t k = 0; k < order; k++) /* its columns, in place of the rest */
        for (int64_t i = 0; i < rank; i++)
            rest[k * rank + i] = rows[i * order + k] * length[k];
    fill(factor, 0.0, triangle_size(order));
    pyspec_absorb(factor, order, rest, rank);
}

int pyspec_is_weak(const pyspec_solver *s, const int64_t *held, double *work)
{
    columns c = begin_columns(s->n, work);
    const int all = find_lengths(s->normal, has_factor(s), &c);
    arrange(&c, held);
    return !((all || held) && find_factor(s->normal, has_factor(s), &c) && invert(&c));
}

/* Slope of chi^2 by a parameter, in which it falls. */
static double downhill(const double *triangle, int is_factor, int64_t order, int64_t k)
{
    double sum = is_factor ? 0.0 : at(triangle, order, k, order - 1);
    for (int64_t j = 0; is_factor && j <= k; j++)
        sum += at(triangle, order, j, k) * at(triangle, order, j, order - 1);
    return sum;
}

/* The fall of chi^2 without the bound of each parameter, for a linear model. It is the square of the slope of the
 * parameter over the curvature that the free parameters leave. It is 0 if that curvature is only rounding: the free
 * parameters then have the same effect. */
static void find_gains(const pyspec_solver *s, const double *sums, int is_factor, const columns *c, pyspec_end *end)
{
    const int64_t order = c->order, first = is_factor ? c->n_free : 0;
    fill(end->gain, 0.0, s->n);
    for (int64_t p = c->n_free; p < s->n; p++) {
        const int64_t k = c->place[p];
        const double slope = downhill(sums, is_factor, order, k) / c->length[k];
        double rest = is_factor ? 0.0 : -1.0;
        for (int64_t i = first; i < (is_factor ? order : c->n_free); i++)
            rest += c->u[i * order + p] * c->u[i * order + p];
        if (slope * (double)end->side[k] > 0.0 && fabs(rest) > (double)order * DBL_EPSILON)
            end->gain[k] = slope * slope / fabs(rest);
    }
}

/* What chi^2 would fall by at the end of the undamped step; `is_free` says whether a bound next to its parameter
 * is in its way. */
static double find_decrease(const pyspec_solver *s, const columns *c, double spread, int *is_free)
{
    const int64_t order = c->order, r = order - 1;
    double decrease = 0.0;
    for (int64_t j = 0; j < c->n_free; j++) {
        const int64_t k = c->place[j];
        double step = 0.0;
        for (int64_t i = j; i < c->n_free; i++)
            step += c->u[j * order + i] * c->u[i * order + r];
        const double room = step < 0.0 ? s->theta[k] - s->lower[k] : s->lower[s->n + k] - s->theta[k];
        const double wall = room * c->length[k];
        *is_free &= !(fabs(step) > wall && wall <= NEUTRAL * spread);
        decrease += c->u[j * order + r] * c->u[j * order + r];
    }
    return decrease;
}

/* The covariance of the free parameters, NaN for the others. Returns whether it is finite; `is_narrow` says whether
 * each error is less than the interval of the bounds. */
static int find_covariance(const pyspec_solver *s, const columns *c, pyspec_end *end, int *is_narrow)
{
    const int64_t order = c->order, n = s->n;
    fill(end->covariance, NAN, n * n);
    for (int64_t i = 0; i < c->n_free; i++) {
        const int64_t row = c->place[i];
        for (int64_t j = i; j < c->n_free; j++) {
            const int64_t column = c->place[j];
            double sum = 0.0;
            for (int64_t k = j; k < c->n_free; k++)
                sum += c->u[i * order + k] * c->u[j * order + k];
            sum = sum / (c->length[row] * c->length[column]) * end->variance;
            end->covariance[row * n + column] = end->covariance[column * n + row] = sum;
        }
        const double own = end->covariance[row * n + row];
        *is_narrow &= sqrt(own) <= s->lower[n + row] - s->lower[row];
        if (!isfinite(own)) /* a column next to nothing */
            return 0;
    }
    return 1;
}

/* The information with the slopes of chi^2 as its last column. */
static const double *put_slopes(const pyspec_solver *s, double *information)
{
    const int64_t n = s->n, order = n + 1;
    for (int64_t k = 0; k < n; k++)
        information[triangle_at(order, k, n)] = downhill(s->normal, has_factor(s), order, k);
    information[triangle_at(order, n, n)] = s->chisqr;
    return information;
}

int pyspec_end_of(const pyspec_solver *s, pyspec_end *end)
{
    if (!s || !end)
        return -STATUS_NULL_POINTER;
    if (s->n < 0 || end->n_free < 1)
        return -STATUS_SIZE;
    const int64_t n = s->n;
    if (!s->normal || !end->work || (n && (!s->theta || !s->lower || !end->side || !end->held ||
                                           !end->gain || !end->covariance || !end->factor)) ||
        (end->has_information && !end->information))
        return -STATUS_NULL_POINTER;
    const int is_factor = !end->has_information && has_factor(s);
    const double *sums = end->has_information ? put_slopes(s, end->information) : s->normal;
    const double least = RESIDUE * s->data_square;
    int is_free = 1, is_narrow = 1, n_held = 0;
    columns c = begin_columns(n, end->work);
    end->variance = end->is_scaled ? s->chisqr / (double)end->n_free : 1.0;
    const double spread = pyspec_spread(s, end);
    end->flags = s->chisqr <= least ? PYSPEC_ENDING_EXACT : 0;
    end->distance = 0.0;
    const int all = find_lengths(sums, is_factor, &c);
    for (int64_t k = 0; k < n; k++) {
        const int side = s->theta[k] <= s->lower[k] ? -1 : s->theta[k] >= s->lower[n + k];
        const double pull = downhill(sums, is_factor, n + 1, k) / (c.length[k] * spread);
        end->side[k] = end->held[k] ? 0 : side;
        end->flags |= end->side[k] ? PYSPEC_ENDING_AT_BOUND : 0;
        is_free &= !end->side[k] || pull * side > NEUTRAL;
        end->held[k] |= end->side[k] != 0;
        n_held += end->held[k] != 0;
    }
    arrange(&c, NULL);
    int is_certain = all && find_factor(sums, is_factor, &c);
    if (is_certain)
        write_factor(sums, is_factor, &c, end->factor);
    is_certain = is_certain && invert(&c);
    end->flags |= is_certain ? 0 : PYSPEC_ENDING_WEAK;
    if (n_held) {
        arrange(&c, end->held);
        is_certain = find_factor(sums, is_factor, &c) && invert(&c);
    }
    if (is_certain) {
        find_gains(s, sums, is_factor, &c, end);
        end->distance = sqrt(find_decrease(s, &c, spread, &is_free)) / spread;
        is_certain = find_covariance(s, &c, end, &is_narrow);
    }
    if (end->flags & PYSPEC_ENDING_WEAK) /* what the work held is not needed any more */
        pyspec_root(sums, n + 1, is_factor, end->factor, end->work);
    end->flags |= is_free ? 0 : PYSPEC_ENDING_NEUTRAL;
    end->flags |= is_narrow ? 0 : PYSPEC_ENDING_WIDE;
    end->flags |= is_certain && isfinite(end->distance) ? PYSPEC_ENDING_CERTAIN : 0;
    return STATUS_OK;
}
