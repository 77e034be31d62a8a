"""Text that was printed and is returned: a notebook shows it once."""

from __future__ import annotations

import sys

from pyspec.calls import say


class Printed(str):
    """A text that was printed. As the last line of the notebook cell that printed it, it is not
    shown again; in later cells it is."""

    _cell: int | None = None

    def _ipython_display_(self) -> None:
        if self._cell is None or self._cell != _cell_now():
            say(self)


def printed(text: str) -> str:
    """Prints a text; returns it."""
    say(text)
    result = Printed(text)
    result._cell = _cell_now()
    return result


def _cell_now() -> int | None:
    """The number of the notebook cell that runs; None outside of IPython."""
    module = sys.modules.get("IPython")
    shell = None if module is None else module.get_ipython()
    return None if shell is None else int(shell.execution_count)
