"""What a measurement accepts."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_equal

from pyspec.errors import DataError
from pyspec.model import Measurement
from pyspec.model.data.digest import checksum_and_square, checksum_of
from pyspec.model.data.measurement import row_of

DATA = np.arange(12.0).reshape(3, 4)


def hole() -> np.ndarray:
    data = DATA.copy()
    data[1, 2] = np.nan
    return data


def test_nan_counts_where_it_is_fitted() -> None:
    with pytest.raises(DataError, match=r"1 point\(s\) of the data are NaN .* at \(1, 2\)"):
        Measurement(hole())
    Measurement(hole(), keep=~np.isnan(hole()))
    Measurement(hole(), rows=(0, 1))
    Measurement(hole(), columns=(0, 2))


def test_mask_is_the_opposite_of_keep() -> None:
    """A File took mask=, a Measurement keep= alone."""
    out = np.isnan(hole())
    assert np.array_equal(Measurement(hole(), mask=out).keep, ~out)
    assert np.array_equal(Measurement(hole(), keep=~out).mask, out)
    column = np.array([True, False, False, False])
    both = Measurement(hole(), mask=column, keep=~out)
    assert np.array_equal(both.mask, out | column)
    row = np.array([False, True, False])[:, None]  # of delays; it was refused
    assert np.array_equal(Measurement(DATA, mask=row).mask, np.broadcast_to(row, (3, 4)))
    assert Measurement(DATA).mask is None
    with pytest.raises(DataError, match="mask has type float64; give booleans"):
        Measurement(DATA, mask=np.ones((3, 4)))
    with pytest.raises(DataError, match=r"mask has shape \(1,\), the data \(4,\); .*each column$"):
        Measurement(DATA[0], mask=[False])  # of one value; it was taken for all four points
    with pytest.raises(DataError, match=r"keep has shape \(2, 2\), with the mask \(3, 4\)"):
        Measurement(DATA, mask=out, keep=np.ones((2, 2), bool))


def test_the_declared_noise_of_each_point() -> None:
    assert Measurement(DATA).sigma(DATA) is None
    window = Measurement(DATA, rows=(1, 3), weight=np.array([2.0, 0.0, 1.0, 4.0]))
    np.testing.assert_array_equal(window.sigma(DATA[1:]), [[0.5, np.inf, 1.0, 0.25]] * 2)
    counts = Measurement(DATA, loss="counts", loss_scale=4.0)
    found = counts.sigma(DATA)
    np.testing.assert_allclose(found[0], [np.sqrt(1e-3) / 4, 0.5, np.sqrt(0.5), np.sqrt(0.75)])
    with pytest.raises(DataError, match="weights belong to data, and there are none"):
        Measurement(weight=2.0).sigma(DATA)


def test_means_of_both_ends_leave_out_masked_points() -> None:
    data = np.array([[1.0, 2, 9, 4, 5, 7], [0, 2, 4, 6, 8, 10]])
    low, high = Measurement(data).end_means(2)
    np.testing.assert_array_equal([low, high], [[1.5, 1.0], [6.0, 9.0]])
    mask = np.array([True, False, False, False, False, False])
    low, high = Measurement(data, mask=mask, rows=(0, 1)).end_means(2)
    np.testing.assert_array_equal([low, high], [[5.5], [6.0]])
    for n, words in ((3, "a row has 5 points that count; give n up to 2"), (0, "n is 0; give how")):
        with pytest.raises(DataError, match=words):
            Measurement(data, mask=mask).end_means(n)
    with pytest.raises(DataError, match="a measurement without data has no ends"):
        Measurement().end_means()


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint16, ">f8"])
@pytest.mark.parametrize("layout", ["plain", "rows reversed", "transposed", "every second"])
def test_the_square_is_that_of_the_window(dtype: object, layout: str) -> None:
    values = np.random.default_rng(0).integers(0, 200, (12, 21)).astype(dtype)
    data = {
        "plain": values,
        "rows reversed": values[::-1],
        "transposed": np.ascontiguousarray(values.T).T,
        "every second": np.repeat(values, 2, axis=1)[:, ::2],
    }[layout]
    weight, mask = np.linspace(0.5, 2.0, 21), np.zeros((12, 21), bool)
    mask[3, 4] = True
    window = np.s_[2:9, 3:20]
    expected = np.sum(np.asarray(data, float)[window] ** 2)
    assert Measurement(data, (2, 9), (3, 20)).square() == pytest.approx(expected, rel=1e-14)
    assert Measurement(data[4]).square() == pytest.approx(np.sum(data[4].astype(float) ** 2))
    weighted = np.where(mask, 0.0, np.asarray(data, float) * weight)[window]
    found = Measurement(data, (2, 9), (3, 20), weight, mask=mask).square()
    assert found == pytest.approx(np.sum(weighted**2), rel=1e-14)
    for one in (
        Measurement(data[4]),
        Measurement(data, (2, 9), (3, 20)),
        Measurement(data, loss="poisson"),
        Measurement(data, weight=weight),
        Measurement(data, mask=mask),
    ):
        assert checksum_and_square(one) == (checksum_of(one), one.square())


@pytest.mark.parametrize("loss", ["squares", "poisson"])
def test_a_row_of_a_series_is_what_its_spectrum_is(loss: str) -> None:
    values = np.arange(1.0, 25.0).reshape(4, 6)
    given: dict[str, Any] = {"columns": (1, 5), "rows": (1, 4), "units": {"energy": "eV"}}
    if loss == "squares":
        given |= {"mask": values % 5 == 0, "weight": 1.0 / values}
    series = Measurement(values, loss=loss, **given)
    for row in range(4):
        own = {name: None if (one := getattr(series, name)) is None else one[row]
               for name in ("keep", "weight")}  # fmt: skip
        expected, found = replace(series, data=values[row], rows=None, **own), row_of(series, row)
        for field in fields(Measurement):
            assert_equal(getattr(found, field.name), getattr(expected, field.name))
        assert found.square() == expected.square()
    values[2, 3], values[1, 3] = np.nan, -1.0
    with pytest.raises(DataError, match="NaN or infinite"):
        row_of(series, 2)
    if loss == "poisson":
        with pytest.raises(DataError, match="negative"):
            row_of(series, 1)
    else:
        row_of(series, 1)


def test_it_shows_itself_in_one_line() -> None:
    """All values of all arrays used to be printed."""
    given = Measurement(np.ones((3, 4)), rows=(0, 2), weight=2.0, mask=np.zeros(4, dtype=bool))
    assert repr(given) == "<Measurement 3 × 4, rows 0:2, weight, mask>"
    assert repr(Measurement(np.ones(4), loss="poisson")) == "<Measurement 4, counts, 1 per unit>"
