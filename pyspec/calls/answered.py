"""The decorator of public functions and classes: errors of a call say what to write instead.

A call that fits its signature costs one frame more, nothing else: only errors of Python's own are
looked at, whether they come from arguments that the call does not take, or of another kind.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import wraps
from traceback import walk_tb
from typing import Any, TypeVar

from pyspec.calls.instead import CALLS, ITEMS, ITEMS_SET, NAMES, SETS
from pyspec.calls.kinds import mismatch
from pyspec.errors import CallError, NoSuchNameError, PyspecError, suggest

Thing = TypeVar("Thing")

#: Errors that a value of a wrong kind leads to somewhere inside.
_OF_PYTHON = (TypeError, ValueError, AttributeError, LookupError, OverflowError)

_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def answered(thing: Thing) -> Thing:
    """Gives a function, or the public methods and names of a class, answers of their own.

    Arguments that do not fit raise :class:`CallError`, names that are not there
    :class:`NoSuchNameError`; both with the nearest name, or what `pyspec.calls.instead` knows. So
    does a value that is given to an attribute of a frozen class, or to a property.
    """
    if not isinstance(thing, type):
        return _function(thing, getattr(thing, "__name__", ""))  # type: ignore[return-value, arg-type]
    root = thing.__module__.partition(".")[0]  # not what is inherited from other packages
    own = [base for base in reversed(thing.__mro__) if base.__module__.partition(".")[0] == root]
    for name, held in {k: v for base in own for k, v in vars(base).items()}.items():
        label = thing.__name__ if name == "__init__" else f"{thing.__name__}.{name}"
        if name.startswith("_") and name != "__init__":
            continue
        if inspect.isfunction(held):
            setattr(thing, name, _function(held, label))
        elif isinstance(held, (classmethod, staticmethod)):
            setattr(thing, name, type(held)(_function(held.__func__, label)))
        elif isinstance(held, property) and held.fset is None:
            setattr(thing, name, held.setter(_read_only(name)))
    if not hasattr(thing, "__getattr__"):
        setattr(thing, "__getattr__", _no_such_name)  # noqa: B010
    if not hasattr(thing, "__getitem__"):
        setattr(thing, "__getitem__", _no_items)  # noqa: B010
        setattr(thing, "__setitem__", _no_items_set)  # noqa: B010
        setattr(thing, "__delitem__", _no_items)  # noqa: B010
    if getattr(getattr(thing, "__dataclass_params__", None), "frozen", False):
        setattr(thing, "__setattr__", _not_set)  # noqa: B010
    return thing


def _function(function: Callable[..., Any], label: str) -> Callable[..., Any]:
    depth = 1 + (inspect.unwrap(function) is not function)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (*_OF_PYTHON, PyspecError) as error:
            if isinstance(error, CallError) and error.of_kind:
                cause = error.__cause__  # of a call further in: what the user wrote is named
            elif isinstance(error, PyspecError) and not isinstance(error, NoSuchNameError):
                raise  # a Model in the place of a graph lacks names of it, and says so itself
            else:
                cause = error
            if not isinstance(error, TypeError) or _ran(error, depth):
                what = mismatch(function, args, kwargs)
                if what is None:
                    raise  # the error is none of the call
                found = CallError(f"{label}: {what}")
                found.of_kind = True
                raise found from cause
            text = explain(label, inspect.signature(function), args, kwargs)
        raise CallError(text)

    surround = getattr(function, "surrounded_by", None)
    if surround is None:
        return call

    @wraps(function)
    def held(*args: Any, **kwargs: Any) -> Any:
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


def _ran(error: Exception, depth: int) -> bool:
    """Whether the function was entered before the error."""
    return sum(1 for _ in walk_tb(error.__traceback__)) > depth


def explain(
    label: str, signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> str:
    """What is wrong with the arguments of a call, and what to write."""
    parameters = dict(signature.parameters)
    if next(iter(parameters), "") in ("self", "cls"):
        del parameters[next(iter(parameters))]
        args = args[1:]
    instead = CALLS.get(label, {})
    rest = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    named = {
        name: one
        for name, one in parameters.items()
        if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
    }
    places = [name for name, one in named.items() if one.kind in _BY_POSITION]
    unknown = [name for name in kwargs if name not in named]
    missing = [
        name
        for index, (name, one) in enumerate(named.items())
        if one.default is one.empty
        and name not in kwargs
        and not (one.kind in _BY_POSITION and index < len(args))
    ]
    takes = f"it takes {', '.join(named)}" if named else "leave them out"
    for name in unknown:
        # With **options a name that is not in the signature is wrong only if it is a missing one
        # misspelled.
        hint = instead.get(name) or suggest(name, missing if rest else list(named))
        if hint or not rest:
            return f"{label} has no argument {name!r}; {hint.removeprefix('; ') or takes}"
    if len(args) > len(places):
        by_name = [name for name, one in named.items() if one.kind is one.KEYWORD_ONLY]
        were = "1 value was" if len(args) == 1 else f"{len(args)} values were"
        counted = f"{were} given by position, it takes {len(places) or 'none'}"
        names = f" ({', '.join(places)})" if places else ""
        others = f"; give others by name: {', '.join(by_name)}" if by_name else ""
        hint = instead.get("*") or others.removeprefix("; ") or takes
        return f"{label}: {counted}{names}; {hint}"
    if missing:
        return f"{label} needs {' and '.join(missing)}; {instead.get('') or takes}"
    twice = [name for name in places[: len(args)] if name in kwargs]
    return f"{label}: {', '.join(twice)} is given by position and by name; leave one of them out"


def _no_such_name(self: Any, name: str) -> Any:
    kind = type(self)
    if name.startswith("_") or hasattr(kind, name):
        return object.__getattribute__(self, name)  # Python's own error, or that of a property
    names = [one for one in dir(kind) if not one.startswith("_")]
    names += [one for one in vars(self) if not one.startswith("_")]
    for base in kind.__mro__:
        hint = NAMES.get(base.__name__, {}).get(name)
        if hint is not None:
            raise NoSuchNameError(f"{kind.__name__} has no {name!r}; {hint}")
    hint = suggest(name, names) or f"; see dir() of it, or help({kind.__name__})"
    raise NoSuchNameError(f"{kind.__name__} has no {name!r}{hint}")


def _not_set(self: Any, name: str, value: object) -> None:
    kind = type(self).__name__
    names = [one.name for one in fields(self)]
    hint = SETS.get(kind, {}).get(name, "")
    if not hint and name in names:
        hint = f"make another: dataclasses.replace({kind.lower()}, {name}=...)"
    hint = hint or suggest(name, names).removeprefix("; ") or f"it has {', '.join(names)}"
    raise NoSuchNameError(f"a {kind} stays as it was made, {name!r} cannot be set; {hint}")


def _read_only(name: str) -> Callable[[Any, object], None]:
    def set_nothing(self: Any, value: object) -> None:
        for base in type(self).__mro__:
            if name in SETS.get(base.__name__, {}):
                hint = SETS[base.__name__][name]
                break
        else:
            hint = f"see help({type(self).__name__}) for what changes it"
        raise NoSuchNameError(f"{type(self).__name__}.{name} cannot be set; {hint}")

    return set_nothing


def _no_items_set(self: Any, key: object, value: object) -> None:
    kind = type(self).__name__
    hint = ITEMS_SET.get(kind, f"see help({kind}) for what changes it")
    raise CallError(f"{kind} holds no items; {hint.format(key, value)}")


def _no_items(self: Any, key: object) -> Any:
    kind = type(self)
    for base in kind.__mro__:
        if base.__name__ in ITEMS:
            raise CallError(f"{kind.__name__} holds no items; {ITEMS[base.__name__].format(key)}")
    raise CallError(f"{kind.__name__} holds no items; see help({kind.__name__})")
