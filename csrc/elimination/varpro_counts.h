/* varpro_counts.h: amplitudes of largest likelihood for counts, tile by tile. Used by varpro_tiles.c.
 *
 * A group is linear in its amplitudes and the deviance of its counts is convex in them: Newton's method with a search
 * along each step ends at its only minimum, to rounding. At this minimum the derivative of the deviance by theta
 * equals the one at fixed amplitudes. The triangle of [J r] therefore holds the gradient of its own chi^2. Let f be
 * half of the deviance of a point. A Newton step is then least squares with the weights sqrt(f''(m)) and the data
 * m - f'(m) / f''(m). It is solved within the bounds of the amplitudes. */

/* Below this model, in counts, a parabola continues the deviance. This holds for points with counts. It also holds for
 * points without counts if their expected counts are not negative. The latter adds at most 5e-7 to chi^2. */
static const double COUNTS_FLOOR = 1e-3, COUNTS_EMPTY = 1e-6;

/* Steps at most, how many of them take the expected curvature, after how many of them no function that was left out
 * returns, and what chi^2 still falls by when they end. */
enum { COUNTS_STEPS = 60, COUNTS_EXPECTED = 1, COUNTS_RETURNS = 20, COUNTS_CUTS = 60 };
static const double COUNTS_REST = 1e-14;

/* The search along a step ends where the slope is this part of that at its begin. */
static const double COUNTS_SLOPE = 0.1;

/* The curvature of points without counts, or with next to none, as a part of the expected one: a weight of 0 would
 * leave no slope. */
static const double COUNTS_LITTLE = 1e-6;

static int is_counts(const pyspec_linear *q)
{
    return q->scale > 0.0;
}

/* Whether derivatives are those of the deviances themselves. */
static int is_exact(const pyspec_linear *q)
{
    return q->form == PYSPEC_FORM_FACTOR || q->residual || q->jacobian;
}

static double floor_of(double count)
{
    return count == 0.0 ? COUNTS_EMPTY : COUNTS_FLOOR;
}

/* Half of the second derivative of the deviance below the floor. */
static double curvature_below(double count)
{
    const double fall = pyspec_deviance_fall(count, floor_of(count), 1.0);
    return fall * fall;
}

/* Minus the derivative of half of the deviance of a point by the model. */
static double score_at(double count, double model)
{
    const double floor = floor_of(count);
    if (model >= floor)
        return count / model - 1.0;
    return count / floor - 1.0 - curvature_below(count) * (model - floor);
}

/* The second derivative, or what is expected of it. */
static double curvature_at(double count, double model, int expected)
{
    if (model < floor_of(count))
        return curvature_below(count);
    const double share = count / model;
    return (expected ? 1.0 : fabs(share) < DBL_MIN ? COUNTS_LITTLE : share) / model;
}

static double weight_of(const pyspec_linear *q, int64_t tile, int64_t at)
{
    return q->weight ? q->weight[tile * q->n_x * L + at] : 1.0;
}

/* The counts of a point of a tile; none where it is left out, whatever stands there. */
static double count_at(const pyspec_linear *q, int64_t tile, int64_t at)
{
    return weight_of(q, tile, at) == 0.0 ? 0.0 : q->scale * q->data[tile * q->n_x * L + at];
}

/* Expected counts of a tile with these amplitudes; without the offset: by how much they change. */
static void expect(const pyspec_linear *q, const linear_work *w, int64_t tile, const double *c, int offset,
                   double *to)
{
    const int64_t n = q->n_x;
    memset(to, 0, (size_t)(n * L) * sizeof *to);
    for (int64_t k = 0; offset && k < count_offsets(q); k++) {
        load_groups(q, q->offset + k * q->offset_column, q->offset_group, tile, w->column);
        FOR_BLOCK FOR_LANES to[AT] += q->scale * w->column[AT];
    }
    for (int64_t k = 0; k < q->n_basis; k++) {
        load_groups(q, q->basis + k * q->basis_column, q->basis_group, tile, w->column);
        FOR_BLOCK FOR_LANES to[AT] += q->scale * c[k * L + l] * w->column[AT];
    }
}

/* Least squares of which a step from the expected counts is the solution. */
static void weigh_counts(const pyspec_linear *q, linear_work *w, int64_t tile, int expected)
{
    for (int64_t i = 0; i < q->n_x * L; i++) {
        const double count = count_at(q, tile, i), model = w->model[i];
        const double floored = model > COUNTS_FLOOR ? model : COUNTS_FLOOR;
        const double curvature =
            q->form == PYSPEC_FORM_FISHER && expected > 1 ? 1.0 / floored : curvature_at(count, model, expected);
        const double root = weight_of(q, tile, i) * sqrt(curvature);
        w->weighed[i] = root == 0.0 ? 0.0 : root * (model + score_at(count, model) / curvature);
        w->root[i] = root * q->scale;
    }
    w->data = w->weighed;
    w->weight = w->root;
}

/* Half of the fall of the deviance, linearly, along the step from a share of it. */
static void slope_along(const pyspec_linear *q, const linear_work *w, int64_t tile, const double *share,
                        double *sum)
{
    const int64_t n = q->n_x;
    FOR_LANES sum[l] = 0.0;
    FOR_BLOCK FOR_LANES {
        const double weight = weight_of(q, tile, AT);
        const double score = score_at(count_at(q, tile, AT), w->model[AT] + share[l] * w->step[AT]);
        sum[l] += weight == 0.0 ? 0.0 : weight * weight * score * w->step[AT];
    }
}

/* How much of a step is taken: all of it where the deviance falls to its end, else up to where its slope is next
 * to 0. */
static void choose_share(const pyspec_linear *q, const linear_work *w, int64_t tile, const double *gain,
                         double *share)
{
    double low[L], high[L], at_low[L], at_high[L], rest[L];
    unsigned open = 0;
    FOR_LANES {
        low[l] = at_high[l] = 0.0;
        high[l] = share[l] = 1.0;
        at_low[l] = gain[l];
        open |= (unsigned)(gain[l] > COUNTS_REST / (double)q->n_groups) << l;
    }
    for (int cut = 0; open && cut < COUNTS_CUTS; cut++) {
        slope_along(q, w, tile, share, rest);
        FOR_LANES {
            const int goes_on = rest[l] < -COUNTS_SLOPE * gain[l] || (cut > 0 && rest[l] > COUNTS_SLOPE * gain[l]);
            open &= ~((unsigned)!goes_on << l);
            if (!(open >> l & 1u))
                continue;
            if (rest[l] < 0.0) {
                high[l] = share[l];
                at_high[l] = rest[l];
            } else {
                low[l] = share[l];
                at_low[l] = rest[l];
            }
            share[l] = low[l] + (cut % 2 ? 0.5 : at_low[l] / (at_low[l] - at_high[l])) * (high[l] - low[l]);
        }
    }
}

/* The first step: from what was counted. */
static void begin_counts(const pyspec_linear *q, linear_work *w, int64_t tile)
{
    for (int64_t i = 0; i < q->n_x * L; i++) {
        const double count = count_at(q, tile, i);
        const double root = weight_of(q, tile, i) / sqrt(count > 1.0 ? count : 1.0);
        w->weighed[i] = root * count;
        w->root[i] = root * q->scale;
    }
    w->data = w->weighed;
    w->weight = w->root;
}

/* The lanes in which a function with an amplitude is a combination of others. It is off then or, if a bound took one
 * of these others away, on. */
static unsigned lost_lanes(const pyspec_linear *q, const linear_work *w, double on)
{
    unsigned lost = 0;
    for (int64_t k = 0; k < q->n_basis * L; k++)
        lost |= (unsigned)(w->found[k] != 0.0 && w->kept[k] == w->lost[k] && w->on[k] == on) << k % L;
    return lost;
}

/* In these lanes what is a combination of others remains one to the end of the tile. */
static void leave_out(const pyspec_linear *q, const linear_work *w, unsigned lanes)
{
    for (int64_t k = 0; k < q->n_basis; k++)
        FOR_LANES w->kept[k * L + l] -= lanes >> l & 1u ? w->lost[k * L + l] : 0.0;
}

/* Newton's steps in open lanes, which end one by one. Weights change from step to step, and with them what is a
 * combination of others. A step that leaves out a function with an amplitude may lead uphill. The lane then goes on,
 * but without this function: two sets could take turns without end. */
static void seek_counts(const pyspec_linear *q, linear_work *w, int64_t tile, unsigned open)
{
    static const double nothing[L] = {0.0};
    const int64_t n_basis = q->n_basis;
    const double rest = COUNTS_REST / (double)q->n_groups;
    double gain[L], share[L];
    for (int turn = 0; open && turn < COUNTS_STEPS; turn++) {
        expect(q, w, tile, w->found, 1, w->model);
        weigh_counts(q, w, tile, turn < COUNTS_EXPECTED);
        find_amplitudes(q, w, tile);
        const unsigned leaves = lost_lanes(q, w, 0.0);
        unsigned rises = lost_lanes(q, w, 1.0), falls = 0;
        for (int64_t k = 0; k < n_basis; k++)
            FOR_LANES w->c[k * L + l] = open >> l & 1u ? w->c[k * L + l] - w->found[k * L + l] : 0.0;
        expect(q, w, tile, w->c, 0, w->step);
        slope_along(q, w, tile, nothing, gain);
        choose_share(q, w, tile, gain, share);
        for (int64_t k = 0; k < n_basis; k++)
            FOR_LANES w->found[k * L + l] += share[l] * w->c[k * L + l];
        FOR_LANES {
            falls |= (unsigned)(gain[l] > rest) << l;
            rises &= ~((unsigned)!(gain[l] < -rest) << l);
        }
        leave_out(q, w, open & (turn < COUNTS_RETURNS ? ~falls : ~0u));
        open &= leaves | rises | falls;
    }
}

/* Amplitudes of largest likelihood, by a last step that has the weights of derivatives. */
static void find_counts(const pyspec_linear *q, linear_work *w, int64_t tile)
{
    unsigned all = 0;
    for (int64_t l = 0; l < L && tile * L + l < q->n_groups; l++)
        all |= 1u << l;
    begin_counts(q, w, tile);
    find_amplitudes(q, w, tile);
    memcpy(w->found, w->c, (size_t)(q->n_basis * L) * sizeof *w->found);
    for (unsigned open = all; open;) {
        seek_counts(q, w, tile, open);
        expect(q, w, tile, w->found, 1, w->model);
        weigh_counts(q, w, tile, is_exact(q) ? 0 : 2);
        find_amplitudes(q, w, tile);
        open = 0;
        for (int64_t k = 0; k < q->n_basis * L; k++)
            open |= (unsigned)(w->found[k] != 0.0 && w->lost[k] > w->on[k]) << k % L;
        open &= all;
        leave_out(q, w, open);
        for (int64_t k = 0; k < q->n_basis; k++)
            FOR_LANES w->found[k * L + l] = open >> l & 1u ? w->c[k * L + l] : w->found[k * L + l];
    }
}

/* The signed root of the deviance of a point; where there is no count it goes on linearly. */
static double deviance_of(double count, double model)
{
    if (count == 0.0 && model < COUNTS_EMPTY)
        return -(model + COUNTS_EMPTY) / sqrt(2.0 * COUNTS_EMPTY);
    return pyspec_deviance(count, model, 1.0);
}

/* Deviances at the amplitudes that were found, in `column`. Where derivatives are exact they become those of
 * the deviances, and the deviances the residual. */
static void end_counts(const pyspec_linear *q, linear_work *w, int64_t tile)
{
    const int64_t n = q->n_x, n_theta = q->n_theta;
    for (int64_t p = 0; is_exact(q) && p < n_theta; p++)
        for (int64_t k = 0; k < q->n_basis; k++) {
            const double *v = w->turned + (p * q->n_basis + k) * L;
            double minus[L];
            FOR_LANES minus[l] = -v[l];
            take_off(w->columns + p * n * L, w->q + k * n * L, minus, n);
        }
    for (int64_t i = 0; is_exact(q) && i < n * L; i++) /* sqrt of the curvature that derivatives have */
        w->step[i] = sqrt(curvature_at(count_at(q, tile, i), w->model[i], 0));
    expect(q, w, tile, w->c, 1, w->model);
    for (int64_t i = 0; i < n * L; i++) {
        const double weight = weight_of(q, tile, i), count = count_at(q, tile, i);
        w->column[i] = weight == 0.0 ? 0.0 : weight * deviance_of(count, w->model[i]);
    }
    if (!is_exact(q))
        return;
    memcpy(w->columns + n_theta * n * L, w->column, (size_t)(n * L) * sizeof *w->column);
    for (int64_t i = 0; i < n * L; i++) {
        const double count = count_at(q, tile, i), floor = floor_of(count);
        const double at = w->model[i] > floor ? w->model[i] : floor;
        const double factor = pyspec_deviance_fall(count, at, 1.0) / w->step[i];
        for (int64_t p = 0; p < n_theta; p++)
            w->columns[p * n * L + i] *= factor;
    }
}
