"""The models of a file: loading, choosing, letting their parameters move."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from pyspec.calls import Named, answered, meant, one_of, stack_outside
from pyspec.errors import DataError, ModelError, ModelWarning, shortened, suggest
from pyspec.fit import FitResult
from pyspec.model import Dynamics, Model, Profile, load_dynamics, load_model, load_profile
from pyspec.model.build.free import free_parameters, refuse_free
from pyspec.model.build.inputs import own_inputs, refuse_misspelt
from pyspec.workflow.data.window import FileWindow
from pyspec.workflow.results.identity import name_list, one_name
from pyspec.workflow.results.printed import printed

#: How a model is named: by name, by its number, or by a list of one name.
ModelInfo: TypeAlias = str | int | Sequence[str]

MODEL_TYPES = ("energy", "dynamics", "profile")


class ModelsByName(Named[Model]):
    """Loaded models by name; ``models[0]`` is the first one, ``models[-1]`` the last."""

    kind = "loaded model"

    def __missing__(self, key: object) -> Model:
        if isinstance(key, int) and -len(self) <= key < len(self):
            return list(self.values())[key]
        return super().__missing__(key)


def has_spectra(model: Model) -> bool:
    """Whether a model has energies: it is none of time laws alone, or these have free spectra."""
    return not model.is_time_model or bool(free_parameters(model.parameters))


class FileModels(FileWindow):
    """The part of a File that holds its models, on the axes of its data."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        #: The loaded models by name.
        self.models: dict[str, Model] = ModelsByName()
        #: Model → parameter → (its value before the first fit, the value that a fit wrote).
        self._written: dict[str, dict[str, tuple[float, float]]] = {}
        #: Model → parameter → its value, and whether it was free, when the model was loaded.
        self._loaded: dict[str, dict[str, tuple[float, bool]]] = {}
        #: Model → the type of its last fit.
        self._last_fits: dict[str, str] = {}
        self._active: str | None = None

    @answered
    def load_model(
        self,
        model_yaml: str | Path,
        model_info: str | Sequence[str],
        par_name: str = "",
        model_type: str = "energy",
    ) -> Model | Dynamics | Profile:
        """Loads one model of a YAML file (relative to the project's folder) and keeps it.

        A model of the same name is replaced, with a :class:`ModelWarning`; its time dependence,
        profiles and values are gone. With `model_type` "dynamics" or "profile" the Dynamics or
        Profile for the parameter `par_name` is returned, and not kept: :meth:`add_time_dependence`
        and :meth:`add_par_profile` do both.
        """
        source = self.project.resolve(model_yaml)
        one_of("model_type", model_type, MODEL_TYPES, ModelError)
        if model_type == "dynamics":
            return load_dynamics(source, name_list(model_info), par_name)
        if model_type == "profile":
            return load_profile(source, one_name(model_info, "model_info"), par_name)
        return self.add_model(load_model(source, one_name(model_info, "model_info")))

    @answered
    def add_model(self, model: Model) -> Model:
        """Keeps a model that was loaded or made elsewhere, and gives it the axes of the file. One
        of the same name is replaced, with a :class:`ModelWarning`."""
        if self.models.get(model.name, model) is not model:
            warnings.warn(
                f"file {self.name!r}: the model {model.name!r} replaces the one of that name, with "
                "what was added to it; its fits stay",
                ModelWarning,
                stacklevel=stack_outside(),
            )
        if self.energy is not None and has_spectra(model):
            model.set_axes(energy=self.energy, time=self.time)
        self._complete(model)
        self.models[model.name] = model
        self._written.pop(model.name, None)
        own = model.parameters.items()
        self._loaded[model.name] = {name: (par.value, par.vary) for name, par in own}
        self._last_fits.pop(model.name, None)
        self._active = model.name
        return model

    def _complete(self, model: Model) -> None:
        """Gives a model of energies the auxiliary axis; any one what its functions read, and the
        labels and units of the file."""
        model.labels, model.units = self._names["labels"], dict(self.units)
        if self.aux_axis is not None and not model.is_time_model:
            model.set_axes(aux=self.aux_axis, aux_weights=self.aux_weights)
        if self.inputs:
            model.set_axes(inputs=own_inputs(model, self.inputs))

    def _prepared(self, model_name: str, *, time: bool) -> Model:
        """A copy of a model for one fit, on the axes of the file; without `time` at rest, for one
        spectrum."""
        chosen = self.select_model(model_name)
        if not time:
            refuse_free(chosen.name, chosen.parameters, "one spectrum needs")
        model = copy.deepcopy(chosen) if time else chosen.at_rest()
        axis = self._need_axis("time") if time else None
        model.set_axes(energy=self._need_axis("energy"), time=axis)
        self._complete(model)
        refuse_misspelt(model, self.inputs)
        return model

    # values that fits write

    def _store(self, result: FitResult) -> None:
        """Writes the best values of a fit into the model, and remembers those before."""
        values = {name: result.values[name] for name in result.free_names}
        model = self.models[result.model_name]
        parameters, written = model.parameters, self._written.setdefault(model.name, {})
        for name, value in values.items():
            now = parameters[name].value
            before, wrote = written.get(name, (now, now))
            written[name] = (before if now == wrote else now), float(value)
        model.set_values(values)
        self._last_fits[model.name] = result.fit_type

    def _forget_fits(self, model: Model) -> None:
        """Gives a copy of a model the values of its file, or those set since by hand, in place of
        what fits wrote."""
        parameters = model.parameters
        model.set_values(
            {
                name: before
                for name, (before, wrote) in self._written.get(model.name, {}).items()
                if name in parameters and parameters[name].value == wrote
            }
        )

    def _set_by_hand(self, model_name: str) -> set[str]:
        """Parameters that were set by hand. Either their value differs from the one that was loaded
        or written by a fit, or they were free and are now fixed. A fit leaves them where they
        are."""
        last_values = dict(self._loaded.get(model_name, {}))
        written = self._written.get(model_name, {})
        last_values |= {name: (wrote, True) for name, (_, wrote) in written.items()}
        parameters = self.models[model_name].parameters
        return {
            name
            for name, (value, was_free) in last_values.items()
            if name in parameters
            and (parameters[name].value != value or (was_free and not parameters[name].vary))
        }

    def _origin(self, model_name: str) -> str:
        """Where the values of a model come from: its file, or a fit."""
        last = self._last_fits.get(model_name)
        return "the model's values" if last is None else f"the last fit ({last})"

    # what moves

    @answered
    def add_time_dependence(
        self,
        target_model: str,
        target_parameter: str,
        dynamics_yaml: str | Path,
        dynamics_model: str | Sequence[str],
        *,
        frequency: float = -1,
    ) -> None:
        """Lets `target_parameter` of `target_model` move in time as a dynamics model says.

        ``p(t) = p + D(t)``; the new parameters are called
        ``<target_parameter>_<function>_<number>_<name>``, as in ``GLP_01_x0_expFun_01_tau``.

        A list of models makes sub-cycles: the first acts at all times, the others take turns at
        `frequency`, whole cycles in reciprocal units of the time axis.

        Raises :class:`DataError` where the data of the file are one spectrum.
        """
        model = self._with_parameter(target_model, target_parameter)
        self._refuse_one_spectrum()
        source = self.project.resolve(dynamics_yaml)
        names = name_list(dynamics_model)
        dynamics = load_dynamics(source, names, model.parameters[target_parameter], frequency)
        model.add_dynamics(target_parameter, dynamics)
        self._complete(model)

    def _refuse_one_spectrum(self) -> None:
        """Raises :class:`DataError` where the data have no times in which something could move."""
        if self.data is not None and self.time is None:
            raise DataError(
                f"file {self.name!r} holds one spectrum, in which nothing moves in time; "
                "leave add_time_dependence out, or give data of shape (time, energy) with time="
            )

    @answered
    def add_par_profile(
        self,
        target_model: str,
        target_parameter: str,
        profile_yaml: str | Path,
        profile_model: str | Sequence[str],
    ) -> None:
        """Lets `target_parameter` of `target_model` differ along the auxiliary axis.

        ``p(aux) = p + P(aux)``; spectra are averaged over the axis, with `aux_weights`. The new
        parameters are called as in ``GLP_01_A_pExpDecay_01_tau``; they may move in time too.

        Raises :class:`DataError` where the file has no such axis.
        """
        model = self._with_parameter(target_model, target_parameter)
        has_axis = self.aux_axis is not None or model.aux is not None or model.is_time_model
        if self.data is not None and not has_axis:
            raise DataError(
                f"file {self.name!r} has no auxiliary axis, along which {target_parameter} "
                "could differ; give it one, such as a depth: File(..., aux_axis=depth, "
                "aux_weights=weights)"
            )
        source = self.project.resolve(profile_yaml)
        name = one_name(profile_model, "profile_model")
        model.add_profile(target_parameter, load_profile(source, name, target_parameter))
        self._complete(model)

    def _with_parameter(self, model_info: ModelInfo, parameter: str) -> Model:
        model = self.select_model(model_info)
        if not isinstance(parameter, str):
            raise ModelError(
                f"target_parameter is {shortened(parameter)}; give the name of one parameter, "
                "such as 'GLP_01_x0', and call it again for the next"
            )
        if parameter not in model.parameters:
            names = list(model.parameters)
            raise ModelError(
                f"model {model.name!r} has no parameter {parameter!r}{meant(parameter, names)}"
            )
        return model

    # which model

    @answered
    def select_model(self, model_info: ModelInfo | None = None) -> Model:
        """The loaded model of that name or number; the active one for None."""
        names = list(self.models)
        if not names:
            raise ModelError("no model is loaded: call load_model(path, name) first")
        if model_info is None:
            return self.models[self._active or names[-1]]
        key: Any = model_info
        if isinstance(key, Sequence) and not isinstance(key, str):
            key = self.model_list_to_name(key)
        if key in self.models or (isinstance(key, int) and -len(names) <= key < len(names)):
            return self.models[key]
        hint = suggest(str(key), names)
        raise ModelError(f"no model {key!r} is loaded{hint}; loaded: {', '.join(names)}")

    @answered
    def set_active_model(self, model_info: ModelInfo) -> None:
        """Chooses the model that calls without a model name mean."""
        self._active = self.select_model(model_info).name

    @answered
    def delete_model(self, model_to_delete: ModelInfo | None = None) -> None:
        """Forgets a model (the active one for None); its fits stay."""
        name = self.select_model(model_to_delete).name
        del self.models[name]
        if self._active == name:
            self._active = next(reversed(self.models), None)

    @answered
    def reset_models(self) -> None:
        """Forgets all models; their fits stay."""
        self.models.clear()
        self._active = None

    @answered
    def describe_model(self, model_info: ModelInfo | None = None, detail: int = 0) -> str:
        """Prints and returns the parameters of a model; with `detail` its YAML text too."""
        model = self.select_model(model_info)
        text = model.describe()
        if detail:
            text = f"{text}\n\n{model.text}"
        return printed(text)

    @staticmethod
    def model_list_to_name(model_list: Sequence[str]) -> str:
        """The name of a model that was given as a list of names."""
        return one_name(model_list, "model")
