"""The comparing executor: runs every backend that applies and raises where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from pyspec.errors import BackendError
from pyspec.executor.protocol import Array, Executor, Values, ValuesOnly
from pyspec.plan import ScheduledPlan

#: Largest difference between executors, in units of the largest value.
AGREEMENT = 1e-10


def worst_difference(a: Array, b: Array) -> float:
    """max |a - b| / max |a|; inf where NaN or infinities stand at different places."""
    finite = np.isfinite(a)
    if not (np.array_equal(finite, np.isfinite(b)) and np.array_equal(np.isnan(a), np.isnan(b))):
        return float("inf")
    if not np.array_equal(a[~finite & ~np.isnan(a)], b[~finite & ~np.isnan(b)]):
        return float("inf")
    if not finite.any():
        return 0.0
    scale = float(np.abs(a[finite]).max())
    difference = float(np.abs(a[finite] - b[finite]).max())
    return difference / scale if scale else float("inf") if difference else 0.0


class CompareExecutor(ValuesOnly):
    """Runs all executors given; the last one's answer is returned (``fit_model_compare``)."""

    name: ClassVar[str] = "compare"

    def __init__(self, executors: Sequence[Executor]) -> None:
        self.executors = tuple(executors)

    def __repr__(self) -> str:
        return f"<CompareExecutor of {', '.join(executor.name for executor in self.executors)}>"

    @property
    def opt_param_names(self) -> tuple[str, ...]:
        """The order of theta."""
        return self.executors[-1].opt_param_names

    @property
    def fixed_names(self) -> tuple[str, ...]:
        """The order of `fixed`."""
        return self.executors[-1].fixed_names

    @property
    def plan(self) -> ScheduledPlan | None:
        """The plan of the last executor."""
        return self.executors[-1].plan

    def rest(self) -> None:
        """Frees the work memory of all executors."""
        for executor in self.executors:
            executor.rest()

    def run(self, theta: Values, fixed: Values = None) -> Array:
        """The model over the window, after all executors agreed on it."""
        spectra = [executor.run(theta, fixed) for executor in self.executors]
        for executor, spectrum in zip(self.executors[:-1], spectra[:-1], strict=True):
            worst = worst_difference(spectrum, spectra[-1])
            if not worst <= AGREEMENT:
                at = np.unravel_index(
                    int(np.nanargmax(np.abs(spectrum - spectra[-1])))
                    if np.isfinite(worst)
                    else int(np.argmax(np.isfinite(spectrum) != np.isfinite(spectra[-1]))),
                    spectrum.shape,
                )
                raise BackendError(
                    f"{executor.name} and {self.executors[-1].name} differ by {worst:.3g} of "
                    f"the largest value (allowed {AGREEMENT:g}), most at index "
                    f"{tuple(int(i) for i in at)}: {spectrum[at]:.17g} against "
                    f"{spectra[-1][at]:.17g}; please report this model"
                )
        return spectra[-1]

    def residual(self, theta: Values, fixed: Values = None) -> Array:
        """The residual of the last executor, after all agreed on the model."""
        self.run(theta, fixed)
        return self.executors[-1].residual(theta, fixed)
