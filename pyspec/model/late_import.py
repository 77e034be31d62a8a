"""What a model or a result asks of the rooms above: values, another fit, pictures, the builder.

A room may import only those below it, so it imports what lies above when it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def late_import(module: str, name: str) -> Any:
    """The function or class `name` of a module of a room above."""
    return getattr(import_module(module), name)
