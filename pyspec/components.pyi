# Made by `python -m docs.build` from csrc/tables/ops.def; change that instead.
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

class Gauss(Component):
    def __init__(self, A: Value, x0: Value, SD: Value) -> None: ...

class GaussAsym(Component):
    def __init__(self, A: Value, x0: Value, SD: Value, ratio: Value) -> None: ...

class SkewGauss(Component):
    def __init__(self, A: Value, x0: Value, w: Value, b: Value) -> None: ...

class Lorentz(Component):
    def __init__(self, A: Value, x0: Value, W: Value) -> None: ...

class Voigt(Component):
    def __init__(self, A: Value, x0: Value, SD: Value, W: Value) -> None: ...

class GLS(Component):
    def __init__(self, A: Value, x0: Value, F: Value, m: Value) -> None: ...

class GLP(Component):
    def __init__(self, A: Value, x0: Value, F: Value, m: Value) -> None: ...

class DS(Component):
    def __init__(self, A: Value, x0: Value, F: Value, alpha: Value) -> None: ...

class DSBinding(Component):
    def __init__(self, A: Value, x0: Value, F: Value, alpha: Value) -> None: ...

class GLSAsym(Component):
    def __init__(self, A: Value, x0: Value, F: Value, m: Value, a: Value) -> None: ...

class LA(Component):
    def __init__(self, A: Value, x0: Value, W: Value, alpha: Value, beta: Value) -> None: ...

class LF(Component):
    def __init__(
        self, A: Value, x0: Value, W: Value, alpha: Value, beta: Value, w: Value
    ) -> None: ...

class Mahan(Component):
    def __init__(self, A: Value, x0: Value, SD: Value, alpha: Value, xi: Value) -> None: ...

class Offset(Component):
    def __init__(self, y0: Value) -> None: ...

class LinBack(Component):
    def __init__(self, m: Value, b: Value, xStart: Value, xStop: Value) -> None: ...

class ErfStep(Component):
    def __init__(self, A: Value, x0: Value, SD: Value) -> None: ...

class AtanStep(Component):
    def __init__(self, A: Value, x0: Value, W: Value) -> None: ...

class FermiEdge(Component):
    def __init__(
        self, A: Value, x0: Value, T: Value, SD: Value, mBelow: Value, mAbove: Value
    ) -> None: ...

class PolyBack(Component):
    def __init__(self, c1: Value, c2: Value, c3: Value, x0: Value) -> None: ...

class ExpBack(Component):
    def __init__(self, A: Value, x0: Value, k: Value) -> None: ...

class PowerBack(Component):
    def __init__(self, A: Value, x0: Value, r: Value) -> None: ...

class Shirley(Component):
    def __init__(self, pShirley: Value) -> None: ...

class StaticShirley(Component):
    def __init__(self, left: Value, right: Value) -> None: ...

class Tougaard(Component):
    def __init__(self, B: Value, C: Value) -> None: ...

class Tougaard3(Component):
    def __init__(self, B: Value, C: Value, D: Value) -> None: ...

class resolution(Component):
    def __init__(self, SD: Value) -> None: ...

class none(Component):
    def __init__(self) -> None: ...

class stepFun(Component):
    def __init__(self, A: Value, t0: Value, y0: Value = ...) -> None: ...

class linFun(Component):
    def __init__(self, m: Value, t0: Value, y0: Value = ...) -> None: ...

class expFun(Component):
    def __init__(self, A: Value, tau: Value, t0: Value, y0: Value = ...) -> None: ...

class sinFun(Component):
    def __init__(self, A: Value, f: Value, phi: Value, t0: Value, y0: Value = ...) -> None: ...

class dampedSinFun(Component):
    def __init__(
        self, A: Value, f: Value, phi: Value, tau: Value, t0: Value, y0: Value = ...
    ) -> None: ...

class sinDivX(Component):
    def __init__(self, A: Value, f: Value, t0: Value, y0: Value = ...) -> None: ...

class erfFun(Component):
    def __init__(self, A: Value, SD: Value, t0: Value, y0: Value = ...) -> None: ...

class sqrtFun(Component):
    def __init__(self, A: Value, t0: Value, y0: Value = ...) -> None: ...

class constFun(Component):
    def __init__(self, A: Value) -> None: ...

class gaussFun(Component):
    def __init__(self, A: Value, SD: Value, t0: Value) -> None: ...

class gaussD1Fun(Component):
    def __init__(self, A: Value, SD: Value, t0: Value) -> None: ...

class gaussD2Fun(Component):
    def __init__(self, A: Value, SD: Value, t0: Value) -> None: ...

class gaussCONV(Component):
    def __init__(self, SD: Value) -> None: ...

class expSymCONV(Component):
    def __init__(self, tau: Value) -> None: ...

class expDecayCONV(Component):
    def __init__(self, tau: Value) -> None: ...

class expRiseCONV(Component):
    def __init__(self, tau: Value) -> None: ...

class boxCONV(Component):
    def __init__(self, width: Value) -> None: ...

class pExpDecay(Component):
    def __init__(self, A: Value, tau: Value) -> None: ...

class pLinear(Component):
    def __init__(self, m: Value, b: Value) -> None: ...

class pGauss(Component):
    def __init__(self, A: Value, x0: Value, SD: Value) -> None: ...

class gaussIRF(Component):
    def __init__(self, SD: Value, share: Value = ..., shift: Value = ...) -> None: ...
