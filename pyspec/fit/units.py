"""lmfit parameters that count in units of their own.

lmfit takes 1 for the size of everything: its variable for a parameter with one bound is
``sqrt((value - min + 1)^2 - 1)``, which has lost most digits of a time constant of 1e-12 s; values
below 1e-15 start at 0; bounds 1e-13 apart count as equal; and MINPACK's first step from 0 is
1.5e-8, be it volts or seconds. Here a parameter has a unit: its start value or, where that is 0,
what the axes and the data suggest. The transformations to bounds are those of lmfit (after
MINUIT) in these units, written without cancellation. So a fit takes the same steps whatever units
the axes and the data are in.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import lmfit

from pyspec.fit.parameters import FitParameters


class UnitParameter(lmfit.Parameter):  # type: ignore[misc]
    """A parameter whose variable is its value, or its distance to a bound, in units of `unit`."""

    def __init__(self, name: str, value: float, unit: float, **given: Any) -> None:
        self.unit = unit
        self._val: float = value
        super().__init__(name, value=value, **given)

    def _init_bounds(self) -> None:
        self._val = min(max(self._val, self.min), self.max)
        self.setup_bounds()

    def __getstate__(self) -> tuple[Any, ...]:
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
    def expr(self, text: Any) -> None:
        lmfit.Parameter.expr.fset(self, text)

    def __getstate__(self) -> tuple[Any, ...]:
        state = super().__getstate__()
        return (*state[:3], self._expr, *state[4:])

    def __repr__(self) -> str:
        if self._expr is not None or self._vary:
            return str(super().__repr__())
        error = "" if self.stderr is None else f" +/- {self.stderr:.3g}"
        return f"<Parameter '{self.name}', value={self.value!r}{error}, expr='{self.expr}'>"


class UnitParameters(lmfit.Parameters):  # type: ignore[misc]
    """lmfit.Parameters whose copies keep the units."""

    def __deepcopy__(self, memo: Any) -> UnitParameters:
        copied = type(self)()
        own = self._asteval.symtable
        symbols = self._asteval.user_defined_symbols()
        copied._asteval.symtable.update({name: own[name] for name in symbols})
        copied.add_many(*(copy.deepcopy(par) for par in self.values()))
        return copied

    def dumps(self, **options: Any) -> str:
        """JSON that any ``lmfit.Parameters`` loads; the units stay behind."""
        plain = lmfit.Parameters()
        for par in self.values():
            state = par.__getstate__()
            own = lmfit.Parameter(par.name)
            own.__setstate__(state[1:] if isinstance(par, UnitParameter) else state)
            plain.add(own)
        return str(plain.dumps(**options))


def lmfit_parameters(params: FitParameters) -> UnitParameters:
    """The same parameters as objects of lmfit. Fixed ones have no bounds there: lmfit would clip a
    value to them without a word."""
    made = UnitParameters()
    made.add_many(*(_lmfit_parameter(params, name) for name in params.value))
    return made


def _lmfit_parameter(params: FitParameters, name: str) -> lmfit.Parameter:
    value, limits, text = params.value[name], params.limits.get(name), params.expressions.get(name)
    if limits is not None:
        made = UnitParameter(name, value, limits.unit, min=limits.low, max=limits.high)
    else:
        kind = lmfit.Parameter if text is None else Follower
        made = kind(name, value, vary=False, user_data=text)
    made.init_value = params.began.get(name, value)
    made.stderr, made.correl = params.error(name), params.correl(name)
    return made


def complete(outcome: Any, known: FitParameters, nfev: int) -> None:
    """Writes what is `known` into the outcome of a method of lmfit: all evaluations of the fit, and
    of its parameters errors, correlations, and those that follow others."""
    outcome.nfev, params = nfev, outcome.params
    for name, par in params.items():
        par.stderr, par.correl = known.error(name), known.correl(name)
    missing = [name for name in known.value if name not in params]
    params.add_many(*(_lmfit_parameter(known, name) for name in missing))
