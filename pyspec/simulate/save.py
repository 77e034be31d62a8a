"""Simulated data as files: HDF5, npz, CSV."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pyspec.calls import one_of, real
from pyspec.errors import DataError
from pyspec.io import replacing, write_text
from pyspec.io.optional import need
from pyspec.model import Model
from pyspec.simulate.drawn import axes_of

Array = npt.NDArray[np.float64]

SUFFIXES = {"hdf5": ".h5", "npz": ".npz", "csv": ".csv"}


def free_path(filepath: str | Path | None, save_format: str, overwrite: bool) -> Path:
    """Where to write. Raises :class:`DataError` for an unknown format, or a file that is there."""
    one_of("save_format", save_format, [*SUFFIXES], DataError)
    path = Path(filepath or f"simulated{SUFFIXES[save_format]}")
    if path.exists() and not overwrite:
        raise DataError(f"{path}: exists already; choose another name or overwrite=True")
    return path


def checked(n_data: Sequence[Array], clean: Array) -> list[Array]:
    """Noisy data of a caller. Raises :class:`DataError` unless each has the shape of `clean`."""
    data = [real("n_data", array) for array in n_data]
    if not data:
        raise DataError("n_data is empty; there is nothing to save")
    if data[0].ndim == 1 and clean.ndim == 2:
        raise DataError("n_data hold spectra of one time; save data of shape (time, energy)")
    for array in data:
        if array.shape != clean.shape:
            raise DataError(f"n_data have shape {array.shape}, the model has {clean.shape}")
    return data


def save_data(
    path: Path,
    save_format: str,
    clean: Array,
    data: list[Array],
    model: Model,
    values: dict[str, float],
    settings: Mapping[str, object],
) -> None:
    """Writes clean and noisy data with the axes of a model, its true values, and how they were
    made; see :meth:`pyspec.simulate.Simulator.save_data`."""
    if save_format == "csv":
        write_text(path, csv_text(data[0], model.energy, model.time))
        return
    arrays = {"clean": clean, "noisy": np.stack(data), **axes_of(model, clean.ndim)}
    if len(data) == 1:  # one array alone has the name and the shape that `read` looks for
        arrays["data"] = arrays.pop("noisy")[0]
    with replacing(path) as part:
        if save_format == "npz":
            arrays.setdefault("data", data[0])
            facts = {"settings": np.array(json.dumps({**settings, "values": values}))}
            with part.open("wb") as stream:
                np.savez_compressed(stream, **{**arrays, **facts})  # type: ignore[arg-type]
            return
        with need("h5py", "simulated data in HDF5").File(part, "w") as file:
            for name, array in arrays.items():
                packed = "gzip" if array.ndim > 1 else None
                file.create_dataset(name, data=array, compression=packed)
            for name, setting in settings.items():
                is_long = isinstance(setting, int) and setting >= 2**64  # HDF5 has none
                file.attrs[name] = str(setting) if is_long else setting
            file.create_group("values").attrs.update(values)


def csv_text(data: Array, energy: Array | None, time: Array | None) -> str:
    """A matrix with times in the first column and energies in the first row; one spectrum, or a
    trace without energies, as two columns."""
    stream = io.StringIO()
    if data.ndim == 1:
        name, axis = ("time", time) if energy is None else ("energy", energy)
        assert axis is not None
        stream.write(f"{name},intensity\n")
        np.savetxt(stream, np.column_stack([axis, data]), fmt="%.10g", delimiter=",")
        return stream.getvalue()
    assert energy is not None
    assert time is not None
    stream.write("time," + ",".join(f"{value:.10g}" for value in energy) + "\n")
    np.savetxt(stream, np.column_stack([time, data]), fmt="%.10g", delimiter=",")
    return stream.getvalue()
