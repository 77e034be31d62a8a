"""The first model of data: what kind they are, what is seen in them, and what was unsure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pyspec.errors import ModelError
from pyspec.model.build.load import load_model, load_time_model
from pyspec.model.data.energy_scale import losses_last
from pyspec.model.guess.decays import decays_seen, decays_text
from pyspec.model.guess.edges import Edge, is_edge
from pyspec.model.guess.humps import noise_of, resolved
from pyspec.model.guess.kinetic import guess_kinetics
from pyspec.model.guess.laws import guess_laws
from pyspec.model.guess.lines import BOTH, Lines
from pyspec.model.guess.moving import guess_motion
from pyspec.model.guess.numerics import binned
from pyspec.model.guess.texts import counted, listed, rounded
from pyspec.model.guess.traces import laws_text, notes_of
from pyspec.model.guess.windows import Window, windows

Array = npt.NDArray[np.float64]

#: What --kind may say.
KINDS = ("lines", "moving", "decays", "edge", "step", "survey")

#: Names of models in models.yaml.
PEAKS, TRACE, DECAYS, EDGE = "peaks", "trace", "decays", "edge"

#: Lines, which have more parameters, describe a step where an edge leaves so many times more.
CLEAR = 1.5

#: Spectra begin at nothing where the first are below this share of the largest.
NOTHING = 0.15

#: Spectra change in time where the largest singular value of what changes lies above noise.
CHANGES = 1.15

#: Lines describe a mean spectrum where their residual is below so many times the noise.
DESCRIBED = 3.0


class Unsure(NamedTuple):
    """A choice that the data leave open, and the option of ``pyspec new`` that decides it."""

    what: str
    option: str


class Wanted(NamedTuple):
    """What was asked for: options of ``pyspec new``; None where the data decide."""

    kind: str | None = None
    n_peaks: int | None = None
    n_decays: int | None = None


class Scan(NamedTuple):
    """What a file holds: `data`, (n,) or (n_time, n_energy), with its axes, labels and units."""

    data: Array
    energy: Array | None
    time: Array | None
    labels: Mapping[str, str]
    units: Mapping[str, str]


@dataclass(frozen=True)
class First:
    """A first model.

    Attributes
    ----------
    kind : the kind of data in words
    fit : the type of fit of a job
    name, text : the model and the file of models that holds it
    seen : what was seen, a line each
    unsure : what the data left open
    notes : what to know of the model
    dynamics : (parameter, law) of what moves
    windows : of a survey; the first is what the model describes
    """

    kind: str
    fit: str
    name: str
    text: str
    seen: tuple[str, ...] = ()
    unsure: tuple[Unsure, ...] = ()
    notes: tuple[str, ...] = ()
    dynamics: tuple[tuple[str, str], ...] = ()
    windows: tuple[Window, ...] = ()


def first_model(scan: Scan, wanted: Wanted) -> First:
    """The first model of these data, with start values."""
    if scan.energy is None:
        return _of_trace(scan)
    if scan.time is None:
        return _of_spectrum(scan, scan.energy, wanted)
    return _of_series(scan, scan.energy, scan.time, wanted)


def mean_spectrum(scan: Scan) -> tuple[Array, Array]:
    """(energy, mean over time) of the values that are finite, where there are any."""
    rows = scan.data if scan.data.ndim == 2 else scan.data[None, :]
    finite = np.isfinite(rows)
    count = finite.sum(axis=0)
    seen = count > 0
    means = np.where(finite, rows, 0.0).sum(axis=0)[seen] / count[seen]
    assert scan.energy is not None
    return scan.energy[seen], means


def _of_trace(scan: Scan) -> First:
    assert scan.time is not None
    is_finite = np.isfinite(scan.data)
    time = scan.time[is_finite]
    laws = guess_laws(time, scan.data[is_finite])
    text = laws_text(TRACE, laws, time)
    load_time_model(text, TRACE)  # a text that is not a model would be a mistake here
    label, unit = (names.get("time", "") for names in (scan.labels, scan.units))
    called = f", {label}" if label.lower() not in ("", "time") else ""
    decided = (
        f"A trace over time, as its only axis is time{called}{f' in {unit}' if unit else ''}; of "
        "energies say --rename time=energy"
    )
    return First("a trace over time", "trace", TRACE, text, notes=(decided, *notes_of(laws)))


def _of_spectrum(scan: Scan, energy: Array, wanted: Wanted) -> First:
    x, y = mean_spectrum(scan)
    may_be = wanted.kind == "survey" or (
        wanted.kind is None and wanted.n_peaks is None and scan.units.get("energy") == "eV"
    )
    parts = windows(x, y) if may_be else []
    if parts:
        best = parts[0]
        inside = (x >= best.low) & (x <= best.high)
        part = replace(_of_lines(scan, x[inside], y[inside], wanted), kind="a survey")
        seen = [
            f"{len(parts)} windows hold lines; the job fits the strongest, "
            f"{best.low:g} to {best.high:g}"
        ]
        open_ = Unsure("one window of the survey is fitted, not all", "--survey")
        return replace(
            part, seen=(*seen, *part.seen), unsure=(open_, *part.unsure), windows=tuple(parts)
        )
    lines_wanted = wanted.kind in ("lines", "moving") or wanted.n_peaks is not None
    if wanted.kind in ("edge", "step") or (not lines_wanted and _is_edge(scan, x, y)):
        return _of_edge(scan, x, y, wanted)
    return _of_lines(scan, x, y, wanted)


def _is_edge(scan: Scan, x: Array, y: Array) -> bool:
    """Whether an edge describes the spectrum better than lines on a background."""
    if not is_edge(y):
        return False
    lines = Lines(scan.labels, x, y, None)
    edge = Edge(scan.labels, scan.units, x, y)
    has_loss = lines.has_loss and losses_last(scan.labels, x) == ""
    return not (has_loss and edge.peak is not None) and edge.misfit() < CLEAR * lines.misfit()


def _of_edge(scan: Scan, x: Array, y: Array, wanted: Wanted) -> First:
    edge = Edge(scan.labels, scan.units, x, y)
    is_step = wanted.kind == "step" or not edge.is_fermi
    text = edge.text(EDGE, is_step=is_step)
    load_model(text, EDGE)
    seen = [f"an edge at {edge.place:g}, 10 to 90 % over {rounded(edge.width):g}"]
    unsure = []
    if is_step:
        seen.append("an error function on a straight line")
        if wanted.kind is None and edge.peak is None and scan.units.get("energy") in (None, "eV"):
            unsure.append(Unsure("a step, not a Fermi edge", "--kind edge"))
    else:
        seen.append("a Fermi edge with resolution, with a slope on both sides")
        unsure.append(Unsure(
            f"the temperature, {edge.temperature:g} K: put yours into models.yaml", "--kind step",
        ))  # fmt: skip
    if edge.peak is not None:
        seen.append(f"a line beside it at {edge.peak:g}")
    if wanted.kind is None:
        unsure.append(Unsure("the fall from one level to another is an edge, no loss of lines",
                             "--kind lines"))  # fmt: skip
    return First("an edge", "spectrum", EDGE, text, tuple(seen), tuple(unsure))


def _of_lines(scan: Scan, x: Array, y: Array, wanted: Wanted) -> First:
    lines = Lines(scan.labels, x, y, wanted.n_peaks)
    text = lines.text(PEAKS)
    unsure = []
    if wanted.n_peaks is None and lines.names:
        unsure.append(Unsure(counted(len(lines.names), "peak"), "--peaks N"))
    return First("a spectrum", "spectrum", PEAKS, text, tuple(_lines_seen(lines)), tuple(unsure),
                 tuple(lines.notes))  # fmt: skip


def _lines_seen(lines: Lines) -> list[str]:
    if not lines.names:
        return ["no lines, a straight line"]
    count = counted(len(lines.names), "asymmetric line" if lines.skew else "line")
    return [f"{count}, at {listed(sorted(lines.places))}, on {lines.background()}"]


# series


def _of_series(scan: Scan, energy: Array, time: Array, wanted: Wanted) -> First:
    finite = np.isfinite(scan.data)
    rows, columns = finite.any(axis=1), finite.any(axis=0)
    data, t, x = scan.data[np.ix_(rows, columns)], time[rows], energy[columns]
    order = np.argsort(t)
    data, t = data[order], t[order]
    if not np.isfinite(data).all():
        is_finite = np.isfinite(data)
        sums = np.where(is_finite, data, 0.0).sum(axis=0)
        data = np.where(is_finite, data, sums / np.maximum(is_finite.sum(axis=0), 1))
    width = resolved(data) if t.size >= 12 and x.size >= 15 else 1
    if width > 1:  # their means are independent
        x, data = binned(x, data, width)
    noise = float(np.median([noise_of(row) for row in data])) if x.size > 5 else 0.0
    wavelength = _is_wavelength(scan)
    kind, why = wanted.kind, ""
    lines_wanted = kind in ("lines", "moving") or wanted.n_peaks is not None
    decays_wanted = kind == "decays" or wanted.n_decays is not None
    enough = t.size >= 12 and x.size >= 3 and np.all(np.diff(t) > 0)
    if not decays_wanted and not lines_wanted and enough:
        decays_wanted, why = _decay(scan, x, t, data, noise, wavelength)
    if decays_wanted and enough:
        return _of_decays(scan, x, t, data, wanted, why)
    if kind != "lines" and enough and t.size >= 15 and x.size >= 15:
        first = data[: max(1, round(0.05 * t.size))].mean(axis=0)
        start = Lines(scan.labels, x, first, wanted.n_peaks)
        motion = guess_motion(start, t, x, data, noise)
        if motion is not None:
            text = start.text(PEAKS, True, motion.moved) + motion.text
            load_model(text, PEAKS)
            seen = [*_lines_seen(start), *motion.seen]
            if not motion.has_constant_heights:
                seen.append("their heights move too: free at each time")
            unsure = [Unsure("lines move, spectra do not decay", "--kind decays")]
            return First("a series of lines that move", "2d", PEAKS, text, tuple(seen),
                         tuple(unsure), tuple(start.notes), motion.dynamics)  # fmt: skip
    lines = Lines(scan.labels, x, data.mean(axis=0), wanted.n_peaks)
    text = lines.text(PEAKS, is_series=True)
    load_model(text, PEAKS)
    unsure = []
    if lines.names:
        unsure.append(Unsure("lines stand still, only their heights move", "--kind moving"))
        if wanted.kind is None:
            unsure.append(Unsure("spectra are lines, not free ones that decay", "--kind decays"))
    return First("a series of lines whose heights move", "2d", PEAKS, text,
                 tuple(_lines_seen(lines)), tuple(unsure), tuple(lines.notes))  # fmt: skip


def _is_wavelength(scan: Scan) -> bool:
    unit, label = scan.units.get("energy", ""), scan.labels.get("energy", "").lower()
    return unit in ("nm", "um", "µm", "Å") or "wavelength" in label


def _decay(
    scan: Scan, x: Array, t: Array, data: Array, noise: float, is_wavelength: bool
) -> tuple[bool, str]:
    """Whether spectra decay, rather than lines moving, and why."""
    change = data - data.mean(axis=0)
    edge = noise * (np.sqrt(t.size) + np.sqrt(x.size))
    values = np.linalg.svd(change, compute_uv=False)
    if values[0] < CHANGES * edge:
        return False, ""
    size = np.sqrt(np.maximum(np.mean(data**2, axis=1) - noise**2, 0.0))
    part = max(1, t.size // 40)
    top = float(np.max(size))
    first, last = float(np.median(size[:part])), float(np.median(size[-part:]))
    u, s, vt = np.linalg.svd(data, full_matrices=False)
    calm = (u[:, :4] * s[:4]) @ vt[:4]
    low, high = max(float(-calm.min()) - 4 * noise, 0.0), max(float(calm.max()) - 4 * noise, 0.0)
    label = " ".join(scan.labels.values()).lower()
    if min(low, high) > 0.15 * max(low, high):
        return True, "bands of both signs that change in time"
    if any(word in label for word in ("Δa", "delta a", "mod", "Δod")):
        return True, f"the data are called {scan.labels.get('data', '')}"
    if first < NOTHING * top:
        return True, "nothing is there before time zero"
    if is_wavelength and last < NOTHING * top:
        return True, "nothing is left at the last delays"
    if is_wavelength and float(np.sqrt(np.sum(change**2))) > 0.1 * float(np.sqrt(np.sum(data**2))):
        lines = Lines(scan.labels, x, data.mean(axis=0), None)
        left = lines.misfit()
        if left > DESCRIBED * noise / np.sqrt(t.size) + 0.01 * float(np.ptp(data.mean(axis=0))):
            return True, "bands over a wavelength that lines do not describe"
    return False, ""


def _of_decays(scan: Scan, x: Array, t: Array, data: Array, wanted: Wanted, why: str) -> First:
    wavelength = _is_wavelength(scan)
    laws = guess_kinetics(t, x, data, wavelength, wanted.n_decays)
    text = decays_text(DECAYS, laws, t, x, wavelength)
    try:
        load_time_model(text, DECAYS)
    except ModelError:
        load_model(text, DECAYS)
    seen = decays_seen(laws, scan.units.get("time", ""))
    if why:
        seen.insert(0, f"spectra are free at each energy, as {why}")
    unsure = []
    if wanted.n_decays is None:
        unsure.append(Unsure(counted(len(laws.taus), "decay"), "--decays N"))
    if wanted.kind is None and why != BOTH:
        unsure.append(Unsure("spectra decay, lines do not move", "--kind moving"))
    return First("a series of spectra that decay", "2d", DECAYS, text, tuple(seen), tuple(unsure))
