/* scheme_seen.c: populations that are polynomials on panels, see scheme_flow.c, at the times of a row,
 * and as a Gaussian instrument sees them. */
#include "kinetics/scheme.h"
#include "math/vmath.h"

#include <math.h>
#include <string.h>

/* The sum of a series of Legendre's polynomials at -1 <= x <= 1 (Clenshaw). */
static double at_point(const double *series, double x)
{
    double next = 0.0, own = series[FLOW_STAGES];
    for (int m = FLOW_STAGES - 1; m >= 0; m--) {
        const double sum = series[m] + (2 * m + 1) * x / (m + 1) * own - (m + 1.0) / (m + 2) * next;
        next = own;
        own = sum;
    }
    return own;
}

static void know_nothing(const scheme_flow *f, double *out)
{
    for (int k = 0; k < f->n_series; k++)
        out[k] = NAN;
}

/* All series at a time on their panel; NaN where there is none. */
static void read_panel(prepared_scheme *p, int panel, double s, double *out)
{
    const scheme_flow *f = &p->flow;
    if (panel < 0) {
        know_nothing(f, out);
        return;
    }
    const double begin = f->begin[panel], end = f->begin[panel + 1];
    const double x = (s - begin - (end - s)) / (end - begin);
    for (int k = 0; k < f->n_series; k++)
        out[k] = at_point(f->series + flow_series(f, panel, k), x);
}

/* Without an instrument. */
static void look(prepared_scheme *p, double s, double *out)
{
    if (s < 0.0)
        memset(out, 0, MAX_PARAMS * sizeof *out);
    else
        read_panel(p, pyspec_flow_panel(p, s), s, out);
}

/* Integrals of N(z) times Legendre's polynomials of a panel, and of z N(z) times these, between two
 * places in widths from the time u. */
static void take_moments(const prepared_scheme *p, double u, int panel, double from, double to,
                         double *moment, double *with_z)
{
    const double begin = p->flow.begin[panel], end = p->flow.begin[panel + 1];
    const int n = (int)ceil((to - from) / 4.0);
    const double half = 0.5 * (to - from) / n;
    memset(moment, 0, (FLOW_STAGES + 1) * sizeof *moment);
    memset(with_z, 0, (FLOW_STAGES + 1) * sizeof *with_z);
    for (int k = 0; k < n * POINTS; k++) {
        double weight;
        const double point = pyspec_legendre(k % POINTS, &weight);
        const double z = from + half * (2 * (k / POINTS) + 1 + point), s = u + p->width * z;
        const double share = half * weight * PYSPEC_SQRT1_2PI * exp(-0.5 * z * z);
        const double x = (s - begin - (end - s)) / (end - begin);
        double own = share, before = 0.0;
        for (int m = 0; m <= FLOW_STAGES; m++) {
            moment[m] += own;
            with_z[m] += z * own;
            const double next = ((2 * m + 1) * x * own - m * before) / (m + 1);
            before = own;
            own = next;
        }
    }
}

/* Adds what the instrument sees of a panel; `spread` is the derivative by the width of what is there
 * later than the onset. */
static void look_at_panel(const prepared_scheme *p, double u, int panel, double from, double to,
                          double *out, double *spread)
{
    const scheme_flow *f = &p->flow;
    double moment[FLOW_STAGES + 1], with_z[FLOW_STAGES + 1];
    take_moments(p, u, panel, from, to, moment, with_z);
    for (int k = 0; k < f->n_series; k++) {
        const double *series = f->series + flow_series(f, panel, k);
        for (int m = 0; m <= FLOW_STAGES; m++)
            out[k] += moment[m] * series[m];
    }
    const double *last = f->series + flow_series(f, panel, f->n_series - 1);
    for (int m = 0; m <= FLOW_STAGES; m++)
        *spread += with_z[m] * last[m];
}

/* What the instrument sees, N(z) times the populations at u + width z. By u and by the width the
 * populations change along the way, and where they begin the share of the instrument does. */
static void look_through(prepared_scheme *p, double u, double *out, double *spread)
{
    const scheme_flow *f = &p->flow;
    const double reach = SCHEME_REACH, first = -u / p->width;
    double from = first > -reach ? first : -reach;
    memset(out, 0, MAX_PARAMS * sizeof *out);
    *spread = 0.0;
    if (!(from < reach))
        return;
    if (pyspec_flow_panel(p, u + p->width * reach) < 0) {
        know_nothing(f, out);
        *spread = NAN;
        return;
    }
    const double begin = u + p->width * from;
    for (int panel = pyspec_flow_panel(p, begin > 0.0 ? begin : 0.0);
         panel >= 0 && panel < f->n_panels && from < reach; panel++) {
        const double end = (f->begin[panel + 1] - u) / p->width;
        const double to = end < reach ? end : reach;
        if (to > from)
            look_at_panel(p, u, panel, from, to, out, spread);
        from = to > from ? to : from;
    }
    if (p->slopes && fabs(first) < 30.0) {
        const double edge = f->start[scheme_head(p->program)->target] * PYSPEC_SQRT1_2PI *
                            exp(-0.5 * first * first) / p->width;
        out[f->n_series - 1] += edge;
        *spread += edge * first;
    }
}

void pyspec_flow_times(prepared_scheme *p, const double *u, double (*out)[L])
{
    const scheme_flow *f = &p->flow;
    const int under = (int)scheme_head(p->program)->under, onset = p->n_params - 1 - under;
    FOR_LANES
    {
        double own[MAX_PARAMS], spread = 0.0;
        const double s = v_clamp(u[l] * p->fastest, 1e250);
        if (under)
            look_through(p, s, own, &spread);
        else
            look(p, s, own);
        for (int k = 0; k < f->n_series; k++)
            out[k][l] = f->scale * own[k];
        if (!p->slopes)
            continue;
        out[onset][l] = -p->fastest * f->scale * own[onset];
        if (under)
            out[onset + 1][l] = p->fastest * f->scale * spread;
    }
}
