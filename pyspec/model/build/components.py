"""From the nodes of one model to its components: names, parameters, bounds, domains."""

from __future__ import annotations

import math
from collections import Counter
from keyword import iskeyword

import numpy as np

from pyspec._library import OpDef
from pyspec.errors import ModelError
from pyspec.formula import CONSTANTS, FUNCTIONS, MEASURED_IRF, Definition, fault_of, rows
from pyspec.functions.domain import unmet
from pyspec.model.build.free import check_free
from pyspec.model.build.kinetics import build_states
from pyspec.model.build.measured_irf import read_instrument
from pyspec.model.build.parameter_entry import entries_of, fill, similar
from pyspec.model.tree import Component, Par, refuse_many
from pyspec.model.yaml.reader import Mapping, Node, Scalar, Source
from pyspec.model.yaml.scalars import is_null

#: Words that lmfit reserves beside the keywords of Python.
_RESERVED = ("print", "exec", "eval", "execfile", "__import__", "__package__")

#: What a function of another domain is, and where it belongs.
_ELSEWHERE = {
    "ENERGY": "is a function of energy; it belongs in an energy model",
    "TIME": "is a time law; put it in a dynamics model and add that to a parameter",
    "KERNEL": "is a kernel; it belongs in a dynamics model, above the laws that it convolves",
    "AUX": "is a profile function; it belongs in a profile of a parameter",
}


def build_components(
    file: Source,
    body: Mapping,
    domain: str,
    prefix: str,
    seen: Counter[str] | None = None,
    subcycle: int = 0,
) -> list[Component]:
    """The components of one model in file order; `prefix` starts all names.

    `seen` counts the functions of the models before, where several share their numbering.
    """
    seen = Counter() if seen is None else seen
    refuse_many(len(body.items), file.at(body.line))
    components = []
    for key, node in body.items:
        scheme = file.schemes.get(key.text)
        if scheme is not None and domain == "TIME":
            seen[key.text] += 1
            states = build_states(file, key, node, scheme, prefix, seen[key.text])
            for state in states:
                state.subcycle = subcycle
            components += states
            continue
        op = _op(file, key, domain)
        seen[op.name] += 1
        component = _component(file, key, node, op, prefix + short_name(op, seen[op.name]))
        for par in component.parameters:
            check_free(par, op, bool(prefix))
        component.subcycle = subcycle
        components.append(component)
    return components


def short_name(op: OpDef, number: int) -> str:
    """What the component of that number with this function is called in its model."""
    return f"{op.name}_{number:02d}" if op.numbered or number > 1 else op.name


def build_quantity(file: Source, key: Scalar, spec: Node) -> Par:
    """A parameter of its own, from the section ``parameters``.

    Raises :class:`ModelError` for a name that an expression could not write.
    """
    place = f"{file.at(key.line)}: {key.text}"
    if not key.text.isidentifier() or not key.text.isascii():
        raise ModelError(
            f"{place}: {key.text!r} cannot be named in an expression; use letters, digits and '_'"
        )
    if iskeyword(key.text) or key.text in _RESERVED:
        raise ModelError(f"{place}: {key.text!r} is a word of Python; choose another name")
    if key.text in CONSTANTS or key.text in FUNCTIONS:
        raise ModelError(f"{place}: {key.text!r} has a meaning in expressions; choose another name")
    par = Par(key.text, key.text, where=file.at(key.line))
    fill(par, spec, -math.inf, math.inf)
    if par.free is not None:
        raise ModelError(
            f"{place}: a quantity is one number; an amplitude of a component can be free"
        )
    return par


def _op(file: Source, key: Scalar, domain: str) -> OpDef:
    place = f"{file.at(key.line)}: {key.text}"
    there = {**rows(), **file.functions}
    op = there.get(key.text)
    if key.text in file.schemes:
        kind = {"ENERGY": "an energy model", "AUX": "a profile"}[domain]
        raise ModelError(
            f"{place}: is a kinetic scheme, a law of time, and cannot stand in {kind}; put it in a "
            "model of laws"
        )
    choices = [row.name for row in there.values() if row.domain == domain and not row.derived]
    choices += file.schemes if domain == "TIME" else ()
    if op is not None and op.derived:
        law, irf = op.name.rsplit("_", 1)
        raise ModelError(
            f"{place}: {op.name} is what {irf} makes of {law}; write {irf} above {law}"
        )
    if op is None:
        named = [row.name for row in there.values() if not row.derived]
        near = similar(key.text, choices) or similar(key.text, named)
        own = "" if near else "; register a Python function of your own first (register_function)"
        raise ModelError(
            f"{place}: unknown component {key.text!r}{near} (there are {', '.join(choices)}){own}"
        )
    if op.domain != domain:
        kind = {"ENERGY": "an energy model", "TIME": "a dynamics model", "AUX": "a profile"}[domain]
        elsewhere = _ELSEWHERE["KERNEL" if op.kind in ("KERNEL", "IRF") else op.domain]
        raise ModelError(f"{place}: {op.name} {elsewhere}; {kind} takes {', '.join(choices)}")
    return op


def _component(file: Source, key: Scalar, node: Node, op: OpDef, name: str) -> Component:
    where = file.at(key.line)
    needed = ", ".join(op.params[: op.n_required])
    if op.name == MEASURED_IRF:
        return Component(name, read_instrument(file, key, node), (), where)
    if not op.params and (is_null(node) or (isinstance(node, Mapping) and not node.items)):
        return Component(name, _identity(op), (), where)
    if not isinstance(node, Mapping):
        problem = "has no parameters" if is_null(node) else "must hold parameters by name"
        example = f"'{op.params[0]}: [value, True]'" if op.params else "nothing"
        remedy = f"; {op.name} needs {needed}; write {example} in a line below"
        if isinstance(node, Scalar) and ":" in node.text:
            remedy = "; put a space after each colon"
        raise ModelError(f"{where}: {name}: {problem}{remedy}")
    pars: dict[str, Par] = {}
    entries = entries_of(file, node, name, op.params, f"{op.name} has no parameter")
    for word, (par_key, spec) in entries.items():
        pars[word] = Par(f"{name}_{word}", word, where=file.at(par_key.line))
        fill(pars[word], spec, *op.default_bounds(word))
    missing = [param for param in op.params[: op.n_required] if param not in pars]
    if missing:
        raise ModelError(
            f"{where}: {name}: the parameter {missing[0]!r} is missing; {op.name} needs {needed}"
        )
    pars_in_order = tuple(pars.get(param) for param in op.params)
    component = Component(name, _identity(op), pars_in_order, where)
    check_domain(component)
    return component


def _identity(op: OpDef) -> str:
    """What a component keeps of its function: the name, or of a formula its definition."""
    return op.name if op.own is None else op.own.text


def check_domain(component: Component) -> None:
    """Start values must lie where the function is defined, as far as they are numbers. A kernel by
    formula has an integral there, and its declarations agree with the formula."""
    op = component.op
    values = [math.nan if par is None or par.formula else par.value for par in component.pars]
    for guard, other in unmet(op, values):  # an expression cannot be judged yet
        par = component.pars[guard.param]
        assert par is not None
        limit = f"{op.params[int(guard.other)]} = {other:g}" if guard.relative else f"{other:g}"
        raise ModelError(
            f"{par.place}: the value {par.value:g} is outside of the function's domain; "
            f"{op.name} needs {par.argument} {guard.comparison} {limit}"
        )
    if op.kind != "KERNEL" or not isinstance(op.own, Definition):
        return
    fault = fault_of(op.own, values) if np.isfinite(values).all() else ""
    if fault:
        shown = ", ".join(f"{par.argument} = {par.value:g}" for par in component.parameters)
        raise ModelError(f"{component.where}: {component.name}: with {shown}: {fault}")
