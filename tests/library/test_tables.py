"""The tables that the library exports, against pyspec.h as cffi reads it, and against Python."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec._library import ABI, CONSTANTS, DTYPES, LIBRARY, OPS, library_path
from pyspec._library.load import SIGNATURES
from pyspec.formula import parse
from pyspec.functions import reference

CSRC = Path(__file__).parents[2] / "csrc"

#: Headers of entries, each after those whose structs it names.
HEADERS = (
    "pyspec.h", "project.h", "search.h", "residual_sums.h", "many.h", "points.h", "results.h"
)  # fmt: skip

#: What a row may say of the unit of a parameter.
UNIT = re.compile(r"\?|1|K|rad|y x|[xy](\^[2-9])?|[1y]/x(\^(0\.5|[2-9]))?")


@pytest.fixture(scope="module")
def header() -> str:
    """The declarations of the headers of entries, without preprocessor lines and the C++ guard."""
    texts = {path.name: path.read_text() for path in CSRC.rglob("*.h")}
    assert {name for name, text in texts.items() if "PYSPEC_API " in text} == set(HEADERS)
    text = "".join(texts[name] for name in HEADERS)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"#ifdef __cplusplus.*?#endif", "", text, flags=re.DOTALL)
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return "\n".join(lines).replace("PYSPEC_API ", "")


@pytest.fixture(scope="module")
def ffi(header: str) -> Any:
    cffi = pytest.importorskip("cffi")
    parsed = cffi.FFI()
    parsed.cdef(header)
    return parsed


def test_laws_that_go_on_as_themselves_do_so_by_the_rules_of_their_rows() -> None:
    laws = [op for op in OPS.values() if op.later]
    assert [op.name for op in laws] == ["stepFun", "linFun", "expFun", "sinFun", "dampedSinFun"]
    times = np.linspace(0.75, 9.0, 40)
    for op in laws:
        values = dict(zip(op.params, np.linspace(1.3, 0.4, len(op.params)), strict=True))
        values["t0"] = 0.0
        known = {**values, "s": 0.75}
        later = {name: parse(rule).evaluate(known) for name, rule in op.later}
        law = reference(op)
        on = law(times, *({**values, **later, "t0": 0.75}[name] for name in op.params))
        np.testing.assert_allclose(on, law(times, *values.values()), rtol=1e-13, atol=1e-14)


def test_a_row_is_consistent() -> None:
    for op in OPS.values():
        assert len(set(op.params)) == len(op.params)
        assert set(op.linear) <= set(op.params)
        assert len(op.units) == len(op.params)
        assert all(UNIT.fullmatch(unit) for unit in op.units)
        assert op.tolerance >= 0
        assert op.formula
        for guard in op.guards:
            assert 0 <= guard.param < len(op.params)
            assert not guard.relative or int(guard.other) != guard.param


def test_a_struct_is_what_cffi_reads_in_the_header(ffi: Any) -> None:
    for name in DTYPES:
        struct, dtype = ffi.typeof(name), DTYPES[name]
        assert ffi.sizeof(name) == dtype.itemsize
        assert [field for field, _ in struct.fields] == list(dtype.names or ())
        for field, entry in struct.fields:
            column = dtype.fields[field]
            assert column[1] == entry.offset, field
            assert column[0].itemsize == ffi.sizeof(entry.type), field
            kind = {
                "pointer": np.uintp,
                "int32_t": np.int32,
                "int64_t": np.int64,
                "double": np.float64,
            }
            named = "pointer" if entry.type.kind == "pointer" else entry.type.cname
            assert column[0] == np.dtype(kind[named]), field


def test_every_constant_of_the_header_is_exported(header: str) -> None:
    pairs = re.findall(r"PYSPEC_(\w+) = (\d+)", header)
    assert len(pairs) > 10
    assert {name: int(value) for name, value in pairs}.items() <= CONSTANTS.items()


def test_the_lanes_and_the_abi_are_the_headers() -> None:
    text = (CSRC / "pyspec.h").read_text()
    defined = dict(re.findall(r"#define PYSPEC_(\w+) (\d+)", text))
    assert CONSTANTS["LANES"] == int(defined["LANES"])
    assert int(defined["ABI"]) == ABI == LIBRARY.pyspec_abi()


def test_the_entries_are_those_of_the_header(header: str, ffi: Any) -> None:
    assert sorted(re.findall(r"\b(pyspec_\w+)\(", header)) == sorted(SIGNATURES)
    opened = ffi.dlopen(str(library_path()))
    for name, (result, arguments) in SIGNATURES.items():
        entry = ffi.typeof(getattr(opened, name))
        assert [kind_of(ffi, each) for each in entry.args] == [kind_of(ffi, a) for a in arguments]
        assert kind_of(ffi, entry.result) == kind_of(ffi, result), name


def kind_of(ffi: Any, declared: Any) -> tuple[bool, int]:
    """Whether a type of cffi or ctypes is an address, and its size."""
    if isinstance(declared, ffi.CType):
        return declared.kind == "pointer", ffi.sizeof(declared)
    return declared in (ctypes.c_void_p, ctypes.c_char_p), ctypes.sizeof(declared)
