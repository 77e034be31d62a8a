"""The solver in C as Python drives it: start, loop, limits, and what it found.

The loop runs in C for a few hundredths of a second at a time and then comes back, so that Ctrl-C,
limits and a progress bar are answered in time. Where an evaluation needs Python (registered
functions, other executors), the same state machine asks for each evaluation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, DTYPES, LIBRARY, raise_status
from pyspec._library.memory import WORDS, address, fill
from pyspec.errors import FitError
from pyspec.executor.normal import FORMS, order_of, triangle_size, unpack
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
#: The words of the state, and where these stand among them: they are asked for several times a fit.
_STATE = WORDS["pyspec_solver"]
_END, _NFEV, _PHASE, _FORM, _CHISQR, _DISTANCE, _NEEDS_FACTOR = (
    (DTYPES["pyspec_solver"].names or ()).index(name)
    for name in ("end", "nfev", "phase", "form", "chisqr", "distance", "needs_factor")
)
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
        bounds, trial, answer, normal, judged, work, end = _places_of(n)
        memory = np.zeros(end)
        self._address = begin = address(memory)
        self.theta: Array = memory[_STATE:bounds]
        self._bounds: Array = memory[bounds:trial]
        self.trial: Array = memory[trial:answer]
        self._answer: Array = memory[answer:normal]
        self._normal: Array = memory[normal:judged]
        self._judged: Array = memory[judged:work]
        self._addresses = begin + 8 * normal, begin + 8 * judged
        self.theta[:], self._bounds[:n], self._bounds[n:] = start, lower, upper
        given = {
            "n": n,
            "n_points": n_points,
            "max_nfev": max_nfev,
            "tolerance": tolerance,
            "data_square": data_square,
            "theta": begin + 8 * _STATE,
            "lower": begin + 8 * bounds,
            "trial": begin + 8 * trial,
            "answer": begin + 8 * answer,
            "normal": begin + 8 * normal,
            "work": begin + 8 * work,
        }
        fill("pyspec_solver", given, memory)
        self._numbers = memory[:_STATE]
        self._words = self._numbers.view(np.int64)
        self._factor: Array | None = None
        self._certain: Certain | bool | None = False
        self._information: dict[tuple[int, ...], tuple[Array | None, list[int]]] = {}

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
            chisqr: float = self._numbers.item(_CHISQR)
            if status == _DONE:  # waits for no evaluation
                watch(self._words.item(_NFEV), chisqr, chisqr)
                return
            watch(self.nfev, chisqr, chisqr)
            if not each:
                budget = max(1, int(budget * min(4.0, PATIENCE / max(seconds, 1e-6))))

    def run(self, evaluate: Evaluate, watch: Watch) -> None:
        """Runs the loop here, with evaluations from Python."""
        status = LIBRARY.pyspec_fit_step(self._address)
        while status == _NEED:
            form = _FORM_NAMES[self._words.item(_FORM)]
            answer = evaluate(self.trial.copy(), form)
            self._answer[-answer.size :] = answer
            status = LIBRARY.pyspec_fit_step(self._address)  # the point counts before a signal does
            watch(self.nfev, float(answer[-1]), self.chisqr)

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """(lower, upper) of each parameter."""
        lower, upper = self._bounds.reshape(2, -1).tolist()
        return list(zip(lower, upper, strict=True))

    # what it found

    @property
    def ended(self) -> tuple[str, float, float]:
        """`end`, `chisqr` and `distance`."""
        numbers = self._numbers
        return _ENDS[self._words.item(_END)], numbers.item(_CHISQR), numbers.item(_DISTANCE)

    @property
    def end(self) -> str:
        """ "converged", "degenerate", "stalled", "slow", "not_finite", "limit" or
        "running"."""
        return _ENDS[self._words.item(_END)]

    @property
    def nfev(self) -> int:
        """Evaluations so far; the one that a running solver waits for does not count."""
        waits = self._words.item(_END) == _RUNNING and self._words.item(_PHASE) > 0
        return self._words.item(_NFEV) - waits

    @property
    def chisqr(self) -> float:
        """chi² at the best point."""
        return float(self._numbers.item(_CHISQR))

    @property
    def distance(self) -> float:
        """Length of the next undamped step in standard errors."""
        return float(self._numbers.item(_DISTANCE))

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
        return self._words.item(_NEEDS_FACTOR) == 2

    @property
    def certain(self) -> Certain | None:
        """What the data determine at the best point, where there is no doubt that they determine
        every parameter."""
        if isinstance(self._certain, bool):
            given = self._addresses, self.theta.size, self._words.item(_NEEDS_FACTOR) == 2
            self._certain = _certain_in(self._judged, *given, WEAK)
        return self._certain

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


@dataclass(frozen=True)
class Certain:
    """`covariance` is inv(JᵀJ), `decrease` what chi² would fall by at the end of the undamped
    step."""

    covariance: Array
    decrease: float


def certain(triangle: Array, is_factor: bool, least: float) -> Certain | None:
    """What a triangle of [J r] determines where all singular values of J, with columns of length 1,
    are surely larger than `least` times the largest; else None."""
    n = order_of(triangle) - 1
    memory = np.empty(_words_of(n)[0])
    return _certain_in(memory, (address(triangle), address(memory)), n, is_factor, least)


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


def _certain_in(
    memory: Array, addresses: tuple[int, int], n: int, is_factor: bool, least: float
) -> Certain | None:
    """The same with `memory` for covariance, decrease and work; addresses are those of the triangle
    and of this memory."""
    triangle, begin = addresses
    arrays = begin, begin + 8 * n * n, begin + 8 * (n * n + 1)
    if not LIBRARY.pyspec_certain(n, is_factor, triangle, least, *arrays):
        return None
    return Certain(memory[: n * n].reshape(n, n), memory.item(n * n))


#: Pivots of a scaled Gram matrix from which on its Cholesky factor is as good as any.
SOUND = 1e-6


def root_of(gram: Array) -> Array:
    """Upper triangular R with RᵀR = a Gram matrix; columns of zeros stay such, and what rounding
    makes of a direction without length is 0."""
    size = np.sqrt(gram.diagonal())
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
