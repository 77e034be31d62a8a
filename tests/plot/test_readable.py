"""Labels that do not touch, and pictures on dark backgrounds."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgba

from pyspec import File, Project
from pyspec.plot import (
    PlotError,
    plot_components,
    plot_data,
    plot_fit,
    plot_residuals,
    plot_traces,
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
    yield file
    plt.close("all")


def labels(ax) -> list:
    """The extents of the numbers at the lower axis, from left to right."""
    texts = [one for one in ax.get_xticklabels() if one.get_text() and one.get_visible()]
    return sorted((one.get_window_extent() for one in texts), key=lambda box: box.x0)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"z_colorbar": "hor"}, {"ticksize": 12.0}])
@pytest.mark.parametrize("shift", [pytest.param(0.0, marks=pytest.mark.slow), 8513.25])
def test_numbers_at_the_energy_axis_do_not_touch(file: File, options, shift: float) -> None:
    # Those of three maps ran into each other: 1486.01486.21486.4.
    file.define_baseline(0, 2)
    one, slices = file.fit_baseline("peak"), file.fit_slice_by_slice("peak")
    parts = plt.figure(figsize=(12, 4)).subfigures(1, 2)
    figures = [
        plot_fit(slices, **options),
        plot_fit(slices, fig=parts[0], **options),
        plot_fit(one, **options),
        plot_residuals([one] * 3, **options),
        plot_residuals([slices] * 3, **options),
        plot_data(file.data, ENERGY + shift, TIME, panel_size=(2.0, 3.0), **options),
    ]
    for figure in figures:
        (parts[0].figure if figure is parts[0] else figure).draw_without_rendering()
        found = [labels(ax) for ax in figure.axes if ax.get_label() != "<colorbar>"]
        assert all(len(own) > 1 for own in found if own)
        for own in found:
            assert all(one.x1 < other.x0 for one, other in pairwise(own))
        rows = sorted((box for own in found for box in own), key=lambda box: (box.y0, box.x0))
        for one, other in pairwise(rows):
            assert abs(one.y0 - other.y0) > 1 or one.x1 <= other.x0


def test_what_the_residual_is_fits_a_narrow_figure(file: File) -> None:
    # It was written over the heading of its panel.
    slices = file.fit_slice_by_slice("peak")
    parts = plt.figure(figsize=(12, 4)).subfigures(1, 2)
    axes = plot_fit(slices, fig=parts[0]).axes
    assert axes[2].get_title(loc="right") == ""
    assert "rms = " in axes[-1].get_xlabel()
    assert "rms = " in plot_fit(slices).axes[2].get_title(loc="right")


def test_long_labels_are_neither_cut_off_nor_drawn_over_others(file: File, tmp_path: Path) -> None:
    # The label of the intensities left the figure, and ran into that of the residual.
    text = "photoelectron yield per laser shot (arb. units)"
    project = Project(tmp_path, show_output=False)
    units = {"data": "arb. units", "energy": "eV"}
    made = File(project, data=file.data, energy=ENERGY, time=TIME, units=units)
    made.load_model("models.yaml", "peak")
    one, slices = made.fit_spectrum("peak", time_point=2), made.fit_slice_by_slice("peak")
    parts = plt.figure(figsize=(12, 4)).subfigures(1, 2)
    parts[1].subplots()
    figures = [
        plot_fit(one, z_label=text),
        plot_fit(slices, z_label=text, x_label="binding energy (eV)", fig=parts[0]),
        plot_waterfall(file.data, ENERGY, TIME, z_label=text),
        plot_components(one, z_label=text, panel_size=(2.0, 1.5)),
    ]
    for figure in figures:
        root = figure.figure if figure is parts[0] else figure
        root.draw_without_rendering()
        shown = [
            label.get_window_extent()
            for ax in figure.axes
            for label in (ax.xaxis.label, ax.yaxis.label)
            if label.get_text()
        ]
        for k, box in enumerate(shown):
            assert box.x0 >= 0
            assert box.y0 >= 0
            assert box.x1 <= root.bbox.x1
            assert box.y1 <= root.bbox.y1
            assert not any(box.overlaps(other) for other in shown[k + 1 :])
    upper = figures[0].axes[0].get_ylabel()
    assert upper.replace("\n", " ") == text
    formula = plot_data(file.data[0], ENERGY, z_label="$A_{a b} + B_{long name}$ " + text * 2)
    assert formula.axes[0].get_ylabel().split("\n")[0].count("$") in (0, 2)
    assert plot_fit(one).axes[0].get_ylabel() == "intensity (arb. units)"


def contrast(colour, behind) -> float:
    weights = np.array([0.299, 0.587, 0.114])
    return abs(float(np.dot(np.subtract(to_rgba(colour), to_rgba(behind))[:3], weights)))


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("style", ["dark_background", "default"])
def test_text_is_read_on_any_background(file: File, style: str, given: bool) -> None:
    # Labels, titles and legends were as dark as a dark background.
    file.set_fit_limits([1486.9, 1486.1])
    one = file.fit_spectrum("peak", time_point=2)
    slices = file.fit_slice_by_slice("peak")
    with plt.style.context(style):
        axes = plt.subplots(1, 4)[1] if given else [None] * 4
    with plt.style.context("default" if given else style):
        figures = [
            plot_fit(one, full_range=True, ax=axes[0]),
            plot_components(one, ax=axes[1]),
            plot_data(file.data, ENERGY, TIME, rows=(1, 4), ax=axes[2]),
            plot_waterfall(file.data, ENERGY, TIME, ax=axes[3]),
            *([] if given else [plot_fit(slices), file.plot_param_evolution()]),
        ]
    for figure in figures:
        figure.draw_without_rendering()
        behind = figure.get_facecolor()
        assert to_hex(behind) == ("#000000" if style == "dark_background" else "#ffffff")
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


@pytest.mark.parametrize("layout", ["none", "constrained"])
def test_a_long_legend_does_not_cover_the_next_panel(tmp_path: Path, layout: str) -> None:
    # In axes of a figure without a layout it lay over the panel beside it.
    lines = "".join(
        f"  Gauss: {{A: [2, True, 0, 50], x0: [{1486.1 + k / 10}, False], SD: [0.1, False]}}\n"
        for k in range(9)
    )
    (tmp_path / "many.yaml").write_text("many:\n" + lines)
    data = 3 + np.random.default_rng(0).normal(0, 0.1, ENERGY.size)
    file = File(Project(tmp_path, show_output=False), data=data, energy=ENERGY)
    file.load_model("many.yaml", "many")
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout=layout)
    plot_fit(file.fit_spectrum("many"), ax=axes[0])
    figure.draw_without_rendering()
    legend = axes[0].get_legend().get_window_extent()
    assert not legend.overlaps(axes[1].get_window_extent())
    assert legend.x1 <= figure.bbox.x1
    assert (legend.x0 > axes[0].get_window_extent().x1 - 1) == (layout == "constrained")
    plt.close(figure)


def test_the_legend_of_a_column_of_a_journal_covers_no_data(file: File) -> None:
    """Its six names were as large as in a picture of twice the width, and lay over a line."""
    result = file.fit_spectrum("peak", time_point=3)
    figure = plt.figure(figsize=(3.4, 3))
    plot_fit(result, fig=figure, title=" ", x_label="binding energy (eV)", ticksize=7)
    figure.canvas.draw()
    above = figure.axes[0]
    box = above.get_legend().get_window_extent()
    points = above.transData.transform(np.c_[result.energy, result.data])
    assert box.count_contains(points) == 0


def test_the_heading_of_a_narrow_panel_ends_with_it(file: File) -> None:
    result = file.fit_spectrum("peak", time_point=3)
    figure, axes = plt.subplots(1, 2, figsize=(7, 3))
    plot_fit(result, ax=axes[0])
    figure.canvas.draw()
    heading = axes[0].get_children()[-4:]
    heading = next(one for one in heading if getattr(one, "get_text", str)().startswith("peak"))
    assert heading.get_window_extent().x1 < axes[1].get_window_extent().x0


@pytest.mark.slow
def test_names_of_files_above_panels_do_not_touch(file: File) -> None:
    """They stood behind the model in one line, which ran into that of the next panel."""
    for fit in (file.fit_spectrum("peak", time_point=3), file.fit_2d("peak")):
        named = [
            replace(fit, file_name=f"{k}_2024-05-12_Au4f_annealed_at_600_$K$") for k in range(3)
        ]
        for options in ({}, {"fig": plt.figure(figsize=(3.4, 3), layout="constrained")}):
            figure = plot_residuals(named, **options)
            figure.draw_without_rendering()
            titles = [ax._left_title.get_window_extent() for ax in figure.axes[:3]]
            assert all(one.x1 < other.x0 for one, other in pairwise(titles))


def test_the_legend_of_traces_in_a_column_leaves_them_room(file: File) -> None:
    """It took a quarter of the width: its texts were those of a picture of twice the width."""
    figure = plt.figure(figsize=(3.4, 3), layout="constrained")
    plot_traces(file.fit_slice_by_slice("peak"), fig=figure, x_label="energy")
    figure.draw_without_rendering()
    above = figure.axes[0]
    assert above.get_legend().get_window_extent().width < 0.2 * figure.bbox.width


@pytest.mark.slow
def test_residuals_of_files_with_other_axes_are_all_seen(file: File, tmp_path: Path) -> None:
    """They shared the axis of the last one: panels of other regions were empty."""
    data, project = file.data, file.project
    other = File(project, name="other", data=data, energy=ENERGY - 200, time=TIME + 50)
    (tmp_path / "other.yaml").write_text(MODEL.replace("1486.4", "1286.4"))
    other.load_model("other.yaml", "peak")
    for fits in (
        [one.fit_spectrum("peak", time_point=one.time[3]) for one in (file, other)],
        [one.fit_2d("peak") for one in (file, other)],
    ):
        first, second = plot_residuals(fits).axes[:2]
        assert sorted(first.get_xlim()) == pytest.approx([1486, 1487], abs=0.1)
        assert sorted(second.get_xlim()) == pytest.approx([1286, 1287], abs=0.1)
        same = plot_residuals([fits[0], fits[0]]).axes[:2]
        assert same[0].get_shared_x_axes().joined(*same)
        if fits[0].fit_type == "2d":
            assert first.get_ylim() != second.get_ylim()


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
        lambda **size: file.plot_param_evolution(**size),
    ):
        assert tuple(draw(figsize=(7.5, 3.5)).get_size_inches()) == (7.5, 3.5)
        for wrong in (3, (3, 0), (3, 4, 5), ("a", 3)):
            with pytest.raises(PlotError, match=r"figsize is .*; give \(width, height\)"):
                draw(figsize=wrong)
    with pytest.raises(PlotError, match="figsize= is of a figure of its own"):
        plot_fit(one, fig=plt.figure(), figsize=(3, 4))
