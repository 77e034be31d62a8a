"""The builder: a page on which a model is built by hand and eye, over a :class:`Session`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspec.build.desk import Desk
    from pyspec.build.server import serve
    from pyspec.build.widget import Builder

__all__ = ["Builder", "Desk", "serve"]


def __getattr__(name: str) -> object:
    from importlib import import_module

    homes = {"Builder": "widget", "Desk": "desk", "serve": "server"}
    if name not in homes:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{homes[name]}"), name)
