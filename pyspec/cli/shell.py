"""Paths and options as words of a command that can be pasted into a shell."""

from __future__ import annotations

import os
import re
import shlex


def word(path: object, windows: bool = os.name == "nt") -> str:
    """A path, or an option, as a shell takes it: in quotes where there are spaces.

    The shells of Windows share double quotes alone, and take backslashes as they are.
    """
    text = str(path)
    if windows:
        return text if re.fullmatch(r"[\w\\/.:=+-]+", text) else f'"{text}"'
    return shlex.quote(text)
