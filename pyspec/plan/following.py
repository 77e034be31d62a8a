"""The parameters that follow expressions: their values, and how these change."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec.formula import Formula, chain_product
from pyspec.formula.rules import UFUNCS
from pyspec.formula.syntax import Name, Node, Number, postorder
from pyspec.model import Par

Array = npt.NDArray[np.float64]


class Followers(Protocol):
    """Values and slopes of what follows expressions, by name, in the order of the model; `leaves`
    holds the values of free and fixed parameters. Base values are meant where a parameter moves in
    time."""

    def values(self, leaves: Mapping[str, float]) -> dict[str, float]:
        """Name → value."""

    def columns(self, leaves: Mapping[str, float | Array]) -> dict[str, Any]:
        """Name → values where some of `leaves` are arrays of one shape; a number of those that
        depend on none of them."""

    def gradients(self, leaves: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Name → derivatives by the free and fixed parameters that its expressions end in: numbers,
        or arrays where `leaves` holds such."""


@dataclass(frozen=True)
class Following:
    """The followers of one model. They hold formulas, which never change, not its parameters.

    Attributes
    ----------
    formulas : name → formula, each after those that it refers to
    names : the same names in the order of the model
    """

    formulas: Mapping[str, Formula]
    names: tuple[str, ...]

    @classmethod
    def of(cls, parameters: Mapping[str, Par], order: Sequence[str]) -> Following:
        """Those of `parameters`; `order` has each name after those it refers to, and perhaps names
        of others."""
        if not order:
            return NONE
        by_name = {name: parameters[name].formula for name in order if name in parameters}
        formulas = {name: formula for name, formula in by_name.items() if formula is not None}
        return cls(formulas, tuple([name for name in parameters if name in formulas]))

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """Name → the text of its formula."""
        return {name: self.formulas[name].text for name in self.names}

    @cached_property
    def _programs(self) -> tuple[tuple[str, str | Program | None], ...]:
        roots = [(name, formula.root) for name, formula in self.formulas.items()]
        return tuple([(n, r.name if isinstance(r, Name) else _program(r)) for n, r in roots])

    def values(self, leaves: Mapping[str, float]) -> dict[str, float]:
        if not self.formulas:
            return {}
        done = dict(leaves)
        for name, steps in self._programs:
            if isinstance(steps, str):  # it is another parameter
                done[name] = float(done[steps])
                continue
            try:
                done[name] = _run(steps, done) if steps else self._by_numpy(name, done)
            except ZeroDivisionError:  # where NumPy has inf, or NaN
                done[name] = self._by_numpy(name, done)
        return dict(zip(self.names, map(done.__getitem__, self.names), strict=True))

    def columns(self, leaves: Mapping[str, float | Array]) -> dict[str, Any]:
        done = dict(leaves)
        for name, formula in self.formulas.items():
            done[name] = formula.evaluate(done)
        return {name: done[name] for name in self.names}

    def _by_numpy(self, name: str, values: Mapping[str, float]) -> float:
        return float(self.formulas[name].evaluate(values))

    def gradients(self, leaves: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        done: dict[str, tuple[Any, dict[str, Any]]] = {}
        for name, formula in self.formulas.items():
            inner = {
                used: done[used] if used in done else (leaves[used], {used: 1.0})
                for used in formula.names
            }
            if isinstance(formula.root, Name):
                same, by_leaf = inner[formula.root.name]
                done[name] = same, dict(by_leaf)
                continue
            value, slopes = formula.gradient({used: pair[0] for used, pair in inner.items()})
            gradient: dict[str, Any] = {}
            for used, slope in slopes.items():
                for leaf, own in inner[used][1].items():
                    gradient[leaf] = gradient.get(leaf, 0.0) + chain_product(slope, own)
            done[name] = value, gradient
        return {name: done[name][1] for name in self.names}


NONE = Following({}, ())

#: A formula of sums, products and quotients of Python numbers, in postfix order. Its steps are
#: numbers, names, and functions of the last one or two values. NumPy gives the same bits in ten
#: times the time.
Program: TypeAlias = tuple[float | str | Callable[..., float], ...]

_ARITHMETIC = {name: UFUNCS[name] for name in ("ADD", "SUB", "MUL", "DIV", "NEG")}


def _program(root: Node) -> Program | None:
    """The program of a formula, None where it takes NumPy."""
    steps: list[float | str | Callable[..., float]] = []
    for node in postorder(root):
        if isinstance(node, Number):
            steps.append(float(node.value))
        elif isinstance(node, Name):
            steps.append(node.name)
        elif node.instruction in _ARITHMETIC:
            steps.append(_ARITHMETIC[node.instruction])
        else:
            return None
    return tuple(steps)


def _run(program: Program, values: Mapping[str, float]) -> float:
    """Its value. Raises :class:`ZeroDivisionError` where it divides by zero."""
    stack: list[float] = []
    for step in program:
        if type(step) is str:
            stack.append(float(values[step]))
        elif type(step) is float:
            stack.append(step)
        elif step is operator.neg:
            stack[-1] = -stack[-1]
        else:
            last = stack.pop()
            stack[-1] = step(stack[-1], last)  # type: ignore[operator]
    return float(stack[0])
