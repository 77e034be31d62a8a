"""The figure that pictures are drawn on: it shows itself, once, in a notebook.

Imports matplotlib; import it where a figure is made, not before.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from typing import Protocol

from matplotlib.figure import Figure


class Shell(Protocol):
    """What is used of the IPython shell of a notebook."""

    execution_count: int
    display_pub: Publisher
    display_formatter: Formatter


class Publisher(Protocol):
    """Shows data by MIME type, with what is said of them."""

    def publish(self, data: Mapping[str, object], metadata: Mapping[str, object]) -> None: ...


class Formatter(Protocol):
    """Makes these of an object."""

    def format(self, obj: object) -> tuple[Mapping[str, object], Mapping[str, object]]: ...


def kernel() -> Shell | None:
    """The IPython shell of a running notebook kernel, or None."""
    module = sys.modules.get("IPython")
    shell = None if module is None else module.get_ipython()
    zmq = sys.modules.get("ipykernel.zmqshell")  # loaded in every kernel, in no terminal
    return shell if zmq is not None and isinstance(shell, zmq.ZMQInteractiveShell) else None


class Picture(Figure):
    """A matplotlib Figure that a notebook shows without pyplot having been imported."""

    #: The number of the cell that `show=True` showed it under.
    shown_in: int | None = None

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", bbox_inches="tight")
        return buffer.getvalue()

    def _ipython_display_(self) -> None:
        """Shows nothing where the cell has shown it; else leaves it to the usual ways."""
        shell = kernel()
        if shell is None or self.shown_in != shell.execution_count:
            raise NotImplementedError  # IPython's sign for: show it by another method
