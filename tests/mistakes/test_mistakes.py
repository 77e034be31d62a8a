"""Every mistake of the table gets exactly its answer: what, where, what to do next."""

from __future__ import annotations

from pathlib import Path

import pytest
from mistakes.table import Mistake, answer, read_table

from pyspec import errors, trspecfit

#: What pyspec raises on purpose.
ON_PURPOSE = {name for name in dir(errors) if name.endswith("Error")} | {"PlotError"}


@pytest.fixture(autouse=True)
def names_of_pyspec_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is suggested does not depend on tests that have imported pyspec.trspecfit."""
    for kind, names in trspecfit.NAMED:
        for name in vars(names):
            if not name.startswith("_"):
                monkeypatch.delattr(kind, name)


@pytest.fixture(scope="module")
def table() -> tuple[str, list[Mistake]]:
    return read_table()


def test_answers(table: tuple[str, list[Mistake]], tmp_path: Path) -> None:
    standard, mistakes = table
    for number, one in enumerate(mistakes):
        folder = tmp_path / str(number)
        folder.mkdir()
        where = f"{one.section}: {one.title}"
        assert (where, *answer(one, standard, folder)) == (where, one.error, one.says)


def test_answers_are_deliberate_and_say_what_to_do(table: tuple[str, list[Mistake]]) -> None:
    signs = ("; ", ": ", "give ", "must be ")
    titles = [(mistake.section, mistake.title) for mistake in table[1]]
    assert len(set(titles)) == len(titles) >= 80
    for one in table[1]:
        assert one.error in ON_PURPOSE, one.title
        assert any(sign in one.says for sign in signs), one.title
