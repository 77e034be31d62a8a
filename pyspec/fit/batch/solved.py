"""What C found of the fits of a batch, in arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, DTYPES
from pyspec.executor.normal import triangle_size
from pyspec.fit.ending import Ending
from pyspec.plan.following import Following
from pyspec.plan.start import StartParameters

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
#: Name → (k,) values; a number where it is the same for all.
ByName = dict[str, float | Array]

_RUNNING, _CONVERGED, _DEGENERATE = (
    CONSTANTS[f"END_{n}"] for n in ("RUNNING", "CONVERGED", "DEGENERATE")
)
_CERTAIN, _WEAK, _AT_BOUND, _WIDE, _LOST = (
    CONSTANTS[f"ENDING_{n}"] for n in ("CERTAIN", "WEAK", "AT_BOUND", "WIDE", "LOST")
)


class Solved:
    """The fits of a batch that C finished on its own. They converged, and their ending is certain,
    even if parameters have no effect at all. All other fits are NaN here.

    Attributes
    ----------
    names, fixed_names : of theta, and of what is fixed
    lower, upper : (n_free,) bounds
    is_scaled : whether the variance of a point is chi² over the degrees of freedom
    needed : how near the optimum a success must be, in standard errors
    moved : parameters that start on a bound, from which the fits begin a little inside
    fitted : (n,) structs ``pyspec_fitted``
    numbers : (n, …) what C says of each ending
    start, fixed : (n, n_free) where they began, and (n, n_fixed) the values of fixed parameters
    checksums : (n,) of the data, where results are to be made of them later
    seconds : that all took
    """

    def __init__(
        self,
        n: int,
        names: Sequence[str],
        fixed_names: Sequence[str],
        start: StartParameters,
        is_scaled: bool,
        needed: float,
    ) -> None:
        self.names, self.fixed_names = tuple(names), tuple(fixed_names)
        self.lower, self.upper = start.lower, start.upper
        self.is_scaled, self.needed = is_scaled, needed
        self.fitted = np.zeros(n, DTYPES["pyspec_fitted"])
        n_free = len(self.names)
        self.numbers: Array = np.empty((n, n_free * (3 + n_free) + triangle_size(n_free + 1)))
        self.start: Array = np.empty((n, n_free))
        self.fixed: Array = np.empty((n, len(self.fixed_names)))
        self.checksums: Ints = np.zeros(n, np.int64)
        self.seconds = 0.0

    def __len__(self) -> int:
        return len(self.fitted)

    @property
    def made(self) -> Bools:
        """(n,) which of them C made."""
        return self.made_of(slice(None))

    def made_of(self, places: slice) -> Bools:
        """The same of some of them."""
        fitted = self.fitted[places]
        certain = ((fitted["end"] == _CONVERGED) | (fitted["end"] == _DEGENERATE)) & (
            fitted["flags"] & ~(_AT_BOUND | _WEAK | _WIDE | _LOST) == _CERTAIN
        )
        return np.asarray(
            certain & (fitted["distance"] <= self.needed) & np.isfinite(fitted["chisqr"])
        )

    @property
    def is_lost(self) -> Bools:
        """(n,) in which of them parameters have no effect."""
        return np.asarray(self.fitted["flags"] & _LOST != 0)

    def n_ended(self, begin: int, end: int) -> int:
        """How many of these have ended before the first that has not."""
        running = np.flatnonzero(self.fitted["end"][begin:end] == _RUNNING)
        return int(running[0]) if running.size else end - begin

    @property
    def theta(self) -> Array:
        """(n, n_free) the best values."""
        return self.numbers[:, : len(self.names)]

    def covariance(self, places: slice | Ints) -> Array:
        """(k, n_free, n_free) covariances of some of the fits. They are NaN for parameters that are
        held by a bound, that have no effect, or whose error is wider than the interval of their
        bounds."""
        n = len(self.names)
        covariances = self.numbers[places, 3 * n : (3 + n) * n].reshape(-1, n, n)
        if (self.fitted["flags"][places] & _WIDE).any():
            with np.errstate(invalid="ignore"):
                wide = np.sqrt(np.einsum("kjj->kj", covariances)) > self.upper - self.lower
            covariances = np.where(wide[:, :, None] | wide[:, None, :], np.nan, covariances)
        return covariances

    def columns(self, field: str, places: Ints, followers: Following) -> ByName:
        """Name → (k,) "values", "stderr" or "start" of some of them. Errors are NaN where there is
        none."""
        if field == "stderr":
            return self._errors(places, followers)
        free = self.theta if field == "values" else self.start
        by_name: ByName = dict(zip(self.names, free[places].T, strict=True))
        by_name |= zip(self.fixed_names, self.fixed[places].T, strict=True)
        if field == "values":
            with np.errstate(all="ignore"):
                by_name |= followers.columns(by_name)
        return by_name

    def _errors(self, places: Ints, followers: Following) -> ByName:
        """Standard errors; of followers as of :meth:`Ending.followed`."""
        n = len(self.names)
        with np.errstate(invalid="ignore"):
            errors = np.sqrt(self.numbers[:, 3 * n : (3 + n) * n : n + 1][places])
            errors[errors > self.upper - self.lower] = np.nan
        errors_by_name: ByName = dict(zip(self.names, errors.T, strict=True))
        if not followers.names:
            return errors_by_name
        gradients = followers.gradients(self.columns("values", places, followers))
        has_error = np.isfinite(errors)
        covariance_of_free = np.where(
            has_error[:, :, None] & has_error[:, None, :], self.covariance(places), 0.0
        )
        for name, slopes in gradients.items():
            own = [k for k, leaf in enumerate(self.names) if leaf in slopes]
            g = np.zeros(has_error.shape)
            for k in own:
                g[:, k] = slopes[self.names[k]]
            squares = np.einsum("ki,kij,kj->k", g, covariance_of_free, g)
            none = ~has_error[:, own].any(axis=1)
            errors_by_name[name] = np.where(none, np.nan, np.sqrt(np.maximum(squares, 0.0)))
        return errors_by_name

    @property
    def n_free(self) -> Ints:
        """(n,) degrees of freedom."""
        return np.asarray(np.maximum(self.fitted["n_points"] - len(self.names), 1))

    def sides(self, k: int) -> Mapping[str, str]:
        """Name → "min" or "max" of the parameters of one fit that are at a bound."""
        n = len(self.names)
        side = self.numbers[k, n : 2 * n].view(np.int64).tolist()
        pairs = zip(self.names, side, strict=True)
        return {name: "min" if bound < 0 else "max" for name, bound in pairs if bound}

    def ending(self, k: int) -> tuple[Ending, int, int]:
        """The ending of one of them, its flags and its evaluations."""
        n, row = len(self.names), self.numbers[k]
        _, flags, nfev, n_points, chisqr, reached, distance = self.fitted[k].item()
        ending = Ending.of_c(
            np.frombuffer(row[:n].tobytes()),
            flags,
            row[n:].tobytes(),
            variance=chisqr / max(n_points - n, 1) if self.is_scaled else 1.0,
            distance=distance,
            chisqr=chisqr,
            n_points=n_points,
            n_amplitudes=0,
            end=("converged", reached),
            intervals={},
        )
        return ending, flags, nfev
