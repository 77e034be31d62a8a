/* lm_solve.c: Levenberg-Marquardt on chi^2, J^T r and J^T J, as a state machine in the caller's
 * memory. Bounds are an active set in the parameters themselves: a parameter that a step would take
 * out of its bounds stops there, and a new step is found for the others. Convergence is judged on
 * the undamped step, by its promised decrease of chi^2 in units of the variance of a point. The
 * root of that is the distance to the optimum in standard errors.
 *
 * The damping follows the ratio of the decrease seen to that promised (H. B. Nielsen, "Damping
 * parameter in Marquardt's method", IMM-REP-1999-05), in units of the largest column norms lately
 * (J. J. Moré, Lecture Notes in Mathematics 630 (1978) 105). */
#include "solver/solver.h"

/* A step multiplies the damping by this at least. Where chi^2 fell by what was promised to within SURE,
 * the linear model holds, and the least is SURE_FACTOR. Measured on 948 fits (bench.evaluations). */
static const double LEAST_FACTOR = 0.1, SURE_FACTOR = 0.03, SURE = 0.1;

static const double FIRST_DAMPING = 1.0, LEAST_DAMPING = 1e-15, MOST_DAMPING = 1e30;

/* A first step with BOLD_DAMPING is tried before. It is not tried if it is BOLD_LENGTH times as long as the step with
 * the first damping, or goes to a bound. Such a step goes far along a direction with little information in the data,
 * and more fits end at another optimum. It is kept if chi^2 falls by BOLD_LEAST to BOLD_MOST of the promised decrease.
 * This rule and its limits were measured on 948 fits (bench.evaluations). */
static const double BOLD_DAMPING = 1e-2, BOLD_LEAST = 0.8, BOLD_MOST = 1.6;

/* In place of an undamped step where the normal equations have none. */
static const double LIGHT_DAMPING = 1e-10;

/* A decrease of less than this share of what was promised is refused. */
static const double LEAST_GAIN = 1e-4;

/* An undamped step has left a bent valley if chi^2 rises by more than MOST_RISE times the promised decrease. After two
 * such steps in a row only every second step is tried undamped first, then every fourth, then every eighth, until a
 * step is accepted. Waiting until damping hardly mattered lost four of 500 random models. */
static const double MOST_RISE = 20.0;
enum { MOST_WILD = 4 };

/* Farther off, a parameter goes at most this share of the way to a bound at once. The linear model of
 * the first steps is coarse, and at a bound a parameter can lose its meaning. An example is the
 * mixing of a line at 1: its slope is a sum of those by width, height and a background. */
static const double SHARE_OF_WAY = 0.75;

/* A fit of n parameters begins on a part of the rows if its start is farther than PART_FAR sqrt(n) standard errors of
 * that part. It goes on with all rows, and PART_DAMPING, once it is nearer than NEAR_OPTIMUM. It begins again, with
 * all rows, in one of these cases:
 *   - The part took the work of MOST_OF_PART evaluations of all rows.
 *   - chi^2 of all rows, a degree of freedom, is PART_WORSE times that of the part.
 *   - The optimum of all rows is farther than PART_AWAY[0] sqrt(n), [1] and [2] standard errors after 0, 1, 2 steps.
 *   - A step with all rows is refused.
 * Real data that no model describes were 20 sqrt(n) away. A part with little information on a parameter leads
 * elsewhere. An example is a motion that is small beside the noise. Without these limits some fits ended there
 * (tests/fit/solve/test_part_of_the_rows.py). */
static const double PART_FAR = 4.0, PART_DAMPING = 1e-4, PART_WORSE = 1.25;
static const double PART_AWAY[] = {40.0, 3.0, 0.2};
enum { MOST_OF_PART = 2, N_WATCHED = 3 };

/* Steps in a row that come no nearer before rounding is taken to be the reason; and how near, in
 * standard errors, that may be called converged. */
enum { MOST_IDLE = 6 };
static const double ROUNDING_DISTANCE = 1e-3;

/* Over so many evaluations chi^2 must fall by a hundredth of itself, or by this share of what the
 * undamped step promises; else the fit creeps along a valley. Measured on 4,000 fits from random starts,
 * where creeping fits took up to 8,900 evaluations. */
enum { SLOW_WINDOW = 250 };
static const double SLOW_SHARE = 1e-2, SLOW_GAIN = 0.05;

/* What has become of a fit over such a window. */
enum { PACE_GOOD, PACE_SLOW, PACE_ROUNDING };

int64_t pyspec_fit_work_size(int64_t n)
{
    return divide(n, NULL).size * (int64_t)sizeof(double);
}

/* ---- the state machine -------------------------------------------------------------- */

/* theta + step, inside of the bounds to the last bit. Returns whether it is another point. */
static int set_trial(pyspec_solver *s, const double *step)
{
    const double *lower = s->lower, *upper = s->lower + s->n;
    int differs = 0;
    for (int64_t j = 0; j < s->n; j++) {
        double to = s->theta[j] + step[j];
        s->trial[j] = to < lower[j] ? lower[j] : to > upper[j] ? upper[j] : to;
        differs |= s->trial[j] != s->theta[j];
    }
    return differs;
}

static int begin_again(pyspec_solver *s);

static int finish(pyspec_solver *s, int end)
{
    if (is_part(s))
        return begin_again(s);
    s->end = end == PYSPEC_END_CONVERGED && !wanted_by(s)->has_columns ? PYSPEC_END_DEGENERATE : end;
    return PYSPEC_FIT_DONE;
}

static int ask(pyspec_solver *s, int phase, int form)
{
    if (s->nfev >= s->max_nfev)
        return finish(s, PYSPEC_END_LIMIT);
    s->phase = phase;
    s->form = form;
    s->n_part += is_part(s);
    s->nfev += !is_part(s);
    return PYSPEC_FIT_NEED_NORMAL;
}

/* No step has been tried from here. */
static void begin_steps(pyspec_solver *s)
{
    s->n_steps = 0;
    s->n_rejected = 0;
    s->n_idle = 0;
    s->growth = 2.0;
}

/* From here on all rows are asked for; what the part of them took counts by its share. */
static void take_all_rows(pyspec_solver *s)
{
    s->nfev += s->n_part / s->every;
    s->every = 1;
    begin_steps(s);
}

/* Forgets all that a fit has learnt on its way. */
static void forget(pyspec_solver *s)
{
    const solver_work w = divide(s->n, s->work);
    fill(w.largest, 0.0, s->n);
    fill(w.bend, 0.0, s->n * s->n);
    begin_steps(s);
    s->damping = FIRST_DAMPING;
    s->nearest = HUGE_VAL;
    s->chisqr = HUGE_VAL;
    s->needs_factor = 0;
    s->n_wild = 0;
    s->mark_nfev = 0;
}

/* All rows from the start: a part of them was not needed, or has led nowhere. */
static int begin_again(pyspec_solver *s)
{
    const solver_work w = divide(s->n, s->work);
    if (is_part(s))
        take_all_rows(s);
    forget(s);
    s->n_part = 0;
    memcpy(s->theta, w.start, (size_t)s->n * sizeof(double));
    memcpy(s->trial, w.start, (size_t)s->n * sizeof(double));
    return ask(s, PYSPEC_PHASE_FIRST, PYSPEC_FORM_GRAM);
}

/* Whether a part of the rows takes a parameter to a bound, where it may lose its meaning. */
static int is_at_new_bound(const pyspec_solver *s)
{
    const double *start = divide(s->n, s->work).start, *lower = s->lower, *upper = s->lower + s->n;
    for (int64_t j = 0; j < s->n; j++) {
        const int is_at = s->trial[j] <= lower[j] || s->trial[j] >= upper[j];
        if (is_at && start[j] > lower[j] && start[j] < upper[j])
            return 1;
    }
    return 0;
}

/* The optimum of a part of the rows is near: all of them, at the end of the undamped step. */
static int go_on(pyspec_solver *s)
{
    const solver_work w = divide(s->n, s->work);
    set_trial(s, w.undamped);
    if (is_at_new_bound(s))
        return begin_again(s);
    s->part = variance(s);
    take_all_rows(s);
    s->damping = PART_DAMPING;
    return ask(s, PYSPEC_PHASE_FIRST, PYSPEC_FORM_GRAM);
}

static int normal_form(const pyspec_solver *s)
{
    return s->needs_factor ? PYSPEC_FORM_FACTOR : PYSPEC_FORM_GRAM;
}

/* Waits for a step; pyspec_fit_go_on has it. */
static int want(pyspec_solver *s, int kind, double damping, double share)
{
    wanted_step *step = wanted_by(s);
    step->kind = kind;
    step->damping = damping;
    step->share = share;
    return FIT_WANTS_STEP;
}

/* Whether the normal equations are good enough for the undamped step; else it is lightly damped. */
static int is_good(const pyspec_solver *s)
{
    return s->condition < CONDITION_LIMIT || has_factor(s);
}

/* How far the optimum is, in standard errors, by the undamped step. */
static void find_distance(pyspec_solver *s)
{
    s->promised = wanted_by(s)->promised;
    if (isnan(s->promised) || s->promised < -rounding(s))
        s->promised = HUGE_VAL;
    else if (s->promised < 0.0)
        s->promised = 0.0;
    s->distance = s->promised == 0.0 ? 0.0 : sqrt(s->promised / variance(s));
}

/* How chi^2 has fallen since the mark; sets the next mark. Near the optimum, where an evaluation has
 * changed it by no more than rounding may, nothing else is to come. */
static int pace(pyspec_solver *s)
{
    const int64_t n_since = s->nfev - s->mark_nfev;
    const double fall = s->mark_chisqr - s->chisqr;
    const int is_first = s->mark_nfev == 0;
    if (!is_first && n_since < SLOW_WINDOW)
        return PACE_GOOD;
    s->mark_nfev = s->nfev;
    s->mark_chisqr = s->chisqr;
    if (is_first)
        return PACE_GOOD;
    if (s->distance <= ROUNDING_DISTANCE && fall <= (double)n_since * rounding(s))
        return PACE_ROUNDING;
    return fall < SLOW_SHARE * s->chisqr && fall < SLOW_GAIN * s->promised ? PACE_SLOW : PACE_GOOD;
}

/* Whether a fit of a part of the rows goes on with all of them, or begins again. -1: neither yet. */
static int judge_part(pyspec_solver *s, double exact)
{
    if (s->n_part == 1 && s->distance < PART_FAR * sqrt((double)s->n))
        return begin_again(s);
    if (s->distance < NEAR_OPTIMUM || s->promised <= exact || s->chisqr <= exact)
        return is_good(s) && wanted_by(s)->has_columns ? go_on(s) : begin_again(s);
    return s->n_part >= MOST_OF_PART * s->every ? begin_again(s) : -1;
}

/* Whether the best point is near enough. -1: go on. */
static int judge(pyspec_solver *s)
{
    const double exact = 64.0 * DBL_EPSILON * DBL_EPSILON * s->data_square;
    if (is_part(s))
        return judge_part(s, exact);
    if (!is_good(s) && (s->distance < NEAR_OPTIMUM || s->promised <= exact)) {
        s->needs_factor = 1;
        memcpy(s->trial, s->theta, (size_t)s->n * sizeof(double));
        return ask(s, PYSPEC_PHASE_NORMAL, PYSPEC_FORM_FACTOR);
    }
    if (s->distance <= s->tolerance || s->promised <= exact || s->chisqr <= exact)
        return finish(s, PYSPEC_END_CONVERGED);
    const int is_close = s->distance <= ROUNDING_DISTANCE;
    s->n_idle = !is_close || s->distance < s->nearest ? 0 : s->n_idle + 1;
    s->nearest = s->distance < s->nearest ? s->distance : s->nearest;
    const int found = pace(s);
    if (s->n_idle >= MOST_IDLE || found == PACE_ROUNDING)
        return finish(s, PYSPEC_END_CONVERGED);
    return found == PACE_SLOW ? finish(s, PYSPEC_END_SLOW) : -1;
}

/* Whether the undamped step is tried next. */
static int tries_undamped(const pyspec_solver *s)
{
    const int64_t n_wild = s->n_wild < MOST_WILD ? s->n_wild : MOST_WILD;
    const int64_t turn = n_wild > 1 ? (int64_t)1 << (n_wild - 1) : 1;
    return s->distance < NEAR_OPTIMUM && s->n_rejected == 0 && s->n_steps % turn == 0;
}

/* Chooses the next trial point: waits for the step to it. */
static int propose(pyspec_solver *s)
{
    const double share = s->distance < NEAR_OPTIMUM ? 1.0 : SHARE_OF_WAY;
    if (tries_undamped(s))
        return want(s, STEP_BENT, 0.0, 1.0);
    return want(s, STEP_DAMPED, s->damping, share);
}

/* Tries a step, unless it leads nowhere. */
static int try_step(pyspec_solver *s, int phase)
{
    if (!(s->damping < MOST_DAMPING) || !wanted_by(s)->moves)
        return finish(s, s->distance <= ROUNDING_DISTANCE ? PYSPEC_END_CONVERGED
                                                           : PYSPEC_END_STALLED);
    return ask(s, phase, s->n_rejected ? PYSPEC_FORM_VALUE : normal_form(s));
}

/* Tries the damped step, or damps it more where there is none. */
static int try_damped(pyspec_solver *s)
{
    s->expected = wanted_by(s)->promised;
    if (s->expected >= 0.0)
        return try_step(s, PYSPEC_PHASE_TRIAL);
    s->damping *= 10.0;
    return s->damping < MOST_DAMPING ? propose(s) : try_step(s, PYSPEC_PHASE_TRIAL);
}

/* Whether a step is short beside another, in units of the columns, and stops at no bound. */
static int is_modest(const pyspec_solver *s, const double *step, const double *other)
{
    const solver_work w = divide(s->n, s->work);
    double length = 0.0, limit = 0.0;
    for (int64_t j = 0; j < s->n; j++) {
        const double own = w.norm[j] * step[j], its = BOLD_LENGTH * w.norm[j] * other[j];
        if (w.held[j] != 0.0 && step[j] != 0.0)
            return 0;
        length += own * own;
        limit += its * its;
    }
    return length < limit;
}

/* The first trial point, at the end of the bold step. */
static int try_boldly(pyspec_solver *s)
{
    const wanted_step *step = wanted_by(s);
    s->expected = step->promised;
    if (!(s->expected >= 0.0) || !step->is_modest || !step->moves)
        return propose(s);
    return ask(s, PYSPEC_PHASE_BOLD, normal_form(s));
}

/* Whether a part of the rows has led to this point, so few steps ago that it may have misled the fit. */
static int is_watched(const pyspec_solver *s)
{
    return s->n_part > 0 && !is_part(s) && s->n_steps < N_WATCHED;
}

/* Whether the optimum of all rows is too far away: after a part that did not mislead the fit it is nearer. */
static int is_misled(const pyspec_solver *s)
{
    const double unit = s->n_steps == 0 ? sqrt((double)s->n) : 1.0;
    return is_watched(s) && s->distance > PART_AWAY[s->n_steps] * unit;
}

static int refuse(pyspec_solver *s, double gain)
{
    if (is_watched(s) && s->distance > PART_AWAY[N_WATCHED - 1])
        return begin_again(s);
    if (s->phase != PYSPEC_PHASE_UNDAMPED) {
        s->damping *= s->growth;
        s->growth *= 2.0;
    } else if (!(gain > -MOST_RISE)) {
        s->n_wild++;
    }
    s->n_rejected++;
    return propose(s);
}

static int accept(pyspec_solver *s, double value)
{
    s->needs_factor = s->form == PYSPEC_FORM_FACTOR ? 2 : s->needs_factor;
    wanted_by(s)->value = value;
    return want(s, STEP_TAKE, 0.0, 1.0);
}

/* A new best point. */
static int look_around(pyspec_solver *s)
{
    if (is_watched(s) && s->n_steps == 0 && variance(s) > PART_WORSE * s->part)
        return begin_again(s);
    return want(s, STEP_UNDAMPED, 0.0, 1.0);
}

/* Goes on from the best point, whose distance is known. */
static int leave_point(pyspec_solver *s)
{
    find_distance(s);
    const int answer = judge(s);
    if (answer >= 0)
        return answer;
    if (is_misled(s))
        return begin_again(s);
    const int is_bold = s->n_steps == 0 && !is_watched(s) && s->distance >= NEAR_OPTIMUM;
    return is_bold ? want(s, STEP_USUAL, FIRST_DAMPING, SHARE_OF_WAY) : propose(s);
}

/* The answer at the trial point. */
static int compare(pyspec_solver *s, double value)
{
    const double decrease = s->chisqr - value;
    const double gain = decrease / s->expected, noise = rounding(s);
    const int is_rounding = s->expected <= noise && decrease >= -noise;
    if (s->phase == PYSPEC_PHASE_BOLD) {
        if (!(gain > BOLD_LEAST && gain < BOLD_MOST))
            return propose(s);
        s->damping = BOLD_DAMPING;
    }
    if (!(is_rounding || (decrease > 0.0 && gain > LEAST_GAIN)))
        return refuse(s, gain);
    s->n_wild = s->phase == PYSPEC_PHASE_UNDAMPED ? 0 : s->n_wild;
    if (!is_rounding && s->phase != PYSPEC_PHASE_UNDAMPED) {
        const double least = fabs(gain - 1.0) < SURE ? SURE_FACTOR : LEAST_FACTOR;
        const double bend = 2.0 * gain - 1.0, factor = 1.0 - bend * bend * bend;
        s->damping *= factor > least ? factor : least;
        s->damping = s->damping > LEAST_DAMPING ? s->damping : LEAST_DAMPING;
    }
    s->growth = 2.0;
    s->n_rejected = 0;
    s->n_steps++;
    if (s->form == PYSPEC_FORM_VALUE)
        return ask(s, PYSPEC_PHASE_NORMAL, normal_form(s));
    return accept(s, value);
}

static int start(pyspec_solver *s)
{
    const solver_work w = divide(s->n, s->work);
    const double *lower = s->lower, *upper = s->lower + s->n;
    forget(s);
    for (int64_t j = 0; j < s->n; j++)
        s->trial[j] = s->theta[j] < lower[j]   ? lower[j]
                      : s->theta[j] > upper[j] ? upper[j]
                                               : s->theta[j];
    s->every = s->every > 1 ? s->every : 1;
    memcpy(w.start, s->trial, (size_t)s->n * sizeof(double));
    return ask(s, PYSPEC_PHASE_FIRST, PYSPEC_FORM_GRAM);
}

int pyspec_fit_begin(pyspec_solver *s, double value)
{
    if (s->end != PYSPEC_END_RUNNING)
        return PYSPEC_FIT_DONE;
    if (s->phase == PYSPEC_PHASE_START)
        return start(s);
    if (s->phase != PYSPEC_PHASE_FIRST && s->phase != PYSPEC_PHASE_NORMAL)
        return compare(s, value);
    if (isfinite(value))
        return accept(s, value);
    if (s->phase == PYSPEC_PHASE_FIRST)
        return s->n_part > 0 ? begin_again(s) : finish(s, PYSPEC_END_NOT_FINITE);
    return refuse(s, NAN);
}

int pyspec_fit_go_on(pyspec_solver *s)
{
    const wanted_step *step = wanted_by(s);
    switch (step->kind) {
    case STEP_TAKE: return look_around(s);
    case STEP_UNDAMPED:
        s->promised = step->promised;
        s->condition = step->pivot > 0.0 ? 1.0 / step->pivot : HUGE_VAL;
        if (!is_good(s) || !(s->promised >= -rounding(s)))
            return want(s, STEP_LIGHT, LIGHT_DAMPING, 1.0);
        return leave_point(s);
    case STEP_LIGHT: return leave_point(s);
    case STEP_USUAL: return want(s, STEP_BOLD, BOLD_DAMPING, SHARE_OF_WAY);
    case STEP_BOLD: return try_boldly(s);
    case STEP_BENT: s->expected = step->promised; return try_step(s, PYSPEC_PHASE_UNDAMPED);
    default: return try_damped(s);
    }
}

/* Whether every parameter has an effect. */
static int has_all_columns(const pyspec_solver *s)
{
    const solver_work w = divide(s->n, s->work);
    for (int64_t j = 0; j < s->n; j++)
        if (!(w.norm[j] > 0.0))
            return 0;
    return 1;
}

void pyspec_find_wanted(pyspec_solver *s)
{
    wanted_step *step = wanted_by(s);
    const solver_work w = divide(s->n, s->work);
    double *to = place_of_step(&w);
    if (step->kind == STEP_TAKE) {
        pyspec_take_answer(s, step->value);
        step->has_columns = has_all_columns(s);
        return;
    }
    step->promised = step->kind == STEP_BENT ? pyspec_bent_step(s, to)
                                             : pyspec_find_step(s, step->damping, step->share, to, &step->pivot);
    if (step->kind >= STEP_BOLD)
        step->moves = set_trial(s, to);
    if (step->kind == STEP_BOLD)
        step->is_modest = is_modest(s, to, w.last);
}

int pyspec_fit_answer(pyspec_solver *s, int answer)
{
    while (answer == FIT_WANTS_STEP) {
        pyspec_find_wanted(s);
        answer = pyspec_fit_go_on(s);
    }
    return answer;
}

int pyspec_fit_step(pyspec_solver *s)
{
    if (!s)
        return -STATUS_NULL_POINTER;
    const int is_answered = s->end == PYSPEC_END_RUNNING && s->phase != PYSPEC_PHASE_START;
    return pyspec_fit_answer(s, pyspec_fit_begin(s, is_answered ? pyspec_answer_value(s) : NAN));
}
