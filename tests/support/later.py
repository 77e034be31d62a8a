"""Modules that take long to import: at the first use, not where tests are collected."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest


class Later:
    """A module that is imported when something of it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


def later(name: str) -> Any:
    """A module; where it is absent, the tests of the file are skipped."""
    if find_spec(name.partition(".")[0]) is None:
        pytest.skip(f"needs {name}", allow_module_level=True)
    return Later(name)
