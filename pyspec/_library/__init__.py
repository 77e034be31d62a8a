"""The compiled library: its entries, its tables, and what its faults mean."""

from __future__ import annotations

import os

import numpy as np

from pyspec._library.load import ABI, library_path, load_library, source_fingerprint
from pyspec._library.tables import (
    Guard,
    OpDef,
    RpnDef,
    Tables,
    param_name,
    parse_params,
    parse_tables,
)
from pyspec.errors import LibraryError

LIBRARY = load_library()
TABLES: Tables = parse_tables(LIBRARY.pyspec_describe().decode())
OPS: dict[str, OpDef] = TABLES.ops
RPN: dict[str, RpnDef] = TABLES.rpn
FUSED: dict[str, int] = TABLES.fused
TILED: frozenset[str] = frozenset(TABLES.tiled)
CONSTANTS: dict[str, int] = TABLES.constants
DTYPES: dict[str, np.dtype[np.void]] = TABLES.dtypes


def supported_isas() -> tuple[str, ...]:
    """Builds of the energy kernels that this processor runs, the widest last."""
    names = {value: name for name, value in CONSTANTS.items() if name.startswith("ISA_")}
    return tuple(
        names[value].removeprefix("ISA_")
        for value in sorted(names)
        if LIBRARY.pyspec_isa_supported(value)
    )


def choose_isa(wanted: str | None) -> str:
    """The widest build, or the one that `wanted` (the variable PYSPEC_ISA) names."""
    supported = supported_isas()
    if not wanted:
        return supported[-1]
    if wanted.upper() not in supported:
        raise LibraryError(
            f"PYSPEC_ISA={wanted}: this processor runs {', '.join(supported)}; choose one of them"
        )
    return wanted.upper()


#: The build in use, chosen once by the processor's features.
ISA: str = choose_isa(os.environ.get("PYSPEC_ISA"))

__all__ = [
    "ABI",
    "CONSTANTS",
    "DTYPES",
    "FUSED",
    "ISA",
    "LIBRARY",
    "OPS",
    "RPN",
    "TABLES",
    "TILED",
    "Guard",
    "OpDef",
    "RpnDef",
    "choose_isa",
    "library_path",
    "load_library",
    "param_name",
    "parse_params",
    "raise_status",
    "source_fingerprint",
    "supported_isas",
]


def raise_status(status: int, where: str = "") -> None:
    """Raises :class:`LibraryError` unless `status` is 0."""
    if status:
        name, message = TABLES.statuses.get(status, ("UNKNOWN", f"status {status}"))
        raise LibraryError(f"{where}: {message} ({name})" if where else f"{message} ({name})")
