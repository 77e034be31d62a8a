"""The results of a map before its first fit, and what they will be results of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pyspec._version import VERSION
from pyspec.errors import DataError, shortened
from pyspec.fit.solve.methods import checked_methods
from pyspec.io.optional import need
from pyspec.model.data.digest import digest
from pyspec.model.units import parameter_units
from pyspec.workflow.maps.block import MESSAGE, STATUS, MapJob
from pyspec.workflow.maps.map_data import MapData
from pyspec.workflow.maps.store import IDENTITY

if TYPE_CHECKING:
    import xarray

#: What a difference of identities is called.
_WORDS = {
    "version": "another version of pyspec",
    "model": "another model",
    "settings": "other settings of the fit",
    "data": "other data",
}


def identity(job: MapJob, map_data: MapData) -> dict[str, object]:
    """What decides the results, as JSON holds it. The values of the data are told apart block by
    block, see :class:`MapStore`."""
    model, data = job.model, map_data.data
    rows = {
        par.name: [float(par.value), bool(par.vary), repr(par.min), repr(par.max), par.expr]
        for par in model.parameters.values()
    }
    settings = {**job.options, "seed_adapt": job.seed_adapt, "columns": job.columns, **job.noise}
    settings["method"] = checked_methods(job.options.get("method"))
    settings["given"] = sorted(map_data.parts)
    settings |= {f"input {name}": values for name, values in model.inputs.items()}
    shown = {name: _settled(value) for name, value in sorted(settings.items())}
    axes = {
        str(dim): digest(np.asarray(data[dim].values))[:16] if dim in data.coords else None
        for dim in data.dims
    }
    facts = {
        "version": VERSION,
        "model": {"name": model.name, "parameters": rows, "yaml": model.to_yaml()},
        "settings": shown,
        "data": {"shape": list(data.shape), "dtype": str(data.dtype), "axes": axes},
    }
    return dict(json.loads(json.dumps(facts)))


def check_identity(kept: Mapping[str, object], now: Mapping[str, object], path: Path) -> None:
    """Raises :class:`DataError` where a store holds the results of something else."""
    for key, words in _WORDS.items():
        if kept.get(key) != now[key]:
            raise DataError(
                f"{path} holds a map of {words}: {_difference(kept.get(key), now[key])}; "
                "go on with what it was begun with, or give another store="
            )


def make_template(
    job: MapJob, map_data: MapData, block: tuple[int, ...], map_identity: Mapping[str, object]
) -> xarray.Dataset:
    """A Dataset of fill values over the leading axes, with coordinates and units."""
    import xarray

    dask = need("dask.array", "a map", "zarr")
    data, energy = map_data.data, str(map_data.data.dims[-1])
    units = {"energy": data[energy].attrs.get("units", ""), "data": data.attrs.get("units", "")}
    own = parameter_units(job.model, units)
    arrays = {}
    for name in job.store.names:
        kind = {"status": f"<U{STATUS}", "message": f"<U{MESSAGE}"}.get(name, "float64")
        fill = "" if kind != "float64" else np.nan
        facts = {"long_name": name}
        unit = own.get(name.removesuffix("_stderr"))
        if unit:
            facts["units"] = unit
        empty = dask.full(map_data.shape, fill, dtype=kind, chunks=block)
        arrays[name] = (map_data.dims, empty, facts)
    leading = data.isel({energy: 0}, drop=True)
    coords = {name: coord.variable.compute() for name, coord in leading.coords.items()}
    facts = {"pyspec_version": VERSION, "model": job.model.name, "model_yaml": job.model.to_yaml()}
    return xarray.Dataset(
        arrays, coords=coords, attrs={**facts, IDENTITY: json.dumps(map_identity)}
    )


def _settled(value: object) -> object:
    if isinstance(value, np.ndarray):
        return f"array {value.shape} {digest(value)[:16]}"
    return value if isinstance(value, (bool, int, float, str, type(None))) else repr(value)


def _difference(kept: object, now: object) -> str:
    """The first difference of two identities, shortened."""
    if isinstance(kept, dict) and isinstance(now, dict):
        for key in {**kept, **now}:
            if kept.get(key) != now.get(key):
                return f"{key} {_difference(kept.get(key), now.get(key))}".replace("\n", " ")
    return f"{shortened(kept, 60)} there, {shortened(now, 60)} now"
