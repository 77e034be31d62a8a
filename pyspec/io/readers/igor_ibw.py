"""Igor Pro's binary waves (.ibw), through igor2; with the notes that Scienta's SES writes."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np

from pyspec.io.blocks import Block, meta_numbers, raw_table_of
from pyspec.io.optional import need
from pyspec.io.raw_table import RawTable
from pyspec.io.reader import Request, Start, damaged
from pyspec.io.readers.igor_itx import axes_of, label_unit
from pyspec.io.tables.cells import entries_of

#: Version → bytes over which the checksum runs (Igor's technical note TN003).
_HEADERS = {2: 126, 5: 384}


def _header(raw: bytes) -> tuple[int, str, bool]:
    """(version, order of bytes, whether the checksum fits); version 0 where this is no wave."""
    for order in "<>":
        words = np.frombuffer(raw[:384][: len(raw) // 2 * 2], f"{order}i2")
        version = int(words[0]) if words.size else 0
        length = _HEADERS.get(version, 0)
        if length:
            checksum = int(words[: length // 2].sum(dtype=np.int64)) & 0xFFFF
            return version, order, checksum == 0 and 2 * words.size >= length
    return 0, "<", False


def sniff(start: Start) -> bool:
    """By version and checksum; with the ending .ibw by the version alone."""
    version, _, fits = _header(start.raw)
    return version > 0 and (fits or start.suffix in (".ibw", ".bwav"))


def _check_header(path: Path) -> None:
    """Refuses a header whose checksum or lengths do not fit: igor2 may read such a file for ever.

    The lengths of the sections (data, formula, note, units, labels) begin at byte 4 in version 5,
    at byte 2 in version 2.
    """
    raw = path.read_bytes()
    version, order, fits = _header(raw)
    begins, count = (4, 15) if version == 5 else (2, 2)
    sizes = np.frombuffer(raw, f"{order}i4", count, begins).astype(np.int64) if fits else None
    if sizes is not None and (sizes >= 0).all() and sizes.sum() <= len(raw):
        return
    raise damaged(path, "the header of the Igor wave has another checksum, version or lengths")


def read(request: Request) -> RawTable:
    """One wave of up to four dimensions, with scaling, units and note."""
    path = request.path
    need("igor2", f"{path}: Igor .ibw")
    binarywave = need("igor2.binarywave", f"{path}: .ibw")
    _check_header(path)
    before = logging.root.manager.disable
    logging.disable()  # the error that follows says what is wrong
    try:
        wave = binarywave.load(str(path))["wave"]
    finally:
        logging.disable(before)
    data = np.asarray(wave["wData"])
    header = wave["wave_header"]
    if "sfA" in header:
        steps, firsts = (np.asarray(header[key], np.float64).tolist() for key in ("sfA", "sfB"))
        scales = list(zip(firsts, steps, strict=True))[: data.ndim]
    else:
        scales = [(float(header["hsB"]), float(header["hsA"]))] + [(0.0, 1.0)] * (data.ndim - 1)
    units = _units(wave, header, data.ndim)
    axes = [
        (unit, first + step * np.arange(size))
        for unit, (first, step), size in zip(units, scales, data.shape, strict=True)
    ]
    label, unit = label_unit(_text(wave.get("data_units", b"")) or _first_text(header, "dataUnits"))
    note = bytes(wave.get("note", b"") or b"").decode("utf-8", "replace").replace("\r", "\n")
    entries = entries_of(note.splitlines(), "=")
    meta = meta_numbers(entries, photon_energy="Excitation Energy", pass_energy="Pass Energy")
    block = Block(_text(header["bname"]), axes_of(axes), [(label, unit, data)], meta=meta)
    return raw_table_of(path, [block], note=f"Igor wave, {data.dtype}")


def _units(wave: Any, header: Any, n_dims: int) -> list[str]:
    """Unit of each dimension: a long one stands after the data, a short one in the header."""
    long = bytes(wave.get("dimension_units", b"") or b"")
    sizes = [int(n) for n in np.atleast_1d(wave["bin_header"].get("dimEUnitsSize", [0] * 4))]
    result = []
    for k in range(n_dims):
        size = sizes[k] if k < len(sizes) else 0
        before = sum(sizes[:k])
        if size > 0:
            result.append(_text(long[before : before + size]))
        elif "dimUnits" in header:
            letters = np.atleast_2d(header["dimUnits"])[k]
            result.append(_text(b"".join(bytes(letter) for letter in letters)))
        else:
            result.append(_first_text(header, "xUnits") if k == 0 else "")
    return result


def _first_text(header: Any, key: str) -> str:
    value = header.get(key, b"")
    joined = b"".join(map(bytes, value)) if isinstance(value, np.ndarray) else value
    return _text(joined)


def _text(raw: bytes) -> str:
    return bytes(raw).split(b"\x00")[0].decode("utf-8", "replace").strip()
