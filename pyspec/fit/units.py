"""lmfit parameters that count in units of their own.

lmfit assumes that everything has a size of about 1. Its variable for a parameter with one bound is
``sqrt((value - min + 1)^2 - 1)``, which has lost most digits of a time constant of 1e-12 s. Values
below 1e-15 start at 0. Bounds 1e-13 apart count as equal. MINPACK's first step from 0 is 1.5e-8, in
volts or in seconds. Here a parameter has a unit: its start value or, where that is 0, what the axes
and the data suggest. The transformations to bounds are those of lmfit (after MINUIT) in these
units, written without cancellation. So a fit takes the same steps whatever units the axes and the
data are in.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any

import lmfit
import numpy as np
import numpy.typing as npt
from lmfit.minimizer import SCALAR_METHODS

from pyspec.fit.ending import information_criteria
from pyspec.fit.results.ended import EndedFit
from pyspec.plan.start import StartParameters

Array = npt.NDArray[np.float64]


class UnitParameter(lmfit.Parameter):  # type: ignore[misc]
    """A parameter whose variable is its value, or its distance to a bound, in units of `unit`."""

    def __init__(self, name: str, value: float, unit: float, **attributes: Any) -> None:
        self.unit = unit
        self._val: float = value
        super().__init__(name, value=value, **attributes)

    def _init_bounds(self) -> None:
        self._val = min(max(self._val, self.min), self.max)
        self.setup_bounds()

    def __getstate__(self) -> tuple[object, ...]:
        return (self.unit, *super().__getstate__())

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.unit = state[0]
        super().__setstate__(state[1:])

    def setup_bounds(self) -> float:
        """The variable at the present value; sets `from_internal`, its inverse."""
        low, high, unit = self.min, self.max, self.unit
        if math.isinf(low) and math.isinf(high):
            self.from_internal = lambda x: float(unit * x)
            return float(self._val / unit)
        if math.isinf(high):
            self.from_internal = lambda x: float(low + unit * _rise(x))
            return _inverse((self._val - low) / unit)
        if math.isinf(low):
            self.from_internal = lambda x: float(high - unit * _rise(x))
            return _inverse((high - self._val) / unit)
        self.from_internal = lambda x: float(low + (math.sin(x) + 1.0) * (high - low) / 2.0)
        return math.asin(min(max(2.0 * (self._val - low) / (high - low) - 1.0, -1.0), 1.0))

    def scale_gradient(self, val: float) -> float:
        """The derivative of the value by the variable."""
        if math.isinf(self.min) and math.isinf(self.max):
            return float(self.unit)
        if math.isinf(self.max):
            return float(self.unit * val / math.hypot(val, 1.0))
        if math.isinf(self.min):
            return float(-self.unit * val / math.hypot(val, 1.0))
        return float(math.cos(val) * (self.max - self.min) / 2.0)


def _rise(x: float) -> float:
    """sqrt(x^2 + 1) - 1."""
    return x * x / (1.0 + math.hypot(x, 1.0))


def _inverse(distance: float) -> float:
    """x >= 0 with sqrt(x^2 + 1) - 1 = distance."""
    return math.sqrt(distance * (distance + 2.0))


class Follower(lmfit.Parameter):  # type: ignore[misc]
    """A parameter that follows others: for lmfit its value is fixed, and reports of lmfit show the
    expression, which is pyspec's and lmfit does not evaluate. `user_data` is its text."""

    @property
    def expr(self) -> Any:
        """The expression."""
        return self.user_data if self._expr is None and not self._vary else self._expr

    @expr.setter
    def expr(self, text: str | None) -> None:
        lmfit.Parameter.expr.fset(self, text)

    def __getstate__(self) -> tuple[object, ...]:
        state = super().__getstate__()
        return (*state[:3], self._expr, *state[4:])

    def __repr__(self) -> str:
        if self._expr is not None or self._vary:
            return str(super().__repr__())
        error = "" if self.stderr is None else f" +/- {self.stderr:.3g}"
        return f"<Parameter '{self.name}', value={self.value!r}{error}, expr='{self.expr}'>"


class UnitParameters(lmfit.Parameters):  # type: ignore[misc]
    """lmfit.Parameters whose copies keep the units."""

    def __deepcopy__(self, memo: dict[int, object]) -> UnitParameters:
        copied = type(self)()
        own = self._asteval.symtable
        symbols = self._asteval.user_defined_symbols()
        copied._asteval.symtable.update({name: own[name] for name in symbols})
        copied.add_many(*(copy.deepcopy(par) for par in self.values()))
        return copied

    def dumps(self, **options: object) -> str:
        """JSON that any ``lmfit.Parameters`` loads; the units stay behind."""
        plain = lmfit.Parameters()
        for par in self.values():
            state = par.__getstate__()
            own = lmfit.Parameter(par.name)
            own.__setstate__(state[1:] if isinstance(par, UnitParameter) else state)
            plain.add(own)
        return str(plain.dumps(**options))


def lmfit_parameters(start: StartParameters, values: Mapping[str, float]) -> UnitParameters:
    """The parameters as objects of lmfit. Fixed ones have no bounds there: lmfit would clip a value
    to them without a word."""
    made = UnitParameters()
    for name, value in values.items():
        limits = start.limits.get(name)
        if limits is not None:
            made[name] = UnitParameter(name, value, limits.unit, min=limits.low, max=limits.high)
        else:
            made[name] = lmfit.Parameter(name, value, vary=False)
        made[name].init_value = start.values.get(name, value)
    return made


def complete(outcome: lmfit.minimizer.MinimizerResult, result: EndedFit) -> None:
    """Writes what is known into the outcome of a method of lmfit: all evaluations of the fit, its
    statistics and covariance, and the parameters with errors, correlations and followers."""
    ending, names = result.ending, list(outcome.var_names)
    order = [result.problem.names.index(name) for name in names]
    outcome.nfev, outcome.chisqr, outcome.redchi = result.nfev, ending.chisqr, ending.redchi
    outcome.ndata, outcome.nvarys, outcome.nfree = ending.n_points, len(names), ending.n_free
    is_known = result.problem.is_weighted and not result._scale_covar
    counted = ending.chisqr, ending.n_points, len(names) + ending.n_amplitudes, is_known
    outcome.aic, outcome.bic = information_criteria(*counted)
    outcome.errorbars = bool(ending.places.size)
    outcome.covar = ending.covariance[np.ix_(order, order)] if outcome.errorbars else None
    values, made, correl = result._values, outcome.params, result.correl
    for name, text in result._expressions.items():
        made[name] = Follower(name, values[name], vary=False, user_data=text)
        made[name].init_value = values[name]
    for name, par in made.items():
        par.stderr = result._errors.get(name)
        par.correl = None
        if name in correl and par.stderr is not None:
            par.correl = dict(correl[name])


class Found(lmfit.minimizer.MinimizerResult):  # type: ignore[misc]
    """What a fit found as lmfit has it; the residual is computed when it is asked for."""

    def __init__(self, result: EndedFit) -> None:
        super().__init__()
        start, (end, distance) = result._start, result.ending.end
        self._residual: Array | None = None
        self._problem, self._theta = result.problem, result.theta
        method = result.method.rsplit(" then ", 1)[-1]
        self.method = SCALAR_METHODS.get(method, method)
        self.var_names, self.call_kws = list(start.limits), dict[str, object]()
        self.params = lmfit_parameters(start, result._values)
        self.init_vals = [start.values[name] for name in self.var_names]
        self.init_values = dict(zip(self.var_names, self.init_vals, strict=True))
        self.end, self.distance = end, distance
        self.success = end in ("converged", "exact") or (not end and result.success)
        self.aborted = not end and not result.success
        self.message = result.ending.text or result.message
        complete(self, result)

    @property
    def residual(self) -> Array:
        """(n_residuals,) at the best fit."""
        if self._residual is None:
            self._residual = self._problem.plain_residual(self._theta)
        return self._residual

    @residual.setter
    def residual(self, values: Array) -> None:
        self._residual = values
