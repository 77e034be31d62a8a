/* strips.c: rows are resolved strip by strip, so that the work memory does not follow their
 * number. */
#include "walk/run.h"

/* Where the walk finds traces: what is the same for all rows in the prepared memory, the rest in the
 * strip. */
void pyspec_begin_strips(const run *r)
{
    const prepared_parts *p = &r->prepared;
    for (int64_t row = 0; row < r->plan->n_traces; row++) {
        const int64_t first = r->slopes ? r->words[r->plan->depends + row] : 0;
        const int is_scalar = p->place[row] == PLACE_SCALAR;
        trace *t = &r->work.traces[row];
        if (is_scalar)
            *t = (trace){.value = p->scalars + row * L, .step = L};
        else
            *t = (trace){.value = r->work.strip + row * STRIP, .step = STRIP, .moves = 1};
        if (r->slopes)
            t->slopes = is_scalar ? p->scalar_slopes + first * L
                                  : r->work.strip_slopes + first * STRIP;
    }
}

/* The values of a row over a strip, from the prepared memory; slope c, or -1 for the value. */
static void copy_prepared(const run *r, const strip *s, int64_t row, int64_t c, double *out)
{
    const prepared_parts *p = &r->prepared;
    const double *from = c < 0 ? p->axis + p->place[row] * p->stride
                               : p->axis_slopes + (p->slope_place[row] + c) * p->stride;
    memcpy(out, from + s->row, (size_t)s->n * sizeof *out);
}

/* An external trace; rows outside of the chunk that is there repeat the nearest. */
static void copy_external(const run *r, const strip *s, int64_t row, double *out)
{
    const pyspec_problem *q = r->problem;
    const int64_t k = row - r->plan->n_theta - r->plan->n_fixed;
    for (int64_t i = 0; i < s->n; i++) {
        int64_t at = s->row + i - q->first_row;
        at = at < 0 ? 0 : at < q->chunk_rows ? at : q->chunk_rows - 1;
        out[i] = q->external[k * q->chunk_rows + at];
    }
}

/* Lanes after the last row repeat it. */
static void pad(double *out, int64_t n)
{
    fill(out + n, out[n - 1], round_up(n, L) - n);
}

static void load_row(const run *r, const strip *s, int64_t row, int is_external)
{
    const trace *t = &r->work.traces[row];
    const int64_t n_slopes = r->slopes ? count_row_slopes(r->plan, row) : 0;
    if (is_external)
        copy_external(r, s, row, t->value);
    else
        copy_prepared(r, s, row, -1, t->value);
    pad(t->value, s->n);
    for (int64_t c = 0; c < n_slopes; c++) {
        double *slope = t->slopes + c * t->step;
        if (is_external)
            fill(slope, 0.0, s->n);
        else
            copy_prepared(r, s, row, c, slope);
        pad(slope, s->n);
    }
}

void pyspec_load_strip(const run *r, const strip *s)
{
    const int64_t first_external = r->plan->n_theta + r->plan->n_fixed;
    for (int64_t row = 0; row < r->plan->n_traces; row++) {
        const int is_external = row >= first_external && row < first_external + r->plan->n_external;
        const int64_t place = r->prepared.place[row];
        if (r->work.traces[row].moves && (place != PLACE_ROW || is_external))
            load_row(r, s, row, is_external && place == PLACE_ROW);
    }
    pyspec_resolve(r, s, PYSPEC_STAGE_ROW);
}

strip pyspec_strip_of(int64_t row, int64_t row_end)
{
    const int64_t n = row_end - row < STRIP ? row_end - row : STRIP;
    return (strip){.row = row, .n = n};
}

void pyspec_set_tile(const strip *s, tile *t, int64_t at, int across)
{
    *t = (tile){.at = at, .across = across};
    t->n_lanes = across ? 1 : s->n - at < L ? s->n - at : L;
    FOR_LANES t->row[l] = s->row + at + (l < t->n_lanes ? l : t->n_lanes - 1);
}

void pyspec_walk_strip(const run *r, const strip *s, void (*write)(const run *, const tile *))
{
    const int across = r->plan->dimension == 1;
    for (int64_t at = 0; at < s->n; at += across ? 1 : L) {
        tile t;
        pyspec_set_tile(s, &t, at, across);
        pyspec_begin_tile(r, &t);
        for (int64_t k = pyspec_tile_block(r, &t, 0, r->x_end) - 1; k >= 0; k--) {
            pyspec_tile_block(r, &t, k, r->x_end);
            pyspec_walk_block(r, &t);
            write(r, &t);
        }
    }
}
