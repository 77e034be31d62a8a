"""Simulator: noise that has the statistics it claims, files that are whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec.errors import DataError
from pyspec.io import read
from pyspec.model import Model, load_dynamics, load_model, load_time_model
from pyspec.simulate import Simulator

ENERGY = np.linspace(0.0, 20.0, 80)
TIME = np.linspace(-2.0, 18.0, 40)
TEXT = """
peak:
  Offset:
    y0: [2.0, True]
  GLP:
    A: [10.0, True, 0, 100]
    x0: [9.0, True]
    F: [2.0, True, 0.1, 9]
    m: [0.3, True, 0, 1]
law:
  expFun:
    A: [2, True]
    tau: [5, True, 0.1, 50]
    t0: [0, False]
"""


def model(two: bool = True) -> Model:
    made = load_model(TEXT, "peak")
    if two:
        made.add_dynamics("GLP_01_x0", load_dynamics(TEXT, "law", "GLP_01_x0"))
    made.set_axes(energy=ENERGY, time=TIME if two else None)
    return made


def test_the_same_seed_gives_the_same_data() -> None:
    first, again = Simulator(model(), seed=3), Simulator(model(), seed=3)
    np.testing.assert_array_equal(first.simulate_2d()[1], again.simulate_2d()[1])
    assert not np.array_equal(first.simulate_2d()[1], Simulator(model(), seed=3).simulate_2d()[1])
    first.set_seed(3)
    np.testing.assert_array_equal(
        first.simulate_2d()[1], Simulator(model(), seed=3).simulate_2d()[1]
    )


def test_gaussian_noise_has_its_width() -> None:
    simulator = Simulator(model(), noise_type="gaussian", noise_level=0.1, seed=0)
    clean, noisy, noise = simulator.simulate_2d()
    np.testing.assert_array_equal(noisy, clean + noise)
    sigma = simulator.sigma_data
    assert sigma == pytest.approx(0.1 * clean.max())
    assert noise.std() == pytest.approx(sigma, rel=0.05)
    assert simulator.noise_model == {"noise_type": "gaussian", "sigma": sigma}
    snr = simulator.get_snr()
    assert snr == pytest.approx(np.mean(clean**2) / sigma**2)
    assert simulator.get_snr("dB") == pytest.approx(10 * np.log10(snr))


@pytest.mark.parametrize("counting", [False, True])
def test_counts_have_the_variance_of_counts(counting: bool) -> None:
    options = {"detection": "photon_counting", "counts_per_delay": 5e4} if counting else {}
    simulator = Simulator(model(), noise_level=0.02, seed=1, **options)  # type: ignore[arg-type]
    _, noisy, noise = simulator.simulate_2d()
    scale = simulator.noise_model["scale"]
    counts = noisy * scale
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-6)
    sigma = np.asarray(simulator.sigma_data)
    assert np.mean((noise / sigma) ** 2) == pytest.approx(1.0, rel=0.06)
    if counting:
        assert counts.sum(axis=1).mean() == pytest.approx(5e4, rel=0.01)
    else:
        assert scale == pytest.approx(50.0)


def test_count_rate_times_time() -> None:
    simulator = Simulator(
        model(False), "photon_counting", count_rate=1e4, integration_time=3.0, seed=1
    )
    assert simulator.counts_per_delay == 3e4
    _, noisy, _ = simulator.simulate_1d()
    assert (noisy * simulator.noise_model["scale"]).sum() == pytest.approx(3e4, rel=0.05)
    simulator.set_count_rate(10.0)
    assert simulator.counts_per_delay == 30.0
    simulator.set_counts_per_delay(7.0)
    assert (simulator.count_rate, simulator.integration_time) == (None, None)


def test_one_row_and_many_measurements() -> None:
    simulator = Simulator(model(), noise_type="none")
    clean = simulator.generate_clean_data()
    np.testing.assert_array_equal(simulator.generate_clean_data(1, 7), clean[7])
    np.testing.assert_array_equal(simulator.simulate_1d(-1)[1], clean[-1])
    assert simulator.get_snr() == np.inf
    assert simulator.sigma_data is None
    simulator.set_noise_type("gaussian")
    shared, noisy, noise = simulator.simulate_n(3)
    assert len(noisy) == len(noise) == 3
    np.testing.assert_array_equal(noisy[2], shared + noise[2])
    assert not np.array_equal(noisy[0], noisy[1])


def decaying() -> Model:
    made = load_time_model("{decay: {expFun: {A: [5, True], tau: [2, True], t0: [0, False]}}}")
    made.set_axes(time=np.linspace(-1.0, 6.0, 15))
    return made


def test_mistakes() -> None:
    for options, message in (
        ({"noise_type": "gausian"}, "did you mean 'gaussian'"),
        ({"detection": "digital"}, "detection must be one of"),
        ({"noise_level": -1.0}, "noise_level"),
        ({"noise_level": float("nan")}, "noise_level"),
        ({"detection": "photon_counting"}, "needs counts_per_delay"),
        ({"counts_per_delay": 0}, "counts_per_delay must be finite and positive"),
        ({"counts_per_delay": 5, "count_rate": 5}, "give counts_per_delay, or"),
        ({"integration_time": 5}, "needs a count_rate"),
        ({"counts_per_delay": 1e4}, "counts are those of detection='photon_counting'"),
        ({"count_rate": 1e4}, "counts are those of detection='photon_counting'"),
        ({"noise_level": True}, "noise_level"),
    ):
        with pytest.raises(DataError, match=message):
            Simulator(model(), **options)  # type: ignore[arg-type]
    simulator = Simulator(model(False))
    with pytest.raises(DataError, match="no time axis"):
        simulator.simulate_2d()
    with pytest.raises(DataError, match="dim must be 1 or 2"):
        simulator.generate_clean_data(3)
    with pytest.raises(DataError, match="t_ind 99 is not a row"):
        Simulator(model()).simulate_1d(99)
    with pytest.raises(DataError, match="scale must be one of"):
        simulator.get_snr("db")
    with pytest.raises(DataError, match="n must be"):
        simulator.simulate_n(0)
    simulator.set_noise_level(0.0)
    with pytest.raises(DataError, match="noise_level above 0"):
        simulator.simulate_1d()
    below = model(False)
    below.set_values({"Offset_y0": -1.0})
    with pytest.raises(DataError, match=r"negative or not finite .* noise_type='gaussian'"):
        Simulator(below).simulate_1d()


@pytest.mark.parametrize("n", [None, 2])
def test_a_model_that_is_not_finite_says_where(n: int | None) -> None:
    """Of n data it was said that clean_data, which nobody gave, must be finite."""
    text = "back:\n  LinBack: {m: [1, True], b: [0, True], xStart: [8, True], xStop: [9, True]}\n"
    ramp = load_model(text, "back")
    ramp.set_axes(energy=np.linspace(0.0, 10.0, 11))
    ramp.set_values({"LinBack_xStop": 7.0})
    simulator = Simulator(ramp, noise_type="gaussian")
    with pytest.raises(DataError, match="LinBack is outside of its domain: LinBack_xStop = 7"):
        simulator.simulate_1d() if n is None else simulator.simulate_n(n, dim=1)


@pytest.mark.parametrize("kind", ["hdf5", "npz", "csv"])
@pytest.mark.parametrize("made", [model, lambda: model(False), decaying])
def test_files_are_read_back(kind: str, made: Callable[[], Model], tmp_path: Path) -> None:
    """A trace had no axis, and CSV of it was a ValueError of NumPy's."""
    pytest.importorskip("h5py")
    own = made()
    simulator = Simulator(own, seed=5)
    _, noisy, _ = simulator.simulate()
    path = simulator.save_data(filepath=tmp_path / "data", save_format=kind, n_data=[noisy])
    assert list(tmp_path.iterdir()) == [path]
    dataset: Any = read(path, format=kind)
    np.testing.assert_allclose(dataset.data, noisy, rtol=1e-9, atol=1e-9)
    for found, axis in ((dataset.energy, own.energy), (dataset.time, own.time)):
        assert (found is None) == (axis is None)
        if axis is not None:
            np.testing.assert_allclose(found, axis, rtol=1e-9, atol=1e-9)


def test_saving_refuses_what_it_cannot_write(tmp_path: Path) -> None:
    simulator = Simulator(model(), seed=5)
    path = tmp_path / "d.csv"
    simulator.save_data(path, "csv", show_output=0)
    with pytest.raises(DataError, match="exists already"):
        simulator.save_data(path, "csv", overwrite=False)
    with pytest.raises(DataError, match="did you mean 'hdf5'"):
        simulator.save_data(path, "hdf")
    with pytest.raises(DataError, match="n_data is empty"):
        simulator.save_data(path, "csv", [])
    with pytest.raises(DataError, match="one time"):
        simulator.save_data(path, "csv", [np.zeros(80)])
    with pytest.raises(DataError, match="have shape"):
        simulator.save_data(path, "csv", [np.zeros((2, 2))])


def test_a_seed_of_any_length_is_saved(tmp_path: Path) -> None:
    """Such as numpy's ``SeedSequence().entropy``, which has 128 bits: HDF5 has no such numbers."""
    h5py = pytest.importorskip("h5py")
    for seed in (2**64 - 1, 2**64, 2**127 + 1):
        simulator = Simulator(model(), seed=seed)
        path = simulator.save_data(tmp_path / "d.h5")
        with h5py.File(path) as file:
            assert int(file.attrs["seed"]) == seed


@pytest.mark.usefixtures("quick_figures")
def test_comparison_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    simulator = Simulator(model(), seed=5)
    figure = simulator.plot_comparison(3, snr_scale="dB", save_path=tmp_path / "c.png")
    assert "dB" in figure.axes[0].get_title(loc="left")
    assert len(simulator.plot_comparison(dim=2).axes) == 3
    decay = decaying()
    ax = Simulator(decay, seed=1).plot_comparison(y_label="delay (ps)").axes[0]
    assert ax.get_xlabel() == "delay (ps)"
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), decay.time)
