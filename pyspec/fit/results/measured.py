"""What a fit, and fits of slices, say of their measurement."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from pyspec.calls import Suggesting
from pyspec.executor.protocol import Stored
from pyspec.model import Measurement
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
    def measurement(self) -> Measurement:
        """Data, window, noise, mask, labels and units."""
        raise NotImplementedError

    @property
    def data(self) -> Stored:
        """The data of the fit window."""
        raise NotImplementedError

    @property
    def fit(self) -> npt.NDArray[np.float64]:
        """The model over the fit window."""
        raise NotImplementedError

    @property
    def data_sha256(self) -> str:
        """The digest of the data; "" of an archive that was saved without them, after they had
        been changed."""
        data = self.measurement.data
        return self._sha256 if self._sha256 or data is None else digest(data)

    @property
    def labels(self) -> Mapping[str, str]:
        """What "energy", "time" and "data" are, as the data say: "binding energy"."""
        return self.measurement.labels

    @property
    def units(self) -> Mapping[str, str]:
        """Their units: "eV"."""
        return self.measurement.units

    @property
    def keep(self) -> npt.NDArray[np.bool_]:
        """False where a point of the window is masked."""
        keep = self.measurement.keep
        if keep is None:
            return np.ones(self.data.shape, dtype=bool)
        return np.asarray(self.measurement.window(keep))

    @property
    def sigma(self) -> npt.NDArray[np.float64] | None:
        """The declared σ of each point of the window: 1 / weight, or for counts the root of what
        the fit expects; None where no noise was declared."""
        return self.measurement.sigma(self.fit)
