"""The calls of :mod:`pyspec.sensitivity`, which take `rel_step` too.

It has no effect: derivatives are exact where the model knows them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from pyspec.model import Model
from pyspec.simulate import sensitivity

__all__ = ["counts_required", "crb", "fisher_matrix", "sensitivity_report"]

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def _with_step(
    function: Callable[Concatenate[Model, Arguments], Answer],
) -> Callable[..., Answer]:
    def call(model: Model, *args: Any, rel_step: float | None = None, **options: Any) -> Answer:
        return function(model, *args, **options)

    call.__name__, call.__doc__ = function.__name__, function.__doc__
    return call


crb = _with_step(sensitivity.crb)
counts_required = _with_step(sensitivity.counts_required)
fisher_matrix = _with_step(sensitivity.fisher_matrix)
sensitivity_report = _with_step(sensitivity.sensitivity_report)
