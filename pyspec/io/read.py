"""read: one call for the files that people have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspec.errors import DataError, suggest
from pyspec.io.arrays import read_hdf5, read_npy, read_npz
from pyspec.io.dataset import Dataset
from pyspec.io.found import Found, assemble
from pyspec.io.glotaran import is_glotaran, read_glotaran
from pyspec.io.layout import read_layout
from pyspec.io.netcdf import read_netcdf
from pyspec.io.text import read_axis, read_table, read_text
from pyspec.io.vamas import MAGIC, read_vamas

#: Format → what it is, and the keywords that it understands beside the common ones.
FORMATS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "text": (
        "CSV, TSV, columns between white space",
        ("layout", "columns", "delimiter", "decimal"),
    ),
    "sia": ("KiMoPack's .SIA: delays × wavelengths, tabs", ("decimal",)),
    "glotaran": ("ascii of glotaran, wavelength or time explicit", ()),
    "vamas": ("VAMAS, ISO 14976", ("block", "columns", "energy_scale")),
    "npy": ("one NumPy array", ()),
    "npz": ("NumPy arrays by name", ("data",)),
    "hdf5": ("HDF5, through h5py", ("data",)),
    "netcdf": ("NetCDF, through xarray", ("data",)),
}
_ALIASES = {
    "csv": "text",
    "tsv": "text",
    "txt": "text",
    "dat": "text",
    "ascii": "glotaran",
    "vms": "vamas",
    "h5": "hdf5",
    "hdf": "hdf5",
    "nc": "netcdf",
}
_NAMED = ("npz", "hdf5", "netcdf")
_NETCDF_SUFFIXES = (".nc", ".nc4", ".cdf", ".netcdf")


def read(
    path: str | Path,
    *,
    format: str | None = None,
    energy: Any = None,
    time: Any = None,
    data: str | None = None,
    columns: int | str | Sequence[int | str] | None = None,
    layout: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    block: int | str | None = None,
    energy_scale: str | None = None,
    transpose: bool = False,
    sort: bool = False,
    units: Mapping[str, str] | None = None,
    name: str | None = None,
) -> Dataset:
    """Measured data from a file; ``print(read(path))`` says what was found and how to say it
    otherwise.

    Parameters
    ----------
    path : the file; what it is, is seen from its content
    format : "text", "sia", "glotaran", "vamas", "npy", "npz", "hdf5" or "netcdf"; None looks
    energy, time : an axis that lies elsewhere: an array, the path of a file (also relative to
        the data's folder), 'index' for 0, 1, 2…; for npz, hdf5, netcdf also the name inside
    data : npz, hdf5, netcdf: the name of the data inside
    columns : text: x and the y, by name or number from 0, or one y; vamas: the quantity
    layout : text: "matrix" (axes in the first row and column), "columns" (x, y, y2…) or "data"
        (numbers alone)
    delimiter, decimal : text: what separates values, and "." or ","
    block : vamas: number from 0 or name
    energy_scale : vamas: "binding" or "kinetic"
    transpose : exchange time and energy
    sort : sort the axes with the data, and average points with equal values
    units : such as ``{"energy": "eV", "time": "ps"}``
    name : what to call the data; the file's name without suffix if None

    Raises
    ------
    DataError
        with file and line, for everything that is not as it should be
    """
    file = _existing(path)
    kind = _format(file, format)
    options = {
        "data": data,
        "columns": columns,
        "layout": layout,
        "delimiter": delimiter,
        "decimal": decimal,
        "block": block,
        "energy_scale": energy_scale,
    }
    _refuse_foreign(file, kind, options)
    inside: dict[str, str | None] = {"energy": None, "time": None}
    outside: dict[str, Any] = {}
    for what, given in (("energy", energy), ("time", time)):
        if (
            kind in _NAMED
            and isinstance(given, str)
            and given != "index"
            and not _is_file(file, given)
        ):
            inside[what] = given
        elif given is not None:
            outside[what] = _axis(file, given, what)
    found = _found(file, kind, options, inside, set(outside))
    found.name = file.stem if not found.name else f"{file.stem}: {found.name}"
    if not found.hint:
        found.hint = _beside(file)
    return assemble(
        found,
        str(file),
        energy=outside.get("energy"),
        time=outside.get("time"),
        transpose=transpose,
        sort=sort,
        name=name,
        units=dict(units) if units else None,
    )


def _found(
    file: Path,
    kind: str,
    options: Mapping[str, Any],
    inside: Mapping[str, str | None],
    outside: set[str],
) -> Found:
    energy, time, data = inside["energy"], inside["time"], options["data"]
    if kind == "npy":
        return read_npy(file)
    if kind == "npz":
        return read_npz(file, data, energy, time)
    if kind == "hdf5":
        return read_hdf5(file, data, energy, time)
    if kind == "netcdf":
        classic = _start(file).startswith(b"CDF")
        return read_netcdf(file, data=data, energy=energy, time=time, classic=classic)
    text = read_text(file)
    if kind == "vamas":
        chosen = {key: options[key] for key in ("block", "columns", "energy_scale")}
        return read_vamas(file, text, **chosen)
    if kind == "glotaran":
        return read_glotaran(file, text)
    separator = {"tab": "\t", "space": " "}.get(str(options["delimiter"]), options["delimiter"])
    table = read_table(file, text, separator, options["decimal"])
    found = read_layout(
        table,
        layout="matrix" if kind == "sia" else options["layout"],
        columns=_list(options["columns"]),
        has_energy="energy" in outside,
        has_time="time" in outside,
    )
    if kind == "sia":
        found.notes.insert(0, "KiMoPack .SIA")
    return found


def _list(columns: Any) -> list[int | str] | None:
    if columns is None:
        return None
    return [columns] if isinstance(columns, (str, int)) else list(columns)


def _existing(path: str | Path) -> Path:
    try:
        file = Path(path).expanduser()
    except TypeError:
        raise DataError(f"read takes the path of a file, not {type(path).__name__}") from None
    if file.is_dir():
        names = sorted(item.name for item in file.iterdir() if item.is_file())[:12]
        stems = {Path(item).stem: item for item in names}
        say = ""
        if {"data", "energy"} <= stems.keys():
            axes = [f"{what}={stems[what]!r}" for what in ("energy", "time") if what in stems]
            say = f": read({str(file / stems['data'])!r}, {', '.join(axes)})"
        say = say or (f", such as {', '.join(names)}" if names else "; it is empty")
        raise DataError(f"{file}: is a folder; give a file of it{say}")
    if not file.is_file():
        folder = file.parent
        if not folder.is_dir():
            raise DataError(f"{file}: there is no folder {str(folder)!r}; check the path")
        names = sorted(item.name for item in folder.iterdir() if item.is_file())
        near = suggest(file.name, names)
        holds = ", ".join(names[:8]) + (" …" if len(names) > 8 else "")
        rest = near or (f"; the folder holds {holds}" if names else "; the folder is empty")
        raise DataError(f"{file}: there is no such file{rest}")
    return file


def _start(file: Path, size: int = 4096) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(size)
    except OSError as error:
        raise DataError(
            f"{file}: cannot be read ({error.strerror}); check its permissions"
        ) from None


def _format(file: Path, given: str | None) -> str:
    if given is not None:
        kind = _ALIASES.get(str(given).lower().lstrip("."), str(given).lower().lstrip("."))
        if kind not in FORMATS:
            known = "; ".join(f"{key!r}: {what}" for key, (what, _) in FORMATS.items())
            raise DataError(
                f"{file}: no format {given!r}; there are {known}"
                f"{suggest(str(given), list(FORMATS))}"
            )
        return kind
    start, suffix = _start(file), file.suffix.lower()
    if start.startswith(b"\x93NUMPY"):
        return "npy"
    if start.startswith(b"PK"):
        return _zip(file)
    if start.startswith(b"CDF"):
        return "netcdf"
    if start.startswith(b"\x89HDF\r\n\x1a\n"):
        return "netcdf" if suffix in _NETCDF_SUFFIXES else "hdf5"
    text = read_text(file)
    if text.lstrip().startswith(MAGIC):
        return "vamas"
    if is_glotaran(text):
        return "glotaran"
    return "sia" if suffix == ".sia" else "text"


def _zip(file: Path) -> str:
    from zipfile import BadZipFile, ZipFile

    try:
        with ZipFile(file) as archive:
            names = archive.namelist()
    except BadZipFile:
        raise DataError(f"{file}: the archive is damaged; copy or write it again") from None
    if names and all(name.endswith(".npy") for name in names):
        return "npz"
    what = "a spreadsheet" if any(n.startswith("xl/") for n in names) else "a zip archive"
    raise DataError(f"{file}: is {what}; export the table as CSV, or unpack it")


def _refuse_foreign(file: Path, kind: str, options: Mapping[str, Any]) -> None:
    for key, value in options.items():
        if value is not None and key not in FORMATS[kind][1]:
            homes = [name for name, (_, keys) in FORMATS.items() if key in keys]
            raise DataError(
                f"{file}: {key}= is for {', '.join(homes)}; this file is read as {kind}; leave "
                f"{key}= out, or say format="
            )
    if options["decimal"] not in (None, ".", ","):
        raise DataError(f"{file}: decimal is '.' or ',', not {options['decimal']!r}")


def _beside_path(file: Path, given: str | Path) -> Path | None:
    for candidate in (Path(given).expanduser(), file.parent / given):
        if candidate.is_file():
            return candidate
    return None


def _is_file(file: Path, given: str) -> bool:
    return _beside_path(file, given) is not None


def _axis(file: Path, given: Any, what: str) -> Any:
    """An axis as given: an array, 'index', or what a file holds."""
    if isinstance(given, str) and given == "index":
        return given
    if not isinstance(given, (str, Path)):
        return given
    found = _beside_path(file, given)
    if found is None:
        names = sorted(item.name for item in file.parent.iterdir() if item.is_file())
        raise DataError(
            f"{file}: {what}={str(given)!r} is no file, here or beside the data; give an array, "
            f"a path or 'index'{suggest(Path(given).name, names)}"
        )
    if _start(found).startswith(b"\x93NUMPY"):
        return read_npy(found).data
    return read_axis(found)


def _beside(file: Path) -> str:
    """Files beside the data that look like its axes."""
    known: dict[str, str] = {}
    for what in ("energy", "time"):
        for suffix in (file.suffix, ".csv", ".txt", ".npy"):
            if (file.parent / f"{what}{suffix}").is_file() and file.stem != what:
                known.setdefault(what, f"{what}{suffix}")
    if not known:
        return ""
    say = ", ".join(f"{what}={path!r}" for what, path in known.items())
    return f"Beside it: {' and '.join(known.values())}; say read({file.name!r}, {say})"
