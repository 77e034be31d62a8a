"""Parameters at theta with their slopes, some of them along the energies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.formula import chain_product
from pyspec.formula.syntax import Name
from pyspec.model import Par
from pyspec.model.build.check import free_names, resolution_order
from pyspec.model.tree import ENERGY

Array = npt.NDArray[np.float64]

#: A value, a number or (n_energy,), and its slopes by places in theta.
Valued = tuple[Any, dict[int, Any]]

#: Parameters by name.
Known = dict[str, Valued]


class ParameterValues:
    """Resolves the parameters of a model: free ones, fixed ones, and those that follow expressions,
    which may name `energy`. `place` says where the free ones stand in theta."""

    def __init__(self, parameters: Mapping[str, Par], energy: Array | None) -> None:
        self.place = {name: k for k, name in enumerate(free_names(parameters))}
        self.constant = {
            name: par.value
            for name, par in parameters.items()
            if par.formula is None and name not in self.place
        }
        self.formulas = {
            par.name: par.formula for par in resolution_order(parameters) if par.formula
        }
        self.energy = energy
        #: The slopes of a free parameter: 1 by itself.
        self._itself = [(name, k, {k: np.float64(1.0)}) for name, k in self.place.items()]

    def needed(self, names: Iterable[str]) -> list[str]:
        """The expression parameters among `names` and behind them, each after what it names."""
        wanted, waiting = set(names), list(names)
        while waiting:
            formula = self.formulas.get(waiting.pop())
            new = set(formula.names) - wanted if formula is not None else set()
            wanted |= new
            waiting += new
        return [name for name in self.formulas if name in wanted]

    def disperses(self, name: str) -> bool:
        """Whether a parameter differs from energy to energy."""
        return any(ENERGY in self.formulas[one].names for one in self.needed([name]))

    def places(self, name: str) -> set[int]:
        """Where in theta the parameters are that a parameter depends on."""
        names = {name}.union(*(self.formulas[one].names for one in self.needed([name])))
        return {self.place[one] for one in names if one in self.place}

    def at(self, theta: Array, fixed: Mapping[str, float], followers: Iterable[str]) -> Known:
        """Every free and fixed parameter, and those of `followers`, in their order."""
        found: Known = {name: (theta[k], slopes) for name, k, slopes in self._itself}
        for name, value in self.constant.items():
            found[name] = np.float64(fixed.get(name, value)), {}
        if self.energy is not None:
            found[ENERGY] = self.energy, {}
        for name in followers:
            formula = self.formulas[name]
            if isinstance(formula.root, Name):
                found[name] = found[formula.root.name]
                continue
            value, by_name = formula.gradient({used: found[used][0] for used in formula.names})
            slopes: dict[int, Any] = {}
            for used, slope in by_name.items():
                for place, own in found[used][1].items():
                    slopes[place] = slopes.get(place, 0.0) + chain_product(slope, own)
            found[name] = value, slopes
        return found
