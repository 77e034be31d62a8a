/* parts.c: sums over the rows of several files, divided among the threads of a team. Chunks of rows
 * have sums of their own. They are joined in the order of the rows, in a fixed tree: the bits are
 * the same for any number of threads and chunks. */
#include "elimination/linear.h"
#include "walk/memory.h"
#include "separable/separable.h"
#include "separable/span.h"
#include "sums/curves.h"
#include "tables/status.h"
#include "separable/still.h"
#include "threads/team.h"

/* What the tasks of one evaluation share. */
typedef struct parts_job {
    const pyspec_part *parts;
    int64_t n_parts;
    int64_t form;
    pyspec_team *team;
    int64_t chunk; /* rows of a chunk; chunks begin at multiples of it */
    int whole;     /* no part is summed over shapes and times apart    */
    int64_t every; /* of the tiles of rows one is summed, or all: 1    */
    int spans;     /* in a fit, which lets parts have their spans      */
    double *curves; /* those of all parts, or NULL                     */
} parts_job;

/* A fit begins on one of so many tiles of rows, if at least so many of them are left, and of so many points. */
enum { MOST_EVERY = 8, LEAST_EVERY = 4, LEAST_TILES = 6, LEAST_POINTS = 1 << 14 };

static int64_t what_for(int64_t form)
{
    return form == PYSPEC_FORM_VALUE ? 0 : PYSPEC_PREPARE_SLOPES;
}

static void begin_sums(pyspec_normal *sums, int64_t form, int64_t n_theta, int64_t every)
{
    sums->form = form;
    sums->every = every;
    sums->order = form == PYSPEC_FORM_VALUE ? 1 : n_theta + 1;
    sums->n_nodes = 0;
}

/* The memory of the curves of a part, which lie behind those of the parts before it. */
static double *curves_at(const parts_job *j, const pyspec_part *part)
{
    int64_t before = 0;
    for (const pyspec_part *other = j->parts; j->curves && other < part; other++)
        before += pyspec_curves_size(other) / (int64_t)sizeof *j->curves;
    return j->curves ? j->curves + before : NULL;
}

static row_curves curves_of(const parts_job *j, const pyspec_part *part)
{
    return pyspec_curves_of(part, curves_at(j, part));
}

/* Whether a part is summed over shapes and times apart. */
static int is_apart(const parts_job *j, const pyspec_part *part)
{
    return !j->whole && part->call && part->normal->in_strips == 1 && curves_of(j, part).row < 0 &&
           pyspec_is_separable(part->call, j->form);
}

/* Whether a part is summed by itself, from its span. */
static int is_spanned(const parts_job *j, const pyspec_part *part)
{
    return j->spans && is_apart(j, part) && pyspec_has_span(part, j->form);
}

/* Whether a part is summed by itself, before the rows of the others are shared. */
static int is_by_itself(const parts_job *j, const pyspec_part *part)
{
    return !part->call || is_spanned(j, part);
}

/* Chunks of a part that a window touches. */
static int64_t count_chunks(const parts_job *j, const pyspec_part *part)
{
    if (is_by_itself(j, part))
        return 0;
    const pyspec_problem *q = part->call->problem;
    return (q->row_end - 1) / j->chunk - q->row_begin / j->chunk + 1;
}

static int64_t count_all_chunks(const parts_job *j)
{
    int64_t n = 0;
    for (int64_t k = 0; k < j->n_parts; k++)
        n += count_chunks(j, &j->parts[k]);
    return n;
}

int pyspec_prepare(const pyspec_call *call, int64_t what)
{
    run state, *r = &state;
    const int slopes = (what & PYSPEC_PREPARE_SLOPES) != 0;
    int status = pyspec_begin_run(r, call, 0, slopes);
    if (!status && r->plan->separable < 0)
        what &= ~(int64_t)PYSPEC_PREPARE_SHAPES;
    status = status ? status : pyspec_fill_prepared(r, what);
    if (!status)
        pyspec_prepare_still(r);
    if (status || !(what & PYSPEC_PREPARE_SHAPES))
        return status;
    return pyspec_prepare_shapes(call, slopes ? PYSPEC_FORM_GRAM : PYSPEC_FORM_VALUE);
}

static int prepare_call(const parts_job *j, const pyspec_part *part, const pyspec_call *call)
{
    const int64_t shapes = is_apart(j, part) ? PYSPEC_PREPARE_SHAPES : 0;
    return pyspec_prepare(call, what_for(j->form) | shapes);
}

static int prepare_part(void *job, int64_t task, int64_t thread)
{
    const parts_job *j = job;
    const pyspec_part *part = &j->parts[task];
    if (is_by_itself(j, part))
        return STATUS_OK;
    const pyspec_call call = pyspec_call_in(j->team, part->call, thread);
    return prepare_call(j, part, &call);
}

static int sum_range(const parts_job *j, const pyspec_part *part, const pyspec_call *call,
                     pyspec_normal *sums, int64_t begin, int64_t end)
{
    const row_curves curves = curves_of(j, part);
    if (curves.row >= 0)
        return pyspec_accumulate_curves(call, sums, &curves, begin, end);
    return is_apart(j, part) ? pyspec_accumulate_shapes(call, sums, begin, end)
                             : pyspec_accumulate_rows(call, sums, begin, end);
}

static int sum_chunk(void *job, int64_t task, int64_t thread)
{
    const parts_job *j = job;
    const pyspec_part *part = j->parts;
    int64_t index = task;
    for (; index >= count_chunks(j, part); part++)
        index -= count_chunks(j, part);
    const pyspec_problem *q = part->call->problem;
    const int64_t begin = (q->row_begin / j->chunk + index) * j->chunk, end = begin + j->chunk;
    const pyspec_call call = pyspec_call_in(j->team, part->call, thread);
    pyspec_normal *sums = &j->team->sums[task];
    begin_sums(sums, j->form, part->n_theta, j->every);
    sums->in_strips = part->normal->in_strips;
    return sum_range(j, part, &call, sums, begin > q->row_begin ? begin : q->row_begin,
                     end < q->row_end ? end : q->row_end);
}

int pyspec_accumulate(const pyspec_call *call, pyspec_normal *normal, int64_t row_begin,
                      int64_t row_end)
{
    if (!call || !call->plan || !call->problem || !normal)
        return STATUS_NULL_POINTER;
    if (normal->in_strips != 1 || normal->every > 1 || !pyspec_is_separable(call, normal->form))
        return pyspec_accumulate_rows(call, normal, row_begin, row_end);
    if (!pyspec_has_shapes(call))
        return STATUS_PREPARED;
    return pyspec_is_whole(call->problem, row_begin, row_end)
               ? pyspec_accumulate_shapes(call, normal, row_begin, row_end)
               : STATUS_WINDOW;
}

/* All parts in this thread. */
static int sum_alone(const parts_job *j)
{
    int status = STATUS_OK;
    for (int64_t k = 0; !status && k < j->n_parts; k++) {
        const pyspec_part *part = &j->parts[k];
        if (is_by_itself(j, part))
            continue;
        const pyspec_problem *q = part->call->problem;
        status = prepare_call(j, part, part->call);
        status = status ? status
                        : sum_range(j, part, part->call, part->normal, q->row_begin, q->row_end);
    }
    return status;
}

static int any_apart(const parts_job *j)
{
    for (int64_t k = 0; k < j->n_parts; k++)
        if (is_apart(j, &j->parts[k]))
            return 1;
    return 0;
}

static int sum_together(parts_job *j)
{
    for (j->chunk = any_apart(j) ? STRIP : 2 * L; count_all_chunks(j) > j->team->n_sums; j->chunk *= 2)
        if (j->chunk > (int64_t)1 << 40)
            return STATUS_OUTPUT; /* more parts than sums */
    int status = pyspec_share(j->team, prepare_part, j, j->n_parts);
    status = status ? status
                    : pyspec_share(j->team, sum_chunk, j, count_all_chunks(j));
    const pyspec_normal *sums = j->team->sums;
    for (int64_t k = 0; !status && k < j->n_parts; k++)
        for (int64_t n = count_chunks(j, &j->parts[k]); !status && n > 0; n--)
            status = pyspec_join(j->parts[k].normal, sums++);
    return status;
}

static int sum_all(parts_job *j)
{
    int status = STATUS_OK;
    for (int64_t k = 0; k < j->n_parts; k++)
        begin_sums(j->parts[k].normal, j->form, j->parts[k].n_theta, j->every);
    for (int64_t k = 0; !status && k < j->n_parts; k++) {
        const pyspec_part *part = &j->parts[k];
        if (!is_by_itself(j, part))
            continue;
        if (!part->call) {
            status = pyspec_sum_linear(part, j->form, j->team);
            continue;
        }
        status = prepare_call(j, part, part->call);
        status = status ? status : pyspec_sum_span(part, j->form, j->team);
    }
    if (status)
        return status;
    return j->team ? sum_together(j) : sum_alone(j);
}

static int all_finite(const parts_job *j)
{
    for (int64_t k = 0; k < j->n_parts; k++) {
        const pyspec_normal *s = j->parts[k].normal;
        for (int64_t i = 0; i < s->n_nodes * triangle_size(s->order); i++)
            if (!isfinite(s->nodes[i]))
                return 0;
    }
    return 1;
}

static int sum_into(parts_job *j, int64_t order, double *triangle)
{
    const pyspec_part *parts = j->parts;
    const int64_t n_parts = j->n_parts;
    if ((n_parts && !parts) || !triangle)
        return STATUS_NULL_POINTER;
    for (int64_t k = 0; k < n_parts; k++) {
        const pyspec_call *call = parts[k].call;
        if ((!call && !parts[k].linear) || (call && (!call->problem || !call->plan)) || !parts[k].normal)
            return STATUS_NULL_POINTER;
    }
    int status = pyspec_check_team(j->team);
    if (status)
        return status;
    for (int64_t k = 0; k < triangle_size(order); k++)
        triangle[k] = 0.0;
    status = sum_all(j);
    if (!status && any_apart(j) && !all_finite(j)) { /* by the order of operations alone? */
        j->whole = 1;
        status = sum_all(j);
    }
    for (int64_t k = 0; !status && k < n_parts; k++)
        status = pyspec_collect(parts[k].normal, parts[k].gather, order, triangle);
    return status;
}

int64_t pyspec_part_of_rows(const pyspec_part *parts, int64_t n_parts)
{
    int64_t every = MOST_EVERY;
    for (int64_t k = 0; k < n_parts; k++) {
        const pyspec_call *call = parts[k].call;
        if (!call || !call->problem || !call->plan || !parts[k].normal)
            return 1;
        if (call->plan->dimension != 2 ||
            (parts[k].normal->in_strips == 1 && pyspec_is_separable(call, PYSPEC_FORM_GRAM)))
            return 1;
        const pyspec_problem *q = call->problem;
        const int64_t n_rows = q->row_end - q->row_begin;
        while (every >= LEAST_EVERY && n_rows / L < LEAST_TILES * every)
            every /= 2;
        if (every < LEAST_EVERY || n_rows * (q->x_end - q->x_begin) < LEAST_POINTS)
            return 1;
    }
    return every;
}

int pyspec_sum_parts(const pyspec_part *parts, int64_t n_parts, int64_t form, int64_t order,
                     pyspec_team *team, double *triangle)
{
    parts_job job = {.parts = parts, .n_parts = n_parts, .form = form, .team = team, .every = 1};
    return sum_into(&job, order, triangle);
}

int pyspec_sum_by_curves(const pyspec_part *parts, int64_t n_parts, int64_t order, pyspec_team *team, double *curves,
                         double *triangle)
{
    parts_job job = {.parts = parts,
                     .n_parts = n_parts,
                     .form = PYSPEC_FORM_VALUE,
                     .team = team,
                     .every = 1,
                     .curves = curves};
    int all = 1;
    for (int64_t k = 0; k < n_parts; k++)
        all &= pyspec_has_curves(&parts[k], curves_at(&job, &parts[k]));
    if (all) /* threads would cost more than they share */
        job.team = NULL;
    return sum_into(&job, order, triangle);
}

int pyspec_sum_in_fit(const pyspec_part *parts, int64_t n_parts, int64_t form, int64_t order,
                      pyspec_team *team, int64_t every, double *triangle)
{
    parts_job job = {.parts = parts,
                     .n_parts = n_parts,
                     .form = form,
                     .team = team,
                     .every = every,
                     .spans = 1};
    return sum_into(&job, order, triangle);
}
