"""The command ``pyspec``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code; Ctrl-C while it is loaded is Ctrl-C too."""
    try:
        from pyspec.cli.dispatch import main as run
    except KeyboardInterrupt:
        print("pyspec: interrupted", file=sys.stderr)
        return 130
    return run(arguments)
