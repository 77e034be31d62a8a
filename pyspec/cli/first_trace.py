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
OWN_WIDTH = "its own instrument, as it stands above gaussIRF"
SHARP = (
    "The onset is sharper than the steps of the axis: the width of the instrument is fixed; put in "
    "the one you know"
)
NO_ONSET = "No onset is seen within the trace: its laws begin with it"
NO_LAW = (
    "No change stands out of the noise: a constant alone. 'pyspec ops' lists laws, those of "
    "kind dynamics"
)

#: A damped oscillation behind a Gaussian instrument, as docs/howto/oscillations.md explains it, and
#: one that the trace begins with.
SWING = """\
functions:
  Swing:
    domain: time
    parameters: A, f > 0, tau > 0, phi [rad], t0, SD > 0
    lines:
      w: 2 * pi * f
      u: (t - t0) / SD
      early: min(u, 8)
      x: w * SD / sqrt(2)
      y: (SD / tau - early) / sqrt(2)
      P: exp(-early ** 2 / 2) * wofz_real(x, y) / 2
      Q: exp(-early ** 2 / 2) * wofz_imag(x, y) / 2
      v: SD * (u - early)
      c: exp(-v / tau) * cos(w * v)
      s: exp(-v / tau) * sin(w * v)
    formula: A * (cos(phi) * (Q * c + P * s) + sin(phi) * (P * c - Q * s))
    doc: A exp(-(t - t0) / tau) sin(2 pi f (t - t0) + phi) from t0 on, behind a Gaussian instrument

"""
FADING = """\
functions:
  Swing:
    domain: time
    parameters: A, f > 0, tau > 0, phi [rad], t0
    formula: A * exp(-(t - t0) / tau) * sin(2 * pi * f * (t - t0) + phi)
    doc: a damped oscillation at all times; t0 says only where A and phi count from

"""


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
    if not (laws.decays or laws.swing or laws.step is not None):
        return [NO_LAW]
    if laws.SD is None:
        return [NO_ONSET]
    return [SHARP] if laws.is_sharp else []


def _text(name: str, laws: Laws, time: Array) -> str:
    """The model as YAML."""
    at = int(np.clip(np.searchsorted(time, laws.t0), 1, time.size - 1))
    step, span = float(np.diff(time)[max(0, at - 2) : at + 1].mean()), float(np.ptp(time))
    own = _Onset(laws, step, span)
    swing = None if laws.swing is None else (laws.swing, math.isfinite(laws.swing[3]))
    others: list[tuple[str, Mapping[str, str], str]] = []
    if laws.step is not None:
        others.append(("stepFun", {"A": _free(laws.step), "t0": own.t0("stepFun_01")}, ""))
    for height, tau in laws.decays:
        times = {"tau": _free(tau, f"{rounded(step / 10)}, {rounded(30 * span)}")}
        number = 1 + sum(one[0] == "expFun" for one in others)
        t0 = own.t0(f"expFun_{number:02}")
        others.append(("expFun", {"A": _free(height), **times, "t0": t0}, ""))
    head, before = "", [("constFun", {"A": _free(laws.level)}, "")]
    if swing is not None:
        (height, f, phi, tau), fades = swing
        wave = {"A": _free(height, "0, .inf"), "f": _free(f, f"{rounded(f / 2)}, {rounded(2 * f)}")}
        if fades:
            wave["tau"] = _free(tau, f"{rounded(step / 10)}, {rounded(30 * span)}")
        function = "Swing" if fades else "sinFun"
        wave |= {"phi": _free(phi), "t0": own.t0(f"{function}_01", is_free=False)}
        if fades and laws.SD is not None:
            wave["SD"] = own.width(bool(others))
            before.append((function, wave, OWN_WIDTH if others else ""))
        else:
            others.append((function, wave, ""))
        if fades:
            head = FADING if laws.SD is None else SWING
    if others and laws.SD is not None:
        before.append(("gaussIRF", {"SD": own.width(False)}, "below it laws are behind it"))
    return f"{head}{name}:\n" + "".join(_lines(*one) for one in (*before, *others))


class _Onset:
    """The one time zero of all laws, and the width of the instrument. The first law that asks has
    the parameter, the others follow it."""

    def __init__(self, laws: Laws, step: float, span: float) -> None:
        self.laws, self.step, self.span = laws, step, span
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

    def width(self, follows: bool) -> str:
        """The entry of SD, of gaussIRF or of a law that has the same width itself."""
        if follows:
            return '["gaussIRF_SD"]'
        sd = float(self.laws.SD or self.step)
        if self.laws.is_sharp:
            return f"[{rounded(sd)}, False]"
        return _free(sd, f"{rounded(self.step / 20)}, {rounded(self.span / 2)}")


def _near(time: float, step: float) -> float:
    """A time, to about a hundredth of a step."""
    return round(time, 2 - math.floor(math.log10(step))) + 0.0


def _free(value: float, bounds: str = "") -> str:
    return f"[{rounded(value)}, True{', ' if bounds else ''}{bounds}]"


def _lines(function: str, entries: Mapping[str, str], comment: str) -> str:
    """A component of a model."""
    head = f"  {function}:" + (f"  # {comment}" if comment else "")
    return "\n".join([head, *(f"    {key}: {value}" for key, value in entries.items())]) + "\n"
