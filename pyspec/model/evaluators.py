"""The backends that evaluate a model, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec.errors import BackendError, suggest

Array = npt.NDArray[np.float64]

#: ``evaluator(model, theta)`` gives the spectrum, (n_energy,) or (n_time, n_energy).
Evaluator: TypeAlias = Callable[[Any, Any], Array]

#: Backend name → evaluator. The executors register themselves, so that this room needs none.
_EVALUATORS: dict[str, Evaluator] = {}


def register_evaluator(name: str, function: Evaluator) -> None:
    """Makes `function` (model, theta) the backend called `name`."""
    _EVALUATORS[name] = function


def find_evaluator(name: str) -> Evaluator:
    """The backend called `name`. Raises :class:`BackendError` if there is none."""
    if name in _EVALUATORS:
        return _EVALUATORS[name]
    if not _EVALUATORS:
        raise BackendError(f"no backend is loaded to answer {name!r}; import pyspec.executor first")
    known = list(_EVALUATORS)
    raise BackendError(
        f"unknown backend {name!r}; there are {', '.join(known)}{suggest(str(name), known)}"
    )
