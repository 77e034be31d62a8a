/* lane_steps.c: best points and steps of several solvers, a solver in each lane: what lm_point.c, lm_bend.c and
 * lm_step.c do for one. Steps that need more than the normal equations of the free parameters are left to these.
 * Compiled for each instruction set without FMA (isa/laws_avx2.c): all give the same bits. */
#include "solver/lane_steps.h"
#include "isa/vector.h"

#define JK(j, k) (((j) * n + (k)) * L + at)
#define UPPER(j, k) ((j) < (k) ? JK(j, k) : JK(k, j))
#define J(j) ((j) * L + at)

/* 1 where a condition holds, else 0. A product of two says whether both do, a sum other than 0 whether any does. */
#define FLAG(condition) choose(condition, same_in_all(1.0), NOTHING)

/* Vectors of which a lane waits for a step. */
#define FOR_SOUGHT FOR_WIDTHS if (any_of(load_vector(w->seeks + at) >= 0.0))

static ALWAYS_INLINE vector absolute(vector a)
{
    return choose(a < 0.0, -a, a);
}

static void find_values(int64_t n, const lane_work *w, const double *sums)
{
    const int64_t size = triangle_size(n + 1);
    FOR_WIDTHS {
        vector odd = NOTHING; /* NaN if any is not finite */
        for (int64_t k = 0; k < size; k++)
            odd = odd + NOTHING * load_vector(sums + J(k));
        put_vector(w->value + at, load_vector(sums + J(size - 1)) + odd, 1);
    }
}

/* The new best points; steps to them into `last`, and by how much gradients fell into `solution`. */
static ALWAYS_INLINE vector take_points(int64_t n, const lane_work *w, const double *sums, int at)
{
    const vector takes = load_vector(w->takes + at);
    vector moved = NOTHING;
    for (int64_t j = 0; j < n; j++) {
        const vector theta = load_vector(w->theta + J(j)), trial = load_vector(w->trial + J(j));
        const vector before = load_vector(w->gradient + J(j));
        const vector gradient = load_vector(sums + J(triangle_at(n + 1, j, n)));
        put_vector(w->last + J(j), trial - theta, 1);
        put_vector(w->solution + J(j), before - gradient, 1);
        put_vector(w->theta + J(j), choose(takes != 0.0, trial, theta), 1);
        put_vector(w->gradient + J(j), choose(takes != 0.0, gradient, before), 1);
        for (int64_t k = j; k < n; k++) {
            const vector entry = load_vector(sums + J(triangle_at(n + 1, j, k)));
            put_vector(w->curvature + JK(j, k),
                       choose(takes != 0.0, entry, load_vector(w->curvature + JK(j, k))), 1);
        }
        const vector norm = square_root(load_vector(w->curvature + JK(j, j)));
        const vector largest = load_vector(w->largest + J(j));
        put_vector(w->norm + J(j), norm, 1);
        put_vector(w->largest + J(j), choose(takes != 0.0, greater(norm, FADING * largest), largest), 1);
        moved = choose(trial == theta, moved, same_in_all(1.0));
    }
    return moved;
}

/* pyspec_learn_bend where lanes moved near to the optimum. */
static ALWAYS_INLINE void learn_bends(int64_t n, const lane_work *w, vector moved, int at)
{
    const vector takes = load_vector(w->takes + at), near = load_vector(w->learns + at) * moved;
    vector length = NOTHING, divisor = NOTHING, size = NOTHING, scaled = NOTHING;
    for (int64_t j = 0; j < n; j++) {
        const vector own = load_vector(w->last + J(j)), norm = load_vector(w->norm + J(j));
        vector image = NOTHING, missing = load_vector(w->solution + J(j));
        for (int64_t k = 0; k < n; k++) {
            const vector last = load_vector(w->last + J(k)), entry = load_vector(w->curvature + UPPER(j, k));
            image = image + entry * last;
            missing = missing - (entry + load_vector(w->bend + UPPER(j, k))) * last;
        }
        put_vector(w->solution + J(j), missing, 1);
        length = length + image * own;
        divisor = divisor + missing * own;
        size = size + own * own * norm * norm;
        scaled = scaled + choose(norm > 0.0, missing * missing / (norm * norm), NOTHING);
    }
    const vector least = LEAST_DIVISOR * square_root(size) * square_root(scaled);
    const vector learns = near * FLAG(length > load_vector(w->noise + at)) * FLAG(absolute(divisor) > least);
    const vector factor = same_in_all(1.0) / divisor;
    for (int64_t j = 0; j < n; j++)
        for (int64_t k = j; k < n; k++) {
            const vector before = load_vector(w->bend + JK(j, k));
            const vector more = load_vector(w->solution + J(j)) * load_vector(w->solution + J(k)) * factor;
            const vector bend = choose(near != 0.0, choose(learns != 0.0, before + more, before), NOTHING);
            put_vector(w->bend + JK(j, k), choose(takes != 0.0, bend, before), 1);
        }
}

static void take_answers(int64_t n, const lane_work *w, const double *sums)
{
    FOR_WIDTHS learn_bends(n, w, take_points(n, w, sums, at), at);
}

static ALWAYS_INLINE vector seeks_kind(const lane_work *w, int kind, int at)
{
    return FLAG(load_vector(w->seeks + at) == (double)kind);
}

/* JtJ of what is sought, with what was learnt for a bent step, and what its columns are scaled by. */
static ALWAYS_INLINE void load_entries(int64_t n, const lane_work *w, int at)
{
    const vector one = same_in_all(1.0), bent = seeks_kind(w, STEP_BENT, at);
    for (int64_t j = 0; j < n; j++) {
        for (int64_t k = j; k < n; k++) {
            const vector learnt = choose(bent != 0.0, load_vector(w->bend + JK(j, k)), NOTHING);
            put_vector(w->entry + JK(j, k), load_vector(w->curvature + JK(j, k)) + learnt, 1);
        }
        put_vector(w->inverse + J(j), one / square_root(load_vector(w->entry + JK(j, j))), 1);
    }
}

/* Takes parameters that lanes hold out of their equations. */
static ALWAYS_INLINE void hold_in_equations(int64_t n, const lane_work *w, int64_t k, int at)
{
    const marks held = load_vector(w->held + J(k)) != 0.0;
    for (int64_t j = 0; j < n; j++) {
        const vector part = load_vector(w->entry + UPPER(j, k)) * load_vector(w->step + J(k));
        const vector entry = j == k ? same_in_all(1.0) : NOTHING;
        put_vector(w->solution + J(j), load_vector(w->solution + J(j)) - choose(held, part, NOTHING), 1);
        put_vector(w->matrix + UPPER(j, k), choose(held, entry, load_vector(w->matrix + UPPER(j, k))), 1);
    }
}

/* The matrices of the free parameters, scaled, and the right sides. */
static ALWAYS_INLINE void load_equations(int64_t n, const lane_work *w, int at)
{
    const vector damping = load_vector(w->damping + at);
    for (int64_t j = 0; j < n; j++) {
        const vector inverse = load_vector(w->inverse + J(j)), share = load_vector(w->largest + J(j)) * inverse;
        put_vector(w->solution + J(j), load_vector(w->gradient + J(j)), 1);
        put_vector(w->matrix + JK(j, j), same_in_all(1.0) + damping * share * share, 1);
        for (int64_t k = j + 1; k < n; k++)
            put_vector(w->matrix + JK(j, k),
                       load_vector(w->entry + JK(j, k)) * (inverse * load_vector(w->inverse + J(k))), 1);
    }
    for (int64_t k = 0; k < n; k++)
        if (any_of(load_vector(w->held + J(k)) != 0.0))
            hold_in_equations(n, w, k, at);
    for (int64_t j = 0; j < n; j++) {
        const vector right = load_vector(w->solution + J(j)) * load_vector(w->inverse + J(j));
        put_vector(w->solution + J(j), choose(load_vector(w->held + J(j)) != 0.0, NOTHING, right), 1);
    }
}

/* Takes what the rows before it leave of an entry of row a, or of the right side of that: column n. All vectors go
 * through the rows together. */
static ALWAYS_INLINE void find_entry(int64_t n, const lane_work *w, int64_t a, int64_t b, vector *entry)
{
    const double *own = b < n ? w->matrix + b * L : w->solution;
    const int64_t stride = b < n ? n * L : L;
    FOR_WIDTHS entry[at / WIDTH] = load_vector(own + a * stride + at);
    for (int64_t c = 0; c < a; c++)
        FOR_WIDTHS {
            const vector part = load_vector(w->matrix + JK(c, a)) * load_vector(own + c * stride + at);
            entry[at / WIDTH] = entry[at / WIDTH] - part;
        }
}

/* The next row of the root, and of the solution. `least` becomes the smallest pivot, 0 if one is not positive. */
static ALWAYS_INLINE void eliminate(int64_t n, const lane_work *w, int64_t a)
{
    vector entry[L / WIDTH], inverse[L / WIDTH];
    find_entry(n, w, a, a, entry);
    FOR_WIDTHS {
        const vector pivot = entry[at / WIDTH], before = a == 0 ? same_in_all(1.0) : load_vector(w->least + at);
        const vector least = choose(pivot < before, pivot, before);
        inverse[at / WIDTH] = same_in_all(1.0) / square_root(pivot);
        put_vector(w->least + at, choose(pivot > 0.0, least, NOTHING), 1);
        put_vector(w->matrix + JK(a, a), inverse[at / WIDTH], 1);
    }
    for (int64_t b = a + 1; b <= n; b++) {
        find_entry(n, w, a, b, entry);
        FOR_WIDTHS put_vector(b < n ? w->matrix + JK(a, b) : w->solution + J(a),
                              entry[at / WIDTH] * inverse[at / WIDTH], 1);
    }
}

/* The step of a parameter, from those of the later ones. */
static ALWAYS_INLINE void substitute(int64_t n, const lane_work *w, int64_t a)
{
    vector y[L / WIDTH];
    FOR_WIDTHS y[at / WIDTH] = load_vector(w->solution + J(a));
    for (int64_t b = a + 1; b < n; b++)
        FOR_WIDTHS {
            const vector part = load_vector(w->matrix + JK(a, b)) * load_vector(w->solution + J(b));
            y[at / WIDTH] = y[at / WIDTH] - part;
        }
    FOR_WIDTHS {
        const vector held = load_vector(w->held + J(a)), own = y[at / WIDTH] * load_vector(w->matrix + JK(a, a));
        const vector step = own * load_vector(w->inverse + J(a));
        put_vector(w->solution + J(a), own, 1);
        put_vector(w->step + J(a), choose(held != 0.0, load_vector(w->step + J(a)), step), 1);
    }
}

static ALWAYS_INLINE void solve_equations(int64_t n, const lane_work *w)
{
    for (int64_t a = 0; a < n; a++)
        eliminate(n, w, a);
    for (int64_t a = n - 1; a >= 0; a--)
        substitute(n, w, a);
}

/* Which parameters stay where they are, as `stays` of lm_step.c says. A bent step begins with the undamped one, and
 * keeps what that holds. */
static ALWAYS_INLINE void hold_at_bounds(int64_t n, const lane_work *w, int at)
{
    const vector one = same_in_all(1.0), slight = load_vector(w->slight + at);
    const vector bent = seeks_kind(w, STEP_BENT, at);
    for (int64_t j = 0; j < n; j++) {
        const vector norm = load_vector(w->norm + J(j)), gradient = load_vector(w->gradient + J(j));
        const vector theta = load_vector(w->theta + J(j)), gain = gradient / norm;
        const vector is_slight = FLAG(gain * gain <= slight);
        const vector low = choose(gradient > 0.0, is_slight, one), high = choose(gradient < 0.0, is_slight, one);
        const vector below = choose(theta <= load_vector(w->low + J(j)), low, NOTHING);
        const vector above = choose(theta >= load_vector(w->high + J(j)), high, NOTHING);
        const vector held = choose(norm > 0.0, FLAG(below + above != 0.0), one);
        put_vector(w->held + J(j), choose(bent != 0.0, load_vector(w->held + J(j)), held), 1);
        put_vector(w->step + J(j), choose(bent != 0.0, load_vector(w->undamped + J(j)), NOTHING), 1);
    }
}

/* Whether lanes have a free parameter that its step takes out of its bounds, or to no number. */
static ALWAYS_INLINE vector find_leaving(int64_t n, const lane_work *w, int at)
{
    vector leaving = NOTHING;
    for (int64_t j = 0; j < n; j++) {
        const vector to = load_vector(w->theta + J(j)) + load_vector(w->step + J(j));
        const vector inside = FLAG(to >= load_vector(w->low + J(j))) * FLAG(to <= load_vector(w->high + J(j)));
        leaving = leaving + choose(inside + load_vector(w->held + J(j)) != 0.0, NOTHING, same_in_all(1.0));
    }
    return leaving;
}

/* Holds the parameter that a step takes out of its bounds first. Returns whether there is one, -1 if the step is not
 * a number. */
static int hold_leaving(int64_t n, const lane_work *w, double share, int l)
{
    int64_t leaving = -1;
    double least = HUGE_VAL, stop = 0.0;
    for (int64_t p = l; p < n * L; p += L) {
        const double theta = w->theta[p], to = theta + w->step[p];
        if (isnan(to))
            return -1;
        if (w->held[p] != 0.0 || (to >= w->low[p] && to <= w->high[p]))
            continue;
        const double limit = to < w->low[p] ? w->low[p] : w->high[p], part = (limit - theta) / w->step[p];
        if (part < least || leaving < 0) {
            least = part;
            leaving = p;
            stop = share < 1.0 ? theta + share * (limit - theta) : limit;
        }
    }
    if (leaving >= 0) {
        w->step[leaving] = stop - w->theta[leaving];
        w->held[leaving] = 1.0;
    }
    return leaving >= 0;
}

/* What the steps promise. */
static ALWAYS_INLINE vector find_promises(int64_t n, const lane_work *w, int at)
{
    vector promised = NOTHING;
    for (int64_t j = 0; j < n; j++)
        put_vector(w->solution + J(j), same_in_all(2.0) * load_vector(w->gradient + J(j)), 1);
    for (int64_t j = 0; j < n; j++) {
        const vector step = load_vector(w->step + J(j));
        vector slope = load_vector(w->solution + J(j)) - load_vector(w->entry + JK(j, j)) * step;
        for (int64_t k = j + 1; k < n; k++) {
            const vector entry = load_vector(w->entry + JK(j, k)), its = load_vector(w->solution + J(k));
            slope = slope - entry * load_vector(w->step + J(k));
            put_vector(w->solution + J(k), its - entry * step, 1);
        }
        promised = promised + step * slope;
    }
    return promised;
}

/* Bent steps that are not as pyspec_bent_step wants them become the undamped ones. Returns what all promise. */
static ALWAYS_INLINE vector check_bent(int64_t n, const lane_work *w, int at)
{
    const vector promised = find_promises(n, w, at), usual = load_vector(w->promise + at);
    const vector ratio = same_in_all(BENT_RATIO), bent = seeks_kind(w, STEP_BENT, at);
    if (!any_of(bent != 0.0))
        return promised;
    vector usable = FLAG(load_vector(w->least + at) > BENT_PIVOT) * FLAG(find_leaving(n, w, at) == 0.0) *
                    FLAG(promised > usual / ratio) * FLAG(promised < ratio * usual);
    for (int64_t j = 0; j < n; j++) {
        const vector stays = FLAG(load_vector(w->undamped + J(j)) == 0.0);
        usable = usable * choose(load_vector(w->held + J(j)) != 0.0, stays, same_in_all(1.0));
    }
    const vector keeps = choose(bent != 0.0, usable, same_in_all(1.0));
    for (int64_t j = 0; j < n; j++)
        put_vector(w->step + J(j),
                   choose(keeps != 0.0, load_vector(w->step + J(j)), load_vector(w->undamped + J(j))), 1);
    return choose(keeps != 0.0, promised, usual);
}

/* Writes steps to where their kinds have them, and the points at their ends. */
static ALWAYS_INLINE void keep_steps(int64_t n, const lane_work *w, int at)
{
    const vector one = same_in_all(1.0), usual = seeks_kind(w, STEP_USUAL, at);
    const vector undamped = seeks_kind(w, STEP_UNDAMPED, at) + seeks_kind(w, STEP_LIGHT, at);
    const vector tries =
        seeks_kind(w, STEP_BOLD, at) + seeks_kind(w, STEP_DAMPED, at) + seeks_kind(w, STEP_BENT, at);
    vector moves = NOTHING, stops = NOTHING, length = NOTHING, limit = NOTHING;
    for (int64_t j = 0; j < n; j++) {
        const vector step = load_vector(w->step + J(j)), theta = load_vector(w->theta + J(j)), to = theta + step;
        const vector low = load_vector(w->low + J(j)), high = load_vector(w->high + J(j));
        const vector trial = choose(to < low, low, choose(to > high, high, to));
        const vector norm = load_vector(w->norm + J(j)), last = load_vector(w->last + J(j));
        const vector own = norm * step, its = BOLD_LENGTH * norm * last;
        moves = choose(trial == theta, moves, one);
        stops = stops + load_vector(w->held + J(j)) * FLAG(step != 0.0);
        length = length + own * own;
        limit = limit + its * its;
        put_vector(w->trial + J(j), choose(tries != 0.0, trial, load_vector(w->trial + J(j))), 1);
        put_vector(w->undamped + J(j), choose(undamped != 0.0, step, load_vector(w->undamped + J(j))), 1);
        put_vector(w->last + J(j), choose(usual != 0.0, step, last), 1);
    }
    put_vector(w->moves + at, moves, 1);
    put_vector(w->is_modest + at, FLAG(stops == 0.0) * FLAG(length < limit), 1);
}

/* Steps within the bounds. Marks lanes that are left to pyspec_find_wanted. */
static void find_within(pyspec_solver *const *solvers, int64_t n, const lane_work *w, double *least, int *is_left)
{
    double leaving[L];
    int any = 1;
    while (any) {
        any = 0;
        FOR_SOUGHT load_equations(n, w, at);
        solve_equations(n, w);
        FOR_SOUGHT put_vector(leaving + at, find_leaving(n, w, at), 1);
        for (int l = 0; l < L; l++) {
            if (!solvers[l] || is_left[l])
                continue;
            least[l] = w->least[l] < least[l] ? w->least[l] : least[l];
            if (w->seeks[l] == (double)STEP_BENT)
                continue;
            is_left[l] = !(w->least[l] * CONDITION_LIMIT > 1.0);
            if (is_left[l] || leaving[l] == 0.0)
                continue;
            const int held = hold_leaving(n, w, wanted_by(solvers[l])->share, l);
            is_left[l] = held < 0;
            any |= held > 0;
        }
    }
}

static void find_steps(pyspec_solver *const *solvers, int64_t n, const lane_work *w)
{
    double least[L];
    int is_left[L] = {0};
    for (int l = 0; l < L; l++) {
        const pyspec_solver *s = solvers[l];
        w->seeks[l] = s ? (double)wanted_by(s)->kind : -1.0;
        w->damping[l] = s ? wanted_by(s)->damping : 0.0;
        w->slight[l] = s ? s->tolerance * s->tolerance * variance(s) : 0.0;
        w->promise[l] = s ? s->promised : 0.0;
        least[l] = 1.0;
    }
    FOR_SOUGHT {
        hold_at_bounds(n, w, at);
        load_entries(n, w, at);
    }
    find_within(solvers, n, w, least, is_left);
    FOR_SOUGHT {
        put_vector(w->promised + at, check_bent(n, w, at), 1);
        keep_steps(n, w, at);
    }
    for (int l = 0; l < L; l++) {
        if (!solvers[l])
            continue;
        wanted_step *step = wanted_by(solvers[l]);
        if (is_left[l] || !isfinite(w->promised[l])) {
            pyspec_find_alone(solvers[l], w, l);
            continue;
        }
        step->promised = w->promised[l];
        step->pivot = least[l];
        step->moves = w->moves[l] != 0.0;
        step->is_modest = w->is_modest[l] != 0.0;
    }
}

const lane_ops JOIN(pyspec_lane_ops, ISA_SUFFIX, ) = {find_values, take_answers, find_steps};

#undef JK
#undef UPPER
#undef J
#undef FLAG
#undef FOR_SOUGHT
