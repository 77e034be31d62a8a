"""Slice by slice, and what is made of its traces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import File, FitError, Project, SliceResults

ENERGY = np.linspace(0.0, 20.0, 81)
TIME = np.linspace(-5.0, 30.0, 36)
MODEL = """
peak:
  Offset:
    y0: [1, True, -5, 20]
  Gauss:
    A: [15, True, 0, 100]
    x0: [9.5, True, 3, 18]
    SD: [1.3, True, 0.2, 5]
parameters:
  area: ["2.50662827463 * Gauss_01_A * Gauss_01_SD"]
"""
LAWS = """
decay:
  expFun:
    A: [2, True, 0, 10]
    tau: [5, True, 0.1, 100]
    t0: [0, False]
    y0: [0, False]
base_and_decay:
  stepFun:
    A: [9, True, 0, 20]
    t0: [-100, False]
  expFun:
    A: [2, True, 0, 10]
    tau: [5, True, 0.1, 100]
    t0: [0, False]
"""


def position(time: np.ndarray) -> np.ndarray:
    return 9.0 + np.where(time >= 0, 4.0 * np.exp(-time / 8.0), 0.0)


def series(seed: int = 0) -> np.ndarray:
    x0 = position(TIME)[:, None]
    clean = 2.0 + 20.0 * np.exp(-(((ENERGY - x0) / 1.1) ** 2) / 2)
    return clean + np.random.default_rng(seed).normal(0.0, 0.3, clean.shape)


@pytest.fixture
def file(tmp_path: Path) -> File:
    (tmp_path / "m.yaml").write_text(MODEL)
    (tmp_path / "laws.yaml").write_text(LAWS)
    project = Project(tmp_path, show_output=False)
    file = File(project, name="scan", data=series(), energy=ENERGY, time=TIME)
    file.load_model("m.yaml", "peak")
    file.define_baseline(-5, -1)
    return file


def test_every_slice_as_if_alone(file: File) -> None:
    file.set_fit_limits([2, 18], time_limits=[-3, 20])
    baseline = file.fit_baseline("peak")
    slices = file.fit_slice_by_slice("peak")
    assert isinstance(slices, SliceResults)
    assert file.get_result(fit_type="sbs") is slices
    assert len(slices) == 24
    assert slices.success.all()
    assert slices.rows[0] == 2
    np.testing.assert_array_equal(slices.time, TIME[2:26])
    pulls = (slices.values["Gauss_01_x0"] - position(slices.time)) / slices.stderr["Gauss_01_x0"]
    assert np.abs(pulls).max() < 4.5
    # The start follows the maximum of the slice.
    assert np.abs(slices.start["Gauss_01_x0"] - position(slices.time)).max() < 0.6
    assert np.all(slices.start["Gauss_01_A"] == baseline.values["Gauss_01_A"])
    for index in (0, 7, 23):
        alone = file.fit_spectrum("peak", time_point=slices.rows[index], time_type="ind")
        one = slices[index].result
        assert one is not None
        for name in slices.free_names:
            off = abs(one.values[name] - alone.values[name]) / alone.stderr[name]
            assert off < 1e-3
        assert one.stderr["area"] == pytest.approx(alone.stderr["area"], rel=1e-3)
        np.testing.assert_allclose(slices.fit[index], one.fit)
    assert slices.residual.shape == (24, slices.energy.size)


def test_slices_go_on_from_slices(file: File) -> None:
    """They were refused: their values by name hold those of parameters that follow others, which
    are no start values, and those of slices without a result."""

    def stop(done: int, total: int) -> None:
        if done == 30:
            raise KeyboardInterrupt

    first: Any = file.fit_slice_by_slice("peak", progress=stop)
    found = first.values["Gauss_01_x0"]
    file.set_fit_limits(time_limits=[-3, None])
    file.models["peak"].set("Gauss_01_SD", vary=False)
    file.models["peak"].set("Gauss_01_x0", max=12.5)
    again = file.fit_slice_by_slice("peak", seed_values=first)
    assert again.started_from == "seed_values"
    start = again.start["Gauss_01_x0"]
    np.testing.assert_allclose(start[:28], np.minimum(found, 12.5)[2:30], atol=0.01)
    assert (found > 12.5).any()
    assert np.isnan(found[30:]).all()
    assert len({*start[28:]}) == 1  # the model's own
    assert len({*again.values["Gauss_01_SD"]}) == 1
    file.set_fit_limits(None)
    with pytest.raises(FitError, match=r"without the time -5 of the window, one of 2; fit the"):
        file.fit_slice_by_slice("peak", seed_values=again)


def test_starts_move_from_where_the_baseline_has_its_maximum(file: File) -> None:
    """A baseline fitted in another window of as many points was read as one of the slices' window:
    all starts were off by the distance of the two, and slices ended far away."""
    file.set_fit_limits([6.0, 20.0])
    x0 = file.fit_baseline("peak").values["Gauss_01_x0"]
    file.set_fit_limits([3.0, 17.0])
    slices = file.fit_slice_by_slice("peak")
    highest = ENERGY[np.argmax(series(), axis=1)]
    home = ENERGY[np.argmax(file.results[0].measurement.data)]
    step = 0.25 + 1e-9  # where the maximum is noise, the start may rest
    assert np.abs(slices.start["Gauss_01_x0"] - (x0 + highest - home)).max() <= step
    assert slices.success.all()


def test_seeds(file: File) -> None:
    file.fit_baseline("peak")
    given = {"Gauss_01_x0": position(TIME), "Offset_y0": 2.5}
    explicit = file.fit_slice_by_slice("peak", seed_values=given)
    np.testing.assert_array_equal(explicit.start["Gauss_01_x0"], given["Gauss_01_x0"])
    rows = [{"Gauss_01_x0": x0, "Offset_y0": 2.5} for x0 in position(TIME)]
    as_rows = file.fit_slice_by_slice("peak", seed_source="explicit", seed_values=rows)
    np.testing.assert_array_equal(as_rows.values["Gauss_01_x0"], explicit.values["Gauss_01_x0"])
    unmoved = file.fit_slice_by_slice("peak", seed_source="baseline", seed_adapt=None)
    assert np.ptp(unmoved.start["Gauss_01_x0"]) == 0
    # Fixed values may differ from slice to slice, on the one plan.
    file.models["peak"].parameters["Gauss_01_x0"].vary = False
    fixed = file.fit_slice_by_slice("peak", seed_values=given)
    np.testing.assert_array_equal(fixed.values["Gauss_01_x0"], position(TIME))
    assert fixed.success.all()
    assert np.nanmax(fixed.redchi) < 0.2
    np.testing.assert_allclose(fixed.fit[9], fixed[9].result.fit)
    for options, message in (
        ({"seed_source": "basline"}, "did you mean 'baseline'"),
        ({"seed_source": "model", "seed_values": given}, "seed_values go with"),
        ({"seed_source": "explicit"}, "seed_values go with"),
        ({"seed_adapt": "argmax"}, "seed_adapt must be"),
        ({"seed_values": {"Gauss_01_x0": np.ones(3)}}, "one a slice"),
        ({"seed_values": rows[:3]}, "3 entries for 36 slices"),
        ({"n_workers": 2}, "PYSPEC_NUM_THREADS"),
    ):
        with pytest.raises(FitError, match=message):
            file.fit_slice_by_slice("peak", **options)
    with pytest.raises(FitError, match="did you mean 'Gauss_01_x0'"):
        file.fit_slice_by_slice("peak", seed_values={"Gauss_1_x0": 3.0})


def test_ctrl_c_keeps_what_is_done(file: File) -> None:
    def stop(done: int, total: int) -> None:
        assert total == 36
        if done == 10:
            raise KeyboardInterrupt

    slices = file.fit_slice_by_slice("peak", progress=stop)
    assert slices.interrupted
    assert slices.status.count("converged") == 10
    assert slices.status.count("not run") == 26
    assert np.isfinite(slices.values["Gauss_01_x0"]).sum() == 10


# traces


def test_a_trace_with_its_errors_as_weights(file: File) -> None:
    slices = file.fit_slice_by_slice("peak")
    result = slices.fit_parameter(
        "Gauss_01_x0", file.project.resolve("laws.yaml"), "base_and_decay"
    )
    assert result.success
    assert (result.fit_type, result.target) == ("trace", "Gauss_01_x0")
    for name, true in (("stepFun_01_A", 9.0), ("expFun_01_A", 4.0), ("expFun_01_tau", 8.0)):
        assert abs(result.values[name] - true) < 4 * result.stderr[name], name
    assert result.redchi == pytest.approx(1.0, abs=0.6)
    np.testing.assert_allclose(
        np.ravel(result.problem.measurement.weight), 1 / slices.stderr["Gauss_01_x0"]
    )
    np.testing.assert_array_equal(result.time, slices.time)
    with pytest.raises(FitError, match="did you mean"):
        slices.fit_parameter("Gauss_1_x0", LAWS, "decay")


def test_a_file_of_values_against_time(file: File) -> None:
    values = position(TIME) - 9.0 + np.random.default_rng(1).normal(0, 0.05, TIME.size)
    trace = File(file.project, data=values, time=TIME)
    trace.set_noise("gaussian", sigma=0.05)
    trace.set_fit_limits(None, time_limits=[-2, 25])
    result = trace.fit_trace("laws.yaml", "decay")
    assert abs(result.values["expFun_01_tau"] - 8.0) < 4 * result.stderr["expFun_01_tau"]
    assert result.n_data == 28
    assert (result.time[0], result.time[-1]) == (-2.0, 25.0)
    with pytest.raises(FitError, match="without energies"):
        result.energy  # noqa: B018
    assert result.stderr["expFun_01_A"]


def test_single_masked_points_do_not_end_the_shift_of_start_values() -> None:
    """An energy with one masked point counted as masked in all spectra: of 200 none was left, and
    slices whose peak lies elsewhere were not fitted."""
    energy, random = np.linspace(80.0, 100.0, 201), np.random.default_rng(0)
    x0 = np.where(np.arange(200) < 150, 90.0, 96.0)[:, None]
    data = 10.0 + 40.0 * np.exp(-((energy - x0) ** 2) / 0.32) + random.normal(0.0, 0.5, (200, 201))
    mask = random.random(data.shape) < 0.05
    time = np.arange(200.0)
    made = File(Project(show_output=0), data=data, energy=energy, time=time, mask=mask)
    made.load_model(
        "m:\n  Offset: {y0: [9, True, 0, 100]}\n"
        "  Gauss: {A: [35, True, 0, 100], x0: [90, True, 80, 100], SD: [0.5, True, 0.1, 2]}\n",
        "m",
    )
    slices = made.fit_slice_by_slice("m")
    np.testing.assert_allclose(slices.values["Gauss_01_x0"], x0[:, 0], atol=0.1)


@pytest.mark.parametrize("kind", ["part", "one moves", "together", "other higher"])
def test_each_line_starts_where_it_is(kind: str) -> None:
    """All lines followed the maximum together, so that of two lines that part, as the two sides of
    a band do, or of which one rests, one began off its place and vanished. Where the other line was
    the higher one, the first moved to it, and the other away."""
    move = 1.5 * np.sin(TIME / 10)
    places = {"part": (-abs(move), abs(move)), "one moves": (move, 0 * move)}
    first, second = places.get(kind, (move, move))
    energy = np.linspace(80, 92, 121)

    def lines(height: float, place: np.ndarray) -> np.ndarray:
        return np.asarray(height * np.exp(-(((energy - place[:, None]) / 0.5) ** 2) / 2))

    heights = (10, 20) if kind == "other higher" else (20, 10)
    data = 3 + lines(heights[0], 84 + first) + lines(heights[1], 87.7 + second)
    data += np.random.default_rng(1).normal(0, 0.3, data.shape)
    file = File(Project(show_output=False), data=data, energy=energy, time=TIME)
    file.load_model(
        """
lines:
  Offset: {y0: [3, True, 0, 100]}
  Gauss: {A: [18, True, 0, 1000], x0: [84, True, 81, 91], SD: [0.5, True, 0.05, 3]}
  Gauss: {A: [9, True, 0, 1000], x0: [87.7, True, 81, 91], SD: [0.5, True, 0.05, 3]}
""",
        "lines",
    )
    slices = file.fit_slice_by_slice("lines")
    assert slices.success.all()
    np.testing.assert_allclose(slices.values["Gauss_01_x0"], 84 + first, atol=0.1)
    np.testing.assert_allclose(slices.values["Gauss_02_x0"], 87.7 + second, atol=0.2)
