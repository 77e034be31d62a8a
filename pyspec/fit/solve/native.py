"""The solver in C as Python drives it: start, loop, limits, and what it found.

The loop runs in C for a few hundredths of a second at a time and then comes back, so that Ctrl-C,
limits and a progress bar are answered in time. Where an evaluation needs Python (registered
functions, other executors), the same state machine asks for each evaluation.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate
from struct import Struct
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, LIBRARY, raise_status
from pyspec._library.memory import WORDS, address, address_in, fill, reading, view
from pyspec.errors import FitError
from pyspec.executor.normal import FORMS, triangle_size, unpack
from pyspec.executor.protocol import PartsInMemory
from pyspec.fit.solve.settled import Ended, Settled

Array = npt.NDArray[np.float64]

#: Supplies the triangle of [J r], or chi² alone, at a point: (theta, form) -> triangle.
Evaluate = Callable[[Array, str], Array]

#: Degrees of freedom, whether the variance of a point is chi² over these, and parameters that are
#: judged elsewhere.
_Given = tuple[int, bool, tuple[int, ...]]

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

#: Evaluations after which a fit without `max_nfev` gives up.
MOST_EVALUATIONS = 5000

_DONE, _NEED = CONSTANTS["FIT_DONE"], CONSTANTS["FIT_NEED_NORMAL"]
_RUNNING, _CONVERGED = CONSTANTS["END_RUNNING"], CONSTANTS["END_CONVERGED"]
_ENDS = {
    value: name.removeprefix("END_").lower()
    for name, value in CONSTANTS.items()
    if name.startswith("END_")
}
#: The words of the state, and what reads those of them that Python asks for, all at once.
_STATE = WORDS["pyspec_solver"]
_ASKED, _READ = reading(
    "pyspec_solver", ("end", "nfev", "phase", "form", "chisqr", "distance", "needs_factor")
)
_END, _NFEV, _PHASE, _FORM, _CHISQR, _DISTANCE, _NEEDS_FACTOR = _ASKED
#: The words of an ending; how Python fills its input, and how it reads what C wrote.
_END_WORDS = WORDS["pyspec_end"]
_FILL_END, _READ_END = Struct("=3q2d6Q").pack_into, Struct("=16xq2d").unpack_from
_FORM_NAMES = {value: name for name, value in FORMS.items()}


def native_options(label: str, options: dict[str, object]) -> tuple[float, bool]:
    """What the native solver takes: the tolerance, and whether linear parameters are eliminated.
    Raises :class:`FitError` for others."""
    given = dict(options)
    tolerance, linear = given.pop("tolerance", TOLERANCE), given.pop("linear", None)
    if given:
        raise FitError(
            f"{label}: native takes no option {next(iter(given))!r}; it takes tolerance (in "
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
    call: Callable[[int], int],
    told: Callable[[], Told],
    parts: PartsInMemory,
    watch: Watch,
    each: bool,
) -> None:
    """Calls a loop in C, which takes a budget of evaluations, until it is done."""
    budget = 1 if each else max(1, int(PATIENCE / (parts.size * SECONDS)))
    while True:
        begin = time.perf_counter()
        status = call(budget)
        if status < 0:
            raise_status(-status, "fit")
        seconds = time.perf_counter() - begin
        watch(*told())
        if status == _DONE:
            return
        if not each:
            budget = max(1, int(budget * min(4.0, PATIENCE / max(seconds, 1e-6))))


class NativeSolver:
    """One Levenberg-Marquardt fit on its way.

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
        n = start.size
        self._places = bounds, trial, answer, normal, _, work, end = _places_of(n)
        # Of Python's own: it is read and written without NumPy, which takes longer to begin.
        self._memory = memory = bytearray(8 * end)
        self._address = begin = address_in(memory)
        values = start.tobytes(), lower.tobytes(), upper.tobytes()
        memory[8 * _STATE : 8 * trial] = b"".join(values)
        self.theta: Array = np.frombuffer(memory, np.float64, n, 8 * _STATE)
        given = {
            "n": n,
            "n_points": n_points,
            "max_nfev": max_nfev,
            "tolerance": tolerance,
            "data_square": data_square,
            "every": self.every,
            "theta": begin + 8 * _STATE,
            "lower": begin + 8 * bounds,
            "trial": begin + 8 * trial,
            "answer": begin + 8 * answer,
            "normal": begin + 8 * normal,
            "work": begin + 8 * work,
        }
        fill("pyspec_solver", given, memory)

    #: 1: all evaluations are of all rows; 0: the loop in C may begin on a part of them.
    every: ClassVar[int] = 0

    _factor: Array | None = None
    _settled: tuple[_Given, Settled] | None = None

    def _array(self, begin: int, end: int) -> Array:
        """The numbers from one word of the memory to another."""
        return np.frombuffer(self._memory, np.float64, end - begin, 8 * begin)

    @property
    def trial(self) -> Array:
        """(n,) the point that is looked at."""
        return self._array(*self._places[1:3])

    @property
    def _normal(self) -> Array:
        """The sums at the best point."""
        return self._array(*self._places[3:5])

    @property
    def _words(self) -> npt.NDArray[np.int64]:
        """The state, in words."""
        return self._array(0, _STATE).view(np.int64)

    def run_parts(self, parts: PartsInMemory, watch: Watch, each: bool) -> None:
        """Runs the loop in C; it comes back after `each` evaluation, or now and then. What `watch`
        raises ends it; the best point is kept."""
        given = self._address, parts.address, parts.n, parts.team
        loop(lambda budget: LIBRARY.pyspec_fit(*given, budget), self.told, parts, watch, each)

    def run(self, evaluate: Evaluate, watch: Watch) -> None:
        """Runs the loop here, with evaluations from Python."""
        self.ask(evaluate, lambda: LIBRARY.pyspec_fit_step(self._address), self.told, watch)

    def ask(
        self, evaluate: Evaluate, step: Callable[[], int], told: Callable[[], Told], watch: Watch
    ) -> None:
        """Evaluates what `step` asks for, as long as it does."""
        answers = self._array(*self._places[2:4])
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
        """Evaluations so far, chi² and the best one."""
        chisqr = self.chisqr
        return self.nfev, chisqr, chisqr

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """(lower, upper) of each parameter."""
        lower, upper = self._array(*self._places[:2]).reshape(2, -1).tolist()
        return list(zip(lower, upper, strict=True))

    # what it found

    @property
    def ended(self) -> tuple[str, float, float]:
        """`end`, `chisqr` and `distance`."""
        state = _READ(self._memory)
        return _ENDS[state[_END]], state[_CHISQR], state[_DISTANCE]

    @property
    def end(self) -> str:
        """ "converged", "degenerate", "stalled", "slow", "not_finite", "limit" or
        "running"."""
        return _ENDS[_READ(self._memory)[_END]]

    @property
    def nfev(self) -> int:
        """Evaluations so far; the one that a running solver waits for does not count."""
        state = _READ(self._memory)
        waits = state[_END] == _RUNNING and state[_PHASE] > 0
        return int(state[_NFEV] - waits)

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
            known = unpack(self._normal, symmetric=not self._is_factor)
            self._factor = known if self._is_factor else root_of(known)
        return self._factor

    @property
    def _is_factor(self) -> bool:
        """Whether the sums at the best point are a factor already."""
        return bool(_READ(self._memory)[_NEEDS_FACTOR] == 2)

    def ask_for_end(self, n_free: int, is_scaled: bool) -> tuple[int, int]:
        """Where C finds the solver, and what it is to say of the ending."""
        begin, at = self._address, 8 * self._places[4]
        pieces = [begin + piece for piece in self._pieces[1]]
        _FILL_END(self._memory, at, n_free, is_scaled, 0, 0.0, 0.0, *pieces)
        return begin, begin + at

    @classmethod
    def ended_at(
        cls, theta: Array, lower: Array, upper: Array, known: Settled, given: Ended
    ) -> NativeSolver:
        """A solver that has ended. Only what C returned about it is kept."""
        solver = cls(theta, lower, upper, given.n_points, 0.0, given.nfev)
        found = view("pyspec_solver", solver._memory)
        found["end"], found["nfev"] = _CONVERGED, given.nfev
        found["chisqr"], found["distance"] = known.chisqr, given.reached
        solver._settled = (given.n_free, given.is_scaled, ()), known
        solver._factor = unpack(known.factor, symmetric=False)
        return solver

    def settle(self, n_free: int, is_scaled: bool, apart: tuple[int, ...] = ()) -> Settled:
        """What C finds about the ending at the best point. `n_free` are the degrees of freedom.
        `is_scaled` is whether the variance of a point is chi² over these. Parameters in `apart` are
        judged elsewhere."""
        given = n_free, is_scaled, apart
        if self._settled is not None and self._settled[0] == given:
            return self._settled[1]
        return self._settle(given, lambda solver, end: LIBRARY.pyspec_end_of(solver, end))

    def judge(self, parts: PartsInMemory, sizes: Array) -> Settled:
        """The same as was settled, after a look at chi² where a bound may not hold a parameter;
        `sizes` (n,) are the natural ones of the parameters."""
        assert self._settled is not None
        given = address(sizes), parts.address, parts.n, parts.team
        call = LIBRARY.pyspec_judge
        return self._settle(self._settled[0], lambda *own: call(*own, *given))

    def _settle(self, given: _Given, call: Callable[[int, int], int]) -> Settled:
        n_free, is_scaled, apart = given
        memory, at = self._memory, 8 * self._places[4]
        n, (first, side, *_, work) = self._pieces
        solver, end = self.ask_for_end(n_free, is_scaled)
        memory[first:side] = bytes(8 * n)
        for k in apart:
            memory[first + 8 * k] = 1
        status = call(solver, end)
        if status < 0:
            raise_status(-status, "the ending of a fit")
        flags, variance, distance = _READ_END(memory, at)
        numbers = bytes(memory[side:work])
        settled = Settled(flags, variance, distance, self.chisqr, n, numbers)
        self._settled = given, settled
        return settled

    @property
    def _pieces(self) -> tuple[int, tuple[int, ...]]:
        """The number of parameters, and where in the memory what C says of each, and its work,
        begins."""
        return _pieces_of(self._places[0] - _STATE)

    def forget(self) -> None:
        """What was found anew has not settled."""
        self._settled = self._factor = None

    @property
    def address(self) -> int:
        """Where C finds it."""
        return self._address

    @property
    def is_weak(self) -> bool:
        """Whether the data may say nothing of a combination of all parameters."""
        known = self.settle(1, False) if self._settled is None else self._settled[1]
        return known.is_weak


@lru_cache(maxsize=64)
def _places_of(n: int) -> tuple[int, ...]:
    """Offsets in the memory of a solver, in words, after the state and theta: the bounds, the
    trial, the answer, the normal equations, the ending, the work of C, and the end."""
    size, (ending_words, work_words) = triangle_size(n + 1), _words_of(n)
    sizes = (_STATE + n, 2 * n, n, size, size, ending_words, work_words)
    return tuple(accumulate(sizes))


@lru_cache(maxsize=64)
def _pieces_of(n: int) -> tuple[int, tuple[int, ...]]:
    """n, and where in bytes lie what is held, sides, gains, covariance, factor, and the work."""
    sizes = (_places_of(n)[4] + _END_WORDS, n, n, n, n * n, triangle_size(n + 1))
    return n, tuple(8 * end for end in accumulate(sizes))


@lru_cache(maxsize=64)
def _words_of(n: int) -> tuple[int, int]:
    """Words of memory that it takes to say what is known of an ending of n parameters, and to fit
    them."""
    work = int(LIBRARY.pyspec_end_work_size(n)) // 8
    ending = _END_WORDS + n * (n + 3) + triangle_size(n + 1) + work
    return ending, int(LIBRARY.pyspec_fit_work_size(n)) // 8


#: Pivots of a scaled Gram matrix from which on its Cholesky factor is as good as any.
SOUND = 1e-6


def root_of(gram: Array) -> Array:
    """Upper triangular R with RᵀR = a Gram matrix. Columns of zeros stay zeros. A direction without
    length may be below 0 by rounding; it is set to 0."""
    size = np.sqrt(np.maximum(gram.diagonal(), 0.0))
    informed = size > 0.0
    if informed.all():
        return _root_of_scaled(gram / (size[:, None] * size)) * size
    places = np.ix_(informed, informed)
    factor = np.zeros_like(gram)
    factor[places] = root_of(gram[places])
    return factor


def _root_of_scaled(gram: Array) -> Array:
    try:
        root = np.linalg.cholesky(gram)
        if root.diagonal().min(initial=1.0) > SOUND:
            return np.asarray(root.T)
    except np.linalg.LinAlgError:
        pass
    values, vectors = np.linalg.eigh(gram)
    values[values < values.size * np.finfo(float).eps * np.max(values, initial=0.0)] = 0.0
    return np.asarray(np.linalg.qr(np.sqrt(values)[:, None] * vectors.T, mode="r"))
