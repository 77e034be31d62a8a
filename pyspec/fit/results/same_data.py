"""Whether the data of a fit are still those that were fitted: they are kept by reference, and
whoever owns the array may write into it."""

from __future__ import annotations

import math

import numpy as np

from pyspec.errors import DataError
from pyspec.executor.protocol import Stored
from pyspec.fit.files import Files
from pyspec.fit.part import FitPart
from pyspec.model.build.free import free_parameters
from pyspec.model.data.checksum import checksum
from pyspec.model.data.source import source_of
from pyspec.model.tree import ops_of

#: χ² of a fit and at its values differ by less than this share of it, or of the data, squared.
SAME, ROUNDING = 1e-6, 1e-12

#: What would come of other data.
OTHERS = (
    "its residual, statistics, pictures, intervals and samples would be those of other data "
    "(values and standard errors are those of the fit still)"
)


def changed(name: str, so: str = OTHERS) -> DataError:
    """The error for a fit of this name after its data were changed, with the consequences."""
    return DataError(
        f"the {name}: its data were changed after it was fitted (their checksum differs), so {so}; "
        "fit a copy where an acquisition uses its buffer again: File(data=data.copy(), ...)"
    )


def is_at_hand(problem: Files | FitPart) -> bool:
    """Whether all data of a problem are in memory, for all files of a joint fit and with weights
    and masks. Data by reference are not read again for questions after a fit."""
    measurements = [file.measurement for file in problem.files]
    arrays = [array for own in measurements for array in (own.data, own.weight, own.keep)]
    has_data = all(own.data is not None for own in measurements)
    return has_data and all(source_of(array) is None for array in arrays)


def need_same(problem: Files | FitPart) -> None:
    """Raises :class:`DataError` where the data of a problem, or of any of the files of a joint fit,
    changed after they were fitted. Data by reference are not read for it."""
    shares = problem.files[0].shares  # amplitudes with other files
    for file in (shares or problem).files:
        need_checksum(file.measurement.data, file.data_checksum, f"fit of {problem.label}")


def need_checksum(data: Stored | None, then: int, name: str) -> None:
    """The same of one array, by one pass over it at the speed of memory.

    Raises :class:`DataError` where there are none."""
    if data is None:
        raise DataError(
            f"the {name} was saved without data; hand them over: load_fit(path, data=data)"
        )
    if isinstance(data, np.ndarray) and checksum(data) != then:
        raise changed(name)


def is_same(problem: Files, now: float, then: float) -> bool:
    """Whether χ² at the values of a fit is that of the fit, or that is not finite."""
    return (
        not math.isfinite(then) or abs(now - then) <= SAME * then + ROUNDING * problem.data_square
    )


def reason_to_differ(problem: Files | FitPart) -> str:
    """Why a model that an archive describes may give other curves than those that were fitted; ""
    where it can not."""
    models, (first, *others) = [file.model for file in problem.files], problem.files
    is_alone = not others and first.shares is None
    for name, par in free_parameters(first.model.parameters).items():
        if is_alone and par.free is not None and par.free.shared:
            return (
                f"{name} was solved for from the data of several files, of which this is one; fit "
                "the files together again for spectra and curves"
            )
    for op in (op for model in models for op in ops_of(model.components, model.quantities)):
        if op.external and op.own is None:
            return (
                f"the archive has the name of the function {op.name} alone, and another one than "
                "was fitted is registered under it; register that of the fit for curves, or "
                "refit() with this one"
            )
    return ""
