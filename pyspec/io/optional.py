"""Libraries that only some formats need: imported when asked for."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from pyspec.errors import DataError


def need(library: str, subject: str, extra: str = "io") -> ModuleType:
    """The library; without it a :class:`DataError` that says how to install it, with the `extra`
    of pyspec that it belongs to."""
    try:
        return import_module(library)
    except ImportError as error:
        raise DataError(
            f"{subject} needs {library}, which is not here ({error}); install it: "
            f"pip install 'pyspec-fit[{extra}]'"
        ) from None


def available(library: str) -> bool:
    """Whether a library can be imported."""
    try:
        import_module(library)
    except ImportError:
        return False
    return True
