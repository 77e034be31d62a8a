"""Several files as one residual: names, sharing, one C call, mixed executors."""

from __future__ import annotations

import numpy as np
import pytest
from support.zoo import ENERGY, TIME, make_model

from pyspec.errors import ModelError
from pyspec.executor import Problem, make_executor, make_joint_executor
from pyspec.model import Measurement, Model

SHARED = ("GLP_01_A_expFun_01_tau", "GLP_01_m")


def files() -> list[tuple[Model, Measurement]]:
    """Three files on their own grids that share a time constant and a mixing."""
    parts = []
    for index, (n_energy, n_time) in enumerate([(161, 51), (90, 30), (40, 12)]):
        energy = np.linspace(ENERGY[0], ENERGY[-1] - index, n_energy)
        time = np.linspace(TIME[0], TIME[-1] + index, n_time)
        model = make_model("biexponential", energy, time)
        model.set_values({"GLP_01_A": 12.0 + index})
        for name in SHARED:
            model.parameters[name].scope = "project"
        clean = make_executor(model).run(model.theta())
        data = clean + np.random.default_rng(index).normal(0, 0.1, clean.shape)
        parts.append((model, Measurement(data=data, rows=(2, n_time - 1))))
    return parts


def test_shared_parameters_occur_once() -> None:
    models = [model for model, _ in files()]
    names = Problem.of(files())
    assert set(SHARED) == {name for name in names.names if not name.startswith("file")}
    n_free = len(models[0].opt_param_names)
    assert len(names.names) == 3 * n_free - 2 * len(SHARED)
    assert names.full[1]["GLP_01_A"] == "file01_GLP_01_A"
    assert names.start[names.names.index("file02_GLP_01_A")] == 14.0


@pytest.mark.parametrize("backend", ["tree", "interpreted", "compiled"])
def test_residuals_are_those_of_the_files(backend: str) -> None:
    parts = files()
    joint = make_joint_executor(parts, backend)
    theta = joint.problem.start * 1.01
    alone = [
        make_executor(model, measurement).residual(theta[gather])
        for (model, measurement), gather in zip(parts, joint.problem.gather, strict=True)
    ]
    expected = np.concatenate(alone)
    np.testing.assert_allclose(joint.residual(theta), expected, rtol=0, atol=1e-11)
    assert joint.run(theta).size == expected.size


def test_mistakes() -> None:
    parts = files()
    parts[1][0].parameters["GLP_01_m"].max = 0.9
    with pytest.raises(ModelError, match="GLP_01_m is shared by the project, but file 1"):
        make_joint_executor(parts)
    with pytest.raises(ModelError, match="at least one file"):
        make_joint_executor([])
