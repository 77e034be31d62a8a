"""Pictures never mislead: everything drawn lies inside of its axes, residuals are in units of the
declared noise, labels carry units."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from support.drawn import outside

from pyspec.fit import FitResult, fit_model, fit_slices
from pyspec.model import Measurement, Model, load_dynamics, load_model
from pyspec.plot import (
    plot_components,
    plot_data,
    plot_evolution,
    plot_fit,
    plot_moving,
    plot_waterfall,
)
from pyspec.plot.config import PlotConfig
from pyspec.plot.style import three_digits
from pyspec.plot.view import residual_of, view_of

pytest.importorskip("matplotlib")
slow = pytest.mark.slow

NAMES = {
    "labels": {"energy": "BE", "time": "delay", "data": "counts"},
    "units": {"energy": "eV", "time": "ps"},
}
OVERLAP = """
m:
  LinBack: {m: [0.5, True], b: [60, True], xStart: [0, False], xStop: [20, False]}
  Shirley: {pShirley: [0.002, False]}
  Gauss: {A: [80, True, 0, 900], x0: [9, True, 5, 15], SD: [1.2, True, 0.1, 5]}
  Gauss: {A: [60, True, 0, 900], x0: [10.2, True, 5, 15], SD: [1.1, True, 0.1, 5]}
"""
PEAK = """
m:
  Offset: {y0: [50, True]}
  Gauss: {A: [200, True], x0: [9, True, 2, 18], SD: [1.5, True, 0.1, 5]}
rise:
  expFun: {A: [40, True], tau: [20, True, 0.1, 900], t0: [0, False]}
"""
SIGNED = """
m:
  Gauss: {A: [-4, True], x0: [6, True, 2, 18], SD: [1.0, True, 0.1, 5]}
  Gauss: {A: [5, True], x0: [13, True, 2, 18], SD: [1.5, True, 0.1, 5]}
rise:
  expFun: {A: [-3, True], tau: [20, True, 0.1, 900], t0: [0, False]}
"""
ENERGY = np.linspace(0.0, 20.0, 101)
DELAYS = np.concatenate([np.linspace(-2.0, 2.0, 21), np.geomspace(2.5, 2000.0, 40)])


def simulated(
    text: str,
    *,
    energy: Any = ENERGY,
    time: Any = None,
    sigma: float = 3.0,
    counts: bool = False,
    spoil: Callable[[Any, Any], None] | None = None,
    **window: Any,
) -> FitResult:
    """A fit of data simulated with a declared noise; `spoil` changes data and mask."""
    model: Model = load_model(text, "m")
    if time is not None and "rise" in text:
        model.add_dynamics("Gauss_01_A", load_dynamics(text, "rise", "Gauss_01_A"))
    model.set_axes(energy=energy, time=time)
    clean = np.asarray(model.evaluate())
    generator = np.random.default_rng(11)
    data = (
        generator.poisson(clean) * 1.0
        if counts
        else clean + generator.normal(0, sigma, clean.shape)
    )
    keep = np.ones(clean.shape, bool)
    if spoil is not None:
        spoil(data, keep)
    noise: dict[str, Any] = {"loss": "poisson"} if counts else {"weight": np.array(1 / sigma)}
    measurement = Measurement(data, keep=keep, **noise, **NAMES, **window)
    return fit_model(model, measurement, scale_covar=False)


def hot(data: Any, keep: Any) -> None:
    """A masked hot pixel, masked NaN, and an excluded stretch."""
    data[..., 40], data[..., 3] = 1e6, np.nan
    keep[..., [3, 40]] = False
    keep[..., 80:95] = False


def none_at(data: Any, keep: Any) -> None:
    """A point without counts."""
    data[..., 70] = 0.0


CASES: dict[str, Callable[[], FitResult]] = {
    "signed": lambda: simulated(SIGNED, sigma=0.2),
    "one time": lambda: simulated(PEAK.partition("rise")[0], time=np.array([3.0])),
    "masked": lambda: simulated(OVERLAP, spoil=hot),
    "a window": lambda: simulated(OVERLAP, energy=ENERGY[::-1], columns=(20, 80), counts=True),
    "signed in time": lambda: simulated(SIGNED, time=DELAYS, sigma=0.2),
}


def drawn(figure: Any) -> None:
    assert outside(figure) == []


@pytest.mark.parametrize(
    "name",
    ["a window", "signed in time", *(pytest.param(x, marks=slow) for x in ("signed", "one time"))],
)
def test_everything_drawn_lies_inside_and_labels_carry_units(name: str) -> None:
    # Peaks that overlap on a background used to be cut off: data to 178, the axis to 148.
    fit = CASES[name]()
    figure = plot_fit(fit)
    drawn(figure)
    axes = figure.axes
    assert axes[1].get_xlabel() == "binding energy (eV)"
    assert axes[0].xaxis_inverted()  # binding energies fall from left to right
    if fit.measurement.columns is not None:
        drawn(plot_fit(fit, full_range=True))
    data = np.where(fit.keep, fit.data, np.nan)
    drawn(plot_data(data, fit.energy, fit.time, source=fit))
    rows, curves = np.atleast_2d(data), np.atleast_2d(fit.fit)
    stack = plot_waterfall(rows, fit.energy, fit.time, fit=curves, source=fit)
    drawn(stack)
    names = [text.get_text() for text in stack.axes[0].texts]
    assert all(name.endswith(" ps") for name in names) == (fit.time is not None)
    if fit.time is None:
        assert axes[0].get_ylabel() == "counts"
        drawn(plot_components(fit))
        return
    assert (axes[0].get_ylabel(), axes[3].get_xlabel()) == ("delay (ps)", "counts")
    if fit.moving().values:  # type: ignore[union-attr]
        drawn(plot_moving(fit))


@pytest.mark.parametrize(("counts", "masked"), [(False, True), (True, False)])
def test_residuals_of_declared_noise_spread_by_one(counts: bool, masked: bool) -> None:
    # One rms of all points used to divide them, which a misfit widens and a good fit fulfils.
    spoil = hot if masked else None
    fit = simulated(PEAK, time=DELAYS, counts=counts, spoil=spoil)
    figure = plot_fit(fit)
    shown = np.ma.masked_invalid(figure.axes[2].collections[0].get_array())
    assert shown.count() == fit.n_data
    assert figure.axes[0].collections[0].get_cmap().name == "viridis"
    assert shown.std() == pytest.approx(1.0, abs=0.05)
    assert figure.axes[4].get_xlabel() == "(data − fit) / σ"
    note = figure.axes[2].get_title(loc="right")
    assert note.startswith("σ = √counts" if counts else "σ as declared")
    # Where the peak stands it is no wider than elsewhere: each point has its own σ.
    top = np.abs(fit.energy - 9.0) < 1.5
    assert shown[:, top].std() == pytest.approx(1.0, abs=0.06)


def test_the_strip_of_one_spectrum_is_in_units_of_sigma() -> None:
    fit = simulated(OVERLAP, energy=np.linspace(0.0, 20.0, 2001), counts=True)
    below = plot_fit(fit).axes[1]
    shown = next(line for line in below.lines if line.get_marker() == "o").get_ydata()
    assert np.std(shown) == pytest.approx(1.0, abs=0.05)
    assert below.get_ylabel() == "(data − fit) / σ"


def test_without_a_declared_noise_nothing_is_called_sigma() -> None:
    model = load_model(OVERLAP, "m")
    model.set_axes(energy=ENERGY)
    data = np.asarray(model.evaluate()) + np.random.default_rng(0).normal(0, 3, 101)
    fit = fit_model(model, Measurement(data, units={"data": "mOD"}))
    figure = plot_fit(fit)
    assert figure.axes[1].get_ylabel() == "data − fit (mOD)"
    assert "σ" not in figure.axes[1].get_title(loc="left")
    assert "rms = 2." in figure.axes[1].get_title(loc="left")
    assert [three_digits(x) for x in (1410.4, 0.01412, 1.412e9)] == ["1410", "0.0141", "1.41e+09"]
    assert plot_fit(fit, residual_unit="rms").axes[1].get_ylabel() == "(data − fit) / rms"


def test_points_of_weight_zero_do_not_count() -> None:
    model = load_model(OVERLAP, "m")
    model.set_axes(energy=ENERGY)
    data = np.asarray(model.evaluate()) + np.random.default_rng(0).normal(0, 3, 101)
    fit = fit_model(model, Measurement(data, weight=np.where(np.arange(101) == 60, 0.0, 1 / 3)))
    found = residual_of(view_of(fit, PlotConfig()), fit, PlotConfig())
    assert np.isnan(found.values[60])  # left open, as a masked point


def test_data_and_fit_share_two_sided_colours_and_delays_a_readable_axis() -> None:
    figure = plot_fit(CASES["signed in time"]())
    data, fit, residual = (ax.collections[0] for ax in figure.axes[:3])
    low, high = data.get_clim()
    assert (low, high) == fit.get_clim()
    assert low == -high
    assert data.get_cmap().name == residual.get_cmap().name == "RdBu_r"
    axis = figure.axes[0]
    assert axis.get_yscale() == "symlog"
    labels = [text.get_text() for text in axis.get_yticklabels()]
    assert {"0", "1", "10", "100", "1000"} <= set(labels)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in axis.get_yticklabels()]
    boxes.sort(key=lambda box: box.y0)
    assert all(a.y1 <= b.y0 for a, b in pairwise(boxes))


def test_masks_are_seen() -> None:
    figure = plot_fit(CASES["masked"]())
    drawn(figure)
    labels = figure.axes[0].get_legend_handles_labels()[1]
    assert "masked" in labels
    maps = plot_fit(simulated(PEAK, time=DELAYS, spoil=hot))
    drawn(maps)
    assert maps.axes[0].patch.get_hatch()
    assert [text.get_text() for text in maps.axes[0].get_legend().get_texts()] == ["masked"]


def test_a_logarithmic_axis_shows_background_and_counts_of_zero() -> None:
    fit = simulated(OVERLAP, counts=True, spoil=none_at)
    figure = plot_fit(fit, z_type="log")
    drawn(figure)
    above = figure.axes[0]
    assert {"background", "0 or below"} <= set(above.get_legend_handles_labels()[1])
    triangles = [line for line in above.lines if line.get_marker() == "v"]
    assert [line.get_xdata().tolist() for line in triangles] == [[fit.energy[70]]]
    figure.draw_without_rendering()
    named = [text.get_text() for text in above.get_yticklabels(which="both")]
    assert "100" in named
    assert all("^" not in text for text in named)


def test_slices_with_failures_and_wild_errors_stay_inside() -> None:
    model = load_model(OVERLAP, "m")
    model.set_axes(energy=ENERGY)
    clean = np.asarray(model.evaluate())
    data = clean + np.random.default_rng(3).normal(0, 3, (8, 101))
    data[2] = 1e300
    slices = fit_slices(model, Measurement(data, **NAMES), times=np.arange(8.0))
    drawn(plot_fit(slices))
    errors = dict(slices.stderr)
    name = slices.free_names[0]
    errors[name] = np.where(np.arange(8) == 5, 1e9, errors[name])
    values = {**slices.values, name: np.where(np.arange(8) == 6, 1e7, slices.values[name])}
    figure = plot_evolution(slices.time, values, errors, params=[name], source=slices)
    drawn(figure)
    assert figure.axes[0].get_xlabel() == "delay (ps)"
    low, high = figure.axes[0].get_ylim()
    assert high - low < 1e3
