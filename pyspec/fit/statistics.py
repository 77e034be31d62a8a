"""How good a fit is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pyspec.calls import Named


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


def state_of(success: bool, lost: Sequence[str], message: str) -> str:
    """In two words whether a fit succeeded: it may end at an optimum, as its message says first,
    that leaves parameters `lost`, not determined by the data."""
    if success:
        return "converged"
    is_optimum = message.startswith(("Converged", "Fit succeeded"))
    return "NOT determined" if lost and is_optimum else "NOT converged"
