/* span_parts.c: the span of a part whose data lie in memory: its own threads read them. */
#include "separable/span.h"
#include "threads/team.h"

int pyspec_has_span(const pyspec_part *part, int64_t form)
{
    return pyspec_has_span_memory(part->call, part->span, part->span_size) &&
           pyspec_is_separable(part->call, form);
}

void pyspec_begin_span(const pyspec_part *part)
{
    if (pyspec_has_span_memory(part->call, part->span, part->span_size))
        *pyspec_divide_span(part->call->plan, part->call->problem, part->span).now = (span_state){0};
}

/* What the tasks of a reading share. */
typedef struct span_job {
    const pyspec_call *call;
    const pyspec_team *team;
    const pyspec_reading *reading;
    const span *s;
    pyspec_normal sums[MOST_CHUNKS];
} span_job;

/* Empty sums in the memory of a span, from a node on. */
static pyspec_normal sums_in(const span *s, int64_t size, int64_t first, int64_t capacity)
{
    return (pyspec_normal){.form = PYSPEC_FORM_DATA,
                           .order = size,
                           .capacity = capacity,
                           .places = s->places + 2 * first,
                           .nodes = s->nodes + first * s->most_sums};
}

static int read_chunk(void *job, int64_t task, int64_t thread)
{
    span_job *j = job;
    const pyspec_call call = pyspec_call_in(j->team, j->call, thread);
    const pyspec_problem *q = call.problem;
    const int64_t begin = (q->row_begin / j->s->chunk + task) * j->s->chunk;
    const int64_t end = begin + j->s->chunk;
    return pyspec_read(&call, &j->sums[task], j->reading, begin > q->row_begin ? begin : q->row_begin,
                       end < q->row_end ? end : q->row_end);
}

/* All rows, by the threads of a team. */
static int read_rows(const pyspec_call *call, const span *s, const pyspec_reading *reading,
                     pyspec_team *team)
{
    span_job job = {.call = call, .team = team, .reading = reading, .s = s};
    pyspec_normal total = sums_in(s, reading->size, 0, s->n_open);
    int status;
    if (!team) {
        status = pyspec_read(call, &total, reading, call->problem->row_begin, call->problem->row_end);
    } else {
        for (int64_t k = 0; k < s->n_chunks; k++)
            job.sums[k] =
                sums_in(s, reading->size, s->n_open + k * s->chunk_open, s->chunk_open);
        status = pyspec_share(team, read_chunk, &job, s->n_chunks);
        for (int64_t k = 0; !status && k < s->n_chunks; k++)
            status = pyspec_join(&total, &job.sums[k]);
    }
    fill(s->sums, 0.0, reading->size);
    return status ? status : pyspec_collect(&total, NULL, reading->size, s->sums);
}

int pyspec_sum_span(const pyspec_part *part, int64_t form, pyspec_team *team)
{
    pyspec_reading reading;
    const pyspec_call *call = part->call;
    const pyspec_problem *q = call->problem;
    const span s = pyspec_divide_span(call->plan, q, part->span);
    int status = pyspec_check_sums(call, part->normal, q->row_begin, q->row_end);
    status = status ? status : pyspec_span_ask(call, form, part->span, part->span_size, &reading);
    while (!status && reading.is_due) {
        status = read_rows(call, &s, &reading, team);
        status = status ? status
                        : pyspec_span_take(call, form, part->span, part->span_size, s.sums, &reading);
    }
    status = status ? status
                    : pyspec_span_answer(call, form, part->span, part->span_size, s.triangle);
    return status ? status : pyspec_push_sums(part->normal, 0, 0, s.triangle);
}
