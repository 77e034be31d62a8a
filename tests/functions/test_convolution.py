"""The convolution operator, and what lies of its kernels outside of the axis."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.edged_kernels import EDGED

from pyspec.errors import DataError, LibraryError
from pyspec.functions.quadrature import convolve, mass_left, mass_right

T = np.concatenate([np.linspace(-3.0, 3.0, 40), np.geomspace(3.2, 40.0, 25)])


def test_golden(shared: Path) -> None:
    manifest = json.loads((shared / "golden" / "functions.json").read_text())
    with np.load(shared / "golden" / "functions.npz") as file:
        arrays = dict(file)
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
        mass_left("gaussCON", T, 1.0)
    with pytest.raises(LibraryError, match="Gauss is no convolution kernel"):
        mass_left("Gauss", T, 1.0)


def test_axes_that_cannot_be_used() -> None:
    y = np.zeros(3)
    for t in ([0.0, 0.0, 1.0], [2.0, 1.0, 0.0], [0.0, 1.0, np.inf], [0.0, np.nan, 1.0]):
        with pytest.raises(DataError, match="strictly increasing"):
            convolve("gaussCONV", np.array(t), y, 1.0)
    with pytest.raises(DataError, match="needs a time axis"):
        convolve("gaussCONV", np.zeros(0), np.zeros(0), 1.0)
    with pytest.raises(DataError, match="same shape"):
        convolve("gaussCONV", np.arange(4.0), y, 1.0)
