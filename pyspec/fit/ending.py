"""The ending of a fit: where it ended and what the data determine there, in arrays by place of the
free parameters. Errors, correlations and what follows from them are arithmetic on it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS
from pyspec.executor.normal import unpack
from pyspec.fit.solve.determined import WEAK

Array = npt.NDArray[np.float64]

#: How the solver ended, in words.
_WORDS = {
    "converged": "Converged: the optimum is {:.1g} standard errors away",
    "exact": "Converged: the model meets the data to rounding",
    "stalled": "Stalled: no step makes χ² smaller, but the optimum seems {:.2g} standard errors "
    "away",
    "slow": "Stopped: over the last evaluations χ² fell by less than a hundredth, and the optimum "
    "seems {:.2g} standard errors away; start nearer, or give the parameters bounds",
}


_AT_BOUND = CONSTANTS["ENDING_AT_BOUND"]

#: An error that is longer has no square: the parameter went off to where nothing depends on it.
LONGEST = 1e150

#: How far a parameter may go that has no effect at all: with it goes what changes by any share.
ENDLESS = 1e250


class Determined(NamedTuple):
    """What the data determine of theta.

    `covariance` (n, n) leaves out the directions in which theta is not determined; parameters that
    are taken to be known have zeros. `away` (n, n_lost) are these directions. Along each of them,
    over its length, no parameter alone changes chi² by more than the variance of a point.
    """

    covariance: Array
    away: Array

    def part(self, places: Sequence[int]) -> Determined:
        """That of some parameters."""
        own = list(places)
        return Determined(self.covariance[np.ix_(own, own)], self.away[own])


@dataclass(frozen=True, eq=False)
class Ending:
    """The ending of one fit.

    Attributes
    ----------
    theta : (n,) the free parameters
    covariance : (n, n) of theta; NaN for parameters that a bound holds or that the data do not
        determine, and for a fit without scatter to estimate the noise from
    variance : of a point of weight 1: the reduced chi², or 1 where the noise is known; NaN where
        nothing scatters
    chisqr, n_points, n_amplitudes : chi², points that count, amplitudes solved for beside theta
    distance : to the optimum, in standard errors
    end : how the solver ended ("converged", "exact", "stalled", "slow"; "" where it did not, or
        another method did), and the distance that it saw
    side : (n,) -1 at the lower bound, 1 at the upper, else 0
    factor : (n + 1, n + 1) triangular R with RᵀR = [J r]ᵀ[J r], rows packed. Of counts
        that ended in C it has the information in place of JᵀJ. None of fits without
    fisher : (m, n) root of the information of counts, or of a robust loss, which is not that of J
    intervals : place → (low, high], of parameters that move a jump
    lost : places of the parameters that the data do not determine
    gains : place → how much chi² would fall without the bound of a parameter in a linear model;
        left out where the fall is rounding
    wide : place → the error of a parameter that has none, since its bounds say more
    left : of a file of a joint fit the `determined` of all files together, where free amplitudes
        need it
    """

    theta: Array
    covariance: Array
    variance: float
    chisqr: float
    n_points: int
    n_amplitudes: int = 0
    distance: float = 0.0
    end: tuple[str, float] = ("", math.nan)
    side: npt.NDArray[np.int64] | None = None
    factor: Array | None = None
    fisher: Array | None = None
    intervals: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    lost: tuple[int, ...] = ()
    gains: Mapping[int, float] = field(default_factory=dict)
    wide: Mapping[int, float] = field(default_factory=dict)
    left: Determined | None = None

    @classmethod
    def of_c(cls, theta: Array, flags: int, numbers: bytes, **fields: object) -> Ending:
        """What C found, with the flags ``PYSPEC_ENDING_*``. `numbers` are the sides, what chi²
        would fall by without each bound, the covariance and the factor, see ``pyspec_end``. Nothing
        is checked: in a third of the time of a call."""
        n, side, gains = theta.size, None, {}
        if flags & _AT_BOUND:
            side = np.frombuffer(numbers, np.int64, n)
            gain = np.frombuffer(numbers, np.float64, n, 8 * n).tolist()
            gains = {k: fall for k, fall in enumerate(gain) if fall > 0.0}
        fields |= {"theta": theta, "side": side, "gains": gains, "wide": {}}
        fields["covariance"] = np.ndarray((n, n), np.float64, numbers, 16 * n)
        fields["factor"] = np.frombuffer(numbers, np.float64, -1, 8 * n * (n + 2))
        ending = cls.__new__(cls)
        ending.__dict__.update(fields)
        return ending

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        for value in state.values():
            if isinstance(value, np.ndarray):  # NumPy copies arrays with leave to write
                value.flags.writeable = False

    @classmethod
    def at(cls, theta: Array) -> Ending:
        """That of parameters that are all known."""
        none = np.full((theta.size, theta.size), np.nan)
        return cls(theta, none, math.nan, math.nan, theta.size)

    @property
    def text(self) -> str:
        """How the solver ended, in words; "" where it did not."""
        return end_said(*self.end)

    @property
    def n_free(self) -> int:
        """Degrees of freedom, at least 1."""
        return max(self.n_points - self.theta.size - self.n_amplitudes, 1)

    @property
    def redchi(self) -> float:
        """Reduced chi²."""
        return self.chisqr / self.n_free

    @property
    def stderr(self) -> Array:
        """(n,) standard errors, NaN where there is none."""
        with np.errstate(invalid="ignore"):
            return np.sqrt(self.covariance.diagonal())

    @property
    def places(self) -> npt.NDArray[np.intp]:
        """Those of the parameters that have a standard error."""
        return np.flatnonzero(np.isfinite(self.covariance.diagonal()))

    @property
    def known(self) -> Array:
        """(n, n) the covariance, with zeros for parameters that have none: these are taken to be
        known. NaN between two that have one stays: an archive may not hold how they correlate."""
        none = ~np.isfinite(self.covariance.diagonal())
        return np.where(none[:, None] | none, 0.0, self.covariance)

    def determined(self) -> Determined:
        """What the data determine of theta, including parameters that they determine only together.
        An example: the rates of a reversible scheme with free spectra change together. Quantities
        that do not change with these rates keep their error. NaN if the slopes at the end are not
        known."""
        if self.left is not None:
            return self.left
        covariance, n = self.known, self.theta.size
        if not self.lost:
            return Determined(covariance, np.zeros((n, 0)))
        if self.factor is None and self.fisher is None:
            return Determined(np.full((n, n), np.nan), np.zeros((n, 0)))
        root = self.root
        free = np.union1d(np.flatnonzero(np.diag(covariance) > 0), np.array(self.lost, np.intp))
        size = np.sqrt(np.einsum("ij,ij->j", root, root))[free]
        endless = free[size == 0]  # of these nothing depends on one
        free, size = free[size > 0], size[size > 0]
        none = np.zeros((n, endless.size))
        none[endless, np.arange(endless.size)] = ENDLESS
        if not free.size or not self.variance > 0:
            return Determined(covariance, none)
        scaled = root[:, free] / size
        squares, vectors = np.linalg.eigh(scaled.T @ scaled)
        held = ~np.isin(free, self.lost)
        null = squares <= WEAK**2 * squares[-1]
        # A direction of parameters that all have errors is weak, and determined.
        null &= np.sum(vectors[~held] ** 2, axis=0) > 0.5
        errors = np.sqrt(self.variance) * vectors / size[:, None]
        errors[:, ~null] /= np.sqrt(squares[~null])
        null |= np.abs(errors).max(axis=0) > LONGEST
        of_free, away = np.zeros((n, n)), np.zeros((n, int(null.sum())))
        of_free[np.ix_(free, free)] = errors[:, ~null] @ errors[:, ~null].T
        away[free] = vectors[:, null] * np.sqrt(self.variance) / size[:, None]
        return Determined(of_free, np.hstack([away, none]))

    @property
    def correlations(self) -> Array:
        """(n, n) correlations; NaN of parameters without an error, 0 with one whose error is 0."""
        size = self.stderr
        sizes = size[:, None] * size
        none = np.where(np.isnan(sizes), np.nan, 0.0)
        return np.divide(self.covariance, sizes, out=none, where=sizes > 0.0)

    @property
    def root(self) -> Array:
        """(m, n) root of the information. Raises :class:`ValueError` of a fit without a factor."""
        if self.fisher is not None:
            return self.fisher
        if self.factor is None:
            raise ValueError("nothing is known of the slopes at the end of this fit")
        return unpack(self.factor, symmetric=False)[:, :-1]

    @property
    def sides(self) -> dict[int, str]:
        """Place → "min" or "max" of the parameters at a bound."""
        if self.side is None:
            return {}
        return {k: "min" if self.side[k] < 0 else "max" for k in np.flatnonzero(self.side).tolist()}

    def part(
        self,
        places: Sequence[int],
        chisqr: float,
        n_points: int,
        n_amplitudes: int,
        left: Determined | None = None,
    ) -> Ending:
        """That of one file of a joint fit, whose parameters have these places here."""
        own, at = list(places), {place: k for k, place in enumerate(places)}
        return replace(
            self,
            theta=self.theta[own],
            covariance=self.covariance[np.ix_(own, own)],
            chisqr=chisqr,
            n_points=n_points,
            n_amplitudes=n_amplitudes,
            side=None if self.side is None else self.side[own],
            factor=None,
            fisher=None,
            intervals={at[k]: ends for k, ends in self.intervals.items() if k in at},
            lost=tuple(at[k] for k in self.lost if k in at),
            gains={at[k]: gain for k, gain in self.gains.items() if k in at},
            wide={at[k]: error for k, error in self.wide.items() if k in at},
            left=left,
        )

    def propagated(self, slopes: Mapping[int, Array]) -> Array:
        """Standard errors of what depends on parameters, sqrt(diag(J C Jᵀ)): `slopes` are the
        derivatives by those at each place, arrays of one shape, one at least."""
        covariance = self.known
        variance = np.zeros(np.shape(next(iter(slopes.values()))))
        for row, first in slopes.items():
            for column, second in slopes.items():
                variance += covariance[row, column] * first * second
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)))

    def followed(
        self, names: Sequence[str], gradients: Mapping[str, Mapping[str, float]]
    ) -> dict[str, float | None]:
        """Name → standard error of what follows parameters, sqrt(g C gᵀ), g its `gradients` by
        name; None where it follows none that has an error, or one that has none though no bound
        holds it."""
        own = self.places.tolist()
        covariance = self.covariance[np.ix_(own, own)]
        held = self.sides
        with_error = [names[k] for k in own]
        unknown = [leaf for k, leaf in enumerate(names) if k not in held and leaf not in with_error]

        def error(gradient: Mapping[str, float]) -> float | None:
            if set(gradient).isdisjoint(with_error) or any(
                gradient.get(leaf, 0.0) for leaf in unknown
            ):
                return None
            g = np.array([gradient.get(leaf, 0.0) for leaf in with_error])
            return math.sqrt(max(float(g @ covariance @ g), 0.0))

        return {name: error(gradient) for name, gradient in gradients.items()}


@dataclass(frozen=True)
class Start:
    """How the fit from one start ended.

    Attributes
    ----------
    start, values : name → start value and final value of the free parameters; `values` is empty
        where the fit failed
    chisqr, success, message : of that fit; NaN, False and the error where it failed
    agrees : whether its chi² is that of the best
    """

    start: Mapping[str, float]
    values: Mapping[str, float]
    chisqr: float
    success: bool
    message: str
    agrees: bool = False


def end_said(end: str, distance: float) -> str:
    """How a solver ended that saw this distance to the optimum; "" where it did not."""
    return _WORDS.get(end, "").format(distance)


def bounds_said(sides: Mapping[str, str]) -> str:
    """What is said of parameters at a bound; "" of none."""
    return "At a bound: " + ", ".join(f"{n} ({s})" for n, s in sides.items()) if sides else ""


def information_criteria(
    chisqr: float, n: int, n_fitted: int, is_known: bool
) -> tuple[float, float]:
    """AIC and BIC of n points and `n_fitted` fitted values, as in lmfit: from n ln(chi²/n). If the
    noise `is_known`, they follow from chi², which is then -2 log likelihood up to a constant."""
    log_likelihood = chisqr
    if not is_known:
        log_likelihood = n * float(np.log(max(chisqr, 1e-250 * n) / n))
    return log_likelihood + 2 * n_fitted, log_likelihood + float(np.log(n)) * n_fitted
