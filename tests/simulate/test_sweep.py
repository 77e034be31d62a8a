"""Sweeps: which values, and files that are complete or not there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec.errors import CallError, DataError, ModelError
from pyspec.model import Model, load_model
from pyspec.simulate import ParameterSweep, Simulator, SweepDataset

TEXT = """
peak:
  Offset:
    y0: [2.0, True]
  Gauss:
    A: [10.0, True, 0, 100]
    x0: [9.0, True]
    SD: ["Gauss_01_A / 10"]
"""


def model() -> Model:
    made = load_model(TEXT, "peak")
    made.set_axes(energy=np.linspace(0.0, 20.0, 30))
    return made


def test_grid_and_random() -> None:
    grid = ParameterSweep().add_range("a", [1, 2, 3]).add_range("b", [10, 20])
    assert grid.get_n_configs() == len(grid) == 6
    assert list(grid)[:3] == [{"a": 1, "b": 10}, {"a": 1, "b": 20}, {"a": 2, "b": 10}]
    drawn = ParameterSweep(seed=1).add_uniform("a", 0, 1, 5).add_range("b", range(5))
    assert len(drawn) == 5
    assert [row["b"] for row in drawn] == [0, 1, 2, 3, 4]
    assert (
        len(ParameterSweep("grid", seed=1).add_uniform("a", 0, 1, 5).add_range("b", [1, 2])) == 10
    )
    mixed = ParameterSweep("random", seed=1).add_uniform("a", 0, 1, 5).add_range("b", [1, 2])
    assert len(mixed) == len(list(mixed)) == 5
    assert {row["b"] for row in mixed} <= {1, 2}
    assert list(mixed) == list(mixed)
    with pytest.raises(DataError, match="empty"):
        list(ParameterSweep())


def test_draws_repeat_and_do_not_depend_on_the_order() -> None:
    first = ParameterSweep(seed=4).add_normal("a", 5, 2, 4000).add_lognormal("b", 0, 0.5, 4000)
    other = ParameterSweep(seed=4).add_lognormal("b", 0, 0.5, 4000).add_normal("a", 5, 2, 4000)
    rows, again = list(first), list(other)
    assert [row["a"] for row in rows] == [row["a"] for row in again]
    a, b = (np.array([row[name] for row in rows]) for name in "ab")
    assert (a.mean(), a.std()) == (pytest.approx(5, abs=0.15), pytest.approx(2, abs=0.1))
    assert np.log(b).std() == pytest.approx(0.5, abs=0.03)
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.05


def test_mistakes() -> None:
    sweep = ParameterSweep().add_range("a", [1])
    calls: list[tuple[Any, str]] = [
        (lambda: ParameterSweep("girdd"), "did you mean 'grid'"),
        (lambda: sweep.add_range("a", [2]), "in the sweep already"),
        (lambda: sweep.add_range("b", []), "list of finite numbers"),
        (lambda: sweep.add_range("b", [np.nan]), "list of finite numbers"),
        (lambda: sweep.add_uniform("b", 2, 1, 3), "must be below"),
        (lambda: sweep.add_normal("b", 2, 0, 3), "must be finite and positive"),
        (lambda: sweep.add_normal("b", 2, 1, 0), "whole number"),
    ]
    for call, message in calls:
        with pytest.raises(DataError, match=message):
            call()


def test_sweep_is_written_read_and_leaves_the_model(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    made = model()
    sweep = ParameterSweep().add_range("Gauss_01_A", [5, 10, 20]).add_range("Offset_y0", [1, 2])
    simulator = Simulator(made, seed=2)
    path = simulator.simulate_parameter_sweep(sweep, 4, dim=1, filepath=tmp_path / "s.h5")
    assert list(tmp_path.iterdir()) == [path]
    assert made.values["Gauss_01_A"] == 10.0
    with SweepDataset(path) as dataset:
        assert len(dataset) == 6
        assert dataset.time is None
        values, clean, noisy = dataset[2]
        assert values == {"Gauss_01_A": 10.0, "Offset_y0": 1.0}
        np.testing.assert_array_equal(dataset.energy, made.energy)
        assert noisy.shape == (4, 30)
        made.set_values(values)
        np.testing.assert_allclose(clean, made.evaluate(), atol=1e-12)
        with pytest.raises(IndexError, match="no combination 6: there are 6, counted from 0"):
            dataset[6]
        for key in (slice(0, 2), "a", 1.0):  # Python's own error, or that of h5py
            with pytest.raises(CallError, match="is no number of a combination: there are 6"):
                dataset[key]  # type: ignore[index]
    made.set_values({"Gauss_01_A": 10.0, "Offset_y0": 2.0})


def test_an_interrupted_sweep_goes_on_and_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("h5py")
    sweep = ParameterSweep(seed=0).add_uniform("Gauss_01_A", 5, 20, 6)
    whole = Simulator(model(), seed=2).simulate_parameter_sweep(
        sweep, 2, dim=1, filepath=tmp_path / "whole.h5"
    )
    simulate_n, calls = Simulator.simulate_n, []

    def stop_after_three(self: Simulator, *args: Any, **options: Any) -> Any:
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return simulate_n(self, *args, **options)

    monkeypatch.setattr(Simulator, "simulate_n", stop_after_three)
    path = tmp_path / "s.h5"
    made = model()
    with pytest.raises(KeyboardInterrupt):
        Simulator(made, seed=2).simulate_parameter_sweep(sweep, 2, dim=1, filepath=path)
    assert not path.exists()
    assert made.values["Gauss_01_A"] == 10.0
    Simulator(made, seed=2).simulate_parameter_sweep(sweep, 2, dim=1, filepath=path)
    assert len(calls) == 4 + 3
    with SweepDataset(path) as continued, SweepDataset(whole) as reference:
        for k in range(6):
            for mine, theirs in zip(continued[k], reference[k], strict=True):
                np.testing.assert_equal(mine, theirs)


def test_other_sweeps_and_broken_files_begin_again(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    path = tmp_path / "s.h5"
    (tmp_path / ".s.h5.part").write_bytes(b"killed while it wrote")
    sweep = ParameterSweep().add_range("Gauss_01_A", [5, 6])
    Simulator(model(), seed=2).simulate_parameter_sweep(sweep, 1, dim=1, filepath=path)
    assert len(SweepDataset(path)) == 2
    with pytest.raises(DataError, match="no sweep"):
        SweepDataset(Path(__file__))
    with pytest.raises(ModelError, match="did you mean 'Gauss_01_A'"):
        Simulator(model()).simulate_parameter_sweep(
            ParameterSweep().add_range("Gauss_1_A", [1]), 1, dim=1, filepath=path
        )
    with pytest.raises(DataError, match="follows the expression"):
        Simulator(model()).simulate_parameter_sweep(
            ParameterSweep().add_range("Gauss_01_SD", [1]), 1, dim=1, filepath=path
        )
    with pytest.raises(DataError, match="n_realizations"):
        Simulator(model()).simulate_parameter_sweep(sweep, 0, dim=1, filepath=path)
    with pytest.raises(DataError, match="cannot be written"):
        Simulator(model()).simulate_parameter_sweep(
            sweep, 1, dim=1, filepath=tmp_path / "no" / "s.h5"
        )
