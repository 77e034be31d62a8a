"""Many fits of one model: rows of arrays, and objects when they are asked for."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar, overload

import numpy as np
import numpy.typing as npt

from pyspec.calls import Named, Suggesting, meant, no_item
from pyspec.errors import FitError, NoSuchKeyError
from pyspec.fit.results.result import FitResult
from pyspec.model import Model
from pyspec.model.build.free import single_valued

if TYPE_CHECKING:
    from typing_extensions import Self

Array = npt.NDArray[np.float64]

STATUS = ("converged", "undetermined", "stopped", "interrupted", "failed", "not run")


def states_of(status: Iterable[str]) -> str:
    """How many fits ended how: "39 converged, 1 failed"."""
    counts = Counter(status)
    return ", ".join(f"{counts[state]} {state}" for state in STATUS if counts[state])


class Status(ABC):
    """What is kept of one of many fits of a model, at least how it ended."""

    status: str
    message: str

    #: What several of them are called, and the `fit_type` of their results.
    plural: ClassVar[str]
    fit_type: ClassVar[str]

    @classmethod
    @abstractmethod
    def of(cls, index: int, row: int, status: str, message: str, result: FitResult | None) -> Self:
        """That of a fit, whose result is None where it failed; `row` is that of the data."""

    @property
    def success(self) -> bool:
        """Whether it converged."""
        return self.status == "converged"

    @property
    def interrupted(self) -> bool:
        """Whether a signal ended it."""
        return self.status == "interrupted"

    @property
    def facts(self) -> object:
        """What has the values, errors and statistics; None where there are none."""
        return self


Fit = TypeVar("Fit", bound=Status)


class Table(ABC, Generic[Fit]):
    """Fits in their order, whose numbers are arrays; each is made an object when it is asked
    for."""

    #: How many of a batch C left to the single fit.
    n_alone: int = 0
    #: How long they took, and whether a signal ended them.
    seconds: float = math.nan
    interrupted: bool = False

    def __init__(self, n: int, model: Model, backend: str) -> None:
        self.n, self.model, self.backend = n, model, backend

    @abstractmethod
    def fit_at(self, k: int) -> Fit:
        """Makes the k-th."""

    @abstractmethod
    def texts(self, field: str) -> list[str]:
        """(n,) "status" or "message"."""

    @abstractmethod
    def numbers(self, field: str) -> Array:
        """(n,) "chisqr", "redchi" or "nfev", NaN where there is none."""

    @abstractmethod
    def columns(self, field: str, names: Sequence[str]) -> Array:
        """(n_names, n) "values", "stderr" or "start", NaN where there are none."""


class Fits(Sequence[Fit], Suggesting):
    """Fits of one model in their order, and arrays over them.

    Attributes
    ----------
    names, free_names : all parameters, in the order of the model; and those that were fitted
    """

    def __init__(self, fits: Table[Fit]) -> None:
        self.fits, self._model = fits, fits.model
        self.names = tuple(single_valued(fits.model.parameters))
        self.free_names = fits.model.opt_param_names
        self.model_name: str = fits.model.name
        self.backend, self.seconds = fits.backend, fits.seconds
        self.interrupted = fits.interrupted
        self._objects: dict[int, Fit] = {}
        self._change: Callable[[Fit], Fit] | None = None

    @overload
    def __getitem__(self, key: int) -> Fit: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Fit, ...]: ...
    def __getitem__(self, key: int | slice | str) -> Fit | tuple[Fit, ...]:
        if isinstance(key, str):
            raise NoSuchKeyError(
                f"{key!r} is no number of a fit; a parameter is values[{key!r}], its errors are "
                f"stderr[{key!r}]"
            )
        numbers = range(len(self))
        try:
            if isinstance(key, slice):
                return tuple(map(self._at, numbers[key]))
            return self._at(numbers[key])
        except (IndexError, TypeError):
            raise no_item(key, len(self), "fit") from None

    def _at(self, k: int) -> Fit:
        if k not in self._objects:
            fit = self.fits.fit_at(k)
            self._objects[k] = fit if self._change is None else self._change(fit)
        return self._objects[k]

    def __len__(self) -> int:
        return self.fits.n

    def __iter__(self) -> Iterator[Fit]:
        return map(self._at, range(len(self)))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._head()}>"

    @abstractmethod
    def _head(self) -> str:
        """How many fits of what, and how they ended."""

    @property
    def status(self) -> tuple[str, ...]:
        """How each fit ended."""
        return tuple(self.fits.texts("status"))

    @property
    def message(self) -> tuple[str, ...]:
        """What each fit says."""
        return tuple(self.fits.texts("message"))

    @property
    def success(self) -> npt.NDArray[np.bool_]:
        """(n,) which fits converged; ``success.all()``."""
        return np.array([state == "converged" for state in self.status], dtype=bool)

    @cached_property
    def values(self) -> dict[str, Array]:
        """Name → (n,) best-fit values, NaN where there are none; to be read alone."""
        return self._columns("values")

    @cached_property
    def stderr(self) -> dict[str, Array]:
        """Name → (n,) standard errors, NaN where there are none; to be read alone."""
        return self._columns("stderr")

    @property
    def redchi(self) -> Array:
        """(n,) reduced chi², NaN where there is none."""
        return self.fits.numbers("redchi")

    @property
    def chisqr(self) -> Array:
        """(n,) chi², NaN where there is none."""
        return self.fits.numbers("chisqr")

    def _columns(self, field: str) -> dict[str, Array]:
        table = self.fits.columns(field, self.names)
        table.flags.writeable = False
        return Named(zip(self.names, table, strict=True))

    def _checked_name(self, name: str) -> str:
        """The name of a parameter. Raises :class:`FitError` for one that is none."""
        if name not in self.names:
            raise FitError(f"no parameter {name!r}{meant(name, self.names)}")
        return name

    def _head_of(self, subject: str) -> str:
        """How many fits of what ended how, in what time."""
        taken = f"{self.seconds:.3g} s " if np.isfinite(self.seconds) else ""
        alone = f", {self.fits.n_alone} of them one by one" if self.fits.n_alone else ""
        return f"{len(self)} {subject}: {states_of(self.status)}; {taken}on {self.backend}{alone}"
