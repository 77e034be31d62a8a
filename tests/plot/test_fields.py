"""Fields of pictures that had no effect on some of them: each acts, or is answered."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from support.pictures import DATA, ENERGY, MODELS, TIME, decaying

from pyspec import File, Measurement, Project, fit_model, load_model
from pyspec.errors import CallError
from pyspec.io import Dataset, load_fit, save_fit
from pyspec.plot import (
    PlotConfig,
    PlotError,
    plot_amplitudes,
    plot_components,
    plot_data,
    plot_fit,
    plot_overview,
    plot_residuals,
    plot_species,
    plot_traces,
    plot_waterfall,
    report,
)


def upright(ax) -> list[float]:
    """Where vertical lines stand."""
    return [one.get_xdata()[0] for one in ax.lines if len(set(one.get_xdata())) == 1]


def test_lines_and_limits_of_amplitudes() -> None:
    fields = PlotConfig(vlines=[84.5], hlines=[2.5], z_lim=(-4, 7))
    for draw, name, places in (
        (plot_amplitudes, "spectra", [84.5]),
        (plot_amplitudes, "lines", [2.5]),  # over time, as the lines of a map
        (plot_species, "chained", [84.5]),
    ):
        for ax in draw(decaying(name), config=fields).axes:
            assert upright(ax) == places
            assert ax.get_ylim() == (-4, 7)


def test_data_slice_cuts_amplitudes() -> None:
    # It had no effect on them.
    cut = [[2, 12], [5, 20]]
    for draw, name, along in (
        (plot_amplitudes, "spectra", ENERGY[5:20]),
        (plot_amplitudes, "lines", TIME[2:12]),
        (plot_species, "chained", ENERGY[5:20]),
        (plot_species, "spectra", ENERGY[5:20]),
    ):
        for ax in draw(decaying(name), data_slice=cut).axes:
            room = 0.02 * (along[-1] - along[0])  # for a first and last marker
            assert ax.get_xlim() == pytest.approx((along[0] - room, along[-1] + room))
            drawn = [one for one in ax.lines if len(one.get_xdata()) > 2]
            for line in drawn:
                np.testing.assert_array_equal(line.get_xdata(), along)


def test_lines_names_and_scale_of_traces() -> None:
    figure = plot_traces(
        decaying("spectra"), energies=[84, 88], vlines=[2.5], legend=["top"], z_type="log"
    )
    for ax in figure.axes:
        assert upright(ax) == [2.5]
    above = figure.axes[0]
    assert [text.get_text() for text in above.get_legend().texts] == ["top", "88"]
    assert above.get_yscale() == "log"
    marks = [one for one in above.lines if one.get_marker() == "v"]
    assert [one.get_xdata().size for one in marks] == [
        np.count_nonzero(DATA[:, k] <= 0) for k in (16, 32)
    ]
    figure.draw_without_rendering()


DOUBLETS = """
lines:
  Offset: {y0: [3, True]}
  Gauss: {A: [18, True, 0, 100], x0: [84.2, True], SD: [0.7, True, 0.1, 5]}
  Gauss: {A: [2, True, 0, 100], x0: [87, True], SD: [0.7, False]}
  Gauss: {A: [1, True, 0, 100], x0: [82, True], SD: [0.7, False]}
"""


def test_names_of_the_peaks_of_a_fit() -> None:
    # A list that was too short began again at the next peak, two peaks of one name had the colour
    # of the first, and names beyond the peaks, as of "data" and "fit", went to the wrong curves.
    model = load_model(DOUBLETS, "lines")
    model.set_axes(energy=ENERGY)
    result = fit_model(model, Measurement(DATA[5]))

    def shown(**fields):
        legend = plot_fit(result, show_init=False, **fields).axes[0].get_legend()
        texts = [text.get_text() for text in legend.get_texts()]
        handles = [one.get_facecolor()[:3] for one in legend.legend_handles[2:]]
        assert texts[:3] == ["data", "fit", "background"]
        return texts[3:], handles[1:]

    assert shown(legend=["bulk", "surface"])[0] == ["bulk", "surface", "Gauss_03"]
    names, colours = shown(legend=["bulk", "surface", "bulk"])
    assert names == ["bulk", "surface", "bulk"]
    assert len(set(colours)) == 3
    same = {"legend": ["bulk", "surface", "bulk"], "colors": ["C0", "C1", "C0"]}
    assert shown(**same)[0] == ["bulk", "surface"]  # a doublet of one colour stands there once
    with pytest.raises(PlotError, match=r"legend has 4 names, .*, 3 here: Gauss_01"):
        shown(legend=["data", "fit", "a", "b"])
    # A config, of fits with more peaks too, stopped the picture.
    assert shown(config=PlotConfig(legend=["a", "b", "c", "d"]))[0] == ["a", "b", "c"]


def test_an_empty_legend_leaves_it_out() -> None:
    # It was drawn all the same, over the edges of a small inset.
    one = decaying("peak")
    for figure in (plot_fit(one, legend=[]), plot_components(one, legend=[])):
        assert all(ax.get_legend() is None for ax in figure.axes)
    plot = plot_waterfall(DATA[:3], ENERGY, legend=[])
    assert not any(text.get_text() for text in plot.axes[0].texts)
    figure, (left, right) = plt.subplots(1, 2)
    plot_fit(one, ax=left)
    plot_fit(one, ax=right, legend=[])
    assert left.get_legend() is not None
    assert right.get_legend() is None


def test_the_name_of_a_masked_spectrum_stands_at_its_fit() -> None:
    # It stood at zero, among the names of other spectra.
    data = 50 + DATA[:3]
    fit = data.copy()
    data[1] = np.nan
    for drawn in (None, fit):
        (ax,) = plot_waterfall(data, ENERGY, fit=drawn, waterfall=10, y_norm=0).axes
        places = [text.xy[1] for text in ax.texts]
        assert places[1] == pytest.approx(60, abs=1)
    plot_waterfall(data, ENERGY, y_norm=1)  # warned of a slice without values


@pytest.mark.parametrize("name", ["decay", "none"])
def test_the_full_range_of_traces_and_slices(name: str) -> None:
    # It had no effect on them.
    project = Project(show_output=False)
    if name == "decay":
        file = File(project, data=DATA[:, 16], time=TIME)
        file.set_fit_limits(time_limits=[-0.5, 5])
        result = file.fit_trace(MODELS, "decay")
        above, below = file.plot_fit(full_range=True).axes
        drawn = {one.get_label(): one for one in above.lines}
        np.testing.assert_array_equal(drawn["data"].get_ydata(), DATA[:, 16])
        x, y = drawn["fit"].get_data()
        np.testing.assert_allclose(y, result.predict(time=x).value, atol=1e-12)
        assert (x[0], x[-1]) == (TIME[0], TIME[-1])
        points = next(one for one in below.lines if one.get_marker() == "o").get_ydata()
        assert np.isfinite(points).sum() == result.time.size
        return
    sigma = np.full(DATA.shape, 0.2)
    mask = np.zeros(DATA.shape, bool)
    mask[5, 12] = True
    file = File(project, data=DATA, energy=ENERGY, time=TIME, mask=mask)
    file.set_noise("gaussian", sigma=sigma)
    file.load_model(MODELS, "peak")
    file.set_fit_limits([82, 87], time_limits=[0.5, 5])
    slices = file.fit_slice_by_slice("peak")
    axes = file.plot_fit(full_range=True).axes
    data, fit, residual = (ax.collections[0].get_array() for ax in axes[:3])
    rows = np.searchsorted(TIME, slices.time)
    expected = np.where(mask, np.nan, DATA)[rows]
    np.testing.assert_array_equal(np.ma.filled(data, np.nan), expected)
    columns = (ENERGY >= 82) & (ENERGY <= 87)
    np.testing.assert_allclose(fit[:, columns], slices.fit, rtol=1e-12)
    assert np.isfinite(fit).all()
    np.testing.assert_allclose(
        np.ma.filled(residual, np.nan), (expected - np.asarray(fit)) / 0.2, rtol=1e-9
    )
    assert [text.get_text() for text in axes[0].get_legend().texts] == ["fit window", "masked"]


def test_a_spike_does_not_hide_residuals_and_traces() -> None:
    # One point of 2000 washed out the map of the residual, and made flat lines of all traces.
    found = []
    for spike in (0, 2000):
        data = DATA.copy()
        data[3, 30] += spike
        file = File(Project(show_output=False), data=data, energy=ENERGY, time=TIME)
        file.load_model(MODELS, "height")
        result = file.fit_2d("height")
        limit = plot_fit(result).axes[2].collections[0].get_clim()[1]
        above, below = plot_traces(result, energies=[84, 85, 87.5]).axes
        found.append((limit, *above.get_ylim(), *below.get_ylim()))
        marks = [one for one in (*above.lines, *below.lines) if one.get_marker() == "^"]
        assert len(marks) == 2 * bool(spike)
    np.testing.assert_allclose(found[1], found[0], rtol=0.5)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"linestyles": ["zz"]}, "'zz' is not a valid value for ls"),
        ({"refline_style": "zz", "vlines": [84]}, "'zz' is not a valid value for ls"),
        ({"markers": ["zz"]}, "Unrecognized marker style 'zz'"),
    ],
)
def test_lines_and_markers_that_there_are_not(fields, message: str) -> None:
    # They ended in errors of matplotlib.
    with pytest.raises(PlotError, match=message):
        plot_data(DATA[0], ENERGY, **fields)
    plot_data(DATA[0], ENERGY, linestyles=["dashed"], markers=["$a$"], vlines=[84])


def test_residuals_of_stored_fits(tmp_path: Path) -> None:
    # They had no 'fit'; a text among the fits ended in an AttributeError.
    pytest.importorskip("h5py")
    result = decaying("peak")
    save_fit(tmp_path / "a.h5", [result])
    stored = load_fit(tmp_path / "a.h5")
    axes = plot_residuals([stored, result]).axes
    assert [ax.get_title(loc="left") for ax in axes[:2]] == ["peak (spectrum)"] * 2
    stored.file_name = "other"  # panels of several files had one title
    titles = [ax.get_title(loc="left") for ax in plot_residuals([stored, result]).axes[:2]]
    assert titles == ["peak (spectrum)\nother", f"peak (spectrum)\n{result.file_name}"]
    np.testing.assert_array_equal(axes[2].lines[0].get_ydata(), axes[3].lines[0].get_ydata())
    with pytest.raises(CallError, match="plot_residuals takes a fit, not 'x'"):
        plot_residuals([result, "x"])
    with pytest.raises(PlotError, match=r"list of fits; write plot_residuals\(\[result\]\)"):
        plot_residuals(result)  # "FitResult holds no items; write result.values[0]"


def test_fields_of_times_are_answered(tmp_path: Path) -> None:
    """They had no effect, and nothing said so: intensities are z."""
    fields = {"y_lim": (0, 20), "y_label": "counts", "y_type": "log", "y_dir": "rev"}
    own = {"y_lim": "z_lim", "y_label": "z_label", "y_type": "z_type", "y_dir": "x_dir"}
    fit, one = decaying("peak"), Dataset(DATA[5], ("energy",), {"energy": ENERGY})
    for draw in (
        lambda **look: plot_fit(fit, **look),
        lambda **look: plot_components(fit, **look),
        lambda **look: plot_residuals([fit], **look),
        lambda **look: plot_data(DATA[5], ENERGY, **look),
        lambda **look: plot_waterfall(DATA, ENERGY, TIME, **look),
        lambda **look: plot_overview(one, **look),
        lambda **look: report(fit, tmp_path / "report.html", **look),
    ):
        for name, value in fields.items():
            with pytest.raises(PlotError, match=f"no time axis, and {name} .* is {own[name]}"):
                draw(**{name: value})
        draw(config=PlotConfig(**fields))  # that of many pictures
    plot_data(DATA, ENERGY, TIME, **fields)
    plot_data(DATA[5], ENERGY, time_label="delay (ps)")  # says itself whose label it is


def test_lists_of_looks_act_on_data_and_fit() -> None:
    """linewidths, markers, markersizes, linestyles and alphas had no effect."""
    fit = decaying("peak")
    both = {"linewidths": [0.4, 3.0], "alphas": [0.5, 0.8]}
    look = {"markers": ["s"], "markersizes": [6.0], "linestyles": ["--"], **both}
    for ax in (plot_fit(fit, **look).axes[0], plot_residuals([fit], **look).axes[0]):
        (data,) = (one for one in ax.lines if one.get_marker() == "s")
        (curve,) = (one for one in ax.lines if one.get_linewidth() == 3.0)
        assert (data.get_markersize(), data.get_markeredgewidth()) == (6.0, 0.4)
        assert (data.get_linestyle(), data.get_alpha()) == ("None", 0.5)
        assert (curve.get_linestyle(), curve.get_alpha()) == ("--", 0.8)
    for one in plot_fit(fit, linewidths=[2.5], alphas=[0.3]).axes[0].lines:
        if one.get_label() in ("data", "fit"):
            assert one.get_alpha() == 0.3
            assert 2.5 in (one.get_linewidth(), one.get_markeredgewidth())
    (total,) = (one for one in plot_components(fit, **both).axes[0].lines if one.get_alpha() == 0.8)
    assert (total.get_label(), total.get_linewidth()) == ("sum", 3.0)
    # Data without a marker are a line, not nothing.
    (data,) = (
        one for one in plot_fit(fit, markers=[""]).axes[0].lines if one.get_label() == "data"
    )
    assert data.get_linestyle() == "-"
