"""A small cache: the values that were used last, by key."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Hashable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


_ALL: weakref.WeakSet[Kept[Any]] = weakref.WeakSet()


def forget() -> None:
    """Empties all caches: the next model is looked at, lowered and laid out anew."""
    for one in list(_ALL):
        one.clear()


class Kept(Generic[Value]):
    """Values by key, from any thread. A value that is there costs one look-up: to compare two long
    keys takes longer than all else."""

    def __init__(self) -> None:
        self._values: dict[Hashable, Value] = {}
        self._used: dict[int, int] = {}  # id of a value → when it was asked for last
        self._clock = itertools.count()
        self._lock = threading.Lock()
        _ALL.add(self)

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Hashable) -> Value | None:
        """The value of a key, None where it is not there."""
        # Without the lock, which takes as long as all this: where another thread takes the value
        # out meanwhile, nothing is left of it but a number.
        found = self._values.get(key)
        if found is not None:
            self._used[id(found)] = next(self._clock)
        return found

    def keep(self, key: Hashable, value: Value, most: int) -> Value:
        """Keeps a value, or the one that another thread has kept meanwhile, and returns it; the
        ones used least recently go until no more than `most` are left."""
        with self._lock:
            found = self._values.setdefault(key, value)
            self._trim(found, most)
        return found

    def replace(self, key: Hashable, value: Value, most: int) -> None:
        """Keeps a value in place of the one that the key had."""
        with self._lock:
            before = self._values.get(key)
            if before is not None:
                del self._used[id(before)]
            self._values[key] = value
            self._trim(value, most)

    def _trim(self, found: Value, most: int) -> None:
        """Notes that a value is used now; those used least recently go."""
        self._used[id(found)] = next(self._clock)
        while len(self._values) > most:
            oldest = min(self._values, key=lambda one: self._used[id(self._values[one])])
            del self._used[id(self._values.pop(oldest))]

    def clear(self) -> None:
        """Empties it."""
        with self._lock:
            self._values.clear()
            self._used.clear()
