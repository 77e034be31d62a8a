/* lanes.h: what a kernel is written in.
 *
 * A kernel fills n vectors of PYSPEC_LANES values. Either the lanes are rows (times) and the
 * vectors follow the energies, or, for one row, the lanes are consecutive abscissae. The body is
 * written once; KERNEL instantiates it for both orientations and with and without partial
 * derivatives. A neighbour never changes a lane's bits: bodies do not branch on the value of a
 * lane. The only exception is a branch between two ways to the same bits (tame.h).
 */
#ifndef PYSPEC_LANES_H
#define PYSPEC_LANES_H

#include "pyspec.h"

#include <stddef.h>

enum { L = PYSPEC_LANES };

/* Vectors in a block: 208 energies of 8 rows are 13 KB. The buffers of a few components stay in the second
 * cache. Smaller buffers would stay in the first, but the fixed work of each block would cost more. Tests
 * make blocks small. */
#ifndef PYSPEC_BLOCK
#define PYSPEC_BLOCK 208
#endif
enum { BLOCK = PYSPEC_BLOCK };

typedef struct pyspec_block {
    int64_t n;              /* vectors                                                    */
    int64_t n_valid;        /* across: abscissae that exist; the last vector may be padded */
    int64_t across;         /* 0: lanes are rows, x[n]; 1: lanes are abscissae, x[n][L]   */
    const double *x;
    const double *spectrum; /* [n][L], what a spectrum-fed op reads                       */
    double *carry;          /* [scratch][L], kept from block to block, from high index down */
    int64_t n_more;              /* FED ops: more spectra, to which the op is applied too */
    const double *const *more;   /* [n_more], each like spectrum                          */
    double *const *images;       /* [n_more], its change with them, each like the value    */
    double *const *carries;      /* [n_more], each like carry                              */
    const int64_t *program; /* of a formula, scheme or measured response, checked          */
    double *registers;      /* that it runs over                                          */
    int again;              /* a formula: of the call before only the abscissae are others */
    const double *const *inputs; /* further arrays of a formula, each at the first abscissa  */
    const double *shares;   /* SPECTRUM_FED: two for each abscissa, see pyspec_problem; or NULL */
    int64_t begin, end;     /* ROW_FED: the abscissae whose ends a StaticShirley takes    */
    int64_t first;          /* place of the first abscissa among its inputs               */
    int adds;               /* SPECTRUM_FED: the value is added to the spectrum, which is its place; so are images */
    unsigned unread;        /* bit k: nobody reads partial k, which need not be written     */
} pyspec_block;

/* params [n_params][L], value [n][L]; partials NULL, or n_params pointers to [n][L]. */
typedef void pyspec_kernel(const pyspec_block *block, const double *params, double *value,
                           double *const *partials);

#if defined(__GNUC__) && !defined(PYSPEC_COUNTED)
#define ALWAYS_INLINE inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE inline
#endif

/* Kernels of a wider instruction set carry its name: k_GLP_avx2. */
#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c) JOIN_(a, b, c)
#ifndef ISA_SUFFIX
#define ISA_SUFFIX
#endif

/* The two sides of a convolution kernel: LEFT is d >= 0, which reads earlier samples, RIGHT is
 * d <= 0. `mass` is the integral of g over |d| >= away on that side, NULL where g is 0; `reach`
 * is how far g is not 0 there, in widths; where g(a + b) = g(a) g(b), `multiplies` is 1 in place
 * of a reach. A kernel with an edge has, on the sides with a mass, `mean_mass`: the mean of the mass
 * from `away` to away + step. It reads the straight lines between samples. */
enum { PYSPEC_SIDE_LEFT, PYSPEC_SIDE_RIGHT };

typedef struct conv_side {
    double (*mass)(double away, double width);
    double reach;
    int multiplies;
    double (*mean_mass)(double away, double step, double width);
} conv_side;

typedef struct conv_kernel {
    conv_side sides[2];
} conv_kernel;

#define CONV_KERNEL(name, ...)                                                                     \
    const conv_kernel JOIN(c_, name, ISA_SUFFIX) = {{__VA_ARGS__}};

#define KERNEL(name)                                                                               \
    static ALWAYS_INLINE void body_##name(const pyspec_block *b, const double *restrict p,         \
                                          double *restrict y, double *const *d, const int across,  \
                                          const int want);                                         \
    void JOIN(k_, name, ISA_SUFFIX)(const pyspec_block *b, const double *p, double *y,             \
                                    double *const *d)                                              \
    {                                                                                              \
        if (b->across && d)                                                                        \
            body_##name(b, p, y, d, 1, 1);                                                         \
        else if (b->across)                                                                        \
            body_##name(b, p, y, NULL, 1, 0);                                                      \
        else if (d)                                                                                \
            body_##name(b, p, y, d, 0, 1);                                                         \
        else                                                                                       \
            body_##name(b, p, y, NULL, 0, 0);                                                      \
    }                                                                                              \
    static ALWAYS_INLINE void body_##name(const pyspec_block *b, const double *restrict p,         \
                                          double *restrict y, double *const *d, const int across,  \
                                          const int want)

/* A double that is read soon, so many behind a place, and how many come with it. It need not be there. */
enum { CACHE_LINE = 8 };
#if defined(__GNUC__)
#define PREFETCH(place, behind)                                                                    \
    __builtin_prefetch((const void *)((uintptr_t)(place) + (uintptr_t)(behind) * sizeof(double)))
#else
#define PREFETCH(place, behind) ((void)(place), (void)(behind))
#endif

/* Whether a kernel that was asked for partials must write the k-th. */
#define READS(k) (!(b->unread >> (k) & 1u))

/* clang unrolls loops over lanes before it looks for vectors, and is told not to: kernels took up to four
 * times as long. */
#if defined(__clang__)
#define FOR_LANES _Pragma("clang loop unroll(disable)") for (int l = 0; l < L; l++)
#else
#define FOR_LANES for (int l = 0; l < L; l++)
#endif
#define FOR_VECTORS for (int64_t i = 0; i < b->n; i++)

/* All values of a kernel. No lane reads what another has written: said here, it spares the compiler the
 * test in each vector whether any two columns overlap. */
#if defined(__clang__)
#define LANES_APART _Pragma("clang loop vectorize(assume_safety)")
#define STAYS_LOOP
#elif defined(__GNUC__)
#define LANES_APART _Pragma("GCC ivdep")
#define STAYS_LOOP _Pragma("GCC unroll 1")
#else
#define LANES_APART
#define STAYS_LOOP
#endif
#define FOR_VALUES FOR_VECTORS LANES_APART FOR_LANES
/* Several loops over the lanes of one vector. gcc unrolls short ones before it looks for vectors, and then
 * finds none. */
#define IN_LANES LANES_APART STAYS_LOOP FOR_LANES
#define FOR_BLOCK for (int64_t i = 0; i < n; i++)

/* Parameter k and abscissa of the current lane, position of the current value. */
#define P(k) (p[(k) * L + l])
#define X (b->x[across ? i * L + l : i])
#define AT (i * L + l)

#endif
