"""From a model file to models and dynamics.

model_name:
  GLP:                          # a function; it may repeat
    A: [20.0, True, 5, 60]      # value, vary, min, max
    x0: [84.0, False]           # value, vary
    F: ["GLP_01_F"]             # follows an expression
parameters:                     # quantities of their own, free or derived
  area: ["GLP_01_A * GLP_01_F"]
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from pyspec._library import OPS, OpDef
from pyspec.errors import ModelError
from pyspec.model.build import build_components, build_quantity, similar
from pyspec.model.check import check_kernels, localise
from pyspec.model.model import Model
from pyspec.model.reader import Mapping, Node, Scalar, Source, open_source, read
from pyspec.model.scalars import is_null
from pyspec.model.tree import Component, Dynamics, Par, Profile

#: The section of quantities that belong to no component.
QUANTITIES = "parameters"

#: One model of a file: its name and what stands below it.
Entry = tuple[Scalar, Mapping]


def load_models(source: str | Path, names: str | Iterable[str] | None = None) -> dict[str, Model]:
    """The energy models of a file, by name, in file order.

    Parameters
    ----------
    source : path of a YAML file, or YAML text
    names : which models; None for all whose functions are not time laws alone (those are for
        :func:`load_dynamics`)

    Raises :class:`ModelError`, starting with file, line and parameter, for everything that is
    not as it should be.
    """
    file = open_source(source)
    entries, quantities = _split(file)
    if names is not None:
        wanted = [names] if isinstance(names, str) else list(names)
        chosen = [_find(file, entries, name) for name in wanted]
    else:
        chosen = [entry for entry in entries.values() if not _only_laws(entry[1])]
        if not chosen:
            raise ModelError(
                f"{file.name}: holds time laws only; load them with load_dynamics, or add an "
                "energy model"
            )
    return {key.text: _model(file, key, body, entries, quantities) for key, body in chosen}


def load_model(source: str | Path, name: str | None = None) -> Model:
    """One energy model of a file; `name` may be left out where the file has only one."""
    if name is not None:
        return load_models(source, name)[name]
    models = load_models(source)
    if len(models) > 1:
        raise ModelError(
            f"{open_source(source).name}: has the models {', '.join(models)}; say which: "
            f"load_model(path, {next(iter(models))!r})"
        )
    return next(iter(models.values()))


def load_dynamics(
    source: str | Path,
    name: str | Iterable[str],
    target: Par | str,
    frequency: float = -1.0,
) -> Dynamics:
    """A dynamics model of a file, for the parameter `target` (a Par or its full name).

    Its parameters are called after the target: ``GLP_01_x0_expFun_01_tau``. Its expressions
    may write ``expFun_01_A`` for its own parameters.

    A list of names makes sub-cycles: the first model acts at all times, the others take turns
    at `frequency` (whole cycles, in reciprocal units of the time axis). Their numbering runs
    on from one to the next.

    Raises :class:`ModelError` as :func:`load_models` does.
    """
    file = open_source(source)
    names = [name] if isinstance(name, str) else list(name)
    entries, _ = _split(file)
    found = [_find(file, entries, one) for one in names]
    if not found:
        raise ModelError(f"{file.name}: no dynamics model is named; name one, or a list of them")
    _check_frequency(frequency, names, file.at(found[0][0].line))
    target_name = target if isinstance(target, str) else target.name
    seen: Counter[str] = Counter()
    components: list[Component] = []
    for index, (_, body) in enumerate(found):
        components += build_components(file, body, "TIME", f"{target_name}_", seen, index)
    check_kernels(components)
    texts = [file.lines(key.line, _end(body)) for key, body in found]
    dynamics = Dynamics(
        target=target_name,
        name=", ".join(names),
        components=components,
        frequency=frequency if len(names) > 1 else -1.0,
        n_subcycles=len(names) - 1,
        text="".join(dict.fromkeys(texts)),
        where=file.at(found[0][0].line),
    )
    localise(dynamics)
    return dynamics


def _check_frequency(frequency: float, names: list[str], place: str) -> None:
    is_number = isinstance(frequency, (int, float)) and not isinstance(frequency, bool)
    if not is_number or not math.isfinite(frequency) or frequency == 0.0:
        raise ModelError(
            f"{place}: frequency is {frequency!r}; give cycles per unit of the time axis, or -1 "
            "for none"
        )
    if len(names) > 1 and frequency < 0.0:
        raise ModelError(
            f"{place}: the sub-cycles {', '.join(names[1:])} need a frequency; give it in "
            "cycles per unit of the time axis, such as frequency=0.5"
        )
    if len(names) == 1 and frequency > 0.0:
        raise ModelError(
            f"{place}: a frequency without sub-cycles; name the model for all times first, then "
            f"those that take turns, such as ['none', {names[0]!r}], or leave frequency out"
        )


def load_profile(source: str | Path, name: str, target: Par | str) -> Profile:
    """A profile model of a file, for the parameter `target` (a Par or its full name).

    Its parameters are called after the target: ``GLP_01_x0_pLinear_01_m``.

    Raises :class:`ModelError` as :func:`load_models` does.
    """
    file = open_source(source)
    key, body = _find(file, _split(file)[0], name)
    target_name = target if isinstance(target, str) else target.name
    profile = Profile(
        target=target_name,
        name=key.text,
        components=build_components(file, body, "AUX", f"{target_name}_"),
        text=file.lines(key.line, _end(body)),
        where=file.at(key.line),
    )
    localise(profile)
    return profile


def load_time_model(source: str | Path, name: str) -> Model:
    """A model of time laws alone: a value for each time (TIME_1D). Quantities of the section
    ``parameters`` are its parameters too."""
    file = open_source(source)
    entries, quantities = _split(file)
    key, body = _find(file, entries, name)
    model = _model(file, key, body, entries, quantities, "TIME")
    check_kernels(model.components)
    return model


def _split(file: Source) -> tuple[dict[str, Entry], Entry | None]:
    """The models of a file, and its section ``parameters``."""
    entries = _entries(file)
    quantities = entries.pop(QUANTITIES, None)
    if not entries:
        raise ModelError(f"{file.at(1)}: there is no model; write 'model_name:' and its components")
    return entries, quantities


def _quantities(file: Source, body: Mapping, own: set[str], elsewhere: set[str]) -> tuple[Par, ...]:
    """The quantities of a file that a model with the parameters `own` can have: a derived one
    that refers to a parameter of another model of the file (`elsewhere`) is left out."""
    pars: dict[str, Par] = {}
    for key, spec in body.items:
        par = build_quantity(file, key, spec)
        if key.text in pars:
            raise ModelError(
                f"{par.place}: given twice, first at {pars[key.text].where}; remove one"
            )
        if key.text in own:
            raise ModelError(
                f"{par.place}: {key.text} is a parameter of the model already; choose another name"
            )
        pars[key.text] = par
    foreign = elsewhere - own
    while True:
        missing = {
            name
            for name, par in pars.items()
            if par.formula is not None and not foreign.isdisjoint(par.formula.names)
        }
        if not missing:
            return tuple(pars.values())
        foreign |= missing
        pars = {name: par for name, par in pars.items() if name not in missing}


def _kept_text(file: Source, quantities: Entry, kept: set[str]) -> str:
    """The section ``parameters`` with the entries that a model has."""
    head, body = quantities
    ends = [key.line for key, _ in body.items[1:]] + [_end(body)]
    entries = [
        file.lines(key.line, end)
        for (key, _), end in zip(body.items, ends, strict=True)
        if key.text in kept and key.line > head.line
    ]
    if kept and not entries:  # written in one line, which cannot be taken apart
        return file.lines(head.line, _end(body))
    return "".join([f"{QUANTITIES}:\n", *entries]) if entries else ""


def _names(components: list[Component]) -> set[str]:
    return {par.name for component in components for par in component.parameters}


def _model(
    file: Source,
    key: Scalar,
    body: Mapping,
    entries: dict[str, Entry],
    quantities: Entry | None,
    domain: str = "ENERGY",
) -> Model:
    components = build_components(file, body, domain, "")
    text = file.lines(key.line, _end(body))
    extra: tuple[Par, ...] = ()
    if quantities is not None:
        others = [node for name, (_, node) in entries.items() if name != key.text]
        energy_models = [node for node in others if not _only_laws(node)]
        elsewhere = [_names(build_components(file, node, "ENERGY", "")) for node in energy_models]
        extra = _quantities(file, quantities[1], _names(components), set().union(*elsewhere))
        text = _kept_text(file, quantities, {par.name for par in extra}) + text
    return Model(key.text, components, text=text, where=file.at(key.line), quantities=extra)


def _end(body: Mapping) -> int:
    """The line after the last one of a model."""

    def last(node: Node) -> int:
        if isinstance(node, Scalar):
            return node.line
        if isinstance(node, Mapping):
            return max([node.line, *(last(value) for _, value in node.items)])
        return max([node.line, *(last(item) for item in node.items)])

    return last(body) + 1


def _entries(file: Source) -> dict[str, Entry]:
    root = read(file)
    if root is None or is_null(root):
        raise ModelError(f"{file.at(1)}: the file is empty; write 'model_name:' and its components")
    if not isinstance(root, Mapping):
        raise ModelError(
            f"{file.at(root.line)}: the file must hold models by name, "
            "'model_name:' and below it the components, not a list or a word"
        )
    entries: dict[str, Entry] = {}
    for key, body in root.items:
        place = f"{file.at(key.line)}: {key.text or 'model'}"
        if not key.text.strip():
            raise ModelError(f"{place}: the model has no name; write 'model_name:'")
        if key.text in entries:
            first = entries[key.text][0].line
            raise ModelError(f"{place}: this name is taken in line {first}; rename one of the two")
        if is_null(body) or (isinstance(body, Mapping) and not body.items):
            raise ModelError(f"{place}: the model is empty; give it components, such as {_EXAMPLE}")
        if not isinstance(body, Mapping) and key.text == QUANTITIES:
            raise ModelError(
                f"{place}: this section holds quantities by name, such as 'width: [1.5, True]'"
            )
        if not isinstance(body, Mapping):
            raise ModelError(
                f"{place}: a model holds components by function name, such as {_EXAMPLE}"
            )
        entries[key.text] = key, body
    if not entries:
        raise ModelError(f"{file.at(1)}: there is no model; write 'model_name:' and its components")
    return entries


_EXAMPLE = "'Offset: {y0: [1.0, True]}'"


def _find(file: Source, entries: dict[str, Entry], name: str) -> Entry:
    if name not in entries:
        raise ModelError(
            f"{file.name}: there is no model {name!r}; it has {', '.join(entries)}"
            f"{similar(name, list(entries))}"
        )
    return entries[name]


def _only_laws(body: Mapping) -> bool:
    found: list[OpDef | None] = [OPS.get(key.text) for key, _ in body.items]
    return all(op is not None and op.domain in ("TIME", "AUX") for op in found)
