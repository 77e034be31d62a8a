"""Curves of fits between the samples."""

from pathlib import Path

import numpy as np
import pytest

from pyspec import File, FitResult, Project, register_function
from pyspec.plot import PlotConfig, plot_components, plot_fit, plot_residuals, plot_traces
from pyspec.plot.elements.fine_curve import curves_of, traces_of
from pyspec.plot.view import view_of

MODELS = """
peak:
  Offset: {y0: [3, True]}
  GLP: {A: [18, True, 0, 100], x0: [84.2, True, 82, 86], F: [1, True, 0.1, 5], m: [0.3, False]}
shirley:
  Offset: {y0: [3, True]}
  Shirley: {pShirley: [0.02, True, 0, 1]}
  GLP: {A: [18, True, 0, 100], x0: [84.2, True, 82, 86], F: [1, True, 0.1, 5], m: [0.3, False]}
ending:
  Shirley: {pShirley: [0.02, True, 0, 1]}
decay:
  gaussIRF: {SD: [0.1, True, 0.01, 1]}
  expFun: {A: [5, True, 0, 100], tau: [4, True, 0.1, 100], t0: [0, True, -1, 1]}
sampled:
  gaussCONV: {SD: [0.6, False]}
  expFun: {A: [5, True, 0, 100], tau: [4, True, 0.1, 100], t0: [0, True, -1, 1]}
step:
  stepFun: {A: [5, True, 0, 100], t0: [0.3, False]}
free:
  gaussIRF: {SD: [0.1, True, 0.01, 1]}
  expFun: {A: {free: energy}, tau: [4, True, 0.1, 100], t0: [0, True, -1, 1]}
lines:
  GLP: {A: {free: time}, x0: [84.2, True, 82, 86], F: [1, True, 0.1, 5], m: [0.3, False]}
own:
  Running: {A: [1, True, 0, 100], x0: [84, True, 82, 86]}
"""
ENERGY = np.concatenate(
    [np.linspace(80, 84, 9), np.linspace(84.05, 85, 20), np.linspace(86, 90, 8)]
)
TIME = np.concatenate([np.linspace(-2, -0.5, 5), np.linspace(0, 2, 9), [5, 10, 50]])


def peak(x: np.ndarray) -> np.ndarray:
    return 3 + 18 * np.exp(-4 * np.log(2) * (x - 84.2) ** 2)


def spectrum(tmp_path: Path, name: str, energy: np.ndarray = ENERGY, **options) -> FitResult:
    (tmp_path / "models.yaml").write_text(MODELS)
    data = peak(energy) + np.random.default_rng(1).normal(0, 0.1, energy.size)
    file = File(Project(tmp_path, show_output=False), data=data, energy=energy, **options)
    file.load_model("models.yaml", name)
    return file.fit_spectrum(name)


def trace(tmp_path: Path, name: str) -> FitResult:
    (tmp_path / "models.yaml").write_text(MODELS)
    data = np.where(TIME > 0, 5 * np.exp(-TIME / 4), 0.1 * np.cos(TIME))
    file = File(Project(tmp_path, show_output=False), data=data, time=TIME)
    return file.fit_trace(tmp_path / "models.yaml", name)


@pytest.mark.parametrize("turned", [False, True])
def test_a_peak_is_drawn_between_the_samples(tmp_path: Path, turned: bool) -> None:
    # Straight lines through the samples cut off its top and its flanks.
    result = spectrum(tmp_path, "peak", ENERGY[::-1] if turned else ENERGY)
    figure = plot_fit(result)
    drawn = {one.get_label(): one for one in figure.axes[0].lines}
    x = drawn["fit"].get_xdata()
    assert x.size > 400
    np.testing.assert_allclose(drawn["fit"].get_ydata(), result.predict(energy=x).value, rtol=1e-12)
    assert drawn["start"].get_xdata().size == x.size
    assert drawn["data"].get_xdata().size == ENERGY.size
    residual = next(one for one in figure.axes[1].lines if one.get_marker() == "o")
    np.testing.assert_array_equal(residual.get_ydata(), result.residual)  # at the samples
    for figure in (plot_components(result), plot_residuals([result, result])):
        assert max(one.get_xdata().size for one in figure.axes[0].lines) == x.size


@pytest.mark.parametrize("name", ["peak", "shirley"])
@pytest.mark.parametrize("options", [{}, {"full_range": True}, {"data_slice": [[3, 30]]}])
def test_components_add_up_to_the_fit(tmp_path: Path, name: str, options) -> None:
    result = spectrum(tmp_path, name)
    seen = view_of(result, PlotConfig(**options))
    curves = curves_of(result, seen)
    assert curves.x.size > 300
    total = sum([*curves.peaks.values(), *curves.grounds.values()])
    np.testing.assert_allclose(total, curves.fit, atol=1e-9)
    assert set(curves.grounds) == ({"Offset"} if name == "peak" else {"Offset", "Shirley"})
    if name == "shirley":  # a straight line between two samples
        inside = (curves.x >= 80) & (curves.x <= 80.5)
        values = curves.grounds["Shirley"][inside]
        assert options or np.ptp(np.diff(values, 2)) < 1e-9


@pytest.mark.parametrize("name", ["decay", "sampled", "step"])
def test_traces_between_the_samples(tmp_path: Path, name: str) -> None:
    result = trace(tmp_path, name)
    curves = curves_of(result, view_of(result, PlotConfig()))
    assert curves.x.size > 300
    np.testing.assert_allclose(curves.fit, result.predict(time=curves.x).value, atol=1e-12)
    between_two = (curves.x > 5) & (curves.x < 10)
    bends = np.abs(np.diff(curves.fit[between_two], 2)).max() > 1e-7
    assert bends == (name == "decay")
    if name == "step":  # where the onset is, not along a line from one sample to the next
        assert curves.x[np.argmax(curves.fit > 1)] < 0.35


def test_traces_of_a_series(tmp_path: Path) -> None:
    (tmp_path / "models.yaml").write_text(MODELS)
    data = np.exp(-np.maximum(TIME, 0) / 4)[:, None] * (TIME > 0)[:, None] * (peak(ENERGY) - 3)
    data = data + np.random.default_rng(1).normal(0, 0.1, data.shape)
    file = File(Project(tmp_path, show_output=False), data=data, energy=ENERGY, time=TIME)
    file.set_fit_limits([81, 88], time_limits=[-1.5, 20])
    for name in ("free", "lines", "peak"):
        file.load_model("models.yaml", name)
        if name == "peak":
            file.add_time_dependence("peak", "GLP_01_A", "models.yaml", "decay")
        result = file.fit_2d(name)
        seen = view_of(result, PlotConfig(data_slice=[[1, 13], [2, 30]]))
        columns = [20, 4, 4]
        x, found = traces_of(result, seen, columns)
        if name == "lines":  # heights that are free at each time are known there alone
            assert np.array_equal(x, seen.time)
            continue
        assert x.size > 300
        whole = result.predict(time=x)
        at = [int(np.flatnonzero(whole.energy == seen.energy[column])[0]) for column in columns]
        np.testing.assert_allclose(found, whole.value[:, at], atol=1e-10)
        plot_traces(result)


def test_a_function_that_needs_the_samples_is_drawn_through_them(tmp_path: Path) -> None:
    def running(x: np.ndarray, A: float, x0: float) -> np.ndarray:
        return A * np.cumsum(np.exp(-((x - x0) ** 2)))

    register_function("Running", running, "A, x0")
    result = spectrum(tmp_path, "own")
    curves = curves_of(result, view_of(result, PlotConfig()))
    np.testing.assert_array_equal(curves.x, ENERGY)
    np.testing.assert_array_equal(curves.fit, result.fit)
