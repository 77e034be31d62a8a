"""From the model tree to the text of a model file that loads as the same model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from pyspec.errors import ModelError
from pyspec.formula import Measured
from pyspec.model.build.free import free_text
from pyspec.model.build.kinetics import scheme_name, state_name, states_of
from pyspec.model.build.measured_irf import instrument_line
from pyspec.model.build.user_functions import functions_text
from pyspec.model.model_tree import ModelTree
from pyspec.model.tree import Component, Dynamics, Par, Profile
from pyspec.model.yaml.scalars import FLAGS, key_text, number_text, quoted


def model_text(name: str, components: Sequence[Component], quantities: Sequence[Par]) -> str:
    """The model alone, with its sections ``functions`` and ``parameters``, without what moves its
    parameters."""
    return functions_text(components) + _model_lines(name, components, quantities)


def _model_lines(name: str, components: Sequence[Component], quantities: Sequence[Par]) -> str:
    head = [f"  {par.name}: {_entry(par)}" for par in quantities]
    lines = ["parameters:", *head] if head else []
    return _joined([*lines, f"{key_text(name)}:", *_lines(components)])


def retell(part: Dynamics | Profile, is_changed: bool = False) -> None:
    """Writes the YAML text of what moves a parameter anew: of dynamics the model of all times, then
    those of the sub-cycles, each once. One model that took several turns, of which one
    `is_changed`, is now several."""
    names = part.name.split(", ") if isinstance(part, Dynamics) else [part.name]
    if is_changed and isinstance(part, Dynamics) and len(set(names)) != len(names):
        names = dynamics_names(part.target, part.n_subcycles)
        part.name = ", ".join(names)
    part.text = functions_text(part.components) + _part_lines(part, names)


def _part_lines(part: Dynamics | Profile, names: Sequence[str]) -> str:
    lines = []
    for index, name in enumerate(names):
        own = [component for component in part.components if component.subcycle == index]
        lines += [f"{key_text(name)}:", *_lines(own)] if name not in names[:index] else []
    return _joined(lines)


def dynamics_names(target: str, n_subcycles: int) -> list[str]:
    """What the dynamics models of a parameter are called: no two of a model are alike."""
    turns = [f"{target}_turn_{k}" for k in range(1, n_subcycles + 1)]
    return [f"{target}_dynamics", *turns]


def profile_name(target: str) -> str:
    """What the profile model of a parameter is called."""
    return f"{target}_profile"


def write_model(path: Path, text: str) -> None:
    """Writes a model file. Raises :class:`ModelError` where that cannot be."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        why = f"cannot be written ({error.strerror}); its folder must be there"
        raise ModelError(f"{path}: {why}") from error


def whole_text(model: ModelTree) -> str:
    """A model file: the model, the models of what moves its parameters, and the section
    ``attached``."""
    parameters = model.parameters
    texts = [_model_lines(model.name, model.components, model.quantities)]
    used = list(model.components)
    attached = []
    unused = (par for par in model.quantities if par.name not in parameters)
    for par in (*parameters.values(), *unused):
        entries = []
        if par.profile is not None:
            used += par.profile.components
            texts.append(_part_lines(par.profile, [profile_name(par.name)]))
            entries.append(f"profile: {profile_name(par.name)}")
        if par.dynamics is not None:
            names = dynamics_names(par.name, par.dynamics.n_subcycles)
            used += par.dynamics.components
            texts.append(_part_lines(par.dynamics, names))
            entries.append(f"dynamics: [{', '.join(names)}]")
            if par.dynamics.n_subcycles:
                entries.append(f"frequency: {number_text(par.dynamics.frequency)}")
        if entries:
            attached.append(f"    {par.name}: {{{', '.join(entries)}}}")
    if attached:
        texts.append(_joined(["attached:", f"  {key_text(model.name)}:", *attached]))
    return functions_text(used) + "".join(texts)


def _lines(components: Iterable[Component]) -> list[str]:
    lines = []
    for component in (waiting := list(components)):
        states = states_of(component, waiting)
        if states:
            lines += _state_lines(states) if states[0] is component else []
            continue
        if isinstance(component.op.own, Measured):
            lines.append(instrument_line(component.op.own))
            continue
        named = zip(component.op.params, component.pars, strict=True)
        arguments = [(argument, par) for argument, par in named if par is not None]
        lines.append(f"  {component.op.name}:" + ("" if arguments else " {}"))
        for argument, par in arguments:
            low, high = component.op.default_bounds(argument)
            lines.append(f"    {argument}: {_entry(par, low, high)}")
    return lines


def _state_lines(states: Sequence[Component]) -> list[str]:
    """The states of one scheme: what they share, and their amplitudes by name."""
    shared = {par.argument: par for state in states for par in state.parameters[1:]}
    lines = [f"  {scheme_name(states[0])}:"]
    for component in states:
        amplitude = component.parameters[0]
        lines.append(f"    {state_name(component)}: {_entry(amplitude)}")
    for argument, par in shared.items():
        low = max(law.op.default_bounds(argument)[0] for law in states if par in law.parameters)
        lines.append(f"    {argument}: {_entry(par, low)}")
    return lines


def _entry(par: Par, low: float = -math.inf, high: float = math.inf) -> str:
    """``[value, vary]``, ``[value, vary, min, max]`` or ``["expression"]``. Bounds equal to the
    function's domain [low, high] are left out."""
    if par.free is not None:
        return free_text(par.free)
    if par.formula is not None:
        return f"[{quoted(par.formula.text)}]"
    parts = [number_text(par.value), FLAGS.get(par.scope, par.scope)]
    if (par.min, par.max) != (low, high):
        parts += [number_text(par.min), number_text(par.max)]
    return f"[{', '.join(parts)}]"


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
