"""One residual over several files that share parameters.

A parameter of scope "project" is one parameter of all files that have it; any other is one of
its own file and is called ``file00_GLP_01_A``. Files whose executor is compiled are evaluated in
one C call; a file that needs another executor slows down no other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from pyspec._library import LIBRARY, raise_status
from pyspec.errors import ModelError, PlanError
from pyspec.executor.compiled import CompiledExecutor
from pyspec.executor.normal import FitParts, Parts, pack_triangle, unpack
from pyspec.executor.protocol import (
    Array,
    Capabilities,
    Executor,
    SumsOfFit,
    Values,
    check_out,
)
from pyspec.functions.grid import mean_step
from pyspec.model import Measurement, Model, Par
from pyspec.model.theta import values_of

Ints = npt.NDArray[np.int64]

#: Mean steps that differ by less are the same: the rounding of axes.
SAME_STEP = 1e-9


@dataclass(frozen=True)
class JointNames:
    """How the parameters of the files become those of the project.

    `names` are the project's free parameters, `gather[k]` where file k finds its theta among
    them, `full[k]` the project's name of each parameter of file k.
    """

    names: tuple[str, ...]
    gather: tuple[Ints, ...]
    full: tuple[dict[str, str], ...]
    start: Array


def in_steps_of_the_first(
    parts: Sequence[tuple[Model, Measurement]],
) -> list[tuple[Model, Measurement]]:
    """The files, of which those that share the strength of a Shirley count by the mean step of the
    first of these: all have the same loss per eV."""
    found: list[tuple[Model, Measurement]] = []
    first: float | None = None
    for model, measurement in parts:
        if model.energy is not None and _shares_a_shirley(model):
            own = mean_step(model.energy)
            first = own if first is None else first
            if abs(own - first) > SAME_STEP * first and measurement.energy_step != first:
                measurement = replace(measurement, energy_step=first)
        found.append((model, measurement))
    return found


def _shares_a_shirley(model: Model) -> bool:
    fed = [one for one in model.components if one.op.kind == "SPECTRUM_FED"]
    return any(par.scope == "project" for one in fed for par in one.parameters)


def join_names(models: Sequence[Model]) -> JointNames:
    """Names the free parameters of all files, in file order, shared ones where they first occur.

    Raises :class:`ModelError` where files that share a parameter give it other bounds or fix it.
    """
    if not models:
        raise ModelError("a joint fit needs at least one file")
    first: dict[str, tuple[int, Par]] = {}
    position: dict[str, int] = {}
    start: list[float] = []
    gather: list[Ints] = []
    full: list[dict[str, str]] = []
    for index, model in enumerate(models):
        names: dict[str, str] = {}
        for name, par in model.parameters.items():
            shared = par.scope == "project"
            names[name] = name if shared else f"file{index:02d}_{name}"
            if shared:
                _check_shared(par, index, *first.setdefault(name, (index, par)))
        for name in model.opt_param_names:
            if names[name] not in position:
                position[names[name]] = len(start)
                start.append(model.parameters[name].value)
        gather.append(np.array([position[names[n]] for n in model.opt_param_names], np.int64))
        full.append(names)
    return JointNames(tuple(position), tuple(gather), tuple(full), np.array(start))


def _check_shared(par: Par, index: int, first: int, other: Par) -> None:
    if (par.vary, par.min, par.max) != (other.vary, other.min, other.max):
        raise ModelError(
            f"{par.place}: {par.name} is shared by the project, but file {index} and file {first} "
            "give it other bounds or hold it fixed; write the same entry in both models"
        )


def _compiled(executor: Executor) -> CompiledExecutor:
    if not isinstance(executor, CompiledExecutor):
        raise PlanError(f"the {executor.name} executor has no derivatives; use compiled")
    return executor


def _summing(executor: Executor) -> Executor:
    """An executor that sums [J r]. Raises :class:`PlanError`."""
    if not executor.capabilities.in_c:
        raise PlanError(f"the {executor.name} executor has no derivatives; use compiled")
    return executor


class JointExecutor:
    """Runs the executors of several files as one; spectra and residuals are concatenated."""

    name: ClassVar[str] = "joint"
    plan: ClassVar[None] = None

    def __init__(self, executors: Sequence[Executor], names: JointNames) -> None:
        self.executors = tuple(executors)
        self.names = names
        for executor, gather in zip(self.executors, names.gather, strict=True):
            if len(executor.opt_param_names) != gather.size:
                raise PlanError("the names do not belong to these executors; use join_names")
        self._sizes: list[int] | None = None

    def __repr__(self) -> str:
        return f"<JointExecutor: {len(self.opt_param_names)} free parameters, {self.executors!r}>"

    @property
    def opt_param_names(self) -> tuple[str, ...]:
        """The order of theta: the project's free parameters."""
        return self.names.names

    @property
    def fixed_names(self) -> tuple[str, ...]:
        """Fixed values belong to the files; a joint run takes none."""
        return ()

    def rest(self) -> None:
        """Frees the work memory of all files."""
        for executor in self.executors:
            executor.rest()

    def run(self, theta: Values, fixed: Values = None) -> Array:
        """The models of all files over their windows, flattened, one after the other."""
        return np.concatenate([spectrum.ravel() for spectrum in self.run_files(theta)])

    def run_files(self, theta: Values) -> list[Array]:
        """The model of each file over its window."""
        given = self._theta(theta)
        pairs = zip(self.executors, self.names.gather, strict=True)
        return [executor.run(given[gather]) for executor, gather in pairs]

    def residual(self, theta: Values, fixed: Values = None, out: Array | None = None) -> Array:
        """The residuals of all files, one after the other."""
        given = self._theta(theta)
        parts = list(zip(self.executors, self.names.gather, strict=True))
        if self._sizes is None:
            self._sizes = [executor.residual(given[gather]).size for executor, gather in parts]
        if out is None:
            out = np.empty(sum(self._sizes))
        else:
            check_out(out, sum(self._sizes))
        compiled: list[tuple[CompiledExecutor, Any]] = []
        begin = 0
        for (executor, gather), size in zip(parts, self._sizes, strict=True):
            part = out[begin : begin + size]
            begin += size
            if isinstance(executor, CompiledExecutor) and executor.helper is None:
                frame = executor.take_frame()
                frame.theta[:] = given[gather]
                frame.send_to(part)
                compiled.append((executor, frame))
            else:
                part[:] = executor.residual(given[gather])
        addresses = np.array([frame.address for _, frame in compiled], dtype=np.uintp)
        status = LIBRARY.pyspec_residual_all(addresses.ctypes.data, addresses.size)
        for executor, frame in compiled:
            frame.forget()
            executor.return_frame(frame)
        raise_status(status, "joint residual")
        return out

    @cached_property
    def capabilities(self) -> Capabilities:
        """What the files can do together: all of them in C, or some derivatives."""
        can = [executor.capabilities for executor in self.executors]
        unknown: set[int] = set()
        for one, gather in zip(can, self.names.gather, strict=True):
            places = gather[list(one.unknown_columns)] if one.jacobian else gather
            unknown.update(places.tolist())
        return Capabilities(
            jacobian=True,
            unknown_columns=tuple(sorted(unknown)),
            in_c=all(one.in_c for one in can),
            in_parts=all(one.in_parts for one in can),
        )

    def jacobian(self, theta: Values, fixed: Values = None, *, known_only: bool = False) -> Array:
        """Derivatives of the residual, (n_free, n); see :meth:`CompiledExecutor.jacobian`."""
        if self.capabilities.unknown_columns and not known_only:
            raise PlanError("a file without closed derivatives is among these; use differences")
        given = self._theta(theta)
        blocks = []
        for executor, gather in zip(self.executors, self.names.gather, strict=True):
            if executor.capabilities.jacobian:
                own = executor.jacobian(given[gather], known_only=True)
            else:
                own = np.zeros((gather.size, executor.residual(given[gather]).size))
            block = np.zeros((given.size, own.shape[1]))
            block[gather] = own
            blocks.append(block)
        return np.concatenate(blocks, axis=1)

    def normal(self, theta: Values, fixed: Values = None, form: str = "gram") -> Array:
        """The triangle of all files together; see :meth:`CompiledExecutor.normal`."""
        given = self._theta(theta)
        pairs = zip(self.executors, self.names.gather, strict=True)
        return self._joined([_summing(e).normal(given[g], None, form) for e, g in pairs], form)

    def sums(self, fixed: Values = None) -> AbstractContextManager[SumsOfFit]:
        """The sums of a fit of all files together."""
        return self._sums()

    @contextmanager
    def _sums(self) -> Iterator[SumsOfFit]:
        with ExitStack() as stack:
            files = [stack.enter_context(_summing(one).sums()) for one in self.executors]
            pairs = list(zip(files, self.names.gather, strict=True))
            yield lambda theta, form: self._joined(
                [sums(theta[g], form) for sums, g in pairs], form
            )

    def _joined(self, triangles: Sequence[Array], form: str) -> Array:
        """The triangle of all files, of that of each."""
        if form == "value":
            return np.asarray(np.sum(triangles, axis=0))
        n_free, is_factor = len(self.names.names), form == "factor"
        order = n_free + 1
        total, rows = np.zeros((order, order)), []
        for found, gather in zip(triangles, self.names.gather, strict=True):
            places = np.append(gather, n_free)
            own = unpack(found, symmetric=not is_factor)
            if is_factor:
                rows.append(np.zeros((len(own), order)))
                rows[-1][:, places] = own
            else:
                total[np.ix_(places, places)] += own
        if is_factor:
            total = np.asarray(np.linalg.qr(np.vstack([*rows, total]), mode="r"))
        return pack_triangle(total)

    def parts(self, fixed: Values = None) -> AbstractContextManager[Parts]:
        """All files as the C loop of a fit uses them."""
        executors = [_compiled(executor) for executor in self.executors]
        return FitParts(executors, self.names.gather, len(self.names.names), None)

    def _theta(self, theta: Values) -> Array:
        return values_of(theta, self.names.names, self.names.start, "free", "joint fit")
