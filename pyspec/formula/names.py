"""The names in a formula: each has one meaning, and is known where it is used."""

from __future__ import annotations

from collections.abc import Mapping

from pyspec.errors import ModelError, suggest
from pyspec.formula.formula import Formula
from pyspec.formula.parser import CONSTANTS, FUNCTIONS


def claim(name: str, what: str, known: dict[str, str], start: str) -> None:
    """Takes a name that nothing else has. Raises :class:`ModelError` otherwise."""
    if name in known:
        raise ModelError(f"{start}{name!r} is {known[name]} already; choose another name")
    if name in CONSTANTS or name in FUNCTIONS:
        raise ModelError(f"{start}{name!r} has a meaning in formulas; choose another name")
    known[name] = what


def check_names(
    formula: Formula, known: Mapping[str, str], domain: str, axes: Mapping[str, str], start: str
) -> None:
    """Every name in a formula is known. `axes` are what each domain calls its own.

    Raises :class:`ModelError`, with a caret under the first that is not.
    """
    for name, position in formula.uses:
        if name in known:
            continue
        hint = suggest(name, list(known))
        if name in axes.values():
            hint = f"; the axis of a {domain} function is {axes[domain]!r}"
        shown = f"\n    {formula.text}\n    {' ' * position}^" if len(formula.text) <= 160 else ""
        raise ModelError(
            f"{start}the formula names {name!r}, which is no parameter, line or axis{hint}{shown}"
        )
