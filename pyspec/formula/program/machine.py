"""The stack machine that runs expression programs over traces, in NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pyspec._library import RPN
from pyspec.errors import PlanError
from pyspec.formula.rules import UFUNCS, Value

_ROWS = list(RPN.values())


def run_rpn(
    code: npt.NDArray[np.int64], traces: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Runs a program (n, 2) over `traces` (n_rows, n_time); the result has shape (n_time,).

    Raises :class:`PlanError` if the program is not well-formed.
    """
    stack: list[Value] = []
    constants = np.ascontiguousarray(code[:, 1]).view(np.float64)
    with np.errstate(all="ignore"):
        for step, (index, operand) in enumerate(code.tolist()):
            row = _ROWS[index] if 0 <= index < len(_ROWS) else None
            if row is None or len(stack) < row.arity:
                raise PlanError(f"instruction {step} of the program ({index}) cannot run")
            if row.name == "CONST":
                stack.append(constants[step])
            elif row.name == "PARAM":
                stack.append(traces[operand])
            else:
                operands = stack[len(stack) - row.arity :]
                del stack[len(stack) - row.arity :]
                stack.append(UFUNCS[row.name](*operands))
    if len(stack) != 1:
        raise PlanError(f"the program leaves {len(stack)} values instead of one")
    result = np.empty(traces.shape[1])
    result[...] = stack[0]
    return result


def disassemble(code: npt.NDArray[np.int64], names: Sequence[str] | Mapping[int, str]) -> str:
    """The program as text, one instruction a line; `names` says how trace rows are called."""
    constants = np.ascontiguousarray(code[:, 1]).view(np.float64)
    lines = []
    for step, (index, operand) in enumerate(code.tolist()):
        row = _ROWS[index]
        if row.name == "CONST":
            lines.append(f"CONST {float(constants[step])!r}")
        elif row.name == "PARAM":
            lines.append(f"PARAM {names[operand]}")
        else:
            lines.append(row.name)
    return "\n".join(lines)
