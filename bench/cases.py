"""The problems that the benchmarks run: model, measurement, start values."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.science import decay, glp
from pyspec.executor import make_executor, make_joint_executor
from pyspec.fit import fit_joint, fit_model
from pyspec.model import Measurement, Model, load_dynamics, load_model
from pyspec.simulate import problem

#: Environment variable with the folder of the reference data.
DATA_VARIABLE = "PYSPEC_SHARED"

_DOUBLET = """\
{name}:
  Offset:
    y0: [49.8687, {free}]
  Shirley:
    pShirley: [8.27433e-4, {free}, 0, 1]
  GLP:
    A: [303.359, {free}, 0, 1000]
    x0: [84.2079, True, 80, 90]
    F: [0.903315, {free}, 0.1, 5]
    m: [0.625957, {free}, 0, 1]
  GLP:
    A: ["3/4*GLP_01_A"]
    x0: ["GLP_01_x0 + 3.67"]
    F: ["GLP_01_F"]
    m: ["GLP_01_m"]
"""

_OSCILLATION = """\
oscillation:
  sinFun:
    A: [-0.7, True, -5, 5]
    f: [0.2525, True, 0.05, 1]
    phi: [0.3, True, -3.2, 3.2]
    t0: [0, False]
"""


@dataclass(frozen=True)
class Case:
    """One problem: a model at its start values, and what it is fitted to."""

    name: str
    model: Model
    measurement: Measurement

    @property
    def n_points(self) -> int:
        """Points of the fit window."""
        data = self.measurement.data
        assert data is not None
        return int(self.measurement.window(data).size)

    def theta(self) -> np.ndarray:
        """The start values."""
        return self.model.theta()

    def executor(self, backend: str) -> Any:
        """An executor of the whole problem."""
        return make_executor(self.model, self.measurement, backend)

    def fit(self, backend: str) -> Any:
        """A whole fit."""
        return fit_model(self.model, self.measurement, backend=backend)


@dataclass(frozen=True)
class FilesCase:
    """Several files that share parameters, fitted together. `truth` holds the values that the
    data were made with, by their names in the joint fit."""

    name: str
    parts: tuple[tuple[Model, Measurement], ...]
    truth: dict[str, float]

    @property
    def n_points(self) -> int:
        """Points of the fit windows of all files."""
        return sum(Case(self.name, *part).n_points for part in self.parts)

    def theta(self) -> np.ndarray:
        """The start values."""
        return np.array(make_joint_executor(self.parts).names.start)

    def executor(self, backend: str) -> Any:
        """An executor of the whole problem."""
        return make_joint_executor(self.parts, backend)

    def fit(self, backend: str) -> Any:
        """A whole fit."""
        return fit_joint(self.parts, backend=backend)


_FILE = """\
doublet:
  Offset:
    y0: [4.0, True]
  Shirley:
    pShirley: [2.0e-3, True, 0, 1]
  GLP:
    A: [20.0, True, 0, 100]
    x0: [84.2, True, 80, 90]
    F: [1.5, True, 0.1, 5]
    m: [0.3, False]
  GLP:
    A: ["3/4*GLP_01_A"]
    x0: ["GLP_01_x0 + 3.67"]
    F: ["GLP_01_F"]
    m: ["GLP_01_m"]
"""

_DECAY = """\
decay:
  gaussIRF:
    SD: [0.5, project, 0.1, 5]
  expFun:
    A: [0.5, True, -5, 5]
    tau: [4.0, project, 0.5, 50]
    t0: [0.0, False]
"""

#: Noise, and what all files share.
_NOISE, _TAU, _SD = 0.3, 6.0, 0.8


def six_files(n_time: int = 98, n_energy: int = 200) -> FilesCase:
    """Six simulated files of one doublet, each with its own axes, intensity, background, place and
    shift, that share the decay time and the width of the instrument. The data are made without
    pyspec."""
    position = "GLP_01_x0"
    truth = {f"{position}_gaussIRF_SD": _SD, f"{position}_expFun_01_tau": _TAU}
    parts = []
    for index in range(6):
        rng = np.random.default_rng(index)
        energy = np.linspace(78.0 + 0.2 * index, 94.0, n_energy)
        time = np.linspace(-5.0, 25.0 + index, n_time)
        own = {
            "Offset_y0": 3.0 + index,
            "Shirley_pShirley": 3e-3,
            "GLP_01_A": 18.0 + 2.0 * index,
            position: 84.0 + 0.05 * index,
            "GLP_01_F": 1.3 + 0.1 * index,
            f"{position}_expFun_01_A": 0.4 + 0.1 * index,
        }
        y0, fraction, height, place, width, shift = own.values()
        place = place + decay(time, shift, _TAU, 0.0, _SD)
        lines = glp(energy, height, place, width, 0.3)
        lines += glp(energy, 0.75 * height, place + 3.67, width, 0.3)
        spectrum = y0 + lines
        spectrum += fraction * np.cumsum(lines[:, ::-1], axis=1)[:, ::-1]
        model = load_model(_FILE, "doublet")
        law = load_dynamics(_DECAY, "decay", model.parameters[position])
        model.add_dynamics(position, law)
        model.set_axes(energy=energy, time=time)
        parts.append((model, Measurement(data=rng.normal(spectrum, _NOISE))))
        truth |= {f"file{index:02d}_{name}": value for name, value in own.items()}
    return FilesCase("six_files", tuple(parts), truth)


def seed_case(name: str) -> Case:
    """A seed problem of :mod:`pyspec.simulate`, 440 x 400, 13 free parameters."""
    task = problem(name)
    return Case(name, task.model(start=True), Measurement(data=task.data()))


def data_folder(given: Path | None) -> Path | None:
    """The folder of data set 02, or None where the reference data are not at hand."""
    root = given or Path(os.environ.get(DATA_VARIABLE, "."))
    for folder in (root, root / "data"):
        found = folder / "trspecfit_examples" / "02_dependent_parameters"
        if found.is_dir():
            return found
    return None


def doublet_case(folder: Path) -> Case:
    """Data set 02: a tied doublet on Shirley and Offset whose position oscillates."""
    data, energy, time = (
        np.loadtxt(folder / f"{name}.csv", delimiter=",") for name in ("data", "energy", "time")
    )
    model = load_model(_DOUBLET.format(name="doublet", free="False"), "doublet")
    position = "GLP_01_x0"
    model.add_dynamics(
        position, load_dynamics(_OSCILLATION, "oscillation", model.parameters[position])
    )
    model.set_axes(energy=energy, time=time)
    return Case("data_02", model, Measurement(data=data, rows=(1, 206), columns=(245, 870)))


def all_cases(data: Path | None) -> list[Case | FilesCase]:
    """Every problem that can run here."""
    cases = [seed_case("seed_amplitude"), seed_case("seed_position"), six_files()]
    folder = data_folder(data)
    return [*cases, doublet_case(folder)] if folder is not None else cases
