"""The columns of the Jacobian of a fit: exact ones from the executor, differences in place of those
that it does not know."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from types import MappingProxyType
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from pyspec.errors import PyspecError
from pyspec.executor import Executor
from pyspec.executor.normal import unpack
from pyspec.fit.diagnose import explain_slopes, refusal
from pyspec.fit.evaluations import Evaluations
from pyspec.fit.solve.covariance import fisher_weight, jacobian
from pyspec.fit.solve.native import root_of
from pyspec.model import Measurement, Model

Array = npt.NDArray[np.float64]


class Columns(ABC):
    """The part of a problem that knows its derivatives. `without` names classes of columns that are
    differences at every step, `sizes` are the units of the parameters; columns that stay the same
    are `_kept`."""

    model: Model
    measurement: Measurement
    names: tuple[str, ...]
    fixed: dict[str, float] | None
    without: frozenset[str]
    evaluations: Evaluations
    sizes: list[float]
    _kept: Mapping[int, Array] = MappingProxyType({})

    @property
    @abstractmethod
    def executor(self) -> Executor:
        """The executor that answers."""

    @property
    @abstractmethod
    def is_poisson(self) -> bool:
        """Whether the residual is a Poisson deviance."""

    @property
    @abstractmethod
    def in_c(self) -> bool:
        """Whether all derivatives come from one C call."""

    @abstractmethod
    def run(self, theta: Array, *, whole: bool = False) -> Array:
        """The model over the window at `theta`, or over the whole axes."""

    def plain_residual(self, theta: Array) -> Array:
        """The residual at `theta`, of which nothing is kept."""
        return np.array(self.executor.residual(theta, self.fixed))

    def slopes(self, theta: Array, bounds: Sequence[tuple[float, float]], free: list[int]) -> Array:
        """(m, n_free) matrix whose Gram matrix is the information: derivatives of the residual, or
        with counting statistics of the model over sqrt(variance); or a factor of these."""
        if self.in_c:
            form = "fisher" if self.is_poisson else "factor"
            found = unpack(self.executor.normal(theta, self.fixed, form), self.is_poisson)
            return (root_of(found) if self.is_poisson else found)[:, free]
        if not self.is_poisson:
            return self.derivatives(theta, bounds)[free].T
        self.evaluations.count += 2 * len(free)
        slopes = jacobian(lambda at: self.run(at).ravel(), theta, bounds, free, self.sizes)
        slopes *= fisher_weight(self.measurement, self.run(theta)).reshape(-1, 1)
        return slopes

    def information(
        self, theta: Array, bounds: Sequence[tuple[float, float]]
    ) -> tuple[Array, Array | None]:
        """(n_free + 1, n_free + 1) triangular R with RᵀR = [J r]ᵀ[J r], and of counts the root of
        the information, which is another than that of J."""
        free = list(range(len(self.names)))
        if self.in_c:
            factor = unpack(self.executor.normal(theta, self.fixed, "factor"), symmetric=False)
        else:
            rows = (*-self.derivatives(theta, bounds), self.plain_residual(theta))
            factor = np.zeros((len(rows), len(rows)))
            known = np.linalg.qr(np.stack(rows, axis=1), mode="r")
            factor[: len(known)] = known
        return factor, self.slopes(theta, bounds, free) if self.is_poisson else None

    def derivatives(self, theta: Array, bounds: Sequence[tuple[float, float]]) -> Array:
        """(n_free, n_residuals) derivatives of the residual: exact where the executor knows them,
        by central differences elsewhere; constant ones of these are computed once."""
        can = self.executor.capabilities
        columns, exact = list(range(len(self.names))), None
        if can.jacobian:
            columns = sorted({*can.unknown_columns, *self._switched_off})
            exact = self.executor.jacobian(theta, self.fixed, known_only=True)
            if not columns:
                return exact
        differences = self._differences(theta, bounds, columns)
        if exact is None:
            return differences
        exact[columns] = differences
        return exact

    def _differences(
        self, theta: Array, bounds: Sequence[tuple[float, float]], columns: list[int]
    ) -> Array:
        """Central differences of some columns. Constant ones are kept from the first step on."""
        new = [k for k in columns if k not in self._kept]
        found = dict(self._kept)
        if new:
            slopes = jacobian(self.plain_residual, theta, bounds, new, self.sizes).T
            self.evaluations.count += 2 * len(new)
            found.update(zip(new, slopes, strict=True))
            stay = [k for k in new if self._stays(k) and np.isfinite(found[k]).all()]
            self._kept = {**self._kept, **{k: found[k] for k in stay}}
        return np.stack([found[k] for k in columns])

    def _stays(self, column: int) -> bool:
        """Whether a column is the same at every step. Counting statistics scale columns by what
        depends on the model, and none is."""
        if "constant" in self.without or self.is_poisson:
            return False
        return self.column_kinds[column] == "constant"

    @property
    @abstractmethod
    def label(self) -> str:
        """How errors call it."""

    @abstractmethod
    def explain(self, theta: Array) -> str:
        """One sentence on what is not finite at `theta`."""

    def refuse(self, theta: Array) -> NoReturn:
        """Raises :class:`FitError`: the residual is not finite at `theta`, or a derivative of it is
        not, and why."""
        steep = self._steep(theta)
        what, why = ("a derivative", steep) if steep else ("the residual", self.explain(theta))
        count = self.evaluations.count
        raise refusal(self.label, count, (what, why), self.names, theta.tolist())

    def _steep(self, theta: Array) -> str:
        """One sentence on derivatives that are not finite where the residual is, else ""."""
        if type(self.measurement.data) is not np.ndarray:
            return ""
        bounds = [(-np.inf, np.inf)] * len(self.names)
        with np.errstate(all="ignore"), suppress(PyspecError):
            if np.isfinite(theta).all() and np.isfinite(self.plain_residual(theta)).all():
                return explain_slopes(self.names, self.derivatives(theta, bounds))
        return ""

    @property
    @abstractmethod
    def column_kinds(self) -> tuple[str, ...]:
        """The class of each Jacobian column, see :class:`pyspec.passes.Column`."""

    @cached_property
    def _switched_off(self) -> list[int]:
        """Columns that are to be finite differences, though they are known."""
        if not self.without:
            return []
        return [k for k, kind in enumerate(self.column_kinds) if kind in self.without]
