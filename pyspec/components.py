"""Components of models written in Python: one class for each function of the op table.

    from pyspec import Model
    from pyspec.components import GLP, Offset, expr, fixed

    model = Model("au", [Offset(10), GLP(A=20, x0=(84, 82, 86), F=1.2, m=fixed(0.3))])

A value is a number (free), ``(value, min, max)`` with None for an open bound, or one of
:func:`fixed`, :func:`shared`, :func:`expr`, :func:`moving`, :func:`profiled`, :func:`free`.
Components are immutable descriptions: the model numbers and checks them as the loader does those
of a file.
``components.pyi`` tells editors and type checkers of the classes; ``python -m docs.build``
writes it from the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import Parameter, Signature, getdoc
from typing import Any

from pyspec._library import OPS, OpDef
from pyspec.calls import answered
from pyspec.errors import ModelError, NoSuchNameError, shortened, suggest
from pyspec.formula import FORMULAS
from pyspec.functions import reference
from pyspec.model.build.describe import (
    Description,
    Expression,
    Instrument,
    Moving,
    Number,
    Profiled,
    Registered,
    Value,
    checked_value,
    number,
)
from pyspec.model.tree import Free

HELPERS = (
    "Component",
    "expr",
    "fixed",
    "free",
    "measuredIRF",
    "moving",
    "profiled",
    "registered",
    "shared",
)

#: What every component is.
Component = Description

_BY_BOTH = Parameter.POSITIONAL_OR_KEYWORD


@answered
def fixed(value: float, min: float | None = None, max: float | None = None) -> Number:
    """A value that a fit holds."""
    return number(value, min, max, scope="static", place="fixed")


@answered
def shared(value: float, min: float | None = None, max: float | None = None) -> Number:
    """A free value that all files of a project share."""
    return number(value, min, max, scope="project", place="shared")


@answered
def expr(text: str) -> Expression:
    """A value that follows other parameters by their full names: ``expr("GLP_01_x0 + 3.67")``."""
    if not isinstance(text, str):
        raise ModelError(f"expr takes the text of an expression, not {text!r}")
    return Expression(text)


@answered
def free(
    axis: str,
    *,
    positive: bool = False,
    zero: Sequence[tuple[float, float]] = (),
    shared: bool = False,
) -> Free:
    """An amplitude that is free at each energy (``free("energy")``, of a function of time) or at
    each time (``free("time")``, of a function of energy), solved for at every step of a fit.

    With `positive` it is not negative; in the ranges `zero`, ends included, it is held at 0; with
    `shared` it is the same in all files of a project.
    """
    if not isinstance(axis, str) or axis not in ("energy", "time"):
        raise ModelError(f"free takes 'energy' or 'time', not {axis!r}")
    try:
        ranges = tuple((float(begin), float(end)) for begin, end in zero)
    except (TypeError, ValueError):
        ranges = ((0.0, 0.0),)
    if any(not begin < end for begin, end in ranges):
        raise ModelError(
            f"free: zero is {shortened(zero)}; give ranges (begin, end) with begin below end, such "
            "as [(300, 350)]"
        )
    return Free(axis, bool(positive), ranges, bool(shared))


@answered
def measuredIRF(time: Sequence[float], response: Sequence[float]) -> Description:
    """An instrument as it has been measured, in the list of laws above those that it acts on.

    The response is a straight line from sample to sample, and 0 outside; its area counts as 1. A
    law has its onset t0 where the time of the response is 0.
    """
    return Instrument(time, response)


@answered
def moving(
    value: Any,
    laws: Sequence[Description],
    *turns: Sequence[Description],
    frequency: float | None = None,
) -> Moving:
    """A value that moves in time, ``p(t) = value + sum of laws``.

    `laws` act at all times; each list of `turns` takes its turn, in whole cycles at `frequency`,
    in reciprocal units of the time axis. Kernels and instruments stand above what they act on.
    """
    base = checked_value(value, "moving")
    if not isinstance(base, (Number, Profiled)):
        raise ModelError("moving: the value must be a number, (value, min, max), fixed or profiled")
    groups = (_list(laws, "moving"), *(_list(turn, "moving") for turn in turns))
    return Moving(base, groups, -1.0 if frequency is None else frequency)


@answered
def profiled(value: Any, functions: Sequence[Description]) -> Profiled:
    """A value that differs along the auxiliary axis, ``p(aux) = value + sum of functions``."""
    base = checked_value(value, "profiled")
    if not isinstance(base, Number):
        raise ModelError(
            "profiled: the value must be a number, (value, min, max) or fixed; one that moves too "
            "is moving(profiled(...), [...])"
        )
    return Profiled(base, _list(functions, "profiled"))


@answered
def registered(function: str, /, *values: Any, **named: Any) -> Description:
    """A component for a function of your own: of :func:`pyspec.function`, or of
    :func:`pyspec.register_function`."""
    return Registered(function, *values, **named)


def _list(components: Sequence[Description], place: str) -> tuple[Description, ...]:
    is_list = isinstance(components, (list, tuple)) and bool(components)
    if not is_list or not all(isinstance(component, Description) for component in components):
        raise ModelError(f"{place}: give components in a list, such as [expFun(A=1, tau=2, t0=0)]")
    return tuple(components)


class _Help:
    """The docstring of a component: that of its NumPy reference, without the lines of the axis and
    of other arrays that it reads. It is imported when somebody asks."""

    def __get__(self, instance: object, owner: type[Description]) -> str:
        op, kept, named = OPS[owner.name], list[str](), True
        for line in (getdoc(reference(op.name)) or op.formula).splitlines():
            names, colon, _ = line.partition(" : ")
            if colon or not line.startswith(" "):
                named = not colon or bool(set(names.split(", ")) & set(op.params))
            if named:
                kept.append(line)
        return "\n".join(kept)


def _class(op: OpDef) -> type[Description]:
    parameters = [Parameter(name, _BY_BOTH) for name in op.params[: op.n_required]]
    parameters += [Parameter(name, _BY_BOTH, default=...) for name in op.params[op.n_required :]]
    body = {
        "__doc__": _Help(), "__module__": __name__, "name": op.name,
        "__signature__": Signature(parameters),
    }  # fmt: skip
    return type(op.name, (Description,), body)


NAMES = tuple(op.name for op in OPS.values() if not op.derived and not op.external)
globals().update({name: _class(OPS[name]) for name in NAMES})

__all__ = [*HELPERS, "Value", *NAMES]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    hint = suggest(name, [*HELPERS, *NAMES])
    if name in FORMULAS or (name in OPS and OPS[name].external):
        hint = f"; a registered function is written registered({name!r}, ...)"
    raise NoSuchNameError(f"pyspec.components has no {name!r}{hint}")
