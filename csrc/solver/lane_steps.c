/* lane_steps.c: the steps of several solvers, a solver in each lane. Repeats pyspec_find_step and pyspec_bent_step
 * operation by operation: a solver gets the same bits here and there. Lanes with an unusual step are left to these
 * functions. Compiled for each instruction set without FMA (isa/laws_avx2.c). */
#include "solver/lane_steps.h"
#include "isa/vector.h"

#define JK(j, k) (((j) * n + (k)) * L + at)
#define UPPER(j, k) ((j) < (k) ? JK(j, k) : JK(k, j))
#define J(j) ((j) * L + at)

/* Solves the normal equations of all lanes, as pyspec_solve_gram does where no entry is 0. */
static void solve_lanes(int64_t n, const lane_work *w)
{
    const vector one = same_in_all(1.0);
    FOR_WIDTHS {
        const vector damping = load_vector(w->damping + at);
        vector least = one;
        for (int64_t j = 0; j < n; j++) {
            const vector norm = load_vector(w->norm + J(j)), share = load_vector(w->largest + J(j)) / norm;
            const vector held = load_vector(w->held + J(j));
            vector right = load_vector(w->gradient + J(j));
            put_vector(w->matrix + JK(j, j), choose(held != 0.0, one, one + damping * share * share), 1);
            for (int64_t k = j + 1; k < n; k++) {
                const vector entry = load_vector(w->curvature + JK(j, k)) / (norm * load_vector(w->norm + J(k)));
                const vector either = held + load_vector(w->held + J(k));
                put_vector(w->matrix + JK(j, k), choose(either != 0.0, NOTHING, entry), 1);
            }
            for (int64_t k = 0; k < n; k++) {
                const vector part = load_vector(w->curvature + UPPER(j, k)) * load_vector(w->step + J(k));
                right = right - choose(load_vector(w->held + J(k)) != 0.0, part, NOTHING);
            }
            put_vector(w->solution + J(j), choose(held != 0.0, NOTHING, right / norm), 1);
        }
        for (int64_t a = 0; a < n; a++) {
            double *row = w->matrix + a * n * L + at;
            const vector pivot = load_vector(row + a * L), root = square_root(pivot);
            const vector y = load_vector(w->solution + J(a)) / root;
            least = choose(pivot < least, pivot, least);
            least = choose(pivot > 0.0, least, NOTHING);
            put_vector(row + a * L, root, 1);
            put_vector(w->solution + J(a), y, 1);
            for (int64_t b = a + 1; b < n; b++)
                put_vector(row + b * L, load_vector(row + b * L) / root, 1);
            for (int64_t b = a + 1; b < n; b++) {
                const vector factor = load_vector(row + b * L);
                for (int64_t c = b; c < n; c++)
                    put_vector(w->matrix + JK(b, c),
                               load_vector(w->matrix + JK(b, c)) - factor * load_vector(row + c * L), 1);
                put_vector(w->solution + J(b), load_vector(w->solution + J(b)) - factor * y, 1);
            }
        }
        for (int64_t a = n - 1; a >= 0; a--) {
            const double *row = w->matrix + a * n * L + at;
            vector y = load_vector(w->solution + J(a));
            for (int64_t b = a + 1; b < n; b++)
                y = y - load_vector(row + b * L) * load_vector(w->solution + J(b));
            y = y / load_vector(row + a * L);
            put_vector(w->solution + J(a), y, 1);
            put_vector(w->step + J(a), choose(load_vector(w->held + J(a)) != 0.0, load_vector(w->step + J(a)),
                                              y / load_vector(w->norm + J(a))), 1);
        }
        put_vector(w->least + at, least, 1);
    }
}

/* What the steps promise. */
static void find_promises(int64_t n, const lane_work *w)
{
    FOR_WIDTHS {
        vector promised = NOTHING;
        for (int64_t j = 0; j < n; j++) {
            vector slope = same_in_all(2.0) * load_vector(w->gradient + J(j));
            for (int64_t k = 0; k < n; k++)
                slope = slope - load_vector(w->curvature + UPPER(j, k)) * load_vector(w->step + J(k));
            promised = promised + load_vector(w->step + J(j)) * slope;
        }
        put_vector(w->promised + at, promised, 1);
    }
}

/* Which parameters stay where they are, as `stays` of lm_step.c says. */
static void hold_at_bounds(int64_t n, const lane_work *w)
{
    const vector one = same_in_all(1.0);
    FOR_WIDTHS {
        const vector slight = load_vector(w->slight + at);
        for (int64_t j = 0; j < n; j++) {
            const vector norm = load_vector(w->norm + J(j)), gradient = load_vector(w->gradient + J(j));
            const vector theta = load_vector(w->theta + J(j)), gain = gradient / norm;
            const vector is_slight = choose(gain * gain <= slight, one, NOTHING);
            const vector low = choose(gradient > 0.0, is_slight, one), high = choose(gradient < 0.0, is_slight, one);
            const vector below = choose(theta <= load_vector(w->low + J(j)), low, NOTHING);
            const vector above = choose(theta >= load_vector(w->high + J(j)), high, NOTHING);
            const vector held = choose(below + above != 0.0, one, NOTHING);
            put_vector(w->held + J(j), choose(norm > 0.0, held, one), 1);
            put_vector(w->step + J(j), NOTHING, 1);
        }
    }
}

/* Puts a solver into its lane. For a bent step JtJ has what was learnt with it, and columns are in units of that. */
static void load_solver(const pyspec_solver *s, const solver_work *own, const lane_work *w, int l)
{
    const wanted_step *step = (const wanted_step *)(const void *)own->wanted;
    const int64_t n = s->n;
    const int is_bent = step->kind == STEP_BENT;
    for (int64_t j = 0; j < n; j++) {
        for (int64_t p = j * n + j; p < j * n + n; p++)
            w->curvature[p * L + l] = is_bent ? own->curvature[p] + own->bend[p] : own->curvature[p];
        w->norm[j * L + l] = is_bent ? sqrt(w->curvature[(j * n + j) * L + l]) : own->norm[j];
        w->gradient[j * L + l] = own->gradient[j];
        w->largest[j * L + l] = own->largest[j];
        w->theta[j * L + l] = s->theta[j];
        w->low[j * L + l] = s->lower[j];
        w->high[j * L + l] = s->lower[n + j];
    }
    w->damping[l] = is_bent ? 0.0 : step->damping;
    w->slight[l] = s->tolerance * s->tolerance * variance(s);
}

/* A bent step begins with the undamped one, and keeps what that holds. */
static void hold_as_undamped(int64_t n, const solver_work *own, const lane_work *w, int l)
{
    for (int64_t j = 0; j < n; j++) {
        w->held[j * L + l] = own->held[j];
        w->step[j * L + l] = own->undamped[j];
    }
}

/* Whether JtJ of the free parameters of a lane has zeros, which change the order of elimination. */
static int has_zeros(int64_t n, const lane_work *w, int l)
{
    int found = 0;
    for (int64_t j = 0; j < n; j++)
        for (int64_t k = j + 1; k < n; k++)
            found |= w->curvature[(j * n + k) * L + l] == 0.0 && w->held[j * L + l] + w->held[k * L + l] == 0.0;
    return found;
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

/* Whether a bent step is as pyspec_bent_step wants it. */
static int is_usable(const pyspec_solver *s, const solver_work *own, const lane_work *w, int l)
{
    int found = w->least[l] > BENT_PIVOT;
    for (int64_t p = l, j = 0; found && j < s->n; j++, p += L) {
        const double to = w->theta[p] + w->step[p];
        found = (w->held[p] != 0.0 ? own->undamped[j] == 0.0 : w->norm[p] > 0.0) && to >= w->low[p] && to <= w->high[p];
    }
    return found && w->promised[l] > s->promised / BENT_RATIO && w->promised[l] < BENT_RATIO * s->promised;
}

/* Writes a step and what it promises. */
static void take_step(const pyspec_solver *s, const solver_work *own, const lane_work *w, double pivot, int l)
{
    wanted_step *step = (wanted_step *)(void *)own->wanted;
    double *to = place_of_step(own);
    for (int64_t j = 0; j < s->n; j++) {
        to[j] = w->step[j * L + l];
        own->held[j] = w->held[j * L + l];
    }
    step->promised = w->promised[l];
    step->pivot = pivot;
}

void JOIN(pyspec_find_lanes, ISA_SUFFIX, )(pyspec_solver *const *solvers, int n_solvers, double *memory)
{
    const int64_t n = solvers[0]->n;
    const lane_work w = divide_lanes(n, memory);
    solver_work own[L];
    const wanted_step *step[L];
    double pivot[L];
    int is_left[L], any = 1; /* to the scalar way */
    for (int l = 0; l < n_solvers; l++) {
        own[l] = divide(n, solvers[l]->work);
        step[l] = (const wanted_step *)(const void *)own[l].wanted;
        pivot[l] = 1.0;
        load_solver(solvers[l], &own[l], &w, l);
    }
    hold_at_bounds(n, &w);
    for (int l = 0; l < n_solvers; l++) {
        if (step[l]->kind == STEP_BENT)
            hold_as_undamped(n, &own[l], &w, l);
        is_left[l] = has_factor(solvers[l]) || has_zeros(n, &w, l);
    }
    while (any) {
        any = 0;
        solve_lanes(n, &w);
        for (int l = 0; l < n_solvers; l++) {
            const double least = w.least[l];
            pivot[l] = least < pivot[l] ? least : pivot[l];
            if (is_left[l] || step[l]->kind == STEP_BENT)
                continue;
            const int leaving = least * CONDITION_LIMIT > 1.0 ? hold_leaving(n, &w, step[l]->share, l) : -1;
            is_left[l] = leaving < 0;
            any |= leaving > 0;
        }
    }
    find_promises(n, &w);
    for (int l = 0; l < n_solvers; l++) {
        const int is_bent = step[l]->kind == STEP_BENT;
        if (!is_left[l] && (is_bent ? is_usable(solvers[l], &own[l], &w, l) : isfinite(w.promised[l])))
            take_step(solvers[l], &own[l], &w, pivot[l], l);
        else
            pyspec_find_wanted(solvers[l]);
    }
}

#undef JK
#undef UPPER
#undef J
