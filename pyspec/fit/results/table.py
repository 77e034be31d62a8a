"""Parameters and correlations as tables: in a terminal, in a notebook, as a DataFrame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from importlib import import_module
from math import isfinite, isinf
from types import ModuleType
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from pyspec.calls import meant
from pyspec.errors import FitError, NoSuchKeyError
from pyspec.fit.findings.finding import plain
from pyspec.model.show import html_table

if TYPE_CHECKING:
    import pandas
    import xarray


@dataclass(frozen=True)
class ParameterRow:
    """One parameter after a fit.

    `stderr` is one standard error. It is None for a fixed parameter, a parameter at a bound, and a
    fit that stopped early. `expr` is the expression of a follower. `at_bound` is "min" or "max"
    where the fit ended there, else "".
    """

    name: str
    value: float
    stderr: float | None
    vary: bool
    min: float
    max: float
    expr: str | None = None
    init: float | None = None
    at_bound: str = ""

    @property
    def kind(self) -> str:
        """What the parameter did in the fit: "free", "fixed" or "expr"."""
        if self.expr is not None:
            return "expr"
        return "free" if self.vary else "fixed"


COLUMNS = tuple(field.name for field in fields(ParameterRow))


class ParameterTable(Sequence[ParameterRow]):
    """The parameters of a fit, in the order of the model.

    ``table["GLP_01_x0"]`` is a row, ``table["value"]`` a column (a list), ``table[0]`` the
    first row; ``"GLP_01_x0" in table`` asks for a row.
    """

    def __init__(self, rows: Sequence[ParameterRow], title: str = "") -> None:
        self.rows = tuple(rows)
        self.title = title

    @overload
    def __getitem__(self, key: int) -> ParameterRow: ...
    @overload
    def __getitem__(self, key: slice) -> ParameterTable: ...
    @overload
    def __getitem__(self, key: str) -> Any: ...
    def __getitem__(self, key: int | slice | str) -> Any:
        if isinstance(key, str):
            if key in COLUMNS:
                return [getattr(row, key) for row in self.rows]
            for row in self.rows:
                if row.name == key:
                    return row
            keys = [row.name for row in self.rows] + list(COLUMNS)
            raise NoSuchKeyError(f"no parameter or column {key!r}{meant(key, keys)}")
        if isinstance(key, slice):
            return ParameterTable(self.rows[key], self.title)
        return self.rows[key]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[ParameterRow]:
        return iter(self.rows)

    def __contains__(self, key: object) -> bool:
        return any(key in (row, row.name) for row in self.rows)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the rows, in order."""
        return tuple(row.name for row in self.rows)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return COLUMNS

    def to_dict(self) -> list[dict[str, object]]:
        """One dict per row, of plain Python values."""
        return [dict(zip(COLUMNS, astuple(row), strict=True)) for row in self.rows]

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas DataFrame with the rows; raises :class:`FitError` without pandas."""
        return dataframe(self.to_dict(), COLUMNS)

    def _cells(self) -> list[list[str]]:
        head = ["name", "value", "stderr", "", "min", "max", "expression"]
        rows = [
            [
                row.name,
                *format_value(row.value, row.stderr),
                row.kind + (f" (at {row.at_bound})" if row.at_bound else ""),
                "" if isinf(row.min) else f"{row.min:.6g}",
                "" if isinf(row.max) else f"{row.max:.6g}",
                row.expr or "",
            ]
            for row in self.rows
        ]
        return [head, *rows]

    def __str__(self) -> str:
        text = text_table(self._cells(), align="<>><>><")
        return f"{self.title}\n{text}" if self.title else text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(self._cells(), self.title)


class CorrelationTable:
    """Correlations of the free parameters: ``table["a", "b"]``, ``table.matrix``."""

    def __init__(self, names: Sequence[str], matrix: npt.NDArray[np.float64]) -> None:
        self.names = tuple(names)
        self.matrix = matrix

    def __getitem__(self, pair: tuple[str, str]) -> float:
        try:
            row, column = map(self.names.index, pair)
        except (TypeError, ValueError):
            raise NoSuchKeyError(
                f"no correlation {pair!r}; write table['a', 'b'] with two of "
                f"{', '.join(self.names)}, or take table.matrix"
            ) from None
        return float(self.matrix[row, column])

    def __len__(self) -> int:
        return len(self.names)

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas DataFrame, names on both sides; raises :class:`FitError` without pandas."""
        return dataframe(self.matrix, self.names, self.names)

    def _cells(self) -> list[list[str]]:
        short = [str(k + 1) for k in range(len(self.names))]
        rows = [
            [f"{k + 1} {name}", *(f"{value:+.3f}" for value in self.matrix[k])]
            for k, name in enumerate(self.names)
        ]
        return [["", *short], *rows]

    def __str__(self) -> str:
        return text_table(self._cells(), align="<" + ">" * len(self.names))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(self._cells())


def format_value(value: float, stderr: float | None) -> tuple[str, str]:
    """Value and standard error as text, the value to two digits of the error."""
    if stderr is None or not isfinite(stderr) or stderr <= 0 or not isfinite(value):
        return f"{value:.7g}", "" if stderr is None else f"{stderr:.2g}"
    # Of the rounded error: 0.0996 is 0.10, to two digits as 0.10 is.
    digits = 1 - int(f"{stderr:.1e}".partition("e")[2])
    if abs(value) >= 1e7 or abs(stderr) < 1e-7:
        return f"{value:.9g}", f"{stderr:.2g}"
    return f"{value:.{max(digits, 0)}f}", f"{stderr:.{max(digits, 0)}f}"


def text_table(cells: Sequence[Sequence[str]], align: str) -> str:
    """Rows of cells in columns; the first row is the head; `align` has one of <> a column."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(
            f"{cell:{side}{width}}" for cell, side, width in zip(row, align, widths, strict=True)
        )
        for row in cells
    ]
    lines.insert(1, "  ".join("─" * width for width in widths))
    return "\n".join(line.rstrip() for line in lines)


def columns_of(fits: Any, others: Sequence[str]) -> dict[str, Any]:
    """Name → column over many fits, or slices: each parameter and its ``_stderr``, and `others`."""
    errors, columns = fits.stderr, dict[str, Any]()
    for name, values in fits.values.items():
        columns[name], columns[f"{name}_stderr"] = values, errors[name]
    for name in others:
        column = getattr(fits, name)
        columns[name] = list(column) if isinstance(column, tuple) else column
    return columns


def need(library: str, why: str) -> ModuleType:
    """A library that not everybody has. Raises :class:`FitError` without it."""
    try:
        return import_module(library)
    except ImportError:
        raise FitError(why) from None


def need_pandas() -> ModuleType:
    """The module pandas. Raises :class:`FitError` without it."""
    why = "a DataFrame needs pandas: pip install 'pyspec-fit[io]', or use table['value']"
    return need("pandas", why)


def dataframe(
    data: object, columns: Sequence[str] | None = None, index: Sequence[str] | None = None
) -> pandas.DataFrame:
    """A pandas DataFrame. Raises :class:`FitError` without pandas."""
    frame: pandas.DataFrame = need_pandas().DataFrame(data, index, columns)
    return frame


def dataset(
    variables: Mapping[str, object], coords: Mapping[str, object], **facts: object
) -> xarray.Dataset:
    """A Dataset with these facts. Raises :class:`FitError` without xarray."""
    why = "to_xarray() needs xarray, which is not here; install it: pip install 'pyspec-fit[io]'"
    made: xarray.Dataset = need("xarray", why).Dataset(variables, coords, facts)
    return made


def labelled(
    dataset: xarray.Dataset, labels: Mapping[str, str], units: Mapping[str, str]
) -> xarray.Dataset:
    """A Dataset with `long_name` and `units` for its axes, data and parameters, if these are known
    by their names."""
    for name, array in dataset.variables.items():
        name = str(name)
        quantity = "data" if name in ("fit", "residual") else name.removesuffix("_stderr")
        facts = {"long_name": labels.get(quantity, ""), "units": units.get(quantity, "")}
        array.attrs.update({key: text for key, text in facts.items() if text})
    return dataset


def json_row(row: Mapping[str, object]) -> dict[str, object]:
    """The values by name; JSON has no infinities: an open bound is None."""
    return {name: plain(value) for name, value in row.items()}
