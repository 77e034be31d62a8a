"""SweepDataset: reads the file of a sweep."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import Suggesting, no_item, say
from pyspec.errors import DataError
from pyspec.fit.results.table import need_pandas
from pyspec.io.optional import need
from pyspec.simulate.drawn import made_by
from pyspec.simulate.sweep_file import NOISE

if TYPE_CHECKING:
    from pandas import DataFrame

Array = npt.NDArray[np.float64]


class SweepDataset(Suggesting):
    """Reads a sweep: ``dataset[k]`` is (values, clean, noisy), ``len(dataset)`` their number,
    and a loop over it takes one after the other.

    Attributes
    ----------
    filepath : the file
    meta : how the data were made: n_configs, n_realizations_per_config, dimension, detection,
        noise_type, noise_level, parameter_space, …
    names : the parameters that were swept
    energy, time : the axes, None where there is none
    """

    def __init__(self, filepath: str | Path) -> None:
        h5py = need("h5py", "a sweep in HDF5")
        self.filepath = filepath
        try:
            self._file = h5py.File(Path(filepath), "r")
        except OSError as error:
            raise DataError(f"{filepath}: is no sweep that can be read: {error}") from error
        if "parameters" not in self._file or "noisy" not in self._file:
            self._file.close()
            raise DataError(f"{filepath}: is no sweep; simulate_parameter_sweep writes one")
        self.meta: dict[str, Any] = json.loads(self._file.attrs.get("meta", "{}"))
        self.names: tuple[str, ...] = tuple(self._file["parameters"])
        self.energy = self._axis("energy")
        self.time = self._axis("time")

    def _axis(self, name: str) -> Array | None:
        return np.asarray(self._file[name]) if name in self._file else None

    def __len__(self) -> int:
        return int(self._file["clean"].shape[0])

    def __getitem__(self, index: int) -> tuple[dict[str, float], Array, Array]:
        k = self._place(index)
        return (
            self._swept(k),
            np.asarray(self._file["clean"][k]),
            np.asarray(self._file["noisy"][k]),
        )

    def __iter__(self) -> Iterator[tuple[dict[str, float], Array, Array]]:
        return (self[k] for k in range(len(self)))

    def _place(self, index: int) -> int:
        if not isinstance(index, (int, np.integer)) or not -len(self) <= index < len(self):
            raise no_item(index, len(self), "combination")
        return int(index) % len(self)

    def _swept(self, k: int) -> dict[str, float]:
        return {name: float(self._file[f"parameters/{name}"][k]) for name in self.names}

    def get_axes(self) -> tuple[Array, Array]:
        """(energy, time); an axis that is not there is empty."""
        empty = np.empty(0)
        return (
            empty if self.energy is None else self.energy,
            empty if self.time is None else self.time,
        )

    def load_config(
        self, config_idx: int, *, load_clean: bool = True, load_noisy: bool = True
    ) -> dict[str, Any]:
        """One combination as a dict: `parameters` (those swept), `all_parameter_values`, `clean`,
        `noisy` (a list), and what is known of the noise: `sigma_data` (gaussian) or `scale`
        (counts for each unit of the data)."""
        k = self._place(config_idx)
        config: dict[str, Any] = {"parameters": self._swept(k)}
        if "model_values" in self._file:
            names, values = self.meta["parameter_names"], self._file["model_values"][k]
            config["all_parameter_values"] = dict(zip(names, map(float, values), strict=True))
        for name in NOISE:
            if name in self._file:
                key = "sigma_data" if name == "sigma" else name
                config[key] = float(self._file[name][k])
        if load_clean:
            config["clean"] = np.asarray(self._file["clean"][k])
        if load_noisy:
            config["noisy"] = list(np.asarray(self._file["noisy"][k]))
        return config

    def get_parameter_summary(self) -> DataFrame:
        """The swept values as a pandas DataFrame: one row a combination, one column a parameter."""
        columns = {name: np.asarray(self._file[f"parameters/{name}"]) for name in self.names}
        frame = need_pandas().DataFrame(columns)
        frame.index.name = "config_idx"
        return frame

    def print_summary(self) -> None:
        """Prints how many data there are, of what shape, and how they were made."""
        say(self._summary())

    def _summary(self) -> str:
        n, realizations = self._file["noisy"].shape[:2]
        axes = [
            f"{axis.size} {name}"
            for name, axis in (("times", self.time), ("energies", self.energy))
            if axis is not None
        ]
        lines = [
            f"Sweep {self.filepath}",
            f"  {n} combinations, {realizations} noisy data of each, {n * realizations} in all",
            f"  {' × '.join(axes)}",
        ]
        if made := made_by(self.meta):
            lines.append(f"  {made}")
        for name in self.names:
            spec = dict(self.meta.get("parameter_space", {}).get(name, {}))
            values = np.asarray(self._file[f"parameters/{name}"])
            kind = spec.get("type", "values")
            span = f"{values.min():.6g} to {values.max():.6g}"
            lines.append(f"  {name}: {kind}, {np.unique(values).size} values, {span}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        n, realizations = self._file["noisy"].shape[:2]
        return f"<SweepDataset {self.filepath}: {n} combinations, {realizations} of each>"

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def __enter__(self) -> SweepDataset:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
