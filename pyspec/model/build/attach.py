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
from pyspec.model.build.parameter_entry import similar
from pyspec.model.model import Model
from pyspec.model.yaml.reader import Mapping, Node, Scalar, Sequence, Source
from pyspec.model.yaml.scalars import read_number

#: The name of the section.
ATTACHED = "attached"

_KEYS = ("dynamics", "frequency", "profile")
_EXAMPLE = "'GLP_01_x0: {dynamics: [law_name]}'"


def read_attached(file: Source, section: Entry | None, models: list[str]) -> dict[str, Mapping]:
    """What the section says, by model. Raises :class:`ModelError` for a model that is not there."""
    found: dict[str, Mapping] = {}
    for key, node in section[1].items if section is not None else ():
        place = f"{file.at(key.line)}: {ATTACHED}.{key.text}"
        if key.text not in models:
            raise ModelError(f"{place}: there is no model of this name{similar(key.text, models)}")
        if key.text in found:
            raise ModelError(f"{place}: given twice; write both in one place")
        if not isinstance(node, Mapping):
            raise ModelError(f"{place}: holds parameters by name, such as {_EXAMPLE}")
        found[key.text] = node
    return found


def attach(file: Source, model: Model, body: Mapping, find: Callable[[str], Entry]) -> None:
    """Adds to `model` what the section says of it; `find` gives a model of the file by name.

    Raises :class:`ModelError`, starting with file and line.
    """
    for key, node in body.items:
        place = f"{file.at(key.line)}: {ATTACHED}.{model.name}.{key.text}"
        if not isinstance(node, Mapping):
            raise ModelError(f"{place}: write what moves the parameter, such as {_EXAMPLE}")
        given = {name.text: value for name, value in node.items}
        for name in given:
            if name not in _KEYS:
                raise ModelError(
                    f"{place}: {name!r} is not known here{similar(name, list(_KEYS))}; there are "
                    f"{', '.join(_KEYS)}"
                )
        if "profile" in given:
            names = _words(given["profile"], place, "profile")
            model.add_profile(key.text, build_profile(file, find(names[0]), key.text))
        if "dynamics" in given:
            laws = [find(name) for name in _words(given["dynamics"], place, "dynamics")]
            frequency = -1.0
            if "frequency" in given:
                number = read_number(given["frequency"])
                if number is None:
                    raise ModelError(f"{place}: frequency must be a number")
                frequency = number
            model.add_dynamics(key.text, build_dynamics(file, laws, key.text, frequency))


def _words(node: Node, place: str, what: str) -> list[str]:
    items = node.items if isinstance(node, Sequence) else (node,)
    words = [item.text for item in items if isinstance(item, Scalar) and item.text]
    if not words or len(words) != len(items) or (what == "profile" and len(words) > 1):
        raise ModelError(f"{place}: {what} must be the name of a model, or for dynamics a list")
    return words
