"""What a measurement accepts."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec.errors import DataError
from pyspec.model import Measurement

DATA = np.arange(12.0).reshape(3, 4)


def hole() -> np.ndarray:
    data = DATA.copy()
    data[1, 2] = np.nan
    return data


def test_window_crops_rows_and_columns() -> None:
    measurement = Measurement(DATA, rows=(1, 3), columns=(0, 2))
    np.testing.assert_array_equal(measurement.window(DATA), DATA[1:3, 0:2])
    np.testing.assert_array_equal(Measurement(columns=(1, 3)).window(DATA[0]), DATA[0, 1:3])


def test_types_of_data_are_kept() -> None:
    for dtype in (np.float32, np.float64, np.uint16):
        given = DATA.astype(dtype)
        assert Measurement(given).data is given


def test_nan_counts_where_it_is_fitted() -> None:
    with pytest.raises(DataError, match=r"1 point\(s\) of the data are NaN .* at \(1, 2\)"):
        Measurement(hole())
    Measurement(hole(), keep=~np.isnan(hole()))
    Measurement(hole(), rows=(0, 1))
    Measurement(hole(), columns=(0, 2))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"data": np.zeros((2, 2, 2))}, r"shape \(2, 2, 2\)"),
        ({"data": np.zeros(0)}, r"shape \(0,\)"),
        ({"data": DATA.astype(str)}, "data has type"),
        ({"data": DATA * 1j}, "data has type complex128"),
        ({"data": DATA, "keep": np.ones(3, bool)}, "keep has shape"),
        ({"data": DATA, "keep": np.ones((3, 4))}, "keep has type float64"),
        ({"data": DATA, "weight": np.array([1.0, np.nan, 1.0, 1.0])}, "weight is not finite"),
        ({"rows": (2, 2)}, "are empty"),
        ({"rows": (-1, 2)}, "are empty"),
        ({"rows": (0.5, 2)}, "whole numbers"),
        ({"columns": 3}, "whole numbers"),
        ({"columns": (1, 2, 3)}, "whole numbers"),
    ],
)
def test_what_is_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Measurement(**fields)  # type: ignore[arg-type]


def test_mask_is_the_opposite_of_keep() -> None:
    """A File took mask=, a Measurement keep= alone."""
    out = np.isnan(hole())
    assert np.array_equal(Measurement(hole(), mask=out).keep, ~out)
    assert np.array_equal(Measurement(hole(), keep=~out).mask, out)
    column = np.array([True, False, False, False])
    both = Measurement(hole(), mask=column, keep=~out)
    assert np.array_equal(both.mask, out | column)
    assert Measurement(DATA).mask is None
    with pytest.raises(DataError, match="mask has type float64; give booleans"):
        Measurement(DATA, mask=np.ones((3, 4)))
    with pytest.raises(DataError, match=r"mask has shape \(3,\), the data \(3, 4\)"):
        Measurement(DATA, mask=np.ones(3, bool))


@pytest.mark.parametrize("loss", ["poisson", "Poisson", "POISSON"])
def test_a_loss_is_named_in_any_case(loss: str) -> None:
    assert Measurement(DATA, loss=loss).loss == "poisson"
    assert Measurement(DATA, loss="Gaussian").loss == "squares"


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
