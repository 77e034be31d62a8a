"""pyspec/components.pyi: what type checkers and editors know of the components."""

from __future__ import annotations

from pyspec._library import OPS, OpDef
from pyspec.components import NAMES

HEAD = '''# Made by `python -m docs.build` from csrc/tables/ops.def; change that instead.
"""Components of models written in Python: one class for each function of the op table."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from numpy.typing import NDArray

from pyspec.model.build.describe import Description as Component
from pyspec.model.build.describe import Expression, Moving, Number, Profiled
from pyspec.model.tree import Free

Value: TypeAlias = (
    float
    | tuple[float, float | None, float | None]
    | Number
    | Expression
    | Moving
    | Profiled
    | Free
)
Base: TypeAlias = float | tuple[float, float | None, float | None] | Number

HELPERS: tuple[str, ...]
NAMES: tuple[str, ...]

def fixed(value: float, min: float | None = None, max: float | None = None) -> Number: ...
def shared(value: float, min: float | None = None, max: float | None = None) -> Number: ...
def expr(text: str) -> Expression: ...
def free(
    axis: str,
    *,
    positive: bool = False,
    zero: Sequence[tuple[float, float]] = (),
    shared: bool = False,
) -> Free: ...
def measuredIRF(
    time: Sequence[float] | NDArray[Any], response: Sequence[float] | NDArray[Any]
) -> Component: ...
def moving(
    value: Base | Profiled,
    laws: Sequence[Component],
    *turns: Sequence[Component],
    frequency: float | None = None,
) -> Moving: ...
def profiled(value: Base, functions: Sequence[Component]) -> Profiled: ...
def registered(function: str, /, *values: Value, **named: Value) -> Component: ...
'''

#: Longest line, as the formatter has it.
WIDTH = 100


def stub() -> str:
    """The text of the stub."""
    return HEAD + "".join(f"\n{_class(OPS[name])}" for name in NAMES)


def _class(op: OpDef) -> str:
    needed = [f"{name}: Value" for name in op.params[: op.n_required]]
    optional = [f"{name}: Value = ..." for name in op.params[op.n_required :]]
    arguments = ", ".join(["self", *needed, *optional])
    line = f"    def __init__({arguments}) -> None: ..."
    if len(line) > WIDTH:
        line = f"    def __init__(\n        {arguments}\n    ) -> None: ..."
    return f"class {op.name}(Component):\n{line}\n"
