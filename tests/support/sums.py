"""Sums in other ways than fits ask for them: over chunks to the end, and of problems together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from pyspec._library import LIBRARY, raise_status
from pyspec._library.memory import address
from pyspec.errors import PlanError
from pyspec.executor.chunks import Chunk, chunk_nodes
from pyspec.executor.nodes import collect
from pyspec.executor.normal import FORMS, Parts, prepared, triangle_size

Array = Any


def sum_chunks(
    executor: Any, theta: Any, chunks: Iterable[Chunk], fixed: Any = None, form: str = "gram"
) -> Array:
    """chi², Jᵀr and JᵀJ over chunks that are all of the window: a packed triangle."""
    nodes = chunk_nodes(executor, theta, chunks, fixed, form)
    return collect(nodes, len(executor.opt_param_names), form)


def sum_problems(
    executors: Sequence[Any],
    thetas: Sequence[Any],
    fixed: Sequence[Any] | None = None,
    form: str = "gram",
) -> Array:
    """The triangles of many problems in one call: (n_problems, size of a triangle).

    The problems share the model and the energies; each has its own theta, fixed values, times and
    data. Their rows stand side by side in the vectors of the processor, so that eight fits of one
    spectrum cost about as much as eight spectra of one fit. The bits of a triangle do not depend on
    the other problems. Raises :class:`PlanError` where models differ.
    """
    given_fixed = list(fixed) if fixed is not None else [None] * len(executors)
    first, first_plan = executors[0].packed, executors[0].plan
    for executor in executors:
        if executor.packed.memory.tobytes() != first.memory.tobytes():
            raise PlanError(
                f"{executor.plan.name}: problems of one call must have the same model as the "
                "first; sum this one on its own"
            )
    order = 1 if form == "value" else len(executors[0].opt_param_names) + 1
    triangles = np.zeros((len(executors), triangle_size(order)))
    with ExitStack() as stack:
        frames = [
            stack.enter_context(prepared(executor, values))
            for executor, values in zip(executors, given_fixed, strict=True)
        ]
        gathers = [np.arange(len(executors[0].opt_param_names))] * len(executors)
        parts = Parts(executors, gathers, order - 1, frames)
        problems = zip(executors, frames, thetas, given_fixed, strict=True)
        for executor, frame, theta, values in problems:
            frame.theta[:] = executor.plan.values(theta, "free")
            if executor.helper is not None:
                frame.fill_external(*executor.helper.external(frame.theta, values))
            frame.call["plan"] = first.address
            stack.callback(frame.call.__setitem__, "plan", executor.packed.address)
        given = parts.address, parts.n, FORMS[form], address(triangles)
        raise_status(LIBRARY.pyspec_sum_many(*given), first_plan.name)
    return triangles
