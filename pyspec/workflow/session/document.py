"""What a session is at one moment: the text of its models, the chosen one, window and results."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec._library import OpDef
from pyspec.fit import FitResult
from pyspec.model import Model
from pyspec.model.model_tree import ModelTree
from pyspec.model.tree import ops_of

Array = npt.NDArray[np.float64]

#: (low, high) in the unit of an axis, or None for all of it.
Limits: TypeAlias = "tuple[float, float] | None"

#: A range that is left out: (axis, low, high).
Range: TypeAlias = "tuple[str, float, float]"


@dataclass(frozen=True)
class Refusal:
    """Why an edit was not made; the document is as before. Counts as False.

    Attributes
    ----------
    message : all of it, in a sentence
    node, field : the component or parameter, and which of its parameters or fields; "" where the
        refusal is about the whole model
    rule : what is not as it should be
    remedy : what to do; "" where the message does not say it
    line : of the text, from 1; None where it stands in no line
    """

    message: str
    node: str = ""
    field: str = ""
    rule: str = ""
    remedy: str = ""
    line: int | None = None

    def __bool__(self) -> bool:
        return False

    @classmethod
    def of(cls, error: Exception) -> Refusal:
        """The refusal that an error of the loader is."""
        message = str(error)
        line, rest = None, message
        if match := re.match(r"<text>:(\d+): ", message):
            line, rest = int(match[1]), message[match.end() :]
        node = name = ""
        if match := re.match(r"([A-Za-z]\w*)(?:\.(\w+))?: ", rest):
            node, name, rest = match[1], match[2] or "", rest[match.end() :]
        rule, _, remedy = rest.partition("; ")
        shown = message if line is None else f"line {line}: {message.partition(': ')[2]}"
        return cls(shown, node, name, rule, remedy, line)


@dataclass(frozen=True)
class Seen:
    """What a file has of its own, beside the models.

    Attributes
    ----------
    energy_limits, time_limits : the window that is fitted, both ends included
    excluded : ranges that are left out
    cursor : the row and the column that are looked at
    fits : the last fit of each model
    begun : the values that it began at, by model and name; a fit from there has the same bits
    """

    energy_limits: Limits = None
    time_limits: Limits = None
    excluded: tuple[Range, ...] = ()
    cursor: tuple[int, int] = (0, 0)
    fits: Mapping[str, FitResult] = field(default_factory=dict)
    begun: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Other(Seen):
    """A file that is not shown.

    Attributes
    ----------
    values : of the parameters that files do not share, by model and name; all other values are
        those of the text
    """

    values: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Document(Seen):
    """All of a session at one moment, of the file that is shown. Nobody changes it.

    Attributes
    ----------
    text : the model file, with the values of the file that is shown
    name : the chosen model
    model : it, loaded on the axes of the data; None where it has no component yet
    file : the number of the file that is shown
    others : the other files by number
    """

    text: str = ""
    name: str = "model"
    model: Model | None = None
    file: int = 0
    others: Mapping[int, Other] = field(default_factory=dict)

    @property
    def result(self) -> FitResult | None:
        """The fit of the chosen model whose values are those of the model now; else None."""
        result = self.fits.get(self.name)
        return result if is_of(result, self.model) else None


def is_of(result: FitResult | None, model: Model | None) -> bool:
    """Whether a model stands at the values of a fit."""
    if result is None or model is None or result.free_names != model.opt_param_names:
        return False
    return _outline(result.problem.model) == _outline(model) and all(
        result.values[name] == par.value
        for name, par in model.parameters.items()
        if par.formula is None and par.free is None
    )


def _outline(model: ModelTree) -> tuple[list[OpDef], dict[str, str | None]]:
    """The functions of a model and what its parameters follow."""
    ops = ops_of(model.components, model.quantities)
    return ops, {name: par.expr for name, par in model.parameters.items()}


@dataclass(frozen=True)
class Step:
    """The document after an edit or a fit, and what the step is called. `name` is the component or
    model that it added, or ""; `is_open` says that it is one of a drag. Counts as True."""

    document: Document
    label: str
    name: str = ""
    is_open: bool = False
