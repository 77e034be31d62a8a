"""The command ``pyspec``."""

from pyspec.cli.main import main

__all__ = ["main"]
