"""Kinds of arguments: what a call was given, beside what its signature says.

Looked at only where a call failed with an error of Python's own, so that a call that succeeds
costs nothing and accepts whatever works.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from pathlib import PurePath
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from pyspec.calls.given import LARGEST

#: Of a long list no more items than these are looked at.
MOST = 100


def _members(hint: Any) -> tuple[Any, ...]:
    """The members of a union; a kind that is no union, itself."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


#: NumPy writes both as kinds of Python, and from 2.5 as aliases, which stand for themselves here.
_ARRAY_LIKE = frozenset(_members(npt.ArrayLike))
_ARRAYS = (np.ndarray, npt.NDArray)

_NUMBERS: dict[Any, tuple[type, ...]] = {
    bool: (bool, np.bool_),
    int: (int, np.integer),
    float: (int, float, np.integer, np.floating),
    complex: (int, float, complex, np.number),
}
#: Where the kinds are that an array may stand for: lists, tuples, Sequence, Collection, ....
_LISTS = ("builtins", "collections.abc")

_WORDS: dict[Any, str] = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    complex: "a number",
    str: "a text",
    dict: "a dict",
    NoneType: "None",
}


def mismatch(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> str | None:
    """What is wrong with the first argument that is not of the kind its signature says, such as
    "n_starts must be a whole number, not 'many'"; None where all are."""
    plain = inspect.unwrap(function)
    try:
        bound = inspect.signature(plain).bind(*args, **kwargs)
    except TypeError:
        return None
    for name, value in bound.arguments.items():
        parameter = bound.signature.parameters[name]
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        empty = parameter.annotation is parameter.empty
        hint = Any if empty else _resolved(plain, parameter.annotation)
        if value is not parameter.default and not fits(value, hint):
            return f"{name} must be {words(hint)}, not {shown(value)}"
        if isinstance(value, int) and abs(value) >= LARGEST:
            return f"{name} is too large: {shown(value)}"
    return None


def _resolved(function: Callable[..., Any], annotation: Any) -> Any:
    """What an annotation that is a text names; Any where a name of it is known to types alone."""
    holder = SimpleNamespace(__annotations__={"hint": annotation})
    try:
        return get_type_hints(holder, getattr(function, "__globals__", {}))["hint"]
    except (NameError, TypeError, AttributeError):
        return Any


def fits(value: object, hint: Any) -> bool:
    """Whether a value is of a kind; True where that cannot be said."""
    if hint is None or hint is NoneType:
        return value is None
    if hint in _NUMBERS:
        whole = isinstance(value, float) and value.is_integer()
        return isinstance(value, _NUMBERS[hint]) or (hint is int and whole) or _number(value, hint)
    members = _members(hint)
    if _ARRAY_LIKE.issubset(members):
        others = [one for one in members if one not in _ARRAY_LIKE]
        return _is_array(value) or any(fits(value, one) for one in others)
    if len(members) > 1:
        return any(fits(value, one) for one in members)
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return isinstance(value, tuple(type(one) for one in inner))
    if (origin or hint) in _ARRAYS:
        return _is_array(value)
    if isinstance(hint, TypeVar) or not isinstance(origin or hint, type):
        return True
    return _holds(value, origin or hint, inner)


def _holds(value: object, kind: type, inner: tuple[Any, ...]) -> bool:
    """Whether a value is of a class, and its items of theirs."""
    if issubclass(kind, Iterable) and not issubclass(kind, (str, Mapping)):
        if isinstance(value, (str, bytes)):
            return not inner and isinstance(value, kind)  # a list of texts to Python alone
        if isinstance(value, np.ndarray):
            is_list = value.size > 0 and value.ndim > 0 and kind.__module__ in _LISTS
            return is_list and all(fits(one, inner[0]) for one in value[:MOST] if inner)
        if kind is tuple and isinstance(value, list):
            value = tuple(value)
    try:
        if not isinstance(value, kind):
            return False
    except TypeError:  # a protocol that cannot be asked
        return True
    if isinstance(value, Mapping) and len(inner) == 2:
        items = list(value.items())[:MOST]
        return all(fits(a, inner[0]) and fits(b, inner[1]) for a, b in items)
    if isinstance(value, tuple) and kind is tuple and inner and inner[-1] is not Ellipsis:
        return len(value) == len(inner) and all(map(fits, value, inner))
    if isinstance(value, (Sequence, Set)) and inner:
        return all(fits(one, inner[0]) for one in list(value)[:MOST])
    return True


def _number(value: object, hint: type) -> bool:
    """Whether this is one number as NumPy makes them, in an array without axes."""
    kinds = "biu" if hint in (int, bool) else "biuf"
    return isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in kinds


def _is_array(value: object) -> bool:
    """Whether real numbers can be made of it; what answers `__array__` is believed to hold them."""
    if value is None or isinstance(value, (str, bytes, Mapping)):
        return False
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biufO"
    if hasattr(value, "__array__") or hasattr(value, "shape"):
        return True
    try:
        return np.asarray(value).dtype.kind in "biuf"
    except (TypeError, ValueError):
        return False


def words(hint: Any) -> str:
    """A kind for people: "a text or None"."""
    members, array = _members(hint), _ARRAY_LIKE.issubset(_members(hint))
    if array or len(members) > 1:
        parts = ["an array of numbers"] if array else []
        parts += [words(one) for one in members if not (array and one in _ARRAY_LIKE)]
        parts = sorted(dict.fromkeys(parts), key=lambda one: one == "None")
        return " or ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " or ".join(repr(one) for one in inner)
    kind = origin or (NoneType if hint is None else hint)
    if kind in _WORDS:
        return _WORDS[kind]
    if kind in _ARRAYS:
        return "an array of numbers"
    if not isinstance(kind, type):
        return "something else"
    if kind is tuple and inner and inner[-1] is not Ellipsis:
        return "a pair" if len(inner) == 2 else f"{len(inner)} values"
    if issubclass(kind, Mapping):
        return "a dict"
    if issubclass(kind, (PurePath, os.PathLike)):
        return "a path"
    if kind.__name__ == "Callable":
        return "a function"
    if issubclass(kind, Collection | Iterable) and kind.__module__ in _LISTS:
        items = f" of {words(inner[0]).partition(' ')[2]}s" if inner[:1] == (str,) else ""
        return f"a list{items}"
    return article(kind.__name__)


def article(noun: str) -> str:
    """The word with its article."""
    return f"{'an' if noun[0] in 'aeioAEIO' else 'a'} {noun}"


def shown(value: object) -> str:
    """A value for people, in a few words."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of shape {value.shape}"
    if value is None or isinstance(value, (str, bool, int, float, np.generic, list, tuple)):
        text = repr(value)
        return text if len(text) <= 60 else f"{text[:50]}…"
    return article(type(value).__name__)
