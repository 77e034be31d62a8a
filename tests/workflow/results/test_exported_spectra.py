"""Free spectra as CSV tables: of states, decays and evolution, and their basis functions."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from pyspec import File, Project
from pyspec.functions.kinetics import populations

MODELS = """
kinetics:
  chain: {A -> B: k1, B: k2}
parameters:
  onset: [0, True]
  slope: [0.1, True]
  zero: ["onset + slope * (energy - 2)"]
chained:
  gaussIRF: {SD: [0.2, True, 0.01, 2]}
  chain: {k1: [2, True, 0.01, 100], k2: [0.1, True, 0.001, 50], t0: [0, True],
          spectra: {free: energy}}
chirped:
  gaussIRF: {SD: [0.2, True, 0.01, 2]}
  chain: {k1: [2, True, 0.01, 100], k2: [0.1, True, 0.001, 50], t0: ["zero"],
          spectra: {free: energy}}
equal:
  gaussIRF: {SD: [0.15, False]}
  chain: {k1: [0.7, False], k2: [0.7, False], t0: [0, True], spectra: {free: energy}}
"""
ENERGY = np.linspace(1.5, 3, 20)
TIME = np.concatenate([np.linspace(-1, 3, 41), np.geomspace(3.2, 100, 20)])


@pytest.fixture
def file(tmp_path: Path) -> File:
    spectra = np.array([np.exp(-(((ENERGY - at) / 0.3) ** 2)) for at in (1.8, 2.4)])
    K = np.array([[-3.0, 0], [3.0, -0.2]])
    data = populations(TIME - 0.1, K, np.array([1.0, 0]), 0.15) @ spectra
    data += np.random.default_rng(3).normal(0, 0.01, data.shape)
    return File(Project(tmp_path, show_output=False), data=data, energy=ENERGY, time=TIME)


def _columns(path: Path) -> dict[str, np.ndarray]:
    with path.open() as stream:
        head, *rows = csv.reader(stream)
    cells = [[one or "nan" for one in row] for row in rows]
    return dict(zip(head, np.array(cells, dtype=float).T, strict=True))


def test_tables_of_a_scheme(file: File) -> None:
    file.load_model(MODELS, "chained")
    result = file.fit_2d("chained")
    folder = file.export_fit(pictures=False)
    basis, spectra = _columns(folder / "basis.csv"), _columns(folder / "amplitudes.csv")
    assert list(basis) == ["time", "chain_A_A", "chain_B_A"]
    np.testing.assert_allclose(basis.pop("time"), TIME, rtol=1e-5)
    again = sum(np.outer(law, spectra[name]) for name, law in basis.items())
    np.testing.assert_allclose(again, result.fit, rtol=0, atol=1e-5)
    assert result.amplitudes is not None
    for kind, own in (("das", result.amplitudes.das()), ("eas", result.amplitudes.eas())):
        found = _columns(folder / f"{kind}.csv")
        assert next(iter(found)) == "energy"
        for k, name in enumerate(own.names):
            np.testing.assert_allclose(found[name], own.values[k], atol=1e-6)
            np.testing.assert_allclose(found[f"{name}_stderr"], own.stderr[k], atol=1e-6)


def test_what_differs_along_the_spectrum_is_in_the_dataset(file: File) -> None:
    file.load_model(MODELS, "chirped")
    result = file.fit_2d("chirped")
    folder = file.export_fit(pictures=False)
    assert not (folder / "basis.csv").exists()
    assert (folder / "das.csv").exists()
    pytest.importorskip("xarray")
    assert result.amplitudes is not None
    found = result.amplitudes.to_xarray()
    assert found["basis"].dims == ("amplitude", "energy", "time")
    again = np.einsum("ket,ke->te", found["basis"].values, found["value"].values)
    np.testing.assert_allclose(again, result.fit, rtol=0, atol=1e-12)


def test_equal_rates_have_no_decay_spectra(file: File) -> None:
    file.load_model(MODELS, "equal")
    file.fit_2d("equal")
    folder = file.export_fit(pictures=False)
    assert (folder / "basis.csv").exists()
    assert not (folder / "das.csv").exists()


@pytest.mark.parametrize("name", ["chained", "chirped"])
def test_where_all_points_are_masked_tables_and_datasets_are_open(file: File, name: str) -> None:
    # Spectra and fit were 0 there, which other programs draw as a dip.
    gap = np.isin(np.arange(ENERGY.size), [7, 8])
    data = np.array(file.data)
    data[:, gap] = np.nan
    masked = File(file.project, "masked", data=data, energy=ENERGY, time=TIME, nan_policy="omit")
    masked.load_model(MODELS, name)
    result = masked.fit_2d(name)
    folder = masked.export_fit(pictures=False)
    tables = [_columns(folder / f"{one}.csv") for one in ("amplitudes", "das", "eas")]
    for column in [values for own in tables for key, values in own.items() if key != "energy"]:
        assert np.array_equal(np.isnan(column), gap)
    with (folder / "fit_2d.csv").open() as stream:
        cells = np.array(list(csv.reader(stream)))
    assert np.array_equal((cells == "").all(axis=0), gap)
    linear = result.amplitudes
    assert linear is not None
    assert np.array_equal(np.isnan(linear.known["chain_A_A"]), gap)
    assert np.all(linear["chain_A_A"][gap] == 0.0)
    pytest.importorskip("xarray")
    for found in (linear.to_xarray(), linear.sas().to_xarray(), linear.das().to_xarray()):
        assert np.array_equal(np.isnan(found["value"].values).all(axis=0), gap)
    found = result.to_xarray()
    assert np.array_equal(np.isnan(found["fit"].values).all(axis=0), gap)
    assert np.array_equal(np.isnan(found["amplitudes"].values).all(axis=0), gap)
