"""The edits of a session: each makes another document of one, which the loader has read."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import EllipsisType

import numpy as np

from pyspec._library import OpDef
from pyspec.errors import DataError, ModelError, suggest
from pyspec.formula import rows
from pyspec.model import Model
from pyspec.model.yaml.reader import SECTIONS
from pyspec.model.yaml.rewrite import (
    FIELDS,
    with_component,
    with_law,
    without_component,
    without_law,
)
from pyspec.model.yaml.sections import model_names, with_copy, without_model
from pyspec.workflow.fitting.several import own_values, seen_from, set_fields
from pyspec.workflow.session.document import Document, Limits, Other, Step
from pyspec.workflow.session.ground import Ground
from pyspec.workflow.session.start_values import entries_of, rounded


class Edit(ABC):
    """One change of a document."""

    @abstractmethod
    def apply(self, ground: Ground, document: Document) -> Step:
        """The document after it; its model is read from the text by :func:`applied`."""


def applied(ground: Ground, document: Document, edits: Sequence[Edit]) -> Step:
    """The document after all edits. Raises :class:`ModelError` or :class:`DataError` where one of
    them, or what the loader says of the text, refuses it."""
    if not edits:
        raise ModelError("there is no edit; give one")
    merged = Step(document, "")
    labels = []
    for edit in _grouped(edits):
        before = merged.document
        merged = edit.apply(ground, before)
        after = merged.document
        if (after.text, after.name) != (before.text, before.name):
            if not (isinstance(edit, _Fields) and edit.is_of_values):
                ground.models(after.text)  # what models share may be wrong in another one
            model = ground.model(after.text, after.name)
            others = _followed(ground, edit, before) if before.others else {}
            merged = replace(merged, document=replace(after, model=model, others=others))
        labels.append(merged.label)
    names = list(dict.fromkeys(labels))
    label = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    ground.measurement(merged.document)  # a window that holds no point is refused
    return replace(merged, label=label)


def _followed(ground: Ground, edit: Edit, before: Document) -> dict[int, Other]:
    """The files that are not shown after an edit of the structure: their values have the names that
    parameters have then."""
    others = dict(before.others)
    if isinstance(edit, NewModel) and edit.copy_of is not None:
        for file, other in others.items():
            values = {**other.values, edit.name: other.values.get(edit.copy_of, {})}
            others[file] = replace(other, values=values)
    if not isinstance(edit, (Remove, DropLaw)):
        return others
    for file, other in others.items():
        there = ground.files[file]
        after = edit.apply(there, seen_from(ground, before, file)).document
        model = there.model(after.text, after.name)
        own = {} if model is None else own_values(model)
        others[file] = replace(other, values={**other.values, before.name: own})
    return others


def _grouped(edits: Sequence[Edit]) -> list[Edit]:
    """Fields that are set one after the other are set together."""
    grouped: list[Edit] = []
    for edit in edits:
        if isinstance(edit, Set) and grouped and isinstance(grouped[-1], _Fields):
            grouped[-1] = grouped[-1].with_edit(edit)
        elif isinstance(edit, Set):
            grouped.append(_Fields({}).with_edit(edit))
        else:
            grouped.append(edit)
    return grouped


@dataclass(frozen=True)
class Set(Edit):
    """One field of a parameter. "value", "min" and "max" (None is no bound). "vary" (True, False or
    "project"). "expr" ("" gives it a value of its own again). "free", of an amplitude: "energy" or
    "time" free it at each point of that axis, "" gives it one value again."""

    name: str
    field: str
    value: object

    def apply(self, ground: Ground, document: Document) -> Step:
        return _Fields({}).with_edit(self).apply(ground, document)


@dataclass(frozen=True)
class _Fields(Edit):
    fields: Mapping[str, Mapping[str, object]]

    @property
    def is_of_values(self) -> bool:
        """Whether values alone are set."""
        return all(own.keys() <= {"value"} for own in self.fields.values())

    def with_edit(self, edit: Set) -> _Fields:
        if edit.field not in FIELDS:
            raise ModelError(
                f"{edit.name}: there is no field {edit.field!r}; give {', '.join(FIELDS)}"
            )
        return _Fields(
            {**self.fields, edit.name: {**self.fields.get(edit.name, {}), edit.field: edit.value}}
        )

    def apply(self, ground: Ground, document: Document) -> Step:
        model = _need(document)
        parameters = {**{par.name: par for par in model.quantities}, **model.parameters}
        fields = {name: dict(own) for name, own in self.fields.items()}
        for name, own in fields.items():
            if name not in parameters:
                raise ModelError(
                    f"{model.name} has no parameter {name!r}{suggest(name, list(parameters))}"
                )
            follows = parameters[name].formula is not None
            if own.get("expr") == "" and follows and "value" not in own:
                value = model.values.get(name, math.nan)
                own["value"] = value if math.isfinite(value) else 1.0
            if own.get("free", "") not in ("", "energy", "time"):
                raise ModelError(f"{name}: free is {own['free']!r}; give 'energy', 'time' or ''")
            if own.get("free") == "" and "value" not in own:
                own["value"] = rounded(0.5 * float(np.ptp(np.nan_to_num(ground.data))) or 1.0)
            if own.get("vary") not in (None, True, False, "project"):
                raise ModelError(f"{name}: vary is {own['vary']!r}; give true, false or 'project'")
        text = set_fields(ground, document.text, model, fields)
        names = ", ".join(list(fields)[:2]) + (" …" if len(fields) > 2 else "")
        return Step(replace(document, text=text), f"set {names}")


def _need(document: Document) -> Model:
    if document.model is None:
        raise ModelError("there is no model yet; add a component first")
    return document.model


@dataclass(frozen=True)
class Add(Edit):
    """A further component, at a place {"energy", "height", "width"} or with start values. One that
    reads the spectrum below it, as a Shirley, brings a line to an empty model. A law of time has a
    spectrum that is free in a series, and the onset of the law before it."""

    function: str
    at: Mapping[str, float] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)

    def apply(self, ground: Ground, document: Document) -> Step:
        op = _function(document, self.function)
        above = op.kind in _KERNELS if op.domain == "TIME" else op.kind != "PEAK"
        if document.model is None and op.kind in _FED:
            line = Add(_LINE, {key: value for key, value in self.at.items() if key != "height"})
            text = line.apply(ground, document).document.text
            document = replace(document, text=text, model=ground.model(text, document.name))
        entries = entries_of(op, ground, document, None, self.at, self.values)
        text = with_component(document.text, document.name, op.name, entries, above=above)
        model = ground.model(text, document.name)
        before, names = (
            [] if one is None else [component.name for component in one.components]
            for one in (document.model, model)
        )
        new = next((name for name in names if name not in before), op.name)
        return Step(replace(document, text=text, model=model), f"add {new}", new)


#: Kinds of components that act on the laws below them.
_KERNELS = ("KERNEL", "IRF")

#: Kinds of components that read what is below them, and the line that they find at first.
_FED, _LINE = ("SPECTRUM_FED", "ROW_FED", "RESOLUTION"), "GLP"


@dataclass(frozen=True)
class Remove(Edit):
    """Takes a component away by its name, "GLP_01"; those behind it move up."""

    name: str

    def apply(self, ground: Ground, document: Document) -> Step:
        text = without_component(document.text, _need(document), self.name)
        return Step(replace(document, text=text), f"remove {self.name}")


@dataclass(frozen=True)
class Law(Edit):
    """Lets a parameter move by a further law, or a kernel that acts on its laws."""

    parameter: str
    function: str
    values: Mapping[str, float] = field(default_factory=dict)

    def apply(self, ground: Ground, document: Document) -> Step:
        model = _need(document)
        if ground.kind != "series":
            raise ModelError(f"{self.parameter}: nothing moves in time in one {ground.kind}")
        op = _function(document, self.function)
        entries = entries_of(op, ground, document, self.parameter, {}, self.values)
        text = with_law(document.text, model, self.parameter, op.name, entries)
        return Step(replace(document, text=text), f"{op.name} on {self.parameter}")


@dataclass(frozen=True)
class DropLaw(Edit):
    """Takes a law of a parameter away, "expFun_01"; None all of them."""

    parameter: str
    function: str | None = None

    def apply(self, ground: Ground, document: Document) -> Step:
        text = without_law(document.text, _need(document), self.parameter, self.function)
        law = self.function or "what moves"
        return Step(replace(document, text=text), f"drop {law} of {self.parameter}")


@dataclass(frozen=True)
class Yaml(Edit):
    """Another text; the chosen model stays where the text has it."""

    text: str

    def apply(self, ground: Ground, document: Document) -> Step:
        ground.check_paths(self.text)
        names = list(ground.models(self.text, some=True))
        name = document.name if document.name in names or not names else names[0]
        return Step(replace(document, text=self.text, name=name), "text")


def _of_other_points(document: Document, **changes: object) -> Document:
    """The document with another window. No fit of it has seen these points."""
    if all(getattr(document, name) == value for name, value in changes.items()):
        return document
    return replace(document, fits={}, **changes)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Window(Edit):
    """The window that is fitted; `...` leaves a side as it is, None takes the whole axis."""

    energy: Sequence[float] | EllipsisType | None = ...
    time: Sequence[float] | EllipsisType | None = ...

    def apply(self, ground: Ground, document: Document) -> Step:
        changes: dict[str, Limits] = {}
        for name, limits in (("energy", self.energy), ("time", self.time)):
            if limits is not ...:
                changes[f"{name}_limits"] = None if limits is None else _pair(ground, name, limits)
        return Step(_of_other_points(document, **changes), "window")


@dataclass(frozen=True)
class Exclude(Edit):
    """Leaves a range of an axis, "energy" or "time", out of the fit."""

    axis: str
    low: float
    high: float

    def apply(self, ground: Ground, document: Document) -> Step:
        low, high = _pair(ground, self.axis, (self.low, self.high))
        out = tuple(sorted({*document.excluded, (self.axis, low, high)}))
        return Step(_of_other_points(document, excluded=out), "exclude")


@dataclass(frozen=True)
class Include(Edit):
    """Takes back what was left out and lies in a range of an axis."""

    axis: str
    low: float
    high: float

    def apply(self, ground: Ground, document: Document) -> Step:
        low, high = _pair(ground, self.axis, (self.low, self.high))
        out = tuple(
            (axis, begin, end)
            for axis, begin, end in document.excluded
            if axis != self.axis or end < low or begin > high
        )
        return Step(_of_other_points(document, excluded=out), "include")


@dataclass(frozen=True)
class NewModel(Edit):
    """A further model, empty or a copy of another, which is chosen."""

    name: str
    copy_of: str | None = None

    def apply(self, ground: Ground, document: Document) -> Step:
        name, taken = self.name.strip(), model_names(document.text)
        if not name or name in SECTIONS or not name.isprintable():
            raise ModelError(f"{self.name!r} cannot name a model; choose another name")
        if name in taken:
            raise ModelError(f"there is a model {name!r} already; choose another name")
        text = document.text
        if self.copy_of is not None:
            if self.copy_of not in taken:
                raise ModelError(
                    f"there is no model {self.copy_of!r}{suggest(self.copy_of, taken)}"
                )
            text = with_copy(text, self.copy_of, name)
        model = None if self.copy_of is None else ground.model(text, name)
        return Step(replace(document, text=text, name=name, model=model), f"new model {name}", name)


@dataclass(frozen=True)
class ChooseModel(Edit):
    """Chooses another model of the text."""

    name: str

    def apply(self, ground: Ground, document: Document) -> Step:
        names = list(ground.models(document.text))
        if self.name not in names:
            raise ModelError(f"there is no model {self.name!r}{suggest(self.name, names)}")
        return Step(replace(document, name=self.name), f"choose {self.name}", self.name)


@dataclass(frozen=True)
class RemoveModel(Edit):
    """Takes a model away."""

    name: str

    def apply(self, ground: Ground, document: Document) -> Step:
        names = model_names(document.text)
        text = without_model(document.text, self.name) if self.name in names else document.text
        left = list(ground.models(text))
        name = document.name
        if name == self.name:
            name = left[0] if left else "model"
        fits = {key: fit for key, fit in document.fits.items() if key != self.name}
        model = ground.model(text, name)
        return Step(
            replace(document, text=text, name=name, model=model, fits=fits), f"remove {self.name}"
        )


def _pair(ground: Ground, name: str, limits: Sequence[float]) -> tuple[float, float]:
    axis = ground.axis(name)
    try:
        low, high = sorted(float(limit) for limit in limits)
    except (TypeError, ValueError):
        raise DataError(f"{name}: give two numbers, not {limits!r}") from None
    if not (math.isfinite(low) and math.isfinite(high)):
        raise DataError(f"{name}: give two finite numbers, not {limits!r}")
    if high < float(axis.min()) or low > float(axis.max()):
        raise DataError(f"{name}: {low:g} to {high:g} lies outside of the axis")
    return low, high


def _function(document: Document, name: str) -> OpDef:
    ops = {**rows()}
    if document.model is not None:
        ops |= {component.op.name: component.op for component in document.model.components}
    if name not in ops or ops[name].derived:
        raise ModelError(f"there is no component {name!r}{suggest(name, list(ops))}")
    return ops[name]
