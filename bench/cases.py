"""The problems that the benchmarks run: model, measurement, start values."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

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
        rows, columns = self.measurement.rows, self.measurement.columns
        return data[slice(*(rows or (None, None))), slice(*(columns or (None, None)))].size


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


def all_cases(data: Path | None) -> list[Case]:
    """Every problem that can run here."""
    cases = [seed_case("seed_amplitude"), seed_case("seed_position")]
    folder = data_folder(data)
    return [*cases, doublet_case(folder)] if folder is not None else cases
