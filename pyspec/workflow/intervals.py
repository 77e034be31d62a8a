"""Intervals by profile likelihood as a table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pyspec.fit.table import need_pandas


def interval_table(found: Any) -> dict[str, dict[str, float]]:
    """What lmfit.conf_interval found, as name → level → value."""
    rows = {}
    for name, pairs in found.items():
        middle = len(pairs) // 2
        rows[name] = {
            "best" if k == middle else f"{'-' if k < middle else '+'}{_percent(level)}": float(
                value
            )
            for k, (level, value) in enumerate(pairs)
        }
    return rows


def _percent(level: float) -> str:
    """A probability in percent, with two digits of what is left to 100, at least two decimals:
    five standard deviations are 99.999943%."""
    left = 100.0 * (1.0 - level)
    digits = max(2, 1 - math.floor(math.log10(left))) if left > 0.0 else 2
    return f"{100.0 * level:.{digits}f}%"


def interval_frame(result: Any, options: Mapping[str, Any]) -> Any:
    """The intervals of a fit, found now: a DataFrame with one row a parameter. Options as of
    ``lmfit.conf_interval``."""
    found = interval_table(result.conf_interval(**options))
    return need_pandas().DataFrame.from_dict(found, orient="index")
