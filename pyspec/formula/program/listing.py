"""The program of a formula as text, one instruction a line: what the compiled library runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pyspec._library import FUSED, RPN
from pyspec.formula.program.encode import CODES, HEAD

_NAMES = {code: name for name, code in CODES.items()}

_ARITY = {name: row.arity for name, row in RPN.items()} | FUSED | {"W": 2, "COPY": 1, "SINCOS": 1}

#: Registers that an instruction writes, where it is more than one.
_TARGETS = {"W": 4, "SINCOS": 2}

#: Words of an instruction.
_WORDS = 6


def listing(words: npt.NDArray[np.int64], params: Sequence[str], axes: Sequence[str]) -> str:
    """The program in `words`, with the names of parameters and of the axis and the inputs. What
    only derivatives need is marked: without them it does not run.

    A register ``r`` holds one value for each row, ``v`` a chunk of values along the axis. Outputs
    are the value and ``d_NAME``, its derivative by a parameter.
    """
    head = dict(zip(HEAD, words[: len(HEAD)].tolist(), strict=True))
    begin = len(HEAD) + head["n_constants"]
    constants = words[len(HEAD) : begin].view(np.float64).tolist()
    registers = [*params, *map(repr, constants)]
    registers += [f"r{k}" for k in range(len(registers), head["n_rows"])]
    registers += [*axes, *(f"v{k}" for k in range(len(axes), head["n_vectors"]))]
    registers += ["value", *(f"d_{name}" for name in params)]
    lines = []
    code = words[begin : head["n_words"]].reshape(-1, _WORDS).tolist()
    for k, (instruction, target, *operands, _) in enumerate(code):
        name = _NAMES[instruction]
        arity = _ARITY[name]
        shown = ", ".join(registers[operand] for operand in operands[:arity])
        at = k - head["n_row_code"]
        late = at >= head["n_value"] if at >= 0 else k >= head["n_row_value"]
        targets = registers[target : target + _TARGETS.get(name, 1)]
        text = f"{', '.join(targets)} = {name} {shown}"
        lines.append(f"{text:48}# for derivatives" if late else text)
    return "\n".join(lines)
