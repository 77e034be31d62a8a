"""Axes that are one but for rounding: the tolerance of limits, for whole axes and their points."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec.model.data.windows import apart, places_on

AXIS = np.linspace(0.1, 5.9, 30)


@pytest.mark.parametrize("order", [1, -1])
def test_rounding_is_a_thousandth_of_the_smallest_step(order: int) -> None:
    axis = AXIS[::order]
    for off in (0.0, 1e-15, 1.9e-4, -1.9e-4):
        assert apart(axis + off, axis) == ""
        assert places_on(axis, AXIS + off).tolist() == list(range(30))[::order]
    assert apart(axis + 2.1e-4, axis).startswith("up to 0.00021 apart, ")
    assert apart(axis + 2.1e-4, axis).endswith(", where rounding may be 0.0002")
    assert (places_on(axis, AXIS + 2.1e-4) == -1).all()
    assert apart(axis[1:], axis) == "29 points in place of 30"


def test_the_finer_axis_decides() -> None:
    bent = AXIS.copy()
    bent[3] = bent[2] + 1e-3
    assert apart(AXIS, bent).startswith("up to 0.199 apart, ")
    near = bent + 2e-6
    assert apart(bent, near).endswith("where rounding may be 1e-06")
