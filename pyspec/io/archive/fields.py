"""What the parts of a record hold when an archive is read; ``docs/archive_format.md`` says what
each field is. What was None when it was saved is missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from typing_extensions import NotRequired

Array = npt.NDArray[np.float64]

#: One fit, or the fits of slices: which fields there are depends on its kind.
Record = Mapping[str, Any]


class Columns(TypedDict):
    """The table of parameters."""

    name: list[str]
    value: Array
    stderr: Array
    vary: npt.NDArray[np.bool_]
    min: Array
    max: Array
    expr: list[str]
    init: Array
    at_bound: list[str]


class Settings(TypedDict):
    """How the fit was run."""

    method: str
    methods: list[str]
    backend: str
    scale_covar: bool
    options: NotRequired[dict[str, Any]]


class DynamicsText(TypedDict):
    """The text of the dynamics of one parameter."""

    target: str
    names: list[str]
    text: str
    frequency: float


class ProfileText(TypedDict):
    """The text of the profile of one parameter."""

    target: str
    name: str
    text: str


class Texts(TypedDict):
    """The model as text."""

    name: str
    model: str
    time_model: bool
    dynamics: list[DynamicsText]
    profiles: list[ProfileText]
    elsewhere: NotRequired[dict[str, str]]


class Samples(TypedDict):
    """Samples of the posterior."""

    names: list[str]
    chain: Array
    acceptance: Array
    settings: dict[str, Any]
    followers: list[str]
    derived: Array
    interrupted: bool
    notes: str


class Reference(TypedDict):
    """Data, weights or a mask by reference: where they stand, and checksums of their rows."""

    what: str
    kind: str
    path: str
    key: str
    begin: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    checksum: npt.NDArray[np.uint64]
    are_sigma: NotRequired[bool]
    columns: NotRequired[npt.NDArray[np.bool_]]
