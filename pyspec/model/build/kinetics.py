"""The section ``kinetics`` of a model file: kinetic schemes, whose states are laws of time.

kinetics:
  cascade:
    S2 -> S1: k1                  # a step and the name of its rate
    S1 -> S0: k2
    S0: k3                        # a decay to what is not seen
    S1 + S1 -> S1: k4             # two that meet, k4 times the population squared
    start: {S2: 1, S1: share}     # populations at the onset; without it the first state has 1
model_name:
  cascade:
    k1: [5, True, 0.1, 100]       # the rates, in reciprocal units of time
    ...
    t0: [0, True]
    spectra: {free: energy}       # a spectrum for every state; or by name, S1: {free: energy}
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from pyspec.errors import ModelError
from pyspec.formula import Scheme, State, op_of, scheme_of
from pyspec.formula.definitions.scheme import ALL, AND, HEIGHT, ONSET, check_name, check_scheme
from pyspec.model.build.free import check_free
from pyspec.model.build.parameter_entry import entries_of, fill
from pyspec.model.tree import Component, Par
from pyspec.model.yaml.reader import Entry, Mapping, Node, Scalar, Source
from pyspec.model.yaml.scalars import read_number

#: The name of the section, and what a scheme says besides its steps.
KINETICS, START = "kinetics", "start"

_EXAMPLE = "'cascade: {A -> B: k1, B: k2}'"


def read_schemes(file: Source, section: Entry | None) -> dict[str, Scheme]:
    """The schemes of a file by name. Raises :class:`ModelError`, starting with file and line."""
    if section is None:
        return {}
    key, body = section
    if not isinstance(body, Mapping):
        raise ModelError(
            f"{file.at(key.line)}: {KINETICS}: this section holds schemes by name, such as "
            f"{_EXAMPLE}"
        )
    schemes: dict[str, Scheme] = {}
    for name, (word, node) in entries_of(file, body, KINETICS).items():
        place = f"{file.at(word.line)}: {KINETICS}.{name}"
        check_name(name, place)
        if name in file.functions:
            raise ModelError(f"{place}: this name is taken; choose another name")
        if not isinstance(node, Mapping):
            raise ModelError(f"{place}: holds steps and their rates, such as {_EXAMPLE}")
        schemes[name] = _scheme(file, name, node, place)
    return schemes


def _scheme(file: Source, name: str, node: Mapping, place: str) -> Scheme:
    steps: list[tuple[str, str, str]] = []
    start: list[tuple[str, str]] = []
    for key, value in node.items:
        if key.text == START:
            if not isinstance(value, Mapping):
                raise ModelError(f"{place}: start holds populations by state, such as {{A: 1}}")
            entries = entries_of(file, value, f"{KINETICS}.{name}.{START}")
            start = [
                (state, _word(population, place)) for state, (_, population) in entries.items()
            ]
            continue
        at = f"{file.at(key.line)}: {KINETICS}.{name}"
        begin, _, end = (part.strip() for part in key.text.partition("->"))
        begin, end = (_side(side, key.text, at) for side in (begin, end))
        rate = _word(value, at)
        if read_number(value) is not None:
            raise ModelError(
                f"{at}: the rate of {key.text!r} is {rate}; name it here, such as k1, and give "
                "its value where the model uses the scheme"
            )
        steps.append((begin, end, rate))
    if start and all(value == "0" for _, value in start):
        raise ModelError(
            f"{place}: start populates no state; give one a number above 0, or a name to fit it"
        )
    scheme = Scheme(name, tuple(steps), tuple(start or [(steps[0][0], "1")] if steps else []))
    check_scheme(scheme, place)
    return scheme


def _side(text: str, step: str, place: str) -> str:
    """The states on one side of a step, in the form that a scheme has."""
    states = [state.strip() for state in text.split("+")] if text else []
    if not all(states):
        raise ModelError(
            f"{place}: {step!r}: a state is missing beside '+'; a step of two is written "
            "'A + B -> C'"
        )
    return AND.join(states)


def _word(node: Node, place: str) -> str:
    number = read_number(node)
    if number is not None:
        if not (math.isfinite(number) and number >= 0):
            raise ModelError(
                f"{place}: a population is not below 0, and finite; this is {number:g}"
            )
        return repr(float(number)).removesuffix(".0")
    if not isinstance(node, Scalar) or not node.text.isidentifier():
        raise ModelError(f"{place}: a rate or population is a name, such as k1")
    return node.text


def build_states(
    file: Source, key: Scalar, node: Node, scheme: Scheme, prefix: str, number: int
) -> list[Component]:
    """The laws of all states of a scheme that have an amplitude; they share rates and onset.

    Raises :class:`ModelError`, starting with file, line and parameter.
    """
    name = f"{prefix}{scheme.name}" + (f"_{number:02d}" if number > 1 else "")
    where = file.at(key.line)
    needed = f"{', '.join(scheme.parameters)}, {ONSET}"
    if not isinstance(node, Mapping):
        raise ModelError(f"{where}: {name}: has no parameters; it needs {needed}, and '{ALL}'")
    names = [*scheme.parameters, ONSET, *scheme.states, ALL]
    entries = entries_of(file, node, name, names, f"{scheme.name} has no")
    shared: dict[str, Par] = {}
    for parameter in (*scheme.parameters, ONSET):
        if parameter not in entries:
            raise ModelError(
                f"{where}: {name}: {parameter!r} is missing; {scheme.name} needs {needed}"
            )
        shared[parameter] = _par(file, name, parameter, entries[parameter])
    components = []
    for state in scheme.states:
        if state not in entries and ALL not in entries:
            continue
        op = op_of(scheme.text(state))
        height = _par(file, f"{name}_{state}", HEIGHT, entries.get(state, entries.get(ALL)))
        pars = tuple((shared | {HEIGHT: height})[param] for param in op.params)
        for par in pars:
            check_free(par, op, bool(prefix))
        components.append(Component(f"{name}_{state}", scheme.text(state), pars, where))
    if not components:
        raise ModelError(
            f"{where}: {name}: no state has an amplitude; write '{ALL}: {{free: energy}}', or name "
            f"states of {', '.join(scheme.states)}"
        )
    used = {par.argument for component in components for par in component.parameters}
    idle = next((parameter for parameter in scheme.parameters if parameter not in used), None)
    if idle is not None:
        raise ModelError(
            f"{shared[idle].place}: no state that has an amplitude depends on {idle}; give a state "
            f"behind it one, or remove the step from {KINETICS}"
        )
    return components


def _par(file: Source, owner: str, argument: str, entry: Entry | None) -> Par:
    """One parameter; rates are not below 0."""
    assert entry is not None
    par = Par(f"{owner}_{argument}", argument, where=file.at(entry[0].line))
    is_rate = argument not in (HEIGHT, ONSET)
    fill(par, entry[1], 0.0 if is_rate else -math.inf, math.inf)
    return par


# ---- and back to text --------------------------------------------------------------------------


def states_of(component: Component, components: Sequence[Component]) -> list[Component]:
    """The states of the same scheme entry, in file order; none for a component that is no state of
    a scheme."""
    scheme = scheme_of(component.op)
    if scheme is None:
        return []
    onset = component.parameters[-1]
    same = [other for other in components if scheme_of(other.op) == scheme]
    return [other for other in same if other.parameters[-1] is onset]


def schemes_in(components: Sequence[Component]) -> Iterator[tuple[Scheme, list[Component]]]:
    """The schemes among components, each with its states."""
    for first in components:
        scheme, states = scheme_of(first.op), states_of(first, components)
        if scheme is not None and states[0] is first:
            yield scheme, states


def state_name(component: Component) -> str:
    """Which state of its scheme a component is; its own name for any other."""
    own = component.op.own
    return own.state if isinstance(own, State) else component.name


def scheme_name(component: Component) -> str:
    """The scheme that a component belongs to; "" for none."""
    scheme = scheme_of(component.op)
    return "" if scheme is None else scheme.name


def schemes_text(components: Iterable[Component]) -> str:
    """The section ``kinetics`` that these components need; "" for none."""
    schemes = {scheme.name: scheme for c in components if (scheme := scheme_of(c.op)) is not None}
    lines = [f"{KINETICS}:"]
    for scheme in schemes.values():
        lines.append(f"  {scheme.name}:")
        lines += [f"    {a} -> {b}: {k}" if b else f"    {a}: {k}" for a, b, k in scheme.steps]
        start = ", ".join(f"{state}: {value}" for state, value in scheme.start)
        lines.append(f"    {START}: {{{start}}}")
    return "".join(f"{line}\n" for line in lines) if schemes else ""
