"""What findings say in words: one template a kind. Each leads with what to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspec.fit.findings.kinds import Kind, Numbers

Template = Callable[[Numbers, tuple[str, ...]], str]


def listed(names: Sequence[str]) -> str:
    """ "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def sentence(kind: Kind, numbers: Numbers, places: tuple[str, ...], part: int | None) -> str:
    """What a finding says; of one file of a joint fit with the file, where places do not say it."""
    text = TEMPLATES[kind](numbers, places)
    if part is None or any(place.startswith(f"file{part:02d}_") for place in places):
        return text
    return f"in {_file(part)}: {text}"


def _file(name: int | str) -> str:
    """A file by its name, or its number."""
    return name if isinstance(name, str) else f"file{name:02d}"


def _bounds(n: Numbers) -> str:
    return f"[{n['low']:g}, {n['high']:g}]"


def _where(n: Numbers) -> str:
    """ "energy 84.3 and time 2"."""
    return " and ".join(f"{name} {n[name]:.6g}" for name in ("energy", "time") if name in n)


def _points(n: Numbers) -> str:
    return f"{n['count']} points are" if n["count"] > 1 else "one point is"


def _wrong_unit(n: Numbers, p: tuple[str, ...]) -> str:
    units = "" if n["stated"] else f"units={{'energy': '{n['axis']}'}}, "
    return (
        f"convert the axis, read(..., {units}to='{n['model']}'): the axis "
        f"{'is' if n['stated'] else 'seems to be'} in {n['axis']}, the model "
        f"in {n['model']}; {p[1]} = {n['value']:.6g} is not in {_bounds(n)}"
    )


def _backward(n: Numbers, p: tuple[str, ...]) -> str:
    why = n.get("axis") or f"the data rise towards {n['end']:g}"
    return (
        f"reverse the axis and the data, energy[::-1] and data[..., ::-1]: {why}, and {p[0]} "
        "belongs to a background that rises the other way"
    )


def _errors_wrong(n: Numbers, side: str) -> str:
    factor = n["redchi"] / n["expected"]
    if n["scaled"] or not factor > 0.0:
        return ""
    size = (factor if factor > 1.0 else 1.0 / factor) ** 0.5
    remedy = "" if n["counts"] else "; scale_covar=True corrects that"
    return f". Standard errors are too {side} by a factor of {size:.2g}{remedy}"


def _misfit(n: Numbers, p: tuple[str, ...]) -> str:
    errors = _errors_wrong(n, "small").replace(". S", ". If it is the noise, s", 1)
    return (
        f"look at the residual, which is {(n['redchi'] / n['expected']) ** 0.5:.3g} times the "
        f"noise (reduced χ² {n['redchi']:.3g}, expected {n['expected']:.3g}): the model misses "
        f"something, or the noise is larger than declared{errors}"
    )


def _overstated(n: Numbers, p: tuple[str, ...]) -> str:
    scale = ", or scale= if a unit of the data is several counts" if n["counts"] else ""
    return (
        f"declare a smaller noise{scale}: reduced χ² is {n['redchi']:.3g}, expected is "
        f"{n['expected']:.3g}{_errors_wrong(n, 'large')}"
    )


def _at_bound(n: Numbers, p: tuple[str, ...]) -> str:
    ended = f"{p[0]} ended at its bound ({n['side']} {n['limit']:g})"
    if n["gain"] < n["variance"]:
        return f"{ended} and has no standard error; a wider bound would gain nothing"
    do = "give it a wider bound"
    if n["function"]:
        do = f"try another line shape, since {n['function']} allows no wider bound"
    elif n["shape"]:
        do += ", or try another line shape"
    return (
        f"{ended}; {do}: beyond it χ² would fall by about {n['gain']:.2g} of {n['chisqr']:.4g} "
        "(estimated from the slope)"
    )


def _sigma_from_data(n: Numbers, p: tuple[str, ...]) -> str:
    scale = "" if abs(n["counts"] - 1.0) < 1e-3 else f", scale={n['counts']:.6g}"
    return (
        f'declare counts, file.set_noise("poisson"{scale}): the declared σ is the root of the '
        "data, so low points count more, and heights come out too low, by up to "
        f"{n['low']:.2g} standard errors"
    )


def _follow(n: Numbers, p: tuple[str, ...]) -> str:
    side = "low" if n["off"] > 0 else "high"
    return (
        "fit all spectra at once, with these laws as dynamics of the parameter (fit_2d): errors of "
        f"{p[0]} follow its values, so values that are {side} by chance count more, and a constant "
        f"comes out too {side} by up to {abs(n['off']):.2g} of its errors"
    )


def _outliers(n: Numbers, p: tuple[str, ...]) -> str:
    between = ""
    if "low" in n:
        between = f"set_fit_limits(exclude=[({n['low']:.6g}, {n['high']:.6g})]), or "
    furthest = "the furthest, " if n["count"] > 1 else ""
    return (
        f"leave outliers out, {between}mask=, True there: {_points(n)} more than 6 robust standard "
        f"deviations from the fit; {furthest}{n['away']:.3g}, at {_where(n)}"
    )


def _varies(n: Numbers, p: tuple[str, ...]) -> str:
    if n["axis"] == "file":
        where, named = "from file to file", [f"in {_file(n[end])}" for end in ("at", "from")]
    else:
        where, named = f"along the {n['axis']}", [f"around {n[end]:.4g}" for end in ("at", "from")]
    how = ", file.set_noise('gaussian', sigma=...), or Measurement(weight=1 / sigma)"
    do = f"declare the noise{' as it is' if n['weighted'] else how}"
    return (
        f"{do}: it differs {where}, {n['most']:.2g} {named[0]} and {n['least']:.2g} {named[1]}"
        f"{' of the declared one' if n['weighted'] else ''}; errors take all points alike"
    )


def _equivalent(n: Numbers, p: tuple[str, ...]) -> str:
    elsewhere = ", ".join(
        f"{name} = {there:.4g} (here {here:.4g})"
        for name, there, here in zip(p, n["there"], n["here"], strict=True)
    )
    do = "" if n["joint"] else "take errors from bootstrap(result), which includes both: "
    return (
        f"{do}another optimum fits nearly as well, {elsewhere}; its χ² is higher by "
        f"{n['above']:.2g} times the noise variance"
    )


def _better(n: Numbers, p: tuple[str, ...]) -> str:
    values = ", ".join(f"{name} = {at:.6g}" for name, at in zip(p, n["values"], strict=True))
    return (
        f"fit again from {values}, or give bounds that exclude it: there is a better optimum, χ² "
        f"{n['chisqr']:.8g} where the fit has {n['of_fit']:.8g}"
    )


def _disagree(n: Numbers, p: tuple[str, ...]) -> str:
    nearest = f"; the best of the others has {n['nearest']:.6g}" if "nearest" in n else ""
    return (
        f"see result.starts: {n['agree']} of {n['finished']} starts agree on this optimum, χ² "
        f"{n['chisqr']:.6g}{nearest} ({n['finished']} of {n['all']} were fitted to the end)"
    )


#: What each kind says, of its numbers and places.
TEMPLATES: dict[Kind, Template] = {
    Kind.NOT_CONVERGED: lambda n, p: (
        "start nearer, or give bounds, and fit again: the fit did not end at an optimum"
    ),
    Kind.UNDETERMINED: lambda n, p: (
        f"hold {listed(p)} fixed, or simplify the model: the data do not determine "
        f"{'them' if p[1:] else 'it'}"
    ),
    Kind.DATA_CHANGED: lambda n, p: (
        "fit a copy of the data: the data, their weights or their mask changed after the fit"
    ),
    Kind.MISFIT: _misfit,
    Kind.OUTSIDE_AXIS: lambda n, p: (
        f"start {p[-1]} within the {n['axis']} axis, give it bounds, or hold it fixed: "
        f"{p[-1]} = {n['value']:.6g} is outside of {_bounds(n)}, so the data do not show it"
    ),
    Kind.WRONG_UNIT: _wrong_unit,
    Kind.MIXING_NOT_A_SHARE: lambda n, p: (
        f"start {p[0]} at 0.3, with bounds, [0.3, True, 0, 1], where CasaXPS says 30: "
        f"{n['value']:.6g} is no mixing, which runs from 0, a Gaussian, to 1, a Lorentzian"
    ),
    Kind.BACKWARD_AXIS: _backward,
    Kind.NO_CONSTANT: lambda n, p: (
        f"add a constant above the laws, constFun: {{A: [{n['value']:.4g}, True]}}: the laws are 0 "
        f"before their onset, and the values are about {n['value']:.4g} there"
    ),
    Kind.LINE_BESIDE_PEAK: lambda n, p: (
        f"start {p[0]} at {n['peak']:.6g}, or fit with n_starts=10: the residual has a peak there, "
        f"{n['height']:.3g} times the noise, and the line settled beside it, at {n['value']:.6g}"
    ),
    Kind.LINES_MERGED: lambda n, p: (
        f"remove {p[1]}, or give both lines bounds that do not overlap: {p[0]} and {p[1]} ended at "
        f"one place, {n['value']:.6g}"
    ),
    Kind.TIME_BELOW_STEP: lambda n, p: (
        f"check the unit of {p[0]}, or hold it fixed: {n['value']:.3g} is far below the step of "
        f"the time axis, {n['step']:.3g}"
    ),
    Kind.BETTER_OPTIMUM: _better,
    Kind.SEARCH_CUT_SHORT: lambda n, p: (
        f"fit again from here: {n['end']} while the fit looked for a better optimum at other time "
        "zeros and widths, so there may be one"
    ),
    Kind.STARTS_DISAGREE: _disagree,
    Kind.DEAD_POINTS: lambda n, p: (
        f"leave dead channels out, set_fit_limits(exclude=...), or mask=, True there: {_points(n)} "
        f"exactly 0 between values that are not, {'the first at' if n['count'] > 1 else 'at'} "
        f"{_where(n)}"
    ),
    Kind.OUTLIERS: _outliers,
    Kind.NEGATIVE_COUNTS: lambda n, p: (
        f"give heights and backgrounds a bound, min 0: the model is negative at {n['count']} of "
        f"{n['points']} points, and counts are not"
    ),
    Kind.KERNEL_UNDERSAMPLED: lambda n, p: (
        "use gaussIRF, which is exact between samples, or finer times: "
        f"{p[0]} = {n['width']:.4g} is under two time steps ({n['step']:.4g} each), and times near "
        "it may be biased"
    ),
    Kind.AT_BOUND: _at_bound,
    Kind.NOISE_OVERSTATED: _overstated,
    Kind.NO_SCATTER: lambda n, p: (
        "declare the noise, file.set_noise('gaussian', sigma=...), or Measurement(weight=1 / "
        f"sigma) with scale_covar=False: no standard errors follow from {n['points']} points and "
        "as many free parameters"
    ),
    Kind.ERROR_BEYOND_BOUNDS: lambda n, p: (
        f"hold {p[0]} fixed, or give it wider bounds: it has no standard error, since "
        f"{n['error']:.3g} is larger than the interval of its bounds, {_bounds(n)}"
    ),
    Kind.AMPLITUDES_UNDETERMINED: lambda n, p: (
        f"{p[0]} is not determined at {n['count']} {n['axis']}, and held at 0 there: the data "
        "cannot tell it from the other amplitudes"
    ),
    Kind.INTERVAL_ONLY: lambda n, p: (
        f"quote conf_interval({p[0]!r}): {p[0]} may as well lie above {n['low']:.6g}, up to "
        f"{n['high']:.6g}, where χ² rises by less than the noise variance"
    ),
    Kind.FAINT_LINE: lambda n, p: (
        f"compare with a model without this line, or hold {listed(p[1:])} fixed: {p[0]} is "
        f"{n['away']:.2g} standard errors from 0, and noise alone may have made this line"
    ),
    Kind.WEAK_LINE: lambda n, p: (
        f"quote conf_interval of {listed(p[1:])}, or hold one of them fixed: {p[0]} is weak "
        f"(without it χ² rises by {n['rise']:.2g} times the noise variance), and in one of seven "
        "such fits the truth is more than two errors away"
    ),
    Kind.COUNTS_UNDECLARED: lambda n, p: (
        'declare counts, file.set_noise("poisson") or Measurement(loss="poisson"): the data are '
        "whole numbers that scatter by their roots, and a fit of counts has no bias and right "
        "errors"
    ),
    Kind.SIGMA_FROM_DATA: _sigma_from_data,
    Kind.ERRORS_FOLLOW_VALUES: _follow,
    Kind.EQUIVALENT_OPTIMA: _equivalent,
    Kind.RESIDUAL_STRUCTURED: lambda n, p: (
        f"look at the residual: neighbours along the {n['axis']} are alike (correlation "
        f"{n['share']:.2g}), so the model misses something, or the noise is correlated. If it is "
        f"the noise, standard errors are too small by a factor of {n['factor']:.2g}"
    ),
    Kind.NOISE_VARIES: _varies,
    Kind.ERRORS_ASYMMETRIC: lambda n, p: (
        f"quote conf_interval of {listed(p)}: at two standard errors χ² rises by only "
        f"{4 * max(n['share'], 0.0):.2g} (expected 4), so these errors are too small"
    ),
    Kind.SHORT_CHAIN: lambda n, p: (
        f"sample with steps={n['enough']} or more: the chain of {n['steps']} steps after burn is "
        f"shorter than 50 autocorrelation times, {n['times']:.3g} of {p[0]} (τ = {n['time']:.3g} "
        "steps), and its quantiles are rough"
        if p
        else "a chain of one step has no errors; give some thousand, steps=5000"
    ),
    Kind.STUCK_WALKERS: lambda n, p: (
        f"give more steps, such as steps={n['enough']}: {n['stuck']} of {n['walkers']} walkers did "
        f"not move in {n['steps']} steps, so the samples are not those of the posterior"
    ),
    Kind.PARTS_EXCHANGED: lambda n, p: (
        "give bounds that do not overlap, or an expression: starts with the same χ² ended at other "
        f"values of {listed(p)}, so equal parts of the model may have changed places"
    ),
    Kind.SHARED_AND_OWN: lambda n, p: (
        f"write 'project' in both models to fit one value of {p[0]}, or in neither: file "
        f"{n['shared_by']} shares it with the project, in file {n['own_of']} it is {n['own']} for "
        "this file alone"
    ),
    Kind.SAME_TWICE: lambda n, p: (
        "give the parameters in it different names in the section 'parameters', one for each "
        f"model: {listed(p[1:])} are one expression, and {p[0]} in it is that of each model"
    ),
    Kind.SPANS_NOWHERE: lambda n, p: (
        "work it out from the values of the joint result, or fit one file of each model: "
        f"{p[0]}, and what depends on it, is in no result, since its {p[1]} may be "
        f"{' and '.join(p[2:])}"
    ),
    Kind.REFITTED_ALONE: lambda n, p: (
        "fit all together again, result.joint.refit(), or load_fit(path).refit() of an archive: "
        f"this file was fitted together with other files, and now alone: {n['what']}"
    ),
    Kind.NOTHING_LINEAR: lambda n, p: (
        'leave linear="eliminate" out: the model is linear in none of its free parameters'
    ),
}
