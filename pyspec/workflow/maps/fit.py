"""fit_map: the same model fitted to every spectrum of a map."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered, real, whole
from pyspec.errors import DataError, FitError, one_line, shortened, suggest
from pyspec.executor import make_executor
from pyspec.fit import fit_slices
from pyspec.fit.interrupts import Hold
from pyspec.fit.options import FIT_OPTIONS, MEANT, METHOD_OPTIONS, need_model
from pyspec.fit.progress import Steps
from pyspec.io.atomic import plain_path
from pyspec.io.optional import need
from pyspec.model import Measurement, Model
from pyspec.model.data.windows import index_range
from pyspec.workflow.data.labelled import refuse_other_order
from pyspec.workflow.data.noise import NoiseArguments
from pyspec.workflow.maps.block import (
    MapJob,
    MapOptions,
    fit_block,
    inputs_checksum,
    variables_of,
)
from pyspec.workflow.maps.findings import kept_with_findings
from pyspec.workflow.maps.map_data import (
    SPECTRA,
    Block,
    MapData,
    alike,
    map_array,
    seed_parts,
)
from pyspec.workflow.maps.store import MapStore
from pyspec.workflow.maps.template import check_identity, identity, make_template

if TYPE_CHECKING:
    import xarray
    from typing_extensions import Unpack

    from pyspec.workflow.maps.map_data import SeedValues

#: Arguments of fit_map that fits do not have.
_OWN = (
    "energy", "energy_limits", "sigma", "counts", "mask", "seed_values", "seed_adapt", "block_size",
    "progress",
)  # fmt: skip


@answered
def fit_map(
    model: Model,
    data: xarray.DataArray | str | Path,
    store: str | Path,
    *,
    energy: str | None = None,
    energy_limits: Sequence[float | None] | None = None,
    sigma: npt.ArrayLike | xarray.DataArray | None = None,
    counts: bool | float = False,
    mask: npt.ArrayLike | xarray.DataArray | None = None,
    seed_values: SeedValues = None,
    seed_adapt: str | None = "argmax_shift",
    block_size: int | None = None,
    progress: bool | Callable[[int, int], object] | None = None,
    **options: Unpack[MapOptions],
) -> Any:  # a Dataset, of which its own types refuse `found["a"].plot()`
    """Fits a model of one spectrum to every spectrum of a map, and writes the results as it goes.

    The map is fitted in blocks of some thousand spectra, which threads of C share. Each writes its
    results to the zarr store. The same call continues an earlier one, however that ended. Complete
    blocks are not fitted again; their data are read to check that they have not changed.

    Parameters
    ----------
    model : of one spectrum; its energies become those of the map
    data : an xarray.DataArray of any leading axes and one of energies, in memory or in chunks. Or
        the path of a NetCDF, HDF5 or zarr file with such an array
    store : path of the zarr store of the results, new or begun by the same call
    energy : the axis of the energies, by default "energy" or the last
    energy_limits : (low, high), both included; None leaves a side open
    sigma : standard deviation of the data: a number, (n_energy,), or a DataArray
    counts : True where the data are counts, or the counts for each unit of the data
    mask : True where a point is left out: (n_energy,) or a DataArray
    seed_values : name → start value, a number or a DataArray along leading axes
    seed_adapt : "argmax_shift" moves the start of every free ``x0`` by the distance between the
        maxima of the spectrum and of the model, where that start is nearer; None does not, and
        neither do `seed_values`
    block_size : spectra in a block; by default about 5000, or half of a small map. A store that was
        begun keeps its own
    progress : True for a bar, or a function (spectra done, all)
    options : as of :func:`pyspec.fit_slices`

    Returns
    -------
    xarray.Dataset
        of the store, over the leading axes of the map with their coordinates: each parameter, its
        ``_stderr``, chisqr, redchi, nfev, message, and status: "converged", "undetermined",
        "stopped" or "failed". Its attribute `findings` says which parameters lie at their bounds in
        how many spectra, as does `finding` of each; beyond a tenth of the spectra it is a warning.
        The store has these attributes too, from when all of its spectra are fitted.

    A spectrum that cannot be fitted has the status "failed" and its message. Ctrl-C raises
    KeyboardInterrupt and keeps what is written. Raises :class:`DataError` for a store of another
    model, other settings or other data, and at the end for blocks that could not be read.
    """
    need_model("fit_map", model)
    for library in ("xarray", "dask", "zarr"):
        need(library, "a map", "zarr")
    if block_size is not None:
        whole("block_size", block_size, 1, FitError)
    for name in options:
        hint = MEANT.get(name) or suggest(name, list(_OWN))
        if hint and name not in (*METHOD_OPTIONS, *FIT_OPTIONS):
            raise FitError(f"fit_map has no argument {name!r}{hint}")
    if "://" in str(store):
        raise DataError(f"store is {str(store)!r}; give a path, no address")
    if seed_adapt not in (None, "argmax_shift"):
        hint = suggest(str(seed_adapt), ["argmax_shift"])
        raise FitError(f"seed_adapt must be 'argmax_shift' or None, not {seed_adapt!r}{hint}")
    array = map_array(data, energy)
    axis = str(array.dims[-1])
    model = copy.deepcopy(model)
    model.set_axes(energy=np.asarray(array[axis].values, dtype=np.float64))
    columns = index_range(model.energy, energy_limits, axis)  # type: ignore[arg-type]
    noise, beside = _beside(model, array, sigma, counts, mask)
    if noise.keys() - {"mask"} or "sigma" in beside:
        options = {"scale_covar": False, **options}
    map_data = MapData({"data": array, **beside, **seed_parts(seed_values, array)})
    adapt = None if seed_values is not None else seed_adapt
    path = plain_path(store)
    job = MapJob(model, columns, noise, adapt, options, MapStore(path, variables_of(model)))
    _rehearse(job, map_data)
    steps = Steps(progress, f"{model.name}, map")
    with Hold() as hold:
        try:
            left = _begin(job, map_data, block_size, hold)
            _fit(job, map_data, left, steps, hold)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"what is done of the map is in {path}; the same call goes on"
            ) from None
        finally:
            steps.close()
    return kept_with_findings(job.store)


def _beside(
    model: Model,
    data: xarray.DataArray,
    sigma: npt.ArrayLike | xarray.DataArray | None,
    counts: bool | float,
    mask: npt.ArrayLike | xarray.DataArray | None,
) -> tuple[NoiseArguments, dict[str, xarray.DataArray]]:
    """Noise and mask: arguments of a Measurement that are the same for all spectra, and the parts
    of the map with those that differ."""
    import xarray

    noise, parts = NoiseArguments(), dict[str, xarray.DataArray]()
    for subject, array in (("sigma", sigma), ("mask", mask)):
        if isinstance(array, xarray.DataArray):
            parts[subject] = alike(array, data, subject, data.dims)
        else:
            refuse_other_order(subject, array, None, model.energy)
    if sigma is not None and counts is not False:
        raise DataError("the noise of counts is known; give sigma= or counts=, not both")
    if counts is not False:
        if not (counts is True or 0.0 < counts < np.inf):
            raise DataError(
                f"counts is {counts!r}; give True, or the counts for each unit of the data, > 0"
            )
        noise = {"loss": "poisson", "loss_scale": 1.0 if counts is True else float(counts)}
    elif sigma is not None and "sigma" not in parts:
        values = real("sigma", sigma)
        if values.shape not in ((), data.shape[-1:]) or not (values > 0).all():
            raise DataError(
                f"sigma is {shortened(sigma)}; give positive numbers: one, one for each of the "
                f"{data.shape[-1]} energies, or a DataArray"
            )
        noise["weight"] = 1.0 / values
    if mask is not None:
        flags = parts.get("mask", np.asarray(mask))
        if flags.dtype.kind != "b":
            raise DataError(
                f"mask has type {flags.dtype}; give booleans, True where a point is left out"
            )
        if "mask" not in parts:
            noise["mask"] = flags
    return noise, parts


def _rehearse(job: MapJob, map_data: MapData) -> None:
    """Fits what the model itself says, once: what is wrong with model or options is so here."""
    model = job.model
    start = np.asarray(make_executor(model).run(np.array(model.theta(), dtype=np.float64)))
    seeds = [name[5:] for name in map_data.parts if name.startswith("seed ")]
    start_values = {
        name: model.parameters[name].value for name in seeds if name in model.parameters
    }
    noise = {"weight": 1.0} if "sigma" in map_data.parts else job.noise
    measurement = Measurement(np.abs(np.nan_to_num(start))[None], columns=job.columns, **noise)
    few: MapOptions = {**job.options, "max_nfev": 1}
    values = [{name: start_values.get(name, 0.0) for name in seeds}]
    fit_slices(model, measurement, seeds=values, progress=False, **few)


def _begin(job: MapJob, map_data: MapData, block_size: int | None, hold: Hold) -> list[Block]:
    """The blocks that are not written yet; makes the store or checks it."""
    store, now = job.store, identity(job, map_data)
    if store.path.exists():
        check_identity(store.identity(), now, store.path)
        blocks = map_data.blocks(store.block())
    else:
        size = block_size or max(1, min(SPECTRA, map_data.n_spectra // 2))
        block = map_data.block_shape(size)
        blocks = map_data.blocks(block)
        grid = tuple(math.ceil(n / step) for n, step in zip(map_data.shape, block, strict=True))
        store.create(make_template(job, map_data, block, now), block, grid)
    checksums = {number: store.inputs_of(number, place) for number, place in blocks}
    written = [entry for entry in blocks if checksums[entry[0]] is not None]

    for number, place in written:
        hold.check()
        try:
            checksum = inputs_checksum(map_data.part(place))
        except Exception as error:
            raise _unreadable(map_data, [(number, place)], error, store) from error
        if checksum != checksums[number]:
            raise DataError(
                f"{store.path} holds a map of other data: those at {map_data.named(place)} were "
                "different when it was begun; give another store="
            )
    return [entry for entry in blocks if checksums[entry[0]] is None]


def _fit(job: MapJob, map_data: MapData, left: list[Block], steps: Steps, hold: Hold) -> None:
    """Fits blocks; raises :class:`DataError` at the end where some could not be."""
    done = map_data.n_spectra - sum(_spectra(place) for _, place in left)
    failed: list[tuple[Block, Exception]] = []
    if done:
        steps.update(done, map_data.n_spectra)

    for block in left:
        hold.check()
        try:
            fit_block(job, *block, map_data.part(block[1]))
        except Exception as error:
            failed.append((block, error))
            continue
        done += _spectra(block[1])
        steps.update(done, map_data.n_spectra)
    if failed:
        first = failed[0][1]
        raise _unreadable(map_data, [block for block, _ in failed], first, job.store) from first


def _unreadable(
    map_data: MapData, blocks: Sequence[Block], error: Exception, store: MapStore
) -> DataError:
    first = map_data.named(blocks[0][1])
    more = f" and {len(blocks) - 1} more" if len(blocks) > 1 else ""
    return DataError(
        f"the block {first}{more} could not be read, fitted or written: {one_line(error)}; all "
        f"others are in {store.path}, and the same call tries again"
    )


def _spectra(place: Sequence[slice]) -> int:
    return math.prod(extent.stop - extent.start for extent in place)
