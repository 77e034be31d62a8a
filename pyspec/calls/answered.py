"""The decorator of public functions: a call that does not fit its signature names the nearest
argument.

A call that fits costs one frame more, nothing else.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from traceback import walk_tb
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from pyspec.errors import CallError, NoSuchNameError, suggest

Given = ParamSpec("Given")
Answer = TypeVar("Answer")

_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def answered(function: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """Lets a function raise :class:`CallError` for arguments that it does not take.

    A function that :func:`pyspec.fit.interrupts.held` marks is surrounded by what that asks for.
    """
    depth = 1 + (inspect.unwrap(function) is not function)

    @wraps(function)
    def call(*args: Given.args, **kwargs: Given.kwargs) -> Answer:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if sum(1 for _ in walk_tb(error.__traceback__)) > depth:
                raise  # the function was entered
            *_, owner, name = ("", *function.__qualname__.split("."))
            label = owner if name == "__init__" else name
            text = explain(label, inspect.signature(function), args, kwargs)
        raise CallError(text)

    surround = getattr(function, "surrounded_by", None)
    if surround is None:
        return call

    @wraps(function)
    def held(*args: Given.args, **kwargs: Given.kwargs) -> Answer:
        # No `with`: Python calls __exit__ from C and looks for signals once it has returned.
        around = surround()
        around.begin()
        try:
            result = call(*args, **kwargs)
        except BaseException as error:
            around.end(error)
            raise
        around.end(None)
        return result

    return held


def explain(
    label: str, signature: inspect.Signature, args: tuple[object, ...], kwargs: Mapping[str, object]
) -> str:
    """What is wrong with the arguments of a call, and what it takes."""
    parameters = dict(signature.parameters)
    if next(iter(parameters), "") in ("self", "cls"):
        del parameters[next(iter(parameters))]
        args = args[1:]
    takes_any = any(par.kind is par.VAR_KEYWORD for par in parameters.values())
    named = {
        name: par
        for name, par in parameters.items()
        if par.kind not in (par.VAR_KEYWORD, par.VAR_POSITIONAL)
    }
    places = [name for name, par in named.items() if par.kind in _BY_POSITION]
    missing = [
        name
        for index, (name, par) in enumerate(named.items())
        if par.default is par.empty
        and name not in kwargs
        and not (par.kind in _BY_POSITION and index < len(args))
    ]
    takes = f"it takes {', '.join(named)}" if named else "leave them out"
    for name in kwargs:
        if name in named:
            continue
        # With **options a name that is not in the signature is wrong only if it is a missing one
        # misspelled.
        hint = suggest(name, missing if takes_any else list(named))
        if hint or not takes_any:
            return f"{label} has no argument {name!r}; {hint.removeprefix('; ') or takes}"
    if len(args) > len(places):
        by_name = [name for name, par in named.items() if par.kind is par.KEYWORD_ONLY]
        were = "1 value was" if len(args) == 1 else f"{len(args)} values were"
        names = f" ({', '.join(places)})" if places else ""
        others = f"give others by name: {', '.join(by_name)}" if by_name else "leave others out"
        takes = f"it takes {len(places) or 'none'}{names}"
        return f"{label}: {were} given by position, {takes}; {others}"
    if missing:
        return f"{label} needs {' and '.join(missing)}; {takes}"
    twice = [name for name in places[: len(args)] if name in kwargs]
    return f"{label}: {', '.join(twice)} is given by position and by name; leave one of them out"


class Suggesting:
    """A class whose AttributeError names the nearest attribute."""

    if not TYPE_CHECKING:  # it would make every name one of the class

        def __getattr__(self, name: str) -> object:
            kind = type(self)
            if name.startswith("_") or hasattr(kind, name):
                return object.__getattribute__(
                    self, name
                )  # Python's own error, or that of a property
            names = [other for other in (*dir(kind), *vars(self)) if not other.startswith("_")]
            hint = suggest(name, names) or f"; see dir() of it, or help({kind.__name__})"
            raise NoSuchNameError(f"{kind.__name__} has no {name!r}{hint}")
