"""Parameters that follow others, by arithmetic of Python."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec.formula import parse
from pyspec.plan.following import Following


@pytest.mark.parametrize(
    "text",
    ["a", "-a", "3/4*a", "a - b/3 + 2", "(a - b)*(a + b)", "1/(a - a)", "0*a/(b - b)", "a*1e300*b"],
)
@pytest.mark.parametrize("values", [(1.7, -2.3), (-0.0, 1e300), (np.float64(1e-3), 3.0)])
def test_followers_by_arithmetic_have_the_bits_of_numpy(
    text: str, values: tuple[float, float]
) -> None:
    known = dict(zip("ab", values, strict=True))
    followers = Following({"c": parse(text), "d": parse("exp(-c*c)")}, ("d", "c"))
    found = followers.values(known)
    assert list(found) == ["d", "c"]
    assert {type(one) for one in found.values()} == {float}
    c = float(parse(text).evaluate(known))
    expected = {"d": float(parse("exp(-c*c)").evaluate({"c": c})), "c": c}
    assert {n: np.float64(one).tobytes() for n, one in found.items()} == {
        n: np.float64(one).tobytes() for n, one in expected.items()
    }
