/* varpro_parts.c: the sums of a part with free amplitudes: its basis functions at theta, written by plans with
 * several results, and the projection of its data. What comes out is a triangle of theta alone. */
#include "elimination/linear.h"
#include "walk/results.h"
#include "sums/sum_tree.h"

/* The basis functions of a plan at its share of theta. */
static int write_basis(const pyspec_part *part, const pyspec_part *functions, int values_alone, pyspec_team *team)
{
    if (!functions->call || !functions->theta || !functions->results)
        return STATUS_NULL_POINTER;
    for (int64_t k = 0; k < functions->n_theta; k++)
        functions->theta[k] = part->theta[functions->gather ? functions->gather[k] : k];
    pyspec_results results = *functions->results;
    if (values_alone)
        results.n_slopes = results.n_entries = 0;
    return pyspec_run_results(functions->call, &results, team);
}

int pyspec_sum_linear(const pyspec_part *part, int64_t form, pyspec_team *team)
{
    pyspec_normal *sums = part->normal;
    pyspec_linear linear = *part->linear;
    if ((part->n_bases && !part->bases) || !part->theta || !sums->scratch || !sums->places || !sums->nodes)
        return STATUS_NULL_POINTER;
    if (linear.n_theta != part->n_theta)
        return STATUS_ORDER;
    const int values_alone = form == PYSPEC_FORM_VALUE;
    if (values_alone)
        linear.n_theta = linear.n_slopes = linear.n_entries = 0;
    if (sums->n_scratch < triangle_size(linear.n_theta + 1))
        return STATUS_WORK;
    int status = STATUS_OK;
    for (int64_t k = 0; !status && k < part->n_bases; k++)
        status = write_basis(part, &part->bases[k], values_alone, team);
    linear.form = form;
    linear.triangle = sums->scratch;
    status = status ? status : pyspec_project(&linear);
    return status ? status : pyspec_push_sums(sums, 0, 0, linear.triangle);
}
