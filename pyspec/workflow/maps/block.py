"""The fits of one block of a map."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pyspec.errors import PyspecError
from pyspec.fit import fit_slices
from pyspec.fit.options import MethodOptions
from pyspec.fit.results.table import columns_of
from pyspec.model import Measurement, Model
from pyspec.model.data.checksum import Data
from pyspec.workflow.data.noise import NoiseArguments
from pyspec.workflow.fitting.seeds import shift_seeds
from pyspec.workflow.maps.store import MapStore, Place, checksum_of


class MapOptions(MethodOptions, total=False):
    """The options of :func:`pyspec.fit_slices` that are the same for all spectra of a map."""

    backend: str | None
    method: str | Sequence[str] | None
    max_nfev: int | None
    scale_covar: bool | None
    max_seconds: float | None


#: Variables of the results beside the values of parameters and their standard errors.
NUMBERS = ("chisqr", "redchi", "nfev")

#: Characters of a status, and of a message.
STATUS, MESSAGE = 12, 200


@dataclass(frozen=True)
class MapJob:
    """What all blocks share: the model with its energies, the window, the options of the fits.

    `noise` are arguments of a Measurement that are the same for all spectra.
    """

    model: Model
    columns: tuple[int, int]
    noise: NoiseArguments
    seed_adapt: str | None
    options: MapOptions
    store: MapStore


def variables_of(model: Model) -> tuple[str, ...]:
    """The variables of the results."""
    parameters = tuple(model.parameters)
    errors = tuple(f"{name}_stderr" for name in parameters)
    return (*parameters, *errors, *NUMBERS, "status", "message")


def fit_block(
    job: MapJob, number: tuple[int, ...], place: Place, inputs: Mapping[str, npt.ArrayLike]
) -> Counter[str]:
    """Fits the spectra of a block and writes them; how many ended in which status.

    `inputs` holds the data of the block, leading axes first and energies last, and what else
    differs from spectrum to spectrum: "sigma", "mask", and the start values "seed NAME".
    """
    arrays = {name: np.asarray(array) for name, array in inputs.items()}
    shape = arrays["data"].shape[:-1]
    rows = {name: array.reshape(-1, *array.shape[len(shape) :]) for name, array in arrays.items()}
    results = fit_rows(job, rows)
    table = {name: array.reshape(shape) for name, array in results.items()}
    job.store.write(number, place, table, inputs_checksum(arrays))
    return Counter(results["status"].tolist())


def inputs_checksum(inputs: Mapping[str, npt.ArrayLike]) -> int:
    """The checksum of all that a block is fitted to."""
    return checksum_of(inputs[name] for name in sorted(inputs))


def fit_rows(job: MapJob, rows: Mapping[str, Data]) -> dict[str, Data]:
    """The results of spectra (n, n_energy) by name, (n,) each; a spectrum that cannot be fitted
    has its message."""
    n = len(rows["data"])
    results: dict[str, Data] = {name: np.full(n, np.nan) for name in job.store.names[:-2]}
    results["status"] = np.full(n, "failed", dtype=f"<U{STATUS}")
    results["message"] = np.full(n, "", dtype=f"<U{MESSAGE}")
    _fit_or_halve(job, rows, np.arange(n), results)
    return results


def _fit_or_halve(
    job: MapJob, rows: Mapping[str, Data], which: Data, results: dict[str, Data]
) -> None:
    """Fits these spectra; where some are refused, the others are fitted without them."""
    try:
        _fit(job, rows, which, results)
    except PyspecError as error:
        if len(which) == 1:
            results["message"][which] = _short(str(error))
            return
        finite = np.isfinite(rows["data"][which][:, slice(*job.columns)]).all(axis=1)
        good, bad = which[finite], which[~finite]
        halves = np.array_split(which, 2)
        for part in [good, *bad[:, None]] if good.size and bad.size else halves:
            _fit_or_halve(job, rows, part, results)


def _fit(job: MapJob, rows: Mapping[str, Data], which: Data, results: dict[str, Data]) -> None:
    part = {name: array[which] for name, array in rows.items()}
    noise = job.noise.copy()
    if "sigma" in part:
        with np.errstate(divide="ignore", invalid="ignore"):
            noise["weight"] = 1.0 / part["sigma"]
    if "mask" in part:
        noise["mask"] = part["mask"]
    series = Measurement(part["data"], columns=job.columns, **noise)
    seeds: list[dict[str, float]] = [{} for _ in which]
    for name in part:
        if name.startswith("seed "):
            for seed, value in zip(seeds, part[name], strict=True):
                seed[name[5:]] = float(value)
    if job.seed_adapt == "argmax_shift":
        shift_seeds(job.model, series, seeds)  # never by a mean, which is that of a block
    slices = fit_slices(job.model, series, seeds=seeds, progress=False, **job.options)
    if slices.interrupted:
        raise KeyboardInterrupt
    for name, column in columns_of(slices, NUMBERS).items():
        results[name][which] = np.where(np.isnan(column), np.nan, column)  # the one NaN of a store
    results["status"][which] = slices.status
    results["message"][which] = [_short(text) for text in slices.message]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MESSAGE else f"{line[: MESSAGE - 2]} …"
