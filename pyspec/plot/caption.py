"""One line that names a fit."""

from __future__ import annotations

import numpy as np

from pyspec.fit import FitResult, SliceResults
from pyspec.fit.results.coarse import CoarseFit, drawn, masked_points
from pyspec.fit.results.ended import state_of
from pyspec.plot.protocols import Fit


def literal(name: str) -> str:
    """A name whose dollars are no formula."""
    return name.replace("$", r"\$")


#: Numbers from here on are written with a power of ten.
LARGE = 1e6

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def five_digits(value: float) -> str:
    """A number as people write it: 3.1515, 622140, 1.4087 × 10⁸."""
    if 1e5 <= value < LARGE:
        return f"{float(f'{value:.5g}'):.0f}"
    digits, _, power = f"{value:.5g}".partition("e")
    return f"{digits} × 10{str(int(power)).translate(_RAISED)}" if power else digits


def heading(result: Fit) -> str:
    """ "doublet fitted to scan 7"."""
    target = (isinstance(result, FitResult) and result.target) or result.file_name
    return " fitted to ".join(part for part in (result.model_name, target) if part)


def caption(result: Fit, after_name: str = "  ·  ") -> str:
    """One line under which a fit can be found again."""
    name = literal(heading(result))
    if isinstance(result, SliceResults):
        done = int(np.count_nonzero(result.success))
        return f"{name}{after_name}{len(result)} slices one by one, {done} converged"
    seen = drawn(result) if isinstance(result, FitResult) else result
    n_masked = masked_points(result)
    masked = f", {n_masked} of them masked" if n_masked else ""
    if isinstance(seen, CoarseFit):
        masked += f", one of {' × '.join(str(n) for n in seen.points)} drawn"
    fitted = f"{result.n_free} free parameters"
    if result.problem.is_weighted:  # else it is in units of the data squared, and judges nothing
        fitted += f"  ·  reduced χ² {five_digits(result.redchi)}"
    words = state_of(result.success, result.without_effect)
    state = "" if result.success else f"  ·  {words}"
    return (
        f"{name}{after_name}{' × '.join(str(n) for n in result.data.shape)} points{masked}  ·  "
        f"{fitted}{state}"
    )
