"""What a type checker says of graphs whose axes are mixed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TEXT = """\
from pyspec.formula import graph
from pyspec.formula.graph import Energy, Time, placeholder

x = placeholder[Energy]("x")
t = placeholder[Time]("t")
fine = x * 2.0 + graph.exp(x) / graph.maximum(x, 1.0)
added = x + t
least = graph.minimum(x, t)
chosen = graph.where(x < 1.0, t, 0.0)
"""


@pytest.mark.slow
def test_mixed_axes_are_errors_of_types(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    path = tmp_path / "mixed.py"
    path.write_text(TEXT)
    given = ["--strict", "--follow-imports=silent", "--cache-dir", str(tmp_path / "cache")]
    said, _, code = api.run([*given, str(path)])
    lines = {int(line) for line in re.findall(r"mixed\.py:(\d+): error", said)}
    assert code == 1
    assert lines == {7, 8, 9}, said
