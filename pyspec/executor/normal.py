"""Sums over the residuals in C: chi², Jᵀr and JᵀJ without ever storing J.

A *triangle* is the upper triangle of a symmetric matrix of order n_free + 1, row after row. It is
the Gram matrix of ``[J r]``, or (form "factor") its Cholesky factor R. J is minus the derivative of
the residual r. Its last number belongs to r alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, LIBRARY, raise_status
from pyspec._library.memory import WORDS, address, fill, view
from pyspec.executor.protocol import Values
from pyspec.executor.team import Shared, Team, choose_threads, team_of

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Triangles that may be summed, by name.
FORMS = {
    name.removeprefix("FORM_").lower(): value
    for name, value in CONSTANTS.items()
    if name.startswith("FORM_") and name != "FORM_DATA"
}

#: Sums of the data, which are no triangle.
DATA = CONSTANTS["FORM_DATA"]


def triangle_size(order: int) -> int:
    """Numbers in a triangle."""
    return order * (order + 1) // 2


def node_size(form: int, order: int) -> int:
    """The number of values that are summed together: `order` for sums of the data, else a triangle
    of this order."""
    return order if form == DATA else triangle_size(order)


def order_of(triangle: Array) -> int:
    """The order of the matrix that a triangle belongs to."""
    return (math.isqrt(8 * triangle.size + 1) - 1) // 2


@lru_cache(maxsize=64)
def _upper(order: int) -> tuple[Ints, Ints]:
    rows, columns = np.triu_indices(order)
    return rows, columns


def unpack(triangle: Array, symmetric: bool = True) -> Array:
    """The square matrix of a triangle: symmetric, or upper triangular for a factor."""
    order = order_of(triangle)
    matrix = np.zeros((order, order))
    rows, columns = _upper(order)
    matrix[rows, columns] = triangle
    if symmetric:
        matrix[columns, rows] = triangle
    return matrix


def pack_triangle(matrix: Array) -> Array:
    """The triangle of a square matrix."""
    return np.ascontiguousarray(matrix[_upper(len(matrix))])


class Sums:
    """The memory of one ``pyspec_normal``: partial sums over consecutive rows. Of the form "data"
    n_free numbers are summed, and there is no triangle."""

    def __init__(
        self, n_free: int, n_total: int, form: str = "gram", in_strips: bool = False
    ) -> None:
        kind = DATA if form == "data" else FORMS[form]
        order = n_free + (kind != DATA)
        n_scratch = 0 if kind == DATA else order * (n_total + 1)
        capacity, begin = CONSTANTS["NORMAL_NODES"], WORDS["pyspec_normal"]
        n_nodes = capacity * node_size(kind, order)
        # One piece of memory: the structure, the triangles, their places, the scratch.
        places = begin + n_nodes
        scratch = places + 2 * capacity
        self._memory: Array = np.empty(scratch + n_scratch)
        self._parts = begin, places, scratch
        self.address = address(self._memory)
        fields = {
            "form": kind,
            "order": 1 if form == "value" else order,
            "capacity": capacity,
            "in_strips": int(in_strips),
            "nodes": self.address + 8 * begin,
            "places": self.address + 8 * places,
            "scratch": self.address + 8 * scratch,
            "n_scratch": n_scratch,
        }
        fill("pyspec_normal", fields, self._memory)

    @property
    def struct(self) -> npt.NDArray[np.void]:
        """The ``pyspec_normal``, (1,)."""
        return view("pyspec_normal", self._memory)

    @property
    def nodes(self) -> Array:
        """The triangles, one after the other."""
        return self._memory[self._parts[0] : self._parts[1]]

    @property
    def places(self) -> Ints:
        """(capacity, 2) level and index of each triangle."""
        return self._memory[self._parts[1] : self._parts[2]].view(np.int64).reshape(-1, 2)


class OpenPart(NamedTuple):
    """One executor as C evaluates it while a fit runs.

    Attributes
    ----------
    fields : fields of a ``pyspec_part``
    theta : its parameters, which C reads
    sums : its sums, which C writes
    size : points times columns of one evaluation
    kept : the arrays whose addresses are in `fields`
    """

    fields: dict[str, int]
    theta: Array
    sums: Sums
    size: int
    kept: object = None


class Parts:
    """Executors as the C loop of a fit sees them: an array of ``pyspec_part``."""

    def __init__(
        self,
        opened: Sequence[OpenPart],
        gathers: Sequence[Ints],
        n_total: int,
        team: Team | None = None,
        label: str = "fit",
    ) -> None:
        self.n = len(opened)
        self._kept, self._label = (opened, team), label
        self._places = [(part.theta, gather) for part, gather in zip(opened, gathers, strict=True)]
        self._n_total = n_total
        self.sums = [part.sums for part in opened]
        #: Address of the team that shares the work, None where one thread does it all.
        self.team = None if team is None else team.address
        # One piece of memory: the parts, and behind them where each finds its parameters.
        end = self.n * WORDS["pyspec_part"]
        self._memory = np.empty(end + sum(map(len, gathers)), np.int64)
        self.address = address(self._memory)
        for row, (gather, part) in enumerate(zip(gathers, opened, strict=True)):
            self._memory[end : end + len(gather)] = gather
            fields = {**part.fields, "gather": self.address + 8 * end}
            fill("pyspec_part", fields, self._memory, row * WORDS["pyspec_part"])
            end += len(gather)
        self.size = sum(part.size for part in opened)

    def sum(self, theta: Array, form: str) -> Array:
        """The triangle of all parts together; forms as of `CompiledExecutor.normal`."""
        for own, gather in self._places:
            own[:] = theta[gather]
        order = 1 if form == "value" else self._n_total + 1
        triangle = np.zeros(triangle_size(order))
        args = self.address, self.n, FORMS[form], order, self.team, address(triangle)
        raise_status(LIBRARY.pyspec_sum_parts(*args), self._label)
        return triangle


class Opens(Shared, Protocol):
    """An executor that a fit in C evaluates."""

    def open_part(
        self, fixed: Values, n_total: int, n_threads: int
    ) -> AbstractContextManager[OpenPart]: ...


@contextmanager
def fit_parts(
    executors: Sequence[Opens], gathers: Sequence[Ints], n_total: int, fixed: Values
) -> Iterator[Parts]:
    """The parts of a fit, inside of the `with` block, which hold memory of each executor."""
    n_threads = choose_threads(executors)
    with ExitStack() as stack:
        opened = [
            stack.enter_context(executor.open_part(fixed, n_total, n_threads))
            for executor in executors
        ]
        team = stack.enter_context(team_of(executors, n_threads))
        yield Parts(opened, gathers, n_total, team)
