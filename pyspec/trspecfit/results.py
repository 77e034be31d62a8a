"""What scripts of trspecfit read of a kept fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.model.data.checksum import Data

Array = npt.NDArray[np.float64]


class ResultNames:
    """Names that a FitResult and SliceResults get."""

    @property
    def observed(self: Any) -> Data:
        """The data of the fit window: `data`."""
        return np.asarray(self.data)

    @property
    def metrics(self: Any) -> dict[str, float | Array]:
        """How good the fit is: `statistics`; of slices name → (n,), NaN for slices without one."""
        if self.fit_type != "sbs":
            return dict(self.statistics)
        rows = [None if fit.result is None else fit.result.statistics for fit in self]
        names = next((list(row) for row in rows if row is not None), [])
        return {
            name: np.array([np.nan if row is None else row[name] for row in rows]) for name in names
        }
