"""What an evaluation of nodes does besides: the variable ``PYSPEC_FLAGS``, or an argument."""

from __future__ import annotations

import os
from enum import Flag, auto

from pyspec.errors import ModelError, suggest

#: The environment variable: names of flags with commas between.
VARIABLE = "PYSPEC_FLAGS"


class Flags(Flag):
    """Combined with ``|``."""

    NONE = 0
    #: Prints each node, what NumPy does for it, and its value, as Python that can be run.
    TRACE = auto()
    #: Calls the hook of the State after each node; without one, the debugger.
    BREAK = auto()
    #: Prints the DAG before it is evaluated.
    DUMP = auto()
    #: Compiles each tree with Numba, which must be installed.
    JIT = auto()
    #: Computes each operation a second time, with the stack machine of expressions, and raises
    #: where the two differ; of compiled trees with NumPy, node by node.
    COMPARE = auto()


TRACE, BREAK, DUMP, JIT, COMPARE = Flags.TRACE, Flags.BREAK, Flags.DUMP, Flags.JIT, Flags.COMPARE


def from_environment() -> Flags:
    """The flags of ``PYSPEC_FLAGS``. Raises :class:`ModelError` for an unknown name."""
    flags = Flags.NONE
    for part in os.environ.get(VARIABLE, "").split(","):
        name = part.strip().lower()
        if not name:
            continue
        by_name = {flag.name.lower(): flag for flag in Flags if flag.name}
        if name not in by_name:
            raise ModelError(
                f"{VARIABLE}: {name!r} is no flag{suggest(name, list(by_name))}; there are "
                f"{', '.join(by_name)}"
            )
        flags |= by_name[name]
    return flags
