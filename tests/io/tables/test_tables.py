"""Several tables below each other in one text, as CasaXPS exports regions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyspec import DataError, read

REGIONS = (("C 1s", 280, 12), ("O 1s", 525, 15), ("Ti 2p", 450, 9))


def _casa(names: tuple[str, ...] = ("C 1s", "O 1s", "Ti 2p"), *, peaks: bool = True) -> str:
    """K.E., counts, a component for all but the first, B.E. and CPS; headings as CasaXPS has."""
    text = []
    for k, ((_, low, n), name) in enumerate(zip(REGIONS, names, strict=True)):
        more = k if peaks else 0
        text += [f"Cycle 0:Sample A:{name}\t\t", "\tName" + f"\t{name} A" * more]
        text += ["\t".join(["K.E.", "Counts", *["peak"] * more, "B.E.", "CPS"])]
        for at in range(n):
            be = low + n - at
            row = [1486.7 - be, 100 * k + at, *[1.5] * more, be, 50 * k + at / 2]
            text.append("\t".join(f"{value:g}" for value in row))
        text.append("")
    return "\n".join(text)


@pytest.mark.parametrize("block", [1, "O 1s", "Cycle 0:Sample A:O 1s"])
def test_a_table_is_chosen_by_number_or_heading(tmp_path: Path, block: int | str) -> None:
    # The heading of the second one was "not a number", and so was every line of it in turn.
    path = tmp_path / "a.txt"
    path.write_text(_casa())
    found = read(path, block=block, columns=("B.E.", "CPS"))
    np.testing.assert_array_equal(found.energy, np.arange(540, 525, -1))
    np.testing.assert_array_equal(found.data, 50 + np.arange(15) / 2)
    assert found.name == "a: O 1s"
    assert "one of 3 tables, below 'Cycle 0:Sample A:O 1s'" in found.notes


def test_without_a_choice_they_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(_casa())
    listed = r"0: Cycle 0:Sample A:C 1s \(12 rows\), 1: .*O 1s \(15 rows\), 2: .*Ti 2p \(9 rows\)"
    for block, message in (
        (None, r"holds 3 tables, one below the other; choose one with block=: " + listed),
        (3, r"no block 3; it has " + listed),
        ("O1s", r"no block 'O1s'; .* did you mean 'O 1s'\?"),
    ):
        with pytest.raises(DataError, match=message):
            read(path, block=block)
    path.write_text(_casa(("C 1s", "C 1s", "Ti 2p")))
    with pytest.raises(DataError, match="2 tables are called 'C 1s'; it has 0: "):
        read(path, block="C 1s")
    assert read(path, block=1, columns=(0, 1)).energy.size == 15
