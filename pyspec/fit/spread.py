"""Standard errors and correlations of the parameters that a covariance is known of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pyspec.calls import Named
from pyspec.errors import NoSuchKeyError

Array = npt.NDArray[np.float64]


class Correlated(Named[float]):
    """Correlations of the parameter `name` with others, by their names; as lmfit has them, that
    with itself is not among them."""

    def __init__(self, name: str, found: Mapping[str, float] | None) -> None:
        super().__init__(found or {})
        self.name = name

    def __missing__(self, key: object) -> float:
        if key == self.name:
            raise NoSuchKeyError(f"{key} is correlated with itself by 1; ask for another parameter")
        return super().__missing__(key)


class Spread:
    """What a covariance (n, n) of `names`, times `scale`, says of each of them; NaN stands on the
    diagonal where nothing is known: `names` are then the others. Correlations are worked out when
    the first of them is looked at: most fits end without that."""

    def __init__(self, names: Sequence[str], covariance: Array, scale: float = 1.0) -> None:
        variances = list(map(scale.__mul__, covariance.diagonal().tolist()))
        inner = covariance.copy()
        if not all(map(math.isfinite, variances)):
            kept = [k for k, value in enumerate(variances) if math.isfinite(value)]
            names, inner = [names[k] for k in kept], covariance[np.ix_(kept, kept)]
            variances = [variances[k] for k in kept]
        self._given: Array | bytes = inner
        self._scale = scale
        self._variances: list[float] = variances
        self.names = names

    @classmethod
    def known(
        cls, names: Sequence[str], block: bytes, scale: float, variances: list[float]
    ) -> Spread:
        """The same of numbers (n, n), with the diagonal of their product with `scale`, which is
        finite."""
        one = cls.__new__(cls)
        one.names, one._given, one._scale, one._variances = names, block, scale, variances
        return one

    def part(self, own: Mapping[str, str]) -> Spread:
        """That of some of them, by names of their own: `own` is name → name."""
        kept = [k for k, name in enumerate(self.names) if name in own]
        inner = self.covariance()[np.ix_(kept, kept)]
        return Spread([own[self.names[k]] for k in kept], inner)

    def covariance(self) -> Array:
        """(n, n) that of `names`, an array of its own."""
        given, n = self._given, len(self.names)
        inner = np.frombuffer(given).reshape(n, n) if isinstance(given, bytes) else given
        return scaled(inner, self._scale)

    def errors(self) -> dict[str, float]:
        """Name → standard error."""
        variances = self._variances
        if min(variances, default=0.0) >= 0.0:
            return dict(zip(self.names, map(math.sqrt, variances), strict=True))
        found = [math.sqrt(one) if one >= 0.0 else math.nan for one in variances]
        return dict(zip(self.names, found, strict=True))

    @cached_property
    def correlations(self) -> dict[str, dict[str, float]]:
        """Name → other name → correlation."""
        covariance = self.covariance()
        errors = np.sqrt(covariance.diagonal())
        sizes = errors[:, None] * errors
        there = np.zeros_like(sizes)
        matrix = np.divide(covariance, sizes, out=there, where=sizes > 0.0).tolist()
        names = self.names
        return {
            name: {k: v for k, v in zip(names, row, strict=True) if k != name}
            for name, row in zip(names, matrix, strict=True)
        }


def scaled(covariance: Array, variance: float) -> Array:
    """A covariance of unit noise for noise of that variance."""
    if 0.0 < variance < math.inf:
        return covariance * variance
    with np.errstate(invalid="ignore"):  # 0 for data that the model meets to rounding
        return covariance * variance


def known_errors(names: Sequence[str], stderr: Mapping[str, float | None]) -> dict[str, float]:
    """The standard errors that there are; who has none is taken to be known."""
    return {
        name: float(error)
        for name in names
        if (error := stderr.get(name)) is not None and math.isfinite(error)
    }


def correlation_matrix(
    names: Sequence[str], correl: Mapping[str, Mapping[str, float]], unknown: float = math.nan
) -> Array:
    """(n, n) matrix of nested correlations, 1 on the diagonal, `unknown` where there is none."""
    matrix = np.empty((len(names), len(names)))
    for line, name in zip(matrix, names, strict=True):
        known = correl.get(name, {})
        line[:] = [known.get(other, unknown) for other in names]
    np.fill_diagonal(matrix, 1.0)
    return matrix


def covariance_of(
    names: Sequence[str],
    stderr: Mapping[str, float | None],
    correl: Mapping[str, Mapping[str, float]],
) -> Array:
    """(n, n) covariance from standard errors and correlations; 0 where there is no error."""
    known = known_errors(names, stderr)
    size = np.array([known.get(name, 0.0) for name in names])
    return np.asarray(size[:, None] * correlation_matrix(names, correl, 0.0) * size)


def propagated(
    slopes: Mapping[str, Array],
    stderr: Mapping[str, float | None],
    correl: Mapping[str, Mapping[str, float]],
) -> Array:
    """Standard errors of what depends on parameters, sqrt(diag(J C Jᵀ)): `slopes` are the
    derivatives by each of these, arrays of one shape, one at least."""
    covariance = covariance_of([*slopes], stderr, correl)
    variance = np.zeros(np.shape(next(iter(slopes.values()))))
    for own, first in zip(covariance, slopes.values(), strict=True):
        for share, second in zip(own, slopes.values(), strict=True):
            variance += share * first * second
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))
