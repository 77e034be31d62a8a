"""Every mistake of the table gets exactly its answer: what, where, what to do next."""

from __future__ import annotations

from pathlib import Path

import pytest
from mistakes.table import Mistake, answer, read_table

from pyspec import errors, trspecfit

STANDARD, MISTAKES = read_table()

#: What pyspec raises on purpose.
ON_PURPOSE = {name for name in dir(errors) if name.endswith("Error")} | {"PlotError"}


@pytest.fixture(autouse=True)
def names_of_pyspec_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is suggested does not depend on tests that have imported pyspec.trspecfit."""
    for kind, names in trspecfit.NAMED:
        for name in vars(names):
            if not name.startswith("_"):
                monkeypatch.delattr(kind, name)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: f"{m.section}: {m.title}")
def test_answer(mistake: Mistake, tmp_path: Path) -> None:
    assert answer(mistake, STANDARD, tmp_path) == (mistake.error, mistake.says)


def test_the_table_is_long_and_its_titles_differ() -> None:
    titles = [(mistake.section, mistake.title) for mistake in MISTAKES]
    assert len(set(titles)) == len(titles) >= 80


def test_answers_are_deliberate_and_say_what_to_do() -> None:
    signs = ("; ", ": ", "give ", "must be ")
    for one in MISTAKES:
        assert one.error in ON_PURPOSE, one.title
        assert any(sign in one.says for sign in signs), one.title
