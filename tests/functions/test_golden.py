"""References and kernels against golden numbers, to 1e-12 of the peak."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec._library import OPS, call_function
from pyspec.functions import outside, reference


@cache
def numbers(shared: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """All cases, and the arrays that they name."""
    manifest = json.loads((shared / "golden" / "functions.json").read_text())
    with np.load(shared / "golden" / "functions.npz") as arrays:
        return manifest["cases"], dict(arrays)


def read(shared: Path, name: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    cases, arrays = numbers(shared)
    return [case for case in cases if case["function"] == name], arrays


def arguments(case: dict[str, Any]) -> list[float]:
    """In the table's order; an optional parameter that the case lacks is 0."""
    return [float(case["args"].get(param, 0.0)) for param in OPS[case["function"]].params]


def assert_near(value: np.ndarray, expected: np.ndarray, what: str) -> None:
    assert value.shape == expected.shape, what
    np.testing.assert_array_equal(np.isnan(value), np.isnan(expected), err_msg=what)
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(value[~finite], expected[~finite], err_msg=what)
    peak = np.abs(expected[finite]).max(initial=0.0)
    worst = np.abs(value[finite] - expected[finite]).max(initial=0.0)
    assert worst <= 1e-12 * peak, f"{what}: {worst:.3g} at a peak of {peak:.3g}"


@pytest.mark.parametrize("name", OPS)
def test_golden(shared: Path, name: str) -> None:
    cases, arrays = read(shared, name)
    if not cases:
        pytest.skip(f"no golden numbers for {name}: exact arithmetic judges it")
    for case in cases:
        params = arguments(case)
        if case.get("raises"):
            assert outside(OPS[name], params) is True, case["id"]
            continue
        x = arrays[f"axis__{case['axis']}"]
        expected = arrays[case["array"]]
        spectrum = arrays[f"axis__{case['spectrum']}"] if "spectrum" in case else None
        fed = [] if spectrum is None else [spectrum]
        with np.errstate(all="ignore"):
            value = reference(name)(x, *params, *fed)
        assert_near(value, expected, f"{case['id']}, reference")
        n_rows = expected.shape[0] if expected.ndim == 2 else 1
        columns = np.repeat(np.array(params)[:, np.newaxis], n_rows, axis=1)
        given = None if spectrum is None else spectrum.reshape(n_rows, -1)
        kernel, _ = call_function(name, x, columns, given)
        assert_near(kernel.reshape(expected.shape), expected, f"{case['id']}, kernel")
        thrice = None if given is None else np.repeat(given, 3, axis=0)
        kernel, _ = call_function(name, x, np.repeat(columns, 3, axis=1), thrice)
        repeated = np.repeat(expected.reshape(n_rows, -1), 3, axis=0)
        assert_near(kernel, repeated, f"{case['id']}, kernel, rows in lanes")
