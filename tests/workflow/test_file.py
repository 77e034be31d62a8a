"""Project and File: data, windows, models, fits, as a user's script calls them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import DataError, File, FitError, Project
from pyspec.executor import make_executor
from pyspec.model import load_dynamics, load_model

ENERGY = np.linspace(94.0, 78.0, 81)  # falling, as binding energies are
TIME = np.linspace(-5.0, 30.0, 36)

MODELS = """
base:
  Offset:
    y0: [{y0}, True]
  GLP:
    A: [{A}, True, 0, 100]
    x0: [{x0}, True, 80, 92]
    F: [{F}, True, 0.1, 5]
    m: [0.3, False]
moving:
  Offset:
    y0: [1.0, False]
  GLP:
    A: [5.0, False]
    x0: [83.0, True, 80, 92]
    F: [2.0, False]
    m: [0.3, False]
tight:
  Offset:
    y0: [1.0, False]
  GLP:
    A: [5.0, True, 0, 8]
    x0: [83.0, True, 80, 92]
    F: [2.0, False]
    m: [0.3, False]
"""
LAWS = """
decay:
  expFun:
    A: [0.7, True]
    tau: [12.0, True, 0.1, 100]
    t0: [0, False]
"""
TRUTH = {"y0": 2.0, "A": 12.0, "x0": 84.0, "F": 1.2}


def simulated() -> np.ndarray:
    model = load_model(MODELS.format(**TRUTH), "base")
    law = load_dynamics(
        LAWS.replace("0.7", "1.0").replace("12.0", "8.0"), "decay", model.parameters["GLP_01_x0"]
    )
    model.add_dynamics("GLP_01_x0", law)
    model.set_axes(energy=ENERGY, time=TIME)
    clean = make_executor(model, None, "compiled").run(model.theta())
    return clean + np.random.default_rng(5).normal(0.0, 0.05, clean.shape)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    start = {"y0": 2.4, "A": 10.0, "x0": 84.3, "F": 1.6}
    (tmp_path / "models.yaml").write_text(MODELS.format(**start))
    (tmp_path / "laws.yaml").write_text(LAWS)
    return Project(tmp_path, show_output=False)


@pytest.fixture
def file(project: Project) -> File:
    return File(project, name="scan", data=simulated(), energy=ENERGY, time=TIME)


def prepare(file: File, model: str = "moving") -> None:
    file.load_model("models.yaml", "base")
    file.load_model("models.yaml", [model])
    file.add_time_dependence(model, "GLP_01_x0", "laws.yaml", ["decay"])
    file.define_baseline(-5, -1)


def test_a_whole_script(file: File, capsys: pytest.CaptureFixture[str]) -> None:
    prepare(file)
    baseline = file.fit_baseline("base")
    assert baseline.fit_type == "baseline"
    assert file.baseline_rows == (0, 5)
    np.testing.assert_array_equal(file.baseline, file.data[:5].mean(axis=0))
    result = file.fit_2d("moving")
    assert result.success
    # Fixed parameters of the 2D model hold the baseline's best values.
    for name in ("Offset_y0", "GLP_01_A", "GLP_01_F"):
        assert result.values[name] == baseline.values[name]
        assert result.start[name] == baseline.values[name]
    assert abs(result.values["GLP_01_x0_expFun_01_tau"] - 8.0) < 0.3
    assert abs(result.values["GLP_01_x0_expFun_01_A"] - 1.0) < 0.02
    # The model of the file holds the answer now.
    assert file.models["moving"].values["GLP_01_x0"] == result.values["GLP_01_x0"]
    assert file.results == [baseline, result]
    assert file.get_result() is result
    assert file.get_result(fit_type="baseline") is baseline
    assert result.correlations["GLP_01_x0", "GLP_01_x0_expFun_01_A"] < 0
    assert capsys.readouterr().out == ""
    text = file.describe()
    for part in ("scan", "36 × 81", "energy: 81 points", "baseline rows: 0 to 4", "model moving"):
        assert part in text


def test_a_point_is_on_a_limit_but_for_rounding() -> None:
    """np.arange has 83.99999999999977 for 84, which [84, 86] left out."""
    axis = np.arange(80, 90.01, 0.1)
    file = File(data=np.ones((101, 101)), energy=axis, time=np.arange(101) * 0.1 - 5.0)
    file.set_fit_limits([86.1, 83.1], time_limits=[-4.7, 4.9])
    assert (file.columns, file.rows) == ((31, 62), (3, 100))
    file.set_fit_limits([84.001, 86.0])  # by a hundredth of a step it is none
    assert file.columns == (41, 61)


def test_fit_spectrum(file: File) -> None:
    prepare(file)
    point = file.fit_spectrum("base", time_point=-3.1)
    row = file.fit_spectrum("base", time_point=2, time_type="ind")
    assert point.values == pytest.approx(row.values, rel=1e-5)
    mean = file.fit_spectrum("base", time_range=(-5, -1))
    np.testing.assert_array_equal(mean.data, file.baseline)
    one = File(file.project, data=file.data[0], energy=ENERGY)
    one.load_model("models.yaml", "base")
    assert one.fit_spectrum("base").success
    with pytest.raises(DataError, match="one spectrum"):
        one.fit_spectrum("base", time_point=0.0)
    with pytest.raises(DataError, match="one spectrum"):
        one.fit_2d("base")


def test_baseline_value_outside_of_the_bounds_is_an_error(file: File) -> None:
    prepare(file, "tight")
    file.fit_baseline("base")
    before = file.models["tight"].values
    with pytest.raises(FitError, match=r"GLP_01_A = 12.*\[0, 8\].*seed_source='model'"):
        file.fit_2d("tight")
    assert file.models["tight"].values == before


# data


def make(data: Any, **axes: Any) -> File:
    return File(data=data, **{"energy": ENERGY, "time": TIME, **axes})


GOOD = np.zeros((36, 81))


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.uint16])
def test_data_are_kept_where_they_lie_and_frozen(kind: type) -> None:
    data = GOOD.astype(kind)
    held = make(data).data
    assert held is not None
    assert np.shares_memory(held, data)
    assert held.dtype == kind
    with pytest.raises(ValueError, match="read-only"):
        held[0, 0] = 1
    data[0, 0] = 1  # the owner's array stays writable


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.float16, ">f8", np.longdouble])
def test_other_numbers_become_float64(kind: Any) -> None:
    held = make(GOOD.astype(kind)).data
    assert held is not None
    assert held.dtype == np.float64
    assert held.dtype.isnative


def test_data_that_are_not_finite() -> None:
    for shape, place, said in (((36, 81), (4, 7), "row 4, column 7"), ((81,), (3,), "index 3")):
        data = np.zeros(shape)
        data[place] = np.inf
        with pytest.raises(DataError, match=f"1 values that are NaN or inf, first at {said}"):
            make(data, time=TIME if data.ndim == 2 else None)
    assert make(np.full((36, 81), 1e308)).data is not None  # the sum overflows


def test_file_without_data() -> None:
    file = File(energy=ENERGY)
    with pytest.raises(DataError, match="has no data"):
        file.fit_spectrum("base")
    with pytest.raises(DataError, match="no energy axis"):
        File().set_fit_limits([1, 2])
