"""The memory of one call into the library."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, DTYPES, ISA, LIBRARY
from pyspec._library.memory import ALIGNED, WORDS, address, aligned_at, fill, view
from pyspec.executor.protocol import Array
from pyspec.plan import PackedPlan, ScheduledPlan, check

#: Words of the structures that a frame begins with: the problem, the call.
_PROBLEM, _CALL = WORDS["pyspec_problem"], WORDS["pyspec_call"]

#: Where the fixed values stand among these words, the output and its size, and memory, each address
#: before the size.
_FIXED = (DTYPES["pyspec_problem"].names or ()).index("fixed")
_OUT, _N_OUT, _WORK, _PREPARED = (
    _PROBLEM + (DTYPES["pyspec_call"].names or ()).index(name)
    for name in ("out", "n_out", "work", "prepared")
)


class Frame:
    """The memory of one call that evaluates `plan`. `packed` and `problem` are the plan and the
    ``pyspec_problem`` as C reads them, `external` what functions in Python give at its values."""

    def __init__(
        self,
        plan: ScheduledPlan,
        packed: PackedPlan,
        problem: npt.NDArray[np.void],
        external: tuple[Array, Array] | None,
    ) -> None:
        # One piece of memory: the problem, the call, theta, the fixed values.
        begin, n_theta = _PROBLEM + _CALL, plan.theta.size
        self._words = np.empty(begin + n_theta + plan.fixed.size, np.int64)
        place = address(self._words)
        values = self._words.view(np.float64)
        self.theta, self.fixed = values[begin : begin + n_theta], values[begin + n_theta :]
        self.theta[:], self.fixed[:] = plan.theta, plan.fixed
        self._words[:_PROBLEM] = np.frombuffer(problem, np.int64)
        self.theta_address = place + 8 * begin
        self.external: tuple[Array, Array] | None = None
        if external is not None:
            traces, spectra = map(np.ascontiguousarray, external)
            self.external, own = (traces, spectra), self.problem
            own["external"], own["spectra"] = address(traces), address(spectra)
            own["n_external"] = len(traces) + len(spectra)
        self._words[_FIXED] = self.theta_address + 8 * n_theta
        self._packed, self._problem = packed, place
        check(packed, plan.name, place)
        fields = {
            "plan": packed.address,
            "problem": place,
            "theta": self.theta_address,
            "isa": CONSTANTS[f"ISA_{ISA}"],
        }
        fill("pyspec_call", fields, self._words, _PROBLEM)
        self.address = place + 8 * _PROBLEM
        self._room: Array | None = None
        self._has_slopes = False

    @property
    def problem(self) -> npt.NDArray[np.void]:
        """The ``pyspec_problem``, (1,)."""
        return view("pyspec_problem", self._words)

    @property
    def call(self) -> npt.NDArray[np.void]:
        """The ``pyspec_call``, (1,)."""
        return view("pyspec_call", self._words, _PROBLEM)

    def send_to(self, out: Array) -> None:
        """Makes `out` the output of the next call."""
        self._words[_OUT] = address(out)
        self._words[_N_OUT] = out.size

    def fill_external(self, traces: Array, spectra: Array) -> None:
        """Hands over what registered functions gave."""
        assert self.external is not None
        self.external[0][...] = traces
        self.external[1][...] = spectra

    def make_room(self, slopes: bool) -> None:
        """Allocates work memory, and memory for values that are the same for all rows, before the
        first call. Allocates more of both before the first call that asks for slopes."""
        if self._room is not None and self._has_slopes >= slopes:
            return
        plan, problem = self._packed.address, self._problem
        work_size = LIBRARY.pyspec_jacobian_work_size if slopes else LIBRARY.pyspec_work_size
        flags = CONSTANTS["PREPARE_SLOPES"] if slopes else 0
        size = work_size(plan, problem)
        prepared_size = LIBRARY.pyspec_prepared_size(plan, problem, flags)
        begin = -(-size // ALIGNED) * ALIGNED
        self._room, place = aligned_at(begin + prepared_size)
        if prepared_size:
            self._room[begin // 8] = 0.0  # the address of the plan comes first: nothing is prepared
        self._has_slopes = slopes
        self._words[_WORK : _WORK + 2] = place, size
        self._words[_PREPARED : _PREPARED + 2] = place + begin, prepared_size
