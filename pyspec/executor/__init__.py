"""Three executors of one meaning: tree, interpreted, compiled; and `compare` over all."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered
from pyspec.errors import BackendError, DataError, shortened, suggest
from pyspec.executor.amplitudes import AmplitudesExecutor
from pyspec.executor.amplitudes.executor import check_backend
from pyspec.executor.base import PlanExecutor
from pyspec.executor.compare import AGREEMENT, CompareExecutor, worst_difference
from pyspec.executor.compiled import CompiledExecutor
from pyspec.executor.interpreted import InterpretedExecutor
from pyspec.executor.joint import PartsExecutor
from pyspec.executor.problem import Part, Problem
from pyspec.executor.protocol import Capabilities, Executor, Values
from pyspec.executor.source import SourceExecutor
from pyspec.executor.tree import TreeExecutor
from pyspec.model import Measurement, Model
from pyspec.model.build.free import free_parameters
from pyspec.model.build.inputs import check_inputs
from pyspec.model.data.source import source_of
from pyspec.plan import (
    CompiledModel,
    ScheduledPlan,
    ScheduledPlan1D,
    ScheduledPlan2D,
    compile_model,
)

Array = npt.NDArray[np.float64]

BACKENDS = ("compiled", "interpreted", "tree", "compare")

__all__ = [
    "AGREEMENT",
    "BACKENDS",
    "AmplitudesExecutor",
    "Capabilities",
    "CompareExecutor",
    "CompiledExecutor",
    "Executor",
    "InterpretedExecutor",
    "Part",
    "PartsExecutor",
    "PlanExecutor",
    "Problem",
    "TreeExecutor",
    "backend_name",
    "evaluate_1d",
    "evaluate_2d",
    "executor_of",
    "extract_theta",
    "make_executor",
    "make_joint_executor",
    "make_plan",
    "worst_difference",
]


def backend_name(name: str) -> str:
    """`name`. Raises :class:`BackendError` unless it is one of :data:`BACKENDS`."""
    if not isinstance(name, str) or name not in BACKENDS:
        raise BackendError(
            f"unknown backend {shortened(name)}; there are {', '.join(BACKENDS)}"
            f"{suggest(str(name), list(BACKENDS))}"
        )
    return name


def make_plan(model: Model, without: Collection[str] | str = ()) -> ScheduledPlan:
    """Lowers a model on its axes to a plan, through the passes but those in `without`.

    Raises :class:`PlanError` where it cannot.
    """
    return compile_model(model, without).plan


@answered
def make_executor(
    model: Model, measurement: Measurement | None = None, backend: str = "compiled"
) -> Executor:
    """An executor of `model` on a measurement.

    `backend` is "compiled", "interpreted", "tree" or "compare".
    """
    return executor_of(compile_model(model), measurement, backend)


def executor_of(
    compiled: CompiledModel, measurement: Measurement | None, backend: str = "compiled"
) -> Executor:
    """An executor of a model that is compiled, or of a graph alone, as of :func:`make_executor`."""
    backend, model = backend_name(backend), compiled.tree
    is_by_reference = measurement is not None and source_of(measurement.data) is not None
    if is_by_reference and backend != "compiled":  # summed in C, block by block, in no other way
        raise BackendError(
            f"{compiled.model.name}: the {backend} backend needs its data in memory, these are by "
            "reference; leave backend= out, or give np.asarray(data)"
        )
    if model is not None and compiled.outline is not None:
        check_inputs(model, compiled.outline.reads)
        if compiled.outline.has_free:
            if is_by_reference:
                raise BackendError(
                    f"{model.name}: amplitudes that are free "
                    f"({next(iter(free_parameters(model.parameters)))}) need their data in memory, "
                    "these are by reference; give np.asarray(data), or fit a window of them"
                )
            check_backend(model, backend)
            return AmplitudesExecutor(compiled, measurement, backend)
    if backend == "tree":
        return TreeExecutor(compiled.model, measurement)
    plan = compiled.plan
    if backend == "interpreted":
        return InterpretedExecutor(plan, measurement)
    packed = compiled.packed
    if measurement is not None and is_by_reference:
        return SourceExecutor(plan, measurement, packed=packed)
    made = CompiledExecutor(plan, measurement, packed=packed, pinned=compiled.pinned)
    if backend == "compiled":
        return made
    witnesses = TreeExecutor(compiled.model, measurement), InterpretedExecutor(plan, measurement)
    return CompareExecutor([*witnesses, made])


@answered
def make_joint_executor(
    parts: Sequence[tuple[Model, Measurement | None]], backend: str = "compiled"
) -> PartsExecutor:
    """One executor over several files; see :mod:`pyspec.executor.problem` for the names."""
    problem = Problem.of(parts)
    made = [executor_of(part.compiled, part.measurement, backend) for part in problem.parts]
    return PartsExecutor(problem, made)


@answered
def evaluate_1d(
    plan: ScheduledPlan1D,
    theta: Values,
    fixed: Values = None,
    inputs: Mapping[str, npt.ArrayLike] | None = None,
) -> Array:
    """The spectrum (n_energy,) of a plan, in one C call; `inputs` are what formulas read besides
    the axes, by name."""
    return CompiledExecutor(plan.with_values_of(inputs)).run(theta, fixed)


@answered
def evaluate_2d(
    plan: ScheduledPlan2D,
    theta: Values,
    fixed: Values = None,
    inputs: Mapping[str, npt.ArrayLike] | None = None,
) -> Array:
    """The spectra (n_time, n_energy) of a plan, in one C call; `inputs` as of
    :func:`evaluate_1d`."""
    return CompiledExecutor(plan.with_values_of(inputs)).run(theta, fixed)


@answered
def extract_theta(plan: ScheduledPlan, params: Mapping[str, Any]) -> Array:
    """The values of `params` (lmfit.Parameters, or a mapping by name) in the plan's order. Raises
    :class:`DataError` where one is missing."""
    names = plan.opt_param_names
    missing = [name for name in names if name not in params]
    if missing:
        raise DataError(
            f"{plan.name}: params have no {missing[0]!r}; give a value for each of "
            f"plan.opt_param_names, {', '.join(names)}"
        )
    return np.array([float(getattr(params[name], "value", params[name])) for name in names])
