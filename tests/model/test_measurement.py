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
