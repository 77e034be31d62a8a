"""What a fit, and fits of slices, say of their measurement."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import Suggesting
from pyspec.model.data.digest import digest


class Measured(Suggesting):
    """The part of a FitResult, and of SliceResults, that is about the measurement.

    `label` is the name that :meth:`pyspec.FitResults.set_label` gave, or None; `timestamp` says
    when the fit ended, in UTC, "" where that is not known.
    """

    label: str | None = None
    timestamp: str = ""
    #: Of pyspec and the libraries that made a fit of an archive; of one made here empty.
    versions: Mapping[str, str] = MappingProxyType({})
    _sha256 = ""

    @property
    def data_sha256(self: Any) -> str:
        """The digest of the data; "" of an archive that was saved without them, after they had
        been changed."""
        if self._sha256 or self.measurement.data is None:
            return str(self._sha256)
        return digest(self.measurement.data)

    @property
    def labels(self: Any) -> Mapping[str, str]:
        """What "energy", "time" and "data" are, as the data say: "binding energy"."""
        found: Mapping[str, str] = self.measurement.labels
        return found

    @property
    def units(self: Any) -> Mapping[str, str]:
        """Their units: "eV"."""
        found: Mapping[str, str] = self.measurement.units
        return found

    @property
    def keep(self: Any) -> npt.NDArray[np.bool_]:
        """False where a point of the window is masked."""
        keep = self.measurement.keep
        if keep is None:
            return np.ones(self.data.shape, dtype=bool)
        return np.asarray(self.measurement.window(keep))

    @property
    def sigma(self: Any) -> npt.NDArray[np.float64] | None:
        """The declared σ of each point of the window: 1 / weight, or for counts the root of what
        the fit expects; None where no noise was declared."""
        found: npt.NDArray[np.float64] | None = self.measurement.sigma(self.fit)
        return found
