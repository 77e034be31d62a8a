"""Labels that do not touch, and pictures on dark backgrounds."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgba

from pyspec import File, Project, load_model
from pyspec.plot import (
    PlotError,
    plot_components,
    plot_data,
    plot_fit,
    plot_residuals,
    plot_waterfall,
)

ENERGY, TIME = np.linspace(1486, 1487, 41), np.arange(8.0)
MODEL = """
peak:
  Offset: {y0: [3, True]}
  Gauss: {A: [18, True, 0, 100], x0: [1486.4, True], SD: [0.1, True, 0.01, 5]}
"""


@pytest.fixture
def file(tmp_path: Path):
    (tmp_path / "models.yaml").write_text(MODEL)
    peak = np.exp(-(((ENERGY - 1486.4) / 0.1) ** 2) / 2)
    data = 3 + 18 * peak * np.linspace(1, 2, 8)[:, None]
    data = data + np.random.default_rng(0).normal(0, 0.1, data.shape)
    project = Project(tmp_path, show_output=False)
    file = File(project, data=data, energy=ENERGY, time=TIME, labels={"energy": "binding energy"})
    file.load_model("models.yaml", "peak")
    return file


def labels(ax) -> list:
    """The extents of the numbers at the lower axis, from left to right."""
    texts = [one for one in ax.get_xticklabels() if one.get_text() and one.get_visible()]
    return sorted((one.get_window_extent() for one in texts), key=lambda box: box.x0)


def contrast(colour, behind) -> float:
    weights = np.array([0.299, 0.587, 0.114])
    return abs(float(np.dot(np.subtract(to_rgba(colour), to_rgba(behind))[:3], weights)))


def test_text_is_read_on_a_dark_background(file: File) -> None:
    # Labels, titles and legends were as dark as a dark background.
    file.set_fit_limits([1486.9, 1486.1])
    one = file.fit_spectrum("peak", time_point=2)
    with plt.style.context("dark_background"):
        axes = plt.subplots(1, 4)[1]
        figures = [plot_fit(one)]
    figures += [
        plot_fit(one, full_range=True, ax=axes[0]),
        plot_components(one, ax=axes[1]),
        plot_data(file.data, ENERGY, TIME, rows=(1, 4), ax=axes[2]),
        plot_waterfall(file.data, ENERGY, TIME, ax=axes[3]),
    ]
    for figure in figures:
        figure.draw_without_rendering()
        behind = figure.get_facecolor()
        assert to_hex(behind) == "#000000"
        for ax in figure.axes:
            frame = ax.get_legend().get_frame() if ax.get_legend() else None
            inside = ax.get_legend().get_texts() if frame else []
            for text in inside:
                own = frame.get_facecolor() if frame.get_visible() else behind
                assert contrast(text.get_color(), own) > 0.4
            titles = [ax.title, ax._left_title, ax._right_title]
            for text in [*titles, ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels()]:
                if text.get_text():
                    assert contrast(text.get_color(), behind) > 0.4
        lines = [one for ax in figure.axes if not ax.collections for one in ax.lines]
        assert all(contrast(one.get_color(), behind) > 0.15 for one in lines)


def test_residuals_of_files_with_other_axes_are_all_seen(file: File) -> None:
    """They shared the axis of the last one: panels of other regions were empty."""
    other = File(file.project, name="other", data=file.data, energy=ENERGY - 200, time=TIME + 50)
    other.add_model(load_model(MODEL.replace("1486.4", "1286.4")))
    for fits in (
        [one.fit_spectrum("peak", time_point=one.time[3]) for one in (file, other)],
        [one.fit_2d("peak") for one in (file, other)],
    ):
        for ax, begin in zip(plot_residuals(fits).axes, (1486, 1286), strict=False):
            assert sorted(ax.get_xlim()) == pytest.approx([begin, begin + 1], abs=0.1)
        same = plot_residuals([fits[0], fits[0]]).axes[:2]
        assert same[0].get_shared_x_axes().joined(*same)


def test_residuals_of_known_and_unknown_noise_have_one_unit(file: File) -> None:
    """Those of one fit were in σ, those of the other in units of the data, on one scale that was
    called by the first."""
    for fit in (lambda: file.fit_2d("peak"), lambda: file.fit_spectrum("peak", time_point=3)):
        file.set_noise("unknown")
        unknown = fit()
        file.set_noise("gaussian", sigma=0.01)
        known = fit()
        for pair in ([unknown, known], [known, unknown]):
            figure = plot_residuals(pair)
            texts = " ".join(one.get_text() for one in figure.findobj(plt.Text))
            assert "data − fit" in texts
            assert "σ" not in texts
        assert "σ" in " ".join(
            one.get_text() for one in plot_residuals([known, known]).findobj(plt.Text)
        )


def test_every_picture_takes_the_size_of_its_figure(file: File) -> None:
    """Seven of the pictures took figsize, and the others refused it."""
    file.define_baseline(0, 2)
    one, slices = file.fit_baseline("peak"), file.fit_slice_by_slice("peak")
    for draw in (
        lambda **size: plot_fit(one, **size),
        lambda **size: plot_fit(slices, **size),
        lambda **size: plot_components(one, **size),
        lambda **size: plot_residuals([one, one], **size),
        lambda **size: plot_data(file.data, ENERGY, TIME, **size),
        lambda **size: file.plot_fit(**size),
        lambda **size: slices.plot(**size),
    ):
        assert tuple(draw(figsize=(7.5, 3.5)).get_size_inches()) == (7.5, 3.5)
        for wrong in (3, (3, 0), (3, 4, 5), ("a", 3)):
            with pytest.raises(PlotError, match=r"figsize is .*; give \(width, height\)"):
                draw(figsize=wrong)
    with pytest.raises(PlotError, match="figsize= is of a figure of its own"):
        plot_fit(one, fig=plt.figure(), figsize=(3, 4))
