"""Fits of a separable plan with data elsewhere, read in some evaluations only.

csrc/separable/span.c keeps the sums of earlier readings, and tells which readings are still
missing.

Readings are added in the tree over the row number, as all sums are. So such a fit has the bits of
one in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, LIBRARY, raise_status
from pyspec._library.memory import address, aligned, doubles_at, record
from pyspec.executor.frame import Frame
from pyspec.executor.nodes import Nodes, collect_data
from pyspec.executor.normal import FORMS, triangle_size
from pyspec.executor.protocol import Array, Values

if TYPE_CHECKING:
    from pyspec.executor.compiled import CompiledExecutor


@dataclass(frozen=True)
class Reading:
    """What is to be read of the data: their sums over time with each function.

    Attributes
    ----------
    row : the first row of what is given by row
    functions : (n, rows) the functions of time
    weights : (rows,) the part of the weights that differs along the times
    by_x : (columns of the window,) the part that differs along the energies
    heights : (rows, traces) the traces; without a row where chi² is not asked for
    shapes : (traces, stride) S_k(E) over the window, and zeros behind it
    size : numbers that are summed
    """

    row: int
    functions: Array
    weights: Array
    by_x: Array
    heights: Array
    shapes: Array
    size: int

    @property
    def has_model(self) -> bool:
        """Whether chi² is found, too."""
        return len(self.heights) > 0

    def of_rows(self, begin: int, end: int) -> Reading:
        """The same of some of the rows."""
        rows = slice(begin - self.row, end - self.row)
        return replace(
            self,
            row=begin,
            functions=np.ascontiguousarray(self.functions[:, rows]),
            weights=self.weights[rows].copy(),
            heights=self.heights[rows].copy(),
        )

    @property
    def struct(self) -> npt.NDArray[np.void]:
        """The ``pyspec_reading``, (1,), valid as long as this lives."""
        arrays = ("functions", "weights", "by_x", "heights", "shapes")
        return record(
            "pyspec_reading",
            {name: address(getattr(self, name)) for name in arrays}
            | {
                "row": self.row,
                "n": len(self.functions),
                "stride": self.functions.shape[1],
                "size": self.size,
                "is_due": 1,
                "has_model": int(self.has_model),
                "n_traces": len(self.shapes),
                "between": self.shapes.shape[1],
            },
        )


class Span:
    """The readings of a fit, and the sums that follow from them. Call :meth:`ask` for the next
    reading, then :meth:`take` with each reading until no more is asked for, then :meth:`answer`."""

    def __init__(
        self, executor: CompiledExecutor, frame: Frame, size: int, isa: str | None
    ) -> None:
        self._frame, self._name = frame, executor.plan.name
        self._n_free = len(executor.opt_param_names)
        self._memory = aligned(size)
        self._memory[:8] = 0.0  # nothing is known
        self._begin = address(self._memory)
        self._size, self._form = size, 0
        self._n_x = executor.window.x_end - executor.window.x_begin
        if isa is not None:
            frame.call["isa"] = CONSTANTS[f"ISA_{isa}"]

    def ask(self, theta: Array, form: str) -> Reading | None:
        """What has to be read for the sums at theta; None where nothing has."""
        self._frame.theta[:] = theta
        self._form = FORMS[form]
        flags = CONSTANTS["PREPARE_SHAPES"] | (CONSTANTS["PREPARE_SLOPES"] if self._form else 0)
        raise_status(LIBRARY.pyspec_prepare(self._frame.address, flags), self._name)
        reading = record("pyspec_reading", {})
        self._call(LIBRARY.pyspec_span_ask, address(reading))
        return self._reading(reading)

    def take(self, read: Nodes) -> Reading | None:
        """Takes what was read over all rows. What has to be read besides; None: nothing."""
        reading = record("pyspec_reading", {})
        sums = collect_data(read)
        self._call(LIBRARY.pyspec_span_take, address(sums), address(reading))
        return self._reading(reading)

    def answer(self) -> Array:
        """The triangle at the theta that was asked for."""
        triangle = np.zeros(triangle_size(self._n_free + 1 if self._form else 1))
        self._call(LIBRARY.pyspec_span_answer, address(triangle))
        return triangle

    def _call(self, entry: Callable[..., int], *more: int) -> None:
        status = entry(self._frame.address, self._form, self._begin, self._size, *more)
        raise_status(status, self._name)

    def _reading(self, reading: npt.NDArray[np.void]) -> Reading | None:
        fields = {name: int(reading[name][0]) for name in reading.dtype.names or ()}
        if not fields["is_due"]:
            return None
        n, stride, between = fields["n"], fields["stride"], fields["between"]
        shapes = np.zeros((fields["n_traces"], between))
        if fields["has_model"]:
            for k, line in enumerate(shapes):
                first = fields["shapes"] + 8 * k * between
                line[: self._n_x] = doubles_at(first, self._n_x)
        n_rows = stride if fields["has_model"] else 0
        return Reading(
            row=fields["row"],
            functions=self._of_memory(fields["functions"], n, stride),
            weights=self._of_memory(fields["weights"], 1, stride)[0],
            by_x=doubles_at(fields["by_x"], self._n_x),
            heights=self._of_memory(fields["heights"], n_rows, fields["n_traces"]),
            shapes=shapes,
            size=fields["size"],
        )

    def _of_memory(self, place: int, n_lines: int, n: int) -> Array:
        """A part of the memory of the span."""
        first = (place - self._begin) // 8
        return self._memory[first : first + n_lines * n].reshape(n_lines, n)


@contextmanager
def span_of(
    executor: CompiledExecutor, fixed: Values, isa: str | None = None
) -> Iterator[Span | None]:
    """The span of a fit, inside of the `with` block; None where there is no such way. `isa` is the
    build of the kernels, by default that of this process."""
    size = 0
    if executor.is_apart("gram"):
        size = int(LIBRARY.pyspec_span_size(executor.packed.address, address(executor.problem)))
    if not size:
        yield None
        return
    with executor.prepared(fixed) as frame:
        own = frame.call["isa"].copy()
        try:
            yield Span(executor, frame, size, isa)
        finally:
            frame.call["isa"] = own
