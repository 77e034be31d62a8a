"""What results of many fits of one model have in common, of slices and of others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar, overload

import numpy as np
import numpy.typing as npt

from pyspec.calls import Named, meant, no_item
from pyspec.errors import FitError, NoSuchKeyError

Array = npt.NDArray[np.float64]

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


class Fits(Sequence[Fit]):
    """Fits of one model in their order, and arrays over them."""

    fits: tuple[Fit, ...]
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
        return tuple(fit.status for fit in self.fits)

    @property
    def message(self) -> tuple[str, ...]:
        """What each fit says."""
        return tuple(fit.message for fit in self.fits)

    @property
    def success(self) -> npt.NDArray[np.bool_]:
        """(n,) which fits converged; ``success.all()``."""
        return np.array([fit.success for fit in self.fits], dtype=bool)

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

    def _numbers(self, what: str) -> Array:
        facts = map(self._facts_of, self.fits)
        return np.array(
            [np.nan if one is None else getattr(one, what) for one in facts], np.float64
        )

    def _columns(self, what: str) -> dict[str, Array]:
        names, facts = self.names, map(self._facts_of, self.fits)
        found: Iterator[Mapping[str, Any]] = (
            {} if one is None else getattr(one, what) for one in facts
        )
        rows = [[*map(one.get, names)] for one in found]
        table = np.array(rows, dtype=np.float64).reshape(len(rows), len(names))  # None is NaN
        return Named(zip(names, np.ascontiguousarray(table.T), strict=True))

    def _known(self, name: str) -> str:
        """The name of a parameter. Raises :class:`FitError` for one that is none."""
        if name not in self.names:
            raise FitError(f"no parameter {name!r}{meant(name, self.names)}")
        return name

    def _head_of(self, what: str) -> str:
        """How many fits of what ended how, in what time."""
        taken = f"{self.seconds:.3g} s " if np.isfinite(self.seconds) else ""
        return f"{len(self)} {what}: {states_of(self.status)}; {taken}on {self.backend}"
