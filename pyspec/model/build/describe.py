"""Models written in Python: immutable descriptions, and the way from them to components.

A description becomes the nodes that the YAML reader makes of a model file. So numbering, names,
bounds and checks are those of the loader.
"""

from __future__ import annotations

import math
from collections.abc import Mapping as Names
from collections.abc import Sequence as Items
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy.typing as npt

from pyspec.errors import ModelError, shortened
from pyspec.formula import MEASURED_IRF, instrument_text, rows
from pyspec.model.build.check import check_kernels
from pyspec.model.build.components import build_components, build_quantity
from pyspec.model.build.free import free_text
from pyspec.model.build.motion import build_dynamics, build_profile
from pyspec.model.build.parameter_entry import similar
from pyspec.model.tree import Component, Free, Par
from pyspec.model.yaml.reader import Mapping, Node, Scalar, Sequence, Source, read
from pyspec.model.yaml.scalars import FLAGS, given_number, number_text
from pyspec.model.yaml.to_yaml import dynamics_names, profile_name, retell


@dataclass(frozen=True)
class Number:
    """A value with its bounds; `scope` is "file" (free), "project" (free, shared) or "static"."""

    value: float
    low: float | None
    high: float | None
    scope: str


@dataclass(frozen=True)
class Expression:
    """A value that follows other parameters."""

    text: str


@dataclass(init=False, repr=False, unsafe_hash=True)
class Description:
    """One component with its arguments, before it has a number. Made by the classes of
    :mod:`pyspec.components`; it cannot be changed."""

    function: str
    arguments: tuple[tuple[str, Value], ...]
    name: ClassVar[str] = ""

    def __init__(self, *values: object, **named: object) -> None:
        self._describe(type(self).name, values, named)

    def _describe(
        self, function: str, values: tuple[object, ...], named: dict[str, object]
    ) -> None:
        params = rows()[function].params
        if len(values) > len(params):
            raise ModelError(
                f"{function}: takes {len(params)} values ({', '.join(params) or 'none'}), not "
                f"{len(values)}"
            )
        by_place = dict(zip(params, values, strict=False))
        for name in by_place.keys() & named.keys():
            raise ModelError(f"{function}.{name}: given twice; give it by name or by place")
        arguments = by_place | named  # the model says which are missing, or unknown
        order = [name for name in (*params, *named) if name in arguments]
        checked = tuple(
            [(n, checked_value(arguments[n], f"{function}.{n}")) for n in dict.fromkeys(order)]
        )
        self.__dict__.update(function=function, arguments=checked)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"{self.function} is a description and cannot be changed; make another, or change the "
            "model with model.set(name, ...)"
        )

    def __repr__(self) -> str:
        return f"{self.function}({', '.join(f'{n}={_text(v)}' for n, v in self.arguments)})"


class Registered(Description):
    """A component of a function that :func:`pyspec.register_function` made known."""

    def __init__(self, function: str, /, *values: object, **named: object) -> None:
        if not isinstance(function, str):
            raise ModelError(f"{shortened(function)} is no name of a function; give it as a text")
        if function not in rows():
            raise ModelError(
                f"there is no function {function!r}{similar(function, list(rows()))}; register it "
                "first with pyspec.register_function"
            )
        self._describe(function, values, named)


class Instrument(Description):
    """A measured instrument with its samples."""

    def __init__(self, time: Items[float], response: Items[float]) -> None:
        rows = {"time": _row(time, "time"), "response": _row(response, "response")}
        instrument_text(rows["time"], rows["response"], MEASURED_IRF)
        self.__dict__.update(function=MEASURED_IRF, arguments=tuple(rows.items()))


def _row(values: npt.ArrayLike, name: str) -> tuple[float, ...]:
    place = f"{MEASURED_IRF}.{name}"
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise ModelError(f"{place}: is {shortened(values)}; give a list or an array of numbers")
    return tuple([_real(value, place) for value in values])


@dataclass(frozen=True)
class Moving:
    """A value that moves in time: laws of all times, then those that take turns."""

    base: Number | Profiled
    laws: tuple[tuple[Description, ...], ...]
    frequency: float


@dataclass(frozen=True)
class Profiled:
    """A value that differs along the auxiliary axis."""

    base: Number
    functions: tuple[Description, ...]


#: What a component keeps of an argument; of a measured instrument its samples.
Value: TypeAlias = Number | Expression | Moving | Profiled | Free | tuple[float, ...]


def checked_value(value: object, place: str) -> Value:
    """What a person may write for a value, as one of the five kinds. Raises ModelError."""
    if isinstance(value, (Number, Expression, Moving, Profiled, Free)):
        return value
    if isinstance(value, (tuple, list)):
        if len(value) != 3:
            raise ModelError(
                f"{place}: {shortened(value)} has {len(value)} entries; write (value, min, max), "
                "with None for a bound that is open"
            )
        return number(*value, scope="file", place=place)
    if isinstance(value, str):
        raise ModelError(f"{place}: {value!r} is text; write expr({value!r}) for an expression")
    return number(value, None, None, scope="file", place=place)


def number(value: object, low: object, high: object, *, scope: str, place: str) -> Number:
    """A :class:`Number` of real numbers; the model checks them against each other. Raises
    ModelError."""
    ends = [
        None if end is None else _real(end, f"{place}: {label}")
        for label, end in (("min", low), ("max", high))
    ]
    return Number(_real(value, f"{place}: the value"), ends[0], ends[1], scope)


def _real(value: object, label: str) -> float:
    number = given_number(value)
    if math.isnan(number):
        raise ModelError(
            f"{label} is {shortened(value)}, not a number; write a number, or a tuple "
            "(value, min, max)"
        )
    return number


@dataclass(frozen=True)
class _Written(Source):
    """A model written in Python: errors call it by its name, without a line."""

    def at(self, line: int) -> str:
        return self.name


def build_described(
    name: str, components: Items[Description], quantities: Names[str, object]
) -> tuple[list[Component], list[Par]]:
    """The components and quantities of a description, with what moves them.

    Raises :class:`ModelError`, starting with the name of the model.
    """
    source = _Written(name, "")
    for component in components:
        if not isinstance(component, Description):
            raise ModelError(
                f"{name}: {shortened(component)} is no component; write components of "
                "pyspec.components, such as Offset(10)"
            )
    functions = rows()
    domains = {functions[component.function].domain for component in components}
    domain = "TIME" if domains == {"TIME"} else "ENERGY"
    built = build_components(source, _body(components), domain, "")
    if domain == "TIME":
        check_kernels(built)
    _attach(source, components, built, ("dynamics", "profile") if domain == "ENERGY" else ())
    own = []
    for key, value in quantities.items():
        checked = checked_value(value, f"{name}: {key}")
        par = build_quantity(source, Scalar(str(key), True, 0), entry(checked))
        _move(source, par, checked, ("dynamics",))
        own.append(par)
    return built, own


def _body(components: Items[Description]) -> Mapping:
    items = []
    for component in components:
        pairs = [(Scalar(name, True, 0), entry(value)) for name, value in component.arguments]
        items.append((Scalar(component.function, True, 0), Mapping(tuple(pairs), 0)))
    return Mapping(tuple(items), 0)


def entry(value: Value) -> Node:
    """The node that the YAML reader would make of a value."""
    if isinstance(value, (Moving, Profiled)):
        return entry(value.base)
    if isinstance(value, Free):
        node = read(Source("", free_text(value)))
        assert node is not None
        return node
    if isinstance(value, tuple):
        return Sequence(tuple(Scalar(repr(number), True, 0) for number in value), 0)
    if isinstance(value, Expression):
        return Sequence((Scalar(value.text, False, 0),), 0)
    words = [number_text(value.value), FLAGS.get(value.scope, value.scope)]
    if value.low is not None or value.high is not None:
        low = -math.inf if value.low is None else value.low
        high = math.inf if value.high is None else value.high
        words += [number_text(low), number_text(high)]
    return Sequence(tuple(Scalar(word, True, 0) for word in words), 0)


def _attach(
    source: Source, described: Items[Description], built: Items[Component], may: tuple[str, ...]
) -> None:
    for description, component in zip(described, built, strict=True):
        by_name = {par.argument: par for par in component.parameters}
        for argument, value in description.arguments:
            if not isinstance(value, tuple):
                _move(source, by_name[argument], value, may)


def _move(source: Source, par: Par, value: Value, may: tuple[str, ...]) -> None:
    """Gives a parameter the profile and the dynamics of its description."""
    profiled = value.base if isinstance(value, Moving) else value
    if isinstance(profiled, Profiled):
        if "profile" not in may:
            raise ModelError(f"{par.place}: cannot have a profile; give one to a component's value")
        key = Scalar(profile_name(par.name), True, 0)
        par.profile = build_profile(source, (key, _body(profiled.functions)), par)
        _attach(source, profiled.functions, par.profile.components, ("dynamics",))
        retell(par.profile)
    if isinstance(value, Moving):
        if "dynamics" not in may:
            raise ModelError(
                f"{par.place}: belongs to a time law and cannot move; add the law to those of the "
                "parameter that moves"
            )
        keys = [Scalar(n, True, 0) for n in dynamics_names(par.name, len(value.laws) - 1)]
        entries = list(zip(keys, map(_body, value.laws), strict=True))
        par.dynamics = build_dynamics(source, entries, par, value.frequency)
        laws = [law for turn in value.laws for law in turn]
        _attach(source, laws, par.dynamics.components, ())
        retell(par.dynamics)


def _text(value: Value) -> str:
    if isinstance(value, Free):
        return f"free({value.axis!r})"
    if isinstance(value, tuple):
        return f"[{value[0]:g}, ..., {value[-1]:g}]"
    if isinstance(value, Expression):
        return f"expr({value.text!r})"
    if isinstance(value, Moving):
        return f"moving({_text(value.base)}, {', '.join(str(list(turn)) for turn in value.laws)})"
    if isinstance(value, Profiled):
        return f"profiled({_text(value.base)}, {list(value.functions)})"
    bounds = (value.low, value.high)
    shown = [f"{value.value:g}", *(() if bounds == (None, None) else map(str, bounds))]
    kind = {"file": "", "static": "fixed", "project": "shared"}[value.scope]
    return shown[0] if not kind and len(shown) == 1 else f"{kind}({', '.join(shown)})"
