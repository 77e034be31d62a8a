"""The fits of a batch in C, on its threads and without Python between them. Eight run side by side
where the plan allows, else one after the other.

What C is not certain of is left to the single fit."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, DTYPES, LIBRARY, raise_status
from pyspec._library.memory import ALIGNED, address, record, view
from pyspec.errors import PyspecError
from pyspec.executor.laid import Arrays, FitLayout, layout_of
from pyspec.executor.team import Team, at_work, threads_for
from pyspec.fit.batch.cases import Bools, Cases, Rows
from pyspec.fit.batch.solved import Solved
from pyspec.fit.problem import problem_of
from pyspec.fit.solve.conclude import NEAR
from pyspec.fit.solve.methods import NATIVE, How
from pyspec.fit.solve.native import (
    MOST_EVALUATIONS,
    PATIENCE,
    SECONDS,
    NativeSolver,
    native_options,
)
from pyspec.fit.solve.search import memories_of
from pyspec.model import Measurement
from pyspec.plan import CompiledModel, check
from pyspec.plan.start import start_parameters

Array = npt.NDArray[np.float64]

#: Cases of one call of C at most, and bytes of data that are put together for it.
MOST_CASES, MOST_BYTES = 4096, 1 << 23

_AGAIN, _LANES = CONSTANTS["FIT_AGAIN"], CONSTANTS["LANES"]


class InC:
    """The fits of a batch that C can make.

    Parameters
    ----------
    like : a measurement from which those of the others differ in their values alone
    read : the same with its arrays as C reads them
    laid : how its structures are laid out, and these arrays
    """

    def __init__(
        self,
        cases: Cases,
        how: How,
        compiled: CompiledModel,
        like: Measurement,
        read: Measurement,
        laid: tuple[FitLayout, Arrays],
    ) -> None:
        self.cases, self.how, self.compiled, self.like = cases, how, compiled, like
        self.layout, self.arrays = laid
        self.laid = self.layout.take(self.arrays)
        #: The structure of the measurement, as C has it.
        self.problem = view("pyspec_problem", self.laid.words)
        check(compiled.packed, compiled.plan.name, address(self.problem))
        names = compiled.names
        self.of_model = compiled.model, compiled.parameters, names
        self.start = compiled.start or start_parameters(*self.of_model)
        #: Whether the data have a part in where the fits begin.
        self.data_move_starts = bool(self.start.moved) and compiled.start is None
        #: Whether parameters may move jumps at other fixed values.
        self.may_jump = bool(compiled.plan.jumps)
        self.tolerance, _ = native_options(compiled.model.name, how.options)
        is_scaled = like.loss != "poisson" if how.scale_covar is None else bool(how.scale_covar)
        fixed_names, needed = compiled.plan.fixed_names, max(NEAR, self.tolerance)
        self.solved = Solved(len(cases), names, fixed_names, self.start, is_scaled, needed)
        #: Places of the parameters that the model is linear in, and natural sizes of all.
        self.linear = [names.index(name) for name in compiled.linear]
        of_data = compiled.start or start_parameters(*self.of_model, {}, read.glimpse)
        self.sizes = np.array(of_data.units, np.float64)

    @classmethod
    def of(
        cls, cases: Cases, how: How, compiled: CompiledModel, like: Measurement, backend: str
    ) -> InC | None:
        """Those of a model; None where Python takes part in each of them."""
        if (
            how.methods != (NATIVE,)
            or how.max_seconds is not None
            or not how.options.keys() <= {"tolerance"}
            or backend != "compiled"
        ):
            return None
        try:
            outline = compiled.outline
            if outline is None or outline.has_free or outline.is_idle or compiled.jumps:
                return None
            if type(like.data) is not np.ndarray:
                return None
            arrays, _ = cases.arrays(range(1), like)
            read, own = copy.copy(like), zip(Arrays._fields, arrays, strict=True)
            vars(read).update({name: array[0] for name, array in own if array is not None})
            laid = layout_of(compiled, read)
            if laid is None:
                problem_of(compiled, read, backend)  # lays it out
                laid = layout_of(compiled, read)
            return None if laid is None else cls(cases, how, compiled, like, read, laid)
        except PyspecError:  # each fit says so
            return None

    def run(
        self, n_first: int, check: Callable[[], None], each: bool
    ) -> Iterator[tuple[int, Bools]]:
        """(place of the first, which of them C made) for consecutive cases, as they end. C makes
        none of the `n_first` first ones. With `each`, a case begins only after the previous one was
        reported."""
        n = len(self.cases)
        size = self.like.data.nbytes if self.like.data is not None else 1
        most = max(1, min(MOST_CASES, MOST_BYTES // size))
        n_threads = 1 if each else min(threads_for(self.layout.size * min(n, most)), n)
        most = -(-most // n_threads) * n_threads  # as many for each of them
        with ExitStack() as stack:
            stack.callback(self.layout.give_back, self.laid)
            team = None
            if n_threads > 1:
                team = Team(n_threads, 0, 2, 1)
                stack.enter_context(at_work(team))
            slots = _Slots(self, n_threads, team)
            for begin in range(0, n, most):
                able = np.arange(begin, min(begin + most, n)) >= n_first
                yield from self._block(begin, able, slots, check, each)

    def _block(
        self, begin: int, able: Bools, slots: _Slots, check: Callable[[], None], each: bool
    ) -> Iterator[tuple[int, Bools]]:
        solved, places = self.solved, range(begin, begin + len(able))
        arrays, alike = self.cases.arrays(places, self.like)
        able = able & alike & self._starts(places) & self._is_read(arrays)
        if isinstance(self.cases.measured, Rows):
            solved.checksums[begin : begin + len(places)] = self.cases.measured.checksums(places)
        many = self._many(arrays, places, slots)
        done, budget = 0, max(1, int(PATIENCE / (self.layout.size * SECONDS)))
        while done < len(places):
            if not able[done]:
                yield begin + done, np.zeros(1, bool)
                done += 1
                continue
            others = np.flatnonzero(~able[done:])
            last = done + int(others[0]) if others.size else len(places)
            last = done + 1 if each else last
            many["n_cases"], many["next"], many["n_done"] = last, done, done
            while done < last:
                check()
                start = time.perf_counter()
                status = LIBRARY.pyspec_fit_many(address(many), slots.team, budget)
                if status < 0:
                    raise_status(-status, "many fits")
                seconds = time.perf_counter() - start
                solved.seconds += seconds
                now, new = begin + done, last - done
                if status == _AGAIN:
                    budget = max(1, int(budget * min(4.0, PATIENCE / max(seconds, 1e-6))))
                    new = solved.n_ended(now, begin + last)
                yield now, solved.made_of(slice(now, now + new))
                done += new

    def _is_read(self, arrays: Arrays) -> bool:
        """Whether C reads the arrays of each case as it does those of the first."""
        problem, is_trace = self.problem, self.compiled.plan.is_trace
        for name in Arrays._fields:
            array, steps = getattr(arrays, name), [f"{name}_row", f"{name}_x"]
            if array is not None:
                own = steps[:1] if is_trace else steps[-array.ndim + 1 :]
                if array.strides[1:] != tuple(int(problem[step][0]) for step in own):
                    return False
        return True

    def _many(self, arrays: Arrays, places: range, slots: _Slots) -> npt.NDArray[np.void]:
        """The structure of C for these cases."""
        solved, begin, problem = self.solved, places[0], self.problem
        fields: dict[str, float] = {"slots": address(slots.structs), "n_slots": len(slots.structs)}
        if slots.beside_size:
            fields |= {"beside": address(slots.beside), "beside_size": slots.beside_size}
        for name in Arrays._fields:
            array = getattr(arrays, name)
            fields[name] = int(problem[name][0])
            if array is not None:
                fields |= {name: address(array), f"{name}_case": array.strides[0]}
        for name in ("fixed", "start"):
            array = getattr(solved, name)[begin:]
            fields |= {name: address(array) if array.size else 0, f"{name}_case": array.strides[0]}
        fields |= {"is_scaled": int(solved.is_scaled), "sizes": address(self.sizes)}
        fields["fitted"] = address(solved.fitted[begin:])
        fields["numbers"] = address(solved.numbers[begin:])
        return record("pyspec_many", fields)

    def _starts(self, places: range) -> npt.NDArray[np.bool_]:
        """Writes where cases begin; which of them begin where C may."""
        cases, solved, start = self.cases, self.solved, self.start
        own = slice(places[0], places[-1] + 1)
        solved.start[own] = start.theta
        solved.fixed[own] = [start.values[name] for name in solved.fixed_names]
        able = np.ones(len(places), bool)
        if not (self.data_move_starts or any(cases.values)):
            return able
        columns = {
            name: (solved.start, k, start.limits[name][:2]) for k, name in enumerate(solved.names)
        }
        free = -math.inf, math.inf
        columns |= {name: (solved.fixed, k, free) for k, name in enumerate(solved.fixed_names)}
        if self.data_move_starts:
            return np.array([self._starts_by_data(place) for place in places])
        for place in places:
            for name, value in cases.values_of(place).items():
                if name in columns:  # and no quantity that takes no part
                    array, k, (low, high) = columns[name]
                    array[place, k] = value
                    moves_jumps = array is solved.fixed and self.may_jump
                    able[place - places[0]] &= low < value < high and not moves_jumps
        return able

    def _starts_by_data(self, place: int) -> bool:
        """The same of one case whose data have a part in it."""
        solved, values = self.solved, self.cases.values_of(place)
        try:
            glimpse = self.cases.measurement(place).glimpse
            start = start_parameters(*self.of_model, values, glimpse)
        except PyspecError:
            return False
        solved.start[place] = start.theta
        solved.fixed[place] = [start.values[name] for name in solved.fixed_names]
        return True


class _Slots:
    """Memory of the fits of so many threads at a time: where C evaluates fits side by side, each
    thread has a group of them."""

    def __init__(self, job: InC, n: int, team: Team | None) -> None:
        solved, most = job.solved, min(MOST_EVALUATIONS, job.how.max_nfev or MOST_EVALUATIONS)
        self.team = None if team is None else team.address
        size = LIBRARY.pyspec_beside_size(job.compiled.packed.address, address(job.problem))
        self.beside_size = ALIGNED * -(-size // ALIGNED)
        in_group = _LANES if size else 1
        n_slots = n * in_group
        memory = np.zeros(n * self.beside_size // 8 + ALIGNED // 8) if size else np.empty(0)
        self.beside = memory[-address(memory) % ALIGNED // 8 :]
        self.structs = np.zeros(n_slots, DTYPES["pyspec_slot"])
        self.structs["at"] = -1
        laid = [job.laid, *(job.layout.take(job.arrays) for _ in range(n - 1))]
        self.structs["part"] = np.repeat([laid_out.address for laid_out in laid], in_group)
        bounds = solved.lower, solved.upper
        solver = NativeSolver(solved.start[0], *bounds, 0, 0.0, most, job.tolerance)
        solvers, self.structs["solver"], self.structs["end"] = solver.copies(
            n_slots, solved.is_scaled
        )
        limit = job.how.max_nfev or 0
        searches, self.structs["search"] = memories_of(
            len(solved.names), job.linear, limit, n_slots
        )
        if job.like.loss == "poisson":  # where one is in doubt, Python knows better starts
            self.structs["search"] = 0
        self._kept = laid, solvers, searches
