"""From values to the program that the compiled library runs: which instructions in which order,
over which registers (see csrc/formula.h)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, RPN
from pyspec.errors import ModelError
from pyspec.formula.values import Values

_W_PARTS = ("W_RE", "W_IM", "W_REX", "W_REY")
CODES = {name: row.index for name, row in RPN.items()} | {"W": len(RPN), "COPY": len(RPN) + 1}
_HEAD, _MOST = CONSTANTS["FORMULA_HEAD"], CONSTANTS["FORMULA_REGISTERS"]


@dataclass(frozen=True)
class Instruction:
    """One instruction: `target` and `operands` are registers, `last` the third word of W."""

    code: str
    target: int
    operands: tuple[int, ...]
    last: int = 0

    def words(self) -> list[int]:
        """As the library reads it."""
        padded = [*self.operands, 0, 0, 0][:3]
        if self.code == "W":
            padded[2] = self.last
        return [CODES[self.code], self.target, *padded]


@dataclass
class Program:
    """A program over registers, before it becomes words."""

    n_params: int
    constants: list[float] = field(default_factory=list)
    n_rows: int = 0
    n_vectors: int = 1
    row_code: list[Instruction] = field(default_factory=list)
    code: list[Instruction] = field(default_factory=list)
    n_row_value: int = 0
    n_value: int = 0
    n_inputs: int = 0

    def words(self) -> npt.NDArray[np.int64]:
        """The program as 64-bit words."""
        code = [word for one in (*self.row_code, *self.code) for word in one.words()]
        constants = np.array(self.constants, np.float64).view(np.int64).tolist()
        size = _HEAD + len(constants) + len(code)
        head = [
            size, self.n_params, len(constants), self.n_rows, self.n_vectors, self.n_row_value,
            len(self.row_code), self.n_value, len(self.code), self.n_inputs,
        ]  # fmt: skip
        return np.array([*head, *constants, *code], np.int64)


class _Encoder:
    """Numbers registers: rows first, then vectors, of which those whose value is no longer read
    are used again, then outputs."""

    def __init__(
        self, values: Values, params: Sequence[int], axes: Sequence[int], outputs: Sequence[int]
    ) -> None:
        self.values = values
        self.outputs = outputs
        self.needed = values.reachable(outputs)
        self.moving = values.depends(axes)
        self.program = Program(len(params), n_inputs=len(axes) - 1, n_vectors=len(axes))
        self.register: dict[int, tuple[str, int]] = {
            axis: ("vector", k) for k, axis in enumerate(axes)
        }
        self.targets: list[tuple[str, int]] = []  # of every instruction so far
        for k, param in enumerate(params):
            self.register[param] = ("row", k)
        self.w_of = self._w_groups()
        self.order = self._order()

    # ---- order -------------------------------------------------------------------------

    def _w_groups(self) -> dict[int, tuple[int, int]]:
        """For each part of the Faddeeva function its arguments: one instruction gives all."""
        return {
            number: (self.values[number].operands[0], self.values[number].operands[1])
            for number in sorted(self.needed)
            if self.values[number].instruction in _W_PARTS
        }

    def _order(self) -> list[int]:
        """What the value needs, then the rest; operands first."""
        first = self.values.reachable(self.outputs[:1])
        numbers = [n for n in sorted(self.needed) if self.values[n].operands]
        return [n for n in numbers if n in first] + [n for n in numbers if n not in first]

    # ---- encoding ----------------------------------------------------------------------

    def encode(self) -> Program:
        program, values = self.program, self.values
        constants = {
            operand
            for number in self.needed
            for operand in (number, *values[number].operands)
            if values[operand].instruction == "CONST"
        }
        for number in sorted(constants):
            self.register[number] = ("row", program.n_params + len(program.constants))
            program.constants.append(values[number].number)
        program.n_rows = program.n_params + len(program.constants)
        first = values.reachable(self.outputs[:1])
        rows = [number for number in self.order if number not in self.moving]
        points = [number for number in self.order if number in self.moving]
        program.n_row_value = self._emit(rows, first, program.row_code, "row")
        self._plan_lifetimes(points)
        program.n_value = self._emit(points, first, program.code, "vector")
        self._copies(program)
        self._check()
        return self._numbered(program)

    def _plan_lifetimes(self, points: list[int]) -> None:
        """The last instruction that reads each value, and which output it is."""
        self.last_use: dict[int, int] = {}
        for place, number in enumerate(points):
            for operand in self.values[number].operands:
                self.last_use[operand] = place
        self.output_of: dict[int, int] = {}
        # Without partials there is no memory for them: what the value needs lies elsewhere.
        first = self.values.reachable(self.outputs[:1])
        for k, number in enumerate(self.outputs):
            computed = number in self.moving and number not in self.w_of
            if k > 0 and number in first and number != self.outputs[0]:
                continue
            if computed and self.values[number].operands and number not in self.output_of:
                self.output_of[number] = k
        self.free: list[int] = []

    def _emit(self, numbers: list[int], first: set[int], code: list[Instruction], kind: str) -> int:
        """Instructions of one part, and how many of them the value needs."""
        n_value = 0
        groups: dict[tuple[int, int], int] = {}
        imaginary = {
            self.w_of[number]
            for number in numbers
            if number in first and number in self.w_of
            if self.values[number].instruction != "W_RE"
        }
        for place, number in enumerate(numbers):
            value = self.values[number]
            if number in self.w_of:
                arguments = self.w_of[number]
                if arguments not in groups:
                    groups[arguments] = self._take(kind, 4)
                    code.append(
                        Instruction("W", -1, arguments, int(arguments in imaginary)),
                    )
                    self.targets.append((kind, groups[arguments]))
                part = _W_PARTS.index(value.instruction)
                self.register[number] = (kind, groups[arguments] + part)
            else:
                self._place(number, kind)
                code.append(Instruction(value.instruction, -1, value.operands))
                self.targets.append(self.register[number])
            if kind == "vector":
                self._release(value.operands, place)
            n_value = len(code) if number in first else n_value
        return n_value

    def _take(self, kind: str, count: int) -> int:
        program = self.program
        if kind == "row":
            program.n_rows += count
            return program.n_rows - count
        program.n_vectors += count
        return program.n_vectors - count

    def _place(self, number: int, kind: str) -> None:
        if kind == "vector" and number in self.output_of:
            self.register[number] = ("output", self.output_of[number])
        elif kind == "vector" and self.free:
            self.register[number] = (kind, self.free.pop())
        else:
            self.register[number] = (kind, self._take(kind, 1))

    def _release(self, operands: Iterable[int], place: int) -> None:
        """Registers of values that nothing reads any more; those of W stay."""
        for operand in set(operands):
            kind, register = self.register[operand]
            over = self.last_use.get(operand, place) == place and operand not in self.outputs
            given = register <= self.program.n_inputs
            if kind == "vector" and not given and over and operand not in self.w_of:
                self.free.append(register)

    def _copies(self, program: Program) -> None:
        """Outputs that are rows, inputs, parts of W, or one another. The value comes first."""
        for k, number in enumerate(self.outputs):
            if self.register[number] == ("output", k):
                continue
            copy = Instruction("COPY", -1, (number,))
            at = program.n_value if k == 0 else len(program.code)
            program.code.insert(at, copy)
            self.targets.insert(len(program.row_code) + at, ("output", k))
            program.n_value += k == 0

    def _check(self) -> None:
        program = self.program
        count = program.n_rows + program.n_vectors + len(self.outputs)
        if count > _MOST:
            raise ModelError(
                f"the formula needs {count} registers, of which there are {_MOST}; split it"
            )

    def _number(self, register: tuple[str, int]) -> int:
        kind, k = register
        if kind == "row":
            return k
        k += self.program.n_rows
        return k if kind == "vector" else k + self.program.n_vectors

    def _numbered(self, program: Program) -> Program:
        """Values become registers. Each instruction reads what its operands' values lie in."""
        code = [*program.row_code, *program.code]
        done = [
            Instruction(
                one.code,
                self._number(target),
                tuple(self._number(self.register[operand]) for operand in one.operands),
                one.last,
            )
            for one, target in zip(code, self.targets, strict=True)
        ]
        n = len(program.row_code)
        program.row_code, program.code = done[:n], done[n:]
        return program


def encode(
    values: Values, params: Sequence[int], axes: Sequence[int], outputs: Sequence[int]
) -> Program:
    """The program of `outputs`, of which the first is the value, the others the derivatives by
    `params`. `axes` are the axis and the inputs along it. Raises :class:`ModelError` where it
    needs too many registers."""
    return _Encoder(values, params, axes, outputs).encode()
