"""A file of every format that pyspec reads, made by writers that share nothing with the readers:
other libraries, or the formats' descriptions written out here."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from support.files.vamas import vamas_text

#: 24 energies, falling as binding energies do, and counts with a line in them.
ENERGY = np.round(294.0 - 0.5 * np.arange(24), 6)
COUNTS = np.round(100.0 + 900.0 * np.exp(-(((ENERGY - 286.0) / 1.5) ** 2)), 3)
TIME = np.array([-1.0, 0.0, 0.5, 2.0])
SERIES = np.round(COUNTS * (1.0 + 0.1 * TIME[:, None]), 3)
PHOTON = 1486.6


@dataclass(frozen=True)
class Sample:
    """How to write a file, and what `read` finds in it."""

    write: Callable[[Path], None]
    name: str
    energy: Any
    data: Any
    unit: str = "eV"
    label: str | None = None
    read: Mapping[str, Any] = field(default_factory=dict)

    def make(self, folder: Path) -> Path:
        """Writes the file into a folder."""
        path = folder / self.name
        self.write(path)
        return path


def npy(path: Path) -> None:
    np.save(path, COUNTS)


def npz(path: Path) -> None:
    np.savez(path, counts=SERIES, energy=ENERGY, delay=TIME)


def matlab(path: Path) -> None:
    from scipy.io import savemat

    scan = {"counts": SERIES, "energy": ENERGY, "delay": TIME}
    savemat(path, {"scan": scan, "note": "a scan"}, do_compression=True)


def matlab73(path: Path) -> None:
    """Version 7.3: HDF5 behind 512 bytes of text, arrays in the order of their last index."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, array in (("counts", SERIES), ("energy", ENERGY[None]), ("delay", TIME[None])):
            file[name] = array.T
            file[name].attrs["MATLAB_class"] = np.bytes_("double")
    with path.open("r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512, b" "))


def hdf5(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["scan/counts"], file["scan/energy"], file["scan/delay"] = SERIES, ENERGY, TIME
        file["scan/energy"].attrs["units"] = "eV"


def nexus(path: Path) -> None:
    """As NXmpes has it, with a second signal and a chain of defaults."""
    with h5py.File(path, "w") as file:
        file.attrs.update(NX_class="NXroot", default="scan")
        entry = file.create_group("scan")
        entry.attrs.update(NX_class="NXentry", default="data")
        entry["title"] = "C 1s"
        entry["instrument/beam/incident_energy"] = PHOTON
        entry["instrument/beam/incident_energy"].attrs["units"] = "eV"
        for name, array in (("data", SERIES), ("other", 2 * SERIES)):
            group = entry.create_group(name)
            group.attrs.update(NX_class="NXdata", signal="counts", axes=["delay", "energy"])
            group["counts"], group["counts_errors"] = array, np.sqrt(array)
            group["energy"], group["delay"] = ENERGY, TIME
            group["energy"].attrs.update(units="eV", type="binding")
            group["delay"].attrs["units"] = "ps"


def netcdf(path: Path) -> None:
    import xarray

    coords = {"delay": ("delay", TIME, {"units": "ps"}), "eV": ("eV", ENERGY, {"units": "eV"})}
    array = xarray.DataArray(SERIES, dims=("delay", "eV"), coords=coords, name="counts")
    array.to_netcdf(path, engine="h5netcdf")


def ibw(path: Path) -> None:
    wave(COUNTS).save(str(path))


def itx(path: Path) -> None:
    wave(COUNTS).save_itx(str(path))


def wave(data: np.ndarray, name: str = "spectrum") -> Any:
    """A wave of igorwriter with a scale along x."""
    from igorwriter import IgorWave

    made = IgorWave(data, name=name)
    made.set_dimscale("x", ENERGY[0], ENERGY[1] - ENERGY[0], "eV")
    made.set_datascale("cts")
    return made


def vamas(path: Path) -> None:
    blocks = [("C 1s", 0.0, float(PHOTON - ENERGY[0]), [float(v) for v in COUNTS])]
    path.write_bytes(vamas_text(blocks, photon=PHOTON).encode("latin-1"))


def specs_xy(path: Path) -> None:
    path.write_text(specs_text([("C1s", ENERGY, COUNTS), ("O1s", ENERGY + 245, 2 * COUNTS)]))


def specs_text(regions: list[tuple[str, np.ndarray, np.ndarray]], prefix: str = "#") -> str:
    """The lines that SPECS Prodigy exports."""
    head = [
        "Created by:        SpecsLab Prodigy, Version 4.1",
        "",
        "XY-Serializer Export Settings:",
    ]
    head += ["  Energy Axis:              Binding Energy", ""]
    lines = [f"{prefix} {word}".rstrip() for word in head]
    for name, energy, counts in regions:
        own = ["Group:      sample", "", f"Region:     {name}", f"Values/Curve:  {energy.size}"]
        own += [f"Excitation Energy:  {PHOTON}", "Pass Energy:  20", "Eff. Workfunction:  4.2"]
        lines += [f"{prefix} {word}".rstrip() for word in own] + [""]
        lines += [
            f"{prefix} Cycle: 0, Curve: 0, Scan: 0",
            f"{prefix} ColumnLabels: energy counts/s",
        ]
        lines += [f"{e:.6g}  {c}" for e, c in zip(energy, counts, strict=True)] + [""]
    return "\n".join(lines)


def scienta_txt(path: Path) -> None:
    path.write_text(scienta_text([("C1s", ENERGY, COUNTS[:, None], [0.0])]))


def scienta_text(regions: list[tuple[str, np.ndarray, np.ndarray, list[float]]]) -> str:
    """The sections that SES writes: (name, energies, counts by energy and angle, angles)."""
    lines = ["[Info]", f"Number of Regions={len(regions)}", "Version=1.3.1", ""]
    for k, (name, energy, counts, angles) in enumerate(regions, 1):
        lines += [f"[Region {k}]", f"Region Name={name}", "Dimension 1 name=Binding Energy [eV]"]
        lines += [f"Dimension 1 size={energy.size}"]
        lines += ["Dimension 1 scale=" + " ".join(f"{e:g}" for e in energy)]
        if len(angles) > 1:
            lines += ["Dimension 2 name=Y-Scale [deg]", f"Dimension 2 size={len(angles)}"]
            lines += ["Dimension 2 scale=" + " ".join(f"{a:g}" for a in angles)]
        lines += ["", f"[Info {k}]", f"Region Name={name}", f"Excitation Energy={PHOTON}"]
        lines += ["Pass Energy=20", "", f"[Data {k}]"]
        for e, row in zip(energy, counts, strict=True):
            lines.append(f" {e:.14E}  " + "  ".join(f"{c:.14E}" for c in row))
        lines.append("")
    return "\r\n".join(lines)


def scienta_zip(path: Path) -> None:
    spectrum = f"[spectrum]\nname=C1s\nwidth={ENERGY.size}\nwidthoffset={ENERGY[0]}\n"
    spectrum += "widthdelta=-0.5\nwidthlabel=Binding Energy [eV]\nheight=1\nheightoffset=0\n"
    spectrum += "heightdelta=1\nheightlabel=Thetax [deg]\ndepth=1\ndepthoffset=0\ndepthdelta=1\n"
    spectrum += "depthlabel=Thetay [deg]\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("viewer.ini", "[viewer]\nname=C1s\n")
        archive.writestr("Spectrum_C1s.ini", spectrum)
        archive.writestr("Spectrum_C1s.bin", COUNTS.astype("<f4").tobytes())
        archive.writestr("C1s.ini", f"[SES]\nExcitation Energy={PHOTON}\nPass Energy=20\n")


def phi(path: Path) -> None:
    path.write_bytes(phi_bytes([("C1s", ENERGY, COUNTS), ("O1s", ENERGY + 245, 2 * COUNTS)]))


def phi_bytes(regions: list[tuple[str, np.ndarray, np.ndarray]], kind: str = "f") -> bytes:
    """A header in text, then 16 bytes, 96 for each region, and the numbers."""
    lines = ["SOFH", "InstrumentModel: VersaProbe 4", "XraySource: Al 1486.6 mono"]
    lines += ["AnalyserWorkFcn: 4.5 eV", f"NoSpectralReg: {len(regions)}"]
    size = struct.calcsize(kind)
    begins = 16 + 96 * len(regions)
    heads, numbers = b"", b""
    for k, (name, energy, counts) in enumerate(regions, 1):
        ends = f"{energy[1] - energy[0]:.4f} {energy[0]:.4f} {energy[-1]:.4f} 0.0 0.0"
        lines.append(f"SpectralRegDef: {k} 1 {name} 6 {energy.size} {ends} 0.12 55.00 AREA")
        words = [k, 1, 1, 1, 1, energy.size, 1, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0]
        words[8], words[10], words[14] = (
            int.from_bytes(text, "little") for text in (b"pnt", b"sar", b"c/s")
        )
        words += [size * energy.size, begins + len(numbers), 0, 0, 0]
        heads += struct.pack("<24I", *words)
        numbers += struct.pack(f"<{energy.size}{kind}", *counts)
    head = "\r\n".join([*lines, "EOFH", ""]).encode()
    return head + struct.pack("<4I", 1, len(regions), 96, 16) + heads + numbers


def jcamp(path: Path) -> None:
    wavenumbers, values = WAVENUMBERS, ABSORBANCE
    lines = ["##TITLE=polymer film", "##JCAMP-DX=4.24", "##DATA TYPE=INFRARED SPECTRUM"]
    lines += ["##XUNITS=1/CM", "##YUNITS=ABSORBANCE", "##XFACTOR=1.0", "##YFACTOR=0.001"]
    lines += [f"##FIRSTX={wavenumbers[0]}", f"##LASTX={wavenumbers[-1]}"]
    lines += [f"##NPOINTS={wavenumbers.size}", "##XYDATA=(X++(Y..Y))"]
    for k in range(0, wavenumbers.size, 6):
        row = " ".join(str(round(1000 * v)) for v in values[k : k + 6])
        lines.append(f"{wavenumbers[k]:g} {row}")
    path.write_text("\n".join([*lines, "##END=", ""]))


WAVENUMBERS = 3000.0 - 4.0 * np.arange(24)
ABSORBANCE = np.round(0.1 + 0.8 * np.exp(-(((WAVENUMBERS - 2950) / 20) ** 2)), 3)


def opus(path: Path) -> None:
    """An absorbance and its parameters, with the directory in front."""
    data = struct.pack("<24f", *ABSORBANCE)
    params = _opus_int("DPF", 1) + _opus_int("NPT", 24) + _opus_real("FXV", WAVENUMBERS[0])
    params += _opus_real("LXV", WAVENUMBERS[-1]) + _opus_real("CSF", 1.0)
    params += b"DXU\x00" + struct.pack("<2h", 3, 2) + b"WN\x00\x00" + b"END\x00" + bytes(4)
    kind = 3 | 3 << 2 | 4 << 10
    where = 24 + 12 * 4
    entries = [(kind, 24, where), (kind | 1 << 4, len(params) // 4, where + len(data)), (0, 0, 0)]
    directory = b"".join(struct.pack("<3i", *entry) for entry in entries).ljust(12 * 4, b"\x00")
    head = b"\n\n\xfe\xfe" + struct.pack("<d3i", 920622.0, 24, 4, 2)
    path.write_bytes(head + directory + data + params)


def _opus_int(key: str, value: int) -> bytes:
    return key.encode() + b"\x00" + struct.pack("<2hi", 0, 2, value)


def _opus_real(key: str, value: float) -> bytes:
    return key.encode() + b"\x00" + struct.pack("<2hd", 1, 4, value)


def emsa(path: Path) -> None:
    lines = ["#FORMAT      : EMSA/MAS Spectral Data File", "#VERSION     : 1.0"]
    lines += ["#TITLE       : Fe L23", f"#NPOINTS     : {COUNTS.size}.", "#NCOLUMNS    : 4"]
    lines += ["#XUNITS      : eV", "#YUNITS      : counts", "#DATATYPE    : Y"]
    lines += ["#XPERCHAN    : 0.5", "#OFFSET      : 700.0", "#SIGNALTYPE  : ELS"]
    lines += ["#XLABEL      : Energy loss", "#SPECTRUM    : Spectral Data Starts Here"]
    lines += [", ".join(map(str, COUNTS[k : k + 4])) for k in range(0, COUNTS.size, 4)]
    path.write_text("\r\n".join([*lines, "#ENDOFDATA   : End Of Data", ""]))


def emsa_pairs(path: Path) -> None:
    emsa(path)
    head = path.read_text().partition(f"{COUNTS[0]}, ")[0].replace(": Y", ": XY")
    rows = "\n".join(f"{e}, {c}" for e, c in zip(ENERGY, COUNTS, strict=True))
    path.write_text(f"{head}{rows}\n#ENDOFDATA   : \n")


def xdi(path: Path) -> None:
    lines = ["# XDI/1.0 GSE/1.0", "# Column.1: energy eV", "# Column.2: mutrans"]
    lines += ["# Element.symbol: Fe", "# Element.edge: K", "# ///", "# a foil", "#----"]
    lines += ["# energy mutrans"]
    lines += [f"  {7100 + k:.3f}  {v}" for k, v in enumerate(COUNTS)]
    path.write_text("\n".join(lines) + "\n")


def glotaran(path: Path) -> None:
    lines = ["title", "dataset name", "Wavelength explicit", f"Intervalnr {ENERGY.size}"]
    lines.append(" ".join(map(str, ENERGY)))
    lines += [f"{t} " + " ".join(map(str, row)) for t, row in zip(TIME, SERIES, strict=True)]
    path.write_text("\n".join(lines) + "\n")


def glotaran_times(path: Path) -> None:
    lines = ["title", "dataset name", "Time explicit", f"Intervalnr {TIME.size}"]
    lines.append(" ".join(map(str, TIME)))
    lines += [f"{e} " + " ".join(map(str, row)) for e, row in zip(ENERGY, SERIES.T, strict=True)]
    path.write_text("\n".join(lines) + "\n")


def sia(path: Path) -> None:
    lines = ["\t".join(["Wavelength (nm)", *(f"{t} ps" for t in TIME)])]
    lines += ["\t".join(map(str, [e, *SERIES[:, k]])) for k, e in enumerate(ENERGY)]
    path.write_text("\n".join(lines) + "\n")


def text(path: Path) -> None:
    rows = [f"{e},{c},{np.sqrt(c):.6f}" for e, c in zip(ENERGY, COUNTS, strict=True)]
    path.write_text("# sample: gold\nBinding Energy (eV),counts,sigma\n" + "\n".join(rows) + "\n")


#: Name of the reader → files of its format. Every reader has at least one.
SAMPLES: dict[str, list[Sample]] = {
    "npy": [Sample(npy, "a.npy", ENERGY, COUNTS, "", read={"energy": ENERGY})],
    "npz": [Sample(npz, "a.npz", ENERGY, SERIES, "")],
    "scienta_zip": [Sample(scienta_zip, "a.zip", ENERGY, COUNTS, label="Binding Energy")],
    "netcdf": [Sample(netcdf, "a.nc", ENERGY, SERIES)],
    "nexus": [Sample(nexus, "a.nxs", ENERGY, SERIES, label="binding energy")],
    "matlab": [
        Sample(matlab, "a.mat", ENERGY, SERIES, ""),
        Sample(matlab73, "b.mat", ENERGY, SERIES, ""),
    ],
    "hdf5": [Sample(hdf5, "a.h5", ENERGY, SERIES)],
    "igor_ibw": [Sample(ibw, "a.ibw", ENERGY, COUNTS)],
    "opus": [Sample(opus, "a.0", WAVENUMBERS, ABSORBANCE, "cm⁻¹", "wavenumber")],
    "phi": [Sample(phi, "a.spe", ENERGY, COUNTS, label="Binding Energy", read={"block": "C1s"})],
    "vamas": [Sample(vamas, "a.vms", PHOTON - ENERGY, COUNTS, label="kinetic energy")],
    "igor_itx": [Sample(itx, "a.itx", ENERGY, COUNTS)],
    "specs_xy": [
        Sample(specs_xy, "a.xy", ENERGY, COUNTS, label="Binding Energy", read={"block": 0})
    ],
    "scienta_txt": [Sample(scienta_txt, "a.txt", ENERGY, COUNTS, label="Binding Energy")],
    "jcamp": [Sample(jcamp, "a.jdx", WAVENUMBERS, ABSORBANCE, "cm⁻¹", "wavenumber")],
    "emsa": [
        Sample(emsa, "a.msa", 700 + 0.5 * np.arange(24), COUNTS, label="Energy loss"),
        Sample(emsa_pairs, "b.msa", ENERGY, COUNTS, label="Energy loss"),
    ],
    "xdi": [Sample(xdi, "a.xdi", 7100.0 + np.arange(24), COUNTS, label="energy")],
    "glotaran": [
        Sample(glotaran, "a.ascii", ENERGY, SERIES, "", label="wavelength"),
        Sample(glotaran_times, "b.ascii", ENERGY, SERIES, "", label="wavelength"),
    ],
    "sia": [Sample(sia, "a.SIA", ENERGY, SERIES, "nm", label="Wavelength")],
    "text": [
        Sample(text, "a.csv", ENERGY, COUNTS, label="Binding Energy", read={"errors": "sigma"})
    ],
}


def samples_of(name: str) -> list[Sample]:
    """The files of a format; every reader of the list must have one."""
    assert SAMPLES.get(name), f"tests/support/files/samples.py needs a file of the format {name!r}"
    return SAMPLES[name]
