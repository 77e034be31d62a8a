"""The inside of the library as Python functions, for each instruction set."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec._library import OPS, supported_isas

ROOT = Path(__file__).parents[2]
LANES = 8


class Probe:
    """tests/c/kernels/probe.c, compiled with the flags of one instruction set."""

    def __init__(self, library: Any) -> None:
        self._library = library

    def unary(self, name: str, x: np.ndarray) -> np.ndarray:
        """``v_<name>`` of x (n,)."""
        padded = self._pad(x)
        out = np.empty_like(padded)
        self._call(f"probe_{name}", padded.size, padded, out)
        return out[: x.size]

    def faddeeva(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """(4, n): Re w(x + iy), its derivatives by x, by y and twice by x."""
        xs, ys = self._pad(x), self._pad(y)
        out = np.empty((4, xs.size))
        self._call("probe_faddeeva", xs.size, xs, ys, out)
        return out[:, : x.size]

    def voigt(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """(5, n): the same by tables in y, and 1 where they hold."""
        xs, ys = self._pad(x), self._pad(y)
        out = np.empty((5, xs.size))
        self._call("probe_voigt", xs.size, xs, ys, out)
        return out[:, : x.size]

    def mass(self, name: str, left: bool, distance: np.ndarray, parameter: float) -> np.ndarray:
        """What lies of a convolution kernel beyond `distance`."""
        out = np.empty(distance.size)
        given = np.ascontiguousarray(np.abs(distance))
        side = 0 if left else 1
        self._call("probe_mass", OPS[name].index, side, out.size, given, parameter, out)
        return out

    @staticmethod
    def _pad(x: np.ndarray) -> np.ndarray:
        return np.concatenate([x, np.full(-x.size % LANES, x[-1])]).astype(np.float64)

    def _call(self, name: str, *arguments: Any) -> None:
        convert: dict[type, Callable[[Any], Any]] = {
            int: ctypes.c_int64,
            float: ctypes.c_double,
            np.ndarray: lambda array: ctypes.c_void_p(array.ctypes.data),
        }
        entry = getattr(self._library, name)
        entry.restype = None
        entry(*(convert[type(argument)](argument) for argument in arguments))


@pytest.fixture(scope="session", params=supported_isas())
def probe(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Probe:
    """For each instruction set that the processor has; skipped without a C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler")
    flags = (ROOT / "csrc" / "flags.txt").read_text().split()
    for line in (ROOT / "csrc" / "isa_flags.txt").read_text().splitlines():
        name, *more = line.split()
        if name == f"isa/isa_{request.param.lower()}.c":
            flags += more
    out = tmp_path_factory.mktemp("probe") / f"probe_{request.param}.so"
    command = [compiler, *flags, "-shared", "-fPIC", f"-I{ROOT / 'csrc'}"]
    source = ROOT / "tests" / "c" / "kernels" / "probe.c"
    subprocess.run([*command, str(source), "-o", str(out), "-lm"], check=True)
    return Probe(ctypes.CDLL(str(out)))
