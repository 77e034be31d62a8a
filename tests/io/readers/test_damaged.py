"""Damaged files of every format, and files made to do harm: data, or one clear error."""

from __future__ import annotations

import random
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from fuzz.guided import at_most
from support.files.samples import ENERGY, SAMPLES, samples_of, scienta_zip

from pyspec.errors import DataError, PyspecError
from pyspec.io import READERS, read

#: Longest message, in bytes, beside the path of the file.
MOST = 2000


def attempt(path: Path, **how: Any) -> str:
    """What is said of a file: "" for data, or the one error."""
    with at_most(20):
        try:
            read(path, **how).describe()
        except PyspecError as error:
            text = str(error)
            assert "\n" not in text
            assert text.startswith(str(path))
            assert len(text.encode()) <= MOST + len(str(path).encode())
            return text
    return ""


def damaged(raw: bytes, cuts: int, flips: int, seed: int) -> Iterator[bytes]:
    """The file cut at places all along it, and with one to three bytes changed."""
    draw = random.Random(seed)
    for k in range(cuts):
        yield raw[: k * len(raw) // cuts]
    for k in range(flips):
        changed = bytearray(raw)
        for _ in range(1 + k % 3):
            changed[draw.randrange(len(raw))] ^= 1 << draw.randrange(8) if k % 2 else 0xFF
        yield bytes(changed)


@pytest.mark.parametrize(("cuts", "flips"), [(3, 4), pytest.param(50, 200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", READERS)
def test_damaged_files_give_data_or_one_error(
    tmp_path: Path, name: str, cuts: int, flips: int
) -> None:
    """Files cut at places all along them, and with one to three bytes changed."""
    for sample in samples_of(name):
        path, how = sample.make(tmp_path), dict(sample.read)
        raw, said = path.read_bytes(), 0
        for k, changed in enumerate(damaged(raw, cuts, flips, seed=len(raw))):
            path.write_bytes(changed)
            said += bool(attempt(path, **how, **({"format": name} if k % 2 else {})))
        assert said >= cuts // 2, "a file cut in the middle is no whole file"


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The files of all formats, and their first halves."""
    folder = tmp_path_factory.mktemp("samples")
    made = [sample.make(folder) for own in SAMPLES.values() for sample in own]
    for path in list(made):
        half = path.with_stem(f"half_{path.stem}")
        half.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        made.append(half)
    return made


@pytest.mark.parametrize("name", READERS)
def test_files_of_all_other_formats_give_data_or_one_error(
    tmp_path: Path, samples: list[Path], name: str
) -> None:
    for path in samples:
        attempt(path, format=name)
    for k, raw in enumerate((b"", b"\x00", b"\n", b"IGOR\n", b"PK\x03\x04", b"\xff" * 5000)):
        path = tmp_path / f"raw{k}"
        path.write_bytes(raw)
        assert attempt(path, format=name)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["formats/Cu-HHTP_0001.ibw", "formats/Cu-HHTP_0001.txt", "formats/SnO2_10nm.spe",
     "formats/SPECS_three_blocks.xy", "xps_real/regular.vms", "xps_real/irregular.vms",
     "xps_real/PET_C1s.csv", "formats/SnO2_10nm.spe.nxs", "formats/regular.vms.nxs",
     "xps_map/nano_xps.nc"],
)  # fmt: skip
def test_damaged_measured_files(shared: Path, tmp_path: Path, name: str) -> None:
    source = shared / "data" / name
    if not source.exists():
        pytest.skip(f"{source} is absent")
    path = tmp_path / source.name
    raw = source.read_bytes()
    for changed in damaged(raw, 50, 200, seed=1):
        path.write_bytes(changed)
        attempt(path, **({"block": "Survey"} if path.suffix == ".xy" else {}))


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("specs_xy", b"286  1000.0\n", b"", "23 values where the region announces 24"),
        ("scienta_txt", b" 292.5", b"", "dimension 1 has 23 values of 24"),
        ("scienta_txt", b"2.925", b"2.935", r"first column of \[Data\] is not the energy"),
        ("phi", b" 24 -0.5", b" 25 -0.5", "'C1s' announces 24 points in 96 bytes at 208"),
        ("jcamp", b"NPOINTS=24", b"NPOINTS=25", r"is 25 and len\(y\) 24|24 values for 25"),
        ("emsa", b"#ENDOFDATA", b"#END", "no #ENDOFDATA"),
        ("emsa", b"24.", b"25.", "24 values of 25."),
        ("emsa", b"#OFFSET", b"#OFF", "no number for #OFFSET"),
        ("vamas", b"\nREGULAR", b"\nMAPPING", r":9: scan mode 'MAPPING' is not read"),
        ("vamas", b"1192.6", b"many", r":\d+: expected a number, found 'many'"),
        ("vamas", b"\r\n48\r\n", b"\r\n47\r\n", r":\d+: 47 values cannot be shared by 2"),
        ("vamas", b"\r\n48\r\n", b"\r\n48.5\r\n", r":\d+: expected a whole number"),
        ("vamas", b"1\r\nC 1s", b"0\r\nC 1s", "holds no block"),
        ("vamas", b"1\r\nC 1s", b"-4\r\nC 1s", r":\d+: -4 cannot be a number of entries"),
        ("glotaran", b"nr 24", b"nr 25", r":5: Intervalnr says 25 values, the line has 24"),
        ("glotaran", b"Intervalnr ", b"", r":4: expected 'Intervalnr'"),
        ("glotaran", b"105.014 ", b"", r":8: the row has 24 values; it needs the time and 24 data"),
        ("glotaran", b"293.5", b"2g3.5", r":5: '2g3.5' is not a number"),
        ("glotaran", b"Wavelength explicit", b"FLIM image", "other ascii formats"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(
    tmp_path: Path, name: str, old: bytes, new: bytes, message: str
) -> None:
    path = SAMPLES[name][0].make(tmp_path)
    raw = path.read_bytes()
    assert old in raw
    path.write_bytes(raw.replace(old, new, 1))
    assert re.search(message, attempt(path, format=name))


@pytest.mark.parametrize("ending", ["npy", "npz", "mat"])
def test_nothing_is_ever_unpickled(tmp_path: Path, ending: str) -> None:
    path, proof = tmp_path / f"a.{ending}", tmp_path / "proof"
    thing = np.array([_Writes(proof)], dtype=object)
    if ending == "mat":
        np.save(tmp_path / "b.npy", thing, allow_pickle=True)
        path.write_bytes(b"MATLAB 5.0 MAT-file".ljust(128) + (tmp_path / "b.npy").read_bytes())
    else:
        (np.save if ending == "npy" else np.savez)(path, thing, allow_pickle=True)
    assert attempt(path, energy="index")
    assert attempt(path, format=ending, energy="index")
    assert not proof.exists()


class _Writes:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, proof: Path) -> None:
        self.proof = str(proof)

    def __reduce__(self) -> Any:
        return (open, (self.proof, "w"))


@pytest.mark.slow
def test_claims_of_more_than_the_file_holds_fill_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("data", shape=(1 << 20, 1 << 20), dtype="f8", chunks=(64, 64))
        file["energy"] = ENERGY
    assert "claims 8.19e+03 GiB" in attempt(path, data="data")
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", bytes(300 << 20))
    assert "the archive claims" in attempt(path)
    path = tmp_path / "b.zip"
    scienta_zip(path)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.bin", bytes(300 << 20))
    assert "the archive claims" in attempt(path)


@pytest.mark.slow
def test_groups_in_groups_and_links_in_circles(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        group = file
        for _ in range(400):
            group = group.create_group("g")
        group["counts"], group["energy"] = ENERGY, ENERGY
        file["loop"] = h5py.SoftLink("/")
        file["self"] = h5py.SoftLink("/self")
        file["elsewhere"] = h5py.ExternalLink("nothing.h5", "/data")
    assert "no array 'x'" in attempt(path, data="x")
    assert read(path).data.shape == ENERGY.shape


def test_a_damaged_heap_of_words_is_not_walked_for_ever(tmp_path: Path) -> None:
    path = SAMPLES["nexus"][0].make(tmp_path)
    raw = path.read_bytes()
    heap = raw.index(b"GCOL")
    # Low and high bytes of the length of the collection, a high byte of an object in it.
    for at in (heap + 8, heap + 14, heap + 30):
        changed = bytearray(raw)
        changed[at] ^= 0x81
        path.write_bytes(changed)
        assert "heap of words" in attempt(path)
    changed = bytearray(raw)
    changed[heap + 241] = 1
    path.write_bytes(changed)
    attempt(path)  # this used to hang


ODD = ["x" * 100_000, "two\nlines", "\x1b[31mred", "\u202eleft", "quote'\"", "%s {0} \\", "名前"]


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_odd_and_endless_names_are_not_echoed_at_length(tmp_path: Path, odd: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text("energy,counts\n1,2\n2,3\n")
    for word in ("format", "data", "layout", "delimiter", "decimal", "energy_scale", "to"):
        assert attempt(path, **{word: odd})
    for word in ("columns", "errors", "block", "energy", "time"):
        assert attempt(path, **{word: odd})
    flat = odd.replace("\n", " ").replace('"', "")
    path.write_text("energy" + f",{flat}" * 40 + "\n" + "1,2\n" * 3, encoding="utf-8")
    attempt(path, columns="no such column")
    archive = tmp_path / "a.npz"
    np.savez(archive, **{f"{odd[:60_000]}{k}".replace("\n", " "): ENERGY for k in range(3)})
    assert attempt(archive)
    assert attempt(archive, data=odd)


def test_values_that_are_no_keywords_of_read_are_one_error(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("energy,counts\n1,2\n2,3\n3,5\n")
    for how in ({"columns": 1.5}, {"columns": object()}, {"block": []}, {"energy": {}},
                {"time": "x" * 5000}, {"units": {"energy": 3}, "to": "eV"}, {"units": 5},
                {"layout": []}, {"to": 3}, {"energy_scale": 1}, {"errors": 2.5},
                {"delimiter": ""}, {"delimiter": 7}):  # fmt: skip
        with pytest.raises(DataError):
            read(path, **how)  # type: ignore[arg-type]
