"""From a model file to models and dynamics.

model_name:
  GLP:                          # a function; it may repeat
    A: [20.0, True, 5, 60]      # value, vary, min, max
    x0: [84.0, False]           # value, vary
    F: ["GLP_01_F"]             # follows an expression
parameters:                     # quantities of their own, free or derived
  area: ["GLP_01_A * GLP_01_F"]
functions:                      # functions of one's own, by formula
  Line: {formula: A / (1 + ((x - x0) / w) ** 2)}
kinetics:                       # kinetic schemes: laws of time with steps at rates
  chain: {G -> H: k1, H: k2}
attached:                       # dynamics and profiles that the model brings along
  model_name:
    GLP_01_x0: {dynamics: [law_name]}
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import indent

from pyspec.calls import answered
from pyspec.errors import ModelError
from pyspec.formula import Formula, rows
from pyspec.model.build.attach import ATTACHED, attach, read_attached
from pyspec.model.build.check import check_kernels, used_names
from pyspec.model.build.components import build_components, build_quantity
from pyspec.model.build.free import depending, has_free_spectra
from pyspec.model.build.kinetics import KINETICS, read_schemes
from pyspec.model.build.measured_irf import reads_file
from pyspec.model.build.motion import Entry, build_dynamics, build_profile
from pyspec.model.build.parameter_entry import entries_of, similar
from pyspec.model.build.user_functions import (
    FUNCTIONS,
    INCLUDE,
    dict_of,
    functions_text,
    read_functions,
)
from pyspec.model.model import Model
from pyspec.model.tree import ENERGY, Dynamics, Par, Profile, parameters_of
from pyspec.model.yaml.reader import (
    Mapping,
    Sequence,
    Source,
    open_source,
    read,
    walk,
)
from pyspec.model.yaml.scalars import is_null
from pyspec.model.yaml.to_yaml import model_text

#: The section of quantities that belong to no component.
QUANTITIES = "parameters"


@answered
def load_models(
    source: str | Path | Source, names: str | Iterable[str] | None = None
) -> dict[str, Model]:
    """The energy models of a file, by name, in file order.

    Parameters
    ----------
    source : path of a YAML file, or YAML text
    names : which models; None for all whose functions are not time laws alone (those are for
        :func:`load_dynamics`)

    Raises :class:`ModelError`, starting with file, line and parameter, for everything that is
    not as it should be.
    """
    file = _model_file(source)
    if names is not None:
        chosen = [file.find(name) for name in ([names] if isinstance(names, str) else names)]
    else:
        chosen = [entry for entry in file.models.values() if file.domain(entry[1])]
        if not chosen:
            raise ModelError(
                f"{file.source.name}: holds time laws only; load them with load_dynamics, or add "
                "an energy model"
            )
    models = {entry[0].text: file.model(entry, file.domain(entry[1])) for entry in chosen}
    for name in models.keys() & file.attached.keys():
        attach(file.source, models[name], file.attached[name], file.find)
    return models


@answered
def load_model(source: str | Path, name: str | None = None) -> Model:
    """One energy model of a file; `name` may be left out where the file has only one."""
    if name is not None:
        return load_models(source, name)[name]
    models = load_models(source)
    if len(models) > 1:
        raise _which(open_source(source).name, models)
    return next(iter(models.values()))


@answered
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
    file = _model_file(source)
    entries = [file.find(model_name) for model_name in ([name] if isinstance(name, str) else name)]
    if not entries:
        raise ModelError(
            f"{file.source.name}: no dynamics model is named; name one, or a list of them"
        )
    return build_dynamics(file.source, entries, target, frequency)


@answered
def load_profile(source: str | Path, name: str, target: Par | str) -> Profile:
    """A profile model of a file, for the parameter `target` (a Par or its full name).

    Its parameters are called after the target: ``GLP_01_x0_pLinear_01_m``.

    Raises :class:`ModelError` as :func:`load_models` does.
    """
    file = _model_file(source)
    return build_profile(file.source, file.find(name), target)


@answered
def load_time_model(source: str | Path | Source, name: str | None = None) -> Model:
    """A model of time laws alone: a value for each time (TIME_1D). Quantities of the section
    ``parameters`` are its parameters too. `name` may be left out where the file has only one
    model."""
    file = _model_file(source)
    if name is None and len(file.models) > 1:
        raise _which(file.source.name, file.models)
    return file.model(file.find(next(iter(file.models)) if name is None else name), "TIME")


def is_of_laws(source: str | Path, name: str | None = None) -> bool:
    """Whether the named model of a file, or each of its models without a name, is made of laws of
    time: what :func:`load_time_model` takes."""
    file = _model_file(source)
    chosen = file.models.values() if name is None else [file.find(name)]
    return all(
        not file.domain(body) and file.only_laws(body, but_kernels=True) for _, body in chosen
    )


@dataclass(frozen=True)
class _ModelFile:
    """A file with its functions, its models, its section ``parameters``, and for each model what
    its section ``attached`` says."""

    source: Source
    models: dict[str, Entry]
    quantities: Entry | None
    attached: dict[str, Mapping]

    def find(self, name: str) -> Entry:
        """A model by name. Raises :class:`ModelError` where there is none."""
        if name not in self.models:
            none = "; write one of laws that do nothing, 'none: {none: {}}'"
            raise ModelError(
                f"{self.source.name}: there is no model {name!r}; it has {', '.join(self.models)}"
                f"{none if name == 'none' else similar(name, list(self.models))}"
            )
        return self.models[name]

    def domain(self, body: Mapping) -> str:
        """The domain of a model that is fitted to spectra: time laws with spectra that are free, or
        functions of energy; "" for laws that move a parameter."""
        if not self.only_laws(body):
            return "ENERGY"
        return "TIME" if any(key.text == "free" for key, _ in walk(body)) else ""

    def only_laws(self, body: Mapping, *, but_kernels: bool = False) -> bool:
        """Whether a model has laws and profiles only; with `but_kernels`, laws of time, and not
        kernels alone. Of several names one that is not known may be meant for a law."""
        names = [key.text for key, _ in body.items if key.text not in self.source.schemes]
        looked_up = [self.source.functions.get(name) or rows().get(name) for name in names]
        ops = [op for op in looked_up if op is not None]
        if but_kernels:
            is_law = len(names) < len(body.items) or any(
                op.kind not in ("KERNEL", "IRF") for op in ops
            )
            return is_law and len(ops) == len(looked_up) and all(op.domain == "TIME" for op in ops)
        return bool(ops or not names) and all(op.domain in ("TIME", "AUX") for op in ops)

    def model(self, entry: Entry, domain: str) -> Model:
        """A model with the quantities that it can have; `domain` is "TIME" for one of laws."""
        file, (key, body) = self.source, entry
        if domain != "TIME" and self.only_laws(body, but_kernels=True):
            raise ModelError(
                f"{file.at(key.line)}: {key.text}: has laws of time alone; for spectra over time "
                "write {free: energy} as the amplitude of each, or add it to a parameter of "
                "another model with add_time_dependence; one trace is fitted with fit_trace"
            )
        components = build_components(file, body, domain or "ENERGY", "")
        if domain == "TIME":
            check_kernels(components)
        text = file.entry(key, body)
        extra, lost = tuple[Par, ...](), dict[str, Formula]()
        if self.quantities is not None:
            others = [node for name, (_, node) in self.models.items() if name != key.text]
            elsewhere = {
                par.name
                for node in others
                if not self.only_laws(node)
                for par in parameters_of(build_components(file, node, "ENERGY", ""))
            }
            own = parameters_of(components)
            disperses = has_free_spectra({par.name: par for par in own})
            if not disperses and any(self.domain(node) == "TIME" for node in others):
                elsewhere.add(ENERGY)  # which expressions name where spectra are free
            extra, lost = _quantities(file, self.quantities[1], own, elsewhere)
            kept, pairs = {par.name for par in extra}, self.quantities[1].items
            entries = [file.entry(key, node) for key, node in pairs if key.text in kept]
            if entries:
                text = f"{QUANTITIES}:\n{indent(''.join(entries), '  ')}{text}"
        text = functions_text(components) + text
        if reads_file(body):
            text = model_text(key.text, components, extra)
        model = Model(key.text, components, text=text, where=file.at(key.line), quantities=extra)
        model.elsewhere = lost
        return model


def _quantities(
    file: Source, body: Mapping, parameters: list[Par], elsewhere: set[str]
) -> tuple[tuple[Par, ...], dict[str, Formula]]:
    """Splits the quantities of a file into those that a model with these `parameters` can have, and
    the others. A derived quantity is left out if it refers to what only another model (`elsewhere`)
    knows, unless this model needs it: the check of names then says what is missing."""
    own = {par.name for par in parameters}
    pars: dict[str, Par] = {}
    for name, (key, spec) in entries_of(file, body, "").items():
        pars[name] = build_quantity(file, key, spec)
        if name in own:
            raise ModelError(
                f"{pars[name].place}: {name} is a parameter of the model already; choose another "
                "name"
            )
    needed = used_names(parameters, pars)
    idle = {name: par for name, par in pars.items() if name not in needed}
    gone = depending(idle, elsewhere - own - pars.keys())
    lost = {name: par.formula for name, par in idle.items() if name in gone and par.formula}
    return tuple([par for name, par in pars.items() if name not in gone]), lost


def _model_file(source: str | Path | Source) -> _ModelFile:
    """A file of models. Raises :class:`ModelError` for what is none."""
    file = open_source(source)
    root = read(file)
    if root is None or is_null(root):
        raise ModelError(f"{file.at(1)}: the file is empty; write 'model_name:' and its components")
    if not isinstance(root, Mapping):
        raise ModelError(
            f"{file.at(root.line)}: the file must hold models by name, "
            "'model_name:' and below it the components, not a list or a word"
        )
    entries: dict[str, Entry] = {}
    sections = dict_of(root)
    own = read_functions(file, sections.get(FUNCTIONS), sections.get(INCLUDE))
    schemes = read_schemes(file, sections.get(KINETICS))
    file = replace(file, functions=own, schemes=schemes)
    for key, body in root.items:
        if key.text in (FUNCTIONS, INCLUDE, KINETICS):
            continue
        place = f"{file.at(key.line)}: {key.text or 'model'}"
        if not key.text.strip():
            raise ModelError(f"{place}: the model has no name; write 'model_name:'")
        if key.text in entries:
            first = entries[key.text][0].line
            raise ModelError(f"{place}: this name is taken in line {first}; rename one of the two")
        if is_null(body) or (isinstance(body, Mapping) and not body.items):
            raise ModelError(f"{place}: the model is empty; give it components, such as {_EXAMPLE}")
        if not isinstance(body, Mapping):
            holds = f"a model holds components by function name, such as {_EXAMPLE}"
            if key.text == QUANTITIES:
                holds = "this section holds quantities by name, such as 'width: [1.5, True]'"
            raise ModelError(f"{place}: {holds}")
        is_function = key.text in file.functions or key.text in file.schemes or key.text in rows()
        if is_function and any(isinstance(node, Sequence) for _, node in body.items):
            raise ModelError(  # its model would lack it
                f"{place}: stands where models do, but is a component; indent it, and its "
                "parameters further, below the name of its model"
            )
        entries[key.text] = key, body
    quantities = entries.pop(QUANTITIES, None)
    attached = read_attached(file, entries.pop(ATTACHED, None), list(entries))
    if not entries:
        raise ModelError(f"{file.at(1)}: there is no model; write 'model_name:' and its components")
    return _ModelFile(file, entries, quantities, attached)


_EXAMPLE = "'Offset: {y0: [1.0, True]}'"


def _which(file: str, names: Iterable[str]) -> ModelError:
    first, *others = names
    return ModelError(
        f"{file}: has the models {', '.join([first, *others])}; say which, such as {first!r}"
    )
