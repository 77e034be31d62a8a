"""PHI's .spe: a header in text, then each region as binary numbers.

After the header come 32-bit integers: 16 bytes for the file (the second integer is the number of
spectra) and 96 bytes for each spectrum (6th: points, 7th: cycles, 20th: bytes of data, 21st: where
they begin). Then come the data as float32 or float64. Read off measured files of a VersaProbe 4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from pyspec.errors import DataError
from pyspec.io.blocks import Axis, Block, meta_numbers, raw_table_of
from pyspec.io.raw_table import RawTable
from pyspec.io.reader import Request, begins_with, damaged
from pyspec.io.tables.cells import entries_of

_END = re.compile(rb"EOFH\r?\n")
_FILE_BYTES, _SPECTRUM_BYTES = 16, 96


#: Whether a file is of this format, by its first bytes.
sniff = begins_with(b"SOFH\r", b"SOFH\n")


def read(request: Request) -> RawTable:
    """A region, or all regions together where they share one axis."""
    path = request.path
    raw = path.read_bytes()
    end = _END.search(raw)
    if end is None:
        raise damaged(path, "the header has no end")
    lines = raw[: end.start()].decode("latin-1").replace("\r\n", "\n").split("\n")
    entries = entries_of(lines, ":")
    pairs = [line.partition(":") for line in lines]
    regions = [value.split() for key, _, value in pairs if key.strip() == "SpectralRegDef"]
    words = entries.get("XraySource", "").split()
    source = next((word for word in words if re.fullmatch(r"\d+(\.\d+)?", word)), "")
    meta = meta_numbers(
        {**entries, "XraySource energy": source},
        photon_energy="XraySource energy",
        work_function="AnalyserWorkFcn",
    )
    blocks = _blocks(path, raw[end.end() :], regions, meta)
    note = f"PHI .spe, {meta.get('InstrumentModel', '')}".rstrip(", ")
    return raw_table_of(path, blocks, request.block, note=note)


def _blocks(
    path: Path, raw: bytes, regions: list[list[str]], meta: Mapping[str, object]
) -> list[Block]:
    count = int(np.frombuffer(raw[4:8], "<u4")[0]) if len(raw) >= _FILE_BYTES else 0
    if count != len(regions) or len(raw) < _FILE_BYTES + count * _SPECTRUM_BYTES:
        says = f"the header names {len(regions)} regions, the data hold {count}"
        raise DataError(f"{path}: {says}; export it as VAMAS or text")
    heads = np.frombuffer(raw, "<u4", count * _SPECTRUM_BYTES // 4, _FILE_BYTES)
    fields = heads.reshape(count, -1).tolist()
    return [_block(path, raw, words, own, meta) for words, own in zip(regions, fields, strict=True)]


def _block(
    path: Path,
    raw: bytes,
    words: list[str],
    fields: Sequence[int],
    meta: Mapping[str, object],
) -> Block:
    """`words`: number, ?, name, atomic number, points, step, first, last, …, dwell, pass energy."""
    n_points, n_cycles, n_bytes, begins = (fields[k] for k in (5, 6, 19, 20))
    name = words[2] if len(words) > 2 else ""
    numbers = [float(word) if re.fullmatch(r"[+-]?[\d.]+", word) else None for word in words[4:8]]
    size, left = divmod(n_bytes, max(n_points * n_cycles, 1))
    if (
        None in numbers
        or len(numbers) < 4
        or numbers[0] != n_points
        or left
        or size not in (4, 8)
        or begins + n_bytes > len(raw)
    ):
        says = f"announces {n_points} points in {n_bytes} bytes at {begins}"
        raise damaged(path, f"region {name[:40]!r} {says}, which the file does not hold")
    values = np.frombuffer(raw[begins : begins + n_bytes], f"<f{size}").astype(np.float64)
    first, step = float(numbers[2] or 0.0), float(numbers[1] or 0.0)
    energy = Axis(
        "energy", first + step * np.arange(n_points, dtype=np.float64), "Binding Energy", "eV"
    )
    cycles = Axis("cycle", np.arange(n_cycles, dtype=np.float64), "cycle")
    data = values.reshape(n_cycles, n_points) if n_cycles > 1 else values
    axes = [cycles, energy] if n_cycles > 1 else [energy]
    pass_energy = words[-2] if len(words) > 9 else ""
    own = meta_numbers({**meta, "PassEnergy": pass_energy}, pass_energy="PassEnergy")
    letters = fields[14].to_bytes(4, "little").split(b"\x00")[0].decode("latin-1")
    unit = {"c/s": "counts/s"}.get(letters, letters) if letters.isprintable() else ""
    return Block(name, axes, [("intensity", unit, data)], meta=own)
