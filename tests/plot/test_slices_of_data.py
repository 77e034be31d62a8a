"""`data_slice` cuts every picture of data; the labels that a user gives do not turn an axis."""

from pathlib import Path

import numpy as np
import pytest
from support.drawn import width_of

from pyspec import File, Project
from pyspec.io import Dataset
from pyspec.plot import PlotError, plot_data, plot_overview, plot_stack, plot_waterfall

ENERGY, TIME = np.linspace(80, 90, 41), np.arange(8.0)
DATA = 3 + 18 * np.exp(-((ENERGY - 84.2) ** 2)) * np.linspace(1, 2, 8)[:, None]
MODEL = """
peak:
  Offset: {y0: [3, True]}
  Gauss: {A: [18, True, 0, 100], x0: [84.2, True], SD: [0.7, True, 0.1, 5]}
"""


def made(tmp_path: Path, settings: str = "", **options) -> File:
    (tmp_path / "models.yaml").write_text(MODEL)
    (tmp_path / "project.yaml").write_text(settings)
    project = Project(path=tmp_path, show_output=False)
    file = File(project, data=DATA, energy=ENERGY, time=TIME, **options)
    file.load_model("models.yaml", "peak")
    return file


def test_data_slice_cuts_the_picture_of_data(tmp_path: Path) -> None:
    # It had no effect: all of the data were drawn.
    file = made(tmp_path)
    file.set_fit_limits([82, 88], time_limits=[1, 6])
    file.define_baseline(0, 2)
    ax = file.plot_data(data_slice=[[2, 8], [4, 20]]).axes[0]
    drawn = ax.collections[0].get_array()
    np.testing.assert_array_equal(drawn, DATA[2:8, 4:20])
    assert ax.get_xlim() == pytest.approx((80.875, 84.875))
    frame = next(line for line in ax.lines if len(line.get_xdata()) == 5)
    assert frame.get_xdata().min() == pytest.approx(81.875)  # where the fit window begins
    assert frame.get_ydata().max() == pytest.approx(6.5)
    assert [text.get_text() for text in ax.get_legend().texts] == ["fit window", "baseline"]
    assert file.plot_data(data_slice=[[6, 8], [34, 41]]).axes[0].get_legend() is None
    for spectrum, axes in ((DATA[0], (ENERGY, None)), (DATA[:, 0], (None, TIME))):
        ax = plot_data(spectrum, *axes, data_slice=[[3, 7]]).axes[0]
        np.testing.assert_array_equal(ax.lines[0].get_ydata(), spectrum[3:7])
    lines = plot_data(DATA, ENERGY, TIME, data_slice=[[0, 2], [0, 9]], waterfall=5).axes[0].lines
    assert [len(one.get_xdata()) for one in lines] == [9, 9]
    (shaded,) = plot_data(DATA[0], ENERGY, columns=(3, 9)).axes[0].patches  # the fit window
    assert width_of(shaded) == pytest.approx((80.75, 82.0))
    with pytest.raises(PlotError, match=r"give \[\[row, end\], \[column, end\]\]"):
        file.plot_data(data_slice=[[0, 2]])
    with pytest.raises(PlotError, match="is empty"):
        plot_data(DATA[0], ENERGY, data_slice=[[9, 9]])


def test_data_slice_cuts_spectra_above_each_other(tmp_path: Path) -> None:
    file = made(tmp_path)
    file.set_fit_limits([81, 88])
    slices = file.fit_slice_by_slice("peak")
    ax = plot_stack(slices, data_slice=[[2, 5], [0, 12]]).axes[0]
    assert [text.get_text() for text in ax.texts] == ["2", "3", "4"]
    data = [line for line in ax.lines if line.get_xdata().size == 12]
    assert len(data) == 3
    assert max(line.get_xdata().max() for line in ax.lines) == slices.energy[11]
    # Spectra that are named stay, and are cut over energy.
    ax = plot_stack(slices, rows=[0, -1], data_slice=[[2, 5], [0, 12]]).axes[0]
    assert [text.get_text() for text in ax.texts] == ["0", "7"]
    assert sum(line.get_xdata().size == 12 for line in ax.lines) == 2
    with pytest.raises(PlotError, match="there is no spectrum 9; the fit has 0 to 7"):
        plot_stack(slices, rows=[9])
    (ax,) = plot_waterfall(DATA, ENERGY, TIME, fit=DATA, data_slice=[[6, 8], [0, 9]]).axes
    assert [text.get_text() for text in ax.texts] == ["6", "7"]
    assert {line.get_xdata().size for line in ax.lines} == {9}


def test_data_slice_of_an_overview(tmp_path: Path) -> None:
    axes = {"time": TIME, "energy": ENERGY}
    ax = plot_overview(Dataset(DATA, ("time", "energy"), axes), data_slice=[[0, 3], [0, 9]]).axes[0]
    assert ax.collections[0].get_array().shape == (3, 9)
    cube = Dataset(np.ones((2, 8, 41)), ("y", "time", "energy"), {"y": np.arange(2.0), **axes})
    with pytest.raises(PlotError, match="pictures of a spectrum or a series alone"):
        plot_overview(cube, data_slice=[[0, 3], [0, 9]])


@pytest.mark.parametrize(
    ("own", "given", "falls"),
    [
        ("binding energy", "Energy (eV)", True),
        pytest.param("kinetic energy", "binding energy, wrongly", False, marks=pytest.mark.slow),
        ("", "Binding energy (eV)", True),  # the data say nothing
    ],
)
def test_a_label_does_not_turn_the_axis(tmp_path: Path, own: str, given: str, falls: bool) -> None:
    # An axis of binding energies with another label ran from low to high.
    for settings, options in (("", {"x_label": given}), (f"e_label: {given}\n", {})):
        file = made(tmp_path, settings, labels={"energy": own} if own else None)
        file.fit_spectrum("peak", time_point=2)
        figures = [file.plot_data(**options), file.plot_fit(**options)]
        for figure in figures:
            assert figure.axes[0].xaxis_inverted() == falls
            assert figure.axes[-1 if figure is figures[1] else 0].get_xlabel() == given
        assert not file.plot_fit(x_dir="asc", **options).axes[0].xaxis_inverted()
