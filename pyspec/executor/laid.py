"""What C needs for the fit of one measurement, laid out once for all that are like it.

Consider a fit of an unchanged model to data of the same shape in the same window. It calls C with
the structures of the previous fit; only their addresses and those of the data differ. So the
structures are kept as a template with addresses that count from its begin. For a fit the template
is copied into memory, and the address of this memory is added. The memory belongs to one fit at a
time and is handed on to the next.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, DTYPES, ISA, LIBRARY
from pyspec._library.memory import ALIGNED, WORDS, address, fill
from pyspec.executor.compiled import TYPES, CompiledExecutor, along_one_axis
from pyspec.executor.normal import FORMS, triangle_size
from pyspec.executor.protocol import Executor, Stored
from pyspec.executor.team import Team, threads_for
from pyspec.model import Measurement
from pyspec.plan import CompiledModel, ScheduledPlan

Ints = npt.NDArray[np.int64]

#: Memory of up to so many words is kept for the next fit: 1 MiB.
MOST_WORDS = 1 << 17

#: Layouts of one model that are kept, for data of so many shapes.
MOST_LAYOUTS = 4

#: Words that work memory begins at multiples of.
_LINE = ALIGNED // 8

#: The structures, in this order, and which of their fields lead to what.
_STRUCTS = ("pyspec_problem", "pyspec_call", "pyspec_normal", "pyspec_part")
_LEADS_TO = {
    ("pyspec_problem", "fixed"): "fixed",
    ("pyspec_call", "problem"): "pyspec_problem",
    ("pyspec_call", "theta"): "theta",
    ("pyspec_call", "work"): "work",
    ("pyspec_call", "prepared"): "prepared",
    ("pyspec_normal", "nodes"): "nodes",
    ("pyspec_normal", "places"): "places",
    ("pyspec_normal", "scratch"): "scratch",
    ("pyspec_part", "call"): "pyspec_call",
    ("pyspec_part", "theta"): "theta",
    ("pyspec_part", "gather"): "gather",
    ("pyspec_part", "normal"): "pyspec_normal",
    ("pyspec_part", "span"): "span",
}
_CAPACITY = CONSTANTS["NORMAL_NODES"]


class Arrays(NamedTuple):
    """What C reads of a measurement, weights and mask as of :func:`along_one_axis`."""

    data: Stored
    weight: npt.NDArray[np.float64] | None = None
    keep: npt.NDArray[np.bool_] | None = None


def arrays_of(measurement: Measurement) -> Arrays | None:
    """The arrays of a measurement; None where C reads copies of them, or part by part."""
    data, weight, keep = measurement.data, measurement.weight, measurement.keep
    if type(data) is not np.ndarray or data.dtype.char not in TYPES or not data.dtype.isnative:
        return None
    if weight is None and keep is None:
        return Arrays(data)
    if weight is not None:
        if type(weight) is not np.ndarray:
            return None
        weight = along_one_axis(np.broadcast_to(weight, data.shape))
    if keep is not None:
        if type(keep) is not np.ndarray:
            return None
        keep = along_one_axis(keep)
    return Arrays(data, weight, keep)


def layout_key(plan: ScheduledPlan, measurement: Measurement, arrays: Arrays) -> Hashable:
    """A key that is equal for all fits that may share a layout. It has the fixed values of the
    plan, the window, the noise, and the shapes of the arrays."""
    data, weight, keep = arrays
    rows, columns, scale = measurement.rows, measurement.columns, measurement.loss_scale
    steps = None if weight is None else weight.strides, None if keep is None else keep.strides
    own = data.shape, data.strides, data.dtype.char, *steps
    sums = measurement.energy_step, measurement.ends
    return plan.fixed.tobytes(), rows, columns, measurement.loss, scale, *sums, *own


def layout_of(compiled: CompiledModel, measurement: Measurement) -> tuple[FitLayout, Arrays] | None:
    """The layout of an earlier fit to such a measurement, and the arrays of this one. None where
    there was no such fit."""
    arrays = arrays_of(measurement) if compiled.layouts else None
    if arrays is None:
        return None
    layout = compiled.layouts.get(layout_key(compiled.plan, measurement, arrays))
    return None if layout is None else (layout, arrays)


def lay_out(compiled: CompiledModel, executor: Executor) -> None:
    """Lets the next fit of the model to such a measurement find what an executor of it needs of
    C."""
    if type(executor) is not CompiledExecutor or not executor.capabilities.in_c:
        return
    arrays = arrays_of(executor.measurement)
    if arrays is not None:
        key, layouts = layout_key(compiled.plan, executor.measurement, arrays), compiled.layouts
        if key not in layouts:
            if len(layouts) >= MOST_LAYOUTS:
                layouts.clear()
            layouts[key] = FitLayout(executor)


class Laid:
    """The structures of one fit, as the loop in C takes them; see
    :class:`pyspec.executor.normal.Parts`. `memory` and `arrays` are what the addresses lead to;
    `words` are those of the memory, and the first of them stands at its beginning.

    Inside of a `with` block threads share the work where that helps; when it ends, the next fit may
    have the memory."""

    __slots__ = ("_helpers", "_layout", "address", "arrays", "memory", "n", "size", "team", "words")

    def __init__(self, layout: FitLayout, place: int, memory: Ints, words: Ints) -> None:
        self._layout, self.address, self.size = layout, place, layout.size
        self.memory, self.words = memory, words.data
        self.arrays: Arrays | None = None
        self.n = 1
        self.team: int | None = None
        self._helpers: Team | None = None

    def __enter__(self) -> Laid:
        n_threads = threads_for(self.size)
        if n_threads > 1:
            self._helpers = team = self._layout.team_of(n_threads)
            team.begin()
            self.team = team.address
        return self

    def __exit__(self, *_: object) -> None:
        if self._helpers is not None:
            self._helpers.end()
            self._layout.dismiss(self._helpers)
            self._helpers = self.team = None
        self._layout.give_back(self)


class FitLayout:
    """The template of the structures of `executor`. It refers to its plan and its axes, and not to
    its data.

    Attributes
    ----------
    size : points times columns of an evaluation
    n_points : points of the window, masked ones included
    """

    def __init__(self, executor: CompiledExecutor) -> None:
        self.size = executor.shared_size
        self.n_points = math.prod(executor.window.shape)
        self._kept = executor.packed, executor.pinned, executor.shares
        n_theta, n_fixed = executor.plan.theta.size, executor.plan.fixed.size
        order, packed = n_theta + 1, executor.packed.address
        work_size, flags = executor.derivative_work_size, CONSTANTS["PREPARE_SLOPES"]
        self._of_team = work_size, order, executor.plan.n_time
        problem = address(executor.problem)
        prepared_size = LIBRARY.pyspec_prepared_size(packed, problem, flags)
        span_size = LIBRARY.pyspec_span_size(packed, problem)
        # One piece of memory: these, and behind them work memory and what is prepared.
        sizes = {name: WORDS[name] for name in _STRUCTS}
        sizes |= {"theta": n_theta, "fixed": n_fixed, "gather": n_theta}
        head = sum(sizes.values())
        sizes |= {"nodes": _CAPACITY * triangle_size(order), "places": 2 * _CAPACITY}
        sizes["scratch"] = order * order
        ends = accumulate(sizes.values(), initial=0)
        at = dict(zip([*sizes, "end"], ends, strict=True))
        at["work"] = _LINE * -(-at["end"] // _LINE)
        at["prepared"] = at["work"] + _LINE * -(-work_size // ALIGNED)
        at["span"] = at["prepared"] + _LINE * -(-prepared_size // ALIGNED)
        self._n_words = at["span"] + -(-span_size // 8) + _LINE
        self._at_part = 8 * at["pyspec_part"]
        first = at["pyspec_problem"]
        self._at_arrays = [first + _field("pyspec_problem", name) for name in Arrays._fields]
        self._at_prepared = at["prepared"] if prepared_size else None
        self._template = np.zeros(head, np.int64)
        self._places: list[tuple[int, int]] = []  # word of an address, and what it leads to
        call = {"plan": packed, "isa": CONSTANTS[f"ISA_{ISA}"]}
        call |= {"work_size": work_size, "prepared_size": prepared_size}
        # The template: what is the same for all, and places from its begin.
        plan, words = executor.plan, self._template
        normal = {"form": FORMS["gram"], "order": order, "capacity": _CAPACITY}
        normal |= {"in_strips": 1, "n_scratch": order**2}
        fill("pyspec_call", call, words, at["pyspec_call"])
        fill("pyspec_normal", normal, words, at["pyspec_normal"])
        part = {"n_theta": n_theta, "span_size": span_size}
        fill("pyspec_part", part, words, at["pyspec_part"])
        words[: WORDS["pyspec_problem"]] = np.frombuffer(executor.problem, np.int64)
        values = words.view(np.float64)
        values[at["theta"] : at["fixed"]] = plan.theta
        values[at["fixed"] : at["gather"]] = plan.fixed
        words[at["gather"] :] = np.arange(n_theta)
        for (struct, name), target in _LEADS_TO.items():
            word = at[struct] + _field(struct, name)
            self._places.append((word, 8 * at[target]))
        self._free: list[Laid] = []
        self._teams: list[Team] = []

    def take(self, arrays: Arrays) -> Laid:
        """The structures of a fit to arrays that have the key, in memory of its own until
        :meth:`give_back`."""
        if self._free:
            laid = self._free.pop()
        else:
            memory = np.empty(self._n_words, np.int64)
            begin = address(memory)
            skip = -begin % ALIGNED
            begin += skip
            words = memory[skip // 8 :]
            words[: self._template.size] = self._template
            laid = Laid(self, begin + self._at_part, memory, words)
            for word, offset in self._places:
                laid.words[word] = begin + offset
        laid.arrays = arrays
        for at, array in zip(self._at_arrays, arrays, strict=True):
            if array is not None:
                laid.words[at] = address(array)
        if self._at_prepared is not None:  # the address of the plan comes first: nothing is there
            laid.words[self._at_prepared] = 0
        return laid

    def give_back(self, laid: Laid) -> None:
        """Lets the next fit have this memory, unless it is large."""
        laid.arrays = None
        if self._n_words <= MOST_WORDS and not self._free:
            self._free.append(laid)

    def team_of(self, n_threads: int) -> Team:
        """A team of so many threads, that of an earlier fit where there is one."""
        team = self._teams.pop() if self._teams else None
        if team is None or team.n_threads != n_threads:
            team = Team(n_threads, *self._of_team)
        return team

    def dismiss(self, team: Team) -> None:
        """Lets the next fit have the team, unless its memory is large."""
        if (team.n_threads - 1) * self._of_team[0] <= 8 * MOST_WORDS and not self._teams:
            self._teams.append(team)


def _field(struct: str, name: str) -> int:
    return (DTYPES[struct].names or ()).index(name)
