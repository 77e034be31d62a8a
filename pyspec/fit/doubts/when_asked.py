"""What is worked out when cautions are first asked for."""

from __future__ import annotations

from typing import Any

from pyspec.fit.doubts.faint import faint_lines
from pyspec.fit.doubts.scatter import of_scatter
from pyspec.fit.linear.exchanged import exchanged


def when_asked(result: Any) -> tuple[str, ...]:
    """Sentences about the lines and rates of a fit, and about what it leaves of the data."""
    return (*faint_lines(result), *exchanged(result), *of_scatter(result))
