"""``scipy.special``, imported when the first of its functions is called.

Its import takes longer than that of everything else together, and no fit in C needs it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """The function of SciPy of that name."""
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(import_module("scipy.special"), name)
