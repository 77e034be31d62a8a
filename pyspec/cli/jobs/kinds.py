"""Whether a value of a job file is of the kind that an argument of a fit takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

#: Kind of an argument → what a job may write for it, and what that is called. Whole numbers are
#: numbers; truth values are none.
_KINDS: dict[object, tuple[tuple[type, ...], str]] = {
    bool: ((bool,), "True or False"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    str: ((str,), "a text"),
    dict: ((Mapping,), "a dict"),
    NoneType: ((NoneType,), "None"),
}


def _members(hint: object) -> tuple[object, ...]:
    """The members of a union; a kind that is no union, itself."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def fits(value: object, hint: object) -> bool:
    """Whether a value is of a kind; True where that cannot be said."""
    return hint is Any or any(_is(value, member) for member in _members(hint))


def _is(value: object, kind: object) -> bool:
    types, _ = _KINDS.get(get_origin(kind) or kind, ((list, tuple), ""))
    is_whole = kind is int and isinstance(value, float) and value.is_integer()
    if isinstance(value, bool) and bool not in types:
        return False
    if not isinstance(value, types) and not is_whole:
        return False
    inner = get_args(kind)
    return not (isinstance(value, Sequence) and inner) or all(fits(v, inner[0]) for v in value)


def words(hint: object) -> str:
    """A kind for people: "a text or None"."""
    names = [
        _KINDS.get(get_origin(member) or member, ((), "a list"))[1] for member in _members(hint)
    ]
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))
