"""Inputs of formulas in all that fits or simulates many times, and in files that misspell them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.clusters import assert_same, cluster

from pyspec import (
    File,
    ParameterSweep,
    Project,
    Simulator,
    SweepDataset,
    bootstrap,
    fit_many,
    fit_map,
    fit_model,
    load_dynamics,
    load_model,
)
from pyspec.errors import DataError
from pyspec.io import by_reference
from pyspec.model import Measurement, Model
from pyspec.simulate.sweep_file import _key

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


def test_bootstraps_and_many_fits() -> None:
    model, measurement = series()
    result = fit_model(model, measurement)
    fits = bootstrap(result, 12)
    assert fits.success.all()
    name = "Reference_01_A"
    assert fits.spread(name) == pytest.approx(result.stderr[name], rel=0.5)
    assert fit_many(model, [measurement] * 2)[1].values == dict(result.values)


def test_simulated_data_and_sweeps(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    model, _ = series()
    simulator = Simulator(model, noise_type="gaussian", noise_level=0.02, seed=1)
    np.testing.assert_array_equal(simulator.simulate()[0], model.evaluate())
    sweep = ParameterSweep(seed=1).add_range("Reference_01_A", [1.0, 2.0, 3.0])
    path = tmp_path / "sweep.h5"
    key = _key(simulator, sweep, 1, 2)
    model.set_axes(inputs={"ref": 2 * REF})  # what was begun is of another model now
    assert _key(simulator, sweep, 1, 2) != key
    simulator.simulate_parameter_sweep(sweep, 1, filepath=path, show_progress=False)
    with SweepDataset(path) as data:
        for k, height in enumerate((1.0, 2.0, 3.0)):
            model.set("Reference_01_A", height)
            np.testing.assert_allclose(data[k][1], model.evaluate())


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


@pytest.mark.slow
def test_on_a_cluster() -> None:
    pytest.importorskip("distributed")
    model, measurement = series()
    expected = fit_model(model, measurement)
    with cluster() as client:
        assert_same(fit_model(model, measurement, client=client), expected)
        held: Any = by_reference(np.asarray(measurement.data), rows=7)
        assert_same(fit_model(model, Measurement(held), client=client), expected)


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
