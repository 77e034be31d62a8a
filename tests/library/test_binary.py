"""The compiled library as a file: what it exports and imports, and what loading it leaves alone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pyspec._library import library_path
from pyspec._library.load import SIGNATURES, source_fingerprint

ROOT = Path(__file__).parents[2]

#: What the library may take from the C library: copies and comparisons, mathematics, and waiting
#: for a thread.
ALLOWED = re.compile(
    r"mem(cpy|set|move|cmp)|(exp|expm1|log|log1p|pow|sqrt|hypot|erf|erfc|fma|floor|ceil)"
    r"|a?(sin|cos|tan)h?|atan2|sincos"
    r"|str(len|cmp|chr|str)|__\w+_chk|__stack_chk_(fail|guard)"
    r"|pthread_(mutex|cond)_(init|lock|unlock|wait|signal|broadcast)"
    r"|sched_yield|clock_gettime|_GLOBAL_OFFSET_TABLE_|dyld_stub_binder"
)
#: What every shared object has.
STARTUP = re.compile(r"__cxa_finalize|__gmon_start__|_ITM_\w+|_?_fini|_?_init")


def symbols(*options: str) -> set[str]:
    """Names that nm lists, without versions and the underscore of macOS."""
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("nm is not installed")
    macos = sys.platform == "darwin"
    command = [nm, "-g" if macos else "-D", *options, str(library_path())]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1].split("@")[0] for line in output.splitlines() if line.strip()}
    return {name.removeprefix("_") for name in names} if macos else names


def test_all_exported_symbols_carry_the_prefix() -> None:
    exported = {name for name in symbols("--defined-only") if not STARTUP.fullmatch(name)}
    assert exported == set(SIGNATURES)


def test_nothing_that_allocates_prints_or_ends_is_imported() -> None:
    imported = {name for name in symbols("--undefined-only") if not STARTUP.fullmatch(name)}
    assert {name for name in imported if not ALLOWED.fullmatch(name)} == set()


ENVIRONMENT = """
import ctypes, ctypes.util
import numpy as np

libm = ctypes.CDLL(ctypes.util.find_library("m"))
tiny = np.array([5e-324, 2.2e-308])

def state():
    return libm.fegetround(), (tiny * 0.5 + tiny).tolist(), (1.0 + np.array([2.0**-53])).tolist()

before = state()
from pyspec._library import LIBRARY, OPS
from support.kernel_calls import call_function
loaded = state()
x = np.linspace(-800.0, 800.0, 501)
for name, op in OPS.items():
    for n_rows in (1, 9):
        params = np.full((len(op.params), n_rows), 1e-300)
        call_function(name, x, params, np.full((n_rows, x.size), 1e-310), partials=True)
assert before == loaded == state(), (before, loaded, state())
assert before[1][0] != 0.0
"""


def test_loading_and_running_leave_the_floating_point_environment(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", ENVIRONMENT]
    own = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, check=False, env=own
    )
    assert done.returncode == 0, done.stderr


def test_cmake_computes_the_same_fingerprint(tmp_path: Path) -> None:
    cmake = shutil.which("cmake", path=str(Path(sys.executable).parent)) or shutil.which("cmake")
    if cmake is None:
        pytest.skip("cmake is not installed: pip install '.[dev]'")
    command = [cmake, "-S", str(ROOT), "-B", str(tmp_path)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert f"pyspec fingerprint {source_fingerprint(ROOT / 'csrc')}\n" in output
