"""Many fits that have a model in common, and differ in their data, starts, or fixed values."""

from __future__ import annotations

import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
import numpy.typing as npt

from pyspec.calls import stack_outside
from pyspec.fit.batch.cases import Bools, Cases
from pyspec.fit.batch.fits import Fit, Table
from pyspec.fit.batch.in_c import InC
from pyspec.fit.batch.pools import GoneError, LostError, Pool, run_tasks
from pyspec.fit.batch.solved import Solved
from pyspec.fit.ending import bounds_said, end_said
from pyspec.fit.interrupts import Hold
from pyspec.fit.problem import FitProblem
from pyspec.fit.progress import Silent
from pyspec.fit.results.result import FitResult
from pyspec.fit.solve.conclude import result_of
from pyspec.fit.solve.methods import How
from pyspec.fit.solve.stages import EndedInC, run_fit
from pyspec.model import Measurement
from pyspec.plan import CompiledModel

if TYPE_CHECKING:
    from typing_extensions import Self

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Fits of a part: about 50 ms of work.
CHUNK = 32

#: Fits whose numbers are read at a time: what is in between stays small beside the numbers.
AT_A_TIME = 1 << 12


@dataclass(kw_only=True)
class Batch(ABC, Generic[Fit]):
    """Fits that are known by their numbers.

    Attributes
    ----------
    cases, how : what they are of, and how each runs
    first : the number of the first; a part of a batch begins with another than 0
    start_seeds : of the random starts of each fit, where it has several: the same ones wherever it
        is fitted
    stop : an event that ends what runs in threads
    """

    cases: Cases
    how: How
    first: int = 0
    start_seeds: Sequence[int] = ()
    stop: Any = field(default=None, repr=False)

    # of each kind of batch

    @property
    @abstractmethod
    def label(self) -> str:
        """What messages call the model."""

    @property
    @abstractmethod
    def plural(self) -> str:
        """What messages call several of the fits."""

    @property
    def n_first(self) -> int:
        """How many of the first cases C does not fit."""
        return 0

    @abstractmethod
    def template(self) -> tuple[CompiledModel, Measurement, str] | None:
        """The model and the backend of all fits, where C may make them, and a measurement from
        which theirs differ."""

    @abstractmethod
    def case(self, number: int, checksum: int | None = None) -> tuple[FitProblem, Any]:
        """The problem of one fit, whose data have that checksum if it is known, and its start."""

    @abstractmethod
    def fit(self, number: int) -> Fit:
        """Makes one fit; a failure becomes its status."""

    @abstractmethod
    def kept(self, number: int, status: str, message: str, result: FitResult | None) -> Fit:
        """What is kept of a fit."""

    def made(self, number: int, solved: Solved, place: int) -> Fit:
        """The same of a fit that C made, the one at that place of `solved`."""
        result = self.result_of(number, solved, place)
        status = "undetermined" if solved.is_lost[place] else "converged"
        return self.kept(number, status, result.message, result)

    # one fit

    def result_of(self, number: int, solved: Solved, place: int) -> FitResult:
        """The result of a fit that C made. What asks for its data refuses them where they were
        changed since then."""
        checksum = int(solved.checksums[place])
        problem, start = self.case(number, checksum or None)
        result = self._fit(problem, start, solved.ending(place))
        result.seconds = solved.seconds / len(solved)
        return result

    def _fit(
        self,
        problem: FitProblem,
        start: Mapping[str, float],
        ended: EndedInC | None = None,
    ) -> FitResult:
        return result_of(run_fit(problem, self.how, self.stopper, start, ended))

    @property
    def stopper(self) -> Silent:
        """Ends a fit where the others are to end."""
        return Silent() if self.stop is None else _Stop(self.stop)

    # all of them

    def part(self, numbers: range) -> Self:
        """The batch of fits that follow each other, with their cases alone."""
        own = slice(numbers[0] - self.first, numbers[-1] + 1 - self.first)
        seeds = self.start_seeds[own]
        return replace(self, first=numbers[0], cases=self.cases.part(own), start_seeds=seeds)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "stop": None}

    def begin_part(self) -> None:
        """Raises what keeps a worker from fitting any."""

    def is_empty(self, fits: Made[Fit]) -> bool:
        """Whether none of the fits is worth to be kept."""
        return fits.n_done == 0

    def make_all(
        self,
        fits: Made[Fit],
        pool: Pool | None,
        hold: Hold,
        tell: Callable[[range], object],
        each: bool = False,
    ) -> tuple[bool, str]:
        """Makes all fits: in turn here, or in parts by the workers of a pool. `tell` is told which
        numbers have ended; without a pool and with `each`, before the next one begins.

        Returns whether a signal ended them, and why the cluster is gone, "" where it is not. Raises
        KeyboardInterrupt where a signal came before anything was kept, or a second one.
        """
        interrupted, gone = False, ""
        try:
            if pool is None:
                for numbers in self.in_turn(fits, hold.check, each, None):
                    tell(numbers)
            else:
                self._share(fits, pool, hold, tell)
        except KeyboardInterrupt:
            interrupted = True
        except GoneError as error:
            if self.is_empty(fits):
                raise
            gone = str(error)
        interrupted |= any(fit.interrupted for fit in fits.others.values())
        if hold.insists or (interrupted and self.is_empty(fits)):
            raise KeyboardInterrupt
        return interrupted, gone

    def in_turn(
        self, fits: Made[Fit], check: Callable[[], None], each: bool, n_threads: int | None
    ) -> Iterator[range]:
        """Makes all fits, in C where that is possible, and yields the numbers of those that have
        ended. With `each`, a fit is told before the next one begins. `check` raises
        KeyboardInterrupt where they are to end."""
        done = self.first
        for begin, made in self._blocks(fits, check, each, n_threads):
            for number in (self.first + begin + np.flatnonzero(~made)).tolist():
                if number > done:
                    yield range(done, number)
                check()
                fit = fits.others[number] = self.fit(number)
                if fit.interrupted:
                    return
                yield range(number, number + 1)
                done = number + 1
            end = self.first + begin + len(made)
            if end > done:
                yield range(done, end)
            done = end

    def _blocks(
        self, fits: Made[Fit], check: Callable[[], None], each: bool, n_threads: int | None
    ) -> Iterator[tuple[int, Bools]]:
        """(place of the first, which of them C made) for consecutive cases, as they end."""
        n = len(self.cases)
        n_first = min(self.n_first, n)
        if n_first:
            yield 0, np.zeros(n_first, bool)
        template = self.template() if n > n_first else None
        in_c = None if template is None else InC.of(self.cases, self.how, *template)
        if in_c is None:
            yield n_first, np.zeros(n - n_first, bool)
        else:
            fits.solved = in_c.solved
            yield from in_c.run(n_first, check, each, n_threads)

    def _share(
        self, fits: Made[Fit], pool: Pool, hold: Hold, tell: Callable[[range], object]
    ) -> None:
        """All fits by the workers of a pool; those of workers that were lost here."""
        n = len(self.cases)
        size = max(1, min(CHUNK, -(-n // (4 * pool.width))))
        parts = [range(k, min(k + size, n)) for k in range(0, n, size)]
        left: list[range] = []
        calls = ((_run, (self.part(numbers),)) for numbers in parts)
        for k, outcome, error in run_tasks(pool, calls, hold, self.stop):
            if error is None:
                fits.take(parts[k][0], *outcome)
                tell(parts[k])
            elif isinstance(error, LostError):
                left.append(parts[k])
            else:
                raise error
        if left:
            warnings.warn(
                f"{self.label}: worker processes ended early, {sum(map(len, left))} {self.plural} "
                "are fitted here; a script that starts workers must do so under 'if __name__ == "
                '"__main__":\'',
                stacklevel=stack_outside(),
            )
        for numbers in left:
            part = self.part(numbers)
            own = Made(part, len(numbers), numbers[0])
            try:
                ended = [*part.in_turn(own, hold.check, False, None)]
            finally:
                fits.take(numbers[0], own.others, own.solved)
            for new in ended:
                tell(new)

    # what C made

    def message_of(self, number: int, solved: Solved, place: int) -> str:
        """The message of a fit that C made."""
        if solved.moved or solved.is_lost[place]:  # which of them, and to where
            return self.result_of(number, solved, place).message
        ending = end_said("converged", float(solved.fitted["reached"][place]))
        return f"{ending}. {bounds_said(solved.sides(place))}".strip(". ") + "."

    def columns(self, field: str, solved: Solved, made: Ints) -> Mapping[str, Any]:
        """Name → "values", "stderr" or "start" of fits that C made, at these places."""
        template = self.template()
        assert template is not None
        return solved.columns(field, made, template[0].followers)


class Made(Table[Fit]):
    """The fits of a batch, which keeps them as they end: those that C made in arrays, others as
    objects.

    Attributes
    ----------
    batch : what makes objects
    first : the number of the first
    others : number → a fit that Python made
    solved : those that C made; None where it made none
    left : status and message of those that did not run
    """

    def __init__(self, batch: Batch[Fit], n: int, first: int = 0) -> None:
        super().__init__(n)
        self.batch, self.first = batch, first
        self.others: dict[int, Fit] = {}
        self.solved: Solved | None = None
        self.left = "not run", ""

    def take(self, first: int, others: Mapping[int, Fit], solved: Solved | None) -> None:
        """Those of a worker, from that number on."""
        self.others |= others
        if solved is not None:
            if self.solved is None:
                self.solved = solved.empty(self.n)
            self.solved.take(first - self.first, solved)

    @property
    def made(self) -> npt.NDArray[np.bool_]:
        """(n,) which of them C made."""
        return np.zeros(self.n, dtype=bool) if self.solved is None else self.solved.made

    @property
    def n_done(self) -> int:
        """How many have ended."""
        return len(self.others) + int(np.count_nonzero(self.made))

    @property
    def n_alone(self) -> int:  # type: ignore[override]
        """How many of a batch that C made C left to the single fit."""
        return 0 if self.solved is None else len(self.others)

    @property
    def evaluated_alone(self) -> float:
        """The share of evaluations in C that were of one fit alone, not of several side by side."""
        side, alone = (0, 0) if self.solved is None else self.solved.evaluations.tolist()
        return alone / (side + alone) if side + alone else float("nan")

    def _fit_at(self, k: int) -> Fit:
        if k in self.others:
            return self.others[k]
        if self.solved is not None and self.solved.made_of(slice(k, k + 1))[0]:
            return self.batch.made(k, self.solved, k)
        return self.batch.kept(k, *self.left, None)

    def _objects_of(self, made: npt.NDArray[np.bool_]) -> Iterator[tuple[int, Any]]:
        """The fits that are no rows of arrays."""
        return ((k, self._at(k)) for k in np.flatnonzero(~made).tolist())

    def texts(self, field: str) -> list[str]:
        """As of :meth:`Table.texts`."""
        made, entries = self.made, ["converged"] * self.n
        if self.solved is not None:
            is_lost = self.solved.is_lost
            for k in np.flatnonzero(made & is_lost if field == "status" else made).tolist():
                entries[k] = (
                    "undetermined"
                    if field == "status"
                    else self.batch.message_of(k, self.solved, k)
                )
        for k, fit in self._objects_of(made):
            entries[k] = getattr(fit, field)
        return entries

    def numbers(self, field: str) -> Array:
        """As of :meth:`Table.numbers`."""
        column, made = np.full(self.n, np.nan), self.made
        if self.solved is not None:
            column[made] = self.solved.numbers_of(field, made)
        for k, fit in self._objects_of(made):
            if fit.facts is not None:
                column[k] = getattr(fit.facts, field)
        return column

    def columns(self, field: str, names: Sequence[str]) -> Array:
        """As of :meth:`Table.columns`."""
        table, made = np.full((len(names), self.n), np.nan), self.made
        places, solved = np.flatnonzero(made), self.solved
        for begin in range(0, len(places), AT_A_TIME):
            own = places[begin : begin + AT_A_TIME]
            in_c = self.batch.columns(field, solved, own)  # type: ignore[arg-type]
            for name, row in zip(names, table, strict=True):
                if name in in_c:
                    row[own] = in_c[name]
        for k, fit in self._objects_of(made):
            if fit.facts is not None:
                by_name: Mapping[str, Any] = getattr(fit.facts, field)
                table[:, k] = np.array([*map(by_name.get, names)], np.float64)  # None is NaN
        return table


def _run(part: Batch[Any]) -> Any:
    """Runs on a worker."""
    part.begin_part()
    fits, stop = Made(part, len(part.cases), part.first), part.stop

    def check() -> None:
        if stop is not None and stop.is_set():
            raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):  # before the first point of a fit
        for _ in part.in_turn(fits, check, False, 1):
            pass
    return fits.others, fits.solved


class _Stop(Silent):
    """Ends a fit in a thread when the others are to end."""

    def __init__(self, event: threading.Event) -> None:
        self.event = event

    def update(self, nfev: int, chisqr: float, best: float) -> None:
        if self.event.is_set():
            raise KeyboardInterrupt
