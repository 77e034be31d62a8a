"""Whether a fit that was sent away from an optimum has come back to it.

Beside an optimum at bounds, with all other parameters determined, chi² is a parabola of these: from
a point next to it, at the same bounds, every fit ends there. What it would take to reach the last
digits once more need not be evaluated. A whole standard error away is not next to it: there a slope
of what lies at a bound, which is next to nothing at the optimum, may lead to a better one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from pyspec.fit.solve.determined import WEAK
from pyspec.fit.solve.jumps import Bounds
from pyspec.fit.solve.native import NativeSolver

Array = npt.NDArray[np.float64]

#: Next to an optimum chi² is larger by no more than this share of the variance of a point: that of
#: a thousandth of a standard error. Of 6,500 fits of one to three lines ten times as much lost one
#: better optimum, and a whole standard error more of them.
NEXT_TO = 1e-6

#: Whether a point, with its chi², is next to the optimum.
IsBack = Callable[[Array, float], bool]


class Back(Exception):  # noqa: N818  (not an error: the optimum is known)
    """Ends a fit that has come back."""


def way_back(
    found: NativeSolver, held: Sequence[int], bounds: Bounds, variance: float, slight: float
) -> IsBack | None:
    """Tells for points whether they are next to the optimum that was `found`, where `held`
    parameters lie at their bounds: these lie there too, the others within a thousandth of a
    standard error, and chi² is larger by no more than that takes with the `variance` of a point,
    and not smaller, but for a `slight` change. None where the others are not certain by
    themselves, or held ones are not at bounds."""
    lower, upper = bounds
    optimum, least = found.theta.copy(), found.chisqr
    if not held or not all(optimum[k] in (lower[k], upper[k]) for k in held):
        return None
    others = np.setdiff1d(np.arange(optimum.size), held)
    root = found.factor()[:, others]
    size = np.sqrt(np.einsum("ij,ij->j", root, root))
    if not others.size or not np.all(size > 0):
        return None
    singular = np.linalg.svd(root / size, compute_uv=False)
    if not singular[-1] > WEAK * singular[0]:
        return None

    most = NEXT_TO * variance

    def is_back(theta: Array, chisqr: float) -> bool:
        if not least - slight <= chisqr <= least + most:
            return False
        if any(theta[k] != optimum[k] for k in held):
            return False
        away = root @ (theta - optimum)[others]
        return bool(away @ away <= most)

    return is_back
