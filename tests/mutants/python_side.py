"""Runs tests with one module of pyspec changed, in a forked process.

The functions of the module that is already imported get the code of the changed one, so that
nothing is imported again.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import os
import signal
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

#: Seconds after which a mutant that does not end counts as noticed.
LIMIT = 120


def change(module: types.ModuleType, source: str) -> None:
    """Gives the functions and values of a module the code and values of another source."""
    other: dict[str, Any] = {"__name__": module.__name__, "__file__": module.__file__}
    made = types.ModuleType(module.__name__)
    made.__dict__.update(other)
    exec(compile(source, str(module.__file__), "exec"), made.__dict__)
    for name, new in vars(made).items():
        old = vars(module).get(name)
        mine, theirs = inspect.unwrap(old), inspect.unwrap(new)
        if isinstance(mine, types.FunctionType) and isinstance(theirs, types.FunctionType):
            _take_code(mine, theirs)
        elif isinstance(old, type) and isinstance(new, type) and old.__module__ == module.__name__:
            for key, method in vars(new).items():
                mine, theirs = _function(vars(old).get(key)), _function(method)
                if mine is not None and theirs is not None and not _take_code(mine, theirs):
                    setattr(old, key, method)  # it no longer calls super()
        elif not name.startswith("__") and not callable(new):
            setattr(module, name, new)


def _function(given: Any) -> types.FunctionType | None:
    if isinstance(given, property):
        given = given.fget
    given = getattr(given, "__func__", given)
    return given if isinstance(given, types.FunctionType) else None


def _take_code(old: types.FunctionType, new: types.FunctionType) -> bool:
    """Whether it can be taken."""
    if old.__code__.co_freevars != new.__code__.co_freevars:
        return False
    old.__code__, old.__defaults__ = new.__code__, new.__defaults__
    return True


def prepare(tests: Sequence[str]) -> None:
    """Imports what these tests import, once for all mutants."""
    if not _run([*tests, "--collect-only"]):
        raise RuntimeError(f"{' '.join(tests)} cannot be collected")


def _run(tests: Sequence[str]) -> bool:
    """Whether these tests pass in this process."""
    arguments = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", "--no-header"]
    hidden = io.StringIO()
    with contextlib.redirect_stdout(hidden), contextlib.redirect_stderr(hidden):
        return pytest.main([*arguments, *tests]) == 0


def is_noticed(name: str, source: str, tests: Sequence[str]) -> bool:
    """Whether tests fail with a module so changed."""
    module = importlib.import_module(name)
    child = os.fork()
    if not child:
        code = 1
        with contextlib.suppress(BaseException):
            signal.alarm(LIMIT)
            change(module, source)
            code = 0 if _run(tests) else 1
        os._exit(code)
    return os.waitpid(child, 0)[1] != 0
