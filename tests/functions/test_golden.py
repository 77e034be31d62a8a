"""References and kernels against golden numbers, to 1e-12 of the peak."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.edged_kernels import EDGED
from support.kernel_calls import call_function

from pyspec._library import OPS
from pyspec.errors import DataError, LibraryError
from pyspec.functions import outside, reference
from pyspec.functions.quadrature import convolve, mass_left, mass_right


@cache
def numbers(shared: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Cases of functions and of convolutions, and the arrays that they name."""
    with np.load(shared / "golden" / "functions.npz") as arrays:
        return json.loads((shared / "golden" / "functions.json").read_text()), dict(arrays)


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
    manifest, arrays = numbers(shared)
    cases = [case for case in manifest["cases"] if case["function"] == name]
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


def test_golden_convolutions_and_masses_outside_of_the_axis(shared: Path) -> None:
    manifest, arrays = numbers(shared)
    for case in manifest["convolution"]:
        name, par = case["kernel"], case["par"]
        t, y = arrays[f"axis__{case['axis']}"], arrays[case["signal"]]
        expected = arrays[case["array"]]
        if name not in EDGED:  # those are sums over samples, of first order at an edge
            worst = np.abs(convolve(name, t, y, par) - expected).max()
            assert worst <= 1e-12 * np.abs(y).max(), case["id"]
        for mass, edge, key in ((mass_left, t[0], "massL"), (mass_right, t[-1], "massR")):
            assert np.abs(mass(name, t - edge, par) - arrays[case[key]]).max() <= 1e-13 * par


def test_a_mass_of_what_is_no_kernel() -> None:
    with pytest.raises(LibraryError, match="did you mean 'gaussCONV'"):
        mass_left("gaussCON", np.arange(3.0), 1.0)
    with pytest.raises(LibraryError, match="Gauss is no convolution kernel"):
        mass_left("Gauss", np.arange(3.0), 1.0)


def test_axes_that_cannot_be_used() -> None:
    y = np.zeros(3)
    for t in ([0.0, 0.0, 1.0], [2.0, 1.0, 0.0], [0.0, 1.0, np.inf], [0.0, np.nan, 1.0]):
        with pytest.raises(DataError, match="strictly increasing"):
            convolve("gaussCONV", np.array(t), y, 1.0)
    with pytest.raises(DataError, match="needs a time axis"):
        convolve("gaussCONV", np.zeros(0), np.zeros(0), 1.0)
    with pytest.raises(DataError, match="same shape"):
        convolve("gaussCONV", np.arange(4.0), y, 1.0)
