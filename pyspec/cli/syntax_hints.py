"""Hints in the syntax of where one is: Python's keywords as flags, or as fields of a job."""

from __future__ import annotations

import copy
import re
from typing import Any

#: Keywords of reading that ``pyspec show`` has as flags of the same name, and jobs as fields.
READING = (
    "format", "energy", "time", "data", "columns", "layout", "block", "energy_scale",
    "photon_energy", "to", "transpose", "sort", "delimiter", "decimal", "errors",
)  # fmt: skip

#: Those that only jobs have.
FIELDS = (*READING, "work_function", "units", "exclude", "inputs", "sigma", "scale")

#: What has another form altogether: Python, flags, fields.
PHRASES = (
    ("say units={'energy': 'eV'}", "say --units energy=eV", "say units: {energy: eV}"),
    ("units={...}", "--units energy=... --units time=...", "units: {energy: ..., time: ...}"),
    ("say rename(energy='time')", "say --rename energy=time", "say rename: {energy: time}"),
    ("an array, the path", "the path", "the path"),
    ("an array, a path", "a path", "a path"),
    ("select(", "--select ", "select: {"),
    (", or average the data of both, as read(path, sort=True) does", "", ""),
    (
        "load it with load_fit()",
        "load it in Python, load_fit(path), or check it with 'pyspec verify'",
        "load it in Python, load_fit(path)",
    ),
    (
        "File.from_dataset leaves them out of fits (elsewhere: mask=~dataset.finite)",
        "mask: nan in a job leaves them out of fits",
        "mask: nan leaves them out of fits",
    ),
)

#: What is said of a File and its fits, and how a job says it; a space is any white space.
OF_FILES = [
    (re.compile(python.replace(" ", r"\s+")), fields)
    for python, fields in (
        (r"errors=False leaves", "'noise: {type: none}' leaves"),
        (
            r"File\(\.\.\., aux_axis=[^()]*\)",
            "auxiliary: {range: [0, 5], points: 20}",
        ),
        (r", to the File of the data or to model\.set_axes", ""),
        (r"(?:file\.)?set_noise\(['\"](\w+)['\"](, [^()]*)?\)", r"noise: {type: \1\2}"),
        (r",? or Measurement\([^()]*\)(?: with scale_covar=False)?", ""),
        (r"\bscale_covar=False\b", "'scale_errors: false'"),
        (r"mask=, True there", "NaN in the data, and mask: nan below data:"),
        (r"set_fit_limits\(exclude=\[\(([^()]+)\)\]\)", r"limits: {exclude: [[\1]]}"),
        (r"set_fit_limits\(exclude=\.\.\.\)", "limits: {exclude: [[from, to]]}"),
        (r"load them with load_dynamics", "name them below dynamics:"),
        (r"with add_time_dependence", "below dynamics:"),
        (r"with fit_trace", "by type: trace"),
        (r"(?<![\w.])result\.", "load_fit(path)."),
        (r"\b(n_starts|linear)=(\"?)(\w+)\2(?!['\w])", r"options: {\1: \3}"),
        (r"\bmethod=(['\"])(\w+)\1", r"method: \2"),
        (r"\bmethod=\('(\w+)', '(\w+)'\)", r"method: [\1, \2]"),
        (r"\bfit_2d\b", "type: 2d"),
        (r"\bnoise_type=(['\"])(\w+)\1", r"'type: \2'"),
    )
]

#: No part of another word, and no name of an axis behind a flag: "--at energy=3".
_WHOLE = r"(?<![\w-])(?<!--at )(?<!--units )(?<!--select )(?<!--rename )"

_TURNS = re.compile(r"such as \['none', '([^']*)'\], or leave frequency out")

_COLUMNS = re.compile(r"columns=\(([^()]+)\)")

_CALL = re.compile(r"read\((?:\.\.\.|'[^']*'), ([^()]*)\)")


def in_fields(result: Any) -> Any:
    """A copy of a fit, or of slices, whose findings name fields of a job in place of keywords."""
    from pyspec.fit import SliceResults  # NumPy with it, of which --help has no need

    own = result.changed(in_fields) if isinstance(result, SliceResults) else copy.copy(result)
    own.wording = for_fields
    return own


def _replaced(text: str, phrase: str, other: str) -> str:
    """With another phrase in its place, also where lines are broken within it."""
    return re.sub(r"\s+".join(map(re.escape, phrase.split(" "))), lambda _: other, text)


def for_flags(text: str) -> str:
    """The text with flags in place of keywords: ``--time ...`` for ``time=...``."""
    text = _CALL.sub(r"\1", text)
    text = _COLUMNS.sub(lambda match: f"--columns {match[1].replace(',', '')}", text)
    for python, flags, _ in PHRASES:
        text = _replaced(text, python, flags)
    for name in READING:
        flag = f"--{name.replace('_', '-')}"
        text = re.sub(rf"{_WHOLE}{name}=True\b", flag, text)
        text = re.sub(rf"{_WHOLE}{name}=(?=[\w'\".(])", f"{flag} ", text)
        text = re.sub(rf"{_WHOLE}{name}=(?!=)", flag, text)
    text = _TURNS.sub(r"such as none,\1@0.25, or leave '@' out", text)
    return text.replace(", --", " --")


def for_fields(text: str) -> str:
    """The text with fields of a job in place of keywords: ``time: ...`` for ``time=...``."""
    text = _CALL.sub(r"\1 below 'data:'", text)
    text = _COLUMNS.sub(r"columns: [\1]", text)
    for python, _, fields in PHRASES:
        text = _replaced(text, python, fields)
    for pattern, fields in OF_FILES:
        text = pattern.sub(fields, text)
    for name in FIELDS:
        text = re.sub(rf"(?<![\w-]){name}=True\b", f"{name}: true", text)
        text = re.sub(rf"(?<![\w-]){name}=(?=[\w'\".({{])", f"{name}: ", text)
        text = re.sub(rf"(?<![\w-]){name}=:?(?!=)", f"{name}:", text)
    return text
