"""Sweeps and simulators as scripts of trspecfit call them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pyspec
from pyspec import DataError, Model, load_model
from pyspec.trspecfit import ParameterSweep, Simulator, SweepDataset

pytest.importorskip("h5py")

TEXT = """
peak:
  Offset: {y0: [2.0, True, 0, 5]}
  Gauss: {A: [10.0, True, 0, 100], x0: [9.0, True, 5, 15], SD: ["Gauss_01_A / 10"]}
"""


def model() -> Model:
    made = load_model(TEXT, "peak")
    made.set_axes(energy=np.linspace(0.0, 20.0, 41))
    return made


def test_arguments_under_both_names() -> None:
    theirs, ours = ParameterSweep("random", seed=4), pyspec.ParameterSweep("random", seed=4)
    theirs.add_range(par_name="a", values=[1.0, 2.0, 3.0])
    theirs.add_uniform(par_name="b", min_val=5.0, max_val=6.0, n_samples=3)
    theirs.add_normal(par_name="c", mean=1.0, std=0.5, n_samples=3)
    theirs.add_lognormal(par_name="d", mean=0.0, std=0.5, n_samples=3)
    ours.add_range("a", [1.0, 2.0, 3.0]).add_uniform("b", low=5.0, high=6.0, n=3)
    ours.add_normal("c", 1.0, sd=0.5, n=3).add_lognormal("d", 0.0, sigma=0.5, n=3)
    assert list(theirs) == list(ours)


def test_lists_of_different_lengths_are_drawn_from() -> None:
    sweep = ParameterSweep(seed=2).add_range("a", [1.0, 2.0])
    sweep.add_uniform("b", 0.0, 1.0, 400).add_normal("c", 0.0, 1.0, 100)
    rows = list(sweep)
    assert len(rows) == len(sweep) == 400
    assert 150 < sum(row["a"] == 1.0 for row in rows) < 250
    assert len({row["c"] for row in rows}) == 400
    short = ParameterSweep(seed=2).add_normal("c", 0.0, 1.0, 100)
    assert [row["c"] for row in rows[:100]] == [row["c"] for row in short]


@pytest.mark.parametrize("kind", ["range", "normal"])
def test_a_sweep_beyond_bounds_is_refused_before_a_file_is_there(tmp_path: Path, kind: str) -> None:
    sweep = ParameterSweep(seed=1)
    if kind == "range":
        sweep.add_range("Gauss_01_x0", [9.0, 16.0])
    else:
        sweep.add_normal("Gauss_01_x0", 9.0, 10.0, 20)
    with pytest.raises(DataError, match=r"Gauss_01\.x0: the sweep takes .* beyond its bounds \[5"):
        Simulator(model(), seed=1).simulate_parameter_sweep(
            sweep, 1, dim=1, filepath=tmp_path / "sweep.h5"
        )
    assert list(tmp_path.iterdir()) == []


def test_what_a_dataset_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sweep = ParameterSweep(seed=1).add_range("Gauss_01_A", [10.0, 20.0, 30.0])
    simulator = Simulator(model(), noise_level=0.05, noise_type="gaussian", seed=1)
    path = simulator.simulate_parameter_sweep(sweep, 2, dim=1, filepath=tmp_path / "sweep.h5")
    with SweepDataset(path) as dataset:
        assert dataset.meta["n_configs"] == 3
        assert dataset.meta["n_realizations_per_config"] == 2
        assert dataset.meta["dimension"] == 1
        energy, time = dataset.get_axes()
        assert (energy.size, time.size) == (41, 0)
        config = dataset.load_config(1)
        assert config["parameters"] == {"Gauss_01_A": 20.0}
        assert config["all_parameter_values"]["Gauss_01_SD"] == 2.0  # it follows
        assert config["sigma_data"] == pytest.approx(0.05 * config["clean"].max())
        assert [one.shape for one in config["noisy"]] == [(41,), (41,)]
        assert set(dataset.load_config(1, load_clean=False, load_noisy=False)) == {
            "parameters", "all_parameter_values", "sigma_data",
        }  # fmt: skip
        dataset.print_summary()
        shown = capsys.readouterr().out
        assert "3 combinations, 2 noisy data of each, 6 in all" in shown
        assert "Gauss_01_A: range, 3 values, 10 to 30" in shown
        pandas = pytest.importorskip("pandas")
        frame = dataset.get_parameter_summary()
        assert isinstance(frame, pandas.DataFrame)
        assert frame.index.name == "config_idx"
        assert list(frame["Gauss_01_A"]) == [10.0, 20.0, 30.0]


def test_a_comparison_shows_the_simulated_data() -> None:
    pytest.importorskip("matplotlib")
    simulator = Simulator(model(), noise_level=0.1, noise_type="gaussian", seed=1)
    _, noisy, _ = simulator.simulate_1d()
    figure = simulator.plot_comparison(dim=1)
    assert np.array_equal(figure.axes[0].lines[0].get_ydata(), noisy)
    with pytest.raises(DataError, match="save_img needs a file"):
        simulator.plot_comparison(dim=1, save_img=-1)
