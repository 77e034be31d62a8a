"""One file of every format: data, axes, units; and what each format has of its own."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from support.io_samples import (
    ABSORBANCE,
    COUNTS,
    ENERGY,
    PHOTON,
    SAMPLES,
    SERIES,
    TIME,
    phi_bytes,
    samples_of,
    scienta_text,
    specs_text,
    wave,
)

from pyspec.errors import DataError
from pyspec.io import FORMATS, READERS, Dataset, read
from pyspec.io.found import runs

CASES = [
    pytest.param(name, k, id=f"{name}-{k}")
    for name in READERS
    for k in range(len(SAMPLES.get(name, [])) or 1)
]


@pytest.mark.parametrize(("name", "k"), CASES)
def test_every_reader_finds_data_axes_and_units(tmp_path: Path, name: str, k: int) -> None:
    sample = samples_of(name)[k]
    path = sample.make(tmp_path)
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
def test_a_file_is_recognised_by_its_own_reader_alone(tmp_path: Path, name: str) -> None:
    from pyspec.io.read import _format

    for sample in samples_of(name):
        assert _format(sample.make(tmp_path), None).name == name


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


@pytest.mark.parametrize("name", READERS)
def test_a_reader_declares_itself_for_the_documentation(name: str) -> None:
    reader = READERS[name]
    assert reader.what
    assert reader.endings
    assert reader.checked
    assert reader.example.startswith("read(")


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


@pytest.mark.parametrize("name", ["npz", "hdf5"])
def test_errors_among_named_arrays(tmp_path: Path, name: str) -> None:
    arrays = {"counts": SERIES, "sigma": np.sqrt(SERIES), "energy": ENERGY, "time": TIME}
    path = tmp_path / "a"
    if name == "npz":
        with path.open("wb") as stream:
            np.savez(stream, **arrays)
    else:
        with h5py.File(path, "w") as file:
            for key, array in arrays.items():
                file[key] = array
    found = read(path, errors="sigma")
    np.testing.assert_array_equal(found.data, SERIES)
    np.testing.assert_array_equal(found.errors, np.sqrt(SERIES))
    with pytest.raises(DataError, match=r"the errors have shape \(24,\), the data \(4, 24\)"):
        read(path, data="counts", errors="energy")


# NeXus


def test_nexus_data_alone_names_group_or_signal(tmp_path: Path) -> None:
    path = SAMPLES["nexus"][0].make(tmp_path)
    for data in ("scan/other", "/scan/other/counts", "other", "other/counts"):
        found = read(path, data=data)
        np.testing.assert_array_equal(found.data, 2 * SERIES)
        np.testing.assert_array_equal(found.energy, ENERGY)
        assert (found.units["time"], found.labels["energy"]) == ("ps", "binding energy")
    assert read(path).meta["photon_energy"] == PHOTON
    assert any("other data, for data=: /scan/other" in note for note in read(path).notes)
    with pytest.raises(DataError, match="data='counts': there is several"):
        read(path, data="counts")
    with pytest.raises(DataError, match="data='nothing': there is none"):
        read(path, data="nothing")


def test_nexus_without_default_old_style_and_in_circles(tmp_path: Path) -> None:
    path = tmp_path / "a.nxs"
    with h5py.File(path, "w") as file:
        entry = file.create_group("entry")
        entry.attrs.update(NX_class="NXentry", default="../entry")
        data = entry.create_group("data")
        data.attrs["NX_class"] = "NXdata"
        data["counts"], data["energy"] = COUNTS, np.append(ENERGY, ENERGY[-1] - 0.5)
        data["counts"].attrs.update(signal="1", axes="energy")
        data["loop"] = h5py.SoftLink("/entry")
        data["gone"] = h5py.SoftLink("/nowhere")
    found = read(path)
    np.testing.assert_allclose(found.energy, ENERGY - 0.25)
    np.testing.assert_array_equal(found.data, COUNTS)
    assert any("edges of bins" in note for note in found.notes)
    with h5py.File(path, "a") as file:
        file.copy("entry/data", "entry/more")
    with pytest.raises(DataError, match=r"no default data; choose with data=: /entry/data, /entry"):
        read(path)
    with h5py.File(path, "a") as file:
        file["entry/data"].attrs["signal"] = "missing"
    with pytest.raises(DataError, match="the signal 'missing' of /entry/data is no array"):
        read(path, data="entry/data")
    with pytest.raises(DataError, match="errors='sigma' is no array of the shape"):
        read(path, data="entry/more", errors="sigma")


# Igor


def test_igor_images_have_the_axes_of_their_units(tmp_path: Path) -> None:
    image = wave(np.outer(COUNTS, [1.0, 2.0, 4.0]), "image")
    image.set_dimscale("y", -1.0, 0.5, "deg")
    image.save(str(tmp_path / "a.ibw"))
    image.save_itx(str(tmp_path / "a.itx"))
    for name in ("a.ibw", "a.itx"):
        found = read(tmp_path / name)
        assert found.dims == ("angle", "energy")
        np.testing.assert_array_equal(found.axes["angle"], [-1, -0.5, 0])
        np.testing.assert_allclose(found.data, np.outer([1, 2, 4], COUNTS))
        assert found.units["angle"] == "deg"


ITX = """IGOR
WAVES/D E, 'two words', b
BEGIN
 1\t10\t5
 2\t20\t6
 4\t40\tNaN
END
X SetScale d 0,0,"eV", E; SetScale d 0,0,"cts", 'two words', b
X Note b, "Excitation Energy=21.2"
WAVES/D scaled
BEGIN
1
2
3
END
X SetScale/I x 5,6,"eV",scaled
"""


def test_igor_text_with_several_waves(tmp_path: Path) -> None:
    path = tmp_path / "a.itx"
    path.write_text(ITX.replace("\n", "\r"))
    found = read(path, block="two words")
    np.testing.assert_array_equal(found.energy, [1, 2, 4])
    np.testing.assert_array_equal(found.data, [10, 20, 40])
    assert (found.units["energy"], found.units["data"]) == ("eV", "cts")
    np.testing.assert_array_equal(read(path, block="scaled").energy, [5, 5.5, 6])
    assert read(path, block="b").n_bad == 1
    with pytest.raises(DataError, match=r"3 blocks with different axes.*0: two words \(3 points\)"):
        read(path)
    for old, new, message in (
        ("END\r", "", "expected|no row of numbers|ends before END"),
        ("BEGIN", "BEGUN", "expected BEGIN, found 'BEGUN'"),
        ("20\t6", "20", r"3 rows of 2, 3 values"),
        ("10\t5", "10\tx", r"a\.itx:4: .* is no row of numbers"),
    ):
        path.write_text(ITX.replace("\n", "\r").replace(old, new, 1))
        with pytest.raises(DataError, match=message):
            read(path, block="two words")


# SPECS, Scienta, PHI: several spectra in a file


@pytest.mark.parametrize("prefix", ["#", "//"])
def test_specs_regions_are_blocks_with_their_metadata(tmp_path: Path, prefix: str) -> None:
    path = tmp_path / "a.xy"
    regions = [("C1s", ENERGY, COUNTS), ("O1s", ENERGY + 245, 2 * COUNTS), ("C1s", ENERGY, COUNTS)]
    path.write_text(specs_text(regions, prefix))
    with pytest.raises(DataError, match=r"3 blocks with different axes, separate spectra.*1: O1s"):
        read(path)
    one = read(path, block="O1s")
    np.testing.assert_array_equal(one.data, 2 * COUNTS)
    assert one.meta["photon_energy"] == PHOTON
    assert (one.meta["work_function"], one.meta["pass_energy"]) == (4.2, 20.0)
    assert read(path, block="C1s").dims == ("block", "energy")
    with pytest.raises(DataError, match=r"no block 'O1'; it has 0: C1s.*did you mean 'O1s'"):
        read(path, block="O1")
    text = specs_text(regions, prefix)
    path.write_text(text[: text.index("286")])
    with pytest.raises(DataError, match="15 values where the region announces 24"):
        read(path)


def test_specs_external_channels_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.xy"
    more = ["# External Channel Data Cycle: 0, 1 (Ring Current)", "# ColumnLabels: energy value"]
    more += [f"{e:g}  1.5" for e in ENERGY]
    path.write_text(specs_text([("C1s", ENERGY, COUNTS)]) + "\n" + "\n".join(more))
    np.testing.assert_array_equal(read(path).data, COUNTS)


def test_scienta_regions_and_angles(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    image = np.outer(COUNTS, [1.0, 2.0, 3.0])
    text = scienta_text([("map", ENERGY, image, [-1, 0, 1]), ("C1s", ENERGY, image[:, :1], [0.0])])
    path.write_text(text)
    with pytest.raises(DataError, match=r"2 blocks .* 0: map \(3 × 24 points\), 1: C1s \(24"):
        read(path)
    found = read(path, block="map")
    assert found.dims == ("angle", "energy")
    np.testing.assert_allclose(found.data, image.T)
    assert (found.units["angle"], found.meta["pass_energy"]) == ("deg", 20.0)
    np.testing.assert_allclose(read(path, block=1).data, COUNTS)
    path.write_text(text.replace(f"{ENERGY[3]:g} ", "", 1))
    with pytest.raises(DataError, match="dimension 1 has 23 values of 24"):
        read(path)
    path.write_text(text.replace(f"{ENERGY[3]:.14E}", f"{ENERGY[3] + 1:.14E}", 1))
    with pytest.raises(DataError, match=r"first column of \[Data\] is not the energy"):
        read(path)


def test_phi_regions_in_both_precisions(tmp_path: Path) -> None:
    path = tmp_path / "a.spe"
    regions = [("C1s", ENERGY, COUNTS), ("O1s", ENERGY + 245, 2 * COUNTS)]
    for kind in "fd":
        path.write_bytes(phi_bytes(regions, kind))
        found = read(path, block="O1s")
        np.testing.assert_allclose(found.data, 2 * COUNTS, rtol=1e-6)
        np.testing.assert_allclose(found.energy, ENERGY + 245)
        assert found.units["data"] == "counts/s"
        assert (found.meta["pass_energy"], found.meta["work_function"]) == (55.0, 4.5)
    path.write_bytes(phi_bytes(regions).replace(b" 24 -0.5", b" 25 -0.5", 1))
    with pytest.raises(DataError, match="'C1s' announces 24 points in 96 bytes at 208"):
        read(path)


# spectra of molecules


def test_opus_as_another_reader_sees_it(tmp_path: Path) -> None:
    brukeropus = pytest.importorskip("brukeropus")
    path = SAMPLES["opus"][0].make(tmp_path)
    other = brukeropus.read_opus(str(path))
    np.testing.assert_array_equal(other.a.y, read(path).data)
    np.testing.assert_array_equal(other.a.x, read(path).energy)


def test_jcamp_compound_and_compressed_files(tmp_path: Path) -> None:
    single = SAMPLES["jcamp"][0].make(tmp_path).read_text()
    other = single.replace("polymer film", "solvent").replace("##YFACTOR=0.001", "##YFACTOR=0.002")
    path = tmp_path / "b.jdx"
    head = "##TITLE=both\n##JCAMP-DX=4.24\n##DATA TYPE=LINK\n##BLOCKS=2\n"
    path.write_text(head + single + other + "##END=\n")
    np.testing.assert_allclose(read(path, block="solvent").data, 2 * ABSORBANCE)
    assert read(path).dims == ("block", "energy")
    path.write_text(single.replace("##NPOINTS=24", "##NPOINTS=25"))
    with pytest.raises(DataError, match=r"x\) is 25 and len\(y\) 24|24 values for 25"):
        read(path)
    # "A00" is 100; J, K and % are differences; S to Z repeat (JCAMP-DX 4.24, section 5.9).
    rows = "3000A00JKTJ\n2984A06%%\n"
    head, _, _ = single.partition("3000 ")
    head = head.replace("##NPOINTS=24", "##NPOINTS=7").replace("2908.0", "2976.0")
    path.write_text(head + rows + "##END=\n")
    np.testing.assert_allclose(read(path).data, [0.1, 0.101, 0.103, 0.105, 0.106, 0.106, 0.106])


def test_emsa_pairs_and_what_is_missing(tmp_path: Path) -> None:
    text = SAMPLES["emsa"][0].make(tmp_path).read_text()
    path = tmp_path / "b.msa"
    rows = "\n".join(f"{e}, {c}" for e, c in zip(ENERGY, COUNTS, strict=True))
    head = text.partition("100.")[0].replace(": Y", ": XY")
    path.write_text(f"{head}{rows}\n#ENDOFDATA   : \n")
    np.testing.assert_array_equal(read(path).energy, ENERGY)
    for old, new, message in (
        ("#ENDOFDATA", "#END", "no #ENDOFDATA"),
        ("24.", "25.", "24 values of 25."),
        ("#OFFSET", "#OFF", "no number for #OFFSET"),
    ):
        path.write_text(text.replace(old, new))
        with pytest.raises(DataError, match=message):
            read(path)


@pytest.mark.parametrize(
    ("head", "label", "unit"),
    [
        ("# Energy loss (eV)\tcounts\n", "Energy loss", "eV"),
        ("#energy(eV) xmu\n", "energy", "eV"),
        ("# Sample: Fe foil\n# ring current 100 mA\n#-----\n#  energy   mu\n", "energy", ""),
    ],
)
def test_eels_and_xas_tables_with_headers_in_comments(
    tmp_path: Path, head: str, label: str, unit: str
) -> None:
    path = tmp_path / "a.dat"
    separator = "\t" if "\t" in head else "  "
    path.write_text(head + "\n".join(f"{700 + k}{separator}{v}" for k, v in enumerate(COUNTS)))
    found = read(path)
    assert (found.labels.get("energy"), found.units.get("energy", "")) == (label, unit)
    np.testing.assert_array_equal(found.data, COUNTS)
    if "Sample" in head:
        assert found.meta["Sample"] == "Fe foil"


# what is not read, and axes that start again


def test_vamas_with_nul_bytes_and_empty_first_lines(tmp_path: Path) -> None:
    sample = SAMPLES["vamas"][0]
    raw = sample.make(tmp_path).read_bytes()
    path = tmp_path / "b.vms"
    nul = raw[:60] + b"\x00" + raw[60:900].replace(b"a comment", b"a\x00 comment\x00") + raw[900:]
    for changed in (b"\x00\x00" + raw, b"\r\n\r\n" + raw, b"\n \n" + nul):
        path.write_bytes(changed)
        np.testing.assert_array_equal(read(path).data, COUNTS)


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


UP = np.arange(10.0)


@pytest.mark.parametrize(
    ("axis", "parts"),
    [
        (np.concatenate([UP, UP]), [(0, 10), (10, 20)]),
        (np.concatenate([UP, UP[::-1]]), [(0, 20)]),
        (np.concatenate([UP, 50 - UP, 280 + UP]), [(0, 10), (10, 20), (20, 30)]),
        (np.concatenate([np.geomspace(1, 1e3, 9), np.geomspace(1, 1e3, 9)]), [(0, 9), (9, 18)]),
        (np.array([1.0, 2, 3, 2.5, 4, 5, 6]), [(0, 7)]),
        (np.array([1.0, 2, 1, 2, 1, 2, 1, 2]), [(0, 8)]),
        (np.array([1.0, 2, 3, 3, 4, 5, 6]), [(0, 7)]),
    ],
)
def test_where_an_axis_starts_again(axis: np.ndarray, parts: list[tuple[int, int]]) -> None:
    assert runs(axis) == parts


@pytest.mark.parametrize("size", [20, 200, 5000])
def test_a_spreadsheet_cut_short_is_named(tmp_path: Path, size: int) -> None:
    path = tmp_path / "book.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", "x" * 3000)
        archive.writestr("xl/workbook.xml", "y" * 3000)
    raw = path.read_bytes()
    path.write_bytes(raw[:size])
    with pytest.raises(DataError, match=r"archive is damaged .* then export the table as CSV"):
        read(path)
    path.write_bytes(raw)
    with pytest.raises(DataError, match="is a spreadsheet; export the table as CSV"):
        read(path)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"\x1f\x8b\x08\x00", "is compressed, which is not read; unpack it first"),
        (b"%PDF-1.7", "is a PDF"),
        (b"\x89PNG\r\n\x1a\n", "is a picture"),
        (b"SQLite format 3\x00", r"export it as \.xy or \.vms"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel file"),
        (b"\x80\x04\x95abc", "is a Python pickle"),
    ],
)
def test_formats_that_are_known_and_not_read(tmp_path: Path, raw: bytes, message: str) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(raw)
    with pytest.raises(DataError, match=message):
        read(path)


def test_an_unknown_format_lists_those_that_are_read(tmp_path: Path) -> None:
    path = SAMPLES["text"][0].make(tmp_path)
    with pytest.raises(DataError) as told:
        read(path, format="excel")
    assert all(name in str(told.value) for name in READERS)


def test_parts_of_data_keep_their_errors(tmp_path: Path) -> None:
    found: Dataset = read(SAMPLES["nexus"][0].make(tmp_path))
    errors: Any = found.errors
    np.testing.assert_array_equal(found.at(time=1).errors, errors[1])
    np.testing.assert_array_equal(found.select(energy=(285, 290)).errors, errors[:, 8:19])
    mean = found.mean("time")
    np.testing.assert_allclose(mean.errors, np.sqrt((errors**2).sum(axis=0)) / TIME.size)
    turned = read(SAMPLES["nexus"][0].make(tmp_path), transpose=True)
    np.testing.assert_array_equal(turned.errors, errors[:, ::-1].T)
