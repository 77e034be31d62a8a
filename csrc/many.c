/* many.c: many fits of one plan. Each slot has the memory of one fit, and takes one case after the other. The
 * threads of a team share the slots. Where and when a case is fitted changes no bit: it begins with nothing that
 * an earlier one has left, and what it finds goes to a place of its own. */
#include "many.h"
#include "solver.h"
#include "team.h"

/* What the slots of one call share. */
typedef struct many_job {
    pyspec_many *many;
    int64_t budget;
} many_job;

static const void *of_case(const void *first, int64_t step, int64_t k)
{
    return first ? (const char *)first + k * step : NULL;
}

/* The problem of a slot with what is the case's own. */
static pyspec_problem problem_of(const pyspec_many *m, const pyspec_slot *slot)
{
    pyspec_problem q = *slot->part->call->problem;
    q.data = of_case(m->data, m->data_case, slot->at);
    q.weight = of_case(m->weight, m->weight_case, slot->at);
    q.keep = of_case(m->keep, m->keep_case, slot->at);
    if (m->fixed)
        q.fixed = of_case(m->fixed, m->fixed_case, slot->at);
    return q;
}

/* Points of the window that count. */
static int64_t count_points(const pyspec_problem *q)
{
    const int64_t n_rows = q->row_end - q->row_begin, n_x = q->x_end - q->x_begin;
    int64_t n = q->keep ? 0 : n_rows * n_x;
    for (int64_t j = q->row_begin; q->keep && j < q->row_end; j++)
        for (int64_t i = q->x_begin; i < q->x_end; i++)
            n += q->keep[j * q->keep_row + i * q->keep_x] != 0;
    return n;
}

/* What rounding of chi^2 is measured by. */
static double square_of(const pyspec_many *m, const pyspec_problem *q, int64_t k)
{
    if (m->square)
        return m->square[k];
    const int64_t row = q->row_begin, x = q->x_begin;
    return pyspec_square(of_case(q->data, 1, row * q->data_row + x * q->data_x), q->row_end - row,
                         q->x_end - x, q->data_row,
                         of_case(q->weight, 1, row * q->weight_row + x * q->weight_x), q->weight_row,
                         q->weight_x, of_case(q->keep, 1, row * q->keep_row + x * q->keep_x),
                         q->keep_row, q->keep_x);
}

/* Begins with a case. Returns whether its points may determine it; else there is nothing to fit. */
static int begin_case(const pyspec_many *m, const pyspec_slot *slot, const pyspec_problem *q)
{
    const pyspec_call *call = slot->part->call;
    pyspec_solver *s = slot->solver;
    const pyspec_solver before = *s;
    *s = (pyspec_solver){.n = before.n,
                         .n_points = count_points(q),
                         .max_nfev = before.max_nfev,
                         .tolerance = before.tolerance,
                         .data_square = square_of(m, q, slot->at),
                         .theta = before.theta,
                         .lower = m->bounds ? of_case(m->bounds, m->bounds_case, slot->at) : before.lower,
                         .trial = before.trial,
                         .answer = before.answer,
                         .normal = before.normal,
                         .work = before.work};
    memcpy(s->theta, of_case(m->start, m->start_case, slot->at), (size_t)s->n * sizeof(double));
    if (call->prepared_size > 0)
        call->prepared[0] = 0.0; /* no lines of the case before */
    if (slot->search) {
        slot->search->solver = s;
        slot->search->start = slot->search->eliminated = of_case(m->start, m->start_case, slot->at);
        slot->search->way = 0;
    }
    const int is_enough = s->n_points >= s->n + (m->is_scaled ? 1 : 0);
    s->end = is_enough ? PYSPEC_END_RUNNING : PYSPEC_END_DEGENERATE;
    return is_enough;
}

/* Fits a case, and goes on where it ended in doubt. */
static int fit_case(const pyspec_slot *slot, const pyspec_part *part, int64_t budget)
{
    pyspec_solver *s = slot->solver;
    pyspec_search *search = slot->search;
    const int64_t before = s->nfev;
    if (!search || search->way == 0) {
        const int answer = pyspec_fit(s, part, 1, NULL, budget);
        if (answer != PYSPEC_FIT_DONE || !search || !pyspec_is_in_doubt(s, slot->end->work))
            return answer;
    }
    return pyspec_search_fit(search, part, 1, NULL, budget - (s->nfev - before));
}

/* Writes down what a case has come to. */
static int end_case(pyspec_many *m, const pyspec_slot *slot, const pyspec_part *part)
{
    const pyspec_solver *s = slot->solver;
    const int64_t n = s->n, size = triangle_size(n + 1);
    pyspec_end *end = slot->end;
    double *out = m->numbers + slot->at * (3 * n + n * n + size);
    int status = STATUS_OK;
    end->flags = 0;
    end->distance = NAN;
    if (s->end == PYSPEC_END_CONVERGED) {
        end->n_free = s->n_points > s->n ? s->n_points - s->n : 1;
        end->is_scaled = m->is_scaled;
        memset(end->held, 0, (size_t)n * sizeof *end->held);
        status = -(m->sizes ? pyspec_judge(s, end, m->sizes, part, 1, NULL) : pyspec_end_of(s, end));
    }
    m->fitted[slot->at] = (pyspec_fitted){.end = s->end,
                                          .flags = end->flags,
                                          .nfev = s->nfev,
                                          .n_points = s->n_points,
                                          .chisqr = s->chisqr,
                                          .reached = s->distance,
                                          .distance = end->distance};
    memcpy(out, s->theta, (size_t)n * sizeof *out);
    if (end->flags & PYSPEC_ENDING_CERTAIN) {
        memcpy(out + n, end->side, (size_t)n * sizeof *out);
        memcpy(out + 2 * n, end->gain, (size_t)n * sizeof *out);
        memcpy(out + 3 * n, end->covariance, (size_t)(n * n) * sizeof *out);
        memcpy(out + 3 * n + n * n, end->factor, (size_t)size * sizeof *out);
    }
    __atomic_add_fetch(&m->n_done, 1, __ATOMIC_RELAXED);
    return status;
}

/* Cases in a slot, until none is left or the budget is used up. */
static int run_slot(void *job, int64_t task, int64_t thread)
{
    const many_job *j = job;
    pyspec_many *m = j->many;
    pyspec_slot *slot = &m->slots[task];
    pyspec_solver *s = slot->solver;
    (void)thread;
    for (int64_t used = 0; used < j->budget;) {
        const int is_new = slot->at < 0;
        if (is_new && (slot->at = __atomic_fetch_add(&m->next, 1, __ATOMIC_RELAXED)) >= m->n_cases) {
            slot->at = -1;
            return STATUS_OK;
        }
        const pyspec_problem q = problem_of(m, slot);
        pyspec_call call = *slot->part->call;
        pyspec_part part = *slot->part;
        int answer = PYSPEC_FIT_DONE;
        call.problem = &q;
        part.call = &call;
        if (!is_new || begin_case(m, slot, &q)) {
            const int64_t before = s->nfev;
            answer = fit_case(slot, &part, j->budget - used);
            used += s->nfev - before;
        }
        if (answer < 0)
            return -answer;
        used++;
        if (answer == PYSPEC_FIT_AGAIN)
            continue;
        const int status = end_case(m, slot, &part);
        slot->at = -1;
        if (status)
            return status;
    }
    return STATUS_OK;
}

static int is_whole(const pyspec_many *m)
{
    if (!m->slots || !m->start || !m->fitted || !m->numbers)
        return 0;
    for (int64_t k = 0; k < m->n_slots; k++) {
        const pyspec_slot *slot = &m->slots[k];
        if (!slot->part || !slot->solver || !slot->end || !slot->end->held || !slot->part->call ||
            !slot->part->call->problem)
            return 0;
    }
    return 1;
}

int pyspec_fit_many(pyspec_many *many, pyspec_team *team, int64_t budget)
{
    if (!many || !is_whole(many))
        return -STATUS_NULL_POINTER;
    if (many->n_slots < 1 || budget < 1)
        return -STATUS_SIZE;
    many_job job = {.many = many, .budget = budget};
    const int status = pyspec_share(team, run_slot, &job, many->n_slots);
    many->next = many->next < many->n_cases ? many->next : many->n_cases;
    if (status)
        return -status;
    return many->n_done < many->n_cases ? PYSPEC_FIT_AGAIN : PYSPEC_FIT_DONE;
}
