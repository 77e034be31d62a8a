"""VAMAS: regular and irregular scans, several blocks, items left out, energy scales."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.files.vamas import vamas_text

from pyspec.errors import DataError
from pyspec.io import read

VALUES = [3.0, 5.0, 9.0, 4.0]


def write(folder: Path, text: str) -> Path:
    path = folder / "a.vms"
    path.write_bytes(text.encode("latin-1"))
    return path


@pytest.mark.parametrize("scan", ["REGULAR", "IRREGULAR"])
@pytest.mark.parametrize("mode", ["NORM", "SDP"])
def test_one_block(tmp_path: Path, scan: str, mode: str) -> None:
    found = read(write(tmp_path, vamas_text([("C 1s", 0, 1200.0, VALUES)], scan=scan, mode=mode)))
    assert found.dims == ("energy",)
    np.testing.assert_array_equal(found.energy, [1200, 1200.5, 1201, 1201.5])
    np.testing.assert_array_equal(found.data, VALUES)
    assert found.units["energy"] == "eV"
    assert found.labels == {"energy": "kinetic energy", "data": "counts"}
    assert found.name == "a: C 1s"
    other = read(tmp_path / "a.vms", columns="transmission")
    np.testing.assert_array_equal(other.data, [2, 2, 2, 2])


def test_an_ellipsis_of_windows_ends_no_line(tmp_path: Path) -> None:
    text = vamas_text([("C 1s\N{HORIZONTAL ELLIPSIS} film", 0, 1200.0, VALUES)])
    (tmp_path / "a.vms").write_bytes(text.encode("cp1252"))
    found = read(tmp_path / "a.vms")
    assert found.name == "a: C 1s\N{HORIZONTAL ELLIPSIS} film"
    np.testing.assert_array_equal(found.data, VALUES)


def test_blocks_of_several_samples_are_told_apart(tmp_path: Path) -> None:
    """The list said "C 1s" twice, and a stack had the name of the first sample alone."""
    names = [("C 1s", 1200.0, 1.0), ("Ti 2p", 1000.0, 2.0), ("C 1s", 1200.0, 3.0)]
    text = vamas_text([(name, 0, at, [k, k, k, k + 1]) for name, at, k in names])
    first, *others = text.split("\r\nsample\r\n")
    path = write(tmp_path, "".join([first, *(
        f"\r\n{sample}\r\n{rest}" for sample, rest in zip(("A", "A", "B"), others, strict=True)
    )]))  # fmt: skip
    found = read(path, block="C 1s")
    assert found.meta["sample"] == ("A", "B")
    assert found.meta["pass_energy"] == 20.0
    note = next(one for one in found.notes if "block=" in one)
    assert "0: C 1s (A) (4 points), 1: Ti 2p (C 1s, A) (4 points), 2: C 1s (B) (4 points)" in note
    for block in ("C 1s (B)", "B", 2):
        one = read(path, block=block)
        assert (one.name, one.meta["sample"], one.data[0]) == ("a: C 1s (B)", "B", 3)
    # Of the blocks of a name the list counted from 0: 1 was the second C 1s, and read Ti 2p.
    np.testing.assert_array_equal([read(path, block=k).data[0] for k in range(3)], [1, 2, 3])
    with pytest.raises(DataError, match="holds 2 blocks with different axes"):
        read(path, block="A")


def test_blocks_with_one_axis_are_a_series(tmp_path: Path) -> None:
    blocks = [(f"C {k}", 10.0 * k, 1200.0, [k, k + 1, k + 2, k]) for k in range(3)]
    found = read(write(tmp_path, vamas_text(blocks)))
    assert found.dims == ("time", "energy")
    np.testing.assert_array_equal(found.time, [0, 10, 20])
    np.testing.assert_array_equal(found.data[2], [2, 3, 4, 2])
    path = write(tmp_path, vamas_text(blocks, variable=("Tilt", "deg")))
    assert read(path).dims == ("series", "energy")
    assert read(path).labels["series"] == "Tilt"
    path = write(tmp_path, vamas_text([(n, 1.0, e, v) for n, _, e, v in blocks]))
    assert read(path).dims == ("block", "energy")


@pytest.mark.parametrize("listed", [True, False])
def test_items_left_out_are_those_of_the_first_block(tmp_path: Path, listed: bool) -> None:
    blocks = [("C", 1.0, 1200.0, VALUES), ("C2", 2.0, 1200.0, VALUES[::-1])]
    excluded = [1, 2, 3, 8, 12, 14, 28, 31, 32, 40]
    found = read(write(tmp_path, vamas_text(blocks, excluded=excluded, listed=listed)))
    np.testing.assert_array_equal(found.time, [1, 2])
    np.testing.assert_array_equal(found.data, [VALUES, VALUES[::-1]])


def test_a_file_cut_anywhere_gives_one_error(tmp_path: Path) -> None:
    lines = vamas_text([("C 1s", 0, 1200.0, VALUES)]).split("\r\n")
    for n_lines in range(2, len(lines) - 2):
        path = write(tmp_path, "\r\n".join(lines[:n_lines]) + "\r\n")
        with pytest.raises(DataError, match=r"a\.vms:\d+: .*export it again"):
            read(path)
    with pytest.raises(DataError, match="this is no VAMAS file"):
        read(write(tmp_path, "something\n"), format="vms")


def test_a_name_comes_before_what_else_is_said_of_blocks(tmp_path: Path) -> None:
    # A species that was left as it was, C 1s, made block="C 1s" all blocks.
    path = write(tmp_path, vamas_text([("C 1s", 0, 1200.0, VALUES), ("O 1s", 0, 950.0, VALUES)]))
    np.testing.assert_array_equal(read(path, block="C 1s").energy, [1200, 1200.5, 1201, 1201.5])
    with pytest.raises(DataError, match=r"no block 'o 1s'; it has .*did you mean 'O 1s'"):
        read(path, block="o 1s")
    with pytest.raises(DataError, match=r"did you mean 'C 1s'"):  # 'O 1s' is as near
        read(path, block="c 1s")


def test_a_calibration_by_casaxps_is_said(tmp_path: Path) -> None:
    # It went unsaid: lines stood 3.1 eV from where CasaXPS shows them.
    def noted(text: str, **choice: Any) -> str:
        found = read(write(tmp_path, text), energy_scale="binding", **choice)
        np.testing.assert_allclose(found.energy, [286.6, 286.1, 285.6, 285.1])
        return "".join(note for note in found.notes if "CasaXPS" in note)

    one = vamas_text([("C 1s", 0, 1200.0, VALUES)])
    assert noted(one) == ""
    said = noted(one.replace("first", "Calib M = 281.7 A = 284.8 BE ADD"))
    assert said == (
        "CasaXPS shows these energies calibrated (Calib M = 281.7 A = 284.8 BE ADD); here they are "
        "as measured; shift(energy=3.1) does it to binding energies, -3.1 to kinetic ones"
    )
    many = vamas_text([(f"C {k}", float(k), 1200.0, VALUES) for k in range(2)])
    many = many.replace("first", "Calib M = 281.7 A = 284.8 BE ADD", 1)
    assert "each by itself" in noted(many)
    assert noted(many, block=1) == ""
