"""The followers of several files, and the quantities that take their values from more than one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.formula import Formula
from pyspec.model import Model
from pyspec.model.build.free import single_valued
from pyspec.plan.following import Followers, Following

Array = npt.NDArray[np.float64]

#: A number, or many.
Value = TypeVar("Value")


def local(values: Mapping[str, Value], full: Mapping[str, str]) -> dict[str, Value]:
    """Values under the names of one file; `full` has those of the project."""
    return {name: values[full[name]] for name in full if full[name] in values}


def same_twice(models: Sequence[Model]) -> tuple[Finding, ...]:
    """Findings on quantities of different models that are one expression under two names: meant of
    a line in each model, they have the same value in both."""
    if len({model.name for model in models}) < 2:
        return ()
    everywhere = set.intersection(*({*model.parameters} for model in models))
    names_of: dict[Formula, list[str]] = {}
    for par in models[0].quantities:
        formula = par.formula
        if formula is None or formula.text in formula.names:  # another name of one parameter
            continue
        if everywhere.issuperset(formula.names):
            names_of.setdefault(formula, []).append(par.name)
    return tuple(
        Finding(Kind.SAME_TWICE, (formula.names[0], *names))
        for formula, names in names_of.items()
        if len(names) > 1 and formula.names
    )


@dataclass(frozen=True)
class Spanning:
    """Quantities that no file has for itself, such as a share of areas that lie in several.

    Attributes
    ----------
    formulas : name → formula in names of the project, each after those that it refers to
    nowhere : findings on quantities that could refer to a value of more than one file, and on
        quantities that mean the same in each file
    """

    formulas: Mapping[str, Formula] = field(default_factory=dict)
    nowhere: tuple[Finding, ...] = ()

    @classmethod
    def of(cls, models: Sequence[Model], fulls: Sequence[Mapping[str, str]]) -> Spanning:
        """Those of `models`; `fulls` have the names of the project for those of each file. One that
        needs a model which is not there is none of them."""
        # Derived quantities that a model lacks for want of names: of other models of its file, or
        # of dynamics that are added later.
        waiting: dict[str, Formula] = {}
        for model in models:
            there = model.parameters
            own = {par.name: par.formula for par in model.quantities if par.name not in there}
            for name, lacking in {**own, **model.elsewhere}.items():
                if lacking is not None:
                    waiting.setdefault(name, lacking)
        twice = same_twice(models)
        if not waiting:
            return cls(nowhere=twice)
        owners: dict[str, set[str]] = {}
        for model, full in zip(models, fulls, strict=True):
            for name in single_valued(model.parameters):
                owners.setdefault(name, set()).add(full[name])
        formulas: dict[str, Formula] = {}
        nowhere = [*twice]
        while True:
            ready = [
                n for n in waiting if owners.keys() >= set(waiting[n].names) and n not in owners
            ]
            if not ready:
                return cls(formulas, tuple(nowhere))
            for name in ready:
                formula = waiting.pop(name)
                several = [leaf for leaf in formula.names if len(owners[leaf]) > 1]
                if several:
                    places = name, several[0], *sorted(owners[several[0]])
                    nowhere.append(Finding(Kind.SPANS_NOWHERE, places))
                    continue
                formulas[name] = formula.rename({leaf: min(owners[leaf]) for leaf in formula.names})
                owners[name] = {name}


@dataclass(frozen=True)
class FollowersOfFiles:
    """The followers of all files, each with the names of the project for those of its file, and
    after them those that span files."""

    files: Sequence[tuple[Followers, Mapping[str, str]]]
    spanning: Mapping[str, Formula]

    def values(self, leaves: Mapping[str, float]) -> dict[str, float]:
        return self._all(leaves, lambda own, values: own.values(values))

    def columns(self, leaves: Mapping[str, float | Array]) -> dict[str, float | Array]:
        return self._all(leaves, lambda own, values: own.columns(values))

    def gradients(self, leaves: Mapping[str, float]) -> dict[str, dict[str, float]]:
        by_name: dict[str, dict[str, float]] = {}
        for file, full in self.files:
            for name, slopes in file.gradients(local(leaves, full)).items():
                by_name[full[name]] = {full[leaf]: slope for leaf, slope in slopes.items()}
        if self.spanning:
            there = {**leaves, **self.values(leaves)}
            for name, formula in self.spanning.items():
                own = Following({name: formula}, (name,)).gradients(there)[name]
                total: dict[str, float] = {}
                for leaf, slope in own.items():
                    for last, inner in by_name.get(leaf, {leaf: 1.0}).items():
                        total[last] = total.get(last, 0.0) + slope * inner
                by_name[name] = total
        return by_name

    def _all(
        self,
        leaves: Mapping[str, Value],
        get: Callable[[Followers, Mapping[str, Value]], Mapping[str, Value]],
    ) -> dict[str, Value]:
        by_name: dict[str, Value] = {}
        for file, full in self.files:
            by_name |= {full[name]: value for name, value in get(file, local(leaves, full)).items()}
        if self.spanning:
            across = Following(self.spanning, tuple(self.spanning))
            by_name |= get(across, {**leaves, **by_name})
        return by_name
