"""Dynamics and profiles of one parameter, from the nodes of their models."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from pyspec.errors import ModelError
from pyspec.model.build.check import check_kernels, localise
from pyspec.model.build.components import build_components
from pyspec.model.build.measured_irf import reads_file
from pyspec.model.build.user_functions import functions_text
from pyspec.model.tree import Component, Dynamics, Par, Profile
from pyspec.model.yaml.reader import Mapping, Scalar, Source
from pyspec.model.yaml.scalars import given_number
from pyspec.model.yaml.to_yaml import retell

#: One model of a file: its name and what stands below it.
Entry = tuple[Scalar, Mapping]


def build_dynamics(
    file: Source, entries: Sequence[Entry], target: Par | str, frequency: float
) -> Dynamics:
    """The dynamics of `target` from one or more models: the first acts at all times, the others
    take turns. Raises :class:`ModelError`."""
    names = [key.text for key, _ in entries]
    where = file.at(entries[0][0].line)
    if not math.isfinite(given_number(frequency)) or frequency == 0.0:
        raise ModelError(
            f"{where}: frequency is {frequency!r}; give cycles per unit of the time axis, or -1 "
            "for none"
        )
    if len(names) > 1 and frequency < 0.0:
        raise ModelError(
            f"{where}: the sub-cycles {', '.join(names[1:])} need a frequency; give it in "
            "cycles per unit of the time axis, such as frequency=0.5"
        )
    if len(names) == 1 and frequency > 0.0:
        raise ModelError(
            f"{where}: a frequency without sub-cycles; name the model for all times first, then "
            f"those that take turns, such as ['none', {names[0]!r}], or leave frequency out"
        )
    target_name = target if isinstance(target, str) else target.name
    seen: Counter[str] = Counter()
    components: list[Component] = []
    for index, (_, body) in enumerate(entries):
        components += build_components(file, body, "TIME", f"{target_name}_", seen, index)
    check_kernels(components)
    texts = [file.entry(key, body) for key, body in entries]
    dynamics = Dynamics(
        target=target_name,
        name=", ".join(names),
        components=components,
        frequency=frequency if len(names) > 1 else -1.0,
        n_subcycles=len(names) - 1,
        text=functions_text(components) + "".join(dict.fromkeys(texts)),
        where=where,
    )
    localise(dynamics)
    if any(reads_file(body) for _, body in entries):
        retell(dynamics)
    return dynamics


def build_profile(file: Source, entry: Entry, target: Par | str) -> Profile:
    """The profile of `target` from its model. Raises :class:`ModelError`."""
    key, body = entry
    target_name = target if isinstance(target, str) else target.name
    components = build_components(file, body, "AUX", f"{target_name}_")
    profile = Profile(
        target=target_name,
        name=key.text,
        components=components,
        text=functions_text(components) + file.entry(key, body),
        where=file.at(key.line),
    )
    localise(profile)
    return profile
