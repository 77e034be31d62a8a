#include "random/random_problem.h"

#include "walk/memory.h"

#include <stdlib.h>

double *random_doubles(rng *r, int64_t n, int hostile)
{
    double *values = exact(n, sizeof *values);
    for (int64_t i = 0; i < n; i++)
        values[i] = chance(r, hostile) ? hostile_double(r)
                                       : 0.1 * (double)i - 0.5 + 1e-3 * (double)below(r, 100);
    return values;
}

double *random_values(rng *r, int64_t n, int hostile)
{
    double *values = exact(n, sizeof *values);
    for (int64_t i = 0; i < n; i++) {
        double calm = 0.05 * (double)(1 + below(r, 50)) * (chance(r, 4) ? -1.0 : 1.0);
        values[i] = chance(r, hostile) ? hostile_double(r) : calm;
    }
    return values;
}

/* A convolution may need external traces of the whole axis. */
static int may_be_a_chunk(const pyspec_plan *plan)
{
    int convolves = 0;
    for (int64_t k = 0; k < plan->n_resolve; k++)
        convolves |= plan_nodes(plan)[k].step == PYSPEC_STEP_CONVOLVE;
    return !convolves || !plan->n_external;
}

void random_sizes(rng *r, const pyspec_plan *plan, int small, pyspec_problem *q)
{
    static double somewhere;
    static const int64_t large[] = {65, 130, 384, 385, 400};
    int long_rows = !small && plan->dimension == 2 && chance(r, 4);
    int64_t n_rows = plan->dimension == 1 ? 1 : 1 + below(r, small ? 6 : 20);
    int64_t n_x = 1 + below(r, small ? 12 : chance(r, 30) ? 110 : 50);
    if (!small && plan->dimension == 1 && chance(r, 30))
        n_x = 1 + below(r, 900);
    if (plan->trace >= 0)
        n_x = 1;
    *q = (pyspec_problem){.x = &somewhere, .time = &somewhere, .axes = &somewhere};
    q->fixed = &somewhere;
    q->masks = (const uint8_t *)&somewhere;
    q->n_rows = long_rows ? large[below(r, 5)] : n_rows;
    q->n_x = long_rows && n_x > 1 ? 1 + below(r, 3) : n_x;
    if (!small && plan->separable >= 0 && chance(r, 6)) { /* so many that a fit has a span */
        q->n_rows = 70 + below(r, 80);
        q->n_x = 40 + below(r, 150);
    }
    q->row_begin = chance(r, 50) ? 0 : below(r, q->n_rows);
    q->row_end = chance(r, 50) ? q->n_rows : q->row_begin + 1 + below(r, q->n_rows - q->row_begin);
    q->x_begin = chance(r, 50) ? 0 : below(r, q->n_x);
    q->chunk_rows = q->n_rows;
    if (may_be_a_chunk(plan) && chance(r, 20)) {
        q->first_row = below(r, q->row_begin + 1);
        q->chunk_rows = q->row_end - q->first_row;
        q->chunk_rows += below(r, q->n_rows - q->row_end + 1);
    }
    q->x_end = chance(r, 50) ? q->n_x : q->x_begin + 1 + below(r, q->n_x - q->x_begin);
    if (chance(r, 30)) {
        q->ends_begin = below(r, q->n_x);
        q->ends_end = q->ends_begin + 1 + below(r, q->n_x - q->ends_begin);
    }
    q->data_type = below(r, 3);
    q->n_axes = plan->n_axes;
    q->n_masks = plan->n_masks;
    q->n_fixed = plan->n_fixed;
    q->aux = q->aux_weight = q->external = q->spectra = &somewhere;
    q->n_aux = plan->n_aux;
    q->x_inputs = q->row_inputs = q->aux_inputs = &somewhere;
    q->n_x_inputs = plan->n_x_inputs;
    q->n_row_inputs = plan->n_row_inputs;
    q->n_aux_inputs = plan->n_aux_inputs;
    q->n_external = plan->n_external + plan->n_spectra;
    q->loss = chance(r, 30);
    q->loss_scale = chance(r, 80) ? 0.25 * (double)(1 + below(r, 50)) : 1e-300;
}

void mutate_sizes(rng *r, pyspec_problem *q)
{
    int64_t *const numbers[] = {&q->n_x,     &q->n_rows,     &q->row_begin, &q->row_end,
                                &q->x_begin, &q->x_end,      &q->n_axes,    &q->n_masks,
                                &q->n_fixed, &q->data_type,  &q->n_aux,     &q->n_external,
                                &q->loss,    &q->first_row,  &q->chunk_rows,
                                &q->n_x_inputs, &q->n_row_inputs, &q->n_aux_inputs,
                                &q->ends_begin, &q->ends_end};
    const double **const pointers[] = {&q->x,   &q->time,       &q->axes,     &q->fixed,
                                       &q->aux, &q->aux_weight, &q->external, &q->spectra,
                                       &q->x_inputs, &q->row_inputs, &q->aux_inputs};
    enum { N_NUMBERS = sizeof numbers / sizeof *numbers, N_POINTERS = 11 };
    int64_t k = below(r, N_NUMBERS + N_POINTERS + 2);
    if (k < N_NUMBERS)
        *numbers[k] = odd_integer(r, *numbers[k]);
    else if (k < N_NUMBERS + N_POINTERS)
        *pointers[k - N_NUMBERS] = NULL;
    else if (k == N_NUMBERS + N_POINTERS)
        q->loss_scale = hostile_double(r);
    else
        q->masks = NULL;
}

/* A grid of `size`-byte elements in an exactly sized memory of its own: rows or columns first,
 * forwards or backwards, or, where `may_repeat`, one element for a whole row or column. */
static void *random_layout(rng *r, const pyspec_problem *q, int64_t size, int may_repeat,
                           const void **origin, int64_t *by_row, int64_t *by_x, int64_t *n)
{
    int transposed = chance(r, 30), backwards = chance(r, 20);
    *by_row = transposed ? size : q->n_x * size;
    *by_x = transposed ? q->chunk_rows * size : size;
    *n = q->chunk_rows * q->n_x;
    if (may_repeat && chance(r, 40)) {
        int by_column = chance(r, 50);
        *by_row = by_column ? 0 : size;
        *by_x = by_column ? size : 0;
        *n = by_column ? q->n_x : q->chunk_rows;
        backwards = 0;
    }
    char *memory = exact(*n, (size_t)size);
    *origin = backwards ? memory + (*n - 1) * size : memory;
    *by_row *= backwards ? -1 : 1;
    *by_x *= backwards ? -1 : 1;
    return memory;
}

void fill_problem(rng *r, const pyspec_plan *plan, pyspec_problem *q, int hostile)
{
    static const int64_t sizes[] = {8, 4, 2};
    const void *weight, *keep;
    int64_t n, size = sizes[q->data_type];
    q->x = random_doubles(r, q->n_x, hostile / 2);
    if (q->time)
        q->time = random_doubles(r, q->n_rows, hostile / 2);
    q->axes = random_doubles(r, q->n_axes * q->n_rows, hostile / 2);
    q->fixed = random_values(r, q->n_fixed, hostile);
    q->aux = random_doubles(r, q->n_aux, hostile / 2);
    q->aux_weight = random_doubles(r, q->n_aux, hostile / 2);
    q->external = random_values(r, plan->n_external * q->chunk_rows, hostile);
    q->spectra = random_doubles(r, plan->n_spectra * q->chunk_rows * q->n_x, hostile);
    q->x_inputs = random_values(r, q->n_x_inputs * q->n_x, hostile);
    q->row_inputs = random_values(r, q->n_row_inputs * q->n_rows, hostile);
    q->aux_inputs = random_values(r, q->n_aux_inputs * q->n_aux, hostile);
    if (chance(r, 50))
        q->shares = random_values(r, 2 * q->n_x, hostile / 2);
    uint8_t *masks = exact(q->n_masks * q->n_rows, 1);
    for (int64_t i = 0; i < q->n_masks * q->n_rows; i++)
        masks[i] = (uint8_t)chance(r, 60);
    q->masks = masks;
    char *data =
        random_layout(r, q, size, 0, &q->data, &q->data_row, &q->data_x, &n);
    for (int64_t i = 0; i < n * size; i++)
        data[i] = (char)draw(r);
    for (int64_t i = 0; !hostile && q->data_type == PYSPEC_TYPE_F64 && i < n; i++)
        ((double *)(void *)data)[i] = 0.25 * (double)below(r, 100) - 1.0;
    if (chance(r, 50)) {
        double *values =
            random_layout(r, q, 8, 1, &weight, &q->weight_row, &q->weight_x, &n);
        for (int64_t i = 0; i < n; i++)
            values[i] = chance(r, hostile) ? hostile_double(r) : 2.0;
        q->weight = weight;
    }
    if (chance(r, 50)) {
        uint8_t *values =
            random_layout(r, q, 1, 1, &keep, &q->keep_row, &q->keep_x, &n);
        for (int64_t i = 0; i < n; i++)
            values[i] = (uint8_t)chance(r, 80);
        q->keep = keep;
    }
}
