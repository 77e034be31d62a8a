"""What fits that are made again from an archive begin with, and what to know of them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from pyspec.calls import stack_outside
from pyspec.errors import ModelWarning
from pyspec.fit import FitResult
from pyspec.model.free import free_parameters

#: Values that are named in a warning.
SHOWN = 5


def slice_seeds(stored: Any, start: str) -> list[dict[str, float]]:
    """The start values of each of the StoredSlices, "initial" or "best" ones, and fixed values."""
    fixed = {row.name for row in stored.table if not row.vary}
    seeds = []
    for k in range(len(stored)):
        seed = {}
        for name, column in (stored.start if start == "initial" else stored.values).items():
            moved = stored.values if name in fixed else {name: column}
            if stored.table[name].expr is None and np.isfinite(moved[name][k]):
                seed[name] = float(moved[name][k])
        seeds.append(seed)
    return seeds


def caution_alone(stored: Any, result: FitResult) -> None:
    """Says of a StoredFit of a file that was fitted together with others which shared parameters
    this file now has for itself, and how to fit all of them again."""
    if not stored.of_joint:
        return
    parameters = result.problem.model.parameters
    moved = [name for name in result.free_names if parameters[name].scope == "project"]
    found = [f"{n} {stored.values[n]:.6g} → {result.values[n]:.6g}" for n in moved]
    free = free_parameters(parameters)
    found += [name for name, par in free.items() if par.free is not None and par.free.shared]
    if not found:
        return
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    text = (
        f"was fitted together with other files, and now alone: {', '.join(found[:SHOWN])}{more} "
        "are of this file, no longer of all; refit_joint(load_fits(path)) fits all together"
    )
    result.cautions = (*result.cautions, text)
    warnings.warn(f"{stored.title}: {text}", ModelWarning, stack_outside())
