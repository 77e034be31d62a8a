"""The parts of a model: parameters, components, dynamics."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from pyspec._library import OPS, OpDef
from pyspec.formula import Formula


@dataclass
class Par:
    """One parameter.

    Attributes
    ----------
    name : full name, "GLP_01_x0" or "GLP_01_x0_expFun_01_tau"
    argument : its name within the function, "x0"
    value : start value or fixed value; NaN for a parameter that follows an expression
    vary : whether a fit may change it
    scope : "file" (free in each file), "project" (free, shared by all files) or "static"
    min, max : bounds of a free value, both included
    formula : the expression that it follows, over full names, or None
    where : its place in the model file, "models.yaml:14"
    dynamics : how it moves in time, or None
    """

    name: str
    argument: str
    value: float = math.nan
    vary: bool = True
    scope: str = "file"
    min: float = -math.inf
    max: float = math.inf
    formula: Formula | None = None
    where: str = ""
    dynamics: Dynamics | None = None

    @property
    def expr(self) -> str | None:
        """The text of the expression, or None."""
        return None if self.formula is None else self.formula.text

    @property
    def label(self) -> str:
        """As errors name it: "GLP_01.x0"."""
        return f"{self.name.removesuffix('_' + self.argument)}.{self.argument}"

    @property
    def place(self) -> str:
        """Where it stands and how it is called: the start of every error about it."""
        return f"{self.where}: {self.label}" if self.where else self.label


@dataclass
class Component:
    """One function of a model with its parameters.

    `pars` are in the order of the op table; None stands for an optional one left out.
    """

    name: str
    function: str
    pars: tuple[Par | None, ...]
    where: str = ""

    @property
    def op(self) -> OpDef:
        """The function's row of the op table."""
        return OPS[self.function]

    @property
    def parameters(self) -> tuple[Par, ...]:
        """The parameters that are there."""
        return tuple(par for par in self.pars if par is not None)


@dataclass
class Dynamics:
    """How one parameter moves in time: ``p(t) = base + D(t)``.

    `target` is the name of the parameter, `name` the name of the dynamics model in its file,
    `components` its laws in file order. `frequency` -1 means a single cycle.
    """

    target: str
    name: str
    components: list[Component] = field(default_factory=list)
    frequency: float = -1.0
    text: str = ""
    where: str = ""

    @property
    def parameters(self) -> tuple[Par, ...]:
        """All parameters of the laws, in file order."""
        return tuple(par for component in self.components for par in component.parameters)
