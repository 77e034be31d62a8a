"""An instrument that was measured: what it is as a function, and what has no response to it."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec.errors import ModelError
from pyspec.formula import Measured, instrument_text
from pyspec.formula.definitions.measured import define_measured

TEXT = instrument_text([-1.0, 0.0, 2.0], [0.0, 3.0, 0.0], "here")


def instrument() -> Measured:
    own = define_measured(TEXT).own
    assert isinstance(own, Measured)
    return own


def test_it_is_straight_lines_between_its_samples_of_area_1() -> None:
    at = np.array([-2.0, -1.0, -0.5, 0.0, 1.0, 2.0, 3.0])
    expected = np.array([0, 0, 1, 2, 1, 0, 0]) / 3
    np.testing.assert_allclose(instrument()(at), expected, rtol=1e-15)


def test_a_response_has_no_response() -> None:
    response = instrument().response("expFun")
    assert response is not None
    assert response.name == "expFun_measuredIRF"
    assert isinstance(response.own, Measured)
    assert response.own.response("expFun") is None
    assert instrument().response("sqrtFun") is None


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ("A + A -> B = a; start A = 1", "x_A: has steps of two states, and no exact response"),
    ],
)
def test_states_without_a_response(steps: str, words: str) -> None:
    law = f"kinetics x(A): {steps}"
    assert instrument().response(law) is None
    with pytest.raises(ModelError, match=words):
        define_measured(f"{TEXT.replace('instrument', 'state', 1)}: {law}")
