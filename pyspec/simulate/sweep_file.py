"""The data of a parameter sweep in one HDF5 file: written, continued, read."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from pyspec._version import VERSION
from pyspec.calls import whole
from pyspec.errors import DataError
from pyspec.fit.interrupts import Hold
from pyspec.fit.progress import Steps
from pyspec.io.optional import need
from pyspec.model import Model
from pyspec.model.data.digest import digest
from pyspec.simulate.drawn import axes_of
from pyspec.simulate.sweep import ParameterSweep

if TYPE_CHECKING:
    import h5py

Array = npt.NDArray[np.float64]

#: What is known of the noise of each combination: the standard deviation, or the counts for each
#: unit of the data.
NOISE = ("sigma", "scale")


class RepeatedData(Protocol):
    """What a sweep needs of a simulator."""

    model: Model

    @property
    def noise_model(self) -> dict[str, Any]: ...

    def settings(self) -> dict[str, object]: ...

    def start_stream(self, index: int) -> None: ...

    def simulate_n(self, n: int, *, dim: int | None) -> tuple[Array, list[Array], list[Array]]: ...


def run_sweep(
    simulator: RepeatedData,
    sweep: ParameterSweep,
    n_realizations: int,
    dim: int,
    filepath: str | Path,
    show_progress: bool,
) -> Path:
    """Writes data for every combination of a sweep; returns the path.

    See :meth:`pyspec.simulate.Simulator.simulate_parameter_sweep`.
    """
    h5py = need("h5py", "a sweep in HDF5")
    path = Path(filepath)
    n = sweep.get_n_configs()
    n_realizations = whole("n_realizations", n_realizations, 1, DataError)
    model = simulator.model
    sweep.check(model)
    before = {name: par.value for name, par in model.parameters.items() if par.formula is None}
    key = _key(simulator, sweep, n_realizations, dim)
    facts = {  # what a reader wants to know of a sweep before it reads data
        **simulator.settings(),
        "n_configs": n,
        "n_realizations_per_config": n_realizations,
        "total_datasets": n * n_realizations,
        "dimension": dim,
        "sweep_strategy": sweep.strategy,
        "sweep_seed": sweep.seed,
        "parameter_space": sweep.space,
        "parameter_names": list(model.parameters),
    }
    part = path.with_name(f".{path.name}.part")
    steps = Steps(show_progress, "sweep")
    with Hold() as hold:  # a signal ends the sweep between two combinations, with the file closed
        try:
            done = _finished(h5py, part, key)
            with h5py.File(part, "r+" if done else "w") as file:
                file.attrs.update({"key": key, "pyspec": VERSION, "closed": False})
                file.attrs["meta"] = json.dumps(facts)
                try:
                    for index, values in enumerate(sweep):
                        if index >= done:
                            hold.check()
                            model.set_values({**before, **values})
                            _write_one(file, simulator, values, index, n, n_realizations, dim)
                            file.attrs["done"] = index + 1
                        steps.update(index + 1, n)
                finally:
                    file.attrs["closed"] = True  # a killed run does not come here, begins again
                for name, axis in axes_of(model, dim).items():
                    if name not in file:
                        file[name] = axis
            part.replace(path)
        except OSError as error:
            raise DataError(f"{path}: cannot be written ({error})") from error
        finally:
            steps.close()
            model.set_values(before)
        return path


def _key(simulator: RepeatedData, sweep: ParameterSweep, n_realizations: int, dim: int) -> str:
    """What must be equal for a sweep to be continued."""
    axes = [getattr(simulator.model, name) for name in ("energy", "time")]
    shown = [None if axis is None else axis.tolist() for axis in axes]
    model = simulator.model
    inputs = {name: digest(values) for name, values in sorted(model.inputs.items())}
    values = {name: float(value) for name, value in model.values.items() if name not in sweep.names}
    facts = [simulator.settings(), sweep.digest, n_realizations, dim, shown, VERSION]
    facts += [inputs, values]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def _finished(h5py: ModuleType, part: Path, key: str) -> int:
    """How many combinations an interrupted run of the same sweep has written."""
    if not part.is_file():
        return 0
    try:
        with h5py.File(part, "r") as file:
            whole = file.attrs.get("key") == key and bool(file.attrs.get("closed", False))
            return int(file.attrs["done"]) if whole else 0
    except (OSError, KeyError):
        return 0  # killed while it wrote: begin again


def _write_one(
    file: h5py.File,
    simulator: RepeatedData,
    values: dict[str, float],
    index: int,
    n: int,
    n_realizations: int,
    dim: int,
) -> None:
    """Writes one combination. Each has its own stream of random numbers, so that a continued run
    gives the same data."""
    simulator.start_stream(index)
    clean, noisy, _ = simulator.simulate_n(n_realizations, dim=dim)
    if "clean" not in file:
        file.create_dataset("clean", (n, *clean.shape), "f8", chunks=(1, *clean.shape))
        shape = (n_realizations, *clean.shape)
        file.create_dataset("noisy", (n, *shape), "f8", chunks=(1, *shape))
        for name in values:
            file.create_dataset(f"parameters/{name}", (n,), "f8")
        file.create_dataset("model_values", (n, len(simulator.model.parameters)), "f8")
        for name in NOISE:
            if name in simulator.noise_model:
                file.create_dataset(name, (n,), "f8")
    everything = simulator.model.values
    file["model_values"][index] = [everything[name] for name in simulator.model.parameters]
    for name in NOISE:
        if name in file:
            file[name][index] = simulator.noise_model[name]
    file["clean"][index] = clean
    file["noisy"][index] = np.stack(noisy)
    for name, value in values.items():
        file[f"parameters/{name}"][index] = value
