"""A fixed share of what tests/fuzz/guided.py does, and that it finds what is wrong."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from fuzz import guided

from pyspec.errors import DataError


@pytest.mark.slow
@pytest.mark.parametrize(("name", "runs"), [("formula", 20_000), ("yaml", 300)])
def test_texts_are_refused_or_right(name: str, runs: int, tmp_path: Path) -> None:
    counts, texts = guided.attack(guided.target_of(name, tmp_path), runs)
    assert counts["accepted"] >= runs // 50
    assert counts["refused"] >= runs // 20
    assert len(texts) >= 10


@pytest.mark.slow
def test_what_reaches_new_lines_is_kept_and_defects_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guided.use_formula(b"erf(a)")  # imports functions of SciPy, which may take longer than that
    monkeypatch.setattr(guided, "LIMIT", 1)
    counts, texts = guided.attack(guided.target_of("formula", tmp_path), 400)
    assert counts["accepted"] > 3
    assert len(texts) > 3

    def refuse(text: bytes) -> bool:
        raise DataError("no")

    def crash(text: bytes) -> bool:
        raise KeyError(text)

    def hang(text: bytes) -> bool:
        time.sleep(20)
        return True

    assert guided.attack(guided.Target("a", [b"a"], refuse), 3)[0]["refused"] == 4
    for wrong in (crash, hang):
        with pytest.raises(guided.DefectError, match="b'a'"):
            guided.attack(guided.Target("a", [b"a"], wrong), 3)
