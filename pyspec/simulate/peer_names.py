"""Arguments under the names that trspecfit gives them, beside our own."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from pyspec.errors import DataError

Answer = TypeVar("Answer")


def also_named(**names: str) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Lets a function take arguments under other names too: ``also_named(par_name="name")`` makes
    ``f(par_name=3)`` what ``f(name=3)`` is. Both at once raise :class:`DataError`."""

    def wrap(function: Callable[..., Answer]) -> Callable[..., Answer]:
        @wraps(function)
        def call(*args: Any, **given: Any) -> Answer:
            own = dict(given)
            for other, name in names.items():
                if other in own:
                    if name in own:
                        raise DataError(f"{function.__name__}: {other} is {name}; give one of them")
                    own[name] = own.pop(other)
            return function(*args, **own)

        vars(call)["also_named"] = tuple(names)
        return call

    return wrap
