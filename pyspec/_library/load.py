"""Finds, loads and verifies the compiled library. ctypes is imported in this room alone."""

from __future__ import annotations

import ctypes
import hashlib
import os
from importlib import resources
from pathlib import Path

from pyspec.errors import LibraryError

#: The ABI that this package is written for; pyspec.h holds the library's.
ABI = 7

_I64, _F64, _PTR = ctypes.c_int64, ctypes.c_double, ctypes.c_void_p

#: Signatures of the entries: result, arguments. Addresses are plain integers.
SIGNATURES: dict[str, tuple[type[ctypes._CDataType], list[type[ctypes._CDataType]]]] = {
    "pyspec_abi": (_I64, []),
    "pyspec_fingerprint": (ctypes.c_char_p, []),
    "pyspec_describe": (ctypes.c_char_p, []),
    "pyspec_check": (ctypes.c_int, [_PTR, _I64, _PTR, _PTR]),
    "pyspec_work_size": (_I64, [_PTR, _PTR]),
    "pyspec_work_phases": (_I64, [_PTR, _PTR, _I64, _PTR]),
    "pyspec_prepared_size": (_I64, [_PTR, _PTR, _I64]),
    "pyspec_prepare": (ctypes.c_int, [_PTR, _I64]),
    "pyspec_evaluate": (ctypes.c_int, [_PTR]),
    "pyspec_residual": (ctypes.c_int, [_PTR]),
    "pyspec_traces": (ctypes.c_int, [_PTR]),
    "pyspec_jacobian": (ctypes.c_int, [_PTR]),
    "pyspec_jacobian_work_size": (_I64, [_PTR, _PTR]),
    "pyspec_accumulate": (ctypes.c_int, [_PTR, _PTR, _I64, _I64]),
    "pyspec_join": (ctypes.c_int, [_PTR, _PTR]),
    "pyspec_collect": (ctypes.c_int, [_PTR, _PTR, _I64, _PTR]),
    "pyspec_fit_work_size": (_I64, [_I64]),
    "pyspec_fit_step": (ctypes.c_int, [_PTR]),
    "pyspec_span_size": (_I64, [_PTR, _PTR]),
    "pyspec_span_ask": (ctypes.c_int, [_PTR, _I64, _PTR, _I64, _PTR]),
    "pyspec_span_take": (ctypes.c_int, [_PTR, _I64, _PTR, _I64, _PTR, _PTR]),
    "pyspec_span_answer": (ctypes.c_int, [_PTR, _I64, _PTR, _I64, _PTR]),
    "pyspec_read": (ctypes.c_int, [_PTR, _PTR, _PTR, _I64, _I64]),
    "pyspec_fit": (ctypes.c_int, [_PTR, _PTR, _I64, _PTR, _I64]),
    "pyspec_end_work_size": (_I64, [_I64]),
    "pyspec_end_of": (ctypes.c_int, [_PTR, _PTR]),
    "pyspec_judge": (ctypes.c_int, [_PTR, _PTR, _PTR, _PTR, _I64, _PTR]),
    "pyspec_search_work_size": (_I64, [_I64]),
    "pyspec_search_step": (ctypes.c_int, [_PTR]),
    "pyspec_search_fit": (ctypes.c_int, [_PTR, _PTR, _I64, _PTR, _I64]),
    "pyspec_search_stop": (ctypes.c_int, [_PTR]),
    "pyspec_fit_many": (ctypes.c_int, [_PTR, _PTR, _I64]),
    "pyspec_beside_size": (_I64, [_PTR, _PTR]),
    "pyspec_square": (_F64, [_PTR, *[_I64] * 3, _PTR, _I64, _I64, _PTR, _I64, _I64]),
    "pyspec_residual_sums": (ctypes.c_int, [_PTR, _PTR, _I64, _I64, *[_PTR] * 4]),
    "pyspec_normals": (ctypes.c_int, [_I64, _PTR, _PTR, _PTR, _I64, _PTR]),
    "pyspec_word_sums": (_I64, [_I64, _PTR, _I64, _I64, _I64, _PTR, _PTR]),
    "pyspec_sum_parts": (ctypes.c_int, [_PTR, _I64, _I64, _I64, _PTR, _PTR]),
    "pyspec_points_size": (_I64, [_PTR, _I64]),
    "pyspec_sum_points": (ctypes.c_int, [_PTR, *[_I64] * 3, _PTR, _PTR, _I64, _I64, _PTR, _PTR]),
    "pyspec_project_size": (_I64, [_PTR]),
    "pyspec_project": (ctypes.c_int, [_PTR]),
    "pyspec_results_size": (_I64, [_PTR]),
    "pyspec_run_results": (ctypes.c_int, [_PTR, _PTR, _PTR]),
    "pyspec_team_size": (_I64, []),
    "pyspec_team_begin": (ctypes.c_int, [_PTR]),
    "pyspec_help": (ctypes.c_int, [_PTR]),
    "pyspec_dismiss": (ctypes.c_int, [_PTR]),
    "pyspec_isa_supported": (ctypes.c_int, [_I64]),
    "pyspec_scheme": (ctypes.c_int, [_PTR, _I64, _I64, _I64, _I64, _PTR, _PTR, _PTR, _PTR]),
    "pyspec_formula_size": (_I64, [_PTR, _I64]),
    "pyspec_formula": (ctypes.c_int, [_PTR, *[_I64] * 4, *[_PTR] * 6]),
    "pyspec_measured": (ctypes.c_int, [_PTR, _I64, _I64, _I64, _PTR, _PTR, _PTR, _PTR]),
    "pyspec_function": (ctypes.c_int, [*[_I64] * 4, *[_PTR] * 6]),
}

_REINSTALL = "run 'pip install .' (or 'pip install -e .' for a source tree) again"


def library_path() -> Path:
    """Where the installed library lies."""
    name = "libpyspec.dll" if os.name == "nt" else "libpyspec.so"
    path = Path(str(resources.files("pyspec._library").joinpath(name)))
    if not path.is_file():
        raise LibraryError(f"the compiled library {path} is missing; {_REINSTALL}")
    return path


def source_fingerprint(csrc: Path) -> str:
    """SHA-256 over the names and digests of the sources, as setup.py computes it."""
    names = (csrc / "sources.txt").read_text().split()
    lines = [f"{name} {hashlib.sha256((csrc / name).read_bytes()).hexdigest()}\n" for name in names]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def load_library(path: Path | None = None) -> ctypes.CDLL:
    """Loads the library, declares its entries and verifies ABI and fingerprint.

    Raises :class:`LibraryError` where the file is missing, unloadable, of another ABI or, in
    an editable install, older than the sources beside the package.
    """
    path = path or library_path()
    try:
        library = ctypes.CDLL(str(path))
        for name, (result, arguments) in SIGNATURES.items():
            entry = getattr(library, name)
            entry.restype, entry.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise LibraryError(f"cannot load {path}: {error}; {_REINSTALL}") from error
    abi = library.pyspec_abi()
    if abi != ABI:
        raise LibraryError(f"{path} has ABI {abi}, this package needs {ABI}; {_REINSTALL}")
    csrc = path.parents[2] / "csrc"
    if (csrc / "sources.txt").is_file() and (csrc.parent / "setup.py").is_file():
        built = library.pyspec_fingerprint().decode()
        if built != source_fingerprint(csrc):
            raise LibraryError(
                f"{path} was built from other sources than {csrc}; run 'pip install -e .' again"
            )
    return library
