"""Saving while each write fails in turn, the disk is full from there on, or the process dies.

    LD_PRELOAD=faults.so python faults.py FOLDER faults.so STEP

For every STEP-th call that writes, syncs, truncates or renames, a child adds a fit to an archive
and meets the fault at this call. Afterwards the archive must be the old one or the new one, as a
whole; a save that failed must have raised a DataError, left no file behind, and must succeed when
it is tried again in the same process. Prints for each kind of fault how many calls were hit.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from pyspec.errors import DataError
from pyspec.io import digest, load_archive, save_archive

KINDS = {"this call fails": 1, "disk full from here": 2, "killed": 3, "killed after half": 4}
NO_FAULT, FAILED, WRONG = 0, 3, 4


def contents(number: int) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    data = np.arange(6000.0) + number
    fit = {"number": number, "text": "a line\n" * 300, "values": data[:100], "deep": {"a": ["b"]}}
    return fit, {digest(data): data}


def numbers(path: Path) -> list[int]:
    """The fits of an archive; raises where anything in it is not as it was saved."""
    fits, arrays, _ = load_archive(path)
    for fit in fits:
        expected, data = contents(fit["number"])
        np.testing.assert_array_equal(fit.pop("values"), expected.pop("values"))
        assert fit == expected
        assert set(data) <= set(arrays)
    return [fit["number"] for fit in fits]


def child(shim: Any, folder: Path, kind: int, nth: int) -> int:
    """Adds fit 2 to the archive of fit 1 and meets the fault; then tries once more without."""
    fit, arrays = contents(2)
    shim.faults_arm(str(folder).encode(), kind, nth)
    code = NO_FAULT
    try:
        save_archive(folder / "a.h5", fit, arrays=arrays)
        code = NO_FAULT if shim.faults_seen() < nth else FAILED
    except DataError as error:
        code = FAILED if "cannot be written" in str(error) else WRONG
        if code == WRONG:
            print(error)
    except BaseException:
        traceback.print_exc(file=sys.stdout)
        return WRONG
    shim.faults_arm(b"", 0, 0)
    if code == FAILED:
        here = sorted(os.listdir(folder))
        there = numbers(folder / "a.h5")
        if here != ["a.h5"] or there not in ([1], [1, 2]):
            print("after the failure:", here, there)
            return WRONG
        fit, arrays = contents(3)
        save_archive(folder / "a.h5", fit, arrays=arrays)
        if numbers(folder / "a.h5") != [*there, 3]:
            return WRONG
    return code


def attack(shim: Any, folder: Path, kind: int, step: int) -> int:
    """How many calls were hit."""
    path = folder / "a.h5"
    hit, nth = 0, 1
    while True:
        fit, arrays = contents(1)
        save_archive(path, fit, arrays=arrays, mode="replace")
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            signal.alarm(60)
            code = WRONG
            try:
                code = child(shim, folder, kind, nth)
            except BaseException:
                traceback.print_exc(file=sys.stdout)
            sys.stdout.flush()
            os._exit(code)
        status = os.waitpid(pid, 0)[1]
        died = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        assert died or os.WIFEXITED(status), f"call {nth}: signal {os.WTERMSIG(status)}"
        if died:
            assert numbers(path) in ([1], [1, 2]), numbers(path)
        else:
            code = os.WEXITSTATUS(status)
            assert code in (NO_FAULT, FAILED), f"call {nth}: exit code {code}"
            if code == NO_FAULT:
                return hit
        hit, nth = hit + 1, nth + step


def main() -> None:
    folder, shim = Path(sys.argv[1]).resolve(), ctypes.CDLL(sys.argv[2])
    shim.faults_arm.argtypes = ctypes.c_char_p, ctypes.c_int, ctypes.c_long
    shim.faults_seen.restype = ctypes.c_long
    for name, kind in KINDS.items():
        print(f"{name}: {attack(shim, folder, kind, int(sys.argv[3]))} calls", flush=True)
    for name in os.listdir(folder):
        os.utime(folder / name, (0, 0))  # what a killed process left goes after a day
    save_archive(folder / "a.h5", contents(2)[0], arrays=contents(2)[1])
    left = [name for name in os.listdir(folder) if name != "a.h5"]
    assert not left, left


if __name__ == "__main__":
    main()
