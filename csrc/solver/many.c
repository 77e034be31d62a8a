/* many.c: many fits of one plan. Each slot has the memory of one fit, and takes one case after the next. Slots of a
 * group proceed together: the questions of their solvers are evaluated side by side, a fit in each lane. The threads
 * of a team share the groups. A result does not depend on the slot, lane or thread that computes it, nor on when. A
 * case begins without any state of an earlier one. A lane does not see its neighbours. Each case has its own place for
 * results. */
#include "solver/many.h"
#include "walk/run.h"
#include "solver/lane_steps.h"
#include "separable/span.h"
#include "threads/team.h"

/* What the groups of one call share. */
typedef struct many_job {
    pyspec_many *many;
    int64_t budget;
} many_job;

/* Slots that advance together, and what they have in common; has_lanes: each lane evaluates a fit. */
typedef struct group {
    pyspec_many *many;
    pyspec_slot *slots;
    const pyspec_part *part;
    fits_beside beside;
    lane_work lanes;
    const double *sums; /* of all lanes, after an evaluation */
    run run;            /* of evaluations side by side */
    int n, has_lanes;
} group;

/* A part with the problem of a case. */
typedef struct own_part {
    pyspec_problem problem;
    pyspec_call call;
    pyspec_part part;
} own_part;

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

static void take_own(const pyspec_many *m, const pyspec_slot *slot, own_part *o)
{
    o->problem = problem_of(m, slot);
    o->call = *slot->part->call;
    o->part = *slot->part;
    o->call.problem = &o->problem;
    o->part.call = &o->call;
}

/* ---- lanes ------------------------------------------------------------------------------- */

/* Whether fits of a plan can be evaluated side by side: it has one spectrum, and nothing moves along it. */
static int is_for_lanes(const pyspec_plan *plan)
{
    int found = plan->dimension == 1 && plan->trace < 0 && plan->depends >= 0 && plan->n_external == 0 &&
                plan->separable < 0;
    for (int64_t k = 0; found && k < plan->n_nodes; k++) {
        const pyspec_node *node = &plan_nodes(plan)[k];
        found = k < plan->n_resolve
                    ? node->stage == PYSPEC_STAGE_PROBLEM && node->step != PYSPEC_STEP_LAW
                    : node->step != PYSPEC_STEP_EXTERNAL;
    }
    return found;
}

static fits_beside divide_beside(const pyspec_plan *plan, const pyspec_problem *q, int is_weighted, double *base)
{
    fits_beside b = {0};
    const int64_t n = q->x_end - q->x_begin;
    int64_t used = 0;
#define TAKE(part, count) (b.part = take_part(base, &used, count))
    TAKE(fixed, plan->n_fixed * L);
    TAKE(problems, L * (int64_t)(sizeof(pyspec_problem) / sizeof(double)));
    TAKE(data, n * L);
    TAKE(weight, n * L);
#undef TAKE
    b.size = used * (int64_t)sizeof(double);
    b.weight = is_weighted ? b.weight : NULL;
    return b;
}

int64_t pyspec_beside_size(const pyspec_plan *plan, const pyspec_problem *problem)
{
    if (!plan || !problem || !is_for_lanes(plan))
        return 0;
    return divide_beside(plan, problem, 1, NULL).size +
           divide_lanes(plan->n_theta, NULL).size * (int64_t)sizeof(double);
}

/* Whether a slot has a case, and its solver the state in its lane. */
static int is_in_lane(const group *g, int l)
{
    return g->has_lanes && g->slots[l].at >= 0 && g->lanes.alone[l] == 0.0;
}

/* Puts a case into its lane. */
static void load_lane(const group *g, int l, const pyspec_problem *q)
{
    const fits_beside *b = &g->beside;
    const int64_t n_fixed = g->part->call->plan->n_fixed;
    for (int64_t k = 0; k < n_fixed; k++)
        b->fixed[k * L + l] = q->fixed[k];
    b->problems[l] = *q;
    if (q->loss == PYSPEC_LOSS_SQUARES)
        pyspec_load_beside(q, q->row_begin, b->data + l, b->weight ? b->weight + l : NULL);
}

/* In lanes all sums are found, also for a solver that asks for chi^2 alone. */
static int asks_for(const group *g, int l, int form)
{
    const pyspec_solver *s = g->slots[l].solver;
    if (is_in_lane(g, l))
        return form == PYSPEC_FORM_GRAM;
    return g->slots[l].at >= 0 && s->every == 1 && s->form == form;
}

/* The values of the lanes that ask for sums of a form; free ones repeat one of these. Returns how many ask. */
static int load_values(const group *g, int form)
{
    const fits_beside *b = &g->beside;
    const pyspec_plan *plan = g->part->call->plan;
    int n = 0, one = -1;
    for (int l = 0; l < g->n; l++) {
        if (!asks_for(g, l, form))
            continue;
        for (int64_t k = 0; !is_in_lane(g, l) && k < plan->n_theta; k++)
            b->theta[k * L + l] = g->slots[l].solver->trial[k];
        one = l;
        n++;
    }
    for (int l = 0; n && l < L; l++) {
        const int is_idle = g->slots[l].at < 0, is_free = !asks_for(g, l, form) && !is_in_lane(g, l);
        for (int64_t k = 0; is_free && k < plan->n_theta; k++)
            b->theta[k * L + l] = b->theta[k * L + one];
        for (int64_t k = 0; is_idle && k < plan->n_fixed; k++)
            b->fixed[k * L + l] = b->fixed[k * L + one];
        if (is_idle) /* a lane that has had no case has no data to read */
            b->problems[l] = b->problems[one];
    }
    return n;
}

/* Answers all who ask for sums of a form side by side. */
static int answer_beside(group *g, int form)
{
    const int n = load_values(g, form);
    const int64_t size = triangle_size(g->part->n_theta + 1);
    const int status = n ? pyspec_sum_beside(&g->run, g->part->call, &g->beside, form, &g->sums) : STATUS_OK;
    for (int l = 0; n && !status && l < g->n; l++)
        for (int64_t k = 0; asks_for(g, l, form) && !is_in_lane(g, l) && k < size; k++)
            g->slots[l].solver->answer[k] = g->sums[k * L + l];
    __atomic_add_fetch(&g->many->n_beside, n, __ATOMIC_RELAXED);
    return status;
}

static int answer_alone(const group *g, const pyspec_slot *slot)
{
    own_part own;
    take_own(g->many, slot, &own);
    __atomic_add_fetch(&g->many->n_alone, 1, __ATOMIC_RELAXED);
    return pyspec_answer(slot->solver, &own.part, 1, NULL);
}

/* Answers all solvers of a group. The sums of those in lanes come last: they are read where they were found. */
static int answer_all(group *g)
{
    int status = STATUS_OK;
    for (int l = 0; !status && l < g->n; l++) {
        const int is_beside = g->has_lanes && (asks_for(g, l, PYSPEC_FORM_GRAM) || asks_for(g, l, PYSPEC_FORM_FISHER));
        if (g->slots[l].at >= 0 && !is_beside)
            status = answer_alone(g, &g->slots[l]);
    }
    if (!status && g->has_lanes)
        status = answer_beside(g, PYSPEC_FORM_FISHER);
    return !status && g->has_lanes ? answer_beside(g, PYSPEC_FORM_GRAM) : status;
}

/* ---- cases ------------------------------------------------------------------------------- */

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

/* Begins with a case. Returns 0 where there is nothing to fit: fewer points than parameters, or not a single count. */
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
    const int is_empty = q->loss == PYSPEC_LOSS_POISSON && s->data_square == 0.0;
    s->end = is_enough && !is_empty ? PYSPEC_END_RUNNING : PYSPEC_END_DEGENERATE;
    return is_enough && !is_empty;
}

static int has_ending(const pyspec_solver *s)
{
    return s->end == PYSPEC_END_CONVERGED || (s->end == PYSPEC_END_DEGENERATE && s->nfev > 0);
}

static int find_ending(const pyspec_many *m, const pyspec_slot *slot)
{
    const pyspec_solver *s = slot->solver;
    pyspec_end *end = slot->end;
    end->flags = 0;
    end->distance = NAN;
    if (!has_ending(s))
        return STATUS_OK;
    end->n_free = s->n_points > s->n ? s->n_points - s->n : 1;
    end->is_scaled = m->is_scaled;
    end->has_information = slot->part->call->problem->loss == PYSPEC_LOSS_POISSON;
    memset(end->held, 0, (size_t)s->n * sizeof *end->held);
    if (end->has_information) {
        if (!end->information)
            return STATUS_NULL_POINTER;
        own_part own;
        take_own(m, slot, &own);
        const int status = pyspec_information_at(&own.part, 1, s->theta, s->n, end->information);
        if (status)
            return status;
    }
    return -pyspec_end_of(s, end);
}

/* Finds the ending of a fit that is done, and goes on where it is in doubt; `answer` is what it did last. A fit of counts
 * in doubt that has no search is left to the caller: it is not certain. */
static int search_on(const pyspec_many *m, const pyspec_slot *slot, int answer)
{
    const pyspec_solver *s = slot->solver;
    /* A search under way has come back to an optimum that is known. */
    const int is_known = slot->search && slot->search->way != 0 && pyspec_search_is_back(slot->search);
    if (answer != PYSPEC_FIT_DONE || is_known)
        return answer;
    pyspec_end *end = slot->end;
    const int status = find_ending(m, slot);
    if (status || (slot->search && slot->search->way != 0))
        return status ? -status : answer;
    /* An ending by the factor of J says itself whether it is weak; otherwise the sums say it. */
    const int is_weak = (end->flags & PYSPEC_ENDING_WEAK) != 0, is_of_j = has_ending(s) && !end->has_information;
    const int is_in_doubt = is_of_j ? is_weak : pyspec_is_in_doubt(s, end->work);
    if (is_in_doubt && !slot->search && end->has_information)
        end->flags = 0;
    if (!is_in_doubt || !slot->search)
        return answer;
    pyspec_begin_span(slot->part);
    return pyspec_search_step(slot->search);
}

/* Writes down what a case has come to. */
static int end_case(pyspec_many *m, const pyspec_slot *slot, const pyspec_part *part)
{
    const pyspec_solver *s = slot->solver;
    const int64_t n = s->n, size = triangle_size(n + 1);
    pyspec_end *end = slot->end;
    double *out = m->numbers + slot->at * (3 * n + n * n + size);
    const int status = m->sizes ? -pyspec_look_closer(s, end, m->sizes, part, 1, NULL) : STATUS_OK;
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

/* Ends a case whose fit is done. */
static int leave(const group *g, pyspec_slot *slot)
{
    own_part own;
    take_own(g->many, slot, &own);
    const int status = end_case(g->many, slot, &own.part);
    slot->at = -1;
    return status;
}

/* Gives a slot a case, until one asks for something or none is left. */
static int take_case(const group *g, int l)
{
    pyspec_many *m = g->many;
    pyspec_slot *slot = &g->slots[l];
    int status = STATUS_OK;
    while (!status && slot->at < 0) {
        slot->at = __atomic_fetch_add(&m->next, 1, __ATOMIC_RELAXED);
        if (slot->at >= m->n_cases) {
            slot->at = -1;
            return STATUS_OK;
        }
        const pyspec_problem q = problem_of(m, slot);
        int answer = PYSPEC_FIT_DONE;
        if (begin_case(m, slot, &q)) {
            if (g->has_lanes)
                load_lane(g, l, &q);
            answer = search_on(m, slot, pyspec_fit_first(slot->solver, slot->part, 1));
            if (g->has_lanes)
                pyspec_enter_lane(slot->solver, &g->lanes, l);
        } else {
            find_ending(m, slot);
        }
        status = answer < 0 ? -answer : answer == PYSPEC_FIT_DONE ? leave(g, slot) : STATUS_OK;
    }
    return status;
}

static int count_open(const group *g)
{
    int n = 0;
    for (int l = 0; l < g->n; l++)
        n += g->slots[l].at >= 0;
    return n;
}

/* Every slot of a group has a case whose solver asks for something, or none is left. */
static int fill_group(const group *g)
{
    int status = STATUS_OK;
    for (int l = 0; !status && l < g->n; l++)
        status = take_case(g, l);
    return status;
}

#if PYSPEC_X86
static const lane_ops *const LANE_OPS[N_ISA] = {&pyspec_lane_ops, &pyspec_lane_ops_avx2, &pyspec_lane_ops_avx512};
#else
static const lane_ops *const LANE_OPS[N_ISA] = {&pyspec_lane_ops, &pyspec_lane_ops, &pyspec_lane_ops};
#endif

/* What the solvers of a group do with their answers. A solver whose fit has ended gets its best point back from its
 * lane. */
static void step_solvers(const group *g, int *answers)
{
    pyspec_solver *in_lanes[L];
    int any = 0;
    for (int l = 0; g->has_lanes && l < L; l++) {
        in_lanes[l] = is_in_lane(g, l) ? g->slots[l].solver : NULL;
        any |= in_lanes[l] != NULL;
    }
    for (int l = 0; l < g->n; l++) {
        const pyspec_slot *slot = &g->slots[l];
        const int is_searching = slot->search && slot->search->way != 0;
        if (slot->at >= 0 && !is_in_lane(g, l))
            answers[l] = is_searching ? pyspec_search_step(slot->search) : pyspec_fit_step(slot->solver);
    }
    if (any)
        pyspec_step_lanes(in_lanes, &g->lanes, LANE_OPS[g->part->call->isa], g->sums, answers);
    for (int l = 0; l < g->n; l++)
        if (is_in_lane(g, l) && answers[l] == PYSPEC_FIT_DONE) {
            pyspec_read_point(g->slots[l].solver, &g->lanes, l);
            g->lanes.alone[l] = 1.0;
        }
}

static int step_group(const group *g)
{
    int status = STATUS_OK, answers[L];
    step_solvers(g, answers);
    for (int l = 0; !status && l < g->n; l++) {
        if (g->slots[l].at < 0)
            continue;
        const int answer = search_on(g->many, &g->slots[l], answers[l]);
        status = answer < 0 ? -answer : answer == PYSPEC_FIT_DONE ? leave(g, &g->slots[l]) : STATUS_OK;
    }
    return status;
}

static int64_t group_size(const pyspec_many *m)
{
    return m->beside ? L : 1;
}

/* Cases in a group, until none is left or the budget is used up. */
static int run_group(void *job, int64_t task, int64_t thread)
{
    const many_job *j = job;
    pyspec_many *m = j->many;
    group g = {.many = m, .slots = m->slots + task * group_size(m), .n = (int)group_size(m)};
    (void)thread;
    g.part = g.slots->part;
    g.has_lanes = m->beside != NULL;
    if (g.has_lanes) {
        double *own = m->beside + task * (m->beside_size / (int64_t)sizeof(double));
        const pyspec_call *call = g.part->call;
        g.beside = divide_beside(call->plan, call->problem, m->weight || m->keep, own);
        g.lanes = divide_lanes(call->plan->n_theta, own + g.beside.size / (int64_t)sizeof(double));
        g.beside.theta = g.lanes.trial;
    }
    int status = fill_group(&g);
    for (int64_t used = 0; !status && used < j->budget && count_open(&g) > 0; used++) {
        status = answer_all(&g);
        status = status ? status : step_group(&g);
        status = status ? status : fill_group(&g);
    }
    return status;
}

/* Whether the lanes of groups can be fits. */
static int may_be_beside(const pyspec_many *m)
{
    int found = m->n_slots % L == 0;
    for (int64_t k = 0; found && k < m->n_slots; k++) {
        const pyspec_part *part = m->slots[k].part;
        found = part == m->slots[k / L * L].part && part->n_theta == m->slots[k].solver->n &&
                part->n_theta == part->call->plan->n_theta &&
                m->beside_size >= pyspec_beside_size(part->call->plan, part->call->problem) &&
                is_for_lanes(part->call->plan);
        for (int64_t i = 0; found && part->gather && i < part->n_theta; i++)
            found = part->gather[i] == i;
    }
    return found;
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
    if (many->beside && !may_be_beside(many))
        return -STATUS_SIZE;
    const int status = pyspec_share(team, run_group, &job, many->n_slots / group_size(many));
    many->next = many->next < many->n_cases ? many->next : many->n_cases;
    if (status)
        return -status;
    return many->n_done < many->n_cases ? PYSPEC_FIT_AGAIN : PYSPEC_FIT_DONE;
}
