"""The formulas of a function of one's own, and what is computed from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pyspec.formula.definitions.signature import given_values
from pyspec.formula.formula import Formula
from pyspec.formula.program.derive import differentiate
from pyspec.formula.program.encode import encode
from pyspec.formula.program.values import Values, Work
from pyspec.formula.rules import Value
from pyspec.formula.syntax import has_sums
from pyspec.functions.integrals import beyond

#: The domain of kernels, and what their formulas call the time difference.
KERNEL, AXIS = "kernel", "d"
#: For each domain the kind of its functions, its name in the op table and that of its axis.
DOMAINS = {
    "energy": ("PEAK", "ENERGY", "x"),
    "time": ("DYNAMICS", "TIME", "t"),
    "profile": ("PROFILE", "AUX", "x"),
    KERNEL: ("KERNEL", "TIME", AXIS),
}

#: What a kernel may declare besides its shape, for both sides or for one.
PARTS = ("reach", "tail")
SIDES = ("before", "after")


@dataclass(frozen=True)
class Formulas:
    """A function by formula. `lines` are helper values, each in terms of those before; `value` is
    the formula of the result. Equal definitions have equal texts."""

    text: str
    domain: str = field(compare=False)
    name: str = field(compare=False)
    params: tuple[str, ...] = field(compare=False)
    lines: tuple[tuple[str, Formula], ...] = field(compare=False, repr=False)
    value: Formula = field(compare=False, repr=False)
    signature: str = field(compare=False, default="", repr=False)
    doc: str = field(compare=False, default="", repr=False)
    #: Of a kernel what is declared: ``reach``, ``tail_before`` and so on.
    parts: tuple[tuple[str, Formula], ...] = field(compare=False, default=(), repr=False)
    #: Further arrays along the axis that it reads, by name, and how the text writes them.
    inputs: tuple[str, ...] = field(compare=False, default=())
    inputs_text: str = field(compare=False, default="", repr=False)

    @property
    def axis(self) -> str:
        """What the formula calls the abscissa."""
        return DOMAINS[self.domain][2]

    @cached_property
    def sums(self) -> bool:
        """Whether it sums over the energies, so that NumPy has to run it."""
        return any(
            has_sums(formula.root) for formula in (self.value, *(line for _, line in self.lines))
        )

    def __call__(self, x: Value, /, *params: Value, **inputs: Value) -> Value:
        """The value at x, in NumPy: numbers, or arrays that broadcast; inputs by name."""
        return self.evaluate(self.value, x, params, inputs)

    def evaluate(
        self,
        formula: Formula,
        x: Value,
        params: Sequence[Value],
        inputs: Mapping[str, Value] | None = None,
    ) -> Value:
        """A formula of the definition at x, in NumPy."""
        env = dict(zip(self.params, params, strict=True)) | {self.axis: x}
        env |= given_values(self.name, self.inputs, inputs or {})
        for name, line in self.lines:
            env[name] = line.evaluate(env)
        value = formula.evaluate(env)
        return np.broadcast_to(
            value, np.broadcast_shapes(*(np.shape(array) for array in env.values()))
        )

    def part(self, part: str, side: int) -> Formula | None:
        """Of a kernel the formula of ``reach`` or ``tail`` on a side: 0 earlier samples, 1 later
        ones."""
        declared = dict(self.parts)
        return declared.get(part) or declared.get(f"{part}_{SIDES[side]}")

    def reaches(self, *params: float) -> tuple[float, float]:
        """Of a kernel how far it extends to earlier and to later samples."""
        before, after = (
            np.inf if formula is None else float(self.evaluate(formula, np.float64(0.0), params))
            for formula in (self.part("reach", 0), self.part("reach", 1))
        )
        return before, after

    def mass(self, side: int, away: npt.NDArray[np.float64], *params: float) -> Value:
        """Of a kernel the integral over ``|d| >= away``: 0 earlier samples, 1 later ones."""
        tail = self.part("tail", side)
        if tail is not None:
            value = self.evaluate(tail, away, params)
            return np.broadcast_to(np.asarray(value, np.float64), away.shape).copy()
        sign = 1.0 if side == 0 else -1.0
        with np.errstate(all="ignore"):
            return beyond(lambda d: self(sign * d, *params), away, self.reaches(*params)[side])

    def table(self) -> tuple[Values, dict[str, int]]:
        """A table of values with the lines, and which value each name is."""
        values = Values()
        arguments = (*self.params, self.axis, *self.inputs)
        names = {name: values.input(name) for name in arguments}
        for name, formula in self.lines:
            names[name] = values.lower(formula.root, names)
        return values, names

    @cached_property
    def values(self) -> tuple[Values, int]:
        """The table of values, and which of them the result is."""
        values, names = self.table()
        return values, values.lower(self.value.root, names)

    def work(self, formula: Formula) -> Work:
        """A formula of the definition and its derivatives by all parameters."""
        values, names = self.table()
        root = values.lower(formula.root, names)
        params = [values.input(name) for name in self.params]
        slopes = differentiate(values, root, params)
        axes = [values.input(name) for name in (self.axis, *self.inputs)]
        return Work(values, params, axes, [root, *slopes])

    def program(self, formula: Formula) -> npt.NDArray[np.int64]:
        """The program of a formula of the definition and of its derivatives by all parameters."""
        return encode(self.work(formula)).words()
