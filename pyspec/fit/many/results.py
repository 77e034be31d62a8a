"""What many fits of one model return: parameters as arrays over the fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import row_of
from pyspec.errors import FitError
from pyspec.fit.batch.batch import Batch
from pyspec.fit.batch.fits import Fits, Status
from pyspec.fit.bounds import at_bound
from pyspec.fit.results.result import FitResult
from pyspec.fit.results.table import columns_of, format_value, need_pandas, text_table
from pyspec.model.show import html_table

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class OneFit(Status):
    """One of many fits.

    Attributes
    ----------
    index : which of them
    status : "converged", "undetermined" (the data leave parameters open), "stopped" (not at an
        optimum), "interrupted" (Ctrl-C), "failed" (an error, in `message`) or "not run"
    values, stderr : name → value and standard error; empty where there are none
    chisqr, redchi, nfev : of the fit; NaN and 0 where there is none
    """

    index: int
    status: str
    message: str
    values: Mapping[str, float]
    stderr: Mapping[str, float | None]
    chisqr: float = np.nan
    redchi: float = np.nan
    nfev: int = 0

    plural, fit_type = "fits", "many"

    @classmethod
    def of(
        cls, index: int, row: int, status: str, message: str, result: FitResult | None
    ) -> OneFit:
        if result is None:
            return cls(index, status, message, {}, {})
        facts = dict(result.values), dict(result.stderr), result.chisqr, result.redchi, result.nfev
        return cls(index, status, message, *facts)


class ManyFits(Fits[OneFit]):
    """Many fits of one model. ``fits[3]`` is one of them, ``fits.result(3)`` its FitResult.

    Attributes
    ----------
    fits : all of them, in their order
    names, free_names : all parameters in the order of the model, and the fitted ones. Free
        amplitudes and quantities that depend on the energy are left out, because they have more
        than one value
    model_name, backend, seconds, interrupted : what was fitted, and how it ran
    """

    fits: Batch[OneFit]

    def result(self, index: int) -> FitResult:
        """The FitResult of one fit. A fit that C did not make is repeated for it.

        Raises what that fit raised, :class:`DataError` for an index that is not there.
        """
        k = row_of("index", index, len(self), "a fit")
        return self.fits.result(k)

    @property
    def nfev(self) -> npt.NDArray[np.int64]:
        """(n,) residual evaluations."""
        return self.fits.numbers("nfev").astype(np.int64)

    def of_converged(self, name: str) -> Array:
        """Values of one parameter in the fits that converged.

        Raises :class:`FitError` for an unknown name, or where fewer than two did.
        """
        good = self.values[self._checked_name(name)][self.success]
        if good.size < 2:
            raise FitError(
                f"{good.size} of {len(self)} fits converged, too few for a spread; see message"
            )
        return good

    def spread(self, name: str) -> float:
        """Standard deviation of a parameter over the fits that converged."""
        return float(np.std(self.of_converged(name), ddof=1))

    def interval(self, name: str, level: float = 0.6827) -> tuple[float, float]:
        """(low, high): the middle `level` of the values of a parameter, over the fits that
        converged, lies between these two quantiles."""
        if not 0.0 < level < 1.0:
            raise FitError(f"level must be between 0 and 1, not {level!r}")
        low, high = np.quantile(self.of_converged(name), [0.5 - level / 2, 0.5 + level / 2])
        return float(low), float(high)

    def to_dataframe(self) -> Any:
        """A pandas DataFrame, one row a fit: each parameter and its ``_stderr``, chisqr, redchi,
        nfev, status, message. Raises :class:`FitError` without pandas."""
        others = "chisqr", "redchi", "nfev", "status", "message"
        return need_pandas().DataFrame(columns_of(self, others))

    def _head(self) -> str:
        return self._head_of(f"fits of {self.model_name}")

    def __str__(self) -> str:
        cells, note = self._table()
        lines = [self._head(), text_table(cells, "<>>>>") if cells else "", note]
        return "\n".join(filter(None, lines))

    def _repr_html_(self) -> str:
        cells, note = self._table()
        table = html_table(cells) if cells else ""
        return f"<b>{escape(self._head())}</b>{table}{escape(note)}"

    def _table(self) -> tuple[list[list[str]], str]:
        """The table of spreads, and notes on those that are 0 and on values at bounds; empty where
        there are none."""
        if np.count_nonzero(self.success) < 2:
            return [], ""
        parameters = self._model.parameters
        followers = [name for name in self.names if parameters[name].formula is not None]
        rows = [["parameter", "median", "spread", "68 % low", "68 % high"]]
        still = []
        with np.errstate(invalid="ignore"):  # followers may be infinite
            for name in (*self.free_names, *followers):
                spread, ends = self.spread(name), self.interval(name)
                if np.ptp(self.of_converged(name)) == 0.0:
                    if name in followers:
                        continue  # of fixed parameters alone
                    still.append(name)
                middle = format_value(float(np.median(self.of_converged(name))), spread)
                rows.append([name, *middle, *(f"{end:.6g}" for end in ends)])
        half, low, high = np.quantile(self.redchi[self.success], [0.5, 0.15865, 0.84135])
        rows.append(["reduced χ²", f"{half:.4g}", "", f"{low:.4g}", f"{high:.4g}"])
        notes = []
        if 0 < len(still) < len(self.free_names):  # all of them: the same data each time
            notes.append(
                f"{', '.join(still)}: the same in every fit, at a bound or, as an onset that "
                "jumps, between two samples; a spread of 0 is no error"
            )
        held, good = [], self.success
        for name in self.free_names:  # without a standard error where they lie at a bound
            own = parameters[name]
            values = self.values[name][good & np.isnan(self.stderr[name])].tolist()
            n = sum(bool(at_bound(value, own.min, own.max, own.value)) for value in values)
            if n and name not in still:
                held.append(f"{name} in {n}")
        if held:
            told = f"{np.count_nonzero(good)} fits that converged: {', '.join(held)}"
            notes.append(f"values at a bound, not measured, in {told}")
        return rows, "\n".join(notes)
