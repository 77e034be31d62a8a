"""Inputs of formulas in maps, and in files that misspell them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import (
    File,
    Project,
    fit_map,
    load_dynamics,
    load_model,
)
from pyspec.errors import DataError
from pyspec.model import Measurement, Model

TEXT = """
functions:
  Reference: {formula: A * ref, inputs: ref}
  Pump:
    domain: time
    parameters: A, tau > 0, t0
    formula: where(t >= t0, A * flux * exp(-(t - t0) / tau), 0)
    inputs: {flux: time}
seen:
  Offset: {y0: [3, True, 0, 10]}
  Reference: {A: [2, True, 0, 10]}
  Gauss: {A: [9, True, 0, 50], x0: [84, True, 82, 86], SD: [1.1, True, 0.1, 5]}
moving:
  Pump: {A: [4, True, 0, 20], tau: [3, True, 0.1, 99], t0: [0, False]}
"""
ENERGY, TIME = np.linspace(80.0, 88.0, 81), np.linspace(-2.0, 10.0, 40)
REF, FLUX = 1 + np.cos(3 * ENERGY), 1 + 0.3 * np.sin(TIME)


def series() -> tuple[Model, Measurement]:
    model = load_model(TEXT, "seen")
    model.add_dynamics("Gauss_01_A", load_dynamics(TEXT, "moving", "Gauss_01_A"))
    model.set_axes(energy=ENERGY, time=TIME, inputs={"ref": REF, "flux": FLUX})
    return model, Measurement(np.random.default_rng(0).normal(model.evaluate(), 0.2))


def spectrum() -> Model:
    model = load_model(TEXT, "seen")
    model.set_axes(energy=ENERGY, inputs={"ref": REF})
    return model


def test_a_map_of_other_inputs_is_another_map(tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("zarr")
    model = spectrum()
    data = np.random.default_rng(0).normal(model.evaluate(), 0.2, (3, 4, 81))
    scan = xarray.DataArray(data, dims=("y", "x", "energy"), coords={"energy": ENERGY})
    found = fit_map(model, scan, tmp_path / "map.zarr")
    assert float(found.Reference_01_A.mean()) == pytest.approx(2.0, abs=0.02)
    model.set_axes(inputs={"ref": 2 * REF})
    with pytest.raises(DataError, match="a map of other settings of the fit: input ref"):
        fit_map(model, scan, tmp_path / "map.zarr")


def file_of(inputs: dict[str, Any]) -> File:
    _, measurement = series()
    file = File(Project(), data=measurement.data, energy=ENERGY, time=TIME, inputs=inputs)
    model = load_model(TEXT, "seen")
    model.add_dynamics("Gauss_01_A", load_dynamics(TEXT, "moving", "Gauss_01_A"))
    file.add_model(model)
    return file


def test_a_misspelt_name_is_met_with_what_was_meant() -> None:
    file = file_of({"rfe": REF, "flux": FLUX})
    message = r"reads the input 'ref'.*; the file has 'rfe', which .* not read; did you mean 'rfe'"
    with pytest.raises(DataError, match=message):
        file.fit_2d("seen")
    with pytest.raises(DataError, match="did you mean 'rfe'"):
        file.fit_spectrum("seen", time_point=0)
    with pytest.raises(DataError, match=r"reads the input 'flux'.*did you mean 'Flux'"):
        file_of({"ref": REF, "Flux": FLUX}).fit_2d("seen")
    with pytest.raises(DataError, match=r"has none; the file has 'dark', which this model does"):
        file_of({"dark": REF, "flux": FLUX}).fit_2d("seen")
    assert file_of({"ref": REF, "flux": FLUX, "dark": REF}).fit_2d("seen").success


def test_inputs_of_a_file_come_by_name(tmp_path: Path) -> None:
    given: Any = [REF]
    with pytest.raises(DataError, match="give the values by name"):
        File(Project(tmp_path, show_output=0), data=REF, energy=ENERGY, inputs=given)
