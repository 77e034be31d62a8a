"""Whole models against reference numbers, in three executors, to 1e-10 of the range."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec._library import OPS, RPN
from pyspec.executor import make_executor
from pyspec.model import load_dynamics, load_model

BACKENDS = ("tree", "interpreted", "compiled")


def supported(case: dict[str, Any]) -> bool:
    """Whether every function that the case names has a row, and nothing else is needed."""
    text = case["energy_yaml"] + (case["time_yaml"] or "") + (case["profile_yaml"] or "")
    functions = set(re.findall(r"^    (\w+):", case["energy_yaml"], re.M))
    functions |= set(re.findall(r"^    (\w+):", case["time_yaml"] or "", re.M))
    symbols = {row.symbol for row in RPN.values()}
    calls = set(re.findall(r"(\w+)\(", text))
    subcycles = any(dynamics["frequency"] > 0 for dynamics in case["dynamics"])
    simple = not case["profiles"] and not subcycles and "CONV" not in text
    return simple and functions <= set(OPS) and calls <= symbols


def load_case(case: dict[str, Any], arrays: Any) -> Any:
    """The case's model on its axes, with the case's parameter values."""
    model = load_model(case["energy_yaml"], "m")
    for dynamics in case["dynamics"]:
        target = dynamics["parameter"]
        loaded = load_dynamics(case["time_yaml"], dynamics["models"], model.parameters[target])
        model.add_dynamics(target, loaded)
    time = arrays[case["arrays"]["time"]] if case["dim"] == 2 else None
    model.set_axes(energy=arrays[case["arrays"]["energy"]], time=time)
    return model


def test_golden_models(shared: Path) -> None:
    manifest = json.loads((shared / "golden" / "models.json").read_text())
    arrays = np.load(shared / "golden" / "models.npz")
    cases = [case for case in manifest["cases"] if supported(case)]
    assert cases, "no golden model is made of the functions in the table"
    for case in cases:
        model = load_case(case, arrays)
        key = "value_2d" if case["dim"] == 2 else "value_1d"
        expected = arrays[case["arrays"][key]]
        scale = np.ptp(expected)
        for backend in BACKENDS:
            value = make_executor(model, None, backend).run(model.theta())
            worst = np.abs(value - expected).max() / scale
            assert worst <= 1e-10, f"{case['id']} in {backend}: {worst:.3g} of the range"


@pytest.mark.parametrize("backend", BACKENDS)
def test_golden_models_that_must_be_covered(shared: Path, backend: str) -> None:
    """The list of covered cases never shrinks."""
    manifest = json.loads((shared / "golden" / "models.json").read_text())
    covered = {case["id"] for case in manifest["cases"] if supported(case)}
    assert {
        "1d_gauss",
        "1d_shirley_before_offset",
        "1d_expr_fanout",
        "1d_descending_axis",
    } <= covered
    assert {"2d_exp_x0", "2d_biexp_A", "2d_sin", "2d_t0_outside", "2d_negative_A"} <= covered
