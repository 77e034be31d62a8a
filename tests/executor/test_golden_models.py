"""Whole models against reference numbers, in three executors, to 1e-10 of the range."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from support.agreement import BACKENDS
from support.edged_kernels import EDGED, exact_case, superseded

from pyspec.executor import make_executor
from pyspec.model import Model, load_dynamics, load_model, load_profile


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
