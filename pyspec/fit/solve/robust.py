"""Fits by a robust loss, which methods of SciPy minimise in place of chi²: the sum of C² rho(r²/C²)
over the residuals r of the points, with the scale C.

The optimum is where Jᵀψ = 0, ψ = rho'(z) r and z = r²/C². Near it, the fit is one by least squares
of the residuals ψ/√b with the slopes √b J, b the mean of ψ' = rho' + 2 z rho''. Standard errors are
those of Huber's M-estimator for equally distributed residuals [1],

    K² Σψ² / (n - p) / b² (JᵀJ)⁻¹,   K = 1 + p/n var(ψ') / b².

[1] P. J. Huber, Robust Statistics, Wiley (1981), chapter 7.6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import FitError

if TYPE_CHECKING:
    from pyspec.fit.objective import Objective
    from pyspec.fit.problem import FitProblem
    from pyspec.fit.results.ended import EndedFit

Array = npt.NDArray[np.float64]

#: Loss → rho, rho' and rho'' of z, as of scipy.optimize.least_squares.
_LOSSES: dict[str, Callable[[Array], tuple[Array, Array, Array]]] = {
    "soft_l1": lambda z: (2 * (np.sqrt(1 + z) - 1), (1 + z) ** -0.5, -0.5 * (1 + z) ** -1.5),
    "huber": lambda z: (
        np.where(z <= 1, z, 2 * np.sqrt(z) - 1),
        np.maximum(z, 1.0) ** -0.5,
        np.where(z <= 1, 0.0, -0.5 * np.maximum(z, 1.0) ** -1.5),
    ),
    "cauchy": lambda z: (np.log1p(z), 1 / (1 + z), -1 / (1 + z) ** 2),
    "arctan": lambda z: (np.arctan(z), 1 / (1 + z**2), -2 * z / (1 + z**2) ** 2),
}


@dataclass(frozen=True)
class Robust:
    """A loss by its name, or a function of z that gives rho, rho' and rho''; and its scale C."""

    loss: Any
    scale: float

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Robust | None:
        """That of the options of a fit; None of one by chi²."""
        loss = settings.get("loss", "linear")
        return None if loss == "linear" else cls(loss, float(settings.get("f_scale", 1.0)))

    @property
    def name(self) -> str:
        """What the loss is called."""
        return str(getattr(self.loss, "__name__", self.loss))

    def _parts(self, residual: Array) -> tuple[Array, Array, Array]:
        z = (residual / self.scale) ** 2
        rho, first, second = self.loss(z) if callable(self.loss) else _LOSSES[self.loss](z)
        return self.scale**2 * rho, first * residual, first + 2.0 * z * second

    def at(self, problem: FitProblem, theta: Array) -> float:
        """The loss at a point; NaN where the model is not defined."""
        with np.errstate(all="ignore"):
            return float(self._parts(problem.plain_residual(theta))[0].sum())

    def around(
        self,
        objective: Objective,
        theta: Array,
        bounds: Sequence[tuple[float, float]],
        n: int,
        n_amplitudes: int,
    ) -> tuple[Array, Array, float, float]:
        """The fit around a point as one by least squares, `n_amplitudes` beside it; `n` points of
        the residual count, the others are 0.

        Returns four things:

        - the slopes √b J (m, n), whose Gram matrix is the information;
        - -Jᵀψ (n,), the direction in which the loss falls;
        - the variance of a point, by which the inverse of the information is the covariance;
        - the loss, Σ C² rho(z).
        """
        slopes, p = objective.derivatives(theta, bounds), theta.size + n_amplitudes
        rho, pull, bend = self._parts(objective.problem.plain_residual(theta))
        hidden = bend.size - n  # each has ψ' = 1
        mean = (bend.sum() - hidden) / n
        spread = (np.square(bend - mean).sum() - hidden * (1.0 - mean) ** 2) / n
        mean = max(float(mean), float(np.finfo(float).tiny))
        larger = 1.0 + p / n * spread / mean**2
        variance = larger**2 * float(pull @ pull) / max(n - p, 1) / mean
        return np.sqrt(mean) * slopes.T, -slopes @ pull, variance, float(rho.sum())


def refuse_robust(result: EndedFit, subject: str) -> None:
    """Raises :class:`FitError` for what follows from chi², where a fit minimised another loss."""
    robust = Robust.of(result.settings)
    if robust is not None:
        raise FitError(
            f"{result.problem.label}: no {subject}: they follow from chi², and this fit minimised "
            f"the loss {robust.name}; quote its standard errors, or bootstrap(result)"
        )
