"""What is the same for a row leaves the slopes of a formula, and the numbers stay."""

from __future__ import annotations

import numpy as np
import pytest

from bench.inside.absorb import both
from bench.inside.formulas import as_formula
from bench.problems.formula_texts import TEXTS
from pyspec.formula import Definition
from pyspec.formula.program.absorbed import absorbed


@pytest.mark.parametrize("name", TEXTS)
def test_numbers_stay_and_nothing_is_added_at_the_points(name: str) -> None:
    """The value to the last bit, slopes to rounding; NaN at the same places."""
    calls, (one, other) = both(name)
    for call in calls:
        call.run()
    assert np.array_equal(one[0], other[0], equal_nan=True)
    assert np.array_equal(np.isnan(one), np.isnan(other))
    largest = np.nanmax(np.abs(one), axis=(1, 2), keepdims=True)
    assert np.all((np.abs(one - other) <= 1e-14 * largest) | np.isnan(one))
    own = as_formula(name).own
    assert isinstance(own, Definition)
    counts = absorbed(own)
    assert counts.points <= counts.points_without
