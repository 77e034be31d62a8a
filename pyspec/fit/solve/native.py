"""The solver in C as Python drives it: start, loop, limits, and what it found.

The loop runs in C for a few hundredths of a second at a time and then comes back, so that Ctrl-C,
limits and a progress bar are answered in time. Where an evaluation needs Python (registered
functions, other executors), the same state machine asks for each evaluation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate
from struct import Struct
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, LIBRARY, raise_status
from pyspec._library.memory import WORDS, address_in, fill, reading
from pyspec.errors import FitError
from pyspec.executor.normal import FORMS, triangle_size, unpack
from pyspec.executor.protocol import PartsInMemory
from pyspec.fit.solve.covariance import gauss_newton
from pyspec.fit.solve.determined import WEAK

Array = npt.NDArray[np.float64]

#: Supplies the triangle of [J r], or chi² alone, at a point: (theta, form) -> triangle.
Evaluate = Callable[[Array, str], Array]

#: Called between evaluations with (evaluations, chi², best chi²); may raise to end the fit.
Watch = Callable[[int, float, float], None]

#: Converged where the next undamped step is this many standard errors long.
TOLERANCE = 5e-8

#: The C loop comes back after about this many seconds. Each time costs up to a tenth of a
#: millisecond: by then what Python needs has left the caches.
PATIENCE = 0.05

#: What a point takes for each column of the derivatives, until that has been measured: up to twice
#: as long as that of a line whose place moves.
SECONDS = 1e-9

#: Evaluations after which a fit without `max_nfev` gives up.
MOST_EVALUATIONS = 5000

_DONE, _NEED = CONSTANTS["FIT_DONE"], CONSTANTS["FIT_NEED_NORMAL"]
_RUNNING = CONSTANTS["END_RUNNING"]
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
_NUMBER = Struct("=d").unpack_from
_FORM_NAMES = {value: name for name, value in FORMS.items()}


def native_options(label: str, options: dict[str, Any]) -> tuple[float, bool]:
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
    _certain: Certain | bool | None = False

    @cached_property
    def _information(self) -> dict[tuple[int, ...], tuple[Array | None, list[int]]]:
        return {}

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
        budget = 1 if each else max(1, int(PATIENCE / (parts.size * SECONDS)))
        while True:
            begin = time.perf_counter()
            status = LIBRARY.pyspec_fit(self._address, parts.address, parts.n, parts.team, budget)
            if status < 0:
                raise_status(-status, "fit")
            seconds = time.perf_counter() - begin
            state = _READ(self._memory)
            if status == _DONE:  # waits for no evaluation
                watch(state[_NFEV], state[_CHISQR], state[_CHISQR])
                return
            watch(self.nfev, state[_CHISQR], state[_CHISQR])
            if not each:
                budget = max(1, int(budget * min(4.0, PATIENCE / max(seconds, 1e-6))))

    def run(self, evaluate: Evaluate, watch: Watch) -> None:
        """Runs the loop here, with evaluations from Python."""
        answers = self._array(*self._places[2:4])
        status = LIBRARY.pyspec_fit_step(self._address)
        while status == _NEED:
            form = _FORM_NAMES[_READ(self._memory)[_FORM]]
            answer = evaluate(self.trial.copy(), form)
            answers[-answer.size :] = answer
            status = LIBRARY.pyspec_fit_step(self._address)  # the point counts before a signal does
            watch(self.nfev, float(answer[-1]), self.chisqr)

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

    @property
    def certain(self) -> Certain | None:
        """What the data determine at the best point, where there is no doubt that they determine
        every parameter."""
        if self._certain is False:
            bounds, _, _, normal, judged, _, _ = self._places
            begin, n, memory = self._address, bounds - _STATE, self._memory
            is_factor, at = _READ(memory)[_NEEDS_FACTOR] == 2, begin + 8 * judged
            arrays = at, at + 8 * n * n, at + 8 * (n * n + 1)
            known = LIBRARY.pyspec_certain(n, is_factor, begin + 8 * normal, WEAK, *arrays)
            self._certain = Certain(memory, 8 * judged, n) if known > 0 else None
        return self._certain  # type: ignore[return-value]

    def information(self, columns: Sequence[int]) -> tuple[Array | None, list[int]]:
        """inv(JᵀJ) at the best point over some parameters, and those of them, by their place, that
        the data do not determine."""
        key = tuple(columns)
        known = self.certain
        if known is not None and len(key) == self.theta.size:
            in_order = key == tuple(range(len(key)))
            return known.covariance if in_order else known.covariance[np.ix_(key, key)], []
        if key not in self._information:
            self._information[key] = gauss_newton(self.factor()[:, key])
        return self._information[key]


class Certain:
    """What is certain at the best point, in a piece of `memory` from the byte `at` on.

    Attributes
    ----------
    block : inv(JᵀJ), as bytes
    decrease : what chi² would fall by at the end of the undamped step
    """

    def __init__(self, memory: bytearray, at: int, n: int) -> None:
        self._n, end = n, at + 8 * n * n
        self.block = bytes(memory[at:end])
        (self.decrease,) = _NUMBER(memory, end)

    def variances(self, scale: float) -> list[float]:
        """(n,) the diagonal of inv(JᵀJ), times `scale`."""
        diagonal = memoryview(self.block).cast("d")[:: self._n + 1]
        return list(map(scale.__mul__, diagonal))

    @cached_property
    def covariance(self) -> Array:
        """(n, n) inv(JᵀJ)."""
        return np.frombuffer(self.block).reshape(self._n, self._n).copy()


@lru_cache(maxsize=64)
def _places_of(n: int) -> tuple[int, ...]:
    """Where in the memory of a solver, in words, after the state and theta, lie the bounds, the
    trial, answer and normal, what is certain at the end, the work of C; and where it ends."""
    size, (certain_words, work_words) = triangle_size(n + 1), _words_of(n)
    sizes = (_STATE + n, 2 * n, n, size, size, certain_words, work_words)
    return tuple(accumulate(sizes))


@lru_cache(maxsize=64)
def _words_of(n: int) -> tuple[int, int]:
    """Words of memory that it takes to say what is certain of n parameters, and to fit them."""
    certain_size = int(LIBRARY.pyspec_certain_size(n))
    return n * n + 1 + certain_size // 8, int(LIBRARY.pyspec_fit_work_size(n)) // 8


#: Pivots of a scaled Gram matrix from which on its Cholesky factor is as good as any.
SOUND = 1e-6


def root_of(gram: Array) -> Array:
    """Upper triangular R with RᵀR = a Gram matrix; columns of zeros stay such, and what rounding
    makes of a direction without length, which may be below 0, is 0."""
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
