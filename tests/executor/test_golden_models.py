"""Whole models against reference numbers, in three executors, to 1e-10 of the range."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from support.agreement import BACKENDS
from support.edged_kernels import EDGED
from support.golden import golden_models

from pyspec.executor import make_executor


def test_golden_models(shared: Path) -> None:
    for case, model, arrays in golden_models(shared):
        if any(kernel in case["time_yaml"] for kernel in EDGED):
            continue  # those are sums over samples, of first order at an edge
        key = "value_2d" if case["dim"] == 2 else "value_1d"
        expected = arrays[case["arrays"][key]]
        scale = np.ptp(expected)
        for backend in BACKENDS:
            value = make_executor(model, None, backend).run(model.theta())
            worst = np.abs(value - expected).max() / scale
            assert worst <= 1e-10, f"{case['id']} in {backend}: {worst:.3g} of the range"
