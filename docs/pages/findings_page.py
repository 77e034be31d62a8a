"""The page of the kinds of findings, from their table and these descriptions."""

from __future__ import annotations

from pyspec.fit.findings.kinds import GRADES, HIDES, HIDES_SAME, Kind, Severity

#: When each kind comes, and what to do.
WHEN = {
    Kind.NOT_CONVERGED: (
        "the fit did not end at an optimum: a limit, Ctrl-C, or no step made χ² smaller",
        "start nearer, or give bounds, and fit again",
    ),
    Kind.UNDETERMINED: (
        "χ² does not depend on these parameters, or only on a combination of them",
        "hold what the text names fixed, or simplify the model",
    ),
    Kind.DATA_CHANGED: (
        "data, weights or mask were changed after the fit",
        "fit a copy of the data",
    ),
    Kind.MISFIT: (
        "with declared noise, reduced χ² is larger than expected and chance does not explain it",
        "look at the residual; if it is the noise, declare it larger",
    ),
    Kind.OUTSIDE_AXIS: (
        "a line or an onset lies outside of the axis of the data",
        "start it within, give it bounds, or hold it fixed",
    ),
    Kind.WRONG_UNIT: (
        "a line lies outside of the axis, and would lie within in another unit",
        "convert the axis while reading",
    ),
    Kind.MIXING_NOT_A_SHARE: (
        "a mixing of a line lies far outside of 0 to 1, such as the percents of CasaXPS",
        "start it at 0.3, with bounds 0 and 1",
    ),
    Kind.BACKWARD_AXIS: (
        "a Shirley or Tougaard is highest at the first energy, and the data are at the last",
        "reverse the axis and the data: [kinetic energies rise, binding energies fall]"
        "(conventions.md)",
    ),
    Kind.NO_CONSTANT: (
        "the values are far from 0 before the onset of all laws",
        "add constFun above them",
    ),
    Kind.LINE_BESIDE_PEAK: (
        "the residual of a spectrum has a peak higher than the fit is: a line settled beside it",
        "start the line there, or fit with n_starts=10",
    ),
    Kind.LINES_MERGED: (
        "two lines that started more than a step apart ended within a quarter of a step",
        "remove one of them, or give them bounds that do not overlap",
    ),
    Kind.TIME_BELOW_STEP: (
        "a free time constant is below a thousandth of the smallest time step",
        "check its unit, such as 2e-12 on an axis in ps, or hold it fixed",
    ),
    Kind.BETTER_OPTIMUM: (
        "`conf_interval` came to a lower χ²; it is among the `findings` of what it returns",
        "fit again from there, or give bounds that exclude it",
    ),
    Kind.SEARCH_CUT_SHORT: (
        "a limit or Ctrl-C ended the search for better optima beside the one that was found",
        "fit again from here",
    ),
    Kind.STARTS_DISAGREE: (
        "some of `n_starts` ended at another χ², or not at all; the lowest is returned",
        "more starts or closer bounds, until several agree: `result.starts` lists them",
    ),
    Kind.KERNEL_UNDERSAMPLED: (
        "a convolution, but for those by formula, is narrower than two time steps",
        "use gaussIRF, or finer times",
    ),
    Kind.DEAD_POINTS: (
        "points are exactly 0 between values that are not",
        "leave them out: limits with exclude=, or a mask",
    ),
    Kind.OUTLIERS: (
        "a few points, 2 % at most, are more than six robust standard deviations from the fit, and "
        "neither dead points, structure nor noise that varies was found",
        "leave them out where they are no signal",
    ),
    Kind.NEGATIVE_COUNTS: (
        "the model of counts is negative at some points",
        "give heights and backgrounds a bound, min 0",
    ),
    Kind.AT_BOUND: (
        "a parameter without a standard error ended at a bound; `result.at_bound` lists them all",
        "widen the bound where it would lower χ², or try another line shape",
    ),
    Kind.NOISE_OVERSTATED: (
        "with declared noise, reduced χ² is smaller than expected",
        "declare a smaller noise; of counts, check scale=",
    ),
    Kind.NO_SCATTER: (
        "there are as many free parameters as points, and no declared noise",
        "declare the noise",
    ),
    Kind.ERROR_BEYOND_BOUNDS: (
        "the standard error would be larger than the interval of the bounds",
        "hold the parameter fixed, or widen the bounds",
    ),
    Kind.AMPLITUDES_UNDETERMINED: (
        "a free amplitude cannot be told from the others at some energies or times",
        "it is held at 0 there; leave one component out",
    ),
    Kind.INTERVAL_ONLY: (
        "an edge, or an onset without instrument, is only known to lie between two samples",
        "quote conf_interval",
    ),
    Kind.FAINT_LINE: (
        "the height of a line is within 2.5 standard errors of 0, and its place or width is free",
        "compare with a model without this line, or hold them fixed",
    ),
    Kind.WEAK_LINE: (
        "without a line of free place and width χ² rises by less than 36, about 6 σ",
        "quote conf_interval, or hold its place or its width",
    ),
    Kind.COUNTS_UNDECLARED: (
        "whole numbers N without declared noise scatter about the fit by √N, as counts do",
        "declare counts: [noise](howto/weights_and_masks.md)",
    ),
    Kind.SIGMA_FROM_DATA: (
        "the declared σ is the root of the data themselves",
        "declare counts, or take σ from the fit",
    ),
    Kind.ERRORS_FOLLOW_VALUES: (
        "errors of a parameter of slices grow or fall with its values: those low or high by chance "
        "weigh too much in a fit to them",
        "fit all spectra at once, with fit_2d",
    ),
    Kind.EQUIVALENT_OPTIMA: (
        "another optimum has a χ² higher by less than 4, about 2 σ",
        "take errors from bootstrap",
    ),
    Kind.RESIDUAL_STRUCTURED: (
        "neighbouring residuals are alike, by a correlation above 0.1 and above chance",
        "look at the residual: the model misses something, or the noise is correlated",
    ),
    Kind.NOISE_VARIES: (
        "the noise differs along an axis or from file to file by more than a factor of 1.5",
        "declare it, as σ for each point or by counts: [noise](howto/weights_and_masks.md)",
    ),
    Kind.ERRORS_ASYMMETRIC: (
        "two errors away χ² rises by less than half of what it should, the others being refitted",
        "quote conf_interval",
    ),
    Kind.SHORT_CHAIN: (
        "a chain of result.sample() is shorter than 50 autocorrelation times",
        "sample with more steps",
    ),
    Kind.STUCK_WALKERS: ("walkers of such a chain did not move", "give more steps"),
    Kind.PARTS_EXCHANGED: (
        "starts of the same χ² ended at other values",
        "give bounds that do not overlap, or an expression",
    ),
    Kind.SHARED_AND_OWN: (
        "one file of a joint fit shares a parameter that another has for itself",
        "write 'project' in both models, or in neither",
    ),
    Kind.SAME_TWICE: (
        "quantities of two models are one expression",
        "name the parameters in it differently, one for each model",
    ),
    Kind.SPANS_NOWHERE: (
        "an expression names parameters that mean other values in each file",
        "work it out from the values of the joint result",
    ),
    Kind.REFITTED_ALONE: (
        "a file of a joint fit was fitted again alone",
        "result.joint.refit(), or load_fit(path).refit()",
    ),
    Kind.NOTHING_LINEAR: (
        'linear="eliminate" found no linear parameter',
        "leave it out",
    ),
}

TITLES = {
    Severity.FAILED: "FAILED: there is no answer",
    Severity.WRONG: "WRONG: values may be wrong",
    Severity.ERRORS: "ERRORS: values stand, standard errors may be wrong",
    Severity.NOTE: "NOTE: worth knowing",
}

HEAD = """
# Findings

What a fit finds out about itself, in `result.findings`: a tuple, the most serious first. Each
[`Finding`](api.md) has a `kind`, `places` (the parameters or components that it is about),
`numbers` (what was measured) and, in a joint fit, the `part` (number of the file).
`str(finding)` says it in words, `finding.to_dict()` and `result.to_dict()["findings"]` as JSON.

```python
result = fit_model(model, Measurement(data)).diagnose()
for finding in result.findings:
    print(finding.severity.name, finding.kind.name, finding.places, finding)
```

There are three levels.

| level | looks at | when |
|---|---|---|
| 0 | values, errors and χ² of the fit | always; some take an evaluation |
| 1 | the residual, in one pass | `result.diagnose()`; `File`, `pyspec fit` and reports do it |
| 2 | further fits | `result.diagnose(deep=True)`; `result.diagnosed` has evaluations and seconds |

`diagnose` returns a new result and leaves the old one as it is. `result.level` says how far it was
looked for. Level 1 finds nothing in a fit that did not converge, or of data read by reference.

Changes of χ² are counted in units of the variance of a point: 1 with declared noise, else reduced
χ². A parameter that is one, two or three standard errors away costs 1, 4 or 9.

A print shows every finding that FAILED, the first three others, and how many more there are. Notes
are not printed. `slices.findings` count each kind: `count` of `total` slices, the `first` one, and
the number of slices for each of the `places`.
"""


#: What two remedies look like, from the gallery.
PICTURES = {
    Severity.WRONG: (
        "\nBad points are masked, and the others have weights "
        "([how](gallery.md#a-mask-for-bad-points-weights-for-the-others)):\n\n"
        "![A mask for bad points, weights for the others](images/mask_and_weights.png)\n"
    ),
    Severity.ERRORS: (
        "\nFew counts are declared as counts ([how](gallery.md#a-fit-of-few-counts)):\n\n"
        "![A fit of few counts](images/counts.png)\n"
    ),
}


def pages() -> dict[str, str]:
    """The page, by its name."""
    return {"findings.md": HEAD + "".join(_section(one) for one in Severity)}


def _section(severity: Severity) -> str:
    rows = [_row(kind) for kind in Kind if kind.severity is severity]
    head = "| kind | level | when it comes | what to do |\n|---|---|---|---|\n"
    rest = _notes(severity) + PICTURES.get(severity, "")
    return f"\n## {TITLES[severity]}\n\n{head}" + "\n".join(rows) + "\n" + rest


def _row(kind: Kind) -> str:
    when, remedy = WHEN[kind]
    return f"| {kind.name} | {kind.level} | {when} | {remedy} |"


def _notes(severity: Severity) -> str:
    lines = []
    for kind in Kind:
        if kind.severity is not severity:
            continue
        if kind in GRADES:
            lines.append(GRADED[kind])
        if hidden := HIDES.get(kind, ()):
            large = " from three times the expected χ²" if kind is Kind.MISFIT else ""
            lines.append(f"- {kind.name} hides{large} {', '.join(one.name for one in hidden)}.")
        if hidden := HIDES_SAME.get(kind, ()):
            names = ", ".join(one.name for one in hidden)
            lines.append(f"- {kind.name} hides {names} of the same parameter.")
    return "\n" + "\n".join(lines) + "\n" if lines else ""


#: How the numbers of a kind make it more or less serious.
GRADED = {
    Kind.MISFIT: "- MISFIT is WRONG from three times the expected χ² on.",
    Kind.AT_BOUND: (
        "- AT_BOUND is WRONG where a wider bound would lower χ² by more than 9, and a NOTE where "
        "it would gain less than 1."
    ),
    Kind.NOISE_VARIES: "- NOISE_VARIES is a NOTE below a factor of two.",
}
