"""Hints in the syntax of where one is: Python's keywords as flags, or as fields of a job."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

#: Keywords of reading that ``pyspec show`` has as flags of the same name, and jobs as fields.
READING = (
    "format", "energy", "time", "data", "columns", "layout", "block", "energy_scale",
    "photon_energy", "to", "transpose", "sort", "delimiter", "decimal", "errors",
)  # fmt: skip

#: Those that only jobs have.
FIELDS = (*READING, "work_function", "units", "exclude", "inputs")

#: What has another form altogether: Python, flags, fields.
PHRASES = (
    ("say units={'energy': 'eV'}", "say --units energy=eV", "say units: {energy: eV}"),
    ("units={...}", "--units energy=... --units time=...", "units: {energy: ..., time: ...}"),
    ("an array, the path", "the path", "the path"),
    ("an array, a path", "a path", "a path"),
    ("select(", "--select ", "select: {"),
    (", to the File of the data or to model.set_axes", "", ""),
    (
        "File(..., aux_axis=depth, aux_weights=weights)",
        "auxiliary: in a job",
        "auxiliary: {range: [0, 5], points: 20}",
    ),
    ("errors=False leaves", "noise: {type: none} in a job leaves", "'noise: {type: none}' leaves"),
    (
        "file.set_noise('gaussian', sigma=...), or Measurement(weight=1 / sigma)",
        "noise: {type: gaussian, sigma: ...} in a job",
        "noise: {type: gaussian, sigma: ...}",
    ),
    (
        'file.set_noise("poisson") or Measurement(loss="poisson")',
        "noise: {type: poisson} in a job",
        "noise: {type: poisson}",
    ),
    (
        "file.set_noise('poisson', scale=counts for a unit)",
        "noise: {type: poisson, scale: counts for a unit} in a job",
        "noise: {type: poisson, scale: counts for a unit}",
    ),
    (
        "load it with load_fit()",
        "load it in Python, load_fit(path), or check it with 'pyspec verify'",
        "load it in Python, load_fit(path)",
    ),
    (
        "leave it out: mask=, True there",
        "leave it out: NaN in the data, and mask: nan in a job",
        "leave it out: NaN in the data, and mask: nan below data:",
    ),
    (
        "File.from_dataset leaves them out of fits (elsewhere: mask=~dataset.finite)",
        "mask: nan in a job leaves them out of fits",
        "mask: nan leaves them out of fits",
    ),
    (
        "see also result.conf_interval(",
        "see also load_fit(path).to_result().conf_interval(",
        "see also load_fit(path).to_result().conf_interval(",
    ),
    (
        "np.sqrt(result.fit / k)",
        "np.sqrt(load_fit(path).to_result().fit / k)",
        "np.sqrt(load_fit(path).to_result().fit / k)",
    ),
    (
        "declare it (weights or sigma, scale_covar=False)",
        "declare it, noise: {sigma: ...} in a job",
        "declare it, noise: {sigma: ...}",
    ),
    ("which scale= says", "which scale: of a job says", "which scale: below noise: says"),
    ("(n_starts=10)", "(n_starts: 10 in a job)", "(options: {n_starts: 10})"),
    ('linear="eliminate"', "linear: eliminate", "linear: eliminate"),
    ('method="leastsq"', "--method leastsq", "method: leastsq"),
    ("method='emcee'", "--method emcee", "method: emcee"),
    ("fit the series, fit_2d,", "fit the series, --type 2d,", "fit the series, type: 2d,"),
    ("call fit_2d, fit_baseline", "fit --type 2d, baseline", "give type: 2d, baseline"),
)

#: No part of another word, and no name of an axis behind a flag: "--at energy=3".
_WHOLE = r"(?<![\w-])(?<!--at )(?<!--units )(?<!--select )"

_TURNS = re.compile(r"such as \['none', '([^']*)'\], or leave frequency out")

_COLUMNS = re.compile(r"columns=\(([^()]+)\)")

_EXCLUDED = re.compile(r"mask=,\s+True\s+there,\s+or\s+set_fit_limits\(exclude=\[\(([^()]+)\)\]\)")

_COUNTS = re.compile(r"file\.set_noise\(\"poisson\"(?:,\s+scale=([^()]+))?\)")

_CALL = re.compile(r"read\((?:\.\.\.|'[^']*'), ([^()]*)\)")


@contextmanager
def cautions_of_a_job(results: Iterable[Any]) -> Iterator[None]:
    """The cautions of fits and slices have fields of a job in place of keywords meanwhile."""
    parts = [one for result in results for one in (getattr(result, "fits", None) or [result])]
    fits = [getattr(part, "result", part) for part in parts]
    kept = [(fit, fit.cautions) for fit in fits if fit is not None]
    for fit, cautions in kept:
        fit.cautions = tuple(map(for_fields, cautions))
    try:
        yield
    finally:
        for fit, cautions in kept:
            fit.cautions = cautions


def _replaced(text: str, phrase: str, other: str) -> str:
    """With another phrase in its place, also where lines are broken within it."""
    return re.sub(r"\s+".join(map(re.escape, phrase.split(" "))), lambda _: other, text)


def for_flags(text: str) -> str:
    """The text with flags in place of keywords: ``--time ...`` for ``time=...``."""
    text = _CALL.sub(r"\1", text)
    text = _COLUMNS.sub(lambda found: f"--columns {found[1].replace(',', '')}", text)
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
    text = _EXCLUDED.sub(r"limits: {exclude: [[\1]]}, or NaN in the data, and mask: nan", text)
    for python, _, fields in PHRASES:
        text = _replaced(text, python, fields)
    text = _COUNTS.sub(
        lambda found: f"noise: {{type: poisson{f', scale: {found[1]}' if found[1] else ''}}}", text
    )
    for name in FIELDS:
        text = re.sub(rf"(?<![\w-]){name}=True\b", f"{name}: true", text)
        text = re.sub(rf"(?<![\w-]){name}=(?=[\w'\".({{])", f"{name}: ", text)
        text = re.sub(rf"(?<![\w-]){name}=(?!=)", f"{name}:", text)
    return text
