"""A height of 0 gives 0 also where its shape has left the range of doubles: there 0 times infinity
was NaN, and chi^2 with it."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec._library import call_function, supported_isas
from pyspec.functions import reference

#: Parameters behind the height A, and places where the shape is infinite.
ENDLESS: dict[str, tuple[list[float], list[float]]] = {
    "ExpBack": ([100.0, 3.0], [-900.0, -700.0]),
    "ExpBack_resolution": ([0.0, 30.0, 5.0], [-5.0, 1.0]),
    "PowerBack": ([10.0, -400.0], [1e5, 1e200]),
    "pExpDecay": ([0.01], [-50.0, -8.0]),
    "GLP": ([0.0, 0.1, 1.5], [-50.0, 40.0]),
}


@pytest.mark.parametrize("isa", supported_isas())
@pytest.mark.parametrize("name", ENDLESS)
@pytest.mark.parametrize("n_rows", [1, 11])
@pytest.mark.parametrize("height", [0.0, -0.0])
def test_a_height_of_zero(name: str, isa: str, n_rows: int, height: float) -> None:
    """Value and slopes are 0 in every build; only that by the height is the shape."""
    others, x = ENDLESS[name]
    params = np.repeat(np.array([[height], *([other] for other in others)]), n_rows, axis=1)
    params[0, 1:] = 1.0  # neighbours, which are infinite
    value, partials = call_function(name, x, params, partials=True, isa=isa)
    assert partials is not None
    assert not value[0].any()
    assert not partials[1:, 0].any()
    assert np.isposinf(partials[0]).all()
    assert np.isposinf(value[1:]).all()
    with np.errstate(over="ignore"):
        assert not reference(name)(np.array(x), height, *others).any()
        assert np.isposinf(reference(name)(np.array(x), 1.0, *others)).all()
