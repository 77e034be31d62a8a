"""What models of one structure have in common: asked once, and right for each of them."""

from __future__ import annotations

import numpy as np
import pytest
from support.column_models import ENERGY, OFFSET, energy_model

from pyspec.errors import ModelError
from pyspec.fit import fit_model
from pyspec.functions.external import register_function
from pyspec.model import Measurement
from pyspec.plan.compiled import compile_model


def test_a_registered_function_is_tried_at_every_fit() -> None:
    def register(skip: int) -> None:
        register_function("SlopeOfMine", lambda x, a: (a * x)[..., skip:], "a")

    register(0)
    model = energy_model("SlopeOfMine: {a: [1]}", OFFSET, time=False)
    measurement = Measurement(data=np.linspace(0.9, 2.0, ENERGY.size) * ENERGY)
    assert fit_model(model, measurement).success
    before = compile_model(model).outline
    assert before.calls_python
    register(1)
    assert compile_model(model).outline is not before
    with pytest.raises(ModelError, match="returns shape"):
        fit_model(model, measurement)
