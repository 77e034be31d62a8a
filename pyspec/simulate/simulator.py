"""Simulator: a model plus noise, reproducibly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, suggest
from pyspec.model import Model
from pyspec.simulate.sweep import ParameterSweep, run_sweep

Array = npt.NDArray[np.float64]

NOISE_TYPES = ("poisson", "gaussian", "none")
DETECTIONS = ("analog", "photon_counting")
SNR_SCALES = ("linear", "dB")


class Simulator:
    """Noisy data from a model on its axes.

    Parameters
    ----------
    model : with its axes set
    detection : "analog", noise by `noise_type` and `noise_level`; or "photon_counting", counts
        of a Poisson process, by `counts_per_delay` or by `count_rate` and `integration_time`
    noise_level : gaussian: standard deviation in units of the largest absolute value of the
        clean data; poisson: 1 / (counts for each unit of the data)
    noise_type : "poisson", "gaussian" or "none"; photon counting is always "poisson"
    counts_per_delay : expected counts of one spectrum (2D: mean over the spectra)
    count_rate, integration_time : their product is `counts_per_delay`
    seed : of the random numbers; the same seed gives the same data

    Poisson data are ``Poisson(clean · s) / s`` with s counts for each unit of the data.
    """

    def __init__(
        self,
        model: Model,
        detection: str = "analog",
        noise_level: float = 0.05,
        noise_type: str = "poisson",
        counts_per_delay: float | None = None,
        count_rate: float | None = None,
        integration_time: float | None = None,
        seed: int | None = None,
    ) -> None:
        _one_of("detection", detection, DETECTIONS)
        self.model = model
        self.detection = detection
        self.counts_per_delay: float | None = None
        self.count_rate: float | None = None
        self.integration_time: float | None = None
        self.set_noise_type(noise_type)
        self.set_noise_level(noise_level)
        if count_rate is not None or integration_time is not None:
            if counts_per_delay is not None:
                raise DataError("give counts_per_delay, or count_rate and integration_time")
            if count_rate is None:
                raise DataError("integration_time needs a count_rate")
            self.set_count_rate(count_rate, integration_time)
        elif counts_per_delay is not None:
            self.set_counts_per_delay(counts_per_delay)
        if detection == "photon_counting" and self.counts_per_delay is None:
            raise DataError(
                "photon counting needs counts_per_delay, or count_rate and integration_time"
            )
        self.set_seed(seed)

    # settings

    def set_noise_type(self, noise_type: str) -> None:
        """Sets the noise of analog detection: "poisson", "gaussian" or "none"."""
        _one_of("noise_type", noise_type, NOISE_TYPES)
        self.noise_type = noise_type

    def set_noise_level(self, noise_level: float) -> None:
        """Sets the noise level; finite and not negative."""
        if not (np.isfinite(noise_level) and noise_level >= 0):
            raise DataError(f"noise_level must be finite and not negative, not {noise_level!r}")
        self.noise_level = float(noise_level)

    def set_counts_per_delay(self, counts_per_delay: float) -> None:
        """Sets the expected counts of one spectrum, for photon counting."""
        self.counts_per_delay = _positive("counts_per_delay", counts_per_delay)
        self.count_rate = self.integration_time = None

    def set_count_rate(self, count_rate: float, integration_time: float | None = None) -> None:
        """Sets counts per time, and how long each spectrum is measured (before: as set, or 1)."""
        rate = _positive("count_rate", count_rate)
        time = 1.0 if self.integration_time is None else self.integration_time
        if integration_time is not None:
            time = _positive("integration_time", integration_time)
        self.count_rate, self.integration_time = rate, time
        self.counts_per_delay = rate * time

    def set_seed(self, seed: int | None) -> None:
        """Starts the random numbers again."""
        self.seed = seed
        self._generator = np.random.default_rng(seed)

    # data

    def generate_clean_data(self, dim: int = 2, t_ind: int = 0) -> Array:
        """The model without noise: (n_time, n_energy) for ``dim=2``; for ``dim=1`` the spectrum
        (n_energy,) of the row `t_ind`, or of a model without time axis."""
        if dim not in (1, 2):
            raise DataError(f"dim must be 1 or 2, not {dim!r}")
        clean = np.asarray(self.model.evaluate(), dtype=np.float64)
        if dim == 2:
            if clean.ndim == 1:
                raise DataError("the model has no time axis: set_axes(time=...), or dim=1")
            return clean
        if clean.ndim == 1:
            return clean
        row = self._row(t_ind, len(clean))
        spectrum: Array = clean[row]
        return spectrum

    @staticmethod
    def _row(t_ind: int, n_time: int) -> int:
        if t_ind != int(t_ind) or not -n_time <= t_ind < n_time:
            raise DataError(f"t_ind {t_ind!r} is not a row; there are 0 to {n_time - 1}")
        return int(t_ind)

    def add_noise(self, clean_data: npt.ArrayLike, dim: int = 2) -> tuple[Array, Array]:
        """(noisy, noise) for clean data. Raises :class:`DataError` for counts below zero."""
        clean = np.asarray(clean_data, dtype=np.float64)
        if self._kind == "none":
            return clean.copy(), np.zeros(clean.shape)
        if self._kind == "gaussian":
            noise = self._generator.normal(0.0, self._sigma(clean), clean.shape)
            return clean + noise, noise
        scale = self._counts_per_unit(clean, dim)
        self._refuse_negative(clean)
        expected = clean * scale
        if not np.all(expected < 9e18):
            raise DataError("more than 9e18 counts in a point; lower the counts")
        noisy = self._generator.poisson(expected) / scale
        return noisy, noisy - clean

    def simulate_1d(self, t_ind: int = 0) -> tuple[Array, Array, Array]:
        """(clean, noisy, noise) of one spectrum, (n_energy,) each."""
        return self._simulate(1, t_ind)

    def simulate_2d(self) -> tuple[Array, Array, Array]:
        """(clean, noisy, noise), (n_time, n_energy) each."""
        return self._simulate(2, 0)

    def simulate_n(
        self, n: int, *, dim: int = 2, t_ind: int = 0, show_progress: bool = False
    ) -> tuple[Array, list[Array], list[Array]]:
        """(clean, [noisy], [noise]): the same data measured `n` times."""
        if n != int(n) or n < 1:
            raise DataError(f"n must be a whole number from 1 on, not {n!r}")
        clean = self.generate_clean_data(dim, t_ind)
        from pyspec.fit.progress import Steps

        steps = Steps(show_progress, "simulating")
        noisy, noise = [], []
        for k in range(int(n)):
            one, rest = self.add_noise(clean, dim)
            noisy.append(one)
            noise.append(rest)
            steps.update(k + 1, int(n))
        steps.close()
        return clean, noisy, noise

    def simulate(self) -> tuple[Array, Array, Array]:
        """(clean, noisy, noise), each of the model's shape."""
        return self._simulate(self.model.dimension, 0)

    def clean(self) -> Array:
        """The model without noise, on its axes."""
        return self.generate_clean_data(self.model.dimension)

    def _simulate(self, dim: int, t_ind: int) -> tuple[Array, Array, Array]:
        clean = self.generate_clean_data(dim, t_ind)
        noisy, noise = self.add_noise(clean, dim)
        return clean, noisy, noise

    # what is known of the noise

    @property
    def noise_model(self) -> dict[str, Any]:
        """What a fit needs to know: ``file.set_noise(**simulator.noise_model)``."""
        if self._kind == "none":
            return {"noise_type": "none"}
        clean = self.clean()
        if self._kind == "gaussian":
            return {"noise_type": "gaussian", "sigma": self._sigma(clean)}
        return {"noise_type": "poisson", "scale": self._counts_per_unit(clean, clean.ndim)}

    @property
    def sigma_data(self) -> float | Array | None:
        """Standard deviation of the noise: one number (gaussian), of the data's shape
        (poisson), or None without noise."""
        clean = self.clean()
        if self._kind == "none":
            return None
        if self._kind == "gaussian":
            return self._sigma(clean)
        self._refuse_negative(clean)
        return np.sqrt(clean / self._counts_per_unit(clean, clean.ndim))

    def get_snr(self, scale: str = "linear") -> float:
        """Power of the clean data over the expected power of the noise; "dB" is 10 log₁₀."""
        _one_of("scale", scale, SNR_SCALES)
        sigma = self.sigma_data
        power = 0.0 if sigma is None else float(np.mean(np.square(sigma)))
        if power == 0.0:
            return float("inf")
        ratio = float(np.mean(self.clean() ** 2)) / power
        if scale == "linear":
            return ratio
        return 10.0 * float(np.log10(ratio)) if ratio > 0 else -float("inf")

    @property
    def _kind(self) -> str:
        return "poisson" if self.detection == "photon_counting" else self.noise_type

    def _sigma(self, clean: Array) -> float:
        return self.noise_level * float(np.abs(clean).max())

    def _counts_per_unit(self, clean: Array, dim: int) -> float:
        if self.detection == "photon_counting":
            total = float(clean.sum(axis=-1).mean()) if dim == 2 else float(clean.sum())
            if not total > 0:
                raise DataError(f"the clean data sum to {total:g}; counts need a positive signal")
            assert self.counts_per_delay is not None
            return self.counts_per_delay / total
        if self.noise_level == 0:
            raise DataError("poisson noise needs a noise_level above 0; noise_type='none' has none")
        return 1.0 / self.noise_level

    @staticmethod
    def _refuse_negative(clean: Array) -> None:
        if np.isfinite(clean).all() and clean.min() >= 0:
            return
        count = int(np.count_nonzero(~(clean >= 0)))
        raise DataError(
            f"{count} points of the clean data are negative or not finite (lowest "
            f"{np.nanmin(clean):g}), which counts cannot be; raise the background, or use "
            "noise_type='gaussian'"
        )

    # output

    def plot_comparison(
        self, t_ind: int = 0, dim: int = 1, snr_scale: str = "linear", **options: Any
    ) -> Any:
        """Draws clean and noisy data; returns the Figure. Options as of
        :func:`pyspec.plot.plot_data`."""
        from pyspec.simulate.picture import plot_comparison

        return plot_comparison(self, t_ind, dim, snr_scale, **options)

    def save_data(
        self,
        filepath: str | Path | None = None,
        save_format: str = "hdf5",
        n_data: list[Array] | None = None,
        overwrite: bool = True,
        show_output: int = 0,
    ) -> Path:
        """Writes clean and noisy data with axes, true values and settings, as a whole or not at
        all; returns the path. `save_format` is "hdf5", "npz" or "csv" (the first noisy data
        alone). `n_data` are the noisy data, such as simulate_n gives them; simulated if None."""
        from pyspec.simulate.save import save_data

        path = save_data(self, filepath, save_format, n_data, overwrite)
        if show_output:
            print(f"Written to {path}")
        return path

    def simulate_parameter_sweep(
        self,
        parameter_sweep: ParameterSweep,
        n_realizations: int,
        *,
        dim: int = 2,
        filepath: str | Path = "ml_training_data.h5",
        show_progress: bool = False,
    ) -> Path:
        """Writes `n_realizations` noisy data for every combination of a sweep to one HDF5 file;
        returns its path.

        ``parameters/<name>`` (n,), ``clean`` (n, …), ``noisy`` (n, n_realizations, …), and the
        axes; :class:`SweepDataset` reads it. The file appears when it is complete; a run that
        was stopped goes on where it was if the same sweep is started again. The model keeps its
        values.
        """
        return run_sweep(
            self,
            parameter_sweep,
            n_realizations,
            dim=dim,
            filepath=filepath,
            show_progress=show_progress,
        )


def _one_of(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        hint = suggest(str(given), list(known))
        raise DataError(f"{what} must be one of {', '.join(known)}, not {given!r}{hint}")


def _positive(what: str, value: float) -> float:
    if not (np.isfinite(value) and value > 0):
        raise DataError(f"{what} must be finite and positive, not {value!r}")
    return float(value)
