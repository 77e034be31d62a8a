"""Dataset: parts, means, names, and how it shows itself."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from pyspec.errors import DataError
from pyspec.io import Dataset

Y, X, E = np.array([0.0, 0.5, 1.0]), np.array([10.0, 20.0]), np.array([5.0, 4.0, 3.0, 2.0])
DATA = np.arange(24.0).reshape(3, 2, 4)


def cube() -> Dataset:
    return Dataset(
        DATA, ("y", "x", "energy"), {"y": Y, "x": X, "energy": E}, {"energy": "eV"}, name="map"
    )


def test_it_is_frozen_and_can_be_copied() -> None:
    one = cube()
    assert one.extra == ("y", "x")
    with pytest.raises(ValueError, match="read-only"):
        one.data[0, 0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        one.axes["y"][0] = 1
    with pytest.raises(AttributeError):
        one.name = "other"  # type: ignore[misc]
    for other in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
        assert (other.dims, other.name) == (one.dims, one.name)
        np.testing.assert_array_equal(other.data, one.data)
        assert not other.axes["y"].flags.writeable


def test_parts_by_value_and_by_position() -> None:
    one = cube()
    np.testing.assert_array_equal(one.select(y=0.45, x=20).data, DATA[1, 1])
    np.testing.assert_array_equal(one.at(y=-1, x=0).data, DATA[2, 0])
    np.testing.assert_array_equal(one[1, 0].data, DATA[1, 0])
    np.testing.assert_array_equal(one[1].data, DATA[1])
    cut = one.select(energy=(2, 4.2), y=(0.5, 1))
    np.testing.assert_array_equal(cut.data, DATA[1:, :, 1:])
    np.testing.assert_array_equal(cut.energy, E[1:])
    assert one[1, 0].notes[-2:] == ("y = 0.5", "x = 10")
    assert cut.notes[-2:] == ("cut to energy 2 to 4.2", "cut to y 0.5 to 1")
    assert one.select(energy=[2, 4]).notes[-1] == "cut to energy 2 to 4"  # had no numbers


def test_mean_leaves_bad_values_out() -> None:
    data = DATA.copy()
    data[0, 0, 0] = np.nan
    data[:, :, 3] = np.nan
    one = Dataset(data, ("y", "x", "energy"), {"y": Y, "x": X, "energy": E})
    mean = one.mean()
    assert mean.dims == ("energy",)
    np.testing.assert_allclose(mean.data[0], data[:, :, 0].ravel()[1:].mean())
    assert np.isnan(mean.data[3])
    np.testing.assert_allclose(cube().mean("x").data, DATA.mean(axis=1))
    np.testing.assert_array_equal(cube().mean("x", "x").data, cube().mean("x").data)
    assert mean.mean() is mean


def test_rename_makes_a_series_of_positions() -> None:
    line = cube().at(x=0).rename(y="time")
    assert line.dims == ("time", "energy")
    assert set(line.for_file()) == {"path", "name", "data", "energy", "time", "labels", "units"}
    traces = cube().at(x=0).rename(energy="channel", y="energy")
    assert traces.dims == ("channel", "energy")
    np.testing.assert_array_equal(traces.data, DATA[:, 0].T)


def test_axes_are_calibrated() -> None:
    """There was no way but to make all of the data set anew."""
    one = Dataset(
        DATA, ("y", "time", "energy"), {"y": Y, "time": X, "energy": E}, {"energy": "eV"},
        errors=np.ones(DATA.shape), meta={"photon_energy": 80.0},
    )  # fmt: skip
    found = one.shift(energy=-0.5, time=np.float64(2))
    np.testing.assert_array_equal(found.energy, E - 0.5)
    np.testing.assert_array_equal(found.time, X + 2)
    np.testing.assert_array_equal(one.energy, E)
    assert found.notes[-2:] == ("energy shifted by -0.5 eV", "time shifted by 2")
    assert (found.units, found.meta) == (one.units, one.meta)
    np.testing.assert_array_equal(found.errors, one.errors)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d: d.select(z=1), "no axis 'z'; it has y, x, energy"),
        (lambda d: d.select(enrgy=1), "did you mean 'energy'"),
        (lambda d: d.select(y=2.0), r"y=2.0 lies outside of the axis, 0 to 1"),
        (lambda d: d.select(y=(2, 3)), r"no point of y lies in \(2, 3\)"),
        (lambda d: d.select(y="a"), "give a number"),
        (lambda d: d.select(y=("a", "b")), r"y=\('a', 'b'\); give a number, or \(from, to\)"),
        (lambda d: d.select(y=(0.5, None)), r"y=\(0.5, None\); give a number, or \(from, to\)"),
        (lambda d: d.select(y=()), r"y=\(\); give a number, or \(from, to\)"),
        (lambda d: d.at(y=3), r"positions 0 to 2, not 3.*select\(y="),
        (lambda d: d.at(y=0.5), "0.5 is not a position"),
        (lambda d: d[0, 0, 0], "3 positions leave no spectrum"),
        (lambda d: d[0, 0].at(energy=0), "one point of energy is no spectrum"),
        (lambda d: d.mean("y", "x", "energy"), "over all axes"),
        (lambda d: d.mean("w"), "no axis 'w'"),
        (lambda d: d.rename(w="v"), "no axis 'w'"),
        (lambda d: d.rename(y="x"), "name each axis once"),
        (lambda d: d.shift(enrgy=1), "did you mean 'energy'"),
        (lambda d: d.shift(energy="1"), "energy='1'; give the number that is added"),
        (lambda d: d.shift(energy=True), "give the number that is added"),
        (lambda d: d.shift(energy=np.nan), "energy=nan; give the number"),
        (lambda d: d.for_file(), r"select\(y=0, x=10\), average with mean\('y', 'x'\); fit"),
    ],
)  # fmt: skip
def test_what_is_said_of_bad_calls(call: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        call(cube())  # type: ignore[operator]


@pytest.mark.parametrize(
    ("data", "dims", "axes", "message"),
    [
        (np.array(["a"]), ("energy",), {"energy": [1]}, "give real numbers"),
        (np.zeros((2, 2)), ("energy",), {"energy": [1, 2]}, "cannot have the axes energy"),
        (np.zeros(2), ("energy",), {}, "the axis 'energy' has no values"),
        (np.zeros(2), ("energy",), {"energy": [1, 2, 3]}, "has shape"),
    ],
)
def test_data_must_match_their_axes(
    data: np.ndarray, dims: tuple[str, ...], axes: dict[str, list[int]], message: str
) -> None:
    with pytest.raises(DataError, match=r"the errors have shape \(3,\), the data \(2,\)"):
        Dataset(np.zeros(2), ("energy",), {"energy": np.arange(2.0)}, errors=np.ones(3))
    with pytest.raises(DataError, match=message):
        Dataset(data, dims, {dim: np.array(axis) for dim, axis in axes.items()})


def test_it_says_what_it_is() -> None:
    one = cube()
    assert repr(one) == "<Dataset map: y 3 × x 2 × energy 4>"
    assert "energy: 5 to 2 eV, 4 points" in one.describe()
    assert str(one) == one.describe()
    html = Dataset(E, ("energy",), {"energy": E}, name="<b>", notes=("a < b",))._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<li>a &lt; b</li>" in html


def test_a_place_at_the_end_of_an_axis_is_on_it_but_for_rounding() -> None:
    # 0.3 was outside of an axis that ends at 0.1 + 0.1 + 0.1 - 6e-17, as was the end of a range.
    axis = np.array([0.1, 0.2, np.nextafter(0.3, 0)])
    data = Dataset(
        np.arange(12.0).reshape(3, 4), ("time", "energy"), {"time": axis, "energy": np.arange(4.0)}
    )
    np.testing.assert_array_equal(data.select(time=0.3).data, data.data[2])
    assert data.select(time=(0.2, 0.3)).shape == (2, 4)
    with pytest.raises(DataError, match="outside of the axis"):
        data.select(time=0.301)
