"""The figure that pictures are drawn on: it shows itself, once, in a notebook.

Imports matplotlib; import it where a figure is made, not before.
"""

from __future__ import annotations

import io
import sys
from typing import Any

from matplotlib.figure import Figure


def kernel() -> Any:
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
