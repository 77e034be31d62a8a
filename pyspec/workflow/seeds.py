"""Names as File's calls take them, and start values from a baseline fit."""

from __future__ import annotations

from collections.abc import Sequence

from pyspec.errors import FitError, ModelError
from pyspec.fit import FitResult
from pyspec.model import Model


def one_name(given: str | Sequence[str], what: str) -> str:
    """The one name in a name or a list of names; several would be subcycles."""
    if isinstance(given, str):
        return given
    names = list(given)
    if len(names) != 1:
        raise ModelError(
            f"{what} {names!r}: several submodels (subcycles) are not available; name one model"
        )
    return names[0]


def seed_from(model: Model, baseline: FitResult) -> None:
    """Best values of the baseline, by name; outside of the model's bounds is an error."""
    values = baseline.values
    seeds = {}
    for name, par in model.parameters.items():
        if name not in values or par.formula is not None:
            continue
        value = values[name]
        if not par.min <= value <= par.max:
            raise FitError(
                f"{par.place}: the baseline fit gave {name} = {value:g}, outside of the bounds "
                f"[{par.min:g}, {par.max:g}] of model {model.name!r}; widen them, or start from "
                "the model's own values with seed_source='model'"
            )
        seeds[name] = value
    model.set_values(seeds)
