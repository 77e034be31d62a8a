"""What scripts of trspecfit read of a kept fit, under the names that it gives them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


class SlotNames:
    """The part of a FitResult, and of SliceResults, that has trspecfit's names.

    `label` is the name that :meth:`pyspec.FitResults.set_label` gave, or None; `timestamp` says
    when the fit ended, in UTC, "" where that is not known.
    """

    label: str | None = None
    timestamp: str = ""

    @property
    def observed(self: Any) -> npt.NDArray[Any]:
        """The data of the fit window: `data`."""
        found: npt.NDArray[Any] = self.data
        return found

    @property
    def metrics(self: Any) -> dict[str, Any]:
        """How good the fit is: `statistics`; of slices name → (n,), NaN for slices without one."""
        if self.fit_type != "sbs":
            return dict(self.statistics)
        rows = [None if one.result is None else one.result.statistics for one in self]
        names = next((list(row) for row in rows if row is not None), [])
        return {
            name: np.array([np.nan if row is None else row[name] for row in rows]) for name in names
        }
