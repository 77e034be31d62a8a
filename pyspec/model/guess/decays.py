"""The first model of spectra that decay: laws of the delay with a free spectrum each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pyspec.model.guess.kinetic import coordinate
from pyspec.model.guess.numerics import step_at, step_of
from pyspec.model.guess.onset import Kinetics
from pyspec.model.guess.texts import component, counted, fixed, free, listed, near, rounded
from pyspec.model.guess.traces import Onset

Array = npt.NDArray[np.float64]

#: The names of the coefficients of time zero.
ZERO = ("onset", "chirp", "bend", "twist")


def decays_text(name: str, laws: Kinetics, time: Array, energy: Array, is_wavelength: bool) -> str:
    """The model of this name with the quantities that it needs, as YAML."""
    step, span = step_at(time, laws.zero[0]), float(np.ptp(time))
    spectrum, head = "{free: energy}", ""
    onset = Onset(laws.zero[0], laws.SD, step)
    if len(laws.zero) > 1:
        head, onset.entry = _dispersion(laws, energy, is_wavelength), '["zero"]'
    text = f"{name}:\n"
    for law in ("gaussFun", "gaussD1Fun", "gaussD2Fun") if laws.has_artifact else ():
        comment = "the artifact: a pulse as short as the instrument, and its derivatives"
        entries = {"A": spectrum, "SD": '["gaussIRF_SD"]', "t0": onset.t0(f"{law}_01")}
        text += component(law, entries, comment if law == "gaussFun" else "")
    if laws.has_constant:
        text += component("constFun", {"A": spectrum}, "what is there at all delays")
    if laws.SD is not None:
        sd = fixed(rounded(laws.SD)) if laws.is_sharp else free(
            rounded(laws.SD), rounded(min(step / 20, laws.SD / 2)), rounded(span / 4)
        )  # fmt: skip
        text += component("gaussIRF", {"SD": sd}, "the instrument: laws below it are behind it")
    if laws.has_step:
        entries = {"A": spectrum, "t0": onset.t0("stepFun_01")}
        text += component("stepFun", entries, "what stays")
    for number, tau in enumerate(laws.taus, 1):
        fastest = (1.5 if laws.has_artifact else 0.3) * (laws.SD or step / 4)
        bounds = rounded(min(tau / 2, fastest)), rounded(max(20 * span, 10 * tau))
        entries = {"A": spectrum, "tau": free(rounded(tau), *bounds)}
        text += component("expFun", entries | {"t0": onset.t0(f"expFun_{number:02}")})
    return head + text


def _dispersion(laws: Kinetics, energy: Array, is_wavelength: bool) -> str:
    """The quantities of a time zero that follows the energy."""
    _, middle = coordinate(energy, is_wavelength)
    place = near(middle, step_of(energy))
    # In the text E0 is rounded; x changes by far less than a width of the instrument.
    x = f"(({place} / energy) ** 2 - 1)" if is_wavelength else f"((energy / {place}) ** 2 - 1)"
    if not np.all(energy > 0):
        x = f"((energy - {place}) / {rounded(float(np.ptp(energy)) / 2)})"
    terms = ["onset", f"chirp * {x}", f"bend * {x} ** 2", f"twist * {x} ** 3"][: len(laws.zero)]
    lines = [f"  {key}: {free(rounded(value))}"
             for key, value in zip(ZERO, laws.zero, strict=False)]  # fmt: skip
    return (
        "parameters:                       # time zero along the spectrum\n"
        + "\n".join(lines)
        + f'\n  zero: ["{" + ".join(terms)}"]\n\n'
    )


def decays_seen(laws: Kinetics, unit: str) -> list[str]:
    """What was found, in a few lines."""
    of = f" {unit}" if unit else ""
    times = listed([rounded(tau) for tau in laws.taus])
    lines = [f"{counted(len(laws.taus), 'decay')}, {times}{of}"]
    if laws.has_step:
        lines[0] += ", and what stays"
    lines[0] += f" (singular values above the noise: {laws.n_significant})"
    if laws.SD is None:
        lines.append("no onset within the delays: decays begin with the first one")
    else:
        moved = len(laws.zero) > 1
        place = "follows the energy (dispersion)" if moved else f"{rounded(laws.zero[0]):g}{of}"
        width = "sharper than the steps" if laws.is_sharp else f"SD {rounded(laws.SD):g}{of}"
        lines.append(f"time zero {place}, instrument {width}")
    if laws.has_artifact:
        lines.append("an artifact at time zero: a pulse and its derivatives")
    if laws.has_constant:
        lines.append("a constant beside them, from before time zero on")
    return lines
