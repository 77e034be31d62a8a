"""What was fitted, from a record of an archive: model, measurement and problem.

They are made when they are asked for: the archive may name functions that are not registered, or
data that are gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from pyspec.errors import ModelError
from pyspec.fit import ParameterRow, ParameterTable
from pyspec.fit.problem import FitProblem, problem_of
from pyspec.formula import parse
from pyspec.io.archive.addresses import measured_again
from pyspec.io.archive.fields import Array, Columns, Record, Settings, Texts
from pyspec.model import (
    Measurement,
    Model,
    load_dynamics,
    load_model,
    load_profile,
    load_time_model,
)
from pyspec.model.build.free import single_valued
from pyspec.model.data.measurement import row_of
from pyspec.plan import CompiledModel, compile_model


@dataclass(frozen=True, eq=False)
class Recorded:
    """Model, measurement and problem of a record. They are made on demand: an archive may name
    functions that are not registered, or data that are gone."""

    record: Record
    data: object

    def __getstate__(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)

    @property
    def names(self) -> tuple[str, ...]:
        """The free parameters, the order of theta."""
        return tuple(self.record["free_names"])

    @property
    def label(self) -> str:
        """What the model is called."""
        return str(self.record["model_name"])

    @property
    def fixed(self) -> Mapping[str, float] | None:
        """Fixed parameters that have other values than in the model; None where none has."""
        return None

    @property
    def settings(self) -> Settings:
        """How it was run."""
        settings: Settings = self.record["settings"]
        return settings

    @property
    def axes(self) -> Mapping[str, Array]:
        """The full axes of the model; of slices `time` has those of the slices."""
        axes: Mapping[str, Array] = self.record["axes"]
        return axes

    @cached_property
    def model(self) -> Model:
        """The model with dynamics, profiles, axes, bounds, and the values that the fit began with.

        Raises :class:`ModelError` where its text has other parameters than the record."""
        texts: Texts = self.record["texts"]
        label = str(texts["name"])
        load = load_time_model if texts["time_model"] else load_model
        model = load(_text(texts["model"]), label)
        model.elsewhere = {n: parse(text) for n, text in texts.get("elsewhere", {}).items()}
        for shape in texts["profiles"]:
            profile = load_profile(_text(shape["text"]), shape["name"], shape["target"])
            model.add_profile(shape["target"], profile)
        for entry in texts["dynamics"]:
            law = load_dynamics(
                _text(entry["text"]), entry["names"], entry["target"], entry["frequency"]
            )
            model.add_dynamics(entry["target"], law)
        parameters, table = single_valued(model.parameters), table_of(self.record["parameters"])
        if set(parameters) != set(table["name"]):
            raise ModelError(
                f"{label}: its text gives the parameters {', '.join(parameters)}, the archive has "
                f"{', '.join(table['name'])}; it was written by pyspec "
                f"{self.record['versions'].get('pyspec')}, use that version to fit again"
            )
        for row in table:
            par = parameters[row.name]
            par.vary, par.min, par.max = row.vary, row.min, row.max
            if row.expr != par.expr:
                par.formula = None if row.expr is None else parse(row.expr, par.where)
            if row.expr is None:
                par.value = row.value if row.init is None else row.init
        axes, inputs = self.axes, dict(self.record.get("inputs") or {})
        time = None if self.record["kind"] == "slices" else axes.get("time")  # one spectrum each
        model.set_axes(
            axes.get("energy"),
            time,
            axes.get("aux"),
            axes.get("aux_weights"),
            inputs=inputs or None,
        )
        return model

    @cached_property
    def compiled(self) -> CompiledModel:
        """That model, compiled."""
        return compile_model(self.model)

    @cached_property
    def measurement(self) -> Measurement:
        """Data, window, noise and mask, without data where these are not known.

        Raises :class:`DataError` where data by reference are not where they stood."""
        return measured_again(self.record, self.data)

    def measured(self, data: object = None) -> Measurement:
        """The same, or with other data in place of its own."""
        return self.measurement if data is None else measured_again(self.record, data)

    def made(self) -> FitProblem:
        """The problem."""
        return problem_of(self.compiled, self.measurement, str(self.settings["backend"]))


@dataclass(frozen=True, eq=False)
class RecordedFiles(Recorded):
    """The same of several files; `data` has those of each."""

    data: Sequence[object]

    @cached_property
    def files(self) -> tuple[RecordedFile, ...]:
        """Each file, with what it has in common with the others."""
        owns = zip(self.record["files"], self.data, strict=True)
        return tuple(
            RecordedFile({**self.record, **own}, data, self, k)
            for k, (own, data) in enumerate(owns)
        )

    @property
    def model(self) -> Model:
        """That of the first file."""
        return self.files[0].model

    @property
    def measurement(self) -> Measurement:
        """That of the first file."""
        return self.files[0].measurement

    def measured(self, data: object = None) -> Measurement:
        """That of the first file, or with other data in place of its own."""
        return self.files[0].measured(data)

    @cached_property
    def problem(self) -> FitProblem:
        """The problem, of which those of the files are parts."""
        files = [(file.model, file.measurement) for file in self.files]
        problem = FitProblem.of(files, str(self.settings["backend"]))
        return problem.ended([own for _, own in files], self.record["ending"]["theta"])

    def made(self) -> FitProblem:
        """The problem."""
        return self.problem


@dataclass(frozen=True, eq=False)
class RecordedFile(Recorded):
    """One of several files."""

    joint: RecordedFiles
    index: int

    @cached_property
    def model(self) -> Model:
        """The model, whose parameters are shared as in the fit."""
        model, own = super().model, self.record
        for name, project in zip(own["names"], own["joint_names"], strict=True):
            par, is_shared = model.parameters[name], name == project
            if is_shared != (par.scope == "project"):
                par.scope = "project" if is_shared else "file"
        return model

    def made(self) -> FitProblem:
        """The problem."""
        return self.joint.made().alone(self.index)


@dataclass(frozen=True, eq=False)
class RecordedSlice(Recorded):
    """The same of one slice of a record."""

    whole: Recorded
    row: int
    held: Mapping[str, float] | None

    @property
    def model(self) -> Model:
        """The model of all slices."""
        return self.whole.model

    @property
    def fixed(self) -> Mapping[str, float] | None:
        """The fixed parameters of the slice."""
        return self.held

    def measured(self, data: Any = None) -> Measurement:
        """The data of the slice, or with others in their place."""
        measurement = row_of(self.whole.measurement, self.row)
        return measurement if data is None else replace(measurement, data=data)

    def made(self) -> FitProblem:
        """The problem."""
        backend = str(self.settings["backend"])
        return problem_of(self.whole.compiled, self.measured(), backend, fixed=self.fixed)


def _text(text: object) -> str:
    """A text of the archive with a line break, by which loaders of models know it is no path."""
    return f"{text}\n" if "\n" not in str(text) else str(text)


def table_of(columns: Columns) -> ParameterTable:
    """The table again, from its columns."""
    rows = []
    for k, name in enumerate(columns["name"]):
        error, init = float(columns["stderr"][k]), float(columns["init"][k])
        rows.append(
            ParameterRow(
                name=name,
                value=float(columns["value"][k]),
                stderr=None if np.isnan(error) else error,
                vary=bool(columns["vary"][k]),
                min=float(columns["min"][k]),
                max=float(columns["max"][k]),
                expr=columns["expr"][k] or None,
                init=None if np.isnan(init) else init,
                at_bound=columns["at_bound"][k],
            )
        )
    return ParameterTable(rows)
