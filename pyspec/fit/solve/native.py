"""The solver in C as Python drives it: start, loop, limits, and what it found.

The loop runs in C for a few hundredths of a second at a time and then comes back, so that Ctrl-C,
limits and a progress bar are answered in time. Where an evaluation needs Python (registered
functions, other executors), the same state machine asks for each evaluation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import accumulate
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, LIBRARY, raise_status
from pyspec._library import memory as _memory
from pyspec._library.memory import WORDS, address, address_in, reading, struct_of, words_of
from pyspec.errors import FitError
from pyspec.executor.normal import FORMS, triangle_size, unpack
from pyspec.executor.protocol import PartsInMemory
from pyspec.fit.ending import Ending
from pyspec.fit.solve.covariance import root_of

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Supplies the triangle of [J r], or chi² alone, at a point: (theta, form) -> triangle.
Evaluate = Callable[[Array, str], Array]

#: What an ending depends on: how many points count, and how many amplitudes were solved for.
#: Whether the variance of a point is chi² over the degrees of freedom. The intervals of parameters
#: that are judged elsewhere. Last the information, of counts alone.
_Question = tuple[int, int, bool, Mapping[int, tuple[float, float]], bytes]

#: Called between evaluations with (evaluations, chi², best chi²); may raise to end the fit.
Watch = Callable[[int, float, float], None]

#: Converged where the next undamped step is this many standard errors long.
TOLERANCE = 5e-8

#: The C loop comes back after about this many seconds. Each time costs up to a tenth of a
#: millisecond: by then what Python needs has left the caches.
PATIENCE = 0.05

#: Seconds for each point and column of the derivatives, until they have been measured. This is up
#: to twice the time of a line with a moving place.
SECONDS = 1e-9

#: A residual of 64 last digits of the data is rounding: this share of them, squared.
EXACT = (64 * float(np.finfo(float).eps)) ** 2

#: Evaluations after which a fit without `max_nfev` gives up.
MOST_EVALUATIONS = 5000

_DONE, _NEED = CONSTANTS["FIT_DONE"], CONSTANTS["FIT_NEED_NORMAL"]
_RUNNING, _WEAK = CONSTANTS["END_RUNNING"], CONSTANTS["ENDING_WEAK"]
_ENDS = {
    value: name.removeprefix("END_").lower()
    for name, value in CONSTANTS.items()
    if name.startswith("END_")
}
#: The bytes of the state; what fills it, and what reads the part of it that Python asks for.
_STATE = 8 * WORDS["pyspec_solver"]
_NUMBERS = "n", "n_points", "max_nfev", "tolerance", "data_square", "every"
_ARRAYS = "theta", "lower", "trial", "answer", "normal", "work"
_FILL = struct_of("pyspec_solver", (*_NUMBERS, *_ARRAYS)).pack_into
_ASKED, _READ = reading(
    "pyspec_solver",
    ("data_square", "end", "nfev", "phase", "form", "chisqr", "distance", "needs_factor"),
)
_DATA_SQUARE, _END, _NFEV, _PHASE, _FORM, _CHISQR, _DISTANCE, _NEEDS_FACTOR = _ASKED
#: The same of an ending.
_END_ARRAYS = "held", "side", "gain", "covariance", "factor", "information", "work"
_END_NUMBERS = "n_free", "is_scaled", "has_information"
_FILL_END = struct_of("pyspec_end", (*_END_NUMBERS, *_END_ARRAYS)).pack_into
_READ_END = struct_of("pyspec_end", ("flags", "variance", "distance")).unpack_from
_FORM_NAMES = {value: name for name, value in FORMS.items()}


def native_options(label: str, options: dict[str, object]) -> tuple[float, bool]:
    """What the native solver takes: the tolerance, and whether linear parameters are eliminated.
    Raises :class:`FitError` for others."""
    others = dict(options)
    tolerance, linear = others.pop("tolerance", TOLERANCE), others.pop("linear", None)
    if others:
        raise FitError(
            f"{label}: native takes no option {next(iter(others))!r}; it takes tolerance (in "
            'standard errors) and linear. Options of MINPACK need method="leastsq"'
        )
    if not isinstance(tolerance, (int, float)) or not 0 < tolerance < 1:
        raise FitError(
            f"{label}: tolerance must lie between 0 and 1 standard errors, not {tolerance!r}"
        )
    return float(tolerance), linear is not None


#: Evaluations, chi² at the best point of a run, and the best of all.
Told = tuple[int, float, float]


def loop(
    call: Callable[..., int],
    solver: int,
    parts: PartsInMemory,
    told: Callable[[], Told],
    watch: Watch,
    each: bool,
) -> None:
    """Calls a loop in C, which takes a budget of evaluations, until it is done; `solver` is the
    address of its state."""
    args = solver, parts.address, parts.n, parts.team
    budget = 1 if each else max(1, int(PATIENCE / (parts.size * SECONDS)))
    while True:
        begin = time.perf_counter()
        status = call(*args, budget)
        if status < 0:
            raise_status(-status, "fit")
        seconds = time.perf_counter() - begin
        watch(*told())
        if status == _DONE:
            return
        if not each:
            budget = max(1, int(budget * min(4.0, PATIENCE / max(seconds, 1e-6))))


class NativeSolver:
    """One Levenberg-Marquardt fit on its way. C finds it at its `address`.

    Parameters
    ----------
    start, lower, upper : (n,) free parameters and their bounds
    n_points : residuals that count
    data_square : sum of the squared (weighted) data; a fit is exact where chi² is rounding of it
    max_nfev : evaluations at most
    tolerance : in standard errors
    """

    def __init__(
        self,
        start: Array,
        lower: Array,
        upper: Array,
        n_points: int,
        data_square: float,
        max_nfev: int,
        tolerance: float = TOLERANCE,
    ) -> None:
        self._places = at = _places_of(start.size)
        # Of Python's own: it is read and written without NumPy, which takes longer to begin.
        self._memory = memory = bytearray(at.end)
        self.address = begin = address_in(memory)
        memory[_STATE : at.trial] = start.tobytes() + lower.tobytes() + upper.tobytes()
        self.n = start.size
        numbers = start.size, n_points, max_nfev, tolerance, data_square, self.every
        arrays = begin + at.lower, begin + at.trial, begin + at.answer, begin + at.normal
        _FILL(memory, 0, *numbers, begin + _STATE, *arrays, begin + at.work)

    #: 1: all evaluations are of all rows; 0: the loop in C may begin on a part of them.
    every: ClassVar[int] = 0

    _factor: Array | None = None
    _settled: tuple[_Question, Ending] | None = None
    #: What C is certain of in the ending, ``PYSPEC_ENDING_*``.
    flags: int = 0

    def _array(self, begin: int, end: int) -> Array:
        """The numbers from one place of the memory to another."""
        return np.frombuffer(self._memory, np.float64, (end - begin) // 8, begin)

    @property
    def theta(self) -> Array:
        """(n,) the best point so far, read-only."""
        return np.frombuffer(bytes(self._memory[_STATE : self._places.lower]))

    @property
    def trial(self) -> Array:
        """(n,) the point that is looked at."""
        return self._array(self._places.trial, self._places.answer)

    @property
    def _normal(self) -> Array:
        """The sums at the best point."""
        return self._array(self._places.normal, self._places.ending)

    @property
    def _words(self) -> npt.NDArray[np.int64]:
        """The state, in words."""
        return self._array(0, _STATE).view(np.int64)

    def run_parts(self, parts: PartsInMemory, watch: Watch, each: bool) -> None:
        """Runs the loop in C; it comes back after `each` evaluation, or now and then. What `watch`
        raises ends it; the best point is kept."""
        loop(LIBRARY.pyspec_fit, self.address, parts, self.told, watch, each)

    def run(self, evaluate: Evaluate, watch: Watch) -> None:
        """Runs the loop here, with evaluations from Python."""
        self.ask(evaluate, lambda: LIBRARY.pyspec_fit_step(self.address), self.told, watch)

    def ask(
        self, evaluate: Evaluate, step: Callable[[], int], told: Callable[[], Told], watch: Watch
    ) -> None:
        """Evaluates what `step` asks for, as long as it does."""
        answers = self._array(self._places.answer, self._places.normal)
        status = step()
        while status == _NEED:
            form = _FORM_NAMES[_READ(self._memory)[_FORM]]
            answer = evaluate(self.trial.copy(), form)
            answers[-answer.size :] = answer
            status = step()  # the point counts before a signal does
            nfev, _, best = told()
            watch(nfev, float(answer[-1]), best)
        if status < 0:
            raise_status(-status, "fit")

    def told(self) -> Told:
        """Evaluations so far, chi² and the best one. An evaluation that a running solver waits for
        does not count."""
        state = _READ(self._memory)
        waits = state[_END] == _RUNNING and state[_PHASE] > 0
        return state[_NFEV] - waits, state[_CHISQR], state[_CHISQR]

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """(lower, upper) of each parameter."""
        at = self._places
        lower, upper = self._array(at.lower, at.trial).reshape(2, -1).tolist()
        return list(zip(lower, upper, strict=True))

    # what it found

    @property
    def ended(self) -> tuple[str, float, float]:
        """`end`, `chisqr` and `distance`; the end is "exact" where chi² is rounding of the data."""
        state = _READ(self._memory)
        end, chisqr = _ENDS[state[_END]], state[_CHISQR]
        if end in ("converged", "degenerate"):
            end = "exact" if chisqr <= EXACT * state[_DATA_SQUARE] else "converged"
        return end, chisqr, state[_DISTANCE]

    @property
    def end(self) -> str:
        """ "converged", "degenerate", "stalled", "slow", "not_finite", "limit" or
        "running"."""
        return _ENDS[_READ(self._memory)[_END]]

    @property
    def nfev(self) -> int:
        """Evaluations so far."""
        return self.told()[0]

    @property
    def chisqr(self) -> float:
        """chi² at the best point."""
        return float(_READ(self._memory)[_CHISQR])

    @property
    def distance(self) -> float:
        """Length of the next undamped step in standard errors."""
        return float(_READ(self._memory)[_DISTANCE])

    def factor(self) -> Array:
        """(n + 1, n + 1) upper triangular R with RᵀR = [J r]ᵀ[J r] at the best point. Once it has
        been asked for the fit is over."""
        if self._factor is None:
            matrix = unpack(self._normal, symmetric=not self._is_factor)
            self._factor = matrix if self._is_factor else root_of(matrix)
        return self._factor

    @property
    def _is_factor(self) -> bool:
        """Whether the sums at the best point are a factor already."""
        return bool(_READ(self._memory)[_NEEDS_FACTOR] == 2)

    def ask_for_end(
        self, n_free: int, is_scaled: bool, information: bytes = b""
    ) -> tuple[int, int]:
        """Where C finds the solver, and what it is to say of the ending."""
        begin, at = self.address, self._places
        arrays = at.held, at.side, at.gain, at.covariance, at.factor, at.information, at.end_work
        places = (begin + place for place in arrays)
        numbers = n_free, is_scaled, bool(information)
        _FILL_END(self._memory, at.ending, *numbers, *places)
        self._memory[at.information : at.information + len(information)] = information
        return begin, begin + at.ending

    def copies(self, n: int, is_scaled: bool) -> tuple[Ints, Ints, Ints]:
        """The memory of n solvers like this one. (n,) addresses of the solvers, and of their
        endings."""
        self.ask_for_end(1, is_scaled)
        at = self._places
        of_end = words_of("pyspec_end", _END_ARRAYS, at.ending // 8)
        addresses = words_of("pyspec_solver", _ARRAYS), of_end
        memory, begins = _memory.copies(self._memory, at.held, addresses, n)
        return memory, begins, begins + at.ending

    def settle(
        self,
        n_points: int,
        n_amplitudes: int,
        is_scaled: bool,
        intervals: Mapping[int, tuple[float, float]],
        information: Array | None = None,
    ) -> Ending:
        """What C finds about the ending at the best point. `n_amplitudes` were solved for beside
        the parameters. `is_scaled` is whether the variance of a point is chi² over the degrees of
        freedom. Parameters with `intervals` are judged elsewhere. `information` is the triangle of
        form "fisher" there, from which errors of counts follow."""
        of_counts = b"" if information is None else information.tobytes()
        question = n_points, n_amplitudes, is_scaled, intervals, of_counts
        if self._settled is not None and self._settled[0] == question:
            return self._settled[1]
        return self._settle(question, LIBRARY.pyspec_end_of)

    def judge(self, parts: PartsInMemory, sizes: Array) -> Ending:
        """The same as was settled, after a look at chi² where a bound may not hold a parameter;
        `sizes` (n,) are the natural ones of the parameters."""
        assert self._settled is not None
        beside = address(sizes), parts.address, parts.n, parts.team
        return self._settle(self._settled[0], LIBRARY.pyspec_judge, *beside)

    def _settle(self, question: _Question, call: Callable[..., int], *beside: Any) -> Ending:
        n_points, n_amplitudes, is_scaled, intervals, information = question
        memory, at = self._memory, self._places
        n_free = max(n_points - self.n - n_amplitudes, 1)
        asked = self.ask_for_end(n_free, is_scaled, information)
        memory[at.held : at.side] = bytes(at.side - at.held)
        for k in intervals:
            memory[at.held + 8 * k] = 1
        status = call(*asked, *beside)
        if status < 0:
            raise_status(-status, "the ending of a fit")
        flags, variance, distance = _READ_END(memory, at.ending)
        end, chisqr, reached = self.ended
        ending = Ending.of_c(
            self.theta,
            flags,
            bytes(memory[at.side : at.information]),
            variance=variance,
            distance=distance,
            chisqr=chisqr,
            n_points=n_points,
            n_amplitudes=n_amplitudes,
            end=(end, reached),
            intervals=intervals,
        )
        self.flags, self._settled = flags, (question, ending)
        return ending

    @property
    def is_weak(self) -> bool:
        """Whether the data may say nothing of a combination of all parameters, once that was
        settled."""
        return bool(self.flags & _WEAK)

    def forget(self) -> None:
        """What was found anew has not settled."""
        self._settled = self._factor = None


class _Places(NamedTuple):
    """Where the parts of a solver's memory begin, in bytes. The state and theta come first. The
    bounds follow, then the trial point, its sums and those at the best point. The ending with its
    arrays is next. Work memory of the ending and of the fit comes last."""

    lower: int
    trial: int
    answer: int
    normal: int
    ending: int
    held: int
    side: int
    gain: int
    covariance: int
    factor: int
    information: int
    end_work: int
    work: int
    end: int


@lru_cache(maxsize=64)
def _places_of(n: int) -> _Places:
    line, size = 8 * n, 8 * triangle_size(n + 1)
    of_ending = 8 * WORDS["pyspec_end"], line, line, line, n * line, size, size
    works = LIBRARY.pyspec_end_work_size(n), LIBRARY.pyspec_fit_work_size(n)
    return _Places(*accumulate((_STATE + line, 2 * line, line, size, size, *of_ending, *works)))
