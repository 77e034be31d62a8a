"""What pictures and reports take: a fit, slices, or what an archive holds of them."""

from __future__ import annotations

from typing import TypeAlias

from pyspec.errors import CallError
from pyspec.fit import FitResult, JointResult, SliceResults
from pyspec.io import StoredFit, StoredSlices

Fit: TypeAlias = FitResult | SliceResults


def is_measured(given: object) -> bool:
    """Whether this is a File or a Dataset: data with their axes, and no fit."""
    fits = (FitResult, SliceResults, StoredFit, StoredSlices)
    names = ("data", "energy", "time")
    return not isinstance(given, fits) and all(hasattr(given, name) for name in names)


def fit_of(given: object, call: str) -> Fit:
    """A fit with its arrays; a stored one is evaluated, not fitted.

    Raises :class:`CallError` for anything else; `call` is what was asked for it.
    """
    if isinstance(given, JointResult):
        raise CallError(f"{call}: each file of a joint fit is one fit; give joint[0]")
    if isinstance(given, (FitResult, SliceResults)):
        return given
    if isinstance(given, (StoredFit, StoredSlices)):
        return given.to_result()
    shown = repr(given) if isinstance(given, str) else type(given).__name__
    raise CallError(
        f"{call} takes a fit, not {shown}; give what fit_... returned, file.get_result(), or one "
        "of load_fits(path)"
    )
