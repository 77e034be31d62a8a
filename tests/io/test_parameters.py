"""Tables of parameters as CSV and JSON: all digits, written as a whole."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import pytest

from pyspec.errors import DataError
from pyspec.fit import ParameterTable
from pyspec.fit.results.table import ParameterRow
from pyspec.io import write_parameters

TABLE = ParameterTable(
    [
        ParameterRow("GLP_01_x0", 0.1 + 0.2, 1e-17, True, 0.0, math.inf, init=1.0, at_bound=""),
        ParameterRow("GLP_02_x0", 2.0, None, False, -math.inf, math.inf, expr='a + "b", c'),
    ],
    "a fit",
)


def test_csv(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    write_parameters(TABLE, path)
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert float(rows[0]["value"]) == 0.1 + 0.2
    assert rows[1]["expr"] == 'a + "b", c'
    assert rows[1]["stderr"] == ""
    assert float(rows[0]["max"]) == math.inf
    assert b"\r" not in path.read_bytes()


def test_json(tmp_path: Path) -> None:
    path = tmp_path / "a.JSON"
    write_parameters(TABLE, path)
    found = json.loads(path.read_text())
    assert found["title"] == "a fit"
    assert found["parameters"][0]["value"] == 0.1 + 0.2
    assert found["parameters"][1]["max"] is None
    assert list(found["parameters"][0]) == list(TABLE.columns)


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"written as \.csv or \.json"):
        write_parameters(TABLE, tmp_path / "a.xlsx")
    write_parameters(TABLE, tmp_path / "a.csv")
    with pytest.raises(DataError, match="exists already"):
        write_parameters(TABLE, tmp_path / "a.csv", overwrite=False)
    with pytest.raises(DataError, match="is missing; create it first"):
        write_parameters(TABLE, tmp_path / "no" / "a.csv")
