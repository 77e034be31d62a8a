"""Continues a solver that ended in doubt, and runs the fit over the nonlinear parameters of a
model. See csrc/solver/lm_ways.c and csrc/solver/lm_reduce.c."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, LIBRARY
from pyspec._library.memory import WORDS, address_in, copies, fill, reading, words_of
from pyspec.executor.protocol import PartsInMemory
from pyspec.fit.solve.native import Evaluate, NativeSolver, Told, Watch, loop

Array = npt.NDArray[np.float64]

#: What a search does. WAYS looks for ways out of a doubtful end. BACK does the same after a fit
#: that began by eliminating linear parameters. REDUCED only runs the fit that eliminates them.
WAYS, BACK, REDUCED = (CONSTANTS[f"SEARCH_{name}"] for name in ("WAYS", "BACK", "REDUCED"))

_STATE = WORDS["pyspec_search"]
_, _READ = reading("pyspec_search", ("best",))


@lru_cache(maxsize=64)
def _work_of(n: int) -> int:
    """Bytes that C needs for n parameters."""
    return int(LIBRARY.pyspec_search_work_size(n))


def memory_of(n: int, linear: Sequence[int], **fields: int) -> tuple[bytearray, int]:
    """The structure of a search over n parameters with its work memory, and its address."""
    marks = bytearray(8 * -(-n // 8))
    for k in linear:
        marks[k] = 1
    head = 8 * _STATE
    memory = bytearray(head + len(marks) + _work_of(n))
    begin = address_in(memory)
    memory[head : head + len(marks)] = marks
    places = {"linear": begin + head if linear else 0, "work": begin + head + len(marks)}
    fill("pyspec_search", {**places, **fields}, memory)
    return memory, begin


def memories_of(
    n: int, linear: Sequence[int], limit: int, n_slots: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The same of so many searches."""
    memory, _ = memory_of(n, linear, limit=limit)
    fields = ("linear", "work") if linear else ("work",)
    addresses = [words_of("pyspec_search", (field,)) for field in fields]
    return copies(memory, len(memory) - _work_of(n), addresses, n_slots)


class Search:
    """A search with a solver, which has the best point when it has run.

    Parameters
    ----------
    solver : one that has ended, or for REDUCED one that has not begun
    start : (n,) where the fit of all began
    linear : places of the parameters that the model is linear in
    reduces : WAYS, BACK or REDUCED
    limit : evaluations at most, None without a limit
    eliminated : (n,) where the fit begins that eliminates them, if not at `start`
    is_counts : whether the weights depend on the parameters, as those of counts do
    """

    def __init__(
        self,
        solver: NativeSolver,
        start: Array,
        linear: Sequence[int],
        reduces: int,
        limit: int | None,
        eliminated: Array | None = None,
        *,
        is_counts: bool = False,
    ) -> None:
        self.solver, self._before = solver, solver.nfev
        starts = start if eliminated is None else eliminated
        self._starts = bytearray(start.tobytes() + starts.tobytes())
        begin = address_in(self._starts)
        fields = {
            "solver": solver.address,
            "start": begin,
            "eliminated": begin + 8 * start.size,
            "is_counts": int(is_counts),
            "limit": 0 if limit is None else self._before + limit,
            "reduces": reduces,
        }
        self._memory, self._address = memory_of(start.size, linear, **fields)

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """(lower, upper) of each parameter."""
        return self.solver.bounds

    def told(self) -> Told:
        """Evaluations so far, chi² at the best point of a run, and the best of all."""
        solver = self.solver
        return solver.nfev - self._before, solver.chisqr, float(_READ(self._memory)[0])

    def run_parts(self, parts: PartsInMemory, watch: Watch, each: bool) -> None:
        """As :meth:`NativeSolver.run_parts`."""
        try:
            loop(LIBRARY.pyspec_search_fit, self._address, parts, self.told, watch, each)
        finally:
            self._stop()

    def run(self, evaluate: Evaluate, watch: Watch) -> None:
        """As :meth:`NativeSolver.run`."""
        try:
            self.solver.ask(
                evaluate, lambda: LIBRARY.pyspec_search_step(self._address), self.told, watch
            )
        finally:
            self._stop()

    def _stop(self) -> None:
        LIBRARY.pyspec_search_stop(self._address)
        self.solver.forget()
