/* rpn_functions.h: what the rows of rpn.def call and math.h lacks, one number at a time. */
#ifndef PYSPEC_RPN_FUNCTIONS_H
#define PYSPEC_RPN_FUNCTIONS_H

double pyspec_erfcx(double a);
double pyspec_wofz_real(double x, double y);
double pyspec_wofz_imag(double x, double y);
double pyspec_wofz_real_x(double x, double y);
double pyspec_wofz_real_y(double x, double y);

#define erfcx pyspec_erfcx
#define wofz_real pyspec_wofz_real
#define wofz_imag pyspec_wofz_imag
#define wofz_real_x pyspec_wofz_real_x
#define wofz_real_y pyspec_wofz_real_y

#define where(condition, then, otherwise) ((condition) ? (then) : (otherwise))
#define lesser(a, b)                      ((a) < (b) ? (a) : (b))
#define greater(a, b)                     ((a) > (b) ? (a) : (b))

#endif
