"""Values by parameter name, which say what there is where a key is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import numpy as np

from pyspec.errors import CallError, NoSuchKeyError, NoSuchNameError, shortened, suggest

Held = TypeVar("Held")

#: So many names are listed; beyond them the others are counted.
LISTED = 12


def meant(name: object, choices: Iterable[str]) -> str:
    """``"; did you mean 'GLP_01_x0' or 'GLP_02_x0'?"`` for the parameters that end so, else the
    nearest name; else those that there are."""
    names, wanted = list(choices), str(name)
    ends = [choice for choice in names if choice.endswith(f"_{wanted}")][:3]
    ends = ends or [choice for choice in names if choice.lower() == wanted.lower()]
    if ends:
        return f"; did you mean {' or '.join(map(repr, ends))}?"
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    listed = f"; there are {', '.join(names[:LISTED])}{more}" if names else "; there are none"
    return suggest(wanted, names) or listed


def no_item(key: object, n: int, kind: str) -> Exception:
    """What is raised for ``items[key]`` where there are `n` of a `kind`, and none of them is meant:
    an IndexError, and a :class:`CallError` for what is no number."""
    held = f"there are {n}, counted from 0" if n else "there is none yet"
    if isinstance(key, (int, np.integer)):
        return IndexError(f"no {kind} {key}: {held}")
    return CallError(f"{shortened(key)} is no number of a {kind}: {held}")


class Named(dict[str, Held]):
    """A dict whose KeyError says which names there are, and of what `kind`."""

    kind = "parameter"

    def __missing__(self, key: object) -> Held:
        raise NoSuchKeyError(f"no {self.kind} {key!r}{meant(key, self)}")

    def __getattr__(self, name: str) -> Held:
        if name in self:
            raise NoSuchNameError(f"write ['{name}'], not .{name}: these are values by name")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
