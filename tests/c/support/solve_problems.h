/* solve_problems.h: least-squares problems of a few parameters with exact derivatives. */
#ifndef SOLVE_PROBLEMS_H
#define SOLVE_PROBLEMS_H

#include "support/plans.h"

enum { MAX_N = 4, MAX_M = 24 };

typedef struct small_problem small_problem;

/* r[m], and slopes[m][n] = d r / d theta, of theta in the units of the formula. */
typedef void small_function(const small_problem *p, const double *theta, double *r,
                            double (*slopes)[MAX_N]);

/* theta of the solver times `scale` are the parameters of the formula. */
struct small_problem {
    const char *name;
    small_function *function;
    int n, m;
    double data_square, noise;
    double start[MAX_N], lower[MAX_N], upper[MAX_N], scale[MAX_N];
    int idle; /* place of a parameter without effect, or -1 */
};

small_problem line_problem(void);       /* a straight, bent line: 3 parameters, with noise      */
small_problem rosenbrock_problem(void); /* these five: Moré, Garbow, Hillstrom, ACM TOMS 7 (1981) 17 */
small_problem beale_problem(void);
small_problem box_problem(void);
small_problem powell_problem(void);
small_problem meyer_problem(void);      /* NIST MGH10                                           */
small_problem decay_problem(void);      /* A exp(-k t) of A = 2.5, k = 0.8, with noise          */
small_problem idle_problem(int place);  /* the decay and a parameter without effect there       */
small_problem twin_problem(void);       /* (A + B) exp(-k t), theta = A, k, B                   */
small_problem mixed_problem(void);      /* a line between Gauss and Lorentz, which ends as a Gauss */
small_problem half_problem(void);       /* such a line, which ends with a mixing of a half     */
small_problem logarithm_problem(void);  /* ln(x) t + y: NaN for x < 0, where the first step ends */

/* a u + b (u + 1e-6 v), and the solution. */
small_problem collinear_problem(double *solution);

/* What a solver asks for, with NaN in all that the form leaves out. */
void answer_problem(const small_problem *p, int64_t form, const double *theta, double *triangle);

#endif
