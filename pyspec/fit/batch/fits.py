"""What results of many fits of one model have in common, of slices and of others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar, overload

import numpy as np
import numpy.typing as npt

from pyspec.calls import Named, Suggesting, meant, no_item
from pyspec.errors import FitError, NoSuchKeyError
from pyspec.fit.batch.in_c import InC
from pyspec.fit.batch.solved import Solved
from pyspec.fit.results.result import FitResult

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Fits whose numbers are read at a time: what is in between stays small beside the numbers.
AT_A_TIME = 1 << 12

STATUS = ("converged", "undetermined", "stopped", "interrupted", "failed", "not run")


def states_of(status: Iterable[str]) -> str:
    """How many fits ended how: "39 converged, 1 failed"."""
    counts = Counter(status)
    return ", ".join(f"{counts[one]} {one}" for one in STATUS if counts[one])


class Ended(Protocol):
    """What is kept of one fit: its number, and how it ended, one of :data:`STATUS`."""

    @property
    def index(self) -> int: ...
    @property
    def status(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def success(self) -> bool: ...


Fit = TypeVar("Fit", bound=Ended)


class FitMaker(ABC, Generic[Fit]):
    """What makes the fits of a batch, and what is kept of them, from the arrays of C."""

    @abstractmethod
    def in_c(self) -> InC | None:
        """What makes these fits in C; None where Python takes part in each of them."""

    @abstractmethod
    def kept(self, number: int, status: str, message: str, result: FitResult | None) -> Fit:
        """What is kept of a fit: its status, one of :data:`STATUS`, its message, and its result if
        it has one."""

    @abstractmethod
    def made(self, number: int, solved: Solved, place: int) -> Fit:
        """The same of a fit that C made: the one at that place of `solved`."""

    @abstractmethod
    def said(self, number: int, solved: Solved, place: int) -> str:
        """The message of a fit that C made."""

    @abstractmethod
    def columns(self, what: str, solved: Solved, made: Ints) -> Mapping[str, Any]:
        """Name → "values", "stderr" or "start" of fits that C made, at these places."""


@dataclass
class Kept(Generic[Fit]):
    """The fits of a batch as they end: `n` of them, from the number `first` on."""

    n: int
    first: int = 0
    #: Number → a fit that Python made.
    others: dict[int, Fit] = field(default_factory=dict)
    #: Those that C made, in arrays; None where C made none.
    solved: Solved | None = None

    @property
    def n_done(self) -> int:
        """How many have ended."""
        return len(self.others) + (0 if self.solved is None else int(self.solved.made.sum()))

    @property
    def is_empty(self) -> bool:
        """Whether none has ended."""
        return self.n_done == 0

    @property
    def interrupted(self) -> bool:
        """Whether a signal came while one of them ran."""
        return any(fit.status == "interrupted" for fit in self.others.values())

    def take(self, first: int, part: Kept[Fit]) -> int:
        """Those of a worker, from that number on. Returns how many have ended."""
        self.others |= part.others
        if part.solved is not None:
            if self.solved is None:
                self.solved = part.solved.empty(self.n)
            self.solved.take(first - self.first, part.solved)
        return part.n_done


class Made(Sequence[Fit]):
    """The fits of a batch in their order. Those that C made are arrays, and objects only when they
    are asked for.

    Parameters
    ----------
    batch : what makes these, and says what is kept of those that did not run
    kept : those that did
    left : status and message of those that did not run
    change : what is done to each that is asked for
    """

    def __init__(
        self,
        batch: FitMaker[Fit],
        kept: Kept[Fit],
        left: tuple[str, str],
        change: Callable[[Fit], Fit] | None = None,
    ) -> None:
        self._given = batch, kept, left
        self._batch, self._left, self._change = batch, left, change
        self._n, self._solved, self._others = kept.n, kept.solved, kept.others
        self._kept: dict[int, Fit] = {}

    def changed(self, change: Callable[[Fit], Fit]) -> Made[Fit]:
        """The same fits, to each of which something is done when it is asked for."""
        before = self._change
        both = change if before is None else lambda one: change(before(one))
        return Made(*self._given, both)

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, key: int) -> Fit: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Fit, ...]: ...
    def __getitem__(self, key: Any) -> Any:
        numbers = range(self._n)[key]
        return tuple(map(self._at, numbers)) if isinstance(key, slice) else self._at(numbers)

    def _at(self, k: int) -> Fit:
        if k not in self._kept:
            one = self._made(k)
            self._kept[k] = one if self._change is None else self._change(one)
        return self._kept[k]

    def _made(self, k: int) -> Fit:
        if k in self._others:
            return self._others[k]
        if self._solved is not None and self._solved.made_of(slice(k, k + 1))[0]:
            return self._batch.made(k, self._solved, k)
        return self._batch.kept(k, *self._left, None)

    # arrays

    def others(self) -> Iterator[tuple[int, Fit]]:
        """The fits that are no rows of arrays, with their numbers."""
        made = self.made
        return ((k, self._at(k)) for k in np.flatnonzero(~made).tolist())

    @property
    def evaluated_alone(self) -> float:
        """The share of evaluations in C that were of one fit alone, not of several side by side."""
        side, one = (0, 0) if self._solved is None else self._solved.evaluations.tolist()
        return one / (side + one) if side + one else float("nan")

    @property
    def made(self) -> npt.NDArray[np.bool_]:
        """(n,) which of them C made."""
        if self._solved is None:
            return np.zeros(self._n, dtype=bool)
        found = self._solved.made
        found[list(self._others)] = False
        return found

    @property
    def n_alone(self) -> int:
        """How many of a batch that C made C left to the single fit."""
        return 0 if self._solved is None else len(self._others)

    def undetermined(self) -> npt.NDArray[np.intp]:
        """The numbers of those that C made, and of which parameters have no effect."""
        if self._solved is None:
            return np.zeros(0, np.intp)
        return np.flatnonzero(self.made & self._solved.is_lost)

    def messages(self) -> Iterator[tuple[int, str]]:
        """What those say that C made."""
        for k in np.flatnonzero(self.made).tolist():
            yield k, self._batch.said(k, self._solved, k)  # type: ignore[arg-type]

    def numbers(self, what: str) -> Array:
        """(n,) "chisqr", "redchi" or "nfev" of those that C made; others are NaN."""
        found, solved = np.full(self._n, np.nan), self._solved
        if solved is not None:
            made = self.made
            fitted = solved.fitted[made]
            if what == "redchi":
                found[made] = fitted["chisqr"] / solved.n_free[made]
            else:
                found[made] = fitted[what]
        return found

    def columns(self, what: str, names: Sequence[str]) -> Array:
        """(n_names, n) "values", "stderr" or "start" of those that C made; others are NaN."""
        table, solved = np.full((len(names), self._n), np.nan), self._solved
        if solved is None:
            return table
        made = np.flatnonzero(self.made)
        for begin in range(0, len(made), AT_A_TIME):
            places = made[begin : begin + AT_A_TIME]
            known = self._batch.columns(what, solved, places)
            for name, row in zip(names, table, strict=True):
                if name in known:
                    row[places] = known[name]
        return table


class Fits(Sequence[Fit], Suggesting):
    """Fits of one model in their order, and arrays over them."""

    fits: Sequence[Fit]
    #: All parameters, in the order of the model; and those that were fitted.
    names: tuple[str, ...]
    free_names: tuple[str, ...]
    backend: str
    seconds: float

    def _facts_of(self, fit: Fit) -> Any:
        """What has the values, errors and statistics of one fit; None where there are none."""
        return fit

    @overload
    def __getitem__(self, key: int) -> Fit: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Fit, ...]: ...
    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            raise NoSuchKeyError(
                f"{key!r} is no number of a fit; a parameter is values[{key!r}], its errors are "
                f"stderr[{key!r}]"
            )
        try:
            return self.fits[key]
        except (IndexError, TypeError):
            raise no_item(key, len(self.fits), "fit") from None

    def __len__(self) -> int:
        return len(self.fits)

    def __iter__(self) -> Iterator[Fit]:
        return iter(self.fits)

    @property
    def status(self) -> tuple[str, ...]:
        """How each fit ended."""
        found = ["converged"] * len(self.fits)
        for k in self.fits.undetermined().tolist() if isinstance(self.fits, Made) else ():
            found[k] = "undetermined"
        for k, fit in self._objects():
            found[k] = fit.status
        return tuple(found)

    @property
    def message(self) -> tuple[str, ...]:
        """What each fit says."""
        found = dict(self.fits.messages()) if isinstance(self.fits, Made) else {}
        found |= {k: fit.message for k, fit in self._objects()}
        return tuple(found[k] for k in range(len(self.fits)))

    @property
    def success(self) -> npt.NDArray[np.bool_]:
        """(n,) which fits converged; ``success.all()``."""
        return np.array([one == "converged" for one in self.status], dtype=bool)

    @property
    def values(self) -> dict[str, Array]:
        """Name → (n,) best-fit values, NaN where there are none."""
        return self._columns("values")

    @property
    def stderr(self) -> dict[str, Array]:
        """Name → (n,) standard errors, NaN where there are none."""
        return self._columns("stderr")

    @property
    def redchi(self) -> Array:
        """(n,) reduced chi², NaN where there is none."""
        return self._numbers("redchi")

    @property
    def chisqr(self) -> Array:
        """(n,) chi², NaN where there is none."""
        return self._numbers("chisqr")

    def _objects(self) -> Iterable[tuple[int, Fit]]:
        """Fits that are no rows of arrays, with their numbers."""
        return self.fits.others() if isinstance(self.fits, Made) else enumerate(self.fits)

    def _facts(self) -> Iterator[tuple[int, Any]]:
        """What has the numbers of these."""
        for k, fit in self._objects():
            facts = self._facts_of(fit)
            if facts is not None:
                yield k, facts

    def _numbers(self, what: str) -> Array:
        n = len(self.fits)
        found = self.fits.numbers(what) if isinstance(self.fits, Made) else np.full(n, np.nan)
        for k, facts in self._facts():
            found[k] = getattr(facts, what)
        return found

    def _columns(self, what: str) -> dict[str, Array]:
        names, fits = self.names, self.fits
        if isinstance(fits, Made):
            table = fits.columns(what, names)
        else:
            table = np.full((len(names), len(fits)), np.nan)
        for k, facts in self._facts():
            by_name: Mapping[str, Any] = getattr(facts, what)
            table[:, k] = np.array([*map(by_name.get, names)], np.float64)  # None is NaN
        return Named(zip(names, table, strict=True))

    def _known(self, name: str) -> str:
        """The name of a parameter. Raises :class:`FitError` for one that is none."""
        if name not in self.names:
            raise FitError(f"no parameter {name!r}{meant(name, self.names)}")
        return name

    def _head_of(self, what: str) -> str:
        """How many fits of what ended how, in what time."""
        taken = f"{self.seconds:.3g} s " if np.isfinite(self.seconds) else ""
        alone = self.fits.n_alone if isinstance(self.fits, Made) else 0
        left = f", {alone} of them one by one" if alone else ""
        return f"{len(self)} {what}: {states_of(self.status)}; {taken}on {self.backend}{left}"
