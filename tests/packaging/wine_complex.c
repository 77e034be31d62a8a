/* wine_complex.c: the functions of complex numbers that the ucrtbase.dll of Wine 8 lacks and that
 * NumPy and SciPy call; wine_python.py puts them in place. By the plain formulas, for tests alone. */
#include <math.h>

typedef struct complex64 {
    float re, im;
} complex64;
typedef struct complex128 {
    double re, im;
} complex128;

#define EXPORT __declspec(dllexport)

EXPORT float pyspec_crealf(complex64 z);
EXPORT float pyspec_cimagf(complex64 z);
EXPORT double pyspec_cimag(complex128 z);
EXPORT double pyspec_cabs(complex128 z);
EXPORT double pyspec_carg(complex128 z);
EXPORT complex128 pyspec_cexp(complex128 z);
EXPORT complex128 pyspec_clog(complex128 z);
EXPORT complex128 pyspec_csqrt(complex128 z);
EXPORT complex128 pyspec_cpow(complex128 z, complex128 power);

float pyspec_crealf(complex64 z)
{
    return z.re;
}

float pyspec_cimagf(complex64 z)
{
    return z.im;
}

double pyspec_cimag(complex128 z)
{
    return z.im;
}

double pyspec_cabs(complex128 z)
{
    return hypot(z.re, z.im);
}

double pyspec_carg(complex128 z)
{
    return atan2(z.im, z.re);
}

complex128 pyspec_cexp(complex128 z)
{
    double size = exp(z.re);
    return (complex128){size * cos(z.im), z.im == 0.0 ? z.im : size * sin(z.im)};
}

complex128 pyspec_clog(complex128 z)
{
    return (complex128){log(hypot(z.re, z.im)), atan2(z.im, z.re)};
}

complex128 pyspec_csqrt(complex128 z)
{
    double large = sqrt(0.5 * (hypot(z.re, z.im) + fabs(z.re)));
    double small = large > 0.0 ? 0.5 * z.im / large : 0.0;
    return z.re >= 0.0 ? (complex128){large, small}
                       : (complex128){fabs(small), copysign(large, z.im)};
}

complex128 pyspec_cpow(complex128 z, complex128 power)
{
    complex128 by = pyspec_clog(z);
    if (z.re == 0.0 && z.im == 0.0)
        return (complex128){power.re == 0.0 && power.im == 0.0 ? 1.0 : 0.0, 0.0};
    return pyspec_cexp((complex128){power.re * by.re - power.im * by.im,
                                    power.re * by.im + power.im * by.re});
}
