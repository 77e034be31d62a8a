"""Sweeps and sensitivity with the arguments that trspecfit gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from pyspec.simulate import ParameterSweep as _ParameterSweep


class ParameterSweep(_ParameterSweep):
    """A :class:`pyspec.ParameterSweep` whose arguments are called as in trspecfit."""

    def add_range(self, par_name: str, values: npt.ArrayLike) -> ParameterSweep:
        """These values, in this order."""
        super().add_range(par_name, values)
        return self

    def add_uniform(
        self, par_name: str, min_val: float, max_val: float, n_samples: int
    ) -> ParameterSweep:
        """`n_samples` values between `min_val` and `max_val`, all equally likely."""
        super().add_uniform(par_name, min_val, max_val, n_samples)
        return self

    def add_normal(self, par_name: str, mean: float, std: float, n_samples: int) -> ParameterSweep:
        """`n_samples` values of a normal distribution."""
        super().add_normal(par_name, mean, std, n_samples)
        return self

    def add_lognormal(
        self, par_name: str, mean: float, std: float, n_samples: int
    ) -> ParameterSweep:
        """`n_samples` values whose natural logarithm is normal, of `mean` and `std`."""
        super().add_lognormal(par_name, mean, std, n_samples)
        return self

    @property
    def parameter_specs(self) -> Mapping[str, dict[str, Any]]:
        """What was asked for: type and numbers of every parameter."""
        return self.space
