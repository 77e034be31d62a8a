"""One line that names a fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyspec.fit import FitResult
from pyspec.fit.by_reference import masked_points
from pyspec.fit.coarse import CoarseFit, drawn
from pyspec.fit.statistics import state_of


def literal(name: str) -> str:
    """A name whose dollars are no formula."""
    return name.replace("$", r"\$")


def heading(result: Any) -> str:
    """ "doublet fitted to scan 7"."""
    what = (isinstance(result, FitResult) and result.target) or result.file_name
    return " fitted to ".join(part for part in (result.model_name, what) if part)


def caption(result: Any, after_name: str = "  ·  ") -> str:
    """One line under which a fit can be found again."""
    name = literal(heading(result))
    if result.fit_type == "sbs":
        done = int(np.count_nonzero(result.success))
        return f"{name}{after_name}{len(result)} slices one by one, {done} converged"
    seen = drawn(result) if isinstance(result, FitResult) else result
    n_masked = masked_points(result)
    masked = f", {n_masked} of them masked" if n_masked else ""
    if isinstance(seen, CoarseFit):
        masked += f", drawn as means of {' × '.join(str(n) for n in seen.points)}"
    words = state_of(result.success, result.without_effect, result.message)
    state = "" if result.success else f"  ·  {words}"
    return (
        f"{name}{after_name}{' × '.join(str(n) for n in result.data.shape)} points{masked}  ·  "
        f"{result.n_free} free parameters  ·  reduced χ² {result.redchi:.5g}{state}"
    )
