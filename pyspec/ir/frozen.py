"""What makes a graph a value: nobody can change it, and its numbers are plain data."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

#: Numbers as JSON holds them.
Plain: TypeAlias = "float | str | list[Plain] | None"

Item = TypeVar("Item")
Key = TypeVar("Key")

NO_ARRAYS: Mapping[str, Array] = MappingProxyType({})

_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


class Frozen:
    """A dataclass whose arrays and mappings nobody can change; pickled and copied by its fields."""

    def _freeze(self, **frozen: object) -> None:
        for name, value in frozen.items():
            if value is not getattr(self, name):
                object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[object, ...]:
        own = [getattr(self, field.name) for field in fields(self)]  # type: ignore[arg-type]
        return type(self), tuple(dict(x) if isinstance(x, Mapping) else x for x in own)


def read_only(array: Array) -> Array:
    """The array where nobody else can write to it, or a copy."""
    if array.flags.writeable or not array.flags.owndata:
        array = array.copy()
        array.flags.writeable = False
    return array


def plain_numbers(numbers: Array | float | None) -> Plain:
    """Numbers as strict JSON can hold them: "NaN", "Infinity" and "-Infinity" are text, which
    ``float`` reads back."""
    if numbers is None or (isinstance(numbers, float) and math.isfinite(numbers)):
        return numbers
    plain = np.asarray(numbers).tolist()
    if np.isfinite(numbers).all():
        return cast(Plain, plain)
    return [*map(plain_numbers, plain)] if isinstance(plain, list) else _NOT_FINITE[repr(plain)]


def plain_bounds(low: float, high: float) -> list[Plain]:
    """Both; None is an end without a bound."""
    open_ends = low == -math.inf, high == math.inf
    ends = map(plain_numbers, (float(low), float(high)))
    return [None if is_open else end for is_open, end in zip(open_ends, ends, strict=True)]


def own_arrays(arrays: Mapping[str, Array]) -> Mapping[str, Array]:
    """Arrays by name that nobody else can write to."""
    if arrays is NO_ARRAYS or not arrays:
        return NO_ARRAYS
    return MappingProxyType({name: read_only(array) for name, array in arrays.items()})


def digest_of(data: object) -> str:
    """SHA-256 over plain data."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, tuple[Item, ...]]:
    """Key → the items that have it, in their order."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return {shared: tuple(members) for shared, members in groups.items()}
