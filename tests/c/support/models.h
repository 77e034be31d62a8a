/* models.h: small models with data, for the tests of sums over rows and of fits. */
#ifndef MODELS_H
#define MODELS_H

#include "support/plans.h"

/* Moving, static and height-only components, two Shirleys, expressions (1D and 2D); components
 * over auxiliary points; one trace as the result. */
enum { MODEL_1D, MODEL_2D, MODEL_AUX, MODEL_TRACE, N_MODELS };

/* Columns of the plan's own: none, a mixture, those of theta in another order. */
enum { COLUMNS_NONE, COLUMNS_MIXED, COLUMNS_TURNED, N_COLUMNS };

enum { DRESS_WINDOW = 1, DRESS_WEIGHT = 2, DRESS_KEEP = 4, DRESS_POISSON = 8, N_DRESSES = 16 };

typedef struct model {
    pyspec_plan *plan;
    grid g;
    const double *theta; /* near the parameters that the data were made with */
    double *data, *weight;
    uint8_t *keep;
} model;

/* `dress` is a set of DRESS_*. A window of rows is 3 ... n_rows - 2. */
void make_model(model *m, int kind, int columns, int dress, int64_t n_rows, int64_t n_x);

#endif
