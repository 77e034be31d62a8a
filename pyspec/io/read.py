"""read: one call for the files that people have."""

from __future__ import annotations

import filecmp
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pyspec.calls import answered
from pyspec.errors import DataError, PyspecError, one_line, several, shortened, suggest, visible
from pyspec.io.dataset import Dataset
from pyspec.io.energy import in_unit, on_scale, scale_note
from pyspec.io.optional import available
from pyspec.io.raw_table import assemble
from pyspec.io.reader import Reader, Request, Start, check_keywords
from pyspec.io.readers import READERS, WORDS
from pyspec.io.sandbox import rehearse
from pyspec.io.sources.lazy import is_zarr, lazy_reader
from pyspec.io.tables.text import read_axis
from pyspec.io.unsupported_formats import refuse_unread

#: Format → what it is, and the keywords that it understands beside the common ones.
FORMATS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    name: (reader.what, reader.keywords) for name, reader in READERS.items()
}

#: What files begin with that the HDF5 library reads.
IN_HDF5 = (b"\x89HDF", b"MATLAB 7.3")


@answered
def read(
    path: str | Path,
    *,
    format: str | None = None,
    energy: object = None,
    time: object = None,
    data: str | None = None,
    columns: int | str | Sequence[int | str] | None = None,
    errors: int | str | None = None,
    layout: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    block: int | str | None = None,
    transpose: bool = False,
    sort: bool = False,
    units: Mapping[str, str] | None = None,
    energy_scale: str | None = None,
    photon_energy: float | None = None,
    work_function: float | None = None,
    to: str | None = None,
    jacobian: bool = False,
    name: str | None = None,
    lazy: bool = False,
) -> Dataset:
    """Reads measured data from a file; ``print(read(path))`` shows what was found, and how to
    correct what was guessed wrong.

    Parameters
    ----------
    path : the file; its format is recognised by its content
    format : the name or ending of a format, such as "text", "vamas" or "ibw"; None recognises it
    energy, time : an axis that lies elsewhere: an array, the path of a file (seen from here or from
        the data's folder), 'index' for 0, 1, 2…; for files with named arrays also the name inside
    data : the name of the data inside: npz, hdf5, netcdf, nexus, matlab
    columns : text: x and the y, by name or number from 0, or one y; others: the quantity
    errors : the standard errors: a column of a table, or their name inside a file of named arrays
    layout : text: "matrix" (axes in the first row and column), "columns" (x, y, y2…), "points" (a
        row for each point: time, energy, value) or "data" (numbers alone)
    delimiter, decimal : text: what separates values, and "." or ","
    block : files of several spectra: number from 0, or the name of a block, region or wave
    transpose : exchange time and energy
    sort : sort the axes with the data, and average points with equal values
    units : such as ``{"energy": "eV", "time": "ps"}``
    energy_scale : "binding" or "kinetic": ``E_binding = hν - φ - E_kinetic``
    photon_energy, work_function : hν and φ in eV; without them hν is what the file says and φ
        is 0. A file that does not state its scale needs `photon_energy`, and is taken to be on the
        other scale
    to : the unit of the energy axis: eV, meV, keV, THz, cm-1, nm, µm (also um) or angstrom
    jacobian : with `to`: multiply the data and errors by ``|dx_old/dx_new|``, which keeps areas
    name : what to call the data; the file's name without suffix if None
    lazy : the data stay where they are, and a fit reads them by rows: series (n_time, n_energy) in
        HDF5, NetCDF, NPY and stores of zarr; see docs/howto/large_data.md

    Returns
    -------
    Dataset
        data, errors where the file has them, axes, units and labels of each, and `meta`

    Raises
    ------
    DataError
        for a file that cannot be read as asked; the message names file and line
    """
    try:
        file = _existing(path, folders=lazy)
        options = {
            "data": data,
            "columns": columns,
            "errors": errors,
            "layout": layout,
            "delimiter": delimiter,
            "decimal": decimal,
            "block": block,
        }
        check_keywords(file, {**options, "format": format, "to": to, "units": units})
        work = partial(
            _dataset,
            file,
            format,
            options,
            {"energy": energy, "time": time},
            {"transpose": transpose, "sort": sort, "name": name, "units": dict(units or {})},
            lazy,
        )
        if file.is_file() and Start.of(file).starts_with(*IN_HDF5):
            # What the file will probably need is imported here, and not by each child anew.
            available("h5py")
            for reader in READERS.values():
                if file.suffix.lower()[1:] in reader.endings:
                    any(not available(library) for library in reader.libraries)
            rehearse(file, work)
        dataset = work()
        if energy_scale is not None:
            dataset = on_scale(dataset, energy_scale, photon_energy, work_function)
        elif photon_energy is not None or work_function is not None:
            raise DataError(
                f"{file}: photon_energy= and work_function= belong to energy_scale='binding' or "
                "energy_scale='kinetic'; say which energies you want"
            )
        elif to is None:
            note = scale_note(dataset)
            dataset = replace(dataset, notes=(*dataset.notes, note)) if note else dataset
        if to is not None:
            return in_unit(dataset, to, jacobian=jacobian)
        if jacobian:
            raise DataError(f"{file}: jacobian=True belongs to a change of unit; say to='eV'")
        return dataset
    except DataError as error:
        raise DataError(" ".join(visible(str(error)).split())) from None


def _dataset(
    file: Path,
    format: str | None,
    options: Mapping[str, Any],
    axes: Mapping[str, object],
    rest: Mapping[str, Any],
    lazy: bool = False,
) -> Dataset:
    """What the reader finds, with the axes that are given, as a Dataset."""
    reader = lazy_reader(file, format) if lazy else _format(file, format)
    for key, value in options.items():
        if value is not None and key not in reader.keywords:
            homes = [name for name, other in READERS.items() if key in other.keywords]
            own = ", ".join(f"{word}=" for word in reader.keywords) or "none of its own"
            raise DataError(
                f"{file}: {key}= is for {', '.join(homes)}; this file is read as {reader.name}, "
                f"which takes {own}; leave {key}= out, or say format="
            )
    inside, outside, notes = _axes(file, reader, axes)
    sizes: dict[str, int | None] = {}
    for kind, axis in outside.items():
        try:
            sizes[kind] = None if isinstance(axis, str) else int(np.size(axis))
        except ValueError:  # lists of different lengths
            raise DataError(f"{kind} is {shortened(axis)}; give an array of real numbers") from None
    request = Request(file, **options, **inside, sizes=sizes)
    try:
        with warnings.catch_warnings():
            # What a library warns of while it reads is nothing that the user can mend.
            warnings.simplefilter("ignore")
            table = reader.read(request)
            table.notes += notes
            stem = visible(file.stem)
            table.name = stem if not table.name else f"{stem}: {table.name}"
            return assemble(
                table, str(file), energy=outside.get("energy"), time=outside.get("time"), **rest
            )
    except PyspecError:
        raise
    except Exception as error:  # a damaged file shows itself in many ways
        raise DataError(
            f"{file}: cannot be read as {reader.name} ({one_line(error)}); it is damaged or not "
            "written completely: copy or export it again"
        ) from None


def _axes(
    file: Path, reader: Reader, axes: Mapping[str, object]
) -> tuple[dict[str, str], dict[str, Any], list[str]]:
    """(names of axes inside of the file; axes that are given, or in other files; notes)."""
    inside: dict[str, str] = {}
    outside: dict[str, Any] = {}
    notes: list[str] = []
    for kind, axis in axes.items():
        if not isinstance(axis, (str, Path)) or axis == "index":
            outside |= {} if axis is None else {kind: axis}
        elif near := one_file(kind, axis, (Path(), file.parent)):
            npy = READERS["npy"]
            is_npy = npy.sniff(Start.of(near))
            outside[kind] = npy.read(Request(near)).data if is_npy else read_axis(near)
            notes.append(f"{kind} is what {near} holds")
        elif "data" in reader.keywords and isinstance(axis, str):  # its arrays have names
            inside[kind] = axis
        else:
            names = sorted(item.name for item in file.parent.iterdir() if item.is_file())
            raise DataError(
                f"{file}: {kind}={str(axis)!r} is no file, here or beside the data; give an array, "
                f"a path or 'index'{suggest(Path(axis).name, names)}"
            )
    return inside, outside, notes


def _existing(path: str | Path, folders: bool = False) -> Path:
    try:
        file = Path(path).expanduser()
        file.is_file()
    except TypeError:
        given: object = path
        remedy = "data in memory make a file: File(data=data, energy=energy, time=time)"
        if isinstance(given, (list, tuple)):
            remedy = "read one after the other: scans = [read(path) for path in paths]"
        text = f"read takes the path of a file, not {type(given).__name__}; {remedy}"
        raise DataError(text) from None
    except (OSError, ValueError, RuntimeError) as error:
        raise DataError(f"{path}: is no path of a file ({one_line(error)})") from None
    if file.is_dir() and is_zarr(file):
        if folders:
            return file
        raise DataError(
            f"{file}: is a store of zarr, whose data stay there: say read({str(file)!r}, lazy=True)"
        )
    if file.is_dir():
        names = sorted(item.name for item in file.iterdir() if item.is_file())
        say = f", such as {', '.join(names[:12])}" if names else "; it is empty"
        raise DataError(f"{file}: is a folder; give a file of it{say}")
    if not file.is_file():
        if re.match(r"\w{2,}:/", str(file)):
            shown = str(file).replace(":/", "://", 1)
            raise DataError(f"{shown}: is an address, not a path; download the file, and read that")
        folder = file.parent
        if not folder.is_dir():
            raise DataError(f"{file}: there is no folder {str(folder)!r}; check the path")
        names = sorted(item.name for item in folder.iterdir() if item.is_file())
        near = suggest(file.name, names)
        rest = near or f"; the folder holds {several(names, 8) or 'no file'}"
        raise DataError(f"{file}: there is no such file{rest}")
    return file


def _format(file: Path, name: str | None) -> Reader:
    if name is not None:
        word = str(name).lower().lstrip(".")
        named = [reader for reader in READERS.values() if word == reader.name]
        ending = [reader for reader in READERS.values() if word in reader.endings]
        # Formats that share an ending: those that recognise the file, else the last, the broadest.
        start = Start.of(file)
        alike = named or [reader for reader in ending if reader.sniff(start)][:1] or ending[-1:]
        if not alike:
            raise DataError(
                f"{file}: no format {name!r}; there are {', '.join(READERS)}; without format= the "
                f"content decides{suggest(word, WORDS)}"
            )
        return alike[0]
    start, (*others, last) = Start.of(file), READERS.values()
    for reader in others:
        if reader.sniff(start):
            return reader
    refuse_unread(start)
    return last


def one_file(keyword: str, name: str | Path, folders: Sequence[Path]) -> Path | None:
    """The file of that name seen from one of these folders; None where there is none.

    Raises :class:`DataError` where two folders have files of that name whose contents differ.
    """
    matches: list[Path] = []
    try:
        paths = (folder / Path(name).expanduser() for folder in folders)
        matches = [path for path in paths if path.is_file()]
    except (OSError, ValueError):  # too long for a path, or with a NUL in it
        return None
    for other in matches[1:]:
        if not filecmp.cmp(matches[0], other, shallow=False):
            raise DataError(
                f"{keyword}={str(name)!r} is {matches[0].resolve()} and also {other.resolve()}, "
                "and these differ; give the whole path of the one that is meant"
            )
    return matches[0] if matches else None
