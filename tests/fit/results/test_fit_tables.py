"""Tables, progress reporters, and arrays of residuals."""

from __future__ import annotations

import io
import sys
from typing import Any

import numpy as np
import pytest

from pyspec.fit.progress import Custom, Line, Silent, make_progress
from pyspec.fit.results.table import (
    ParameterRow,
    ParameterTable,
    format_value,
)

ROWS = (
    ParameterRow("GLP_01_A", 12.345678, 0.0123, True, 0.0, 100.0, init=10.0),
    ParameterRow("GLP_01_x0", 84.0, None, True, 80.0, 84.0, at_bound="max"),
    ParameterRow("GLP_02_A", 9.25, 0.01, False, -np.inf, np.inf, expr="3/4 * GLP_01_A"),
    ParameterRow("LinBack_b", 0.0, None, False, -np.inf, np.inf),
)


def test_rows_and_columns_by_name() -> None:
    table = ParameterTable(ROWS)
    assert table["GLP_01_A"].stderr == 0.0123
    assert table["value"] == [12.345678, 84.0, 9.25, 0.0]
    assert table["name"] == list(table.names)
    assert table[1].name == "GLP_01_x0"
    assert len(table[1:]) == 3
    assert [row.kind for row in table] == ["free", "free", "expr", "fixed"]
    assert "GLP_02_A" in table
    assert ROWS[0] in table
    assert "GLP_03_A" not in table
    with pytest.raises(KeyError, match="did you mean 'GLP_01_x0'"):
        table["GLP_01_xo"]
    assert table.to_dict()[2]["expr"] == "3/4 * GLP_01_A"
    assert tuple(table.to_dict()[0]) == table.columns
    pytest.importorskip("pandas")
    assert list(table.to_dataframe()["name"]) == list(table.names)


def test_table_as_text_and_html() -> None:
    table = ParameterTable(ROWS, title="a fit")
    lines = str(table).splitlines()
    assert lines[0] == "a fit"
    assert "12.346" in lines[3]
    assert "0.012" in lines[3]
    assert "free (at max)" in lines[4]
    assert "3/4 * GLP_01_A" in lines[5]
    assert repr(table) == str(table)
    html = table._repr_html_()
    assert html.count("<tr>") == 5
    bad = ParameterTable([ParameterRow("a<b", 1.0, None, True, 0.0, 2.0)])
    assert "a&lt;b" in bad._repr_html_()


@pytest.mark.parametrize(
    ("value", "stderr", "expected"),
    [
        (84.2099108, 0.0002255, ("84.20991", "0.00023")),
        (12345.6, 123.0, ("12346", "123")),
        (1.23456, 0.0994, ("1.235", "0.099")),
        (1.23456, 0.0996, ("1.23", "0.10")),
        (1.23456, 9.96, ("1", "10")),
        (0.5, None, ("0.5", "")),
        (0.5, 0.0, ("0.5", "0")),
        (np.nan, 0.1, ("nan", "0.1")),
        (1e9, 3e5, ("1e+09", "3e+05")),
        (2e-12, 1e-13, ("2e-12", "1e-13")),
    ],
)
def test_value_has_two_digits_of_its_error(
    value: float, stderr: float | None, expected: tuple[str, str]
) -> None:
    assert format_value(value, stderr) == expected


def test_progress_line_on_a_terminal_and_in_a_log() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal, log = Terminal(), io.StringIO()
    for stream in (terminal, log):
        line = Line("doublet", stream)
        for nfev in range(1, 4):
            line.update(nfev, 10.0 / nfev, 10.0 / nfev)
        line.close()
    assert terminal.getvalue().startswith("\rdoublet: 1 evaluations")
    assert terminal.getvalue().endswith("\n")
    assert log.getvalue().count("\n") == 1
    assert "doublet: 3 evaluations, χ² 3.333333" in log.getvalue()


def test_progress_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[Any, ...]] = []
    assert type(make_progress(None, "x")) is Silent
    assert type(make_progress(False, "x")) is Silent
    custom = make_progress(lambda *given: calls.append(given), "x")
    assert type(custom) is Custom
    custom.update(3, 2.0, 1.0)
    custom.close()
    assert calls == [(3, 2.0, 1.0)]
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)  # another test may have imported it
    assert type(make_progress(True, "x")) is Line
