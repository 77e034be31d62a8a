"""Series that pictures of several files of tests are drawn of, and their fits, each made once: a
line that decays, and two states of a kinetic scheme."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec import File, FitResult, Measurement, Project, fit_model, load_dynamics, load_model
from pyspec.fit import MCMCResult, SampleSettings, fit_slices
from pyspec.functions.kinetics import populations

Array = npt.NDArray[np.float64]

#: A line that decays from time zero on, with noise of 0.2.
ENERGY, TIME = np.linspace(80, 90, 41), np.linspace(-1, 8, 19)
DATA = 18 * np.exp(-((ENERGY - 84.2) ** 2)) * np.where(TIME > 0, np.exp(-TIME / 4), 0)[:, None]
DATA = DATA + np.random.default_rng(0).normal(0, 0.2, DATA.shape)
MODELS = """
peak:
  Offset: {y0: [3, True]}
  Gauss: {A: [18, True, 0, 100], x0: [84.2, True], SD: [0.7, True, 0.1, 5]}
lines:
  Gauss: {A: {free: time}, x0: [84.2, True, 82, 86], SD: [0.7, True, 0.1, 5]}
spectra:
  gaussIRF: {SD: [0.1, True, 0.01, 1]}
  expFun: {A: {free: energy}, tau: [4, True, 0.1, 100], t0: [0, True, -1, 1]}
height:
  Gauss: {A: [18, True, 0, 100], x0: [84.2, False], SD: [0.7, False]}
decay:
  expFun: {A: [18, True], tau: [4, True, 0.1, 100], t0: [0.2, False]}
kinetics:
  chain: {A -> B: k1, B: k2}
chained:
  gaussIRF: {SD: [0.1, True, 0.01, 1]}
  chain: {k1: [2, True, 0.01, 100], k2: [0.3, True, 0.001, 50], t0: [0, True],
          spectra: {free: energy}}
"""

#: A pair of lines on an offset, and what moves both.
PAIR = """
pair:
  Offset: {y0: [2.0, True]}
  GLP: {A: [10.0, True, 0, 100], x0: [13.0, True], F: [2.0, True, 0.1, 9], m: [0.3, False]}
  GLP: {A: ["GLP_01_A / 2"], x0: ["GLP_01_x0 - 6"], F: ["GLP_01_F"], m: ["GLP_01_m"]}
law:
  expFun: {A: [2, True], tau: [5, True, 0.1, 50], t0: [0, False]}
"""
FALLING, SEQUENCE = np.linspace(20.0, 0.0, 60), np.linspace(-2.0, 18.0, 21)

#: A line far from zero, named as data of an instrument are, over decades of delays.
LABELLED = """
peak:
  Offset: {y0: [50, True]}
  Gauss: {A: [100, True], x0: [1486.4, True, 1480, 1490], SD: [0.1, True, 0.01, 5]}
heights:
  Offset: {y0: {free: time}}
  Gauss: {A: {free: time}, x0: [1486.4, True, 1480, 1490], SD: [0.1, True, 0.01, 5]}
"""
FAR, DECADES = (
    np.linspace(1486, 1487, 41),
    np.r_[np.linspace(-2, 2, 11), np.geomspace(2.5, 2e3, 20)],
)
NAMES: dict[str, Any] = {
    "labels": {"energy": "BE", "time": "delay", "data": "photoelectron intensity"},
    "units": {"energy": "eV", "time": "ps", "data": "counts"},
}

#: Two states over decades of time.
BANDS, DELAYS = np.linspace(1.5, 3, 20), np.r_[np.linspace(-1, 3, 41), np.geomspace(3.2, 100, 20)]
SCHEMES = """
kinetics:
  chain: {A -> B: k1, B: k2}
  lone: {C: k}
parameters:
  chirp: [0.1, True, -1, 1]
  zero: ["0.1 + chirp * (energy - 2.5)"]
chained:
  constFun: {A: {free: energy}}
  gaussIRF: {SD: [0.2, True, 0.01, 2]}
  chain: {k1: [2, True, 0.01, 100], k2: [0.3, True, 0.001, 50], t0: [0, True],
          spectra: {free: energy}}
chirped:
  gaussIRF: {SD: [0.2, True, 0.01, 2]}
  chain: {k1: [2, True, 0.01, 100], k2: [0.3, True, 0.001, 50], t0: ["zero"],
          spectra: {free: energy}}
two:
  gaussIRF: {SD: [0.2, False]}
  chain: {k1: [2, True], k2: [0.3, False], t0: [0.1, False], spectra: {free: energy}}
  lone: {k: [0.01, False], t0: [0.1, False], spectra: {free: energy}}
states:
  gaussIRF: {SD: [0.15, True, 0.01, 2]}
  chain: {k1: [2, True, 0.01, 100], k2: [0.3, True, 0.001, 50], t0: [0, True],
          spectra: {free: energy}}
equal:
  gaussIRF: {SD: [0.15, False]}
  chain: {k1: [0.7, False], k2: [0.7, False], t0: [0.1, True], spectra: {free: energy}}
parallel:
  gaussIRF: {SD: [0.2, True, 0.01, 2]}
  expFun: {A: {free: energy}, tau: [0.5, True, 0.01, 100], t0: [0, True]}
  expFun: {A: {free: energy}, tau: [5, True, 0.01, 100], t0: ["expFun_01_t0"]}
  stepFun: {A: {free: energy}, t0: ["expFun_01_t0"]}
positive:
  gaussIRF: {SD: [0.15, True, 0.01, 2]}
  expFun: {A: {free: energy, min: 0}, tau: [1, True, 0.01, 100], t0: [0, True]}
  expFun: {A: {free: energy, zero: [[2.6, 3.1]]}, tau: [10, True, 0.1, 100], t0: ["expFun_01_t0"]}
line:
  Gauss: {A: {free: time}, x0: [1.9, True, 1.5, 3], SD: [0.3, True, 0.05, 1]}
still:
  Offset: {y0: [1, True]}
"""

#: Parameters of very different sizes, and the width of their distributions.
PLACES, SPREADS = [84.0, 1.2e-4, 1234.5, 0.31], [0.0004, 3e-6, 41.0, 0.012]


@cache
def decaying(name: str) -> Any:
    """The fit of a model to the series of a line: `peak` to one spectrum, `decay` to one trace."""
    project = Project(show_output=False)
    if name == "decay":
        return File(project, data=DATA[:, 17], time=TIME).fit_trace(MODELS, name)
    file = File(project, data=DATA, energy=ENERGY, time=TIME)
    file.load_model(MODELS, name)
    return file.fit_spectrum(name, time_point=1) if name == "peak" else file.fit_2d(name)


def pair(two: bool = False, **options: Any) -> FitResult:
    """The fit of the pair to a window of one spectrum, or of a series with a masked point."""
    model = load_model(PAIR, "pair")
    if two:
        model.add_dynamics("GLP_01_x0", load_dynamics(PAIR, "law", "GLP_01_x0"))
    model.set_axes(energy=FALLING, time=SEQUENCE if two else None)
    clean = np.asarray(model.evaluate())
    data, keep = clean + np.random.default_rng(1).normal(0, 0.3, clean.shape), None
    if two:
        keep = np.ones(data.shape, bool)
        keep[4, 7] = False
    measurement = Measurement(data, rows=(1, 20) if two else None, columns=(5, 50), keep=keep)
    return fit_model(model, measurement, **options)


@cache
def labelled(name: str, *, series: bool = True) -> Any:
    """The fit of a labelled line with declared noise; `slices` are fitted one by one."""
    model = load_model(LABELLED, "peak" if name == "slices" else name)
    model.set_axes(energy=FAR, time=DECADES if series and name != "slices" else None)
    clean = 50 + 100 * np.exp(-(((FAR - 1486.4) / 0.1) ** 2) / 2)
    shape = (DECADES.size, 1) if series else (1,)
    data = np.random.default_rng(1).normal(clean * np.ones(shape), 2.0)
    measured = Measurement(data, weight=np.array(0.5), **NAMES)
    if name == "slices":
        return fit_slices(model, measured, times=DECADES, scale_covar=False)
    return fit_model(model, measured, scale_covar=False)


def states(energy: Array = BANDS) -> Array:
    """The series of two states, with noise of 0.01."""
    K = np.array([[-2.0, 0], [2.0, -0.2]])
    spectra = np.array([np.exp(-(((energy - at) / 0.3) ** 2)) for at in (1.9, 2.5)])
    data = populations(DELAYS - 0.1, K, np.array([1.0, 0]), 0.15) @ spectra
    return np.asarray(data + np.random.default_rng(1).normal(0, 0.01, data.shape))


def file_of_states(energy: Array = BANDS, data: Array | None = None, **options: Any) -> File:
    """A file of the series of two states, or of other data on its axes."""
    options = {"units": {"time": "ps", "energy": "eV"}, **options}
    data = states(energy) if data is None else data
    return File(Project(show_output=False), data=data, energy=energy, time=DELAYS, **options)


def fit_of(file: File, name: str) -> Any:
    """The fit of one of the schemes to all spectra of a file."""
    if name not in file.models:
        file.load_model(SCHEMES, name)
    return file.fit_2d(name)


@cache
def of_states(name: str) -> Any:
    """The fit of one of the schemes to the series of two states."""
    return fit_of(file_of_states(), name)


def chain_of(names: list[str]) -> MCMCResult:
    """Samples of up to four parameters of very different sizes."""
    draw = np.random.default_rng(0).normal(size=(100, 20, len(names)))
    chain = np.array(PLACES[: len(names)]) + draw * SPREADS[: len(names)]
    return MCMCResult(names, chain, np.full(20, 0.4), SampleSettings(steps=100, burn=0, thin=1))
