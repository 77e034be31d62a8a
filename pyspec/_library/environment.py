"""Variables of the environment that every fit asks for."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

#: What stands in ``os.environ``, as the system has it.
_DATA = getattr(os.environ, "_data", None)


def reader(name: str) -> Callable[[], str | bytes | None]:
    """What reads a variable as the system has it, None where it is not set. ``os.environ`` takes
    three calls in Python for that; :func:`os.fsdecode` makes text of what this gives."""
    if isinstance(_DATA, dict) and hasattr(os.environ, "encodekey"):
        return partial(_DATA.get, os.environ.encodekey(name))
    return partial(os.environ.get, name)
