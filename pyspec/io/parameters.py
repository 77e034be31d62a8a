"""Tables of parameters as CSV and JSON."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from collections.abc import Iterable
from pathlib import Path

from pyspec.calls import answered
from pyspec.errors import CallError, DataError
from pyspec.fit import FitResult, ParameterTable, SliceResults
from pyspec.fit.results.table import columns_of, json_row
from pyspec.io.archive.fit_record import versions
from pyspec.io.atomic import plain_path, write_text
from pyspec.model.data.digest import digest
from pyspec.model.units import parameter_units


@answered
def parameters_csv(table: ParameterTable) -> str:
    """One line for each parameter, all digits; a cell without a value is empty."""
    return _csv(table.columns, (row.values() for row in table.to_dict()))


@answered
def parameters_json(table: ParameterTable) -> str:
    """``{"title": …, "parameters": [{"name": …, "value": …, …}, …]}``, all digits; an open bound
    is null."""
    rows = [json_row(row) for row in table.to_dict()]
    return json.dumps({"title": table.title, "parameters": rows}, indent=2, allow_nan=False) + "\n"


def slices_csv(slices: SliceResults) -> str:
    """One line for each slice: time, every parameter and its standard error, χ², status."""
    columns = columns_of(slices, ("redchi", "status"))
    return columns_csv(["time", *columns], [slices.time, *columns.values()])


def columns_csv(head: Iterable[str], columns: Iterable[Iterable[str | float]]) -> str:
    """Columns of numbers to their last bit, empty where they are not finite, and of words."""
    return _csv(head, (map(_cell, row) for row in zip(*columns, strict=True)))


def _csv(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Numbers with all digits; None is an empty cell."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return stream.getvalue()


def _cell(value: str | float) -> str:
    if isinstance(value, str):
        return value
    return repr(float(value)) if math.isfinite(value) else ""


def plain_result(result: FitResult | SliceResults) -> dict[str, object]:
    """A fit without its arrays: parameters, statistics, termination, start values, units, versions,
    and the sha256 of data and model text."""
    measurement, model = result.measurement, result.model
    began = model if isinstance(result, SliceResults) else result.problem.model
    data, units = measurement.data, parameter_units(model, result.units)
    return {
        **result.to_dict(),
        "started_from": result.started_from,
        "units": dict(result.units),
        "parameter_units": {k: unit for k, unit in units.items() if unit},
        "data_sha256": None if data is None else digest(data),
        "model_sha256": hashlib.sha256(began.to_yaml().encode()).hexdigest(),
        "versions": dict(versions()),
    }


def result_json(result: FitResult | SliceResults) -> str:
    """What :func:`plain_result` gives, as JSON."""
    return json.dumps(plain_result(result), indent=1, allow_nan=False, ensure_ascii=False) + "\n"


@answered
def write_parameters(table: ParameterTable, path: str | Path, *, overwrite: bool = True) -> None:
    """Writes the table of a fit (``result.table``) as CSV or JSON, by the suffix of `path`; the
    file is written completely or not at all.

    Raises :class:`DataError` for another suffix, or for a file that exists where `overwrite` is
    False.
    """
    if not isinstance(table, ParameterTable):
        raise CallError(
            f"write_parameters takes a table, not {type(table).__name__}; give that of a fit: "
            "write_parameters(result.table, 'fit.csv')"
        )
    target = plain_path(path)
    writers = {".csv": parameters_csv, ".json": parameters_json}
    writer = writers.get(target.suffix.lower())
    if writer is None:
        raise DataError(f"{target}: parameters are written as .csv or .json; choose one of them")
    if target.exists() and not overwrite:
        raise DataError(f"{target}: exists already; choose another name or overwrite=True")
    write_text(target, writer(table))
