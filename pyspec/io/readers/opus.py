"""Bruker OPUS: infrared spectra in numbered blocks with a directory.

Layout: bytes 12 to 23 are where the directory begins, how many entries it can have and has. An
entry is three 32-bit integers: type, length in 32-bit words, where the block begins. Bits of the
type: 0-1 kind of number, 2-3 sample or reference or their ratio, 4-9 kind of parameters (0 for
data, 1 for the parameters of data), 10-16 kind of spectrum. After the documentation of brukeropus
(https://joshduran.github.io/brukeropus).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pyspec.io.blocks import Axis, Block, raw_table_of
from pyspec.io.raw_table import RawTable
from pyspec.io.reader import Request, begins_with, damaged

_KINDS = {
    1: "spectrum", 2: "interferogram", 3: "phase", 4: "absorbance", 5: "transmittance",
    6: "Kubelka-Munk", 7: "trace", 10: "Raman", 11: "emission", 12: "reflectance",
    15: "log reflectance", 16: "ATR", 17: "photoacoustic",
}  # fmt: skip
_ORIGINS = {1: "sample", 2: "reference"}
#: Unit of the axis: parameter DXU → label and unit.
_AXES = {"WN": ("wavenumber", "cm-1"), "MI": ("wavelength", "um"), "MIN": ("time", "min")}
_MOST_BLOCKS = 1000


#: Whether a file is of this format, by its first bytes.
sniff = begins_with(b"\n\n\xfe\xfe")


def read(request: Request) -> RawTable:
    """The result (absorbance, transmittance, …) or the spectrum that `block=` names."""
    path = request.path
    raw = path.read_bytes()
    entries = _directory(path, raw)
    blocks = []
    for kind, begins, size in entries:
        if kind & 0x3F0 or (kind >> 10) & 0x7F not in _KINDS or not kind & 0xF:
            continue
        status = [e for e in entries if e[0] & ~0x3F0 == kind and (e[0] >> 4) & 0x3F == 1]
        if status:
            blocks.append(_block(path, raw[begins : begins + size], kind, _params(raw, status[0])))
    chosen = request.block
    results = [
        k for k, block in enumerate(blocks) if block.name.split()[0] not in _ORIGINS.values()
    ]
    if chosen is None and len(blocks) > 1 and len(results) == 1:
        chosen = results[0]
    return raw_table_of(path, blocks, chosen, note="Bruker OPUS")


def _directory(path: Path, raw: bytes) -> list[tuple[int, int, int]]:
    """(type, where it begins, bytes) of each block."""
    entries: list[tuple[int, int, int]] = []
    if len(raw) >= 24:
        begins, most, _ = struct.unpack_from("<3i", raw, 12)
        for k in range(min(max(most, 0), _MOST_BLOCKS)):
            at = begins + 12 * k
            if at < 0 or at + 12 > len(raw):
                break
            kind, words, where = struct.unpack_from("<3i", raw, at)
            if where <= 0:
                break
            if words < 0 or where + 4 * words > len(raw):
                raise damaged(path, f"block {k} of the directory ends after the file")
            entries.append((kind, where, 4 * words))
    if not entries:
        raise damaged(path, "the OPUS file has no directory of blocks")
    return entries


def _params(raw: bytes, entry: tuple[int, int, int]) -> dict[str, int | float | str]:
    """Parameters of a block: three letters, type, length in 16-bit words, value."""
    _, at, size = entry
    end = at + size
    params: dict[str, int | float | str] = {}
    while at + 8 <= end:
        key = raw[at : at + 3].decode("latin-1")
        kind, words = struct.unpack_from("<2H", raw, at + 4)
        value = raw[at + 8 : at + 8 + 2 * words]
        if key == "END" or len(value) < 2 * words:
            break
        if kind == 0 and len(value) >= 4:
            params[key] = struct.unpack_from("<i", value)[0]
        elif kind == 1 and len(value) >= 8:
            params[key] = struct.unpack_from("<d", value)[0]
        else:
            params[key] = value.split(b"\x00")[0].decode("latin-1")
        at += 8 + 2 * words
    return params


def _block(path: Path, raw: bytes, kind: int, params: Mapping[str, int | float | str]) -> Block:
    word = _KINDS[(kind >> 10) & 0x7F]
    origin = _ORIGINS.get((kind >> 2) & 3, "")
    name = f"{origin} {word}".strip()
    n_points, first, last = (params.get(key) for key in ("NPT", "FXV", "LXV"))
    is_complete = isinstance(n_points, int) and isinstance(first, float) and isinstance(last, float)
    if not is_complete or not 0 < n_points <= len(raw) // 4:  # type: ignore[operator]
        says = f"announces {n_points} points from {first} to {last} in {len(raw)} bytes"
        raise damaged(path, f"the {name} {says}")
    number = "<i4" if params.get("DPF") == 2 else "<f4"
    scale = params.get("CSF", 1.0)
    values = np.frombuffer(raw[: 4 * int(n_points)], number) * float(scale)  # type: ignore[arg-type]
    axis = np.linspace(float(first), float(last), int(n_points))  # type: ignore[arg-type]
    label, unit = _AXES.get(str(params.get("DXU", "")), (str(params.get("DXU", "")), ""))
    dim = "time" if label == "time" else "energy"
    return Block(name, [Axis(dim, axis, label, unit)], [(word, "", values)], meta=params)
