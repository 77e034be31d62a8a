"""What pictures and reports take: a fit, or slices."""

from __future__ import annotations

from typing import Protocol, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from pyspec.errors import CallError
from pyspec.fit import FitResult, JointResult, SliceResults

Fit: TypeAlias = FitResult | SliceResults


class Measured(Protocol):
    """Data with their axes, such as a File or a Dataset; other names are optional."""

    @property
    def data(self) -> npt.ArrayLike | None: ...
    @property
    def energy(self) -> npt.NDArray[np.float64] | None: ...
    @property
    def time(self) -> npt.NDArray[np.float64] | None: ...


def is_measured(source: object) -> TypeGuard[Measured]:
    """Whether this is a File or a Dataset: data with their axes, and no fit."""
    fits = (FitResult, SliceResults)
    names = ("data", "energy", "time")
    return not isinstance(source, fits) and all(hasattr(source, name) for name in names)


def fit_of(result: object, call: str) -> Fit:
    """A fit, or slices.

    Raises :class:`CallError` for anything else; `call` is what was asked for it.
    """
    if isinstance(result, JointResult):
        raise CallError(f"{call}: each file of a joint fit is one fit; give joint[0]")
    if isinstance(result, (FitResult, SliceResults)):
        return result
    shown = repr(result) if isinstance(result, str) else type(result).__name__
    raise CallError(
        f"{call} takes a fit, not {shown}; give what fit_... returned, file.get_result(), or one "
        "of load_fits(path)"
    )
