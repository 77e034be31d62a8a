"""Public calls of an object that one of its parts answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from pyspec.calls import answered

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


def forward(
    part: str, method: Callable[Concatenate[Any, Given], Answer]
) -> Callable[Concatenate[Any, Given], Answer]:
    """A method that calls `method` of the attribute `part` of its object, with the signature and
    the docstring of that method."""

    @wraps(method)
    def call(self: Any, /, *args: Given.args, **kwargs: Given.kwargs) -> Answer:
        return method(getattr(self, part), *args, **kwargs)

    call.__qualname__ = method.__name__
    return answered(call)
