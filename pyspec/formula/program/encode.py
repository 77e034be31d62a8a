"""Programs of the compiled library from values: order of instructions and allocation of registers
(see csrc/formula/formula.h)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, FUSED, RPN, TILED
from pyspec.errors import ModelError
from pyspec.formula.program.fuse import fuse
from pyspec.formula.program.values import Work
from pyspec.memory import Choice, Step, plan_memory

CODES = {name: k for k, name in enumerate((*RPN, "W", "COPY", "SINCOS", *FUSED))}
_MOST = CONSTANTS["FORMULA_REGISTERS"]

#: Instructions with several results, in registers one behind the other, and what these are.
PARTS = {"W": ("W_RE", "W_IM", "W_REX", "W_REY"), "SINCOS": ("SIN", "COS")}

#: Such an instruction, and its arguments.
Group = tuple[str, tuple[int, ...]]

#: The last word of an instruction (csrc/formula/formula.h): FORMULA_TAKES_TWICE and FORMULA_PASSES.
_TWICE, _PASSES = 3, 4

#: The words that a program begins with (csrc/formula/formula.h).
HEAD = (
    "n_words", "n_params", "n_constants", "n_rows", "n_vectors", "n_row_value", "n_row_code",
    "n_value", "n_code", "n_inputs", "chunk",
)  # fmt: skip
assert len(HEAD) == CONSTANTS["FORMULA_HEAD"]


@dataclass(frozen=True)
class Instruction:
    """One instruction: `target` and `operands` are registers, `last` the third word of W. It may
    take an operand from the instruction before (`takes`: 1 for the first, and so on, of a square 3)
    and `passes` on what only the next one reads."""

    code: str
    target: int
    operands: tuple[int, ...]
    last: int = 0
    takes: int = 0
    passes: bool = False

    def words(self) -> list[int]:
        """As the library reads it."""
        padded = [*self.operands, 0, 0, 0][:3]
        if self.code == "W":
            padded[2] = self.last
        return [CODES[self.code], self.target, *padded, self.takes + _PASSES * self.passes]


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
        code = [word for step in (*self.row_code, *self.code) for word in step.words()]
        constants = np.array(self.constants, np.float64).view(np.int64).tolist()
        size = len(HEAD) + len(constants) + len(code)
        long = any(step.code == "W" for step in self.code)  # which prepares series for each chunk
        chunk = CONSTANTS["FORMULA_LONG" if long else "FORMULA_SHORT"]
        head = [
            size, self.n_params, len(constants), self.n_rows, self.n_vectors, self.n_row_value,
            len(self.row_code), self.n_value, len(self.code), self.n_inputs, chunk,
        ]  # fmt: skip
        return np.array([*head, *constants, *code], np.int64)


class _Encoder:
    """Numbers registers: rows first, then vectors, as the memory planner lays them out, then
    outputs. Rows hold one value for each lane and are all kept."""

    def __init__(self, work: Work, choice: Choice | None) -> None:
        values, params, axes, outputs = work
        self.values, self.outputs, self.choice = values, outputs, choice
        self.needed = values.reachable(outputs)
        self.first = values.reachable(outputs[:1])
        self.moving = values.depends(axes)
        self.program = Program(len(params), n_inputs=len(axes) - 1, n_vectors=len(axes))
        self.register: dict[int, tuple[str, int]] = {
            axis: ("vector", k) for k, axis in enumerate(axes)
        }
        self.targets: list[tuple[str, int]] = []  # of every instruction so far
        for k, param in enumerate(params):
            self.register[param] = ("row", k)
        self.group_of = self._groups()
        #: Groups of which the value needs more than the first part.
        self.more = {
            group
            for number, group in self.group_of.items()
            if number in self.first and self._part(number)
        }

    def _groups(self) -> dict[int, Group]:
        """Values that one instruction gives together: the two parts of the Faddeeva function, or
        sine and cosine of one angle."""
        groups: dict[int, Group] = {}
        for number in sorted(self.needed):
            instruction, operands, *_ = self.values[number]
            for name, parts in PARTS.items():
                others = {self.values.find(part, *operands) for part in parts} & self.needed
                if instruction in parts and (name == "W" or len(others) > 1):
                    groups[number] = (name, operands)
        return groups

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
        # What the value needs, then the rest; operands first.
        numbers = [n for n in sorted(self.needed) if values[n].operands]
        numbers.sort(key=lambda n: n not in self.first)
        program.n_row_value = self._emit_rows([n for n in numbers if n not in self.moving])
        program.n_value = self._emit_points([n for n in numbers if n in self.moving])
        self._copies()
        count = program.n_rows + program.n_vectors + len(self.outputs)
        if count > _MOST:
            raise ModelError(
                f"the formula needs {count} registers, of which there are {_MOST}; split it"
            )
        return self._numbered(program)

    def _emit_rows(self, numbers: list[int]) -> int:
        """Instructions over rows, and how many of them the value needs."""
        program, n_value = self.program, 0
        groups: dict[Group, int] = {}
        for number in numbers:
            if number in self.group_of:
                group = self.group_of[number]
                if group not in groups:
                    groups[group] = program.n_rows
                    program.n_rows += len(PARTS[group[0]])
                    self._emit_group(group, ("row", groups[group]), program.row_code)
                self.register[number] = ("row", groups[group] + self._part(number))
            else:
                self.register[number] = ("row", program.n_rows)
                program.n_rows += 1
                self._emit(number, program.row_code)
            n_value = len(program.row_code) if number in self.first else n_value
        return n_value

    def _emit_points(self, numbers: list[int]) -> int:
        """Instructions over chunks, and how many of them the value needs."""
        program, n_value = self.program, 0
        output_of: dict[int, int] = {}  # the output that a value is written to straight away
        for k, number in enumerate(self.outputs):
            computed = number in self.moving and number not in self.group_of
            if computed and self.values[number].operands:
                output_of.setdefault(number, k)
        steps: list[Step] = []
        made: list[int | Group] = []  # what each step gives
        step_of: dict[int | Group, int] = {}

        def add(what: int | Group, step: Step) -> None:
            step_of[what] = len(steps)
            steps.append(step)
            made.append(what)

        # What is needed without derivatives has rank 0 and comes before all else.
        early = {group for number, group in self.group_of.items() if number in self.first}
        for number in numbers:
            operands = self.values[number].operands
            reads = tuple(step_of[operand] for operand in operands if operand in step_of)
            rank, group = int(number not in self.first), self.group_of.get(number)
            if group is None:  # outputs lie in memory of the caller
                add(number, Step(reads, int(number not in output_of), rank=rank))
                continue
            if group not in step_of:
                add(group, Step(reads, len(PARTS[group[0]]), rank=int(group not in early)))
            add(number, Step((step_of[group],), 0, alias=True, rank=rank))
        copied = {step_of[number] for number in self.outputs if number in step_of}
        memory = plan_memory(steps, copied, self.choice)
        begin = program.n_vectors
        program.n_vectors += memory.size
        for place in memory.order:
            what, at = made[place], begin + memory.offset(place)
            if isinstance(what, tuple):
                self._emit_group(what, ("vector", at), program.code)
            elif what in self.group_of:
                self.register[what] = ("vector", at + self._part(what))
            else:
                output = output_of.get(what)
                self.register[what] = ("vector", at) if output is None else ("output", output)
                self._emit(what, program.code)
            n_value = len(program.code) if what in self.first else n_value
        return n_value

    def _part(self, number: int) -> int:
        return PARTS[self.group_of[number][0]].index(self.values[number].instruction)

    def _emit(self, number: int, code: list[Instruction]) -> None:
        value = self.values[number]
        code.append(Instruction(value.instruction, -1, value.operands))
        self.targets.append(self.register[number])

    def _emit_group(self, group: Group, target: tuple[str, int], code: list[Instruction]) -> None:
        name, arguments = group
        code.append(Instruction(name, -1, arguments, int(group in self.more)))
        self.targets.append(target)

    def _copies(self) -> None:
        """Outputs that are rows, inputs, parts of a group, or one another; the value first."""
        program = self.program
        for k, number in enumerate(self.outputs):
            if self.register[number] == ("output", k):
                continue
            copy = Instruction("COPY", -1, (number,))
            at = program.n_value if k == 0 else len(program.code)
            program.code.insert(at, copy)
            self.targets.insert(len(program.row_code) + at, ("output", k))
            program.n_value += k == 0

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
                instruction.code,
                self._number(target),
                tuple(self._number(self.register[operand]) for operand in instruction.operands),
                instruction.last,
            )
            for instruction, target in zip(code, self.targets, strict=True)
        ]
        n = len(program.row_code)
        m, outputs = n + program.n_value, self._number(("output", 0))
        program.row_code = done[:n]
        # The value is computed alone: what comes behind takes nothing from it.
        read_later = {operand for instruction in done[m:] for operand in instruction.operands}
        program.code = [
            *_passing(done[n:m], outputs, read_later),
            *_passing(done[m:], outputs, set()),
        ]
        return program


def _is_square(instruction: Instruction) -> bool:
    return instruction.code == "MUL" and instruction.operands[0] == instruction.operands[1]


def _operand_taken(before: Instruction | None, after: Instruction) -> int:
    """Which operand an instruction takes from the one before, see `FORMULA_TAKES`."""
    if (
        before is None
        or not {after.code, before.code} <= TILED
        or before.target not in after.operands
    ):
        return 0
    return _TWICE if _is_square(after) else after.operands.index(before.target) + 1


def _passing(code: list[Instruction], outputs: int, live: set[int]) -> list[Instruction]:
    """The same instructions with what they take from one another. What is read once is not written,
    but for outputs, the registers from `outputs` on. `live` is read behind them."""
    takes = [
        _operand_taken(before, instruction)
        for before, instruction in zip((None, *code), code, strict=False)
    ]
    done: list[Instruction] = []
    for instruction, taken in zip(reversed(code), reversed(takes), strict=True):
        passes = False
        if done:
            following = done[-1]
            taken_there = 2 if _is_square(following) else min(following.takes, 1)
            alone = following.operands.count(instruction.target) == taken_there > 0
            gone = instruction.target not in live or instruction.target == following.target
            passes = alone and gone and following.takes > 0 and instruction.target < outputs
            live = (live - {following.target}) | set(following.operands)
        done.append(replace(instruction, takes=taken, passes=passes))
    return done[::-1]


def encode(work: Work, choice: Choice | None = None, absorb: bool = True) -> Program:
    """The program of a value and its derivatives.

    `choice` is for the memory planner and changes no number; `absorb` changes rounding alone, see
    :mod:`pyspec.formula.program.absorbed`. Raises :class:`ModelError` for too many registers.
    """
    return _Encoder(fuse(work, absorb), choice).encode()
