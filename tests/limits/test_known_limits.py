"""Where programs of this kind have given wrong numbers, fallen back to a slow path, or refused:
what pyspec answers instead. That executors agree, `random/` tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyspec.errors import ModelError
from pyspec.executor import CompiledExecutor, make_executor, make_joint_executor
from pyspec.model import Measurement, Model, load_dynamics, load_model, load_profile

ENERGY, TIME = np.linspace(78.0, 94.0, 81), np.linspace(-10.0, 40.0, 51)
TEXT = """
m:
  Shirley: {pShirley: [0.004, true]}
  GLP: {A: [12, true], x0: [84, true], F: [1.1, true], m: [0.3, true]}
smeared:
  gaussCONV: {SD: [1.5, true]}
  expFun: {A: [1.0, true], tau: [8.0, project], t0: [0.3, false]}
tied:
  expFun: {A: [1.0, true], tau: [GLP_01_F], t0: [0.3, false]}
ramp:
  pLinear: {m: [0.4, true], b: [0, false]}
"""


def made(**axes: Any) -> Model:
    model = load_model(TEXT, "m")
    model.set_axes(**{"energy": ENERGY, "time": TIME, **axes})
    return model


def test_a_shirley_sums_from_the_high_index_whatever_the_direction() -> None:
    up, down = (made(energy=axis, time=None).evaluate() for axis in (ENERGY, ENERGY[::-1]))
    assert up[0] > up[-1]  # the background lies at the low index
    assert down[0] > down[-1]


def test_several_files_are_one_compiled_residual() -> None:
    parts = []
    for seed in range(3):
        model = made()
        model.add_dynamics("GLP_01_x0", load_dynamics(TEXT, "smeared", "GLP_01_x0"))
        data = np.random.default_rng(seed).normal(size=(TIME.size, ENERGY.size))
        parts.append((model, Measurement(data=data)))
    joint = make_joint_executor(parts)
    assert all(isinstance(executor, CompiledExecutor) for executor in joint.executors)
    assert joint.opt_param_names.count("GLP_01_x0_expFun_01_tau") == 1


def test_a_law_takes_no_parameter_that_is_profiled() -> None:
    model = made()
    model.add_profile("GLP_01_F", load_profile(TEXT, "ramp", "GLP_01_F"))
    with pytest.raises(ModelError, match="GLP_01_F, which has a profile"):
        model.add_dynamics("GLP_01_A", load_dynamics(TEXT, "tied", "GLP_01_A"))


def test_the_average_over_the_auxiliary_axis_takes_weights() -> None:
    values = []
    for weights in (None, [1.0, 3.0, 0.0]):
        model = made(aux=[0.0, 0.5, 2.0], aux_weights=weights)
        model.add_profile("GLP_01_x0", load_profile(TEXT, "ramp", "GLP_01_x0"))
        values.append(make_executor(model, None, "compiled").run(model.theta()))
    assert np.abs(values[0] - values[1]).max() > 0.1
