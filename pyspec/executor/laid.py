"""What C needs for the fit of one measurement, laid out once for all that are like it.

A fit of a model that has not changed, to data of the same shape in the same window, calls C with
the structures of the fit before, but for where they lie and where the data are. So they are kept
as a template, in which addresses count from its begin. It is copied into memory of a fit, and the
address of that is added. The memory is that of one fit at a time, and then of the next.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, DTYPES, ISA, LIBRARY
from pyspec._library.memory import WORDS, address, fill
from pyspec.executor.compiled import TYPES, CompiledExecutor
from pyspec.executor.frame import ALIGNED
from pyspec.executor.normal import FORMS, triangle_size
from pyspec.executor.team import size_of
from pyspec.model import Measurement

Ints = npt.NDArray[np.int64]

#: Memory of up to so many words is kept for the next fit: half a MiB.
MOST_WORDS = 1 << 16

#: Words that work memory begins at multiples of.
_LINE = ALIGNED // 8


def layout_key(measurement: Measurement) -> Hashable | None:
    """What a layout depends on in a measurement: equal for all that may share one. None where it
    depends on values, too, as those of weights and masks, and where C reads a copy of the data."""
    data = measurement.data
    if measurement.weight is not None or measurement.keep is not None:
        return None
    if data is None or type(data) is not np.ndarray:
        return None
    dtype = data.dtype
    if dtype.char not in TYPES or not dtype.isnative:
        return None
    window, loss = (
        (measurement.rows, measurement.columns),
        (measurement.loss, measurement.loss_scale),
    )
    return *window, *loss, data.shape, data.strides, dtype.char


class Laid:
    """The structures of one fit, as the loop in C takes them; see
    :class:`pyspec.executor.normal.Parts`. `memory` and `data` are what the addresses lead to;
    `words` are those of the memory, and the first of them stands at its beginning."""

    __slots__ = ("address", "data", "memory", "n", "size", "team", "words")

    def __init__(self, place: int, size: int, memory: Ints, words: Ints) -> None:
        self.address, self.size = place, size
        self.memory, self.words = memory, words.data
        self.data: npt.NDArray[Any] | None = None
        self.n = 1
        self.team: int | None = None


class FitLayout:
    """The template of the structures of `executor`, whose measurement has this `key`. It refers to
    its plan and its axes, and not to its data.

    Attributes
    ----------
    key : as of :func:`layout_key`
    size : points times columns of an evaluation
    n_points : points of the window
    """

    def __init__(self, executor: CompiledExecutor, key: Hashable) -> None:
        self.key, self.size = key, size_of(executor)
        self.n_points = math.prod(executor.window.shape)
        self._kept = executor.packed, executor.pinned
        plan, problem = executor.plan, address(executor.problem)
        n_free, capacity = len(plan.opt_param_names), CONSTANTS["NORMAL_NODES"]
        packed, what = executor.packed.address, CONSTANTS["PREPARE_SLOPES"]
        work_size = executor.derivative_work_size
        prepared_size = int(LIBRARY.pyspec_prepared_size(packed, problem, what))
        scratch = (n_free + 1) * (n_free + 1)
        structs = ("pyspec_problem", "pyspec_call", "pyspec_normal", "pyspec_part")
        sizes = {name: WORDS[name] for name in structs}
        sizes |= {"theta": plan.theta.size, "fixed": plan.fixed.size, "gather": n_free}
        head = sum(sizes.values())
        sizes |= {"nodes": capacity * triangle_size(n_free + 1), "places": 2 * capacity}
        sizes["scratch"] = scratch
        at, end = {}, 0
        for name, size in sizes.items():
            at[name], end = end, end + size
        at["work"] = -(-end // _LINE) * _LINE
        at["prepared"] = at["work"] + -(-work_size // ALIGNED) * _LINE
        self._free: list[Laid] = []
        self._n_words = at["prepared"] + -(-prepared_size // 8) + _LINE
        self._head = head
        self._template = np.zeros(head, np.int64)
        self._is_place = np.zeros(head, np.int64)
        self._at_data = at["pyspec_problem"] + _field("pyspec_problem", "data")
        self._at_prepared = at["prepared"] if prepared_size else None
        self._part = 8 * at["pyspec_part"]

        self._template[: WORDS["pyspec_problem"]] = np.frombuffer(executor.problem, np.int64)
        values = self._template.view(np.float64)
        values[at["theta"] : at["fixed"]] = plan.theta
        values[at["fixed"] : at["gather"]] = plan.fixed
        self._template[at["gather"] : head] = np.arange(n_free)
        call = {"plan": packed, "isa": CONSTANTS[f"ISA_{ISA}"]}
        call |= {"work_size": work_size, "prepared_size": prepared_size}
        normal = {"form": FORMS["gram"], "order": n_free + 1, "capacity": capacity}
        normal |= {"separable": 1, "n_scratch": scratch}
        for name, given in (
            ("pyspec_call", call),
            ("pyspec_normal", normal),
            ("pyspec_part", {"n_theta": n_free}),
        ):
            fill(name, given, self._template, at[name])
        for name, places in {
            "pyspec_problem": {"fixed": "fixed"},
            "pyspec_call": {
                "problem": "pyspec_problem",
                "theta": "theta",
                "work": "work",
                "prepared": "prepared",
            },
            "pyspec_normal": {"nodes": "nodes", "places": "places", "scratch": "scratch"},
            "pyspec_part": {
                "call": "pyspec_call",
                "theta": "theta",
                "gather": "gather",
                "normal": "pyspec_normal",
            },
        }.items():
            for field, target in places.items():
                word = at[name] + _field(name, field)
                self._template[word], self._is_place[word] = 8 * at[target], 1

    def take(self, data: npt.NDArray[Any]) -> Laid:
        """The structures of a fit to data that have the key, in memory of its own until
        :meth:`give_back`."""
        try:
            laid = self._free.pop()
        except IndexError:
            laid = self._lay_out()
        laid.data = data
        laid.words[self._at_data] = address(data)
        if self._at_prepared is not None:  # the address of the plan comes first: nothing is there
            laid.words[self._at_prepared] = 0
        return laid

    def give_back(self, laid: Laid) -> None:
        """Lets the next fit have this memory, unless it is large."""
        laid.data = None
        if self._n_words <= MOST_WORDS and not self._free:
            self._free.append(laid)

    def _lay_out(self) -> Laid:
        memory = np.empty(self._n_words, np.int64)
        begin = address(memory)
        skip = -begin % ALIGNED
        begin += skip
        words = memory[skip // 8 :]
        head = words[: self._head]
        np.multiply(self._is_place, begin, out=head)
        head += self._template
        return Laid(begin + self._part, self.size, memory, words)


def _field(struct: str, name: str) -> int:
    return (DTYPES[struct].names or ()).index(name)
