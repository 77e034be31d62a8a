#include "support/solve_problems.h"

#include <math.h>
#include <string.h>

/* ---- answers --------------------------------------------------------------------------------- */

/* Turns one more row into an upper triangle, by Givens rotations. */
static void rotate_in(double *triangle, int64_t order, double *row)
{
    for (int64_t k = 0; k < order; k++) {
        double *own = triangle + triangle_at(order, k, k), norm = hypot(*own, row[k]);
        if (norm == 0.0 || row[k] == 0.0)
            continue;
        const double c = *own / norm, s = row[k] / norm;
        for (int64_t j = k; j < order; j++) {
            double old = own[j - k];
            own[j - k] = c * old + s * row[j];
            row[j] = c * row[j] - s * old;
        }
    }
}

static void add_products(double *triangle, int64_t order, const double *row)
{
    for (int64_t j = 0; j < order; j++)
        for (int64_t k = j; k < order; k++)
            triangle[triangle_at(order, j, k)] += row[j] * row[k];
}

void answer_problem(const small_problem *p, int64_t form, const double *theta, double *triangle)
{
    const int64_t order = p->n + 1, size = triangle_size(order);
    double r[MAX_M], slopes[MAX_M][MAX_N] = {{0.0}}, scaled[MAX_N], row[MAX_N + 1];
    for (int k = 0; k < p->n; k++)
        scaled[k] = p->scale[k] * theta[k];
    p->function(p, scaled, r, slopes);
    for (int64_t k = 0; k < size; k++)
        triangle[k] = form == PYSPEC_FORM_VALUE && k < size - 1 ? (double)NAN : 0.0;
    for (int i = 0; i < p->m; i++) {
        for (int k = 0; k < p->n; k++)
            row[k] = -slopes[i][k] * p->scale[k];
        row[p->n] = r[i];
        if (form == PYSPEC_FORM_VALUE)
            triangle[size - 1] += r[i] * r[i];
        else if (form == PYSPEC_FORM_FACTOR)
            rotate_in(triangle, order, row);
        else
            add_products(triangle, order, row);
    }
}

/* ---- problems -------------------------------------------------------------------------------- */

static small_problem problem(const char *name, small_function *function, int n, int m,
                             const double *start)
{
    small_problem p = {.name = name, .function = function, .n = n, .m = m, .idle = -1};
    p.data_square = 1.0;
    for (int k = 0; k < n; k++) {
        p.start[k] = start[k];
        p.lower[k] = -(double)INFINITY;
        p.upper[k] = (double)INFINITY;
        p.scale[k] = 1.0;
    }
    return p;
}

/* Something like noise, of the size of 1. */
static double wiggle(int i)
{
    return sin(12.9898 * i + 1.0) + 0.5 * cos(78.233 * i);
}

static void line(const small_problem *p, const double *theta, double *r, double (*slopes)[MAX_N])
{
    for (int i = 0; i < p->m; i++) {
        double t = 0.25 * i - 1.0, powers[] = {1.0, t, t * t};
        r[i] = 3.0 - 2.0 * t + 0.5 * t * t + p->noise * wiggle(i);
        for (int k = 0; k < 3; k++) {
            r[i] -= theta[k] * powers[k];
            slopes[i][k] = -powers[k];
        }
    }
}

small_problem line_problem(void)
{
    const double start_at[] = {-10.0, 50.0, 7.0};
    small_problem p = problem("line", line, 3, 16, start_at);
    p.noise = 0.1;
    p.data_square = 200.0;
    return p;
}

static void rosenbrock(const small_problem *p, const double *theta, double *r,
                       double (*slopes)[MAX_N])
{
    (void)p;
    r[0] = 10.0 * (theta[1] - theta[0] * theta[0]);
    r[1] = 1.0 - theta[0];
    slopes[0][0] = -20.0 * theta[0];
    slopes[0][1] = 10.0;
    slopes[1][0] = -1.0;
}

small_problem rosenbrock_problem(void)
{
    const double start_at[] = {-1.2, 1.0};
    return problem("Rosenbrock", rosenbrock, 2, 2, start_at);
}

static void beale(const small_problem *p, const double *theta, double *r, double (*slopes)[MAX_N])
{
    const double wanted[] = {1.5, 2.25, 2.625};
    double power = 1.0;
    for (int i = 0; i < p->m; i++) {
        slopes[i][1] = (i + 1) * theta[0] * power;
        power *= theta[1];
        r[i] = wanted[i] - theta[0] * (1.0 - power);
        slopes[i][0] = power - 1.0;
    }
}

small_problem beale_problem(void)
{
    const double start_at[] = {1.0, 1.0};
    return problem("Beale", beale, 2, 3, start_at);
}

static void box(const small_problem *p, const double *theta, double *r, double (*slopes)[MAX_N])
{
    for (int i = 0; i < p->m; i++) {
        double t = 0.1 * (i + 1), first = exp(-theta[0] * t), second = exp(-theta[1] * t);
        double third = exp(-t) - exp(-10.0 * t);
        r[i] = first - second - theta[2] * third;
        slopes[i][0] = -t * first;
        slopes[i][1] = t * second;
        slopes[i][2] = -third;
    }
}

small_problem box_problem(void)
{
    const double start_at[] = {0.0, 10.0, 20.0};
    return problem("Box 3D", box, 3, 10, start_at);
}

static void powell(const small_problem *p, const double *theta, double *r, double (*slopes)[MAX_N])
{
    (void)p;
    const double *x = theta, middle = x[1] - 2.0 * x[2], ends = x[0] - x[3];
    r[0] = x[0] + 10.0 * x[1];
    r[1] = sqrt(5.0) * (x[2] - x[3]);
    r[2] = middle * middle;
    r[3] = sqrt(10.0) * ends * ends;
    slopes[0][0] = 1.0;
    slopes[0][1] = 10.0;
    slopes[1][2] = sqrt(5.0);
    slopes[1][3] = -sqrt(5.0);
    slopes[2][1] = 2.0 * middle;
    slopes[2][2] = -4.0 * middle;
    slopes[3][0] = 2.0 * sqrt(10.0) * ends;
    slopes[3][3] = -slopes[3][0];
}

small_problem powell_problem(void)
{
    const double start_at[] = {3.0, -1.0, 0.0, 1.0};
    return problem("Powell singular", powell, 4, 4, start_at);
}

static const double meyer_data[] = {34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744,
                                    8261,  7030,  6005,  5147,  4427,  3820,  3307,  2872};

static void meyer(const small_problem *p, const double *theta, double *r, double (*slopes)[MAX_N])
{
    for (int i = 0; i < p->m; i++) {
        double below = 50.0 + 5.0 * i + theta[2], power = exp(theta[1] / below);
        r[i] = meyer_data[i] - theta[0] * power;
        slopes[i][0] = -power;
        slopes[i][1] = -theta[0] * power / below;
        slopes[i][2] = theta[0] * power * theta[1] / (below * below);
    }
}

small_problem meyer_problem(void)
{
    const double start_at[] = {0.02, 4e3, 250.0};
    small_problem p = problem("Meyer", meyer, 3, 16, start_at);
    p.data_square = 0.0;
    for (int i = 0; i < 16; i++)
        p.data_square += meyer_data[i] * meyer_data[i];
    return p;
}

/* A exp(-k t), and the places of A and k: those that `idle` leaves. */
static void decay(const small_problem *p, const double *theta, double *r, double (*slopes)[MAX_N])
{
    const int a = p->idle == 0, k = p->idle >= 0 && p->idle <= 1 ? 2 : 1;
    for (int i = 0; i < p->m; i++) {
        double t = 0.2 * i, power = exp(-theta[k] * t);
        r[i] = 2.5 * exp(-0.8 * t) + p->noise * wiggle(i) - theta[a] * power;
        slopes[i][a] = -power;
        slopes[i][k] = theta[a] * t * power;
    }
}

small_problem decay_problem(void)
{
    const double start_at[] = {1.0, 0.3};
    small_problem p = problem("decay", decay, 2, 20, start_at);
    p.noise = 0.02;
    p.data_square = 25.0;
    return p;
}

small_problem idle_problem(int place)
{
    const double starts[][3] = {{7.0, 1.0, 0.3}, {1.0, 7.0, 0.3}, {1.0, 0.3, 7.0}};
    small_problem p = problem("idle", decay, 3, 20, starts[place]);
    p.noise = 0.02;
    p.data_square = 25.0;
    p.idle = place;
    return p;
}

static void twin(const small_problem *p, const double *theta, double *r, double (*slopes)[MAX_N])
{
    const double both[] = {theta[0] + theta[2], theta[1]};
    decay(p, both, r, slopes);
    for (int i = 0; i < p->m; i++)
        slopes[i][2] = slopes[i][0];
}

small_problem twin_problem(void)
{
    const double start_at[] = {0.2, 0.3, 0.8};
    small_problem p = decay_problem(), q = problem("twin", twin, 3, 20, start_at);
    q.noise = p.noise;
    q.data_square = p.data_square;
    return q;
}

/* A line between Gauss and Lorentz, of height theta[0], width theta[1] and mixing theta[2], fitted to
 * another. At m = 0 the slopes by width and mixing are parallel. */
static void mixed_to(const small_problem *p, double (*data)(double), const double *theta, double *r,
                     double (*slopes)[MAX_N])
{
    const double c = 4.0 * log(2.0);
    for (int i = 0; i < p->m; i++) {
        const double x = 0.2 * i - 1.9, u = x / theta[1], m = theta[2];
        const double wing = 1.0 + 4.0 * m * u * u, shape = exp(-c * (1.0 - m) * u * u) / wing;
        const double by_square = -c * (1.0 - m) - 4.0 * m / wing;
        r[i] = data(x) + 0.01 * wiggle(i) - theta[0] * shape;
        slopes[i][0] = -shape;
        slopes[i][1] = theta[0] * shape * by_square * 2.0 * u * u / theta[1];
        slopes[i][2] = -theta[0] * shape * (c * u * u - 4.0 * u * u / wing);
    }
}

static double steep_line(double x)
{
    return exp(-pow(4.0 * log(2.0) * x * x, 1.1));
}

static double half_line(double x)
{
    return exp(-2.0 * log(2.0) * x * x) / (1.0 + 2.0 * x * x);
}

static void mixed(const small_problem *p, const double *theta, double *r, double (*slopes)[MAX_N])
{
    mixed_to(p, steep_line, theta, r, slopes);
}

static void half(const small_problem *p, const double *theta, double *r, double (*slopes)[MAX_N])
{
    mixed_to(p, half_line, theta, r, slopes);
}

small_problem mixed_problem(void)
{
    const double start_at[] = {0.8, 1.3, 0.3};
    small_problem p = problem("mixed", mixed, 3, 20, start_at);
    p.data_square = 4.0;
    p.lower[0] = p.lower[2] = 0.0;
    p.lower[1] = 0.01;
    p.upper[2] = 1.0;
    return p;
}

small_problem half_problem(void)
{
    small_problem p = mixed_problem();
    p.name = "half";
    p.function = half;
    return p;
}

static void logarithm(const small_problem *p, const double *theta, double *r,
                      double (*slopes)[MAX_N])
{
    for (int i = 0; i < p->m; i++) {
        double t = 0.1 * i - 0.3;
        r[i] = log(0.5) * t + 1.0 + 0.01 * wiggle(i) - (log(theta[0]) * t + theta[1]);
        slopes[i][0] = -t / theta[0];
        slopes[i][1] = -1.0;
    }
}

small_problem logarithm_problem(void)
{
    const double start_at[] = {5.0, 0.0};
    small_problem p = problem("logarithm", logarithm, 2, 20, start_at);
    p.data_square = 20.0;
    return p;
}

static double first_column(int i)
{
    return 1.0 + 0.125 * i;
}

static double second_column(int i)
{
    return i % 3 - 1.0;
}

static double collinear_datum(int i)
{
    return 2.0 * first_column(i) - 0.5 * second_column(i) + 0.01 * wiggle(i);
}

static void collinear(const small_problem *p, const double *theta, double *r,
                      double (*slopes)[MAX_N])
{
    for (int i = 0; i < p->m; i++) {
        const double u = first_column(i), v = 0x1p-20 * second_column(i);
        r[i] = collinear_datum(i) - theta[0] * u - theta[1] * (u + v);
        slopes[i][0] = -u;
        slopes[i][1] = -(u + v);
    }
}

/* Coefficients p of u and q of v first, which are well determined; then a and b. */
small_problem collinear_problem(double *solution)
{
    const double start_at[] = {0.0, 0.0};
    small_problem p = problem("collinear", collinear, 2, 18, start_at);
    long double uu = 0.0L, uv = 0.0L, vv = 0.0L, ud = 0.0L, vd = 0.0L;
    p.data_square = 0.0;
    for (int i = 0; i < p.m; i++) {
        const long double u = first_column(i), v = second_column(i), d = collinear_datum(i);
        uu += u * u;
        uv += u * v;
        vv += v * v;
        ud += u * d;
        vd += v * d;
        p.data_square += (double)(d * d);
    }
    const long double determinant = uu * vv - uv * uv;
    const long double of_u = (ud * vv - vd * uv) / determinant;
    const long double of_v = (vd * uu - ud * uv) / determinant;
    solution[1] = (double)(of_v * 0x1p20L);
    solution[0] = (double)(of_u - of_v * 0x1p20L);
    return p;
}
