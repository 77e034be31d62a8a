"""What each format of files has of its own."""

from __future__ import annotations

import re
import tracemalloc
from pathlib import Path
from zipfile import ZipFile

import h5py
import numpy as np
import pytest
from support.files.samples import (
    ABSORBANCE,
    COUNTS,
    ENERGY,
    PHOTON,
    SAMPLES,
    SERIES,
    phi_bytes,
    scienta_text,
    specs_text,
    wave,
)

from pyspec.errors import DataError
from pyspec.io import read

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


def test_a_nexus_intensity_has_no_unit_of_angles(tmp_path: Path) -> None:
    # A converter of VAMAS files writes "degree", and pictures said "intensity (degree)".
    path = SAMPLES["nexus"][0].make(tmp_path)
    for label, unit in (("intensity", ""), ("rotation", "degree")):
        with h5py.File(path, "a") as file:
            file["scan/other/counts"].attrs.update(long_name=label, units="degree")
        found = read(path, data="scan/other")
        assert found.units.get("data", "") == unit
        assert any("unit 'degree'" in note for note in found.notes) == (unit == "")


def test_nexus_energies_in_units_that_are_not_known_are_left_out(tmp_path: Path) -> None:
    # Joule was taken for eV: binding energies were minus the kinetic ones, without a word. Then
    # "electron_volt", as libraries of units write it, was left out.
    path = SAMPLES["nexus"][0].make(tmp_path)
    with h5py.File(path) as file:
        place = file.visit(lambda name: name if name.endswith("incident_energy") else None)
    said = {"meV": PHOTON / 1000, "keV": PHOTON * 1000, "J": None, "electron_volt": PHOTON}
    for unit, known in said.items():
        with h5py.File(path, "a") as file:
            file[place].attrs["units"] = unit
        assert read(path).meta.get("photon_energy") == (known and pytest.approx(known, rel=1e-12))


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


def test_igor_waves_of_other_times_are_separate_in_every_unit(tmp_path: Path) -> None:
    """Times in seconds were equal where they differed by less than 1e-8."""
    waves = [
        f'WAVES/D {name}\nBEGIN\n1\n2\n3\nEND\nX SetScale/P x 0,{delta!r},"s",{name}\n'
        for name, delta in (("a", 1e-12), ("b", 2e-12))
    ]
    path = tmp_path / "a.itx"
    path.write_text("IGOR\n" + "".join(waves))
    with pytest.raises(DataError, match="2 blocks with different axes"):
        read(path)


@pytest.mark.parametrize(
    ("angle", "energy", "name"),
    [
        ("Non-Energy Channel [deg]", "kinetic energy [eV]", "angle"),
        ("deg (theta_y)", "eV (Kinetic Energy)", "angle"),
        ("Non-Energy Channel [mm]", "kinetic energy [eV]", "non_energy_channel"),
    ],
)
def test_igor_text_of_prodigy_has_its_energies(
    tmp_path: Path, angle: str, energy: str, name: str
) -> None:
    # The angles were the energy axis: a "Non-Energy Channel" has the word energy in it, and so
    # has every unit that stands before its label.
    path = tmp_path / "a.itx"
    rows = "\n".join(" ".join(str(10 * k + j) for j in range(4)) for k in range(3))
    path.write_text(
        "IGOR\nX //Created by: SpecsLab Prodigy, Version 4.84.2\nX //User Comment      = \n"
        "X //Excitation Energy = 21.2182\nX //Pass Energy       = 15\n"
        f"WAVES/S/N=(3,4) 'map_1'\nBEGIN\n{rows}\nEND\n"
        f"X SetScale/I x, -2, 2, \"{angle}\", 'map_1'\n"
        f"X SetScale/I y, 16, 19, \"{energy}\", 'map_1'\n"
        "X SetScale/I d, 0, 1, \"cps (Intensity)\", 'map_1'\n"
    )
    found = read(path)
    assert found.dims == (name, "energy")
    np.testing.assert_array_equal(found.energy, [16, 17, 18, 19])
    np.testing.assert_array_equal(found.data[1], [10, 11, 12, 13])
    assert (found.units["energy"], found.units["data"]) == ("eV", "cps")
    assert found.labels["energy"].lower() == "kinetic energy"
    assert (found.meta["photon_energy"], found.meta["pass_energy"]) == (21.2182, 15)
    np.testing.assert_allclose(read(path, energy_scale="binding").energy, 21.2182 - found.energy)


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


def test_scienta_with_decimal_commas(tmp_path: Path) -> None:
    # "Dimension 1 has 24 values of 24, or words among them; the file was not written completely."
    path = tmp_path / "a.txt"
    whole = np.round(ENERGY) - 2.0 * np.arange(ENERGY.size)
    for energy in (ENERGY, whole):  # of energies without a fraction all else was refused
        text = scienta_text([("2p1,2p3", energy, COUNTS[:, None] + 0.5, [0.0])])
        path.write_text(re.sub(r"(\d)\.(\d)", r"\1,\2", text))
        found = read(path, block="2p1,2p3")  # the name is no number
        np.testing.assert_allclose(found.energy, energy)
        np.testing.assert_allclose(found.data, COUNTS + 0.5)
    assert found.meta["photon_energy"] == PHOTON


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


@pytest.mark.parametrize("sizes", [(1, 1, 10**12), (10**6, 10**6, 5), (1, -1, -5), (0, 1, 5)])
def test_axes_of_a_scienta_zip_are_counted_before_they_are_made(
    tmp_path: Path, sizes: tuple[int, int, int]
) -> None:
    """The axes were made first: 1e12 points of 8 bytes."""
    with ZipFile(tmp_path / "a.zip", "w") as archive:
        keys = "".join(
            f"{dim}={size}\n{dim}offset=0\n{dim}delta=1\n{dim}label=x [eV]\n"
            for dim, size in zip(("depth", "height", "width"), sizes, strict=True)
        )
        archive.writestr("Spectrum_one.ini", f"[spectrum]\nname=one\n{keys}")
        archive.writestr("Spectrum_one.bin", bytes(20))
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=r"has 5 values for .* points"):
            read(tmp_path / "a.zip")
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


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
    # "A00" is 100; J, K and % are differences; S to Z repeat (JCAMP-DX 4.24, section 5.9).
    rows = "3000A00JKTJ\n2984A06%%\n"
    head, _, _ = single.partition("3000 ")
    head = head.replace("##NPOINTS=24", "##NPOINTS=7").replace("2908.0", "2976.0")
    path.write_text(head + rows + "##END=\n")
    np.testing.assert_allclose(read(path).data, [0.1, 0.101, 0.103, 0.105, 0.106, 0.106, 0.106])


# what is not read, and axes that start again


def test_vamas_with_nul_bytes_and_empty_first_lines(tmp_path: Path) -> None:
    sample = SAMPLES["vamas"][0]
    raw = sample.make(tmp_path).read_bytes()
    path = tmp_path / "b.vms"
    nul = raw[:60] + b"\x00" + raw[60:900].replace(b"a comment", b"a\x00 comment\x00") + raw[900:]
    for changed in (b"\x00\x00" + raw, b"\r\n\r\n" + raw, b"\n \n" + nul):
        path.write_bytes(changed)
        np.testing.assert_array_equal(read(path).data, COUNTS)


DELAYS, WAVES = np.array([0.0, 1.0, 5.0]), np.array([400.0, 410.0, 420.0, 430.0])
DATA = np.arange(12.0).reshape(3, 4) / 7
