"""Simulated data as files: HDF5, npz, CSV."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyspec._version import VERSION
from pyspec.errors import DataError, suggest
from pyspec.io import replacing, write_text
from pyspec.io.optional import need

if TYPE_CHECKING:
    from pyspec.simulate.simulator import Simulator

Array = npt.NDArray[np.float64]

SUFFIXES = {"hdf5": ".h5", "npz": ".npz", "csv": ".csv"}


def save_data(
    simulator: Simulator,
    filepath: str | Path | None,
    save_format: str,
    n_data: list[Array] | None,
    overwrite: bool,
) -> Path:
    """See :meth:`Simulator.save_data`."""
    if save_format not in SUFFIXES:
        hint = suggest(str(save_format), list(SUFFIXES))
        raise DataError(f"save_format must be hdf5, npz or csv, not {save_format!r}{hint}")
    path = Path(filepath or f"simulated{SUFFIXES[save_format]}")
    if path.exists() and not overwrite:
        raise DataError(f"{path}: exists already; choose another name or overwrite=True")
    if n_data is None:
        clean, noisy, _ = simulator.simulate()
        data = [noisy]
    else:
        data = [np.asarray(one, dtype=np.float64) for one in n_data]
        if not data:
            raise DataError("n_data is empty; there is nothing to save")
        clean = simulator.clean()
        if data[0].ndim == 1 and clean.ndim == 2:
            raise DataError("n_data hold spectra of one time; save data of shape (time, energy)")
    for one in data:
        if one.shape != clean.shape:
            raise DataError(f"n_data have shape {one.shape}, the model has {clean.shape}")
    if save_format == "csv":
        write_text(path, csv_text(data[0], simulator.model.energy, simulator.model.time))
        return path
    arrays: dict[str, Any] = {"clean": clean, "noisy": np.stack(data)}
    for name in ("energy", "time"):
        axis = getattr(simulator.model, name)
        if axis is not None:
            arrays[name] = axis
    with replacing(path) as part:
        if save_format == "npz":
            _write_npz(part, arrays, simulator)
        else:
            _write_hdf5(part, arrays, simulator)
    return path


def csv_text(data: Array, energy: Any, time: Any) -> str:
    """A matrix with times in the first column and energies in the first row; one spectrum as
    two columns."""
    stream = io.StringIO()
    if data.ndim == 1:
        stream.write("energy,intensity\n")
        np.savetxt(stream, np.column_stack([energy, data]), fmt="%.10g", delimiter=",")
        return stream.getvalue()
    stream.write("time," + ",".join(f"{value:.10g}" for value in energy) + "\n")
    np.savetxt(stream, np.column_stack([time, data]), fmt="%.10g", delimiter=",")
    return stream.getvalue()


def settings(simulator: Simulator) -> dict[str, Any]:
    """How the data were made, as attributes of a file."""
    found = {
        "pyspec": VERSION,
        "model": simulator.model.name,
        "model_text": simulator.model.text,
        "detection": simulator.detection,
        "noise_type": simulator._kind,
        "noise_level": simulator.noise_level,
        "counts_per_delay": simulator.counts_per_delay,
        "seed": simulator.seed,
    }
    return {name: value for name, value in found.items() if value is not None}


def _write_npz(part: Path, arrays: dict[str, Any], simulator: Simulator) -> None:
    # One array of the name that `read` looks for first; several noisy ones beside it.
    plain = {"data": arrays["noisy"][0], **arrays}
    if len(arrays["noisy"]) == 1:
        del plain["noisy"]
    facts = {**settings(simulator), "values": simulator.model.values}
    with part.open("wb") as stream:
        np.savez_compressed(stream, **plain, settings=np.array(json.dumps(facts)))


def _write_hdf5(part: Path, arrays: dict[str, Any], simulator: Simulator) -> None:
    h5py = need("h5py", "simulated data in HDF5")
    with h5py.File(part, "w") as file:
        for name, array in arrays.items():
            file.create_dataset(name, data=array, compression="gzip" if array.ndim > 1 else None)
        for name, value in settings(simulator).items():
            file.attrs[name] = value
        group = file.create_group("values")
        for name, value in simulator.model.values.items():
            group.attrs[name] = value
