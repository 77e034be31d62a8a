"""The section ``attached`` of a model file: the dynamics and profiles that a model brings along.

attached:
  model_name:
    GLP_01_x0: {dynamics: [at_all_times, first_turn, second_turn], frequency: 0.5}
    GLP_01_A: {profile: depth}
"""

from __future__ import annotations

from collections.abc import Callable

from pyspec.errors import ModelError
from pyspec.model.build.motion import Entry, build_dynamics, build_profile
from pyspec.model.build.parameter_entry import entries_of
from pyspec.model.model import Model
from pyspec.model.yaml.reader import Mapping, Node, Scalar, Sequence, Source
from pyspec.model.yaml.scalars import read_number

#: The name of the section.
ATTACHED = "attached"

_KEYS = ("dynamics", "frequency", "profile")
_EXAMPLE = "'GLP_01_x0: {dynamics: [law_name]}'"


def read_attached(file: Source, section: Entry | None, models: list[str]) -> dict[str, Mapping]:
    """What the section says, by model. Raises :class:`ModelError` for a model that is not there."""
    bodies: dict[str, Mapping] = {}
    if section is None:
        return bodies
    entries = entries_of(file, section[1], ATTACHED, models, "there is no model")
    for name, (key, node) in entries.items():
        if not isinstance(node, Mapping):
            place = f"{file.at(key.line)}: {ATTACHED}.{name}"
            raise ModelError(f"{place}: holds parameters by name, such as {_EXAMPLE}")
        bodies[name] = node
    return bodies


def attach(file: Source, model: Model, body: Mapping, find: Callable[[str], Entry]) -> None:
    """Adds to `model` what the section says of it; `find` gives a model of the file by name.

    Raises :class:`ModelError`, starting with file and line.
    """
    for key, node in body.items:
        place = f"{file.at(key.line)}: {ATTACHED}.{model.name}.{key.text}"
        if not isinstance(node, Mapping):
            raise ModelError(f"{place}: write what moves the parameter, such as {_EXAMPLE}")
        owner = f"{ATTACHED}.{model.name}.{key.text}"
        entries = entries_of(file, node, owner, _KEYS, "what is attached has no")
        if "profile" in entries:
            names = _words(entries["profile"][1], place, "profile")
            model.add_profile(key.text, build_profile(file, find(names[0]), key.text))
        if "dynamics" in entries:
            laws = [find(name) for name in _words(entries["dynamics"][1], place, "dynamics")]
            frequency = read_number(entries["frequency"][1]) if "frequency" in entries else -1.0
            if frequency is None:
                raise ModelError(f"{place}: frequency must be a number")
            model.add_dynamics(key.text, build_dynamics(file, laws, key.text, frequency))


def _words(node: Node, place: str, kind: str) -> list[str]:
    items = node.items if isinstance(node, Sequence) else (node,)
    words = [item.text for item in items if isinstance(item, Scalar) and item.text]
    if not words or len(words) != len(items) or (kind == "profile" and len(words) > 1):
        raise ModelError(f"{place}: {kind} must be the name of a model, or for dynamics a list")
    return words
