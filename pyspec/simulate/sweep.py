"""ParameterSweep: many parameter values."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import Suggesting, one_of, whole
from pyspec.errors import DataError
from pyspec.model import Model
from pyspec.simulate.drawn import check_seed, positive

Array = npt.NDArray[np.float64]

STRATEGIES = ("auto", "grid", "random")


class ParameterSweep(Suggesting):
    """Values of parameters: all combinations, or one draw of each at a time.

    Parameters
    ----------
    strategy : "grid", every value with every other; "random", one value of each parameter at a
        time; "auto" is grid if all come from :meth:`add_range`
    seed : of the random numbers; the same seed gives the same values

    Iterating gives dicts name → value; ``len(sweep)`` is their number. With "random", lists of the
    same length are combined in order, the k-th value with the k-th of the others. Where lengths
    differ, there are as many combinations as the longest list has values: distributions are drawn
    as often, and values of a range are chosen at random.
    """

    def __init__(self, strategy: str = "auto", seed: int | None = None) -> None:
        one_of("strategy", strategy, STRATEGIES, DataError)
        self.strategy = strategy
        self.seed = check_seed(seed)
        self._values: dict[str, Array] = {}
        #: What was asked for: type and numbers of every parameter, as the file of a sweep says it.
        self.space: dict[str, dict[str, Any]] = {}
        self._drawn: dict[str, Array] = {}

    def add_range(self, name: str, values: npt.ArrayLike) -> ParameterSweep:
        """These values, in this order."""
        array = np.array(values, dtype=np.float64)
        return self._add(name, array, {"type": "range", "values": array.tolist()})

    def add_uniform(self, name: str, low: float, high: float, n: int) -> ParameterSweep:
        """`n` values between `low` and `high`, all equally likely."""
        if not (low < high and np.isfinite(high - low)):
            raise DataError(f"{name}: low {low!r} must be below high {high!r}, both finite")
        return self._draw(name, {"type": "uniform", "min": low, "max": high}, n)

    def add_normal(self, name: str, mean: float, sd: float, n: int) -> ParameterSweep:
        """`n` values of a normal distribution."""
        positive(f"{name}: the standard deviation", sd)
        return self._draw(name, {"type": "normal", "mean": mean, "std": sd}, n)

    def add_lognormal(self, name: str, mean: float, sigma: float, n: int) -> ParameterSweep:
        """`n` values whose natural logarithm is normal, of `mean` and standard deviation
        `sigma` (both of the logarithm)."""
        positive(f"{name}: the standard deviation", sigma)
        return self._draw(name, {"type": "lognormal", "mean": mean, "std": sigma}, n)

    def _draw(self, name: str, spec: dict[str, Any], n: int) -> ParameterSweep:
        count = whole(f"{name}: n", n, 1, DataError)
        spec = {key: v if key == "type" else float(v) for key, v in spec.items()}
        return self._add(name, self._numbers(name, spec, count), {**spec, "n_samples": count})

    def _numbers(self, name: str, spec: dict[str, Any], n: int) -> Array:
        """`n` values of a distribution; more of them begin with the same ones."""
        generator = self._generator(name)
        if spec["type"] == "uniform":
            return generator.uniform(spec["min"], spec["max"], n)
        if spec["type"] == "normal":
            return generator.normal(spec["mean"], spec["std"], n)
        return generator.lognormal(spec["mean"], spec["std"], n)

    def _generator(self, name: str) -> np.random.Generator:
        """Each parameter has its own stream: the order of the calls does not matter."""
        if self.seed is None:
            return np.random.default_rng()
        key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
        return np.random.default_rng([self.seed, key])

    def _add(self, name: str, values: Array, spec: dict[str, Any]) -> ParameterSweep:
        if values.ndim != 1 or not values.size or not np.isfinite(values).all():
            raise DataError(f"{name}: give a list of finite numbers")
        if name in self._values:
            raise DataError(f"{name}: is in the sweep already")
        self._values[name], self.space[name] = values, spec
        self._drawn = {}
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters, in the order they were added."""
        return tuple(self._values)

    @property
    def is_grid(self) -> bool:
        """Whether every value meets every other."""
        drawn = any(spec["type"] != "range" for spec in self.space.values())
        return self.strategy == "grid" or (self.strategy == "auto" and not drawn)

    def get_n_configs(self) -> int:
        """How many combinations there are. Raises :class:`DataError` for an empty sweep."""
        sizes = [values.size for values in self._values.values()]
        if not sizes:
            raise DataError("the sweep is empty; add parameters with add_range, add_uniform, …")
        return int(np.prod(sizes)) if self.is_grid else max(sizes)

    __len__ = get_n_configs

    @property
    def columns(self) -> dict[str, Array]:
        """Name → the values that are combined: of a grid those of each parameter, at random
        (n,) for all."""
        n = self.get_n_configs()
        if self.is_grid or all(values.size == n for values in self._values.values()):
            return self._values
        if not self._drawn:
            for name, values in self._values.items():
                spec = self.space[name]
                if spec["type"] == "range":
                    self._drawn[name] = self._generator(name).choice(values, n)
                else:
                    self._drawn[name] = self._numbers(name, spec, n)
        return self._drawn

    def __iter__(self) -> Iterator[dict[str, float]]:
        columns = self.columns
        every = columns.values()
        for row in itertools.product(*every) if self.is_grid else zip(*every, strict=True):
            yield {name: float(value) for name, value in zip(self.names, row, strict=True)}

    def check(self, model: Model) -> None:
        """Raises :class:`DataError` for a parameter that follows an expression, and for values
        beyond the bounds of a parameter; a fit of such data could not find them."""
        for name, values in self.columns.items():
            par = model._par(name)
            if par.formula is not None:
                raise DataError(
                    f"{name} follows the expression {par.expr!r}; sweep what it refers to"
                )
            outside = values[(values < par.min) | (values > par.max)]
            if outside.size:
                raise DataError(
                    f"{par.place}: the sweep takes {name} to {outside[0]:g}, beyond its bounds "
                    f"[{par.min:g}, {par.max:g}]; widen the bounds in the model, or narrow the "
                    "sweep"
                )

    @property
    def digest(self) -> str:
        """SHA-256 of names, values and strategy."""
        content = {name: values.tolist() for name, values in self.columns.items()}
        return hashlib.sha256(json.dumps([content, self.is_grid]).encode()).hexdigest()

    def __repr__(self) -> str:
        return f"<ParameterSweep {self.strategy}: {', '.join(self.names) or 'empty'}>"
