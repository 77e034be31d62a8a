"""Free amplitudes of largest likelihood for counts.

At each energy (or time) the model is linear in its amplitudes, m = Phi c, and the deviance of the
counts is convex in c: Newton's method with a search along each step ends at its only minimum, to
rounding. There the derivative of the deviance by theta is that at fixed amplitudes, so that the
triangle of [J r] holds the exact gradient of its own chi².

With f half of the deviance of a point, a Newton step is least squares with the weights sqrt(f''(m))
and the data m - f'(m) / f''(m): the projection in C solves it within the bounds of the amplitudes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pyspec.executor.linear.design import Design
from pyspec.executor.linear.projection import Projected, Projection
from pyspec.functions.losses import FLOOR, deviance, deviance_slope

Array = npt.NDArray[np.float64]

#: Where there is no count, the root of the deviance goes on linearly below this model, in counts:
#: what is expected to be counted is not negative. It is 5e-7 at most that this adds to chi².
EMPTY = 1e-6

#: Steps at most, how many of them take the expected curvature, and what chi² still falls by when
#: they end.
MOST_STEPS, EXPECTED_STEPS, REST = 60, 1, 1e-14

#: The search along a step ends where the slope is this part of that at its begin.
SLOPE, MOST_CUTS = 0.1, 60

#: The curvature of points without counts, which is 0, as a part of the expected one: a weight of 0
#: would leave no slope.
LITTLE = 1e-6


class Counts:
    """Counts that a model with free amplitudes is fitted to.

    Parameters
    ----------
    data : (n_groups, n_x) in any unit, 0 where masked
    weight : (n_groups, n_x) what residuals are multiplied by, 0 where masked; None where all are 1
    scale : counts for each unit of the data
    """

    def __init__(self, data: Array, weight: Array | None, scale: float) -> None:
        self._counts, self._scale = scale * data, scale
        self._weight = np.ones(data.shape) if weight is None else weight
        self._square = self._weight**2
        self._is_empty = self._counts == 0
        self._floor = np.where(self._is_empty, EMPTY, FLOOR)
        #: Below the floor the deviance is a parabola.
        self._below = deviance_slope(self._counts, self._floor, 1.0) ** 2

    def project(self, projection: Projection, design: Design, n_theta: int, what: str) -> Projected:
        """The projection at the amplitudes of largest likelihood. `what` is as in
        :meth:`Projection.at`, or "fisher": the triangle with the expected information, of counts
        not below the floor of the deviance."""
        model = self._model(design, self._amplitudes(projection, design))
        curvature = self._curvature(model, what != "rows")
        if what == "fisher":
            curvature = 1.0 / np.maximum(model, FLOOR)
        self._weigh(projection, model, curvature)
        is_rows = what == "rows"
        found = projection.at(design, n_theta, "rows" if is_rows else "gram", is_rows)
        model = self._model(design, found.amplitudes)
        residual = self._residual(model)
        found.triangle[-1] = np.sum(residual**2)
        if found.residual is None or found.jacobian is None:
            return found
        # Derivatives of sqrt(curvature) (data - model) become those of the deviance.
        slope = deviance_slope(self._counts, np.maximum(model, self._floor), 1.0)
        return replace(
            found, residual=residual, jacobian=found.jacobian * (-slope / np.sqrt(curvature))
        )

    def _amplitudes(self, projection: Projection, design: Design) -> Array:
        """(n_groups, n_basis) where the deviance of each group is least."""
        bare = _without_slopes(design)
        first = np.maximum(self._counts, 1.0)
        self._weigh(projection, first, 1.0 / first, self._counts / first - 1.0)
        found = projection.at(bare, 0).amplitudes
        for turn in range(MOST_STEPS):
            model = self._model(design, found)
            score = self._score(model)
            self._weigh(projection, model, self._curvature(model, turn < EXPECTED_STEPS), score)
            change = projection.at(bare, 0).amplitudes - found
            step = self._scale * design.combined(change)
            gain = np.einsum("gx,gx,gx->g", self._square, score, step)
            found = found + self._share(model, step, gain)[:, None] * change
            if not np.sum(gain) > REST:
                break
        return found

    def _model(self, design: Design, amplitudes: Array) -> Array:
        """(n_groups, n_x) expected counts."""
        return self._scale * design.model(amplitudes)

    def _score(self, model: Array) -> Array:
        """Minus the derivative of half of the deviance of each point by the model."""
        at = np.maximum(model, self._floor)
        return self._counts / at - 1.0 - self._below * (model - at)

    def _curvature(self, model: Array, expected: bool) -> Array:
        """The second derivative, or what is expected of it."""
        at = np.maximum(model, self._floor)
        share = 1.0 if expected else np.where(self._is_empty, LITTLE, self._counts / at)
        return np.where(model < self._floor, self._below, share / at)

    def _residual(self, model: Array) -> Array:
        """The signed root of the deviance, times the weights."""
        low = self._is_empty & (model < EMPTY)
        found = deviance(self._counts, np.where(low, EMPTY, model), 1.0)
        found[low] = -(model[low] + EMPTY) / np.sqrt(2 * EMPTY)
        return self._weight * found

    def _weigh(
        self, projection: Projection, model: Array, curvature: Array, score: Array | None = None
    ) -> None:
        """Least squares of which a step from this model is the solution."""
        root = self._weight * np.sqrt(curvature)
        score = self._score(model) if score is None else score
        projection.weigh(root * (model + score / curvature), root * self._scale)

    def _share(self, model: Array, step: Array, gain: Array) -> Array:
        """(n_groups,) how much of a step is taken: all of it where the deviance falls to its end,
        else up to where its slope, which is -2 `gain` at the begin, is next to 0."""
        low, high, share = np.zeros(gain.shape), np.ones(gain.shape), np.ones(gain.shape)
        at_low, at_high = gain, np.zeros(gain.shape)
        is_open = gain > REST / gain.size
        for cut in range(MOST_CUTS):
            score = self._score(model + share[:, None] * step)
            rest = np.einsum("gx,gx,gx->g", self._square, score, step)
            is_open &= (rest < -SLOPE * gain) | ((cut > 0) & (rest > SLOPE * gain))
            if not is_open.any():
                break
            past = rest < 0
            high, at_high = np.where(past, share, high), np.where(past, rest, at_high)
            low, at_low = np.where(past, low, share), np.where(past, at_low, rest)
            part = 0.5 if cut % 2 else at_low / np.where(is_open, at_low - at_high, 1.0)
            share = np.where(is_open, low + part * (high - low), share)
        return share


def _without_slopes(design: Design) -> Design:
    return replace(
        design,
        slopes=design.slopes[:0],
        slope_basis=design.slope_basis[:0],
        entry_slope=design.entry_slope[:0],
        entry_theta=design.entry_theta[:0],
        factors=design.factors[:, :0],
    )
