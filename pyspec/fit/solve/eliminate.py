"""Variable projection: a fit over the parameters that the model is not linear in.

At given values of these, θ, the linear ones, β, follow from least squares. What is left is a
residual of θ alone (G. H. Golub and V. Pereyra, SIAM J. Numer. Anal. 10 (1973) 413). With A the
information of all parameters, its Gauss-Newton matrix is

    A_θθ - A_θβ inv(A_ββ) A_βθ                                     (L. Kaufman, BIT 15 (1975) 49)

and its gradient is that of chi² by θ at the solved β. Both come from the triangle of [J r] at that
point: the columns of β span a space, and what is orthogonal to it in the columns of θ and in r is
the reduced problem. Of r that holds wherever β is, so that a point near the solved β, foretold from
the last one, serves as well.

Where the reduced fit ends an ordinary fit of all parameters begins, and confirms it: errors, bounds
and cautions are those of any fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.executor.normal import pack_triangle, unpack
from pyspec.fit.solve.back import Back, IsBack
from pyspec.fit.solve.bounded import least_squares
from pyspec.fit.solve.native import NativeSolver, root_of
from pyspec.fit.sums import sums_of

if TYPE_CHECKING:
    from pyspec.fit.problem import FitProblem

Array = npt.NDArray[np.float64]

#: The reduced fit ends at this distance from its optimum, in standard errors: the ordinary fit that
#: follows takes the last step.
NEAR = 0.1

#: Points of a reduced fit at most; each takes one evaluation or two, or with counts a few.
MOST_POINTS = 1000

#: Below this singular value, scaled, columns of β are factorised by orthogonal transformations.
WEAK = 1e-4

#: β rests where another step would lower chi² by less than this, in units of the variance of a
#: point, or change this share of the model, in squares: the reduced chi² is that behind the step,
#: its slopes are those before it. A second step repairs what rounding leaves of one from afar.
REST, SHARE, MOST_ROUNDS = 1e-2, 1e-3, 4

#: Counts: the weights depend on β, so that a step is foretold less far: to this decrease, in units
#: of the variance of a point. Else β is fitted until it is so many standard errors away.
REST_COUNTS, NEAR_COUNTS, MOST_COUNTS = 0.1, 1e-2, 100


class Elimination:
    """One reduced fit.

    Parameters
    ----------
    problem : whose account counts the evaluations and keeps the best point of all parameters
    linear : places of β among the free parameters
    lower, upper : (n_free,) bounds of all of them
    n_points : residuals that count
    sums : gives the triangle of [J r] at a point, see :func:`pyspec.fit.sums.sums_of`
    """

    def __init__(
        self,
        problem: FitProblem,
        linear: Sequence[int],
        lower: Array,
        upper: Array,
        n_points: int,
        sums: Callable[[Array, str], Array],
    ) -> None:
        self.problem = problem
        self.lower, self.upper = lower, upper
        self.n_points = n_points
        self._key: tuple[bytes, str] | None = None  # what `_root` was found for
        self._slopes: Array | None = None  # of β by θ, at the last point
        self._split(np.array(linear, dtype=np.intp))
        self._sums = sums
        self._form = "gram"
        self._theta: Array = lower
        self._best: Array | None = None  # the Gram matrix at the best point
        self._root: Array | None = None
        self._last: tuple[tuple[bytes, str], Array] | None = None

    def run(self, start: Array, most: int = MOST_POINTS, is_back: IsBack | None = None) -> Array:
        """Fits from `start`, (n_free,); returns the best point, or `start` where the model is not
        finite there; after `most` points too, and where it comes back to an optimum. Limits and
        Ctrl-C end it by an exception."""
        account, self._theta = self.problem.evaluations, start.copy()
        before = account.count
        if self.problem.is_poisson:
            self._theta = self._better_start(start)
        if self._solve(start[self.others]) is None:
            account.count = before  # the ordinary fit asks for this point, and refuses it
            return start
        if self.others.size:
            self._keep_what_a_bound_holds(start)
        at = self._theta[self.others]
        if at.size:
            solver = NativeSolver(
                at,
                self.lower[self.others],
                self.upper[self.others],
                self.n_points - self.linear.size,
                self.problem.data_square,
                most,
                NEAR,
            )

            def watch(nfev: int, chisqr: float, best: float) -> None:
                is_best = np.array_equal(self._theta[self.others], solver.theta)
                if is_back is not None and is_best and is_back(self._theta, solver.chisqr):
                    raise Back

            with suppress(Back):
                solver.run(self._reduced, watch)
        return account.best_theta.copy()

    def _split(self, linear: npt.NDArray[np.intp]) -> None:
        self.linear = linear
        self.others = np.setdiff1d(np.arange(self.lower.size), linear)
        self._key = None
        self._slopes = None

    def _keep_what_a_bound_holds(self, start: Array) -> None:
        """A height that its bound takes to 0 at the start leaves a line without any slope, which
        would stay where it is: such parameters are not eliminated and keep their start values."""
        at = self._theta[self.linear]
        held = (at <= self.lower[self.linear]) | (at >= self.upper[self.linear])
        if held.any():
            lost = self.linear[held]
            self._split(self.linear[~held])
            self._theta[lost] = start[lost]

    def _better_start(self, start: Array) -> Array:
        """Of counts, β by plain least squares where the deviance is smaller there: at heights far
        off, such as those of negative counts, its slopes lead nowhere."""
        first, account = float(self._sum(start, "gram")[-1]), self.problem.evaluations
        account.left()
        squares = self.problem.of_squares()
        bounds = list(zip(self.lower.tolist(), self.upper.tolist(), strict=True))
        with sums_of(squares, bounds, each=True) as sums:
            root = _root_of(sums(start, "gram"), "gram")
        account.count += 1
        self.problem.progress.update(account.count, first, account.best)
        if root is None:
            return start
        low, high, now = (a[self.linear] for a in (self.lower, self.upper, start))
        found = least_squares(root[:, self.linear], root[:, -1], low - now, high - now)
        better = start.copy()
        better[self.linear] = np.clip(now + found.step, low, high)
        return better if float(self._sum(better, "gram")[-1]) < first else start

    def standing(self, tolerance: float) -> NativeSolver | None:
        """The solver of all parameters at the best point so far, where it ends: for a fit that was
        stopped. None without such a point."""
        if self._best is None:
            return None
        triangle = pack_triangle(self._best)
        solver = NativeSolver(
            self.problem.evaluations.best_theta,
            self.lower,
            self.upper,
            self.n_points,
            self.problem.data_square,
            1,
            tolerance,
        )
        solver.run(lambda theta, form: triangle, _nobody)
        return solver

    def _reduced(self, at: Array, form: str) -> Array:
        """The triangle of the reduced problem at θ, or chi² alone."""
        if form == "factor":
            self._form = form
        key = at.tobytes(), self._form
        if key != self._key:
            self._root = self._solve(at)
            self._key = at.tobytes(), self._form
        root = self._root
        if root is None:
            return np.array([np.nan])
        if form == "value":
            return np.array([root[:, -1] @ root[:, -1]])
        if form == "factor":
            return pack_triangle(np.asarray(np.linalg.qr(root, mode="r")))
        return pack_triangle(root.T @ root)

    def _solve(self, at: Array) -> Array | None:
        """Solves for β at θ. Returns a matrix whose Gram matrix is that of [J_θ r] without what
        lies along the columns of β; None where the model is not finite."""
        theta = self._predicted(at)
        root, is_fitted = self._root_at(theta), False
        for left in reversed(range(MOST_ROUNDS)):
            if root is None:
                return None
            columns, right = root[:, self.linear], root[:, -1]
            low, high = self.lower[self.linear], self.upper[self.linear]
            now = theta[self.linear]
            found = least_squares(columns, right, low - now, high - now)
            if found.weakest < WEAK and self._form == "gram" and left:
                self._form = "factor"
                root = self._root_at(theta)
                continue
            along = columns @ found.step
            if is_fitted or not left or self._is_slight(along, columns @ now, right):
                break
            if self.problem.is_poisson:
                theta, root = self._fit_counts(theta)
                is_fitted = True
                continue
            theta[self.linear] = np.clip(now + found.step, low, high)
            root = self._root_at(theta)
        assert root is not None
        theta[self.linear] = np.clip(now + found.step, low, high)
        self._theta = theta
        self._slopes = -found.inverse @ root[:, self.others]
        rest = root[:, [*self.others, -1]]
        rest[:, -1] = right - along
        return np.asarray(rest - found.basis @ (found.basis.T @ rest))

    def _predicted(self, at: Array) -> Array:
        """All parameters at θ, with β as the slopes at the last point have it."""
        theta = self._theta.copy()
        if self._slopes is not None:
            change = self._slopes @ (at - theta[self.others])
            low, high = self.lower[self.linear], self.upper[self.linear]
            theta[self.linear] = np.clip(theta[self.linear] + change, low, high)
        theta[self.others] = at
        return theta

    def _is_slight(self, along: Array, model: Array, right: Array) -> bool:
        """Whether a step of β changes too little to look at its end: of chi², or of the model."""
        promised = float(along @ (2.0 * right - along))
        rounding = (64 * np.finfo(float).eps) ** 2 * self.problem.data_square
        variance = float(right @ right) / self.n_points
        if self.problem.is_poisson:
            return promised <= REST_COUNTS * variance
        if promised <= REST * variance + rounding:
            return True
        return bool(along @ along <= SHARE * (model @ model))

    def _fit_counts(self, theta: Array) -> tuple[Array, Array | None]:
        """β of counts by a fit of its own, with θ held: the weights depend on it."""
        low, high = self.lower.copy(), self.upper.copy()
        low[self.others] = high[self.others] = theta[self.others]
        solver = NativeSolver(
            theta, low, high, self.n_points, self.problem.data_square, MOST_COUNTS, NEAR_COUNTS
        )
        solver.run(self._sum, _nobody)
        if not np.isfinite(solver.chisqr):
            return theta, None
        return solver.theta.copy(), solver.factor()

    def _root_at(self, theta: Array) -> Array | None:
        """R with RᵀR = [J r]ᵀ[J r] over all parameters; None where it is not finite."""
        return _root_of(self._sum(theta, self._form), self._form)

    def _sum(self, theta: Array, form: str) -> Array:
        """One evaluation, counted; the last one is remembered. The best point is kept before limits
        and signals end the fit."""
        key = theta.tobytes(), form
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        account = self.problem.evaluations
        account.left()
        account.check_end()
        triangle = self._sums(theta, form)
        account.count += 1
        self._last = key, triangle
        gram = unpack(triangle, symmetric=form != "factor")
        if form == "factor":
            gram = gram.T @ gram
        chisqr = float(gram[-1, -1])
        # A point that is worth it is asked for once more with its derivatives.
        if form != "value" and np.isfinite(gram).all() and account.keep(chisqr, theta):
            self._best = gram
        account.check_end()
        self.problem.progress.update(account.count, chisqr, account.best)
        return triangle


def _root_of(triangle: Array, form: str) -> Array | None:
    if not np.isfinite(triangle).all():
        return None
    return unpack(triangle, False) if form == "factor" else root_of(unpack(triangle))


def _nobody(nfev: int, chisqr: float, best: float) -> None:
    """Watches nothing: each evaluation has been reported."""
