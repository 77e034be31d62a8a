"""Whole models against reference numbers, in three executors, to 1e-10 of the range."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.edged_kernels import EDGED, exact_case, superseded

from pyspec.executor import CompiledExecutor, InterpretedExecutor, make_executor, make_plan
from pyspec.model import Model, load_dynamics, load_model, load_profile
from pyspec.passes import PASSES

BACKENDS = ("tree", "interpreted", "compiled")


def load_case(case: dict[str, Any], arrays: Any) -> Model:
    """The case's model on its axes, with the case's parameter values."""
    model = load_model(case["energy_yaml"], "m")
    for profile in case["profiles"]:
        target = profile["parameter"]
        model.add_profile(target, load_profile(case["profile_yaml"], profile["model"], target))
    for dynamics in case["dynamics"]:
        target = dynamics["parameter"]
        loaded = load_dynamics(case["time_yaml"], dynamics["models"], target, dynamics["frequency"])
        model.add_dynamics(target, loaded)
    axes = {"energy": arrays[case["arrays"]["energy"]]}
    if case["dim"] == 2:
        axes["time"] = arrays[case["arrays"]["time"]]
    if case["profiles"]:
        axes["aux"] = arrays[case["arrays"]["aux"]]
    model.set_axes(**axes)
    return model


def test_golden_models(shared: Path) -> None:
    manifest = json.loads((shared / "golden" / "models.json").read_text())
    arrays = np.load(shared / "golden" / "models.npz")
    assert len(manifest["cases"]) >= 36
    for case in manifest["cases"]:
        model = load_case(case, arrays)
        key = "value_2d" if case["dim"] == 2 else "value_1d"
        expected = arrays[case["arrays"][key]]
        if any(kernel in case["time_yaml"] for kernel in EDGED):
            expected = superseded(case["id"], expected, exact_case(case, model))
        scale = np.ptp(expected)
        for backend in BACKENDS:
            value = make_executor(model, None, backend).run(model.theta())
            worst = np.abs(value - expected).max() / scale
            assert worst <= 1e-10, f"{case['id']} in {backend}: {worst:.3g} of the range"


@pytest.mark.slow
def test_golden_models_without_passes(shared: Path) -> None:
    """Any passes left out: the numbers of all passes, to 1e-13 of the peak."""
    manifest = json.loads((shared / "golden" / "models.json").read_text())
    arrays = np.load(shared / "golden" / "models.npz")
    subsets = [subset for n in range(1, len(PASSES) + 1) for subset in combinations(PASSES, n)]
    for case in manifest["cases"]:
        model = load_case(case, arrays)
        whole = make_plan(model)
        for executor in (CompiledExecutor, InterpretedExecutor):
            expected = executor(whole).run(None)
            for without in subsets if executor is CompiledExecutor else subsets[::4]:
                value = executor(make_plan(model, without)).run(None)
                worst = np.abs(value - expected).max() / np.abs(expected).max()
                assert worst <= 1e-13, f"{case['id']} without {without}: {worst:.3g} of the peak"
