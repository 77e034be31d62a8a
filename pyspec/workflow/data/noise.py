"""The noise of measured data, and means of spectra with what becomes of it there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import numpy.typing as npt

from pyspec.calls import one_of
from pyspec.errors import DataError
from pyspec.io.sources.arrays import beside_source
from pyspec.model import Measurement
from pyspec.model.data.checksum import Data
from pyspec.model.data.lazy_weights import Weights
from pyspec.model.data.measurement_checks import check_sigma
from pyspec.model.data.source import source_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

Array = npt.NDArray[np.float64]

NOISE_TYPES = ("unknown", "gaussian", "poisson")


class NoiseArguments(TypedDict, total=False):
    """What a Measurement takes of the noise, and of masked points."""

    weight: npt.ArrayLike
    mask: npt.ArrayLike
    loss: str
    loss_scale: float


class Names(TypedDict):
    """Labels and units of axes and data, as a Measurement takes them."""

    labels: dict[str, str]
    units: dict[str, str]


@dataclass(frozen=True, eq=False)
class Noise:
    """What is known of the noise: nothing, a standard deviation, or counts.

    Attributes
    ----------
    kind : "unknown", "gaussian" or "poisson"
    sigma : for "gaussian" a number or an array. For one spectrum it is (n_energy,). For a series it
        is (n_time, 1), (1, n_energy) or (n_time, n_energy). For data by reference it is the inverse
    scale : for "poisson" counts for each unit of the data
    origin : where sigma was divided by a calibration: the noise as declared, and the calibration
        of then
    """

    kind: str = "unknown"
    sigma: float | Array | Weights | None = None
    scale: float = 1.0
    origin: tuple[Noise, Array | None] | None = None

    def calibrated(self, before: Array | None, after: Array | None) -> Noise:
        """The noise of data that are divided by another calibration, None for none: sigma is
        divided too. Back at the calibration of then it is as it was declared."""
        noise, then = self.origin or (self, before)
        if after is then:
            return noise
        old, new = (1.0 if calibration is None else calibration for calibration in (then, after))
        sigma = np.asarray(np.asarray(noise.declared_sigma) * old / new)
        return Noise("gaussian", float(sigma) if sigma.ndim == 0 else sigma, origin=(noise, then))

    @property
    def is_known(self) -> bool:
        """Whether standard errors need no scaling by the reduced chi²."""
        return self.kind != "unknown"

    @property
    def declared_sigma(self) -> float | Array | None:
        """σ as it was handed over."""
        sigma: Any = self.sigma
        if isinstance(sigma, Weights):
            sigma = sigma.given
        return sigma  # type: ignore[no-any-return]

    def of_series(self) -> NoiseArguments:
        """What a Measurement of the data as they are takes."""
        return self._arguments(self.sigma, self.scale)

    def of_row(self, row: int, shape: tuple[int, ...]) -> NoiseArguments:
        """What a Measurement of one spectrum takes."""
        sigma = self.sigma
        if isinstance(sigma, Weights):
            sigma = np.asarray(sigma.given[row], np.float64)
        if isinstance(sigma, np.ndarray):
            sigma = np.broadcast_to(sigma, shape)[row]
        return self._arguments(sigma, self.scale)

    def of_mean(
        self, rows: tuple[int, int], shape: tuple[int, ...], kept: npt.NDArray[np.bool_] | None
    ) -> NoiseArguments:
        """What a Measurement of the mean over `rows` takes, (n_energy,). `kept` is where a point of
        these rows counts, (n_rows, n_energy); None: all do.

        Standard deviations become ``sqrt(sum s²) / n`` over the n points that count, ``sigma /
        sqrt(n)`` for equal ones. A unit of the mean stands for n times the counts.
        """
        n_rows = rows[1] - rows[0]
        if self.kind == "poisson":
            n_counted = n_rows if kept is None else np.count_nonzero(kept.any(axis=1))
            return self._arguments(None, self.scale * max(n_counted, 1))
        if self.kind != "gaussian":
            return {}
        assert self.sigma is not None
        if isinstance(self.sigma, Weights):
            part = np.asarray(self.sigma.given[slice(*rows)], np.float64)
        else:
            part = np.broadcast_to(self.sigma, shape)[slice(*rows)]
        counts = np.full(shape[1:], n_rows) if kept is None else kept.sum(axis=0)
        total = (part**2 if kept is None else np.where(kept, part**2, 0.0)).sum(axis=0)
        # An energy without a point that counts is masked: its sigma is only to be a number.
        sigma = np.sqrt(np.where(counts > 0, total, 1.0)) / np.maximum(counts, 1)
        return self._arguments(sigma, self.scale)

    def _arguments(self, sigma: float | Array | Weights | None, scale: float) -> NoiseArguments:
        if self.kind == "poisson":
            return {"loss": "poisson", "loss_scale": float(scale)}
        if isinstance(sigma, Weights):
            return {"weight": sigma}
        if self.kind == "gaussian" and sigma is not None:
            return {"weight": 1.0 / np.asarray(sigma, dtype=np.float64)}
        return {}


def mean_of(
    data: Data,
    rows: tuple[int, int],
    keep: npt.NDArray[np.bool_] | None,
    out: npt.NDArray[np.bool_] | None,
    noise: Noise,
    columns: tuple[int, int] | None,
    **names: Unpack[Names],
) -> Measurement:
    """The mean of the spectra `rows` of data (n_time, n_energy), with its noise; NaN at energies
    without a point that counts.

    `keep` is False at masked points, None where all count; `out` is True at energies that are left
    out, which have a mean too. `columns` and `names` as a Measurement takes them.

    Raises :class:`DataError` where counts are masked at every energy in one of the spectra.
    """
    part = np.asarray(data[slice(*rows)])
    kept = np.ones(part.shape, bool) if keep is None else np.asarray(keep[slice(*rows)])
    n_points = kept.sum(axis=0)
    total = np.where(kept, part, 0.0).sum(axis=0, dtype=np.float64)
    mean = np.where(n_points > 0, total / np.maximum(n_points, 1), np.nan)
    kept = kept if out is None else kept & ~out
    counts = np.asarray(kept.any(axis=0))
    if noise.kind == "poisson" and kept.any():
        # Counts of a mean are those of all its spectra: an energy that lacks some is left out.
        counts = kept.sum(axis=0) == np.count_nonzero(kept.any(axis=1))
        if not counts.any():
            raise DataError(
                "counts of a mean are those of all its spectra, and every energy is masked in "
                "one of them; fit the series, fit_2d, or mask whole spectra"
            )
    arguments = noise.of_mean(rows, data.shape, None if kept.all() else kept)
    whole = None if counts.all() else counts
    return Measurement(mean, None, columns, keep=whole, **names, **arguments)


def taken_sigma(sigma: npt.ArrayLike | None, data: Data) -> npt.ArrayLike | None:
    """σ as it is; by reference, a source of weights made of it."""
    if sigma is None or source_of(data) is None:
        return sigma
    source = beside_source(sigma, data.shape, "sigma")
    return sigma if source is None else Weights(source)


def make_noise(
    kind: object,
    sigma: npt.ArrayLike | None,
    scale: float | None,
    shape: tuple[int, ...],
    keep: object = None,
) -> Noise:
    """A declaration of noise, checked. Raises :class:`DataError`."""
    wanted = kind.lower() if isinstance(kind, str) else kind
    one_of("noise_type", wanted, NOISE_TYPES, DataError)
    if wanted == "poisson":
        if sigma is not None:
            raise DataError(
                "counts have no sigma of their own; give scale= (counts a unit), or "
                "noise_type='gaussian'"
            )
        factor = 1.0 if scale is None else float(scale)
        if not (np.isfinite(factor) and factor > 0):
            raise DataError(f"scale is {scale!r}; give the counts for each unit of the data")
        return Noise("poisson", None, factor)
    if scale is not None:
        raise DataError(f"scale belongs to noise_type='poisson', not to {wanted!r}")
    if wanted == "unknown":
        if sigma is not None:
            raise DataError("sigma belongs to noise_type='gaussian'")
        return Noise()
    if sigma is None:
        raise DataError(
            "noise_type='gaussian' needs sigma=: a number, one a spectrum, one an energy, or one a "
            "point"
        )
    # A source of weights is looked at with the data.
    own = sigma if isinstance(sigma, Weights) else check_sigma(sigma, shape, keep)
    return Noise("gaussian", own)
