"""Libraries that only some formats need: imported when asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pyspec.errors import DataError


def need(library: str, what: str) -> Any:
    """The library; without it a :class:`DataError` that says how to install it."""
    try:
        return import_module(library)
    except ImportError as error:
        raise DataError(
            f"{what} needs {library}, which is not here ({error}); install it: "
            f"pip install 'pyspec[io]'"
        ) from None


def available(library: str) -> bool:
    """Whether a library can be imported."""
    try:
        import_module(library)
    except ImportError:
        return False
    return True
