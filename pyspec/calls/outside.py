"""Where a warning belongs: at the line of the user, not of the package."""

from __future__ import annotations

import sys
from pathlib import Path

PACKAGE = str(Path(__file__).parents[1])


def stack_outside() -> int:
    """The `stacklevel` that the caller hands to `warnings.warn`, for the first line outside of the
    package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    return level
