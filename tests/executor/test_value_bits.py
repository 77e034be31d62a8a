"""The value is computed in the same way with and without derivatives: the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.native_cases import CASES

from pyspec.executor import make_executor


@pytest.mark.parametrize("name", [name for name in CASES if name != "three files"])
def test_chi_square_has_the_same_bits_with_and_without_derivatives(name: str) -> None:
    model, measurement = CASES[name]()[0]
    executor: Any = make_executor(model, measurement)
    theta = model.theta() * 1.01
    alone = executor.normal(theta, None, "value")[-1]
    assert np.isfinite(alone)
    assert {executor.normal(theta, None, form)[-1] for form in ("gram", "fisher")} == {alone}
