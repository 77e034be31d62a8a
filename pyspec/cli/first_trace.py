"""The first model of a trace over time: laws that stand out of it, at what can be read off."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from pyspec.cli.first_model import rounded
from pyspec.io import Dataset
from pyspec.model import load_time_model
from pyspec.model.guess_laws import Laws, guess_laws

Array = npt.NDArray[np.float64]

#: From so few values no law is read off.
LEAST = 5

SAME_ONSET = "one time zero for all laws"
BEHIND = "below it laws are behind it"
SHARP = (
    "The onset is sharper than the steps of the axis: the width of the instrument is fixed; put in "
    "the one you know"
)
NO_ONSET = "No onset is seen within the trace: its laws begin with it"
NO_LAW = (
    "No change stands out of the noise: a constant alone. 'pyspec ops' lists laws, those of "
    "kind dynamics"
)


def trace_of(dataset: Dataset) -> tuple[Array, Array]:
    """(times, values) of the values that are finite."""
    values, time = np.asarray(dataset.data, np.float64), np.asarray(dataset.axes["time"])
    known = np.isfinite(values)
    return time[known], values[known]


def first_trace(name: str, dataset: Dataset) -> tuple[str, list[str]]:
    """The text of a model of these laws, and what to know of it. Values of `dataset`, of the axis
    time alone, are at least :data:`LEAST`."""
    time, values = trace_of(dataset)
    laws = guess_laws(time, values)
    text = _text(name, laws, time)
    load_time_model(text, name)  # a text that is not a model would be a mistake here
    return text, [_decided(dataset), *_notes(laws)]


def _decided(dataset: Dataset) -> str:
    """How it was decided that this is a trace."""
    label, unit = (names.get("time", "") for names in (dataset.labels, dataset.units))
    called = f", {label}" if label.lower() not in ("", "time") else ""
    units = f" in {unit}" if unit else ""
    return (
        f"A trace over time, as its only axis is time{called}{units}; of energies say "
        "--rename time=energy"
    )


def _notes(laws: Laws) -> list[str]:
    has_onset = bool(laws.decays or laws.swing or laws.step is not None)
    if not has_onset:
        return [NO_LAW] if laws.slope is None else []
    if laws.SD is None:
        return [NO_ONSET]
    return [SHARP] if laws.is_sharp else []


def _text(name: str, laws: Laws, time: Array) -> str:
    """The model as YAML."""
    at = int(np.clip(np.searchsorted(time, laws.t0), 1, time.size - 1))
    step, span = float(np.diff(time)[max(0, at - 2) : at + 1].mean()), float(np.ptp(time))
    taus = [tau for _, tau in laws.decays]
    times = f"{rounded(min([step / 10, *(tau / 2 for tau in taus)]))}, "
    times += f"{rounded(max([30 * span, *(2 * tau for tau in taus)]))}"
    onset = _Onset(laws, step)
    parts: list[tuple[str, Mapping[str, str], str]] = [("constFun", {"A": _free(laws.level)}, "")]
    if laws.slope is not None:
        first = _near(float(time[0]) - 0.01 * step, step)  # the line is 0 before it
        parts.append(("linFun", {"m": _free(laws.slope), "t0": f"[{first}, False]"}, ""))
    if laws.SD is not None:
        sd = f"[{rounded(laws.SD)}, False]"
        if not laws.is_sharp:
            sd = _free(laws.SD, f"{rounded(step / 20)}, {rounded(span / 2)}")
        parts.append(("gaussIRF", {"SD": sd}, BEHIND))
    if laws.step is not None:
        parts.append(("stepFun", {"A": _free(laws.step), "t0": onset.t0("stepFun_01")}, ""))
    for number, (height, tau) in enumerate(laws.decays, 1):
        decay = {"A": _free(height), "tau": _free(tau, times)}
        parts.append(("expFun", decay | {"t0": onset.t0(f"expFun_{number:02}")}, ""))
    if laws.swing is not None:
        height, f, phi, tau = laws.swing
        wave = {"A": _free(height, "0, .inf"), "f": _free(f, f"{rounded(f / 2)}, {rounded(2 * f)}")}
        wave["phi"] = _free(phi)
        if math.isfinite(tau):
            wave["tau"] = _free(tau, times)
        function = "dampedSinFun" if math.isfinite(tau) else "sinFun"
        parts.append((function, wave | {"t0": onset.t0(f"{function}_01", is_free=False)}, ""))
    return f"{name}:\n" + "".join(_lines(*one) for one in parts)


class _Onset:
    """The one time zero of all laws. The first law that asks has the parameter, the others follow
    it."""

    def __init__(self, laws: Laws, step: float) -> None:
        self.laws, self.step = laws, step
        self.owner: str | None = None

    def t0(self, name: str, is_free: bool = True) -> str:
        """The entry of t0 of the law `name`."""
        if self.owner is not None:
            return f'["{self.owner}_t0"]  # {SAME_ONSET}'
        self.owner, place = name, self.laws.t0
        near = _near(place, self.step)
        if self.laws.SD is None and near > place:  # laws are 0 before it: the first value too
            near = _near(place - 0.01 * self.step, self.step)
        if self.laws.SD is None or not is_free:
            return f"[{near}, False]"
        reach = 5 * (self.step + self.laws.SD)
        return (
            f"[{near}, True, {_near(place - reach, self.step)}, {_near(place + reach, self.step)}]"
        )


def _near(time: float, step: float) -> float:
    """A time, to about a hundredth of a step."""
    return round(time, 2 - math.floor(math.log10(step))) + 0.0


def _free(value: float, bounds: str = "") -> str:
    return f"[{rounded(value)}, True{', ' if bounds else ''}{bounds}]"


def _lines(function: str, entries: Mapping[str, str], comment: str) -> str:
    """A component of a model."""
    head = f"  {function}:" + (f"  # {comment}" if comment else "")
    return "\n".join([head, *(f"    {key}: {value}" for key, value in entries.items())]) + "\n"
