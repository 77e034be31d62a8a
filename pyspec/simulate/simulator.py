"""Simulator: a model plus noise, reproducibly."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyspec._version import VERSION
from pyspec.calls import Suggesting, answered, one_of, real, row_of, say, whole
from pyspec.errors import CallError, DataError, shortened
from pyspec.fit.diagnose import explain_nonfinite
from pyspec.fit.progress import Steps
from pyspec.model import Model
from pyspec.simulate.drawn import Drawn, check_seed, made_by, positive
from pyspec.simulate.save import checked, free_path, save_data
from pyspec.simulate.sweep import ParameterSweep
from pyspec.simulate.sweep_file import run_sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from typing_extensions import Unpack

    from pyspec.plot.config import PlotOptions

Array = npt.NDArray[np.float64]

NOISE_TYPES = ("poisson", "gaussian", "none")
DETECTIONS = ("analog", "photon_counting")
SNR_SCALES = ("linear", "dB")


class Simulator(Suggesting):
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

    Attributes
    ----------
    data_clean, data_noisy, noise : the last simulated data, None before. :attr:`noise_model`,
        :attr:`sigma_data`, :meth:`get_snr` and :meth:`save_data` refer to these data, even if a
        setting was changed since. Before the first simulation they refer to the model as it is.
    """

    @answered
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
        if not isinstance(model, Model):
            raise CallError(
                f"Simulator: the first argument is a Model, not {shortened(model)}; load one with "
                "load_model('models.yaml', 'name'), and give it axes"
            )
        one_of("detection", detection, DETECTIONS, DataError)
        self.model = model
        self.detection = detection
        self.data_clean: Array | None = None
        self.data_noisy: Array | None = None
        self.noise: Array | None = None
        self._drawn: Drawn | None = None
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
        if detection == "analog" and self.counts_per_delay is not None:
            raise DataError(
                "counts are those of detection='photon_counting'; with 'analog', the default, the "
                "noise is that of noise_type and noise_level"
            )
        self.set_seed(seed)

    def __repr__(self) -> str:
        return f"<Simulator {self.model.name!r}: {made_by(self.settings())}>"

    def set_noise_type(self, noise_type: str) -> None:
        """Sets the noise of analog detection: "poisson", "gaussian" or "none"."""
        kind = str(noise_type).lower()
        one_of("noise_type", kind, NOISE_TYPES, DataError)
        self.noise_type = kind

    def set_noise_level(self, noise_level: float) -> None:
        """Sets the noise level; finite and not negative."""
        if isinstance(noise_level, bool) or not (np.isfinite(noise_level) and noise_level >= 0):
            raise DataError(f"noise_level must be finite and not negative, not {noise_level!r}")
        self.noise_level = float(noise_level)

    def set_counts_per_delay(self, counts_per_delay: float) -> None:
        """Sets the expected counts of one spectrum, for photon counting."""
        self.counts_per_delay = positive("counts_per_delay", counts_per_delay)
        self.count_rate = self.integration_time = None

    def set_count_rate(self, count_rate: float, integration_time: float | None = None) -> None:
        """Sets counts per unit of time, and the time of a spectrum (default: unchanged, or 1)."""
        rate = positive("count_rate", count_rate)
        time = 1.0 if self.integration_time is None else self.integration_time
        if integration_time is not None:
            time = positive("integration_time", integration_time)
        self.count_rate, self.integration_time = rate, time
        self.counts_per_delay = rate * time

    def set_seed(self, seed: int | None) -> None:
        """Restarts the random numbers from a seed."""
        self.seed = check_seed(seed)
        self._generator = np.random.default_rng(seed)

    def start_stream(self, index: int) -> None:
        """Starts the random numbers of one of many data sets, if there is a seed: the same seed
        and index give the same noise."""
        check_seed(index, "index")
        if self.seed is not None:
            self._generator = np.random.default_rng([self.seed, index])

    def settings(self) -> dict[str, object]:
        """How the data are made, as the attributes of a file."""
        settings = {
            "pyspec": VERSION,
            "model": self.model.name,
            "model_text": self.model.text,
            "detection": self.detection,
            "noise_type": self._kind,
            "noise_level": self.noise_level,
            "counts_per_delay": self.counts_per_delay,
            "seed": self.seed,
        }
        return {name: value for name, value in settings.items() if value is not None}

    # data

    def generate_clean_data(self, dim: int = 2, t_ind: int = 0) -> Array:
        """The model without noise: (n_time, n_energy) for ``dim=2``; for ``dim=1`` the spectrum
        (n_energy,) of the row `t_ind`, or of a model without time axis."""
        if dim not in (1, 2):
            raise DataError(f"dim must be 1 or 2, not {dim!r}")
        clean = np.asarray(self.model.evaluate(), dtype=np.float64)
        if clean.ndim < dim:
            raise DataError(
                f"{self.model.name} has no time axis; give it one, model.set_axes(time=...), or "
                "ask for single spectra, dim=1"
            )
        if clean.ndim == dim:
            return clean
        spectrum: Array = clean[row_of("t_ind", t_ind, len(clean))]
        return spectrum

    def add_noise(self, clean_data: npt.ArrayLike, dim: int = 2) -> tuple[Array, Array]:
        """(noisy, noise) for clean data. Raises :class:`DataError` for none, and for counts below
        zero."""
        clean = real("clean_data", clean_data)
        if clean.size == 0 or not np.isfinite(clean).all():
            raise DataError("clean_data must be finite numbers, such as of generate_clean_data()")
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
        self, n: int, *, dim: int | None = None, t_ind: int = 0, show_progress: bool = False
    ) -> tuple[Array, list[Array], list[Array]]:
        """(clean, [noisy], [noise]): the same data measured `n` times, each of the model's
        shape; with ``dim=1`` the spectrum of the row `t_ind`."""
        n = whole("n", n, 1, DataError)
        dim = self.model.dimension if dim is None else dim
        clean, model = self.generate_clean_data(dim, t_ind), self.model
        if not np.isfinite(clean).all():
            raise DataError(f"{model.name}: {explain_nonfinite(model, model.theta())}")
        steps = Steps(show_progress, "simulating")
        noisy, noise = [], []
        for k in range(n):
            data, rest = self.add_noise(clean, dim)
            noisy.append(data)
            noise.append(rest)
            steps.update(k + 1, n)
        steps.close()
        self.data_clean, self.data_noisy, self.noise = clean, noisy[-1], noise[-1]
        self._drawn = self._now(clean)
        return clean, noisy, noise

    def simulate(self) -> tuple[Array, Array, Array]:
        """(clean, noisy, noise), each of the model's shape."""
        return self._simulate(self.model.dimension, 0)

    def clean(self) -> Array:
        """The model without noise, on its axes."""
        return self.generate_clean_data(self.model.dimension)

    def _simulate(self, dim: int, t_ind: int) -> tuple[Array, Array, Array]:
        clean, noisy, noise = self.simulate_n(1, dim=dim, t_ind=t_ind)
        return clean, noisy[0], noise[0]

    def _now(self, clean: Array) -> Drawn:
        """What is true of data that are made of `clean` now."""
        kind = self._kind
        sigma = self._sigma(clean) if kind == "gaussian" else None
        scale = self._counts_per_unit(clean, clean.ndim) if kind == "poisson" else None
        return Drawn(clean, kind, sigma, scale, self.settings(), dict(self.model.values))

    # what is known of the noise

    @property
    def noise_model(self) -> dict[str, Any]:
        """What a fit of the last simulated data needs to know of their noise:
        ``file.set_noise(**simulator.noise_model)``."""
        drawn = self._drawn or self._now(self.clean())
        noise = {"noise_type": drawn.kind, "sigma": drawn.sigma, "scale": drawn.scale}
        return {key: value for key, value in noise.items() if value is not None}

    @property
    def sigma_data(self) -> float | Array | None:
        """Standard deviation of the noise of the last simulated data: one number (gaussian), of
        the data's shape (poisson), or None without noise."""
        drawn = self._drawn or self._now(self.clean())
        if drawn.scale is None:
            return drawn.sigma
        self._refuse_negative(drawn.clean)
        return np.sqrt(drawn.clean / drawn.scale)

    def get_snr(self, scale: str = "linear") -> float:
        """Power of the last simulated clean data over the expected power of their noise; "dB" is
        10 log₁₀."""
        one_of("scale", scale, SNR_SCALES, DataError)
        sigma = self.sigma_data
        power = 0.0 if sigma is None else float(np.mean(np.square(sigma)))
        if power == 0.0:
            return float("inf")
        clean = self.clean() if self._drawn is None else self._drawn.clean
        ratio = float(np.mean(clean**2)) / power
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
        self,
        t_ind: int = 0,
        dim: int = 1,
        snr_scale: str = "linear",
        *,
        save_img: int = 0,
        **options: Unpack[PlotOptions],
    ) -> Figure:
        """Draws clean and noisy data, the last simulated ones of that dimension or new ones;
        returns the Figure. A `save_img` other than 0 needs `save_path`. Options as of
        :func:`pyspec.plot.plot_data`."""
        from pyspec.simulate.picture import plot_comparison  # matplotlib is optional

        if save_img and options.get("save_path") is None:
            raise DataError("save_img needs a file to write: save_path=")
        if dim not in (1, 2):
            raise DataError(f"dim must be 1 or 2, not {dim!r}")
        clean, noisy = self.data_clean, self.data_noisy
        if clean is None or noisy is None or clean.ndim < dim:
            clean, noisy, _ = self._simulate(dim, t_ind)
        elif clean.ndim > dim:
            row = row_of("t_ind", t_ind, len(clean))
            clean, noisy = clean[row], noisy[row]
        unit = " dB" if snr_scale == "dB" else ""
        title = f"signal to noise {self.get_snr(snr_scale):.4g}{unit}"
        return plot_comparison(clean, noisy, self.model, title, **options)

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
        alone). `n_data` are the noisy data, such as simulate_n gives them; None takes the last
        simulated ones, with the settings they were made by, or makes some."""
        path = free_path(filepath, save_format, overwrite)
        if self._drawn is None and n_data is None:
            self.simulate()
        drawn = self._drawn or self._now(self.clean())
        if n_data is not None and np.shape(n_data[:1])[1:] != drawn.clean.shape:
            drawn = self._now(self.clean())  # of another dimension than the last ones
        if n_data is None:
            n_data = [] if self.data_noisy is None else [self.data_noisy]
        data = checked(n_data, drawn.clean)
        save_data(path, save_format, drawn.clean, data, self.model, drawn.values, drawn.settings)
        if show_output:
            say(f"Written to {path}")
        return path

    def simulate_parameter_sweep(
        self,
        parameter_sweep: ParameterSweep,
        n_realizations: int,
        *,
        dim: int | None = None,
        filepath: str | Path = "ml_training_data.h5",
        show_progress: bool = False,
    ) -> Path:
        """Writes `n_realizations` noisy data (`dim` as of :meth:`simulate_n`) for every combination
        of a sweep to one HDF5 file; returns its path.

        ``parameters/<name>`` (n,), ``clean`` (n, …), ``noisy`` (n, n_realizations, …), and the
        axes; :class:`SweepDataset` reads it. The file appears when it is complete. Starting the
        same sweep again continues a run that was stopped. The model keeps its values.
        """
        dim = self.model.dimension if dim is None else dim
        return run_sweep(self, parameter_sweep, n_realizations, dim, filepath, show_progress)
