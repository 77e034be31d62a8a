"""Answers as pandas DataFrames."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pyspec.errors import CallError
from pyspec.fit import CorrelationTable, FitResult, ParameterTable, SliceResults
from pyspec.fit.results.table import need_pandas
from pyspec.plot.protocols import Fit

COLUMNS = ("name", "value", "stderr", "init_value", "min", "max", "vary", "expr")


def has_pandas() -> bool:
    """Whether answers can be DataFrames."""
    from importlib.util import find_spec

    return find_spec("pandas") is not None


def parameter_frame(fit: Fit) -> Any:
    """One row a parameter, with :data:`COLUMNS`; of slices one row a slice, one column a
    parameter."""
    pandas = need_pandas()
    if isinstance(fit, SliceResults):
        return pandas.DataFrame(dict(fit.values))
    rows = [
        (r.name, r.value, r.stderr, r.init, r.min, r.max, bool(r.vary), r.expr) for r in fit.table
    ]
    frame = pandas.DataFrame(rows, columns=list(COLUMNS))
    numbers = ["value", "stderr", "init_value", "min", "max"]
    return frame.astype(dict.fromkeys(numbers, float))


def parameter_answer(fit: Fit, table: bool) -> Any:
    """The parameters of a fit: a DataFrame, or with `table`, or without pandas, its own table."""
    if not table and has_pandas():
        return parameter_frame(fit)
    if isinstance(fit, SliceResults):
        return fit.to_dataframe()
    own: ParameterTable = fit.table
    return own


def correlation_answer(found: CorrelationTable, table: bool) -> Any:
    """Correlations: a DataFrame with the names on both sides, or their own table."""
    return found if table or not has_pandas() else found.to_dataframe()


def interval_table(found: Any) -> dict[str, dict[str, float]]:
    """What conf_interval found, as name → level → value."""
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


def interval_frame(result: FitResult, options: Mapping[str, Any]) -> Any:
    """The intervals of a fit, found now: a DataFrame with one row a parameter. Options as in
    :meth:`pyspec.FitResult.conf_interval`, except `trace`."""
    if options.get("trace"):
        raise CallError(
            "get_confidence_intervals: the points that were tried do not go into its table; call "
            "result.conf_interval(trace=True), with the result of the fit"
        )
    found = interval_table(result.conf_interval(**options))
    return need_pandas().DataFrame.from_dict(found, orient="index")
