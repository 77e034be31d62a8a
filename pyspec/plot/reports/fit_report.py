"""The report of one fit, of a joint fit, or of the fits of slices: sections, tables, pictures."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.errors import one_line
from pyspec.fit import FitResult, SliceResults
from pyspec.fit.results.coarse import masked_points, range_of
from pyspec.fit.results.ended import state_of
from pyspec.fit.results.result import TOGETHER
from pyspec.fit.results.table import format_value
from pyspec.io import digest
from pyspec.io.archive.fit_record import versions as versions_of
from pyspec.model import Model
from pyspec.model.data.source import source_of
from pyspec.plot.caption import five_digits, heading
from pyspec.plot.config import Look, PlotConfig
from pyspec.plot.elements.labels import named, unit_of, with_unit
from pyspec.plot.figure import Sheet
from pyspec.plot.figures.amplitudes import plot_amplitudes, plot_species
from pyspec.plot.figures.fits import plot_evolution, plot_fit, plot_moving
from pyspec.plot.figures.joint_files import files_of
from pyspec.plot.figures.singular_vectors import plot_svd
from pyspec.plot.figures.stack import plot_stack
from pyspec.plot.figures.traces import plot_traces
from pyspec.plot.protocols import Fit
from pyspec.plot.reports.page import (
    cards_row,
    facts_list,
    html_rows,
    image,
    notes_list,
    seconds_text,
    section,
    warning,
)
from pyspec.plot.style import FIT, INK, MUTED, three_digits
from pyspec.plot.view import Residual, residual_of, view_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: Correlations below this are not worth a line.
NOTABLE = 0.5

#: Points of the largest map whose singular vectors are drawn: half a second.
MOST_DECOMPOSED = 500_000

#: Correlations that are listed.
MAX_CORRELATIONS = 40

#: So many slices that did not converge are named.
MAX_NAMED = 12


def fit_parts(
    result: FitResult, config: PlotConfig, notes: Sequence[str], named: Look | None = None
) -> list[str]:
    """The sections of the report of one fit, or of a joint fit: of all files, then of each. `named`
    are fields of `config` that were given by name, for the picture of the fit."""
    files = files_of(result)
    alone = files or (result,)
    own: Look = {**(named or {}), "config": config}
    plain: Look = {"config": config.copy(title="")}
    firsts = [_picture(heading(file), "", partial(plot_fit, file, **plain)) for file in files]
    if not files:
        firsts = [_picture("Data and fit", "", partial(plot_fit, result, **own))]
    others = [] if files else _pictures(result, config)
    return [
        section("", _summary(result, alone)),
        *firsts,
        section("Parameters", parameters_table(result)),
        *others,
        section(f"Correlations above {NOTABLE:g}", correlations_table(result)),
        section("Fit", facts_list(_settings(result, alone)), "half"),
        *(
            section(
                f"Data of {file.file_name or 'a file'}" if files else "Data",
                facts_list(data_facts(file)) + notes_list(notes),
                "half",
            )
            for file in alone
        ),
        section("Model", "".join({model_texts(file.problem.model): None for file in alone})),
        section("Made with", facts_list(versions())),
    ]


def _summary(result: FitResult, files: Sequence[FitResult]) -> str:
    is_weighted = any(file.problem.is_weighted for file in files)
    cards = [(five_digits(result.redchi), "reduced χ²")] if is_weighted else []
    if len(files) > 1:
        cards.append((f"{len(files)}", "files together"))
    else:
        n = result.problem.n_points
        spread = float(np.sqrt(result.statistics["chi2_raw"] / n)) if n else 0.0
        low, high = range_of(result)
        span = high - low if n else 0.0
        share = f", {100 * spread / span:.2g} % of the data's span" if span else ""
        rms = with_unit(three_digits(spread), unit_of(result, "data"))
        cards.append((rms, f"residual rms{share}"))
    cards += [
        (f"{result.n_data:,}".replace(",", "\u202f"), "points"),
        (f"{result.n_free}", "free parameters"),
        (f"{result.nfev}", f"evaluations in {seconds_text(result.seconds)}"),
    ]
    return cards_row(cards) + warnings_box(result)


def warnings_box(result: FitResult) -> str:
    """What is to be known before the numbers are used."""
    lines = []
    if state_of(result.success, result.without_effect) == "NOT converged":
        lines.append(f"The fit did not converge: {result.message}")
    if result.without_effect:
        lines.append(f"The data do not determine {', '.join(result.without_effect)}.")
    return warning([*lines, *result.finding_lines(most=None)])


def _picture(title: str, kind: str, draw: Callable[[], Figure]) -> str:
    """The section of a picture; one line instead where it cannot be drawn, as without
    matplotlib: the numbers of the page need no pictures."""
    try:
        body = image(draw(), title)
    except Exception as error:
        body = f"<p>No picture: {escape(one_line(error))}</p>"
    return section(title, body, kind)


def _pictures(result: FitResult, config: PlotConfig) -> list[str]:
    """The sections of all pictures but the first."""
    plain = config.copy(title="", data_slice=None)
    unnamed = plain.copy(legend=config.legend and None)  # [] leaves it out; names are of the fit
    pictures = []
    if result.data.ndim == 2:
        titled = unnamed.copy(title="some spectra with their fits")
        pictures += [
            _picture("Spectra", "half", partial(plot_stack, result, n=7, config=titled)),
            _picture("Traces", "half", partial(plot_traces, result, config=unnamed)),
        ]
        if any(par.dynamics is not None for par in result.model.parameters.values()):
            titled = plain.copy(title="with one standard error")
            draw = partial(plot_moving, result, config=titled)
            pictures.append(_picture("Parameters over time", "half", draw))
    linear = result.amplitudes
    if linear is not None:
        word = {"energy": "spectra", "time": "traces"}[linear.axis]
        draw = partial(plot_amplitudes, result, config=plain)
        pictures.append(_picture(f"Free {word}, with one standard error", "", draw))
        for scheme in linear.kinetics:
            title = f"{scheme}: spectra of the states, of the decays and of the evolution"
            draw = partial(plot_species, result, scheme=scheme, config=plain)
            pictures.append(_picture(title, "", draw))
        if result.residual.ndim == 2 and result.residual.size <= MOST_DECOMPOSED:
            draw = partial(plot_svd, result, config=plain)
            pictures.append(_picture("Singular vectors", "", draw))
    return [*pictures, _picture("Residual", "half", partial(_histogram, result, plain))]


def _histogram(result: Fit, config: PlotConfig) -> Figure:
    """The residual of the fit window against a normal distribution: of width 1 where σ was
    declared, else of the residual's own width."""
    seen = view_of(result, config.copy(full_range=False, show_init=False))
    unit = "rms" if seen.sigma is None else "sigma"
    residual: Residual = residual_of(seen, result, config.copy(residual_unit=unit))
    values = residual.values[np.isfinite(residual.values)]
    sheet = Sheet()
    with sheet.style():
        ax = sheet.panel((5.2, 2.5), config)
        reach = float(np.clip(np.abs(values).max(initial=0.0), 5.0, 12.0))
        n_bins = int(np.clip(2 * np.cbrt(values.size), 15, 81) * reach / 5.0)
        # What lies further out is counted in the last bars.
        inside = np.clip(values, -reach, reach)
        bins = np.linspace(-reach, reach, n_bins)
        ax.hist(inside, bins=bins.tolist(), density=True, color="#8fa3b5", label="residual")
        x = np.linspace(-reach, reach, 201)
        ax.plot(x, np.exp(-x * x / 2) / np.sqrt(2 * np.pi), color=FIT, lw=1.5, label="normal")
        ax.set_xlabel(f"{residual.label},   {residual.note}")
        ax.set_yticks([])
        ax.set_title(
            "where only noise is left, the bars follow the line", fontsize=9.0, color=MUTED
        )
        ax.legend(loc="upper right", labelcolor=INK)
        ax.spines[["top", "right", "left"]].set_visible(False)
        return sheet.finish(config)


def parameters_table(result: FitResult) -> str:
    """All parameters with standard errors, start, bounds and what was special."""
    head = ("parameter", "value", "± 1 s.e.", "start", "bounds", "")
    rows, labels = [], named(result.values, result)
    for row in result.table:
        value, error = format_value(row.value, row.stderr)
        bounds, note = "", ""
        if row.kind == "free":
            low = "−∞" if np.isinf(row.min) else f"{row.min:.6g}"
            high = "∞" if np.isinf(row.max) else f"{row.max:.6g}"
            bounds = "" if np.isinf(row.min) and np.isinf(row.max) else f"{low} … {high}"
            note = f"at its {row.at_bound}imum" if row.at_bound else ""
        elif row.kind == "expr":
            note = f"= {row.expr}"
        else:
            note = "fixed"
        start = "" if row.kind != "free" or row.init is None else f"{row.init:.6g}"
        cells = (labels[row.name], value, error, start, bounds, note)
        mark = "bound" if row.at_bound else row.kind
        rows.append((mark, cells))
    return html_rows(head, rows, "parameters")


def correlations_table(result: FitResult) -> str:
    """The pairs above NOTABLE, the largest first."""
    names = list(result.problem.names)
    pairs = []
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            value = result.correl.get(first, {}).get(second)
            if value is not None and np.isfinite(value) and abs(value) > NOTABLE:
                pairs.append((first, second, float(value)))
    if not pairs:
        return "<p>None.</p>" if any(result.correl.values()) else "<p>Not known.</p>"
    pairs.sort(key=lambda pair: -abs(pair[2]))
    lines = "".join(
        f"<tr><td>{escape(a)}</td><td>{escape(b)}</td><td>{value:+.3f}</td>"
        f'<td><span class="bar {"neg" if value < 0 else "pos"}" '
        f'style="width:{9 * (abs(value) - NOTABLE) / (1 - NOTABLE) + 0.2:.2f}rem"></span></td></tr>'
        for a, b, value in pairs[:MAX_CORRELATIONS]
    )
    more = (
        f"<p>and {len(pairs) - MAX_CORRELATIONS} more</p>" if len(pairs) > MAX_CORRELATIONS else ""
    )
    return f'<table class="correlations"><tbody>{lines}</tbody></table>{more}'


def _settings(result: FitResult, files: Sequence[FitResult]) -> list[tuple[str, str]]:
    facts = [
        ("method", f"{result.method} on the {result.backend} backend"),
        ("outcome", result.message),
    ]
    if result._is_joint_member:
        facts.append(("joint fit", TOGETHER))
    if result.started_from:
        facts.append(("started from", result.started_from))
    if result.starts:
        agree = sum(start.agrees for start in result.starts)
        facts.append(("starts", f"{agree} of {len(result.starts)} agree"))
    numbers = [
        ("χ²", f"{result.chisqr:.8g}"),
        ("reduced χ²", f"{result.redchi:.8g}"),
        ("degrees of freedom", f"{result.n_data - result.n_free}"),
    ]
    if len(files) > 1:
        return [*facts, *numbers]
    if not result.is_trace:
        facts.append(("energies", axis_words(result.energy, unit_of(result, "energy"))))
    if result.time is not None:
        facts.append(("times", axis_words(result.time, unit_of(result, "time"))))
    facts += [*numbers, ("noise", _noise_words(result))]
    names = {"r2": "R²", "aic": "AIC", "bic": "BIC"}
    facts += [(shown, f"{result.statistics[key]:.8g}") for key, shown in names.items()]
    options = {k: v for k, v in result.settings.items() if k not in ("methods", "scale_covar")}
    if options:
        facts.append(("options", ", ".join(f"{key} = {value}" for key, value in options.items())))
    return facts


def axis_words(axis: npt.NDArray[np.float64], unit: str) -> str:
    """ "84 to 86 eV, 101 points"."""
    return f"{with_unit(f'{axis[0]:g} to {axis[-1]:g}', unit)}, {axis.size} points"


def _noise_words(result: FitResult) -> str:
    problem = result.problem
    if problem.is_poisson:
        return f"counts, {problem.measurement.loss_scale:g} for each unit of the data"
    scaled = result.settings.get("scale_covar", True)
    of_all = f" of all files, {result.ending.variance:.5g}" if result._is_joint_member else ""
    how = f"; errors scaled with √(reduced χ²){of_all}" if scaled else ""
    return ("known, weights 1 / σ" if problem.is_weighted else "not known") + how


def data_facts(result: Fit) -> list[tuple[str, str]]:
    """What the data are: file, shape, range, masked points and digest."""
    data, keep = result.measurement.data, result.measurement.keep
    assert data is not None
    facts = [
        ("file", result.file_name or "given as an array"),
        ("shape", " × ".join(str(n) for n in data.shape) + f", {data.dtype}"),
    ]
    if isinstance(result, FitResult):
        by_reference = source_of(data) is not None
        low, high = range_of(result) if by_reference else (np.nanmin(data), np.nanmax(data))
        span = with_unit(f"{low:g} to {high:g}", unit_of(result, "data"))
        if keep is not None and source_of(keep) is None:
            n_masked = int(np.count_nonzero(~keep))
        else:
            n_masked = masked_points(result)
        facts += [("range", span), *([("masked", f"{n_masked} points")] if n_masked else [])]
    else:
        facts += [
            ("times", axis_words(result.time, unit_of(result, "time"))),
            ("energies", axis_words(result.energy, unit_of(result, "energy"))),
        ]
    return [*facts, ("SHA-256", digest(data))]


def model_texts(model: Model) -> str:
    """The YAML text of the model and of everything added to its parameters."""
    blocks = [("", model.text)]
    for name, par in model.parameters.items():
        for kind, law in (("over time", par.dynamics), ("along the auxiliary axis", par.profile)):
            if law is not None:
                often = getattr(law, "frequency", -1.0)
                pace = f", frequency {often:g}" if often > 0 else ""
                blocks.append((f"{name} {kind}: {law.name}{pace}", law.text))
    return "".join(
        (f"<h3>{escape(head)}</h3>" if head else "") + f"<pre>{escape(text.rstrip())}</pre>"
        for head, text in blocks
        if text
    )


def versions() -> list[tuple[str, str]]:
    by_name = dict(versions_of())
    return [
        ("pyspec", by_name["pyspec"]),
        ("Python", by_name["python"]),
        ("NumPy, SciPy, lmfit", ", ".join(by_name[name] for name in ("numpy", "scipy", "lmfit"))),
        ("machine", f"{platform.system()} {platform.machine()}"),
    ]


def slice_parts(slices: SliceResults, config: PlotConfig, notes: Sequence[str]) -> list[str]:
    """The sections of the report of the fits of slices."""
    redchi, series = slices.redchi[slices.success], slices.series
    middle = five_digits(float(np.median(redchi))) if redchi.size else "–"
    is_known = series.weight is not None or series.loss == "poisson"
    cards = [
        (f"{len(slices)}", "slices"),
        (f"{int(np.count_nonzero(slices.success))}", "converged"),
        *([(middle, "reduced χ², median")] if is_known else []),
        (f"{len(slices.free_names)}", "free parameters in each"),
        (seconds_text(slices.seconds), f"on the {slices.backend} backend"),
    ]
    bad = [fit for fit in slices if not fit.success]
    lines = [f"{slices.time[fit.index]:g}: {fit.status}: {fit.message}" for fit in bad[:MAX_NAMED]]
    if len(bad) > MAX_NAMED:
        lines.append(f"and {len(bad) - MAX_NAMED} more")
    values = {
        name: np.where(slices.success, slices.values[name], np.nan) for name in slices.free_names
    }
    plain = config.copy(title="bars are one standard error", data_slice=None)
    plain.legend = config.legend and None
    titled = plain.copy(title="some spectra with their fits")
    moving = partial(
        plot_evolution, slices.time, values, slices.stderr, source=slices, config=plain
    )
    return [
        section("", cards_row(cards) + warning([*lines, *slices.finding_lines()])),
        _picture("Parameters over time", "", moving),
        _picture("Data and fit", "", partial(plot_fit, slices, config=config)),
        _picture("Spectra", "half", partial(plot_stack, slices, n=7, config=titled)),
        section("Parameters, over the slices that converged", _slices_table(slices)),
        section("Data", facts_list(data_facts(slices)) + notes_list(notes)),
        section("Model", model_texts(slices.model)),
        section("Made with", facts_list(versions())),
    ]


def _slices_table(slices: SliceResults) -> str:
    """Median and range of each free parameter, and its typical standard error."""
    good = slices.success
    rows, labels = [], named(slices.free_names, slices)
    for name in slices.free_names:
        values, errors = slices.values[name][good], slices.stderr[name][good]
        errors = errors[np.isfinite(errors)]
        if not values.size:
            continue
        cells = [
            labels[name],
            *(f"{number:.6g}" for number in np.quantile(values, [0.5, 0.0, 1.0])),
        ]
        rows.append(("free", [*cells, f"{np.median(errors):.2g}" if errors.size else ""]))
    head = ("parameter", "median", "lowest", "highest", "median s.e.")
    return html_rows(head, rows, "wide") if rows else "<p>None converged.</p>"
