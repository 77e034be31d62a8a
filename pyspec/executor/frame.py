"""The memory of one call into the library."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, DTYPES, ISA, LIBRARY
from pyspec._library.memory import address, record
from pyspec.executor.base import Window
from pyspec.executor.protocol import Array, Capabilities, Values
from pyspec.plan import PackedPlan, ScheduledPlan, check

#: Where the output stands in the words of a call.
_NAMES = DTYPES["pyspec_call"].names or ()
_OUT, _N_OUT = _NAMES.index("out"), _NAMES.index("n_out")

#: Where addresses of memory stand, each before its size.
_WORK, _PREPARED = _NAMES.index("work"), _NAMES.index("prepared")

#: Bytes at whose multiples work memory begins.
ALIGNED = 64


class External(Protocol):
    """Supplies what registered functions give: traces and components."""

    def external(self, theta: Values, fixed: Values = None) -> tuple[Array, Array]: ...


class InC(Protocol):
    """What frames, sums and teams need of an executor that runs in C."""

    @property
    def plan(self) -> ScheduledPlan: ...
    @property
    def packed(self) -> PackedPlan: ...
    @property
    def problem(self) -> npt.NDArray[Any]: ...
    @property
    def helper(self) -> External | None: ...
    @property
    def window(self) -> Window: ...
    @property
    def capabilities(self) -> Capabilities: ...
    @property
    def opt_param_names(self) -> tuple[str, ...]: ...
    @property
    def derivative_work_size(self) -> int: ...
    def take_frame(self, slopes: bool = False) -> Frame: ...
    def return_frame(self, frame: Frame) -> None: ...


def aligned(n_bytes: int) -> Array:
    """Doubles that start on a 64-byte boundary, whatever they hold: C reads none of its work memory
    before it has written there."""
    raw = np.empty(n_bytes // 8 + 8)
    skip = -address(raw) % 64 // 8
    return raw[skip : skip + n_bytes // 8]


class Frame:
    """The memory of one call."""

    def __init__(self, executor: InC) -> None:
        plan = executor.plan
        self.theta = np.array(plan.theta)
        self.fixed = np.array(plan.fixed)
        self.problem = executor.problem.view(np.int64).copy().view(executor.problem.dtype)
        self.external: tuple[Array, Array] | None = None
        if executor.helper is not None:
            traces, spectra = executor.helper.external(plan.theta)
            self.external = np.ascontiguousarray(traces), np.ascontiguousarray(spectra)
            self.problem["external"] = address(self.external[0])
            self.problem["spectra"] = address(self.external[1])
            self.problem["n_external"] = len(traces) + len(spectra)
        self.problem["fixed"] = address(self.fixed)
        problem = address(self.problem)
        check(executor.packed, plan.name, problem)
        given = {
            "plan": executor.packed.address,
            "problem": problem,
            "theta": address(self.theta),
            "isa": CONSTANTS[f"ISA_{ISA}"],
        }
        self.call = record("pyspec_call", given)
        self.address = address(self.call)
        self._room: Array | None = None
        self._has_slopes = False
        self._words = self.call.view(np.int64)
        self._target: Array | None = None

    def send_to(self, out: Array) -> None:
        """Makes `out` the output of the next call."""
        if out is not self._target:
            self._words[_OUT] = address(out)
            self._words[_N_OUT] = out.size
            self._target = out

    def fill_external(self, traces: Array, spectra: Array) -> None:
        """Hands over what registered functions gave."""
        assert self.external is not None
        self.external[0][...] = traces
        self.external[1][...] = spectra

    def make_room(self, executor: InC, slopes: bool) -> None:
        """Work memory, and memory for what is the same for all rows, before the first call; more of
        both before the first that asks for slopes."""
        if self._room is not None and self._has_slopes >= slopes:
            return
        plan, problem = executor.packed.address, address(self.problem)
        work_size = LIBRARY.pyspec_jacobian_work_size if slopes else LIBRARY.pyspec_work_size
        what = CONSTANTS["PREPARE_SLOPES"] if slopes else 0
        size = work_size(plan, problem)
        prepared_size = LIBRARY.pyspec_prepared_size(plan, problem, what)
        begin = -(-size // ALIGNED) * ALIGNED
        self._room = aligned(begin + prepared_size)
        if prepared_size:
            self._room[begin // 8] = 0.0  # the address of the plan comes first: nothing is prepared
        self._has_slopes = slopes
        place = address(self._room)
        self._words[_WORK : _WORK + 2] = place, size
        self._words[_PREPARED : _PREPARED + 2] = place + begin, prepared_size

    def forget(self) -> None:
        """Lets go of an output that the caller owns."""
        self._target = None
