"""Masks, noise and corrections of a File."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import DataError, File, Project

ENERGY = np.linspace(-5.0, 5.0, 61)
TIME = np.arange(8.0)
MODEL = """
peak:
  Offset:
    y0: [{y0}, True, 0, 100]
  Gauss:
    A: [{A}, True, 0, 500]
    x0: [0.3, True, -3, 3]
    SD: [1.2, True, 0.2, 4]
"""
CLEAN = 4.0 + 30.0 * np.exp(-(((ENERGY - 0.5) / 1.0) ** 2) / 2)
GAUSSIAN = CLEAN + np.random.default_rng(2).normal(0.0, 0.5, (8, 61))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "m.yaml").write_text(MODEL.format(y0=3, A=20))
    return Project(tmp_path, show_output=False)


def make(project: Project, data: Any = GAUSSIAN, **options: Any) -> File:
    file = File(project, data=data, energy=ENERGY, time=TIME, **options)
    file.load_model("m.yaml", "peak")
    return file


@pytest.mark.parametrize("shape", [(), (8,), (1, 61), (8, 61)])
def test_sigma_of_any_shape(project: Project, shape: tuple[int, ...]) -> None:
    sigma = np.full(shape, 0.5)
    file = make(project)
    assert (file.noise_type, file.sigma_type, file.noise_scale) == ("unknown", "none", None)
    file.set_noise("gaussian", sigma=sigma)
    assert file.noise_type == "gaussian"
    file.define_baseline(0, 3)
    result = file.fit_2d("peak", seed_source="model")
    scaled = file.fit_2d("peak", seed_source="model", scale_covar=True)
    ratio = scaled.stderr["Gauss_01_x0"] / result.stderr["Gauss_01_x0"]
    assert ratio == pytest.approx(result.redchi**0.5, rel=1e-6)
    mean = file.fit_baseline("peak")
    weight = np.broadcast_to(mean.problem.measurement.weight, (61,))
    np.testing.assert_allclose(weight, 2.0 / 0.5)
    slices = file.fit_slice_by_slice("peak", seed_source="model")
    assert slices.success.all()
    spectrum = file.fit_spectrum("peak", time_point=3)
    assert spectrum.stderr["Gauss_01_x0"] == pytest.approx(
        slices.stderr["Gauss_01_x0"][3], rel=1e-4
    )
    file.set_sigma(None)
    assert file.noise_type == "unknown"


def test_unequal_sigmas_and_masked_points_of_a_mean(project: Project) -> None:
    """Masked points used to add a sigma of 1, in whatever units the data are."""
    sigma = 1e-4 * np.random.default_rng(0).uniform(0.3, 1.0, (8, 61))
    mask = np.zeros((8, 61), bool)
    mask[2, :25] = True
    file = make(project, GAUSSIAN * 1e-4, mask=mask)
    file.set_sigma(sigma)
    assert file.sigma_type == "array"
    file.define_baseline(2, 5)
    kept = ~mask[2:6]
    wanted = np.sqrt((sigma[2:6] ** 2 * kept).sum(axis=0)) / kept.sum(axis=0)
    measurement = file.fit_baseline("peak").problem.measurement
    np.testing.assert_allclose(1.0 / measurement.weight, wanted)


def test_sigma_comes_back_as_it_was_declared(project: Project) -> None:
    """It used to become a map, and to gather rounding."""
    file = make(project)
    file.set_noise("gaussian", sigma=0.3)
    for _ in range(2):
        file.calibrate_data(np.linspace(0.7, 1.9, 61))
        assert file.sigma_type == "array"
    file.reset_calibration()
    assert (file.sigma_type, file.sigma_data) == ("constant", 0.3)
    file.calibrate_data(np.linspace(0.7, 1.9, 61))
    file.set_noise("gaussian", sigma=0.5)  # of the calibrated data
    file.reset_calibration()
    np.testing.assert_allclose(np.ravel(file.sigma_data), 0.5 * np.linspace(0.7, 1.9, 61))


def test_which_axis_a_line_of_sigmas_belongs_to(project: Project) -> None:
    """One value an energy used to be refused, or taken for one a time where both are as many."""
    per_energy = np.linspace(0.3, 0.9, 61)
    file = make(project)
    file.set_noise("gaussian", sigma=per_energy)
    file.define_baseline(0, 3)
    weight = file.fit_baseline("peak").problem.measurement.weight
    np.testing.assert_allclose(weight, 2 / per_energy)
    square = File(project, data=np.ones((8, 8)), energy=ENERGY[:8], time=TIME)
    with pytest.raises(DataError, match=r"sigma\[:, np.newaxis\] for one a time"):
        square.set_noise("gaussian", sigma=per_energy[:8])
    square.set_noise("gaussian", sigma=per_energy[np.newaxis, :8])
    with pytest.raises(DataError, match=r"one an energy \(n_energy,\)"):
        file.set_noise("gaussian", sigma=per_energy[:9])


def test_counts(project: Project) -> None:
    """Counts of a mean are n times as many; the errors follow from them."""
    counts = np.random.default_rng(4).poisson(CLEAN, (8, 61)).astype(float)
    file = make(project, counts)
    file.set_noise("poisson")
    file.define_baseline(0, 7)
    series, mean = file.fit_2d("peak", seed_source="model"), file.fit_baseline("peak")
    assert mean.problem.measurement.loss_scale == 8.0
    for name in series.free_names:
        assert series.values[name] == pytest.approx(mean.values[name], rel=1e-6)
        assert series.stderr[name] == pytest.approx(mean.stderr[name], rel=1e-4)
    rate = make(project, counts / 20.0)
    rate.set_noise("poisson", scale=20.0)
    rate.models["peak"].set_values({"Offset_y0": 0.15, "Gauss_01_A": 1.0})
    scaled = rate.fit_2d("peak", seed_source="model")
    assert scaled.values["Gauss_01_A"] == pytest.approx(series.values["Gauss_01_A"] / 20, rel=1e-5)
    assert scaled.chisqr == pytest.approx(series.chisqr, rel=1e-9)
    assert scaled.statistics["aic"] == pytest.approx(scaled.chisqr + 8)
    for refused in (
        lambda: file.subtract_dark(np.ones(61)),
        lambda: file.calibrate_data(np.ones(61)),
        lambda: make(project, counts - 3).set_noise("poisson"),
    ):
        with pytest.raises(DataError, match=r"counts"):
            refused()


def test_masked_points_do_not_count(project: Project) -> None:
    data = GAUSSIAN.copy()
    data[2, 10], data[4, 30] = 1e6, np.nan
    mask = np.zeros(data.shape, dtype=bool)
    mask[2, 10] = mask[4, 30] = True
    file = make(project, data, mask=mask)
    assert "masked: 2 points" in file.describe()
    good = make(project)
    result, wanted = (f.fit_2d("peak", seed_source="model") for f in (file, good))
    assert result.n_data == wanted.n_data - 2
    for name in wanted.free_names:
        assert abs(result.values[name] - wanted.values[name]) < 0.3 * wanted.stderr[name]
    omitted = make(project, np.where(mask, np.nan, data), nan_policy="omit")
    assert omitted.fit_2d("peak", seed_source="model").values == result.values
    with pytest.raises(DataError, match="give booleans"):
        make(project, data, mask=1.0 * mask)
    array = np.ma.masked_array(data, mask=mask)
    assert make(project, array).fit_2d("peak", seed_source="model").values == result.values
    # A mean over spectra leaves masked points out.
    file.define_baseline(0, 3)
    kept = np.delete(GAUSSIAN[:4, 10], 2)
    assert file.baseline[10] == pytest.approx(kept.mean())
    file.set_sigma(0.5)
    assert file.fit_baseline("peak").problem.measurement.weight[10] == pytest.approx(3**0.5 / 0.5)
    assert file.fit_slice_by_slice("peak", seed_source="model").success.all()


def test_dark_and_calibration(project: Project) -> None:
    dark, response = np.linspace(0, 2, 61), np.linspace(0.5, 2.0, 61)
    file = make(project, GAUSSIAN * response + dark)
    raw = file.data
    file.set_sigma(0.5)
    file.subtract_dark(dark)
    file.calibrate_data(response)
    np.testing.assert_allclose(file.data, GAUSSIAN)
    np.testing.assert_allclose(file.sigma_data, 0.5 / response)
    file.reset_dark()
    np.testing.assert_allclose(file.data, GAUSSIAN + dark / response)
    file.reset_calibration()
    assert file.data is not None
    assert raw is not None
    np.testing.assert_array_equal(file.data, raw)
    assert np.shares_memory(file.data, raw)
    np.testing.assert_allclose(file.sigma_data, 0.5)
    with pytest.raises(DataError, match="above 0"):
        file.calibrate_data(np.zeros(61))
    with pytest.raises(ValueError, match="read-only"):
        make(project).data[0, 0] = 1.0


def test_a_dead_spectrum_in_a_mean_of_counts(project: Project) -> None:
    """One spectrum without data used to leave no energy of the mean."""
    counts = np.random.default_rng(4).poisson(CLEAN, (8, 61)).astype(float)
    gap = counts.copy()
    gap[3] = np.nan
    file = make(project, gap, nan_policy="omit")
    file.set_noise("poisson")
    measured = file.fit_spectrum("peak", time_range=(2, 5)).problem.measurement
    assert measured.loss_scale == 3.0
    np.testing.assert_allclose(measured.data, counts[[2, 4, 5]].mean(axis=0))
    gap[2, ::2], gap[4, 1::2] = np.nan, np.nan
    torn = make(project, gap, nan_policy="omit")
    torn.set_noise("poisson")
    with pytest.raises(DataError, match="every energy is masked in one of them"):
        torn.fit_spectrum("peak", time_range=(2, 5))


@pytest.mark.parametrize("along", ["energy", "time"])
def test_what_is_masked_needs_no_sigma(project: Project, along: str) -> None:
    # The scatter of each energy before time zero is NaN where the light of the pump is cut out:
    # such a line of sigmas was refused, although a sigma for each point was not.
    data = GAUSSIAN.copy()
    gap = (slice(None), slice(20, 24)) if along == "energy" else (slice(3, 5), slice(None))
    data[gap] = np.nan
    sigma = np.full(61, 0.5) if along == "energy" else np.full(8, 0.5)
    sigma[gap[1] if along == "energy" else gap[0]] = np.nan
    file = make(project, data, nan_policy="omit")
    file.set_noise("gaussian", sigma=sigma)
    found = file.fit_2d("peak")
    file.set_noise("gaussian", sigma=0.5)
    plain = file.fit_2d("peak")
    assert found.chisqr == pytest.approx(plain.chisqr, rel=1e-12)
    assert found.stderr["Gauss_01_A"] == pytest.approx(plain.stderr["Gauss_01_A"], rel=1e-9)
    sigma[0] = np.nan
    with pytest.raises(DataError, match=r"is nan at \(0, 0\)"):
        file.set_noise("gaussian", sigma=sigma)
