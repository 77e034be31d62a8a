"""How good a fit is, and intervals by profile likelihood."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import Named
from pyspec.errors import FitError
from pyspec.fit.interrupts import Hold

Array = npt.NDArray[np.float64]


class Statistics(Named[float]):
    """Numbers by name."""

    what = "statistic"


def goodness(
    n: int, raw: float, total: float, chisqr: float, redchi: float, n_free: int, *, weighted: bool
) -> dict[str, float]:
    """The numbers of :attr:`pyspec.fit.FitResult.statistics`.

    Parameters
    ----------
    n : points that count
    raw : sum of the squares of the residual, in the units of the data
    total : sum of the squares of the data minus their mean
    chisqr, redchi : of the (weighted) residual that was fitted
    weighted : whether the noise of the data is known

    Without known noise AIC is ``n ln(chi2_raw / n) + 2 k``, with it ``chi2 + 2 k``; BIC has
    ``k ln n`` in place of ``2 k``.
    """
    k = n_free
    minus_two_log = chisqr if weighted else n * float(np.log(max(raw, 1e-250 * n) / n))
    numbers = {
        "chi2_raw": raw,
        "chi2_red_raw": raw / max(n - k, 1),
        "chi2": chisqr if weighted else float("nan"),
        "chi2_red": redchi if weighted else float("nan"),
        "r2": 1.0 - raw / total if total > 0 else float("nan"),
        "aic": minus_two_log + 2.0 * k,
        "bic": minus_two_log + k * float(np.log(n)),
    }
    return Statistics(numbers)


def confidence_intervals(
    minimizer: Any, outcome: Any, n_free: int, label: str, **options: Any
) -> Any:
    """:func:`lmfit.conf_interval` of a fit; `options` are those of lmfit.

    Raises :class:`FitError` for a fit without minimizer (one file of a joint fit), one with a
    single free parameter, and where lmfit finds no interval.
    """
    import lmfit

    if minimizer is None:
        raise FitError("this is one file of a joint fit; ask the joint result for intervals")
    if n_free < 2:
        raise FitError(
            "a profile likelihood needs two free parameters; with one, use its standard error"
        )
    account = minimizer.userfcn.evaluations
    try:
        with Hold() as hold, np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            account.limit(None, None, hold)  # Ctrl-C ends it between two evaluations
            return lmfit.conf_interval(minimizer, outcome, **options)
    except (lmfit.MinimizerException, ValueError, KeyError) as error:
        raise FitError(
            f"{label}: no confidence intervals: {error}; they need a converged fit "
            "whose free parameters all have standard errors"
        ) from error
    finally:
        account.limit(None, None)
