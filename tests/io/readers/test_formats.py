"""One file of every format: data, axes, units; blocks, and what is refused."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.files.samples import (
    COUNTS,
    ENERGY,
    PHOTON,
    SAMPLES,
    TIME,
    samples_of,
)

from pyspec.errors import DataError
from pyspec.io import FORMATS, READERS, Dataset, read
from pyspec.io.read import _format

CASES = [
    pytest.param(name, k, id=f"{name}-{k}")
    for name in READERS
    for k in range(len(SAMPLES.get(name, [])) or 1)
]


@pytest.mark.parametrize(("name", "k"), CASES)
def test_every_reader_finds_data_axes_and_units(tmp_path: Path, name: str, k: int) -> None:
    sample = samples_of(name)[k]
    path = sample.make(tmp_path)
    assert _format(path, None).name == name
    for how in ({}, {"format": name}, {"format": READERS[name].endings[0]}):
        found = read(path, **sample.read, **how)
        np.testing.assert_allclose(found.energy, sample.energy, rtol=1e-6)
        np.testing.assert_allclose(found.data, sample.data, rtol=1e-6)
        assert found.units.get("energy", "") == sample.unit
        if sample.label is not None:
            assert found.labels["energy"] == sample.label
        if found.data.ndim == 2:
            np.testing.assert_array_equal(found.time, TIME)


@pytest.mark.parametrize("name", READERS)
def test_keywords_of_other_formats_are_refused(tmp_path: Path, name: str) -> None:
    sample, reader = samples_of(name)[0], READERS[name]
    path = sample.make(tmp_path)
    every = {word for one in READERS.values() for word in one.keywords}
    assert every == {"data", "columns", "errors", "layout", "delimiter", "decimal", "block"}
    for word in every - set(reader.keywords):
        with pytest.raises(DataError, match=rf"{word}= is for .* read as {name}, which takes"):
            read(path, **{**sample.read, word: "."})
    assert FORMATS[name] == (reader.what, reader.keywords)


def test_binding_and_kinetic_energies_for_every_format_that_says_which(tmp_path: Path) -> None:
    told = ("scienta_zip", "nexus", "phi", "vamas", "specs_xy", "scienta_txt")
    for name in told:
        sample = SAMPLES[name][0]
        path = sample.make(tmp_path)
        binding = read(path, **sample.read, energy_scale="binding")
        np.testing.assert_allclose(binding.energy, ENERGY, rtol=1e-6)
        kinetic = read(path, **sample.read, energy_scale="kinetic", work_function=4.0)
        expected = PHOTON - ENERGY - (0 if name == "vamas" else 4.0)
        np.testing.assert_allclose(kinetic.energy, expected, rtol=1e-6)
        assert kinetic.labels["energy"] == "kinetic energy"


def test_errors_of_a_column_and_of_nexus(tmp_path: Path) -> None:
    for name in ("text", "nexus"):
        sample = SAMPLES[name][0]
        found = read(sample.make(tmp_path), **sample.read)
        np.testing.assert_allclose(found.errors, np.sqrt(sample.data), rtol=1e-5)
    path = SAMPLES["text"][0].make(tmp_path)
    assert read(path, columns=("Binding Energy (eV)", "counts")).errors is None
    with pytest.raises(DataError, match=r"no column 'sigm'; it has .*did you mean 'sigma'"):
        read(path, errors="sigm")
    with pytest.raises(DataError, match="errors= belongs to one column of data"):
        read(path, errors="sigma", columns=[0, 1, 1])


def test_an_axis_that_starts_again_is_blocks_and_not_to_be_sorted(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [(e, c) for _ in range(3) for e, c in zip(ENERGY, COUNTS, strict=True)]
    path.write_text("\n".join(f"{e},{c * (1 + k // 24)}" for k, (e, c) in enumerate(rows)))
    with pytest.raises(DataError, match=r"starts again at position 24: these are 3 blocks") as told:
        read(path)
    assert "sort=True" not in str(told.value)
    assert "averag" not in str(told.value)
    assert "choose one with block=0 to block=2" in str(told.value)
    np.testing.assert_allclose(read(path, block=1).data, 2 * COUNTS)
    np.testing.assert_array_equal(read(path, block=2).energy, ENERGY)
    with pytest.raises(DataError, match=r"no block 3; it has 0: 24 points, 1: 24 points"):
        read(path, block=3)
    assert read(path, block=1).notes[-1] == "block 1 of 3: the energy axis starts again"
    path.write_text("\n".join(f"{e},{c}" for e, c in rows[:24]))  # it was said of these too
    assert not any("starts again" in note for note in read(path, block=0).notes)


def test_a_block_of_two_spectra_keeps_the_errors_of_both(tmp_path: Path) -> None:
    """The errors were cut along the columns, and `block=` refused such a table."""
    path = tmp_path / "a.csv"
    rows = [(x, k + x, 0.1 + k, k - x, 0.2 + k) for k in range(3) for x in ENERGY]
    text = "\n".join(",".join(map(repr, map(float, row))) for row in rows)
    path.write_text(f"energy,a,a_err,b,b_err\n{text}\n", encoding="utf-8")
    found = read(path, block=1)
    np.testing.assert_allclose(found.data, [1 + ENERGY, 1 - ENERGY])
    np.testing.assert_allclose(found.errors, np.outer([1.1, 1.2], np.ones(ENERGY.size)))


def test_a_spreadsheet_cut_short_is_named(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", "x" * 3000)
        archive.writestr("xl/workbook.xml", "y" * 3000)
    raw = path.read_bytes()
    for part in (raw[:200], raw):
        path.write_bytes(part)
        with pytest.raises(DataError, match="is a spreadsheet; export the table as CSV"):
            read(path)


def test_parts_of_data_keep_their_errors(tmp_path: Path) -> None:
    found: Dataset = read(SAMPLES["nexus"][0].make(tmp_path))
    errors: Any = found.errors
    np.testing.assert_array_equal(found.at(time=1).errors, errors[1])
    np.testing.assert_array_equal(found.select(energy=(285, 290)).errors, errors[:, 8:19])
    mean = found.mean("time")
    np.testing.assert_allclose(mean.errors, np.sqrt((errors**2).sum(axis=0)) / TIME.size)
    turned = read(SAMPLES["nexus"][0].make(tmp_path), transpose=True)
    np.testing.assert_array_equal(turned.errors, errors[:, ::-1].T)
