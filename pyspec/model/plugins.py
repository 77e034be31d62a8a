"""What the rooms above hand to a model: its values, pictures of fits, the builder.

A room may only import those before it. What a person asks of a model and later rooms answer is
registered here by these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from pyspec.errors import ModelError

Function: TypeAlias = Callable[..., Any]

_HANDED: dict[str, Function] = {}


def hand_in(name: str, function: Function) -> None:
    """Makes `function` the one that :func:`handed` gives for `name`."""
    _HANDED[name] = function


def handed(name: str, room: str) -> Function:
    """The function that was handed in. Raises :class:`ModelError` before its room is imported."""
    if name not in _HANDED:
        raise ModelError(f"nothing is loaded that answers this; import {room} first")
    return _HANDED[name]
