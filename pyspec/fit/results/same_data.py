"""Whether the data of a fit are still those that were fitted: they are kept by reference, and
whoever owns the array may write into it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError
from pyspec.executor.protocol import Stored
from pyspec.fit.solve.methods import SAMPLER
from pyspec.model.data.checksum import checksum
from pyspec.model.data.source import source_of

if TYPE_CHECKING:
    from pyspec.fit.part import FitPart

Array = npt.NDArray[np.float64]

#: χ² of a fit and at its values differ by less than this share of it, or of the data, squared.
SAME, ROUNDING = 1e-6, 1e-12

#: What would come of other data.
_OTHERS = (
    "its residual, statistics, pictures, intervals and samples would be those of other data "
    "(values and standard errors are those of the fit still)"
)


class Fitted(Protocol):
    """A problem, or one file of it."""

    @property
    def files(self) -> Sequence[FitPart]:
        """Its files."""

    @property
    def label(self) -> str:
        """How errors call it."""

    @property
    def data_square(self) -> float:
        """χ² of a model that is 0 everywhere."""

    def chisqr_at(self, theta: Array) -> float:
        """χ² at a point."""


class Finished(Protocol):
    """The fit of a problem."""

    method: str

    @property
    def problem(self) -> Fitted:
        """What was fitted."""

    @property
    def chisqr(self) -> float:
        """The smallest χ²."""

    @property
    def theta(self) -> Array:
        """(n,) the best values."""


def changed(name: str, so: str = _OTHERS) -> DataError:
    """The error for a fit of this name after its data were changed, with the consequences."""
    return DataError(
        f"the {name}: its data were changed after it was fitted (their checksum differs), so {so}; "
        "fit a copy where an acquisition uses its buffer again: File(data=data.copy(), ...)"
    )


def is_at_hand(problem: Fitted) -> bool:
    """Whether all data of a problem are in memory, for all files of a joint fit and with weights
    and masks. Data by reference are not read again for questions after a fit."""
    given = [one.measurement for one in problem.files]
    parts = [part for one in given for part in (one.data, one.weight, one.keep)]
    return all(source_of(part) is None for part in parts)


def need_same(problem: Fitted) -> None:
    """Raises :class:`DataError` where the data of a problem, or of any of the files of a joint fit,
    changed after they were fitted. Data by reference are not read for it."""
    shares = problem.files[0].shares  # amplitudes with other files
    for one in (shares or problem).files:
        need_checksum(one.measurement.data, one.data_checksum, f"fit of {problem.label}")


def need_fitted(result: Finished, found: float | None = None) -> None:
    """Raises :class:`DataError` if the data were changed since a fit. Weights and masks have no
    checksum: a change of them is seen from χ² at the values of the fit. This costs one evaluation
    unless χ² was already `found`. Fits by samples of the posterior are not checked in this way."""
    problem, chisqr = result.problem, float(result.chisqr)
    need_same(problem)
    if result.method.endswith(SAMPLER) or not math.isfinite(chisqr):
        return
    found = problem.chisqr_at(result.theta) if found is None else found
    if not abs(found - chisqr) <= SAME * chisqr + ROUNDING * problem.data_square:
        raise DataError(
            f"the fit of {problem.label}: its weights or mask were changed after it was fitted "
            f"(χ² at its values is {found:.6g} now, and was {chisqr:.6g}), so {_OTHERS}; fit "
            "again, with copies where these arrays are used again"
        )


def need_checksum(data: Stored | None, then: int, name: str) -> None:
    """The same of one array, by one pass over it at the speed of memory.

    Raises :class:`DataError` where there are none."""
    if data is None:
        raise DataError(
            f"the {name} was saved without data; hand them over: load_fit(path, data=data)"
        )
    if isinstance(data, np.ndarray) and checksum(data) != then:
        raise changed(name)


def data_of(problem: Fitted) -> Stored:
    """The data of the window of a problem. Raises :class:`DataError` where they were changed."""
    need_same(problem)
    return problem.files[0].data
